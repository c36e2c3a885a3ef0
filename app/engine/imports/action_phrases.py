"""Actions that benchmarks write as phrases, ``<button> Sign in -> CLICK``, as recorded actions and targets.

SeeAct, Mind2Web and Online-Mind2Web write them so; a written rule (``VERBS``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from typing import Any

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.redaction import redact_text
from app.engine.imports.browser_use_actions import element_name, element_role
from app.engine.imports.page_contents import clean_args

MAX_PHRASE = 4_000
"""Characters of a phrase that are read."""

_STATUSES = ("SUCCESS", "FAILED")
_FAILED = re.compile(r"^Failed to perform ([A-Z][A-Z_ ]*) on (.*?) with value '(.*?)': (.*)$", re.DOTALL)
_ARROW = re.compile(r"^(.*?)->\s*([A-Z][A-Z_]*(?: [A-Z]+)?)\s*(?:(?::|->)\s*(.*))?$", re.DOTALL)
_FIRST = re.compile(r"^([A-Z][A-Z_]+)(?: ([A-Z]{2,}))?(?=[:\s]|$)")
_ROLE = re.compile(r"^\[([^\]]{1,80})\]\s*(.*)$", re.DOTALL)
_TAG = re.compile(r"^<([A-Za-z][\w-]{0,40})([^<>]{0,2000})>\s*(.*?)\s*(?:</[\w-]*>)?$", re.DOTALL)
_ATTRIBUTE = re.compile(r"([\w-]{1,40})\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'>]+)")
_POINT = re.compile(r"\bcoords?\s*\(\s*(-?\d{1,6}(?:\.\d+)?)\s*,\s*(-?\d{1,6}(?:\.\d+)?)\s*\)", re.IGNORECASE)
_URL = re.compile(r"\b(?:https?://|about:|file://)\S+")
_WHOLE_PAGE = frozenset({"", "page", "browser", "screen", "window", "viewport", "tab", "none"})

VERBS: dict[str, tuple[str, str]] = {
    "CLICK": ("click", ""),
    "LEFT CLICK": ("click", ""),
    "DOUBLE CLICK": ("dblclick", ""),
    "RIGHT CLICK": ("click", ""),
    "HOVER": ("hover", ""),
    "TYPE": ("fill", "value"),
    "INPUT": ("fill", "value"),
    "FILL": ("fill", "value"),
    "SELECT": ("select_option", "options"),
    "CHECK": ("check", ""),
    "UNCHECK": ("uncheck", ""),
    "CLEAR": ("clear", ""),
    "PRESS": ("keyboard_press", "key"),
    "PRESS KEY": ("keyboard_press", "key"),
    "KEY": ("keyboard_press", "key"),
    "NAVIGATE": ("goto", "url"),
    "GOTO": ("goto", "url"),
    "GO TO": ("goto", "url"),
    "OPEN": ("goto", "url"),
    "GO BACK": ("go_back", ""),
    "BACK": ("go_back", ""),
    "GO FORWARD": ("go_forward", ""),
    "REFRESH": ("reload", ""),
    "RELOAD": ("reload", ""),
    "NEW TAB": ("new_tab", ""),
    "CLOSE TAB": ("tab_close", ""),
    "SWITCH TAB": ("tab_focus", "index"),
    "SCROLL": ("scroll", "direction"),
    "SCROLL UP": ("scroll", ""),
    "SCROLL DOWN": ("scroll", ""),
    "SCROLL LEFT": ("scroll", ""),
    "SCROLL RIGHT": ("scroll", ""),
    "UPLOAD": ("upload_file", "file"),
    "DRAG": ("drag_and_drop", "to"),
    "WAIT": ("noop", ""),
    "NONE": ("noop", ""),
    "SAY": ("send_msg_to_user", "text"),
    "MEMORIZE": ("take_note", "text"),
    "TASK COMPLETE": ("send_msg_to_user", "text"),
    "TERMINATE": ("send_msg_to_user", "text"),
    "STOP": ("send_msg_to_user", "text"),
    "FINISH": ("send_msg_to_user", "text"),
    "DONE": ("send_msg_to_user", "text"),
    "ANSWER": ("send_msg_to_user", "text"),
    "TASK INFEASIBLE": ("report_infeasible", "reason"),
}
"""Verbs with the call that each is, and the name of its argument ("" for none)."""

ENDS = frozenset({"TASK COMPLETE", "TERMINATE", "STOP", "FINISH", "DONE", "ANSWER", "TASK INFEASIBLE"})
"""Verbs that end a run."""

_PRESS = "PRESS "
_KEYS = {
    "ENTER": "Enter",
    "HOME": "Home",
    "END": "End",
    "PAGEUP": "PageUp",
    "PAGEDOWN": "PageDown",
    "TAB": "Tab",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionPhrase:
    """A phrase that was read; ``action`` is ``None`` for one that says no action.

    ``failed`` means that the phrase says that it was not done, for the reason in ``error``, which may be "".
    """

    action: RecordedAction | None = None
    target: ActionTarget | None = None
    ends: bool = False
    failed: bool = False
    error: str = ""


def read_phrase(phrase: str) -> ActionPhrase:
    """Return what a phrase says; one that names no known verb keeps its words as an action of their own."""
    said = phrase[:MAX_PHRASE].strip()
    before, bar, status = said.rpartition("|")
    failed = bool(bar) and status.strip() == "FAILED"
    if bar and status.strip() in _STATUSES:
        said = before.strip()
    if (found := _FAILED.match(said)) is not None:
        read = _made(found[1], found[2], "" if found[3] == "None" else found[3])
        return ActionPhrase(
            action=read.action, target=read.target, failed=True, error=redact_text(found[4].strip())
        )
    arrow = _ARROW.match(said)
    if arrow is not None and _is_known(_verb(arrow[2])) and _verb(arrow[1]) not in ENDS:
        read = _made(arrow[2], arrow[1], arrow[3] or "")
    elif verb := _first_verb(said):
        read = _first(verb, said[len(verb) :])
    elif said:
        read = ActionPhrase(action=RecordedAction(kind="other", args=clean_args({"text": said})))
    else:
        read = ActionPhrase()
    return ActionPhrase(action=read.action, target=read.target, ends=read.ends, failed=failed)


def _verb(words: str) -> str:
    return " ".join(words.replace("_", " ").upper().split())


def _is_known(verb: str) -> bool:
    return verb in VERBS or (verb.startswith(_PRESS) and verb[len(_PRESS) :] in _KEYS)


def _first_verb(said: str) -> str:
    """Return the known verb that a phrase begins with, of one or two words; "" for none."""
    found = _FIRST.match(said)
    if found is None:
        return ""
    return next((one for one in (found[0], found[1]) if _is_known(_verb(one))), "")


def _first(words: str, rest: str) -> ActionPhrase:
    """Read a phrase that begins with its verb: ``CLICK coords(3, 4) -> the search box``, ``GOTO: address``."""
    verb = _verb(words)
    rest = rest.strip().removeprefix(":").strip().removeprefix("->").strip()
    if verb in ENDS:
        return _made(words, "", re.sub(r"^ANSWER:\s*", "", rest))
    where, _, more = rest.partition(" -> ")
    kind, argument = VERBS.get(verb, ("", ""))
    if kind in ("fill", "select_option", "drag_and_drop", "upload_file"):
        return _made(words, where, more)
    return _made(words, "", rest) if argument else _made(words, where, "", more)


def _made(words: str, where: str, value: str, shown: str = "") -> ActionPhrase:
    verb = _verb(words)
    point, target = _POINT.search(where), read_element(where, shown)
    if verb.startswith(_PRESS) and verb[len(_PRESS) :] in _KEYS:
        return _pressed(_KEYS[verb[len(_PRESS) :]], target)
    kind, argument = VERBS.get(verb, (verb.lower().replace(" ", "_"), "value"))
    args: dict[str, Any] = {}
    if kind == "scroll":
        args["direction"] = verb.partition(" ")[2].lower() or value.split(maxsplit=1)[0:1] or "down"
    elif kind == "goto":
        url = _URL.search(value) or _URL.search(where)
        args["url"] = url[0].rstrip(").,;") if url is not None else value.strip()
        target = None
    elif kind == "keyboard_press":
        return _pressed(value.strip(), target)
    elif argument and (value or argument in ("value", "options")):
        args[argument] = _unquoted(value) if kind == "fill" else value.strip()
    if verb == "RIGHT CLICK":
        args["button"] = "right"
    if point is not None and kind in ("click", "dblclick"):
        kind = "mouse_click" if kind == "click" else "mouse_dblclick"
        args = {"x": float(point[1]), "y": float(point[2]), **args}
        target = read_element(_POINT.sub("", where), shown)
    if isinstance(args.get("direction"), list):
        args["direction"] = str(args["direction"][0]).lower()
    return ActionPhrase(
        action=RecordedAction(kind=kind, args=clean_args(args)), target=target, ends=verb in ENDS
    )


def _pressed(key: str, target: ActionTarget | None) -> ActionPhrase:
    if target is not None:
        return ActionPhrase(
            action=RecordedAction(kind="press", args=clean_args({"key_comb": key})), target=target
        )
    return ActionPhrase(action=RecordedAction(kind="keyboard_press", args=clean_args({"key": key})))


def _unquoted(value: str) -> str:
    said = value.strip()
    found = re.fullmatch(r"(?:type\s+)?(['\"])(.*)\1", said, re.DOTALL)
    return found[2] if found is not None else said


def read_element(words: str, shown: str = "") -> ActionTarget | None:
    """Return the element that words name: ``[link] Home``, ``<a href="/">Home</a>``; ``None`` for the whole page."""
    said = words.strip()
    if said.lower() in _WHOLE_PAGE:
        return ActionTarget(role="element", name=_short(shown)) if shown.strip() else None
    if (role := _ROLE.match(said)) is not None:
        tag, _, more = role[1].partition(" ")
        kind = re.search(r"\btype (\w+)", more)
        named = re.search(r"\brole (\w+)", more)
        attributes = {"type": kind[1] if kind else "", "role": named[1] if named else ""}
        return ActionTarget(
            role=element_role(tag.lower(), attributes),
            name=element_name({"type": attributes["type"]}, role[2]),
        )
    if (tag := _TAG.match(said)) is not None:
        given = {one[1].lower(): unescape(one[2].strip("'\"")) for one in _ATTRIBUTE.finditer(tag[2])}
        inner = unescape(re.sub(r"<[^<>]*>", " ", tag[3]))
        return ActionTarget(
            role=element_role(tag[1].lower(), given), name=element_name(given, inner or shown)
        )
    return ActionTarget(role="element", name=_short(said))


def _short(words: str) -> str:
    return redact_text(" ".join(words.split())[:120])
