"""Answers of BrowserGym's agents: Python calls, of one action or several, and the thoughts beside them."""

from __future__ import annotations

import ast
from typing import Any

from app.engine.core.actions.recorded import RecordedAction
from app.engine.core.redaction import MARK, redact_text, typed_secret
from app.engine.imports.json_values import fields_of, items_of
from app.engine.imports.step_records import (
    AgentOutput,
    observation,
    read_call,
    read_output,
    target_of,
    text,
)

CODE = "code"
"""Kind of an answer that is several calls, or other Python."""
MAX_CALLS = 50
MAX_CHARACTERS = 20_000


def answer_of(record: dict[str, Any]) -> tuple[str, AgentOutput]:
    """Return what a record's agent said, and the action in it."""
    said = text(record.get("action"))
    info = fields_of(record.get("agent_info"))
    if "<action>" in said:  # an agent whose environment takes the call out of its tags
        raw = redact_text(said)
        return raw, read_output(raw)
    call = redact_text(said.strip())
    raw = redact_text(_last_message(info)) or call
    reason = redact_text(text(info.get("think")).strip())
    action, secrets = read_call(call), tuple[str, ...]()
    if action is None and call:
        several = calls_in(call)
        action = several[0] if len(several) == 1 else None
        if action is None:
            seen = observation(record)
            secrets = tuple(secret for one in several if (secret := typed_secret(one, target_of(seen, one))))
            shown = call
            for secret in secrets:
                shown = shown.replace(secret, MARK)
            action = RecordedAction(kind=CODE, args={"text": shown[:MAX_CHARACTERS]})
    return raw, AgentOutput(reason=reason, call=call, action=action, closed=bool(call), secrets=secrets)


def calls_in(code: str) -> list[RecordedAction]:
    """Return the plain calls among the statements of Python code, in order; reading it never runs it."""
    try:
        statements = ast.parse(code.strip().strip("`").strip()).body
        written = [ast.unparse(one) for one in statements[:MAX_CALLS] if isinstance(one, ast.Expr)]
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    return [action for one in written if (action := read_call(one)) is not None]


def _last_message(info: dict[str, Any]) -> str:
    """Return the model's last words; "" where the last message is none of its own."""
    last = fields_of(next(iter(items_of(info.get("answer"))), None))
    if last.get("role") not in ("assistant", "ai"):
        return ""
    content = last.get("content")
    if isinstance(content, str):
        return content
    parts = [text(fields_of(part).get("text")) for part in items_of(content)]
    return "\n".join(filter(None, parts))
