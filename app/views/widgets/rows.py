"""List rows described as data and painted by one delegate: a sign, then lines of text spans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.models.common.object_list import OBJECT_ROLE
from app.views.widgets.signs import Sign, elided, on_one_line, paint_ground

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.views.frame.theme import Theme

T = TypeVar("T")
Index = QModelIndex | QPersistentModelIndex
TOP = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter

MAX_CACHED = 2_000
"""Number of texts whose line breaks are cached."""
MAX_CHARACTERS = 600
"""Characters of a text that can appear on two lines; pages produce texts of any length."""
LEAST_SPAN = 12
"""The room that a span needs unless it says otherwise; pixels at 100 % text size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of a line: a sign, a text, or both; lengths in pixels at 100 % text size.

    Attributes:
        role: colour of the text.
        plain: the normal text size, else the small one.
        middle: elide in the middle, as for addresses.
        share: largest part of the line's width.
        least: a text whose width is reserved, so that what follows is aligned over the rows.
        gap: space before the next span; with 0 it is a piece of the same text and keeps the spaces at its ends.
        size: width and height of the sign.
        needs: with less room than this it is left out, with those after it.
    """

    text: str = ""
    role: str = "muted"
    bold: bool = False
    plain: bool = False
    middle: bool = False
    share: float = 1.0
    least: str = ""
    gap: int = 8
    sign: Sign | None = None
    size: tuple[float, float] = (10, 10)
    needs: int = LEAST_SPAN


@dataclass(frozen=True, slots=True)
class SpanLine:
    """Spans from the left and at most one at the right end, which takes its room first."""

    spans: tuple[Span, ...]
    right: Span | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A text in the normal size, or ``small``, on up to two lines."""

    text: str
    role: str = "text"
    bold: bool = False
    small: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RowContent:
    """The lines of a row from the top; ``sign`` stands in the gutter before the first.

    ``bar`` is the colour of a bar at the row's beginning, ``tint`` that of its background.
    """

    lines: tuple[SpanLine | Text, ...]
    sign: Span | None = None
    bar: str = ""
    tint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowStyle:
    """Lengths in pixels at 100 % text size.

    Attributes:
        margins: left, top, right, bottom.
        gutter: room for the sign before the lines.
        height: of every row; 0 for as high as its lines.
        ruled: a line below each row.
    """

    margins: tuple[int, int, int, int] = (12, 4, 8, 6)
    gutter: int = 0
    height: int = 0
    ruled: bool = False


def line(*spans: Span | None, right: Span | None = None) -> SpanLine:
    """Return a line without its empty spans."""
    kept = tuple(span for span in spans if span is not None and (span.text or span.sign is not None))
    return SpanLine(kept, right if right is not None and (right.text or right.sign is not None) else None)


def small(text: str, role: str = "muted", **more: Any) -> Span:
    return Span(text=text, role=role, **more)


def plain(text: str, role: str = "text", **more: Any) -> Span:
    return Span(text=text, role=role, plain=True, **more)


