"""How the agent with a model works: what it may do, how often it plans, how much it is shown."""

from __future__ import annotations

from dataclasses import dataclass

from app.engine.agent.eviction.context import BUDGET, KEEP
from app.engine.agent.eviction.keeping import Keep
from app.engine.agent.llm.showing import TREE
from app.engine.command import SETS, ActionSet

ALL_BUT_VISION: frozenset[type] = frozenset(
    kind for name, kinds in SETS.items() if name is not ActionSet.VISION for kind in kinds
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmOptions:
    """Settings of ``LlmPolicy``.

    Attributes:
        offered: types of commands; those that nothing stands behind (no graph, no eyes) are left out by themselves.
        every: steps from one plan to the next (SuperBrowser's N).
        batch: actions that one answer may hold.
        re_asks: further requests after an answer that can't be read.
        claims: how often in one step a claim to be done is turned back.
        align: hold actions against the tips in force, one short call at each step that has some.
        fold: steps that wait to be summarised before they are.
        pictures: show the operator the screenshot, with marks on it.
        tree, answer: characters of the page, tokens of an answer.
        keep, budget: of the live context (``eviction.context``).
    """

    offered: frozenset[type] = ALL_BUT_VISION
    every: int = 4
    batch: int = 5
    re_asks: int = 2
    claims: int = 2
    align: bool = True
    fold: int = 6
    pictures: bool = False
    tree: int = TREE
    answer: int = 1500
    keep: Keep = KEEP
    budget: int = BUDGET
