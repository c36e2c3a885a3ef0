"""One page, before or after a step: its picture, or its accessibility tree as lines one can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QImage, QKeySequence, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHBoxLayout,
    QLabel,
    QListView,
    QStackedWidget,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.models.object_list import OBJECT_ROLE
from app.models.page import SIGNS
from app.views.marks import CHANGE_ROLE, elided, paint_ground
from app.views.widgets import ElidedLabel

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

    from app.models.page import PageModel, PictureStore, TreeLine
    from app.views.theme import Theme

Index = QModelIndex | QPersistentModelIndex
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
CENTER = Qt.AlignmentFlag.AlignCenter
DEEPEST = 14
"""Levels that are still indented; deeper ones would leave no room for the text."""


class LineDelegate(QStyledItemDelegate):
    """A node: sign of its change, indentation, muted role, plain name, muted properties; the target is framed."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._target = self.tr("target")
        self.refresh()

    def refresh(self) -> None:
        """Take fonts and colours anew; painting looks nothing up."""
        theme = self._theme
        self._mono, self._small = theme.mono("secondary"), theme.font("secondary")
        self._plain, self._bold = theme.font(), theme.font(bold=True)
        self._mono_metrics, self._metrics = QFontMetrics(self._mono), QFontMetrics(self._plain)
        self._bold_metrics = QFontMetrics(self._bold)
        self._colors = {name: theme.color(name) for name in ("text", "muted", "accent", "ok", "warn", "fail")}
        self._tints = {name: theme.color(f"tint_{name}") for name in ("ok", "warn", "fail", "accent")}
        self._height = theme.px(19)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """The same for every line."""
        return QSize(100, self._height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one node."""
        line: TreeLine | None = index.data(OBJECT_ROLE)
        if line is None:
            return
        px = self._theme.px
        painter.save()
        box = QRectF(option.rect)
        role = CHANGE_ROLE.get(line.change)
        if role is not None:
            painter.fillRect(box, self._tints[role])
        paint_ground(painter, option, self._theme)
        if role is not None:
            painter.setFont(self._bold)
            painter.setPen(self._colors[role])
            painter.drawText(QRectF(box.left(), box.top(), px(16), box.height()), CENTER, SIGNS[line.change])
        content = box.adjusted(px(16) + min(line.depth, DEEPEST) * px(7), 0, -px(4), 0)
        if line.is_target:
            content = self._paint_target(painter, content)
        self._paint_text(painter, content, line)
        painter.restore()

    def _paint_target(self, painter: QPainter, box: QRectF) -> QRectF:
        px = self._theme.px
        painter.setPen(QPen(self._colors["accent"], 2))
        painter.setBrush(self._tints["accent"])
        painter.drawRoundedRect(box.adjusted(-px(3), 1, 0, -1), 3, 3)
        painter.setFont(self._small)
        painter.setPen(self._colors["accent"])
        word = box.adjusted(0, 0, -px(6), 0)
        painter.drawText(word, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self._target)
        return box.adjusted(px(2), 0, -QFontMetrics(self._small).horizontalAdvance(self._target) - px(12), 0)

    def _paint_text(self, painter: QPainter, box: QRectF, line: TreeLine) -> None:
        px, left = self._theme.px, box.left()
        if line.role and line.role != "StaticText":
            painter.setFont(self._mono)
            painter.setPen(self._colors["muted"])
            role = self._mono_metrics.elidedText(line.role, Qt.TextElideMode.ElideRight, int(box.width()))
            painter.drawText(QRectF(left, box.top(), box.width(), box.height()), LEFT, role)
            left += self._mono_metrics.horizontalAdvance(role) + px(6)
        if line.name and left < box.right():
            metrics = self._bold_metrics if line.is_target else self._metrics
            name = elided(metrics, line.name, box.right() - left)
            painter.setFont(self._bold if line.is_target else self._plain)
            painter.setPen(self._colors["text"])
            painter.drawText(QRectF(left, box.top(), box.right() - left, box.height()), LEFT, name)
            left += metrics.horizontalAdvance(name) + px(8)
        if line.properties and left < box.right() - px(12):
            painter.setFont(self._mono)
            painter.setPen(self._colors["muted"])
            rest = elided(self._mono_metrics, line.properties, box.right() - left)
            painter.drawText(QRectF(left, box.top(), box.right() - left, box.height()), LEFT, rest)


class TreeList(QListView):
    """The lines, with copying."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._delegate = LineDelegate(theme, self)
        self.setItemDelegate(self._delegate)
        self.setUniformItemSizes(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        theme.changed.connect(self._on_theme)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the selected lines as they read aloud."""
        if event.matches(QKeySequence.StandardKey.Copy):
            rows = sorted(index.row() for index in self.selectionModel().selectedIndexes())
            model = self.model()
            QApplication.clipboard().setText("\n".join(str(model.index(row, 0).data()) for row in rows))
            return
        super().keyPressEvent(event)

    def _on_theme(self) -> None:
        self._delegate.refresh()
        self.doItemsLayout()


class Picture(QWidget):
    """A screenshot fitted to its place, the target outlined and named."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._image: QImage | None = None
        self._target: tuple[float, float, float, float] | None = None
        self._fitted = QPixmap()
        theme.changed.connect(self.update)

    def show_image(self, image: QImage | None, target: tuple[float, float, float, float] | None) -> None:
        """Show this picture with this target (x, y, width, height in its pixels)."""
        self._image, self._target, self._fitted = image, target, QPixmap()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the picture, scaled once for each size."""
        image = self._image
        if image is None:
            return
        room = self.size() * self.devicePixelRatioF()
        wanted = image.size().scaled(room, Qt.AspectRatioMode.KeepAspectRatio)
        if self._fitted.size() != wanted:
            smooth = Qt.TransformationMode.SmoothTransformation
            self._fitted = QPixmap.fromImage(
                image.scaled(wanted, Qt.AspectRatioMode.IgnoreAspectRatio, smooth)
            )
            self._fitted.setDevicePixelRatio(self.devicePixelRatioF())
        painter = QPainter(self)
        left = (self.width() - self._fitted.deviceIndependentSize().width()) / 2
        painter.drawPixmap(int(left), 0, self._fitted)
        if self._target is not None:
            self._paint_target(painter, int(left), self._target, image)
        painter.end()

    def _paint_target(
        self, painter: QPainter, left: int, target: tuple[float, float, float, float], image: QImage
    ) -> None:
        scale = self._fitted.deviceIndependentSize().width() / max(image.width(), 1)
        x, y, width, height = (value * scale for value in target)
        box = QRectF(left + x, y, width, height).adjusted(-3, -3, 3, 3)
        color, px = self._theme.color("accent"), self._theme.px
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("raised"), 5))
        painter.drawRoundedRect(box, 3, 3)
        painter.setPen(QPen(color, 2.5))
        painter.drawRoundedRect(box, 3, 3)
        font = self._theme.font("secondary", bold=True)
        word = self.tr("target")
        tab = QRectF(0, 0, QFontMetrics(font).horizontalAdvance(word) + px(10), px(16))
        above = box.top() >= tab.height()
        tab.moveTopLeft(box.topLeft() if not above else box.topLeft() - tab.bottomLeft() + tab.topLeft())
        if not above:
            tab.moveTop(box.bottom())
        tab.moveRight(min(tab.right(), float(self.width())))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawRoundedRect(tab, 3, 3)
        painter.setFont(font)
        painter.setPen(self._theme.color("on_accent"))
        painter.drawText(tab, CENTER, word)


class PageSide(QWidget):
    """A caption (before or after, the page's title) over the picture, the lines, or why there is neither."""

    def __init__(self, caption: str, model: PageModel, pictures: PictureStore, theme: Theme) -> None:
        super().__init__()
        self.model, self._pictures = model, pictures
        self._asked_tree = False
        self.setProperty("kind", "raised")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.caption = QLabel(caption)
        self.caption.setProperty("kind", "section")
        self.title = ElidedLabel(Qt.TextElideMode.ElideRight)
        self.title.setProperty("kind", "secondary")
        self.remark = QLabel()
        self.remark.setProperty("kind", "secondary")
        self.lines = TreeList(theme)
        self.lines.setModel(model)
        self.lines.setAccessibleName(self.tr("Page {0} the action, as lines").format(caption))
        self.picture = Picture(theme)
        self.picture.setAccessibleName(self.tr("Picture of the page {0} the action").format(caption))
        self.message = QLabel()
        self.message.setProperty("kind", "muted")
        self.message.setWordWrap(True)
        self.message.setAlignment(CENTER)
        self._stack = QStackedWidget()
        for face in (self.lines, self.picture, self.message):
            self._stack.addWidget(face)
        head = QHBoxLayout()
        head.setContentsMargins(8, 4, 8, 4)
        head.setSpacing(8)
        head.addWidget(self.caption)
        head.addWidget(self.title, 1)
        head.addWidget(self.remark)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self._stack, 1)
        model.shown.connect(self.show_page)
        pictures.ready.connect(self._on_picture)

    @property
    def shows_lines(self) -> bool:
        """Whether the tree is what is seen."""
        return self._stack.currentWidget() is self.lines

    def prefer_lines(self, lines: bool) -> None:
        """Show the tree even where there is a picture, or the picture again."""
        self._asked_tree = lines
        self.show_page()

    def say(self, text: str) -> None:
        """Show a sentence instead of a page."""
        self.message.setText(text)
        self._stack.setCurrentWidget(self.message)

    def show_page(self) -> None:
        """Show what the model has now."""
        page = self.model.page
        self.title.setText(page.title or page.url if page is not None else "")
        if page is None:
            self.say("")
            return
        if page.screenshot and not (self._asked_tree and page.lines):
            self._show_picture(page.screenshot, page.target_box)
        elif page.lines:
            self._stack.setCurrentWidget(self.lines)
        else:
            self.say(page.missing or self.tr("The page was empty."))

    def scroll_to(self, row: int) -> None:
        """Bring a line into the upper third, where the eye begins."""
        height = max(self.lines.itemDelegate().sizeHint(QStyleOptionViewItem(), QModelIndex()).height(), 1)
        shown = self.lines.viewport().height() // height
        self.lines.verticalScrollBar().setValue(max(row - shown // 3, 0))

    def _show_picture(self, digest: str, target: tuple[float, float, float, float] | None) -> None:
        image = self._pictures.get(digest)
        if image is not None:
            self.picture.show_image(image, target)
            self._stack.setCurrentWidget(self.picture)
        elif digest in self._pictures.failed:
            self.say(self._pictures.failed[digest])
        else:
            self.say("")

    def _on_picture(self, digest: str) -> None:
        page = self.model.page
        if page is not None and page.screenshot == digest:
            self.show_page()
