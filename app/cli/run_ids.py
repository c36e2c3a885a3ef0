"""Run ids on the command line: the beginning of one is enough where only one run has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from app.cli.common import workspace_path
from app.errors import UsageError

MAX_NAMED = 5
"""Runs that an ambiguous beginning lists."""


def whole_run_id(given: str) -> str:
    """Return the id of the only run that begins so; what begins none is returned as it is.

    Raises:
        UsageError: several runs begin so.
    """
    return _whole(given, _stored())


def whole_run_ids(given: Sequence[str]) -> list[str]:
    """Return each run's whole id as ``whole_run_id`` does."""
    stored = _stored() if given else set[str]()
    return [_whole(one, stored) for one in given]


def _stored() -> set[str]:
    from app.engine.store.run_store import RUNS

    try:
        return {path.name for path in (workspace_path() / RUNS).iterdir() if not path.name.startswith(".")}
    except OSError:  # no workspace yet, or an unreadable one: the command itself says so
        return set()


def _whole(given: str, stored: set[str]) -> str:
    if not given or given in stored:
        return given
    found = sorted(run for run in stored if run.startswith(given))
    if len(found) > 1:
        rest = f" and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
        named = ", ".join(found[:MAX_NAMED]) + rest
        raise UsageError(
            f"{len(found)} runs begin with {given[:120]!r}: {named}", remedy="write more of the id"
        )
    return found[0] if found else given


def completed(given: str | list[str] | None) -> str | list[str] | None:
    """Complete the ids of an argument or option, as its ``callback``."""
    if isinstance(given, str):
        return whole_run_id(given)
    return whole_run_ids(given) if given else given


_HELP = "Id of a run, or its beginning."
RunId = Annotated[str, typer.Argument(help=_HELP, callback=completed)]
RunIds = Annotated[list[str], typer.Argument(help="Ids of runs, or their beginnings.", callback=completed)]
ChosenRunIds = Annotated[
    list[str] | None,
    typer.Argument(help="Ids of runs, or their beginnings.", callback=completed),
]
