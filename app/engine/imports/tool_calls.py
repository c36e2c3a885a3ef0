"""Tool calls of agents (Playwright MCP, computer use, BrowserGym's own) as recorded actions.

A call that has an equal among BrowserGym's gets its name and arguments; any other keeps its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from app.engine.core.actions.recorded import ActionTarget, RecordedAction, signature
from app.engine.core.redaction import MARK, redact_text
from app.engine.imports.page_contents import clean_args, secrets_in_call

Args = Mapping[str, Any]

LOOKING = frozenset(
    {"browser_snapshot", "browser_take_screenshot", "browser_console_messages", "browser_network_requests"}
)
"""Tools that change nothing: their result is the page of their own step as well."""

_PREFIX = re.compile(r"^.*?(?=browser_[a-z])")
_ROLE_NAME = re.compile(r"^([a-z][\w-]*)\s+[\"'“]?(.*?)[\"'”]?$", re.DOTALL)
_ELEMENT_ROLES = frozenset(
    {"link", "button", "textbox", "searchbox", "combobox", "checkbox", "radio", "tab", "menuitem", "option",
     "heading", "image", "img", "slider", "switch", "spinbutton", "listitem", "row", "cell"}
)  # fmt: skip


def base_name(name: str) -> str:
    """Return a tool's name without the server's (``mcp__playwright__browser_click``)."""
    return _PREFIX.sub("", name) if "browser_" in name else name.rpartition("__")[2] or name


def read_tool_call(name: str, args: Args) -> tuple[RecordedAction, ActionTarget | None]:
    """Return a tool call as an action and its target; secrets in texts are removed."""
    tool = base_name(name)
    convert = _TOOLS.get(tool)
    made = convert(args) if convert is not None else None
    if made is None and tool in ("computer", "computer_use", "computer_call"):
        made = _computer(args)
    if made is None:
        made = (tool or "unknown", dict(args))
    kind, values = made
    action = RecordedAction(kind=redact_text(kind[:200]), args=clean_args(values))
    return action, _target(args, action)


def _target(args: Args, action: RecordedAction) -> ActionTarget | None:
    """Return the element as the model described it (``element`` of Playwright MCP)."""
    said = args.get("element", args.get("startElement"))
    if said is None and action.kind == "fill":
        return _form_target(args, action.bid or "")
    if not isinstance(said, str) or not said.strip():
        return None
    said = redact_text(" ".join(said.split())[:200])
    found = _ROLE_NAME.match(said)
    bid = action.bid or ""
    if found is not None and found[1] in _ELEMENT_ROLES:
        return ActionTarget(role=found[1], name=found[2], bid=bid)
    first, _, last = said.rpartition(" ")
    if first and last.lower() in _ELEMENT_ROLES:
        return ActionTarget(role=last.lower(), name=first.strip("\"'“”"), bid=bid)
    return ActionTarget(role="", name=said, bid=bid)


def _form_target(args: Args, bid: str) -> ActionTarget | None:
    """Return the one field of a form, by the name the model gave it."""
    rows = _form_rows(args)
    name = _text(rows[0], "name", "element") if len(rows) == 1 else ""
    if not name.strip():
        return None
    role = _text(rows[0], "type")
    return ActionTarget(
        role=role if role in _ELEMENT_ROLES else "textbox",
        name=redact_text(" ".join(name.split())[:200]),
        bid=bid,
    )


def _form_rows(args: Args) -> list[Args]:
    fields = args.get("fields")
    listed = cast("list[object]", fields) if isinstance(fields, list) else []
    return [cast("Args", row) for row in listed if isinstance(row, dict)]


def _ref(args: Args, *names: str) -> str:
    for name in names or ("ref", "target", "bid", "selector", "index", "element_id"):
        value = args.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value):
            return str(value)
    return ""


def _text(args: Args, *names: str) -> str:
    return next((value for name in names if isinstance(value := args.get(name), str)), "")


_Made = tuple[str, dict[str, Any]]


def _navigate(args: Args) -> _Made | None:
    url = _text(args, "url")
    return ("goto", {"url": url}) if url else None


def _click(args: Args) -> _Made | None:
    ref = _ref(args)
    if not ref:
        return None
    kind = "dblclick" if args.get("doubleClick") is True else "click"
    button = _text(args, "button")
    return kind, {"bid": ref, **({"button": button} if button not in ("", "left") else {})}


def _type(args: Args) -> _Made | None:
    ref = _ref(args)
    if not ref:
        return None
    enter = {"enter": True} if args.get("submit") is True else {}
    return "fill", {"bid": ref, "value": _text(args, "text", "value"), **enter}


def _fill_form(args: Args) -> _Made | None:
    """A form of one field is a ``fill``; several stay one call with their names and values."""
    rows = _form_rows(args)
    if len(rows) == 1 and (ref := _ref(rows[0])):
        return "fill", {"bid": ref, "value": _text(rows[0], "value")}
    shown = [
        f"{name}={MARK if secrets_in_call(row) else row.get('value')}"
        for row in rows
        if (name := _text(row, "name", "element") or _ref(row))
    ]
    return "browser_fill_form", {"fields": shown}


def _select(args: Args) -> _Made | None:
    ref, values = _ref(args), args.get("values", args.get("options"))
    return ("select_option", {"bid": ref, "options": values}) if ref and values is not None else None


def _with_ref(kind: str) -> Callable[[Args], _Made | None]:
    def made(args: Args) -> _Made | None:
        ref = _ref(args)
        return (kind, {"bid": ref}) if ref else None

    return made


def _drag(args: Args) -> _Made | None:
    start, end = (
        _ref(args, "startRef", "startTarget", "from_bid"),
        _ref(args, "endRef", "endTarget", "to_bid"),
    )
    return ("drag_and_drop", {"from_bid": start, "to_bid": end}) if start and end else None


def _tabs(args: Args) -> _Made | None:
    index = args.get("index")
    match args.get("action"):
        case "new":
            return "new_tab", {"url": args["url"]} if _text(args, "url") else {}
        case "close":
            return ("tab_close", {}) if index is None else None
        case "select" if isinstance(index, int):
            return "tab_focus", {"index": index}
        case _:
            return None


def _focus(args: Args) -> _Made | None:
    index = args.get("index", args.get("tab_id"))
    return ("tab_focus", {"index": index}) if isinstance(index, int) else None


def _wait(args: Args) -> _Made | None:
    seconds = args.get("time", args.get("seconds"))
    if (
        isinstance(seconds, int | float)
        and not isinstance(seconds, bool)
        and not _text(args, "text", "textGone")
    ):
        return "noop", {"wait_ms": seconds * 1000}
    return None


def _key(args: Args) -> _Made | None:
    key = _text(args, "key", "keys")
    return ("keyboard_press", {"key": key}) if key else None


def _dialog(args: Args) -> _Made | None:
    prompt = _text(args, "promptText")
    return "answer_dialog", {"accept": args.get("accept") is True, **({"text": prompt} if prompt else {})}


def _upload(args: Args) -> _Made | None:
    paths = args.get("paths")
    return "upload_file", {"file": paths} if isinstance(paths, list) else {}


def _done(args: Args) -> _Made | None:
    text = _text(args, "text", "answer", "message", "result")
    return ("send_msg_to_user", {"text": text}) if text else None


def _at_point(kind: str) -> Callable[[Args], _Made | None]:
    def made(args: Args) -> _Made | None:
        x, y = _point(args)
        return (kind, {"x": x, "y": y}) if x is not None and y is not None else None

    return made


def _point(args: Args) -> tuple[float | None, float | None]:
    place = args.get("coordinate")
    pair = cast("list[object]", place) if isinstance(place, list) else [args.get("x"), args.get("y")]
    numbers = [one for one in pair if isinstance(one, int | float) and not isinstance(one, bool)]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (None, None)


def _computer(args: Args) -> _Made | None:
    """Actions of the computer tools of OpenAI (``type``) and Anthropic (``action``)."""
    kind = _text(args, "action", "type")
    match kind:
        case "left_click" | "click":
            return _at_point("mouse_click")(args)
        case "double_click":
            return _at_point("mouse_dblclick")(args)
        case "type":
            return "keyboard_type", {"text": _text(args, "text")}
        case "key" | "keypress":
            keys = args.get("keys")
            joined = "+".join(map(str, cast("list[object]", keys))) if isinstance(keys, list) else ""
            return "keyboard_press", {"key": _text(args, "text", "key") or joined}
        case "wait":
            return "noop", {}
        case _:
            return (
                (kind, {name: value for name, value in args.items() if name not in ("action",)})
                if kind
                else None
            )


def _named(kind: str) -> Callable[[Args], _Made | None]:
    """A call of BrowserGym's own: the arguments it has, by their names."""
    names = signature(kind)

    def made(args: Args) -> _Made | None:
        held = {name: args[name] for name in names if name in args}
        if held and "bid" in names and "bid" not in held and _text(args, "selector"):
            held = {"selector": args["selector"], **held}
        return kind, held or dict(args)

    return made


