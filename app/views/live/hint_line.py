"""The hint field below an open run, with the last hint one key away from a tip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal

from app.models.live.hints import hint_status
from app.models.live.requests import MAX_TEXT_LENGTH, too_long
from app.views.widgets import ElidedLabel
from app.views.widgets.build import Panel, ground, hbox, styled, text_label, vbox
from app.views.widgets.command_button import command_link, show_command
from app.views.widgets.text_line import TextLine

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.live.open_run import OpenRunModel
    from app.views.frame.theme import Theme


class HintLine(Panel):
    """H focuses it, Enter sends, Esc leaves and keeps the text.  Binds ``live.hint``.

    H always focuses it: where the run has ended the line says so, and takes and ignores typing.  Text begun when the
    run ended stays in it, and Enter does not send it.

    Signals:
        wanted: H was pressed; the line should become visible before it gets the focus.
    """

    wanted = Signal()

    def __init__(self, model: OpenRunModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._run, self._model, self._center, self._theme = model, model.hints, center, theme
        ground(self)
        self.setAccessibleName(self.tr("Hint to the agent"))
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.line = TextLine(theme, self.tr("Hint to the agent"), MAX_TEXT_LENGTH)
        self.state, self.last = text_label(kind="secondary"), styled(ElidedLabel(), "secondary")
        self.count, self.error = text_label(kind="secondary"), text_label(kind="fail", wrap=True)
        self.to_tip = command_link(center, "live.tip")
        self._refused = ""
        self._known = ""
        self._drafts: dict[str, str] = {}
        """Words that were begun for other runs and not sent."""
        self._shown = ""
        self._lay_out()
        center.bind("live.hint", self.begin)
        self.line.entered.connect(self._on_entered)
        self.line.left.connect(lambda: self.setFocus(Qt.FocusReason.OtherFocusReason))
        self.line.refused.connect(self._on_refused)
        self.line.textChanged.connect(self._on_typed)
        self._model.changed.connect(self._show)
        self._model.sent.connect(self._on_sent)
        model.opened.connect(self._on_opened)
        model.changed.connect(self._show)
        center.keys_changed.connect(self._update_texts)
        self._update_texts()
        self._show()

    def begin(self) -> None:
        """Focus the line, whatever the run's state; without a run, typing does nothing."""
        self.wanted.emit()
        if self._run.run:
            self.line.begin()
        else:
            self._run.hands.expect_typing()
            self._run.notice.emit(self.tr("There is no run to send a hint to"))

    def _lay_out(self) -> None:
        past = hbox(self.state, (self.last, 1), self.to_tip, spacing=6)
        vbox(past, self.line, self.count, self.error, parent=self, margins=(10, 6, 10, 8), spacing=4)

    @property
    def _is_over(self) -> bool:
        row = self._run.row
        return row is not None and row.state.value == "ended"

    def _on_entered(self, text: str) -> None:
        """Send the text to the run it was typed for; leave the line where that is impossible."""
        if not self._is_over:
            self._model.send(text)
        elif not text.strip():
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_opened(self) -> None:
        """Keep each run's unsent text."""
        if self._shown and self.line.text.strip():
            self._drafts[self._shown] = self.line.text
        self._shown, self._refused = self._run.run, ""
        self.line.put(self._drafts.pop(self._shown, ""))
        self._update_texts()

    def _on_typed(self) -> None:
        self._refused = ""
        self._update_state()
        length = self.line.length
        near = length > MAX_TEXT_LENGTH * 0.8
        self.count.setText(
            self.tr("{0} of {1} characters").format(f"{length:,}", f"{MAX_TEXT_LENGTH:,}") if near else ""
        )
        self.count.setVisible(near)
        over = length > MAX_TEXT_LENGTH
        if over or self._model.error:
            self._say(too_long(length) if over else self._ended())

    def _on_refused(self, length: int) -> None:
        self._refused = too_long(length)
        self._say(self._refused)

    def _on_sent(self, _hint: str) -> None:
        """Clear the line, unless something else was typed meanwhile."""
        newest = self._model.newest
        if newest is not None and self.line.text.strip() == newest.text:
            self.line.clear()

    def _show(self) -> None:
        newest = self._model.newest
        for widget in (self.state, self.last, self.to_tip):
            widget.setVisible(newest is not None)
        if newest is not None:
            self.state.setText(f"{hint_status(newest)}:")
            self.last.setText(newest.text)
        self._update_state()
        self._say(self._model.error or self._refused or self._ended())
        now = newest.id if newest is not None else ""
        if now != self._known:  # whether there is a hint for a tip
            self._known = now
            QTimer.singleShot(0, self, self._center.refresh)  # after every listener

    def _update_state(self) -> None:
        """The line of an ended run takes the focus and nothing else, unless there is text in it."""
        shut = self._is_over and not self.line.text
        self.line.shut(shut)
        self.line.setPlaceholderText(
            self.tr("{0} has ended and takes no hints").format(self._run.number.capitalize())
            if shut
            else self.tr("Hint to {0}   {1}, Enter sends").format(
                self._run.number or self.tr("the agent"), self._center.keys("live.hint")
            )
        )

    def _ended(self) -> str:
        """Return why unsent text can't be sent any more."""
        if not self._is_over or not self.line.text:
            return ""
        return self.tr("{0} has ended: this hint can't be sent. Esc closes; the text is kept.").format(
            self._run.number.capitalize()
        )

    def _say(self, error: str) -> None:
        self.error.setText(f"! {error}" if error else "")
        self.error.setVisible(bool(error))
        self.line.setAccessibleDescription(error)

    def _update_texts(self) -> None:
        self._update_state()
        show_command(self.to_tip, self._center, "live.tip", self.tr("Tip"))
