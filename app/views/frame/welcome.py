"""The start screen: that the program is starting, or why it could not."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QProgressBar, QWidget

from app.models.common.commands import CommandCenter
from app.views.frame.theme import Theme
from app.views.widgets.build import text_label, vbox


class Welcome(QWidget):
    """The first thing shown; ``fail`` turns it into the reason and the remedy."""

    def __init__(self, center: CommandCenter, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title, self._hint = text_label(self.tr("Opening the workspace…"), "title"), QLabel("")
        self._hint.setProperty("kind", "muted")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 0)
        self._bar.setFixedWidth(220)
        self._bar.setAccessibleName(self.tr("Opening the workspace"))
        layout = vbox(2, parent=self, margins=(48, 32, 48, 32), spacing=12)
        for label in (self._title, self._hint):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setWordWrap(True)
            layout.addWidget(label)
        layout.addWidget(self._bar, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(3)
        self._hint.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    @property
    def words(self) -> str:
        return f"{self._title.text()} {self._hint.text()}".strip()

    def fail(self, title: str, reason: str) -> None:
        """Show why the program could not start."""
        self._title.setText(title)
        self._hint.setText(reason)
        self._bar.hide()


class DropTarget(QWidget):
    """Shown over the window while files are dragged over it."""

    def __init__(self, theme: Theme, host: QWidget) -> None:
        super().__init__(host)
        self._theme, self._host = theme, host
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def present(self) -> None:
        self.setGeometry(self._host.rect())
        self.show()
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        """A dashed border and what dropping does."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = self._theme.color("raised")
        ground.setAlpha(225)
        painter.fillRect(self.rect(), ground)
        painter.setPen(QPen(self._theme.color("accent"), 2, Qt.PenStyle.DashLine))
        inner = QRect(self.rect()).adjusted(24, 24, -24, -24)
        painter.drawRoundedRect(inner, 12, 12)
        painter.setFont(self._theme.font("title", bold=True))
        painter.drawText(inner, Qt.AlignmentFlag.AlignCenter, self.tr("Drop to import these runs"))
        painter.end()
