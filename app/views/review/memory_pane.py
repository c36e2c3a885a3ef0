"""The agent's memory at the current step, shown in place of the verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout

from app.views.review.rows import named_text_row
from app.views.widgets.panel import Panel
from app.views.widgets.rows import RowList

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.review.review_model import ReviewModel
    from app.views.frame.theme import Theme


class MemoryPane(Panel):
    """Goal, plan, facts, dead ends, landmarks and notes as they were after the step."""

    closed = Signal()

    def __init__(self, model: ReviewModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center = model, center
        self.setProperty("kind", "raised")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(self.tr("Agent memory"))
        self.head, self.missing = QLabel(), QLabel()
        self.head.setProperty("kind", "heading")
        self.missing.setProperty("kind", "muted")
        self.missing.setWordWrap(True)
        self.missing.setContentsMargins(12, 8, 12, 8)
        self.close_button = QPushButton()
        self.close_button.setProperty("kind", "link")
        self.list = RowList(theme, named_text_row, self.tr("The agent's memory"))
        self.list.setModel(model.memory.lines)
        head = QHBoxLayout()
        head.setContentsMargins(12, 8, 8, 4)
        head.addWidget(self.head, 1)
        head.addWidget(self.close_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self.missing)
        layout.addWidget(self.list, 1)
        self.close_button.clicked.connect(self.closed)
        model.memory.changed.connect(self._show)
        model.step_changed.connect(self._show)
        center.keys_changed.connect(self._show)
        self._show()

    def take_focus(self) -> None:
        """Focus the list."""
        self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _show(self) -> None:
        step, memory = self._model.step, self._model.memory
        words = self.tr("Memory after step {0}").format(step.index) if step is not None else self.tr("Memory")
        self.head.setText(words)
        keys = self._center.keys("review.memory")
        self.close_button.setText(self.tr("Close  {0}").format(keys))
        self.close_button.setAccessibleName(self.tr("Back to the verdicts"))
        nothing = memory.missing or (self.tr("The memory is empty so far.") if not memory.lines.rows else "")
        self.missing.setText(nothing)
        self.missing.setVisible(bool(nothing))
        self.list.setVisible(not nothing)
