"""Parse a BrowserGym agent's output: its reasoning, its call, and the call's error."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass
from typing import cast

from app.engine.core.actions.recorded import ArgValue, RecordedAction, Scalar, signature
from app.engine.core.trajectory import ErrorClass

EMPTY_ACTION = "Received an empty action"
"""BrowserGym's error when the agent's call could not be found."""

_CLICK_DONE = "performing click action"


@dataclass(frozen=True, slots=True)
class AgentOutput:
    """``call`` is the call's text, ``action`` the parsed call (or ``None``), ``closed`` whether its tag was."""

    reason: str
    call: str
    action: RecordedAction | None
    closed: bool


def read_output(raw: str) -> AgentOutput:
    """Parse an agent's raw output; a call that lacks only its closing tag is read all the same."""
    thought, opened, rest = raw.partition("<action>")
    inside, closed, _ = rest.partition("</action>")
    _, thinking, after = thought.partition("<think>")
    reason = after.partition("</think>")[0] if thinking else thought
    call = _fenced(inside) if opened else ""
    return AgentOutput(
        reason=reason.strip(), call=call, action=read_call(call), closed=bool(opened and closed and call)
    )


def read_call(call: str) -> RecordedAction | None:
    """Return a call of Python literals as an action, ``None`` where it is none; reading it never runs it."""
    source = _fenced(call).strip().strip("`").strip()
    try:
        read = ast.parse(source, mode="eval").body
        if not isinstance(read, ast.Call) or not isinstance(read.func, ast.Name):
            return None
        names = signature(read.func.id)
        args: dict[str, ArgValue] = {}
        for position, node in enumerate(read.args):
            name = names[position] if position < len(names) else f"arg{position}"
            args[name] = _plain(ast.literal_eval(node))
        for keyword in read.keywords:
            if keyword.arg is None:
                return None
            args[keyword.arg] = _plain(ast.literal_eval(keyword.value))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return RecordedAction(kind=read.func.id, args=args)


def error_class(error: str, *, readable: bool, moved_on: bool) -> ErrorClass:
    """Classify an action's error.

    A click whose call log ends in performing it was done; the wait for the page timed out. A key press that timed out
    was done if the page's address changed (``moved_on``).
    """
    if EMPTY_ACTION in error or (not readable and not error):
        return ErrorClass.HARNESS
    if not error:
        return ErrorClass.NONE
    if error.startswith("TimeoutError"):
        _, performed, after = error.rpartition(_CLICK_DONE)
        if performed and "retrying" not in after and "intercepts" not in after:
            return ErrorClass.SOFT
        if "elementHandle.press(" in error and moved_on:
            return ErrorClass.SOFT
    return ErrorClass.HARD


def _plain(value: object) -> ArgValue:
    """Return an argument as JSON can hold it: scalars and lists of scalars; anything else as its text."""
    if isinstance(value, list | tuple):
        return [_scalar(item) for item in cast("list[object]", value)]
    return _scalar(value)


def _scalar(value: object) -> Scalar:
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int) and abs(value) < 2**53:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return repr(value)


def _fenced(text: str) -> str:
    """Return the text between back quotes, else all of it."""
    first, last = text.find("```"), text.rfind("```")
    if first == -1:
        return text.strip()
    inner = text[first + 3 : last] if last > first else text[first + 3 :]
    return inner.strip().strip("`").strip()
