"""Why a run failed: its answer page, and its likely cause in a sentence."""

from __future__ import annotations

import time
from typing import Any

from app.engine.agent.judging.cause_question import ask_for_cause
from app.engine.agent.llm.prompting import Fence
from app.engine.agent.model.recording_model import BlobBuffer
from app.engine.api.review_api import AnswerPage, CauseSource, LikelyCause
from app.engine.core.events import RunsChanged
from app.engine.core.trajectory import Outcome
from app.engine.core.verdicts import Label
from app.engine.detectors.cause_material import CauseMaterial, CauseSentence
from app.engine.detectors.cause_sentences import tell_cause
from app.engine.services.answer_pages import SearchedPages, ended_words, visited_pages
from app.engine.services.core import Core
from app.engine.services.expected_outcomes import ExpectedOutcomeService
from app.engine.services.model_judging import Opener, open_configured_model
from app.engine.services.prompts import prompts_in_force
from app.engine.services.review import ReviewService
from app.engine.services.suites import SuiteService
from app.engine.store.blob_store import pack_blobs
from app.errors import InputError

_KEPT = "cause:{}"
"""Name of the review state that keeps what models said of a run."""


class RunCauseService:
    """Why a run failed: its answer page, and its likely cause in a sentence."""

    def __init__(
        self,
        core: Core,
        review: ReviewService,
        outcomes: ExpectedOutcomeService | None = None,
        opener: Opener | None = None,
    ) -> None:
        """``opener`` is for tests; else the endpoint of the settings is asked."""
        self._core, self._review = core, review
        self._outcomes = outcomes or ExpectedOutcomeService(core, SuiteService(core))
        self._opener = opener or open_configured_model
        self._search: SearchedPages | None = None

    async def answer_page(self, run: str) -> AnswerPage:
        """Return what is needed to judge an answer; for a run without one, how it ended.

        Raises:
            NotFound: there is no such run.
        """
        search = await self._core.on_store(self._search_of, run)
        expected = await self._outcomes.expected_outcome(run)
        return await self._core.on_worker(search.answer_page, expected)

    async def likely_cause(self, run: str) -> LikelyCause:
        """Return the likely cause of a failure in one sentence: a model's where one was asked, else that of the rules.

        Raises:
            NotFound: there is no such run.
        """
        material = await self._material(run)
        told = await self._core.on_worker(tell_cause, material)
        asked = await self._core.on_store(self._asked, run)
        is_blind = material.expected is not None and material.expected.hidden
        usable = [one for one in asked if not (is_blind and one.get("expected"))]
        return _of_model(run, usable[-1], told) if usable else _of_rules(run, told)

    async def ask_cause(self, run: str) -> LikelyCause:
        """Ask the configured model for the cause; its sentence is kept with the review state and shown from then on.

        Raises:
            NotFound: there is no such run.
            InputError: it passed or goes on, so that there is no failure.
            ModelError: no endpoint is set, it does not answer, or no answer can be used.
        """
        workspace = self._core.workspace
        material = await self._material(run)
        if material.run.outcome is Outcome.RUNNING:
            raise InputError("the run still goes on", remedy="ask when it has ended")
        if material.run.score is not None and material.run.score >= 1:
            raise InputError("the run passed: there is no failure to explain", remedy="choose a failed run")
        told = await self._core.on_worker(tell_cause, material)
        prompts = await self._core.on_store(prompts_in_force, workspace)
        shelf = BlobBuffer()
        model = self._opener(shelf)
        findings = [told.text, *told.evidence] if told.text else [*told.evidence]
        try:
            cause = await ask_for_cause(
                material, ended_words(material.run), findings, model, Fence(prompts=prompts)
            )
        finally:
            await model.aclose()
            await self._core.on_store(lambda: workspace.runs.blobs.add(pack_blobs(shelf.take())))
        is_known = material.expected is not None and not material.expected.hidden
        kept = {
            "text": cause.text,
            "step": cause.step,
            "label": cause.label.value if cause.label is not None else "",
            "evidence": cause.evidence,
            "model": cause.model or "model",
            "call": cause.call,
            "at": time.time(),
            # A sentence that was written with the reference answer in view is hidden while its suite is blind.
            "expected": is_known,
        }
        await self._core.on_store(self._keep, run, kept)
        self._core.bus.publish(RunsChanged(runs=(run,)))
        return _of_model(run, kept, told)

    async def _material(self, run: str) -> CauseMaterial:
        search = await self._core.on_store(self._search_of, run)
        expected = await self._outcomes.expected_outcome(run)
        flags = await self._core.on_store(self._core.workspace.index.flags, run)
        return await self._core.on_worker(search.cause_material, expected, flags)

    def _search_of(self, run: str) -> SearchedPages:
        """Return the search of a run's pages; that of the last run is kept while its files are unchanged."""
        loaded, _ = self._core.workspace.runs.load(run)
        kept = self._search
        # The store gives the same object until a file changes; a lost page may come back with an import.
        if kept is None or kept.visited.run is not loaded or kept.visited.lost:
            kept = self._search = SearchedPages(visited_pages(self._core.workspace, run))
        return kept

    def _asked(self, run: str) -> list[dict[str, Any]]:
        kept = self._core.workspace.review.load_state(_KEPT.format(run)).get("causes", [])
        return [one for one in kept if isinstance(one, dict) and one.get("text")]

    def _keep(self, run: str, cause: dict[str, Any]) -> None:
        """Add a cause to those that were given before."""
        self._core.workspace.review.save_state(_KEPT.format(run), {"causes": [*self._asked(run), cause]})


def _of_rules(run: str, told: CauseSentence) -> LikelyCause:
    return LikelyCause(run=run, text=told.text, step=told.step, label=told.label, evidence=told.evidence)


def _of_model(run: str, kept: dict[str, Any], told: CauseSentence) -> LikelyCause:
    """Return a model's cause; what the rules say stands beside it as evidence."""
    step, label = kept.get("step"), kept.get("label")
    evidence = (
        str(kept.get("evidence") or ""),
        f"By rules: {told.text}" if told.text else "",
        *told.evidence,
    )
    return LikelyCause(
        run=run,
        text=str(kept["text"]),
        step=step if isinstance(step, int) else -1,
        label=next((one for one in Label if one.value == label), None),
        evidence=tuple(line for line in evidence if line),
        source=CauseSource.MODEL,
        model=str(kept.get("model") or "model"),
    )
