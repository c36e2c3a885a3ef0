"""The actions of the agent, each declared with its spec.  Pure data.

WebNavigator's six are the compact set (section 3.3); the wider sets are further actions of the field's agents
(SuperBrowser appendix A, ColorBrowserAgent section 4.5, AgentOccam's plan actions).  Elements are named by their number
in the last look at the page (``app.engine.core.page_state.Element.index``), points in CSS pixels of the viewport.
Further names of a call are those of WebArena's agents, of browser-use and of plain English.

An action on the page has a handler too (``app.engine.browser.executor``); every other one is done by
``app.engine.agent.action_dispatcher``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, cast

from app.engine.core.actions.call_forms import (
    BID,
    BUTTON,
    ENTER,
    KEPT_LABEL,
    LABEL,
    MARK,
    MODIFIERS,
    X,
    Y,
    argument,
    call,
)
from app.engine.core.actions.specs import (
    Action,
    ActionSet,
    ActionSyntaxError,
    Arguments,
    ArgumentType,
    Component,
    Stored,
    action,
)
from app.engine.core.risk_class import RiskClass

Point = tuple[float, float]
"""Left and top in CSS pixels of the viewport."""
Button = Literal["left", "middle", "right"]

_SCROLL_PIXELS = 600.0
_LONGEST_WAIT = 10.0
_DIRECTIONS = {"down": (0.0, 1.0), "up": (0.0, -1.0), "right": (1.0, 0.0), "left": (-1.0, 0.0)}


def _scroll(arguments: Arguments) -> Action:
    element = cast("int | None", arguments.get("bid"))
    direction = str(arguments.get("direction", "")).lower()
    if direction:
        if direction not in _DIRECTIONS:
            raise ActionSyntaxError(f"scroll knows up, down, left and right, not {direction!r}")
        right, down = _DIRECTIONS[direction]
        return Scroll(down * _SCROLL_PIXELS, right * _SCROLL_PIXELS, element)
    if "delta_y" not in arguments and "delta_x" not in arguments:
        raise ActionSyntaxError('scroll takes a direction or pixels: scroll("down") or scroll(0, 400)')
    return Scroll(
        cast("float", arguments.get("delta_y", 0.0)), cast("float", arguments.get("delta_x", 0.0)), element
    )


def _wait(arguments: Arguments) -> Action:
    seconds = cast("float", arguments.get("seconds", arguments.get("wait_ms", 1.0)))
    return Wait(min(max(seconds, 0.0), _LONGEST_WAIT))


@action(ActionSet.COMPACT, risk=RiskClass.EDITS, calls=(
    call("click click_element left_click tap", BID, BUTTON, MODIFIERS, LABEL, usage='click("12")',
         help="click an element; label is its name", words="click{what}", double=False),
    call("dblclick double_click", BID, BUTTON, MODIFIERS, LABEL, usage='dblclick("12")',
         help="double-click an element", words="dblclick{what}", set=ActionSet.POINTER, double=True),
))  # fmt: skip
class Click(Action):
    """Click an element; ``label`` is the name the agent believes it has."""

    element: int
    button: Button = "left"
    double: bool = False
    label: str = ""


@action(ActionSet.COMPACT, risk=RiskClass.EDITS, calls=(
    call("fill type type_text input_text input enter_text", BID,
         argument("value", "text", "content", "input", to="text"), ENTER,
         usage='fill("15", "red shoes", enter=True)', help="replace the text of a field; enter=True submits it",
         words="type {value:q} into{what}{enter:? and press Enter}"),
    call("clear", BID, usage='clear("15")', help="clear a field", words="clear{what}", set=ActionSet.FORMS, text=""),
))  # fmt: skip
class TypeText(Action):
    """Replace the text of a field; ``enter`` submits it."""

    element: int
    text: str
    enter: bool = False


@action(ActionSet.COMPACT, component=Component.LOOP, touches_page=False, ends_batch=True, calls=(
    call("send_msg_to_user stop finish done answer",
         argument("text", "answer", "message", "result", to="answer", needed=False), usage='stop("42")',
         help="end the task as done; give the bare answer where one is asked for", words="answer {text:q}"),
))  # fmt: skip
class Stop(Action):
    """Claim that the task is done, with the answer; only the planner declares it."""

    answer: str = ""


@action(ActionSet.COMPACT, component=Component.LEDGER, touches_page=False, calls=(
    call("take_note note remember", argument("text", "content", "note"), usage='take_note("order 17 costs 12.50")',
         help="remember something you have read, for later steps", words="note {text:q}"),
))  # fmt: skip
class TakeNote(Action):
    """Write a note; it is kept whole, with the step as its evidence."""

    text: str


@action(ActionSet.NOTES, component=Component.LEDGER, touches_page=False, calls=(
    call("read_notes", argument("which", "notes", "query", "text", needed=False, stored=Stored.IF_SET),
         usage='read_notes("3-7")',
         help="read notes that your memory does not show in full: by numbers, by words, or all without an argument",
         words="read notes{which:?: }{which}"),
))  # fmt: skip
class ReadNotes(Action):
    """Read notes back whole: by numbers (``3-7``), by words, or all."""

    which: str = ""


@action(ActionSet.COMPACT, ends_batch=True, calls=(
    call("go_back back goback", usage="go_back()", help="go to the previous page", words="go back"),
))  # fmt: skip
class GoBack(Action):
    """Go to the previous page."""


@action(ActionSet.COMPACT, component=Component.NAVIGATOR, ends_batch=True, calls=(
    call("navigate optimal_navigate teleport", argument("domain", "site"), argument("query", "page"),
         usage='navigate("shop", "table of all orders with a status column")',
         help="go to the known page of a site that fits the description; describe the page, not the action",
         words="navigate to {query:q} in {domain}"),
))  # fmt: skip
class Navigate(Action):
    """Retrieve-Reason-Teleport as one action (WebNavigator, section 3.2): go to the state that fits the query."""

    domain: str
    query: str


@action(ActionSet.FORMS, risk=RiskClass.EDITS, calls=(
    call("select_option select choose", BID,
         argument("options", "option", "labels", "label", "value", "text", type=ArgumentType.TEXTS),
         usage='select_option("20", "Last month")', help="choose options of a list by their labels",
         words="choose {options:q} in{what}"),
))  # fmt: skip
class Select(Action):
    """Choose options of a list by their labels."""

    element: int
    options: tuple[str, ...]


@action(ActionSet.FORMS, risk=RiskClass.EDITS, calls=(
    call("check tick", BID, usage='check("21")', help="set a check box or a radio button", words="check{what}",
         on=True),
    call("uncheck untick", BID, usage='uncheck("21")', help="clear a check box", words="uncheck{what}", on=False),
))  # fmt: skip
class SetChecked(Action):
    """Set or clear a check box, or set a radio button."""

    element: int
    on: bool = True


@action(ActionSet.FORMS, risk=RiskClass.EDITS, calls=(
    call("press press_key", BID, argument("key_comb", "key", "keys", to="keys"), usage='press("15", "Control+A")',
         help="press keys in an element", words="press {key_comb} in{what}"),
    call("keyboard_press press_keys send_keys key", argument("key", "keys", "key_comb", to="keys"),
         usage='keyboard_press("Escape")', help="press keys at the cursor", words="press {key}"),
))  # fmt: skip
class Press(Action):
    """Press keys such as ``Enter`` or ``Control+A``, in an element or at the cursor."""

    keys: str
    element: int | None = None


@action(ActionSet.FORMS, risk=RiskClass.EDITS, calls=(
    call("keyboard_type type_keys", argument("text", "value", "content"), usage='keyboard_type("hello")',
         help="type key by key at the cursor"),
))  # fmt: skip
class TypeKeys(Action):
    """Type at the cursor, key by key."""

    text: str


@action(ActionSet.FORMS, risk=RiskClass.EDITS, calls=(
    call("set_slider slider slide", BID, argument("value", "to", type=ArgumentType.NUMBER),
         usage='set_slider("22", 40)', help="set a slider to a value", words="set{what} to {value}"),
))  # fmt: skip
class SetSlider(Action):
    """Set a slider to a value."""

    element: int
    value: float


@action(ActionSet.FORMS, risk=RiskClass.UPLOADS, risk_why="a file leaves this machine", calls=(
    call("upload_file upload", BID, argument("file", "path", "name"), usage='upload_file("23", "photo.png")',
         help="upload one of the run's files through a file field"),
))  # fmt: skip
class Upload(Action):
    """Upload a file through a file field; ``file`` is a name within the run's own folder of files."""

    element: int
    file: str


