"""Suites of the workspace: add, list, hide, split; what a run was expected to come to."""

from __future__ import annotations

from app.engine.api.evaluation_api import ExpectedOutcome, SplitReport, SuiteRow, SuiteTaskRow
from app.engine.core.evaluation.suite import Suite, TaskFilter
from app.engine.services.core import Core


class SuiteService:
    """Use cases of suites."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def suite(self, name: str) -> Suite:
        """Return a suite of the workspace by its name, or one read from the path given.

        Raises:
            NotFound: there is none.  InputError: the file is no suite.
        """
        raise NotImplementedError

    async def suites(self) -> list[SuiteRow]:
        """Return the suites of the workspace."""
        raise NotImplementedError

    async def add_suite(self, path: str, name: str = "", blind: bool = False) -> SuiteRow:
        """Add a suite from a file."""
        raise NotImplementedError

    async def remove_suite(self, name: str) -> None:
        """Remove a suite; undo brings it back."""
        raise NotImplementedError

    async def set_suite_blind(self, name: str, blind: bool) -> SuiteRow:
        """Hide the answers of a suite, or show them."""
        raise NotImplementedError

    async def suite_tasks(self, name: str, tasks: TaskFilter | None = None) -> list[SuiteTaskRow]:
        """Return tasks of a suite."""
        raise NotImplementedError

    async def split_suite(self, name: str, seed: int = 7) -> SplitReport:
        """Split a suite into halves by template."""
        raise NotImplementedError

    async def expected_outcome(self, run: str) -> ExpectedOutcome | None:
        """Return what a run should have come to; ``None`` where no suite of the workspace has its task."""
        raise NotImplementedError
