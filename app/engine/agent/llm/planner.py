"""The planner: judges the progress of the task every few steps and at every claim to be done.

Nothing else declares success (SuperBrowser, section 4.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from app.engine.agent.llm.page_pictures import MarkedPicture
from app.engine.agent.llm.prompt_parts import (
    PLANNER_TREE_CHARACTERS,
    render_answers,
    render_history,
    render_location,
    render_news,
    render_page,
    tip_parts,
)
from app.engine.agent.llm.prompting import Fence, system, user
from app.engine.agent.llm.usage_tracker import UsageTracker
from app.engine.agent.memory.rendering import PLANNER_CAPS, planner_view, render_ledger
from app.engine.core.actions.types import ReportInfeasible, Stop
from app.engine.core.ledger import Constraint, ConstraintClass, Met, PlanNode, PlanNodeState
from app.engine.core.model_api import (
    TEXT,
    TRUTH,
    AgentRole,
    ModelError,
    ModelErrorKind,
    choice_schema,
    list_schema,
    object_schema,
)
from app.engine.core.observation import Observation
from app.engine.core.text import one_line

RE_ASKS = 1
_ANSWER_TOKENS = 1200
_LAST_TURNS = 8
_SHORTEST_TREE = 400
_MOST_NODES = 12
_MOST_NEXT_STEPS = 4
_MOST_CONSTRAINTS = 16
_STEPS_LEFT_BELOW = "How many steps are left is said at the end of the message."
"""For a workspace's prompt that has the placeholder; the number itself would keep the prompt from being cached."""

