"""The panel "Open workspace": recent ones, and a folder of choice."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QSize, Qt
from PySide6.QtWidgets import QFileDialog, QListView, QPushButton, QWidget

from app.models.common.recent_workspaces import RecentWorkspace, RecentWorkspaces
from app.views.frame.theme import Theme
from app.views.widgets.build import hbox, text_label
from app.views.widgets.overlay import Overlay
from app.views.widgets.rows import RowContent, RowList, RowStyle, line, plain, small

RECENT = RowStyle(margins=(12, 4, 12, 4), gutter=0, height=44)


class WorkspacePanel(Overlay):
    """Enter opens the chosen workspace in a window of its own; the current one stays open."""

    def __init__(self, recent: RecentWorkspaces, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, QSize(620, 420), top=True)
        self._recent = recent
        self.list = RowList(theme, self._row, self.tr("Recent workspaces"), RECENT)
        self.list.setModel(recent)
        self.list.setSelectionMode(QListView.SelectionMode.SingleSelection)
        self.choose = QPushButton(self.tr("Choose a folder…"))
        self.choose.setToolTip(self.tr("A folder with a workspace, or an empty one for a new workspace"))
        close = QPushButton(self.tr("Close  Esc"))
        self.empty = text_label(self.tr("No other workspace was opened yet."), "muted", wrap=True)
        self.body.setContentsMargins(16, 12, 16, 12)
        self.body.setSpacing(8)
        self.body.addLayout(hbox((text_label(self.tr("Open workspace"), "title"), 1), close))
        self.body.addWidget(
            text_label(self.tr("It opens in a window of its own; this one stays."), "secondary", wrap=True)
        )
        self.body.addWidget(self.empty)
        self.body.addWidget(self.list, 1)
        self._rest = QWidget()  # keeps the words together while there is no list
        self.body.addWidget(self._rest, 1)
        self.body.addLayout(hbox(0, self.choose))
        self._dialog: QFileDialog | None = None
        close.clicked.connect(self.dismiss)
        self.choose.clicked.connect(self._choose)
        self.list.activated.connect(self._on_activated)
        recent.modelReset.connect(self._show)
        self._show()

    def prepare(self) -> None:
        """Read the list again."""
        self._recent.load()

    def first(self) -> QWidget:
        """The list, or the button while there is nothing to choose from."""
        return self.list if self._recent.rowCount() else self.choose

    def _row(self, row: RecentWorkspace) -> RowContent:
        state = self.tr("this window") if row.is_open else "" if row.found else self.tr("not found")
        name = plain(row.name, "text" if row.found else "muted")
        return RowContent(lines=(line(name, small(state)), line(small(row.path))))

    def _show(self) -> None:
        rows = self._recent.rowCount()
        self.empty.setVisible(not rows)
        self.list.setVisible(rows > 0)
        self._rest.setVisible(not rows)
        if rows:
            other = next((n for n, row in enumerate(self._recent.rows) if not row.is_open), 0)
            self.list.setCurrentIndex(self._recent.index(other))
            if self.isVisible() and self.choose.hasFocus():
                self.list.setFocus(Qt.FocusReason.PopupFocusReason)

    def _on_activated(self, index: QModelIndex) -> None:
        self._open(self._recent.at(index.row()))

    def _open(self, row: RecentWorkspace | None) -> None:
        if row is not None and row.found:
            self.dismiss()
            self._recent.open(row.path)

    def _choose(self) -> None:
        dialog = QFileDialog(self._host, self.tr("Open workspace"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self._chosen)
        dialog.finished.connect(dialog.deleteLater)
        self._dialog = dialog
        dialog.open()

    def _chosen(self, folder: str) -> None:
        self.dismiss()
        self._recent.open(folder)
