"""An answer, what it rests on and what is missing for it; the look at a page that it is taken from.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.engine.agent.scout.likeness import holds
from app.engine.agent.scout.relations import Row
from app.engine.agent.scout.row_selection import QuestionView


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
        needs: ``open_row`` where the thing is a row here and its own page has to be opened by ``control``.
        row: the name of that row.
        unmet: conditions that nothing on the page tells of; by a filter or on another page they may be met.
    """

    text: str = ""
    rows: tuple[str, ...] = ()
    certain: float = 0.0
    needs: AnswerNeed = AnswerNeed.NOTHING
    control: int | None = None
    row: str = ""
    unmet: tuple[str, ...] = ()


def open_row(look: QuestionView, row: Row) -> Answer | None:
    links = [one for one in row.controls if one.role == "link" and one.name]
    named = [one for one in links if any(holds(one.name, name.text) for name in look.names)]
    if not links:
        return None
    chosen = (named or links)[0]
    return Answer(
        needs=AnswerNeed.OPEN_ROW, control=chosen.index, row=chosen.name, rows=(row.text,), certain=0.7
    )


def evidence(value: str, row: str, certain: float) -> Answer:
    return Answer(text=" ".join(value.split()), rows=(row[:400],), certain=round(min(0.98, certain), 3))
