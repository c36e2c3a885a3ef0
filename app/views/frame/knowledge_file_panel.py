"""The panel of a knowledge base from elsewhere: its tips to read, and a button that merges them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSize
from PySide6.QtWidgets import QListView, QPlainTextEdit, QPushButton, QWidget

from app.models.knowledge.knowledge_file import KnowledgeFileModel
from app.views.frame.theme import Theme
from app.views.knowledge.tip_rows import STATUS_ROLE, status_sign
from app.views.widgets.build import hbox, text_label
from app.views.widgets.overlay import Overlay
from app.views.widgets.rows import RowContent, RowList, RowStyle, line, plain, small

if TYPE_CHECKING:
    from app.models.knowledge.tip_table import Tip

TIP = RowStyle(margins=(10, 3, 8, 3), height=42, ruled=True)


class KnowledgeFilePanel(Overlay):
    """Up and Down choose a tip, whose whole text is shown; Esc closes the panel."""

    def __init__(self, model: KnowledgeFileModel, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, QSize(820, 600))
        self.model = model
        self.title = text_label("", "title")
        self.summary = text_label("", "secondary", wrap=True)
        self.list = RowList(theme, self._row, self.tr("Tips of the file"), TIP)
        self.list.setModel(model.tips)
        self.list.setSelectionMode(QListView.SelectionMode.SingleSelection)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(self.tr("The chosen tip"))
        self.merge = QPushButton(self.tr("Merge into this workspace"))
        self.merge.setToolTip(self.tr("Adds the tips that are missing here, as drafts; undo removes them"))
        self.close_button = QPushButton(self.tr("Close  Esc"))
        self.body.setContentsMargins(16, 12, 16, 12)
        self.body.setSpacing(8)
        self.body.addLayout(hbox((self.title, 1), self.close_button))
        self.body.addWidget(self.summary)
        self.body.addWidget(self.list, 3)
        self.body.addWidget(self.text, 2)
        self.body.addLayout(hbox(0, self.merge))
        self.close_button.clicked.connect(self.dismiss)
        self.merge.clicked.connect(self._merge)
        self.list.selectionModel().currentChanged.connect(self._show_tip)
        model.changed.connect(self._show)
        self._show()

    def first(self) -> QWidget:
        """The list, so that the arrow keys choose a tip."""
        return self.list

    def _merge(self) -> None:
        self.model.merge()
        self.dismiss()

    def _show(self) -> None:
        model = self.model
        self.title.setText(model.name)
        self.title.setToolTip(model.path)
        self.summary.setText(model.summary)
        self.merge.setEnabled(model.can_merge)
        self.text.setEnabled(bool(model.tips.rows))
        if model.tips.rows and not self.list.currentIndex().isValid():
            self.list.setCurrentIndex(model.tips.index(0))
        if not model.tips.rows:
            self.text.clear()

    def _show_tip(self, index: QModelIndex) -> None:
        tip = self.model.tips.at(index.row())
        if tip is not None:
            head = " · ".join(filter(None, (tip.id, tip.site, tip.status.value, str(tip.scope))))
            self.text.setPlainText(f"{head}\n\n{tip.text}")

    def _row(self, tip: Tip) -> RowContent:
        status = tip.status.value
        head = line(small(tip.site), small(status, STATUS_ROLE[status], sign=status_sign(status)))
        return RowContent(lines=(head, line(plain(" ".join(tip.text.split())))))
