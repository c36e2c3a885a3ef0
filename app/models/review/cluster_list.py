"""Clusters of failures as rows of a list, unfolded into their runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal

from app.engine.api.review_api import FailureCluster
from app.engine.api.run_rows import RunFilter, RunRow
from app.models.common.object_list import ObjectList
from app.models.review.run_queue import COALESCE_MS, QueueState, detector_label, run_tip, run_words

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks
    from app.models.review.judged_runs import JudgedRuns
    from app.models.review.run_queue import RunQueue

MOST_SITES = 1
"""A cluster of more sites says how many they are instead of their names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRow:
    """A cluster, or one of its runs."""

    cluster: FailureCluster
    run: RunRow | None = None
    is_unfolded: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return (self.cluster.key, self.run.id if self.run is not None else "")


def cluster_title(cluster: FailureCluster) -> str:
    """``14 · no task config was found``."""
    return f"{len(cluster.runs)} · {cluster.title}"


def cluster_details(cluster: FailureCluster) -> str:
    """``5 of 14 judged · 3 sites · /admin/reports``."""
    tr, sites = QCoreApplication.translate, len(cluster.sites)
    where = ", ".join(cluster.sites) if sites <= MOST_SITES else tr("Review", "{0} sites").format(sites)
    judged = ""
    if cluster.judged:
        judged = tr("Review", "{0} of {1} judged").format(cluster.judged, len(cluster.runs))
        if cluster.judged == len(cluster.runs):
            judged = tr("Review", "all judged")
    return " · ".join(part for part in (judged, where, cluster.page) if part)


