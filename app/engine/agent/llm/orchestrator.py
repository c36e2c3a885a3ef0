"""The orchestrator: classifies the task once, and stops a run from navigating to the same place twice.

SuperBrowser hands look-ups to a worker without a browser (section 4.2). Here they use the browser too; the write gate
(``app.engine.agent.write_gate.gate``) makes sure that they change nothing, for every policy alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import cast

from app.assets import resource
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


class TaskKind(StrEnum):
    """Decisions of the orchestrator."""

    BROWSER = "browser"
    SEARCH = "search"


class PatternFamily(StrEnum):
    """Families of patterns; the last two only count together with another."""

    ACTION = "action"
    TRANSACTION = "transaction"
    TARGET = "target"
    VISUAL = "visual"
    BRAND = "brand"
    AGGREGATION = "aggregation"
    FACTUAL = "factual"
    DATE = "date"
    PLURAL = "plural"


_WORDS = ("rules", "task_words.json")


@lru_cache(maxsize=1)
def _patterns() -> Mapping[PatternFamily, re.Pattern[str]]:
    document = json.loads(resource(*_WORDS).read_text("utf-8"))
    month, day = str(document["month"]), str(document["day"])
    families = cast("Mapping[str, list[str]]", document["families"])
    return {
        PatternFamily(name): re.compile(
            rf"\b(?:{'|'.join(alternatives)})\b".replace("{month}", month).replace("{day}", day), re.I
        )
        for name, alternatives in families.items()
    }


_WEIGHTS: tuple[tuple[TaskKind, float, tuple[PatternFamily, ...], tuple[PatternFamily, ...]], ...] = (
    (TaskKind.BROWSER, 0.80, (PatternFamily.ACTION,), ()),
    (TaskKind.BROWSER, 0.90, (PatternFamily.TRANSACTION, PatternFamily.DATE), ()),
    (TaskKind.BROWSER, 0.85, (PatternFamily.TARGET,), ()),
    (TaskKind.BROWSER, 0.80, (PatternFamily.VISUAL,), ()),
    (TaskKind.BROWSER, 0.70, (PatternFamily.BRAND,), ()),
    (TaskKind.SEARCH, 0.70, (PatternFamily.AGGREGATION, PatternFamily.PLURAL), ()),
    (TaskKind.SEARCH, 0.60, (PatternFamily.FACTUAL,), (PatternFamily.VISUAL,)),
)
"""The score added to a kind where all of the first families match and none of the second (algorithm 7)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskClassification:
    """The orchestrator's decision.

    ``confidence`` is the greater of the two ``scores`` as in the paper, at most 1; 0 where nothing matched.
    """

    kind: TaskKind
    confidence: float
    scores: Mapping[TaskKind, float]
    families: frozenset[PatternFamily]


def classify_task(intent: str, brands: frozenset[str] = frozenset()) -> TaskClassification:
    """Tell from the words alone whether a task is done in a browser or only looks something up.

    SuperBrowser's verb classifier (section 4.2, algorithm 7, without its experience by domain): scores of pattern
    families are added. (Its published code takes the first family that matches.)  ``brands`` are names of known sites:
    the paper's list is the world's, a workbench knows its own.
    """
    families = families_of(intent, brands)
    scores = dict.fromkeys(TaskKind, 0.0)
    for kind, weight, needed, barred in _WEIGHTS:
        if families.issuperset(needed) and families.isdisjoint(barred):
            scores[kind] += weight
    kind = TaskKind.BROWSER if scores[TaskKind.BROWSER] >= scores[TaskKind.SEARCH] else TaskKind.SEARCH
    return TaskClassification(
        kind=kind, confidence=min(1.0, max(scores.values())), scores=scores, families=families
    )


def families_of(intent: str, brands: frozenset[str] = frozenset()) -> frozenset[PatternFamily]:
    """Return the families whose patterns match; quoted texts are input data and do not count."""
    plain = re.sub(r"\"[^\"\n]{0,400}\"|“[^”\n]{0,400}”", '""', intent[:8000])
    found = {family for family, pattern in _patterns().items() if pattern.search(plain)}
    low = plain.casefold()
    if any(re.search(rf"\b{re.escape(brand.casefold())}\b", low) for brand in brands if brand.strip()):
        found.add(PatternFamily.BRAND)
    return frozenset(found)
