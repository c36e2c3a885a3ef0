"""Ways a person hands a run back after a takeover.  Pure data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from app.engine.core.supervision import Intervention, OperatorAction


class HandBackKind(StrEnum):
    """Ways to hand a run back."""

    GO_ON = "go on"
    FINISHED = "finished"  # the task is done; the run ends
    ANSWER = "answer"  # the run ends with this answer
    NO_WALL = "no wall"  # the page is no wall; the run continues and does not ask again


@dataclass(frozen=True, slots=True, kw_only=True)
class HandBack:
    """How a run is handed back; ``answer`` for ``ANSWER``, ``author`` "" for the local person."""

    how: HandBackKind = HandBackKind.GO_ON
    answer: str = ""
    author: str = ""

    @property
    def ends(self) -> bool:
        """Whether it ends the run."""
        return self.how in (HandBackKind.FINISHED, HandBackKind.ANSWER)


HAND_BACK = HandBack()
"""Back to the agent, which continues."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorStatements:
    """Statements of people about a whole run, from its stored rows: ``no_walls`` that are none, and its end."""

    no_walls: frozenset[str] = frozenset()
    end: HandBack | None = None


ENDING_ACTIONS = {
    HandBackKind.FINISHED: OperatorAction.FINISHED,
    HandBackKind.ANSWER: OperatorAction.GAVE_ANSWER,
}
"""The timeline entry of a hand-back that ends the run."""


def ending_stated(deeds: Iterable[Intervention]) -> HandBack | None:
    """Return the first timeline entry by which a person ended a run."""
    for deed in deeds:
        for how, ending in ENDING_ACTIONS.items():
            if deed.action is ending:
                answer = deed.words if how is HandBackKind.ANSWER else ""
                return HandBack(how=how, answer=answer, author=deed.author)
    return None
