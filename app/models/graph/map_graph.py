"""A site's map as arrays, made once for each version of the graph, then only read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.models.graph.state_titles import state_titles

if TYPE_CHECKING:
    from app.engine.api.graph_api import GraphPicture, NodeRow

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

PAGE_SEGMENTS = 6
"""Segments of a path that name a page of a failed run."""
SIDEWAYS_COST = 4.0
"""Cost of a step sideways compared with one in the direction of an arrow key."""


class StateMark(IntFlag):
    """Marks drawn on a state besides its picture."""

    FAILED = 1
    TIPS = 2
    SUSPECT = 4
    GONE = 8
    BARRED = 16  # a log-in or a captcha stands there
    WAITING = 32
    UNTIPPED = 64  # runs fail there, and it has no tip


@dataclass(frozen=True, eq=False)
class MapGraph:
    """n states and m edges.

    Attributes:
        places: (n, 2) column and row, in units of one state.
        sources, targets: (m,) numbers of states; ``tried`` (m,) whether the edge was ever followed.
        marks: (n,) of ``StateMark``.
        order: (m,) a fixed rank of each edge: first those followed to the next depth, then others that were followed;
            where there are too many, the lowest ranks are drawn.
        titles: (n,) short names of the states.
    """

    site: str
    version: int
    rows: tuple[NodeRow, ...]
    number: dict[str, int]
    places: Floats
    sources: Ints
    targets: Ints
    tried: Mask
    marks: Ints
    order: Ints
    titles: tuple[str, ...] = ()

    @classmethod
    def of(cls, picture: GraphPicture) -> MapGraph:
        """Build the arrays; safe on a worker thread."""
        rows = picture.nodes
        places = np.empty((len(rows), 2))
        places[:, 0], places[:, 1] = picture.x, picture.y
        tried = np.array(picture.tried, dtype=bool)
        sources, targets = np.array(picture.sources, np.int64), np.array(picture.targets, np.int64)
        depths = np.fromiter((row.depth for row in rows), np.int64, len(rows))
        onward = tried & (depths[targets] == depths[sources] + 1) if len(tried) else tried
        shuffled = np.random.default_rng(0).permutation(len(tried))
        order = np.empty(len(tried), np.int64)
        order[shuffled[np.argsort((2 - tried.astype(np.int64) - onward)[shuffled], kind="stable")]] = (
            np.arange(len(tried))
        )
        return cls(
            site=picture.site,
            version=picture.version,
            rows=rows,
            number={row.id: number for number, row in enumerate(rows)},
            places=places,
            sources=sources,
            targets=targets,
            tried=tried,
            marks=np.fromiter(map(marks_of, rows), np.int64, len(rows)),
            order=order,
            titles=state_titles([(row.title, row.url) for row in rows]),
        )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of all states, in their units."""
        if not len(self):
            return (0.0, 0.0, 0.0, 0.0)
        (left, top), (right, bottom) = self.places.min(axis=0), self.places.max(axis=0)
        return (float(left), float(top), float(right), float(bottom))

    def row(self, node: str) -> NodeRow | None:
        number = self.number.get(node)
        return self.rows[number] if number is not None else None

    def title(self, node: str) -> str:
        """Return the short name of a state, "" for an unknown one."""
        number = self.number.get(node)
        return self.titles[number] if number is not None else ""

    def edges_of(self, number: int) -> tuple[Ints, Ints]:
        """Return the numbers of the outgoing and the incoming edges of a state."""
        return _run(self._by_source, number), _run(self._by_target, number)

    def toward(self, number: int, right: int, down: int, shown: Mask) -> int:
        """Return the state an arrow key leads to: linked states before others; itself where there is none.

        ``right`` and ``down`` are -1, 0 or 1.  Up and down follow the column, where links say little.
        """
        leaves, comes = self.edges_of(number)
        linked = np.unique(np.concatenate((self.targets[leaves], self.sources[comes])))
        everyone = np.arange(len(self))
        for candidates in (linked, everyone) if right else (everyone,):
            found = self._nearest(number, candidates[shown[candidates]], right, down)
            if found >= 0:
                return found
        return number

    def _nearest(self, number: int, candidates: Ints, right: int, down: int) -> int:
        step = self.places[candidates] - self.places[number]
        along, aside = (
            step[:, 0] * right + step[:, 1] * down,
            np.abs(step[:, 0] * down) + np.abs(step[:, 1] * right),
        )
        ahead = along > 0.01
        if down:  # stay in the column while there are states
            same = ahead & (aside < 0.01)
            ahead = same if same.any() else ahead
        if not ahead.any():
            return -1
        far = along[ahead] * (1 if down else SIDEWAYS_COST) + aside[ahead] * (SIDEWAYS_COST if down else 1)
        return int(candidates[ahead][np.argmin(far)])

    @cached_property
    def degrees(self) -> Ints:
        """Number of edges at each state, both ways."""
        count = len(self)
        both = np.bincount(self.sources, minlength=count) + np.bincount(self.targets, minlength=count)
        return both.astype(np.int64)

    @cached_property
    def bands(self) -> dict[int, tuple[float, float]]:
        """First and last column of each depth."""
        depths = np.fromiter((row.depth for row in self.rows), np.int64, len(self))
        columns = self.places[:, 0]
        return {
            int(depth): (float(columns[depths == depth].min()), float(columns[depths == depth].max()))
            for depth in np.unique(depths)
        }

    @cached_property
    def _by_source(self) -> tuple[Ints, Ints]:
        return _index(self.sources, len(self))

    @cached_property
    def _by_target(self) -> tuple[Ints, Ints]:
        return _index(self.targets, len(self))