class ClusterListModel(ObjectList[ClusterRow]):
    """Clusters, each unfolded one followed by its runs."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.key, parent)

    def words(self, value: ClusterRow) -> str:
        """All that the row shows, in reading order."""
        if value.run is not None:
            return run_words(value.run)
        folded = self.tr("unfolded") if value.is_unfolded else self.tr("folded")
        cluster = value.cluster
        count = self.tr("{0} runs").format(len(cluster.runs)) if len(cluster.runs) != 1 else self.tr("1 run")
        return ", ".join((count, cluster.title, cluster_details(cluster), folded))

    def tip(self, value: ClusterRow) -> str:
        """The whole title, what the runs have in common, and what the keys do."""
        if value.run is not None:
            return run_tip(value.run)
        cluster = value.cluster
        about = [cluster_title(cluster), ", ".join(cluster.sites), detector_label(cluster.detector)]
        about += [cluster.page, cluster.control, cluster.error]
        if cluster.label is not None:
            about.append(self.tr("The cause suggests the verdict '{0}'").format(cluster.label.value))
        about.append(
            self.tr("Enter opens its first run, Right unfolds it; a verdict goes to all of its runs")
        )
        return "\n".join(dict.fromkeys(part for part in about if part))

    def show(
        self,
        clusters: Iterable[FailureCluster],
        runs: Mapping[str, Sequence[RunRow]],
        *,
        keep_places: bool = False,
    ) -> None:
        """Show these clusters; those that have an entry in ``runs`` are unfolded."""
        rows: list[ClusterRow] = []
        for cluster in clusters:
            rows.append(ClusterRow(cluster=cluster, is_unfolded=cluster.key in runs))
            rows += [ClusterRow(cluster=cluster, run=run) for run in runs.get(cluster.key, ())]
        self.merge(rows, keep_places=keep_places)


class FailureClusters(QObject):
    """The other form of the queue: its failures by kind, under the queue's filter.

    A cluster that was judged stays under the hand, even where it no longer passes the filter, until the
    list is loaded for another filter or shown anew.

    Signals:
        changed: state or counts changed, or the list is shown or hidden.
        current_changed: another row is current by the program's doing, not by the list's own keys.
        run_wanted(run): the current row speaks of another run than the open one.
    """

    changed = Signal()
    current_changed = Signal()
    run_wanted = Signal(str)

    def __init__(
        self,
        client: EngineEvents,
        tasks: Tasks,
        queue: RunQueue,
        many: JudgedRuns,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._queue, self._many = client, tasks, queue, many
        self.model = ClusterListModel(self)
        self.is_shown = False
        self.state, self.error = QueueState.LOADING, ""
        self.clusters: list[FailureCluster] = []
        self.current = ("", "")
        self._runs: dict[str, list[RunRow]] = {}
        self._asked_for: RunFilter | None = None
        self._timer = QTimer(self, singleShot=True, interval=COALESCE_MS)
        self._timer.timeout.connect(self._ask)
        queue.changed.connect(self._on_queue)
        client.runs_changed.connect(self._on_runs_changed)

    def show(self, is_shown: bool) -> None:
        """Show the clusters in place of the runs, or the runs again."""
        if is_shown == self.is_shown:
            return
        self.is_shown = is_shown
        if is_shown:
            self.clusters, self._runs, self.current = [], {}, ("", "")
            self.model.replace([])
            self._many.choose(is_loading=True)
            self._set_state(QueueState.LOADING)
            self._ask()
        else:
            self._timer.stop()
            self._tasks.cancel("review-clusters")
            self._many.choose()
            self.changed.emit()

    def set_current(self, key: tuple[str, str]) -> None:
        """Make a row current; its run, or the first unjudged one of its cluster, opens."""
        self.current = key
        row = self.model.at(self.model.row_of(key))
        if row is None:
            return
        if row.run is not None:
            self.run_wanted.emit(row.run.id)
        elif self._queue.current not in row.cluster.runs:
            self.open_first(row.cluster.key)

    def step(self, offset: int) -> None:
        """Go so many rows on."""
        row = self.model.at(self.model.row_of(self.current) + offset)
        if row is not None:
            self.set_current(row.key)
            self.current_changed.emit()

    def open_first(self, key: str) -> None:
        """Open the first run of a cluster that is not judged, or its first."""
        cluster = self._cluster(key)
        if cluster is None or not cluster.runs:
            return
        if not cluster.judged:
            self.run_wanted.emit(cluster.runs[0])
            return
        which = RunFilter(cluster=key, unjudged=True, order="risk")

        def came(rows: list[RunRow]) -> None:
            waiting = {row.id for row in rows}
            self.run_wanted.emit(next((run for run in cluster.runs if run in waiting), cluster.runs[0]))

        self._tasks.start(self._client.api.list_runs(which), came, key="review-cluster-first")

    def enter(self, row: int) -> None:
        """Open the first unjudged run of a cluster and unfold it, or fold an unfolded one; open a run."""
        found = self.model.at(row)
        if found is None:
            return
        if found.run is not None:
            self.run_wanted.emit(found.run.id)
            return
        if self._queue.current not in found.cluster.runs:
            self.open_first(found.cluster.key)
        self.unfold(row, not found.is_unfolded)

    def unfold(self, row: int, unfolded: bool) -> None:
        """Show the runs of a cluster under it, or hide them; folding from one of its runs goes to the cluster."""
        found = self.model.at(row)
        if found is None:
            return
        key = found.cluster.key
        if not unfolded:
            self._runs.pop(key, None)
            if self.current[0] == key:
                self.current = (key, "")
            self._fill()
            self.current_changed.emit()
        elif found.run is None and key not in self._runs:

            def came(rows: list[RunRow]) -> None:
                self._runs[key] = rows
                self._fill()

            self._tasks.start(self._rows_of(key), came, key=f"review-cluster {key}")

    def choose(self, rows: Iterable[int]) -> None:
        """Judge the runs and clusters of these rows together."""
        if self.state is QueueState.LOADING:
            return
        chosen = [row for row in map(self.model.at, sorted(rows)) if row is not None]
        clusters = [row.cluster for row in chosen if row.run is None]
        whole = {cluster.key for cluster in clusters}
        runs = [row.run.id for row in chosen if row.run is not None and row.cluster.key not in whole]
        self._many.choose(runs, clusters)

    def _cluster(self, key: str) -> FailureCluster | None:
        return next((cluster for cluster in self.clusters if cluster.key == key), None)

    async def _rows_of(self, key: str) -> list[RunRow]:
        which = replace(self._queue.filter, cluster=key, order="risk")
        rows = await self._client.api.list_runs(which)
        cluster = self._cluster(key)
        of_it = set(cluster.runs) if cluster is not None else set[str]()
        return [row for row in rows if row.id in of_it]

    def _on_queue(self) -> None:
        if self.is_shown and self._queue.filter != self._asked_for:
            self._timer.start(80)

    def _on_runs_changed(self, _event: object) -> None:
        if self.is_shown and not self._timer.isActive():
            self._timer.start()

    def _ask(self) -> None:
        which = self._queue.filter
        again = which != self._asked_for or not self.clusters
        self._asked_for = which
        unfolded = [] if again else list(self._runs)

        async def fetch() -> tuple[list[FailureCluster], dict[str, list[RunRow]]]:
            found = await self._client.api.clusters(which)
            return found, {key: await self._rows_of(key) for key in unfolded}

        def failed(error: BaseException) -> None:
            self.error = str(error)
            self._many.choose()
            self._set_state(QueueState.ERROR)

        self._tasks.start(
            fetch(), lambda answer: self._came(*answer, again=again), failed, key="review-clusters"
        )

    def _came(self, clusters: list[FailureCluster], runs: dict[str, list[RunRow]], *, again: bool) -> None:
        if not self.is_shown:
            return
        if again:
            self.clusters, self._runs = clusters, {}
        else:
            self.clusters = self._with_current(clusters)
            self._runs = {key: rows for key, rows in runs.items() if self._cluster(key) is not None}
        self.error = ""
        self._fill(keep_places=not again)
        begins = bool(self.clusters) and self.model.row_of(self.current) < 0
        if begins:
            self.current = (self._first().key, "")
        self._set_state(QueueState.READY if self.clusters else QueueState.NO_MATCH)
        if not self.clusters:
            self._many.choose()
            return
        if begins:
            self.set_current(self.current)
        self.current_changed.emit()

    def _with_current(self, clusters: list[FailureCluster]) -> list[FailureCluster]:
        """Return the clusters with the current one at its old place where it no longer passes the filter."""
        kept, here = self._cluster(self.current[0]), self.current[0]
        if kept is None or any(cluster.key == here for cluster in clusters):
            return clusters
        place = [cluster.key for cluster in self.clusters].index(here)
        judged = replace(kept, judged=len(kept.runs))
        return [*clusters[:place], judged, *clusters[place:]]

    def _first(self) -> FailureCluster:
        """Return the cluster of the open run, or the first one."""
        here = self._queue.current
        return next((one for one in self.clusters if here in one.runs), self.clusters[0])

    def _fill(self, *, keep_places: bool = True) -> None:
        self.model.show(self.clusters, self._runs, keep_places=keep_places)

    def _set_state(self, state: QueueState) -> None:
        self.state = state
        self.changed.emit()
