"""The agent's memory at the current step, shown in place of the verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton

from app.views.review.rows import named_text_row
from app.views.widgets.build import Panel, ground, hbox, styled, text_label, vbox
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
        ground(self)
        self.setAccessibleName(self.tr("Agent memory"))
        self.head, self.missing = text_label(kind="heading"), text_label(kind="muted", wrap=True)
        self.missing.setContentsMargins(12, 8, 12, 8)
        self.close_button = styled(QPushButton(), "link")
        self.list = RowList(theme, named_text_row, self.tr("The agent's memory"))
        self.list.setModel(model.memory.lines)
        head = hbox((self.head, 1), self.close_button, margins=(12, 8, 8, 4))
        vbox(head, self.missing, (self.list, 1), parent=self, spacing=0)
        self.close_button.clicked.connect(self.closed)
        model.memory.changed.connect(self._show)
        model.step_changed.connect(self._show)
        center.keys_changed.connect(self._show)
        self._show()

    def take_focus(self) -> None:
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
