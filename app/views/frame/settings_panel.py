"""The settings panel: one line each, its help below it, and the variable that overrides it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QWidget

from app.models.common.settings_form import GROUPS
from app.views.frame.model_section import ModelSection
from app.views.frame.settings_fields import SettingsFields
from app.views.widgets import ElidedLabel
from app.views.widgets.build import hbox, restyle, scroll_area, styled, text_label, vbox
from app.views.widgets.overlay import Overlay

if TYPE_CHECKING:
    from app.models.common.model_setup import ModelSetup
    from app.models.common.settings_form import SettingsForm
    from app.models.common.workspace import WorkspaceModel
    from app.views.frame.theme import Theme


class SettingsPanel(Overlay):
    """A panel over the window; Enter saves, Esc leaves the settings as they are."""

    def __init__(
        self, form: SettingsForm, setup: ModelSetup, workspace: WorkspaceModel, theme: Theme, parent: QWidget
    ) -> None:
        super().__init__(theme, parent, QSize(700, 640))
        self._form, self._setup, self._workspace = form, setup, workspace
        self._lines = SettingsFields(form, theme)
        self.fields, self.words = self._lines.by_name, self._lines.words
        self.folder = ElidedLabel(Qt.TextElideMode.ElideMiddle)
        self.folder.setAccessibleName(self.tr("Folder of the open workspace"))
        self.save, self.close_ = QPushButton(self.tr("Save  Enter")), QPushButton(self.tr("Close  Esc"))
        self.save.setProperty("kind", "primary")
        self.save.setAccessibleName(self.tr("Save the settings"))
        self.close_.setAccessibleName(self.tr("Close the settings"))
        self.said = text_label(wrap=True)
        self._lay_out()
        self.save.clicked.connect(setup.save)
        self._lines.entered.connect(setup.save)
        self.close_.clicked.connect(self.dismiss)
        form.changed.connect(self._show)
        setup.changed.connect(self._show)
        form.saved.connect(self._on_saved)
        setup.kept.connect(self._on_kept)

    def prepare(self) -> None:
        """Read the file again, and name the open workspace."""
        self.said.clear()
        info = self._workspace.info
        self.folder.setText(info.path if info is not None else "")
        self._form.load()
        self._setup.begin()
        self._show()

    def first(self) -> QWidget:
        """The author's name, the setting changed most often."""
        return self.fields["author"]

    def open_model(self) -> None:
        """Open the panel at the section of the model."""
        if not self.isVisible():
            self.present()
        self.fields["model_url"].setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._area.ensureWidgetVisible(self.model.key_words)
        self._area.ensureWidgetVisible(self._model_title)

    # ------------------------------------------------------------ layout
    def _lay_out(self) -> None:
        title = text_label(self.tr("Settings"), "title")
        sheet = styled(QWidget(), "raised")
        grid = QGridLayout(sheet)
        grid.setContentsMargins(0, 0, 10, 0)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        grid.addWidget(QLabel(self.tr("Workspace")), 0, 0)
        grid.addWidget(self.folder, 0, 1, 1, 2)
        grid.addWidget(
            text_label(self.tr("To open another: sitelore --workspace FOLDER"), "secondary", wrap=True),
            1,
            1,
            1,
            2,
        )
        self._lines.add(grid, "author")
        self._model_title = self._head(grid, self.tr("Model"))
        self.model = ModelSection(self._form, self._setup, self._lines, grid, self._theme)
        for group, names in GROUPS.items():
            self._head(grid, group)
            for name in names:
                self._lines.add(grid, name)
        grid.setRowStretch(grid.rowCount(), 1)
        self._area = scroll_area(sheet, sideways=True)
        foot = hbox((self.said, 1), self.close_, self.save, spacing=8)
        self.body.addLayout(vbox(title, (self._area, 1), foot, margins=(20, 14, 16, 14), spacing=12))
        for one, other in pairwise([*self._lines.order, self.close_, self.save]):
            QWidget.setTabOrder(one, other)

    def _head(self, grid: QGridLayout, title: str) -> QLabel:
        head = text_label(title, "heading")
        head.setContentsMargins(0, self._theme.px(10), 0, self._theme.px(4))
        grid.addWidget(head, grid.rowCount(), 0, 1, 3)
        return head

    # ------------------------------------------------------------ what is shown
    def _show(self) -> None:
        form, setup = self._form, self._setup
        self._lines.show_values()
        self.model.show_values()
        is_changed = form.is_changed or setup.is_changed
        self.save.setEnabled(form.is_ready and is_changed and not form.is_saving)
        if form.error or setup.error or is_changed:
            self._say(form.error or setup.error, "fail")

    def _on_saved(self, _values: dict[str, object]) -> None:
        self._say(
            self.tr("Saved and in use. Runs that have begun keep their model and budget."),
            "muted",
        )

    def _on_kept(self, words: str) -> None:
        self._say(words, "muted")

    def _say(self, text: str, kind: str) -> None:
        self.said.setText(text)
        restyle(self.said, kind=kind)
