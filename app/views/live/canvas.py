"""The picture of a live page; during a takeover it forwards mouse and keyboard to the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHideEvent,
    QImage,
    QInputMethodEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShowEvent,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.models.live.frames import DisplayArea, drawn_size, is_near
from app.views.live.input_adapter import InputAdapter
from app.views.live.page_overlay import (
    PageGeometry,
    TargetBox,
    draw_frame,
    draw_pointer,
    draw_target,
    draw_veil,
)

if TYPE_CHECKING:
    from app.models.live.page_input_model import PageInputModel
    from app.views.frame.theme import Theme
    from app.views.live.point_overlay import PointOverlay

SETTLE_MS = 120
"""A size has to last this long before pictures of it are requested."""
MARGIN = 4
"""Pixels around the picture, for the frame of a takeover."""
LONGEST_PLACEHOLDER = 300
"""Characters of the text in the place of a picture."""


class PageCanvas(QWidget):
    """Signals:

    size_changed: the size for pictures (``wanted``) changed a moment ago.
    keys_changed: the page got or lost the keyboard focus, or an input method's text changed.
    pointed(place): the pointer is there in the widget (a ``QPointF``), or ``None``, while elements are shown.
    picked(place): a click while a target is chosen.
    """

    size_changed = Signal()
    keys_changed = Signal()
    pointed = Signal(object)
    picked = Signal(object)

    def __init__(self, hands: PageInputModel, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._image: QImage | None = None
        self._page = (1.0, 1.0)
        self._pointer: tuple[float, float] | None = None
        self.target: TargetBox | None = None
        self.overlay: PointOverlay | None = None
        """Frames and numbers of the page's elements."""
        self._points = self._picks = False
        self._placeholder = ""
        self._dim = False
        self.page_geometry = PageGeometry(rect=QRectF(), page=(1.0, 1.0))
        self._wanted = QSize()
        self.inputs = InputAdapter(hands)
        self._settled = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settled.timeout.connect(self._report_size)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(theme.px(160), theme.px(100))
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setAccessibleName(self.tr("Live page"))
        theme.changed.connect(self.update)

    # ------------------------------------------------------------ what is shown
    def show_picture(
        self,
        image: QImage | None,
        page: tuple[float, float] = (1.0, 1.0),
        pointer: tuple[float, float] | None = None,
    ) -> None:
        """Show a picture of a page of this size (the unit of pointer and target); ``None`` for none."""
        self._image, self._page, self._pointer = image, page, pointer
        self._lay_out()
        self.update()

    def show_target(self, target: TargetBox | None) -> None:
        if target != self.target:
            self.target = target
            self.update()

    def show_status(self, *, dim: bool, placeholder: str) -> None:
        """Set whether the picture is current, and the text where there is none; of a long one, the beginning."""
        if len(placeholder) > LONGEST_PLACEHOLDER:
            placeholder = f"{placeholder[:LONGEST_PLACEHOLDER].rstrip()}…"
        if (dim, placeholder) != (self._dim, self._placeholder):
            self._dim, self._placeholder = dim, placeholder
            self.update()

    def point(self, on: bool, *, picks: bool) -> None:
        """Follow the pointer over the picture; with ``picks`` a click chooses, and takes no focus."""
        if (on, picks) != (self._points, self._picks):
            self._points, self._picks = on, picks
            self.setMouseTracking(on or self.is_capturing)
            self._set_focus_policy()
            self.setCursor(Qt.CursorShape.PointingHandCursor) if picks else self.unsetCursor()
        self.update()

    def _set_focus_policy(self) -> None:
        if self.is_capturing:
            self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        else:
            self.setFocusPolicy(Qt.FocusPolicy.NoFocus if self._picks else Qt.FocusPolicy.ClickFocus)

    @property
    def has_picture(self) -> bool:
        return self._image is not None

    # ------------------------------------------------------------ a person's hands
    @property
    def is_capturing(self) -> bool:
        """Whether mouse and keyboard go to the page."""
        return self.inputs.is_on

    @property
    def has_keys(self) -> bool:
        """Whether the keyboard goes to the page now."""
        return self.is_capturing and self.hasFocus()

    def capture(self, on: bool) -> None:
        """Start or stop forwarding mouse and keyboard to the page."""
        if on == self.is_capturing:
            return
        self.inputs.turn(on)
        self.setMouseTracking(on or self._points)
        self.setAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled, on)
        self._set_focus_policy()
        if on and self.isVisible():
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.keys_changed.emit()
        self.update()

    def set_release_keys(self, keys: list[str]) -> None:
        """Set the keys that are never forwarded, in portable text."""
        self.inputs.release_keys = frozenset(keys)

    def event(self, event: QEvent) -> bool:
        """Forward every key, including Tab and the window's shortcuts, except the ones that hand the page back."""
        if self.is_capturing and isinstance(event, QKeyEvent):
            if event.type() is QEvent.Type.ShortcutOverride:
                if self.inputs.is_release(event):
                    self.inputs.let_go()  # Shift was pressed with it, and its release won't reach the page
                    event.ignore()
                    return False
                event.accept()
                return True
            if event.type() is QEvent.Type.KeyPress and event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
                self.keyPressEvent(event)
                return True
        return super().event(event)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Keep Tab on the page during a takeover."""
        return False if self.is_capturing else super().focusNextPrevChild(next)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.inputs.key(event, down=True):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if not self.inputs.key(event, down=False):
            super().keyReleaseEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        if self.inputs.compose(event):
            self.keys_changed.emit()
        else:
            super().inputMethodEvent(event)

    def inputMethodQuery(self, query: Qt.InputMethodQuery) -> object:
        """Place the window of an input method at the pointer."""
        if query == Qt.InputMethodQuery.ImEnabled:
            return self.is_capturing
        if query == Qt.InputMethodQuery.ImCursorRectangle:
            place = self.page_geometry.place(*self._pointer) if self._pointer is not None else QPointF(8, 8)
            return QRectF(place, QSizeF(1, 16))
        return super().inputMethodQuery(query)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._picks and not self.is_capturing and event.button() is Qt.MouseButton.LeftButton:
            self.picked.emit(event.position())
            return
        if not self.inputs.button(event, self.page_geometry, down=True):
            super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if not self.inputs.button(event, self.page_geometry, down=True, clicks=2):
            super().mouseDoubleClickEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if not self.inputs.button(event, self.page_geometry, down=False):
            super().mouseReleaseEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._points and not self.is_capturing:
            self.pointed.emit(event.position())
        if not self.inputs.move(event, self.page_geometry):
            super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if self._points:
            self.pointed.emit(None)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not self.inputs.wheel(event, self.page_geometry):
            super().wheelEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Leave the context menu to the page during a takeover."""
        if self.is_capturing:
            event.accept()
        else:
            super().contextMenuEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.keys_changed.emit()
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Release all held keys and buttons."""
        super().focusOutEvent(event)
        self.inputs.let_go()
        self.keys_changed.emit()
        self.update()

    def showEvent(self, event: QShowEvent) -> None:
        """Take the keyboard for a page under the operator's control."""
        super().showEvent(event)
        if self.is_capturing:
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def hideEvent(self, event: QHideEvent) -> None:
        """Release all held keys and buttons."""
        super().hideEvent(event)
        self.inputs.let_go()

    # ------------------------------------------------------------ size
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Scale the picture; request one of the new size once it has settled."""
        super().resizeEvent(event)
        self._lay_out()
        self._settled.start()

    @property
    def wanted(self) -> QSize:
        """Device pixels available for a picture."""
        room = self.size() - QSize(2 * MARGIN, 2 * MARGIN)
        return (room * self.devicePixelRatioF()).expandedTo(QSize(1, 1))

    def _report_size(self) -> None:
        if self.wanted != self._wanted:
            self._wanted = self.wanted
            self.size_changed.emit()

    def _lay_out(self) -> None:
        """Center the picture on whole device pixels, never larger than the page itself."""
        image = self._image
        if image is None or image.isNull():
            self.page_geometry = PageGeometry(rect=QRectF(), page=(1.0, 1.0))
            return
        ratio = self.devicePixelRatioF()
        page = QSize(max(round(self._page[0]), 1), max(round(self._page[1]), 1))
        fitted = drawn_size(page, DisplayArea(self.wanted, ratio))
        size = QSizeF(image.size() if is_near(image.size(), fitted) else fitted) / ratio
        left = round((self.width() - size.width()) / 2 * ratio) / ratio
        top = round((self.height() - size.height()) / 2 * ratio) / ratio
        self.page_geometry = PageGeometry(rect=QRectF(QPointF(left, top), size), page=self._page)

    # ------------------------------------------------------------ painting
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme, geometry = QPainter(self), self._theme, self.page_geometry
        painter.fillRect(self.rect(), theme.color("surface"))
        image = self._image
        if image is None or image.isNull():
            painter.setPen(theme.color("muted"))
            painter.setFont(theme.font())
            room = QRectF(self.rect().adjusted(24, 16, -24, -16))
            middle = QTextOption(Qt.AlignmentFlag.AlignCenter)
            middle.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
            painter.drawText(room, self._placeholder, middle)
            painter.end()
            return
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # pages are never mirrored
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(geometry.rect, image)
        if self._dim:
            draw_veil(painter, theme, geometry.rect)
        if self.is_capturing:
            draw_frame(painter, theme, geometry.rect, has_keys=self.hasFocus())
        else:
            painter.setPen(QPen(theme.color("line"), 1))
            painter.drawRect(geometry.rect.adjusted(-0.5, -0.5, 0.5, 0.5))
        if self.overlay is not None:
            self.overlay.paint(painter, geometry)
        if self.target is not None:
            draw_target(painter, theme, geometry, self.target)
        if self._pointer is not None and not (self.is_capturing and self.underMouse()):
            draw_pointer(painter, theme, geometry.place(*self._pointer))
        painter.end()
