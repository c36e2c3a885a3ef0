"""Asks a model for the cause of a failure in one sentence, from a compact record of the run.

Everything that a site, the agent or the task wrote is fenced.  The answer is checked: one sentence of limited length,
a step of the run, a label of ours; anything else is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.engine.agent.llm.prompting import Fence, system, truncate, user, visible
from app.engine.core.chat_messages import ChatMessage
from app.engine.core.model_api import (
    INTEGER,
    TEXT,
    AgentRole,
    LanguageModel,
    ModelError,
    ModelErrorKind,
    ModelReply,
    choice_schema,
    object_schema,
)
from app.engine.core.past_actions import page_name, past_words, short_address
from app.engine.core.redaction import redact_text
from app.engine.core.text import one_line
from app.engine.core.trajectory import Step
from app.engine.core.verdicts import Label
from app.engine.detectors.cause_material import CauseMaterial

LABELS = tuple(label for label in Label if label is not Label.NOT_A_FAILURE)
CAUSE_SCHEMA = object_schema(
    "failure_cause",
    evidence=TEXT,
    cause=TEXT,
    step=INTEGER,
    label=choice_schema(("", *(label.value for label in LABELS))),
)
MAX_REPLY_TOKENS = 500
MAX_CAUSE = 320
"""Characters of a cause."""
MAX_RECORD = 14_000
"""Characters of the record of the steps; in a longer one the reasons are left out, then the middle."""

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z])")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|no|nos|approx|dr|mr|mrs|ms|st)\.$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCause:
    """A model's cause: one sentence, its step, the label it suggests, the model and the digest of the exchange."""

    text: str
    step: int
    label: Label | None
    evidence: str
    model: str
    call: str


async def ask_for_cause(
    material: CauseMaterial, ended: str, findings: Sequence[str], model: LanguageModel, fence: Fence
) -> ModelCause:
    """Ask for the cause of a failure.

    Args:
        ended: how the run ended, in words.
        findings: what the rules found, one sentence each.

    Raises:
        ModelError: no answer came, or none that can be used.
    """
    messages = cause_question(material, ended, findings, fence)
    reply = await model.ask(AgentRole.JUDGE, messages, schema=CAUSE_SCHEMA, most=MAX_REPLY_TOKENS)
    return read_cause(reply, len(material.steps))


def cause_question(
    material: CauseMaterial, ended: str, findings: Sequence[str], fence: Fence
) -> list[ChatMessage]:
    """Return the question: task, end, answer, what was expected, findings of the rules, record of the steps."""
    run, expected = material.run, material.expected
    known = expected.expected if expected is not None and not expected.hidden else ()
    places = [
        f"{term.text}: "
        + (
            f"step {term.places[0].step}, {one_line(term.places[0].text, 100)!r}"
            if term.places
            else "on no page"
        )
        for term in material.terms
        if not term.in_task
    ]
    return [
        system(fence.prompt("explain_failure", (), labels="\n".join(f"- {label.value}" for label in LABELS))),
        user(
            fence.around("the task", truncate(run.intent, 3_000, "the task")),
            fence.around("how it ended", truncate(f"{ended}\nRecorded score: {_score(run.score)}", 1_500)),
            fence.around("the agent's answer", truncate(run.answer or "(none)", 3_000, "the answer")),
            fence.around("what was expected", truncate("\n".join(known), 2_000)) if known else "",
            fence.around("where the answer's words stand", truncate("\n".join(places), 2_000))
            if places
            else "",
            fence.around("what rules found", "\n".join(findings)) if findings else "",
            fence.around("the record", _record(material.steps)),
        ),
    ]


def read_cause(reply: ModelReply, steps: int) -> ModelCause:
    """Return the cause that a model's answer gives.

    Raises:
        ModelError: it gives none.
    """
    data: dict[str, Any] = reply.data or {}
    text = one_sentence(str(data.get("cause") or ""))
    if len(text.split()) < 3:
        raise ModelError("the model gave no cause that can be read", ModelErrorKind.UNREADABLE, "ask again")
    step = data.get("step")
    is_step = isinstance(step, int) and not isinstance(step, bool) and 0 <= step < steps
    label = next((one for one in LABELS if one.value == str(data.get("label")).strip().lower()), None)
    evidence = redact_text(one_line(visible(str(data.get("evidence") or "")), MAX_CAUSE))
    return ModelCause(
        text=text,
        step=step if is_step and isinstance(step, int) else -1,
        label=label,
        evidence=evidence,
        model=one_line(reply.model, 80),
        call=reply.digest,
    )


def one_sentence(text: str) -> str:
    """Return the first sentence of a text, without invisible characters and secrets."""
    line = redact_text(one_line(visible(text), 2_000))
    start = 0
    while (end := _SENTENCE_END.search(line, start)) is not None:
        if not _ABBREVIATION.search(line[: end.start()]):
            line = line[: end.start()]
            break
        start = end.end()
    return one_line(line, MAX_CAUSE)


def _record(steps: Sequence[Step]) -> str:
    lines = [_line(step, reasons=True) for step in steps]
    if sum(map(len, lines)) > MAX_RECORD:
        lines = [_line(step, reasons=False) for step in steps]
    if sum(map(len, lines)) > MAX_RECORD:
        kept = max(1, MAX_RECORD // (2 * max(map(len, lines))))
        lines = [*lines[:kept], f"({len(lines) - 2 * kept} steps are left out)", *lines[-kept:]]
    return truncate("\n".join(lines), MAX_RECORD, "the record") or "no step was taken"


def _line(step: Step, *, reasons: bool) -> str:
    action = past_words(step) or "gave an answer that could not be read"
    told = f"{step.index}. on {page_name(step)} ({short_address(step.url, 100)}): {action}"
    if reasons and step.reason:
        told += f"\n   because: {one_line(step.reason, 240)}"
    if step.error:
        told += f"\n   error: {one_line(step.error, 160)}"
    if step.notices:
        told += f"\n   the page says: {one_line(step.notices[0], 160)}"
    return told


def _score(score: float | None) -> str:
    return "none" if score is None else f"{score:g}"
