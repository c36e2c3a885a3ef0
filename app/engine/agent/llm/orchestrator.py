"""The orchestrator: classifies the task once, and stops a run from navigating to the same place twice.

SuperBrowser hands look-ups to a worker without a browser (section 4.2). Here they use the browser too; the write gate
(``app.engine.agent.write_gate.gate``) makes sure that they change nothing, for every policy alike.
"""

from __future__ import annotations

from app.engine.agent.task_classifier import PatternFamily, TaskClassification, classify_task
from app.engine.core.action_result import Effect
from app.engine.core.actions.types import Action, Navigate
from app.engine.core.observation import Observation

MAX_ATTEMPTS = 2
"""Navigates without a result after which the same one is refused."""


class Orchestrator:
    """A deterministic orchestrator; it costs no tokens."""

    def __init__(self) -> None:
        self._route: TaskClassification | None = None
        self._objected = set[tuple[str, str]]()

    def route(self, observation: Observation) -> TaskClassification:
        """Return the task's kind; decided once."""
        if self._route is None:
            brands = frozenset(domain.name for domain in observation.domains)
            self._route = classify_task(observation.intent, brands)
        return self._route

    def asks(self, observation: Observation) -> bool:
        """Whether the task is to end with an answer in words."""
        families = self.route(observation).families
        return (
            bool(families & {PatternFamily.FACTUAL, PatternFamily.AGGREGATION})
            and PatternFamily.ACTION not in families
        )

    def objection(self, action: Action, observation: Observation) -> str:
        """Return the objection to a repeated navigate, "" for none; raised once.

        A circuit breaker: one that gave a result, or was tried twice without, is not repeated.  A page that was left
        may be asked for again.
        """
        if not isinstance(action, Navigate) or _key(action) in self._objected:
            return ""
        attempts: list[bool] = []
        for place, turn in enumerate(observation.history):
            if isinstance(turn.action, Navigate) and _key(turn.action) == _key(action):
                later = observation.history[place + 1 :]
                left = any(after.result.effect is Effect.NAVIGATED for after in later)
                if not (turn.result.success and left):
                    attempts.append(turn.result.success)
        if any(attempts):
            refusal = "this already gave a result; use that result"
        elif len(attempts) >= MAX_ATTEMPTS:
            refusal = f"this was tried {len(attempts)} times without a result; try another way"
        else:
            return ""
        self._objected.add(_key(action))
        return f"About this navigate: {refusal}."


def _key(action: Navigate) -> tuple[str, str]:
    return action.domain.casefold(), " ".join(action.query.casefold().split())
