"""Delegates for elements, transitions and runs: two lines each, a sign before the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from app.models.common.object_list import OBJECT_ROLE
from app.models.graph.node_lists import score_words
from app.views.graph.status_marks import STATUS_ROLE, TRANSITION_ROLE, VERDICT_ROLE, draw_status, draw_verdict
from app.views.widgets.rows import LEFT, RIGHT, RowList
from app.views.widgets.signs import draw_score, elided, paint_ground

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.models.graph.block_list import BlockListRow
    from app.models.graph.node_lists import ElementRow, PassingRun, TransitionRow
    from app.views.frame.theme import Theme

Index = QModelIndex | QPersistentModelIndex


class NodeRows(RowList):
    """A list with rows of equal height, so that thousands of them cost no more than the visible ones."""

    def __init__(self, theme: Theme, delegate: QStyledItemDelegate, name: str) -> None:
        super().__init__(theme, delegate, name)
        self.setUniformItemSizes(True)
        self.setMinimumHeight(theme.px(60))


class TwoLineDelegate(QStyledItemDelegate):
    """Sign, a role in small type, a name; below it a text.  Subclasses fill them."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._row, self._mirrored = QRectF(), False

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(100, self._theme.px(39))

    def _begin(self, painter: QPainter, option: QStyleOptionViewItem) -> tuple[QRectF, QRectF, QRectF]:
        """Paint the background; return the places of sign, first and second line, in reading direction."""
        px = self._theme.px
        paint_ground(painter, option, self._theme)
        self._row = QRectF(option.rect)
        self._mirrored = option.direction is Qt.LayoutDirection.RightToLeft
        box = self._row.adjusted(px(10), px(3), -px(8), -px(3))
        sign = QRectF(box.left(), box.top() + px(3), px(11), px(11))
        text = box.adjusted(px(18), 0, 0, 0)
        first = QRectF(text.left(), text.top(), text.width(), text.height() * 0.54)
        second = QRectF(text.left(), first.bottom(), text.width(), text.bottom() - first.bottom())
        return self._placed(sign), first, second

    def _placed(self, place: QRectF) -> QRectF:
        """Mirror a place given from the left for right-to-left."""
        if not self._mirrored:
            return place
        left = self._row.left() + self._row.right() - place.right()
        return QRectF(left, place.top(), place.width(), place.height())

    def _first(self, painter: QPainter, place: QRectF, role: str, name: str, right: str = "") -> None:
        theme, px = self._theme, self._theme.px
        small, plain = theme.font("secondary"), theme.font()
        painter.setPen(theme.color("muted"))
        painter.setFont(small)
        room = place
        if right:
            painter.drawText(self._placed(place), RIGHT, right)
            room = place.adjusted(0, 0, -QFontMetrics(small).horizontalAdvance(right) - px(8), 0)
        if role:
            word = elided(QFontMetrics(small), role, room.width() * 0.5)
            painter.drawText(self._placed(room), LEFT, word)
            room = room.adjusted(QFontMetrics(small).horizontalAdvance(word) + px(6), 0, 0, 0)
        painter.setFont(plain)
        painter.setPen(theme.color("text"))
        painter.drawText(self._placed(room), LEFT, elided(QFontMetrics(plain), name, room.width()))

    def _second(self, painter: QPainter, place: QRectF, text: str, role: str = "muted") -> None:
        small = self._theme.font("secondary")
        painter.setFont(small)
        painter.setPen(self._theme.color(role))
        painter.drawText(self._placed(place), LEFT, elided(QFontMetrics(small), text, place.width()))


class ElementDelegate(TwoLineDelegate):
    """Status, role and name; below, the reason."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: ElementRow | None = index.data(OBJECT_ROLE)
        if row is None:
            return
        painter.save()
        sign, first, second = self._begin(painter, option)
        role = STATUS_ROLE[row.standing]
        draw_status(painter, sign, row.standing, self._theme.color(role))
        self._first(painter, first, row.element.role, row.name)
        self._second(painter, second, row.why, "fail" if row.standing == "failed" else "muted")
        painter.restore()


class TransitionDelegate(TwoLineDelegate):
    """Status, action and target; below, attempts, times and the last failure."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: TransitionRow | None = index.data(OBJECT_ROLE)
        if row is None:
            return
        painter.save()
        sign, first, second = self._begin(painter, option)
        role = TRANSITION_ROLE[row.standing]
        level = row.standing or "none"
        draw_score(painter, sign, level, self._theme.color(role))
        arrow = "→" if row.outgoing else "←"
        self._first(painter, first, f"{row.transition.words}  {arrow}", row.title)
        last = row.transition.last_divergence
        astray = bool(last) and row.standing in ("warn", "fail")
        text = f"{row.numbers} · {last}" if astray else row.numbers
        self._second(painter, second, text, role if astray else "muted")
        painter.restore()


class PassingRunDelegate(TwoLineDelegate):
    """Outcome, name and step; below, the task."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: PassingRun | None = index.data(OBJECT_ROLE)
        if row is None:
            return
        painter.save()
        sign, first, second = self._begin(painter, option)
        said = score_words(row)
        level = {"failed": "fail", "partly passed": "warn", "passed": "ok"}.get(said, "none")
        color = self._theme.color(level if level != "none" else "muted")
        draw_score(painter, sign, level, color)
        step = self.tr("step {0}").format(row.step)
        self._first(painter, first, "", row.run, f"{said} · {step}" if row.scored else step)
        self._second(painter, second, row.intent)
        painter.restore()


class BlockListDelegate(TwoLineDelegate):
    """The rules' verdict, role and name; below, the rule and the reason."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: BlockListRow | None = index.data(OBJECT_ROLE)
        if row is None:
            return
        painter.save()
        sign, first, second = self._begin(painter, option)
        theme, role = self._theme, VERDICT_ROLE[row.verdict]
        draw_verdict(painter, sign, row.verdict, theme.color(role), theme.color("raised"))
        words = {"block": self.tr("stopped"), "ask": self.tr("asks"), "allow": "", "": ""}
        self._first(painter, first, row.element.role, row.name, words[row.verdict])
        by = " · ".join(part for part in (row.rule, row.why) if part)
        self._second(painter, second, by or self.tr("no rule speaks of it"), role if row.rule else "muted")
        painter.restore()
