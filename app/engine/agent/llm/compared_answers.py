"""The decision of an operator's or planner's answer, in words, to be compared with another's.  Pure functions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, cast

from app.engine.agent.answer_parser import parse_answer
from app.engine.core.actions.action_sets import actions_in
from app.engine.core.actions.recorded import ActionTarget, describe_action, to_recorded
from app.engine.core.actions.specs import ActionSet
from app.engine.core.actions.types import elements_of
from app.engine.core.ax_tree import find_node
from app.engine.core.model_api import AgentRole
from app.engine.core.redaction import redact_text
from app.engine.core.text import one_line

ROLES = (AgentRole.OPERATOR.value, AgentRole.PLANNER.value)
"""Roles whose decisions are compared."""
LONGEST = 300


@dataclass(frozen=True, slots=True)
class ComparedDecision:
    """A decision in words; two are the same where their keys are.  An answer that can't be read has no key."""

    words: str
    key: tuple[object, ...] = ()

    def is_same(self, other: ComparedDecision) -> bool:
        """Whether both decide the same."""
        return bool(self.key) and self.key == other.key


def decision_of(role: str, text: str, tree: str) -> ComparedDecision:
    """Return the decision of an answer; ``tree`` is the page's, which names the elements."""
    return _planned(text) if role == AgentRole.PLANNER else _acted(text, tree)


def _acted(text: str, tree: str) -> ComparedDecision:
    parsed = parse_answer(text, actions_in(*ActionSet), None, most=1)
    action = parsed.action
    if action is None:
        return ComparedDecision(f"no action that can be read ({one_line(parsed.why, 120)})")
    target, number = None, ""
    numbers = elements_of(action)
    if numbers:
        node = find_node(tree, str(numbers[0]))
        number = f" [{numbers[0]}]" + ("" if node is not None else ", which is not on the page")
        target = (
            ActionTarget(role=node.role, name=node.name[:120], bid=node.bid) if node is not None else None
        )
    words = describe_action(to_recorded(action), target)
    return ComparedDecision(_clean(f"{words}{number}"), (type(action).__name__, action))


def _planned(text: str) -> ComparedDecision:
    try:
        document: object = json.loads(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        return ComparedDecision("no plan that can be read")
    plan = cast("dict[str, Any]", document)
    if plan.get("impossible") is True:
        return ComparedDecision(_clean(f"it can't be done: {plan.get('missing') or ''}"), ("impossible",))
    answer = one_line(str(plan.get("final_answer") or ""), LONGEST)
    if plan.get("done") is True:
        return ComparedDecision(_clean(f"done: {answer}" if answer else "done"), ("done", answer.casefold()))
    steps = plan.get("next_steps")
    first = (
        one_line(str(cast("list[object]", steps)[0]), LONGEST) if isinstance(steps, list) and steps else ""
    )
    words = f"go on: {first}" if first else "go on"
    return ComparedDecision(_clean(words), ("go on", first.casefold()))


def _clean(words: str) -> str:
    return redact_text(one_line(words, LONGEST))
