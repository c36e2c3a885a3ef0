"""The answer page in the middle of Review: task, answer, expected outcome, and where the answer's words stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFont,
    QGuiApplication,
    QKeySequence,
    QResizeEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QFrame, QMenu, QTextEdit, QWidget

from app.models.common.object_list import OBJECT_ROLE
from app.models.review.answer_page_model import place_words, term_words
from app.models.review.expected import expected_rows
from app.models.review.reasons import decision
from app.views.widgets import ElidedLabel
from app.views.widgets.build import divider, ground, hbox, styled, text_label, vbox
from app.views.widgets.command_button import command_link, show_command
from app.views.widgets.rows import RowContent, RowList, RowStyle, Span, line, plain, small
from app.views.widgets.signs import tick_sign

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

    from app.engine.api.evaluation_api import ExpectedOutcome
    from app.models.common.commands import CommandCenter
    from app.models.review.answer_page_model import AnswerPageModel, AnswerRow
    from app.models.review.expected import ExpectedLine
    from app.views.frame.theme import Theme

SIGNS = {"ok": "✓", "fail": "✗", "warn": "◐"}
"""The sign beside a level's colour."""

LEAST_LIST = 0.3
"""Share of the height that the list of places has at least."""

LONG = 160
"""Characters from which an answer is written in the normal size."""

ROW = RowStyle(margins=(12, 2, 8, 2), gutter=18)


