"""Several annotators, in place of the verdicts: assigning runs, queues, agreement, disagreements."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QWidget

from app.models.review.flags import label_of
from app.views.review.people_rows import ENTRY, agreement_row, disagreement_row, queue_row
from app.views.review.side_pane import KeyedList, SidePane, column, quiet, section
from app.views.widgets.build import hbox, restyle, scroll_area, styled, text_label, vbox

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.review.annotators_model import AnnotatorsModel
    from app.models.review.run_queue import RunQueue
    from app.views.frame.theme import Theme


class AssignmentFields(QWidget):
    """Names, overlap and number of runs; the runs are those of the queue's filter."""

    def __init__(self, model: AnnotatorsModel, queue: RunQueue) -> None:
        super().__init__()
        self._model, self._queue = model, queue
        self._asked = False
        self.names, self.overlap, self.limit = QLineEdit(), QLineEdit(), QLineEdit()
        self.names.setPlaceholderText(self.tr("ana, ben"))
        self.names.setAccessibleName(self.tr("Annotators, separated by commas"))
        self.overlap.setAccessibleName(self.tr("Percentage of the runs that two annotators get"))
        self.limit.setAccessibleName(self.tr("Number of runs at most; empty for all"))
        self.limit.setPlaceholderText(self.tr("all"))
        for field in (self.overlap, self.limit):
            field.setMaximumWidth(72)
        self.says = text_label(kind="secondary", wrap=True)
        self.button = styled(QPushButton(self.tr("Assign")), "primary")
        row = hbox(
            self._label(self.tr("overlap %"), self.overlap),
            self.overlap,
            self._label(self.tr("runs"), self.limit),
            self.limit,
            1,
            self.button,
            spacing=6,
        )
        vbox(
            self._label(self.tr("annotators"), self.names),
            self.names,
            row,
            self.says,
            parent=self,
            margins=(12, 2, 12, 6),
            spacing=4,
        )
        for name, field in self._fields.items():
            field.textEdited.connect(partial(model.form.set, name))
            field.returnPressed.connect(self.submit)
        self.button.clicked.connect(self.submit)
        model.form.changed.connect(self.refresh)
        queue.changed.connect(self.refresh)
        self.refresh()

    @property
    def _fields(self) -> dict[str, QLineEdit]:
        return {"names": self.names, "overlap": self.overlap, "limit": self.limit}

    def submit(self) -> None:
        """Assign, or go to the first problem."""
        self._asked = True
        if not self._model.assign():
            self._fields[self._model.form.problems[0].field].setFocus(Qt.FocusReason.OtherFocusReason)
        self.refresh()

    def refresh(self) -> None:
        form = self._model.form
        for name, field in self._fields.items():
            if field.text() != form.values[name]:
                with QSignalBlocker(field):
                    field.setText(form.values[name])
        problems = form.problems if self._asked else []
        trouble = problems[0].message if problems else form.error
        which = self._queue.text or self.tr("all runs")
        self.says.setText(
            f"! {trouble}"
            if trouble
            else self.tr("Divides the {0} runs of the queue ({1}). Assigning again replaces queues.").format(
                self._queue.shown, which
            )
        )
        restyle(self.says, kind="fail" if trouble else "secondary")

    def _label(self, text: str, buddy: QWidget) -> QLabel:
        label = text_label(text, "secondary")
        label.setBuddy(buddy)
        return label


class PeoplePane(SidePane):
    """Form, queues, agreement and disagreements, each with a text for "none"."""

    def __init__(self, model: AnnotatorsModel, queue: RunQueue, center: CommandCenter, theme: Theme) -> None:
        super().__init__(self.tr("Annotators and agreement"), "review.annotators", center)
        self._model = model
        self._second = False
        self.form = AssignmentFields(model, queue)
        self.queues = KeyedList(
            theme, queue_row, self.tr("Queues; Enter shows a person's runs in the queue"), ENTRY
        )
        self.agreement = KeyedList(theme, agreement_row, self.tr("Agreement by pair and label"), ENTRY)
        self.disagreements = KeyedList(
            theme,
            disagreement_row,
            self.tr("Disagreements; Enter opens the run, a label's key settles it"),
            ENTRY,
            keys="0123456789",
        )
        self.queues.setModel(model.queues)
        self.agreement.setModel(model.agreement)
        self.disagreements.setModel(model.disagreements)
        self.no_queues, self.no_agreement, self.no_disagreements = quiet(), quiet(), quiet()
        self.disagreement_head = section("")
        self.error = quiet()
        inner = column(
            section(self.tr("Assign runs")),
            self.form,
            section(self.tr("Queues")),
            self.no_queues,
            self.queues,
            section(self.tr("Agreement (Cohen's kappa)")),
            self.no_agreement,
            self.agreement,
            self.disagreement_head,
            self.no_disagreements,
            self.disagreements,
        )
        self.body.addWidget(self.error)
        self.body.addWidget(scroll_area(inner), 1)
        self.queues.opened.connect(model.open_queue)
        self.disagreements.opened.connect(model.open_case)
        self.disagreements.keyed.connect(self._on_digit)
        model.changed.connect(self._show)
        self._show()

    def watch(self, on: bool) -> None:
        self._model.watch(on)

    def take_focus(self) -> None:
        """The disagreements where there are some, else the queues, else the form."""
        for part in (self.disagreements, self.queues):
            if part.model().rowCount():
                part.take_focus()
                return
        target = self.form.names if self._model.is_loaded else self
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self) -> None:
        model = self._model
        self.error.setText(self.tr("The annotators can't be loaded: {0}").format(model.error))
        self.error.setVisible(bool(model.error))
        loading = "" if model.is_loaded else self.tr("Loading…")
        self._say(self.no_queues, self.queues, loading or self.tr("Nobody has a queue yet."))
        self._say(
            self.no_agreement,
            self.agreement,
            loading or self.tr("It appears once two people have judged the same run."),
        )
        for part in (self.queues, self.agreement, self.disagreements):
            part.fit()
        count = len(model.disagreements.rows)
        self.disagreement_head.setText(
            self.tr("Disagreements ({0}, {1} open)").format(count, model.unsettled)
            if count
            else self.tr("Disagreements")
        )
        if count:
            self.no_disagreements.setText(self.tr("Enter opens the run; the key of a label settles it."))
            self.no_disagreements.show()
        else:
            self._say(self.no_disagreements, self.disagreements, loading or self.tr("None."))
        if self.hasFocus() and model.is_loaded:
            self.take_focus()

    def _say(self, label: QLabel, rows: KeyedList, words: str) -> None:
        label.setText(words)
        label.setVisible(not rows.model().rowCount())

    def _on_digit(self, row: int, key: str) -> None:
        """Settle with the label of a digit; those behind ``0`` take a second one."""
        if key == "0":
            self._second = True
            return
        label = label_of(int(key), second=self._second)
        self._second = False
        if label is not None:
            self._model.settle(row, label)
