"""Codec between typed actions and the calls that steps store.  Pure data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from app.engine.core.actions.recorded import ArgValue, RecordedAction
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


def to_recorded(command: Action) -> RecordedAction:
    """Return the form a step stores: the field's own names where it has one (``fill``, ``send_msg_to_user``)."""
    kind, args = _call(command)
    return RecordedAction(kind=kind, args=args)


def _call(command: Action) -> tuple[str, dict[str, ArgValue]]:
    match command:
        case Click(element, button, double):
            more: dict[str, ArgValue] = {"button": button} if button != "left" else {}
            return "dblclick" if double else "click", {"bid": str(element), **more}
        case ClickAt((x, y), button, double):
            more = {"button": button} if button != "left" else {}
            return "mouse_dblclick" if double else "mouse_click", {"x": x, "y": y, **more}
        case ClickMark(mark, label):
            return "click_mark", {"mark": mark, "label": label}
        case TypeMark(mark, text, enter):
            return "type_mark", {"mark": mark, "value": text, **({"enter": True} if enter else {})}
        case TypeText(element, text, enter):
            return "fill", {"bid": str(element), "value": text, **({"enter": True} if enter else {})}
        case TypeKeys(text):
            return "keyboard_type", {"text": text}
        case Press(keys, None):
            return "keyboard_press", {"key": keys}
        case Press(keys, element):
            return "press", {"bid": str(element), "key_comb": keys}
        case Hover(element):
            return "hover", {"bid": str(element)}
        case Select(element, options):
            return "select_option", {"bid": str(element), "options": [*options]}
        case SetChecked(element, on):
            return "check" if on else "uncheck", {"bid": str(element)}
        case Scroll(dy, dx, element):
            return "scroll", {
                "delta_x": dx,
                "delta_y": dy,
                **({"bid": str(element)} if element is not None else {}),
            }
        case Drag(source, target):
            return "drag_and_drop", {**_end("from", source), **_end("to", target)}
        case SetSlider(element, value):
            return "set_slider", {"bid": str(element), "value": value}
        case SelectText(element, start, end):
            return "select_text", {"bid": str(element), "start": start, "end": end}
        case Upload(element, file):
            return "upload_file", {"bid": str(element), "file": file}
        case _:
            return _call_without_element(command)


def _call_without_element(command: Action) -> tuple[str, dict[str, ArgValue]]:
    match command:
        case AnswerDialog(accept, text):
            return "answer_dialog", {"accept": accept, **({"text": text} if text else {})}
        case GoBack():
            return "go_back", {}
        case GoForward():
            return "go_forward", {}
        case Goto(url):
            return "goto", {"url": url}
        case NewTab(url):
            return "new_tab", {"url": url} if url else {}
        case SwitchTab(tab):
            return "tab_focus", {"index": tab}
        case CloseTab():
            return "tab_close", {}
        case Navigate(domain, query):
            return "navigate", {"domain": domain, "query": query}
        case Wait(seconds):
            return "noop", {"wait_ms": seconds * 1000}
        case TakeNote(text):
            return "take_note", {"text": text}
        case Calculate(expression):
            return "calculate", {"expression": expression}
        case Branch(parent, intent):
            return "branch", {"parent": parent, "intent": intent}
        case Prune(node, reason):
            return "prune", {"node": node, "reason": reason}
        case Stop(answer):
            return "send_msg_to_user", {"text": answer}
        case ReportInfeasible(reason):
            return "report_infeasible", {"reason": reason}
        case AskHuman(question):
            return "ask_human", {"question": question}
        case _:
            raise TypeError(f"no action: {type(command).__name__}")


def _end(name: str, place: int | Point) -> dict[str, ArgValue]:
    if isinstance(place, int):
        return {f"{name}_bid": str(place)}
    return {f"{name}_x": place[0], f"{name}_y": place[1]}


def from_recorded(action: RecordedAction) -> Action | None:
    """Return the action of a stored step, without its beliefs; ``None`` for an action that is none of ours.

    ``from_recorded(to_action(c)) == c`` except for the ``label`` of a click.
    """
    read = _READERS.get(action.kind)
    if read is None:
        return None
    try:
        return read(_Args(action.args))
    except (KeyError, TypeError, ValueError):
        return None


