"""The agent's actions as tools of an endpoint, and calls of tools as the text that the answer's parser reads.

Everything follows from the action specs. The context keeps calls as text in either way, so that eviction, recordings
and resumed runs do not depend on the protocol; for a request the text is read back into calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, cast

from app.engine.agent.model.streamed_answer import ToolCall
from app.engine.core.actions.action_sets import all_calls
from app.engine.core.actions.specs import (
    FORMS,
    ActionSyntaxError,
    ArgumentType,
    CallForm,
    Parameter,
)
from app.engine.core.actions.syntax import BareToken, WrittenCall, WrittenValue, read_calls
from app.engine.core.chat_messages import ChatMessage, PartKind

TOOLS_PROMPT = (
    "In this run the actions are offered as tools. Call a tool where an action between tags is asked for above, and"
    " write what else belongs into the answer (think, expect, fact) as its text."
)
"""Added to the system message; the prompts speak of tags."""
_ACTION_TAG = re.compile(r"<action[^>]*>|</action\s*>", re.IGNORECASE)
_TYPES: dict[ArgumentType, dict[str, Any]] = {
    ArgumentType.ELEMENT: {"type": "integer"},
    ArgumentType.MARK: {"type": "integer"},
    ArgumentType.NUMBER: {"type": "number"},
    ArgumentType.COUNT: {"type": "integer"},
    ArgumentType.FLAG: {"type": "boolean"},
    ArgumentType.TEXTS: {"type": "array", "items": {"type": "string"}},
    ArgumentType.BUTTON: {"type": "string", "enum": ["left", "middle", "right"]},
}


def tool_functions(actions: Collection[str]) -> list[dict[str, Any]]:
    """Return name, description and parameters of each call of some actions, always in the same order."""
    forms = (form for form in all_calls() if form.shown in actions)
    return [
        {
            "name": form.shown,
            "description": f"{form.help}; as text: {form.usage}",
            "parameters": _schema(form),
        }
        for form in forms
    ]


def with_calls(text: str, calls: Sequence[ToolCall]) -> str:
    """Return an answer's text with its calls written between tags, in place of any that it wrote itself."""
    if not calls:
        return text
    lines = "\n".join(map(_written, calls))
    return f"{_ACTION_TAG.split(text)[0].rstrip()}\n<action>\n{lines}\n</action>".lstrip()


def calls_in(text: str) -> list[tuple[str, str]] | None:
    """Return name and JSON arguments of the calls in a tool call's text; ``None`` where they can't be read."""
    try:
        return [_arguments(call) for call in read_calls(_ACTION_TAG.sub("", text).strip())] or None
    except ActionSyntaxError:
        return None


def paired_calls(messages: Sequence[ChatMessage]) -> dict[str, list[tuple[str, str]]]:
    """Return the calls that can be sent as such, by id: those whose result is in the very next message.

    The protocol rejects a call without its result and a result without its call; eviction may leave either alone.
    """
    paired: dict[str, list[tuple[str, str]]] = {}
    for message, following in pairwise(messages):
        made = [part for part in message.parts if part.kind is PartKind.TOOL_CALL and part.call]
        came = [part.call for part in following.parts if part.kind is PartKind.TOOL_RESULT]
        calls = calls_in(made[0].text) if len(made) == 1 and came == [made[0].call] else None
        if calls is not None and len(following.parts) == 1:
            paired[made[0].call] = calls
    return paired


def _schema(form: CallForm) -> dict[str, Any]:
    taken = [one for one in form.parameters if not one.refusal]
    return {
        "type": "object",
        "properties": {one.name: _type(one) for one in taken},
        "required": [one.name for one in taken if one.needed],
    }


def _type(parameter: Parameter) -> dict[str, Any]:
    return _TYPES.get(parameter.type, {"type": "string"})


def _written(call: ToolCall) -> str:
    try:
        given: Any = json.loads(call.arguments or "{}", strict=False)
    except ValueError:
        return f"{call.name}({call.arguments}"  # left open, so that the parser says what is wrong
    if not isinstance(given, dict):
        return f"{call.name}({call.arguments})"
    arguments = cast("dict[str, Any]", given)
    named = [f"{name}={_value(value)}" for name, value in arguments.items() if value is not None]
    return f"{call.name}({', '.join(named)})"


def _value(value: object) -> str:
    return json.dumps(value if not isinstance(value, dict) else json.dumps(value), ensure_ascii=False)


def _arguments(call: WrittenCall) -> tuple[str, str]:
    form = FORMS.get(call.name)
    if form is None or call.brackets or len(call.positional) > len(form.parameters):
        raise ActionSyntaxError(f"{call.name} is no call of a tool")
    names = [parameter.name for parameter in form.parameters]
    given = {**dict(zip(names, call.positional, strict=False)), **call.named}
    return form.shown, json.dumps({name: _plain(value) for name, value in given.items()}, ensure_ascii=False)


def _plain(value: WrittenValue) -> object:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not isinstance(value, BareToken):
        return value
    if value.is_number:
        return float(value) if any(mark in value.lower() for mark in ".e") else int(value)
    return {"true": True, "false": False}.get(value.lower())
