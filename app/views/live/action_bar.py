"""The action bar of Live: what can be done with the current run, each button with its key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.models.live.run_list import can_resume, first_need, has_control
from app.views.widgets.build import hbox
from app.views.widgets.command_button import SIGN, WHOLE, WORD, CommandButton, fill

if TYPE_CHECKING:
    from app.engine.core.supervision import LiveRow
    from app.models.common.commands import CommandCenter
    from app.models.live.model import LiveModel
    from app.views.frame.theme import Theme

SPACE = 5
LEVELS = ((WHOLE, WHOLE), (WHOLE, WORD), (WHOLE, SIGN), (WORD, WORD), (WORD, SIGN), (SIGN, SIGN))
"""Detail of the main and of the secondary buttons, from the widest window to the narrowest."""


class LiveBar(QWidget):
    """Pause, step, approve, deny, hint, take over, stop; at the right the actions on an ended run."""

    def __init__(self, model: LiveModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        self._count = 1
        self.setObjectName("liveBar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(self.tr("Actions on the run"))

        def button(command: str, word: str, *others: tuple[str, str]) -> CommandButton:
            return CommandButton(command, center, theme, word, others=others)

        yes = tuple((_approval_label(need), word) for need, (word, _) in self._words().items())
        no = tuple(("live.deny", word) for _, word in self._words().values())

        self.look = button("live.open", self.tr("Open"))
        self.wall = button("live.back", self.tr("All runs"))
        self.pause = button("live.pause", self.tr("Pause"), ("live.pause", self.tr("Resume")))
        self.step = button("live.step", self.tr("Step"))
        self.approve = button("live.approve", self.tr("Approve"), *yes)
        self.deny = button("live.deny", self.tr("Deny"), *no)
        self.hint = button("live.hint", self.tr("Hint"))
        self.hands = button("live.take_over", self.tr("Take over"), ("live.release", self.tr("Hand back")))
        self.stop = button("live.stop", self.tr("End"))
        self.again = button("live.again", self.tr("Again"))
        self.review = button("live.review", self.tr("Review"))
        self.gone = button("live.dismiss", self.tr("Dismiss"))
        groups = (
            (self.look, self.wall),
            (self.pause, self.step, self.stop),
            (self.approve, self.deny),
            (self.hint, self.hands),
            (self.again, self.review, self.gone),
        )
        self.buttons = [one for group in groups for one in group]
        self._aside = groups[-1]
        row = hbox(parent=self, margins=(16, 7, 16, 7), spacing=SPACE)
        for number, group in enumerate(groups):
            if number == len(groups) - 1:
                row.addStretch(1)
            elif number:
                row.addSpacing(SPACE)
            for one in group:
                row.addWidget(one)
        for one in (self.approve, self.deny):
            one.pressed.connect(model.open_run.requests.arm)
            one.released.connect(lambda: QTimer.singleShot(0, self, model.open_run.requests.let_go))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        for signal in (model.row_changed, model.current_changed):
            signal.connect(self._show)
        model.opened.connect(self._on_opened)
        model.inbox.opened.connect(lambda: self._on_opened(model.run))
        model.open_run.requests.changed.connect(self._show)
        theme.changed.connect(self._distribute)
        center.keys_changed.connect(self._distribute)
        self._on_opened(model.run)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrow window hides first the keys, then the labels."""
        super().resizeEvent(event)
        self._distribute()

    def _on_opened(self, run: str) -> None:
        self.look.setVisible(not run or self._model.inbox.is_open)
        self.look.call(not run)
        self.wall.setVisible(bool(run) or self._model.inbox.is_open)
        self._show()
        self._distribute()

    def _show(self, *_told: object) -> None:
        row = self._model.row
        goes_on = row is not None and can_resume(row)
        title = self.tr("Resume") if goes_on else self.tr("Pause")
        self.pause.show_as("live.pause", title, "play" if goes_on else "pause")
        mine = row is not None and has_control(row)
        self.hands.show_as(
            "live.release" if mine else "live.take_over",
            self.tr("Hand back") if mine else self.tr("Take over"),
        )
        self._show_need(row)

    def _words(self) -> dict[str, tuple[str, str]]:
        """Short approve and deny labels for each need."""
        end = self.tr("End run")
        return {
            "approval": (self.tr("Approve"), self.tr("Deny")),
            "question": (self.tr("Answer"), self.tr("No answer")),
            "wall": (self.tr("Handled"), end),
            "trouble": (self.tr("Try again"), end),
            "flag": (self.tr("Resume"), end),
        }

    def _show_need(self, row: LiveRow | None) -> None:
        """Label approve and deny for the current request."""
        need = first_need(row)
        yes, no = self._words()[need or "approval"]
        together, words = self._model.inbox.together, self.tr("{0} for {1}")
        count, denied = together.reach(_approval_label(need)), together.reach("live.deny")
        yes = words.format(yes, count) if count > 1 else yes
        no = words.format(no, denied) if denied > 1 else no
        self.approve.show_as(_approval_label(need), yes)
        self.deny.show_as("live.deny", no)
        if count != self._count:  # its words are wider for several runs
            self._count = count
            self._distribute()
        mine = row is not None and has_control(row)  # then the page has the keyboard
        by_hand = need == "wall"  # a log-in wall needs a takeover
        self.hands.call(mine or by_hand)
        self.approve.call(bool(need) and not mine and not by_hand)

    def _distribute(self) -> None:
        """Show as much of every button as fits; the secondary ones shrink first."""
        shown = [button for button in self.buttons if not button.isHidden()]
        fill(shown, self.width() - 32 - SPACE * (len(shown) + 3), LEVELS, self._aside)


def _approval_label(need: str) -> str:
    return "live.answer" if need == "question" else "live.approve"
