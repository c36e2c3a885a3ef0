"""Secrets are taken out of what a page or an agent wrote before anything of it is stored.

Passwords, tokens, cookies, session ids, private keys and card numbers become ``REDACTED``; names and e-mail addresses
stay.  Only values are replaced, within one line, so that a tree keeps its nodes, ids and depths.
Pages are long and secrets rare: a plain search for a few literals decides where the regular expressions look at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from app.engine.action import Action, Target

MARK = "REDACTED"

_NAME = (
    r"(?:token|secret|passw(?:or)?d|passphrase|pwd|api[_-]?key|access[_-]?key|private[_-]?key|form_key"
    r"|session[_-]?id|sess(?:ion)?id|sid|authorization|auth)"
)
_SECRETS = re.compile(
    rf"(?P<param>(?:[?&;\s\"'{{]|&amp;|^)[\w.\[\]-]*{_NAME}\]?=)(?P<v1>[^&\s\"'<>#;,)\]]+)"
    r"|(?P<header>\b(?:authorization|x-api-key|private-token)[\"']?\s*:\s*[\"']?(?:(?:bearer|basic|token)\s+)?)"
    r"(?P<v2>[^\s\"',;]{6,})"
    r"|(?P<cookie>\b(?:set-)?cookie[\"']?\s*:\s*)(?P<v3>[\w.-]+=[^\r\n\"']+)"
    r"|(?P<bearer>\bbearer\s+)(?P<v4>[\w.~+/=-]{16,})"
    r"|(?P<login>://[^/\s:@]+:)(?P<v5>[^/\s@]+)(?=@)"
    r"|(?P<prose>\bpass(?:word|phrase)[\"'’]?\s*[:=]\s*[\"'‘]?)(?P<v6>(?=[^\s\"'<>]*\d)[^\s\"'<>]{6,})",
    re.IGNORECASE,
)
_KEYS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[^\n]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)"
    r"|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}"
    r"|\b(?:glpat-[\w-]{20,}|gh[pousr]_\w{30,}|github_pat_\w{30,}|sk-[\w-]{20,}|AKIA[0-9A-Z]{16}|xox[abprs]-[\w-]{10,})",
    re.MULTILINE,
)
_LONG_KEY = re.compile(
    r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)[A-Za-z0-9+/=\s:,-]*?(-----END [A-Z ]*PRIVATE KEY-----)", re.DOTALL
)
_CARD = re.compile(r"(?<![\w.-])(?:\d{4}([ -]?)\d{4}\1\d{4}\1\d{2,7}|3[47]\d{2}([ -]?)\d{6}\2\d{5})(?![\w-])")
_ISSUER = re.compile(r"4|5[1-5]|2[2-7]|3[47]|6(?:011|4|5)|35|30[0-5]|3[68]")
_SECRET_FIELD = re.compile(
    r"type=\"password\"|name=\"(?:[^\"]*(?:token|secret|passw|form_key|session)[^\"]*)\"", re.IGNORECASE
)
_VALUE = re.compile(r"(\b(?:value|content)=\")[^\"]+(?=\")")
_PASSWORD_NAME = re.compile(
    r"passw(?:or)?d|passphrase|secret|api key|access token|card number", re.IGNORECASE
)

_HINTS = (
    "token",
    "secret",
    "passw",
    "passphrase",
    "pwd",
    "key",
    "sess",
    "sid",
    "auth",
    "cookie",
    "bearer",
    "eyj",
)
_HINTS_EXACT = ("glpat-", "gh", "sk-", "xox", "AKIA", "://")
_PAGE_HINTS = ("token", "passw", "secret", "form_key", "SESSID", "sessionid=", "PRIVATE KEY", "Bearer ")
_DIGITS = bytes(48 if 48 <= code <= 57 else code for code in range(256))
_MAX_WINDOW = 4000


def redact_text(text: str) -> str:
    """A short text (a thought, an error, an answer) without its secrets; the same text where it holds none."""
    if not text:
        return text
    low = text.lower()
    if any(hint in low for hint in _HINTS) or any(hint in text for hint in _HINTS_EXACT):
        if "PRIVATE KEY" in text:
            text = _LONG_KEY.sub(rf"\1{MARK}\2", text)
        text = _KEYS.sub(MARK, _SECRETS.sub(_masked, text))
    return _without_cards(text)


@lru_cache(maxsize=1024)
def redact_url(url: str) -> str:
    """An address without passwords and tokens in it."""
    return redact_text(url)


def redact_tree(tree: str) -> str:
    """An accessibility tree without secrets; lines, ids, roles and depths stay as they are."""
    return _without_cards(_redact_page(tree, "\n", "\n"))


def redact_html(html: str) -> str:
    """HTML without secrets: values of password and token fields, tokens in links, keys, card numbers."""
    return _without_cards(_redact_page(html, "<", ">"))


def redact_action(action: Action | None, target: Target | None, raw: str) -> tuple[Action | None, str]:
    """What was typed into a password field is masked in the action and in the agent's raw output."""
    if action is None:
        return None, raw
    args = {
        name: redact_text(value) if isinstance(value, str) else value for name, value in action.args.items()
    }
    secret = action.args.get("value")
    if (
        action.kind == "fill"
        and isinstance(secret, str)
        and secret
        and target
        and _PASSWORD_NAME.search(target.name)
    ):
        args["value"] = MARK
        raw = raw.replace(secret, MARK) if len(secret) > 2 else raw
    return (replace(action, args=args) if args != action.args else action), raw


def _redact_page(page: str, opening: str, closing: str) -> str:
    """Look only at the tags (or lines) around a hint."""
    windows = sorted(set(_windows(page, opening, closing)))
    if not windows:
        return page
    parts: list[str] = []
    done = 0
    for start, end in windows:
        if start < done:
            continue
        parts += (page[done:start], _redact_fragment(page[start:end]))
        done = end
    parts.append(page[done:])
    return "".join(parts)


def _windows(page: str, opening: str, closing: str) -> Iterator[tuple[int, int]]:
    for hint in _PAGE_HINTS:
        at = page.find(hint)
        while at != -1:
            start = max(page.rfind(opening, max(at - _MAX_WINDOW, 0), at), 0)
            end = page.find(closing, at, at + _MAX_WINDOW)
            end = end if end != -1 else min(at + _MAX_WINDOW, len(page))
            yield start, end
            at = page.find(hint, end)


def _redact_fragment(text: str) -> str:
    if text.startswith(("<input", "<meta", "<textarea")) and _SECRET_FIELD.search(text):
        text = _VALUE.sub(rf"\1{MARK}", text)
    return _KEYS.sub(MARK, _SECRETS.sub(_masked, text))


def _masked(match: re.Match[str]) -> str:
    kept = next(
        (
            match[name]
            for name in ("param", "header", "cookie", "bearer", "login", "prose")
            if match[name] is not None
        ),
        "",
    )
    return kept + MARK


def _without_cards(text: str) -> str:
    digits = text.encode("utf-8", "replace").translate(_DIGITS, b" -")
    return _CARD.sub(_masked_card, text) if b"00000000000000" in digits else text


def _masked_card(match: re.Match[str]) -> str:
    digits = [int(char) for char in match[0] if char.isdigit()]
    doubled = [
        digit if place % 2 == 0 else (digit * 2 - 9 if digit > 4 else digit * 2)
        for place, digit in enumerate(reversed(digits))
    ]
    is_card = 14 <= len(digits) <= 19 and _ISSUER.match(match[0]) and sum(doubled) % 10 == 0
    return MARK if is_card and len(set(digits)) > 2 else match[0]
