"""Layouts and plain widgets, each made in one expression, and the pane that keeps Enter for itself."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.views.widgets.elided_label import WrappedLabel

W = TypeVar("W", bound=QWidget)
Margins = tuple[int, int, int, int]
"""Left, top, right, bottom."""


class Gap(NamedTuple):
    """A fixed space in a layout."""

    pixels: int


Item = QWidget | QLayout | Gap | int | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Qt.AlignmentFlag]
"""A widget or layout, perhaps with its stretch and alignment; a ``Gap``; or a number: an empty stretch."""


def vbox(
    *items: Item, parent: QWidget | None = None, margins: Margins | None = (0, 0, 0, 0), spacing: int = -1
) -> QVBoxLayout:
    """Return a column; without margins or with spacing -1 the style's own are used."""
    return _fill(QVBoxLayout(), items, parent, margins, spacing)


def hbox(
    *items: Item, parent: QWidget | None = None, margins: Margins | None = (0, 0, 0, 0), spacing: int = -1
) -> QHBoxLayout:
    """Return a row; without margins or with spacing -1 the style's own are used."""
    return _fill(QHBoxLayout(), items, parent, margins, spacing)


def styled(widget: W, kind: str) -> W:
    """Return the widget with the look that the style sheet has for a kind."""
    widget.setProperty("kind", kind)
    return widget


def text_label(text: str = "", kind: str = "", *, wrap: bool = False) -> QLabel:
    """Return a label that never takes its text for markup; one that wraps breaks long words, too."""
    label = styled(WrappedLabel(text) if wrap else QLabel(text), kind)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def divider() -> QFrame:
    return styled(QFrame(), "rule")


def ground(widget: W, kind: str = "raised") -> W:
    """Return the widget with a painted background; a plain ``QWidget`` has none by itself."""
    widget.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    return styled(widget, kind)


def restyle(widget: QWidget, **properties: object) -> None:
    """Set properties that the style sheet selects by, on a widget that may be visible."""
    if any(widget.property(name) != value for name, value in properties.items()):
        for name, value in properties.items():
            widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def scroll_area(
    inner: QWidget, *, focus: Qt.FocusPolicy = Qt.FocusPolicy.NoFocus, sideways: bool = False
) -> QScrollArea:
    """Return an area without a frame that scrolls a widget up and down, or ``sideways`` too."""
    area = QScrollArea()
    area.setWidget(inner)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    if not sideways:
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(focus)
    return area


B = TypeVar("B", bound=QBoxLayout)


def _fill(
    layout: B, items: tuple[Item, ...], parent: QWidget | None, margins: Margins | None, spacing: int
) -> B:
    if parent is not None:
        parent.setLayout(layout)
    if margins is not None:
        layout.setContentsMargins(*margins)
    layout.setSpacing(spacing)
    for item in items:
        match item:
            case Gap(pixels):
                layout.addSpacing(pixels)
            case int():
                layout.addStretch(item)
            case (QLayout() as part, int(stretch)):
                layout.addLayout(part, stretch)
            case (part, stretch, *side):
                layout.addWidget(part, stretch, *side)
            case QLayout():
                layout.addLayout(item)
            case _:
                layout.addWidget(item)
    return layout


class Panel(QFrame):
    """While the focus is inside, Enter activates the row or leaves the field; no command of the place takes it."""

    def event(self, event: QEvent) -> bool:
        """Keep Enter from the window's commands; with Ctrl, Alt or Meta it still reaches them."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
            if plain and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                event.accept()
                return True
        return super().event(event)
