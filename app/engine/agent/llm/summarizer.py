"""The summarizer: condenses past steps (ColorBrowserAgent, section 3.4).

Details are kept only for the current subgoal and finished ones collapse again and again, so that the summary does not
grow with the task.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.agent.llm.prompt_parts import render_history
from app.engine.agent.llm.prompting import Fence, system, user
from app.engine.agent.llm.usage_tracker import UsageTracker
from app.engine.core.model_api import TEXT, AgentRole, ModelError, ModelErrorKind, object_schema
from app.engine.core.observation import HistoryEntry, Observation
from app.engine.core.text import one_line

SUMMARY_WORDS = 150
_SUMMARY_CHARACTERS = 1400
"""Characters of a summary; a longer one is cut."""
_ANSWER_TOKENS = 700

SCHEMA = object_schema("summarizer", summary=TEXT)


class Summarizer:
    """Asks the model for the summary of a run so far."""

    def __init__(self, fence: Fence) -> None:
        self._fence = fence

    async def fold(
        self, usage: UsageTracker, observation: Observation, summary: str, newer: Sequence[HistoryEntry]
    ) -> str | None:
        """Return the summary with ``newer`` steps folded in; ``None``: the answer can't be read.

        Raises:
            ModelError: no answer came.
        """
        messages = [
            system(self._fence.prompt("summarizer", words=str(SUMMARY_WORDS))),
            user(self._request_text(observation, summary, newer)),
        ]
        try:
            reply = await usage.ask(AgentRole.SUMMARIZER, messages, schema=SCHEMA, most=_ANSWER_TOKENS)
        except ModelError as error:
            if error.kind is not ModelErrorKind.UNREADABLE:
                raise
            return None
        if reply.data is None:
            return None
        return one_line(str(reply.data.get("summary") or ""), _SUMMARY_CHARACTERS) or summary

    def _request_text(self, observation: Observation, summary: str, newer: Sequence[HistoryEntry]) -> str:
        fence, subgoal = self._fence, observation.ledger.subgoal
        parts = [
            f"Task: {observation.intent}",
            fence.around("subgoal in hand", subgoal[:300]) if subgoal else "",
            fence.around("summary so far", summary) if summary else "There is no summary yet.",
            fence.around("newer steps", render_history(newer, fence)),
        ]
        return "\n\n".join(part for part in parts if part)
