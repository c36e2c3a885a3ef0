"""What a person says of a run when they hand it back.  Pure data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from app.engine.supervision import Deed, Intervention


class Handing(StrEnum):
    """What a person says when they hand a run back."""

    GO_ON = "go on"
    FINISHED = "finished"  # the task is done; the run ends
    ANSWER = "answer"  # the run ends with this answer
    NO_WALL = "no wall"  # what was asked about is no wall; the run goes on and does not ask about it again


@dataclass(frozen=True, slots=True, kw_only=True)
class HandBack:
    """How a run is handed back; ``answer`` for ``ANSWER``, ``author`` "" for whoever is at work here."""

    how: Handing = Handing.GO_ON
    answer: str = ""
    author: str = ""

    @property
    def ends(self) -> bool:
        """The run is over with it."""
        return self.how in (Handing.FINISHED, Handing.ANSWER)


ON = HandBack()
"""Back to the agent, which goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a person has said of a run as a whole, by the rows about it: ``no_walls`` that are none, and its end."""

    no_walls: frozenset[str] = frozenset()
    end: HandBack | None = None


ENDINGS = {Handing.FINISHED: Deed.FINISHED, Handing.ANSWER: Deed.GAVE_ANSWER}
"""How a hand-back that ends the run stands on its time line."""


def end_said(deeds: Iterable[Intervention]) -> HandBack | None:
    """The first word that ended a run by hand, from its time line."""
    for deed in deeds:
        for how, ending in ENDINGS.items():
            if deed.deed is ending:
                answer = deed.words if how is Handing.ANSWER else ""
                return HandBack(how=how, answer=answer, author=deed.author)
    return None
