"""Calls of Playwright's interface as actions of a step, with their target in words.

A written rule (``CALLS``): which calls act on the page and are steps, and by which of BrowserGym's names. Reads, waits
and settings are none, unless they failed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

from app.engine.core.actions.recorded import ActionTarget, ArgValue, RecordedAction
from app.engine.core.html_nodes import HtmlNode, parents_of
from app.engine.core.html_tree import described
from app.engine.core.secret_inputs import is_secret_input
from app.engine.imports.json_values import fields_of, items_of
from app.engine.imports.playwright_snapshots import PageDocument
from app.engine.imports.playwright_trace import TracedCall
from app.engine.imports.playwright_values import Fields
from app.engine.imports.step_records import number, text


class CallKind(StrEnum):
    """Kinds of calls: ``ACTS`` and ``EXPECTS`` are steps."""

    ACTS = "actions"
    EXPECTS = "assertions"
    READS = "reads"
    WAITS = "waits"
    SETS = "settings"
    GROUPS = "groups"


Arguments = dict[str, ArgValue]


def _url(params: Fields) -> Arguments:
    return {"url": text(params.get("url"))}


def _button(params: Fields) -> Arguments:
    button = text(params.get("button"))
    return {"button": button} if button not in ("", "left") else {}


def _typed(params: Fields) -> Arguments:
    return {"value": text(params.get("value", params.get("text")))}


def _key(params: Fields) -> Arguments:
    return {"key_comb": text(params.get("key"))}


def _point(params: Fields) -> Arguments:
    return {side: number(params.get(side), 0.0) for side in ("x", "y")} | _button(params)


def _options(params: Fields) -> Arguments:
    found: list[str | int | float | bool | None] = []
    for one in items_of(params.get("options"))[:100]:
        held = fields_of(one)
        names = (held.get(name) for name in ("valueOrLabel", "label", "value", "index"))
        found += [str(name) for name in names if isinstance(name, str | int)][:1]
    return {"options": found}


def _files(params: Fields) -> Arguments:
    names = [
        text(one).replace("\\", "/").rpartition("/")[2] for one in items_of(params.get("localPaths"))[:100]
    ]
    names += [
        text(cast("Fields", one).get("name"))
        for one in items_of(params.get("payloads"))[:100]
        if isinstance(one, dict)
    ]
    return {"file": ", ".join(filter(None, names))[:300]}


def _script(params: Fields) -> Arguments:
    return {"expression": " ".join(text(params.get("expression")).split())[:2000]}


def _none(params: Fields) -> Arguments:
    return {}


@dataclass(frozen=True, slots=True)
class CallRule:
    """How one method is a step: its name, its arguments, whether it has an element (``bid`` is its first argument)."""

    kind: str
    args: Callable[[Fields], Arguments] = _none
    on_element: bool = False


_EVALUATE = CallRule("evaluate", _script)

CALLS: dict[str, CallRule] = {
    "goto": CallRule("goto", _url),
    "goBack": CallRule("go_back"),
    "goForward": CallRule("go_forward"),
    "reload": CallRule("reload"),
    "newPage": CallRule("new_tab"),
    "bringToFront": CallRule("tab_focus"),
    "close": CallRule("tab_close"),
    "setContent": CallRule("set_content"),
    "click": CallRule("click", _button, True),
    "tap": CallRule("click", _none, True),
    "dblclick": CallRule("dblclick", _button, True),
    "hover": CallRule("hover", _none, True),
    "focus": CallRule("focus", _none, True),
    "blur": CallRule("blur", _none, True),
    "fill": CallRule("fill", _typed, True),
    "type": CallRule("fill", _typed, True),
    "press": CallRule("press", _key, True),
    "check": CallRule("check", _none, True),
    "uncheck": CallRule("uncheck", _none, True),
    "selectOption": CallRule("select_option", _options, True),
    "selectText": CallRule("select_text", _none, True),
    "setInputFiles": CallRule("upload_file", _files, True),
    "scrollIntoViewIfNeeded": CallRule("scroll_into_view", _none, True),
    "dispatchEvent": CallRule("dispatch_event", lambda params: {"type": text(params.get("type"))}, True),
    "dragAndDrop": CallRule(
        "drag_and_drop",
        lambda params: {"source": text(params.get("source")), "target": text(params.get("target"))},
    ),
    "keyboardPress": CallRule("keyboard_press", lambda params: {"key": text(params.get("key"))}),
    "keyboardDown": CallRule("keyboard_down", lambda params: {"key": text(params.get("key"))}),
    "keyboardUp": CallRule("keyboard_up", lambda params: {"key": text(params.get("key"))}),
    "keyboardType": CallRule("keyboard_type", lambda params: {"text": text(params.get("text"))}),
    "keyboardInsertText": CallRule("keyboard_type", lambda params: {"text": text(params.get("text"))}),
    "mouseClick": CallRule("mouse_click", _point),
    "mouseMove": CallRule("mouse_move", _point),
    "mouseDown": CallRule("mouse_down", _button),
    "mouseUp": CallRule("mouse_up", _button),
    "touchscreenTap": CallRule("mouse_click", _point),
    "mouseWheel": CallRule(
        "scroll",
        lambda params: {
            "delta_x": number(params.get("deltaX"), 0.0),
            "delta_y": number(params.get("deltaY"), 0.0),
        },
    ),
    "accept": CallRule("answer_dialog", lambda params: {"accept": True}),
    "dismiss": CallRule("answer_dialog", lambda params: {"accept": False}),
    "evaluateExpression": _EVALUATE,
    "evaluateExpressionHandle": _EVALUATE,
    "evalOnSelector": _EVALUATE,
    "evalOnSelectorAll": _EVALUATE,
    "fetch": CallRule(
        "fetch", lambda params: {"method": text(params.get("method")) or "GET", **_url(params)}
    ),
}
"""The calls that act, by their method's name in the protocol."""

