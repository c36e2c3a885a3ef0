"""Qt mouse, keyboard and input method events forwarded to a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import (
    QGuiApplication,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QWheelEvent,
)

from app.models.live import input_events
from app.models.live.input_events import InputKind, MouseButton, PageInput

if TYPE_CHECKING:
    from app.models.live.page_input_model import PageInputModel
    from app.views.live.page_overlay import PageGeometry

NOTCH, PIXELS = 120, 100
"""Qt's units of one wheel notch, and the CSS pixels a page scrolls for it."""


class InputAdapter:
    """While off it forwards nothing; each method returns whether it took the event."""

    def __init__(self, hands: PageInputModel) -> None:
        self._hands = hands
        self.is_on = False
        self.release_keys: frozenset[str] = frozenset()
        self.composing = ""
        """Text an input method is still composing."""
        self._down: dict[int, PageInput] = {}
        self._held: dict[MouseButton, PageInput] = {}

    def turn(self, on: bool) -> None:
        """Start or stop forwarding; keys and buttons that were down are released first."""
        if not on:
            self.let_go()
        self.is_on = on

    def let_go(self) -> None:
        """Release all held keys and buttons."""
        if self.is_on:
            self._hands.put(*self._down.values(), *self._held.values())
            self._hands.flush()
        self._down.clear()
        self._held.clear()
        self.composing = ""

    def is_release(self, event: QKeyEvent) -> bool:
        """Whether the key hands the page back."""
        pressed = QKeySequence(event.keyCombination()).toString(QKeySequence.SequenceFormat.PortableText)
        return pressed in self.release_keys

    def key(self, event: QKeyEvent, *, down: bool) -> bool:
        """Forward a key; a release is forwarded only after its press, the key that hands the page back never."""
        if not self.is_on:
            return False
        event.accept()
        if self.is_release(event):
            return True
        if down:
            self._key_down(event)
        elif not event.isAutoRepeat():
            up = self._down.pop(event.key(), None)
            if up is not None:
                self._hands.put(input_events.key(event, down=False) or up)
        return True

    def _key_down(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Paste):
            self._paste()
            return
        pressed = input_events.key(event, down=True)
        if pressed is None:
            return
        self._down[event.key()] = input_events.up(pressed)
        self._hands.put(pressed)

    def _paste(self) -> None:
        """Paste the window's clipboard; the run's browser has its own."""
        words = QGuiApplication.clipboard().text()
        if words:
            self._hands.put(input_events.text(words))

    def compose(self, event: QInputMethodEvent) -> bool:
        """Forward text of an input method."""
        if not self.is_on:
            return False
        event.accept()
        self.composing = event.preeditString()
        if event.commitString():
            self._hands.put(input_events.text(event.commitString()))
        return True

    def button(self, event: QMouseEvent, geometry: PageGeometry, *, down: bool, clicks: int = 1) -> bool:
        """Forward a button over the picture; one pressed there is released wherever the pointer is."""
        if not self.is_on:
            return False
        event.accept()
        button = input_events.mouse_button(event.button())
        if button is MouseButton.NONE or (down and not geometry.rect.contains(event.position())):
            return True
        place = geometry.page_place(event.position())
        if down:
            self._hands.put(input_events.mouse(InputKind.PRESS, place, event.modifiers(), button, clicks))
            self._held[button] = input_events.mouse(
                InputKind.RELEASE, place, Qt.KeyboardModifier.NoModifier, button, clicks
            )
        elif (held := self._held.pop(button, None)) is not None:
            self._hands.put(
                input_events.mouse(InputKind.RELEASE, place, event.modifiers(), button, held.clicks)
            )
        return True

    def move(self, event: QMouseEvent, geometry: PageGeometry) -> bool:
        """Forward a move over the picture or with a button held."""
        if not self.is_on:
            return False
        event.accept()
        if self._held or geometry.rect.contains(event.position()):
            place = geometry.page_place(event.position())
            button = input_events.held_button(event.buttons()) if self._held else MouseButton.NONE
            self._hands.put(input_events.mouse(InputKind.MOVE, place, event.modifiers(), button))
        return True

    def wheel(self, event: QWheelEvent, geometry: PageGeometry) -> bool:
        """Forward the wheel over the picture."""
        if not self.is_on:
            return False
        event.accept()
        if geometry.rect.contains(event.position()):
            turned = QPointF(event.pixelDelta()) or QPointF(event.angleDelta()) * PIXELS / NOTCH
            place = geometry.page_place(event.position())
            self._hands.put(input_events.wheel(place, (-turned.x(), -turned.y()), event.modifiers()))
        return True
