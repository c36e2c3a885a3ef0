"""Filters of a list: fields of a search form that the task speaks of, and the button that applies them.

An option counts when all its words stand in the task; a text field when its label stands before a name of the task.
What was applied is remembered for the page that follows, whose address seldom says it in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.engine.agent.scout.form_fields import FillableField, fields_of, is_search
from app.engine.agent.scout.likeness import fits, meaning, plain, says, words
from app.engine.agent.scout.memory import ScoutStep
from app.engine.agent.scout.part_view import PartView
from app.engine.core.actions.types import Action, Click, Press, Select, SetChecked, TypeText
from app.engine.core.page_state import Element
from app.engine.core.text import word_set

FILTER_SCORE, APPLY_SCORE = 0.92, 0.97
_APPLYING = word_set("search filter apply redisplay show go find ok update refresh submit list")
_LEAST_LABEL, _LONGEST_OPTION, _MOST_OPTIONS = 0.6, 60, 400
_SELECTS = word_set("select multi list radio")
_ORDERING = word_set(
    "sort sorted sorting order ordered ordering group grouped grouping display columns per size"
)
"""Words of fields that order a list and leave its rows as they are."""


def filter_steps(view: PartView) -> list[ScoutStep]:
    """Return the next steps towards a list that shows what the task speaks of; empty where no filter helps."""
    by_form: dict[str, list[FillableField]] = {}
    for one in fields_of(view.context.page):
        if is_search(one) or _is_loose(one):
            by_form.setdefault(one.form, []).append(one)
    found: list[ScoutStep] = []
    for form, members in by_form.items():
        wishes = list(_wishes(view, members))
        left = [step for step, is_set in wishes if not is_set and not view.memory.worn_out(step)]
        if left:
            found.append(left[0])
        elif wishes and (step := _apply(view, form, members)) is not None:
            found.append(step)
    return found


def is_half_filled(view: PartView) -> bool:
    """Whether a field of this page was set and its form not sent yet."""
    return any(mark.startswith(f"half:{view.context.key}") for mark in view.memory.marks)


def _is_loose(field: FillableField) -> bool:
    """Whether a list stands outside of any form: pages use such lists to sort and to filter."""
    return not field.element.form and field.kind in _SELECTS and bool(field.options)


def _wishes(view: PartView, members: Sequence[FillableField]) -> Iterator[tuple[ScoutStep, bool]]:
    """Yield what the fields of one form should hold, and whether they do."""
    text, said = view.part.text, set(words(view.part.text))
    heads = {plain(name) for one in view.context.relations.relations for name in one.columns if name}
    taken = heads | {plain(label) for one in members for label in one.labels}
    for field in sorted(members, key=lambda one: not any(says(text, word) for word in meaning(one.label))):
        if not _ORDERING & said and (_names_order(field.label) or _chooses_column(field, heads)):
            continue
        value = _option_of(field, text, taken) or _name_for(view, field)
        if value:
            taken.add(plain(value))
            yield _step(view, field, value), field.holds(value)


def _names_order(label: str) -> bool:
    """Whether a label is that of an order; ``Order status`` is the status of a purchase."""
    said = words(label)
    return bool(_ORDERING & set(said)) and (said[0] != "order" or len(said) == 1 or said[1] == "by")


def _chooses_column(field: FillableField, heads: set[str]) -> bool:
    """Whether the options of a field are columns: it sorts or groups."""
    return len(heads & {plain(option) for option in field.options[:_MOST_OPTIONS]}) > 1


def _option_of(field: FillableField, text: str, taken: set[str]) -> str:
    """Return the longest option of a field that the task says, "" for none; the word for what is listed is none."""
    if field.kind == "box":
        return field.label if len(words(field.label)) > 1 and says(text, field.label) else ""
    options = field.options[:_MOST_OPTIONS] if field.kind in _SELECTS else ()
    passed = taken | {plain(field.label)}
    said = [
        one
        for one in options
        if meaning(one) and len(one) < _LONGEST_OPTION and plain(one) not in passed and says(text, one)
    ]
    return max((one for one in said if not one.isdecimal() or len(one) > 2), key=len, default="")


def _name_for(view: PartView, field: FillableField) -> str:
    """Return the name of the task that a text field asks for by its label."""
    names = (*view.part.names, *view.part.context) if field.kind == "text" else ()
    said = (
        name for name in names if name.lead and fits(name.lead.split(" ")[-1], field.label) >= _LEAST_LABEL
    )
    return next((name.text for name in said), "")


def _step(view: PartView, field: FillableField, value: str) -> ScoutStep:
    action: Action
    if field.kind == "radio":
        action = SetChecked(field.members[field.options.index(value)].index, on=True)
    elif field.kind == "box":
        action = SetChecked(field.element.index, on=True)
    elif field.kind in _SELECTS:
        action = Select(field.element.index, (value,))
    else:
        action = TypeText(field.element.index, value)
    return ScoutStep(
        action=action,
        reason=f'"{field.label}" filters by {value}',
        key=f"filter:{view.context.path}:{plain(field.label)}:{plain(value)}",
        score=FILTER_SCORE,
        marks=(f"filter:{field.label}: {value}", f"half:{view.context.key}"),
    )


def _apply(view: PartView, form: str, members: Sequence[FillableField]) -> ScoutStep | None:
    """Return the step that applies a filled form; ``None`` where it was applied, or applies by itself."""
    values = ",".join(sorted(mark for mark in view.memory.marks if mark.startswith("filter:")))
    button, own = _button(view, members), members[0].element
    if not values or (button is None and not own.form):
        return None
    step = ScoutStep(
        action=Click(button.index, label=button.name) if button else Press("Enter", own.index),
        reason="applies the filter",
        key=f"apply:{view.context.path}:{form}:{values}",
        score=APPLY_SCORE,
        marks=("applied",),
    )
    return None if view.memory.worn_out(step) else step


def _button(view: PartView, members: Sequence[FillableField]) -> Element | None:
    """Return the button that sends the form of some fields: one that says so, behind them, first."""
    own, last = members[0].element.form, max(one.element.index for one in members)
    found = [
        one
        for one in view.context.pressed
        if own and one.form == own and (one.submits or one.type == "submit" or one.role == "button")
    ]
    said = sorted(found, key=lambda one: (not _APPLYING & set(words(one.name)), one.index < last))
    return said[0] if said else None
