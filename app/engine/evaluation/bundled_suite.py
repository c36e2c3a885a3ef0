"""The suite in a worker's workspace: the tasks of its evaluation, as they were read where that was begun."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import cast

import orjson

from app.engine.core.evaluation.suite import Suite
from app.engine.store.run_files import type_adapter
from app.errors import InputError

SUITE_FILE = "suite.json"


def encode_suite(suite: Suite) -> bytes:
    """Encode a suite for a worker."""
    return orjson.dumps(type_adapter(Suite).dump_python(suite, mode="json"))


def bundled_suite(workspace: Path) -> Suite | None:
    """Return the suite that a worker's workspace was made with, ``None`` in any other.

    Raises:
        InputError: it is damaged.
    """
    path = workspace / SUITE_FILE
    try:
        return _read(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        return None


@lru_cache(maxsize=1)
def _read(path: Path, _changed: int) -> Suite:
    try:
        return cast("Suite", type_adapter(Suite).validate_json(path.read_bytes()))
    except ValueError as error:
        raise InputError("damaged", path=str(path)) from error
