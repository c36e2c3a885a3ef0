"""The stored form of a run's evidence: canonical JSON, so that equal evidence has one hash."""

from __future__ import annotations

from typing import Any, cast

import orjson

from app.engine.core.evaluation.run_evidence import EVIDENCE_VERSION, RunEvidence
from app.engine.store.run_files import type_adapter
from app.errors import InputError

FORM = "sitelore-evidence"


def encode_evidence(evidence: RunEvidence) -> bytes:
    """Encode evidence; half characters, which no file can hold, become question marks.

    Raises:
        InputError: a site's state or the recorded requests hold something that JSON has no form for.
    """
    try:
        # As plain data first: orjson sorts the keys of mappings, not the fields of dataclasses.
        value = {"form": FORM, **type_adapter(RunEvidence).dump_python(evidence)}
        try:
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        except (TypeError, orjson.JSONEncodeError):
            return orjson.dumps(_without_half_characters(value), option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the evidence of a run can't be stored as JSON: {error}") from error


def decode_evidence(data: bytes, where: str = "evidence") -> RunEvidence:
    """Decode evidence.

    Raises:
        InputError: it is damaged, something else, or of a newer version.
    """
    from pydantic import ValidationError

    try:
        read: Any = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise InputError(f"damaged: {error}", path=where) from error
    value = cast("dict[str, Any]", read) if isinstance(read, dict) else {}
    if value.get("form") != FORM:
        raise InputError("this is no evidence of a run", path=where)
    version = value.get("version")
    if not isinstance(version, int) or version > EVIDENCE_VERSION:
        raise InputError(
            f"the evidence is of version {version}, this program reads up to {EVIDENCE_VERSION}",
            path=where,
            remedy="use a newer Sitelore",
        )
    try:
        return type_adapter(RunEvidence).validate_python(value)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part) for part in fault["loc"])
        raise InputError(f"damaged: {place} {fault['msg']}", path=where) from error


def _without_half_characters(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case dict():
            items = cast("dict[Any, Any]", value).items()
            return {_without_half_characters(key): _without_half_characters(one) for key, one in items}
        case list() | tuple():
            return [_without_half_characters(one) for one in cast("list[Any]", value)]
        case _:
            return value
