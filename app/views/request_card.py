"""What a run waits for a person to decide: the question, what speaks for it, and a key for each answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.models.live_requests import LONGEST, too_long
from app.views.flow_row import FlowRow
from app.views.widgets import Badge
from app.views.widgets.panel import Panel
from app.views.widgets.text_line import TextLine

if TYPE_CHECKING:
    from app.models.commands import CommandCenter
    from app.models.live_requests import Card
    from app.models.live_run import LiveRun
    from app.views.theme import Theme

REACHES = {
    "live.approve": "once", "live.approve.run": "run", "live.approve.site": "site",
    "live.deny": "once", "live.deny.run": "run", "live.deny.site": "site",
}  # fmt: skip
MAIN = ("live.approve", "live.answer", "live.deny", "live.edit", "live.take_over")
FAR = ("live.approve.run", "live.approve.site", "live.deny.run", "live.deny.site")


class RequestCard(Panel):
    """One card; it is not there while nothing is asked.  Binds approve, deny, edit and answer."""

    def __init__(self, model: LiveRun, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._run, self._model, self._center = model, model.requests, center
        self._shown = ""
        self._before: QWidget | None = None
        self.setProperty("kind", "card")
        self.setAccessibleName(self.tr("Decision"))
        self.title, self.place, self.question, self.why = QLabel(), QLabel(), QLabel(), QLabel()
        self.words, self.command, self.decided, self.error = QLabel(), QLabel(), QLabel(), QLabel()
        self.risk = Badge("", "muted", theme)
        self.line = TextLine(theme, self.tr("Answer"), LONGEST)
        self.reason = TextLine(theme, self.tr("Reason the agent is told (optional)"), LONGEST)
        self.buttons = {command: QPushButton() for command in (*MAIN, *FAR)}
        self._editing = ""
        """``edit`` or ``answer`` while the line is open."""
        self._theme = theme
        self._lay_out()
        self._bind()
        self._connect()
        self._show()

    # ------------------------------------------------------------ keys
    def _bind(self) -> None:
        model, bind = self._model, self._center.bind
        for command, reach in REACHES.items():
            do = model.approve if command.startswith("live.approve") else model.deny
            bind(command, lambda do=do, reach=reach: do(reach), lambda name=command: model.can(name))
        bind("live.edit", self.edit, lambda: model.can("live.edit"))
        bind("live.answer", self.answer, lambda: model.can("live.answer"))

    def edit(self) -> None:
        """Open the line with the action in it."""
        card = self._model.card
        if card is not None:
            self._open_line("edit", card.command)

    def answer(self) -> None:
        """Go to the line for the answer."""
        self._open_line("answer", self.line.text if self._editing == "answer" else "")

    def _open_line(self, how: str, text: str) -> None:
        if self._editing == how:
            self.line.begin()
            return
        self._editing = how
        is_edit = how == "edit"
        self.line.setFont(self._theme.mono() if is_edit else self._theme.font())
        self.line.setAccessibleName(self.tr("The action to do instead") if is_edit else self.tr("Answer"))
        self.line.setPlaceholderText(
            self.tr('click("12")   Enter does it, Esc leaves')
            if is_edit
            else self.tr("The answer   Enter sends, Esc leaves")
        )
        self.line.put(text)
        self.line.show()
        self.line.begin()

    def _close_line(self) -> None:
        had_keys = self.line.hasFocus() or self.reason.hasFocus()
        self._editing = ""
        self.line.hide()
        self.line.clear()
        if had_keys:
            self._leave()

    def _leave(self, _text: str = "") -> None:
        """The keys go back to the commands."""
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    # ------------------------------------------------------------ face
    def _lay_out(self) -> None:
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        for label, kind in (
            (self.title, "heading"), (self.place, "secondary"), (self.question, ""), (self.why, "secondary"),
            (self.words, "heading"), (self.command, "secondary"), (self.decided, "ok"), (self.error, "fail"),
        ):  # fmt: skip
            label.setProperty("kind", kind)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(label not in (self.title, self.place))
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.reason.setPlaceholderText(self.tr("Reason the agent is told (optional)"))
        for command, button in self.buttons.items():
            button.setProperty("kind", "primary" if command in ("live.approve", "live.answer") else "")
            if command in FAR:
                button.setProperty("kind", "link")
                button.setProperty("small", "true")
            button.clicked.connect(lambda _checked=False, name=command: self._center.trigger(name))
        head, action = QHBoxLayout(), QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.place)
        action.addWidget(self.words, 1)
        action.addWidget(self.risk, 0, Qt.AlignmentFlag.AlignTop)
        main, far = FlowRow(), FlowRow(gap=2)
        for command in MAIN:
            main.addWidget(self.buttons[command])
        for command in FAR:
            far.addWidget(self.buttons[command])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 10, 12, 10)
        layout.setSpacing(6)
        layout.addLayout(head)
        layout.addWidget(self.question)
        layout.addWidget(self.why)
        layout.addLayout(action)
        layout.addWidget(self.command)
        layout.addWidget(self.decided)
        layout.addWidget(self.line)
        layout.addWidget(self.error)
        layout.addLayout(main)
        layout.addLayout(far)
        layout.addWidget(self.reason)
        self.line.hide()

    def _connect(self) -> None:
        self._model.changed.connect(self._show)
        self._center.keys_changed.connect(self._dress)
        self._center.refreshed.connect(self._enable)
        self.line.entered.connect(self._on_entered)
        self.line.left.connect(self._close_line)
        self.line.refused.connect(self._say_too_long)
        self.reason.textChanged.connect(lambda: self._model.set_reason(self.reason.text))
        self.reason.entered.connect(self._leave)
        self.reason.left.connect(self._leave)
        self.reason.refused.connect(self._say_too_long)

    def _on_entered(self, text: str) -> None:
        if self._editing == "edit":
            self._model.edit(text)
        else:
            self._model.answer(text)

    def _say_too_long(self, length: int) -> None:
        self._say(too_long(length))

    def _say(self, error: str) -> None:
        self.error.setText(f"! {error}" if error else "")
        self.error.setVisible(bool(error))

    def _show(self) -> None:
        card = self._model.card
        if card is None or card.id != self._shown or card.decided:
            self._close_line()
        if card is None:
            self._shown = ""
            self.hide()
            self._center.refresh()
            return
        if card.id != self._shown:
            self._shown = card.id
            self.reason.clear()
        elif not self._model.reason and not self.reason.hasFocus():
            self.reason.clear()
        self._fill(card)
        self._dress()
        self._center.refresh()
        self.show()
        if card.need == "question" and card.offers and not self._editing and self.isVisible():
            self.line.setPlaceholderText("")

    def _fill(self, card: Card) -> None:
        self.title.setText(card.title)
        self.place.setText(card.place)
        for label, text in (
            (self.question, card.question), (self.why, card.why), (self.words, card.words),
            (self.command, card.command), (self.decided, f"✓ {card.decided}" if card.decided else ""),
        ):  # fmt: skip
            label.setText(text)
            label.setVisible(bool(text))
        self.command.setFont(self._theme.mono("secondary"))
        self.risk.set(card.risk, card.risk_role)
        self.risk.setVisible(bool(card.risk))
        self.reason.setVisible(bool(card.offers) and card.need != "question")
        self._say(self._model.error)
        self.setAccessibleDescription(
            " ".join(part for part in (card.title, card.question, card.why, card.words) if part)
        )

    def _dress(self) -> None:
        card = self._model.card
        offered = {offer.command: offer.word for offer in card.offers} if card is not None else {}
        for command, button in self.buttons.items():
            word, keys = offered.get(command, ""), self._center.keys(command)
            button.setText(f"{word}   {keys}" if keys else word)
            button.setAccessibleName(word)
            button.setToolTip(self._center.action(command).toolTip())
            button.setVisible(bool(word))
        self._enable()

    def _enable(self) -> None:
        for command, button in self.buttons.items():
            button.setEnabled(self._center.action(command).isEnabled())
