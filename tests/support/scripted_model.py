"""A model with prepared answers in order, or a function of the question."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from app.engine.agent.model.structured import read_json
from app.engine.core.chat_messages import ChatMessage
from app.engine.core.model_api import AgentRole, ModelError, ModelReply, ModelUsage


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question the model got."""

    role: AgentRole
    messages: tuple[ChatMessage, ...]
    schema: dict[str, Any] | None
    pictures: dict[str, bytes]

    @property
    def text(self) -> str:
        """All its text."""
        return "\n".join(part.text for message in self.messages for part in message.parts)


Said = str | ModelReply | ModelError


class ScriptedModel:
    """Answers from a list, or from a function; an error among them is raised.  ``asked`` are the questions."""

    def __init__(self, answers: Iterable[Said] | Callable[[Question], Said]) -> None:
        self._brain = answers if callable(answers) else None
        self._answers = deque[Said]() if callable(answers) else deque(answers)
        self.asked: list[Question] = []

    async def ask(
        self,
        role: AgentRole,
        messages: Sequence[ChatMessage],
        *,
        schema: dict[str, Any] | None = None,
        pictures: dict[str, bytes] | None = None,
        most: int = 1024,
        actions: object = None,
    ) -> ModelReply:
        question = Question(role=role, messages=tuple(messages), schema=schema, pictures=dict(pictures or {}))
        self.asked.append(question)
        said = self._brain(question) if self._brain is not None else self._answers.popleft()
        if isinstance(said, ModelError):
            raise said
        if isinstance(said, ModelReply):
            return said
        data = read_json(said, schema) if schema is not None else None
        return ModelReply(text=said, data=data, tokens=(len(question.text) // 4, len(said) // 4))

    def usage(self) -> dict[AgentRole, ModelUsage]:
        return {
            role: ModelUsage(calls=sum(one.role is role for one in self.asked))
            for role in {q.role for q in self.asked}
        }

    async def aclose(self) -> None:
        """Nothing is held."""
