"""The Evaluate perspective: suites and evaluations, the result or a form, the facts beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QDragEnterEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QStackedWidget, QWidget

from app.models.evaluate.evaluate_model import EvaluateModel, EvaluatePage
from app.models.evaluate.suites_model import SUITE_SUFFIXES
from app.views.evaluate.evaluation_form import EvaluationForm
from app.views.evaluate.facts_pane import FactsPane
from app.views.evaluate.forest_plot import ForestPlot
from app.views.evaluate.lists_pane import ListsPane
from app.views.evaluate.plan_pane import PlanPane
from app.views.evaluate.rescore_pane import CheckPane, RescorePane
from app.views.evaluate.result_pane import ResultPane
from app.views.evaluate.single_row_table import SingleRowTable
from app.views.evaluate.suite_pane import SuiteFacts, SuitePane
from app.views.widgets import Splitter
from app.views.widgets.build import vbox

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.views.frame.theme import Theme

LEFT, RIGHT = 248, 312
WIDE, WIDE_SIDES = 1900, (340, 440)
"""Widths of the sides on windows wider than this."""
MOST_SIDES = 0.5
"""Largest part of the width that both sides take."""
RESULTS_BY_COMMAND = {
    "evaluate.show.all": "",
    "evaluate.show.won": "won",
    "evaluate.show.lost": "lost",
    "evaluate.show.both": "both",
    "evaluate.show.neither": "neither",
    "evaluate.show.undecided": "undecided",
}


class EvaluateView(QWidget):
    """Its commands are bound here.

    Signals:
        run_requested(run), tip_requested(tip): ask the frame to show a run in Review, a tip in Knowledge.
    """

    place = "evaluate"
    run_requested = Signal(str)
    tip_requested = Signal(str)

    def __init__(self, model: EvaluateModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self.model, self._center, self._theme = model, center, theme
        self._by_hand = False
        self._stand: tuple[object, ...] = ()
        self._dialog: QFileDialog | None = None
        self.lists = ListsPane(model, center, theme)
        self.result, self.facts = ResultPane(model, center, theme), FactsPane(model, center, theme)
        self.suite = SuitePane(model.suites, center, theme)
        self.suite_facts = SuiteFacts(model.suites, center, theme)
        self.form, self.plan = EvaluationForm(model.form, center, theme), PlanPane(model.form, theme)
        self.rescore, self.checks = (
            RescorePane(model.rescoring, center, theme),
            CheckPane(model.rescoring, theme),
        )
        self.middle, self.right = QStackedWidget(), QStackedWidget()
        self._pages: dict[EvaluatePage, tuple[QWidget, QWidget]] = {
            EvaluatePage.RESULT: (self.result, self.facts),
            EvaluatePage.SUITE: (self.suite, self.suite_facts),
            EvaluatePage.FORM: (self.form, self.plan),
            EvaluatePage.RESCORE: (self.rescore, self.checks),
        }
        for middle, right in self._pages.values():
            self.middle.addWidget(middle)
            self.right.addWidget(right)
        self.columns = Splitter(Qt.Orientation.Horizontal, (LEFT, 0, RIGHT))
        for pane in (self.lists, self.middle, self.right):
            self.columns.addWidget(pane)
        self.lists.setMinimumWidth(170)
        self.middle.setMinimumWidth(320)
        self.right.setMinimumWidth(220)
        vbox(self.columns, parent=self)
        self.setAcceptDrops(True)
        self._connect()
        self._bind()

    # ------------------------------------------------------------ what the frame asks
    def focus_first(self) -> None:
        """Focus the form that is open, else the list."""
        match self.model.page:
            case EvaluatePage.FORM:
                self.form.suite.setFocus(Qt.FocusReason.OtherFocusReason)
            case EvaluatePage.RESCORE:
                self.rescore.take_focus()
            case _:
                self.lists.take_focus()

    def save_layout(self) -> dict[str, Any]:
        """Widths, and the model's session."""
        return {
            "columns": self.columns.save(),
            "lists": self.lists.rows.save(),
            "result": self.result.rows.save(),
            "by_hand": self._by_hand,
            **self.model.session(),
        }

    def restore_layout(self, layout: dict[str, Any]) -> None:
        self._by_hand = layout.get("by_hand") is True
        parts = (("columns", self.columns), ("lists", self.lists.rows), ("result", self.result.rows))
        for name, splitter in parts:
            if self._by_hand and isinstance(layout.get(name), dict):
                splitter.restore(layout[name])
        if layout:
            self.model.restore(layout)
        if not self._by_hand:
            self._share_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Set the columns' widths from the window's size until the user or an earlier session has."""
        super().resizeEvent(event)
        if not self._by_hand:
            self._share_out()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take files that may be suites; others are runs, and the window's."""
        if self._suites_in(event):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
        else:
            event.ignore()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = self._suites_in(event)
        if paths:
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self.model.suites.add(paths)

    # ------------------------------------------------------------ layout
    def _share_out(self) -> None:
        left, right = WIDE_SIDES if self.width() > WIDE else (LEFT, RIGHT)
        zoom = max(self._theme.zoom, 1.0)
        left, right = min(left * zoom, left + 60), min(right * zoom, right + 90)
        share = min(1.0, self.width() * MOST_SIDES / (left + right))
        left, right = round(left * share), round(right * share)
        self.columns.setSizes([left, max(self.width() - left - right, 200), right])
        rows = max(len(self.model.suites.list.rows), 2)
        high = min(self._theme.px(44) * rows + self._theme.px(52), max(self.height() // 3, 160))
        self.lists.rows.setSizes([high, max(self.height() - high, 100)])
        plot = min(self.result.forest.sizeHint().height() + 4, int(self.height() * 0.42))
        self.result.rows.setSizes([plot, max(self.height() - plot, 100)])

    def _connect(self) -> None:
        model = self.model
        for splitter in (self.columns, self.lists.rows, self.result.rows):
            splitter.splitterMoved.connect(self._on_moved)
        model.page_changed.connect(self._on_page)
        model.report_written.connect(self._open_report)
        model.run_requested.connect(self.run_requested)
        model.tip_requested.connect(self.tip_requested)
        self.rescore.run_wanted.connect(self.run_requested)
        self.result.pairs.opened.connect(self._open_pair)
        self.result.credits.opened.connect(self.tip_requested)
        self.form.closed.connect(self._back)
        for signal in (
            model.changed,
            model.page_changed,
            model.current_changed,
            model.result.changed,
            model.form.changed,
            model.rescoring.changed,
        ):
            signal.connect(self._refresh)
        model.result.changed.connect(self._fit_plot)
        model.suites.changed.connect(self._fit_plot)

    # ------------------------------------------------------------ commands
    def _bind(self) -> None:
        model, bind, result = self.model, self._center.bind, self.model.result

        def comparing() -> bool:
            return model.page is EvaluatePage.RESULT and result.pairs.total > 0

        bind("evaluate.next", lambda: self._step(1))
        bind("evaluate.previous", lambda: self._step(-1))
        bind("evaluate.new", self._new)
        bind("evaluate.start", self._start, self._can_start)
        bind("evaluate.rescore", self._rescore)
        bind("evaluate.filter", self._filter, lambda: comparing() or model.page is EvaluatePage.SUITE)
        bind(
            "evaluate.sort",
            lambda: self._with_table(SingleRowTable.sort_next),
            lambda: self._table is not None,
        )
        bind(
            "evaluate.sort.turn",
            lambda: self._with_table(SingleRowTable.turn_sort),
            lambda: self._table is not None,
        )
        bind("evaluate.back", self._back)
        bind("suite.add", self.choose_suite)
        bind("suite.blind", model.suites.turn_blind, lambda: model.suites.row is not None)
        bind("evaluate.suites", lambda: self.lists.suites.setFocus(Qt.FocusReason.ShortcutFocusReason))
        bind(
            "evaluate.evaluations",
            lambda: self.lists.evaluations.setFocus(Qt.FocusReason.ShortcutFocusReason),
        )
        bind("evaluate.stop", model.stop, lambda: model.can_stop)
        bind("evaluate.resume", model.resume, lambda: model.can_resume)
        bind("evaluate.report", model.write_report, lambda: model.has_result)
        bind("evaluate.remove", model.remove, lambda: bool(model.removable))
        bind("evaluate.arms", result.next_arms, lambda: comparing() and len(result.verdicts) > 1)
        bind("evaluate.forest", self.result.take_forest, comparing)
        bind("evaluate.numbers", self.result.turn_numbers, comparing)
        bind("evaluate.pairs", self.result.take_pairs, comparing)
        bind("evaluate.tips", self.result.take_tips, comparing)
        bind("evaluate.open", self._open, self._can_open)
        for command, shown in RESULTS_BY_COMMAND.items():
            bind(command, lambda shown=shown: self._show_only(shown), comparing)
        bind("evaluate.last_freeze", self._take_freeze, lambda: bool(model.form.last_freeze))
        bind("pair.other", self.show_other, lambda: result.has_other)

    def choose_suite(self) -> None:
        """Choose files of suites, without holding up the window."""
        dialog = QFileDialog(self.window(), self.tr("Add suites"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        endings = " ".join(f"*{suffix}" for suffix in SUITE_SUFFIXES)
        dialog.setNameFilters([self.tr("Suites ({0})").format(endings), self.tr("All files (*)")])
        dialog.setDirectory(str(Path.home()))
        dialog.filesSelected.connect(self.model.suites.add)
        dialog.finished.connect(dialog.deleteLater)
        self._dialog = dialog
        dialog.open()

    @property
    def _table(self) -> SingleRowTable | None:
        """The table that sorting means."""
        match self.model.page:
            case EvaluatePage.SUITE:
                return self.suite.table
            case EvaluatePage.RESCORE:
                return self.rescore.table
            case EvaluatePage.RESULT:
                focused = self.result.focused_table()
                chosen = self.result.credits if self.result.is_tips else self.result.pairs
                return focused if isinstance(focused, SingleRowTable) else chosen
            case EvaluatePage.FORM:
                return None

    def _with_table(self, do: Callable[[SingleRowTable], None]) -> None:
        table = self._table
        if table is not None:
            do(table)

    def _step(self, offset: int) -> None:
        """Go on in the list, table or plot with the focus; by default in the list that is open."""
        if self.lists.suites.hasFocus():
            self.lists.suites.step(offset)
            return
        part = self.result.focused_table() if self.model.page is EvaluatePage.RESULT else None
        if part is None and self._table is not None and self._table.hasFocus():
            part = self._table
        (part or self.lists.evaluations).step(offset)

    def _new(self) -> None:
        self.model.new_evaluation()
        self.form.begin()

    def _rescore(self) -> None:
        if self.model.suites.current and self.model.page is EvaluatePage.SUITE:
            self.model.rescoring.choose("suite", self.model.suites.current)
        self.model.open_rescoring()
        self.rescore.begin()

    def _can_start(self) -> bool:
        match self.model.page:
            case EvaluatePage.FORM:
                return not self.model.form.is_sending
            case EvaluatePage.RESCORE:
                return not self.model.rescoring.is_busy
            case _:
                return False

    def _start(self) -> None:
        if self.model.page is EvaluatePage.FORM:
            self.form.submit()
        else:
            self.model.rescoring.start()

    def _filter(self) -> None:
        if self.model.page is EvaluatePage.SUITE:
            self.suite.filter.take_focus()
        else:
            self.result.take_filter()

    def _show_only(self, result: str) -> None:
        self.result.show_tab(0)
        self.model.result.show_result(result)

    def _can_open(self) -> bool:
        if self.model.page is EvaluatePage.RESCORE:
            return bool(self.model.rescoring.run)
        return self.model.page is EvaluatePage.RESULT and self.model.result.pairs.total > 0

    def _open(self) -> None:
        """Open what the row of the focused list, table or plot stands for."""
        part = self.result.focused_table()
        if self.model.page is EvaluatePage.RESCORE:
            self.run_requested.emit(self.model.rescoring.run)
        elif isinstance(part, ForestPlot):
            self.model.result.show_group(part.group)
        elif part is self.result.credits:
            self.tip_requested.emit(str(self.result.credits.key))
        elif self.lists.evaluations.hasFocus():
            self.result.take_pairs()
        else:
            self._open_pair(self.model.result.task)

    def _open_pair(self, task: str) -> None:
        self.model.result.open_pair(task, self._center.keys("pair.other"))
        self._center.refresh()

    def show_other(self) -> None:
        """Open the other run of the open pair."""
        self.model.result.other(self._center.keys("pair.other"))

    def _take_freeze(self) -> None:
        self.model.form.take_freeze()
        self._new()

    def _back(self) -> None:
        """Go back one level: the filter, the table, the form or suite; then the list has the keys."""
        if self.result.filter.leave() or self.suite.filter.leave():
            return
        held = QApplication.focusWidget()
        if self.model.page is EvaluatePage.RESULT and self.result.isAncestorOf(held or self):
            if self.model.result.pairs.result or self.model.result.pairs.text:
                self.model.result.show_result("")
                self.model.result.set_filter("")
            else:
                self.lists.take_focus()
        elif self.model.close_page() or not self.lists.isAncestorOf(held or self):
            self.lists.take_focus()

    # ------------------------------------------------------------ answers
    def _on_page(self) -> None:
        middle, right = self._pages[self.model.page]
        self.middle.setCurrentWidget(middle)
        self.right.setCurrentWidget(right)

    def _open_report(self, path: str) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(path))

    def _on_moved(self) -> None:
        self._by_hand = True

    def _fit_plot(self) -> None:
        if not self._by_hand:
            self._share_out()

    def _refresh(self, *_change: object) -> None:
        """Update the commands; they depend on what is open, not on every episode that ends."""
        model, row, suite = self.model, self.model.row, self.model.suites.row
        stand = (
            model.page,
            model.removable,
            row is not None and (row.folder, row.state, model.has_result),
            suite is not None and (suite.name, suite.blind),
            len(model.result.verdicts),
            model.result.pairs.total > 0,
            model.result.has_other,
            model.form.is_sending,
            model.form.last_freeze,
            model.rescoring.is_busy,
            bool(model.rescoring.run),
        )
        if stand == self._stand:
            return
        self._stand = stand
        self._center.set_title("evaluate.remove", model.removable)
        show = suite is not None and suite.blind
        words = self.tr("Show the answers of '{0}'") if show else self.tr("Hide the answers of '{0}'")
        self._center.set_title("suite.blind", words.format(suite.name[:60]) if suite is not None else "")
        self._center.refresh()

    @staticmethod
    def _suites_in(event: QDropEvent) -> list[str]:
        """Return the dropped files if all of them may be suites."""
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        return paths if paths and all(path.lower().endswith(SUITE_SUFFIXES) for path in paths) else []
