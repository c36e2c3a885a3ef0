"""The retrieval tester: an address and a goal, the tips they retrieve, by which route, and why not the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from app.views.knowledge.tip_rows import RETRIEVAL, retrieval_row
from app.views.widgets import ElidedLabel, EmptyState
from app.views.widgets.build import ground, hbox, styled, text_label, vbox
from app.views.widgets.command_button import show_command
from app.views.widgets.rows import RowList

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.knowledge.retrieval_test import RetrievalTestModel
    from app.views.frame.theme import Theme


class RetrievalTester(QWidget):
    """Two input lines over the result.  ``tip_wanted`` asks to open a tip of the result."""

    tip_wanted = Signal(str)

    def __init__(self, model: RetrievalTestModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        ground(self)
        self.url, self.goal = styled(QLineEdit(), "quiet"), styled(QLineEdit(), "quiet")
        self.url.setAccessibleName(self.tr("Page address to test"))
        self.url.setPlaceholderText(self.tr("http://site/path: the agent's current page"))
        self.goal.setAccessibleName(self.tr("Goal to test"))
        self.goal.setPlaceholderText(self.tr("the task it would be given"))
        self.summary, self.source = ElidedLabel(), ElidedLabel(Qt.TextElideMode.ElideMiddle)
        self.off = text_label(kind="warn", wrap=True)
        self.own = styled(QPushButton(), "link")
        self.list = RowList(theme, retrieval_row, self.tr("Retrieved tips, then the near misses"), RETRIEVAL)
        self.list.setUniformItemSizes(True)
        self.list.setModel(model.model)
        self.error = text_label(kind="fail", wrap=True)
        self._blank = EmptyState(
            self.tr("Nothing to test yet"),
            self.tr("Type an address and a goal to see the tips an agent would get."),
            "knowledge.try",
            center,
        )
        self._lay_out()
        for field, take in ((self.url, model.set_url), (self.goal, model.set_goal)):
            field.setClearButtonEnabled(True)
            field.textChanged.connect(take)
            field.returnPressed.connect(self._to_answers)
        self.own.clicked.connect(lambda: center.trigger("knowledge.try.evidence"))
        self.list.activated.connect(self._on_answer)
        self.list.doubleClicked.connect(self._on_answer)
        model.changed.connect(self._show)
        model.filled.connect(self._fill)
        center.keys_changed.connect(self._dress)
        self.own.hide()
        self._dress()
        self._show()

    def begin(self) -> None:
        """Focus the address and select its text."""
        self.url.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.url.selectAll()

    def has_keys(self) -> bool:
        """Whether the focus is inside."""
        return any(widget.hasFocus() for widget in (self.url, self.goal, self.list, self.own))

    def _lay_out(self) -> None:
        title = text_label(self.tr("Retrieval test"), "heading")
        for label in (self.summary, self.source):
            label.setProperty("kind", "secondary")
        for label in (self.off, self.error):
            label.setContentsMargins(10, 2, 10, 4)
        self.summary.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.own.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        head = hbox(title, (self.source, 1), self.own, self.summary, margins=(10, 6, 8, 0), spacing=8)
        grid = QGridLayout()
        grid.setContentsMargins(10, 4, 8, 6)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        for row, (word, field) in enumerate(((self.tr("address"), self.url), (self.tr("goal"), self.goal))):
            label = QLabel(word)
            label.setProperty("kind", "secondary")
            label.setBuddy(field)
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.list)
        self._stack.addWidget(self._blank)
        vbox(head, grid, self.off, self.error, (self._stack, 1), parent=self, spacing=0)

    def _to_answers(self) -> None:
        if self._model.model.rowCount():
            if self.list.currentIndex().row() < 0:
                self.list.setCurrentIndex(self._model.model.index(0))
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_answer(self, index: QModelIndex) -> None:
        answer = self._model.model.at(index.row())
        if answer is not None:
            self.tip_wanted.emit(answer.tip)

    def _fill(self) -> None:
        for field, text in ((self.url, self._model.url), (self.goal, self._model.goal)):
            with QSignalBlocker(field):
                field.setText(text)
                field.setCursorPosition(0)
        self._show()

    def _show(self) -> None:
        model = self._model
        self.summary.setText(self.tr("asking…") if model.is_asking and not model.summary else model.summary)
        self.source.setText(self.tr("from {0}").format(model.filled_from) if model.filled_from else "")
        self.off.setText("\n".join(f"! {line}" for line in model.off))
        self.off.setVisible(bool(model.off))
        self.error.setText(model.error)
        self.error.setVisible(bool(model.error))
        blank = model.is_blank or (not model.model.rowCount() and not model.is_asking)
        self._stack.setCurrentIndex(1 if blank else 0)
        if model.is_blank:
            self._blank.set(
                self.tr("Nothing to test yet"),
                self.tr("Type an address and a goal to see the tips an agent would get."),
            )
        else:
            self._blank.set(
                self.tr("No tips retrieved"),
                model.note or self.tr("No tip of this site matches."),
            )
        self._blank.button.setVisible(model.is_blank)  # the user has typed here already

    def _dress(self) -> None:
        show_command(self.own, self._center, "knowledge.try.evidence", self.tr("The tip's step"))
        for field in (self.url, self.goal):
            field.setToolTip(
                self.tr("{0} ({1})").format(field.accessibleName(), self._center.keys("knowledge.try"))
            )