_READS = frozenset(
    {
        "ariaSnapshot",
        "boundingBox",
        "content",
        "getAttribute",
        "innerHTML",
        "innerText",
        "inputValue",
        "isChecked",
    }
    | {"isDisabled", "isEditable", "isEnabled", "isHidden", "isVisible", "pdf", "queryCount", "querySelector"}
    | {"querySelectorAll", "screenshot", "textContent", "title", "cookies", "body", "fetchResponseBody"}
)
_NOT_ON_PAGES = frozenset(
    {"Android", "AndroidDevice", "Browser", "BrowserType", "Electron", "Playwright", "Tracing"}
)
_BY_PAGE = frozenset({"close", "bringToFront"})
"""Methods that act on the page for the class ``Page`` alone."""
_API_NAMES = {
    "evaluate": "evaluateExpression",
    "setinputfiles": "setInputFiles",
    "selectoption": "selectOption",
    "goback": "goBack",
    "goforward": "goForward",
}
_TITLE_WORDS = {"navigate": "goto", "double": "dblclick", "select": "selectOption", "reload": "reload"}


def kind_of(call: TracedCall) -> CallKind:
    """Return a call's kind."""
    method = call.method
    if call.of_runner:
        if method == "expect" or call.api.startswith("expect."):
            return CallKind.EXPECTS
        return CallKind.ACTS if runner_method(call) in CALLS else CallKind.GROUPS
    if method in ("expect", "expectScreenshot"):
        return CallKind.EXPECTS
    if method == "tracingGroup":
        return CallKind.GROUPS
    if method in _READS:
        return CallKind.READS
    if "wait" in method.lower():
        return CallKind.WAITS
    if method not in CALLS or call.cls in _NOT_ON_PAGES or (method in _BY_PAGE and call.cls != "Page"):
        return CallKind.ACTS if call.point or call.box else CallKind.SETS
    if method == "fetch" and call.cls != "APIRequestContext":
        return CallKind.SETS
    return CallKind.ACTS


def runner_method(call: TracedCall) -> str:
    """Return the method of a call that the test runner alone has recorded; "" for a step that is no call."""
    if call.method not in ("pw:api", "step") or (call.method == "step" and not call.api):
        return ""
    name = call.api.rpartition(".")[2]
    first = call.title.partition(" ")[0].lower()
    word = name or _TITLE_WORDS.get(first, first)
    if call.api.startswith(("browser.", "browserType.", "browserContext.", "apiRequest.")):
        return ""
    return _API_NAMES.get(word.lower(), word)


