"""Progress of an exploration: its counts, progress events, discovery velocity and final report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from app.engine.api.graph_api import DepthRow, ExploreReport
from app.engine.core.events import ExplorationChanged
from app.engine.core.page_state import PageState
from app.engine.core.transition import FrontierItem, FrontierStatus, SkipReason
from app.engine.graph.explore.exploration_graph import ExplorationGraph
from app.engine.graph.explore.exploration_store import StoredExploration
from app.engine.graph.explore.frontier import PlannedElement
from app.engine.graph.explore.pacing import Clock

NOTES = 40
"""Maximum notes in a report; repeated ones are counted."""
SHOWN_BARRED = 5
"""Addresses kept out by robots.txt that a report's sentence names; ``barred`` has up to ``MAX_BARRED``."""
MAX_BARRED = 200


class Progress:
    """Counts of one exploration.

    Attributes:
        planned: greatest depth whose elements were planned; -1 at the beginning.
        unfinished: items of a resumed exploration that are still to be tried.
        disabled: by state, keys of elements that could not be used there; elsewhere they are new.
        waiting: items still to be tried.
    """

    def __init__(self, site: str, clock: Clock, tell: Callable[[ExplorationChanged], None]) -> None:
        self._site, self._clock, self._tell = site, clock, tell
        self.planned = -1
        self.unfinished: list[FrontierItem] = []
        self.disabled: dict[str, set[str]] = {}
        self.waiting = 0
        self.tried = 0
        self._skipped: Counter[str] = Counter()
        self._notes: Counter[str] = Counter()
        self._barred: dict[str, None] = {}
        self._depth_seconds: dict[int, float] = {}
        self._before: set[str] = set()
        self._earlier = 0.0
        self._began = self._mark = clock.tick()
        self._paused_at: float | None = None
        self._depth = self._states = 0
        self._trying = ""
        self._note = ""

    # events

    def begin(self, before: Iterable[str]) -> None:
        """Start the clock; ``before`` are ids of states that were known already."""
        self._before = set(before)
        self._began = self._mark = self._clock.tick()

    def restore(self, memory: StoredExploration) -> None:
        """Load the counts of a resumed exploration."""
        for item in memory.items:
            self.planned = max(self.planned, item.depth)
            if item.status is FrontierStatus.WAITING:
                self.unfinished.append(item)
            elif item.status is FrontierStatus.SKIPPED and item.reason is not None:
                self._skip(item, item.reason)
            else:
                self.tried += 1
        self.waiting, self._states = len(self.unfinished), sum(not s.gone_at for s in memory.states)
        own = [state for state in memory.states if state.exploration == memory.exploration]
        self._depth_seconds = seconds_by_depth((state.depth, state.first_seen) for state in own)
        self._depth_seconds |= {row.depth: row.seconds for row in memory.depths if row.seconds}
        self._earlier = sum(self._depth_seconds.values())
        self._before.difference_update(state.id for state in own)

    def plan(self, verdicts: Sequence[PlannedElement]) -> None:
        """Record that the elements of one depth were judged."""
        for verdict in verdicts:
            item = verdict.item
            self.planned = max(self.planned, item.depth)
            if item.status is FrontierStatus.WAITING:
                self.waiting += 1
            elif item.reason is not None:
                self._skip(item, item.reason)

    def _skip(self, item: FrontierItem, reason: SkipReason) -> None:
        self._skipped[reason.value] += 1
        if reason is SkipReason.DISABLED:
            self.disabled.setdefault(item.page, set()).add(item.element)
        elif reason is SkipReason.ROBOTS:
            self._barred[item.detail] = None

    def at(self, depth: int) -> None:
        """Record the depth that is worked on."""
        self._depth = depth

    def tries(self, item: FrontierItem, source: PageState) -> None:
        """Record that an item is about to be tried."""
        what = item.locator.words if item.locator is not None else item.value
        self._trying = f"{item.operation.value} {what} on {source.keys.url}"
        self._publish("running")

    def closed(self, item: FrontierItem, states: int) -> None:
        """Record that an item was tried; ``states`` is the number known by now."""
        self.tried += 1
        self.waiting -= 1
        self._states = states
        if item.status is FrontierStatus.SKIPPED and item.reason is not None:
            self._skipped[item.reason.value] += 1
        self._publish("running")

    def spend(self, depth: int) -> None:
        """Assign the time since the last call to finding states of this depth."""
        now = self._clock.tick()
        self._depth_seconds[depth] = self._depth_seconds.get(depth, 0.0) + now - self._mark
        self._mark = now

    def note(self, text: str) -> None:
        """Add a note for the user."""
        self._notes[text] += 1
        self._note = text

    def pause(self) -> None:
        """Stop the clock."""
        self._paused_at = self._clock.tick()
        self._publish("paused")

    def resume(self) -> None:
        """Continue the clock."""
        if self._paused_at is not None:
            away = self._clock.tick() - self._paused_at
            self._began += away
            self._mark += away
            self._paused_at = None
            self._publish("running")

    def ended(self, how: str) -> None:
        """End the exploration; ``how`` as in ``ExploreReport``."""
        self._trying = ""
        words = {"states": "done", "seconds": "done"}
        self._publish(words.get(how, how))

    # results

    @property
    def seconds(self) -> float:
        """Seconds spent by this start and earlier ones, without pauses."""
        return self._earlier + self.seconds_now

    @property
    def seconds_now(self) -> float:
        """Seconds spent since this start, without pauses."""
        now = self._clock.tick() if self._paused_at is None else self._paused_at
        return now - self._began

    def rows(self, graph: ExplorationGraph) -> tuple[DepthRow, ...]:
        """Discovery velocity by depth."""
        return depth_rows((state.depth for state in graph.states.values()), self._depth_seconds)

    def report(self, graph: ExplorationGraph, exploration: int, ended: str, robots: str) -> ExploreReport:
        """Return the exploration's final report."""
        states = graph.states.values()
        counted = [text if count == 1 else f"{text} ({count} times)" for text, count in self._notes.items()]
        more = [f"and {len(counted) - NOTES} more notes"] if len(counted) > NOTES else []
        barred = sorted(self._barred)
        return ExploreReport(
            site=self._site,
            exploration=exploration,
            states=len(states),
            new=sum(state.id not in self._before for state in states),
            transitions=len(graph.transitions),
            templates=len({state.keys.template for state in states}),
            interaction_only=sum(not graph.opens_by_address(state) for state in states),
            tried=self.tried,
            skipped=dict(self._skipped.most_common()),
            frontier=self.waiting,
            seconds=round(self.seconds, 3),
            ended=ended,
            depths=self.rows(graph),
            notes=(*counted[:NOTES], *more),
            robots="; ".join(part for part in (robots, _kept_out(barred)) if part),
            barred=tuple(barred[:MAX_BARRED]),
        )

    def _publish(self, state: str) -> None:
        if state == "running" and self._paused_at is not None:
            state = "paused"  # current attempts have ended; no new ones start
        seconds = self.seconds
        self._tell(
            ExplorationChanged(
                site=self._site,
                state=state,
                states=self._states,
                frontier=self.waiting,
                tried=self.tried,
                depth=self._depth,
                states_per_minute=round(60 * self._states / seconds, 1) if seconds > 1 else 0.0,
                seconds=round(seconds, 2),
                trying=self._trying,
                skipped=tuple(self._skipped.most_common()),
                note=self._note,
            )
        )


