"""Importer of BrowserGym and AgentLab (experiment folders, studies)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.engine.core.sites import SiteTable
from app.engine.imports.run_format import FoundPart, RunFormat, SourceFolder
from app.engine.imports.source_files import ReadRun
from app.errors import InputError


def _find(folder: SourceFolder) -> Iterator[FoundPart]:
    yield from ()


def load(path: Path, root: Path, part: str) -> Any:
    """Read a run's bytes."""
    raise InputError("this format can't be read yet", path=str(path))


def parse(raw: Any, sites: SiteTable) -> ReadRun:
    """Make a run of it."""
    raise InputError("this format can't be read yet")


RUN_FORMAT = RunFormat(
    name="browsergym",
    title="BrowserGym and AgentLab (experiment folders, studies)",
    new_finder=lambda: _find,
    load=load,
    parse=parse,
)
