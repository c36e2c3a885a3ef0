"""Risk class of an action before it is done: does it only read, or does it edit, send, buy, delete?

Derived from the target element, by the words and marks that keep explorations harmless
(``app.engine.graph.rules.danger``), from the form around it and from the address it opens.  For approvals, and for
the write gate (``app.engine.agent.write_gate.gate``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from app.engine.agent.write_gate.query_forms import why_it_stores
from app.engine.core.actions.specs import spec_of
from app.engine.core.actions.types import (
    Action,
    AnswerDialog,
    Click,
    ClickAt,
    ClickMark,
    Goto,
    NewTab,
    Press,
    Select,
    SetChecked,
    SetSlider,
    TypeKeys,
    TypeMark,
    TypeText,
    elements_of,
)
from app.engine.core.addresses import split_address
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.rectangles import smallest_at
from app.engine.graph.rules.danger import danger_of, form_danger_of, link_of
from app.engine.graph.rules.danger_words import VerbMatch, language_of, verb_in_address, verb_in_name

_RISK_OF_DANGER = {
    "danger: destroys": RiskClass.DELETES,
    "danger: leaves": RiskClass.SIGNS_OUT,
    "danger: pays": RiskClass.BUYS,
    "danger: sends": RiskClass.SENDS,
    "danger: asks": RiskClass.SENDS,
    "danger: confirms": RiskClass.SENDS,
    "danger: changes a row": RiskClass.SENDS,
}
_RISK_OF_VERB = {
    "destroys": RiskClass.DELETES,
    "leaves": RiskClass.SIGNS_OUT,
    "pays": RiskClass.BUYS,
    "sends": RiskClass.SENDS,
}
_PAYING = frozenset(
    {"pay", "payment", "checkout", "donate", "transfer", "wire", "bezahlen", "payer", "pagar"}
)
_SENDING_KEYS = frozenset({"enter", "return", "numpadenter"})
_ACTIVATING_KEYS = _SENDING_KEYS | {"space", " ", "delete"}
_BOXES = frozenset({"checkbox", "radio", "switch"})
_MOST_LOGIN_FIELDS = 5
"""Fields of a form for signing in or up, its boxes included; what has more edits an account."""
_FIELDS = frozenset({"textbox", "searchbox", "combobox", "spinbutton"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskAssessment:
    """Risk class of an action; ``why`` is the reason in words for a person; ``element`` is its number, if any."""

    risk: RiskClass
    why: str = ""
    element: int | None = None


def assess_risk(action: Action, page: PageCapture) -> RiskAssessment:
    """Return the risk of an action on the page it is meant for."""
    match action:
        case Goto(url) | NewTab(url):
            said = verb_in_address(split_address(url))
            return _verb_risk(said, "the address says") if url else _reads("it opens an empty tab")
        case ClickAt(at):
            element = smallest_at(page.elements, *at)
            return (
                press_risk(element, page)
                if element is not None
                else _reads("no known element is at this point")
            )
        case ClickMark(_, label):
            return _verb_risk(verb_in_name(label, language_of(page.language)), "its label says")
        case AnswerDialog(accept):
            return _dialog_risk(page) if accept else _reads("the dialog is dismissed")
        case TypeMark(_, _, enter):
            return RiskAssessment(
                risk=RiskClass.SENDS if enter else RiskClass.EDITS, why="it fills in a field"
            )
        case TypeKeys(text):
            element = next((one for one in page.elements if "focused" in one.states), None)
            return _typing_risk(element, page, enter="\n" in text)
        case Press(keys):
            return _key_risk(action, keys, page)
        case _:
            return _element_risk(action, page)


def _element_risk(action: Action, page: PageCapture) -> RiskAssessment:
    """Return the risk by the target element, else the one that the action's spec names."""
    spec, element = spec_of(action), _numbered(page, elements_of(action))
    if element is None:
        known = not (spec.may_write and spec.takes_element)
        return (
            RiskAssessment(risk=spec.risk, why=spec.risk_why) if known else _reads("the element is not known")
        )
    match action:
        case Click():
            return press_risk(element, page)
        case TypeText(_, _, enter):
            return _typing_risk(element, page, enter=enter)
        case SetChecked() | Select() | SetSlider():
            is_setting = form_danger_of(element) is None and not element.form
            why = "it changes a setting of the page" if is_setting else "it fills in a form"
            return RiskAssessment(risk=RiskClass.EDITS, why=why, element=element.index)
        case _:
            return RiskAssessment(risk=spec.risk, why=spec.risk_why, element=element.index)


def _key_risk(action: Press, keys: str, page: PageCapture) -> RiskAssessment:
    last = keys.rpartition("+")[2].lower() or keys
    number = (action.element,) if action.element is not None else ()
    element = _numbered(page, number) or next((one for one in page.elements if "focused" in one.states), None)
    if last not in _ACTIVATING_KEYS or element is None:
        return _reads("a navigation key") if last not in _ACTIVATING_KEYS else _reads("nothing has the focus")
    if element.role in _FIELDS:
        return _typing_risk(element, page, enter=last in _SENDING_KEYS)
    return press_risk(element, page)


