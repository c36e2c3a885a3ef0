"""Narrowing a list to what a task asks for: filters filled in and sent, links that lead to a part of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.engine.agent.scout.aims import Goal, kind_of
from app.engine.agent.scout.grounding import plain, words
from app.engine.agent.scout.place import Place
from app.engine.agent.scout.skill import LIKELY, Proposal
from app.engine.agent.scout.wording import alike, fits, meaning
from app.engine.core.actions.types import Click, Select, TypeText
from app.engine.core.page_state import Element

_FROM = frozenset({"from", "start", "since", "after", "min", "begin"})
_TO = frozenset({"to", "until", "end", "before", "till", "max"})
_MORE = re.compile(r"\b(?:advanced|filters?|more (?:options|filters)|refine|narrow)\b", re.IGNORECASE)


def is_filter(place: Place, name: str) -> bool:
    """A person or thing by which a list is narrowed: ``the orders of the customer X``, ``orders that contain X``."""
    aim = place.aim
    if not aim.things:
        return False
    before = aim.text.partition(name)[0].casefold()
    joints = "of|by" if aim.goal is Goal.ITEMS else "of|by|from|for|with|contain\\w*|include\\w*"
    return re.search(rf"\b{re.escape(aim.things)}\b.*\b(?:{joints})\b", before) is not None


def wishes(place: Place) -> list[tuple[str, str]]:
    """Conditions that a filter could set: (what kind, which value)."""
    aim = place.aim
    found = [(kind, value) for kind, value in aim.conditions if kind != "size"]
    if (
        aim.goal in (Goal.COUNT, Goal.ITEMS, Goal.TOTAL, Goal.AVERAGE)
        and aim.subject
        and is_filter(place, aim.subject)
        and not place.about(aim.subject)
    ):
        found.append((kind_of(aim, aim.subject) or "name", aim.subject))
    return found


def filter_steps(place: Place, wanted: Sequence[tuple[str, str]], mark: str) -> list[Proposal]:
    """One field after the other, then the button; what opens a longer form where this one lacks the field."""
    memory = place.view.memory
    missing = False
    form = memory.values.get(f"{mark}:form", "")
    for number, (kind, value) in enumerate(wanted):
        step = f"{mark}:{number}"
        if step in memory.marks:
            continue
        if shortcut := _shortcut(place, value):
            return [press(shortcut, f"leads to those with {value}", LIKELY, (mark,))]
        made = _set(place, kind, value, step, mark)
        if made is not None:
            return [made]
        missing = True
    for end, wordset in enumerate((_FROM, _TO)):
        step = f"{mark}:date{end}"
        if len(place.aim.dates) < 2 or step in memory.marks:
            continue
        field = next(
            (one for one in place.fields if wordset & set(words(place.label_of(one))) and _dated(one)), None
        )
        if field is None:
            missing = True
            continue
        date = place.aim.dates[end]
        return [
            _typed(
                field,
                date,
                f"the time is from {' to '.join(place.aim.dates)}",
                (step,),
                ((f"{mark}:form", field.form),),
            )
        ]
    if form and any(f"{mark}:" in one for one in memory.marks):
        button = submit_of(place, form, ("search", "filter", "show", "go", "apply"))
        if button is not None:
            return [press(button, "sends the filter", LIKELY, (mark,))]
    if missing:
        for one in place.pressed:
            if (
                _MORE.search(one.name)
                and memory.done.get(f"more:{one.name}", 0) < 2
                and len(one.name) < 40
                and not one.submits
            ):
                return [press(one, "may offer a filter for it", 0.7, (), f"more:{one.name}")]
    return []


def _set(place: Place, kind: str, value: str, step: str, mark: str) -> Proposal | None:
    chosen = place.chooser_of(value, kind)
    if chosen is not None and chosen[0].options and chosen[0].form and _narrows(chosen[0]):
        field, option = chosen
        return Proposal(
            command=Select(field.index, (option,)),
            score=LIKELY,
            reason=f"only those with {option} are asked for",
            marks=(step,),
            keeps=((f"{mark}:form", field.form),),
        )
    for field in place.fields:
        made_up = field.role == "combobox" and not field.options and field.tag != "input"
        wanted = kind or _kind_here(place, value)
        if made_up and _narrows(field) and field.form and fits(wanted, place.label_of(field)) >= 0.7:
            return Proposal(
                command=Select(field.index, (value,)),
                score=LIKELY,
                reason=f"only those with {value} are asked for",
                marks=(step,),
                keeps=((f"{mark}:form", field.form),),
            )
    among = [
        one for one in place.fields if one.role in ("textbox", "searchbox") and _narrows(one) and one.form
    ]
    field = place.field_for(f"{kind} name", 0.5, among) or (
        place.field_for(kind, 0.45, among) if kind else None
    )
    if field is None or not kind:
        return None
    return _typed(
        field,
        value,
        f"only those of the {kind} {value} are asked for",
        (step,),
        ((f"{mark}:form", field.form),),
    )


def _kind_here(place: Place, value: str) -> str:
    """What kind of thing a value is: the column it stands in, else a state of things."""
    for grid in place.facts.grids:
        for row in grid.rows:
            for name, text in row.cells:
                if name and plain(text) == plain(value):
                    return name
    return "status"


def _narrows(field: Element) -> bool:
    return not field.form.startswith("post")


def _dated(field: Element) -> bool:
    return field.role in ("textbox", "searchbox", "spinbutton") or field.type == "date"


def _shortcut(place: Place, value: str) -> Element | None:
    """A link that is called like the value and asks for a part of a list."""
    for one in place.pressed:
        if one.role == "link" and plain(one.name) == plain(value) and "?" in one.href:
            return one
    return None


def submit_of(place: Place, form: str, wanted: Sequence[str], avoid: Sequence[str] = ()) -> Element | None:
    """The button that sends a form; the one that says what is wanted where there are several."""
    best, score = None, -1.0
    for one in place.shown:
        if (
            not one.submits
            or one.form != form
            or not one.visible
            or one.role not in ("button", "link", "generic", "image")
        ):
            continue
        said = meaning(one.name)
        found = sum(max((alike(word, other) for other in said), default=0.0) for word in wanted) / max(
            1, len(said)
        )
        if any(
            alike(word, other) == 1.0
            for word in ("cancel", "delete", "remove", "reset", "download", "preview", *avoid)
            for other in said
        ):
            found -= 3
        if found > score:
            best, score = one, found
    return best


def _typed(
    field: Element, text: str, why: str, marks: tuple[str, ...], keeps: tuple[tuple[str, str], ...] = ()
) -> Proposal:
    return Proposal(command=TypeText(field.index, text), score=LIKELY, reason=why, marks=marks, keeps=keeps)


def press(element: Element, why: str, score: float, marks: tuple[str, ...] = (), key: str = "") -> Proposal:
    return Proposal(
        command=Click(element.index, label=element.name), score=score, reason=why, marks=marks, key=key
    )
