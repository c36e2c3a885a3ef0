"""The stored request of a run: all that is needed to resume it after a kill."""

from __future__ import annotations

from pathlib import Path

import orjson

from app.engine.api.run_api import RunRequest
from app.engine.store.run_files import type_adapter
from app.errors import NotFound, StoreError

REQUEST_FILE = "task.json"
VERSION = 1


def request_file(request: RunRequest) -> dict[str, bytes]:
    """Return the request as a further file of the run (``LiveRun.begin``)."""
    return {REQUEST_FILE: orjson.dumps({"version": VERSION, "request": request}, option=orjson.OPT_INDENT_2)}


def read_request(folder: Path) -> RunRequest:
    """Return the request of a run.

    Raises:
        NotFound: the run was not made here.  StoreError: its file is damaged or of a newer version.
    """
    from pydantic import ValidationError

    path = folder / REQUEST_FILE
    try:
        data = orjson.loads(path.read_bytes())
        if data["version"] > VERSION:
            raise StoreError(f"{path.name} of run {folder.name} is of a newer version; use a newer Sitelore")
        return type_adapter(RunRequest).validate_python(data["request"])
    except FileNotFoundError as error:
        raise NotFound(f"run {folder.name} can't be resumed: it was not made here") from error
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        raise StoreError(f"{path.name} of run {folder.name} is damaged; start the task again") from error
