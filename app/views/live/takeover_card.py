"""The summary after a takeover: what was done by hand and what it changed, one key from a tip or the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QToolButton, QWidget

from app.views.widgets import ElidedLabel
from app.views.widgets.build import Gap, hbox, text_label, vbox
from app.views.widgets.command_button import CommandButton
from app.views.widgets.flow_layout import FlowLayout

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.live.model import TakeoverSummary
    from app.views.frame.theme import Theme

MAX_CHANGES, MAX_LENGTH = 4, 200
"""Changes that are listed (the others are counted), and characters of one."""


class TakeoverCard(QFrame):
    """``closed``: the operator has read it."""

    closed = Signal()

    def __init__(self, center: CommandCenter, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self.setObjectName("takeover-card")
        self.setAutoFillBackground(True)
        self.title, self.done = text_label(kind="title"), ElidedLabel()
        self.changes, self.tip = text_label(kind="secondary", wrap=True), text_label(wrap=True)
        self.close_button = QToolButton()
        self.close_button.setIcon(theme.icon("close", "muted"))
        self.close_button.setAutoRaise(True)
        self.close_button.setToolTip(self.tr("Close"))
        self.close_button.setAccessibleName(self.tr("Close the takeover summary"))
        self.close_button.clicked.connect(self.closed)
        self.tip_button = CommandButton("live.tip", center, theme, self.tr("Write a tip"))
        self.tip_button.call(True)
        self.map_button = CommandButton("live.to_map", center, theme, self.tr("Add to map"))
        head = hbox((self.title, 1), self.close_button)
        foot = FlowLayout(self.tip_button, self.map_button, gap=8)
        vbox(
            head,
            self.done,
            self.changes,
            self.tip,
            Gap(4),
            foot,
            parent=self,
            margins=(16, 8, 8, 8),
            spacing=4,
        )
        self.setAccessibleName(self.tr("Takeover summary"))

    def show_account(self, account: TakeoverSummary) -> None:
        """Show the summary of a takeover."""
        steps = self.tr("1 step") if account.steps == 1 else self.tr("{0} steps").format(account.steps)
        title = (
            self.tr("Handed back: {0} by hand").format(steps)
            if account.steps
            else self.tr("Handed back: nothing was done by hand")
        )
        self.title.setText(title)
        self.done.setText(account.words)
        self.done.setVisible(bool(account.words))
        lines = [f"• {_short(change)}" for change in account.changes[:MAX_CHANGES]]
        more = len(account.changes) - MAX_CHANGES
        if more > 0:
            lines.append(self.tr("and {0} more").format(more))
        if account.masked:
            lines.append(
                self.tr("Masked in text and pictures: {0} fields").format(account.masked)
                if account.masked > 1
                else self.tr("Masked in text and pictures: 1 field")
            )
        self.changes.setText("\n".join(lines))
        self.changes.setVisible(bool(lines))
        self.tip.setText(self.tr("Tip: {0}").format(_short(account.tip_text)))
        self.tip.setVisible(bool(account.tip_text))
        self.setAccessibleDescription("\n".join([title, account.words, *lines]))


def _short(text: str) -> str:
    """Return one line of at most ``MAX_LENGTH`` characters."""
    line = " ".join(text[: 4 * MAX_LENGTH].split())
    return line if len(line) <= MAX_LENGTH else line[: MAX_LENGTH - 1] + "…"
