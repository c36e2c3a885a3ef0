"""A scripted brain that works on the bundled shop through the chat protocol; it tests the plumbing and is no model."""

from __future__ import annotations

import json
import re

from tests.support.protocol_server import Answer, Request, slowly, text_of


def plan(*, done: bool = False, answer: str = "") -> str:
    """Return the planner's answer."""
    return json.dumps(
        {
            "observation": "a shop",
            "challenges": "",
            "reasoning": "one department is asked for",
            "plan": [{"id": "", "intent": "open the department", "state": "active"}],
            "next_steps": ["open the department"],
            "done": done,
            "impossible": False,
            "missing": "",
            "final_answer": answer,
        }
    )


def count_the_kitchen(request: Request) -> str | Answer:
    """Opens the kitchen, counts, stops; the planner agrees as soon as there is a claim."""
    text = text_of(request)
    match role_of(request):
        case "planner":
            return plan(done="5 things" in text, answer="5 things")
        case "operator":
            if "titled 'Kitchen" in text.rpartition("You are at")[2]:
                return slowly('<think>They are counted.</think><action>stop("5 things")</action>')
            links = re.findall(r"\[(\d+)\] link 'Kitchen'", text)
            return slowly(
                f'<think>Kitchen it is.</think><action>click("{links[-1]}")'
            )  # as models do: no end tag
        case _:
            return "{}"


def role_of(request: Request) -> str:
    """For whom a request asks: by its schema, which the operator's has none of."""
    wanted = request.get("response_format") or {}
    name = wanted.get("json_schema", {}).get("name", "")
    return name or "operator"
