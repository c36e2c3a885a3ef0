"""Evidence for the evaluation of runs: captured in the browser at their end, cleaned of secrets, encoded."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from app.engine.agent.secrets import Secrets
from app.engine.api.run_api import RunRequest
from app.engine.core.evaluation.evidence_redaction import redact_evidence
from app.engine.core.evaluation.helper_calls import evidence_targets
from app.engine.core.evaluation.run_evidence import RunEvidence
from app.engine.core.evaluation.suite import HtmlTarget, SuiteTask
from app.engine.evaluation.evidence_codec import encode_evidence
from app.engine.services.core import Core
from app.engine.services.run_requests import allowed_hosts
from app.engine.services.suites import SuiteService
from app.errors import SiteloreError

if TYPE_CHECKING:
    from app.engine.browser.evidence_capture import EvidenceSurroundings
    from app.engine.browser.har_recording import HarRecorder
    from app.engine.browser.session import BrowserSession

log = logging.getLogger(__name__)

TaskLookup = Callable[[str, str], Awaitable[SuiteTask | None]]
"""Returns the task of a suite by their names; ``None`` where the workspace has none."""


def task_lookup(suites: SuiteService) -> TaskLookup:
    """Return a look-up among the suites of a workspace."""

    async def task_of(suite: str, task: str) -> SuiteTask | None:
        if not suite or not task:
            return None
        try:
            return (await suites.suite(suite)).task(task)
        except SiteloreError as error:
            log.info("a run is of no task that is known here: %s", error)
            return None

    return task_of


class RunEvidenceCapturer:
    """Captures the end of one run (``app.engine.agent.ports.EvidenceCapturer``).

    The task's oracle is looked up at the end only; of it nothing but the places to read gets to the browser, and of
    these nothing but what was found there into the run's files.
    """

    def __init__(
        self,
        core: Core,
        session: BrowserSession,
        request: RunRequest,
        secrets: Secrets,
        task_of: TaskLookup | None = None,
    ) -> None:
        self._core, self._session, self._request = core, session, request
        self._secrets, self._task_of = secrets, task_of
        self._har: HarRecorder | None = None
        self._notes: list[str] = []

    @classmethod
    async def open(
        cls,
        core: Core,
        session: BrowserSession,
        request: RunRequest,
        secrets: Secrets,
        task_of: TaskLookup | None = None,
        *,
        resumed: bool = False,
    ) -> Self:
        """Return a capturer; requests are recorded from now on where that is asked for.

        Call it before the first page is opened.  A ``resumed`` run has sent requests that were not recorded.
        """
        capturer = cls(core, session, request, secrets, task_of)
        if request.har and resumed:
            capturer._notes.append("the run was resumed, so not all of its requests were recorded")
        elif request.har:
            from app.engine.browser.har_recording import HarRecorder

            try:
                capturer._har = await HarRecorder.start(session)
            except SiteloreError as error:
                capturer._notes.append(str(error))
        return capturer

    async def capture(self, answer: str | None, *, infeasible: bool) -> bytes:
        """Return the evidence in its stored form."""
        evidence = await self._seen()
        har = await self._requests()
        evidence = replace(
            evidence,
            answer=answer,
            infeasible=infeasible,
            har=har,
            notes=(*evidence.notes, *self._notes),
        )
        return await self._core.on_worker(self._stored, evidence)

    def close(self) -> None:
        """Delete what was recorded of a run that did not get to its end."""
        if self._har is not None:
            self._har.discard()

    async def _seen(self) -> RunEvidence:
        from app.engine.browser.evidence_capture import capture_evidence

        targets: list[tuple[str, HtmlTarget]] = []
        try:
            task = await self._task_of(self._request.suite, self._request.task_id) if self._task_of else None
            targets = evidence_targets(task.oracle) if task is not None else []
        except SiteloreError as error:
            self._notes.append(f"the task's suite can't be read: {error}")
        return await capture_evidence(self._session, targets, self._surroundings())

    def _surroundings(self) -> EvidenceSurroundings:
        from app.engine.browser.evidence_capture import EvidenceSurroundings
        from app.engine.browser.evidence_helpers import SHOP_ADMIN

        rows = self._core.workspace.site_store.rows.values()
        bases = {name: address for row in rows for name, address in row.bases.items()}
        return EvidenceSurroundings(
            hosts=allowed_hosts(self._request), bases=bases, shop_admin=os.environ.get(SHOP_ADMIN, "")
        )

    async def _requests(self) -> dict[str, Any] | None:
        if self._har is None:
            return None
        har, why = await self._har.stop()
        self._har.discard()
        if why:
            self._notes.append(why)
        return har

    def _stored(self, evidence: RunEvidence) -> bytes:
        return encode_evidence(redact_evidence(evidence, self._secrets.mask))
