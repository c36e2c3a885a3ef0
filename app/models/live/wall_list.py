"""The runs that the wall shows: filtered, grouped under headings, in the order of the run list."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.engine.api.live_filter_words import STATE_GROUPS, state_group
from app.engine.core.supervision import LiveRow
from app.models.common.object_list import ReorderableList
from app.models.common.translate import tr
from app.models.live.wall_figures import state_count_words, wall_figures

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from app.models.live.run_list import RunList

GROUPINGS = ("", "site", "task", "batch", "state")
"""What runs may be grouped by; "" for not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupHeading:
    """The heading of a group of runs.

    Attributes:
        group: what the runs have in common: a site, a task, the id of a batch, a state.
        counts: ``12 runs · 2 need you · 8 running``.
        spent: money and tokens of its runs, "" without a model.
    """

    group: str
    title: str
    counts: str
    spent: str = ""
    folded: bool = False

    @property
    def words(self) -> str:
        """All of it in a line, for screen readers."""
        state = tr("collapsed") if self.folded else tr("expanded")
        return ", ".join(part for part in (self.title, self.counts, self.spent, state) if part)


WallRow = LiveRow | GroupHeading


def heading_key(group: str) -> Hashable:
    """Return the key of a heading among the rows; that of a run is its id."""
    return ("group", group)


def group_of(row: LiveRow, by: str) -> str:
    """Return the group of a run; "" where it has no such thing."""
    if by == "state":
        return state_group(row)
    return {"site": row.site, "task": row.task_id or row.intent, "batch": row.batch}.get(by, "")


def group_title(group: str, by: str, batches: dict[str, str]) -> str:
    """Return the title of a group."""
    if by == "state":
        titles = {
            "needs": tr("Needs you"), "running": tr("Running"), "paused": tr("Paused"), "queued": tr("Queued"),
            "interrupted": tr("Interrupted"), "failed": tr("Failed"), "stopped": tr("Stopped"), "done": tr("Done"),
        }  # fmt: skip
        return titles[group]
    if not group:
        return {"site": tr("No site"), "batch": tr("No batch")}.get(by, tr("No task"))
    return batches.get(group, group) if by == "batch" else group


class WallList(ReorderableList[WallRow]):
    """Runs and headings; changed row by row, so that selection and scroll position stay."""

    def __init__(self, runs: RunList, parent: QObject | None = None) -> None:
        super().__init__(row_key, parent)
        self._runs = runs

    def words(self, value: WallRow) -> str:
        return value.words if isinstance(value, GroupHeading) else self._runs.words(value)

    def tip(self, value: WallRow) -> str:
        return value.words if isinstance(value, GroupHeading) else self._runs.tip(value)

    def run_at(self, row: int) -> LiveRow | None:
        """Return the run in a row, ``None`` for a heading and beyond the ends."""
        value = self.at(row)
        return value if isinstance(value, LiveRow) else None

    def put(self, value: WallRow) -> None:
        """Update a row; one that is the same object costs nothing."""
        if self.at(self.row_of(row_key(value))) is not value:
            super().put(value)

    def arrange(self, rows: Sequence[WallRow]) -> None:
        """Become ``rows`` in their order; a row that goes far down is one move, not many moves up."""
        self._remove_all_but({row_key(row): row for row in rows})
        kept = [key for key in map(row_key, rows) if self.row_of(key) >= 0]
        places = {key: place for place, key in enumerate(kept)}
        for place, key in enumerate(kept):
            while self.row_of(key) == place + 1 and places[row_key(self._rows[place])] > place:
                self.move_row(place, places[row_key(self._rows[place])])
            if (here := self.row_of(key)) != place:
                self.move_row(here, place)
        super().arrange(rows)


def row_key(row: WallRow) -> Hashable:
    """Return the key of a row: the id of a run, or that of a heading."""
    return heading_key(row.group) if isinstance(row, GroupHeading) else row.run


def arranged(
    rows: Iterable[LiveRow],
    by: str,
    folded: Callable[[str], bool],
    batches: dict[str, str],
    now: float,
) -> list[WallRow]:
    """Return runs under the headings of their groups; without ``by`` the runs alone, in their order.

    Groups stand by title, those of states in the order of ``STATE_GROUPS``, one without a name last.
    """
    if not by:
        return list(rows)
    groups: dict[str, list[LiveRow]] = {}
    for row in rows:
        groups.setdefault(group_of(row, by), []).append(row)
    found: list[WallRow] = []
    for group in sorted(groups, key=lambda one: _group_order(one, by, batches)):
        is_folded = folded(group)
        found.append(_heading(group, groups[group], by, batches, now, folded=is_folded))
        found += () if is_folded else groups[group]
    return found


def _heading(
    group: str, rows: list[LiveRow], by: str, batches: dict[str, str], now: float, *, folded: bool
) -> GroupHeading:
    figures = wall_figures(rows, now)
    runs = tr("1 run") if len(rows) == 1 else tr("{0} runs").format(len(rows))
    states = [state_count_words(state, count) for state, count in figures.states] if by != "state" else []
    return GroupHeading(
        group=group,
        title=group_title(group, by, batches),
        counts=" · ".join([runs, *states]),
        spent=figures.spent_words,
        folded=folded,
    )


def _group_order(group: str, by: str, batches: dict[str, str]) -> tuple[Any, ...]:
    if by == "state":
        return (STATE_GROUPS.index(group), "", "")
    return (not group, group_title(group, by, batches).lower(), group)
