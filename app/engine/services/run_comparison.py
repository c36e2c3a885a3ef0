"""Two runs side by side: which runs to compare, and their steps aligned on page states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from app.engine.api.review_api import AlignedStep, RunAlignment, SimilarRun
from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.core.addresses import url_template
from app.engine.core.goal_likeness import goal_likeness
from app.engine.core.page_alignment import align_steps, parting_row, parting_words
from app.engine.core.trajectory import Run, Step
from app.engine.evaluation.taint import suite_names
from app.engine.services.core import Core, on_store
from app.engine.services.review import ReviewService
from app.engine.services.stored_suites import StoredSuites
from app.errors import NotFound, SiteloreError

Relation = Literal["task", "template", "goal", "page"]

ALIKE = 0.45
"""Likeness from which goals count as alike; below it they share no more than the words of their site."""


class RunComparisonService:
    """Two runs side by side: which runs to compare, and their steps aligned on page states."""

    def __init__(self, core: Core, review: ReviewService, suites: StoredSuites | None = None) -> None:
        self._core, self._review = core, review
        self._suites = suites or StoredSuites(core.workspace)

    @on_store
    def similar_runs(self, run: str, passed: bool = True, limit: int = 8) -> list[SimilarRun]:
        """Return runs to put beside a run, the most telling first: of its task, its template, goals alike on its
        site, then runs that visited the page where it failed.

        Args:
            passed: only runs that passed.
            limit: number of runs at most.

        Raises:
            NotFound: there is no such run.
        """
        index = self._core.workspace.index
        own = index.row(run)
        if own is None:
            raise NotFound(f"there is no run {run[:80]!r}")
        rows = index.rows(RunFilter())
        others = {
            row.id: row
            for row in (index.rows(RunFilter(passed=True)) if passed else rows)
            if row.id != run and row.steps and row.outcome != "running"
        }
        found: dict[str, tuple[Relation, float]] = {}

        def add(relation: Relation, likes: Iterable[tuple[str, float]]) -> None:
            # Of equally alike runs the newest: it met the site as it is now.
            order = sorted(likes, key=lambda like: (-round(like[1], 2), -others[like[0]].started_at, like[0]))
            for id, likeness in order:
                if len(found) < limit:
                    found.setdefault(id, (relation, likeness))

        goals = list(others)
        # Words weigh by the goals of all runs, as in the ranking: a cosine never depends on which runs may be shown.
        cosines = goal_likeness(own.intent, [others[id].intent for id in goals], [row.intent for row in rows])
        likeness = dict(zip(goals, cosines, strict=True))
        add("task", ((id, 1.0) for id in goals if _same_task(own, others[id])))
        add("template", ((id, likeness[id]) for id in self._of_template(own, others.values())))
        add(
            "goal",
            ((id, likeness[id]) for id in goals if others[id].site == own.site and likeness[id] >= ALIKE),
        )
        if len(found) < limit:
            add(
                "page",
                (
                    (id, likeness[id])
                    for id in self._on_page(own)
                    if id in others and others[id].site == own.site
                ),
            )
        return [self._similar(others[id], relation, like) for id, (relation, like) in found.items()]

    async def align_runs(self, left: str, right: str) -> RunAlignment:
        """Return two runs aligned on page states, and where they first part.

        Raises:
            NotFound: one of them is not here.
        """
        workspace = self._core.workspace

        def loading() -> tuple[tuple[Run, list[Step]], tuple[Run, list[Step]]]:
            return workspace.runs.load(left), workspace.runs.load(right)

        return await self._core.on_worker(align, *await self._core.on_store(loading))

    def _of_template(self, own: RunRow, others: Iterable[RunRow]) -> Iterator[str]:
        found = self._suites.of_run(own.suite, own.task_id, own.intent)
        if found is None:
            return
        suite = found[1]
        cluster = suite.task(own.task_id).cluster
        tasks = {task.id for task in suite.tasks if task.cluster == cluster}
        names = suite_names(suite)
        yield from (row.id for row in others if row.task_id in tasks and row.suite in names)

    def _on_page(self, own: RunRow) -> Iterator[str]:
        """Yield the runs that visited the page of the step where this one failed."""
        steps = self._core.workspace.index.stored_steps()
        page = next(
            (url_template(one.url) for one in steps if one.run == own.id and one.step == own.suspect_step), ""
        )
        if page:
            yield from {one.run for one in steps if url_template(one.url) == page}

    def _similar(self, row: RunRow, relation: Relation, likeness: float) -> SimilarRun:
        try:
            knowledge = self._core.workspace.runs.load_head(row.id).knowledge
        except SiteloreError:  # it is in the index alone
            knowledge = ""
        return SimilarRun(
            id=row.id,
            relation=relation,
            likeness=min(1.0, likeness),
            intent=row.intent,
            score=row.score,
            steps=row.steps,
            knowledge=knowledge,
            started_at=row.started_at,
        )


def align(left: tuple[Run, Sequence[Step]], right: tuple[Run, Sequence[Step]]) -> RunAlignment:
    """Align two runs."""
    rows = align_steps(left[1], right[1], (left[0].intent, right[0].intent))
    parting = parting_row(rows, left[1], right[1])
    tips = [_tips(steps) for _, steps in (left, right)]
    return RunAlignment(
        left=left[0].id,
        right=right[0].id,
        rows=tuple(
            AlignedStep(
                left=left[1][row.left].index if row.left >= 0 else -1,
                right=right[1][row.right].index if row.right >= 0 else -1,
                same_action=row.same_action,
            )
            for row in rows
        ),
        parting=parting,
        why=parting_words(rows, parting, left, right),
        tips_left=tuple(tip for tip in tips[0] if tip not in tips[1]),
        tips_right=tuple(tip for tip in tips[1] if tip not in tips[0]),
    )


def _same_task(own: RunRow, other: RunRow) -> bool:
    if own.task_id:
        return (own.suite, own.task_id) == (other.suite, other.task_id)
    return own.site == other.site and own.intent.split() == other.intent.split()


def _tips(steps: Iterable[Step]) -> dict[str, None]:
    """Return the tips that a run was shown, in order."""
    shown = (tip for step in steps for tip in (*step.tips, *(exposure.tip for exposure in step.exposures)))
    return dict.fromkeys(shown)
