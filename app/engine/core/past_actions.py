"""An action and a page as a report on a run tells of them: ``pressed button 'Save'``, ``'Orders'``.  Pure functions."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from app.engine.core.text import one_line, quoted
from app.engine.core.trajectory import Step

_ICON = re.compile(r"(?:\\u[ef][0-9a-f]{3}|[\ue000-\uf8ff])\s*")
_TITLE_PARTS = re.compile(r" (?:[/|·»]|-{1,2}|[–—]) ")
_NAME = 60
_VERBS = {
    "click": "pressed",
    "dblclick": "double-clicked",
    "clear": "emptied",
    "check": "ticked",
    "uncheck": "unticked",
    "hover": "pointed at",
    "focus": "went into",
    "scroll": "scrolled",
    "go_back": "went back",
    "go_forward": "went forward",
    "new_tab": "opened a new tab",
    "tab_close": "closed the tab",
    "tab_focus": "switched the tab",
    "take_note": "took a note",
    "read_notes": "read its notes",
    "calculate": "calculated",
    "noop": "waited",
}


def past_words(step: Step) -> str:
    """Return a step's action in the past tense; "" where the agent's output could not be read."""
    action = step.action
    if action is None:
        return ""
    value = action.args.get
    match action.kind:
        case "click" if step.target is not None and step.target.role == "link":
            return f"opened {control_name(step)}"
        case "fill" | "type_mark":
            return f"typed {quoted(_text(value('value')), _NAME)} into {control_name(step)}"
        case "select_option":
            return f"chose {quoted(_text(value('options')), _NAME)} in {control_name(step)}"
        case "press":
            return f"pressed {_text(value('key_comb'))} in {control_name(step)}"
        case "keyboard_press":
            return f"pressed {_text(value('key'))}"
        case "goto":
            return f"went to {short_address(_text(value('url')))}"
        case "send_msg_to_user":
            return f"answered {quoted(_text(value('text')), _NAME)}"
        case "report_infeasible":
            return f"gave up: {quoted(_text(value('reason')), _NAME)}"
        case kind if kind in _VERBS:
            needs = kind in ("click", "dblclick", "clear", "check", "uncheck", "hover", "focus")
            return f"{_VERBS[kind]} {control_name(step)}" if needs else _VERBS[kind]
        case _:
            return f"did '{one_line(step.words, _NAME)}'"


def control_name(step: Step) -> str:
    """Return the control an action was meant for: ``button 'Save'``, ``a textbox without a name``."""
    target = step.target
    if target is None:
        bid = step.action.bid if step.action is not None else None
        return f"element {bid}, which the page does not have" if bid else "the page"
    role = target.role if target.role not in ("", "generic", "StaticText") else "element"
    name = one_line(_ICON.sub("", target.name), _NAME)
    return f"{role} '{name}'" if name else f"{_article(role)} {role} without a name"


def page_name(step: Step) -> str:
    """Return the page of a step for a sentence: its title's first part in quotes, else its address."""
    title = _TITLE_PARTS.split(" ".join(step.title.split()), maxsplit=1)[0]
    return quoted(title, _NAME) if title else short_address(step.url) or "a page without an address"


def short_address(url: str, limit: int = 70) -> str:
    """Return an address without scheme and host, readable and cut at ``limit``; the host where there is no path."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return one_line(url, limit)
    query = f"?{parts.query}" if parts.query else ""
    return one_line(unquote(f"{parts.path.rstrip('/')}{query}") or parts.netloc or url, limit)


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _article(role: str) -> str:
    return "an" if role[:1] in "aeiou" else "a"