@action(ActionSet.FORMS, risk=RiskClass.SENDS, risk_why="it accepts whatever the next dialog asks", calls=(
    call("answer_dialog dialog handle_dialog", argument("accept", type=ArgumentType.FLAG, needed=False),
         argument("text", "prompt", needed=False, stored=Stored.IF_SET), usage="answer_dialog(True)",
         help="answer the next dialog of the browser"),
))  # fmt: skip
class AnswerDialog(Action):
    """Answer the next JavaScript dialog; without it dialogs are dismissed."""

    accept: bool = True
    text: str = ""


@action(ActionSet.POINTER, calls=(
    call("hover", BID, usage='hover("12")', help="move the pointer onto it", words="hover{what}"),
))  # fmt: skip
class Hover(Action):
    """Move the pointer over an element."""

    element: int


@action(ActionSet.POINTER, calls=(
    call("scroll", argument("delta_x", "dx", type=ArgumentType.NUMBER, to="dx", needed=False),
         argument("delta_y", "dy", "amount", type=ArgumentType.NUMBER, to="dy", needed=False),
         replace(BID, needed=False), argument("direction", needed=False, stored=Stored.NEVER), usage='scroll("down")',
         help="scroll the page up or down, or by pixels: scroll(0, 400); with bid inside an element", build=_scroll),
))  # fmt: skip
class Scroll(Action):
    """Turn the wheel, over an element or the middle of the page; pixels down and to the right."""

    dy: float
    dx: float = 0.0
    element: int | None = None


