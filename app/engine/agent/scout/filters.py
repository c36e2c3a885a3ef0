"""Filters of a list: fields of a search form that the task speaks of, and the button that applies them.

An option counts when all its words stand in the task; a text field when its label stands before a name of the task.
What was applied is remembered for the page that follows, whose address seldom says it in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.engine.agent.scout.form_fields import FillableField, fields_of, is_search
from app.engine.agent.scout.likeness import fits, forms, meaning, plain, says, words
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
    text = view.part.text
    heads = {plain(name) for one in view.context.relations.relations for name in one.columns if name}
    taken = heads | {plain(label) for one in members for label in one.labels}
    orders = bool(_ORDERING & set(words(text)))
    for field in sorted(members, key=lambda one: -_label_fit(one, text)):
        if not orders and (_names_order(field.label) or _chooses_column(field, heads)):
            continue
        option = _option_of(field, text, taken)
        if option:
            taken.add(plain(option))
            yield _step(view, field, option), field.holds(option)
        elif field.kind == "text" and (name := _name_for(view, field)):
            yield _step(view, field, name), field.holds(name)


def _names_order(label: str) -> bool:
    """Whether a label is that of an order; ``Order status`` is the status of a purchase."""
    said = words(label)
    return bool(_ORDERING & set(said)) and (said[0] != "order" or len(said) == 1 or said[1] == "by")


def _chooses_column(field: FillableField, heads: set[str]) -> bool:
    """Whether the options of a field are columns: it sorts or groups."""
    return len(heads & {plain(option) for option in field.options[:_MOST_OPTIONS]}) > 1


def _option_of(field: FillableField, text: str, taken: set[str]) -> str:
    """Return the longest option of a field that the task says, "" for none."""
    if field.kind == "box":
        return field.label if len(words(field.label)) > 1 and says(text, field.label) else ""
    if field.kind not in _SELECTS:
        return ""
    said = [
        one
        for one in field.options[:_MOST_OPTIONS]
        if meaning(one) and len(one) < _LONGEST_OPTION and plain(one) not in taken and says(text, one)
    ]
    said = [one for one in said if not _is_label_word(field, one)]
    return max(said, key=len, default="")


def _is_label_word(field: FillableField, option: str) -> bool:
    """Whether an option only repeats the word for what is listed: ``issues`` in ``Search in: issues``."""
    return (option.isdecimal() and len(option) < 3) or plain(option) == plain(field.label)


def _label_fit(field: FillableField, text: str) -> float:
    said = set(meaning(text))
    return max(
        (float(any(forms(word) & forms(other) for other in said)) for word in meaning(field.label)),
        default=0.0,
    )


def _name_for(view: PartView, field: FillableField) -> str:
    """Return the name of the task that a text field asks for by its label."""
    for name in (*view.part.names, *view.part.context):
        if name.lead and fits(name.lead.split(" ")[-1], field.label) >= _LEAST_LABEL:
            return name.text
    return ""


def _step(view: PartView, field: FillableField, value: str) -> ScoutStep:
    element = field.element
    action: Action
    if field.kind == "radio":
        at = field.options.index(value)
        action = SetChecked(field.members[at].index, on=True)
    elif field.kind == "box":
        action = SetChecked(element.index, on=True)
    elif field.kind in _SELECTS:
        action = Select(element.index, (value,))
    else:
        action = TypeText(element.index, value)
    return ScoutStep(
        action=action,
        reason=f'"{field.label}" filters by {value}',
        key=f"filter:{view.context.path}:{plain(field.label)}:{plain(value)}",
        score=FILTER_SCORE,
        marks=(f"filter:{field.label}: {value}", f"half:{view.context.key}"),
    )


def _apply(view: PartView, form: str, members: Sequence[FillableField]) -> ScoutStep | None:
    """Return the step that applies a filled form; ``None`` where it was applied, or applies by itself."""
    button = _button(view, members)
    if button is not None:
        action: Action = Click(button.index, label=button.name)
    elif members[0].element.form:
        action = Press("Enter", members[0].element.index)
    else:
        return None
    values = ",".join(sorted(mark for mark in view.memory.marks if mark.startswith("filter:")))
    step = ScoutStep(
        action=action,
        reason="applies the filter",
        key=f"apply:{view.context.path}:{form}:{values}",
        score=APPLY_SCORE,
        marks=("applied",),
    )
    return None if view.memory.worn_out(step) or not values else step


def _button(view: PartView, members: Sequence[FillableField]) -> Element | None:
    """Return the button that sends the form of some fields."""
    own = {one.element.form for one in members}
    found = [
        one
        for one in view.context.pressed
        if one.form in own and one.form and (one.submits or one.type == "submit" or one.role == "button")
    ]
    named = [one for one in found if _APPLYING & set(words(one.name))]
    last = max((one.element.index for one in members), default=0)
    behind = [one for one in named or found if one.index > last]
    return (behind or named or found or [None])[0]
