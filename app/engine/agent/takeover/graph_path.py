"""A takeover as a path through a site's interaction graph, from its looks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from app.engine.agent.takeover.recorded_steps import RecordedStep
from app.engine.core.identity import keys_of
from app.engine.core.page_state import PageCapture, PageState, Source
from app.engine.core.redaction import MARK
from app.engine.core.transition import Attempt, Transition
from app.engine.graph.captured_states import attempt_of, contents_of, state_of, transition_of
from app.engine.graph.explore.exploration_store import ExplorationStore, GraphTransaction, PageContents
from app.engine.graph.rules.block_list import BlockList


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeoverPath:
    """The recorded actions of a takeover with the page before each, and its last page; without secrets."""

    steps: tuple[RecordedStep, ...] = ()
    final: PageCapture | None = None
    ended_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PathTransitions:
    """Page states with their contents, and the transitions between them."""

    states: tuple[tuple[PageState, PageContents], ...] = ()
    transitions: tuple[tuple[Transition, Attempt], ...] = ()


def transitions_of(path: TakeoverPath, home: str) -> PathTransitions:
    """Return the states and transitions of a path on the host of ``home``, the graph's home.

    An action without an effect is no transition, and typed secrets can't be typed again.
    """
    host = urlsplit(home).netloc
    pages = [(recorded.page, recorded.step.started_at, recorded.captured) for recorded in path.steps]
    if path.final is not None:
        pages.append((path.final, path.ended_at, True))
    states: dict[str, tuple[PageState, PageContents]] = {}
    names: list[str] = []
    for depth, (page, at, captured) in enumerate(pages):
        ours = captured and urlsplit(page.url).netloc == host
        state = _state(page, home, depth, at) if ours else None
        names.append(state.id if state is not None else "")
        if state is not None:
            states.setdefault(state.id, (state, contents_of(page)))
    rules = BlockList.builtin()
    found: dict[str, tuple[Transition, Attempt]] = {}
    for number, recorded in enumerate(path.steps):
        source = names[number]
        target = names[number + 1] if number + 1 < len(names) else ""
        if not source or not target or source == target:
            continue
        led = _transition(recorded, source, target, rules)
        if led is not None:
            found.setdefault(led[0].id, led)
    return PathTransitions(states=tuple(states.values()), transitions=tuple(found.values()))


async def add_to_graph(path: TakeoverPath, recorder: ExplorationStore, home: str) -> int:
    """Add a path to a site's graph and return its number of transitions. Known states stay as they are.

    Raises ``StoreError`` when it can't be written.
    """
    memory = await recorder.memory()
    home = memory.home or home
    found = transitions_of(path, home)
    known = {state.id for state in memory.states if not state.gone_at}
    await recorder.save(
        GraphTransaction(
            at=path.ended_at,
            states=tuple((state, contents) for state, contents in found.states if state.id not in known),
            seen=tuple(state.id for state, _ in found.states if state.id in known),
            transitions=found.transitions,
        )
    )
    return len(found.transitions)


def _state(page: PageCapture, home: str, depth: int, at: float) -> PageState | None:
    if not page.elements:
        return None
    keys = keys_of(page, home)
    state = state_of(page, keys, home=home, depth=depth, exploration=0, at=at, direct=None)
    return replace(state, source=Source.RUN)


def _transition(
    recorded: RecordedStep, source: str, target: str, rules: BlockList
) -> tuple[Transition, Attempt] | None:
    step, action = recorded.step, recorded.step.action
    if action is None or action.kind == "dblclick" or action.args.get("button", "left") != "left":
        return None
    transition = transition_of(step, recorded.element, recorded.page, source, target, rules)
    if transition is None or MARK in transition.value:
        return None
    return transition, attempt_of(transition, step, step.env_seconds)
