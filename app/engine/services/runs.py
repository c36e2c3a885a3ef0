"""Runs: import, list, open, look at a step, search, delete, export."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app import settings
from app.engine.api.engine_api import RunDetail, RunImportReport, SearchHit, StepView
from app.engine.api.page_diff import step_view
from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.api.tip_api import PageElements
from app.engine.core.addresses import url_template
from app.engine.core.events import IMPORT_JOB_TITLE, RunsChanged, SitesChanged
from app.engine.core.regions import read_boxes, region_elements
from app.engine.core.trajectory import Run, Step
from app.engine.detectors.suspect import find_suspect
from app.engine.imports.importer import import_paths
from app.engine.imports.picture_words import can_read_pictures
from app.engine.jobs import Job
from app.engine.services.clustering import filtered_rows
from app.engine.services.core import Core, on_store
from app.engine.services.review import ReviewService
from app.engine.services.run_reader import uses_at
from app.engine.store.workspace import Workspace
from app.errors import InputError, NotFound
from app.installation import install_command


class RunService:
    """Use cases of stored runs."""

    def __init__(self, core: Core, judging: ReviewService) -> None:
        self._core, self._review = core, judging
        self._written: dict[str, list[tuple[str, str]]] = {}
        self._tips_seen = -1

    async def import_runs(
        self, paths: Sequence[str], format: str = "auto", picture_words: bool | None = None
    ) -> RunImportReport:
        """Import every run found under the paths; skip known ones.

        ``picture_words``: read the words of pages that have only pictures; by default as the settings say.
        The import has a thread and connections of its own, so that the queue stays usable meanwhile.
        """
        roots = [Path(path).expanduser() for path in paths]
        for root in roots:
            if not os.path.exists(root):  # noqa: PTH110 False too for a name that the system can't take
                raise InputError("no such file or folder", path=str(root), remedy="check the path")

        if picture_words and not can_read_pictures():
            raise InputError(
                "words in pictures can't be read: the extra 'ocr' is not installed",
                remedy=install_command("sitelore[ocr]"),
            )

        async def work(job: Job) -> RunImportReport:
            loop = asyncio.get_running_loop()

            def progress(done: int, total: int | None, detail: str) -> bool:
                loop.call_soon_threadsafe(job.advance, done, total, detail)
                return not job.cancel_requested

            def importing() -> RunImportReport:
                wanted = settings.load().picture_words == "on" if picture_words is None else picture_words
                with Workspace.open(self._core.workspace.path) as own:
                    return import_paths(own, roots, format, progress, words=wanted and can_read_pictures())

            report = await self._core.on_worker(importing)
            # Runs that another process, or a killed one, put in place may be missing in this process's index.
            await self._core.on_store(self._core.workspace.catch_up)
            await self._core.on_store(self._core.share_hosts, {})
            for words in report.learned:
                self._core.bus.publish(SitesChanged(note=words))
            if report.cancelled:
                await self._review.start_missing_detection()  # as a job of its own: the import is to stop now
            else:
                await self._review.detect_missing(job)
            self._core.bus.publish(RunsChanged())
            return report

        _, task = self._core.registry.start(IMPORT_JOB_TITLE, work)
        return await task

    async def list_runs(self, which: RunFilter) -> list[RunRow]:
        """Return the review queue, in the order asked for."""
        return await self._review.in_teaching_order(await self._rows(which), which)

    @on_store
    def _rows(self, which: RunFilter) -> list[RunRow]:
        rows = filtered_rows(self._core.workspace.index, which)
        blind = self._core.workspace.annotators.blind_runs(self._core.author)
        return [
            replace(row, tips=len(self._tips_of(row.id, row.id in blind)))
            if row.id in self._tips_by_run()
            else row
            for row in rows
        ]

    def _tips_of(self, run: str, blind: bool) -> tuple[str, ...]:
        """Return the ids of the tips from a run; of a blind one, the author's own."""
        found = self._tips_by_run().get(run, ())
        return tuple(tip for tip, author in found if not blind or author == self._core.author)

    def _tips_by_run(self) -> dict[str, list[tuple[str, str]]]:
        """Return the ids and authors of tips by source run; read again only when tips have changed."""
        version = self._core.kb.data_version
        if version != self._tips_seen:
            self._written.clear()
            for tip in self._core.kb.tips():
                if tip.provenance.run:
                    self._written.setdefault(tip.provenance.run, []).append((tip.id, tip.provenance.author))
            self._tips_seen = version
        return self._written

    @on_store
    def open_run(self, run: str) -> RunDetail:
        """Return a run with its steps, flags, risk, verdicts and interventions.

        Of a run that another annotator judges as well, the verdicts and tips of others come after the author's own.
        """
        workspace = self._core.workspace
        loaded, steps = workspace.runs.load(run)
        flags = workspace.index.flags(run)
        suspect = find_suspect(loaded, steps, flags)
        verdicts = workspace.review.verdicts(run)
        blind = workspace.annotators.is_blind(run, self._core.author)
        return RunDetail(
            run=loaded,
            steps=tuple(steps),
            flags=tuple(flags),
            risk=replace(workspace.index.risk(run), suspect_step=suspect.step),
            suspect=suspect,
            verdicts=() if blind else tuple(verdicts),
            hidden_verdicts=len(verdicts) if blind else 0,
            tips=self._tips_of(run, blind),
            uses=tuple(uses_at(self._core, steps)),
            interventions=tuple(workspace.supervision.interventions(run)),
        )

    @on_store
    def view_step(self, run: str, index: int) -> StepView:
        """Return the page before and after a step; ``index`` equal to the step count is the final page."""
        loaded, steps = self._core.workspace.runs.load(run)
        step, after = _step_and_next(loaded, steps, index)
        return step_view(run, step, after, self._core.workspace.runs.read_blob)

    @on_store
    def page_elements(self, run: str, step: int) -> PageElements:
        """Return the controls and headings of a step's page, of which a tip's region is chosen."""
        loaded, steps = self._core.workspace.runs.load(run)
        page, _ = _step_and_next(loaded, steps, step)
        read = self._core.workspace.runs.read_blob
        boxes = read_boxes(read(page.boxes)) if page.boxes else {}
        if page.target_box is not None and page.action is not None and page.action.bid:
            boxes.setdefault(page.action.bid, page.target_box)
        tree = read(page.tree).decode("utf-8", "replace") if page.tree else ""
        elements = region_elements(tree, boxes)
        missing = "" if elements or page.screenshot else "No page was recorded at this step."
        return PageElements(
            screenshot=page.screenshot, page=url_template(page.url), elements=elements, missing=missing
        )

    async def blob(self, digest: str) -> bytes:
        """Return the bytes with this content hash."""
        return await self._core.on_store(self._core.workspace.runs.read_blob, digest)

    async def search(self, text: str, limit: int = 50) -> list[SearchHit]:
        """Return the runs, steps and tips that contain the words, best first."""

        def searching() -> list[SearchHit]:
            tips = [
                SearchHit(
                    kind="tip",
                    id=tip.id,
                    step=None,
                    title=f"{tip.site} · {tip.kind}",
                    snippet=tip.text,
                    score=1.0,
                )
                for tip in self._core.kb.tips(search=text)[:limit]
            ]
            return [*tips[: limit // 4], *self._core.workspace.index.search(text, limit)][:limit]

        return await self._core.on_store(searching) if text.strip() else []

    async def delete_runs(self, runs: Sequence[str]) -> int:
        """Move runs to the trash; undo restores them."""
        known = await self._core.on_store(self._core.workspace.index.ids)
        if unknown := [run for run in runs if run not in known]:
            raise NotFound(f"no run {unknown[0]!r}; nothing was deleted")
        count = await self._core.do_in_review(self._core.workspace.delete_runs, list(runs), self._core.author)
        self._core.bus.publish(RunsChanged())
        return count

    async def rebuild_index(self) -> int:
        """Rebuild the search index from the stored runs, then detect."""

        async def work(job: Job) -> int:
            count = await self._core.on_store(self._core.workspace.rebuild_index)
            await self._review.detect((), job)
            self._core.bus.publish(RunsChanged())
            return count

        _, task = self._core.registry.start("Rebuild the index", work)
        return await task


def _step_and_next(run: Run, steps: Sequence[Step], index: int) -> tuple[Step, Step | None]:
    pages = [*steps, *([run.final] if run.final is not None else [])]
    if not 0 <= index < len(pages):
        raise NotFound(f"run {run.id} has no step {index}; it has {len(steps)}")
    return pages[index], pages[index + 1] if index + 1 < len(pages) else None
