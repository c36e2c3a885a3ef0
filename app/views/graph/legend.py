"""The legend of the map's signs with counts; a click filters by a sign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QSizePolicy, QWidget

from app.models.graph.filter import toggled
from app.models.graph.map_graph import StateMark, counts
from app.views.graph.marks import draw_dot
from app.views.widgets.build import vbox

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.graph.model import MapModel
    from app.views.frame.theme import Theme
    from app.views.graph.canvas import MapCanvas

MARKS = {
    "": 0,
    "failures": StateMark.FAILED,
    "untipped": StateMark.UNTIPPED,
    "tips": StateMark.TIPS,
    "suspect": StateMark.SUSPECT,
    "gone": StateMark.GONE,
    "barred": StateMark.BARRED,
}
"""The filter's word for each mark."""
LINKS = {"tried": "edge", "seen": "line"}


class LegendRow(QAbstractButton):
    """Sign, label and count; checked while the map is filtered by it."""

    def __init__(self, name: str, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._name, self._theme = name, theme
        self._word, self._count = "", 0
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_count(self, word: str, count: int, *, on: bool) -> None:
        self._word, self._count = word, count
        self.setAccessibleName(f"{word}: {count}")
        self.setChecked(on)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics, px = QFontMetrics(self._theme.font("secondary")), self._theme.px
        wide = metrics.horizontalAdvance(f"{self._word}  {self._count:,}")
        return QSize(px(30) + wide + px(14), max(metrics.height() + px(4), px(20)))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, px = self._theme, self._theme.px
        painter = QPainter(self)
        if self.isChecked():
            painter.fillRect(self.rect(), theme.color("selected"))
        elif self.underMouse():
            painter.fillRect(self.rect(), theme.color("hover"))
        middle = QPointF(px(15), self.height() / 2)
        if self._name in LINKS:
            style = Qt.PenStyle.DashLine if self._name == "seen" else Qt.PenStyle.SolidLine
            painter.setPen(QPen(theme.color(LINKS[self._name]), 1.5, style))
            painter.drawLine(QPointF(px(6), middle.y()), QPointF(px(24), middle.y()))
        else:
            marks = int(MARKS[self._name] or 0)
            if self._name == "untipped":
                marks |= StateMark.FAILED
            draw_dot(painter, theme, middle, px(4.5 if self._name != "untipped" else 3), marks,
                     ring_alone=self._name == "failures")  # fmt: skip
        painter.setFont(theme.font("secondary"))
        painter.setPen(theme.color("text"))
        box = QRect(px(30), 0, self.width() - px(30) - px(6), self.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self._word)
        painter.setPen(theme.color("muted"))
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{self._count:,}")
        if self.hasFocus():
            painter.setPen(theme.color("accent"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()


class MapLegend(QFrame):
    """A card in the lower left corner of the map, without signs that no state has."""

    def __init__(self, model: MapModel, center: CommandCenter, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._model, self._center, self._theme = model, center, theme
        self.seen_shown = True
        self.setProperty("kind", "card")
        self.setAccessibleName(self.tr("Legend"))
        self.rows = {name: LegendRow(name, theme, self) for name in (*MARKS, *LINKS)}
        self._words = {
            "": self.tr("states"),
            "failures": self.tr("with failed runs"),
            "untipped": self.tr("failed runs, no tip"),
            "tips": self.tr("with tips"),
            "suspect": self.tr("with suspect tips"),
            "gone": self.tr("gone"),
            "barred": self.tr("log-in or captcha"),
            "tried": self.tr("links followed"),
            "seen": self.tr("untried links"),
        }
        vbox(*self.rows.values(), parent=self, margins=(2, 4, 2, 4), spacing=0)
        for name in MARKS:
            self.rows[name].clicked.connect(lambda _checked=False, name=name: self._toggle(name))
        self.rows["seen"].clicked.connect(lambda: center.trigger("map.links"))
        self.rows["tried"].clicked.connect(self.refresh)
        model.graph_changed.connect(self.refresh)
        model.filter_changed.connect(self.refresh)
        theme.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Count again."""
        graph = self._model.graph
        found = counts(graph)
        words = self._model.table.text.split()
        numbers = {name: found[mark] for name, mark in MARKS.items() if isinstance(mark, StateMark)}
        tried = int(graph.tried.sum())
        numbers |= {"": len(graph), "tried": tried, "seen": len(graph.tried) - tried}
        for name, row in self.rows.items():
            on = name in words or (name == "seen" and self.seen_shown and numbers["seen"] > 0)
            hidden = name == "seen" and not self.seen_shown
            word = self.tr("{0}, hidden").format(self._words[name]) if hidden else self._words[name]
            row.show_count(word, numbers[name], on=on and name != "seen")
            row.setVisible(numbers[name] > 0 or name in ("", "failures", "untipped", "tips") or on)
            key = self._center.keys("map.links") if name == "seen" else ""
            shows = self.tr("Show untried links ({0})").format(key) if key else self.tr("Show only these")
            row.setToolTip("" if name in ("", "tried") else shows)
        self.adjustSize()
        self.place()

    def place(self) -> None:
        host = self.parentWidget()
        if host is not None:
            self.move(10, host.height() - self.height() - 10)

    def _toggle(self, name: str) -> None:
        self._model.set_filter(toggled(self._model.table.text, name) if name else "")


class MapStack(QWidget):
    """The canvas with the legend in its corner."""

    def __init__(self, canvas: MapCanvas) -> None:
        super().__init__()
        self.canvas = canvas
        self.legend: MapLegend | None = None
        vbox(canvas, parent=self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange()

    def arrange(self) -> None:
        """Place the legend and keep the map clear of it."""
        if self.legend is not None:
            self.legend.place()
            self.canvas.reserve_left(self.legend.width() + 10 if self.legend.isVisibleTo(self) else 0)
