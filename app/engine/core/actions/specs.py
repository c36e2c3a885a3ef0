"""Specs of the actions in a model's language: names, arguments, example and help of each.

The first name of an action is the one stored in steps (``calls.to_action``), so recorded calls read back as the
same
action; the others are those of WebArena's agents, of browser-use and of plain English.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal, cast

from app.engine.core.actions.syntax import CallError
from app.engine.core.actions.types import (
    Action,
    AnswerDialog,
    AskHuman,
    Branch,
    Calculate,
    Click,
    ClickAt,
    ClickMark,
    CloseTab,
    Drag,
    GoBack,
    GoForward,
    Goto,
    Hover,
    Navigate,
    NewTab,
    Point,
    Press,
    Prune,
    ReportInfeasible,
    Scroll,
    Select,
    SelectText,
    SetChecked,
    SetSlider,
    Stop,
    SwitchTab,
    TakeNote,
    TypeKeys,
    TypeMark,
    TypeText,
    Upload,
    Wait,
)

_SCROLL_PIXELS = 600.0
_LONGEST_WAIT = 10.0
_DIRECTIONS = {"down": (0.0, 1.0), "up": (0.0, -1.0), "right": (1.0, 0.0), "left": (-1.0, 0.0)}
_ELEMENT = ("element", "id", "index", "element_id", "node", "ref")


class ArgumentType(Enum):
    """Types of arguments."""

    ELEMENT = "the number of an element"
    TEXT = "a text"
    NUMBER = "a number"
    COUNT = "a whole number"
    FLAG = "true or false"
    TEXTS = "a text, or a list of texts"
    BUTTON = "left, middle or right"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument; ``aliases`` are further names it is accepted under."""

    name: str
    takes: ArgumentType
    aliases: tuple[str, ...] = ()
    needed: bool = True


