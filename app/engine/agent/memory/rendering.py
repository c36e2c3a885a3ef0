"""The ledger as text for a model: one line an entry, and further lines of a note indented, so that no text in it can
look like a heading or another entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from app.engine.agent.memory.notes import NOTE_TOKENS, render_notes
from app.engine.core.addresses import host_of, url_key
from app.engine.core.ledger import (
    Constraint,
    DeadEnd,
    Fact,
    Ledger,
    Met,
    PlanNode,
    PlanNodeState,
    StepOutcome,
)
from app.engine.core.text import one_line

_MARKS = {
    PlanNodeState.OPEN: " ",
    PlanNodeState.ACTIVE: ">",
    PlanNodeState.DONE: "x",
    PlanNodeState.PRUNED: "-",
}
_SURE = 0.995

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """How many of each are shown at most, the tokens of notes, and the characters of a line."""

    facts: int = 30
    dead_ends: int = 12
    checkpoints: int = 10
    episodic: int = 8
    plan: int = 40
    notes: int = NOTE_TOKENS
    line: int = 240
    goal: int = 4_000


WORKER_CAPS = Caps(facts=5, dead_ends=6, checkpoints=0, episodic=0)
UNREAD_CAPS = replace(WORKER_CAPS, notes=2 * NOTE_TOKENS)
"""Those of an agent that has no action to read its older notes back."""
PLANNER_CAPS = Caps()
"""SuperBrowser's caps; omissions are named, and stay in the ledger."""


def render_ledger(view: Ledger, caps: Caps = PLANNER_CAPS) -> str:
    """Render a view of the ledger; empty sections are left out."""
    reached = [
        f"step {mark.step}, {mark.kind}: {one_line(mark.words, caps.line)}"
        for mark in _last(view.checkpoints, caps.checkpoints)
    ]
    episodes = [one_line(words, caps.line) for words in _last(view.episodic, caps.episodic)]
    facts = [_fact(fact, caps.line) for fact in view.facts[: caps.facts]]
    dead = [_dead_end(dead, caps.line) for dead in view.dead_ends[: caps.dead_ends]]
    sections = [
        f"Goal: {one_line(view.goal, caps.goal)}" if view.goal else "",
        render_plan(view.plan, caps),
        f"Subgoal: {one_line(view.subgoal, caps.line)}" if view.subgoal else "",
        _section("Constraints of the task", [_constraint(one, caps.line) for one in view.constraints], 0),
        _section("Last steps", [_outcome(outcome, caps.line) for outcome in view.recent], len(view.recent)),
        _section("Known facts", facts, len(view.facts)),
        _section("Dead ends, not to be tried again", dead, len(view.dead_ends)),
        _section("Reached so far", reached, len(view.checkpoints)),
        _section("The run so far", episodes, len(view.episodic)),
        render_notes(view.notes, caps.notes),
    ]
    return "\n".join(section for section in sections if section)


def render_plan(plan: Sequence[PlanNode], caps: Caps = PLANNER_CAPS) -> str:
    """Render the plan as a tree; "" without one. Pruned nodes are shown too, with what they changed on the site."""
    lines: list[str] = []
    depths = {"": -1}
    for node in in_tree_order(plan)[: caps.plan]:
        depths[node.id] = depths.get(node.parent, -1) + 1
        words = f"{'  ' * depths[node.id]}[{_MARKS[node.state]}] {node.id} {node.intent}"
        if node.state is PlanNodeState.PRUNED and node.reason:
            words += f" (given up: {node.reason})"
        elif node.summary:
            words += f" ({node.summary})"
        if node.remains:
            words += f" (still changed: {'; '.join(node.remains)})"
        indent = len(words) - len(words.lstrip())
        lines.append(" " * indent + one_line(words, caps.line))
    return _section("Plan (> active, x done, - given up)", lines, len(plan), bullet="")


def in_tree_order(plan: Sequence[PlanNode]) -> list[PlanNode]:
    """Return each node followed by its descendants."""
    children: dict[str, list[PlanNode]] = {}
    for node in plan:
        children.setdefault(node.parent, []).append(node)
    ordered: list[PlanNode] = []
    waiting = list(reversed(children.get("", [])))
    while waiting:
        node = waiting.pop()
        ordered.append(node)
        waiting += reversed(children.get(node.id, []))
    return ordered


