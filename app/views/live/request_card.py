"""The card of a request: the question, the reason, and a key for each decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QVBoxLayout, QWidget

from app.models.live.cards import PLANNED_CARD
from app.models.live.requests import MAX_TEXT_LENGTH, too_long
from app.views.live.edit_choice import EditChoice
from app.views.widgets import Badge, ElidedLabel
from app.views.widgets.build import Panel, hbox, restyle, styled, text_label, vbox
from app.views.widgets.elided_label import MessageLabel
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.text_line import TextLine

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.live.open_run import OpenRunModel
    from app.models.live.requests import Card
    from app.views.frame.theme import Theme

SCOPE_LABELS = {
    "live.approve": "once", "live.approve.run": "run", "live.approve.site": "site",
    "live.deny": "once", "live.deny.run": "run", "live.deny.site": "site",
}  # fmt: skip
MAIN = ("live.take_over", "live.approve", "live.no_wall", "live.answer", "live.deny", "live.edit")
FAR = (("live.approve.run", "live.approve.site"), ("live.deny.run", "live.deny.site"))


@dataclass(slots=True)
class TypedDraft:
    """Unsent text for a request: ``how`` is "edit", "answer" or "" (no line is open)."""

    how: str = ""
    text: str = ""
    reason: str = ""


class RequestCard(Panel):
    """One card, hidden without a request.  Binds approve, deny, edit and answer.

    Typed text stays with its request, whatever is viewed meanwhile.  A card whose request goes while somebody types in
    it stays with its text and says that nothing will be sent; Esc dismisses it.

    Signals:
        let_go: the card had the focus and has nothing to decide any more.
    """

    let_go = Signal()

    def __init__(self, model: OpenRunModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._run, self._model, self._center, self._theme = model, model.requests, center, theme
        self._shown, self._how = "", ""
        self._stale = self._could_plan = False
        self._owner = ""
        """The run whose card is shown."""
        self._hands = "live.take_over"
        self._typed: dict[str, TypedDraft] = {}
        self.setProperty("kind", "card")
        self.setAccessibleName(self.tr("Decision"))
        self.title, self.place, self.command = text_label(kind="heading", wrap=True), QLabel(), ElidedLabel()
        self.question, self.why, self.words = (
            MessageLabel(longest=600),
            MessageLabel("secondary", 280),
            MessageLabel("heading", 160),
        )
        self.equal = MessageLabel("secondary", 1_000)
        self.decided, self.error = MessageLabel("ok"), MessageLabel("fail", 600)
        self.risk = Badge("", "muted", theme)
        self.line = TextLine(theme, self.tr("Answer"), MAX_TEXT_LENGTH)
        self.choice = EditChoice(model.pointing, self.line, theme)
        self.reason = TextLine(theme, self.tr("Reason for the agent (optional)"), MAX_TEXT_LENGTH)
        self.buttons = {command: QPushButton() for command in (*MAIN, *FAR[0], *FAR[1])}
        self.reaches = (QLabel(self.tr("Approve for")), QLabel(self.tr("Deny for")))
        self._lay_out()
        self._bind()
        self._connect()
        self._show()

    # ------------------------------------------------------------ keys
    def edit(self) -> None:
        """Open the action field with the present action."""
        if not self._model.can("live.edit"):
            self._run.edit_planned()  # its card comes
        card = self._model.card
        planned = card is not None and card.need == PLANNED_CARD
        if card is not None and (planned or self._model.may_decide(opens_field=True)):
            if self._how != "edit":
                self._open_line("edit", card.call)
            self.line.begin()
            self.choice.begin(self.line.text)

    def answer(self) -> None:
        """Focus the answer field; without a question, the reason field."""
        if not self._model.may_decide(opens_field=True):
            return
        if self._model.takes_reason:
            self.reason.begin()
            return
        if self._how != "answer":
            self._open_line("answer", "")
        self.line.begin()

    def _bind(self) -> None:
        model, bind = self._model, self._center.bind
        for command, reach in SCOPE_LABELS.items():
            do = model.approve if command.startswith("live.approve") else model.deny
            bind(command, lambda do=do, reach=reach: do(reach), lambda name=command: self._can(name))
        bind("live.edit", self.edit, lambda: self._can("live.edit") or self._run.can_edit_planned)
        bind("live.answer", self.answer, lambda: self._can("live.answer") or self._takes_reason())

    def _can(self, command: str) -> bool:
        """Whether the card shown offers this command now; nothing is approved while another action is chosen."""
        chosen = self.choice.is_on and command.startswith("live.approve")
        return self._model.can(command) and self._is_shown and not chosen

    def _takes_reason(self) -> bool:
        return self._model.takes_reason and self._is_shown

    @property
    def _is_shown(self) -> bool:
        """Whether the model's card is the one shown: no other may be decided."""
        card = self._model.card
        return not self._stale and card is not None and card.id == self._shown

    def _open_line(self, how: str, text: str) -> None:
        self._how = how
        is_edit = how == "edit"
        self.command.setVisible(not is_edit and bool(self.command.text()))
        self.line.setFont(self._theme.mono() if is_edit else self._theme.font())
        self.line.setAccessibleName(self.tr("The new action") if is_edit else self.tr("Answer"))
        self.line.setPlaceholderText(
            self.tr("The new action; Enter does it")
            if is_edit
            else self.tr("The answer   {0}, Enter sends").format(self._center.keys("live.answer"))
        )
        self.line.put(text)
        self.line.show()

    def _close_line(self) -> None:
        self._how = ""
        self.choice.leave()
        self.line.hide()
        self.line.clear()

    def _leave_line(self) -> None:
        """Esc: leave the field; an edit is discarded, an unsent answer stays."""
        if not self._stale and self.choice.back():
            return
        self._leave()
        if self._stale:
            self._dismiss_stale()
            return
        if self._how == "edit":
            self._close_line()
            self._model.clear_error()
            self._model.plan(None)

    def _leave(self, _text: str = "") -> None:
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _enter_reason(self, _text: str) -> None:
        """Enter: leave the field, unless nothing can be sent any more."""
        if not self._stale:
            self._leave()

    def _leave_reason(self) -> None:
        """Esc: leave the field."""
        self._leave()
        if self._stale:
            self._dismiss_stale()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Dismiss a card kept for its unsent text on a click elsewhere."""
        if (
            event.type() is QEvent.Type.FocusOut
            and isinstance(event, QFocusEvent)
            and event.reason()
            not in (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)
        ):
            QTimer.singleShot(0, self, self._check_stale)
        return super().eventFilter(watched, event)

    def _check_stale(self) -> None:
        if self._stale and not (self.line.hasFocus() or self.reason.hasFocus()):
            self._dismiss_stale()

    def _dismiss_stale(self) -> None:
        """Show the present request once nobody types for the old one."""
        self._stale = False
        self._close_line()
        self.reason.clear()
        self._show()

    # ------------------------------------------------------------ face
    def _lay_out(self) -> None:
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        for label in (self.place, self.command, *self.reaches):
            label.setProperty("kind", "secondary")
        for command, button in self.buttons.items():
            button.setAutoDefault(True)  # Enter presses it; Space is a command of the place
            button.clicked.connect(
                lambda _checked=False, name=command: self._center.trigger(self._command_of(name))
            )
            button.pressed.connect(self._model.arm)
            button.released.connect(lambda: QTimer.singleShot(0, self, self._model.let_go))
        vbox(
            hbox((self.title, 1), self.place),
            self.question,
            self.equal,
            self.why,
            hbox((self.words, 1), (self.risk, 0, Qt.AlignmentFlag.AlignTop)),
            self.command,
            self.decided,
            self.line,
            self.choice,
            self.error,
            FlowLayout(*(self.buttons[command] for command in MAIN)),
            self._lay_out_reaches(),
            self.reason,
            parent=self,
            margins=(12, 10, 12, 10),
            spacing=6,
        )
        self.line.hide()

    def _lay_out_reaches(self) -> QVBoxLayout:
        """Lay out a row each for the wider scopes of approve and deny."""
        rows = vbox(spacing=0)
        for label, commands in zip(self.reaches, FAR, strict=True):
            label.setContentsMargins(0, 4, 4, 0)
            links = [styled(self.buttons[command], "link") for command in commands]
            for link in links:
                link.setProperty("small", "true")
            rows.addLayout(FlowLayout(label, *links, gap=0))
        return rows

    def _connect(self) -> None:
        self._model.changed.connect(self._show)
        self._run.changed.connect(self._follow_planned)
        self.choice.turned.connect(self._on_choice)
        self._center.keys_changed.connect(self._update_texts)
        self._center.refreshed.connect(self._enable)
        self._theme.changed.connect(self._on_theme)
        self.line.entered.connect(self._on_entered)
        self.line.left.connect(self._leave_line)
        self.line.refused.connect(self._show_too_long)
        self.reason.textChanged.connect(self._on_reason)
        self.reason.entered.connect(self._enter_reason)
        self.reason.left.connect(self._leave_reason)
        for line in (self.line, self.reason):
            line.installEventFilter(self)
        self.reason.refused.connect(self._show_too_long)

    def _on_choice(self) -> None:
        self._update_texts()
        self._center.refresh()

    def _follow_planned(self) -> None:
        if self._could_plan != self._run.can_edit_planned:
            self._could_plan = self._run.can_edit_planned
            self._center.refresh()

    def _on_entered(self, text: str) -> None:
        if self._stale:
            return
        if self._how == "edit":
            call = self.choice.enter(text)
            if call or not text.strip():
                self._model.edit(call)
        else:
            self._model.answer(text)

    def _on_reason(self) -> None:
        if not self._stale:
            self._model.set_reason(self.reason.text)

    def _on_theme(self) -> None:
        self.command.setFont(self._theme.mono("secondary"))

    def _show_too_long(self, length: int) -> None:
        self.error.say(f"! {too_long(length)}")

    def _show(self) -> None:
        card = self._model.card
        if self._keeps_draft(card):
            self._show_stale()
            return
        self._stale = False
        self._change_card(card)
        self._owner = self._run.run
        if card is None:
            held = self._has_focus
            self.hide()
            if held:  # Qt gave the focus to the next field, where the keys that decide would be typed
                self.let_go.emit()
        else:
            self._fill(card)
            self._update_texts()
            self.show()
        self._center.refresh()

    def _keeps_draft(self, card: Card | None) -> bool:
        """Whether somebody types for a request of this run that is gone or decided by somebody else."""
        if not (self.line.hasFocus() or self.reason.hasFocus()) or self._owner != self._run.run:
            return False
        if card is not None and card.id == self._shown:
            return not card.offers and not self._model.is_mine(card.id)
        return bool(self._shown) and not self._model.is_mine(self._shown)

    def _show_stale(self) -> None:
        """Keep the field with focus and text, say why nothing will be sent, and disable everything else."""
        self._stale = True
        row, card = self._run.row, self._model.card
        if row is not None and not row.state.alive:
            why = self.tr("{0} has ended").format(self._run.number.capitalize())
        elif card is not None and card.id == self._shown and card.decided:
            why = card.decided.rstrip(".")
        else:
            why = self.tr("This request is closed")
        self.error.say(self.tr("! {0}: nothing will be sent. Esc closes the field.").format(why))
        for button in self.buttons.values():
            button.hide()
        for label in self.reaches:
            label.hide()
        self._center.refresh()

    def _change_card(self, card: Card | None) -> None:
        """Store the unsent text of the card that goes, restore that of the one that comes."""
        coming = card.id if card is not None else ""
        is_open = card is not None and bool(card.offers)
        if coming == self._shown:
            if not is_open and coming:
                self._finish()
            return
        if self._shown and (self.line.text or self.reason.text):
            text = self.choice.draft if self.choice.is_on else self.line.text
            self._typed[self._shown] = TypedDraft(self._how, text, self.reason.text)
        if self.line.hasFocus() or self.reason.hasFocus():
            self._leave()
        self._close_line()
        self._shown = coming
        begun = self._typed.pop(coming, TypedDraft())
        self.reason.put(begun.reason if is_open else "")
        if is_open and begun.how:
            self._open_line(begun.how, begun.text)
        elif is_open and card is not None and card.need == "question":
            self._open_line("answer", "")

    def _finish(self) -> None:
        """After the decision, give up the focus and forget unsent text."""
        if self.line.hasFocus() or self.reason.hasFocus():
            self._leave()
        self._close_line()
        self.reason.clear()

    def _fill(self, card: Card) -> None:
        self.title.setText(card.title)
        self.place.setText(" · ".join(part for part in (self._run.number, card.place) if part))
        self.place.setVisible(bool(self.place.text()))
        self.question.say(card.question)
        self.equal.say(card.equal)
        self.why.say(card.why)
        self.words.say(card.words)
        self.decided.say(f"✓ {card.decided}" if card.decided else "")
        self.error.say(f"! {self._model.error}" if self._model.error else "")
        self.command.setText(card.call)
        self.command.setFont(self._theme.mono("secondary"))
        self.command.setVisible(bool(card.call) and self._how != "edit")
        self.risk.set(card.risk, card.risk_role)
        self.risk.setVisible(bool(card.risk))
        self.reason.setVisible(bool(card.offers) and card.need != "question")
        said = (
            card.title,
            self._run.number,
            card.question,
            card.equal,
            card.why,
            card.words,
            card.risk,
            card.decided,
        )
        self.setAccessibleDescription(". ".join(part for part in said if part))

    def _update_texts(self) -> None:
        card = self._model.card
        shows = card is not None and not self._stale and not self.choice.is_on
        offered = {offer.command: offer.word for offer in card.offers} if card is not None and shows else {}
        for command, button in self.buttons.items():
            word, keys = offered.get(command, ""), self._center.keys(command)
            button.setText(f"{word}{'   ' if command in MAIN else ' '}{keys}" if keys else word)
            button.setAccessibleName(self._center.title(command) if command not in MAIN else word)
            button.setToolTip(self._center.action(command).toolTip())
            if not word:
                self._keep_focus_of(button)
            button.setVisible(bool(word))
        self._dress_hands(offered.get("live.take_over", ""))
        self.reason.setPlaceholderText(
            self.tr("Reason for the agent (optional)   {0}").format(self._center.keys("live.answer"))
        )
        for label, commands in zip(self.reaches, FAR, strict=True):
            label.setVisible(any(command in offered for command in commands))
        self._enable()

    def _dress_hands(self, word: str) -> None:
        """At a log-in wall offer take over; during a takeover only hand back."""
        usual = "live.take_over" if word else "live.approve"
        for command in ("live.take_over", "live.approve", "live.answer"):
            kind = "primary" if command in (usual, "live.answer") else ""
            button = self.buttons[command]
            restyle(button, kind=kind)
        command, button = self._command_of("live.take_over"), self.buttons["live.take_over"]
        if word and command == "live.release":
            word = self.tr("Hand back")
            button.setText(f"{word}   {self._center.keys(command)}")
            button.setAccessibleName(word)
            button.setToolTip(self._center.action(command).toolTip())

    def _command_of(self, command: str) -> str:
        """Return the command of a button in the present state."""
        held = command == "live.take_over" and self._center.action("live.release").isEnabled()
        return "live.release" if held else command

    def _keep_focus_of(self, button: QPushButton) -> None:
        """Keep the focus of a button that is hidden; Qt would give it to the next field."""
        if button.hasFocus() and self.isVisible():
            self._leave()

    @property
    def _has_focus(self) -> bool:
        widget = QApplication.focusWidget()
        return isinstance(widget, QWidget) and (widget is self or self.isAncestorOf(widget))

    def _enable(self) -> None:
        hands = self._command_of("live.take_over")
        if hands != self._hands:
            self._hands = hands
            self._update_texts()
            return
        for command, button in self.buttons.items():
            enabled = self._center.action(self._command_of(command)).isEnabled()
            if not enabled:
                self._keep_focus_of(button)
            button.setEnabled(enabled)