Arguments = Mapping[str, object]
"""Arguments by parameter name, each of the type its ``takes`` says."""


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """How one action is written.

    ``brackets`` names the fields of the bracket form in their order, where it differs from the call's; ``usage`` and
    ``words`` are what a model is told.
    """

    makes: type
    names: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    build: Callable[[Arguments], Action]
    usage: str
    words: str
    brackets: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The one it is kept under."""
        return self.names[0]


def _spec(
    makes: type,
    names: str,
    parameters: Sequence[Parameter],
    build: Callable[[Arguments], Action],
    usage: str,
    words: str,
    brackets: str = "",
) -> ActionSpec:
    return ActionSpec(
        makes, tuple(names.split()), tuple(parameters), build, usage, words, tuple(brackets.split())
    )


def _element(needed: bool = True, name: str = "bid", aliases: tuple[str, ...] = _ELEMENT) -> Parameter:
    return Parameter(name, ArgumentType.ELEMENT, aliases, needed)


def _text(name: str, *aliases: str, needed: bool = True) -> Parameter:
    return Parameter(name, ArgumentType.TEXT, aliases, needed)


def _number(name: str, *aliases: str, needed: bool = True) -> Parameter:
    return Parameter(name, ArgumentType.NUMBER, aliases, needed)


def _count(name: str, *aliases: str, needed: bool = True) -> Parameter:
    return Parameter(name, ArgumentType.COUNT, aliases, needed)


_BUTTON = Parameter("button", ArgumentType.BUTTON, (), needed=False)
_MODIFIERS = Parameter("modifiers", ArgumentType.TEXTS, (), needed=False)
_ENTER = Parameter("enter", ArgumentType.FLAG, ("press_enter_after", "press_enter", "submit"), needed=False)
_LABEL = _text("label", "target_label", "name", needed=False)
_X, _Y = _number("x", "left"), _number("y", "top")


def _str(bound: Arguments, name: str, default: str = "") -> str:
    return cast("str", bound.get(name, default))


def _int(bound: Arguments, name: str, default: int = 0) -> int:
    return cast("int", bound.get(name, default))


def _real(bound: Arguments, name: str, default: float = 0.0) -> float:
    return cast("float", bound.get(name, default))


def _bool(bound: Arguments, name: str, default: bool = False) -> bool:
    return cast("bool", bound.get(name, default))


def _pressed(bound: Arguments) -> Literal["left", "middle", "right"]:
    return cast("Literal['left', 'middle', 'right']", bound.get("button", "left"))


def _click(bound: Arguments, double: bool) -> Action:
    if bound.get("modifiers"):
        raise CallError("a click with modifier keys is not available; leave out modifiers")
    return Click(_int(bound, "bid"), button=_pressed(bound), double=double, label=_str(bound, "label"))


def _click_at(bound: Arguments, double: bool) -> Action:
    return ClickAt((_real(bound, "x"), _real(bound, "y")), button=_pressed(bound), double=double)


def _press(bound: Arguments) -> Action:
    if "key_comb" in bound:
        return Press(_str(bound, "key_comb"), _int(bound, "bid"))
    raise CallError('press takes an element and keys; without an element write keyboard_press("Enter")')


def _scroll(bound: Arguments) -> Action:
    element = _int(bound, "bid") if "bid" in bound else None
    direction = _str(bound, "direction").lower()
    if direction:
        if direction not in _DIRECTIONS:
            raise CallError(f"scroll knows up, down, left and right, not {direction!r}")
        right, down = _DIRECTIONS[direction]
        return Scroll(down * _SCROLL_PIXELS, right * _SCROLL_PIXELS, element)
    if "delta_y" not in bound and "delta_x" not in bound:
        raise CallError('scroll takes a direction or pixels: scroll("down") or scroll(0, 400)')
    return Scroll(_real(bound, "delta_y"), _real(bound, "delta_x"), element)


def _drag(bound: Arguments) -> Action:
    return Drag(_end(bound, "from"), _end(bound, "to"))


def _end(bound: Arguments, side: str) -> int | Point:
    if f"{side}_bid" in bound:
        return _int(bound, f"{side}_bid")
    if f"{side}_x" in bound and f"{side}_y" in bound:
        return (_real(bound, f"{side}_x"), _real(bound, f"{side}_y"))
    raise CallError(f"drag_and_drop needs {side}_bid, or {side}_x and {side}_y")


def _wait(bound: Arguments) -> Action:
    seconds = _real(bound, "wait_ms", 1000.0) / 1000 if "seconds" not in bound else _real(bound, "seconds")
    return Wait(min(max(seconds, 0.0), _LONGEST_WAIT))


def _address(bound: Arguments) -> str:
    url = _str(bound, "url").strip()
    if any(ord(char) < 33 for char in url):
        raise CallError("an address has no spaces")
    return url


ACTION_SPECS: tuple[ActionSpec, ...] = (
    _spec(Click, "click click_element left_click tap", (_element(), _BUTTON, _MODIFIERS, _LABEL),
          lambda b: _click(b, double=False), 'click("12")', "click an element; label is its name"),
    _spec(Click, "dblclick double_click", (_element(), _BUTTON, _MODIFIERS, _LABEL),
          lambda b: _click(b, double=True), 'dblclick("12")', "double-click an element"),
    _spec(TypeText, "fill type type_text input_text input enter_text",
          (_element(), _text("value", "text", "content", "input"), _ENTER),
          lambda b: TypeText(_int(b, "bid"), _str(b, "value"), enter=_bool(b, "enter")),
          'fill("15", "red shoes", enter=True)', "replace the text of a field; enter=True submits it"),
    _spec(TypeText, "clear", (_element(),), lambda b: TypeText(_int(b, "bid"), ""), 'clear("15")', "clear a field"),
    _spec(Stop, "send_msg_to_user stop finish done answer",
          (_text("text", "answer", "message", "result", needed=False),), lambda b: Stop(_str(b, "text")), 'stop("42")',
          "end the task as done; give the bare answer where one is asked for"),
    _spec(TakeNote, "take_note note remember", (_text("text", "content", "note"),), lambda b: TakeNote(_str(b, "text")),
          'take_note("order 17 costs 12.50")', "remember something you have read, for later steps"),
    _spec(GoBack, "go_back back goback", (), lambda _: GoBack(), "go_back()", "go to the previous page"),
    _spec(Navigate, "navigate optimal_navigate teleport", (_text("domain", "site"), _text("query", "page")),
          lambda b: Navigate(_str(b, "domain"), _str(b, "query")),
          'navigate("shop", "table of all orders with a status column")',
          "go to the known page of a site that fits the description; describe the page, not the action"),
    _spec(Select, "select_option select choose", (_element(), Parameter("options", ArgumentType.TEXTS, ("option", "labels",
          "label", "value", "text"))), lambda b: Select(_int(b, "bid"), cast("tuple[str, ...]", b["options"])),
          'select_option("20", "Last month")', "choose options of a list by their labels"),
    _spec(SetChecked, "check tick", (_element(),), lambda b: SetChecked(_int(b, "bid")), 'check("21")',
          "set a check box or a radio button"),
    _spec(SetChecked, "uncheck untick", (_element(),), lambda b: SetChecked(_int(b, "bid"), on=False), 'uncheck("21")',
          "clear a check box"),
    _spec(Press, "press press_key", (_element(), _text("key_comb", "key", "keys")), _press,
          'press("15", "Control+A")', "press keys in an element"),
    _spec(Press, "keyboard_press press_keys send_keys key", (_text("key", "keys", "key_comb"),),
          lambda b: Press(_str(b, "key")), 'keyboard_press("Escape")', "press keys at the cursor"),
    _spec(TypeKeys, "keyboard_type type_keys", (_text("text", "value", "content"),),
          lambda b: TypeKeys(_str(b, "text")), 'keyboard_type("hello")', "type key by key at the cursor"),
    _spec(SetSlider, "set_slider slider slide", (_element(), _number("value", "to")),
          lambda b: SetSlider(_int(b, "bid"), _real(b, "value")), 'set_slider("22", 40)', "set a slider to a value"),
    _spec(Upload, "upload_file upload", (_element(), _text("file", "path", "name")),
          lambda b: Upload(_int(b, "bid"), _str(b, "file")), 'upload_file("23", "photo.png")',
          "upload one of the run's files through a file field"),
    _spec(AnswerDialog, "answer_dialog dialog handle_dialog",
          (Parameter("accept", ArgumentType.FLAG, (), needed=False), _text("text", "prompt", needed=False)),
          lambda b: AnswerDialog(_bool(b, "accept", default=True), _str(b, "text")), "answer_dialog(True)",
          "answer the next dialog of the browser"),
    _spec(Hover, "hover", (_element(),), lambda b: Hover(_int(b, "bid")), 'hover("12")', "move the pointer onto it"),
    _spec(Scroll, "scroll", (_number("delta_x", "dx", needed=False), _number("delta_y", "dy", "amount", needed=False),
          _element(needed=False), _text("direction", needed=False)), _scroll, 'scroll("down")',
          "scroll the page up or down, or by pixels: scroll(0, 400); with bid inside an element"),
    _spec(Drag, "drag_and_drop drag", (
          _element(needed=False, name="from_bid", aliases=("from", "source", "from_element")),
          _element(needed=False, name="to_bid", aliases=("to", "target", "to_element")),
          _number("from_x", needed=False), _number("from_y", needed=False), _number("to_x", needed=False),
          _number("to_y", needed=False)), _drag, 'drag_and_drop("12", "15")', "drag one element onto another"),
    _spec(ClickAt, "mouse_click click_at click_xy", (_X, _Y, _BUTTON), lambda b: _click_at(b, double=False),
          "mouse_click(120, 300)", "click at a point of the picture, where no element has a number"),
    _spec(ClickAt, "mouse_dblclick", (_X, _Y, _BUTTON), lambda b: _click_at(b, double=True), "mouse_dblclick(120, 300)",
          "double-click at a point"),
    _spec(SelectText, "select_text", (_element(), _count("start", needed=False), _count("end", needed=False)),
          lambda b: SelectText(_int(b, "bid"), _int(b, "start"), _int(b, "end", -1)), 'select_text("12", 0, 5)',
          "select characters of an element's text; without numbers all of it"),
    _spec(NewTab, "new_tab open_tab", (_text("url", "address", needed=False),), lambda b: NewTab(_address(b)),
          "new_tab()", "open a tab"),
    _spec(SwitchTab, "tab_focus switch_tab focus_tab", (_count("index", "tab", "tab_index", "page_index"),),
          lambda b: SwitchTab(_int(b, "index")), "tab_focus(1)", "bring a tab to the front; the first is 0"),
    _spec(CloseTab, "tab_close close_tab", (), lambda _: CloseTab(), "tab_close()", "close the tab in front"),
    _spec(Goto, "goto open visit open_url", (_text("url", "address"),), lambda b: Goto(_address(b)),
          'goto("https://shop.example/orders")', "open an address of this site"),
    _spec(GoForward, "go_forward forward", (), lambda _: GoForward(), "go_forward()", "go to the next page"),
    _spec(Calculate, "calculate reckon", (_text("expression", "formula", "text"),),
          lambda b: Calculate(_str(b, "expression")), 'calculate("12.50 * 3 + 4.99")',
          "calculate exactly: + - * / ** brackets, sum, min, max, mean, round"),
    _spec(Wait, "noop wait", (_number("wait_ms", "ms", needed=False), _number("seconds", needed=False)), _wait,
          "noop(1000)", "wait for the page, in milliseconds"),
    _spec(Branch, "branch", (_text("parent", "parent_id"), _text("intent", "subgoal")),
          lambda b: Branch(_str(b, "parent"), _str(b, "intent")), 'branch("2", "find the order number first")',
          "add a subgoal under one of the plan's"),
    _spec(Prune, "prune", (_text("node", "id", "resume_id"), _text("reason")),
          lambda b: Prune(_str(b, "node"), _str(b, "reason")), 'prune("3", "there is no such report")',
          "give up a subgoal"),
    _spec(ReportInfeasible, "report_infeasible infeasible", (_text("reason", "text"),),
          lambda b: ReportInfeasible(_str(b, "reason")), 'report_infeasible("the shop has no such product")',
          "say that the task can't be done, and why"),
    _spec(AskHuman, "ask_human ask", (_text("question", "text"),), lambda b: AskHuman(_str(b, "question")),
          'ask_human("Which of the two addresses?")', "ask the person who supervises"),
    _spec(ClickMark, "click_mark", (_count("mark", "vision_index"), _LABEL),
          lambda b: ClickMark(_int(b, "mark"), _str(b, "label")), 'click_mark("V3", "Sort by")',
          "click a marked box of the picture; label is its text"),
    _spec(TypeMark, "type_mark", (_count("mark", "vision_index"), _text("value", "text", "content"), _ENTER),
          lambda b: TypeMark(_int(b, "mark"), _str(b, "value"), enter=_bool(b, "enter")), 'type_mark("V4", "Oslo")',
          "type a text into a marked field of the picture"),
)  # fmt: skip
"""Every action, in the order in which a model is told of them."""

SPEC_BY_NAME: dict[str, ActionSpec] = {name: form for form in ACTION_SPECS for name in form.names}


def action_help(offered: Collection[type]) -> str:
    """What a model is told of the actions it is offered: one line each, always in the same order."""
    return "\n".join(f"{form.usage}: {form.words}" for form in ACTION_SPECS if form.makes in offered)
