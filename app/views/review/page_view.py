"""One page, before or after a step: its screenshot, or its accessibility tree as readable lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetrics,
    QImage,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QListView,
    QMenu,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.models.common.object_list import OBJECT_ROLE
from app.models.common.page import SIGNS, line_selector, line_text
from app.views.widgets import ElidedLabel
from app.views.widgets.build import ground, hbox, styled, text_label, vbox
from app.views.widgets.signs import CHANGE_ROLE

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

    from app.models.common.page import PageModel, ReadLine, ScreenshotStore
    from app.views.frame.theme import Theme

Index = QModelIndex | QPersistentModelIndex
CENTER = Qt.AlignmentFlag.AlignCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
MAX_INDENT = 14
"""Levels that are indented; deeper ones would leave no room for the text."""

MAX_PICTURE_SHARE = 0.66
"""Largest share of a pane's height for the screenshot over the lines."""

MAX_CHARACTERS = 400
"""Characters of a name or of properties that are measured; no pane shows more on a line."""


class LineDelegate(QStyledItemDelegate):
    """A node: change sign, indentation, muted role, name, muted properties; the target is framed."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._target = self.tr("target")
        self.refresh()

    def refresh(self) -> None:
        """Cache fonts, colours and lengths; painting a line then looks nothing up."""
        theme, px = self._theme, self._theme.px
        self._mono, self._small = theme.mono("secondary"), theme.font("secondary")
        self._plain, self._bold = theme.font(), theme.font(bold=True)
        self._mono_metrics, self._metrics = QFontMetrics(self._mono), QFontMetrics(self._plain)
        self._bold_metrics, small = QFontMetrics(self._bold), QFontMetrics(self._small)
        names = ("text", "muted", "accent", "ok", "warn", "fail", "selected", "hover")
        self._colors = {name: theme.color(name) for name in names}
        self._tints = {name: theme.color(f"tint_{name}") for name in ("ok", "warn", "fail", "accent")}
        self._height, self._left, self._indent, self._gap = px(19), px(16), px(7), px(6)
        self._small_metrics, self._pad = small, px(12)
        self._baseline = (self._height + self._metrics.ascent() - self._metrics.descent()) // 2

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(100, self._height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line: ReadLine | None = index.data(OBJECT_ROLE)
        page: Any = index.model()
        if line is None:
            return
        box, state, row = option.rect, option.state, index.row()
        role = CHANGE_ROLE.get(line.change)
        is_hit = row in page.hit_rows
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, self._colors["selected"])
        elif role is not None:
            painter.fillRect(box, self._tints[role])
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, self._colors["hover"])
        base = box.top() + self._baseline
        if role is not None:
            painter.setFont(self._bold)
            painter.setPen(self._colors[role])
            painter.drawText(box.left() + 4, base, SIGNS[line.change])
        left = box.left() + self._left + min(line.depth, MAX_INDENT) * self._indent
        right = box.right() - 4
        marked = page.mark_word if row == page.marked else ""
        if line.is_target or marked:
            words = ", ".join(word for word in (self._target if line.is_target else "", marked) if word)
            frame = QRectF(left - 3, box.top() + 1, right - left + 3, box.height() - 2)
            self._paint_frame(painter, frame, words, "warn" if marked else "accent")
            left, right = left + 3, right - self._small_metrics.horizontalAdvance(words) - self._pad
        if is_hit:
            self._paint_hit(
                painter,
                QRectF(left - 3, box.top() + 1, right - left + 3, box.height() - 2),
                row == page.hit_row,
            )
        self._paint_text(painter, line, left, right, base, bold=line.is_target or is_hit)

    def _paint_frame(self, painter: QPainter, box: QRectF, words: str, role: str) -> None:
        """Frame a line, with words at its end."""
        painter.setPen(QPen(self._colors[role], 2))
        painter.setBrush(self._tints[role])
        painter.drawRoundedRect(box, 3, 3)
        painter.setFont(self._small)
        painter.drawText(box.adjusted(0, 0, -6, 0), RIGHT, words)

    def _paint_hit(self, painter: QPainter, box: QRectF, current: bool) -> None:
        """Tint a match of a search; the current one is framed."""
        painter.setPen(QPen(self._colors["text"], 1.5) if current else Qt.PenStyle.NoPen)
        painter.setBrush(self._colors["selected"])
        painter.drawRoundedRect(box, 3, 3)

    def _paint_text(
        self, painter: QPainter, line: ReadLine, left: int, right: int, base: int, *, bold: bool
    ) -> None:
        if line.role and line.role != "StaticText":
            painter.setFont(self._mono)
            painter.setPen(self._colors["muted"])
            left += self._draw(painter, self._mono_metrics, line.role, left, right, base)
        if line.name and left < right:
            painter.setFont(self._bold if bold else self._plain)
            painter.setPen(self._colors["text"])
            metrics = self._bold_metrics if bold else self._metrics
            left += self._draw(painter, metrics, line.name, left, right, base)
        elif line.near and left < right:
            painter.setFont(self._plain)
            painter.setPen(self._colors["muted"])
            left += self._draw(painter, self._metrics, line.near, left, right, base)
        if line.properties and left < right - 2 * self._gap:
            painter.setFont(self._mono)
            painter.setPen(self._colors["muted"])
            self._draw(painter, self._mono_metrics, line.properties, left, right, base)

    def _draw(
        self, painter: QPainter, metrics: QFontMetrics, text: str, left: int, right: int, base: int
    ) -> int:
        """Draw what fits; returns the width with the gap after it."""
        text = text[:MAX_CHARACTERS].replace("\n", " ")
        width = metrics.horizontalAdvance(text)
        if width > right - left:
            text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, right - left)
            width = right - left
        painter.drawText(left, base, text)
        return width + self._gap


class TreeList(QListView):
    """The lines, with copying; the menu of a line copies it, and finds its words on the pages."""

    find_wanted = Signal(str)

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
        """Copy the selected lines."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self._copy("\n".join(line_text(line) for line in self._selected()))
            return
        super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the selected lines."""
        lines = self._selected()
        page: PageModel = self.model()  # pyright: ignore[reportAssignmentType]
        if not lines or page.page is None:
            return
        menu, url = QMenu(self), page.page.url
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        text = "\n".join(line_text(line) for line in lines)
        selectors = "\n".join(found for line in lines if (found := line_selector(line)))
        words = lines[0].name or lines[0].near
        menu.addAction(self.tr("Copy text"), lambda: self._copy(text))
        menu.addAction(self.tr("Copy as selector"), lambda: self._copy(selectors)).setEnabled(bool(selectors))
        menu.addAction(self.tr("Copy the page's address"), lambda: self._copy(url))
        menu.addSeparator()
        find = menu.addAction(self.tr("Find on the page"), lambda: self.find_wanted.emit(words))
        find.setEnabled(len(lines) == 1 and bool(lines[0].name))
        menu.popup(event.globalPos())

    def _selected(self) -> list[ReadLine]:
        """The selected lines from the top, else the current one."""
        rows = sorted(index.row() for index in self.selectionModel().selectedIndexes())
        model = self.model()
        chosen = [model.index(row, 0).data(OBJECT_ROLE) for row in rows or [self.currentIndex().row()]]
        return [line for line in chosen if line is not None]

    def _copy(self, text: str) -> None:
        if text:
            QApplication.clipboard().setText(text)

    def _on_theme(self) -> None:
        self._delegate.refresh()
        self.doItemsLayout()


class PagePicture(QWidget):
    """A screenshot fitted to its place, the target outlined and named."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._image: QImage | None = None
        self._target: tuple[float, float, float, float] | None = None
        self._fitted = QPixmap()
        theme.changed.connect(self.update)

    def show_image(self, image: QImage | None, target: tuple[float, float, float, float] | None) -> None:
        """Show this image with this target (x, y, width, height in its pixels)."""
        self._image, self._target, self._fitted = image, target, QPixmap()
        self.update()

    def height_for(self, width: int) -> float:
        if self._image is None or not self._image.width():
            return 0.0
        return width * self._image.height() / self._image.width()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the image, scaled once for each size."""
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
    """A caption (before or after, the page's title) over the screenshot, the lines, or a message.

    Signals:
        resized: it has another height.
    """

    resized = Signal()

    def __init__(self, caption: str, model: PageModel, pictures: ScreenshotStore, theme: Theme) -> None:
        super().__init__()
        self.model, self._pictures = model, pictures
        self._asked_tree = self._large = False
        ground(self)
        self.caption = text_label(caption, "section")
        self.title = styled(ElidedLabel(Qt.TextElideMode.ElideRight), "secondary")
        self.remark = styled(ElidedLabel(Qt.TextElideMode.ElideRight), "secondary")
        self.remark.setAlignment(RIGHT)
        self.lines = TreeList(theme)
        self.lines.setModel(model)
        self.lines.setAccessibleName(self.tr("Page {0} the action, as lines").format(caption))
        self.picture = PagePicture(theme)
        self.picture.setAccessibleName(self.tr("Screenshot of the page {0} the action").format(caption))
        self.message = text_label(kind="muted", wrap=True)
        self.message.setAlignment(CENTER)
        self._page = QWidget()
        vbox(self.picture, (self.lines, 1), parent=self._page, spacing=0)
        self._stack = QStackedWidget()
        for face in (self._page, self.message):
            self._stack.addWidget(face)
        self.head = hbox(self.caption, (self.title, 1), self.remark, margins=(8, 4, 8, 4), spacing=8)
        vbox(self.head, (self._stack, 1), parent=self, spacing=0)
        model.shown.connect(self.show_page)
        pictures.ready.connect(self._on_picture)

    def prefer_lines(self, lines: bool) -> None:
        """Show the tree even where there is a screenshot, or the screenshot again."""
        self._asked_tree = lines
        self.show_page()

    def set_large(self, large: bool) -> None:
        """Give the screenshot all the room, or leave some to the lines."""
        self._large = large
        self._fit()

    def say(self, text: str) -> None:
        self.message.setText(text)
        self._stack.setCurrentWidget(self.message)

    def show_page(self) -> None:
        page = self.model.page
        self.title.setText(page.title or page.url if page is not None else "")
        if page is None:
            self.say("")
            return
        if page.screenshot and not (self._asked_tree and page.lines):
            self._show_picture(page.screenshot, page.target_box)
        elif page.lines:
            self._show_content(picture=False)
        else:
            self.say(page.missing or self.tr("The page was empty."))

    @property
    def height_in_rows(self) -> int:
        """Rows that fit."""
        height = max(self.lines.itemDelegate().sizeHint(QStyleOptionViewItem(), QModelIndex()).height(), 1)
        return self.lines.viewport().height() // height

    @property
    def top_line(self) -> int:
        """The line of the page at the top."""
        line = self.model.line(self.lines.verticalScrollBar().value())
        return line.row if line is not None else 0

    def scroll_to(self, row: int) -> None:
        """Scroll a row into the upper third."""
        self.lines.verticalScrollBar().setValue(max(row - self.height_in_rows // 3, 0))

    def scroll_to_line(self, line: int) -> None:
        """Scroll a line of the page to the top, or the row that stands for it; also right after the rows changed."""
        self.lines.doItemsLayout()
        self.lines.verticalScrollBar().setValue(max(self.model.row_of(line), 0))

    def _show_picture(self, digest: str, target: tuple[float, float, float, float] | None) -> None:
        image = self._pictures.get(digest)
        if image is not None:
            self.picture.show_image(image, target)
            self._show_content(picture=True)
        elif digest in self._pictures.failed:
            self.say(self._pictures.failed[digest])
        else:
            self.say("")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the screenshot's shape."""
        super().resizeEvent(event)
        self._fit()
        if event.size().height() != event.oldSize().height():
            self.resized.emit()

    def _show_content(self, *, picture: bool) -> None:
        """Show the screenshot over the lines, which also mark the changes; or the lines alone."""
        lines = self.model.rowCount() > 0
        self.picture.setVisible(picture)
        self.lines.setVisible(lines or not picture)
        self._stack.setCurrentWidget(self._page)
        self._fit()

    def _fit(self) -> None:
        if self.picture.isHidden():
            return
        room = self._stack.height() * (1.0 if self._large or self.lines.isHidden() else MAX_PICTURE_SHARE)
        self.picture.setFixedHeight(max(round(min(room, self.picture.height_for(self._stack.width()))), 1))

    def _on_picture(self, digest: str) -> None:
        page = self.model.page
        if page is not None and page.screenshot == digest:
            self.show_page()
