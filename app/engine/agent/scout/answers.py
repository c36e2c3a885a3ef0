"""An answer, what it rests on and what is missing for it.  Pure data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class AnswerNeed(StrEnum):
    """Things that may be missing for an answer."""

    NOTHING = "nothing"
    MORE_PAGES = "more_pages"
    OPEN_ROW = "open_row"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer, or what is missing for one.

    Attributes:
        text: as it stands on the page; "" where something is missing.
        rows: the texts it rests on.
        certain: in [0, 1].
        needs: ``open_row`` where the value stands on another page, which ``control`` opens.
        row: the name of that page's thing.
        unmet: conditions that nothing on the page tells of; by a filter or on another page they may be met.
    """

    text: str = ""
    rows: tuple[str, ...] = ()
    certain: float = 0.0
    needs: AnswerNeed = AnswerNeed.NOTHING
    control: int | None = None
    row: str = ""
    unmet: tuple[str, ...] = ()


def evidence(value: str, row: str, certain: float) -> Answer:
    """Return the answer that one text gives."""
    return Answer(text=" ".join(value.split()), rows=(row[:400],), certain=round(min(0.98, certain), 3))
