"""A button for a command: its icon, a word, and its shortcut; disabled with the command."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QPushButton, QSizePolicy, QWidget

from app.models.common.commands import CommandCenter
from app.views.frame.theme import Theme
from app.views.widgets.build import styled
from app.views.widgets.keycap import draw_keys, keys_width

PAD, GAP = 8, 5
WHOLE, WORD, SIGN = 2, 1, 0
"""Detail of a button: with its shortcut, without, the icon alone."""


class CommandButton(QAbstractButton):
    """Shows the command's own icon and enabled state; ``show_as`` gives it another word or command.

    Args:
        word: a word or two; "" is the command's title.
        others: commands and words that ``show_as`` may give it; it is wide enough for each, so that nothing beside it
            moves.
    """

    def __init__(
        self,
        command: str,
        center: CommandCenter,
        theme: Theme,
        word: str = "",
        *,
        others: tuple[tuple[str, str], ...] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.command, self._center, self._theme = command, center, theme
        self._word, self._icon, self._role = word, "", "text"
        self._others, self._calls, self._much = others, False, WHOLE
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.clicked.connect(lambda: self._center.trigger(self.command))
        center.refreshed.connect(self._enable)
        center.keys_changed.connect(self._dress)
        theme.changed.connect(self._resize)
        self._dress()

    def show_as(self, command: str, word: str, icon: str = "") -> None:
        """Switch to another command or word."""
        if (command, word, icon) != (self.command, self._word, self._icon):
            self.command, self._word, self._icon = command, word, icon
            self._dress()

    def call(self, calls: bool, role: str = "accent") -> None:
        """Highlight the button as the expected next action, or not."""
        if (calls, role) != (self._calls, self._role):
            self._calls, self._role = calls, role
            self.update()

    def set_detail(self, much: int) -> None:
        """Set the detail: ``WHOLE``, ``WORD`` or ``SIGN``."""
        if much != self._much:
            self._much = much
            self._resize()

    def sizeHint(self) -> QSize:
        return QSize(self.width_for(self._much), self._theme.px(30))

    def minimumSizeHint(self) -> QSize:
        """Never elided."""
        return self.sizeHint()

    def width_for(self, much: int) -> int:
        """The width in pixels at this detail."""
        px, metrics = self._theme.px, QFontMetrics(self.font())
        faces = ((self.command, self._text()), *self._others)
        width = px(16) + 2 * px(PAD)
        if much >= WORD:
            width += px(6) + max(metrics.horizontalAdvance(word) for _, word in faces)
        if much >= WHOLE and (
            keys := max(keys_width(self._theme, self._center.keys(name)) for name, _ in faces)
        ):
            width += px(GAP) + keys
        return width

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, px = self._theme, self._theme.px
        painter = QPainter(self)
        painter.setLayoutDirection(
            Qt.LayoutDirection.LeftToRight
        )  # icon, word, shortcut: also in right-to-left layouts
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self.isEnabled():
            painter.setOpacity(0.45)
        self._paint_ground(painter)
        ink = self._role if self._calls and self.isEnabled() else "text"
        side, middle = px(16), self.height() // 2
        icon = self._icon or self._center.command(self.command).icon
        theme.icon(icon, ink if self._calls else "muted").paint(
            painter, QRect(px(PAD), middle - side // 2, side, side)
        )
        if self._much >= WORD:
            painter.setFont(self.font())
            painter.setPen(theme.color(ink))
            left = px(PAD) + side + px(6)
            align = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRect(left, 0, self.width() - left, self.height()), align, self._text())
        if self._much >= WHOLE:
            draw_keys(
                painter, theme, self.rect().adjusted(0, 0, -px(PAD), 0), self._center.keys(self.command)
            )
        painter.end()

    def _paint_ground(self, painter: QPainter) -> None:
        theme, box = self._theme, self.rect().adjusted(0, 0, -1, -1)
        pressed, hovered = self.isDown(), self.underMouse() and self.isEnabled()
        calls = self._calls and self.isEnabled()
        ground = "selected" if pressed else "hover" if hovered else f"tint_{self._role}" if calls else ""
        line = "accent" if self.hasFocus() else self._role if calls else "line"
        painter.setPen(QPen(theme.color(line), 1))
        if ground:
            painter.setBrush(theme.color(ground))
        painter.drawRoundedRect(box, 6, 6)

    def _text(self) -> str:
        return self._word or self._center.title(self.command)

    def _enable(self) -> None:
        self.setEnabled(self._center.action(self.command).isEnabled())

    def _dress(self) -> None:
        self.setAccessibleName(self._text())
        self.setToolTip(self._center.action(self.command).toolTip())
        self._enable()
        self._resize()

    def _resize(self) -> None:
        self.setFont(self._theme.font())
        self.setFixedSize(self.sizeHint())
        self.updateGeometry()
        self.update()


def fill(
    buttons: Sequence[CommandButton],
    room: int,
    levels: Sequence[tuple[int, int]],
    aside: Collection[CommandButton] = (),
) -> None:
    """Show as much of every button as fits ``room`` pixels: the first of ``levels`` that fits, else the last.

    A level is the detail of a button, and of one that stands ``aside``.
    """
    for level in levels:
        amounts = [(button, level[button in aside]) for button in buttons]
        if level is levels[-1] or sum(button.width_for(amount) for button, amount in amounts) <= room:
            for button, amount in amounts:
                button.set_detail(amount)
            return


def show_command(button: QAbstractButton, center: CommandCenter, command: str, word: str) -> None:
    """Give a button a word with the shortcut of a command, and the command's name and tooltip."""
    keys = center.keys(command)
    button.setText(f"{word}  {keys}" if keys else word)
    button.setAccessibleName(center.title(command))
    button.setToolTip(center.action(command).toolTip())


def command_link(center: CommandCenter, command: str) -> QPushButton:
    """Return a small link that runs a command; ``show_command`` writes it."""
    button = styled(QPushButton(), "link")
    button.setProperty("small", "true")
    button.clicked.connect(lambda: center.trigger(command))
    return button
