"""The left column of an open run: plan, memory with its changes, timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QLayout, QScrollArea, QWidget

from app.views.live.rows import MEMORY, PLAN, TIMELINE, memory_row, plan_row, timeline_row
from app.views.widgets.build import Panel, divider, ground, hbox, styled, vbox
from app.views.widgets.elided_label import MessageLabel
from app.views.widgets.rows import RowList

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.live.open_run import OpenRunModel
    from app.views.frame.theme import Theme

LEDGER_CHANGES = 6
"""Ledger changes of one step that are listed; the others are counted, and marked in the memory."""


class ProgressPanel(Panel):
    """Plan and ledger above the timeline; activating a step shows it on the page."""

    def __init__(self, model: OpenRunModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        ground(self)
        self.setAccessibleName(self.tr("Plan, memory and timeline of the run"))
        self.intent, self.plan_line = MessageLabel("heading", 160), MessageLabel("secondary", 200)
        self.versions = MessageLabel("muted", 200)
        self.changes_head, self.changes = QLabel(self.tr("Changed by the last step")), MessageLabel("ok", 800)
        self.plan = RowList(theme, plan_row, self.tr("Plan of the run"), PLAN)
        self.memory = RowList(theme, memory_row, self.tr("The agent's memory"), MEMORY)
        self.timeline = RowList(
            theme, timeline_row, self.tr("Timeline: steps and operator actions"), TIMELINE
        )
        for view, rows in (
            (self.plan, model.plan),
            (self.memory, model.memory),
            (self.timeline, model.timeline),
        ):
            view.setModel(rows)
        self.timeline_head, self.memory_head = QLabel(), QLabel(self.tr("Memory"))
        self._no_steps = QLabel(self.tr("No steps yet. They appear here with their reasons."))
        self._follows, self._measured = True, False
        self.upper = QScrollArea()
        self._lay_out()
        self.timeline.clicked.connect(self._on_entry)
        self.timeline.activated.connect(self._on_entry)
        bar = self.timeline.verticalScrollBar()
        bar.valueChanged.connect(self._on_scrolled)
        bar.rangeChanged.connect(self._on_range)
        self._soon = QTimer(self, singleShot=True, interval=0)  # coalesces changes
        self._soon.timeout.connect(self._show)
        model.opened.connect(self._on_opened)
        model.changed.connect(self._show_soon)
        model.timeline.rowsInserted.connect(self._show_soon)
        for rows in (model.plan, model.memory):
            for changed in (rows.rowsInserted, rows.rowsRemoved, rows.modelReset, rows.dataChanged):
                changed.connect(self._measure_soon)
        theme.changed.connect(self._measure_soon)
        self._show()

    def take_focus(self) -> None:
        self.timeline.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the lists to their rows, which wrap at another width."""
        super().resizeEvent(event)
        self._measure_soon()

    def _lay_out(self) -> None:
        self._no_steps.setProperty("kind", "muted")
        self._no_steps.setWordWrap(True)
        for label in (self.intent, self.plan_line, self.versions, self.changes, self._no_steps):
            label.setContentsMargins(12, 2, 10, 4)
        inner = styled(QWidget(), "raised")
        vbox(
            self.intent,
            self.plan_line,
            self.plan,
            _section(self.changes_head),
            self.changes,
            _section(self.memory_head),
            self.memory,
            self.versions,
            1,
            parent=inner,
            margins=(0, 8, 0, 4),
            spacing=0,
        )
        area = self.upper
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(inner)
        vbox(
            area,
            divider(),
            _section(self.timeline_head),
            self._no_steps,
            (self.timeline, 1),
            0,
            parent=self,
            spacing=0,
        )

    def _on_opened(self) -> None:
        self._follows = True
        self._show()

    def _show_soon(self, *_what: object) -> None:
        self._soon.start()

    def _measure_soon(self, *_what: object) -> None:
        self._measured = False
        self._soon.start()

    def _show(self) -> None:
        model = self._model
        row = model.row
        self.intent.say(row.intent if row is not None else "")
        self.plan_line.say(row.plan if row is not None and not model.plan.rows else "")
        self.versions.say(row.versions if row is not None else "")
        changes = model.ledger_changes
        more = (
            [self.tr("… and {0} more").format(len(changes) - LEDGER_CHANGES)]
            if len(changes) > LEDGER_CHANGES
            else []
        )
        self.changes.say("\n".join([*(f"+ {line}" for line in changes[:LEDGER_CHANGES]), *more]))
        self.changes_head.setVisible(bool(changes))
        self.plan.setVisible(bool(model.plan.rows))
        self.memory_head.setVisible(bool(model.memory.rows))
        self.memory.setVisible(bool(model.memory.rows))
        steps = sum(not entry.action for entry in model.timeline.rows)
        self.timeline_head.setText(
            self.tr("Timeline ({0} steps)").format(steps) if steps else self.tr("Timeline")
        )
        self._no_steps.setVisible(not model.timeline.rows)
        self.timeline.setVisible(bool(model.timeline.rows))
        self._fit()

    def _fit(self) -> None:
        if not self._measured:
            self._measured = True
            for view, most in ((self.plan, self._theme.px(180)), (self.memory, self._theme.px(320))):
                view.setFixedHeight(view.content_height(most=most))
        inner = self.upper.widget()
        stack = inner.layout() if inner is not None else None
        if stack is not None:  # the upper part takes at most half
            needed = stack.totalHeightForWidth(max(self.width(), 100))
            self.upper.setFixedHeight(max(min(needed, self.height() // 2), self._theme.px(40)))

    def _on_entry(self, index: QModelIndex) -> None:
        entry = self._model.timeline.at(index.row())
        if entry is not None and not entry.action:
            self._model.look_at(entry.step)

    def _on_scrolled(self, value: int) -> None:
        bar = self.timeline.verticalScrollBar()
        self._follows = value >= bar.maximum() - self._theme.px(4)

    def _on_range(self, _least: int, most: int) -> None:
        """Scroll to new steps, unless the operator is reading further up."""
        if self._follows:
            self.timeline.verticalScrollBar().setValue(most)


def _section(label: QLabel) -> QLayout:
    """Return a heading in its margins; a label's own ones may go with a change of the theme."""
    label.setProperty("kind", "section")
    return hbox(label, margins=(12, 8, 8, 2))
