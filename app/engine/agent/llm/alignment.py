"""Alignment: whether the agent's next action goes with the tips in force (ColorBrowserAgent, section 3.4).

A short question beside the summary, so that a small model can answer it. It is asked only where its answer is not
known already:

1. An action that does not touch the page goes against no tip.
2. An action that is the next step of a tip, as its follower proposed it on this page, follows that tip.
3. An action of the same kind under the same tips stands to them as before; guidance is not repeated. Two actions are of
   one kind if they are the same call on a control of the same role and name, whatever is typed; digits in a name count
   as one another. Without a control their words decide.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from app.engine.agent.llm.prompt_parts import render_tips
from app.engine.agent.llm.prompting import Fence, system, user
from app.engine.agent.llm.usage_tracker import UsageTracker
from app.engine.agent.procedures.follower import same_action
from app.engine.core.actions.recorded import ActionTarget, describe_action, to_recorded
from app.engine.core.actions.specs import Action, spec_of
from app.engine.core.actions.types import elements_of
from app.engine.core.model_api import (
    INTEGER,
    TEXT,
    AgentRole,
    ModelError,
    ModelErrorKind,
    choice_schema,
    list_schema,
    object_schema,
)
from app.engine.core.observation import Observation, RetrievedTip
from app.engine.core.text import one_line

_ANSWER_TOKENS = 300
_REMEMBERED = 200
"""Answers that are remembered at most."""

SCHEMA = object_schema(
    "alignment",
    tips=list_schema(object_schema(tip=INTEGER, bearing=choice_schema(("follows", "deviates", "unrelated")))),
    guidance=TEXT,
)

_Kind = tuple[tuple[str, ...], tuple[str, str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentResult:
    """Whether the action follows each tip that bears on it; guidance where it contradicts one."""

    followed: dict[str, bool] = field(default_factory=dict[str, bool])
    guidance: str = ""


class AlignmentCheck:
    """Compares the actions of one run with its tips."""

    def __init__(self, fence: Fence) -> None:
        self._fence = fence
        self._known: dict[_Kind, AlignmentResult] = {}

    async def check(self, usage: UsageTracker, observation: Observation, action: Action) -> AlignmentResult:
        """Compare an action with the tips in force; without an answer that can be read it stands to none of them.

        Raises:
            ModelError: no answer came.
        """
        if not observation.tips or not spec_of(action).touches_page:
            return AlignmentResult()
        step_of = proposing_tips(action, observation)
        if step_of:
            return AlignmentResult(followed=dict.fromkeys(step_of, True))
        kind = action_kind(action, observation)
        known = self._known.get(kind)
        if known is not None:
            return replace(known, guidance="")
        found = await self._asked(usage, observation, action)
        if found is None:
            return AlignmentResult()
        self._known = dict([*self._known.items(), (kind, found)][-_REMEMBERED:])
        return found

    async def _asked(
        self, usage: UsageTracker, observation: Observation, action: Action
    ) -> AlignmentResult | None:
        fence, page, subgoal = self._fence, observation.page, observation.ledger.subgoal
        messages = [
            system(fence.prompt("alignment")),
            user(
                f"Task: {observation.intent}",
                fence.around("subgoal in hand", subgoal[:300]) if subgoal else "",
                render_tips(observation.tips, fence),
                fence.around("place", f"{fence.line(page.url, 300)}\n{fence.line(page.title)}"),
                fence.around("action", fence.line(action_text(action, observation), 400)),
            ),
        ]
        try:
            reply = await usage.ask(AgentRole.ALIGNMENT, messages, schema=SCHEMA, most=_ANSWER_TOKENS)
        except ModelError as error:
            if error.kind is not ModelErrorKind.UNREADABLE:
                raise
            return None
        return _read(reply.data, observation.tips) if reply.data is not None else None


def proposing_tips(action: Action, observation: Observation) -> tuple[str, ...]:
    """Return the tips whose next step on this page the action is (rule 2)."""
    return tuple(
        state.tip
        for state in observation.procedures
        if state.applies and state.action is not None and same_action(action, state.action)
    )


def action_kind(action: Action, observation: Observation) -> _Kind:
    """Return what two actions have in common that stand to the tips alike (rule 3)."""
    target = _target(action, observation)
    what = target.name if target is not None else action_text(action, observation)
    role = target.role if target is not None else ""
    tips = tuple(f"{tip.tip} {tip.text}" for tip in observation.tips)
    return tips, (to_recorded(action).kind, role, re.sub(r"\d+", "#", what))


def action_text(action: Action, observation: Observation) -> str:
    """Describe an action with its element's name on the page."""
    return describe_action(to_recorded(action), _target(action, observation))


def _target(action: Action, observation: Observation) -> ActionTarget | None:
    numbers = elements_of(action)
    element = next((one for one in observation.page.elements if numbers and one.index == numbers[0]), None)
    if element is None:
        return None
    return ActionTarget(role=element.role, name=element.name or element.label or element.text)


def _read(data: dict[str, Any], tips: Sequence[RetrievedTip]) -> AlignmentResult:
    """Read an answer from JSON of untrusted types; guidance without a contradicted tip is dropped."""
    followed: dict[str, bool] = {}
    told = data.get("tips")
    for item in cast("list[object]", told) if isinstance(told, list) else []:
        if not isinstance(item, dict):
            continue
        pair = cast("dict[str, object]", item)
        bearing = str(pair.get("bearing", "")).strip().lower()
        number = _number(pair.get("tip"))
        if 1 <= number <= len(tips) and bearing in ("follows", "deviates"):
            followed[tips[number - 1].tip] = bearing == "follows"
    guidance = one_line(str(data.get("guidance") or ""), 600)
    return AlignmentResult(followed=followed, guidance=guidance if not all(followed.values()) else "")


def _number(value: object) -> int:
    try:
        return int(str(value))
    except ValueError:
        return 0