_CONSTRAINT_PARTS = {"class": choice_schema(ConstraintClass), "text": TEXT, "met": choice_schema(Met)}
_CONSTRAINT = object_schema("", **_CONSTRAINT_PARTS)  # "class" is no keyword argument one can write
SCHEMA = object_schema(
    "planner",
    observation=TEXT,
    challenges=TEXT,
    reasoning=TEXT,
    constraints=list_schema(_CONSTRAINT),
    plan=list_schema(object_schema(id=TEXT, intent=TEXT, state=choice_schema(PlanNodeState))),
    next_steps=list_schema(TEXT),
    done=TRUTH,
    impossible=TRUTH,
    missing=TEXT,
    final_answer=TEXT,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerResult:
    """The planner's answer: the paper's six fields, and what is missing where the task is not done."""

    observation: str = ""
    challenges: str = ""
    reasoning: str = ""
    nodes: tuple[PlanNode, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    next_steps: tuple[str, ...] = ()
    done: bool = False
    impossible: bool = False
    missing: str = ""
    final_answer: str = ""

    @property
    def subgoal(self) -> str | None:
        """The active subgoal's text."""
        return next((node.intent for node in self.nodes if node.state is PlanNodeState.ACTIVE), None)


class Planner:
    """Asks the model for a plan, or for a verdict on a claim."""

    def __init__(self, fence: Fence) -> None:
        self._fence, self._tree = fence, PLANNER_TREE_CHARACTERS

    async def plan(
        self,
        usage: UsageTracker,
        observation: Observation,
        *,
        summary: str = "",
        claim: Stop | ReportInfeasible | None = None,
        picture: MarkedPicture | None = None,
    ) -> PlannerResult | None:
        """Return the current plan; ``None`` where no answer could be read.

        ``picture`` is that of the page in front, where the planner is shown one.

        Raises:
            ModelError: no answer came.
        """
        given = ("picture",) if picture is not None else ()
        told = self._fence.prompt("planner", given, steps_left=_STEPS_LEFT_BELOW)
        messages = [
            system(told),
            user(
                f"{self._request_text(observation, summary)}\n",
                *tip_parts(observation.tips, self._fence, observation.procedures),
                self._fence.around("place", render_location(observation, self._fence)),
                render_page(observation.page, self._fence, self._tree),
                picture.part if picture is not None else "",
                _steps_left_text(observation),
                _claim_question(claim, self._fence),
            ),
        ]
        unsure: PlannerResult | None = None
        for _ in range(1 + RE_ASKS):
            try:
                reply = await usage.ask(
                    AgentRole.PLANNER,
                    messages,
                    schema=SCHEMA,
                    pictures={picture.digest: picture.data} if picture is not None else None,
                    most=_ANSWER_TOKENS,
                )
            except ModelError as error:
                if error.kind is ModelErrorKind.TOO_LONG and self._tree > _SHORTEST_TREE:
                    self._tree = max(_SHORTEST_TREE, min(self._tree // 2, error.context or self._tree))
                    return await self.plan(usage, observation, summary=summary, claim=claim)
                if error.kind is not ModelErrorKind.UNREADABLE:
                    raise
                continue
            if reply.data is not None and "done" in reply.data:
                read = _read(reply.data, observation)
                left = unanswered(read, observation.ledger.constraints) if claim is not None else ()
                if observation.steps_left <= 1:  # the best answer is better than none
                    return read
                if not left:
                    return _held_to_constraints(read)
                wrong = f"Say of each constraint whether it is met; these are left out: {'; '.join(left)}"
                unsure = replace(
                    read, done=False, missing=f"it is not known whether these hold: {'; '.join(left)}"
                )
            else:
                wrong = "That was not the JSON asked for."
            messages = [*messages[:2], user(f"{wrong} Answer with that JSON and nothing else.")]
        return unsure

    def _request_text(self, observation: Observation, summary: str) -> str:
        fence, last = self._fence, observation.history[-_LAST_TURNS:]
        ledger = render_ledger(planner_view(observation.ledger, step=observation.step), PLANNER_CAPS)
        parts = [
            f"Task: {observation.intent}",
            f"{clock.beginning} {clock.present}" if (clock := observation.clock) is not None else "",
            render_answers(observation.answers, fence),
            fence.around("memory", ledger),
            fence.around("summary", summary) if summary else "",
            fence.around("last steps", render_history(last, fence, notes=True))
            if last
            else "Nothing was done yet.",
            render_news(observation.news, fence),
        ]
        return "\n\n".join(part for part in parts if part)


def unanswered(read: PlannerResult, known: Sequence[Constraint]) -> tuple[str, ...]:
    """Return the known constraints that a verdict "done" says nothing about; it may put them in other words."""
    if not read.done or read.impossible or len(read.constraints) >= len(known):
        return ()
    told = {one.text.casefold() for one in read.constraints}
    return tuple(one.text for one in known if one.text.casefold() not in told)


def _held_to_constraints(read: PlannerResult) -> PlannerResult:
    """A task is not done while one of its constraints is not met, whatever "done" says."""
    unmet = [one.text for one in read.constraints if one.met is Met.NO]
    if not unmet or not read.done or read.impossible:
        return read
    return replace(read, done=False, missing=read.missing or f"not met: {'; '.join(unmet)}")


def _steps_left_text(observation: Observation) -> str:
    if observation.steps_left <= 1:
        return (
            "This is the last step there is. If the answer can be given from what was seen, set done and give it;"
            " otherwise say what is missing."
        )
    return f"{observation.steps_left} steps are left."


def _claim_question(claim: Stop | ReportInfeasible | None, fence: Fence) -> str:
    match claim:
        case None:
            return "How far has it come?"
        case Stop(""):
            return "The agent claims that the task is done and gives no answer. Is it done?"
        case Stop(answer):
            told = fence.around("answer", answer)
            return f"The agent claims to be done. Its answer:\n{told}\nIs it done, and is that the answer?"
        case ReportInfeasible(reason):
            told = fence.around("reason", reason)
            return f"The agent claims that the task can't be done. Its reason:\n{told}\nIs that so?"


def _read(data: dict[str, Any], observation: Observation) -> PlannerResult:
    """Read a plan from JSON of untrusted types."""
    return PlannerResult(
        observation=_words(data, "observation"),
        challenges=_words(data, "challenges"),
        reasoning=_words(data, "reasoning"),
        nodes=_nodes(data.get("plan"), observation),
        constraints=_constraints(data.get("constraints")),
        next_steps=_next_steps(data.get("next_steps")),
        done=data.get("done") in (True, "true", "True", "yes"),
        impossible=data.get("impossible") in (True, "true", "True", "yes"),
        missing=_words(data, "missing"),
        final_answer=str(data.get("final_answer") or "").strip()[:20_000],
    )


def _words(data: dict[str, Any], name: str) -> str:
    return one_line(str(data.get(name) or ""), 1200)


def _next_steps(value: object) -> tuple[str, ...]:
    items = (
        cast("list[object]", value) if isinstance(value, list) else [value] if isinstance(value, str) else []
    )
    return tuple(one_line(str(item), 300) for item in items[:_MOST_NEXT_STEPS] if str(item).strip())


def _constraints(value: object) -> tuple[Constraint, ...]:
    found: dict[str, Constraint] = {}
    for item in cast("list[object]", value)[:_MOST_CONSTRAINTS] if isinstance(value, list) else []:
        if not isinstance(item, dict):
            continue
        told = cast("dict[str, object]", item)
        text = one_line(str(told.get("text") or ""), 200)
        if text:
            kind = next((one for one in ConstraintClass if one == told.get("class")), ConstraintClass.OTHER)
            met = next((one for one in Met if one == told.get("met")), Met.UNKNOWN)
            found[text] = Constraint(kind=kind, text=text, met=met)
    return tuple(found.values())


def _nodes(value: object, observation: Observation) -> tuple[PlanNode, ...]:
    """Read the subgoals, keeping known ids; one of them is active where any is open."""
    known = {node.id for node in observation.ledger.plan}
    nodes: list[PlanNode] = []
    for item in cast("list[object]", value)[:_MOST_NODES] if isinstance(value, list) else []:
        if isinstance(item, str):
            item = {"intent": item}
        if not isinstance(item, dict):
            continue
        told = cast("dict[str, object]", item)
        intent = one_line(str(told.get("intent") or ""), 300)
        if not intent:
            continue
        name = str(told.get("id") or "")
        nodes.append(
            PlanNode(
                id=name if name in known and all(node.id != name for node in nodes) else "",
                parent="",
                intent=intent,
                state=_state(told.get("state")),
                reason=one_line(str(told.get("reason") or ""), 200),
                step=observation.step,
            )
        )
    return tuple(_with_one_active(nodes))


def _state(value: object) -> PlanNodeState:
    word = str(value).strip().lower()
    return next((state for state in PlanNodeState if state.value == word), PlanNodeState.OPEN)


def _with_one_active(nodes: list[PlanNode]) -> list[PlanNode]:
    """Make the first open subgoal the active one where there is none; the ledger keeps only the first active one."""
    if any(node.state is PlanNodeState.ACTIVE for node in nodes):
        return nodes
    first = next((node for node in nodes if node.state is PlanNodeState.OPEN), None)
    return [replace(node, state=PlanNodeState.ACTIVE) if node is first else node for node in nodes]
