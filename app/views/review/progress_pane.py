"""Progress of the review, and the pages where a tip would help most, in place of the verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox

from app.views.review.people_rows import ENTRY, FIGURE, opportunity_row, progress_row
from app.views.review.side_pane import KeyedList, SidePane, column, quiet, section
from app.views.widgets.build import hbox, scroll_area
from app.views.widgets.command_button import CommandButton
from app.views.widgets.form_panel import check

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.review.progress_model import OpportunityList, ProgressModel
    from app.views.frame.theme import Theme


class OpportunityRows(KeyedList):
    """Pages that fail: Enter opens the failures one after the other, ``F`` lists them, ``T`` writes the tip."""

    def __init__(self, rows: OpportunityList, model: ProgressModel, theme: Theme, name: str) -> None:
        super().__init__(theme, opportunity_row, name, ENTRY, keys="TF")
        self.setModel(rows)
        self._pages, self._progress = rows, model
        self.opened.connect(self._open)
        self.keyed.connect(self._on_key)

    def _open(self, row: int) -> None:
        self._progress.open_failure(self._pages.at(row))

    def _on_key(self, row: int, key: str) -> None:
        act = self._progress.write_tip if key == "T" else self._progress.filter_failures
        act(self._pages.at(row))


class ProgressPane(SidePane):
    """Judged of all, by site, person and label; then the pages that fail and have no tip."""

    def __init__(self, model: ProgressModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__(self.tr("Progress"), "review.progress", center)
        self._model = model
        self.over = quiet()
        self.whole = QCheckBox(self.tr("All runs, not only the queue's"))
        self.lines = KeyedList(theme, progress_row, self.tr("Progress by site, person and label"), FIGURE)
        self.lines.setModel(model.lines)
        self.uncovered_head = section("")
        self.uncovered = OpportunityRows(
            model.uncovered, model, theme, self.tr("Pages that fail and have no tip")
        )
        self.hint = quiet(
            self.tr("Enter opens the failures one by one, F shows them in the queue, T writes a tip.")
        )
        self.error = quiet()
        self.save = CommandButton("review.progress.save", center, theme, self.tr("Save as a page…"))
        box = hbox((self.whole, 0), 1, margins=(12, 0, 12, 4))
        inner = column(self.lines, self.uncovered_head, self.hint, self.uncovered)
        self.body.addWidget(self.over)
        self.body.addLayout(box)
        self.body.addWidget(self.error)
        self.body.addWidget(scroll_area(inner), 1)
        self.body.addLayout(hbox(self.save, 1, margins=(10, 8, 10, 8)))
        self.whole.toggled.connect(model.count_all)
        model.changed.connect(self._show)
        self._show()

    def watch(self, on: bool) -> None:
        self._model.watch_progress(on)

    def take_focus(self) -> None:
        """Focus the pages without a tip, else the figures; once they are loaded, if they are not yet."""
        target = self.uncovered if self._model.uncovered.rows else self.lines
        if target.model().rowCount():
            target.take_focus()
        else:
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self) -> None:
        model = self._model
        self.over.setText(model.filter_words)
        check(self.whole, model.whole)
        self.error.setText(
            self.tr("The progress can't be loaded: {0}").format(model.error)
            if model.error
            else self.tr("Counting…")
            if model.progress is None
            else ""
        )
        self.error.setVisible(bool(self.error.text()))
        self.lines.fit()
        self.uncovered.fit()
        count = len(model.uncovered.rows)
        known = model.progress is not None
        self.uncovered_head.setText(self.tr("Pages that fail and have no tip ({0})").format(count))
        self.uncovered_head.setVisible(known)
        self.hint.setVisible(known)
        self.hint.setText(
            self.tr("Enter opens the failures one by one, F shows them in the queue, T writes a tip.")
            if count
            else self.tr("Every page with failures has a tip, or none is known to fail.")
        )
        if self.hasFocus():
            self.take_focus()


class OpportunityPane(SidePane):
    """Site, page, failures, tips and coverage; most failures without a tip first."""

    def __init__(self, model: ProgressModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__(self.tr("Which tip would help most"), "review.opportunities", center)
        self._model = model
        self.says = quiet()
        self.rows = OpportunityRows(
            model.opportunities, model, theme, self.tr("Pages where runs fail, most without a tip first")
        )
        self.body.addWidget(self.says)
        self.body.addWidget(scroll_area(column(self.rows)), 1)
        model.changed.connect(self._show)
        self._show()

    def watch(self, on: bool) -> None:
        self._model.watch_opportunities(on)

    def take_focus(self) -> None:
        if self._model.opportunities.rows:
            self.rows.take_focus()
        else:
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self) -> None:
        model = self._model
        if model.opportunity_error:
            words = self.tr("The pages can't be loaded: {0}").format(model.opportunity_error)
        elif not model.knows_opportunities:
            words = self.tr("Looking for the pages where runs fail…")
        elif model.opportunities.rows:
            words = self.tr(
                "Pages by failures that no tip reached. Enter opens the failures one after the other, "
                "F shows them in the queue, T writes the tip at the first."
            )
        else:
            words = self.tr("No failed run has a page to write a tip for.")
        self.says.setText(words)
        self.rows.fit()
        if self.hasFocus() and model.opportunities.rows:
            self.rows.take_focus()