class AnswerText(QTextEdit):
    """Task, answer and expected outcome as one text to select, copy and scroll by keyboard."""

    find_wanted = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.answer = ""
        self.setReadOnly(True)
        self.setProperty("kind", "plain")
        self.setAccessibleName(self.tr("Task, answer and expected outcome"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.document().setDocumentMargin(0)
        self.setViewportMargins(12, 8, 8, 4)

    def write(self, model: AnswerPageModel) -> None:
        """Write the page anew; an unchanged one keeps selection and scrolling."""
        self.answer = model.answer or ""
        self.clear()
        self._head(self.tr("Task"))
        self._line(model.intent or self.tr("(no task was recorded)"), "text" if model.intent else "muted")
        if model.answer is not None:
            self._head(self.tr("Answer"))
            if model.answer.strip():
                self._line(model.answer, size=1.2 if len(model.answer) < LONG else 1.0)
            else:
                self._line(self.tr("(an empty answer)"), "muted")
        if model.is_unusual:
            self._head(self.tr("How it ended"))
            self._line(model.ending, mono=not model.answer and "Error" in model.ending)
        page = model.page
        self._expected(
            page.expected if page is not None and page.expected else model.expected.outcome,
            is_loading=model.expected.is_loading,
        )
        if model.reason:
            self._head(self.tr("Why: the agent's reason"))
            if decided := decision(model.reason):
                self._line(decided)
            self._line(model.reason, "muted" if decided else "text")
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy the selection or the answer, and to find the selection on the pages."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        selected = self.textCursor().selectedText().replace("\u2029", "\n")
        clipboard = QGuiApplication.clipboard()
        copy = menu.addAction(self.tr("Copy"), lambda: clipboard.setText(selected))
        whole = menu.addAction(self.tr("Copy the answer"), lambda: clipboard.setText(self.answer))
        menu.addAction(self.tr("Copy all"), lambda: clipboard.setText(self.toPlainText()))
        menu.addSeparator()
        find = menu.addAction(self.tr("Find on the page"), lambda: self.find_wanted.emit(selected))
        copy.setEnabled(bool(selected))
        find.setEnabled(bool(selected.strip()))
        whole.setEnabled(bool(self.answer))
        menu.popup(event.globalPos())

    def _expected(self, outcome: ExpectedOutcome | None, *, is_loading: bool) -> None:
        self._head(self.tr("Expected"))
        if outcome is None and is_loading:
            self._line(self.tr("Looking it up…"), "muted")
            return
        if outcome is None:
            self._line(self.tr("No suite in this workspace knows the task."), "muted")
            return
        if outcome.hidden:
            self._line(self.tr("Hidden: the suite {0} is blind.").format(outcome.suite), "muted")
            return
        for one in expected_rows(outcome):
            self._row(one)

    def _row(self, one: ExpectedLine) -> None:
        """A rule, a score or a check: sign, role and details, then the text."""
        cursor = self._block(2)
        if sign := SIGNS.get(one.level, ""):
            cursor.insertText(f"{sign} ", self._format(one.level, bold=True))
        head = f"{one.role} ({one.more})" if one.more else one.role
        cursor.insertText(head, self._format("muted" if not one.level else one.level))
        if one.text:
            cursor.insertText(f"  {one.text}", self._format("text"))

    def _head(self, text: str) -> None:
        cursor = self._block(8 if self.document().characterCount() > 1 else 0)
        cursor.insertText(text, self._format("muted", small=True, bold=True))

    def _line(self, text: str, role: str = "text", *, size: float = 1.0, mono: bool = False) -> None:
        for part in text.splitlines() or [""]:
            self._block(1).insertText(part, self._format(role, size=size, mono=mono))

    def _block(self, above: int) -> QTextCursor:
        """Begin a block with some space above it."""
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        layout = QTextBlockFormat()
        layout.setTopMargin(self._theme.px(above))
        if self.document().characterCount() > 1:
            cursor.insertBlock(layout)
        else:
            cursor.setBlockFormat(layout)
        return cursor

    def _format(
        self, role: str, *, small: bool = False, bold: bool = False, size: float = 1.0, mono: bool = False
    ) -> QTextCharFormat:
        written = QTextCharFormat()
        font = self._theme.mono() if mono else self._theme.font("secondary" if small else "base", bold=bold)
        if size != 1.0:
            font = QFont(font)
            font.setPixelSize(round(font.pixelSize() * size)) if font.pixelSize() > 0 else font.setPointSizeF(
                font.pointSizeF() * size
            )
        written.setFont(font)
        written.setForeground(self._theme.color(role))
        return written


class PlaceList(RowList):
    """Terms and their places, with copying."""

    find_wanted = Signal(str)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the line as one sees it."""
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(str(self.currentIndex().data() or ""))
            return
        super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to open the place, to copy its line and its address, and to find the term on the page."""
        index = self.currentIndex()
        row: AnswerRow | None = index.data(OBJECT_ROLE)
        if row is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        clipboard = QGuiApplication.clipboard()
        menu.addAction(self.tr("Open"), lambda: self.activated.emit(index)).setEnabled(bool(row.term.places))
        menu.addAction(
            self.tr("Copy text"), lambda: clipboard.setText(row.place.text if row.place else row.term.text)
        )
        if row.place is not None:
            url = row.place.url
            menu.addAction(self.tr("Copy the page's address"), lambda: clipboard.setText(url))
        menu.addAction(self.tr("Find on the page"), lambda: self.find_wanted.emit(row.term.text))
        menu.popup(event.globalPos())


class AnswerPane(QWidget):
    """The text above, the places below; both scroll in their own areas."""

    find_wanted = Signal(str)

    def __init__(self, model: AnswerPageModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        ground(self)
        self.caption = text_label(self.tr("Answer"), "section")
        self.summary = styled(ElidedLabel(Qt.TextElideMode.ElideRight), "secondary")
        self.pages = command_link(center, "review.answer")
        self.text = AnswerText(theme)
        self.places = PlaceList(theme, answer_row, self.tr("Where the answer's words stand"), ROW)
        self.places.setModel(model.rows)
        self.head = text_label(self.tr("On the visited pages"), "heading")
        top = hbox(self.caption, 1, self.pages, margins=(8, 4, 8, 4), spacing=8)
        head = hbox(self.head, (self.summary, 1), margins=(12, 6, 8, 2), spacing=8)
        self.places.setMinimumHeight(1)  # a short list takes no room of the text
        rule = divider()
        self._fixed = (top, rule, head)
        vbox(top, self.text, rule, head, (self.places, 1), parent=self, spacing=0)
        self._written: object = None
        model.changed.connect(self.show_answer)
        model.expected.changed.connect(self.show_answer)
        model.rows.modelReset.connect(self._fit)
        model.rows.rowsInserted.connect(self._fit)
        center.keys_changed.connect(self.show_answer)
        theme.changed.connect(self._rewrite)
        self.places.activated.connect(self._open)
        self.places.clicked.connect(self._open)
        self.text.find_wanted.connect(self.find_wanted)
        self.places.find_wanted.connect(self.find_wanted)

    def show_answer(self) -> None:
        """Write what is known by now."""
        model = self._model
        page = model.page
        told = (model.intent, model.answer, model.ending, model.reason)
        now = (*told, page.expected if page else None, model.expected.outcome, model.expected.is_loading)
        if now != self._written:
            self._written = now
            self.text.write(model)
        answered = model.answer is not None
        self.caption.setText(self.tr("answer page") if answered else self.tr("no answer"))
        self.summary.setText(model.summary if answered else "")
        self.head.setVisible(answered)
        self.places.setVisible(answered)
        show_command(self.pages, self._center, "review.answer", self.tr("The two pages"))
        self.pages.setVisible(self._center.action("review.answer").isEnabled())
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the height between text and places."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Give the text the height it needs, and the places what they need up to their share."""
        if self.places.isHidden():
            self.text.setMinimumHeight(0)
            self.text.setMaximumHeight((1 << 24) - 1)
            return
        room = self.height() - sum(part.sizeHint().height() for part in self._fixed)
        document = self.text.document()
        document.setTextWidth(max(self.text.viewport().width(), 80))
        wanted = round(document.size().height()) + self._theme.px(16)
        places = min(self.places.content_height(most=room), round(room * LEAST_LIST))
        self.text.setFixedHeight(max(min(wanted, room - places), self._theme.px(60)))

    def _rewrite(self) -> None:
        self._written = None
        self.show_answer()

    def _open(self, index: QModelIndex) -> None:
        self._model.activate(index.row())


def answer_row(row: AnswerRow) -> RowContent:
    """A term with where it stands; below it its places: step, page, and the line."""
    term = row.term
    if row.hidden:
        more = small(f"{row.hidden} more…", "accent")
        return RowContent(lines=(line(more),))
    if row.place is not None:
        return RowContent(
            lines=(line(small(place_words(row.place), share=0.45), plain(row.place.text)),),
        )
    if row.is_missing and not term.in_task:
        role = "warn" if term.kind == "words" else "fail"
        sign = tick_sign(role, crossed=True)
    elif term.in_task:
        sign, role = None, "muted"
    else:
        sign, role = tick_sign("ok"), "ok"
    return RowContent(
        sign=Span(sign=sign, size=(9, 8)) if sign is not None else None,
        lines=(line(plain(term.text, bold=not term.in_task, share=0.6), small(term_words(term), role)),),
    )
