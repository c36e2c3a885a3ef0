"""Puts the questions of evaluators to a judge model: does an answer mean the reference, is a reason the right one.

The verdict is read from one field of a JSON object that takes a few words; anything else is no verdict and leaves the
question undecided. The raw reply is kept, with the hash of the prompt that it answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.engine.agent.llm.prompting import Fence, system, truncate, user
from app.engine.core.chat_messages import ChatMessage
from app.engine.core.evaluation.judge_question import JudgeAsks, JudgeQuestion
from app.engine.core.evaluation.task_score import JudgeReply
from app.engine.core.model_api import (
    TEXT,
    AgentRole,
    LanguageModel,
    ModelError,
    ModelErrorKind,
    choice_schema,
    object_schema,
)
from app.engine.core.prompt_set import prompt_digest
from app.engine.core.redaction import redact_text

MAX_ANSWER = 8_000
"""Characters of an answer or a reference that are shown."""
MAX_REPLY_TOKENS = 500
MAX_REPLY = 4_000
"""Characters of a raw reply that are kept."""
AT_ONCE = 4

PROMPTS = {JudgeAsks.SAME_MEANING: "judge_answer", JudgeAsks.SAME_REASON: "judge_reason"}
_SCHEMAS = {
    JudgeAsks.SAME_MEANING: object_schema(
        "answer_check", facts=TEXT, verdict=choice_schema(("correct", "incorrect", "partially correct"))
    ),
    JudgeAsks.SAME_REASON: object_schema(
        "reason_check", reason=TEXT, verdict=choice_schema(("same", "different"))
    ),
}
_VERDICTS = {
    JudgeAsks.SAME_MEANING: {"correct": True, "incorrect": False, "partially correct": False},
    JudgeAsks.SAME_REASON: {"same": True, "different": False},
}
_PASSING = frozenset({ModelErrorKind.UNREADABLE, ModelErrorKind.TIMEOUT, ModelErrorKind.REFUSED})
"""Errors of one question, which need not recur with the next."""


@dataclass(slots=True)
class JudgedQuestions:
    """Replies by question; ``why`` says why there are no more."""

    replies: dict[str, JudgeReply] = field(default_factory=dict[str, JudgeReply])
    why: str = ""


async def ask_judge(
    questions: Sequence[JudgeQuestion],
    model: LanguageModel,
    fence: Fence | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> JudgedQuestions:
    """Ask each question once; an error that would recur ends the asking, and ``why`` says which it was."""
    asked = {question.id: question for question in questions}
    found, gate, shield = JudgedQuestions(), asyncio.Semaphore(AT_ONCE), fence or Fence()

    async def one(id: str, question: JudgeQuestion) -> None:
        async with gate:
            if found.why:
                return
            try:
                found.replies[id] = await _asked(question, model, shield)
            except ModelError as error:
                if error.kind not in _PASSING:
                    found.why = f"the judge model did not answer: {error}"
            if progress is not None:
                progress(len(found.replies), len(asked))

    await asyncio.gather(*(one(id, question) for id, question in asked.items()))
    if not found.why and len(found.replies) < len(asked):
        found.why = "the judge model gave no answer to this question"
    return found


def judge_messages(question: JudgeQuestion, fence: Fence) -> list[ChatMessage]:
    """Return the messages of a question; what a suite, a site or the agent wrote is fenced."""
    named = (
        ("the reference answer", "the agent's answer")
        if question.asks is JudgeAsks.SAME_MEANING
        else ("why it can't be done", "what the agent reported")
    )
    return [
        system(fence.prompt(PROMPTS[question.asks])),
        user(
            fence.around("the task", truncate(question.intent, MAX_ANSWER)),
            fence.around(named[0], truncate(question.reference, MAX_ANSWER)),
            fence.around(named[1], truncate(question.answer, MAX_ANSWER)),
        ),
    ]


async def _asked(question: JudgeQuestion, model: LanguageModel, fence: Fence) -> JudgeReply:
    reply = await model.ask(
        AgentRole.JUDGE,
        judge_messages(question, fence),
        schema=_SCHEMAS[question.asks],
        most=MAX_REPLY_TOKENS,
    )
    verdict = (reply.data or {}).get("verdict")
    word = " ".join(verdict.lower().strip(" .!").split()) if isinstance(verdict, str) else ""
    return JudgeReply(
        model=reply.model,
        prompt_sha256=prompt_digest(fence.prompts.texts[PROMPTS[question.asks]]),
        reply=redact_text(reply.text[:MAX_REPLY]),
        decided=_VERDICTS[question.asks].get(word),
    )