def action_of(call: TracedCall, bid: str) -> RecordedAction:
    """Return a call as an action, with its arguments as they were: they may hold a password."""
    kind = kind_of(call)
    if kind is CallKind.EXPECTS:
        return RecordedAction(kind="expect", args={"assertion": _assertion(call)})
    method = runner_method(call) if call.of_runner else call.method
    rule = CALLS.get(method)
    selector = selector_words(text(call.params.get("selector")))
    if rule is None:
        args: Arguments = {"selector": selector} if selector else {}
        return RecordedAction(kind=_snake(method or call.cls), args=args)
    args = rule.args(call.params)
    name = rule.kind
    if name == "click" and number(call.params.get("clickCount"), 1) == 2:
        name = "dblclick"
    if name == "fill" and args == {"value": ""}:
        name, args = "clear", {}
    if rule.on_element:
        args = {**({"bid": bid} if bid else {"selector": selector} if selector else {}), **args}
    return RecordedAction(kind=name, args=args)


def _assertion(call: TracedCall) -> str:
    """Return an assertion in words, as ``not to have text 'Two items'``."""
    params = call.params
    words = _words(text(params.get("expression")).replace(".", " ")) if params.get("expression") else ""
    if not words:
        said = call.title or call.api
        quoted = re.search(r"\"([^\"]+)\"", said)
        words = _words(quoted[1] if quoted and said.startswith("Expect") else said.removeprefix("expect."))
    expected = [
        shown
        for one in items_of(params.get("expectedText"))[:100]
        if (shown := text(fields_of(one).get("string")) or text(fields_of(one).get("regexSource")))
    ]
    held = (params.get(name) for name in ("expected", "expectedNumber"))
    values = [repr(one) for one in expected[:5]] or [
        str(one) for one in held if isinstance(one, str | int | float)
    ]
    negated = "not " if params.get("isNot") is True else ""
    return f"{negated}{words} {', '.join(values)}".split("\n")[0].strip()[:500]


def _words(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.replace("_", " ").replace(".", " "))
    return " ".join(spaced.split()).lower()


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()[:60]


def expect_failed(call: TracedCall) -> bool:
    """Whether an assertion did not hold; before version 10 its own result alone says so."""
    if kind_of(call) is not CallKind.EXPECTS or not isinstance(call.result, dict):
        return False
    matches: object = cast("Fields", call.result).get("matches")
    return isinstance(matches, bool) and matches == (call.params.get("isNot") is True)


_STRING = r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|/(?:[^/\\]|\\.)+/)"
_BY_ROLE = re.compile(r"(?:internal:)?role=(?P<role>[\w-]+)(?:.*?\[name\*?=" + _STRING + ")?")
_BY_TEXT = re.compile(r"(?:internal:(?P<by>text|label)|text)=" + _STRING)
_BY_ATTRIBUTE = re.compile(r"internal:(?P<by>attr|testid)=\[(?P<name>[\w-]+)=" + _STRING)
_NO_ELEMENT = re.compile(r"(?:nth=|visible=|internal:(?:control|has|or|and|chain|describe))")
_RESOLVED = re.compile(r"locator resolved to (?:visible |hidden )?<([a-zA-Z][\w-]*)([^>]*)>(?:([^<]*)</)?")
_ID = re.compile(r"#([\w-]+)")
_TEST_ID = re.compile(r"internal:testid=\[(?P<attribute>[\w-]+)=(?P<name>" + _STRING + r")[is]?\]")
_ATTRIBUTE = re.compile(r"([\w:-]+)=\"([^\"]*)\"")
_ROLES_OF_ATTRIBUTES = {"placeholder": "field", "alt": "image"}


def selector_target(selector: str) -> ActionTarget | None:
    """Return what a selector says of its element: role and name, text, label, test id; else the selector itself."""
    parts = [part.strip() for part in selector.split(" >> ") if part.strip()]
    part = next((part for part in reversed(parts) if not _NO_ELEMENT.match(part)), "")
    if not part:
        return None
    if found := _BY_ROLE.match(part):
        return ActionTarget(role=found["role"], name=_unquoted(found[2] or ""))
    if found := _BY_TEXT.match(part):
        return ActionTarget(role="field" if found["by"] == "label" else "text", name=_unquoted(found[2]))
    if found := _BY_ATTRIBUTE.match(part):
        role = _ROLES_OF_ATTRIBUTES.get(found["name"], "element")
        return ActionTarget(role=role, name=_unquoted(found[3]))
    return ActionTarget(role="element", name=part[:200])


def selector_words(selector: str) -> str:
    """Return a selector without the marks of Playwright's internal engines, as people write it."""
    plain = re.sub(r"internal:(role|text|label|testid|attr)=", r"\1=", selector)
    return re.sub(r"(?<=[\"'])[is](?=\]|$| >>)", "", plain)[:500]


