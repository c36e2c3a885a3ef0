"""A site's exploration as the status bar below the map shows it: progress, current action, skipped elements."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QObject, QTimer, Signal

from app.engine.api.graph_api import ExploreOptions
from app.engine.core.addresses import host_of
from app.engine.core.events import ExplorationChanged
from app.engine.core.page_state import Mode
from app.errors import NotFound
from app.models.common.translate import tr
from app.models.graph.explore_form import ExploreFormModel
from app.models.graph.node_lists import seconds_words
from app.models.graph.skip_list import SkipListModel

if TYPE_CHECKING:
    from app.engine.api.graph_api import ExploreReport, GraphRow, GraphStats, HostMap
    from app.engine.core.events import GraphChanged
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

REFRESH_MS = 500
"""Shortest time between two loads of a graph that changes without an exploration."""
ENDED_WORDS = {
    "done": "everything within reach was tried",
    "states": "the state limit was reached; raise it to continue",
    "seconds": "the time limit was reached; raise it to continue",
}
"""Reasons why an exploration ended, in words."""


class ExplorationStage(StrEnum):
    """State of a site's exploration."""

    NONE = ""  # no site, or one that was never explored
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class LogInStage(StrEnum):
    """State of a manual log-in."""

    NONE = ""
    OPENING = "opening"
    OPEN = "open"
    SAVING = "saving"


