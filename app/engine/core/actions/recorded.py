"""Actions as steps store them: a call with named arguments, and its description in words.  Pure data.

The call form ``name("arg", ...)`` is BrowserGym's; reading it never runs it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

Scalar = str | int | float | bool | None
ArgValue = Scalar | list[Scalar]

SIGNATURES: dict[str, tuple[str, ...]] = {
    "click": ("bid", "button", "modifiers"),
    "dblclick": ("bid", "button", "modifiers"),
    "fill": ("bid", "value", "enter"),
    "select_option": ("bid", "options"),
    "check": ("bid",),
    "uncheck": ("bid",),
    "hover": ("bid",),
    "press": ("bid", "key_comb"),
    "focus": ("bid",),
    "clear": ("bid",),
    "drag_and_drop": ("from_bid", "to_bid"),
    "scroll": ("delta_x", "delta_y"),
    "keyboard_press": ("key",),
    "keyboard_type": ("text",),
    "goto": ("url",),
    "go_back": (),
    "go_forward": (),
    "new_tab": (),
    "tab_close": (),
    "tab_focus": ("index",),
    "upload_file": ("bid", "file"),
    "mouse_click": ("x", "y", "button"),
    "mouse_dblclick": ("x", "y", "button"),
    "click_mark": ("mark", "label"),
    "type_mark": ("mark", "value", "enter"),
    "set_slider": ("bid", "value"),
    "select_text": ("bid", "start", "end"),
    "answer_dialog": ("accept", "text"),
    "navigate": ("domain", "query"),
    "branch": ("parent", "intent"),
    "prune": ("node", "reason"),
    "ask_human": ("question",),
    "noop": ("wait_ms",),
    "take_note": ("text",),
    "calculate": ("expression",),
    "send_msg_to_user": ("text",),
    "report_infeasible": ("reason",),
}
"""Argument names by position, for every action in the field's runs and those of our own agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAction:
    """One call of an agent; ``args`` are named, in call order."""

    kind: str
    args: dict[str, ArgValue] = field(default_factory=dict[str, ArgValue])

    @property
    def bid(self) -> str | None:
        """Id of the target element, where the action has one."""
        value = self.args.get("bid", self.args.get("from_bid"))
        return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionTarget:
    """The target element of an action, as the page named it at that moment."""

    role: str
    name: str
    bid: str = ""


class ActionSyntaxError(ValueError):
    """The text is not one call with literal arguments."""


def parse_recorded(text: str) -> RecordedAction:
    """Parse one call such as ``fill("315", "verification")`` without running anything.

    Raises:
        ActionSyntaxError: the text is no single call of literals; the message says where.
    """
    source = text.strip().strip("`").strip()
    try:
        tree = ast.parse(source, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ActionSyntaxError(f"not a call: {source[:80]!r}") from error
    call = tree.body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ActionSyntaxError(f"not a call: {source[:80]!r}")
    names = SIGNATURES.get(call.func.id, ())
    args: dict[str, ArgValue] = {}
    try:
        for position, node in enumerate(call.args):
            name = names[position] if position < len(names) else f"arg{position}"
            args[name] = ast.literal_eval(node)
        for keyword in call.keywords:
            if keyword.arg is None:
                raise ActionSyntaxError("** arguments are not allowed")
            args[keyword.arg] = ast.literal_eval(keyword.value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise ActionSyntaxError(f"an argument of {call.func.id} is not a plain value") from error
    return RecordedAction(kind=call.func.id, args=args)


def format_recorded(action: RecordedAction) -> str:
    """Print the call; ``parse_recorded(format_action(a)) == a`` for every known kind."""
    names = SIGNATURES.get(action.kind, ())
    parts: list[str] = []
    positional = True
    for position, (name, value) in enumerate(action.args.items()):
        expected = names[position] if position < len(names) else f"arg{position}"
        positional = positional and name == expected
        parts.append(repr(value) if positional else f"{name}={value!r}")
    return f"{action.kind}({', '.join(parts)})"


def describe_action(
    action: RecordedAction | None, target: ActionTarget | None, *, page_known: bool = True
) -> str:
    """Describe the action in words: ``click option 'Year'``, never ``click("744")``.

    ``page_known`` is False where no record says what was on the page.
    """
    if action is None:
        return "unreadable output"
    what = ""
    if target is not None:
        what = f" {target.role or 'element'}" + (
            f" {_quote(target.name)}" if target.name else " without a name"
        )
    elif action.bid is not None:
        what = f" element {action.bid} ({'not on the page' if page_known else 'its page is unknown'})"
    args = action.args
    match action.kind:
        case "fill":
            return f"type {_quote(args.get('value'))} into{what}" + (
                " and press Enter" if args.get("enter") else ""
            )
        case "navigate":
            return f"navigate to {_quote(args.get('query'))} in {args.get('domain', '')}"
        case "set_slider":
            return f"set{what} to {args.get('value')}"
        case "mouse_click" | "mouse_dblclick":
            return f"click at ({args.get('x')}, {args.get('y')})"
        case "click_mark":
            return f"click mark {args.get('mark')} {_quote(args.get('label'))}"
        case "type_mark":
            return f"type {_quote(args.get('value'))} into mark {args.get('mark')}"
        case "ask_human":
            return f"ask: {_quote(args.get('question'))}"
        case "branch":
            return f"plan {_quote(args.get('intent'))}"
        case "prune":
            return f"give up a subgoal: {_quote(args.get('reason'))}"
        case "select_option":
            chosen = args.get("options")
            listed = ", ".join(_quote(o) for o in chosen) if isinstance(chosen, list) else _quote(chosen)
            return f"choose {listed} in{what}"
        case "press":
            return f"press {args.get('key_comb', '')} in{what}"
        case "keyboard_press":
            return f"press {args.get('key', '')}"
        case "goto":
            return f"go to {args.get('url', '')}"
        case "go_back":
            return "go back"
        case "go_forward":
            return "go forward"
        case "new_tab":
            return "open a new tab"
        case "tab_focus":
            return f"switch to tab {args.get('index', '')}"
        case "tab_close":
            return "close the tab"
        case "send_msg_to_user":
            return f"answer {_quote(args.get('text'))}"
        case "report_infeasible":
            return f"give up: {_quote(args.get('reason'))}"
        case "take_note":
            return f"note {_quote(args.get('text'))}"
        case "calculate":
            return f"calculate {args.get('expression', '')}"
        case "click" | "dblclick" | "hover" | "focus" | "clear" | "check" | "uncheck":
            return f"{action.kind}{what}"
        case _:
            return format_recorded(action)


def _quote(value: object) -> str:
    text = " ".join(str(value if value is not None else "").split())
    return f"'{text if len(text) <= 80 else text[:79] + '…'}'"
