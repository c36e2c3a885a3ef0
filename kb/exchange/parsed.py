"""The output of a format's parser: drafts with their line, and errors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from kb.errors import BadTip
from kb.procedure import procedure_from_json
from kb.record import anchor_from_json
from kb.tip import Kind, Scope, TipDraft


@dataclass(frozen=True, slots=True)
class ParsedTip:
    """One tip of a file, or the reason there is none; ``line`` counts from 1."""

    line: int
    draft: TipDraft | None = None
    error: str = ""


Parser = Iterator[ParsedTip]


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines without their ends; only a text file's line ends count."""
    for number, line in enumerate(text.split("\n"), start=1):
        yield number, line.removesuffix("\r")


def draft_from(fields: Mapping[str, Any], site: str) -> TipDraft:
    """Build a draft from named fields of text, lists and mappings; raises ``BadTip`` for a field of the wrong type.

    ``site`` is the default.  The scope may be a mapping or ``host/path?key`` in one string.
    """
    named = _text(fields, "site") or site
    if not named:
        raise BadTip("it names no site; give one for the whole file")
    return TipDraft(
        site=named,
        text=_text(fields, "text"),
        scope=_scope(fields),
        kind=_kind(_text(fields, "kind")),
        when=_text(fields, "when"),
        do=_text(fields, "do"),
        before=_text(fields, "before"),
        why=_text(fields, "why"),
        keywords=_list(fields, "keywords"),
        taint=_list(fields, "taint"),
        procedure=procedure_from_json(given) if (given := _json(fields, "procedure")) else None,
        anchor=anchor_from_json(given) if (given := _json(fields, "anchor")) else None,
        tags=_list(fields, "tags"),
    )


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadTip(f"{name!r} must be a text")
    return value


def _list(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value: object = fields.get(name)
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise BadTip(f"{name!r} must be a list of texts")
    items: list[str] = []
    for item in cast("list[object]", value):
        if isinstance(item, bool) or not isinstance(item, str | int):
            raise BadTip(f"{name!r} must be a list of texts")
        items.append(str(item))
    return tuple(items)


def _json(fields: Mapping[str, Any], name: str) -> object:
    """A field that holds JSON, as a mapping or as its text; None for an empty one."""
    value: object = fields.get(name)
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value) if value.strip() else None
    except (ValueError, RecursionError) as error:
        raise BadTip(f"{name!r} is not JSON ({error})") from error


def _kind(name: str) -> Kind:
    try:
        return Kind(name.strip().lower() or Kind.OPERATION)
    except ValueError:
        raise BadTip(f"unknown kind {name[:40]!r}; use one of {', '.join(Kind)}") from None


def _scope(fields: Mapping[str, Any]) -> Scope:
    value: object = fields.get("scope")
    if isinstance(value, str):
        return Scope.parse(value)
    if value is not None and not isinstance(value, dict):
        raise BadTip("'scope' must be a text or have host, path and query")
    inner = fields if value is None else cast("dict[str, Any]", value)
    return Scope(host=_text(inner, "host"), path=_text(inner, "path"), query=_list(inner, "query"))
