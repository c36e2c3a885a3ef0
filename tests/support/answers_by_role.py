"""Prepared answers for each role of the agent, as a brain for ``ScriptedModel``."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from app.engine.core.model_api import AgentRole
from tests.support.scripted_model import Question, Said


def by_role(
    answers: Mapping[AgentRole, Sequence[Said] | Callable[[Question], Said]],
) -> Callable[[Question], Said]:
    """Return a brain from answers in order, or a function, for each role; running out of answers is the test's
    fault.
    """
    waiting = {role: given if callable(given) else deque(given) for role, given in answers.items()}

    def brain(question: Question) -> Said:
        given = waiting.get(question.role)
        if callable(given):
            return given(question)
        assert given, f"nothing was prepared for the {question.role.value}:\n{question.text[-2000:]}"
        return given.popleft()

    return brain


def last(question: Question) -> str:
    """Return the last message of a question."""
    return "\n".join(part.text for part in question.messages[-1].parts)
