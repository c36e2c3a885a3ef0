"""Delegates of tips, revisions and retrieval results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.models.common.object_list import OBJECT_ROLE
from app.models.knowledge.tip_table import COLUMNS, ago
from app.views.widgets.signs import draw_tick, elided, paint_ground

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.models.knowledge.freeze_form import LeftOut
    from app.models.knowledge.retrieval_test import RetrievalRow
    from app.models.knowledge.tip_history import RevisionRow
    from app.models.knowledge.tip_table import Tip
    from app.views.frame.theme import Theme

Index = QModelIndex | QPersistentModelIndex
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter

STATUS_ROLE = {"draft": "muted", "reviewed": "live", "active": "ok", "suspect": "warn", "retired": "muted"}
ROUTE_ROLE = {"url": "accent", "keyword": "live", "embedding": "ok"}
ROUTE_SIGN = {"url": "/", "keyword": "#", "embedding": "≈"}


def draw_status(painter: QPainter, box: QRectF, status: str, color: QColor) -> None:
    """A dashed ring for a draft, a tick, a full disc for active, a triangle for suspect, a cross for retired."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    inner = box.adjusted(1, 1, -1, -1)
    pen = QPen(color, 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    match status:
        case "active":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawEllipse(inner)
        case "reviewed":
            draw_tick(painter, inner)
        case "suspect":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            top = QPointF(inner.center().x(), inner.top())
            painter.drawPolygon(QPolygonF([top, inner.bottomRight(), inner.bottomLeft()]))
        case "retired":
            painter.drawLine(inner.topLeft(), inner.bottomRight())
            painter.drawLine(inner.topRight(), inner.bottomLeft())
        case _:
            pen.setStyle(Qt.PenStyle.DotLine)
            painter.setPen(pen)
            painter.drawEllipse(inner)
    painter.restore()


class _TipRowDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme


class TipDelegate(_TipRowDelegate):
    """A cell of the table; the whole row shows as selected, with a bar at its beginning."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """The same height for every row."""
        return QSize(60, self._theme.px(26))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one cell."""
        tip: Tip | None = index.data(OBJECT_ROLE)
        if tip is None:
            return
        column, theme, px = COLUMNS[index.column()], self._theme, self._theme.px
        painter.save()
        self._paint_ground(painter, option, index.column())
        retired = tip.status.value == "retired"
        font = theme.font("base" if column in ("text", "site") else "secondary")
        metrics, box = QFontMetrics(font), option.rect.adjusted(px(8), 0, -px(6), 0)
        painter.setFont(font)
        painter.setPen(theme.color("text" if column in ("site", "text") and not retired else "muted"))
        if column == "status":
            role = STATUS_ROLE[tip.status.value]
            sign = QRect(box.left(), box.center().y() - px(4), px(10), px(10))
            color = theme.color(role)
            draw_status(
                painter, QRectF(QStyle.visualRect(option.direction, box, sign)), tip.status.value, color
            )
            painter.setPen(color)
            word = QStyle.visualRect(option.direction, box, box.adjusted(px(16), 0, 0, 0))
            painter.drawText(word, self._side(option, LEFT), elided(metrics, tip.status.value, word.width()))
        else:
            side = RIGHT if column == "revision" else LEFT
            said = str(index.data(Qt.ItemDataRole.DisplayRole) or "")
            text = elided(metrics, said, box.width(), middle=column == "scope")
            painter.drawText(box, self._side(option, side), text)
        painter.setPen(QPen(theme.color("line"), 1))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, column: int) -> None:
        state, box, theme = option.state, option.rect, self._theme
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.color("selected"))
            if column == 0:
                bar = QRect(box.left(), box.top(), theme.px(3), box.height())
                painter.fillRect(QStyle.visualRect(option.direction, box, bar), theme.color("accent"))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, theme.color("hover"))

    @staticmethod
    def _side(option: QStyleOptionViewItem, side: Qt.AlignmentFlag) -> Qt.AlignmentFlag:
        return QStyle.visualAlignment(option.direction, side)


