"""The open tip's last test, its record and its votes, with their commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.views.widgets.build import restyle, text_label, vbox
from app.views.widgets.command_button import command_link, show_command
from app.views.widgets.flow_layout import FlowLayout

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.knowledge.tip_tests import TipTestModel

COMMANDS = (
    "tip.test",
    "tip.test.stop",
    "tip.activate",
    "knowledge.test_site",
    "tip.vote.up",
    "tip.vote.down",
)


class TipTestPane(QWidget):
    """Texts over links; the commands are bound here."""

    def __init__(self, model: TipTestModel, center: CommandCenter) -> None:
        super().__init__()
        self._model, self._center = model, center
        self.setAccessibleName(self.tr("Test and record of the tip"))
        self.head = text_label(self.tr("Test and record"), "section")
        self.test, self.message, self.record, self.votes = (
            text_label(kind="secondary", wrap=True) for _ in range(4)
        )
        for label in (self.test, self.message, self.record, self.votes):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.buttons = {name: command_link(center, name) for name in COMMANDS}
        tests, votes = QWidget(), QWidget()
        tests.setLayout(FlowLayout(*(self.buttons[name] for name in COMMANDS[:4]), gap=2))
        votes.setLayout(FlowLayout(*(self.buttons[name] for name in COMMANDS[4:]), gap=2))
        vbox(
            self.head, self.test, self.message, tests, self.record, self.votes, votes, parent=self, spacing=4
        )
        self.head.setContentsMargins(0, 8, 0, 0)
        self._could: tuple[object, ...] = ()
        self._bind()
        model.changed.connect(self._show)
        center.keys_changed.connect(self._dress)
        center.refreshed.connect(self._enable)
        self._dress()
        self._show()

    def _bind(self) -> None:
        model, bind = self._model, self._center.bind
        bind("tip.test", model.test, lambda: model.can_test)
        bind("tip.test.stop", model.stop, lambda: model.can_stop)
        bind("knowledge.test_site", model.test_site, lambda: model.can_test_site)
        bind("tip.vote.up", lambda: model.vote(1), lambda: model.can_vote)
        bind("tip.vote.down", lambda: model.vote(-1), lambda: model.can_vote)

    def _show(self) -> None:
        model = self._model
        restyle(self.test, kind=model.level)
        self.test.setToolTip(model.tested_at)
        for label, text in (
            (self.test, model.test_text),
            (self.message, model.message),
            (self.record, model.record_text),
            (self.votes, model.vote_text),
        ):
            label.setText(text)
            label.setVisible(bool(text))
        self.buttons["tip.test.stop"].setVisible(model.is_testing)
        self.buttons["tip.activate"].setVisible(model.holds_again)
        could = (model.can_test, model.can_stop, model.can_test_site, model.can_vote, model.holds_again)
        if could != self._could:
            self._could = could
            self._center.refresh()

    def _enable(self) -> None:
        for name, button in self.buttons.items():
            button.setEnabled(self._center.action(name).isEnabled())

    def _dress(self) -> None:
        words = {
            "tip.test": self.tr("Test"),
            "tip.test.stop": self.tr("Stop the test"),
            "tip.activate": self.tr("Make active again"),
            "knowledge.test_site": self.tr("Test all of this site"),
            "tip.vote.up": self.tr("Useful"),
            "tip.vote.down": self.tr("Not useful"),
        }
        for name, button in self.buttons.items():
            show_command(button, self._center, name, words[name])
        self._enable()
