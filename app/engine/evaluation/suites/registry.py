"""The formats of suites, and the one way to read a file of any of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

from app.engine.core.evaluation.suite import Dialect, Suite
from app.engine.evaluation.suites import online_mind2web, plain, sitelore, webarena, webchorearena
from app.engine.evaluation.suites.read_tasks import ReadTasks, refuse_duplicates
from app.engine.evaluation.suites.suite_file import SuiteContent, beside, parse, read_bytes
from app.errors import InputError

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


class SuiteFormat(Protocol):
    """A module that reads one format."""

    NAME: str

    def claims(self, content: SuiteContent) -> bool: ...
    def read(self, content: SuiteContent) -> ReadTasks: ...


FORMATS: tuple[SuiteFormat, ...] = (sitelore, webchorearena, online_mind2web, webarena, plain)  # pyright: ignore[reportAssignmentType]
"""In the order in which they are asked; the first that claims a file reads it."""


def read_suite(path: Path, name: str = "") -> Suite:
    """Read a suite from a file; without a name it is named after its format or its file.

    Raises:
        InputError: the file can't be read, is of no format, or a task in it is wrong.
    """
    return parse_suite(read_bytes(path), str(path), name, beside(path))


def parse_suite(data: bytes, path: str, name: str = "", others: dict[str, str] | None = None) -> Suite:
    """Read a suite from its bytes; ``path`` is for messages, and its ending tells lists of text from JSON."""
    return suite_of(parse(data, path, others), name)


def suite_of(content: SuiteContent, name: str = "", *, unique: bool = True) -> Suite:
    """Read the tasks of a file's content; ``unique`` ids are what a suite needs and a list of runs does not.

    Raises ``InputError``.
    """
    format = next((one for one in FORMATS if one.claims(content)), None)
    if format is None:
        raise InputError(
            "this is no suite of tasks",
            path=content.path,
            remedy=f'write {{"format": "{sitelore.FORMAT}", "version": {sitelore.VERSION}, "tasks": […]}}',
        )
    read = format.read(content)
    if unique:
        refuse_duplicates(read.tasks, content.path)
    return Suite(
        name=name or usual_name(read.form, content.stem),
        form=read.form,
        dialect=Dialect(read.dialect),
        sha256=content.sha256,
        tasks=read.tasks,
        title=read.title,
        notes=read.notes,
        subsets=read.subsets,
        file_name=usual_name(read.form, content.stem),
    )


def usual_name(form: str, stem: str) -> str:
    """Return the name of a suite that was given none: that of a benchmark, else of its file."""
    if form not in (sitelore.NAME, plain.NAME):
        return form
    name = re.sub(r"[^a-z0-9._-]+", "-", stem.lower()).strip("-._")[:63]
    return name if _NAME.fullmatch(name) else "suite"
