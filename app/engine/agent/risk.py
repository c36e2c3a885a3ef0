"""Risk class of an action before it is done: does it only read, or does it edit, send, buy, delete?

Derived from the target element, by the words and marks that keep explorations harmless
(``app.engine.graph.danger``),
from the form around it and from the address it opens.  For approvals, and for the write gate
(``app.engine.agent.write_gate``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from app.engine.command import (
    AnswerDialog,
    Check,
    Click,
    ClickAt,
    ClickMark,
    Command,
    Drag,
    Goto,
    NewTab,
    Point,
    Press,
    Select,
    SetSlider,
    TypeKeys,
    TypeMark,
    TypeText,
    Upload,
    elements_of,
)
from app.engine.graph.danger import danger_of, forms_of, link_of
from app.engine.graph.danger_words import Said, language_of, said_by, said_by_address
from app.engine.intervention_policy import RiskClass
from app.engine.page_state import Element, PageCapture

_OF_DANGER = {
    "danger: destroys": RiskClass.DELETES,
    "danger: leaves": RiskClass.SIGNS_OUT,
    "danger: pays": RiskClass.BUYS,
    "danger: sends": RiskClass.SENDS,
    "danger: asks": RiskClass.SENDS,
    "danger: confirms": RiskClass.SENDS,
    "danger: changes a row": RiskClass.SENDS,
}
_OF_SAID = {
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
_FIELDS = frozenset({"textbox", "searchbox", "combobox", "spinbutton"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """Risk class of an action; ``why`` is the reason in words for a person; ``element`` is its number, if any."""

    risk: RiskClass
    why: str = ""
    element: int | None = None


def assess(command: Command, page: PageCapture) -> Assessment:
    """Return the risk of an action on the page it is meant for."""
    match command:
        case Goto(url) | NewTab(url) if url:
            return _address(url)
        case ClickAt(at):
            element = _under(page.elements, at)
            return (
                _pressed(element, page)
                if element is not None
                else _reads("no known element is at this point")
            )
        case ClickMark(_, label):
            return _said(said_by(label, language_of(page.language)), "its label says")
        case AnswerDialog(accept):
            return _dialog(page) if accept else _reads("the dialog is dismissed")
        case TypeMark(_, _, enter):
            return Assessment(risk=RiskClass.SENDS if enter else RiskClass.EDITS, why="it fills in a field")
        case TypeKeys(text):
            element = next((one for one in page.elements if "focused" in one.states), None)
            return _typed(element, page, enter="\n" in text)
        case Press(keys):
            return _keys(command, keys, page)
        case Click() | TypeText() | Check() | Select() | SetSlider() | Upload() | Drag():
            return _on_element(command, page)
        case _:
            return _reads("it changes nothing on the site")


def _on_element(command: Command, page: PageCapture) -> Assessment:
    element = _numbered(page, elements_of(command))
    if element is None:
        return _reads("the element is not known")
    match command:
        case Click():
            return _pressed(element, page)
        case TypeText(_, _, enter):
            return _typed(element, page, enter=enter)
        case Upload():
            return Assessment(risk=RiskClass.UPLOADS, why="a file leaves this machine", element=element.index)
        case Drag():
            return Assessment(risk=RiskClass.EDITS, why="it moves something", element=element.index)
        case _:
            if forms_of(element) is None and not element.form:
                return Assessment(
                    risk=RiskClass.EDITS, why="it changes a setting of the page", element=element.index
                )
            return Assessment(risk=RiskClass.EDITS, why="it fills in a form", element=element.index)


def _keys(command: Press, keys: str, page: PageCapture) -> Assessment:
    last = keys.rpartition("+")[2].lower() or keys
    number = (command.element,) if command.element is not None else ()
    element = _numbered(page, number) or next((one for one in page.elements if "focused" in one.states), None)
    if last not in _ACTIVATING_KEYS or element is None:
        return _reads("a navigation key") if last not in _ACTIVATING_KEYS else _reads("nothing has the focus")
    if element.role in _FIELDS:
        return _typed(element, page, enter=last in _SENDING_KEYS)
    return _pressed(element, page)


def _pressed(element: Element, page: PageCapture) -> Assessment:
    danger = danger_of(element, page.url, page.language)
    sends = _sends_form(element, page)
    if danger is not None and danger.rule in _OF_DANGER:
        risk = _OF_DANGER[danger.rule]
        if risk is RiskClass.BUYS and _PAYING.intersection(element.name.lower().split()):
            risk = RiskClass.PAYS
        if risk is RiskClass.SENDS and sends is not None and sends.risk is not RiskClass.SENDS:
            return sends
        return Assessment(risk=risk, why=danger.why, element=element.index)
    if sends is not None:
        return sends
    if link_of(element, page.url) is not None:
        return Assessment(risk=RiskClass.READS, why="it opens a page", element=element.index)
    if element.role in ("checkbox", "radio", "switch", "option"):
        return Assessment(risk=RiskClass.EDITS, why="it makes a choice", element=element.index)
    return Assessment(risk=RiskClass.READS, why="no sign of more than looking", element=element.index)


def _sends_form(element: Element, page: PageCapture) -> Assessment | None:
    """Return the risk of a button that submits its form: a search reads, a log-in signs in, the rest sends."""
    if not element.submits:
        return None
    method, _, path = element.form.partition(":")
    if method.lower() != "post":
        return Assessment(risk=RiskClass.READS, why="it sends a query form", element=element.index)
    if _has_password(element.form, page):
        return Assessment(
            risk=RiskClass.SIGNS_IN, why=f"it sends the log-in form {path}", element=element.index
        )
    return Assessment(risk=RiskClass.SENDS, why=f"it sends the form {path}", element=element.index)


def _typed(element: Element | None, page: PageCapture, *, enter: bool) -> Assessment:
    if element is None:
        return Assessment(risk=RiskClass.EDITS, why="it types at the cursor")
    if element.type == "password" and not enter:
        return Assessment(risk=RiskClass.SIGNS_IN, why="it fills in a password", element=element.index)
    if not enter:
        return Assessment(risk=RiskClass.EDITS, why="it fills in a field", element=element.index)
    method, _, path = element.form.partition(":")
    if method.lower() == "get" or element.role == "searchbox" or element.type == "search":
        return Assessment(risk=RiskClass.READS, why="it sends a search", element=element.index)
    if element.form and _has_password(element.form, page):
        return Assessment(
            risk=RiskClass.SIGNS_IN, why=f"it sends the log-in form {path}", element=element.index
        )
    where = f"the form {path}" if element.form else "the page's Enter key"
    return Assessment(
        risk=RiskClass.SENDS if element.form else RiskClass.EDITS,
        why=f"it sends {where}",
        element=element.index,
    )


def _address(url: str) -> Assessment:
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = SplitResult("", "", "", "", "")
    return _said(said_by_address(parts), "the address says")


def _said(said: Said | None, by: str) -> Assessment:
    if said is None:
        return _reads("no sign of more than looking")
    return Assessment(risk=_OF_SAID[said.kind], why=f"{by} '{said.verb}'")


def _dialog(page: PageCapture) -> Assessment:
    """Return the risk of accepting a dialog; its text is known only where it was seen before."""
    for text in page.alerts:
        found = _said(said_by(text, language_of(page.language)), "the dialog says")
        if found.risk is not RiskClass.READS:
            return found
    return Assessment(risk=RiskClass.SENDS, why="it accepts whatever the next dialog asks")


def _has_password(form: str, page: PageCapture) -> bool:
    return any(one.type == "password" and one.form == form for one in page.elements)


def _numbered(page: PageCapture, numbers: Iterable[int]) -> Element | None:
    wanted = set(numbers)
    return next((element for element in page.elements if element.index in wanted), None)


def _under(elements: Iterable[Element], at: Point) -> Element | None:
    """Return the smallest element around a point."""
    x, y = at
    around = [
        (rect[2] * rect[3], element)
        for element in elements
        if (rect := element.rect) is not None
        and rect[0] <= x <= rect[0] + rect[2]
        and rect[1] <= y <= rect[1] + rect[3]
    ]
    return min(around, key=lambda pair: pair[0], default=(0.0, None))[1]


def _reads(why: str) -> Assessment:
    return Assessment(risk=RiskClass.READS, why=why)
