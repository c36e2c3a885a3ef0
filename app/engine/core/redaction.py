"""Removes secrets from pages and agent output before anything is stored.

Passwords, tokens, cookies, session ids, private keys and card numbers become ``REDACTED``; names and e-mail addresses
stay.  Only values are replaced, within one line, so that a tree keeps its nodes, ids and depths. Pages are long and
secrets rare: a plain search for a few literals decides where the regular expressions are applied.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import AnyStr

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.secret_inputs import names_a_secret, typed_part, types_into_named_secret

MARK = "REDACTED"

_NAME = (
    r"(?:token|secret|passw(?:or)?d|passphrase|pwd|api[_-]?key|access[_-]?key|private[_-]?key|form_key"
    r"|session[_-]?id|sess(?:ion)?id|sid|authorization|auth)"
)
_SECRETS = re.compile(
    rf"(?P<param>(?:[?#&;\s\"'{{]|&amp;|^)[\w.\[\]-]*{_NAME}\]?=)(?P<v1>[^&\s\"'<>#;,)\]]+)"
    r"|(?P<header>\b(?:authorization|x-api-key|private-token)\\?[\"']?\s*:\s*\\?[\"']?"
    r"(?:(?:bearer|basic|token|digest|negotiate|api-?key)\s+)?)(?P<v2>[^\s\"',;\\]{6,})"
    r"|(?P<login>\bcurl\s(?:[^\n]{0,400}?\s)??(?:-u|-U|--user|--proxy-user)(?:[\s=]+|(?=\w))\\?[\"']?[^\s:\"'\\]+:)"
    r"(?P<v8>[^\s\"'\\]+)"
    r"|(?P<cookie>\b(?:set-)?cookie[\"']?\s*:\s*)(?P<v3>[\w.-]+=[^\r\n\"']+)"
    r"|(?P<bearer>\bbearer\s+)(?P<v4>[\w.~+/=-]{16,})"
    r"|(?P<json>[\"'][\w.-]*(?:token|secret|passw(?:or)?d|(?:api|access|private|form)[_-]?key|session[_-]?id)[\"']\s*:\s*"
    r"[\"'])(?P<v5>(?=[^\s\"'\\<>]*\d)[^\s\"'\\<>]{8,})"
    r"|(?P<quoted>\bpass(?:word|phrase)(?:\s+is|\s+was)?\s+[\"'‘“])(?P<v7>(?=[^\s\"'<>]*\d)[^\s\"'<>]{6,})(?=[\"'’”])"
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
_LOGIN = re.compile(r"(://[^/\s:@]+:)[^/\s@]+(?=@)")
_CARD = re.compile(rb"(?<![\w.-])(?:\d{4}([ -]?)\d{4}\1\d{4}\1\d{2,7}|3[47]\d{12,13})(?![\w-])")
_ISSUER = re.compile(rb"4|5[1-5]|2[2-7]|3[47]|6(?:011|4|5)|35|30[0-5]|3[68]")
_SECRET_FIELD = re.compile(
    r"type=[\"']?password\b|autocomplete=[\"']?(?:[\w-]+ )*(?:[\w-]+-password|one-time-code|cc-number|cc-csc)\b"
    r"|name=(?:\"[^\"]*(?:token|secret|passw|form_key|session|csrf)[^\"]*\""
    r"|'[^']*(?:token|secret|passw|form_key|session|csrf)[^']*'|[^\s\"'>]*(?:token|secret|passw|form_key|session|csrf))",
    re.IGNORECASE,
)
_VALUE = re.compile(r"(\b(?:value|content)=)(?:(\")[^\"]+(?=\")|(')[^']+(?=')|[^\s\"'<>=`]+)")
_PARAMETER = re.compile(r"(?P<name>(?<=[?&#;])[\w.\[\]%-]{1,60})=(?P<value>[^&#;\s\"'<>]+)")
SURELY_SECRET = frozenset(
    {"jwt", "sig", "signature", "x-amz-signature", "x-goog-signature", "x-ms-signature", "samlresponse"}
    | {"samlassertion", "otp", "totp", "pass", "passcode", "pin", "magic_token", "assertion"}
)
"""Parameters of addresses that hold a secret, whatever their value."""
MAYBE_SECRET = frozenset(
    {
        "code",
        "ticket",
        "session",
        "magic",
        "invite",
        "invitation",
        "reset",
        "key",
        "hash",
        "nonce",
        "verify",
        "confirm",
    }
)
"""Parameters of addresses that hold a secret where their value is like a token."""
_FILLED_BOX = re.compile(
    r"(\btextbox (?P<name>'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")[^\n]*?\bvalue=)"
    r"(?P<value>'(?:[^'\\\n]|\\.)+'|\"(?:[^\"\\\n]|\\.)+\")"
)

_HINTS = (
    "token=", "token]=", "secret=", "passw", "passphrase", "pwd=", "key=", "sid=", "sessid=", "sessionid=",
    "session_id=", "session-id=", "auth=", "authorization", "api-key", "private-token", "cookie", "bearer ",
    'token"', "token'", 'secret"', "secret'", 'key"', "key'", 'id"', "id'", "curl ",
)  # fmt: skip
_KEY_HINTS = (
    "eyJ",
    "PRIVATE KEY",
    "glpat-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "sk-",
    "AKIA",
    "xox",
)
_HTML_HINTS_BUT_KEYS = (
    b"token", b'type="password"', b"secret=", b"auth=", b"pwd=", b"sid=", b"sessid=", b"SESSID=", b"sessionid=",
    b"session_id=", b"session-id=",
)  # fmt: skip
"""Searched as written, in lower case: lower-casing a whole page costs more than all searches together."""
_HTML_HINTS = (*_HTML_HINTS_BUT_KEYS, b"form_key", b"api_key")
_THOROUGH_HINTS = (
    *_HTML_HINTS,
    b"passw",
    b"Passw",
    b"secret",
    b"://",
    b"earer ",
    b"uthorization",
    b"ookie:",
    b"key=",
    b"one-time-code",
    b"cc-csc",
    b"csrf",
    b"Token",
)
_TREE_HINTS = (
    "pass", "token", "secret", "pwd=", "key=", "id=", "uthorization", "private", "cookie:", "bearer ", "eyj",
    "glpat-", "akia", "sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "xox", "auth=", "value=",
    'key"', "key'", 'id"', "id'", 'cookie"', "cookie'",
    "api-key",
)  # fmt: skip
_NAME_ENDS = b"\"'=]"
"""Characters after "token" where it ends the name of a field or parameter."""

_DIGITS = bytes(48 if 48 <= code <= 57 else code for code in range(256))
_CARD_SHAPES = (b"0" * 14, b"0000 0000 0000 00", b"0000-0000-0000-00")
_MAX_WINDOW = 4000

_REMEMBERED = 2000
"""Maximum length of a text whose redacted form is cached, in characters."""


def redact_text(text: str) -> str:
    """Return a short text (a thought, an error, an answer) without its secrets; the same object if it contains
    none.
    """
    return _redact_short(text) if len(text) <= _REMEMBERED else _redact_text(text)


def redact_url(url: str) -> str:
    """Return an address without its passwords and tokens. A written rule for its parameters:

    ====================================  =======================================================================
    name                                  value that is masked
    ====================================  =======================================================================
    holds token, secret, password, …      any (as in every text)
    of ``SURELY_SECRET`` (sig, otp, pin)  any
    of ``MAYBE_SECRET`` (code, key)       like a token: 16 characters or more, letters and digits mixed in one part
    any other                             none
    ====================================  =======================================================================
    """
    return _redact_address(url) if len(url) <= _REMEMBERED else _parameters_masked(redact_text(url))


@lru_cache(maxsize=8192)
def _redact_address(url: str) -> str:
    return _parameters_masked(redact_text(url))


def _parameters_masked(url: str) -> str:
    return _PARAMETER.sub(_masked_parameter, url) if "=" in url else url


def _masked_parameter(match: re.Match[str]) -> str:
    name = match["name"].lower()
    is_secret = name in SURELY_SECRET or (name in MAYBE_SECRET and is_token_like(match["value"]))
    return f"{match['name']}={MARK}" if is_secret else match[0]


def is_token_like(value: str) -> bool:
    """Whether a value is like a token: long, with letters and digits mixed, and no words with numbers between."""
    if len(value) < 16 or not re.search(r"\d", value) or not re.search(r"[A-Za-z]", value):
        return False
    parts = re.split(r"[-_.~+/=%\s]+", value)
    return any(re.search(r"\d", part) and re.search(r"[A-Za-z]", part) for part in parts) or bool(
        re.search(r"\d{7,}", value)
    )


@lru_cache(maxsize=8192)
def _redact_short(text: str) -> str:
    """Redact with a cache: addresses and titles recur at every step."""
    return _redact_text(text)


def _redact_text(text: str) -> str:
    if not text:
        return text
    clean = _redact_line(text)
    if "://" in clean:
        clean = _parameters_masked(clean)
    try:
        data = clean.encode()
    except UnicodeEncodeError:  # a lone surrogate, which a page may contain and no file can store
        data = clean.encode("utf-8", "replace")
        clean = data.decode()
    without = _without_cards(data)
    return clean if without is data else without.decode()


def redact_tree(tree: str) -> bytes:
    """Return an accessibility tree as UTF-8 without secrets; lines, ids, roles and depths stay as they are."""
    low = tree.lower()
    hints = [hint for hint in _TREE_HINTS if hint in low]
    if hints and len(low) == len(tree):
        windows = {window for hint in hints for window in _windows(low, hint, "\n", "\n")}
        tree = "".join(_redact_windows(tree, windows, _redact_fragment)) or tree
    elif hints:  # a letter whose lower-case form is longer: positions differ
        tree = "\n".join(map(_redact_line, tree.split("\n")))
    if "@" in low and "://" in low:
        tree = _LOGIN.sub(rf"\1{MARK}", tree)
    return _without_cards(tree.encode("utf-8", "replace"))


def redact_html(html: str, *, thorough: bool = True) -> bytes:
    """Return HTML as UTF-8 without secrets: values of password and token fields, tokens in links, keys, card numbers.

    HTML is ten times as long as the tree, so it is searched for fewer hints.  Keys and card numbers are visible, so
    in the tree too: if the tree had none, the caller may pass ``thorough=False``.
    """
    page = html.encode("utf-8", "replace")
    hints = _THOROUGH_HINTS if thorough else _HTML_HINTS if b"_key" in page else _HTML_HINTS_BUT_KEYS
    windows = {
        window
        for hint in hints
        for window in _windows(page, hint, b"<", b">", _NAME_ENDS if hint == b"token" else None)
    }
    page = b"".join(_redact_windows(page, windows, _redact_tag)) or page
    if not thorough:
        return page
    clean = _KEYS.sub(MARK, _LONG_KEY.sub(rf"\1{MARK}\2", page.decode("utf-8", "replace")))
    return _without_cards(clean.encode("utf-8", "replace"))


def typed_secret(
    action: RecordedAction | None, target: ActionTarget | None, *, on_secret_field: bool = False
) -> str:
    """The text an action typed into a password field; "" for any other action.

    A field is one by its name, by the action's selector, or because the page says so (``on_secret_field``).
    """
    if action is None:
        return ""
    if not on_secret_field and not types_into_named_secret(action, target.name if target is not None else ""):
        return ""
    return typed_part(action)[1]


def without_typed(action: RecordedAction, secret: str) -> RecordedAction:
    """Return the action with that secret masked."""
    args = {name: MARK if value == secret else value for name, value in action.args.items()}
    return replace(action, args=args)


def _redact_windows(
    page: AnyStr, windows: Iterable[tuple[int, int]], redact: Callable[[AnyStr], AnyStr]
) -> list[AnyStr]:
    """Return the page in pieces, with the given windows redacted; none if nothing was found."""
    parts: list[AnyStr] = []
    done = 0
    for start, end in sorted(windows):
        if start >= done:
            fragment = page[start:end]
            clean = redact(fragment)
            if clean != fragment:
                parts += (page[done:start], clean)
                done = end
    return [*parts, page[done:]] if parts else []


def _windows(
    page: AnyStr, hint: AnyStr, opening: AnyStr, closing: AnyStr, ends: AnyStr | None = None
) -> Iterator[tuple[int, int]]:
    """Find the tags (or lines) around a hint; of those with ``ends`` only the ones followed by it."""
    at = page.find(hint)
    while at != -1:
        behind = at + len(hint)
        if ends is not None and page[behind : behind + 1] not in ends:
            at = page.find(hint, behind)
            continue
        start = max(page.rfind(opening, max(at - _MAX_WINDOW, 0), at), 0)
        end = page.find(closing, at, at + _MAX_WINDOW)
        end = end if end != -1 else min(at + _MAX_WINDOW, len(page))
        yield start, end
        at = page.find(hint, end)


def _redact_tag(tag: bytes) -> bytes:
    """A tag as UTF-8; a window may end within a character."""
    return _redact_fragment(tag.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _redact_fragment(text: str) -> str:
    if text.startswith(("<input", "<meta", "<textarea")) and _SECRET_FIELD.search(text):
        return _VALUE.sub(lambda found: f"{found[1]}{found[2] or found[3] or ''}{MARK}", text)
    return _redact_line(text)


def _redact_line(text: str) -> str:
    if "://" in text and "@" in text:
        text = _LOGIN.sub(rf"\1{MARK}", text)
    if _holds(text, _KEY_HINTS):
        text = _KEYS.sub(MARK, _LONG_KEY.sub(rf"\1{MARK}\2", text))
    if "textbox" in text and "value=" in text:
        text = _FILLED_BOX.sub(_masked_box, text)
    low = text.lower()
    return _SECRETS.sub(_masked, text) if _holds(low, _HINTS) else text


def _holds(text: str, hints: Sequence[str]) -> bool:
    for hint in hints:  # noqa: SIM110 (``any`` over a generator takes twice as long, and this is asked of every text)
        if hint in text:
            return True
    return False


def _masked(match: re.Match[str]) -> str:
    parts = (
        match[name] for name in ("param", "header", "login", "cookie", "bearer", "json", "quoted", "prose")
    )
    return next((part for part in parts if part is not None), "") + MARK


def _masked_box(match: re.Match[str]) -> str:
    """Mask a tree's password field unless its value is the browser's own dots."""
    quote, value = match["value"][0], match["value"][1:-1]
    if not names_a_secret(match["name"][1:-1]) or not value.strip("•"):
        return match[0]
    return f"{match[1]}{quote}{MARK}{quote}"


def _without_cards(data: bytes) -> bytes:
    """Return the same object if it contains no card number.  Digits are normalised first: a plain search is
    fastest.
    """
    if len(data) < 14:
        return data
    shape = data.translate(_DIGITS)
    places = [at for digits in _CARD_SHAPES for at in _places(shape, digits)]
    if not places:
        return data
    parts: list[bytes] = []
    done = 0
    for at in sorted(places):
        start, end = max(at - 8, done), at + 40
        if start < end:
            parts += (data[done:start], _CARD.sub(_masked_card, data[start:end]))
            done = end
    clean = b"".join((*parts, data[done:]))
    return data if clean == data else clean


def _places(shape: bytes, digits: bytes) -> Iterator[int]:
    at = shape.find(digits)
    while at != -1:
        yield at
        at = shape.find(digits, at + 32)


def _masked_card(match: re.Match[bytes]) -> bytes:
    digits = [code - 48 for code in match[0] if 48 <= code <= 57]
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = digit * 2 if place % 2 else digit
        total += doubled - 9 if doubled > 9 else doubled
    is_card = 14 <= len(digits) <= 19 and _ISSUER.match(match[0]) and total % 10 == 0 and len(set(digits)) > 1
    return MARK.encode() if is_card else match[0]