@action(ActionSet.POINTER, risk=RiskClass.EDITS, risk_why="it moves something", calls=(
    call("drag_and_drop drag",
         argument("from_bid", "from", "source", "from_element", type=ArgumentType.ELEMENT, to="source", needed=False),
         argument("to_bid", "to", "target", "to_element", type=ArgumentType.ELEMENT, to="target", needed=False),
         argument("from_x", type=ArgumentType.NUMBER, to="source", part=0, needed=False),
         argument("from_y", type=ArgumentType.NUMBER, to="source", part=1, needed=False),
         argument("to_x", type=ArgumentType.NUMBER, to="target", part=0, needed=False),
         argument("to_y", type=ArgumentType.NUMBER, to="target", part=1, needed=False),
         usage='drag_and_drop("12", "15")', help="drag one element onto another"),
))  # fmt: skip
class Drag(Action):
    """Drag from one element or point to another."""

    source: int | Point
    target: int | Point


@action(ActionSet.POINTER, risk=RiskClass.EDITS, calls=(
    call("mouse_click click_at click_xy", X, Y, BUTTON, usage="mouse_click(120, 300)",
         help="click at a point of the newest picture, where no element has a number", words="click at ({x}, {y})",
         double=False),
    call("mouse_dblclick", X, Y, BUTTON, usage="mouse_dblclick(120, 300)", help="double-click at a point",
         words="click at ({x}, {y})", double=True),
))  # fmt: skip
class ClickAt(Action):
    """Click at a point, for what no element represents: canvas, drawing."""

    at: Point
    button: Button = "left"
    double: bool = False


@action(ActionSet.POINTER, calls=(
    call("select_text", BID, argument("start", type=ArgumentType.COUNT, needed=False),
         argument("end", type=ArgumentType.COUNT, needed=False), usage='select_text("12", 0, 5)',
         help="select characters of an element's text; without numbers all of it"),
))  # fmt: skip
class SelectText(Action):
    """Select text within an element: from one character to another (``end`` -1: to its end)."""

    element: int
    start: int = 0
    end: int = -1


@action(ActionSet.TABS, ends_batch=True, risk=RiskClass.EDITS, calls=(
    call("new_tab open_tab", argument("url", "address", type=ArgumentType.ADDRESS, needed=False, stored=Stored.IF_SET),
         usage="new_tab()", help="open a tab", words="open a new tab"),
))  # fmt: skip
class NewTab(Action):
    """Open a tab in front, empty or with an address."""

    url: str = ""


@action(ActionSet.TABS, ends_batch=True, calls=(
    call("tab_focus switch_tab focus_tab",
         argument("index", "tab", "tab_index", "page_index", type=ArgumentType.COUNT, to="tab"),
         usage="tab_focus(1)", help="bring a tab to the front; the first is 0", words="switch to tab {index}"),
))  # fmt: skip
class SwitchTab(Action):
    """Bring a tab to the front, by its number from 0."""

    tab: int


@action(ActionSet.TABS, ends_batch=True, calls=(
    call("tab_close close_tab", usage="tab_close()", help="close the tab in front", words="close the tab"),
))  # fmt: skip
class CloseTab(Action):
    """Close the tab in front."""


@action(ActionSet.ADDRESS, ends_batch=True, risk=RiskClass.EDITS, calls=(
    call("goto open visit open_url", argument("url", "address", type=ArgumentType.ADDRESS),
         usage='goto("https://shop.example/orders")', help="open an address of this site", words="go to {url}"),
))  # fmt: skip
class Goto(Action):
    """Open an address; limited by the navigation guards (SuperBrowser, section 6.5)."""

    url: str


