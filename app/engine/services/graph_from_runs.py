"""Build a map of a site from stored runs: nothing is visited, so it works for sites that nobody may crawl.

A step's page becomes a page state and its action a transition to the next step's page.  If the graph holds an
explored state of the same address, the step counts as a visit to it: the trees of other systems list other elements
than our capture does, so by structure alone one page would become two states.  Of several candidates the most similar
is chosen.

Benchmark sites run on other hosts in every run; a page's own host counts as home.  The duration of a step is ignored:
it says more about the harness's waits than about the site.
"""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import orjson

from app.engine.core.identity import keys_of, similarity, url_key
from app.engine.core.page_state import PageState, Source
from app.engine.core.redaction import redact_url
from app.engine.core.trajectory import ErrorClass, Run, Step, add_blob
from app.engine.core.transition import Attempt, Transition
from app.engine.graph.captured_states import attempt_of, contents_of, state_of, transition_of
from app.engine.graph.recorded_pages import RecordedPage, read_page
from app.engine.graph.rules.block_list import BlockList
from app.engine.store.blob_store import pack_blobs
from app.errors import InputError, NotFound, StoreError

if TYPE_CHECKING:
    from app.engine.store.graph.graph_store import GraphStore
    from app.engine.store.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsAdded:
    """Counts of what was added.  ``notes`` name what could not be read."""

    runs: int
    steps: int
    states: int
    transitions: int
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Gathered:
    """States and transitions found in the runs, before they are stored."""

    states: dict[str, PageState] = field(default_factory=dict[str, PageState])
    transitions: dict[str, Transition] = field(default_factory=dict[str, Transition])
    attempts: list[tuple[str, Attempt]] = field(default_factory=list[tuple[str, Attempt]])
    passes: list[tuple[str, str, int]] = field(default_factory=list[tuple[str, str, int]])
    steps_in: dict[str, int] = field(default_factory=dict[str, int])
    """Fewest steps to each state from the page where a run came in."""
    homes: Counter[str] = field(default_factory=Counter[str])
    blobs: dict[str, bytes] = field(default_factory=dict[str, bytes])
    notes: list[str] = field(default_factory=list[str])


def add_runs(workspace: Workspace, store: GraphStore, runs: Iterable[str] | None = None) -> RunsAdded:
    """Add stored runs to the graph of a site; repeating it adds only what is new and counts nothing twice.

    States known only from runs that have now been explored are marked as gone.

    Args:
        runs: their ids; all of the workspace's by default.  Reading a page takes some 15 ms, so pass many runs in
            portions, between which others may use the store's thread.
    """
    taken = store.imported_runs()
    found = _Gathered()
    gatherer = _Gatherer(workspace, store, found)
    names = sorted(workspace.runs.ids() if runs is None else runs)
    for name in names:
        try:
            run, steps = workspace.runs.load(name)
        except (NotFound, StoreError, InputError) as error:
            found.notes.append(str(error))
            continue
        gatherer.add(run, steps)
    missing = workspace.runs.blobs.missing(found.blobs)
    workspace.runs.blobs.add(pack_blobs({digest: found.blobs[digest] for digest in missing}))
    _store(store, found, taken)
    return RunsAdded(
        runs=len({run for _, run, _ in found.passes}),
        steps=len(found.passes),
        states=len({page for page, _, _ in found.passes}),
        transitions=len(found.transitions),
        notes=tuple(found.notes),
    )


def _store(store: GraphStore, found: _Gathered, taken: set[str]) -> None:
    with store.batch():
        if not store.home and found.homes:
            store.describe(home=min(found.homes, key=lambda url: (-found.homes[url], len(url), url)))
        known = {transition.id for transition in store.transitions()}
        depths = _depths(store, found)
        for state in found.states.values():
            store.put_page(replace(state, depth=depths[state.id]))
        for run, attempt in found.attempts:
            transition = found.transitions[attempt.transition]
            new = run not in taken or transition.id not in known
            store.record(transition, attempt if new else None)
        store.add_run_visits(found.passes)
        passed = store.passes()
        replaced = {page.id for page in store.pages() if page.source is Source.RUN and page.id not in passed}
        ends = [one.id for one in store.transitions() if one.source in replaced or one.target in replaced]
        store.mark_gone(replaced, ends, time.time())


