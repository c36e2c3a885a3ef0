"""Choosing the region of a page that a tip is about: by dragging on the screenshot, by keys, or from a list."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QModelIndex, QPointF, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from app.views.graph.screenshot_view import ScreenshotMark, ScreenshotView
from app.views.widgets.build import hbox, styled, text_label, vbox
from app.views.widgets.overlay import Overlay
from app.views.widgets.rows import RowContent, RowList, RowStyle, line, plain, small

if TYPE_CHECKING:
    from app.engine.core.regions import RegionElement
    from app.models.knowledge.region_model import RegionModel
    from app.views.frame.theme import Theme

ELEMENT = RowStyle(margins=(8, 3, 8, 3))
SIZE = QSize(1180, 720)
LIST_WIDTH = 300
NEAR, FAR = 4, 24
"""Pixels of the screenshot by which an arrow key moves, without and with Ctrl."""

_ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


def element_row(element: RegionElement) -> RowContent:
    """Name and role; a heading is bold."""
    unnamed = QCoreApplication.translate("RegionChooser", "no name")
    name = plain(
        element.name or unnamed,
        "text" if element.name else "muted",
        bold=element.role == "heading",
        share=0.75,
    )
    return RowContent(lines=(line(name, right=small(element.role)),))


class RegionPicture(ScreenshotView):
    """The page: drag for a box, click for a control; Tab goes through the controls, arrows move the box."""

    drawn = Signal(object)
    nudged = Signal(float, float, bool)

    def __init__(self, theme: Theme, name: str, step: Callable[[int], bool]) -> None:
        super().__init__(theme, name)
        self._step = step
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self._from: QPointF | None = None
        self._to = QPointF()

    # ------------------------------------------------------------ the pointer
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self.has_image:
            self._from = self._to = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._from is not None:
            self._to = event.position()
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End the box; one that is hardly more than a point is a click."""
        begun, self._from = self._from, None
        self.update()
        if begun is None:
            return
        box = self._page_box(begun, event.position())
        if min(box[2:]) < 8:
            super().mouseReleaseEvent(event)
        else:
            self.drawn.emit(box)

    # ------------------------------------------------------------ keys
    def focusNextPrevChild(self, forward: bool) -> bool:
        """Go to the next control of the page before the focus leaves."""
        return self._step(1 if forward else -1) or super().focusNextPrevChild(forward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows move the box, with Shift its right and lower edge; Ctrl goes further."""
        way = _ARROWS.get(Qt.Key(event.key()))
        if way is None:
            super().keyPressEvent(event)
            return
        held = event.modifiers()
        by = FAR if held & Qt.KeyboardModifier.ControlModifier else NEAR
        self.nudged.emit(way[0] * by, way[1] * by, bool(held & Qt.KeyboardModifier.ShiftModifier))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the box that is being dragged over the page, and a frame while it has the focus."""
        super().paintEvent(event)
        painter = QPainter(self)
        accent = self._theme.color("accent")
        if self._from is not None:
            fill = self._theme.color("accent")
            fill.setAlpha(50)
            painter.setBrush(fill)
            painter.setPen(QPen(accent, 2))
            painter.drawRect(QRectF(self._from, self._to).normalized())
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(accent, 2))
            painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))
        painter.end()

    def _tab(self, mark: ScreenshotMark, *, strong: bool = False) -> QRectF:
        """Label the region alone: the page has to stay readable."""
        return super()._tab(mark, strong=True) if strong else QRectF()

    def _page_box(self, one: QPointF, other: QPointF) -> tuple[float, float, float, float]:
        """Return a box of the widget in the picture's pixels, cut at its edges."""
        assert self._image is not None
        size = QRectF(0, 0, self._image.width(), self._image.height())
        scale, origin = self._scale(), self._origin()
        box = QRectF((one - origin) / scale, (other - origin) / scale).normalized().intersected(size)
        return (box.x(), box.y(), box.width(), box.height())


