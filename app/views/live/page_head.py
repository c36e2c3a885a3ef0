"""The head of a live page: state of the run, address, and a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.models.live.run_list import state_words
from app.views.live.state_marks import draw_state
from app.views.widgets import Badge, ElidedLabel
from app.views.widgets.build import hbox, styled, text_label, vbox

if TYPE_CHECKING:
    from app.engine.core.supervision import LiveRow
    from app.views.frame.theme import Theme


class StatePill(QWidget):
    """A run's state badge: sign, label and colour."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._row: LiveRow | None = None
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._restyle)

    def show_row(self, row: LiveRow) -> None:
        self._row = row
        self.setAccessibleName(state_words(row))
        self._restyle()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._theme.font("secondary", bold=True))
        words = metrics.horizontalAdvance(state_words(self._row)) if self._row is not None else 0
        return QSize(words + self._theme.px(34), metrics.height() + self._theme.px(6))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._row is not None:
            painter = QPainter(self)
            draw_state(
                painter, self._theme, 0, self.height() // 2, self.width() + self._theme.px(20), self._row
            )
            painter.end()

    def _restyle(self) -> None:
        self.updateGeometry()
        self.update()


class PageHead(QWidget):
    """Two lines that are always present, so that the page below never moves."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.pill, self.badge = StatePill(theme), Badge("", "muted", theme)
        self.address = ElidedLabel(Qt.TextElideMode.ElideMiddle)
        self.address.setAccessibleName(self.tr("Address of the page"))
        self.says = styled(ElidedLabel(), "secondary")
        self.cost = text_label(kind="secondary")
        first = hbox(self.pill, self.badge, (self.address, 1), self.cost, spacing=8)
        vbox(first, self.says, parent=self, margins=(8, 4, 8, 2), spacing=2)
        self.badge.hide()

    def show_address(self, address: str) -> None:
        """Show the address without a new layout for each picture."""
        if address != self.address.text():
            self.address.setText(address)

    def show_row(self, row: LiveRow, says: str) -> None:
        self.badge.hide()
        self.pill.show_row(row)
        self.pill.show()
        self.cost.setText(row.cost.short if row.cost is not None else "")
        self.cost.setToolTip(row.cost.words if row.cost is not None else "")
        self._say(says)

    def show_words(self, words: str, role: str, says: str) -> None:
        """Show another label: a past step, or a lost engine."""
        self.pill.hide()
        self.badge.set(words, role)
        self.badge.show()
        self._say(says)

    def _say(self, words: str) -> None:
        if words != self.says.text():
            self.says.setText(words)
