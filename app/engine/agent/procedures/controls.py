"""The control that a step of a tip means, on a captured page.  Pure.

Rules, in order:
0. A step that carries a recorded locator means the one control it names, if the step can be done on it.
1. Only controls of a kind that the step can be done on, visible and enabled, are considered; none of those that
   the tip
   warns of, and never a landmark itself.
2. A name fits if it is equal, begins or ends with the step's words, or shares at least ``LEAST_SHARED`` of
   their words;
   the best fit wins.  A step without a name of its own ("the arrow") takes any control whose name or looks say
   so, or a
   nameless one, and needs its landmark.
3. A landmark restricts the candidates to its row, or orders them by distance on the named side.
4. Equal fits that lead to the same place are one.  Of others the one in the page's main part is taken; if there
   are still
   several, the control is ambiguous, and nothing is done.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.engine.agent.procedures.recorded_locators import located
from app.engine.core.page_state import Element, PageCapture, Rect
from app.engine.core.text import word_set
from kb.procedure import PLACEHOLDER, ProcedureStep, StepKind

LEAST_SHARED = 0.75
"""Share of the step's words that a control's name must contain."""
FARTHEST = 320.0
"""Pixels between a landmark and the control beside it, at most."""

_PRESSED = word_set(
    "link button menuitem menuitemcheckbox menuitemradio tab treeitem option checkbox radio switch combobox "
    "columnheader gridcell row cell img heading disclosuretriangle summary"
)
_FILLED = frozenset({"textbox", "searchbox", "spinbutton", "combobox", "textarea"})
_CHOSEN = frozenset({"combobox", "listbox", "select", "radiogroup"})
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


def find_control(step: ProcedureStep, page: PageCapture, never: Collection[str] = ()) -> ControlMatch:
    """Return the control of a step whose placeholders are filled."""
    if left := PLACEHOLDER.search(f"{step.target} {step.near}"):
        return ControlMatch(None, f"the task gives no value for {left[1].replace('_', ' ')}")
    recorded = located(step.locator, page)
    if recorded is not None and _still_usable(recorded, step) and not _forbidden(recorded, never):
        return ControlMatch(recorded)
    usable = [one for one in page.elements if _usable(one, step)]
    near = _landmark(step, page)
    if step.near and near is None:
        return ControlMatch(None, f'there is no "{step.near}" on this page')
    fits = [(_fit(one, step), one) for one in usable]
    fits = [
        (fit, one) for fit, one in fits if fit > 0 and not (step.near and _named(one, step.near) and fit < 1)
    ]
    if near is not None:
        fits = _beside(fits, near, step, page)
    fits = [(fit, one) for fit, one in fits if not _forbidden(one, never)]
    if not fits:
        return ControlMatch(None, f"there is no {_called(step)} on this page")
    best = max(fit for fit, _ in fits)
    chosen = _one_of([one for fit, one in fits if fit == best])
    if chosen is None:
        return ControlMatch(
            None, f"several controls on this page could be the {_called(step)}", ambiguous=True
        )
    return ControlMatch(chosen)


def names_of(element: Element) -> tuple[str, ...]:
    """Every name a control goes by, normalised."""
    attributes = dict(element.attributes)
    given = (
        element.name,
        element.label,
        element.text if len(element.text) <= 120 else "",
        attributes.get("placeholder", ""),
        attributes.get("title", ""),
        attributes.get("near", ""),
        attributes.get("hint", ""),
        element.value if element.type in ("submit", "button") else "",
    )
    return tuple(dict.fromkeys(name for one in given if (name := plain(one))))


@lru_cache(maxsize=16_384)
def plain(text: str) -> str:
    """A name without case, surplus blanks, icons and closing punctuation."""
    text = re.sub(r"[\ue000-\uf8ff]", " ", text.casefold())
    return re.sub(r"\s+", " ", text).strip(" .:…*›»>▾▼\u200b")


def _usable(element: Element, step: ProcedureStep) -> bool:
    if not element.visible or element.in_advert or "disabled" in element.states:
        return False
    match step.kind:
        case StepKind.FILL:
            return element.role in _FILLED or (
                element.tag in ("input", "textarea") and element.role not in _PRESSED
            )
        case StepKind.CHOOSE:
            return element.role in _CHOSEN or element.tag == "select" or element.role in ("radio", "button")
        case StepKind.PRESS:
            return element.role in _PRESSED or element.listens or bool(element.hears)
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
    best = max((_name_fit(wanted, name) for name in names_of(element)), default=0.0)
    if set(wanted.split()) <= _GENERIC:
        best = max(best, _looks_fit(element, wanted))
    return round(best * role, 3)


def _name_fit(wanted: str, name: str) -> float:
    if wanted == name:
        return 1.0
    if len(wanted) >= 3 and (name.startswith(f"{wanted} ") or name.endswith(f" {wanted}")):
        return 0.9
    words, there = set(_words(wanted)), set(_words(name))
    if not words or not there:
        return 0.0
    shared = len(words & there) / len(words)
    spare = len(there - words) / max(len(there), 1)
    return round(0.85 * shared - 0.3 * spare, 3) if shared >= LEAST_SHARED and spare <= 0.6 else 0.0


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)


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
    return any(plain(one) == wanted or _name_fit(wanted, plain(one)) >= 0.6 for one in element.options)


def _forbidden(element: Element, never: Collection[str]) -> bool:
    names = names_of(element)
    return any(plain(one) in names for one in never if one)


# landmarks


def _named(element: Element, name: str) -> bool:
    return plain(name) in names_of(element)


def _landmark(step: ProcedureStep, page: PageCapture) -> Element | None:
    """The element that a step's landmark names; its row's element for ``in``."""
    if not step.near:
        return None
    wanted = plain(step.near)
    found = [
        (max((_name_fit(wanted, name) for name in names_of(one)), default=0.0), one) for one in page.elements
    ]
    best = max(found, key=lambda pair: pair[0], default=(0.0, None))
    return best[1] if best[0] >= 0.6 else None


def _beside(
    fits: Sequence[tuple[float, Element]], near: Element, step: ProcedureStep, page: PageCapture
) -> list[tuple[float, Element]]:
    if step.where == "in":
        return [(fit, one) for fit, one in fits if one.index != near.index and _same_row(one, near)]
    measured = [
        (distance, fit, one)
        for fit, one in fits
        if one.index != near.index and (distance := _distance(one.rect, near.rect, step.where)) is not None
    ]
    if measured:
        closest = min(distance - 60 * fit for distance, fit, _ in measured)
        return [(fit, one) for distance, fit, one in measured if distance - 60 * fit <= closest + 1]
    after = [(fit, one) for fit, one in fits if 0 < one.index - near.index <= 3 and near.rect is None]
    return after[:1]


def _same_row(element: Element, near: Element) -> bool:
    if near.repeat and element.repeat:
        return (near.repeat, near.repeat_index, near.frame) == (
            element.repeat,
            element.repeat_index,
            element.frame,
        )
    if element.rect is None or near.rect is None:
        return False
    top, bottom = near.rect[1], near.rect[1] + near.rect[3]
    middle = element.rect[1] + element.rect[3] / 2
    return top - 6 <= middle <= bottom + 6


def _distance(rect: Rect | None, near: Rect | None, where: str) -> float | None:
    """Pixels between two boxes if the first is on the named side of the second, else None."""
    if rect is None or near is None:
        return None
    left, top, right, bottom = near[0], near[1], near[0] + near[2], near[1] + near[3]
    across = max(rect[0] - right, left - (rect[0] + rect[2]), 0.0)
    down = max(rect[1] - bottom, top - (rect[1] + rect[3]), 0.0)
    sides = {
        "right of": rect[0] + rect[2] / 2 >= right - 2 and down < max(near[3], 12),
        "left of": rect[0] + rect[2] / 2 <= left + 2 and down < max(near[3], 12),
        "below": rect[1] + rect[3] / 2 >= bottom - 2,
        "under": rect[1] + rect[3] / 2 >= bottom - 2,
        "above": rect[1] + rect[3] / 2 <= top + 2,
    }
    distance = (across**2 + down**2) ** 0.5
    return distance if sides.get(where, True) and distance <= FARTHEST else None


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