def _kept_out(addresses: Sequence[str]) -> str:
    """Return the addresses that robots.txt kept out as words; "" if there are none."""
    if not addresses:
        return ""
    more = f" and {len(addresses) - SHOWN_BARRED} more" if len(addresses) > SHOWN_BARRED else ""
    return f"kept out: {', '.join(addresses[:SHOWN_BARRED])}{more}"


def seconds_by_depth(found: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Seconds spent on each depth, by the (depth, Unix seconds) of each state found; for an exploration that was
    killed.

    A depth's time runs from the last find of the depth before to its own last one.
    """
    last: dict[int, float] = {}
    for depth, at in found:
        last[depth] = max(last.get(depth, at), at)
    return {depth: max(0.0, at - last[depth - 1]) for depth, at in last.items() if depth - 1 in last}


def depth_rows(depths: Iterable[int], seconds: Mapping[int, float]) -> tuple[DepthRow, ...]:
    """Discovery velocity of each depth (WebNavigator, section 4.2, figure 3).

    V_d = (N_d - N_{d-1}) / (T_d - T_{d-1}), with N the states known up to a depth and T the time it was completed.

    Args:
        depths: depth of each known state.
        seconds: seconds spent on finding the states of each depth.
    """
    count: dict[int, int] = {}
    for depth in depths:
        count[depth] = count.get(depth, 0) + 1
    rows: list[DepthRow] = []
    known = 0
    for depth in range(max(count, default=-1) + 1):
        new, spent = count.get(depth, 0), seconds.get(depth, 0.0)
        known += new
        rows.append(
            DepthRow(
                depth=depth,
                states=known,
                new=new,
                seconds=round(spent, 3),
                velocity=round(60.0 * new / spent, 2) if spent > 0 else 0.0,
            )
        )
    return tuple(rows)
