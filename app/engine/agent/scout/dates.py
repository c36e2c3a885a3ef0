"""Brings date and time fields to a value: by typing where they take it, else by leafing through their calendar."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.engine.agent.scout.grounding import marks_of, names_of, plain, words
from app.engine.agent.scout.intent import Clause
from app.engine.agent.scout.phrases import MONTHS, month_of
from app.engine.agent.scout.skill import CERTAIN, LIKELY, PLAUSIBLE, Proposal, View
from app.engine.core.actions.types import Click, TypeText
from app.engine.core.page_state import Element

_MONTH_YEAR = re.compile(
    rf"\b({'|'.join(f'{month[:3]}(?:{month[3:]})?' for month in MONTHS)})\.?,?\s+(\d{{4}})\b", re.IGNORECASE
)
_CALENDAR = frozenset({"date", "datepicker", "calendar", "departure", "day"})
_FORWARD, _BACK = frozenset({"next", ">", "»", "›", "→"}), frozenset({"prev", "previous", "<", "«", "‹", "←"})
_CELLS = frozenset({"link", "button", "gridcell", "cell", "generic"})


class Dates:
    """Set a date or a time."""

    name = "date"

    def propose(self, view: View) -> Sequence[Proposal]:
        """Type it, or open the calendar, leaf, and press the day."""
        clause = view.clause
        if clause is None or "sent" in view.memory.marks:
            return ()
        if clause.times and not clause.dates:
            return [*_time(view, clause)]
        if not clause.dates:
            return ()
        done = f"did:date:{view.number}"
        others = any(name != "date" for name, _ in clause.pairs)  # other fields are to be filled in as well
        return (
            []
            if done in view.memory.marks
            else [*_date(view, clause, (done,) if others else (done, view.closes()))]
        )


def date_field(view: View) -> Element | None:
    """The field that is for a date."""
    best, best_score = None, 0
    for element in view.shown:
        if element.role not in ("textbox", "combobox", "generic", "button"):
            continue
        said = {word for name in (*names_of(element), *marks_of(element)) for word in words(name)}
        score = 3 if element.type in ("date", "datetime-local") else 0
        score += 2 if said & _CALENDAR or any("date" in word for word in said) else 0
        if not score and element.role == "textbox":
            score = 1 if "date" in " ".join(view.outline.before(element.index)).lower() else 0
        if score > best_score:
            best, best_score = element, score
    if best is None:
        fields = [element for element in view.shown if element.role == "textbox"]
        best = fields[0] if len(fields) == 1 else None
    return best


def shown_month(view: View) -> tuple[int, int] | None:
    """Year and month that an open calendar shows."""
    found = _MONTH_YEAR.search(" ".join(view.outline.text.split()))
    return (int(found[2]), month_of(found[1])) if found else None


def _date(view: View, clause: Clause, marks: tuple[str, ...]) -> Iterator[Proposal]:
    year, month, day = clause.dates[0]
    field = date_field(view)
    if field is not None and "readonly" not in field.states and field.role == "textbox":
        native = field.type in ("date", "datetime-local")
        text = f"{year:04}-{month:02}-{day:02}" if native else f"{month:02}/{day:02}/{year:04}"
        if "typed:date" not in view.memory.marks:
            yield Proposal(
                command=TypeText(field.index, text),
                score=CERTAIN,
                reason="it is a date field that takes a text",
                marks=(*marks, "typed:date"),
            )
        return
    month_now = shown_month(view)
    if month_now is None:
        if field is not None:
            yield Proposal(
                command=Click(field.index, label=field.name),
                score=LIKELY,
                reason="its calendar has to be opened first",
                again=True,
                key="open calendar",
            )
        return
    if month_now != (year, month):
        ahead = (year, month) > month_now
        for element in view.shown:
            said = {word for name in names_of(element)[:1] for word in (*words(name), name.strip())}
            if said & (_FORWARD if ahead else _BACK):
                yield Proposal(
                    command=Click(element.index, label=element.name),
                    score=CERTAIN,
                    reason=f"the calendar shows {month_now[1]}/{month_now[0]}",
                    key=f"leaf from {month_now}",
                    again=True,
                )
                return
        return
    for element in view.shown:
        if (
            element.role in _CELLS
            and plain(element.name) == str(day)
            and "other" not in " ".join(marks_of(element))
        ):
            inner = element.role in ("link", "button")
            yield Proposal(
                command=Click(element.index, label=element.name),
                score=CERTAIN if inner else PLAUSIBLE,
                reason="it is the day",
                marks=marks,
            )


def _time(view: View, clause: Clause) -> Iterator[Proposal]:
    hour, minute = clause.times[0]
    if len(clause.times) > 1:
        return
    fields = [element for element in view.shown if element.role == "textbox" or element.type == "time"]
    for field in fields[:1]:
        half = f"{(hour - 1) % 12 + 1}:{minute:02} {'PM' if hour > 11 else 'AM'}"
        yield Proposal(
            command=TypeText(field.index, f"{hour:02}:{minute:02}" if field.type == "time" else half),
            score=CERTAIN,
            reason="it is the field for the time",
            marks=(view.closes(), "typed:time"),
        )
