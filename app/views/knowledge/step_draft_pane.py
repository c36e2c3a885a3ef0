"""The model's steps beside the compiler's: a list to read, what was left out, and accept or reject."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app.models.knowledge.step_draft import StepDraftState
from app.views.knowledge.procedure_pane import STEP, step_row
from app.views.widgets.build import restyle, text_label, vbox
from app.views.widgets.command_button import command_link, show_command
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.rows import FittedList

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.knowledge.step_draft import StepDraftModel
    from app.views.frame.theme import Theme

COMMANDS = ("draft", "stop", "accept", "reject")


class StepDraftPane(QWidget):
    """Asks for a model's steps and shows them; the commands are ``PREFIX.model.*``."""

    def __init__(self, model: StepDraftModel, center: CommandCenter, theme: Theme, prefix: str) -> None:
        super().__init__()
        self._model, self._center, self._prefix = model, center, prefix
        self.setAccessibleName(self.tr("Steps drafted by the model"))
        self.head = text_label(kind="section")
        self.said = text_label(kind="secondary", wrap=True)
        self.notes = text_label(kind="warn", wrap=True)
        self.list = FittedList(theme, step_row, self.tr("Steps drafted by the model"), STEP, most=12)
        self.list.setModel(model.shown.steps)
        self.buttons = {name: command_link(center, f"{prefix}.model.{name}") for name in COMMANDS}
        links = QWidget()
        links.setLayout(FlowLayout(*self.buttons.values(), gap=2))
        vbox(self.head, self.said, self.list, self.notes, links, parent=self, spacing=4)
        self._could: tuple[object, ...] = ()
        self._bind()
        model.changed.connect(self._show)
        center.keys_changed.connect(self._dress)
        center.refreshed.connect(self._enable)
        self._dress()
        self._show()

    @property
    def tab_order(self) -> list[QWidget]:
        """Widgets in the order of the Tab key."""
        return [self.list, *self.buttons.values()]

    def _bind(self) -> None:
        model, bind, prefix = self._model, self._center.bind, self._prefix
        bind(f"{prefix}.model.draft", model.ask, lambda: model.can_ask)
        bind(f"{prefix}.model.stop", model.stop, lambda: model.can_stop)
        bind(f"{prefix}.model.accept", model.accept, lambda: model.can_accept)
        bind(f"{prefix}.model.reject", model.reject, lambda: model.can_reject)

    def _show(self) -> None:
        model = self._model
        there = model.state is StepDraftState.THERE and model.found is not None
        count = model.shown.steps.rowCount() if there else 0
        self.head.setText(self.tr("The model's steps ({0})").format(count))
        self.head.setVisible(there)
        self.list.fit()
        self.list.setVisible(bool(count))
        restyle(self.said, kind="fail" if model.error else "secondary")
        for label, text in ((self.said, model.text), (self.notes, model.notes)):
            label.setText(text)
            label.setVisible(bool(text))
        self.buttons["draft"].setVisible(not model.can_stop)
        self.buttons["stop"].setVisible(model.can_stop)
        self.buttons["accept"].setVisible(model.can_accept)
        self.buttons["reject"].setVisible(model.can_reject)
        could = (model.can_ask, model.can_stop, model.can_accept, model.can_reject, model.state)
        if could != self._could:
            self._could = could
            self._dress()
            self._center.refresh()

    def _enable(self) -> None:
        for name, button in self.buttons.items():
            button.setEnabled(self._center.action(f"{self._prefix}.model.{name}").isEnabled())

    def _dress(self) -> None:
        accepted = self._model.state is StepDraftState.ACCEPTED
        words = {
            "draft": self.tr("Draft with model"),
            "stop": self.tr("Stop asking"),
            "accept": self.tr("Accept"),
            "reject": self.tr("Take back") if accepted else self.tr("Reject"),
        }
        for name, button in self.buttons.items():
            show_command(button, self._center, f"{self._prefix}.model.{name}", words[name])
        if self._model.missing:
            self.buttons["draft"].setToolTip(self._model.missing)
            self.buttons["draft"].setAccessibleDescription(self._model.missing)
        self._enable()
