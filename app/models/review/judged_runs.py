"""The runs that one verdict judges together: several selected ones, or all of the chosen clusters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.api.run_rows import RunFilter

if TYPE_CHECKING:
    from app.engine.api.review_api import FailureCluster
    from app.models.common.engine_client import EngineEvents


class JudgedRuns(QObject):
    """Runs selected by hand are all judged; of a cluster those without a verdict, or all when none is left.

    Signals:
        changed: other runs are judged together, or none.
        released: the verdict was given; the view reduces its selection to the current row.
    """

    changed = Signal()
    released = Signal()

    def __init__(self, client: EngineEvents, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self.runs: tuple[str, ...] = ()
        self.clusters: tuple[FailureCluster, ...] = ()
        self.is_loading = False
        """Whether clusters are on show whose rows are not there yet: a key must not judge the open run instead."""

    @property
    def is_chosen(self) -> bool:
        """Whether a verdict goes to other runs than the open one alone."""
        return self.is_loading or bool(self.clusters) or len(self.runs) > 1

    @property
    def count(self) -> int:
        """The number of runs that the next verdict is given to."""
        by_hand = set(self.runs)
        rest = [count_open(cluster, sum(run in by_hand for run in cluster.runs)) for cluster in self.clusters]
        return len(by_hand) + sum(rest)

    def choose(
        self, runs: Sequence[str] = (), clusters: Sequence[FailureCluster] = (), *, is_loading: bool = False
    ) -> None:
        """Judge these together; no cluster and fewer than two runs: the open run alone."""
        chosen = (tuple(dict.fromkeys(runs)), tuple(clusters), is_loading)
        if chosen != (self.runs, self.clusters, self.is_loading):
            self.runs, self.clusters, self.is_loading = chosen
            self.changed.emit()

    def release(self) -> None:
        """Say that the verdict was given."""
        self.released.emit()

    def freeze(self) -> Callable[[], Awaitable[tuple[tuple[str, ...], int]]]:
        """Return what finds the runs chosen now, and how many of the clusters are left out as judged."""
        runs, clusters = self.runs, self.clusters

        async def find() -> tuple[tuple[str, ...], int]:
            found, left = list(runs), 0
            for cluster in clusters:
                which = RunFilter(cluster=cluster.key, unjudged=True)
                waiting = {row.id for row in await self._client.api.list_runs(which)}
                rest = [run for run in cluster.runs if run in waiting] or list(cluster.runs)
                left += len(cluster.runs) - len(rest)
                found += rest
            return tuple(dict.fromkeys(found)), left

        return find


def count_open(cluster: FailureCluster, by_hand: int = 0) -> int:
    """Return the number of runs that a verdict on a cluster judges, without those counted ``by_hand``."""
    waiting = len(cluster.runs) - cluster.judged
    return max((waiting or len(cluster.runs)) - by_hand, 0)
