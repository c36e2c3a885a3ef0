"""Suites of the workspace: add, list, hide, split; what a run was expected to come to."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from app.assets import resource
from app.engine.api.evaluation_api import ExpectedOutcome, SplitReport, SuiteRow, SuiteTaskRow
from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.core.evaluation.suite import Dialect, Suite, SuiteTask, TaskFilter
from app.engine.core.events import KnowledgeChanged, SuitesChanged
from app.engine.evaluation.bundled_suite import bundled_suite
from app.engine.evaluation.suites.choose import SPLIT_SEED, chosen_tasks, halves
from app.engine.evaluation.suites.expected import expected_lines
from app.engine.evaluation.suites.read_tasks import has_oracle, names_of_bases, unknown_evaluators
from app.engine.evaluation.suites.registry import parse_suite, read_suite
from app.engine.evaluation.suites.suite_file import beside, read_bytes
from app.engine.evaluation.taint import suite_names, tainted_tasks
from app.engine.services.core import Core, on_store
from app.engine.services.stored_suites import StoredSuites
from app.engine.services.suite_requests import unbound_names
from app.engine.store.suite_store import SuiteHead, suite_name
from app.errors import Conflict, NotFound

DEMO_SUITE = "demo"
"""Name of the suite of the bundled shop."""


class SuiteService:
    """Use cases of suites."""

    def __init__(self, core: Core, stored: StoredSuites | None = None) -> None:
        self._core = core
        self._stored = stored or StoredSuites(core.workspace)

    async def suite(self, name: str) -> Suite:
        """Return a suite of the workspace by its name, or one read from the path given.

        A file that is a suite of the workspace is that one; a worker of an evaluation has that evaluation's.

        Raises:
            NotFound: there is none.  InputError: the file is no suite.
        """
        bundled = await self._core.on_worker(bundled_suite, self._core.workspace.path)
        if bundled is not None and bundled.name == name:
            return bundled
        return (await self._found(name))[1]

    @on_store
    def suites(self) -> list[SuiteRow]:
        """Return the suites of the workspace."""
        return [self._row(head, suite) for head, suite in self._stored.all()]

    async def add_suite(self, path: str, name: str = "", blind: bool = False) -> SuiteRow:
        """Add a suite from a file; the file stays as it is, and undo takes the suite away.

        ``demo``, where there is no such file, is the suite of the bundled shop.

        Raises:
            InputError: the file is no suite.  UsageError: the name can't be one.
            Conflict: there is another suite of this name; the same one is no conflict.
        """
        file = _suite_file(path)
        data = await self._core.on_worker(read_bytes, file)
        suite = await self._core.on_worker(parse_suite, data, str(file), "", beside(file))
        suite = replace(suite, name=suite_name(name or suite.name))
        head = SuiteHead(
            name=suite.name,
            file=file.name,
            sha256=suite.sha256,
            blind=blind,
            added_at=time.time(),
            subsets=suite.subsets,
        )
        workspace = self._core.workspace

        def adding() -> None:
            same = next((one for one in workspace.suites.heads() if one.sha256 == head.sha256), None)
            if same is not None and same.name != head.name:
                raise Conflict(f"this suite is here already, under the name '{same.name}'")
            if same is None:
                workspace.suite_edits.add(head, data, self._core.author)
            elif same.blind != blind and blind:
                workspace.suite_edits.put_blind(head.name, blind, self._core.author)

        await self._core.do_in_review(adding)
        self._changed()
        return await self._core.on_store(self._row_of, head.name)

    async def remove_suite(self, name: str) -> None:
        """Remove a suite; undo brings it back."""
        await self._core.do_in_review(self._core.workspace.suite_edits.remove, name, self._core.author)
        self._changed()

    async def set_suite_blind(self, name: str, blind: bool) -> SuiteRow:
        """Hide the answers of a suite, or show them."""
        edits = self._core.workspace.suite_edits
        await self._core.do_in_review(edits.put_blind, name, blind, self._core.author)
        self._changed()
        return await self._core.on_store(self._row_of, name)

    async def suite_tasks(self, name: str, tasks: TaskFilter | None = None) -> list[SuiteTaskRow]:
        """Return tasks of a suite; without what is expected where the suite is blind."""
        head, suite = await self._found(name)
        blind = head is not None and head.blind
        counts = Counter(row.task_id for row in await self._core.on_store(self._runs, suite))
        return [
            _task_row(task, suite.dialect, counts[task.id], blind=blind)
            for task in chosen_tasks(suite, tasks)
        ]

    async def split_suite(self, name: str, seed: int = SPLIT_SEED) -> SplitReport:
        """Split a suite into halves by template; tips of authors who saw a template of a half are tainted for it."""
        suite = await self.suite(name)
        a, b = halves(suite, seed)
        templates = [
            len({task.cluster for task in suite.tasks if task.id in half}) for half in map(set, (a, b))
        ]

        def counting() -> tuple[list[int], list[tuple[str, ...]]]:
            ran = Counter(row.task_id for row in self._runs(suite))
            seen = [(tip.id, tainted_tasks(suite, tip.taint)) for tip in self._core.kb.tips() if tip.taint]
            runs = [sum(ran[id] for id in half) for half in (a, b)]
            return runs, [tuple(tip for tip, tasks in seen if tasks & set(half)) for half in (a, b)]

        runs, tips = await self._core.on_store(counting)
        return SplitReport(
            suite=suite.name,
            seed=seed,
            a=a,
            b=b,
            templates_a=templates[0],
            templates_b=templates[1],
            runs_a=runs[0],
            runs_b=runs[1],
            tips_a=tips[0],
            tips_b=tips[1],
        )

    @on_store
    def expected_rules(self, run: str) -> ExpectedOutcome | None:
        """Return what a run should have come to, without a verdict; ``None`` where no suite has its task."""
        row = self._core.workspace.index.row(run)
        if row is None:
            raise NotFound(f"there is no run {run[:80]!r}")
        found = self._stored.of_run(row.suite, row.task_id, row.intent)
        if found is None:
            return None
        head, suite = found
        task = suite.task(row.task_id)
        return ExpectedOutcome(
            suite=suite.name,
            task=task.id,
            template=task.template,
            hidden=head.blind,
            expected=() if head.blind else expected_lines(task, suite.dialect),
            recorded=row.score,
        )

    # inside

    async def _found(self, name: str) -> tuple[SuiteHead | None, Suite]:
        """Return a suite by name or path, with its head where it is the workspace's."""
        if name in await self._core.on_store(self._core.workspace.suites.names):
            return await self._core.on_store(self._stored.get, name)
        file = Path(name).expanduser()
        if not name or not file.is_file():
            raise NotFound(f"there is no suite {name[:80]!r}; 'sitelore suite list' names them")
        read = await self._core.on_worker(read_suite, file)
        for head in await self._core.on_store(self._core.workspace.suites.heads):
            if head.sha256 == read.sha256:
                return await self._core.on_store(self._stored.get, head.name)
        return None, read

    def _row_of(self, name: str) -> SuiteRow:
        return self._row(*self._stored.get(name))

    def _row(self, head: SuiteHead, suite: Suite) -> SuiteRow:
        named = {name for task in suite.tasks for name in _bases_of(task)}
        return SuiteRow(
            name=suite.name,
            title=suite.title,
            form=suite.form,
            dialect=suite.dialect.value,
            sha256=suite.sha256,
            tasks=len(suite.tasks),
            templates=len({task.cluster for task in suite.tasks}),
            sites=tuple(Counter(task.site for task in suite.tasks).most_common()),
            kinds=tuple(Counter(task.kind for task in suite.tasks).most_common()),
            without_oracle=sum(not has_oracle(task.oracle) for task in suite.tasks),
            unknown=unknown_evaluators(suite.tasks),
            unbound=unbound_names(named, self._core.workspace.site_store.rows),
            blind=head.blind,
            subsets=tuple(name for name, _ in suite.subsets),
            notes=suite.notes,
        )

    def _runs(self, suite: Suite) -> list[RunRow]:
        """Return the runs of the workspace that are of this suite's tasks; those of a variant are among them."""
        index = self._core.workspace.index
        known = {task.id for task in suite.tasks}
        return [
            row
            for name in suite_names(suite)
            for row in index.rows(RunFilter(suite=name))
            if row.task_id in known
        ]

    def _changed(self) -> None:
        self._core.bus.publish(SuitesChanged())
        self._core.bus.publish(KnowledgeChanged())  # a tip may hold an answer of the suite


def _suite_file(path: str) -> Path:
    """Return the file of a suite to add: the one at this path, else for ``demo`` the bundled one."""
    file = Path(path).expanduser()
    bundled = file.name == DEMO_SUITE and not file.exists()
    return resource("suites", f"{DEMO_SUITE}.json") if bundled else file


def _bases_of(task: SuiteTask) -> tuple[str, ...]:
    oracle = task.oracle
    texts = (task.start_url, oracle.url, *oracle.url_alternatives, *(target.url for target in oracle.html))
    return tuple(name for text in texts for name in names_of_bases(text))


def _task_row(task: SuiteTask, dialect: Dialect, runs: int, *, blind: bool) -> SuiteTaskRow:
    return SuiteTaskRow(
        id=task.id,
        intent=task.intent,
        sites=task.sites,
        template=task.template,
        kind=task.kind,
        required_obs=task.required_obs,
        writes=task.writes,
        evaluators=task.oracle.evaluators,
        expected=() if blind else expected_lines(task, dialect),
        runs=runs,
    )
