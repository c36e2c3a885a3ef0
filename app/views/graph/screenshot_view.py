"""A state's screenshot with marked elements; clicks are reported in page coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QHelpEvent, QImage, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.views.graph.status_marks import draw_verdict

if TYPE_CHECKING:
    from app.engine.core.page_state import Rect
    from app.views.frame.theme import Theme

MAX_LABELS = 60
"""Labels written on one picture; more would be unreadable."""
MAX_THIN_BOXES = 300
"""Marks with smooth, rounded corners; a page with more gets plain boxes, which cost a tenth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenshotMark:
    """A marked element.

    Attributes:
        rect: in CSS pixels of the viewport, which are the picture's pixels.
        role: colour.  sign: ``block``, ``ask``, ``allow`` or "" for none.
        label: written beside it where there is room.
    """

    number: int
    rect: Rect
    role: str = "accent"
    sign: str = ""
    label: str = ""


class ScreenshotView(QWidget):
    """The picture scaled to its place.  ``clicked`` carries CSS pixels of the page."""

    clicked = Signal(float, float)

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme = theme
        self._image: QImage | None = None
        self.marks: tuple[ScreenshotMark, ...] = ()
        self.chosen: ScreenshotMark | None = None
        self._fitted, self._layer = QPixmap(), QPixmap()
        """The picture in the size of now; the same with the marks."""
        self._signs: dict[tuple[str, str], QPixmap] = {}
        self._words = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(theme.px(40))
        self.setAccessibleName(name)
        theme.changed.connect(self._clear)

    def show_image(self, image: QImage | None, instead: str = "") -> None:
        """Show a picture, or a sentence where there is none."""
        if image is self._image and instead == self._words:
            return
        self._image, self._words, self._fitted = image, instead, QPixmap()
        self.setAccessibleDescription(instead)
        self.updateGeometry()
        self.update()

    def show_marks(self, marks: Sequence[ScreenshotMark]) -> None:
        marks = tuple(marks)
        if marks != self.marks:
            self.marks, self._layer = marks, QPixmap()
            self.update()

    def choose(self, mark: ScreenshotMark | None) -> None:
        """Highlight an element over the others; ``None`` for none."""
        if mark != self.chosen:
            self.chosen = mark
            self.update()

    @property
    def has_image(self) -> bool:
        return self._image is not None

    def height_for(self, width: int) -> int:
        """Return the picture's height at this width; a line of text where there is none."""
        if self._image is None or not self._image.width():
            return self._theme.px(72)
        return round(width * self._image.height() / self._image.width())

    def is_inside(self, rect: Rect | None) -> bool:
        """Whether any part of an element is inside the picture."""
        if rect is None or self._image is None:
            return False
        return QRectF(0, 0, self._image.width(), self._image.height()).intersects(QRectF(*rect))

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(320), self.height_for(self._theme.px(320)))

    # ------------------------------------------------------------ painting
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw picture and marks, cached for each size, and the highlighted mark over them."""
        painter = QPainter(self)
        image = self._image
        if image is None:
            painter.fillRect(self.rect(), self._theme.color("surface"))
            painter.setPen(self._theme.color("muted"))
            inner = self.rect().adjusted(16, 4, -16, -4)
            painter.drawText(inner, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._words)
            painter.end()
            return
        self._fit(image)
        if self._layer.isNull():
            self._layer = self._drawn()
        painter.drawPixmap(self._origin(), self._layer)
        self._set_up(painter)
        if self.chosen is not None:
            self._paint_box(painter, self.chosen, strong=True)
            self._paint_tab(painter, self.chosen, self._tab(self.chosen, strong=True), strong=True)
        painter.end()

    def _fit(self, image: QImage) -> None:
        room = self.size() * self.devicePixelRatioF()
        wanted = image.size().scaled(room, Qt.AspectRatioMode.KeepAspectRatio)
        if self._fitted.size() == wanted:
            return
        smooth, exact = Qt.TransformationMode.SmoothTransformation, Qt.AspectRatioMode.IgnoreAspectRatio
        self._fitted = QPixmap.fromImage(image.scaled(wanted, exact, smooth))
        self._fitted.setDevicePixelRatio(self.devicePixelRatioF())
        self._layer = QPixmap()

    def _drawn(self) -> QPixmap:
        """Return the picture with the marks: labels where there is room, signs elsewhere."""
        layer = QPixmap(self._fitted)
        painter = QPainter(layer)
        painter.translate(-self._origin())
        self._set_up(painter)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, len(self.marks) <= MAX_THIN_BOXES)
        for mark in self.marks:
            self._paint_box(painter, mark)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        taken: list[QRectF] = []
        for mark in self.marks:
            tab = self._tab(mark) if mark.label and len(taken) < MAX_LABELS else QRectF()
            if not tab.isNull() and not any(tab.intersects(other) for other in taken):
                taken.append(tab)
                self._paint_tab(painter, mark, tab)
            elif mark.sign:
                self._paint_sign(painter, mark)
        painter.end()
        return layer

    def _set_up(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # screenshots are never mirrored
        painter.setClipRect(QRectF(self._origin(), self._fitted.deviceIndependentSize()))

    def _origin(self) -> QPointF:
        spare = self.width() - self._fitted.deviceIndependentSize().width()
        return QPointF(round(spare / 2), 0)

    def _scale(self) -> float:
        assert self._image is not None
        return self._fitted.deviceIndependentSize().width() / max(self._image.width(), 1)

    def _box(self, mark: ScreenshotMark) -> QRectF:
        scale, origin = self._scale(), self._origin()
        x, y, width, height = (value * scale for value in mark.rect)
        return QRectF(origin.x() + x, origin.y() + y, max(width, 4), max(height, 4)).adjusted(-2, -2, 2, 2)

    def _paint_box(self, painter: QPainter, mark: ScreenshotMark, *, strong: bool = False) -> None:
        theme, box = self._theme, self._box(mark)
        line = Qt.PenStyle.DashLine if mark.sign == "ask" else Qt.PenStyle.SolidLine
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for pen in (
            QPen(theme.color("raised"), 5 if strong else 3),
            QPen(theme.color(mark.role), 3 if strong else 1.6, line),
        ):
            painter.setPen(pen)
            if painter.testRenderHint(QPainter.RenderHint.Antialiasing):
                painter.drawRoundedRect(box, 3, 3)
            else:
                painter.drawRect(box)

    def _paint_sign(self, painter: QPainter, mark: ScreenshotMark) -> None:
        """Draw the sign at the element's corner."""
        size = self._theme.px(11)
        known = self._signs.get((mark.sign, mark.role))
        if known is None:
            ratio = self.devicePixelRatioF()
            known = QPixmap(round((size + 4) * ratio), round((size + 4) * ratio))
            known.setDevicePixelRatio(ratio)
            known.fill(Qt.GlobalColor.transparent)
            inner = QPainter(known)
            inner.setRenderHint(QPainter.RenderHint.Antialiasing)
            inner.setPen(Qt.PenStyle.NoPen)
            inner.setBrush(self._theme.color("raised"))
            inner.drawEllipse(QRectF(0, 0, size + 4, size + 4))
            color, under = self._theme.color(mark.role), self._theme.color("raised")
            draw_verdict(inner, QRectF(2, 2, size, size), mark.sign, color, under)
            inner.end()
            self._signs[mark.sign, mark.role] = known
        painter.drawPixmap(self._box(mark).topLeft() - QPointF(5, 5), known)

    def _tab(self, mark: ScreenshotMark, *, strong: bool = False) -> QRectF:
        """Return the place of a label: above its element, else below it."""
        px, box = self._theme.px, self._box(mark)
        metrics = QFontMetrics(self._theme.font("secondary", bold=strong))
        wide = min(metrics.horizontalAdvance(mark.label), px(220)) + (px(15) if mark.sign else 0) + px(10)
        tab = QRectF(0, 0, wide, metrics.height() + px(2))
        tab.moveBottomLeft(box.topLeft())
        if tab.top() < 0:
            tab.moveTopLeft(box.bottomLeft())
        picture = QRectF(self._origin(), self._fitted.deviceIndependentSize())
        tab.moveLeft(max(min(tab.left(), picture.right() - tab.width()), picture.left()))
        return tab

    def _paint_tab(
        self, painter: QPainter, mark: ScreenshotMark, tab: QRectF, *, strong: bool = False
    ) -> None:
        if not mark.label:
            return
        theme, px = self._theme, self._theme.px
        font = theme.font("secondary", bold=strong)
        sign = px(15) if mark.sign else 0
        label = QFontMetrics(font).elidedText(mark.label, Qt.TextElideMode.ElideRight, px(220))
        painter.setPen(QPen(theme.color(mark.role), 1))
        painter.setBrush(theme.color(mark.role) if strong else theme.color("raised"))
        painter.drawRoundedRect(tab, 3, 3)
        ink = theme.color("raised" if strong else mark.role)
        if mark.sign:
            place = QRectF(tab.left() + px(4), tab.center().y() - px(5), px(10), px(10))
            under = theme.color(mark.role if strong else "raised")
            draw_verdict(painter, place, mark.sign, ink, under)
        painter.setFont(font)
        painter.setPen(ink)
        painter.drawText(tab.adjusted(sign + px(4), 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, label)

    def _clear(self) -> None:
        """Drop the cached drawing: colours or sizes changed."""
        self._layer = QPixmap()
        self._signs.clear()
        self.update()

    # ------------------------------------------------------------ the pointer
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        place = self._place(event.position())
        if place is not None and event.button() is Qt.MouseButton.LeftButton:
            self.clicked.emit(place.x(), place.y())

    def event(self, event: QEvent) -> bool:
        """Show a mark's label as its tooltip."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self._image is not None:
            all_marks = (*self.marks, self.chosen) if self.chosen is not None else self.marks
            under = [mark for mark in all_marks if self._box(mark).contains(QPointF(event.pos()))]
            text = min(under, key=lambda mark: mark.rect[2] * mark.rect[3]).label if under else ""
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def _place(self, point: QPointF) -> QPointF | None:
        if self._image is None or self._fitted.isNull():
            return None
        inside = point - self._origin()
        size = self._fitted.deviceIndependentSize()
        if not QRectF(QPointF(0, 0), size).contains(inside):
            return None
        return inside / self._scale()
