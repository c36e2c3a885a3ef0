"""The choice of another action while one is edited: the element in words, the calls that fit it, and the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from app.models.live.pointing_model import call_label, target_words
from app.views.widgets import ElidedLabel
from app.views.widgets.build import styled, text_label, vbox
from app.views.widgets.elided_label import MessageLabel
from app.views.widgets.flow_layout import FlowLayout

if TYPE_CHECKING:
    from app.models.live.pointing_model import PointingModel
    from app.views.frame.theme import Theme
    from app.views.widgets.text_line import TextLine

MAX_CALLS = 6
"""Calls with a button of their own; the others are reached by key."""
WALKING = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_Tab: 1, Qt.Key.Key_Backtab: -1}


class EditChoice(QWidget):
    """Under the edit field of a request card.  While ``is_on`` it reads that field and takes its arrow and Tab keys.

    Signals:
        turned: a choice began or ended.
    """

    turned = Signal()

    def __init__(self, model: PointingModel, line: TextLine, theme: Theme) -> None:
        super().__init__()
        self._model, self._line, self._theme = model, line, theme
        self.is_on = False
        self._asked_text = self._is_putting = False
        self.what, self.error = MessageLabel("heading", 200), MessageLabel("warn", 300)
        self.call, self.keys = styled(ElidedLabel(), "secondary"), text_label(kind="secondary", wrap=True)
        self.calls = [QToolButton() for _ in range(MAX_CALLS)]
        self.more = text_label(kind="secondary")
        self.send, self.cancel = styled(QPushButton(), "primary"), QPushButton(self.tr("Cancel   Esc"))
        self.cancel.setAccessibleName(self.tr("Cancel"))
        self.send.clicked.connect(lambda: line.entered.emit(line.text))
        self.cancel.clicked.connect(line.left)
        for place, button in enumerate(self.calls):
            button.setCheckable(True)
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Alt+Up and Alt+Down; Tab chooses elements
            button.clicked.connect(lambda _checked=False, place=place: self._take(place))
        vbox(
            self.what,
            FlowLayout(*self.calls, self.more, gap=4),
            self.call,
            self.error,
            FlowLayout(self.send, self.cancel),
            self.keys,
            parent=self,
            margins=(0, 0, 0, 0),
            spacing=2,
        )
        self.setAccessibleName(self.tr("Chosen element"))
        line.installEventFilter(self)
        line.textChanged.connect(self._on_text)
        model.changed.connect(self._show)
        model.picked.connect(self.pick)
        self.hide()

    # ------------------------------------------------------------ what the card asks
    def begin(self, call: str) -> None:
        """Choose, beginning with this call, which is selected: typing replaces it."""
        if not self.is_on:
            self.is_on = True
            self._model.begin(call)
            self.turned.emit()
        self._line.selectAll()
        self._show()

    def leave(self) -> None:
        if self.is_on:
            self.is_on = self._asked_text = False
            self._model.leave()
            self.hide()
            self.turned.emit()

    def back(self) -> bool:
        """Go back from the text to the choice; False where there is nothing to go back to."""
        return self.is_on and self._model.back()

    def enter(self, text: str) -> str:
        """Take Enter: return the call to be sent, or "" where it only chose."""
        if not self.is_on:
            return text
        call = self._model.enter(text)
        if not call and self._model.call and not self._model.asks_text:
            self._put(self._model.call)
        return call

    @property
    def draft(self) -> str:
        """The unsent call."""
        return self._model.whole_call or self._line.text

    # ------------------------------------------------------------ keys
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrows and Tab choose elements; with Alt, what is done to one."""
        if self.is_on and isinstance(event, QKeyEvent) and event.key() in WALKING:
            alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
            plain = not event.modifiers() & ~(
                Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
            )
            if event.type() is QEvent.Type.ShortcutOverride and (alt or plain):
                event.accept()
                return True
            if event.type() is QEvent.Type.KeyPress and (alt or plain):
                self._walk(event.key(), alt=alt)
                return True
        return super().eventFilter(watched, event)

    def _walk(self, key: int, *, alt: bool) -> None:
        by = WALKING[Qt.Key(key)]
        if alt:
            self._model.cycle(by)
        else:
            self._model.walk(by)
        if not self._model.asks_text and self._model.matches is None and self._model.call:
            self._put(self._model.call)

    def pick(self, number: int) -> None:
        """Choose an element by a click on the picture, and return the keyboard to the field."""
        if not self.is_on:
            return
        self._model.choose(number)
        if not self._model.asks_text:
            self._put(self._model.call)
        self._line.begin()

    def _take(self, place: int) -> None:
        target = self._model.target
        if target is not None and place < len(target.calls):
            self._model.take_call(target.calls[place])
            if self._model.needs_text:
                self._model.enter(self._model.call)
            elif not self._model.asks_text:
                self._put(self._model.call)
            self._line.begin()

    def _on_text(self) -> None:
        if self.is_on and not self._is_putting:
            self._model.type(self._line.text)

    # ------------------------------------------------------------ showing
    def _show(self) -> None:
        if not self.is_on:
            return
        model, target = self._model, self._model.target
        if model.asks_text != self._asked_text:
            self._asked_text = model.asks_text
            self._put(model.text if model.asks_text else model.call)
        self.what.say(f"{target.number}  {target_words(target)}" if target is not None else "")
        fitting = target.calls if target is not None else ()
        for place, button in enumerate(self.calls):
            button.setFont(self._theme.font("secondary"))
            button.setVisible(place < len(fitting))
            if place < len(fitting):
                button.setText(call_label(fitting[place]))
                button.setAccessibleName(fitting[place])
                button.setChecked(fitting[place] == model.call)
        left = len(fitting) - MAX_CALLS
        self.more.setText(self.tr("and {0} more").format(left) if left > 0 else "")
        self.more.setVisible(left > 0)
        self.call.setFont(self._theme.mono("secondary"))
        self.error.say(f"! {model.error}" if model.error else "")
        self._show_call()
        self.setAccessibleDescription(f"{self.what.text()} {model.whole_call}")
        name = self.tr("Text for {0}").format(target_words(target)) if target else ""
        self._line.setPlaceholderText(
            name if model.asks_text and name else self.tr("Number, name or call; or click the element")
        )
        self.show()

    def _show_call(self) -> None:
        """Show the whole call where the field has less of it, and what Enter and Esc do now."""
        whole = self._model.whole_call
        self.call.setText(whole)
        self.call.setVisible(bool(whole) and whole != self._line.text)
        texts = self._model.asks_text
        sends = texts or ("(" in self._line.text and not self._model.needs_text)
        word = self.tr("Send") if sends else self.tr("Choose")
        self.send.setText(f"{word}   Enter")
        self.send.setAccessibleName(word)
        self.keys.setText(
            self.tr("Esc: another element")
            if texts
            else self.tr("Up, Down: elements · Alt+Up, Alt+Down: actions")
        )

    def _put(self, text: str) -> None:
        """Put a text into the field; a call is selected, so that typing replaces it."""
        if text != self._line.text:
            self._is_putting = True
            self._line.put(text)
            self._is_putting = False
        if not self._model.asks_text:
            self._line.selectAll()
            self._show_call()
