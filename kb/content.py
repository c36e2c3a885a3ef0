"""Validates a tip's content, and derives ids and keys from it.

The same content gives the same id on every machine, so text is normalised first: Unicode NFC, the line feed as the
only line break, no surrounding blanks.  Control characters are refused, not dropped: a tip keeps what its author saw.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from kb.errors import BadTip
from kb.tip import Kind, Provenance, Scope, Status, TipDraft

TEXT_LIMIT = 20_000
"""Characters of a tip's text, and of each of its other parts."""

LIST_LIMIT = 1_000
"""Maximum keywords, and query keys, of one tip."""

TAINT_LIMIT = 20_000
"""Maximum task ids one author may have seen."""

REASON_LIMIT = 500
"""Characters of the reason for a waiver."""

_SITE = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}\Z")
_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_REFUSED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_WORD_GAPS = re.compile(r"\s+")


def clean(draft: TipDraft) -> TipDraft:
    """Return the draft in the form in which it is stored; idempotent.

    Raises ``BadTip`` if it can't be stored.
    """
    text = _text(draft.text, "text")
    if not text:
        raise BadTip("a tip needs a text")
    return TipDraft(
        site=clean_site(draft.site),
        text=text,
        scope=_scope(draft.scope),
        kind=Kind(draft.kind),
        when=_text(draft.when, "when"),
        do=_text(draft.do, "do"),
        before=_text(draft.before, "before"),
        why=_text(draft.why, "why"),
        keywords=_lines(draft.keywords, "keywords", LIST_LIMIT),
        status=Status(draft.status),
        provenance=_provenance(draft.provenance),
        taint=tuple(sorted(_lines(draft.taint, "taint", TAINT_LIMIT))),
    )


def clean_site(site: str) -> str:
    """A site's short name in lower case, for ids and file names."""
    slug = site.strip().lower()
    if not _SITE.match(slug):
        raise BadTip(
            f"{site[:80]!r} can't be a site's name: use letters a-z, digits, '-', '_' and '.', at most 63,"
            " a letter or digit first"
        )
    return slug


def clean_reason(reason: str) -> str:
    """A person's reason on one line; raises ``BadTip`` if it is longer than a sentence or two."""
    line = _line(reason, "reason")
    if len(line) > REASON_LIMIT:
        raise BadTip(f"the reason is {len(line):,} characters long, at most {REASON_LIMIT:,} can be stored")
    return line


def base_id(draft: TipDraft) -> str:
    """The id of a cleaned draft unless another tip has it: site and 10 characters of a hash of its content."""
    content = [
        draft.site,
        draft.scope.host,
        draft.scope.path,
        list(draft.scope.query),
        draft.kind,
        draft.text,
    ]
    digest = base64.b32encode(_sha256(content)).decode("ascii")
    return f"{draft.site}-{digest[:10].lower()}"


def content_key(draft: TipDraft) -> str:
    """Hexadecimal key equal for two tips with the same content: all but status, provenance and taint."""
    return _sha256([*_core(draft), draft.when, draft.do, draft.before, draft.why, list(draft.keywords)]).hex()


def _core(draft: TipDraft) -> list[object]:
    scope = draft.scope
    return [draft.site, scope.host, scope.path, list(scope.query), draft.kind.value, draft.text]


def _sha256(content: Sequence[object]) -> bytes:
    return hashlib.sha256(
        json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    ).digest()


def _text(value: str, what: str) -> str:
    value = _BREAKS.sub("\n", value)
    if found := _REFUSED.search(value):
        raise BadTip(
            f"the {what} contains a control character (U+{ord(found[0]):04X}, at character {found.start() + 1}); "
            "remove it"
        )
    value = unicodedata.normalize("NFC", value).strip()
    if len(value) > TEXT_LIMIT:
        raise BadTip(
            f"the {what} is {len(value):,} characters long, at most {TEXT_LIMIT:,} can be stored;"
            " a tip states one thing: split it or shorten it"
        )
    return value


def _line(value: str, what: str) -> str:
    return _WORD_GAPS.sub(" ", _text(value, what)).strip()


def _lines(values: tuple[str, ...], what: str, limit: int) -> tuple[str, ...]:
    lines = tuple(dict.fromkeys(line for value in values if (line := _line(value, what))))
    if len(lines) > limit:
        raise BadTip(f"{len(lines):,} {what} are too many, at most {limit:,} can be stored")
    return lines


def _scope(scope: Scope) -> Scope:
    host, path = _line(scope.host, "scope").lower(), _line(scope.path, "scope")
    if " " in host or "/" in host:
        raise BadTip(f"{host[:80]!r} is not a host pattern; write it like *:8023 or *.example.com")
    if path and path[0] not in "/*":
        path = "/" + path
    return Scope(host=host, path=path, query=tuple(sorted(_lines(scope.query, "query keys", LIST_LIMIT))))


def _provenance(given: Provenance) -> Provenance:
    texts = ("run", "screenshot", "author", "detector", "verdict", "source")
    return replace(given, **{name: _line(getattr(given, name), name) for name in texts})