class RetrievalDelegate(_TipRowDelegate):
    """Route, score and reason over the tip's text; a tip that was not delivered has the reason."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Two lines."""
        return QSize(100, self._theme.px(40))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        answer: RetrievalRow | None = index.data(OBJECT_ROLE)
        if answer is None:
            return
        theme, px = self._theme, self._theme.px
        painter.save()
        paint_ground(painter, option, theme)
        box = QRectF(option.rect).adjusted(px(10), px(3), -px(8), -px(3))
        top = QRectF(box.left(), box.top(), box.width(), box.height() / 2)
        low = QRectF(box.left(), box.center().y(), box.width(), box.height() / 2)
        right = self._paint_right(painter, top, answer)
        left = self._paint_head(painter, top, answer)
        small = theme.font("secondary")
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        why = elided(QFontMetrics(small), answer.missed or answer.why, right - left - px(8))
        painter.drawText(QRectF(left, top.top(), right - left, top.height()), LEFT, why)
        painter.setFont(theme.font())
        painter.setPen(theme.color("muted" if answer.missed else "text"))
        painter.drawText(low, LEFT, elided(QFontMetrics(theme.font()), answer.text, low.width()))
        painter.setPen(QPen(theme.color("line"), 1))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        painter.restore()

    def _paint_head(self, painter: QPainter, box: QRectF, answer: RetrievalRow) -> float:
        """Paint route and score, or that it was not delivered; returns where the reason begins."""
        theme, px = self._theme, self._theme.px
        bold = theme.font("secondary", bold=True)
        metrics = QFontMetrics(bold)
        painter.setFont(bold)
        if answer.missed:
            head, role = "○ cut", "muted"
        else:
            sign = ROUTE_SIGN.get(answer.route, "·")
            head, role = f"{sign} {answer.route} {answer.score:.2f}", ROUTE_ROLE.get(answer.route, "text")
        painter.setPen(theme.color(role))
        painter.drawText(box, LEFT, head)
        widest = metrics.horizontalAdvance("≈ embedding 0.00")
        return box.left() + max(widest, metrics.horizontalAdvance(head)) + px(10)

    def _paint_right(self, painter: QPainter, box: QRectF, answer: RetrievalRow) -> float:
        """Paint id and tokens at the right end; returns where they begin."""
        small, theme = self._theme.font("secondary"), self._theme
        metrics = QFontMetrics(small)
        name = elided(metrics, f"{answer.tip} · {answer.status}", box.width() * 0.4, middle=True)
        if answer.tokens:
            name = f"{name} · {answer.tokens} tokens"
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        painter.drawText(box, RIGHT, name)
        return box.right() - metrics.horizontalAdvance(name) - theme.px(4)


class RevisionDelegate(_TipRowDelegate):
    """Number, action, author, time; at the right the changed fields."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """One line."""
        return QSize(100, self._theme.px(24))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one revision."""
        row: RevisionRow | None = index.data(OBJECT_ROLE)
        if row is None:
            return
        theme, px = self._theme, self._theme.px
        painter.save()
        paint_ground(painter, option, theme)
        box = QRectF(option.rect).adjusted(px(10), 0, -px(8), 0)
        bold, small = theme.font(bold=True), theme.font("secondary")
        painter.setFont(bold)
        painter.setPen(theme.color("text"))
        painter.drawText(box, LEFT, str(row.revision))
        left = box.left() + max(QFontMetrics(bold).horizontalAdvance("00"), px(18)) + px(6)
        metrics = QFontMetrics(small)
        painter.setFont(small)
        time = ago(row.at)
        painter.setPen(theme.color("muted"))
        painter.drawText(box, RIGHT, time)
        room = box.right() - left - metrics.horizontalAdvance(time) - px(10)
        by = f" · {row.author}" if row.author else ""
        fields = f" · {row.summary}" if row.summary else ""
        painter.setPen(theme.color("text"))
        words = elided(metrics, f"{row.deed}{by}{fields}", room)
        painter.drawText(QRectF(left, box.top(), room, box.height()), LEFT, words)
        painter.restore()


class LeftOutDelegate(_TipRowDelegate):
    """The tip, the rule, and lint's message."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Two lines."""
        return QSize(100, self._theme.px(38))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one tip that would be left out."""
        one: LeftOut | None = index.data(OBJECT_ROLE)
        if one is None:
            return
        theme, px = self._theme, self._theme.px
        painter.save()
        paint_ground(painter, option, theme)
        box = QRectF(option.rect).adjusted(px(10), px(2), -px(8), -px(2))
        top = QRectF(box.left(), box.top(), box.width(), box.height() / 2)
        low = QRectF(box.left(), box.center().y(), box.width(), box.height() / 2)
        bold, small = theme.font("secondary", bold=True), theme.font("secondary")
        rules = elided(QFontMetrics(bold), f"● {', '.join(one.rules)}", box.width() * 0.6)
        painter.setFont(bold)
        painter.setPen(theme.color("fail"))
        painter.drawText(top, LEFT, rules)
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        room = box.width() - QFontMetrics(bold).horizontalAdvance(rules) - px(10)
        painter.drawText(top, RIGHT, elided(QFontMetrics(small), one.tip, room, middle=True))
        painter.setPen(theme.color("text"))
        painter.setFont(theme.font())
        painter.drawText(low, LEFT, elided(QFontMetrics(theme.font()), one.message, box.width()))
        painter.restore()
