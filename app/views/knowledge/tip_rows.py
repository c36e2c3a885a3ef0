"""Rows of tips, revisions and retrieval results, and the signs of a tip's status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.models.knowledge.tip_table import ago
from app.views.widgets.rows import RowContent, RowStyle, Span, line, plain, small
from app.views.widgets.signs import Sign, draw_tick

if TYPE_CHECKING:
    from app.models.knowledge.freeze_form import LeftOut
    from app.models.knowledge.merge_model import MergeLine
    from app.models.knowledge.retrieval_test import RetrievalRow
    from app.models.knowledge.tip_history import RevisionRow
    from app.models.knowledge.tip_table import Tip
    from app.views.frame.theme import Theme


STATUS_ROLE = {"draft": "muted", "reviewed": "live", "active": "ok", "suspect": "warn", "retired": "muted"}
TEST_ROLE = {"holds": "ok", "stopped before a write": "ok", "broke": "fail", "not reached": "warn"}
ROUTE_ROLE = {"url": "accent", "keyword": "live", "embedding": "ok"}
ROUTE_SIGN = {"url": "/", "keyword": "#", "embedding": "≈"}
RETRIEVAL = RowStyle(margins=(10, 3, 8, 3), height=40, ruled=True)
REVISION = RowStyle(margins=(10, 0, 8, 0), height=24)
MERGE = RowStyle(margins=(10, 3, 8, 3), height=42, ruled=True)
LEFT_OUT = RowStyle(margins=(10, 2, 8, 2), height=38)


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


def status_sign(status: str) -> Sign:
    return lambda painter, box, theme: draw_status(painter, box, status, theme.color(STATUS_ROLE[status]))


def tip_cell(tip: Tip, column: str, text: str) -> Span:
    status = tip.status.value
    if column == "status":
        return small(text, STATUS_ROLE[status], sign=status_sign(status))
    if column == "tested" and tip.last_test is not None:
        return small(text, TEST_ROLE.get(tip.last_test.outcome, "muted"))
    if column in ("site", "text"):
        return plain(text, "muted" if status == "retired" else "text")
    return small(text, middle=column == "scope")


def retrieval_row(row: RetrievalRow) -> RowContent:
    """Route, score and reason over the tip's text; a tip that was cut has the reason."""
    route = f"{ROUTE_SIGN.get(row.route, '·')} {row.route} {row.score:.2f}"
    head, role = ("○ cut", "muted") if row.missed else (route, ROUTE_ROLE.get(row.route, "text"))
    tokens = f"{row.tokens} tokens" if row.tokens else ""
    origin = " · ".join(part for part in (row.tip, row.status, tokens) if part)
    return RowContent(
        lines=(
            line(
                small(head, role, bold=True, least="≈ embedding 0.00", gap=10),
                small(row.missed or row.why),
                right=small(origin, middle=True, share=0.5),
            ),
            line(plain(row.text, "muted" if row.missed else "text")),
        )
    )


def revision_row(row: RevisionRow) -> RowContent:
    """Number, action, author, changed fields; at the right the time."""
    words = " · ".join(part for part in (row.deed, row.author, row.summary) if part)
    number = plain(str(row.revision), bold=True, least="00")
    return RowContent(lines=(line(number, small(words, "text"), right=small(ago(row.at))),))


def left_out_row(row: LeftOut) -> RowContent:
    """The rules and the tip; below, lint's message."""
    rules = small(f"● {', '.join(row.rules)}", "fail", bold=True, share=0.6)
    return RowContent(
        lines=(line(rules, right=small(row.tip, middle=True, share=0.4)), line(plain(row.message)))
    )


def merge_row(line_: MergeLine) -> RowContent:
    """The outcome for the tip, or the decision; below, its text there."""
    role = ("ok" if line_.decided else "warn") if line_.is_conflict else "muted"
    sign = ("✓" if line_.decided else "●") if line_.is_conflict else "+"
    word = small(f"{sign} {line_.word}", role, bold=line_.is_conflict)
    about = line_.decided or line_.about
    return RowContent(lines=(line(word, right=small(about, middle=True, share=0.6)), line(plain(line_.text))))


class StatusLabel(QWidget):
    """The shape and the word of a status."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._status = theme, "draft"
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_status(self, status: str) -> None:
        self._status = status
        self.setAccessibleName(self.tr("Status: {0}").format(status))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._theme.font(bold=True))
        return QSize(metrics.horizontalAdvance(self._status) + self._theme.px(20), metrics.height() + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, px = self._theme, self._theme.px
        painter = QPainter(self)
        color = theme.color(STATUS_ROLE[self._status])
        sign = QRectF(1, self.height() / 2 - px(5), px(11), px(11))
        draw_status(painter, sign, self._status, color)
        painter.setFont(theme.font(bold=True))
        painter.setPen(color)
        room = self.rect().adjusted(px(17), 0, 0, 0)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self._status)
        painter.end()
