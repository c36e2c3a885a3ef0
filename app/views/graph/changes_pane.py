"""Changes of the map since the exploration before, beside the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QPushButton, QWidget

from app.views.graph.node_rows import NodeRows
from app.views.widgets.build import ground, hbox, restyle, styled, text_label, vbox
from app.views.widgets.rows import RowContent, Span, line, plain, small

if TYPE_CHECKING:
    from app.models.graph.map_changes import MapChange, MapChangesModel
    from app.models.graph.model import MapModel
    from app.views.frame.theme import Theme

CHANGE_ROLE = {"new": "ok", "gone": "fail", "changed": "warn"}


class ChangesPane(QWidget):
    """Signals:

    closed: the pane was closed.
    """

    closed = Signal()

    def __init__(self, model: MapChangesModel, map_model: MapModel, theme: Theme) -> None:
        super().__init__()
        self._model, self._map = model, map_model
        ground(self)
        self.setAccessibleName(self.tr("Changes of the map"))
        title = text_label(self.tr("What changed"), "title")
        self.close_button = styled(QPushButton(self.tr("Close  Esc")), "link")
        self.close_button.setAccessibleName(self.tr("Close the changes"))
        self.summary = text_label(kind="secondary", wrap=True)
        self.list = NodeRows(theme, change_row, self.tr("States and transitions that changed"))
        self.list.setModel(model.list)
        head = hbox(title, 1, self.close_button, margins=(14, 10, 8, 0), spacing=8)
        vbox(
            head,
            hbox(self.summary, margins=(14, 0, 12, 4)),
            (self.list, 1),
            parent=self,
            spacing=4,
        )
        self.close_button.clicked.connect(self.closed)
        self.list.activated.connect(self._on_chosen)
        self.list.clicked.connect(self._on_chosen)
        model.changed.connect(self._show)
        self._show()

    def begin(self) -> None:
        """Focus the list."""
        self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _on_chosen(self, index: QModelIndex) -> None:
        row = self._model.list.at(index.row())
        if row is not None and row.node:
            self._map.open(row.node)

    def _show(self) -> None:
        model = self._model
        text = model.error or model.summary
        if model.is_loading:
            text = self.tr("Comparing…")
        elif not model.error and not model.list.rows:
            text = self.tr("Nothing changed since the exploration before. {0}").format(model.summary)
        self.summary.setText(text)
        restyle(self.summary, kind="fail" if model.error else "secondary")


def change_row(row: MapChange) -> RowContent:
    """Kind and name; below, address or elements."""
    role = CHANGE_ROLE[row.kind]

    def sign(painter: QPainter, box: QRectF, theme: Theme) -> None:
        painter.setPen(QPen(theme.color(role), 1.8))
        middle = box.center()
        painter.drawLine(QPointF(box.left(), middle.y()), QPointF(box.right(), middle.y()))
        if row.kind == "new":
            painter.drawLine(QPointF(middle.x(), box.top()), QPointF(middle.x(), box.bottom()))
        elif row.kind == "changed":
            painter.drawLine(box.bottomLeft(), box.bottomRight())

    return RowContent(
        sign=Span(sign=sign, size=(9, 9)),
        lines=(line(plain(row.words), right=small(row.kind)), line(small(row.detail or " ", middle=False))),
    )
