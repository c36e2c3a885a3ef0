"""The tips of one step for any loop: what was given, and when, is kept for the log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kb.knowledge import FrozenKnowledge, TipAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenTips:
    """The tips that an agent was given at a step: the page's address, the tips' ids, the hash of their file."""

    step: int
    url: str
    tips: tuple[str, ...]
    sha256: str


class StepTips:
    """Retrieves at every step, and keeps what it gave.

    Args:
        knowledge: an open frozen file.
        goal: the task in the user's words, or a function that returns it.
        most: tips of a step at most; None: as many as the file's token budget allows.
    """

    def __init__(
        self, knowledge: FrozenKnowledge, goal: str | Callable[[], str] = "", most: int | None = None
    ) -> None:
        self._knowledge, self._goal, self._most = knowledge, goal, most
        self.given: list[GivenTips] = []
        """What was given so far, a row a step; write it beside the agent's own log."""

    def at(self, url: str, page: str | None = None, goal: str = "") -> TipAnswer | None:
        """Return the tips for a page; None where there is neither an address nor a goal to ask by."""
        goal = goal or (self._goal if isinstance(self._goal, str) else self._goal())
        if not url.strip() and not goal.strip():
            return None
        found = self._knowledge.retrieve(url=url, goal=goal, page=page, k=self._most)
        self.given.append(
            GivenTips(step=len(self.given), url=url, tips=tuple(tip.id for tip in found), sha256=found.sha256)
        )
        return found