class _Args:
    """Arguments by name, converted to the requested type; raises ``KeyError``, ``TypeError`` or ``ValueError``."""

    def __init__(self, args: Mapping[str, ArgValue]) -> None:
        self._args = args

    def text(self, name: str, default: str | None = None) -> str:
        value = self._args[name] if default is None else self._args.get(name, default)
        return "" if value is None else str(value)

    def number(self, name: str, default: float | None = None) -> float:
        value = self._args[name] if default is None else self._args.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise TypeError(name)
        return float(value)

    def flag(self, name: str, default: bool) -> bool:
        return bool(self._args.get(name, default))

    def element(self, name: str = "bid") -> int:
        return int(self.text(name))

    def maybe(self, name: str = "bid") -> int | None:
        return self.element(name) if name in self._args else None

    def button(self) -> Literal["left", "middle", "right"]:
        match self._args.get("button", "left"):
            case "middle":
                return "middle"
            case "right":
                return "right"
            case _:
                return "left"

    def words(self, name: str) -> tuple[str, ...]:
        value = self._args[name]
        return tuple(str(one) for one in value) if isinstance(value, list) else (str(value),)

    def end(self, name: str) -> int | Point:
        if f"{name}_bid" in self._args:
            return self.element(f"{name}_bid")
        return self.number(f"{name}_x"), self.number(f"{name}_y")


_READERS: dict[str, Callable[[_Args], Action]] = {
    "click": lambda a: Click(a.element(), a.button()),
    "dblclick": lambda a: Click(a.element(), a.button(), double=True),
    "mouse_click": lambda a: ClickAt((a.number("x"), a.number("y")), a.button()),
    "mouse_dblclick": lambda a: ClickAt((a.number("x"), a.number("y")), a.button(), double=True),
    "click_mark": lambda a: ClickMark(a.element("mark"), a.text("label", "")),
    "type_mark": lambda a: TypeMark(a.element("mark"), a.text("value"), a.flag("enter", False)),
    "fill": lambda a: TypeText(a.element(), a.text("value"), a.flag("enter", False)),
    "clear": lambda a: TypeText(a.element(), ""),
    "keyboard_type": lambda a: TypeKeys(a.text("text")),
    "keyboard_press": lambda a: Press(a.text("key")),
    "press": lambda a: Press(a.text("key_comb"), a.element()),
    "hover": lambda a: Hover(a.element()),
    "select_option": lambda a: Select(a.element(), a.words("options")),
    "check": lambda a: SetChecked(a.element()),
    "uncheck": lambda a: SetChecked(a.element(), on=False),
    "scroll": lambda a: Scroll(a.number("delta_y"), a.number("delta_x", 0.0), a.maybe()),
    "drag_and_drop": lambda a: Drag(a.end("from"), a.end("to")),
    "set_slider": lambda a: SetSlider(a.element(), a.number("value")),
    "select_text": lambda a: SelectText(a.element(), int(a.number("start", 0)), int(a.number("end", -1))),
    "upload_file": lambda a: Upload(a.element(), a.text("file")),
    "answer_dialog": lambda a: AnswerDialog(a.flag("accept", True), a.text("text", "")),
    "go_back": lambda _: GoBack(),
    "go_forward": lambda _: GoForward(),
    "goto": lambda a: Goto(a.text("url")),
    "new_tab": lambda a: NewTab(a.text("url", "")),
    "tab_focus": lambda a: SwitchTab(int(a.number("index"))),
    "tab_close": lambda _: CloseTab(),
    "navigate": lambda a: Navigate(a.text("domain"), a.text("query")),
    "noop": lambda a: Wait(a.number("wait_ms", 1000) / 1000),
    "take_note": lambda a: TakeNote(a.text("text")),
    "calculate": lambda a: Calculate(a.text("expression")),
    "branch": lambda a: Branch(a.text("parent"), a.text("intent")),
    "prune": lambda a: Prune(a.text("node"), a.text("reason")),
    "send_msg_to_user": lambda a: Stop(a.text("text")),
    "report_infeasible": lambda a: ReportInfeasible(a.text("reason")),
    "ask_human": lambda a: AskHuman(a.text("question")),
}
