"""The queue at the left: a filter line over the ranked runs, or over clusters of failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QPushButton,
    QStackedWidget,
    QWidget,
)

from app.models.review.run_queue import QueueState
from app.views.review.rows import CLUSTER, QUEUE, cluster_row, run_row
from app.views.widgets import ElidedLabel, EmptyState
from app.views.widgets.build import ground, hbox, styled, text_label, vbox
from app.views.widgets.command_button import command_link, show_command
from app.views.widgets.filter_line import CompletingFilterLine
from app.views.widgets.rows import RowList

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.review.review_model import ReviewModel
    from app.views.frame.theme import Theme

HEAD_MARGINS = 30
"""Pixels of the head beside its texts."""

SELECT = QItemSelectionModel.SelectionFlag.ClearAndSelect


class QueuePane(QWidget):
    """Filter line, count, list in its two forms, and an empty state for everything else."""

    def __init__(self, model: ReviewModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._queue, self._center = model, model.queue, center
        self._clusters, self._many, self._theme = model.clusters, model.many, theme
        self._marking = False
        ground(self)
        self.title, self.count = text_label(kind="heading"), styled(ElidedLabel(), "secondary")
        self.form = command_link(center, "review.clusters")
        self.filter = CompletingFilterLine(
            self._queue.text,
            self.tr("Filter: failed  site:gitlab  words"),
            self.tr("Filter of the queue"),
            self.take_focus,
            self._queue.completion,
            theme,
        )
        self.filter.setToolTip(
            self.tr(
                'failed, passed, unjudged, needs, disputed, site:gitlab, detector:loop, label:"gave up",\n'
                "suite:webarena, task:415, assigned:me, by:ana, order:teach, order:date,\n"
                "or words to search for ({0}); words complete while you type"
            ).format(center.keys("review.filter"))
        )
        self.unknown = text_label(kind="warn", wrap=True)
        self.unknown.hide()
        self.hidden = styled(QPushButton(), "link")
        self.hidden.setProperty("small", "true")
        self.hidden.setToolTip(self.tr("Clear the filter, so that every run is listed"))
        self.hidden.setMinimumWidth(1)  # a number never widens the queue
        self.hidden.clicked.connect(lambda: self._queue.set_filter(""))
        self.hidden.hide()
        self.list = RowList(theme, run_row, self.tr("Runs to review, highest risk first"), QUEUE)
        self.list.setUniformItemSizes(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.setModel(self._queue.model)
        self.clusters = ClusterList(theme)
        self.clusters.setModel(self._clusters.model)
        self._stack = QStackedWidget()
        self._faces: dict[QueueState, QWidget] = {QueueState.READY: self.list}
        self._cluster_faces: dict[QueueState, QWidget] = {QueueState.READY: self.clusters}
        self._add_faces()
        self._lay_out()
        self._connect()
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_form()

    def focus_filter(self) -> None:
        self.filter.take_focus()

    def take_focus(self) -> None:
        """Focus the list, now or once it is filled."""
        shown = self._stack.currentWidget()
        focus = shown if shown in (self.list, self.clusters) else self
        marking, self._marking = self._marking, True  # a list without a current row would take its first one
        focus.setFocus(Qt.FocusReason.OtherFocusReason)
        self._marking = marking

    def leave_filter(self) -> bool:
        """Go back one level from the filter line: clear it first, then leave it.  False when not in it."""
        return self.filter.leave()

    def leave_selection(self) -> bool:
        """Reduce a selection of several rows to the current one; False when there is none."""
        shown = self.clusters if self._clusters.is_shown else self.list
        if len(shown.selectionModel().selectedRows()) < 2:
            return False
        self._reduce()
        return True

    def toggle_clusters(self) -> None:
        """Show clusters in place of runs, or runs again, with the focus in the list."""
        self._clusters.show(not self._clusters.is_shown)
        self._mark(self._queue.current)
        self.take_focus()

    def _add_faces(self) -> None:
        center = self._center
        self.empty = EmptyState("", "", "runs.import", center)
        self.no_match = EmptyState(self.tr("No matching runs"), "", "review.filter", center)
        self._loading = EmptyState(
            self.tr("Loading the queue…"), self.tr("Reading the index of runs."), "", center
        )
        self.error = EmptyState(self.tr("The queue can't be loaded"), "", "review.rank", center)
        self._faces |= {
            QueueState.NO_RUNS: self.empty,
            QueueState.NO_MATCH: self.no_match,
            QueueState.LOADING: self._loading,
            QueueState.ERROR: self.error,
        }
        self.no_clusters = EmptyState(
            self.tr("No clusters"),
            self.tr("The runs that pass this filter have no failures to group."),
            "review.filter",
            center,
        )
        self.cluster_error = EmptyState(self.tr("The clusters can't be made"), "", "review.clusters", center)
        grouping = EmptyState(
            self.tr("Grouping the failures…"), self.tr("Looking for what they have in common."), "", center
        )
        self._cluster_faces |= {
            QueueState.NO_MATCH: self.no_clusters,
            QueueState.LOADING: grouping,
            QueueState.ERROR: self.cluster_error,
        }
        for face in dict.fromkeys((*self._faces.values(), *self._cluster_faces.values())):
            self._stack.addWidget(face)

    def _lay_out(self) -> None:
        head = hbox(self.title, (self.count, 1), self.form, spacing=6)
        top = vbox(head, self.filter, self.unknown, self.hidden, margins=(10, 8, 8, 8), spacing=6)
        vbox(top, (self._stack, 1), parent=self, spacing=0)

    def _connect(self) -> None:
        queue, clusters = self._queue, self._clusters
        self.filter.textEdited.connect(queue.set_filter)
        self.filter.textChanged.connect(queue.set_filter)
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self.list.selectionModel().selectionChanged.connect(self._on_selection)
        self.clusters.selectionModel().currentChanged.connect(self._on_cluster)
        self.clusters.selectionModel().selectionChanged.connect(self._on_selection)
        self.clusters.activated.connect(self._on_enter)
        self.clusters.unfold_wanted.connect(clusters.unfold)
        queue.changed.connect(self._show)
        queue.current_changed.connect(self._mark)
        queue.model.rowsInserted.connect(self._mark_again)
        queue.model.modelReset.connect(self._mark_again)
        clusters.changed.connect(self._show)
        clusters.current_changed.connect(self._mark_cluster)
        clusters.model.modelReset.connect(self._mark_cluster)
        self._many.released.connect(self._reduce)
        self._center.keys_changed.connect(self._show)
        self._theme.changed.connect(self._fit_form)

    def _show(self) -> None:
        queue, clusters = self._queue, self._clusters
        held = any(one.hasFocus() for one in (self, self.list, self.clusters))
        grouped = clusters.is_shown
        if grouped and clusters.state is QueueState.READY and not self.clusters.currentIndex().isValid():
            self._mark_cluster()  # before the list has the focus, which would make its first row current
        by_runs = not grouped or queue.state is QueueState.NO_RUNS  # without runs, importing comes first
        face = self._faces[queue.state] if by_runs else self._cluster_faces[clusters.state]
        self._stack.setCurrentWidget(face)
        if held:
            self.take_focus()
        self.error.set(self.tr("The queue can't be loaded"), queue.error)
        self.cluster_error.set(self.tr("The clusters can't be made"), clusters.error)
        self._show_empty()
        self.title.setText(self.tr("Clusters") if grouped else self.tr("Queue"))
        if grouped:
            self._show_count(str(len(clusters.clusters)), self.tr("{0} clusters"), len(clusters.clusters))
        else:
            shown = self.tr("{0} of {1} runs shown")
            self._show_count(f"{queue.shown} / {queue.total}", shown, queue.shown, queue.total)
        self._fit_form()
        self.filter.show_words(queue.text)
        self.unknown.setText(queue.unknown)
        self.unknown.setVisible(bool(queue.unknown))
        self.hidden.setText(self.tr("{0} · show all").format(queue.hidden))
        self.hidden.setVisible(bool(queue.hidden))

    def _fit_form(self) -> None:
        """Name the other form of the queue, with its key where there is room."""
        word = self.tr("Runs") if self._clusters.is_shown else self.tr("Clusters")
        show_command(self.form, self._center, "review.clusters", word)
        beside = self.title.sizeHint().width() + self.count.minimumSizeHint().width() + HEAD_MARGINS
        if beside + self.form.sizeHint().width() > self.width():
            self.form.setText(word)

    def _show_count(self, text: str, name: str, *numbers: int) -> None:
        self.count.setText(text)
        self.count.setAccessibleName(name.format(*numbers))

    def _show_empty(self) -> None:
        queue = self._queue
        if queue.is_importing:
            hint = self.tr("They appear here when the import is done. You can keep working.")
            self.empty.set(self.tr("Importing runs…"), hint)
        else:
            hint = self.tr(
                "Import a folder or files of agent runs to begin: AgentLab and BrowserGym, browser-use,"
                " Playwright traces, ATIF, OpenTelemetry and more. Your files are never changed."
            )
            self.empty.set(self.tr("No runs yet"), hint)
        self.empty.button.setVisible(not queue.is_importing)
        hint = queue.why_empty or self.tr("Change the filter, or clear it to see every run.")
        self.no_match.set(self.tr("No matching runs"), hint)

    # ------------------------------------------------------------ the runs
    def _mark(self, run: str) -> None:
        row = self._queue.model.row_of(run)
        selection = self.list.selectionModel()
        if self._clusters.is_shown and not self._is_judged_with(run):
            self.clusters.clearSelection()  # opened from elsewhere: a key judges it, not the cluster
        if row >= 0 and selection.currentIndex().row() == row and selection.hasSelection():
            return  # also one of several selected rows: they stay selected
        self._marking = True
        if row < 0:
            selection.clear()
        else:
            index = self._queue.model.index(row)
            selection.setCurrentIndex(index, SELECT)
            self.list.scrollTo(index)
        self._marking = False
        self._choose()

    def _mark_again(self) -> None:
        self._mark(self._queue.current)

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        row = self._queue.model.at(current.row()) if current.isValid() else None
        if row is not None and not self._marking and not self._clusters.is_shown:
            self._model.open_run(row.id)

    # ------------------------------------------------------------ the clusters
    def _mark_cluster(self) -> None:
        row = self._clusters.model.row_of(self._clusters.current)
        selection = self.clusters.selectionModel()
        if row < 0:
            return
        if selection.currentIndex().row() != row or not selection.isRowSelected(row, QModelIndex()):
            self._marking = True
            index = self._clusters.model.index(row)
            selection.setCurrentIndex(index, SELECT)
            self.clusters.scrollTo(index)
            self._marking = False
        self._choose()

    def _on_cluster(self, current: QModelIndex, _previous: QModelIndex) -> None:
        row = self._clusters.model.at(current.row()) if current.isValid() else None
        if row is not None and not self._marking and self._clusters.is_shown:
            self._clusters.set_current(row.key)

    def _on_enter(self, index: QModelIndex) -> None:
        self._clusters.enter(index.row())

    def _is_judged_with(self, run: str) -> bool:
        """Whether a run belongs to the selected rows of the clusters."""
        chosen = self.clusters.selectionModel().selectedRows()
        rows = [row for row in map(self._clusters.model.at, (index.row() for index in chosen)) if row]
        return any(run == row.run.id if row.run is not None else run in row.cluster.runs for row in rows)

    # ------------------------------------------------------------ several at once
    def _on_selection(self) -> None:
        if not self._marking:
            self._choose()

    def _choose(self) -> None:
        """Have the selected rows judged together."""
        if self._clusters.is_shown:
            self._clusters.choose(index.row() for index in self.clusters.selectionModel().selectedRows())
            return
        chosen = (index.row() for index in self.list.selectionModel().selectedRows())
        rows = [row for row in map(self._queue.model.at, sorted(chosen)) if row is not None]
        self._many.choose([row.id for row in rows] if len(rows) > 1 else ())

    def _reduce(self) -> None:
        shown = self.clusters if self._clusters.is_shown else self.list
        current = shown.currentIndex()
        if current.isValid():
            shown.selectionModel().select(current, SELECT)
        self._choose()


class ClusterList(RowList):
    """Clusters of failures; Right and Left unfold and fold them."""

    unfold_wanted = Signal(int, bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, cluster_row, "", CLUSTER)
        self.setAccessibleName(self.tr("Clusters of failures, the largest first"))
        self.setUniformItemSizes(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Unfold and fold by the arrow keys, as a tree does."""
        key, row = event.key(), self.currentIndex().row()
        if key in (Qt.Key.Key_Right, Qt.Key.Key_Left) and row >= 0:
            forward = self.layoutDirection() is Qt.LayoutDirection.LeftToRight
            self.unfold_wanted.emit(row, (key == Qt.Key.Key_Right) is forward)
            return
        super().keyPressEvent(event)
