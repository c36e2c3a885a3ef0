"""Drafts a tip's steps with a language model, for an expert to accept or reject."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from app import settings
from app.engine.agent.llm.prompting import Fence
from app.engine.agent.model.client import open_model
from app.engine.agent.model.recording_model import BlobBuffer
from app.engine.agent.procedures import model_draft
from app.engine.api.tip_api import DraftedSteps
from app.engine.core.model_api import AgentRole, LanguageModel, ModelError, ModelErrorKind
from app.engine.jobs import Job
from app.engine.services.core import Core
from app.engine.services.prompts import prompts_in_force
from app.engine.store.blob_store import pack_blobs
from app.errors import UsageError
from app.model_keys import model_key
from app.settings import KEY_VARIABLE
from kb.errors import BadTip
from kb.tip import TipDraft

log = logging.getLogger(__name__)

MAX_REPLY_TOKENS = 2_000

Opener = Callable[[BlobBuffer], LanguageModel]
"""Opens a model; its exchanges go to the blob buffer."""


class StepDraftingService:
    """The one question to a model about a tip.

    Args:
        opener: for tests; else the endpoint of the settings.
    """

    def __init__(self, core: Core, opener: Opener | None = None) -> None:
        self._core, self._opener = core, opener or _from_settings

    async def model_missing(self) -> str:
        """Return how to set a model endpoint; "" where one is set."""

        def missing() -> bool:
            return not (settings.load().model_url or model_key())

        if not await asyncio.to_thread(missing):
            return ""
        return f"No model endpoint is set. Set its address in the settings, or SITELORE_MODEL_URL and {KEY_VARIABLE}."

    async def draft_steps(self, draft: TipDraft) -> DraftedSteps:
        """Ask the model for the steps of a tip; nothing is stored with the tip.

        Raises:
            UsageError: the tip has no text.
            ModelError: no endpoint is set, it does not answer, or its answer is not usable.
        """
        if not (draft.do.strip() or draft.text.strip()):
            raise UsageError("the tip has no text yet", remedy="write what to do first")

        async def work(job: Job) -> DraftedSteps:
            job.advance(0, 1, "waiting for the model")
            found = await self._asked(draft)
            job.advance(1, 1, f"{len(found.procedure.steps)} steps")
            return found

        _, task = self._core.registry.start("Draft the steps with the model", work, cooperative=False)
        return await task

    async def _asked(self, draft: TipDraft) -> DraftedSteps:
        prompts = await self._core.on_store(prompts_in_force, self._core.workspace)
        shelf = BlobBuffer()
        model = self._opener(shelf)
        try:
            reply = await model.ask(
                AgentRole.DRAFTER,
                model_draft.question(draft, Fence(prompts=prompts)),
                schema=model_draft.SCHEMA,
                most=MAX_REPLY_TOKENS,
            )
        finally:
            await model.aclose()
            workspace = self._core.workspace
            await self._core.on_store(lambda: workspace.runs.blobs.add(pack_blobs(shelf.take())))
        try:
            found = model_draft.read_answer(reply.data, draft)
        except BadTip as error:
            log.info("a draft of steps was refused: %s", error)
            raise ModelError(
                f"the model's steps can't be used: {error}", ModelErrorKind.UNREADABLE, "ask again"
            ) from error
        return DraftedSteps(
            procedure=found.procedure,
            left_out=found.left_out,
            marked=found.marked,
            model=reply.model,
            tokens=reply.tokens,
            seconds=reply.seconds,
        )


def _from_settings(shelf: BlobBuffer) -> LanguageModel:
    chosen = settings.load()
    return open_model(chosen, model_key(url=chosen.model_url), sink=shelf)
