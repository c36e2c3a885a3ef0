"""What the scout leaves alone because the task does not ask for it: paying, deleting, sending, signing out."""

from __future__ import annotations

from app.engine.agent.scout.grounding import fit
from app.engine.agent.scout.intent import Verb
from app.engine.agent.scout.skill import View
from app.engine.core.actions.types import Action, Click, Press, SetChecked, TypeText
from app.engine.core.page_state import Element
from app.engine.graph.rules.danger import danger_of

_ASKS: dict[str, tuple[Verb, ...]] = {
    "destroys": (Verb.DELETE, Verb.CLOSE),
    "pays": (Verb.BUY,),
    "leaves": (Verb.LOGOUT,),
    "sends": (
        Verb.SUBMIT, Verb.FORWARD, Verb.REPLY, Verb.ADD, Verb.SAVE, Verb.EDIT, Verb.SET, Verb.BUY, Verb.LOGIN,
        Verb.SEARCH, Verb.CHECK, Verb.TYPE, Verb.FILTER,
    ),
}  # fmt: skip
_PRESSING = (Verb.CLICK, Verb.SUBMIT, Verb.CLOSE, Verb.SELECT, Verb.OPEN)
_NAMED = 0.55
"""How well a name has to fit; those of the page's makers count."""
_STRONG = frozenset({"destroys", "pays", "leaves"})


def not_asked_for(command: Action, view: View) -> str:
    """Why an action is not to be taken; "" where the task asks for it or nothing speaks against it."""
    if (
        not isinstance(command, Click | Press | SetChecked | TypeText)
        or getattr(command, "element", None) is None
    ):
        return ""
    number = command.element
    elements = view.page.elements
    if number is None or not 0 <= number < len(elements):
        return ""
    if isinstance(command, TypeText | SetChecked) or (isinstance(command, Press) and command.keys != "Enter"):
        return ""
    return refusal(elements[number], view)


def refusal(element: Element, view: View) -> str:
    """Why a click on an element is not to be made."""
    danger = danger_of(element, view.page.url, view.page.language)
    if danger is None:
        return ""
    if any(fit(name, element) >= _NAMED for clause in view.task.of(*_PRESSING) for name in clause.targets):
        return ""  # the task names it as what is to be pressed
    for kind, verbs in _ASKS.items():
        if kind in danger.rule and view.task.has(*verbs) and not view.task.question:
            return ""  # asking how to delete something is no order to do it
    return danger.why if any(kind in danger.rule for kind in _STRONG) or danger.strong else ""
