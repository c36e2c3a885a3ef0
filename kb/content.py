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
from collections.abc import Iterable, Sequence
from dataclasses import replace

from kb.errors import BadTip
from kb.procedure import Choice, Entry, Procedure, ProcedureOrigin, ProcedureStep, procedure_to_json
from kb.record import anchor_to_json
from kb.tip import Anchor, Kind, Provenance, Scope, Status, TipDraft

TEXT_LIMIT = 20_000
"""Characters of a tip's text, and of each of its other parts."""

LIST_LIMIT = 1_000
"""Maximum keywords, and query keys, of one tip."""

TAINT_LIMIT = 20_000
"""Maximum task ids one author may have seen."""

TAG_LIMIT, TAG_LENGTH = 50, 60
"""Maximum tags of one tip, and characters of one."""

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
        procedure=_procedure(draft),
        anchor=_anchor(draft.anchor) if draft.anchor is not None else None,
        tags=clean_tags(draft.tags),
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


def clean_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Tags in lower case, sorted, each once; raises ``BadTip`` for one that can't be written in a list."""
    lines = _lines(tuple(tag.lower() for tag in tags), "tags", TAG_LIMIT)
    if bad := next((tag for tag in lines if "," in tag or ";" in tag or len(tag) > TAG_LENGTH), None):
        raise BadTip(f"{bad[:80]!r} can't be a tag: use at most {TAG_LENGTH} characters without ',' and ';'")
    return tuple(sorted(lines))


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
    """Hexadecimal key equal for two tips with the same content: all but status, provenance, taint and tags.

    Compiled steps follow from the text and do not count; corrected ones and an anchor do.
    """
    more: list[object] = []
    if draft.procedure is not None and draft.procedure.origin is not ProcedureOrigin.COMPILER:
        more.append(procedure_to_json(draft.procedure))
    if draft.anchor is not None:
        more.append(anchor_to_json(draft.anchor))
    said = [*_core(draft), draft.when, draft.do, draft.before, draft.why, list(draft.keywords)]
    return _sha256([*said, *more]).hex()


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


def _procedure(draft: TipDraft) -> Procedure:
    """The corrected steps on single lines, or the compiled ones."""
    given = draft.procedure
    if given is None or given.origin is ProcedureOrigin.COMPILER:
        from kb.compiler import compiled  # late: reading a frozen file compiles nothing

        return compiled(draft)
    return replace(
        given,
        entries=tuple(map(_entry, given.entries)),
        never=_lines(given.never, "never", LIST_LIMIT),
        unread=(),
        compiler=0,
    )


def _entry(entry: Entry) -> Entry:
    if isinstance(entry, Choice):
        return Choice(ways=tuple(tuple(map(_step, way)) for way in entry.ways))
    return _step(entry)


def _step(step: ProcedureStep) -> ProcedureStep:
    return replace(
        step,
        target=_line(step.target, "target of a step"),
        role=_line(step.role, "role of a step"),
        near=_line(step.near, "landmark of a step"),
        where=_line(step.where, "landmark of a step"),
        value=_text(step.value, "value of a step"),
        when=_line(step.when, "condition of a step"),
        locator=_text(step.locator, "locator of a step"),
    )


def _anchor(given: Anchor) -> Anchor:
    return replace(
        given,
        screenshot=_line(given.screenshot, "screenshot"),
        words=_line(given.words, "words of the anchor")[:REASON_LIMIT],
        role=_line(given.role, "role of the anchor"),
        neighbours=_lines(given.neighbours, "neighbours of the anchor", 24),
        page=_line(given.page, "page of the anchor"),
    )


def _provenance(given: Provenance) -> Provenance:
    texts = ("run", "screenshot", "author", "detector", "verdict", "source")
    return replace(given, **{name: _line(getattr(given, name), name) for name in texts})


def clean_hosts(hosts: Iterable[str]) -> tuple[str, ...]:
    """Host globs in lower case, each once; raises ``BadTip`` for one that is none."""
    globs = tuple(dict.fromkeys(glob.strip().lower() for glob in hosts if glob.strip()))
    if bad := next((glob for glob in globs if "/" in glob or any(c.isspace() for c in glob)), None):
        raise BadTip(f"{bad[:80]!r} is not a host pattern; write it like *:8023 or *.example.com")
    return globs
