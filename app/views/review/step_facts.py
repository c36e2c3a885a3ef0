"""The facts under a step's pages: why, did, error, at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QTextCharFormat, QTextCursor, QTextOption
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPlainTextEdit, QSizePolicy, QWidget

from app.views.review.run_header import ClampedLabel
from app.views.widgets import ElidedLabel
from app.views.widgets.build import restyle, text_label, vbox

if TYPE_CHECKING:
    from app.models.review.review_facts import StepFacts
    from app.views.frame.theme import Theme


class ScrollingText(QPlainTextEdit):
    """A text that scrolls in its own area and never takes plain keys; its menu copies, and finds on the page."""

    find_wanted = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setProperty("kind", "plain")
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.document().setDocumentMargin(0)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy the selection or all of the text, and to find the selection on the page."""
        menu = self.createStandardContextMenu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        selected = self.textCursor().selectedText()
        menu.addSeparator()
        find = menu.addAction(self.tr("Find on the page"), lambda: self.find_wanted.emit(selected))
        find.setEnabled(bool(selected.strip()))
        menu.popup(event.globalPos())


class StepFactsPane(QWidget):
    """Of constant height, so that the pages above never jump; the reason has the width where there is no error."""

    find_wanted = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._facts: StepFacts | None = None
        self.why = ScrollingText(self.tr("Why: the agent's reason"))
        self.error = ScrollingText(self.tr("Error of the action"))
        self.error_head = QLabel()
        self.did = ClampedLabel(theme, 2)
        self.at = ElidedLabel(Qt.TextElideMode.ElideMiddle)
        self.at.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        grid = QGridLayout(self)
        grid.setContentsMargins(12, 6, 12, 8)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        self._heads: list[QLabel] = []
        grid.addWidget(self._head(self.tr("why")), 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.why, 0, 1)
        self._trouble = QWidget()
        vbox(
            (self.error_head, 0, Qt.AlignmentFlag.AlignTop), (self.error, 1), parent=self._trouble, spacing=2
        )
        grid.addWidget(self._trouble, 0, 2, 2, 1)
        grid.addWidget(self._head(self.tr("did")), 1, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.did, 1, 1)
        grid.addWidget(self._head(self.tr("at")), 2, 0, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(self.at, 2, 1, 1, 2)
        grid.setColumnStretch(1, 3)
        grid.setRowStretch(0, 1)
        self._grid = grid
        for text in (self.why, self.error):
            text.find_wanted.connect(self.find_wanted)
        theme.changed.connect(self._fit)
        self._fit()

    def show_facts(self, facts: StepFacts) -> None:
        """Show the facts of a step; the same facts again leave selection and scrolling alone."""
        if facts == self._facts:
            return
        self._facts = facts
        self._show_reason(facts)
        self.did.set_text(f"{facts.did} ({facts.lost})" if facts.lost else facts.did)
        self.at.setText(facts.at)
        self.error.setPlainText(facts.error)
        self.error.setVisible(bool(facts.error))
        troubled = bool(facts.trouble_words or facts.error)
        self._trouble.setVisible(troubled)
        self._grid.setColumnStretch(2, 2 if troubled else 0)
        kind = {"hard": "fail", "soft": "warn", "harness": "warn"}.get(facts.trouble, "muted")
        self.error_head.setText(facts.trouble_words)
        restyle(self.error_head, kind=kind)
        self.error_head.setWordWrap(True)

    def _show_reason(self, facts: StepFacts) -> None:
        """Begin with the decision; the whole reason follows, muted."""
        self.why.setPlainText("")
        cursor = self.why.textCursor()
        quiet = QTextCharFormat()
        if facts.decision:
            quiet.setForeground(self._theme.color("muted"))
            cursor.insertText(f"{facts.decision}\n")
        cursor.insertText(facts.why, quiet)
        self.why.moveCursor(QTextCursor.MoveOperation.Start)

    def _head(self, text: str) -> QLabel:
        label = text_label(text, "muted")
        self._heads.append(label)
        return label

    def _fit(self) -> None:
        self.setFixedHeight(self._theme.px(148))
        if self._facts is not None:
            self._show_reason(self._facts)
