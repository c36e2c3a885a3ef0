"""Actions of the frame's own commands; overlays are created when they are first opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QSize, Signal, qVersion
from PySide6.QtWidgets import QFileDialog

from app.assets import guide
from app.models.common.jobs import RUNNING
from app.views.frame.jobs_bar import JobsPopup
from app.views.frame.search import SearchPopup

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.engine.core.events import JobChanged
    from app.models.common.commands import CommandCenter
    from app.models.common.jobs import JobList
    from app.models.common.model_setup import ModelSetup
    from app.models.common.search import SearchModel
    from app.models.common.settings_form import SettingsForm
    from app.models.common.workspace import WorkspaceModel
    from app.views.frame.banner import Banner
    from app.views.frame.cheat_sheet import CheatSheet
    from app.views.frame.doctor_panel import DoctorPanel, TextPanel
    from app.views.frame.guide_panel import GuidePanel
    from app.views.frame.keymap_editor import KeymapEditor
    from app.views.frame.palette import PaletteView
    from app.views.frame.settings_panel import SettingsPanel
    from app.views.frame.theme import Theme
    from app.views.frame.top_bar import TopBar
    from app.views.frame.workspace_panel import WorkspacePanel
    from app.views.widgets.splitter import Splitter
    from app.views.widgets.toast import Toast

FOLDS = {"left": 0, "middle": 1, "right": -1}


class Frame(Protocol):
    """The window as its commands see it."""

    center: CommandCenter
    theme: Theme
    frame: QWidget
    top: TopBar
    banner: Banner
    toast: Toast

    def columns(self) -> Splitter | None: ...

    def reset_layout(self) -> None: ...

    def leave(self) -> None: ...

    def close_overlays(self) -> None:
        """Close what is open over the window."""
        ...

    def say(self, text: str, kind: str = "") -> None: ...


class FrameCommands(QObject):
    """Binds every command of the place "everywhere".

    ``hit_opened`` carries a chosen search hit; ``save_wanted`` asks to save the session.
    """

    hit_opened = Signal(object)
    save_wanted = Signal()

    def __init__(
        self,
        window: Frame,
        model: WorkspaceModel,
        jobs: JobList,
        search: SearchModel,
        form: SettingsForm,
        setup: ModelSetup,
    ) -> None:
        super().__init__(window.frame)
        self._form, self._setup = form, setup
        self._window, self._model, self._jobs = window, model, jobs
        self._center, self._theme, self._host = window.center, window.theme, window.frame
        self.jobs_popup = JobsPopup(jobs, self._center, self._theme, self._host)
        self.search_popup = SearchPopup(window.top.search, search, self._theme, self._host)
        self.search_popup.opened.connect(self.hit_opened)
        self._palette: PaletteView | None = None
        self._sheet: CheatSheet | None = None
        self._editor: KeymapEditor | None = None
        self._settings: SettingsPanel | None = None
        self._doctor: DoctorPanel | None = None
        self._guide: GuidePanel | None = None
        self._workspaces: WorkspacePanel | None = None
        self._text: TextPanel | None = None
        self._dialog: QFileDialog | None = None
        self.crash_text = ""
        jobs.dataChanged.connect(self._show_jobs)
        jobs.rowsInserted.connect(self._show_jobs)
        jobs.running_changed.connect(self._jobs_running)
        jobs.ended.connect(self._job_ended)
        jobs.failed.connect(self._job_trouble)
        model.history_changed.connect(self._name_turns)
        model.import_detailed.connect(self._offer_details)
        form.saved.connect(self._take_settings)
        self._bind()
        self._name_turns()

    def _bind(self) -> None:
        bind, window, model = self._center.bind, self._window, self._model
        bind("app.open_workspace", self._open_workspace)
        bind("runs.import", self._choose_folder)
        bind("runs.import_files", self._choose_files)
        bind("runs.ask_model", model.ask_model, lambda: not model.is_empty)
        bind("runs.detect", model.detect, lambda: not model.is_empty)
        bind("runs.rebuild_index", model.rebuild_index)
        bind("app.jobs", lambda: self.jobs_popup.toggle(window.top.jobs))
        bind("app.cancel_jobs", self._jobs.cancel_all, lambda: bool(self._jobs.running))
        bind("app.save_session", self.save_wanted.emit)
        bind("app.quit", window.leave)
        bind("app.undo", model.undo, lambda: bool(model.undo_label))
        bind("app.redo", model.redo, lambda: bool(model.redo_label))
        bind("app.search", self._search)
        bind("app.palette", self._open_palette)
        bind("app.keys", self._open_editor)
        bind("app.settings", self._open_settings)
        bind("app.model", self._open_model)
        bind("app.cheat_sheet", self._open_sheet)
        bind("app.doctor", self._open_doctor)
        bind("app.guide", self._open_guide, lambda: guide().exists())
        bind("app.about", self._about)
        bind("app.crash", self._show_crash, lambda: bool(self.crash_text))
        for name, number in FOLDS.items():
            bind(f"view.fold.{name}", lambda number=number: self._fold(number), self._has_columns)
        bind("view.reset_layout", window.reset_layout, self._has_columns)
        theme = self._theme
        bind("view.zoom.in", lambda: theme.step_zoom(1), lambda: theme.zoom < 2.0)
        bind("view.zoom.out", lambda: theme.step_zoom(-1), lambda: theme.zoom > 0.8)
        bind("view.zoom.reset", lambda: theme.set_zoom(1.0))
        for mode in ("system", "light", "dark", "contrast"):
            bind(f"view.theme.{mode}", lambda mode=mode: theme.set_mode(mode))

    # ------------------------------------------------------------ overlays, made late
    @property
    def palette(self) -> PaletteView:
        if self._palette is None:
            from app.views.frame.palette import PaletteView

            self._palette = PaletteView(self._center, self._theme, self._host)
        return self._palette

    @property
    def sheet(self) -> CheatSheet:
        if self._sheet is None:
            from app.views.frame.cheat_sheet import CheatSheet

            self._sheet = CheatSheet(self._center, self._theme, self._host)
        return self._sheet

    @property
    def editor(self) -> KeymapEditor:
        if self._editor is None:
            from app.views.frame.keymap_editor import KeymapEditor

            self._editor = KeymapEditor(self._center, self._theme, self._host)
        return self._editor

    @property
    def settings(self) -> SettingsPanel:
        if self._settings is None:
            from app.views.frame.settings_panel import SettingsPanel

            self._settings = SettingsPanel(self._form, self._setup, self._model, self._theme, self._host)
        return self._settings

    @property
    def guide(self) -> GuidePanel:
        if self._guide is None:
            from app.views.frame.guide_panel import GuidePanel

            self._guide = GuidePanel(self._theme, self._host)
        return self._guide

    @property
    def workspaces(self) -> WorkspacePanel:
        if self._workspaces is None:
            from app.views.frame.workspace_panel import WorkspacePanel

            self._workspaces = WorkspacePanel(self._model.recent, self._theme, self._host)
        return self._workspaces

    @property
    def doctor(self) -> DoctorPanel:
        if self._doctor is None:
            from app.views.frame.doctor_panel import DoctorPanel

            self._doctor = DoctorPanel(self._model, self._theme, self._host)
        return self._doctor

    @property
    def text(self) -> TextPanel:
        """The panel of About and of the last crash."""
        if self._text is None:
            from app.views.frame.doctor_panel import TextPanel

            self._text = TextPanel(self._theme, self._host, QSize(720, 420))
        return self._text

    def offer_crash_report(self, text: str) -> None:
        """Report that the last session crashed, with a button to see the trace."""
        self.crash_text = text
        self._window.banner.offer(
            self.tr("Sitelore ended unexpectedly last time. Nothing saved was lost."),
            self.tr("Show"),
            self._show_crash,
        )
        self._center.refresh()

    def offer_rebuild(self, text: str) -> None:
        """Report that the search index is damaged, with a button to rebuild it."""
        self._window.banner.offer(text, self.tr("Rebuild"), self._rebuild)

    # ------------------------------------------------------------ operations
    def _rebuild(self) -> None:
        self._window.banner.tell("")
        self._model.rebuild_index()

    def _search(self) -> None:
        self._window.close_overlays()
        self.search_popup.begin()

    def _open_palette(self) -> None:
        self.palette.toggle()

    def _open_editor(self) -> None:
        self.editor.toggle()

    def _open_sheet(self) -> None:
        self.sheet.toggle()

    def _open_settings(self) -> None:
        self.settings.toggle()

    def _open_model(self) -> None:
        self.settings.open_model()

    def _take_settings(self, values: dict[str, object]) -> None:
        self._theme.set_mode(str(values["theme"]))

    def _open_workspace(self) -> None:
        self.workspaces.toggle()

    def _open_guide(self) -> None:
        self.guide.toggle()

    def _open_doctor(self) -> None:
        self.doctor.toggle()

    def _choose_folder(self) -> None:
        self._choose(QFileDialog.FileMode.Directory, self.tr("Import a folder of runs"))

    def _choose_files(self) -> None:
        self._choose(QFileDialog.FileMode.ExistingFiles, self.tr("Import run files"))

    def _choose(self, mode: QFileDialog.FileMode, title: str) -> None:
        dialog = QFileDialog(self._host, title)
        dialog.setFileMode(mode)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptOpen)
        dialog.setDirectory(str(Path.home()))
        dialog.filesSelected.connect(self._model.import_runs)
        dialog.finished.connect(dialog.deleteLater)
        self._dialog = dialog
        dialog.open()

    def _offer_details(self, words: str, kind: str, details: str) -> None:
        """Say how an import went, with a button that lists its problems and notes."""
        title = self.tr("Import")
        self._window.toast.say(words, self.tr("Details"), lambda: self.text.tell(title, details), kind=kind)

    def _has_columns(self) -> bool:
        return self._window.columns() is not None

    def _fold(self, number: int) -> None:
        columns = self._window.columns()
        if columns is not None:
            columns.toggle(number % columns.count())

    def _name_turns(self) -> None:
        model, center = self._model, self._center
        center.set_title(
            "app.undo", self.tr("Undo: {0}").format(model.undo_label) if model.undo_label else ""
        )
        center.set_title(
            "app.redo", self.tr("Redo: {0}").format(model.redo_label) if model.redo_label else ""
        )
        center.refresh()

    def _show_jobs(self) -> None:
        self._window.top.jobs.show_jobs(self._jobs.running)

    def _jobs_running(self, _count: int) -> None:
        self._show_jobs()
        self._center.refresh()

    def _job_ended(self, job: JobChanged) -> None:
        if job.state == "failed":
            self._window.say(self.tr("{0} failed: {1}").format(job.title, job.error), "fail")
        elif job.state not in (RUNNING, "done"):
            self._window.say(self.tr("{0}: {1}").format(job.title, job.state))

    def _job_trouble(self, text: str) -> None:
        self._window.say(text, "fail")

    def _about(self) -> None:
        version, qt = self._model.version, qVersion()
        info = self._model.info
        where = f"Workspace: {info.path}\nEncoder: {info.encoder}" if info else ""
        self.text.tell(
            self.tr("About Sitelore"),
            self.tr(
                "Sitelore {0}\n\nTurns failed web-agent runs into site knowledge: import runs, go to the step that"
                " went wrong, write a tip, see where it would have been retrieved, freeze the knowledge base."
                "\n\nQt {1}\n{2}\n\nApache License 2.0. Icons: Material Design Icons (qtawesome)."
            ).format(version, qt, where),
        )

    def _show_crash(self) -> None:
        self._window.banner.tell("")
        self.text.tell(self.tr("The last crash"), self.crash_text, mono=True)
