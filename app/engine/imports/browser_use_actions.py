"""Actions and elements of browser-use as recorded actions and targets.

A written rule (``ACTIONS``): every action of browser-use 0.2 to 0.13 by its names.  What has no equal among
BrowserGym's calls keeps its newest name and its own arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.ax_tree import find_node
from app.engine.core.redaction import names_a_secret, redact_text
from app.engine.core.secret_inputs import is_secret_input
from app.engine.imports.json_values import fields_of
from app.engine.imports.page_contents import as_json, clean_args
from app.engine.imports.step_records import number, text

Args = Mapping[str, Any]
Tabs = Sequence[Mapping[str, Any]]
_Made = tuple[str, dict[str, Any]]

MAX_NAME = 120
"""Characters of an element's name."""

_ROLES = {
    "a": "link", "button": "button", "select": "combobox", "textarea": "textbox", "option": "option", "img": "image",
    "summary": "button", "h1": "heading", "h2": "heading", "h3": "heading", "li": "listitem", "label": "LabelText",
    "iframe": "Iframe", "form": "form", "svg": "image",
}  # fmt: skip
_INPUT_ROLES = {
    "checkbox": "checkbox", "radio": "radio", "button": "button", "submit": "button", "reset": "button",
    "image": "button", "range": "slider", "number": "spinbutton", "search": "searchbox", "file": "button",
}  # fmt: skip
_NAMES = ("aria-label", "placeholder", "alt", "title", "value", "name", "id")
_PASSWORD = re.compile(r"passw(?:or)?d|passphrase|secret|card number", re.IGNORECASE)
_QUOTED = re.compile(
    r"^\W*Clicked (?:an? )?[\w ]*?\"(.+)\"\s*$|^\W*Clicked [\w ]+ with index \d+: (.+)$", re.DOTALL
)


def read_action(entry: Args, tabs: Tabs = ()) -> RecordedAction | None:
    """Return one entry of ``model_output.action``, ``{name: arguments}``; ``None`` where it names none."""
    for name, given in entry.items():
        if given is None or name == "interacted_element":
            continue
        args: Args = fields_of(given)
        convert = ACTIONS.get(name)
        kind, values = (convert(args, tabs) if convert is not None else None) or (
            NEWEST.get(name, name),
            dict(args) if isinstance(given, dict) else {"value": given},
        )
        return RecordedAction(kind=redact_text(kind[:200]) or "unknown", args=clean_args(values))
    return None


def element_role(tag: str, attributes: Args) -> str:
    """Return the role of an element by its attributes, else by its tag."""
    role = text(attributes.get("role"))
    if role:
        return role.split()[0] if role.split() else tag
    if tag == "input":
        return _INPUT_ROLES.get(text(attributes.get("type")).lower(), "textbox")
    return _ROLES.get(tag, tag or "element")


def element_name(attributes: Args, shown: str = "") -> str:
    """Return the name of an element: its text, else the first attribute that names it; passwords are marked so."""
    said = next((name for key in _NAMES if (name := text(attributes.get(key)).strip())), "")
    name = redact_text(" ".join((shown or said).split())[:MAX_NAME])
    said_so = {key: text(attributes.get(key)) for key in ("type", "autocomplete")}
    if said_so["type"].lower() == "password" and not _PASSWORD.search(name):
        return f"{name} (password)".strip()
    if is_secret_input(said_so) and not names_a_secret(name):
        return f"{name} (password)".strip()
    return name


def read_target(
    element: object, action: RecordedAction | None, result: str, tree: str = ""
) -> ActionTarget | None:
    """Return the element an action was on: by ``interacted_element``, the page shown, or the action's result."""
    bid = (action.bid or "") if action is not None else ""
    found = fields_of(element)
    if not found:
        node = find_node(tree, bid) if bid else None
        if node is not None:
            return ActionTarget(role=node.role, name=redact_text(node.name), bid=bid)
        shown = _clicked(result)
        return ActionTarget(role="element", name=redact_text(shown), bid=bid) if shown and bid else None
    tag = (text(found.get("node_name")) or text(found.get("tag_name"))).lower()[:40]
    attributes = fields_of(found.get("attributes"))
    shown = text(found.get("ax_name")) or text(found.get("text")) or _clicked(result)
    return ActionTarget(role=element_role(tag, attributes), name=element_name(attributes, shown), bid=bid)


def read_box(element: object) -> tuple[float, float, float, float] | None:
    """Return the box of an element in the picture: left, top, width, height; ``None`` where it is not known."""
    found = fields_of(element)
    if bounds := fields_of(found.get("bounds")):
        return _box(bounds)
    place = fields_of(found.get("viewport_coordinates"))  # until 0.3
    return _box({**place, **fields_of(place.get("top_left"))})


def _box(fields: Args) -> tuple[float, float, float, float] | None:
    x, y, width, height = (number(fields.get(name), None) for name in ("x", "y", "width", "height"))
    if x is None or y is None or width is None or height is None or width <= 0 or height <= 0:
        return None
    return x, y, width, height


def _clicked(result: str) -> str:
    found = _QUOTED.match(result[:500])
    return " ".join((found[1] or found[2]).split())[:MAX_NAME] if found is not None else ""


def _bid(args: Args) -> str:
    index = args.get("index")
    return str(index) if isinstance(index, int | str) and not isinstance(index, bool) else ""


def _click(args: Args, tabs: Tabs) -> _Made | None:
    if bid := _bid(args):
        return "click", {"bid": bid}
    x, y = number(args.get("coordinate_x"), None), number(args.get("coordinate_y"), None)
    return ("mouse_click", {"x": x, "y": y}) if x is not None and y is not None else None


