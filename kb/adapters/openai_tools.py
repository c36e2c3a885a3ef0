"""A loop of one's own over OpenAI's tools: retrieval as a function that the model may call.

    from kb import open_frozen
    from kb.adapters.openai_tools import TipTools

    tools = TipTools(open_frozen("shop.akb"))
    answer = client.chat.completions.create(model=…, messages=messages, tools=tools.chat)
    for call in answer.choices[0].message.tool_calls or ():
        messages.append(tools.chat_result(call))

Any endpoint that speaks chat completions or responses takes them; the package ``openai`` is not needed here. A result
is data for the model, an unusable call gets one sentence in place of tips, and nothing is written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from kb.adapters.step_tips import StepTips
from kb.errors import KbError
from kb.knowledge import FrozenKnowledge

NAME = "retrieve_tips"
LONGEST_ARGUMENTS = 500_000
"""Characters of a call's arguments that are read."""

_FUNCTION: dict[str, Any] = {
    "name": NAME,
    "description": (
        "Expert knowledge about how the website in front works. Ask on arriving at a page that is new in this task, and"
        " after a step that failed."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "url": {"type": "string", "description": "address of the page in front"},
            "goal": {"type": "string", "description": "the user's task, or the part of it in hand"},
            "page": {
                "type": ["string", "null"],
                "description": "text of the page, if at hand; null otherwise",
            },
        },
        "required": ["url", "goal", "page"],
        "additionalProperties": False,
    },
    "strict": True,
}


class TipTools:
    """The tool for either API, and the results of its calls.

    Args:
        most: tips of an answer at most; None: as many as the file's token budget allows.
    """

    def __init__(self, knowledge: FrozenKnowledge, *, most: int | None = None) -> None:
        self.tips = StepTips(knowledge, most=most)
        self.chat: list[dict[str, Any]] = [{"type": "function", "function": _FUNCTION}]
        """For ``tools`` of chat completions."""
        self.responses: list[dict[str, Any]] = [{"type": "function", **_FUNCTION}]
        """For ``tools`` of responses."""

    def chat_result(self, call: Any) -> dict[str, Any]:
        """Return the message that answers a tool call of chat completions (an object or a dict)."""
        function = _field(call, "function")
        text = self.answer(str(_field(function, "name")), _field(function, "arguments"))
        return {"role": "tool", "tool_call_id": _field(call, "id"), "content": text}

    def responses_result(self, call: Any) -> dict[str, Any]:
        """Return the item that answers a function call of responses."""
        text = self.answer(str(_field(call, "name")), _field(call, "arguments"))
        return {"type": "function_call_output", "call_id": _field(call, "call_id"), "output": text}

    def answer(self, name: str, arguments: object) -> str:
        """Return the tips as text; one sentence where there are none, or the call can't be used."""
        if name != NAME:
            return f"There is no tool {name[:60]!r} here; there is {NAME}."
        given = _arguments(arguments)
        if given is None:
            return "The arguments are not a JSON object with url, goal and page."
        try:
            found = self.tips.at(_text(given, "url"), _text(given, "page") or None, _text(given, "goal"))
        except KbError as error:
            return f"No tips: {error}"
        if found is None:
            return "No tips: give the page's url, the goal, or both."
        return found.block or "There are no tips for this page and goal."


def _arguments(given: object) -> Mapping[str, Any] | None:
    if isinstance(given, str):
        if len(given) > LONGEST_ARGUMENTS:
            return None
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return None
    return cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else None


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""


def _field(value: Any, name: str) -> Any:
    return (
        cast("Mapping[str, Any]", value).get(name)
        if isinstance(value, Mapping)
        else getattr(value, name, None)
    )
