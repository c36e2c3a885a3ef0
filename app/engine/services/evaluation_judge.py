"""The judge model of evaluations: opened for one batch of questions, its exchanges stored."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from app import settings
from app.engine.agent.judging.answer_judge import JudgedQuestions, ask_judge
from app.engine.agent.llm.prompting import Fence
from app.engine.agent.model.client import open_model
from app.engine.agent.model.recording_model import BlobBuffer
from app.engine.core.evaluation.judge_question import JudgeQuestion
from app.engine.core.model_api import LanguageModel, ModelError, ModelErrorKind
from app.engine.services.core import Core
from app.engine.services.prompts import prompts_in_force
from app.engine.store.blob_store import pack_blobs
from app.errors import UsageError
from app.model_keys import model_key

log = logging.getLogger(__name__)

NOT_ASKED = "no judge model was asked"
NOT_SET_UP = "no judge model is set up"

Opener = Callable[[BlobBuffer], LanguageModel]
"""Opens a model; its exchanges go to the buffer."""


class EvaluationJudge:
    """Asks the endpoint of the settings.

    Args:
        opener: for tests.
    """

    def __init__(self, core: Core, opener: Opener | None = None) -> None:
        self._core, self._opener = core, opener or _from_settings

    async def ask(
        self, questions: Sequence[JudgeQuestion], progress: Callable[[int, int], None] | None = None
    ) -> JudgedQuestions:
        """Return the replies, and why there are no more; no endpoint is an answer, too."""
        if not questions:
            return JudgedQuestions()
        shelf = BlobBuffer()
        try:
            model = self._opener(shelf)
        except ModelError as error:
            why = NOT_SET_UP if error.kind is ModelErrorKind.NO_MODEL else str(error)
            return JudgedQuestions(why=why)
        except UsageError as error:
            return JudgedQuestions(why=str(error))
        workspace = self._core.workspace
        try:
            prompts = await self._core.on_store(prompts_in_force, workspace)
            found = await ask_judge(questions, model, Fence(prompts=prompts), progress)
        finally:
            await model.aclose()
            await self._core.on_store(lambda: workspace.runs.blobs.add(pack_blobs(shelf.take())))
        log.info("asked a judge %d questions, %d replies", len(questions), len(found.replies))
        return found


def _from_settings(shelf: BlobBuffer) -> LanguageModel:
    chosen = settings.load()
    return open_model(chosen, model_key(url=chosen.model_url), sink=shelf)