@action(ActionSet.ADDRESS, ends_batch=True, calls=(
    call("go_forward forward", usage="go_forward()", help="go to the next page", words="go forward"),
))  # fmt: skip
class GoForward(Action):
    """Go to the next page."""


@action(ActionSet.NOTES, component=Component.LEDGER, touches_page=False, calls=(
    call("calculate reckon", argument("expression", "formula", "text"), usage='calculate("12.50 * 3 + 4.99")',
         help="calculate exactly: + - * / ** brackets, sum, min, max, mean, round", words="calculate {expression}"),
))  # fmt: skip
class Calculate(Action):
    """Calculate exactly (decimal numbers, + - * / ** and brackets; sum, min, max, mean, round, abs)."""

    expression: str


@action(ActionSet.NOTES, touches_page=False, calls=(
    call("noop wait", argument("wait_ms", "ms", type=ArgumentType.NUMBER, to="seconds", needed=False, scale=1000.0),
         argument("seconds", type=ArgumentType.NUMBER, needed=False, stored=Stored.NEVER), usage="noop(1000)",
         help="wait for the page, in milliseconds", build=_wait),
))  # fmt: skip
class Wait(Action):
    """Wait for the page; seconds, 10 at most."""

    seconds: float = 1.0


@action(ActionSet.PLAN, component=Component.LEDGER, touches_page=False, calls=(
    call("branch", argument("parent", "parent_id"), argument("intent", "subgoal"),
         usage='branch("2", "find the order number first")', help="add a subgoal under one of the plan's",
         words="plan {intent:q}"),
))  # fmt: skip
class Branch(Action):
    """Add a subgoal under one of the plan's."""

    parent: str
    intent: str


@action(ActionSet.PLAN, component=Component.LEDGER, touches_page=False, calls=(
    call("prune", argument("node", "id", "resume_id"), argument("reason"),
         usage='prune("3", "there is no such report")', help="give up a subgoal",
         words="give up a subgoal: {reason:q}"),
))  # fmt: skip
class Prune(Action):
    """Give up a subgoal; nothing of it is erased, and its changes on the site remain."""

    node: str
    reason: str


@action(ActionSet.PERSON, component=Component.LOOP, touches_page=False, ends_batch=True, calls=(
    call("report_infeasible infeasible", argument("reason", "text"),
         usage='report_infeasible("the shop has no such product")', help="say that the task can't be done, and why",
         words="give up: {reason:q}"),
))  # fmt: skip
class ReportInfeasible(Action):
    """Report that the task can't be done, and why."""

    reason: str


@action(ActionSet.PERSON, component=Component.SUPERVISOR, touches_page=False, ends_batch=True, calls=(
    call("ask_human ask", argument("question", "text"), usage='ask_human("Which of the two addresses?")',
         help="ask the person who supervises", words="ask: {question:q}"),
))  # fmt: skip
class AskHuman(Action):
    """Ask the person who supervises."""

    question: str


@action(ActionSet.VISION, touches_page=False, ends_batch=True, calls=(
    call("look", usage="look()", help="have things without a number marked for the next step", words="look for marks"),
))  # fmt: skip
class Look(Action):
    """Ask for a vision model's marks of the page in front (SuperBrowser 4.5: the declarative path)."""


@action(ActionSet.VISION, ends_batch=True, risk=RiskClass.EDITS, calls=(
    call("click_mark", MARK, KEPT_LABEL, usage='click_mark("V3", "Sort by")',
         help="click a marked box of the picture; label is its text", words="click mark {mark} {label:q}"),
))  # fmt: skip
class ClickMark(Action):
    """Click within a box that a vision model drew (``[V3]``, SuperBrowser 4.4); ``label`` is its expected text."""

    mark: int
    label: str = ""


@action(ActionSet.VISION, ends_batch=True, risk=RiskClass.EDITS, calls=(
    call("type_mark", MARK, argument("value", "text", "content", to="text"), ENTER, usage='type_mark("V4", "Oslo")',
         help="type a text into a marked field of the picture", words="type {value:q} into mark {mark}"),
))  # fmt: skip
class TypeMark(Action):
    """Type a text into the field within a vision model's box."""

    mark: int
    text: str
    enter: bool = False


def elements_of(action: Action) -> tuple[int, ...]:
    """Return the numbers of an action's target elements."""
    if isinstance(action, Drag):
        return tuple(end for end in (action.source, action.target) if isinstance(end, int))
    element = getattr(action, "element", None)
    return (element,) if isinstance(element, int) else ()
