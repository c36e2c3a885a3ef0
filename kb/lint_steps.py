"""Lint of a tip's steps: what could not be compiled, and steps that contradict the tip."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.compiler import compile_text, procedure_of
from kb.compiler.lexicon import ROLES
from kb.procedure import ProcedureOrigin, ProcedureStep, StepKind
from kb.task_values import LONGEST_READ
from kb.tip import TipDraft

_UNNAMED = frozenset(ROLES) | {
    "arrow",
    "triangle",
    "cross",
    "image",
    "picture",
    "control",
    "element",
    "thing",
    "head",
}
"""Words for a control that thousands of controls share."""


def unread(draft: TipDraft) -> Iterator[str]:
    """Instructions that gave no step."""
    made = procedure_of(draft)
    if made.origin is ProcedureOrigin.COMPILER:
        for clause in made.unread:
            yield f"'{_short(clause)}' sounds like a step and could not be read as one; name its control in quotes"


def nameless(draft: TipDraft) -> Iterator[str]:
    """Steps on "the button": a role without a name or a landmark."""
    said = f"{draft.do} {draft.text}"[:LONGEST_READ]
    for step in procedure_of(draft).steps:
        touches = step.kind not in (StepKind.OPEN, StepKind.READ, StepKind.WAIT)
        if not touches or step.near or step.locator or step.target.casefold() not in _UNNAMED:
            continue
        if not _is_written_as_a_name(step, said):
            yield f"the step '{step}' names no control; give its name, or what it is beside"


def _is_written_as_a_name(step: ProcedureStep, said: str) -> bool:
    """Whether a word for a kind of control is the name of this one: in quotes, or a word that is no role of its own
    (``title``, ``filter``) with a capital.
    """
    is_quoted = re.search(rf"[\"“”«»'‘’`]\s?{re.escape(step.target)}\s?[\"“”«»'‘’`]", said) is not None
    return is_quoted or (step.target[:1].isupper() and ROLES.get(step.target.casefold()) == "")


def unexplained(draft: TipDraft) -> Iterator[str]:
    """Placeholders of which neither the condition nor the text says what they stand for."""
    if not draft.do.strip():
        return
    said = set(re.findall(r"[a-z]{2,}", f"{draft.when} {draft.text} {draft.before}"[:LONGEST_READ].lower()))
    stems = {word[:4] for word in said}
    for name in procedure_of(draft).placeholders:
        if not any(word[:4] in stems for word in name.split("_") if len(word) > 1):
            yield f'{{{name}}} is filled from the task, but neither "when" nor the text says what it is'


def warned_of(draft: TipDraft) -> Iterator[str]:
    """Steps on a thing that ``why`` or ``before`` forbids."""
    forbidden = {
        name.casefold()
        for part in (draft.why, draft.before)
        for name in compile_text("", before=part[:LONGEST_READ]).never
    }
    made = procedure_of(draft)
    if made.origin is ProcedureOrigin.COMPILER:
        made = compile_text(draft.do or draft.text, draft.when)  # with its warnings it has no such step
    for step in made.steps:
        if step.target.casefold() in forbidden and step.kind not in (StepKind.READ, StepKind.WAIT):
            yield f"the step '{step}' does what the tip warns of"


def has_steps(draft: TipDraft) -> bool:
    """Whether the tip says what to do in a way that can be done."""
    return bool(procedure_of(draft))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:59] + "…"
