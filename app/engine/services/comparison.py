"""Comparison of arms, credit of tips, reports."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from app.engine.api.engine_api import BehaviourDiff
from app.engine.api.evaluation_api import Comparison, GroupTable, ReportFiles, TipCreditRow
from app.engine.core.evaluation.episode import EvaluationJournal
from app.engine.evaluation.comparing import compare
from app.engine.evaluation.credit import credit_rows, observe
from app.engine.evaluation.report.files import write_report_files
from app.engine.services.comparison_sources import ComparisonSources
from app.engine.services.core import Core
from app.engine.services.evaluation import EvaluationService
from app.engine.services.suites import SuiteService
from app.engine.store.evaluation_files import JOURNAL_FILE
from app.errors import SiteloreError

log = logging.getLogger(__name__)


class ComparisonService:
    """Use cases of comparing evaluations."""

    def __init__(
        self,
        core: Core,
        evaluation: EvaluationService,
        suites: SuiteService,
        behaviour: Callable[[str, str], Awaitable[BehaviourDiff]],
    ) -> None:
        self._core, self._evaluation, self._behaviour_of = core, evaluation, behaviour
        self._sources = ComparisonSources(core, suites)
        self._credits: tuple[tuple[tuple[str, int, int], ...], tuple[TipCreditRow, ...]] | None = None

    async def compare_evaluations(
        self, folders: Sequence[str], arm: str = "", against: str = "", margin: float = 0.02
    ) -> Comparison:
        """Compare the arms of evaluations over the tasks that they share.

        Raises:
            NotFound: a folder holds no evaluation.  InputError: one is damaged.
            UsageError: they can't be mixed, or there is no such arm.
        """
        journals = [
            await self._evaluation.checked_journal(folder) for folder in dict.fromkeys(map(_full, folders))
        ]
        heads = [journal.head for journal in journals]
        tasks, labels = await self._sources.tasks(heads), await self._sources.labels(journals)
        knowledge = await self._sources.knowledge(heads)
        compared = await self._core.on_worker(
            compare,
            journals,
            tasks,
            arm=arm,
            against=against,
            margin=margin,
            labels=labels,
            knowledge=knowledge,
        )
        tables = [await self._behaviour(compared, one.arm, one.against) for one in compared.verdicts]
        added = tuple(table for table in tables if table is not None)
        return replace(compared, tables=(*compared.tables, *added)) if added else compared

    async def write_report(self, folders: Sequence[str], out: str = "", margin: float = 0.02) -> ReportFiles:
        """Write the report of evaluations as HTML, CSV, LaTeX and JSON.

        Without ``out`` it goes into ``report`` in the folder of the evaluation; of several into one of the first's.

        Raises:
            NotFound, InputError, UsageError: as ``compare_evaluations``.  Conflict: files of others are in the way.
        """
        places = list(dict.fromkeys(map(_full, folders)))
        compared = await self.compare_evaluations(places, margin=margin)
        journals = [await self._evaluation.checked_journal(folder) for folder in places]
        name = "report" if len(places) == 1 else f"report-of-{len(places)}"
        folder = Path(_full(out)) if out else Path(places[0]) / name
        return await self._core.on_worker(write_report_files, compared, journals, folder)

    async def tip_credits(self) -> list[TipCreditRow]:
        """Return what each tip is worth by all evaluations that the workspace knows.

        An evaluation that can't be read is left out.  The answer is kept until a journal changes.
        """
        folders = [row.folder for row in await self._evaluation.evaluations()]
        state = await self._core.on_worker(lambda: tuple(_state(folder) for folder in folders))
        if self._credits is None or self._credits[0] != state:
            self._credits = (state, await self._credit(folders))
        return list(self._credits[1])

    async def _credit(self, folders: Sequence[str]) -> tuple[TipCreditRow, ...]:
        journals: list[EvaluationJournal] = []
        for folder in folders:
            try:
                journals.append(await self._evaluation.checked_journal(folder))
            except SiteloreError as error:
                log.info("left out of the credit of tips: %s", error)
        knowledge = await self._sources.knowledge([journal.head for journal in journals])

        def counting() -> tuple[TipCreditRow, ...]:
            return tuple(credit_rows(observe(journals, knowledge), knowledge))

        return await self._core.on_worker(counting)

    async def _behaviour(self, compared: Comparison, arm: str, against: str) -> GroupTable | None:
        """Return how often two bases give other tips over the stored steps; ``None`` if one is not there any more."""
        files = {one.name: one.kb for head in compared.heads for one in head.arms if one.kb_sha256}
        if arm not in files or against not in files or files[arm] == files[against]:
            return None
        try:
            diff = await self._behaviour_of(files[against], files[arm])
        except SiteloreError as error:
            log.info("no behavioural difference of %s and %s: %s", arm, against, error)
            return None
        return GroupTable(
            title=f"Stored steps in which {arm} gives other tips than {against}",
            heads=("steps", "other tips", "in runs that passed"),
            rows=((str(diff.steps), str(diff.changed), str(diff.in_passed_runs)),),
        )


def _full(folder: str) -> str:
    return str(Path(folder).expanduser().resolve())


def _state(folder: str) -> tuple[str, int, int]:
    """Return what changes with a journal; 0 where there is none."""
    try:
        found = (Path(folder) / JOURNAL_FILE).stat()
    except OSError:
        return folder, 0, 0
    return folder, found.st_mtime_ns, found.st_size