def _depths(store: GraphStore, found: _Gathered) -> dict[str, int]:
    """Fewest transitions from the home page, or steps from the page a run started on."""
    home = url_key(store.home, store.home)
    depths = {page.id: page.depth for page in store.pages() if page.source is not Source.RUN}
    for state in found.states.values():
        depths[state.id] = 0 if state.keys.url == home else found.steps_in[state.id] + 1
    leads: dict[str, list[str]] = {}
    for transition in found.transitions.values():
        leads.setdefault(transition.source, []).append(transition.target)
    queue = [(depth, page) for page, depth in depths.items()]
    heapq.heapify(queue)
    while queue:
        depth, page = heapq.heappop(queue)
        for target in leads.get(page, ()):
            if depth + 1 < depths[target]:
                depths[target] = depth + 1
                heapq.heappush(queue, (depth + 1, target))
    return depths


class _Gatherer:
    def __init__(self, workspace: Workspace, store: GraphStore, found: _Gathered) -> None:
        self._workspace, self._site, self._found = workspace, store.site, found
        self._rules = BlockList.builtin()
        self._explored: dict[str, list[PageState]] = {}
        self._read: dict[tuple[str, str, str, str], tuple[RecordedPage, str]] = {}
        for page in store.pages():
            if page.source is not Source.RUN and not page.gone_at:
                self._explored.setdefault(page.keys.url, []).append(page)

    def add(self, run: Run, steps: Sequence[Step]) -> None:
        """Read one run: its pages on the site and the transitions between them."""
        last: tuple[Step, RecordedPage, str] | None = None
        position = 0
        for step in self._moments(run, steps):
            here = self._page(step) if self._workspace.site_of(step.url) == self._site else None
            if here is None:
                last = None
                continue
            page, state = here
            if position == 0:
                self._found.homes[redact_url(step.url)] += 1
            self._found.steps_in[state] = min(position, self._found.steps_in.get(state, position))
            position += 1
            self._found.passes.append((state, run.id, step.index))
            if last is not None:
                self._moved(run, *last, state)
            last = (step, page, state)

    @staticmethod
    def _moments(run: Run, steps: Sequence[Step]) -> Iterator[Step]:
        yield from steps
        if run.final is not None and (not steps or run.final.index > steps[-1].index):
            yield run.final

    def _page(self, step: Step) -> tuple[RecordedPage, str] | None:
        """The page before a step and the id of its state; ``None`` if nothing of it was stored."""
        key = (step.url, step.title, step.tree, step.html)
        if not step.tree:
            return None
        if key not in self._read:
            try:
                tree = self._workspace.runs.read_blob(step.tree).decode("utf-8", "replace")
                markup = (
                    self._workspace.runs.read_blob(step.html).decode("utf-8", "replace") if step.html else ""
                )
            except (NotFound, StoreError, InputError) as error:
                self._found.notes.append(f"{step.url}: {error}")
                return None
            page = read_page(step, tree, markup)
            self._read[key] = (page, self._state(page, step).id)
        return self._read[key]

    def _state(self, page: RecordedPage, step: Step) -> PageState:
        keys = keys_of(page.page, step.url)
        state = state_of(
            page.page, keys, home=step.url, depth=0, exploration=0, at=step.started_at, direct=None
        )
        there = self._explored.get(keys.url)
        if there:
            # By the names of their controls: keys differ from system to system.
            return max(
                there, key=lambda known: (similarity(known.controls, state.controls), -known.depth, known.id)
            )
        if state.id not in self._found.states:
            contents = contents_of(page.page)
            self._found.states[state.id] = replace(
                state,
                source=Source.RUN,
                elements=add_blob(self._found.blobs, orjson.dumps(list(contents.elements))),
                text=add_blob(self._found.blobs, contents.text.encode("utf-8", "replace")),
                picture=step.screenshot,
            )
        known = self._found.states[state.id]
        if step.started_at > known.last_seen:
            self._found.states[state.id] = replace(known, last_seen=step.started_at)
        return known

    def _moved(self, run: Run, step: Step, page: RecordedPage, source: str, target: str) -> None:
        action = step.action
        if action is None or not step.executed or step.error_class in (ErrorClass.HARD, ErrorClass.HARNESS):
            return
        element = page.elements.get(action.bid or "")
        transition = transition_of(step, element, page.page, source, target, self._rules)
        if transition is not None:
            self._found.transitions.setdefault(transition.id, transition)
            self._found.attempts.append((run.id, attempt_of(transition, step, 0.0)))