class SpanDelegate(QStyledItemDelegate):
    """Paints spans, mirrored for right-to-left."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint_span(self, painter: QPainter, option: QStyleOptionViewItem, box: QRectF, span: Span) -> float:
        """Draw a sign and a text from the beginning of a box; return the width taken."""
        theme, px, font = self._theme, self._theme.px, self._font(span)
        if span.sign is not None:
            sign = QRectF(0, 0, px(span.size[0]), px(span.size[1]))
            sign.moveCenter(box.center())
            sign.moveLeft(box.left())
            painter.save()
            span.sign(painter, placed(option, sign), theme)
            painter.restore()
            box = box.adjusted(self._sign_width(span), 0, 0, 0)
        metrics = QFontMetrics(font)
        shown = elided(
            metrics, span.text[:MAX_CHARACTERS], box.width(), middle=span.middle, joined=not span.gap
        )
        painter.setFont(font)
        self._set_pen(painter, option, span.role)
        painter.drawText(placed(option, box), aligned(option, LEFT), shown)
        width = max(metrics.horizontalAdvance(shown), metrics.horizontalAdvance(span.least))
        return self._sign_width(span) + width

    def width_of(self, span: Span) -> float:
        text = on_one_line(span.text[:MAX_CHARACTERS], joined=not span.gap)
        return self._sign_width(span) + QFontMetrics(self._font(span)).horizontalAdvance(text) + 1

    def _font(self, span: Span) -> QFont:
        return self._theme.font("base" if span.plain else "secondary", bold=span.bold)

    def _sign_width(self, span: Span) -> float:
        if span.sign is None:
            return 0.0
        return self._theme.px(span.size[0]) + (self._theme.px(5) if span.text else 0)

    def _set_pen(self, painter: QPainter, option: QStyleOptionViewItem, role: str) -> None:
        """Set the colour of a role; the text of a disabled list is muted."""
        enabled = bool(option.state & QStyle.StateFlag.State_Enabled)
        painter.setPen(self._theme.color(role if enabled or role != "text" else "muted"))


class RowDelegate(SpanDelegate, Generic[T]):
    """Paints the ``RowContent`` that ``describe`` makes of a value."""

    def __init__(
        self,
        theme: Theme,
        describe: Callable[[T], RowContent],
        style: RowStyle | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, parent)
        self._describe, self._style = describe, style or RowStyle()
        self._broken: dict[tuple[str, bool, bool, float], str] = {}
        theme.changed.connect(self._broken.clear)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        px, style = self._theme.px, self._style
        if style.height:
            return QSize(100, px(style.height))
        value = index.data(OBJECT_ROLE)
        if value is None:
            return QSize(100, 20)
        high = sum(map(self._height, self._describe(value).lines))
        return QSize(100, round(high) + px(style.margins[1]) + px(style.margins[3]))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        value = index.data(OBJECT_ROLE)
        if value is not None:
            painter.save()
            self._paint_row(painter, option, self._describe(value))
            painter.restore()

    def _paint_row(self, painter: QPainter, option: QStyleOptionViewItem, row: RowContent) -> None:
        theme, px, style = self._theme, self._theme.px, self._style
        self._paint_ground(painter, option, row)
        left, top, right, bottom = (px(one) for one in style.margins)
        box = QRectF(option.rect).adjusted(left, top, -right, -bottom)
        if style.height:  # the lines stand in the middle of a row of fixed height
            box.setTop(box.top() + max(box.height() - sum(map(self._height, row.lines)), 0) / 2)
        if row.sign is not None:
            high = min(self._height(row.lines[0]), QFontMetrics(theme.font()).lineSpacing())
            self.paint_span(painter, option, QRectF(box.left(), box.top(), px(style.gutter), high), row.sign)
        box.setLeft(box.left() + px(style.gutter))
        for one in row.lines:
            place = QRectF(box.left(), box.top(), box.width(), self._height(one))
            if isinstance(one, Text):
                painter.setFont(self._text_font(one))
                self._set_pen(painter, option, one.role)
                painter.drawText(placed(option, place), aligned(option, TOP), self._wrapped(one))
            else:
                self._paint_line(painter, option, place, one)
            box.setTop(place.bottom())
        if style.ruled:
            painter.setPen(QPen(theme.color("line"), 1))
            painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, row: RowContent) -> None:
        theme, edge = self._theme, QRectF(option.rect)
        paint_ground(painter, option, theme)
        if row.tint:
            painter.fillRect(edge.adjusted(theme.px(4), 1, -theme.px(4), -1), theme.color(row.tint))
        if row.bar:
            bar = QRectF(edge.left(), edge.top() + 1, theme.px(3), edge.height() - 2)
            painter.fillRect(placed(option, bar), theme.color(row.bar))

    def _paint_line(
        self, painter: QPainter, option: QStyleOptionViewItem, box: QRectF, one: SpanLine
    ) -> None:
        px, room = self._theme.px, QRectF(box)
        if one.right is not None:
            taken = min(self.width_of(one.right), box.width() * one.right.share)
            place = QRectF(box.right() - taken, box.top(), taken, box.height())
            self.paint_span(painter, option, place, one.right)
            room.setRight(place.left() - px(one.right.gap))
        for span in one.spans:
            if room.width() < px(span.needs):
                return
            place = QRectF(room)
            place.setWidth(min(room.width(), box.width() * span.share))
            room.setLeft(room.left() + self.paint_span(painter, option, place, span) + px(span.gap))

    def _height(self, one: SpanLine | Text) -> float:
        if isinstance(one, Text):
            spacing = QFontMetrics(self._text_font(one)).lineSpacing()
            return spacing * (self._wrapped(one).count("\n") + 1)
        is_plain = any(span.plain for span in one.spans)
        return QFontMetrics(self._theme.font("base" if is_plain else "secondary")).lineSpacing()

    def _text_font(self, one: Text) -> QFont:
        return self._theme.font("secondary" if one.small else "base", bold=one.bold)

    def _wrapped(self, one: Text) -> str:
        """Break a text over one or two lines; the same for measuring and painting, whatever the scroll bar does."""
        view = self.parent()
        left, _top, right, _bottom = self._style.margins
        width = view.width() if isinstance(view, QListView) else 300
        key = (one.text, one.bold, one.small, width - self._theme.px(left + right + self._style.gutter + 10))
        lines = self._broken.get(key)
        if lines is None:  # breaking lines is the main cost of a long list
            if len(self._broken) >= MAX_CACHED:
                self._broken.clear()
            metrics = QFontMetrics(self._text_font(one))
            lines = self._broken[key] = two_lines(metrics, one.text[:MAX_CHARACTERS], key[3])
        return lines


class RowList(QListView):
    """A short list of described rows, as high as their text needs at this width."""

    def __init__(
        self, theme: Theme, describe: Callable[[Any], RowContent], name: str, style: RowStyle | None = None
    ) -> None:
        super().__init__()
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setAccessibleName(name)
        self.setItemDelegate(RowDelegate(theme, describe, style, self))
        self.setResizeMode(QListView.ResizeMode.Adjust)
        theme.changed.connect(self.doItemsLayout)

    def content_height(self, *, rows: int = 1 << 30, most: int = 1 << 30) -> int:
        """The height of the first ``rows`` in pixels, at most ``most``; rows beyond it are not measured."""
        model, option, delegate = self.model(), QStyleOptionViewItem(), self.itemDelegate()
        height = 2
        for row in range(min(model.rowCount(), rows)):
            height += delegate.sizeHint(option, model.index(row, 0)).height()
            if height >= most:
                return most
        return height


class FittedList(RowList):
    """A list as high as its rows, up to ``most`` of them; then it scrolls."""

    def __init__(
        self,
        theme: Theme,
        describe: Callable[[Any], RowContent],
        name: str,
        style: RowStyle | None = None,
        *,
        most: int,
    ) -> None:
        super().__init__(theme, describe, name, style)
        self._most = most
        theme.changed.connect(self.fit)

    def fit(self) -> None:
        """Take the height that the rows need now; an empty list is hidden."""
        self.setFixedHeight(self.content_height(rows=self._most))
        self.setVisible(self.model().rowCount() > 0)


def placed(option: QStyleOptionViewItem, box: QRectF) -> QRectF:
    """Return a box of the row, mirrored for right-to-left."""
    if option.direction == Qt.LayoutDirection.LeftToRight:
        return box
    left = option.rect.left() + option.rect.right() + 1 - box.right()
    return QRectF(left, box.top(), box.width(), box.height())


def aligned(option: QStyleOptionViewItem, side: Qt.AlignmentFlag) -> Qt.AlignmentFlag:
    """Return the alignment for the reading direction."""
    return QStyle.visualAlignment(option.direction, side)


def two_lines(metrics: QFontMetrics, text: str, width: float) -> str:
    """Break a text once between words; the second line is elided."""
    text = on_one_line(text)
    if metrics.horizontalAdvance(text) <= width:
        return text
    words, first = text.split(" "), ""
    while words and metrics.horizontalAdvance(f"{first} {words[0]}".strip()) <= width:
        first = f"{first} {words.pop(0)}".strip()
    if not first:  # one word wider than the line
        return elided(metrics, text, width)
    return f"{first}\n{elided(metrics, ' '.join(words), width)}"