def marks_of(row: NodeRow) -> int:
    return int(
        (StateMark.FAILED if row.failures else 0)
        | (StateMark.TIPS if row.tips else 0)
        | (StateMark.SUSPECT if row.suspect_tips else 0)
        | (StateMark.GONE if row.gone else 0)
        | (StateMark.BARRED if row.challenge else 0)
        | (StateMark.WAITING if row.waiting else 0)
        | (StateMark.UNTIPPED if is_untipped(row) else 0)
    )


def is_untipped(row: NodeRow) -> bool:
    """Whether runs fail at a state that has no tip."""
    return row.failures > 0 and not row.tips


def failure_count_words(row: NodeRow) -> str:
    """``3 failed · no tip``; "" for a state without failures and tips."""
    if not row.failures and not row.tips:
        return ""
    tips = plural(row.tips, "tip", "tips") if row.tips else "no tip"
    return f"{row.failures} failed · {tips}"


def page_of(row: NodeRow) -> str:
    """Return the template of a state's path, as pages of failed runs have it."""
    path = row.template.partition("#")[0].partition("?")[0]
    return "/" + "/".join([part for part in path.split("/") if part][:PAGE_SEGMENTS])


def counts(graph: MapGraph) -> dict[StateMark, int]:
    return {mark: int(((graph.marks & mark) > 0).sum()) for mark in StateMark}


def plural(count: int, one: str, many: str) -> str:
    """``1 state``, ``2 states``."""
    return f"{count} {one if count == 1 else many}"


def node_words(row: NodeRow, *, lines: bool = False) -> str:
    """Describe a state, for a tooltip and for a screen reader."""
    facts = [
        f"depth {row.depth}",
        plural(row.pages, "page", "pages") if row.pages > 1 else "",
        f"{row.outgoing} ways out, {row.incoming} in",
        f"{row.waiting} elements to be tried" if row.waiting else "",
        plural(row.runs, "run visited", "runs visited") if row.runs else "",
        plural(row.failures, "failed run", "failed runs") if row.failures else "",
        plural(row.tips, "tip", "tips") if row.tips else "no tip" if row.failures else "",
        plural(row.suspect_tips, "suspect tip", "suspect tips") if row.suspect_tips else "",
        "no address of its own" if row.direct is False else "",
        f"{row.challenge.value} stands in the way" if row.challenge else "",
        "gone" if row.gone else "",
    ]
    told: Sequence[str] = [fact for fact in facts if fact]
    if lines:
        return "\n".join((row.title or row.url, row.url, ", ".join(told)))
    return ", ".join((row.title or row.url, *told))


def _index(ends: Ints, count: int) -> tuple[Ints, Ints]:
    order = np.argsort(ends, kind="stable")
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(ends, minlength=count), out=starts[1:])
    return order, starts


def _run(index: tuple[Ints, Ints], number: int) -> Ints:
    order, starts = index
    return order[starts[number] : starts[number + 1]]
