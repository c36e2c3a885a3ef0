"""The form that asks again, and both answers side by side."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QPushButton, QSizePolicy, QWidget

from app.models.prompts.ask_again_model import AskAgainModel, AskedAgain
from app.models.prompts.prompts_model import answer_figures
from app.views.prompts.prompt_reader import PromptText
from app.views.widgets import ElidedLabel, Splitter
from app.views.widgets.build import ground, hbox, styled, text_label, vbox
from app.views.widgets.form_panel import FormField, FormPanel, check

if TYPE_CHECKING:
    from app.views.frame.theme import Theme

TIP_CHARACTERS = 160


class AskAgainPane(FormPanel[AskAgainModel]):
    """Model, effort, tips and number of times; the estimate stands above the button."""

    def __init__(self, model: AskAgainModel) -> None:
        super().__init__(model, (
            FormField(name="model", label=self.tr("Model"), placeholder=self.tr("the role's own"),
                      meaning=self.tr("another model of the same endpoint")),
            FormField(name="effort", label=self.tr("Effort"), placeholder=self.tr("the role's own"),
                      meaning=self.tr("low, medium, high …")),
            FormField(name="text", label=self.tr("Add a tip"), is_long=True,
                      meaning=self.tr("in words; untick a tip above to put this in its place")),
            FormField(name="tips", label=self.tr("Tip ids"),
                      meaning=self.tr("tips of Knowledge to add, separated by commas")),
            FormField(name="times", label=self.tr("Times"), meaning=self.tr("1 to 5: how steady is the answer?")),
        ))  # fmt: skip
        self.tips = QWidget()
        self._tip_column = vbox(parent=self.tips, spacing=2)
        self.estimate = text_label(kind="secondary", wrap=True)
        self.stop = styled(QPushButton(self.tr("Stop")), "link")
        self.boxes: dict[str, QCheckBox] = {}
        self.add_fields("model", "effort")
        self.add_row(self.tips, self.tr("Tips"))
        self.add_fields("text", "tips", "times")
        self.texts["text"].setFixedHeight(72)
        says = text_label(self.tr("Nothing is done in a browser."), kind="muted", wrap=True)
        self.frame(self.tr("Ask again"), says, self.estimate, self.stop)
        self.start.setAccessibleName(self.tr("Ask the model again"))
        self.stop.setAccessibleName(self.tr("Stop asking"))
        self.stop.clicked.connect(model.stop)
        model.tips_changed.connect(self._fill_tips)
        self._fill_tips()
        self.refresh()

    def begin(self) -> None:
        """Focus the model's name."""
        self.start_over()
        self.form.load()
        self.fields["model"].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def run_action(self) -> bool:
        return self.form.ask()

    def refresh(self) -> None:
        super().refresh()
        form = self.form
        self.start.setText(self.tr("Waiting for the model…") if form.is_asking else f"{form.title}   Enter")
        self.start.setEnabled(form.can_ask and not form.is_asking)
        self.estimate.setText(form.estimate)
        self.estimate.setVisible(bool(form.estimate))
        self.stop.setVisible(form.is_asking)
        for tip, box in self.boxes.items():
            check(box, tip not in form.without)

    def _fill_tips(self) -> None:
        while (item := self._tip_column.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.deleteLater()
        self.boxes = {}
        for tip, text in self.form.tips.items():
            words = " ".join(text.split())
            box = self.boxes[tip] = QCheckBox(words if len(words) < 34 else f"{words[:32]}…")
            box.setToolTip(f"{tip}: {words[:TIP_CHARACTERS]}")
            box.setAccessibleName(self.tr("Keep tip {0}: {1}").format(tip, words[:TIP_CHARACTERS]))
            box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            box.setChecked(True)
            box.toggled.connect(partial(self.form.keep_tip, tip))
            self._tip_column.addWidget(box)
        if not self.boxes:
            self._tip_column.addWidget(text_label(self.tr("none in this prompt"), "muted"))


class AnswersPane(QWidget):
    """The verdict in one sentence; below, the answer of then beside those of now.

    Signals:
        closed: it was left.
    """

    closed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        ground(self)
        self.verdict = text_label(kind="heading", wrap=True)
        self.notes = text_label(kind="muted", wrap=True)
        self.back = styled(QPushButton(self.tr("Back to the prompt  Esc")), "link")
        self.back.clicked.connect(self.closed)
        self.then, self.now = PromptText(theme), PromptText(theme)
        self.then.setAccessibleName(self.tr("The answer of then"))
        self.now.setAccessibleName(self.tr("The answers of now"))
        self.then_head, self.now_head = styled(ElidedLabel(), "section"), styled(ElidedLabel(), "section")
        columns = Splitter(Qt.Orientation.Horizontal, (0, 0))
        for head, text in ((self.then_head, self.then), (self.now_head, self.now)):
            column = QWidget()
            head.setContentsMargins(12, 4, 8, 2)
            vbox(head, (text, 1), parent=column, spacing=0)
            columns.addWidget(column)
        top = vbox(hbox(self.back, 1), self.verdict, self.notes, margins=(12, 4, 8, 4), spacing=2)
        vbox(top, (columns, 1), parent=self, spacing=0)

    def show_outcome(self, outcome: AskedAgain) -> None:
        """Show what came of asking again."""
        verdict = outcome.verdict
        self.verdict.setText(verdict[:1].upper() + verdict[1:])
        self.notes.setText("\n".join(outcome.notes))
        self.notes.setVisible(bool(outcome.notes))
        self.then_head.setText(self.tr("Then: {0}").format(outcome.decision))
        self.then.show_text(outcome.text, (), ())
        count = len(outcome.answers)
        self.now_head.setText(self.tr("Now, {0} times").format(count) if count > 1 else self.tr("Now"))
        lines: list[str] = []
        marks: list[str] = []
        for answer in outcome.answers:
            own = (answer.error or answer.text).split("\n")
            decision = self.tr("no answer") if answer.error else answer.decision
            lines += [decision, answer_figures(answer), *own, ""]
            marks += ["added" if answer.same else "removed", "place", *([""] * (len(own) + 1))]
        self.now.show_text("\n".join(lines), tuple(marks), ())
