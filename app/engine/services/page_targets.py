"""Reads a suite's targets in the stored pages of runs, beside everything else, in one browser for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from app.engine.core.evaluation.run_evidence import EvidenceSource
from app.engine.core.evaluation.suite import Evaluator
from app.engine.evaluation.evaluate import evaluate
from app.engine.services.rescored_runs import RunInScoring
from app.engine.services.stored_evidence import needs_browser, with_stored_targets
from app.errors import SiteloreError

if TYPE_CHECKING:
    from app.engine.browser.stored_page import StoredPages

AT_ONCE = 2
"""Pages that are read at the same time."""


class PageTargets:
    """A browser that is started for the first page that needs one, in ``stack``.

    Args:
        is_stopped: whether pages that were not begun are not wanted any more.
    """

    def __init__(self, stack: AsyncExitStack, setting: str, is_stopped: Callable[[], bool]) -> None:
        self._stack, self._setting, self._is_stopped = stack, setting, is_stopped
        self._gate = asyncio.Semaphore(AT_ONCE)
        self._pages: StoredPages | None = None
        self._trouble = ""

    @staticmethod
    def are_wanted(run: RunInScoring) -> bool:
        """Whether a run's verdict depends on its stored page; a captured run has its targets in the evidence."""
        return (
            run.is_open
            and run.stored.evidence.source is EvidenceSource.STORED_PAGE
            and Evaluator.HTML in run.task.oracle.evaluators
        )

    async def read(self, run: RunInScoring) -> None:
        """Read a run's targets in its stored page, and put its new verdict into it."""
        async with self._gate:
            if self._is_stopped():
                return
            try:
                pages = await self._started() if needs_browser(run.stored.evidence, run.task) else None
                evidence = await with_stored_targets(run.stored.evidence, run.task, pages, self._trouble)
            except SiteloreError as error:  # no browser, or one that died: the others need not try
                self._trouble = str(error)
                evidence = await with_stored_targets(run.stored.evidence, run.task, None, self._trouble)
        run.stored = replace(run.stored, evidence=evidence)
        run.score = evaluate(run.task, evidence, run.options)

    async def _started(self) -> StoredPages | None:
        if self._trouble:
            return None
        from app.engine.browser.stored_page import StoredPages

        if self._pages is None:
            self._pages = await self._stack.enter_async_context(StoredPages(self._setting))
        return self._pages
