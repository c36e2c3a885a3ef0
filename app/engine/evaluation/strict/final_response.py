"""The final response that WebArena-Verified asks of an agent, from what a run said.  Pure.

Its form is JSON: ``task_type``, ``status``, ``retrieved_data``, ``error_details``. What a run left out is not made up
for it, as naming the right type and status is part of the check.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

from app.engine.evaluation.strict.environment import StrictTask

RETRIEVE = "RETRIEVE"
_BLOCK = re.compile(r"```(?:json)?\s*\n?(.*?)\n?```", re.DOTALL)
_ASKED = 'a final response in JSON ("task_type", "status", "retrieved_data", "error_details")'


def final_response(
    task: StrictTask, answer: str | None, *, infeasible: bool = False
) -> tuple[str | None, str]:
    """Return the text of ``agent_response.json``; or ``None`` and why there is none that would be fair.

    A plain answer counts as the one value retrieved, where the task asks for one plain value. No answer at all is
    passed on as such: every task asks for a final response.
    """
    text = (answer or "").strip()
    if _is_response(text):
        return text, ""
    if infeasible:
        if task.succeeds:
            return _response("UNKNOWN_ERROR", None, text), ""
        return (
            None,
            f"the run reported that the task can't be done, but not by which status; it asks for {_ASKED}",
        )
    if not text:
        return "null", ""
    if task.kind == RETRIEVE and task.succeeds and task.plain and task.answers == 1:
        return _response("SUCCESS", [text], None), ""
    return None, f"the answer is plain text, and the task asks for {_ASKED}"


def _is_response(text: str) -> bool:
    block = _BLOCK.search(text)
    try:
        value: Any = json.loads(block[1].strip() if block else text)
    except (ValueError, RecursionError):
        return False
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return "status" in fields and ("task_type" in fields or "performed_operation" in fields)


def _response(status: str, data: list[str] | None, details: str | None) -> str:
    fields = {"task_type": RETRIEVE, "status": status, "retrieved_data": data, "error_details": details}
    return json.dumps(fields, ensure_ascii=False)
