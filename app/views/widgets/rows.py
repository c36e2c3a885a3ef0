"""Lists of rows with delegates, and delegates of flags, verdicts and tips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.models.common.object_list import OBJECT_ROLE
from app.models.review.flags import REMARK_ROLE
from app.models.review.run_queue import detector_label
from app.views.widgets.signs import SEVERITY_ROLE, draw_key, draw_severity, draw_tick, elided, paint_ground

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.models.review.flags import Choice, Flag
    from app.views.frame.theme import Theme

Index = QModelIndex | QPersistentModelIndex
TOP = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
WRAP = Qt.TextFlag.TextWordWrap


class RowList(QListView):
    """A short list with a delegate; rows are as high as their text needs at this width."""

    def __init__(self, theme: Theme, delegate: QStyledItemDelegate, name: str) -> None:
        super().__init__()
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setAccessibleName(name)
        delegate.setParent(self)
        self.setItemDelegate(delegate)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        theme.changed.connect(self.doItemsLayout)

    def content_height(self) -> int:
        """The height of all rows."""
        model, option, delegate = self.model(), QStyleOptionViewItem(), self.itemDelegate()
        rows = range(model.rowCount())
        return sum(delegate.sizeHint(option, model.index(row, 0)).height() for row in rows) + 2


class FlagDelegate(QStyledItemDelegate):
    """Shape of the severity, the message on up to two lines, detector and step below it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """The message on one or two lines, and the origin."""
        flag: Flag | None = index.data(OBJECT_ROLE)
        text = flag.message if flag is not None else ""
        return QSize(120, height_for(self, self._theme, text, 38) + self._theme.px(24))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one flag."""
        flag: Flag | None = index.data(OBJECT_ROLE)
        if flag is None:
            return
        theme, px = self._theme, self._theme.px
        painter.save()
        paint_ground(painter, option, theme)
        box = QRectF(option.rect).adjusted(px(12), px(4), -px(8), -px(3))
        color = theme.color(SEVERITY_ROLE[flag.severity.value])
        draw_severity(
            painter, QRectF(box.left(), box.top() + px(3), px(10), px(10)), flag.severity.value, color
        )
        text = box.adjusted(px(18), 0, 0, 0)
        plain, small = theme.font(), theme.font("secondary")
        spacing = QFontMetrics(plain).lineSpacing()
        message = two_lines(QFontMetrics(plain), flag.message, text_width(self, theme, 38))
        painter.setFont(plain)
        painter.setPen(theme.color("text"))
        painter.drawText(QRectF(text.left(), text.top(), text.width(), spacing * 2), TOP, message)
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        remark = index.data(REMARK_ROLE)
        origin = f"{detector_label(flag.detector)} · step {flag.step}" + (f" · {remark}" if remark else "")
        origin = elided(QFontMetrics(small), origin, text.width())
        low = text.top() + spacing * (2 if "\n" in message else 1)
        painter.drawText(
            QRectF(text.left(), low, text.width(), QFontMetrics(small).lineSpacing()), LEFT, origin
        )
        painter.restore()


class VerdictDelegate(QStyledItemDelegate):
    """Key cap and label; a given one has a tick, a tint and the step it was given at."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """One line."""
        return QSize(120, self._theme.px(24))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one label."""
        choice: Choice | None = index.data(OBJECT_ROLE)
        if choice is None:
            return
        theme, px = self._theme, self._theme.px
        painter.save()
        paint_ground(painter, option, theme)
        box = QRectF(option.rect)
        if choice.given:
            painter.fillRect(box.adjusted(px(4), px(1), -px(4), -px(1)), theme.color("tint_accent"))
        small = theme.font("secondary")
        wide = px(26) if len(choice.keys) > 1 else px(17)
        cap = QRectF(box.left() + px(8), box.center().y() - px(8), wide, px(16))
        draw_key(painter, cap, choice.keys, small, theme.color("edge"), theme.color("muted"))
        left = cap.right() + px(5)
        right = box.right() - px(1)
        if choice.given:
            painter.setPen(QPen(theme.color("accent"), 1.8))
            draw_tick(painter, QRectF(right - px(14), box.center().y() - px(5), px(10), px(9)))
            right -= px(18)
        painter.setFont(theme.font(bold=bool(choice.given)))
        enabled = bool(option.state & QStyle.StateFlag.State_Enabled)
        painter.setPen(theme.color("accent" if choice.given else "text" if enabled else "muted"))
        text = elided(QFontMetrics(painter.font()), choice.label.value, right - left)
        painter.drawText(QRectF(left, box.top(), right - left, box.height()), LEFT, text)
        painter.restore()


class NamedText(Protocol):
    """A row in two parts: its role and details, and its text."""

    @property
    def role(self) -> str: ...
    @property
    def more(self) -> str: ...
    @property
    def text(self) -> str: ...


class NamedTextDelegate(QStyledItemDelegate):
    """Role and details; below, the text on up to two lines."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """The head, and the text on one or two lines."""
        tip: NamedText | None = index.data(OBJECT_ROLE)
        text = tip.text if tip is not None else ""
        high = height_for(self, self._theme, text, 20) if text else 0
        return QSize(120, high + self._theme.px(24))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        tip: NamedText | None = index.data(OBJECT_ROLE)
        if tip is None:
            return
        theme, px = self._theme, self._theme.px
        painter.save()
        paint_ground(painter, option, theme)
        box = QRectF(option.rect).adjusted(px(12), px(4), -px(8), -px(3))
        small, plain = theme.font("secondary"), theme.font()
        line = QFontMetrics(small).lineSpacing()
        painter.setFont(theme.font("secondary", bold=True))
        painter.setPen(theme.color("accent"))
        head = QRectF(box.left(), box.top(), box.width(), line)
        painter.drawText(head, LEFT, tip.role)
        left = QFontMetrics(painter.font()).horizontalAdvance(tip.role) + px(8)
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        painter.drawText(
            head.adjusted(left, 0, 0, 0), LEFT, elided(QFontMetrics(small), tip.more, head.width() - left)
        )
        painter.setFont(plain)
        painter.setPen(theme.color("text"))
        text = two_lines(QFontMetrics(plain), tip.text, text_width(self, theme, 20))
        painter.drawText(box.adjusted(0, line + px(1), 0, 0), TOP, text)
        painter.restore()


def height_for(delegate: QStyledItemDelegate, theme: Theme, text: str, taken: int) -> int:
    """Return the height of a text on its one or two lines; see ``text_width``."""
    metrics = QFontMetrics(theme.font())
    lines = two_lines(metrics, text, text_width(delegate, theme, taken)).count("\n") + 1
    return metrics.lineSpacing() * lines


def text_width(delegate: QStyledItemDelegate, theme: Theme, taken: int) -> int:
    """Return the width for a row's text: the list's, without ``taken`` pixels and without room for a scroll bar.

    Measuring and painting use the same width, so a scroll bar that appears changes no row.
    """
    view = delegate.parent()
    width = view.width() if isinstance(view, QListView) else 300
    return width - theme.px(taken + 10)


def two_lines(metrics: QFontMetrics, text: str, width: float) -> str:
    """Break a text once between words; the second line is elided."""
    text = " ".join(text.split())
    if metrics.horizontalAdvance(text) <= width:
        return text
    words, first = text.split(" "), ""
    while words and metrics.horizontalAdvance(f"{first} {words[0]}".strip()) <= width:
        first = f"{first} {words.pop(0)}".strip()
    if not first:  # one word wider than the line
        return elided(metrics, text, width)
    return f"{first}\n{elided(metrics, ' '.join(words), width)}"
