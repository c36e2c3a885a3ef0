"""JSON Lines: one tip a line with all its content; empty fields are left out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from kb.errors import BadTip
from kb.exchange.parsed import ParsedTip, Parser, draft_from, lines
from kb.procedure import procedure_to_json
from kb.record import anchor_to_json, provenance_from_json, provenance_to_json
from kb.tip import TipDraft


def parse(text: str, site: str) -> Parser:
    """Parse a draft from each line; unknown fields (an id, a status) are ignored."""
    for number, line in lines(text):
        if not line.strip():
            continue
        try:
            record: object = json.loads(line)
            if not isinstance(record, dict):
                raise BadTip("a line must be one JSON object")
            fields = cast("dict[str, Any]", record)
            draft = replace(draft_from(fields, site), provenance=_provenance(fields))
            yield ParsedTip(number, draft)
        except BadTip as error:
            yield ParsedTip(number, error=str(error))
        except (ValueError, RecursionError) as error:
            yield ParsedTip(number, error=f"this is not JSON ({error})")


def serialise(tips: Iterable[TipDraft]) -> str:
    """Serialise the lines, without repetitions."""
    return "".join(dict.fromkeys(_line(tip) + "\n" for tip in tips))


def _line(tip: TipDraft) -> str:
    scope = {"host": tip.scope.host, "path": tip.scope.path, "query": list(tip.scope.query)}
    fields: dict[str, Any] = {
        "site": tip.site,
        "kind": tip.kind.value,
        "scope": {name: value for name, value in scope.items() if value},
        "text": tip.text,
        "when": tip.when,
        "do": tip.do,
        "before": tip.before,
        "why": tip.why,
        "keywords": list(tip.keywords),
        "taint": list(tip.taint),
        "provenance": provenance_to_json(replace(tip.provenance, source="")),
        "procedure": procedure_to_json(tip.procedure) if tip.procedure is not None else None,
        "anchor": anchor_to_json(tip.anchor) if tip.anchor is not None else None,
        "tags": list(tip.tags),
    }
    return json.dumps({name: value for name, value in fields.items() if value}, ensure_ascii=False)


def _provenance(fields: Mapping[str, Any]) -> Any:
    given: object = fields.get("provenance")
    if given is not None and not isinstance(given, dict):
        raise BadTip("'provenance' must be an object")
    return provenance_from_json(cast("dict[str, Any]", given or {}))
