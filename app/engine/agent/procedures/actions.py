"""The action of a tip's step on a page.  Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urljoin, urlsplit

from app.engine.agent.procedures.controls import find_control, list_with
from app.engine.agent.procedures.names import plain
from app.engine.core.actions.types import (
    Action,
    Click,
    Goto,
    Hover,
    Press,
    Select,
    SetChecked,
    TypeText,
    Wait,
)
from app.engine.core.page_state import Element, PageCapture
from kb.procedure import PLACEHOLDER, ProcedureStep, StepKind

_KEYS = {
    "enter": "Enter",
    "return": "Enter",
    "tab": "Tab",
    "escape": "Escape",
    "esc": "Escape",
    "space": "Space",
}
_OPENED, _SHOWN = frozenset({"combobox", "listbox"}), frozenset({"option", "menuitem", "treeitem"})
"""Roles of lists that a page draws itself, and of their entries, which are there once the list is open."""
_CHECKED = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})


@dataclass(frozen=True, slots=True)
class StepAction:
    """The action that a step comes to on a page.

    Attributes:
        action: the action; None if nothing has to be done, or it can't be.
        done: the page is already as the step would leave it.
        why: why it can't be done.
        element: the control.
        opens: the action only opens the list in which the step goes on.
        unchecked: what is to be read is a description ("the first price"), which no page can be compared with.
    """

    action: Action | None = None
    done: bool = False
    why: str = ""
    element: Element | None = None
    opens: bool = False
    unchecked: bool = False

    @property
    def possible(self) -> bool:
        """Whether the step can be done, or has nothing to do."""
        return self.done or self.action is not None


def action_of(
    step: ProcedureStep,
    page: PageCapture,
    values: Mapping[str, str],
    never: Collection[str] = (),
    *,
    samples: bool = False,
) -> StepAction:
    """Return the action of a step on a page, its placeholders filled with a task's values.

    ``samples``: the values are examples, so that any of several controls of that name will do.
    """
    any_will_do = samples and bool(PLACEHOLDER.search(step.target))
    step = step.filled(values)
    if left := PLACEHOLDER.search(f"{step.target} {step.value} {step.near}"):
        return StepAction(why=f"the task gives no value for {left[1].replace('_', ' ')}")
    match step.kind:
        case StepKind.OPEN:
            return _open(step.target, page, never)
        case StepKind.READ | StepKind.WAIT:
            return _seen(step, page)
        case StepKind.PRESS if plain(step.target) in _KEYS and not step.near:
            return StepAction(action=Press(_KEYS[plain(step.target)]))
        case _:
            return _on_control(step, page, never, any_will_do)


def _open(address: str, page: PageCapture, never: Collection[str]) -> StepAction:
    if address in never:
        return StepAction(why="the tip warns of this address")
    target = urljoin(page.url, address)
    if _same_place(target, page.url):
        return StepAction(done=True)
    return StepAction(action=Goto(target))


def _same_place(one: str, other: str) -> bool:
    a, b = urlsplit(one), urlsplit(other)
    return (a.netloc, a.path.rstrip("/"), a.query) == (b.netloc, b.path.rstrip("/"), b.query)


def _seen(step: ProcedureStep, page: PageCapture) -> StepAction:
    if plain(step.target) in plain(page.text) or any(
        plain(step.target) == plain(one.name) for one in page.elements
    ):
        return StepAction(done=True)
    if step.kind is StepKind.WAIT:
        return StepAction(action=Wait(1.0))
    if step.target[:1].islower():
        return StepAction(done=True, unchecked=True)
    return StepAction(why=f'"{step.target}" is not on this page')


def _on_control(
    step: ProcedureStep, page: PageCapture, never: Collection[str], any_will_do: bool
) -> StepAction:
    found = find_control(step, page, never, any_will_do=any_will_do)
    element = found.element
    if element is None and step.kind is StepKind.PRESS and not found.ambiguous and step.target not in never:
        drawn = list_with(step.target, page)
        if drawn is not None:
            return _choose(replace(step, value=step.target, target=drawn.name), drawn, page)
    if element is None:
        return StepAction(why=found.why)
    match step.kind:
        case StepKind.HOVER:
            return StepAction(action=Hover(element.index), element=element)
        case StepKind.FILL:
            if not step.value:
                return StepAction(why=f'the tip does not say what to fill into "{step.target}"')
            if element.value == step.value:
                return StepAction(done=True, element=element)
            return StepAction(action=TypeText(element.index, step.value), element=element)
        case StepKind.CHOOSE:
            return _choose(step, element, page)
        case _:
            if element.role in _CHECKED and element.role != "button":
                if "checked" in element.states:
                    return StepAction(done=True, element=element)
                return StepAction(action=SetChecked(element.index, on=True), element=element)
            return StepAction(action=Click(element.index, label=element.name), element=element)


def _choose(step: ProcedureStep, element: Element, page: PageCapture) -> StepAction:
    wanted = plain(step.value)
    if element.options:
        option = next((one for one in element.options if plain(one) == wanted), "") or next(
            (one for one in element.options if wanted in plain(one)), ""
        )
        if not option:
            return StepAction(why=f'"{step.target}" has no option "{step.value}"', element=element)
        if plain(element.value) == plain(option):
            return StepAction(done=True, element=element)
        return StepAction(action=Select(element.index, (option,)), element=element)
    if wanted in (plain(element.value), plain(element.name)):
        return StepAction(done=True, element=element)
    if element.role not in _OPENED:
        return StepAction(action=Click(element.index, label=element.name), element=element)
    shown = [one for one in page.elements if one.visible and one.role in _SHOWN and plain(one.name) == wanted]
    if len(shown) == 1:
        return StepAction(action=Click(shown[0].index, label=shown[0].name), element=shown[0])
    if "expanded" in element.states:
        return StepAction(why=f'"{step.target}" has no option "{step.value}"', element=element)
    return StepAction(action=Click(element.index, label=element.name), element=element, opens=True)
