"""The queue at the left: a filter line over the ranked runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    Qt,
)
from PySide6.QtWidgets import (
    QStackedWidget,
    QWidget,
)

from app.models.review.run_queue import QueueState
from app.views.review.rows import QUEUE, run_row
from app.views.widgets import EmptyState
from app.views.widgets.build import ground, hbox, text_label, vbox
from app.views.widgets.filter_line import FilterLine
from app.views.widgets.rows import RowList

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.review.review_model import ReviewModel
    from app.views.frame.theme import Theme


class QueuePane(QWidget):
    """Filter line, count, list, and an empty state for everything else."""

    def __init__(self, model: ReviewModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._queue, self._center = model, model.queue, center
        self._marking = False
        ground(self)
        self.count = text_label(kind="secondary")
        self.filter = FilterLine(
            self._queue.text,
            self.tr("Filter: failed  site:gitlab  words"),
            self.tr("Filter of the queue"),
            self.take_focus,
        )
        self.filter.setToolTip(
            self.tr(
                'failed, passed, unjudged, needs, site:gitlab, detector:loop, label:"gave up", suite:webarena,\n'
                "task:415, order:date, or words to search for ({0})"
            ).format(center.keys("review.filter"))
        )
        self.list = RowList(theme, run_row, self.tr("Runs to review, highest risk first"), QUEUE)
        self.list.setUniformItemSizes(True)
        self.list.setModel(self._queue.model)
        self._stack = QStackedWidget()
        self._faces: dict[QueueState, QWidget] = {QueueState.READY: self.list}
        self._add_faces()
        self._lay_out()
        self.filter.textEdited.connect(self._queue.set_filter)
        self.filter.textChanged.connect(self._queue.set_filter)
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self._queue.changed.connect(self._show)
        self._queue.current_changed.connect(self._mark)
        self._queue.model.rowsInserted.connect(self._mark_again)
        self._queue.model.modelReset.connect(self._mark_again)
        self._show()

    def focus_filter(self) -> None:
        self.filter.take_focus()

    def take_focus(self) -> None:
        """Focus the list, now or once it is filled."""
        shown = self._stack.currentWidget() is self.list
        (self.list if shown else self).setFocus(Qt.FocusReason.OtherFocusReason)

    def leave_filter(self) -> bool:
        """Go back one level from the filter line: clear it first, then leave it.  False when not in it."""
        return self.filter.leave()

    def _add_faces(self) -> None:
        center = self._center
        self.empty = EmptyState("", "", "runs.import", center)
        self._faces[QueueState.NO_RUNS] = self.empty
        self._faces[QueueState.NO_MATCH] = EmptyState(
            self.tr("No matching runs"),
            self.tr("Change the filter, or clear it to see every run."),
            "review.filter",
            center,
        )
        self._loading = EmptyState(
            self.tr("Loading the queue…"), self.tr("Reading the index of runs."), "", center
        )
        self._faces[QueueState.LOADING] = self._loading
        self.error = EmptyState(self.tr("The queue can't be loaded"), "", "review.rank", center)
        self._faces[QueueState.ERROR] = self.error
        for face in self._faces.values():
            self._stack.addWidget(face)

    def _lay_out(self) -> None:
        title = text_label(self.tr("Queue"), "heading")
        head = hbox(title, 0, self.count)
        top = vbox(head, self.filter, margins=(10, 8, 8, 8), spacing=6)
        vbox(top, (self._stack, 1), parent=self, spacing=0)

    def _show(self) -> None:
        queue = self._queue
        held = self.hasFocus() or self.list.hasFocus()
        self._stack.setCurrentWidget(self._faces[queue.state])
        if held:
            self.take_focus()
        self.error.set(self.tr("The queue can't be loaded"), queue.error)
        if queue.is_importing:
            hint = self.tr("They appear here when the import is done. You can keep working.")
            self.empty.set(self.tr("Importing runs…"), hint)
        else:
            hint = self.tr("Import a folder of agent runs to begin. Your files are never changed.")
            self.empty.set(self.tr("No runs yet"), hint)
        self.empty.button.setVisible(not queue.is_importing)
        self.count.setText(f"{queue.shown} / {queue.total}")
        self.count.setAccessibleName(self.tr("{0} of {1} runs shown").format(queue.shown, queue.total))
        self.filter.show_words(queue.text)

    def _mark(self, run: str) -> None:
        row = self._queue.model.row_of(run)
        selection = self.list.selectionModel()
        self._marking = True
        if row < 0:
            selection.clear()
        else:
            index = self._queue.model.index(row)
            selection.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            self.list.scrollTo(index)
        self._marking = False

    def _mark_again(self) -> None:
        self._mark(self._queue.current)

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        row = self._queue.model.at(current.row()) if current.isValid() else None
        if row is not None and not self._marking:
            self._model.open_run(row.id)
