"""The form that starts an exploration, beside the map; non-modal."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QFileDialog,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QWidget,
)

from app.models.graph.exploration import LogInStage
from app.models.graph.explore_form import FIELDS, FILES, SWITCHES, Mode
from app.models.graph.node_lists import seconds_words
from app.views.widgets.form_panel import FormPanel, say

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.graph.exploration import ExplorationModel
    from app.views.frame.theme import Theme


class ExploreForm(FormPanel):
    """In the place of the state's panel.  ``closed``: it was closed, or an exploration began."""

    def __init__(self, model: ExplorationModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._form, self._center, self._theme = model, model.form, center, theme
        self._dialog: QFileDialog | None = None
        self._asked = False
        self._touched: set[str] = set()
        self.setAccessibleName(self.tr("Explore a site"))
        self.fields = {name: QLineEdit() for name in FIELDS}
        self.says = {name: QLabel() for name in FIELDS}
        self.modes = {mode: QRadioButton() for mode in Mode}
        self.switches = {name: QCheckBox() for name in SWITCHES}
        self.choose = {name: QPushButton() for name in FILES}
        self.log_in = QPushButton()
        self._words = self._field_words()
        self._lay_out()
        self._connect()
        self._dress()
        self._show()

    def begin(self) -> None:
        """Focus the address."""
        self._asked = False
        self._touched.clear()
        self._show()
        self.fields["url"].setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.fields["url"].selectAll()

    # ------------------------------------------------------------ layout
    def _field_words(self) -> dict[str, tuple[str, str]]:
        """Return each field's label and meaning."""
        return {
            "url": (self.tr("Address"), self.tr("the site's home page")),
            "site": (self.tr("Site"), self.tr("its name here; empty takes it from the address")),
            "depth": (self.tr("Depth"), self.tr("transitions from the home page at most")),
            "max_states": (self.tr("States"), self.tr("found at most")),
            "max_seconds": (self.tr("Seconds"), self.tr("at most")),
            "workers": (self.tr("Pages"), self.tr("worked on at once")),
            "rate": (
                self.tr("Rate"),
                self.tr("loads a second; 0: 2 on a public host, no limit on this machine"),
            ),
            "block_list": (self.tr("Rules"), self.tr("a rule file, besides the built-in rules")),
            "storage_state": (
                self.tr("Log-in"),
                self.tr("a recorded one; empty takes the one kept for the site, if there is one"),
            ),
        }

    def _lay_out(self) -> None:
        row = 0
        for name in FIELDS:
            if name == "depth":
                row = self._add_modes(self.grid, row)
            word, beside = self._words[name][0], self.choose.get(name)
            row = self.add_field(row, word, self.fields[name], self.says[name], beside)
        for switch in self.switches.values():
            self.grid.addWidget(switch, row, 1)
            row += 1
        self.grid.addWidget(self.log_in, row, 1, Qt.AlignmentFlag.AlignLeft)
        self.log_in.setProperty("kind", "link")
        self.frame(self.tr("Explore a site"))
        self._order_tabs()

    def _add_modes(self, grid: QGridLayout, row: int) -> int:
        group = QButtonGroup(self)
        meanings = {
            Mode.FULL: self.tr("every page apart"),
            Mode.SKELETON: self.tr("one page stands for all of its kind: one product for every product"),
        }
        grid.addWidget(QLabel(self.tr("Mode")), row, 0)
        for mode, button in self.modes.items():
            group.addButton(button)
            says = QLabel(meanings[mode])
            says.setProperty("kind", "secondary")
            says.setWordWrap(True)
            button.setAccessibleDescription(meanings[mode])
            grid.addWidget(button, row, 1)
            grid.addWidget(says, row + 1, 1)
            row += 2
        return row

    def _order_tabs(self) -> None:
        order: list[QWidget] = [self.fields["url"], self.fields["site"], *self.modes.values()]
        for name in FIELDS[2:]:
            order.append(self.fields[name])
            if name in FILES:
                order.append(self.choose[name])
        order += [*self.switches.values(), self.log_in, self.start, self.close_button]
        for one, other in pairwise(order):
            QWidget.setTabOrder(one, other)

    def _connect(self) -> None:
        form = self._form
        for name, field in self.fields.items():
            field.textEdited.connect(partial(form.set, name))
            field.editingFinished.connect(partial(self._on_left, name))
            field.returnPressed.connect(self._on_start)
        for mode, button in self.modes.items():
            button.clicked.connect(partial(self._on_mode, mode))
        for name, switch in self.switches.items():
            switch.toggled.connect(partial(form.set_switch, name))
        for name, button in self.choose.items():
            button.clicked.connect(partial(self._choose, name))
        self.log_in.clicked.connect(lambda: self._center.trigger("map.log_in"))
        self.start.clicked.connect(self._on_start)
        form.changed.connect(self._show)
        self._model.changed.connect(self._show)
        self._model.started.connect(self._on_started)
        self._center.keys_changed.connect(self._dress)

    # ------------------------------------------------------------ what is shown
    def _show(self) -> None:
        form, problems = self._form, {one.field: one.message for one in self._form.problems}
        for name, field in self.fields.items():
            value = form.values[name]
            if field.text() != value:
                with QSignalBlocker(field):
                    field.setText(value)
            told = problems.get(name, "") if self._asked or name in self._touched else ""
            say(self.says[name], field, self._meaning(name), told)
        for mode, button in self.modes.items():
            with QSignalBlocker(button):
                button.setChecked(form.mode is mode)
        for name, switch in self.switches.items():
            with QSignalBlocker(switch):
                switch.setChecked(form.switches[name])
        self.show_error(self._model.error)
        self.start.setEnabled(self._model.can_explore)
        self.log_in.setEnabled(self._model.log_in_stage is LogInStage.NONE)

    def _meaning(self, name: str) -> str:
        text = self._words[name][1]
        if name == "max_seconds":
            try:
                return f"{text}: {seconds_words(float(self._form.values[name].replace(',', '.')))}"
            except (ValueError, OverflowError):
                return text
        return text

    # ------------------------------------------------------------ what is done
    def _on_mode(self, mode: Mode, _checked: bool = False) -> None:
        self._form.set_mode(mode)

    def _on_started(self, _site: str) -> None:
        self.closed.emit()

    def _on_left(self, name: str) -> None:
        if self.fields[name].text() or name != "url":
            self._touched.add(name)
            self._show()

    def _on_start(self) -> None:
        self._asked = True
        problems = self._form.problems
        self._show()
        if problems:
            field = self.fields[problems[0].field]
            field.setFocus(Qt.FocusReason.OtherFocusReason)
            self.bring_into_sight(self.says[problems[0].field])
            return
        self._model.explore()

    def _choose(self, name: str, _checked: bool = False) -> None:
        dialog = QFileDialog(self.window(), self.choose[name].accessibleName())
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.tr("JSON (*.json)"), self.tr("All files (*)")])
        known = Path(self._form.values[name]).expanduser().parent if self._form.values[name] else Path.home()
        dialog.setDirectory(str(known))
        dialog.fileSelected.connect(partial(self._form.set, name))
        dialog.finished.connect(dialog.deleteLater)
        self._dialog = dialog
        dialog.open()

    def _dress(self) -> None:
        for name, field in self.fields.items():
            field.setAccessibleName(f"{self._words[name][0]}: {self._words[name][1]}")
        self.fields["url"].setPlaceholderText("http://localhost:8000/")
        self.modes[Mode.FULL].setText(self.tr("full"))
        self.modes[Mode.SKELETON].setText(self.tr("skeleton"))
        self.switches["obey_robots"].setText(self.tr("keep to robots.txt"))
        self.switches["headed"].setText(self.tr("show the browser"))
        self.switches["pictures"].setText(self.tr("take pictures"))
        for name, button in self.choose.items():
            button.setText(self.tr("Choose…"))
            word = self._words[name][0]
            button.setAccessibleName(self.tr("Choose the file: {0}").format(word))
            button.setToolTip(button.accessibleName())
        keys = self._center.keys("map.log_in")
        word = self.tr("Log in by hand…")
        self.log_in.setText(f"{word}  {keys}" if keys else word)
        self.log_in.setAccessibleName(self._center.title("map.log_in"))
        self.log_in.setToolTip(
            self.tr("Opens a browser window at the address; the log-in is kept for explorations")
        )
        self.start.setText(self.tr("Explore   Enter"))
        self.start.setAccessibleName(self.tr("Start to explore"))
        self.close_button.setText(self.tr("Close  Esc"))
        self.close_button.setAccessibleName(self.tr("Close the form; what was typed stays"))
