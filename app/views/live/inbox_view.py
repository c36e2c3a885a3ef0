"""The inbox of Live: the list of what needs a person, and the page shown while nothing does."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QItemSelectionModel, QModelIndex, QRectF, Qt, QTimer
from PySide6.QtGui import QHideEvent, QPainter, QShowEvent
from PySide6.QtWidgets import QWidget

from app.models.live.inbox_model import age_words, entry_words
from app.models.live.requests import risk_role
from app.views.widgets import ElidedLabel, EmptyState
from app.views.widgets.build import ground, hbox, styled, text_label, vbox
from app.views.widgets.command_button import command_link, show_command
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.rows import RowContent, RowList, RowStyle, Span, Text, line, small

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.live.inbox_model import InboxEntry, InboxList
    from app.models.live.model import LiveModel
    from app.views.frame.theme import Theme

INBOX = RowStyle(margins=(10, 6, 10, 6), gutter=24, ruled=True)
TICK_MS = 1000
NEED_SIGNS = {
    "flag": ("flag-outline", "warn"),
    "approval": ("gesture-tap-button", "live"),
    "question": ("comment-question-outline", "accent"),
    "wall": ("lock-outline", "warn"),
    "trouble": ("lightning-bolt", "fail"),
}
"""Icon and colour role of each need; an approval has the role of its risk class."""


def inbox_row(entry: InboxEntry, rows: InboxList) -> RowContent:
    """The request; site and task; risk class or kind of need, and age."""
    first = entry.first
    icon, role = NEED_SIGNS[first.need.value]
    if first.risk:
        role = risk_role(first.risk)
    kind = first.risk or _need_word(first.need.value)

    def draw(painter: QPainter, box: QRectF, theme: Theme) -> None:
        theme.icon(icon, role).paint(painter, box.toRect())

    later = small(_tr("later"), "live", bold=True) if entry.later else None
    return RowContent(
        sign=Span(sign=draw, size=(16, 16)),
        lines=(
            Text(entry_words(entry)),
            line(small(first.site, bold=True), small(rows.task_words(entry))),
            line(small(kind, role, bold=True), later, right=small(age_words(first))),
        ),
        bar="warn" if len(entry.runs) > 1 else "",
    )


class InboxRows(RowList):
    """The rows of the inbox; the current row is the request that is looked at."""

    def __init__(self, model: LiveModel, theme: Theme) -> None:
        inbox = model.inbox
        super().__init__(theme, partial(inbox_row, rows=inbox.entries), self.tr("Inbox"), INBOX)
        self._inbox = inbox
        self._marking = False
        self.setModel(inbox.entries)
        self.setFrameShape(RowList.Shape.NoFrame)
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self.viewport().update)
        self.selectionModel().currentChanged.connect(self._on_current)
        inbox.changed.connect(self.mark)

    def mark(self) -> None:
        """Select the current entry; scroll only where it is out of sight."""
        row, selection = self._inbox.entries.row_of(self._inbox.current), self.selectionModel()
        self._marking = True
        if row < 0:
            selection.clear()
        else:
            index = self._inbox.entries.index(row)
            if index != selection.currentIndex() or not selection.isSelected(index):
                selection.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
                self.scrollTo(index)
        self._marking = False

    def keyboardSearch(self, search: str) -> None:
        """Ignore it: letters are commands, and one without effect must not select another request."""

    def showEvent(self, event: QShowEvent) -> None:
        """Update the ages while visible."""
        super().showEvent(event)
        self._clock.start()
        self.mark()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock.stop()

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        entry = self._inbox.entries.at(current.row()) if current.isValid() else None
        if entry is not None and not self._marking:
            self._inbox.select(entry.key)


class InboxPane(QWidget):
    """The rows under their count and order; below them what can be done with a row."""

    def __init__(self, model: LiveModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center = model, center
        ground(self)
        self.setAccessibleName(self.tr("Inbox"))
        self.place = styled(ElidedLabel(), "secondary")
        self.place.setAlignment(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter)
        self.lost = text_label(
            self.tr("The engine is not available; this is the last known state."), "warn", wrap=True
        )
        self.rows = InboxRows(model, theme)
        self.order, self.later, self.single = (
            command_link(center, command)
            for command in ("live.inbox.order", "live.inbox.later", "live.inbox.single")
        )
        self.lost.setContentsMargins(12, 0, 10, 6)
        top = hbox(text_label(self.tr("Inbox"), "heading"), (self.place, 1), margins=(12, 8, 10, 0))
        sort = hbox(self.order, 1, margins=(6, 0, 10, 2))
        foot = vbox(FlowLayout(self.later, self.single, gap=2), margins=(8, 2, 8, 4))
        vbox(top, sort, self.lost, (self.rows, 1), foot, parent=self, spacing=0)
        model.inbox.changed.connect(self._show)
        model.changed.connect(self._show)
        center.keys_changed.connect(self._show)
        center.refreshed.connect(self._enable)
        self._show()

    def take_focus(self) -> None:
        self.rows.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self) -> None:
        inbox, entry = self._model.inbox, self._model.inbox.entry
        self.place.setText(inbox.place_words)
        self.place.setAccessibleName(
            self.tr("Request {0}").format(inbox.place_words) if inbox.place_words else ""
        )
        self.lost.setVisible(bool(self._model.lost))
        show_command(self.order, self._center, "live.inbox.order", inbox.order_words)
        show_command(self.later, self._center, "live.inbox.later", self.tr("Later"))
        is_single = entry is not None and entry.is_single
        words = self.tr("Together again") if is_single else self.tr("One by one")
        show_command(self.single, self._center, "live.inbox.single", words)
        self._enable()

    def _enable(self) -> None:
        self.later.setEnabled(self._center.action("live.inbox.later").isEnabled())
        self.order.setEnabled(self._center.action("live.inbox.order").isEnabled())
        can_split = self._model.inbox.can_split
        if not can_split and self.single.hasFocus():
            self.take_focus()
        self.single.setVisible(can_split)


class EmptyInbox(EmptyState):
    """Shown while nothing needs a person: what goes on meanwhile."""

    def __init__(self, model: LiveModel, center: CommandCenter) -> None:
        super().__init__("", "", "", center)
        self._model = model
        self._keys = center
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        ground(self, "surface")
        for signal in (model.inbox.changed, model.changed, center.keys_changed):
            signal.connect(self._say)
        self._say()

    def _say(self) -> None:
        model = self._model
        if not model.is_loaded:
            self.set(self.tr("Loading runs…"), "")
            return
        waits = model.lost or self.tr(
            "A request is shown here as soon as one comes. {0} shows all runs."
        ).format(self._keys.keys("live.back"))
        self.set(self.tr("Nothing needs you"), f"{model.inbox.quiet_words}\n{waits}")


def _need_word(need: str) -> str:
    return {
        "flag": _tr("flagged"),
        "approval": _tr("approval"),
        "question": _tr("question"),
        "wall": _tr("blocked"),
        "trouble": _tr("problem"),
    }[need]


def _tr(text: str) -> str:
    return QCoreApplication.translate("live", text)
