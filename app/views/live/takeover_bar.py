"""The bar over a page under the operator's control: address line, back, forward, reload, and hand back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QToolButton, QWidget

from app.models.live.takeover import MAX_ADDRESS_LENGTH, MAX_ANSWER_LENGTH, PAGE_COMMANDS, TakeoverModel
from app.views.widgets import ElidedLabel
from app.views.widgets.build import Gap, hbox, text_label, vbox
from app.views.widgets.command_button import SIGN, WORD, CommandButton
from app.views.widgets.elided_label import MessageLabel
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.text_line import TextLine

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.live.model import LiveModel, TakeoverSummary
    from app.views.frame.theme import Theme


PASSTHROUGH_COMMANDS = (
    "live.release",
    "live.address",
    *PAGE_COMMANDS,
    "live.finish",
    "live.finish.answer",
    "live.no_wall",
)
"""Commands whose keys with Ctrl, Alt or Esc work while the page has the keyboard."""


class TakeoverBar(QWidget):
    """Visible during a takeover.  Binds its commands except taking over and handing back.

    Signals:
        left: the keyboard should return to the page.
    """

    left = Signal()

    def __init__(self, model: LiveModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        self._unsent: dict[str, str] = {}
        """Answers that were typed and not sent, by run."""
        self._answered_run = ""
        self.by_hand = TakeoverModel(model, self)
        self._address = ""
        self.moves = [CommandButton(command, center, theme) for command in PAGE_COMMANDS]
        for button in self.moves:
            button.set_detail(SIGN)
        self.address = TextLine(
            theme, self.tr("Address: Enter opens it, Esc returns to the page"), MAX_ADDRESS_LENGTH
        )
        self.finished = CommandButton("live.finish", center, theme, self.tr("Finished"))
        self.answered = CommandButton("live.finish.answer", center, theme, self.tr("The answer is…"))
        self.no_wall = CommandButton("live.no_wall", center, theme, self.tr("Not blocked"))
        self.answer = TextLine(theme, self.tr("The answer: Enter ends the run with it"), MAX_ANSWER_LENGTH)
        self.answer.setPlaceholderText(self.answer.accessibleName())
        self.said = MessageLabel("warn")
        self.no_wall.set_detail(WORD)  # the key shown works only while the window has the keyboard
        self.answer.hide()
        self.setAccessibleName(self.tr("Page under your control"))
        self._lay_out()
        self._connect()
        self._bind()

    def _lay_out(self) -> None:
        first = hbox(*self.moves, (self.address, 1), spacing=5)
        second = FlowLayout(self.finished, self.answered, self.no_wall, gap=5)
        vbox(first, second, self.answer, self.said, parent=self, margins=(8, 2, 8, 4), spacing=4)
        self.said.say("")

    def _connect(self) -> None:
        self.by_hand.said.connect(self.said.say)
        self.address.entered.connect(self._open)
        self.address.left.connect(self._leave_address)
        self.answer.entered.connect(self._send_answer)
        self.answer.left.connect(self._leave_answer)
        self._model.opened.connect(self._on_opened)

    def _bind(self) -> None:
        bind, by_hand = self._center.bind, self.by_hand
        for command in PAGE_COMMANDS:
            bind(command, lambda name=command: by_hand.move(name), lambda: by_hand.has_page)
        bind("live.address", self._type_address, lambda: by_hand.has_page)
        bind("live.finish", by_hand.finish, lambda: by_hand.can_end)
        bind("live.finish.answer", self._type_answer, lambda: by_hand.can_end)
        bind("live.no_wall", by_hand.no_wall, lambda: by_hand.can_deny_block)

    # ------------------------------------------------------------ what is shown
    def show_in_hand(self, in_hand: bool) -> None:
        self._show_moves(in_hand)
        if not in_hand:
            self._close_answer()
            self.said.say("")
            if self.address.hasFocus():
                self.left.emit()
        self.setVisible(in_hand)

    def _show_moves(self, shown: bool) -> None:
        """Without a takeover the bar has the ways to end the run only."""
        for widget in (*self.moves, self.address, self.no_wall):
            widget.setVisible(shown)

    def show_address(self, address: str) -> None:
        """Show the page's address, except while one is typed."""
        self._address = address
        if not self.address.hasFocus():
            self.address.put(address)

    @property
    def keys(self) -> list[str]:
        """Keys never forwarded to the page: those of takeover commands that type nothing."""
        found = [
            key.toString()
            for command in PASSTHROUGH_COMMANDS
            for key in self._center.action(command).shortcuts()
        ]
        return [key for key in found if "Ctrl+" in key or "Alt+" in key or "Esc" in key]

    # ------------------------------------------------------------ typing
    def _type_address(self) -> None:
        self.address.put(self._address)
        self.address.selectAll()
        self.address.begin()

    def _open(self, text: str) -> None:
        self.by_hand.open(text)
        self.left.emit()

    def _leave_address(self) -> None:
        self.left.emit()
        self.address.put(self._address)

    def _on_opened(self, run: str) -> None:
        """An answer belongs to its run: it is never sent for another one."""
        if self._answered_run and run != self._answered_run:
            self._unsent[self._answered_run] = self.answer.text
            self._answered_run = ""
            self._close_answer()
            self.setVisible(self.by_hand.has_page)

    def _type_answer(self) -> None:
        self._model.open(self._model.current)  # from the overview, too
        if not self._model.run:
            return
        if self._answered_run != self._model.run:
            self._answered_run = self._model.run
            self.answer.put(self._unsent.pop(self._model.run, ""))
        self._show_moves(self.by_hand.has_page)
        self.setVisible(True)
        self.answer.show()
        self.answer.begin()

    def _send_answer(self, text: str) -> None:
        if self._model.current == self._answered_run and self.by_hand.answer(text):
            self._answered_run = ""
            self._close_answer()
            self.setVisible(self.by_hand.has_page)
            self.left.emit()

    def _leave_answer(self) -> None:
        """Esc: leave the field and keep its text."""
        self.answer.hide()
        self.setVisible(self.by_hand.has_page)
        self.left.emit()

    def _close_answer(self) -> None:
        self.answer.clear()
        self.answer.hide()


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
