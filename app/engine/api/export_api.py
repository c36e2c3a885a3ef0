"""Result of exporting runs."""

from __future__ import annotations

from dataclasses import dataclass

from app.errors import PathError


@dataclass(frozen=True, slots=True, kw_only=True)
class RunExportReport:
    """The files that an export wrote, and what it left out.

    Attributes:
        paths: the files or folders that were written, one a run.
        left_out: sentences about what the format can't hold or what was made smaller, each once.
        failed: runs of several that the format can't hold, by their id.
        cancelled: it was stopped; what is in ``paths`` is whole.
    """

    paths: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    failed: tuple[PathError, ...] = ()
    cancelled: bool = False
