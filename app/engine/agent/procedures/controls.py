"""The control that a step of a tip means, on a captured page.  Pure.

Rules, in order:
0. A step that carries a recorded locator means the one control it names, if the step can be done on it.
1. Only controls of a kind that the step can be done on, visible and enabled, are considered; none of those that the
   tip warns of, and never a landmark itself.  An option of a list is chosen and never pressed.
2. A name fits if it is equal, begins or ends with the step's words, or shares at least ``LEAST_SHARED`` of their
   words; the best fit wins.  A step without a name of its own ("the arrow") takes any control whose name or looks say
   so, or a nameless one, and needs its landmark.  A field or list that no name fits is the one that stands right after
   a text of that name.
3. What lies in an open dialog comes before what the dialog covers, if it fits nearly as well.
4. A landmark restricts the candidates to its row, or orders them by distance on the named side.
5. Of equal fits the head of an open menu comes last, and a name in the tip's own capitals first.  Equal fits that lead
   to the same place are one.  Of others the one in the page's main part is taken; if there are still several, the
   control is ambiguous, and nothing is done, unless any of them will do.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.engine.agent.procedures.landmarks import find_landmarks, labelled_controls
from app.engine.agent.procedures.names import lent_names, name_fit, names_of, own_names, plain
from app.engine.agent.procedures.recorded_locators import located
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.text import word_set
from kb.procedure import PLACEHOLDER, ProcedureStep, StepKind

NEARLY = 0.85
"""Share of the best fit that a control in an open dialog needs to come before it."""

LENT = 0.95
"""Weight of a name that only stands beside a nameless control."""

_PRESSED = word_set(
    "link button menuitem menuitemcheckbox menuitemradio tab treeitem option checkbox radio switch combobox "
    "columnheader gridcell row cell img heading disclosuretriangle summary"
)
_FILLED = frozenset({"textbox", "searchbox", "spinbutton", "combobox", "textarea"})
_CHOSEN = frozenset({"combobox", "listbox", "select", "radiogroup"})
_OPENS = frozenset({"haspopup", "expanded", "collapsed"})
"""States of a button that opens a list."""
_LABELLED = _FILLED | _CHOSEN
_ROLE_WORDS = {
    "button": frozenset({"button", "menuitem", "switch"}),
    "link": frozenset({"link"}),
    "tab": frozenset({"tab", "link", "button"}),
    "menu": frozenset({"button", "link", "menuitem", "combobox"}),
    "menuitem": frozenset({"menuitem", "link", "button", "option"}),
    "field": _FILLED,
    "select": _CHOSEN | {"button"},
    "checkbox": frozenset({"checkbox", "radio", "switch", "menuitemcheckbox"}),
    "heading": frozenset({"heading", "columnheader", "link", "button"}),
}
_GENERIC = word_set(
    "arrow icon pencil cross box triangle chevron star gear cog plus minus caret pen trash bin magnifier "
    "symbol dots button link field list image picture bell heart check tick small big little first last"
)
_LOOKS = {
    "arrow": (
        "arrow",
        "caret",
        "chevron",
        "direction",
        "sort",
        "expand",
        "dropdown",
        "toggle",
        "▾",
        "▼",
        "▲",
        "→",
        "↑",
        "↓",
        "›",
        "»",
    ),
    "pencil": ("pencil", "edit", "✎", "✏"),
    "cross": ("cross", "close", "remove", "delete", "×", "✕", "✖", "x"),
    "triangle": ("triangle", "caret", "arrow", "▸", "▶", "▾", "▼"),
    "chevron": ("chevron", "arrow", "caret", "expand"),
    "gear": ("gear", "settings", "cog", "⚙"),
    "plus": ("plus", "add", "+"),
    "bin": ("bin", "trash", "delete"),
    "magnifier": ("magnifier", "search"),
    "dots": ("dots", "more", "…", "⋮", "..."),
    "star": ("star", "★", "☆"),
}


@dataclass(frozen=True, slots=True)
class ControlMatch:
    """The control a step means, or the reason why there is none."""

    element: Element | None
    why: str = ""
    ambiguous: bool = False


def find_control(
    step: ProcedureStep, page: PageCapture, never: Collection[str] = (), *, any_will_do: bool = False
) -> ControlMatch:
    """Return the control of a step whose placeholders are filled; of several the first if any of them will do."""
    if left := PLACEHOLDER.search(f"{step.target} {step.near}"):
        return ControlMatch(None, f"the task gives no value for {left[1].replace('_', ' ')}")
    recorded = located(step.locator, page)
    if recorded is not None and _still_usable(recorded, step) and not _forbidden(recorded, never):
        return ControlMatch(recorded)
    landmarks = find_landmarks(step.near, page) if step.near else []
    if step.near and not landmarks:
        return ControlMatch(None, f'there is no "{step.near}" on this page')
    fits = [(fit, one) for fit, one in _fits(step, page) if not _forbidden(one, never)]
    if landmarks:
        beside = (one.beside(fits, step.where) for one in landmarks)
        fits = next((there for there in beside if there), fits[:0])
    fits = _in_front(fits)
    if not fits:
        return ControlMatch(None, f"there is no {_called(step)} on this page")
    best = max(fit for fit, _ in fits)
    equals = [one for fit, one in fits if fit == best]
    equals = [one for one in equals if "expanded" not in one.states] or equals
    equals = [one for one in equals if step.target in (one.name, one.label, one.text)] or equals
    chosen = equals[0] if any_will_do else _one_of(equals)
    if chosen is None:
        return ControlMatch(
            None, f"several controls on this page could be the {_called(step)}", ambiguous=True
        )
    return ControlMatch(chosen)


def list_with(option: str, page: PageCapture) -> Element | None:
    """Return the one list of the page that has this option, if there is just one."""
    wanted = plain(option)
    lists = [one for one in page.elements if one.visible and any(plain(o) == wanted for o in one.options)]
    return lists[0] if len(lists) == 1 else None


def _fits(step: ProcedureStep, page: PageCapture) -> list[tuple[float, Element]]:
    """The controls that the step can be done on and whose name fits, with their fit."""
    usable = [one for one in page.elements if _usable(one, step)]
    fits = [(_fit(one, step), one) for one in usable]
    fits = [
        (fit, one) for fit, one in fits if fit > 0 and not (step.near and _named(one, step.near) and fit < 1)
    ]
    if fits or step.kind not in (StepKind.FILL, StepKind.CHOOSE):
        return fits
    first, behind = labelled_controls(step.target, page)
    return [(1.0, one) for one in usable if first <= one.index < behind and one.role in _LABELLED][:1]


def _in_front(fits: list[tuple[float, Element]]) -> list[tuple[float, Element]]:
    """Those in an open dialog if the best of them fits nearly as well as any (rule 3)."""
    shown = [(fit, one) for fit, one in fits if any(mark.startswith("dialog") for mark in one.landmarks)]
    best = max((fit for fit, _ in fits), default=0.0)
    return shown if any(fit >= NEARLY * best for fit, _ in shown) else fits


def _usable(element: Element, step: ProcedureStep) -> bool:
    if not element.visible or element.in_advert or "disabled" in element.states:
        return False
    match step.kind:
        case StepKind.FILL:
            return element.role in _FILLED or (
                element.tag in ("input", "textarea") and element.role not in _PRESSED
            )
        case StepKind.CHOOSE:
            opens = element.role == "button" and not _OPENS.isdisjoint(element.states)
            return element.role in _CHOSEN or element.tag == "select" or element.role == "radio" or opens
        case StepKind.PRESS:
            return element.tag != "option" and (
                element.role in _PRESSED or element.listens or bool(element.hears)
            )
        case _:
            return True


def _still_usable(recorded: Element, step: ProcedureStep) -> bool:
    """Whether a step can be done on the control it was recorded on; a person may have pressed any."""
    pressed = step.kind is StepKind.PRESS and recorded.visible and "disabled" not in recorded.states
    return pressed or _usable(recorded, step)


def _fit(element: Element, step: ProcedureStep) -> float:
    """How well a control fits a step's words and role, in [0, 1]."""
    wanted = plain(step.target)
    if step.kind is StepKind.CHOOSE and step.value and not _has_option(element, step.value):
        return 0.0
    if not wanted:
        return 0.5 if step.near else 0.0
    role = _role_fit(element, step.role)
    own = max((name_fit(wanted, name) for name in own_names(element)), default=0.0)
    lent = max((name_fit(wanted, name) for name in lent_names(element)), default=0.0)
    best = max(own, LENT * lent)
    if set(wanted.split()) <= _GENERIC:
        best = max(best, _looks_fit(element, wanted))
    return round(best * role, 3)


