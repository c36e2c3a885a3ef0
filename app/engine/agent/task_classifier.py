"""Task classification from the words alone: a task to be done in a browser, or one that only looks something up.

SuperBrowser's verb classifier (section 4.2, algorithm 7, without its experience by domain): scores of pattern families
are added. (Its published code takes the first family that matches.)  A workbench always has a browser, so a task that
only looks things up is still done there; it is then limited to reading.
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
    """Classify a task.  Deterministic.

    ``brands`` are names of known sites: the paper's list is the world's, a workbench knows its own.
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