def _section(title: str, lines: Sequence[str], total: int, bullet: str = "- ") -> str:
    if not lines:
        return ""
    more = [f"({total - len(lines)} more are kept)"] if total > len(lines) else []
    return "\n".join([f"{title}:", *(f"{bullet}{line}" for line in lines), *more])


def _last(items: Sequence[Item], most: int) -> list[Item]:
    return list(items[-most:]) if most else []


def _outcome(outcome: StepOutcome, longest: int) -> str:
    came = outcome.effect if outcome.success else f"{outcome.effect}, failed"
    return one_line(f"step {outcome.step}: {outcome.words} -> {came}{_because(outcome.why)}", longest)


def _constraint(one: Constraint, longest: int) -> str:
    return one_line(f"{one.kind}: {one.text} (met: {one.met})", longest)


def _fact(fact: Fact, longest: int) -> str:
    sure = "" if fact.confidence >= _SURE else f", {fact.confidence:.0%} sure"
    return one_line(f"{fact.key}: {fact.value} ({fact.category}, step {fact.step}{sure})", longest)


def _dead_end(dead: DeadEnd, longest: int) -> str:
    until = f", may be tried again from step {dead.until}" if dead.until else ""
    return one_line(f"{dead.target or 'this page'}: {dead.cause}{_because(dead.words)}{until}", longest)


def _because(why: str) -> str:
    return f" ({why})" if why else ""


WORKER_FACTS = 5


def worker_view(ledger: Ledger, *, url: str, state: str = "", step: int | None = None) -> Ledger:
    """Return goal, subgoal, recent three, the five facts used last, the page's dead ends (equation 16), and besides
    the constraints that are not met and all notes.

    The worker is not shown what it can't act on; dead ends expire, and retracted facts are shown to no role.
    """
    now = ledger.steps if step is None else step
    return Ledger(
        goal=ledger.goal,
        subgoal=ledger.subgoal,
        recent=ledger.recent,
        facts=facts_by_use(ledger.facts)[:WORKER_FACTS],
        dead_ends=tuple(dead for dead in unexpired(ledger.dead_ends, now) if applies_here(dead, url, state)),
        notes=ledger.notes,
        constraints=tuple(one for one in ledger.constraints if one.met is not Met.YES),
        steps=ledger.steps,
        url=url,
        state=state,
    )


def planner_view(ledger: Ledger, *, step: int | None = None) -> Ledger:
    """Return everything but the episodic lines (equation 17)."""
    now = ledger.steps if step is None else step
    return replace(
        ledger, facts=facts_by_use(ledger.facts), dead_ends=unexpired(ledger.dead_ends, now), episodic=()
    )


def facts_and_notes(ledger: Ledger) -> tuple[str, ...]:
    """Return what a run found out, one line each: facts that are not retracted, then notes."""
    facts = (f"{fact.key}: {fact.value}" for fact in ledger.facts if not fact.retracted)
    return (*facts, *(f"note {note.number}: {note.text}" for note in ledger.notes))


def facts_by_use(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Return facts that are not retracted, last used first."""
    holding = (fact for fact in facts if not fact.retracted)
    return tuple(sorted(holding, key=lambda fact: (fact.last_used, fact.step), reverse=True))


def unexpired(dead_ends: Iterable[DeadEnd], step: int) -> tuple[DeadEnd, ...]:
    """Return dead ends that have not expired, newest first."""
    return tuple(
        sorted(
            (dead for dead in dead_ends if dead.until == 0 or step < dead.until),
            key=lambda dead: dead.step,
            reverse=True,
        )
    )


def applies_here(dead: DeadEnd, url: str, state: str) -> bool:
    """Whether a dead end belongs to this page: same state, or same address where a state is unknown."""
    if dead.state and state:
        return dead.state == state
    return bool(dead.url) and host_of(dead.url) == host_of(url) and url_key(dead.url) == url_key(url)