def _go(args: Args, tabs: Tabs) -> _Made | None:
    url = text(args.get("url"))
    if not url:
        return None
    return ("new_tab" if args.get("new_tab") is True else "goto"), {"url": url}


def _open_tab(args: Args, tabs: Tabs) -> _Made | None:
    url = text(args.get("url"))
    return "new_tab", {"url": url} if url else {}


def _type(args: Args, tabs: Tabs) -> _Made | None:
    bid = _bid(args)
    if not bid:
        return None
    kept = {"clear": False} if args.get("clear") is False or args.get("clear_existing") is False else {}
    return "fill", {"bid": bid, "value": text(args.get("text")), **kept}


def _keys(args: Args, tabs: Tabs) -> _Made | None:
    keys = text(args.get("keys"))
    return ("keyboard_press", {"key": keys}) if keys else None


def _scroll(args: Args, tabs: Tabs) -> _Made | None:
    pages = number(args.get("pages", args.get("num_pages")), None)
    values: dict[str, Any] = {"direction": "up" if args.get("down") is False else "down"}
    if pages is not None:
        values["pages"] = pages
    if bid := _bid(args):
        values["bid"] = bid
    return "scroll", values


def _scroll_by(way: int) -> Callable[[Args, Tabs], _Made]:
    def made(args: Args, tabs: Tabs) -> _Made:
        amount = number(args.get("amount"), None)
        if amount is None:
            return "scroll", {"direction": "down" if way > 0 else "up", "pages": 1.0}
        return "scroll", {"delta_x": 0, "delta_y": way * amount}

    return made


def _wait(args: Args, tabs: Tabs) -> _Made | None:
    seconds = number(args.get("seconds"), 3.0) or 0.0
    return "noop", {"wait_ms": seconds * 1000}


def _switch(args: Args, tabs: Tabs) -> _Made | None:
    page = args.get("page_id")
    if isinstance(page, int) and not isinstance(page, bool):
        return "tab_focus", {"index": page}
    wanted = text(args.get("tab_id"))
    ids = [text(tab.get("target_id")) for tab in tabs]
    at = next((position for position, one in enumerate(ids) if wanted and one.endswith(wanted)), None)
    return ("tab_focus", {"index": at}) if at is not None else None


def _upload(args: Args, tabs: Tabs) -> _Made | None:
    bid = _bid(args)
    return ("upload_file", {"bid": bid, "file": text(args.get("path"))}) if bid else None


def _select(args: Args, tabs: Tabs) -> _Made | None:
    bid = _bid(args)
    return ("select_option", {"bid": bid, "options": text(args.get("text"))}) if bid else None


def _options(args: Args, tabs: Tabs) -> _Made | None:
    bid = _bid(args)
    return ("dropdown_options", {"bid": bid}) if bid else None


def _drag(args: Args, tabs: Tabs) -> _Made | None:
    names = ("coord_source_x", "coord_source_y", "coord_target_x", "coord_target_y")
    points = [number(args.get(name), None) for name in names]
    if None in points:
        return None
    return "drag_and_drop", dict(zip(("from_x", "from_y", "to_x", "to_y"), points, strict=True))


def done_text(args: Args) -> str:
    """Return the message of ``done``; data of a structured one as JSON."""
    if isinstance(args.get("text"), str):
        return text(args.get("text"))
    data = args.get("data")
    if data is None:
        data = {name: value for name, value in args.items() if name not in ("success", "files_to_display")}
    return as_json(data) if data else ""


def _done(args: Args, tabs: Tabs) -> _Made:
    if args.get("success") is False:
        return "report_infeasible", {"reason": done_text(args)}
    return "send_msg_to_user", {"text": done_text(args)}


def _plain(kind: str) -> Callable[[Args, Tabs], _Made]:
    return lambda args, tabs: (kind, dict(args))


def _bare(kind: str) -> Callable[[Args, Tabs], _Made]:
    return lambda args, tabs: (kind, {})


NEWEST = {
    "search_google": "search", "extract_content": "extract", "extract_structured_data": "extract",
    "extract_page_content": "extract", "scroll_to_text": "find_text", "get_dropdown_options": "dropdown_options",
    "select_dropdown_option": "select_dropdown", "switch": "switch_tab", "execute_js": "evaluate",
    "drag_drop": "drag_and_drop", "save_pdf": "save_as_pdf", "take_screenshot": "screenshot",
    "replace_file_str": "replace_file",
}  # fmt: skip
"""Older names of actions that keep their own arguments."""

ACTIONS: dict[str, Callable[[Args, Tabs], _Made | None]] = {
    "navigate": _go,
    "go_to_url": _go,
    "open_tab": _open_tab,
    "go_back": _bare("go_back"),
    "wait": _wait,
    "click": _click,
    "click_element": _click,
    "click_element_by_index": _click,
    "input": _type,
    "input_text": _type,
    "send_keys": _keys,
    "scroll": _scroll,
    "scroll_down": _scroll_by(1),
    "scroll_up": _scroll_by(-1),
    "switch": _switch,
    "switch_tab": _switch,
    "close": _plain("tab_close"),
    "close_tab": _plain("tab_close"),
    "upload_file": _upload,
    "select_dropdown": _select,
    "select_dropdown_option": _select,
    "dropdown_options": _options,
    "get_dropdown_options": _options,
    "drag_drop": _drag,
    "done": _done,
}
"""Actions by every name they had; one that can't be converted, and any other, keeps its own arguments."""
