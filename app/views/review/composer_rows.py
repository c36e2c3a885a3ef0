"""Delegates of findings, similar tips and pre-flight examples under the composer's form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from app.models.common.object_list import OBJECT_ROLE
from app.views.widgets.rows import LEFT, RIGHT, TOP, RowList, height_for, text_width, two_lines
from app.views.widgets.signs import SEVERITY_ROLE, draw_score, draw_severity, elided, paint_ground

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.models.common.lint_list import LintFinding
    from app.models.knowledge.similar_list import PreflightExample, Similar
    from app.views.frame.theme import Theme

Index = QModelIndex | QPersistentModelIndex
RELATION_ROLE = {"contradiction": "fail", "duplicate": "warn"}


class FittedList(RowList):
    """A list as high as its rows, up to ``most`` of them; then it scrolls."""

    def __init__(self, theme: Theme, delegate: QStyledItemDelegate, name: str, *, most: int) -> None:
        super().__init__(theme, delegate, name)
        self._most = most
        theme.changed.connect(self.fit)

    def fit(self) -> None:
        """Take the height that the rows need now; an empty list is hidden."""
        model, option = self.model(), QStyleOptionViewItem()
        rows, delegate = model.rowCount(), self.itemDelegate()
        shown = [model.index(row, 0) for row in range(min(rows, self._most))]
        self.setFixedHeight(sum(delegate.sizeHint(option, index).height() for index in shown) + 2)
        self.setVisible(rows > 0)


class _FormRowDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme


class FindingDelegate(_FormRowDelegate):
    """Shape of the severity and the message on up to two lines."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """One or two lines."""
        finding: LintFinding | None = index.data(OBJECT_ROLE)
        text = finding.message if finding is not None else ""
        return QSize(100, height_for(self, self._theme, text, 22) + self._theme.px(4))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one finding."""
        finding: LintFinding | None = index.data(OBJECT_ROLE)
        if finding is None:
            return
        theme, px = self._theme, self._theme.px
        painter.save()
        paint_ground(painter, option, theme)
        box = QRectF(option.rect).adjusted(px(4), px(2), -px(2), 0)
        color = theme.color(SEVERITY_ROLE[finding.severity.value])
        draw_severity(
            painter, QRectF(box.left(), box.top() + px(3), px(9), px(9)), finding.severity.value, color
        )
        painter.setFont(theme.font())
        painter.setPen(theme.color("text"))
        text = two_lines(QFontMetrics(theme.font()), finding.message, text_width(self, theme, 22))
        painter.drawText(box.adjusted(px(16), 0, 0, 0), TOP, text)
        painter.restore()


class SimilarDelegate(_FormRowDelegate):
    """Relation, similarity and id; below, the tip's text."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """A head and one line."""
        return QSize(100, self._theme.px(36))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one neighbour."""
        similar: Similar | None = index.data(OBJECT_ROLE)
        if similar is None:
            return
        theme, px = self._theme, self._theme.px
        painter.save()
        paint_ground(painter, option, theme)
        box = QRectF(option.rect).adjusted(px(4), px(1), -px(2), 0)
        bold = theme.font("secondary", bold=True)
        painter.setFont(bold)
        painter.setPen(theme.color(RELATION_ROLE.get(similar.relation, "muted")))
        top = QRectF(box.left(), box.top(), box.width(), px(15))
        painter.drawText(top, LEFT, f"{similar.relation} {similar.score:.2f}")
        painter.setFont(theme.font("secondary"))
        painter.setPen(theme.color("muted"))
        painter.drawText(top, RIGHT, f"{similar.tip.id} · {similar.tip.status.value}")
        painter.setFont(theme.font())
        painter.setPen(theme.color("text"))
        text = elided(QFontMetrics(theme.font()), similar.tip.text, box.width())
        painter.drawText(QRectF(box.left(), top.bottom(), box.width(), px(18)), LEFT, text)
        painter.restore()


class ExampleDelegate(_FormRowDelegate):
    """Outcome of the run, step, route, and the address."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """One line."""
        return QSize(100, self._theme.px(21))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one example."""
        example: PreflightExample | None = index.data(OBJECT_ROLE)
        if example is None:
            return
        theme, px = self._theme, self._theme.px
        painter.save()
        paint_ground(painter, option, theme)
        box = QRectF(option.rect).adjusted(px(4), 0, -px(2), 0)
        level = {True: "fail", False: "ok", None: "muted"}[example.failed]
        sign = QRectF(box.left(), box.center().y() - px(5), px(10), px(10))
        draw_score(painter, sign, level, theme.color(level))
        small = theme.font("secondary")
        metrics = QFontMetrics(small)
        painter.setFont(small)
        painter.setPen(theme.color("text"))
        step = self.tr(" · step {0}").format(example.step)
        room = box.width() * 0.6 - metrics.horizontalAdvance(step)
        name = elided(metrics, example.run, room, middle=True) + step
        left = box.left() + px(16)
        painter.drawText(QRectF(left, box.top(), box.width(), box.height()), LEFT, name)
        left += metrics.horizontalAdvance(name) + px(8)
        painter.setPen(theme.color("muted"))
        address = elided(metrics, example.url.split("://", 1)[-1], box.right() - left, middle=True)
        painter.drawText(QRectF(left, box.top(), box.right() - left, box.height()), LEFT, address)
        painter.restore()
