"""Asks a model to judge runs, and stores its opinions beside the flags of the rules."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from app import settings
from app.engine.agent.judging.judge import JudgeOptions, JudgeProgress, judge_run
from app.engine.agent.llm.prompting import Fence
from app.engine.agent.model.client import open_model
from app.engine.agent.model.recording_model import BlobBuffer
from app.engine.api.run_rows import RunFilter
from app.engine.core.model_api import LanguageModel, ModelError, ModelErrorKind
from app.engine.core.trajectory import Run, Step
from app.engine.core.verdicts import Flag, Opinion
from app.engine.detectors.vlm import MODEL_DETECTORS
from app.engine.jobs import Job
from app.engine.services.core import Core
from app.engine.services.prompts import prompts_in_force
from app.engine.services.review import ReviewService
from app.engine.store.blob_store import pack_blobs
from app.model_keys import model_key

log = logging.getLogger(__name__)

MODEL_DETECTOR_NAMES = frozenset(detector.name for detector in MODEL_DETECTORS)

Opener = Callable[[BlobBuffer], LanguageModel]
"""Opens a model with the budget of one run; its exchanges go to the blob buffer."""


class ModelJudging:
    """The detectors that ask a model.

    Args:
        opener: for tests; else the endpoint of the settings.
    """

    def __init__(self, core: Core, judging: ReviewService, opener: Opener | None = None) -> None:
        self._core, self._review = core, judging
        self._opener = opener or open_configured_model

    async def ask_model(
        self,
        runs: Sequence[str] = (),
        *,
        limit: int = 20,
        options: JudgeOptions | None = None,
        job: Job | None = None,
    ) -> list[Flag]:
        """Judge these runs, or the riskiest ``limit`` of those without a usable opinion; return their flags.

        What a model decided while a run went on is not asked again.

        Each opinion is stored as soon as its run is judged, so that paid work survives a cancellation or a lost
        endpoint.

        Raises:
            ModelError: no endpoint is set, it does not answer, or no answer about any run is usable.
            NotFound: a run is not here.
        """
        ids = list(runs) or await self._core.on_store(self._never_asked, limit)
        found: list[Flag] = []
        silences: list[str] = []
        for at, run in enumerate(ids):

            def progress(done: int, total: int, at: int = at, run: str = run) -> None:
                if job is not None:
                    job.advance(at, len(ids), f"{run}: {done} of {total} questions")

            opinion = await self._opinion(run, options, progress)
            await self._core.on_store(self._core.workspace.review.add_opinion, opinion)
            silences.append(opinion.silence)
            found += [
                flag for flag in await self._review.detect([run]) if flag.detector in MODEL_DETECTOR_NAMES
            ]
        if job is not None:
            job.advance(len(ids), len(ids))
        if silences and all(silences):
            asked = f"{len(ids)} runs" if len(ids) > 1 else "one run"
            raise ModelError(
                f"the model judged {asked} without a usable answer: {silences[0]}",
                ModelErrorKind.UNREADABLE,
            )
        return found

    async def _opinion(self, run_id: str, options: JudgeOptions | None, progress: JudgeProgress) -> Opinion:
        workspace = self._core.workspace

        def loading() -> tuple[Run, list[Step], Opinion | None]:
            return *workspace.runs.load(run_id), workspace.review.opinions(run_id).get(run_id)

        run, steps, known = await self._core.on_store(loading)
        prompts = await self._core.on_store(prompts_in_force, workspace)
        shelf = BlobBuffer()
        model = self._opener(shelf)

        async def load(digest: str) -> bytes:
            return await self._core.on_store(workspace.runs.read_blob, digest)

        try:
            opinion = await judge_run(
                run,
                steps,
                load,
                model,
                options=options,
                progress=progress,
                fence=Fence(prompts=prompts),
                known=known,
            )
        finally:
            await model.aclose()
            await self._core.on_store(lambda: workspace.runs.blobs.add(pack_blobs(shelf.take())))
        log.info("asked a model about %s: %d calls", run_id, len(opinion.calls))
        return opinion

    def _never_asked(self, limit: int) -> list[str]:
        workspace = self._core.workspace
        known = workspace.review.opinions()
        rows = workspace.index.rows(RunFilter(order="risk"))
        over = [
            row.id for row in rows if row.outcome != "running" and row.steps
        ]  # without a step there is no question
        never = [run for run in over if run not in known]
        in_part = [run for run in over if run in known and known[run].is_partial]
        in_vain = [run for run in over if run in known and known[run].silence and run not in in_part]
        return [*never, *in_part, *in_vain][:limit]


def open_configured_model(shelf: BlobBuffer) -> LanguageModel:
    """Open the model of the settings; its exchanges go to the blob buffer."""
    chosen = settings.load()
    return open_model(chosen, model_key(url=chosen.model_url), sink=shelf)
