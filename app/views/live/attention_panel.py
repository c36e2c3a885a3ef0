"""The next action with its reason, and the flags with the operator's verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSignalBlocker, QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.models.live.next_action import is_deciding
from app.models.live.requests import risk_role
from app.models.live.run_list import can_end_by_hand, has_control
from app.views.live.request_card import RequestCard
from app.views.live.rows import FLAG, flag_row
from app.views.widgets import Badge, ElidedLabel
from app.views.widgets.build import hbox, styled, text_label, vbox
from app.views.widgets.command_button import command_link, show_command
from app.views.widgets.elided_label import MessageLabel
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.rows import RowList

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.live.open_run import OpenRunModel
    from app.views.frame.theme import Theme


class NextActionCard(QWidget):
    """The next action, its reason and its risk."""

    def __init__(self, model: OpenRunModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        self.head, self.command = text_label(self.tr("Next"), "section"), styled(ElidedLabel(), "secondary")
        self.words, self.reason = MessageLabel(longest=300), MessageLabel("secondary", 600)
        self.risk = Badge("", "muted", theme)
        line = hbox((self.words, 1), (self.risk, 0, Qt.AlignmentFlag.AlignTop))
        self.edit = command_link(center, "live.edit")
        head = hbox((self.head, 1), self.edit)
        vbox(head, line, self.command, self.reason, parent=self, margins=(12, 6, 10, 6), spacing=3)
        model.changed.connect(self._show)
        model.requests.changed.connect(self._show)
        theme.changed.connect(self._show)
        center.keys_changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        self.edit.setVisible(self._model.can_edit_planned and self._model.requests.planned is None)
        show_command(self.edit, self._center, "live.edit", self.tr("Edit"))
        coming, card = self._model.next, self._model.requests.card
        deciding = coming is None and is_deciding(self._model.row)
        self.setVisible(coming is not None or deciding)
        if coming is None:
            self.words.say(self.tr("deciding…") if deciding else "")
            self.setAccessibleName(self.tr("Next action: {0}").format(self.words.text()) if deciding else "")
            for widget in (self.command, self.reason, self.risk):
                widget.hide()
            return
        asked = card is not None and bool(card.call) and card.call == coming.call
        self.words.say("" if asked else coming.words)
        self.command.setText(coming.call)
        self.command.setFont(self._theme.mono("secondary"))
        self.command.setVisible(bool(coming.call) and not asked)
        why = " · ".join(part for part in (coming.reason, coming.risk_why) if part)
        self.reason.say(why)
        role = risk_role(coming.risk.value)
        self.risk.set(coming.risk.value, role)
        self.risk.setVisible(role != "muted" and not asked)
        self.setAccessibleName(self.tr("Next action: {0}. {1}").format(coming.words, why))


class FlagsPane(QWidget):
    """Flags, the newest first; Y and X give a verdict on the selected one."""

    def __init__(self, model: OpenRunModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._run, self._model, self._center, self._theme = model, model.flags, center, theme
        self._could = False
        self.head = text_label(kind="section")
        self.list = RowList(theme, flag_row, self.tr("Flags of the run, the newest first"), FLAG)
        self.list.setModel(self._model.flags)
        self.buttons = {name: command_link(center, name) for name in ("live.flag.right", "live.flag.wrong")}
        foot = vbox(FlowLayout(*self.buttons.values(), gap=2), margins=(10, 0, 10, 4))
        self.head.setContentsMargins(12, 4, 8, 2)
        vbox(self.head, self.list, foot, parent=self, margins=(0, 4, 0, 0), spacing=2)
        center.bind("live.flag.right", lambda: self._model.say(True), self._can)
        center.bind("live.flag.wrong", lambda: self._model.say(False), self._can)
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self.list.activated.connect(self._on_activated)
        self._model.changed.connect(self._show)
        center.keys_changed.connect(self._update_texts)
        theme.changed.connect(self._fit)
        self._update_texts()
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _can(self) -> bool:
        return self._model.flag is not None

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        self._model.select(current.row())

    def _on_activated(self, index: QModelIndex) -> None:
        flag = self._model.flags.at(index.row())
        if flag is not None:
            self._run.look_at(flag.step)

    def _show(self) -> None:
        count = len(self._model.flags.rows)
        self.setVisible(count > 0)
        self.head.setText(self.tr("Flags ({0})").format(count))
        row = self._model.flags.row_of(self._model.selected) if self._model.selected is not None else -1
        if row != self.list.currentIndex().row():
            with QSignalBlocker(self.list.selectionModel()):
                self.list.setCurrentIndex(self._model.flags.index(row))
            self.list.viewport().update()
        self._fit()
        if self._could != self._can():
            self._could = self._can()
            self._center.refresh()

    def _update_texts(self) -> None:
        words = {"live.flag.right": self.tr("Right"), "live.flag.wrong": self.tr("Wrong")}
        for name, button in self.buttons.items():
            show_command(button, self._center, name, words[name])

    def _fit(self) -> None:
        self.list.setFixedHeight(self.list.content_height(most=self._theme.px(190)))


class ByHandLinks(QWidget):
    """The ways to end a held run by hand, with their keys; during a takeover they are above the page."""

    def __init__(self, model: OpenRunModel, center: CommandCenter) -> None:
        super().__init__()
        self._model, self._center = model, center
        self.links = {name: command_link(center, name) for name in ("live.finish", "live.finish.answer")}
        self.setAccessibleName(self.tr("Did it by hand"))
        head = text_label(self.tr("Did it by hand?"), "secondary")
        head.setContentsMargins(0, 4, 2, 0)  # in line with the links
        vbox(FlowLayout(head, *self.links.values(), gap=2), parent=self, margins=(12, 0, 10, 4))
        model.changed.connect(self._show)
        center.keys_changed.connect(self._update_texts)
        self._update_texts()
        self._show()

    def _show(self) -> None:
        row = self._model.row
        self.setVisible(row is not None and can_end_by_hand(row) and not has_control(row))

    def _update_texts(self) -> None:
        words = {"live.finish": self.tr("Finished"), "live.finish.answer": self.tr("The answer is…")}
        for name, link in self.links.items():
            show_command(link, self._center, name, words[name])


class AttentionPanel(QScrollArea):
    """The upper right of an open run: its request, its next action, its flags."""

    def __init__(self, model: OpenRunModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self.card = RequestCard(model, center, theme)
        self.next = NextActionCard(model, center, theme)
        self.flags = FlagsPane(model, center, theme)
        self.by_hand = ByHandLinks(model, center)
        self._quiet = text_label(self.tr("No action needed."), "muted")
        self._quiet.setContentsMargins(12, 10, 10, 4)
        inner = styled(QWidget(), "raised")
        vbox(
            self.card,
            self._quiet,
            self.next,
            self.by_hand,
            self.flags,
            1,
            parent=inner,
            margins=(8, 8, 8, 4),
            spacing=2,
        )
        self.setWidget(inner)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._model = model
        model.requests.changed.connect(self._show)
        model.pointing.changed.connect(lambda: QTimer.singleShot(0, self, self._show_choice))
        self._show()

    def _show_choice(self) -> None:
        """Scroll to the field and the choice below it."""
        if self.card.choice.is_on:
            self.ensureWidgetVisible(self.card.choice, 0, 0)
            self.ensureWidgetVisible(self.card.line, 0, 4)

    def sizeHint(self) -> QSize:
        inner = self.widget()
        return QSize(320, inner.sizeHint().height() if inner is not None else 200)

    def _show(self) -> None:
        self._quiet.setVisible(self._model.requests.card is None)