def _unquoted(quoted: str) -> str:
    if quoted[:1] in "\"'" and len(quoted) > 1:
        return re.sub(r"\\(.)", r"\1", quoted[1:-1])[:200]
    return quoted[:200]


@dataclass(slots=True)
class FoundTarget:
    """The element of a call: in words, its id in the page's tree ("" where unknown), whether it takes a password.

    ``is_known`` is whether the element itself was found: without it, its attributes are not known.
    """

    words: ActionTarget | None = None
    bid: str = ""
    is_password: bool = False
    attributes: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def is_known(self) -> bool:
        return bool(self.attributes)


def find_target(call: TracedCall, page: PageDocument | None) -> FoundTarget:
    """Return a call's element: as marked in the page, as its log resolved it, by its id, else as its selector says."""
    selector = text(call.params.get("selector"))
    said = selector_target(selector) if selector else None
    if not selector and call.cls != "ElementHandle":
        return FoundTarget()
    node = page.target if page is not None else None
    if page is not None and node is not None:
        return _marked(page, node, said)
    for line in reversed(call.log):
        if (found := _RESOLVED.search(line)) is None:
            continue
        held = dict(_ATTRIBUTE.findall(found[2]))
        is_password = is_secret_input(held)
        if said is None or said.role == "element":
            role, name = described(HtmlNode(found[1].lower(), held, [found[3] or ""]))
            said = ActionTarget(role=role, name=name or (said.name if said else ""))
        return FoundTarget(said, "", is_password, held)
    node = _by_id(page.html, selector) if page is not None else None
    if page is not None and node is not None:
        return _marked(page, node, said)
    return FoundTarget(said)


def _by_id(document: HtmlNode, selector: str) -> HtmlNode | None:
    """Return the element of a selector that is nothing but an id or a test id, if it is the only one."""
    if found := _ID.fullmatch(selector):
        named = [one for one in document.elements() if one.attributes.get("id") == found[1]]
    elif found := _TEST_ID.fullmatch(selector):
        wanted = _unquoted(found["name"])
        named = [one for one in document.elements() if one.attributes.get(found["attribute"]) == wanted]
    else:
        return None
    return named[0] if len(named) == 1 else None


def may_be_secret(document: HtmlNode, name: str) -> bool:
    """Whether a field that was not found may take a secret: the page has one, and no other field of this name."""
    fields = [one for one in document.elements() if one.tag in ("input", "textarea")]
    if not any(is_secret_input(one.attributes) for one in fields):
        return False
    named = [one for one in fields if name and described(one)[1] == name]
    return not named or any(is_secret_input(one.attributes) for one in named)


_CONTROLS = frozenset(
    {"link", "button", "option", "tab", "menuitem", "checkbox", "radio", "combobox", "switch", "treeitem"}
    | {"textbox", "searchbox", "listbox", "slider", "spinbutton", "DisclosureTriangle", "menuitemcheckbox"}
)


def _marked(page: PageDocument, node: HtmlNode, said: ActionTarget | None) -> FoundTarget:
    """Return the marked element; of a part of a link or a button that one, as a person calls it."""
    is_password = is_secret_input(node.attributes)
    parents, shown = parents_of(page.html), node
    while shown.role not in _CONTROLS and (above := parents.get(id(shown))) is not None:
        shown = above
    if shown.role not in _CONTROLS:
        shown = node
    role, name = described(shown)
    if not name and said is not None and said.role != "element":
        name = said.name
    return FoundTarget(
        ActionTarget(role=role, name=name, bid=shown.bid), shown.bid, is_password, node.attributes
    )


def result_words(call: TracedCall) -> str:
    """Return a read value in words, as ``innerText of #price: '24.50'``; "" where there is none."""
    result: Any = call.result
    value: object = cast("Fields", result).get("value") if isinstance(result, dict) else None
    if (
        isinstance(value, dict) and len(cast("Fields", value)) == 1
    ):  # a script's value is wrapped with its type
        value = next(iter(cast("Fields", value).values()))
    if not isinstance(value, str | int | float | bool):
        return ""
    if kind_of(call) is not CallKind.READS:
        return repr(value)[:500]
    selector = selector_words(text(call.params.get("selector")))
    of = f" of {selector}" if selector else ""
    return f"{call.method}{of}: {value!r}"[:500]
