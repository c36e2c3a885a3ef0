"""The suites of the workspace, parsed; what was read of a file is kept until the file changes.  Store thread only."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace

from app.engine.core.evaluation.suite import Suite
from app.engine.evaluation.suites.registry import parse_suite
from app.engine.evaluation.taint import suite_names
from app.engine.store.suite_store import FileState, SuiteHead
from app.engine.store.workspace import Workspace
from app.errors import SiteloreError

log = logging.getLogger(__name__)


class StoredSuites:
    """Reads suites of one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._parsed: dict[str, tuple[FileState, SuiteHead, Suite]] = {}

    def get(self, name: str) -> tuple[SuiteHead, Suite]:
        """Return a suite with its head.

        Raises:
            NotFound: there is none.  StoreError: its file is damaged or too new.
        """
        state = self._workspace.suites.state(name)
        kept = self._parsed.get(name)
        if kept is None or kept[0] != state:
            head, data = self._workspace.suites.read(name)
            suite = parse_suite(data, head.file, name)
            suite = replace(suite, subsets=head.subsets or suite.subsets)
            kept = self._parsed[name] = (state, head, suite)
        return kept[1], kept[2]

    def all(self) -> list[tuple[SuiteHead, Suite]]:
        """Return every suite that can be read, by name; one that can't be is logged."""
        found: list[tuple[SuiteHead, Suite]] = []
        for name in self._workspace.suites.names():
            try:
                found.append(self.get(name))
            except SiteloreError as error:
                log.warning("the suite %s can't be read: %s", name, error)
        return found

    def of_run(self, suite: str, task: str, intent: str = "") -> tuple[SuiteHead, Suite] | None:
        """Return the suite that a run's task is of, ``None`` where there is none.

        A suite of the run's name comes before one of its form; of several of a form the one that words the task as
        the run did, as variants of a benchmark share their ids.
        """
        if not task:
            return None
        fitting = [found for found in self.all() if suite in suite_names(found[1]) and _has(found[1], task)]

        def order(found: tuple[SuiteHead, Suite]) -> tuple[bool, bool, str]:
            words = found[1].task(task).intent.split()
            return found[1].name != suite, words != intent.split(), found[1].name

        return min(fitting, key=order, default=None)

    def states(self) -> tuple[tuple[str, FileState], ...]:
        """Return the states of all files: equal ones mean that nothing has changed."""
        return tuple(_states(self._workspace, self._workspace.suites.names()))


def _states(workspace: Workspace, names: Iterable[str]) -> Iterable[tuple[str, FileState]]:
    for name in names:
        try:
            yield name, workspace.suites.state(name)
        except SiteloreError:
            continue


def _has(suite: Suite, task: str) -> bool:
    return any(one.id == task for one in suite.tasks)