_TOOLS: dict[str, Callable[[Args], _Made | None]] = {
    **{
        kind: _named(kind)
        for kind in (
            "click", "dblclick", "fill", "clear", "send_msg_to_user", "go_back", "go_forward", "select_option", "check",
            "uncheck", "press", "keyboard_press", "keyboard_type", "hover", "scroll", "drag_and_drop", "mouse_click",
            "mouse_dblclick", "new_tab", "tab_focus", "tab_close", "goto", "noop", "report_infeasible", "upload_file",
        )
    },
    "browser_navigate": _navigate,
    "navigate": _navigate,
    "go_to_url": _navigate,
    "browser_navigate_back": lambda args: ("go_back", {}),
    "browser_navigate_forward": lambda args: ("go_forward", {}),
    "browser_click": _click,
    "click_element": _click,
    "click_element_by_index": _click,
    "browser_type": _type,
    "input_text": _type,
    "browser_fill_form": _fill_form,
    "browser_press_key": _key,
    "send_keys": _key,
    "browser_select_option": _select,
    "browser_hover": _with_ref("hover"),
    "browser_check": _with_ref("check"),
    "browser_uncheck": _with_ref("uncheck"),
    "browser_drag": _drag,
    "browser_tabs": _tabs,
    "browser_tab_new": lambda args: ("new_tab", {"url": args["url"]} if _text(args, "url") else {}),
    "browser_tab_select": _focus,
    "browser_tab_close": lambda args: ("tab_close", {}),
    "switch_tab": _focus,
    "browser_wait_for": _wait,
    "wait": _wait,
    "browser_handle_dialog": _dialog,
    "browser_file_upload": _upload,
    "browser_mouse_click_xy": _at_point("mouse_click"),
    "done": _done,
    "finish": _done,
    "final_answer": _done,
}  # fmt: skip
