"""Connects the window's models and views, and the perspectives with each other."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QIcon

from app.assets import resource
from app.models.common.action_sets_model import ActionSetsModel
from app.models.common.command import PERSPECTIVES
from app.models.common.jobs import JobList
from app.models.common.keymap import readable_key
from app.models.common.model_setup import ModelSetup
from app.models.common.prompt_set_model import PromptSetModel
from app.models.common.search import SearchModel
from app.models.common.session import SessionKeeper
from app.models.common.settings_form import SettingsForm
from app.models.common.sites_model import SitesModel
from app.models.common.tasks import Tasks
from app.models.common.workspace import WorkspaceModel
from app.models.evaluate.evaluate_model import EvaluateModel
from app.models.graph.workspace import MapWorkspace
from app.models.knowledge.knowledge_model import KnowledgeModel
from app.models.live.model import LiveModel
from app.models.review.review_model import ReviewModel
from app.views.evaluate.evaluate_view import EvaluateView
from app.views.frame.notification_center import NotificationCenter
from app.views.frame.schedule_center import ScheduleCenter
from app.views.graph.view import MapView
from app.views.knowledge.knowledge_view import KnowledgeView
from app.views.knowledge.tip_detail import TipDetail
from app.views.live.view import LiveView
from app.views.review.review_view import ReviewView

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from app.engine.api.engine_api import RunDetail, SearchHit
    from app.models.common.engine_client import EngineClient, LocalClient
    from app.views.frame.knowledge_file_panel import KnowledgeFilePanel
    from app.views.frame.main_window import MainWindow
    from app.views.frame.prompt_set_panel import PromptSetPanel
    from app.views.frame.sites_panel import SitesPanel
    from kb.tip import TipDraft


log = logging.getLogger(__name__)


class Workbench(QObject):
    """Created and built while the engine starts; ``start`` when it is connected, ``stop`` before it stops."""

    def __init__(self, window: MainWindow, client: EngineClient | LocalClient) -> None:
        super().__init__(window)
        self._window, self._client = window, client
        self._back_to_live = False
        self.tasks = Tasks(self)
        self.workspace = WorkspaceModel(client, self.tasks, self)
        self.jobs = JobList(client, self.tasks, self)
        self.search = SearchModel(client, self.tasks, self)
        self.session = SessionKeeper(client, self.tasks, window.session, self)
        self.review = ReviewModel(client, self.tasks, self)
        self.map = MapWorkspace(client, self.tasks, self)
        self.live = LiveModel(client, self.tasks, self)
        self.knowledge = KnowledgeModel(client, self.tasks, self)
        self.evaluate = EvaluateModel(client, self.tasks, self)
        self.sites = SitesModel(client, self.tasks, self)
        self._sites_panel: SitesPanel | None = None
        self._knowledge_file: KnowledgeFilePanel | None = None
        self.prompts = PromptSetModel(client, self.tasks, self)
        self.action_sets = ActionSetsModel(client, self.tasks, self)
        self._prompts_panel: PromptSetPanel | None = None
        window.theme.load_icons()
        window.setWindowIcon(QIcon(str(resource("icons", "sitelore.svg"))))
        form = SettingsForm(self.tasks, self)
        setup = ModelSetup(form, client, self.tasks, self)
        window.attach(self.workspace, self.jobs, self.search, form, setup)
        self.calls = NotificationCenter(window, client, self.tasks, self.live, form)
        self.schedule = ScheduleCenter(window, client, self.tasks, self.calls)
        for runs in (self.live.form, self.live.batches.form, self.review.run_form):
            runs.model_wanted.connect(lambda: window.center.trigger("app.model"))
            form.saved.connect(runs.look_up_model)
            setup.kept.connect(runs.look_up_model)
        self.calls.settings.applied.connect(self.workspace.reload)
        setup.kept.connect(self.workspace.reload)
        self._wire()

    async def build(self) -> None:
        """Create the perspectives, letting the event loop run between them."""
        views: dict[str, Callable[[], Awaitable[Any]]] = {
            "review": self._review_view,
            "map": self._map_view,
            "live": self._live_view,
            "knowledge": self._knowledge_view,
            "evaluate": self._evaluate_view,
        }
        for perspective in PERSPECTIVES:
            view = await views[perspective.place]()
            await asyncio.sleep(0)
            self._window.add_perspective(view)
            await asyncio.sleep(0)

    async def _review_view(self) -> ReviewView:
        return ReviewView(self.review, self._window.center, self._window.theme)

    async def _map_view(self) -> MapView:
        view = MapView(self.map, self._window.center, self._window.theme)
        view.step_requested.connect(self.open_step)
        view.tip_requested.connect(self.open_tip)
        view.review_requested.connect(self.review_runs)
        self.schedule.map_wanted.connect(partial(self._show_changed_map, view))
        return view

    async def _live_view(self) -> LiveView:
        view = LiveView(self.live, self._window.center, self._window.theme)
        await asyncio.sleep(0)
        self.calls.attach(view)
        return view

    async def _knowledge_view(self) -> KnowledgeView:
        detail = TipDetail(self.knowledge, self._window.center, self._window.theme)
        await asyncio.sleep(0)
        return KnowledgeView(self.knowledge, self._window.center, self._window.theme, detail)

    async def _evaluate_view(self) -> EvaluateView:
        view = EvaluateView(self.evaluate, self._window.center, self._window.theme)
        view.run_requested.connect(self._open_run)
        view.tip_requested.connect(self.open_tip)
        result, comparison = self.evaluate.result, self.review.panels.comparison
        self._window.center.bind(
            "pair.other",
            lambda: comparison.open_other() if self._is_own_comparison else view.show_other(),
            lambda: result.has_other or comparison.current is not None,
        )
        return view

    @property
    def _is_own_comparison(self) -> bool:
        """Whether the runs side by side are no pair of an evaluation."""
        comparison = self.review.panels.comparison
        return comparison.is_open and comparison.runs != self.evaluate.result.open_pair_runs

    async def start(self, *, restore: bool) -> None:
        """Load the session, restore it, then load the data."""
        session: dict[str, Any] = await self.session.load()
        self._window.restore_session(session if restore else {})
        self.workspace.start()
        self.jobs.load()
        self.review.start()
        self.map.start()
        self.live.start()
        self.calls.start()
        self.knowledge.start()
        self.evaluate.start()
        self._window.status.show_saved(True)

    async def stop(self, *, save: bool) -> None:
        """Save the session, end the tasks, then the engine."""
        if save:
            try:
                await self.session.finish()
            except Exception:
                log.exception("the session could not be saved")
        await self.live.delayed_stops.held.finish()
        await self.tasks.aclose()
        self.live.frames.close()
        await self._client.aclose()

    def called(self, paths: list[str], place: str = "") -> None:
        """Handle a second start on this workspace: come to the front and open what it names."""
        window = self._window
        if window.isMinimized():
            window.showNormal()
        window.raise_()
        window.activateWindow()
        self.open_paths(paths, place)

    def open_paths(self, paths: list[str], place: str = "") -> None:
        """Open what a start names: a perspective, a knowledge base beside the own one, runs in Review."""
        if place in {one.place for one in PERSPECTIVES}:
            self._window.go(place)
        self.workspace.import_paths(paths, then_open=True)

    def open_knowledge_file(self, path: str) -> None:
        """Show a knowledge base beside the workspace's own."""
        if self._knowledge_file is None:
            from app.models.knowledge.knowledge_file import KnowledgeFileModel
            from app.views.frame.knowledge_file_panel import KnowledgeFilePanel

            self._knowledge_file = KnowledgeFilePanel(
                KnowledgeFileModel(self._client, self.tasks, self), self._window.theme, self._window.frame
            )
            self._knowledge_file.model.notice.connect(self._window.say)
        self._window.go("knowledge")
        self._knowledge_file.model.load(path)
        self._knowledge_file.present()

    def open_hit(self, hit: SearchHit) -> None:
        if hit.kind == "tip":
            self.open_tip(hit.id)
        else:
            self._window.go("review")
            self.review.open_run(hit.id, hit.step)

    def open_tip(self, tip: str) -> None:
        self._window.go("knowledge")
        self.knowledge.open_tip(tip)

    def open_step(self, run: str, step: int | None) -> None:
        self._window.go("review")
        self.review.open_run(run, step)

    def review_runs(self, words: str) -> None:
        """Show the runs that pass a filter in Review, and open the first of them."""
        queue = self.review.queue

        def came() -> None:
            queue.loaded.disconnect(came)
            first = queue.model.at(0)
            if first is not None and queue.text == words:
                self.review.open_run(first.id)

        self._window.go("review")
        queue.loaded.connect(came)
        queue.set_filter(words)
        queue.load()

    def write_tip(self, draft: TipDraft) -> None:
        """Open the composer on a draft from Live; once it is saved or closed, return there."""
        run, step = self.live.tip_source
        self.open_step(run, step)
        self.review.composer.open(run, step, draft)
        self.review.composing_changed.emit(True)
        self._back_to_live = True

    def _offer_undo(self, words: str) -> None:
        """Announce that a run is about to be ended, with an Undo button."""
        center = self._window.center
        keys = center.keymap.keys("app.undo")
        key = readable_key(keys[-1]) if keys else ""
        self._window.toast.say(words, self.tr("Undo  {0}").format(key), self.workspace.undo_held_back)

    def open_sites(self) -> None:
        """Open or close the panel of the sites."""
        if self._sites_panel is None:
            from app.views.frame.sites_panel import SitesPanel

            self._sites_panel = SitesPanel(self.sites, self._window.theme, self._window.frame)
        self._sites_panel.toggle()

    def _show_changed_map(self, view: MapView, site: str) -> None:
        """Show a map and what changed on it."""
        self._window.go("map")
        self.map.map.choose_site(site)
        if view.changes.isVisible():
            self.map.changes.show(site)
        else:
            view.show_changes()

    def _show_tips(self, words: str) -> None:
        """Show the tips that pass a filter in Knowledge."""
        self._window.go("knowledge")
        self.knowledge.set_filter(words)

    def open_prompts(self) -> None:
        """Open or close the panel of prompts and actions."""
        if self._prompts_panel is None:
            from app.views.frame.prompt_set_panel import PromptSetPanel

            self._prompts_panel = PromptSetPanel(
                self.prompts, self.action_sets, self._window.theme, self._window.frame
            )
        self._prompts_panel.toggle()

    def _on_composing(self, is_open: bool) -> None:
        if not is_open and self._back_to_live:
            self._back_to_live = False
            if self._window.place == "review":
                QTimer.singleShot(0, self, lambda: self._window.go("live"))

    def _open_run(self, run: str) -> None:
        self.open_step(run, None)

    def _compare_runs(self, left: str, right: str) -> None:
        self._window.go("review")
        self.review.panels.compare_runs(left, right)

    def _show_paths(self, left: RunDetail, right: RunDetail, parting: str) -> None:
        """Show the paths of two runs on the map of their site, or say that it has none."""
        said = self.map.map.show_runs(left, right, parting)
        if said:
            self._window.say(said)
        else:
            self._window.go("map")

    def _offer_freeze(self) -> None:
        """Let Evaluate offer the file that was frozen last."""
        if self.knowledge.freezing.last_file:
            self.evaluate.form.offer(self.knowledge.freezing.last_file)

    def _wire(self) -> None:
        window = self._window
        window.commands.hit_opened.connect(self.open_hit)
        window.commands.save_wanted.connect(self.session.save)
        self.session.saved_changed.connect(window.status.show_saved)
        self.tasks.error.connect(window.show_error)
        self.workspace.knowledge_file_opened.connect(self.open_knowledge_file)
        self.workspace.run_opened.connect(self._open_run)
        self.review.notice.connect(window.say)
        self.review.panels.exporting.written.connect(window.say_written)
        self.map.map.notice.connect(window.say)
        self.live.notice.connect(window.toast.say)  # actions in Live are not in the history
        self.live.undo_offered.connect(self._offer_undo)
        self.live.numbered.connect(self.session.save)
        self.workspace.follow(self.live.delayed_stops.held)
        self.live.tip_wanted.connect(self.write_tip)
        self.review.composing_changed.connect(self._on_composing)
        self.live.review_wanted.connect(self.open_step)
        self.live.knowledge_wanted.connect(self.open_tip)
        self.knowledge.notice.connect(window.say)
        self.evaluate.notice.connect(window.say)
        self.evaluate.pair_requested.connect(self._compare_runs)
        self.review.panels.comparison.paths_wanted.connect(self._show_paths)
        self.knowledge.freezing.changed.connect(self._offer_freeze)
        self.sites.notice.connect(window.say)
        self.sites.learned.connect(window.toast.say)  # what a site learns is not in the history
        window.center.bind("app.sites", self.open_sites)
        self.prompts.notice.connect(window.say)
        self.action_sets.notice.connect(window.say)
        window.center.bind("app.prompts", self.open_prompts)
        schedule, map_model, knowledge = self.schedule, self.map.map, self.knowledge
        schedule.tips_wanted.connect(self._show_tips)
        window.center.bind("map.schedule", lambda: schedule.begin_map(map_model.site))
        window.center.bind("knowledge.schedule", lambda: schedule.begin_tips(knowledge.open_site))
        self.knowledge.step_requested.connect(self.open_step)
