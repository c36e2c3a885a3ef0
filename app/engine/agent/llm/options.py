"""Options of the llm policy: offered actions, how often it plans, how much the model is shown."""

from __future__ import annotations

from dataclasses import dataclass

from app.engine.agent.eviction.live_context import DEFAULT_BUDGET, DEFAULT_RETENTION
from app.engine.agent.eviction.retention import RetentionLimits
from app.engine.agent.llm.page_pictures import PictureMode
from app.engine.agent.llm.prompt_parts import TREE_CHARACTERS
from app.engine.agent.vision.marks_wanted import MarksMode
from app.engine.core.actions.action_sets import BUILT_IN, DEFAULT_SET


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmOptions:
    """Options of ``LlmPolicy``.

    Attributes:
        offered: names of calls (``action_sets``); those that can't work (no graph, no vision) are left out.
        every: steps between two plans (SuperBrowser's N).
        batch: most actions in one answer.
        re_asks: further requests after an unreadable answer.
        claims: how often in one step a claim to be done is rejected.
        align: check actions against the tips in force (``alignment`` says when a model is asked).
        fold: steps to wait for before they are summarised.
        pictures: when planner and operator are shown the screenshot with marks.
        picture_side: its longest side in pixels; 0 for that of the screenshot.
        picture_detail: how closely the endpoint is asked to read it; "" leaves it to it.
        marks: when a vision model is asked for marks (``vision.marks_wanted``).
        tree, answer: characters of the page, tokens of an answer.
        keep, budget: of the live context (``eviction.context``).
    """

    offered: frozenset[str] = frozenset(BUILT_IN[DEFAULT_SET].calls)
    every: int = 4
    batch: int = 5
    re_asks: int = 2
    claims: int = 2
    align: bool = True
    fold: int = 6
    pictures: PictureMode = "off"
    picture_side: int = 0
    picture_detail: str = ""
    marks: MarksMode = "auto"
    tree: int = TREE_CHARACTERS
    answer: int = 1500
    keep: RetentionLimits = DEFAULT_RETENTION
    budget: int = DEFAULT_BUDGET
