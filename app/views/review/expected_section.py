"""The expected outcome of the open run: a line that unfolds into rules, scores and checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.views.widgets import ElidedLabel
from app.views.widgets.build import divider, hbox, restyle, styled, text_label, vbox
from app.views.widgets.command_button import command_link, show_command
from app.views.widgets.rows import RowContent, RowList, Text, line, small
from app.views.widgets.signs import score_sign

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.review.expected import ExpectedLine, ExpectedModel
    from app.views.frame.theme import Theme


MOST = 260
"""Height of the rows at most, in pixels at 100 % text size; the verdicts below stay in reach."""


class ExpectedSection(QWidget):
    """Invisible where no suite of the workspace knows the run's task."""

    def __init__(self, model: ExpectedModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        self.setAccessibleName(self.tr("Expected outcome"))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.head = text_label(self.tr("Expected"), "heading")
        self.summary = styled(ElidedLabel(Qt.TextElideMode.ElideRight), "muted")
        self.fold = command_link(center, "review.expected")
        self.rows = RowList(theme, expected_row, self.tr("What was expected, and what the run came to"))
        self.rows.setModel(model.lines)
        head = hbox(self.head, (self.summary, 1), self.fold, margins=(12, 4, 8, 4), spacing=8)
        vbox(head, self.rows, divider(), parent=self, spacing=0)
        model.changed.connect(self._show)
        center.keys_changed.connect(self._show)
        theme.changed.connect(self._fit)
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the rows: another width wraps them differently."""
        super().resizeEvent(event)
        self._fit()

    def _show(self) -> None:
        model = self._model
        self.setVisible(model.outcome is not None)
        unfolded = model.is_unfolded and not model.is_hidden
        self.summary.setText(model.summary if not unfolded else "")
        restyle(self.summary, kind=model.level or "muted")
        self.rows.setVisible(unfolded)
        self.fold.setVisible(not model.is_hidden)
        word = self.tr("Fold") if unfolded else self.tr("Unfold")
        show_command(self.fold, self._center, "review.expected", word)
        self._fit()

    def _fit(self) -> None:
        self.rows.setFixedHeight(min(self.rows.content_height(), self._theme.px(MOST)))


def expected_row(value: ExpectedLine) -> RowContent:
    """Role with details and sign; below, the text on up to two lines."""
    sign = score_sign(value.level, value.level) if value.level else None
    more = small(value.more, value.level or "muted", sign=sign)
    head = line(small(value.role, "accent", bold=True), more)
    return RowContent(lines=(head, Text(value.text)) if value.text else (head,))