def press_risk(element: Element, page: PageCapture) -> RiskAssessment:
    """Return the risk of pressing an element of a page."""
    danger = danger_of(element, page.url, page.language)
    sends = _sends_form(element, page)
    if danger is not None and danger.rule in _RISK_OF_DANGER:
        risk = _RISK_OF_DANGER[danger.rule]
        if risk is RiskClass.BUYS and _PAYING.intersection(element.name.lower().split()):
            risk = RiskClass.PAYS
        if risk is RiskClass.SENDS and sends is not None and sends.risk is not RiskClass.SENDS:
            return sends
        return RiskAssessment(risk=risk, why=danger.why, element=element.index)
    if sends is not None:
        return sends
    if link_of(element, page.url) is not None:
        return RiskAssessment(risk=RiskClass.READS, why="it opens a page", element=element.index)
    if element.role in ("checkbox", "radio", "switch", "option"):
        return RiskAssessment(risk=RiskClass.EDITS, why="it makes a choice", element=element.index)
    return RiskAssessment(risk=RiskClass.READS, why="no sign of more than looking", element=element.index)


def _sends_form(element: Element, page: PageCapture) -> RiskAssessment | None:
    """Return the risk of a button that submits its form: a search reads, a log-in signs in, the rest sends."""
    if not element.submits:
        return None
    method, _, path = element.form.partition(":")
    if method.lower() != "post":
        return _query_risk(element, page)
    if _is_login(element.form, page):
        return RiskAssessment(
            risk=RiskClass.SIGNS_IN, why=f"it sends the log-in form {path}", element=element.index
        )
    return RiskAssessment(risk=RiskClass.SENDS, why=f"it sends the form {path}", element=element.index)


def _query_risk(element: Element, page: PageCapture, filled: Element | None = None) -> RiskAssessment:
    """Return the risk of sending a form by GET: it reads, unless its address or ``why_it_stores`` says otherwise."""
    said = verb_in_address(split_address(element.form.partition(":")[2]))
    if said is not None:
        return replace(_verb_risk(said, "the form's address says"), element=element.index)
    why = why_it_stores(element, page, filled)
    risk = RiskClass.SENDS if why else RiskClass.READS
    return RiskAssessment(risk=risk, why=why or "it sends a query form", element=element.index)


def _typing_risk(element: Element | None, page: PageCapture, *, enter: bool) -> RiskAssessment:
    if element is None:
        return RiskAssessment(risk=RiskClass.EDITS, why="it types at the cursor")
    if element.type == "password" and not enter:
        return RiskAssessment(risk=RiskClass.SIGNS_IN, why="it fills in a password", element=element.index)
    if not enter:
        return RiskAssessment(risk=RiskClass.EDITS, why="it fills in a field", element=element.index)
    method, _, path = element.form.partition(":")
    if method.lower() == "get":
        return _query_risk(element, page, filled=element)
    if element.role == "searchbox" or element.type == "search":
        return RiskAssessment(risk=RiskClass.READS, why="it sends a search", element=element.index)
    if element.form and _is_login(element.form, page):
        return RiskAssessment(
            risk=RiskClass.SIGNS_IN, why=f"it sends the log-in form {path}", element=element.index
        )
    where = f"the form {path}" if element.form else "the page's Enter key"
    return RiskAssessment(
        risk=RiskClass.SENDS if element.form else RiskClass.EDITS,
        why=f"it sends {where}",
        element=element.index,
    )


def _verb_risk(said: VerbMatch | None, by: str) -> RiskAssessment:
    if said is None:
        return _reads("no sign of more than looking")
    return RiskAssessment(risk=_RISK_OF_VERB[said.kind], why=f"{by} '{said.verb}'")


def _dialog_risk(page: PageCapture) -> RiskAssessment:
    """Return the risk of accepting a dialog; its text is known only where it was seen before."""
    for text in page.alerts:
        found = _verb_risk(verb_in_name(text, language_of(page.language)), "the dialog says")
        if found.risk is not RiskClass.READS:
            return found
    return RiskAssessment(risk=RiskClass.SENDS, why="it accepts whatever the next dialog asks")


def _is_login(form: str, page: PageCapture) -> bool:
    """Whether a form is for signing in: a password among few fields; the form of an account has many."""
    fields = [one for one in page.elements if one.form == form and one.role in _FIELDS | _BOXES]
    return any(one.type == "password" for one in fields) and len(fields) <= _MOST_LOGIN_FIELDS


def _numbered(page: PageCapture, numbers: Iterable[int]) -> Element | None:
    wanted = set(numbers)
    return next((element for element in page.elements if element.index in wanted), None)


def _reads(why: str) -> RiskAssessment:
    return RiskAssessment(risk=RiskClass.READS, why=why)