class ExplorationModel(QObject):
    """Signals:

    changed: anything the bar shows.
    started, ended: an exploration of this site began or ended; ``ended`` follows its report.
    notice(text): a passing message.
    """

    changed = Signal()
    started = Signal(str)
    ended = Signal(str)
    notice = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.form = ExploreFormModel(self)
        self.host_map: HostMap | None = None
        """The map that the form's host has under another name: to be extended, or to get a second one beside it."""
        self.form.changed.connect(self._on_form)
        self.skipped = SkipListModel(self)
        self.site = self.home = self.error = self.note = ""
        self.stage, self.log_in_stage = ExplorationStage.NONE, LogInStage.NONE
        self.log_in_words = ""
        self.report: ExploreReport | None = None
        self.states = self.frontier = self.tried = self.depth = self.transitions = 0
        self.velocity = self.seconds = 0.0
        self.trying = ""
        self.ended_by = ""
        """Why it ended, as the engine names it."""
        self._mode = Mode.FULL
        self._live: set[str] = set()
        """Sites whose exploration this window started, or heard of, and that has not ended."""
        self._soon = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._soon.timeout.connect(self.refresh)
        client.exploration_changed.connect(self._on_event)
        client.graph_changed.connect(self._on_graph)
        client.host_changed.connect(self._on_host)

    # ------------------------------------------------------------ what can be done
    @property
    def is_live(self) -> bool:
        return self.site in self._live

    @property
    def can_pause(self) -> bool:
        return self.stage is ExplorationStage.RUNNING and self.is_live

    @property
    def can_resume(self) -> bool:
        """Whether it is paused or incomplete; one that reached a limit needs a higher limit first."""
        unfinished = self.stage in (
            ExplorationStage.PAUSED,
            ExplorationStage.INTERRUPTED,
            ExplorationStage.STOPPED,
            ExplorationStage.FAILED,
        )
        return bool(self.site and self.home) and unfinished

    @property
    def can_stop(self) -> bool:
        return self.is_live and self.stage in (
            ExplorationStage.STARTING,
            ExplorationStage.RUNNING,
            ExplorationStage.PAUSED,
        )

    @property
    def can_explore(self) -> bool:
        """Whether no exploration is being started from the form."""
        return self.stage is not ExplorationStage.STARTING

    @property
    def share(self) -> float | None:
        """Share of known elements that were tried, in [0, 1]; ``None`` before there are any."""
        known = self.tried + self.frontier
        return self.tried / known if known else None

    # ------------------------------------------------------------ which site
    def show(self, site: str) -> None:
        if site == self.site:
            return
        self.site, self.home, self.error, self.note = site, "", "", ""
        self.log_in_stage, self.log_in_words = LogInStage.NONE, ""
        self._clear()
        self.changed.emit()
        self.refresh()

    def refresh(self) -> None:
        """Load the graph's numbers."""
        if self.site:
            self._tasks.start(
                self._client.api.graph_stats(self.site),
                self._on_loaded,
                self._no_graph,
                key="map-exploration",
            )

    # ------------------------------------------------------------ operations
    def explore(self) -> None:
        """Start an exploration from the form, which shows any problems; a host that has a map asks first."""
        if not self.form.is_ready:
            self.form.changed.emit()
            return

        def looked(missing: dict[str, str]) -> None:
            self.form.missing = missing
            self.form.changed.emit()
            if not missing:
                asking = self._client.api.host_maps(*self.form.target)
                self._tasks.start(asking, self._on_host_maps, self._failed, key="map-form")

        self._tasks.start(asyncio.to_thread(self.form.missing_files), looked, self._failed, key="map-form")

    def extend_map(self) -> None:
        """Answer that the host's map is extended."""
        if self.host_map is not None:
            self.form.set("site", self.host_map.site)
            self._start(self.form.address, self.form.values["site"], self.form.options())

    def second_map(self) -> None:
        """Answer that the host gets a second map."""
        if self.host_map is not None:
            self._start(*self.form.target, self.form.options(), second_map=True)

    def _on_host_maps(self, maps: list[HostMap]) -> None:
        self.host_map = self.form.other_map(maps)
        if self.host_map is None:
            self._start(*self.form.target, self.form.options())
        self.changed.emit()

    def _on_form(self) -> None:
        """Forget the question when what it is about may have changed."""
        if self.host_map is not None:
            self.host_map = None
            self.changed.emit()

    def pause(self) -> None:
        self._do(self._client.api.pause_exploration(self.site))

    def resume(self) -> None:
        """Resume a paused or an incomplete exploration."""
        if self.is_live:
            self._do(self._client.api.resume_exploration(self.site))
        elif self.home:
            here = self.form.is_ready and host_of(self.form.address) == host_of(self.home)
            options = self.form.options() if here else ExploreOptions()
            self._start(self.home, self.site, replace(options, mode=self._mode))

    def pause_or_resume(self) -> None:
        if self.can_pause:
            self.pause()
        elif self.can_resume:
            self.resume()

    def stop(self) -> None:
        """End it; the states found stay."""
        self._do(self._client.api.stop_exploration(self.site))

    def log_in(self, url: str = "") -> None:
        """Open a browser window for a manual log-in, finished by ``logged_in``."""
        address, site = url or self.form.address or self.home, self._log_in_site
        if not address or not site:
            what = tr("address") if not address else tr("name")
            self.notice.emit(
                tr("Enter the {0} of the site first: the log-in is stored under its name").format(what)
            )
            return
        self.log_in_stage = LogInStage.OPENING
        self.log_in_words = tr("Opening a browser window…")
        self.changed.emit()

        def opened(_said: str) -> None:
            self.log_in_stage = LogInStage.OPEN
            self.log_in_words = tr("A browser window shows {0}. Log in there, then confirm here.").format(
                address
            )
            self.changed.emit()

        self._tasks.start(
            self._client.api.log_in_by_hand(site, address), opened, self._log_in_failed, key="map-log-in"
        )

    def logged_in(self) -> None:
        """Store the log-in and use it from now on."""
        site = self._log_in_site
        self.log_in_stage = LogInStage.SAVING
        self.log_in_words = tr("Saving the log-in…")
        self.changed.emit()

        def kept(path: str) -> None:
            self.log_in_stage, self.log_in_words = LogInStage.NONE, ""
            self.form.set("storage_state", path)
            self.notice.emit(tr("Log-in saved; the next exploration of this site uses it"))
            self.changed.emit()

        self._tasks.start(self._client.api.logged_in(site), kept, self._log_in_failed, key="map-log-in")

    def cancel_log_in(self) -> None:
        """Close the log-in window without storing anything."""
        site = self._log_in_site
        self.log_in_stage, self.log_in_words = LogInStage.NONE, ""
        self._tasks.cancel("map-log-in")
        self.changed.emit()
        self._do(self._client.api.close_browser(site))

    @property
    def _log_in_site(self) -> str:
        """The site named in the form; without an address there, the site shown."""
        return self.form.values["site"].strip() if self.form.address else self.site

    # ------------------------------------------------------------ words
    @property
    def headline(self) -> str:
        match self.stage:
            case ExplorationStage.STARTING:
                return tr("Starting…")
            case ExplorationStage.RUNNING:
                return tr("Exploring")
            case ExplorationStage.PAUSED:
                return tr("Paused")
            case ExplorationStage.INTERRUPTED:
                return tr("Interrupted; can be resumed")
            case ExplorationStage.STOPPED:
                return tr("Stopped")
            case ExplorationStage.FAILED:
                return tr("Failed")
            case ExplorationStage.DONE:
                why = ENDED_WORDS.get(self.ended_by, "")
                return tr("Done: {0}").format(why) if why else tr("Done")
            case _:
                return tr("Never explored") if self.site else tr("No site is open")

    @property
    def progress(self) -> str:
        """``412 of 560 elements tried · 14 min 03 s``."""
        known = self.tried + self.frontier
        number = QLocale().toString
        parts = [tr("{0} of {1} elements tried").format(number(self.tried), number(known))] if known else []
        if self.seconds:
            parts.append(seconds_words(self.seconds))
        return " · ".join(parts)

    # ------------------------------------------------------------ answers
    def _start(self, url: str, site: str, options: ExploreOptions, second_map: bool = False) -> None:
        """Start; without a name the engine chooses one, which the first event carries."""
        if site != self.site:
            self._clear()
        self.site, self.home, self.stage, self._mode = site, url, ExplorationStage.STARTING, options.mode
        self.error, self.note, self.report, self.host_map = "", "", None, None
        if site:
            self._live.add(site)
            self.started.emit(site)
        self.changed.emit()
        asked = site

        def ended(report: ExploreReport) -> None:
            self._live.discard(asked)
            self._live.discard(report.site)
            if report.site == self.site:
                self._take_report(report)
            self.ended.emit(report.site)

        def failed(error: Exception) -> None:
            self._live.discard(asked)
            if self.site in ("", asked):
                self.stage = ExplorationStage.FAILED
                self._failed(error)
            self.ended.emit(asked)

        second = {"second_map": True} if second_map else {}
        self._tasks.start(self._client.api.explore(url, site, options, **second), ended, failed)

    def _take_report(self, report: ExploreReport) -> None:
        self.report = report
        self.stage, self.ended_by = stage_of(report.ended), report.ended
        self.states, self.frontier, self.tried = report.states, report.frontier, report.tried
        self.transitions, self.seconds, self.trying = report.transitions, report.seconds, ""
        self.velocity = report.new / report.seconds * 60 if report.seconds else 0.0
        self.skipped.show_counts(report.skipped.items())
        self.note = " · ".join(part for part in (*report.notes, report.robots) if part)
        self.changed.emit()

    def _on_event(self, event: ExplorationChanged) -> None:
        running, new = event.state in ("running", "paused"), event.site not in self._live
        (self._live.add if running else self._live.discard)(event.site)
        if not self.site and self.stage is ExplorationStage.STARTING and new:
            self.site = event.site
            self.started.emit(event.site)
        if event.site != self.site:
            return
        self.stage, self.ended_by = stage_of(event.state), event.state
        self.states, self.frontier, self.tried = event.states, event.frontier, event.tried
        self.depth, self.velocity, self.seconds = event.depth, event.states_per_minute, event.seconds
        self.trying = event.trying if event.state == "running" else ""
        self.note = event.note
        self.skipped.show_counts(event.skipped)
        self.changed.emit()

    def _on_graph(self, event: GraphChanged) -> None:
        if event.site == self.site and not self.is_live and not self._soon.isActive():
            self._soon.start()

    def _on_loaded(self, stats: GraphStats) -> None:
        row = stats.row
        self.home, self._mode = row.home, row.mode
        if not self.form.values["url"] or self.form.values["site"] != row.site:
            self.form.fill({"url": row.home, "site": row.site}, row.mode)
        if not self.is_live:
            self._take_row(row, stats)
        self.changed.emit()

    def _take_row(self, row: GraphRow, stats: GraphStats) -> None:
        self.stage, self.ended_by = stage_of(row.state), row.state
        if self.stage is ExplorationStage.RUNNING:  # left by an earlier window, whose engine is gone
            self.stage = ExplorationStage.INTERRUPTED
        self.states, self.frontier, self.tried = row.states, row.frontier, stats.tried
        self.transitions = row.transitions
        self.depth = max((one.depth for one in stats.depths), default=0)
        self.seconds = sum(one.seconds for one in stats.depths)
        found = sum(one.new for one in stats.depths)
        self.velocity = found / self.seconds * 60 if self.seconds else 0.0
        self.skipped.show_counts(stats.skipped.items())
        self.note = " · ".join(stats.notes)

    def _no_graph(self, error: Exception) -> None:
        if not isinstance(error, NotFound):  # a site without a graph was never explored: no error
            self._failed(error)

    def _on_host(self, message: str) -> None:
        if message and self._live:
            self._live.clear()
            if self.stage in (ExplorationStage.STARTING, ExplorationStage.RUNNING, ExplorationStage.PAUSED):
                self.stage = ExplorationStage.INTERRUPTED
                self.trying = ""
            self.log_in_stage, self.log_in_words = LogInStage.NONE, ""
            self.changed.emit()

    def _do(self, work: object) -> None:
        self.error = ""
        self._tasks.start(work, None, self._failed)  # type: ignore[arg-type]

    def _log_in_failed(self, error: Exception) -> None:
        self.log_in_stage, self.log_in_words = LogInStage.NONE, ""
        self._failed(error)

    def _failed(self, error: Exception) -> None:
        self.error = str(error) or type(error).__name__
        self.changed.emit()

    def _clear(self) -> None:
        self.stage, self.ended_by = ExplorationStage.NONE, ""
        self.report = None
        self.states = self.frontier = self.tried = self.depth = self.transitions = 0
        self.velocity = self.seconds = 0.0
        self.trying = ""
        self.skipped.replace([])


def stage_of(ended: str) -> ExplorationStage:
    """Return the stage for the engine's word; an exploration that reached a limit is done."""
    if ended in ENDED_WORDS:
        return ExplorationStage.DONE
    return ExplorationStage(ended) if ended in set(ExplorationStage) else ExplorationStage.NONE
