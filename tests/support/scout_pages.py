"""Small pages for the scout's tests: lines of plain text and elements in order, and a run over several of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.engine.agent.scout.policy import ScoutPolicy
from app.engine.core.action_result import ActionResult, Cause, Effect
from app.engine.core.actions.types import Action, ReportInfeasible, Stop
from app.engine.core.observation import AgentDecision, HistoryEntry, Observation
from app.engine.core.page_state import Element, PageCapture


@dataclass(frozen=True)
class Spec:
    """An element to be: its number is its place among those of the page."""

    role: str
    name: str
    more: dict[str, Any]
    depth: int = 0


def el(role: str, name: str = "", *, depth: int = 0, **more: Any) -> Spec:
    """An element; ``looks``, ``classes``, ``id`` and ``near`` become attributes."""
    return Spec(role, name, more, depth)


def page(
    *lines: str | Spec, url: str = "http://place.test/", size: tuple[int, int] = (400, 300)
) -> PageCapture:
    """A page of these lines; elements stand below one another unless ``rect`` is told, and nothing covers them."""
    elements: list[Element] = []
    tree = ["RootWebArea 'Page'"]
    for place, line in enumerate(lines):
        if isinstance(line, str):
            tree.append(f"\tStaticText {line!r}")
            continue
        index = len(elements)
        elements.append(_element(line, index, place))
        tree.append("\t" * (line.depth + 1) + f"[{index}] {line.role} {line.name!r}")
    return PageCapture(
        url=url, elements=tuple(elements), tree="\n".join(tree), viewport=(400, 300), size=size
    )


def _element(spec: Spec, index: int, place: int) -> Element:
    more = dict(spec.more)
    attributes = tuple(
        (key, more.pop(told))
        for key, told in (
            ("class", "classes"),
            ("id", "id"),
            ("looks", "looks"),
            ("near", "near"),
            ("placeholder", "hint"),
        )
        if told in more
    )
    more.setdefault("rect", (10.0, 20.0 * place, 80.0, 18.0))
    more.setdefault("css", f"#e{place}")
    return Element(index=index, role=spec.role, name=spec.name, met=True, attributes=attributes, **more)


def sight(intent: str, seen: PageCapture, turns: Sequence[HistoryEntry] = (), step: int = 0) -> Observation:
    """Return the policy's observation."""
    return Observation(
        step=step, steps_left=30, intent=intent, start_url=seen.url, page=seen, history=tuple(turns)
    )


def decide(intent: str, seen: PageCapture) -> AgentDecision:
    """The first decision on a page."""
    return asyncio.run(ScoutPolicy().decide(sight(intent, seen)))


def first(intent: str, *lines: str | Spec) -> Action | None:
    """The first command on a page of these lines."""
    return decide(intent, page(*lines)).action


Reaction = Callable[[PageCapture, Action], PageCapture | ActionResult | tuple[ActionResult, PageCapture]]


def play(intent: str, start: PageCapture, reaction: Reaction | None = None, most: int = 12) -> list[Action]:
    """Every command until the scout stops; ``reaction`` gives the page behind each, how it failed, or both."""

    async def run() -> list[Action]:
        policy, seen, turns, done = ScoutPolicy(), start, list[HistoryEntry](), list[Action]()
        for step in range(most):
            command = (await policy.decide(sight(intent, seen, turns, step))).action
            assert command is not None
            done.append(command)
            if isinstance(command, Stop | ReportInfeasible):
                break
            answer = reaction(seen, command) if reaction else seen
            result, seen_next = _read(answer, seen)
            turns.append(
                HistoryEntry(
                    step=step, url=seen.url, title="", state="", action=command, result=result, words=""
                )
            )
            seen = seen_next
        return done

    return asyncio.run(run())


def _read(
    answer: PageCapture | ActionResult | tuple[ActionResult, PageCapture], seen: PageCapture
) -> tuple[ActionResult, PageCapture]:
    if isinstance(answer, tuple):
        return answer
    if isinstance(answer, ActionResult):
        return answer, seen
    return ActionResult(success=True, effect=Effect.CHANGED), answer


def covered() -> ActionResult:
    """Return the result of a click on a covered element."""
    return ActionResult(success=False, effect=Effect.REFUSED, cause=Cause.COVERED, why="it is covered")


def with_value(seen: PageCapture, index: int, value: str) -> PageCapture:
    """The page after a field was filled in."""
    elements = list(seen.elements)
    elements[index] = replace(elements[index], value=value)
    return replace(seen, elements=tuple(elements))