def _role_fit(element: Element, role: str) -> float:
    wanted = _ROLE_WORDS.get(role)
    if wanted is None or element.role in wanted:
        return 1.0
    return 0.8


def _looks_fit(element: Element, wanted: str) -> float:
    attributes = dict(element.attributes)
    said = " ".join(
        (element.name, attributes.get("class", ""), attributes.get("looks", ""), attributes.get("title", ""))
    ).casefold()
    for word in wanted.split():
        if element.role in _ROLE_WORDS.get(word, ()):
            return 0.7
        if any(
            look in said
            for look in _LOOKS.get(word, (word,))
            if len(look) > 1 or look == element.name.strip()
        ):
            return 0.7
    return 0.4 if not element.name.strip() else 0.0


def _has_option(element: Element, value: str) -> bool:
    if not element.options:
        return True
    wanted = plain(value)
    return any(plain(one) == wanted or name_fit(wanted, plain(one)) >= 0.6 for one in element.options)


def _forbidden(element: Element, never: Collection[str]) -> bool:
    names = names_of(element)
    return any(plain(one) in names for one in never if one)


def _named(element: Element, name: str) -> bool:
    return plain(name) in names_of(element)


def _one_of(equals: Sequence[Element]) -> Element | None:
    if len(equals) == 1 or (
        len({(one.href, one.form) for one in equals if one.href}) == 1 and all(o.href for o in equals)
    ):
        return equals[0]
    in_main = [one for one in equals if any(mark.startswith(("main", "dialog")) for mark in one.landmarks)]
    return in_main[0] if len(in_main) == 1 else None


def _called(step: ProcedureStep) -> str:
    name = f'"{step.target}"' if step.target else "control"
    place = f' {step.where or "next to"} "{step.near}"' if step.near else ""
    return f"{step.role or 'control'} {name}{place}" if step.target else f"{name}{place}"