class RegionChooser(Overlay):
    """The page of the tip's step with its controls, and what the chosen region is found by."""

    def __init__(self, model: RegionModel, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, SIZE)
        self._model = model
        self.panel.setAccessibleName(self.tr("Choose the region of the page"))
        self.picture = RegionPicture(
            theme, self.tr("Screenshot of the page: drag over the region"), model.pick_next
        )
        self.list = RowList(theme, element_row, self.tr("Controls and headings of the page"), ELEMENT)
        self.list.setModel(model.elements)
        self.list.setUniformItemSizes(True)
        self.words = text_label(wrap=True)
        self.error = text_label(kind="fail", wrap=True)
        self.use, self.back, self.cancel = styled(QPushButton(), "primary"), QPushButton(), QPushButton()
        self._lay_out()
        self._connect()
        self._dress()

    def first(self) -> QWidget:
        return self.picture if self.picture.isVisibleTo(self.panel) else self.list

    def prepare(self) -> None:
        self._show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses the focused button, else takes the choice; Backspace steps back; Esc changes nothing."""
        held = QApplication.focusWidget()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            (held if isinstance(held, QPushButton) else self.use).click()
        elif event.key() == Qt.Key.Key_Backspace:
            self._model.step_back()
        else:
            super().keyPressEvent(event)
            return
        event.accept()

    def _lay_out(self) -> None:
        title = text_label(self.tr("Choose the region of the page"), "heading")
        self.help = text_label(kind="secondary", wrap=True)
        head = vbox(title, self.help, margins=(16, 12, 16, 8), spacing=2)
        self.list.setFixedWidth(self._theme.px(LIST_WIDTH))
        middle = hbox((self.picture, 1), self.list, margins=(16, 0, 16, 0), spacing=8)
        foot = hbox(
            (vbox(self.words, self.error, spacing=2), 1),
            self.back,
            self.cancel,
            self.use,
            margins=(16, 8, 16, 12),
            spacing=8,
        )
        self.body.addLayout(head)
        self.body.addLayout(middle, 1)
        self.body.addLayout(foot)
        for one, other in pairwise((self.picture, self.list, self.back, self.cancel, self.use)):
            QWidget.setTabOrder(one, other)

    def _connect(self) -> None:
        model, picture = self._model, self.picture
        picture.drawn.connect(model.draw)
        picture.clicked.connect(model.pick_at)
        picture.nudged.connect(model.shift)
        self.list.selectionModel().currentChanged.connect(self._on_row)
        self.use.clicked.connect(model.accept)
        self.back.clicked.connect(model.step_back)
        self.cancel.clicked.connect(self.dismiss)
        model.drawn.connect(self._show)
        model.chosen.connect(self.dismiss)

    def _on_row(self, current: QModelIndex, _before: QModelIndex) -> None:
        element = self._model.elements.at(current.row())
        if element is not None:
            self._model.pick(element.number)

    def _show(self) -> None:
        model = self._model
        page, image = model.page, model.screenshot
        loading = self.tr("Loading the page…")
        self.picture.show_image(image, loading)
        self.picture.setVisible(page is None or bool(page.screenshot))
        self.list.setMaximumWidth(
            self._theme.px(LIST_WIDTH) if self.picture.isVisibleTo(self.panel) else 1 << 20
        )
        self.picture.show_marks([self._mark(one) for one in model.placed])
        box = model.box
        self.picture.choose(
            ScreenshotMark(number=-1, rect=box, label=self.tr("region")) if box is not None else None
        )
        self._select(model.number)
        self.words.setText(model.choice_words)
        missing = page.missing if page is not None else ""
        self.error.setText(model.error or missing)
        self.error.setVisible(bool(model.error or missing))
        self.use.setEnabled(model.choice is not None)
        self.back.setEnabled(model.can_step_back)
        self.help.setText(self._help())

    def _help(self) -> str:
        page = self._model.page
        if page is None or page.screenshot:
            return self.tr(
                "Drag over it, or click a control. Tab goes from control to control, the arrow keys move the"
                " region, Shift and the arrow keys resize it."
            )
        return self.tr("This step has no screenshot. Choose a control or a heading from the list.")

    def _mark(self, element: RegionElement) -> ScreenshotMark:
        assert element.box is not None
        words = f"{element.name} · {element.role}" if element.name else element.role
        return ScreenshotMark(number=element.number, rect=element.box, role="muted", label=words)

    def _select(self, number: int) -> None:
        row = self._model.elements.row_of(number)
        if row == self.list.currentIndex().row():
            return
        with QSignalBlocker(self.list.selectionModel()):
            self.list.setCurrentIndex(self._model.elements.index(row) if row >= 0 else QModelIndex())
        self.list.viewport().update()

    def _dress(self) -> None:
        self.use.setText(self.tr("Use this region   Enter"))
        self.back.setText(self.tr("Undo   Backspace"))
        self.cancel.setText(self.tr("Cancel   Esc"))
        self.use.setAccessibleName(self.tr("Use this region"))
        self.back.setAccessibleName(self.tr("Undo the last change of the choice"))
        self.cancel.setAccessibleName(self.tr("Cancel; the region stays as it was"))
