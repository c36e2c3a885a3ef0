"""Tips at the open run's current step: route and score, text, cut or followed and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt
from PySide6.QtWidgets import QLabel

from app.views.live.rows import TIP, tip_row
from app.views.widgets import ElidedLabel
from app.views.widgets.build import Panel, ground, hbox, vbox
from app.views.widgets.command_button import command_link, show_command
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.rows import RowList

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.live.open_run import OpenRunModel
    from app.views.frame.theme import Theme

COMMANDS = (
    "live.tip.mute",
    "live.tip.pin",
    "live.tip.up",
    "live.tip.down",
    "live.tip.open",
)


class LiveKnowledgePane(Panel):
    """Tips given and tips cut; keys mute, pin, vote on and open the selected one."""

    def __init__(self, model: OpenRunModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model.knowledge, center, theme
        ground(self)
        self.setAccessibleName(self.tr("Tips at this step"))
        self.head, self.summary = QLabel(self.tr("Tips at this step")), ElidedLabel()
        self.summary.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.off, self.none = QLabel(), QLabel(self.tr("No tip applies to this page."))
        self.list = RowList(theme, tip_row, self.tr("Tips given to the agent, then tips that were cut"), TIP)
        self.list.setModel(self._model.tips)
        self.buttons = {name: command_link(center, name) for name in COMMANDS}
        self._could = (False, False)
        self._lay_out()
        self._bind()
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self.list.activated.connect(self._on_activated)
        self._model.changed.connect(self._show)
        center.keys_changed.connect(self._update_texts)
        center.refreshed.connect(self._enable)
        self._update_texts()
        self._show()

    def _lay_out(self) -> None:
        for label, kind in (
            (self.head, "section"), (self.summary, "secondary"), (self.off, "warn"), (self.none, "muted"),
        ):  # fmt: skip
            label.setProperty("kind", kind)
            label.setTextFormat(Qt.TextFormat.PlainText)
        for label in (self.off, self.none):
            label.setWordWrap(True)
            label.setContentsMargins(12, 2, 10, 6)
            label.setAlignment(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignTop)
        top = hbox(self.head, (self.summary, 1), margins=(12, 8, 10, 2))
        foot = vbox(FlowLayout(*self.buttons.values(), gap=2), margins=(10, 2, 10, 4))
        vbox(top, self.off, (self.none, 1), (self.list, 1), foot, parent=self, spacing=0)

    def _bind(self) -> None:
        model, bind = self._model, self._center.bind

        def some() -> bool:
            return bool(model.tips.rows)

        bind("live.tip.next", lambda: model.move(1), some)
        bind("live.tip.previous", lambda: model.move(-1), some)
        bind("live.tip.mute", model.mute, model.can_steer)
        bind("live.tip.pin", model.pin, model.can_steer)
        bind("live.tip.up", lambda: model.vote(1), model.can_steer)
        bind("live.tip.down", lambda: model.vote(-1), model.can_steer)
        bind("live.tip.open", model.open, model.can_steer)

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        self._model.select(current.row())

    def _on_activated(self, _index: QModelIndex) -> None:
        self._center.trigger("live.tip.open")

    def _show(self) -> None:
        model = self._model
        count = len(model.tips.rows)
        self.summary.setText(model.summary if count else "")
        self.off.setText("\n".join(f"! {line}" for line in model.off))
        self.off.setVisible(bool(model.off))
        self.none.setVisible(not count)
        self.list.setVisible(count > 0)
        for button in self.buttons.values():
            button.setVisible(count > 0)
        row = model.tips.row_of(model.selected)
        if row != self.list.currentIndex().row():
            with QSignalBlocker(self.list.selectionModel()):
                self.list.setCurrentIndex(model.tips.index(row))
            self.list.viewport().update()
            self.list.scrollTo(model.tips.index(row))
        could = (count > 0, model.can_steer())
        if could != self._could:
            self._could = could
            self._center.refresh()
        self._update_texts()

    def _update_texts(self) -> None:
        tip = self._model.tip
        stance = tip.stance.value if tip is not None else ""
        words = {
            "live.tip.mute": self.tr("Unmute") if stance == "muted" else self.tr("Mute"),
            "live.tip.pin": self.tr("Unpin") if stance == "pinned" else self.tr("Pin"),
            "live.tip.up": self.tr("Useful"),
            "live.tip.down": self.tr("Not useful"),
            "live.tip.open": self.tr("Open"),
        }
        for name, button in self.buttons.items():
            show_command(button, self._center, name, words[name])
        self._enable()

    def _enable(self) -> None:
        for name, button in self.buttons.items():
            button.setEnabled(self._center.action(name).isEnabled())
