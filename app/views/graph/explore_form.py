"""The form that starts an exploration, beside the map; non-modal."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QFrame, QPushButton

from app.models.graph.exploration import LogInStage
from app.models.graph.explore_form import ExploreFormModel, Mode
from app.models.graph.node_lists import seconds_words
from app.views.widgets.build import styled, text_label, vbox
from app.views.widgets.form_panel import FormField, FormPanel, RadioOption, check

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.graph.exploration import ExplorationModel


class ExploreForm(FormPanel[ExploreFormModel]):
    """In the place of the state's panel.  ``closed``: it was closed, or an exploration began."""

    def __init__(self, model: ExplorationModel, center: CommandCenter) -> None:
        json = self.tr("JSON (*.json)")
        super().__init__(model.form, (
            FormField(name="url", label=self.tr("Address"), meaning=self.tr("the site's home page"),
                      placeholder="http://localhost:8000/"),
            FormField(name="site", label=self.tr("Site"),
                      meaning=self.tr("its name in Sitelore; empty: taken from the address")),
            FormField(name="depth", label=self.tr("Depth"), meaning=self.tr("maximum transitions from the home page")),
            FormField(name="max_states", label=self.tr("States"), meaning=self.tr("maximum number")),
            FormField(name="max_seconds", label=self.tr("Seconds"), meaning=self.tr("at most")),
            FormField(name="workers", label=self.tr("Pages"), meaning=self.tr("explored in parallel")),
            FormField(name="rate", label=self.tr("Rate"),
                      meaning=self.tr("page loads per second; 0: 2 on a public host, unlimited on this machine")),
            FormField(name="block_list", label=self.tr("Rules"), files=json,
                      meaning=self.tr("a rule file in addition to the built-in rules")),
            FormField(name="storage_state", label=self.tr("Log-in"), files=json,
                      meaning=self.tr("a saved log-in; empty: the one stored for the site, if any")),
        ))  # fmt: skip
        self._model, self._center = model, center
        self._touched: set[str] = set()
        self.add_fields("url", "site")
        self.modes = {Mode(value): button for value, button in self.add_choices(self.tr("Mode"), (
            RadioOption(value=Mode.FULL, label=self.tr("full"), meaning=self.tr("every page is a state")),
            RadioOption(value=Mode.SKELETON, label=self.tr("skeleton"),
                   meaning=self.tr("one page per template: one product stands for all products")),
        ), lambda value: model.form.set_mode(Mode(value))).items()}  # fmt: skip
        self.add_fields(
            "depth", "max_states", "max_seconds", "workers", "rate", "block_list", "storage_state"
        )
        self.switches = {
            "obey_robots": QCheckBox(self.tr("obey robots.txt")),
            "headed": QCheckBox(self.tr("show the browser")),
            "pictures": QCheckBox(self.tr("take pictures")),
        }
        self.switches["obey_robots"].setToolTip(
            self.tr(
                "Off is for sites of your own: what robots.txt forbids is explored too; the map remembers it"
            )
        )
        for name, switch in self.switches.items():
            switch.toggled.connect(partial(model.form.set_switch, name))
            self.add_row(switch)
        self.log_in = styled(QPushButton(), "link")
        self.log_in.setToolTip(
            self.tr("Opens a browser window at the address and saves the log-in for explorations")
        )
        self.log_in.clicked.connect(lambda: center.trigger("map.log_in"))
        self.add_row(self.log_in)
        self.grid.setAlignment(self.log_in, Qt.AlignmentFlag.AlignLeft)
        self.question = styled(QFrame(), "card")
        self.says_map = text_label(wrap=True)
        self.extend, self.second = (
            QPushButton(self.tr("Extend it")),
            QPushButton(self.tr("Make a second map")),
        )
        self.extend.clicked.connect(model.extend_map)
        self.second.clicked.connect(model.second_map)
        vbox(self.says_map, self.extend, self.second, parent=self.question, margins=(10, 8, 10, 8), spacing=6)
        self.question.hide()
        self.frame(self.tr("Explore a site"), self.question)
        self.start.setText(self.tr("Explore   Enter"))
        self.start.setAccessibleName(self.tr("Start exploring"))
        for name, field in self.fields.items():
            field.editingFinished.connect(partial(self._on_left, name))
        model.changed.connect(self.refresh)
        model.started.connect(self._on_started)
        center.keys_changed.connect(self._update_texts)
        self._update_texts()
        self.refresh()

    def begin(self) -> None:
        self._touched.clear()
        self.start_over()
        self.fields["url"].setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.fields["url"].selectAll()

    def run_action(self) -> bool:
        if self.form.problems:
            return False
        self._model.explore()
        return True

    def refresh(self) -> None:
        super().refresh()
        self.show_error(self._model.error)
        for mode, button in self.modes.items():
            check(button, self.form.mode is mode)
        for name, switch in self.switches.items():
            check(switch, self.form.switches[name])
        self.start.setEnabled(self._model.can_explore)
        self._show_question()
        self.log_in.setEnabled(self._model.log_in_stage is LogInStage.NONE)

    def _show_question(self) -> None:
        """Ask what becomes of the map that the host has under another name."""
        known, asked = self._model.host_map, not self.question.isHidden()
        self.question.setVisible(known is not None)
        if known is None:
            return
        name = self.form.values["site"].strip() or self.form.address
        states = self.tr("1 state") if known.states == 1 else self.tr("{0} states").format(known.states)
        words = self.tr("{0} is already mapped as {1} ({2}): extend it, or make a second one?")
        self.says_map.setText(words.format(name, known.site, states))
        self.extend.setText(self.tr("Extend {0}").format(known.site))
        if not asked:
            self.extend.setFocus(Qt.FocusReason.OtherFocusReason)

    def help_text(self, name: str) -> str:
        """Return a field's meaning; seconds are also given in words."""
        text = super().help_text(name)
        if name == "max_seconds":
            try:
                return f"{text}: {seconds_words(float(self.form.values[name].replace(',', '.')))}"
            except (ValueError, OverflowError):
                return text
        return text

    def shows_problem(self, name: str) -> bool:
        """Whether a problem is shown: after the first attempt, or once the field was left."""
        return super().shows_problem(name) or name in self._touched

    def _on_started(self, _site: str) -> None:
        self.closed.emit()

    def _on_left(self, name: str) -> None:
        if self.form.values[name] or name != "url":
            self._touched.add(name)
            self.refresh()

    def _update_texts(self) -> None:
        keys, word = self._center.keys("map.log_in"), self.tr("Log in by hand…")
        self.log_in.setText(f"{word}  {keys}" if keys else word)
        self.log_in.setAccessibleName(self._center.title("map.log_in"))
