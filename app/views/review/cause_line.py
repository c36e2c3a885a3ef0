"""The likely cause of the open run in at most two lines, and why the run opened at its step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.views.review.run_header import ClampedLabel
from app.views.widgets import ElidedLabel
from app.views.widgets.build import hbox, styled, text_label, vbox
from app.views.widgets.command_button import command_link, show_command

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.review.cause_model import CauseModel
    from app.views.frame.theme import Theme

NARROW = 400
"""Width in pixels at 100 % text size below which the link that asks a model is left out."""


class CauseLine(QWidget):
    """Of constant height, whatever is known about the run."""

    def __init__(self, model: CauseModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.head = text_label(self.tr("cause"), "muted")
        self.cause = ClampedLabel(theme, 2)
        self.source = text_label(kind="secondary")
        self.ask = command_link(center, "review.ask_cause")
        self.because = styled(ElidedLabel(Qt.TextElideMode.ElideRight), "muted")
        line = hbox((self.head, 0, Qt.AlignmentFlag.AlignTop), (self.cause, 1), spacing=8)
        below = hbox((self.because, 1), self.source, self.ask, spacing=8)
        vbox(line, below, parent=self, margins=(12, 0, 8, 4), spacing=2)
        model.changed.connect(self._show)
        center.keys_changed.connect(self._show)
        center.refreshed.connect(self._enable)
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave a narrow line to its words; the command is in the palette and has a key."""
        super().resizeEvent(event)
        self.ask.setVisible(self.width() >= self._theme.px(NARROW))

    def _show(self) -> None:
        model = self._model
        self.cause.set_text(model.text)
        self.cause.set_role("text" if model.is_known else "muted")
        self.cause.setToolTip(model.details)
        self.source.setText(model.source)
        self.source.setVisible(bool(model.source))
        self.because.setText(model.because)
        show_command(self.ask, self._center, "review.ask_cause", self.tr("Ask a model"))
        self._enable()

    def _enable(self) -> None:
        self.ask.setEnabled(self._center.action("review.ask_cause").isEnabled())
