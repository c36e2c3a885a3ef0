"""The orchestrator: classifies the task once, and stops a run from navigating to the same place twice.

SuperBrowser hands look-ups to a worker without a browser (section 4.2). Here they use the browser too; the write gate
(``app.engine.agent.write_gate.gate``) makes sure that they change nothing, for every policy alike.
"""

from __future__ import annotations

from app.engine.agent.task_classifier import (
    DelegationBreaker,
    PatternFamily,
    TaskClassification,
    classify_task,
)
from app.engine.core.action_result import Effect
from app.engine.core.actions.types import Action, Navigate
from app.engine.core.observation import Observation


class Orchestrator:
    """A deterministic orchestrator; it costs no tokens."""

    def __init__(self) -> None:
        self._route: TaskClassification | None = None
        self._objected = set[str]()

    def route(self, observation: Observation) -> TaskClassification:
        """Return the task's kind; decided once."""
        if self._route is None:
            brands = frozenset(domain.name for domain in observation.domains)
            self._route = classify_task(observation.intent, observation.start_url, brands=brands)
        return self._route

    def asks(self, observation: Observation) -> bool:
        """Whether the task is to end with an answer in words."""
        families = self.route(observation).families
        return (
            bool(families & {PatternFamily.FACTUAL, PatternFamily.AGGREGATION})
            and PatternFamily.ACTION not in families
        )

    def objection(self, action: Action, observation: Observation) -> str:
        """Return the objection to a repeated navigate, "" for none; raised once."""
        return self._again(action, observation) if isinstance(action, Navigate) else ""

    def _again(self, action: Navigate, observation: Observation) -> str:
        """Check the circuit breaker over past navigates; a page that was left may be asked for again."""
        known = DelegationBreaker()
        for place, turn in enumerate(observation.history):
            if isinstance(turn.action, Navigate):
                left = any(
                    later.result.effect is Effect.NAVIGATED for later in observation.history[place + 1 :]
                )
                if not (turn.result.success and left):
                    known.record(turn.action.domain, turn.action.query, substantive=turn.result.success)
        refusal = known.refusal(action.domain, action.query)
        key = f"navigate {action.domain} {action.query}"
        if not refusal or key in self._objected:
            return ""
        self._objected.add(key)
        return f"About this navigate: {refusal}."
