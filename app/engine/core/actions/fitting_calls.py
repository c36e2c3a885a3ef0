"""The calls that fit an element, for a person who points at it.  Pure data.

A call is printed as a step stores it; ``{text}`` stands where a person has still to type.
"""

from __future__ import annotations

from app.engine.core.actions.recorded import ArgValue, RecordedAction, format_recorded
from app.engine.core.page_state import Element

TEXT_SLOT = "{text}"
"""Stands in a call for the text to be typed."""
MAX_OPTIONS = 60
"""Options of a list that get a call of their own; a longer list keeps the call with a text."""

_TEXT_ROLES = frozenset({"textbox", "searchbox", "spinbutton"})
_NO_TEXT_TYPES = frozenset(
    {"button", "checkbox", "color", "file", "image", "radio", "range", "reset", "submit"}
)
_TICKED_ROLES = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})


def fitting_calls(element: Element) -> tuple[str, ...]:
    """Return the calls that fit an element, the usual one first."""
    usual = _usual_calls(element)
    others = [_call("click", element), _call("hover", element), _call("dblclick", element)]
    return tuple(dict.fromkeys([*usual, *others]))


def takes_text(element: Element) -> bool:
    """Whether a text can be typed into the element."""
    if element.tag == "select" or element.type in _NO_TEXT_TYPES or "readonly" in element.states:
        return False
    typed = element.tag == "textarea" or (element.tag == "input" and element.role == "combobox")
    return typed or element.role in _TEXT_ROLES


def _usual_calls(element: Element) -> list[str]:
    if element.type == "file":
        return [_call("upload_file", element, file=TEXT_SLOT)]
    if element.tag == "select":
        chosen = [_call("select_option", element, options=option) for option in element.options[:MAX_OPTIONS]]
        return [*chosen, _call("select_option", element, options=TEXT_SLOT)]
    if element.role == "slider":
        return [_call("set_slider", element, value=TEXT_SLOT)]
    if element.role in _TICKED_ROLES:
        off = "checked" in element.states and element.role != "radio"
        return [_call("click", element), _call("uncheck" if off else "check", element)]
    if not takes_text(element):
        return []
    return [
        _call("fill", element, value=TEXT_SLOT),
        _call("fill", element, value=TEXT_SLOT, enter=True),
        _call("press", element, key_comb="Enter"),
        _call("clear", element),
    ]


def _call(kind: str, element: Element, **arguments: ArgValue) -> str:
    return format_recorded(RecordedAction(kind=kind, args={"bid": str(element.index), **arguments}))
