"""The panel of scheduled work: the entries at the left; the chosen one as a form with its results at the right."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSignalBlocker, QSize, QStringListModel, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QPushButton, QWidget

from app.models.common.schedule_form import ScheduleForm
from app.models.common.schedule_model import (
    NEW,
    ScheduledTask,
    day_words,
    last_words,
    plan_words,
    result_words,
    task_words,
    time_words,
)
from app.views.widgets.build import hbox, text_label, vbox
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.form_panel import FormField, FormPanel, RadioOption, check
from app.views.widgets.overlay import Overlay
from app.views.widgets.rows import RowContent, RowList, RowStyle, Text, line, plain, small

if TYPE_CHECKING:
    from app.engine.api.schedule_api import ScheduleRow
    from app.engine.core.schedule import ScheduleResult
    from app.models.common.schedule_model import ScheduleModel
    from app.views.frame.theme import Theme

_LIST_WIDTH = 330
_RESULT_LINES = 7
MINUTE_MS = 60_000
"""Time between two updates of the next times in words."""


class ScheduleFormPanel(FormPanel[ScheduleForm]):
    """The fields of an entry, its results, and what can be done with it."""

    def __init__(self, model: ScheduleModel, theme: Theme) -> None:
        super().__init__(model.form, (
            FormField(name="site", label=self.tr("Site"), placeholder="shop", meaning=""),
            FormField(name="every", label=self.tr("Every"),
                      meaning=self.tr("days, 1 to 365; 0 for once")),
            FormField(name="clock", label=self.tr("At"), placeholder="03:00",
                      meaning=self.tr("local time; done while the workbench is open, or by cron")),
        ))  # fmt: skip
        self._model, self._theme = model, theme
        self.tasks = self.add_choices(
            self.tr("Work"),
            (
                RadioOption(
                    value=ScheduledTask.EXPLORE.value,
                    label=self.tr("Explore again"),
                    meaning=self.tr("verifies the map and explores what is new, as the last exploration did"),
                ),
                RadioOption(
                    value=ScheduledTask.VERIFY.value,
                    label=self.tr("Verify the map"),
                    meaning=self.tr("marks what is gone; explores nothing"),
                ),
                RadioOption(
                    value=ScheduledTask.TEST_TIPS.value,
                    label=self.tr("Test tips"),
                    meaning=self.tr("does the tips' steps in a browser that only reads"),
                ),
            ),
            lambda value: model.form.set("task", value),
        )
        self.add_fields("site", "every", "clock")
        self._names = QStringListModel(self)
        completer = QCompleter(self._names, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.fields["site"].setCompleter(completer)
        self.fields["site"].textChanged.connect(self._on_site)  # a chosen name is no typed one
        self.run, self.switch, self.open, self.remove, self.discard = (QPushButton() for _ in range(5))
        self.state = text_label(kind="secondary", wrap=True)
        self._add_block(self.tr("Next"), self._actions())
        self.results = RowList(
            theme, self._described, self.tr("Results"), RowStyle(margins=(0, 4, 4, 6), ruled=True)
        )
        self.results.setModel(model.results)
        self.results.setSpacing(0)
        self.results.activated.connect(self._open_result)
        self.no_results = text_label(self.tr("Not done yet."), "secondary")
        box = QWidget()
        vbox(self.no_results, self.results, parent=box, spacing=0)
        self._add_block(self.tr("Results"), box)
        foot = QWidget()
        hbox(self.remove, 1, self.discard, parent=foot, spacing=6)
        self.frame(self.tr("Work and time"), foot)
        self.grid.setVerticalSpacing(4)
        self.close_button.setAccessibleName(self.tr("Close the scheduled work"))
        model.changed.connect(self.refresh)
        theme.changed.connect(self._fit)
        self._fit()
        self.refresh()

    def run_action(self) -> bool:
        return self._model.save()

    def help_text(self, name: str) -> str:
        """Return the meaning of a field; of the site the names that can be given."""
        if name != "site":
            return super().help_text(name)
        names = self.form.sites
        known = ", ".join(names[:6]) + (" …" if len(names) > 6 else "")
        if not names:
            return self.tr("the name of a site in this workspace")
        if self.form.task is ScheduledTask.TEST_TIPS:
            return self.tr("one of: {0}").format(known)
        return self.tr("one with a map: {0}").format(known)

    def refresh(self) -> None:
        super().refresh()
        model, form, row = self._model, self.form, self._model.row
        stored = row is not None
        for value, button in self.tasks.items():
            check(button, value == form.values["task"])
        if self._names.stringList() != form.sites:
            self._names.setStringList(form.sites)
        newest = model.newest
        changed = newest is not None and bool(newest.changes or newest.suspects)
        self.run.setEnabled(row is not None and not row.is_active and not row.waits)
        self.switch.setText(
            self.tr("Switch off") if row is None or row.schedule.is_on else self.tr("Switch on")
        )
        self.open.setEnabled(changed)
        for button in (self.run, self.switch, self.open, self.remove):
            button.setVisible(stored)
        self.discard.setVisible(stored)
        self.discard.setEnabled(form.is_changed)
        self.start.setText(self.tr("Save   Enter") if stored else self.tr("Add   Enter"))
        self.start.setAccessibleName(self.tr("Save the scheduled work"))
        self.start.setEnabled((form.is_changed or not stored) and not model.is_saving)
        self.state.setText(self._state_words(row))
        self.no_results.setVisible(not model.results.rows)
        self.results.setVisible(bool(model.results.rows))

    def _state_words(self, row: ScheduleRow | None) -> str:
        if row is None:
            return self.tr("at the next such time after it is added")
        if row.is_active:
            return self.tr("Being done now; the list of jobs (Ctrl+J) shows it and can cancel it.")
        words = time_words(row.schedule, time.time())
        return self.tr("{0}: it waits, {1}").format(words, row.waits) if row.waits else words

    def _add_block(self, label: str, block: QWidget) -> None:
        """Add a block of several lines with its label at the first."""
        row = self._label(label, block, Qt.AlignmentFlag.AlignTop)
        self.grid.addWidget(block, row, 1)

    def _actions(self) -> QWidget:
        buttons = QWidget()
        for button, text, name, slot in (
            (self.run, self.tr("Do it now"), self.tr("Do this work now; its next time stays"), self._model.run_now),
            (self.switch, "", self.tr("Switch this entry on or off"), self._model.toggle),
            (self.open, self.tr("Show what changed"),
             self.tr("Show what the last time found, on the map or in Knowledge"), self._open_newest),
            (self.remove, self.tr("Remove"), self.tr("Remove this entry; undo brings it back"), self._model.remove),
            (self.discard, self.tr("Discard changes"), self.tr("Show the entry as it is stored"), self._model.discard),
        ):  # fmt: skip
            button.setText(text)
            button.setAccessibleName(name)
            button.setToolTip(name)
            button.clicked.connect(slot)
        FlowLayout(self.run, self.switch, self.open, parent=buttons)
        block = QWidget()
        vbox(self.state, buttons, parent=block, spacing=4)
        return block

    def _on_site(self, name: str) -> None:
        self.form.set("site", name)

    def _open_newest(self) -> None:
        self._model.open_changes()

    def _open_result(self, index: QModelIndex) -> None:
        result = self._model.results.at(index.row())
        if result is not None and (result.changes or result.suspects):
            self._model.open_changes(result)

    def _described(self, result: ScheduleResult) -> RowContent:
        when = day_words(result.started_at, time.time())
        role = "fail" if result.error else "text" if result.changes else "muted"
        lines = [Text(words, role, small=True) for words in result_words(result)]
        return RowContent(lines=(line(small(when)), *lines))

    def _fit(self) -> None:
        lines = self.results.fontMetrics().lineSpacing()
        self.results.setMinimumHeight(lines * _RESULT_LINES)


class SchedulePanel(Overlay):
    """A panel over the window; Enter saves, Esc closes, Del removes the entry of the list."""

    def __init__(self, model: ScheduleModel, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, QSize(980, 680))
        self._model = model
        self.list = RowList(
            theme, self._described, self.tr("Scheduled work"), RowStyle(margins=(14, 6, 8, 6))
        )
        self.list.setModel(model.list)
        self.new = QPushButton(self.tr("New"))
        self.new.setAccessibleName(self.tr("Schedule other work"))
        self.none = text_label(
            self.tr(
                "Nothing is scheduled yet.\n\nSites change. Let a map be explored or verified again, or tips be tested,"
                " every few days: what changed arrives as a note, and tips that no longer hold become suspect.\n\n"
                "Work is done while this window is open. For nights without it, let cron call “sitelore schedule run”."
            ),
            "muted",
            wrap=True,
        )
        self.none.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.form = ScheduleFormPanel(model, theme)
        title = text_label(self.tr("Scheduled work"), "title")
        left = vbox(title, (self.list, 1), (self.none, 1), self.new, margins=(14, 12, 10, 12), spacing=8)
        self._left = QWidget()
        self._left.setLayout(left)
        self.body.setContentsMargins(2, 6, 8, 6)  # the form's ground would cover the panel's rounded corners
        self.body.addLayout(hbox(self._left, (self.form, 1), spacing=0))
        QWidget.setTabOrder(self.list, self.new)
        QWidget.setTabOrder(self.new, self.form.tasks[ScheduledTask.EXPLORE.value])
        self._minute = QTimer(self, interval=MINUTE_MS)
        self._minute.timeout.connect(self._on_minute)
        self.new.clicked.connect(self._begin_new)
        self.list.selectionModel().currentChanged.connect(self._on_row)
        self.list.activated.connect(self._on_activated)
        self.form.closed.connect(self.dismiss)
        self.closed.connect(self._minute.stop)
        model.changed.connect(self._show)
        model.arrived.connect(self._on_arrived)
        theme.changed.connect(self._fit)
        self._fit()
        self._show()

    def prepare(self) -> None:
        """Read the entries again; what was typed stays."""
        self._minute.start()
        self._model.open()

    def first(self) -> QWidget:
        """The list, or the form while there is nothing in it."""
        if self._model.list.rows and self._model.shown != NEW:
            return self.list
        return self.form.fields["site"]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.list.hasFocus():
            self._model.remove()
            event.accept()
        else:
            super().keyPressEvent(event)

    def _on_arrived(self) -> None:
        """Go to the list: it was read after the panel was opened."""
        if self.isVisible() and self._model.shown != NEW:
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_minute(self) -> None:
        self.list.viewport().update()
        self.form.refresh()

    def _begin_new(self) -> None:
        self._model.show(NEW)
        self.form.start_over()
        self.form.fields["site"].setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_row(self, index: QModelIndex, _before: QModelIndex) -> None:
        row = self._model.list.at(index.row())
        if row is not None:
            self._model.show(row.schedule.id)
            self.form.start_over()

    def _on_activated(self, _index: QModelIndex) -> None:
        newest = self._model.newest
        if newest is not None and (newest.changes or newest.suspects):
            self._model.open_changes(newest)

    def _show(self) -> None:
        model = self._model
        there = bool(model.list.rows)
        self.list.setVisible(there)
        self.none.setVisible(not there)
        self.new.setVisible(there)
        place = model.list.index(model.list.row_of(model.shown), 0)
        if self.list.currentIndex() != place:
            with QSignalBlocker(self.list.selectionModel()):
                self.list.setCurrentIndex(place)
            self.list.viewport().update()

    def _described(self, row: ScheduleRow) -> RowContent:
        entry, now = row.schedule, time.time()
        state = self.tr("now") if row.is_active else time_words(entry, now).partition(",")[0]
        role = "live" if row.is_active else "warn" if row.waits else "muted"
        words = task_words(entry.task)
        head = plain(f"{words[:1].upper()}{words[1:]} · {entry.site}", "text" if entry.is_on else "muted")
        lines = [
            line(head, right=small(self.tr("waits") if row.waits else state, role)),
            line(small(plan_words(entry))),
        ]
        if row.results:
            newest = row.results[0]
            colour = "fail" if newest.error else "text" if newest.changes else "muted"
            lines.append(line(small(last_words(newest), colour)))
        return RowContent(lines=tuple(lines))

    def _fit(self) -> None:
        self._left.setFixedWidth(self._theme.px(_LIST_WIDTH))
