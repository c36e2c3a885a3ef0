"""The summarizer: condenses past steps, and checks the next action against the tips in force.

ColorBrowserAgent, section 3.4: details are kept only for the current subgoal and finished ones collapse again and
again, so that the summary does not grow with the task; guidance is given only where the action contradicts the
experts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from app.engine.agent.llm.prompt_parts import render_history, render_tips
from app.engine.agent.llm.prompting import Fence, system, user
from app.engine.agent.llm.usage_tracker import UsageTracker
from app.engine.core.model_api import (
    INTEGER,
    TEXT,
    AgentRole,
    ModelError,
    ModelErrorKind,
    choice_schema,
    list_schema,
    object_schema,
)
from app.engine.core.observation import HistoryEntry, Observation, RetrievedTip
from app.engine.core.text import one_line

SUMMARY_WORDS = 150
_SUMMARY_CHARACTERS = 1400
"""Characters of a summary; a longer one is cut."""
_ANSWER_TOKENS = 700

SCHEMA = object_schema(
    "summarizer",
    summary=TEXT,
    tips=list_schema(object_schema(tip=INTEGER, bearing=choice_schema(("follows", "deviates", "unrelated")))),
    guidance=TEXT,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizerResult:
    """The new summary; whether the action follows each relevant tip; guidance where it contradicts one."""

    summary: str
    followed: dict[str, bool] = field(default_factory=dict[str, bool])
    guidance: str = ""


class Summarizer:
    """Asks the model for summary and tip check in one call."""

    def __init__(self, fence: Fence) -> None:
        self._fence = fence

    async def review(
        self,
        usage: UsageTracker,
        observation: Observation,
        *,
        summary: str,
        newer: Sequence[HistoryEntry],
        action: str,
    ) -> SummarizerResult | None:
        """Summarise ``newer`` and check the action (in words) against the tips; ``None``: unreadable.

        Raises:
            ModelError: no answer came.
        """
        messages = [
            system(self._fence.prompt("summarizer", words=str(SUMMARY_WORDS))),
            user(self._request_text(observation, summary, newer, action)),
        ]
        try:
            reply = await usage.ask(AgentRole.SUMMARIZER, messages, schema=SCHEMA, most=_ANSWER_TOKENS)
        except ModelError as error:
            if error.kind is not ModelErrorKind.UNREADABLE:
                raise
            return None
        return _read(reply.data, observation.tips, summary) if reply.data is not None else None

    def _request_text(
        self, observation: Observation, summary: str, newer: Sequence[HistoryEntry], action: str
    ) -> str:
        fence = self._fence
        parts = [
            f"Task: {observation.intent}",
            fence.around("subgoal in hand", observation.ledger.subgoal[:300])
            if observation.ledger.subgoal
            else "",
            fence.around("summary so far", summary) if summary else "There is no summary yet.",
            fence.around("newer steps", render_history(newer, fence))
            if newer
            else "There are no newer steps.",
            render_tips(observation.tips, fence) or "There is no expert knowledge in force.",
            fence.around(
                "place", f"{fence.line(observation.page.url, 300)}\n{fence.line(observation.page.title)}"
            ),
            fence.around("action", fence.line(action, 400)) if action else "No action is to be judged.",
        ]
        return "\n\n".join(part for part in parts if part)


def _read(data: dict[str, Any], tips: Sequence[RetrievedTip], before: str) -> SummarizerResult:
    """Read a review from JSON of untrusted types; guidance without a contradicted tip is dropped."""
    followed: dict[str, bool] = {}
    told = data.get("tips")
    for item in cast("list[object]", told) if isinstance(told, list) else []:
        if not isinstance(item, dict):
            continue
        pair = cast("dict[str, object]", item)
        bearing = str(pair.get("bearing", "")).strip().lower()
        number = _number(pair.get("tip"))
        if 1 <= number <= len(tips) and bearing in ("follows", "deviates"):
            followed[tips[number - 1].tip] = bearing == "follows"
    guidance = one_line(str(data.get("guidance") or ""), 600)
    return SummarizerResult(
        summary=one_line(str(data.get("summary") or ""), _SUMMARY_CHARACTERS) or before,
        followed=followed,
        guidance=guidance if not all(followed.values()) else "",
    )


def _number(value: object) -> int:
    try:
        return int(str(value))
    except ValueError:
        return 0
