"""Side by side in place of the run, and the panes in place of the verdicts: their commands and file dialogs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QAbstractItemView, QFileDialog, QStackedWidget, QWidget

from app.models.review.comparison_rows import LEFT, RIGHT
from app.views.review.guideline_pane import GuidelinePane
from app.views.review.people_pane import PeoplePane
from app.views.review.progress_pane import OpportunityPane, ProgressPane
from app.views.review.side_by_side import SideBySide

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.review.panels import ReviewPanelsModel
    from app.models.review.review_model import ReviewModel
    from app.views.frame.theme import Theme
    from app.views.review.side_pane import SidePane

PLACE = "compare"


class ReviewPanels(QObject):
    """Adds its views to Review's middle and side, and binds their commands.

    ``closed`` asks Review to show the verdicts again; ``focus_wanted`` to focus its queue.
    """

    closed = Signal()
    focus_wanted = Signal()

    def __init__(
        self,
        model: ReviewModel,
        center: CommandCenter,
        theme: Theme,
        side: QStackedWidget,
        step: QWidget,
        queue: QAbstractItemView,
    ) -> None:
        super().__init__(side)
        self._review, self.model, self._center = model, model.panels, center
        self._side, self._step, self._queue = side, step, queue
        self._dialog: QFileDialog | None = None
        parts = self.model
        self.comparison = SideBySide(parts.comparison, center, theme)
        self.middle = QStackedWidget()
        self.middle.addWidget(step)
        self.middle.addWidget(self.comparison)
        self.progress = ProgressPane(parts.progress, center, theme)
        self.opportunities = OpportunityPane(parts.progress, center, theme)
        self.people = PeoplePane(parts.annotators, model.queue, center, theme)
        self.guideline = GuidelinePane(parts.guideline, model.judging, center, theme)
        for command, pane in self.panes.items():
            side.addWidget(pane)
            pane.closed.connect(self.closed)
            center.bind(command, lambda pane=pane: self.toggle(pane))
        side.currentChanged.connect(self._on_side)
        queue.selectionModel().selectionChanged.connect(self._on_selection)
        parts.comparison.changed.connect(self._on_comparison)
        parts.comparison.row_changed.connect(center.refresh)
        parts.progress.page_written.connect(open_file)
        self._bind(parts)

    @property
    def panes(self) -> dict[str, SidePane]:
        """The panes by the command that opens and closes each."""
        return {
            "review.progress": self.progress,
            "review.opportunities": self.opportunities,
            "review.annotators": self.people,
            "review.guideline": self.guideline,
        }

    @property
    def place(self) -> str:
        """The place of the keys: side by side while it is shown, else Review."""
        return PLACE if self.model.comparison.is_open else "review"

    @property
    def _selected_runs(self) -> list[str]:
        """The runs selected in the queue, from the top."""
        rows = sorted(index.row() for index in self._queue.selectionModel().selectedRows())
        found = [self._review.queue.model.at(row) for row in rows]
        return [row.id for row in found if row is not None]

    @property
    def _runs_to_export(self) -> list[str]:
        """Several selected runs, else the open one."""
        selected = self._selected_runs
        return selected if len(selected) > 1 or not self._review.run else [self._review.run]

    def toggle(self, pane: SidePane) -> None:
        """Open a pane in place of the verdicts, or close it."""
        if self._side.currentWidget() is pane:
            self.closed.emit()
            return
        self._review.close_composer()
        self._side.setCurrentWidget(pane)
        pane.take_focus()

    def leave(self) -> bool:
        """Go back one level inside the pane that is shown; False where there is none."""
        pane = self._side.currentWidget()
        return any(one is pane and one.leave() for one in self.panes.values())

    # ------------------------------------------------------------ commands
    def _bind(self, parts: ReviewPanelsModel) -> None:
        bind, comparison = self._center.bind, parts.comparison

        def rows() -> bool:
            return comparison.current is not None

        def several() -> bool:
            return len(comparison.candidates) > 1

        bind("review.compare", parts.compare, lambda: bool(self._review.run))
        bind("review.compare.selected", self._compare_selected, lambda: len(self._selected_runs) == 2)
        bind("compare.next", lambda: comparison.go(1), rows)
        bind("compare.previous", lambda: comparison.go(-1), rows)
        bind("compare.parting", comparison.go_parting, rows)
        bind("compare.left", lambda: comparison.choose_side(LEFT), rows)
        bind("compare.right", lambda: comparison.choose_side(RIGHT), rows)
        bind("compare.open", comparison.open_step, rows)
        bind("compare.other", lambda: comparison.choose_other(1), several)
        bind("compare.other.previous", lambda: comparison.choose_other(-1), several)
        bind("compare.failed", comparison.toggle_failed, lambda: comparison.is_open)
        bind("compare.lines", self.comparison.toggle_lines, rows)
        bind("compare.tip", comparison.write_tip, rows)
        bind("compare.map", comparison.show_paths, rows)
        bind("compare.close", self._close_comparison, lambda: comparison.is_open)
        bind("review.export", self.choose_run_export, lambda: bool(self._runs_to_export))
        bind("review.verdicts.export", self.choose_export)
        bind("review.verdicts.import", self.choose_import)
        bind("review.progress.save", self.choose_page)

    def _close_comparison(self) -> None:
        """Close it, unless a pane beside it or a part of it has the focus and goes back first."""
        if self.leave():
            return
        self.model.comparison.close()

    def _compare_selected(self) -> None:
        runs = self._selected_runs
        if len(runs) == 2:
            self.model.compare_runs(runs[0], runs[1])

    # ------------------------------------------------------------ files
    def choose_run_export(self) -> None:
        """Choose the format of the open or the selected runs, and their file or folder."""
        runs, model = self._runs_to_export, self.model.exporting
        several = len(runs) > 1
        choices = {
            self.tr("{0} (*{1})").format(one.title, one.suffix if not several else ""): one
            for one in model.choices()
        }
        title = (
            self.tr("Export {0} runs into a folder").format(len(runs))
            if several
            else self.tr("Export the run")
        )
        dialog = self._save_dialog(title, self.tr("runs") if several else runs[0], list(choices))

        def suffixed(name: str) -> None:
            dialog.setDefaultSuffix("" if several else choices[name].suffix.lstrip("."))

        def chosen(path: str) -> None:
            model.export(runs, path, choices[dialog.selectedNameFilter()].format)

        suffixed(next(iter(choices)))
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)  # nothing is overwritten: it is refused
        dialog.filterSelected.connect(suffixed)
        dialog.fileSelected.connect(chosen)
        dialog.open()

    def choose_export(self) -> None:
        """Choose the file and format of the verdicts."""
        formats = {
            self.tr("Sitelore's lines (*.jsonl)"): ("jsonl", "jsonl"),
            self.tr("Table (*.csv)"): ("csv", "csv"),
            self.tr("AgentRewardBench's annotations (*.csv)"): ("agentrewardbench", "csv"),
        }
        dialog = self._save_dialog(self.tr("Export verdicts"), "verdicts.jsonl", list(formats))

        def suffixed(name: str) -> None:
            dialog.setDefaultSuffix(formats[name][1])

        def chosen(path: str) -> None:
            self.model.progress.export_verdicts(path, formats[dialog.selectedNameFilter()][0])

        dialog.filterSelected.connect(suffixed)
        dialog.fileSelected.connect(chosen)
        dialog.open()

    def choose_import(self) -> None:
        """Choose a file of verdicts."""
        dialog = QFileDialog(self._side.window(), self.tr("Import verdicts"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.tr("Verdicts (*.jsonl *.csv *.json)"), self.tr("All files (*)")])
        dialog.setDirectory(str(Path.home()))
        dialog.fileSelected.connect(self.model.progress.import_verdicts)
        dialog.finished.connect(dialog.deleteLater)
        self._dialog = dialog
        dialog.open()

    def choose_page(self) -> None:
        """Choose the file of the printable page."""
        dialog = self._save_dialog(
            self.tr("Save the progress as a page"), "progress.html", [self.tr("Web page (*.html)")]
        )
        dialog.setDefaultSuffix("html")
        dialog.fileSelected.connect(self.model.progress.save_page)
        dialog.open()

    def _save_dialog(self, title: str, name: str, filters: list[str]) -> QFileDialog:
        dialog = QFileDialog(self._side.window(), title)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setNameFilters(filters)
        dialog.setDirectory(str(Path.home()))
        dialog.selectFile(name)
        dialog.setDefaultSuffix(Path(name).suffix.lstrip("."))
        dialog.finished.connect(dialog.deleteLater)
        self._dialog = dialog
        return dialog

    # ------------------------------------------------------------ answers
    def _on_selection(self, _selected: object, _deselected: object) -> None:
        """Two selected runs can be compared."""
        self._center.refresh()

    def _on_side(self, _place: int) -> None:
        """Let the panes load only while they are shown."""
        shown = self._side.currentWidget()
        for pane in self.panes.values():
            pane.watch(pane is shown)

    def _on_comparison(self) -> None:
        is_open = self.model.comparison.is_open
        if is_open != (self.middle.currentWidget() is self.comparison):
            self.middle.setCurrentWidget(self.comparison if is_open else self._step)
            if self._center.place in ("review", PLACE):
                self._center.set_place(self.place)
            if is_open:
                self.comparison.take_focus()
            else:
                self.focus_wanted.emit()
        self._center.refresh()


def open_file(path: str) -> None:
    """Open a file in the program that the desktop has for it."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(path))
