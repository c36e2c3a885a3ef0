"""The model and its options in the forms that start runs; shown where the llm policy is chosen."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QLineEdit, QPushButton, QWidget

from app.views.widgets.build import styled, text_label, vbox
from app.views.widgets.form_section import FormSection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.models.live.run_options import RunOptionsModel


EVERY, CALLS = (0, 1, 3, 5, 10, 20), (3, 6, 12, 24, 50)
"""Usual steps between two questions of the judge, and questions in a run."""


class ModelOptions(QWidget):
    """The model; below it, folded, a line an option: its label, its field, its meaning.

    ``fields`` are the fields in their order, for the tabulator.
    """

    def __init__(self, form: RunOptionsModel) -> None:
        super().__init__()
        self._form = form
        self.fields: list[QWidget] = []
        self.section = FormSection(self.tr("Model options"))
        self._grid = QGridLayout()
        self.grids = (self._grid, self.section.grid)
        """The grids whose labels are aligned with those of the form."""
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        vbox(self._grid, self.section, parent=self, margins=(0, 6, 0, 4), spacing=0)
        self.model = QLineEdit()
        self.model.textEdited.connect(partial(form.set, "model"))
        self.model_meaning = self.add(self.tr("Model"), self.model, " ")
        self.model.setAccessibleName(self.tr("Name of the model; empty: the one in the settings"))
        self.set_up = styled(QPushButton(self.tr("No model is set. Set up a model…")), "link")
        self.set_up.setAccessibleName(self.set_up.text())
        self.set_up.clicked.connect(form.model_wanted)
        self._grid.addWidget(self.set_up, self._grid.rowCount(), 1, Qt.AlignmentFlag.AlignLeft)
        self.fields += [self.set_up, self.section.toggle]
        self._grid = self.section.grid
        self.actions_set = QComboBox()
        self.actions_meaning = self.add(self.tr("Actions"), self.actions_set)
        self.actions_set.activated.connect(self._on_actions)
        self.judge, self.judge_every, self.judge_calls = QComboBox(), QComboBox(), QComboBox()
        for value, text in (("auto", self.tr("automatic")), ("on", self.tr("on")), ("off", self.tr("off"))):
            self.judge.addItem(text, value)
        meaning = self.tr("a model checks the run while it goes on; automatic: where it is supervised")
        self.add(self.tr("Judge"), self.judge, meaning)
        self.add(self.tr("Asked every"), self.judge_every, self.tr("steps, at the latest"))
        self.add(self.tr("Questions"), self.judge_calls, self.tr("to the judge in one run at most"))
        for field in (self.judge, self.judge_every, self.judge_calls):
            field.activated.connect(self._on_judge)
        self.zone_field, self.locale_field = QLineEdit(), QLineEdit()
        self.zone_field.setPlaceholderText("Europe/Oslo")
        self.locale_field.setPlaceholderText("en-GB")
        self.add(
            self.tr("Time zone"),
            self.zone_field,
            self.tr("for model and browser; empty: this machine's"),
        )
        self.add(self.tr("Locale"), self.locale_field, self.tr("for model and browser; empty: en-GB"))
        self.zone_field.textEdited.connect(self._on_timezone)
        self.locale_field.textEdited.connect(self._on_locale)
        self.pictures = self._add_choice(self.tr("Pictures"), "pictures", (
            ("auto", self.tr("automatic")),
            ("changed", self.tr("of a changed page")),
            ("always", self.tr("at every step")),
            ("off", self.tr("never")),
        ), self.tr("the page's screenshot with numbered elements; automatic: of a changed page, if the model"
                   " takes pictures"))  # fmt: skip
        self.picture_detail = self._add_choice(self.tr("Picture detail"), "picture_detail", (
            ("auto", self.tr("as the endpoint chooses")), ("low", self.tr("low")), ("high", self.tr("high")),
        ))  # fmt: skip
        self.picture_side = self._add_choice(self.tr("Picture size"), "picture_side", (
            (512, "512 px"), (768, "768 px"), (1024, "1024 px"), (1280, "1280 px"), (0, self.tr("as taken")),
        ), self.tr("longest side"))  # fmt: skip
        self.marks = self._choice((
            ("off", self.tr("never")), ("auto", self.tr("automatic")), ("always", self.tr("of a changed page")),
        ))  # fmt: skip
        self.marks.activated.connect(self._on_marks)
        self.add(self.tr("Vision"), self.marks, self.tr(
            "a vision model marks what it sees; automatic: where element numbers do not reach"))  # fmt: skip

    def _add_choice(
        self, label: str, option: str, choices: Sequence[tuple[object, str]], meaning: str = ""
    ) -> QComboBox:
        """Add an option that is one of some values, each with its words."""
        box = self._choice(choices)
        box.activated.connect(partial(self._on_choice, box, option))
        self.add(label, box, meaning)
        return box

    def _choice(self, choices: Sequence[tuple[object, str]]) -> QComboBox:
        box = QComboBox()
        for value, words in choices:
            box.addItem(words, value)
        return box

    def add(self, label: str, field: QWidget, meaning: str = "") -> QLabel:
        """Add an option; return the line below it."""
        row = self._grid.rowCount()
        name, says = QLabel(label), text_label(meaning, "secondary", wrap=True)
        name.setBuddy(field)
        if isinstance(field, QComboBox):  # a long choice is cut, it does not widen the form
            field.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            field.setMinimumContentsLength(6)
        field.setAccessibleName(self.tr("Model options: {0}").format(label))
        self.fields.append(field)
        self._grid.addWidget(name, row, 0)
        self._grid.addWidget(field, row, 1)
        self._grid.addWidget(says, row + 1, 1)
        says.setVisible(bool(meaning))
        return says

    def refresh(self) -> None:
        """Show the form's options."""
        form = self._form
        self.setVisible(form.policy == "llm")
        self._show_model()
        sets = [row.name for row in form.action_sets] or [form.llm.actions]
        if [self.actions_set.itemText(place) for place in range(self.actions_set.count())] != sets:
            self.actions_set.clear()
            self.actions_set.addItems(sets)
        self.actions_set.setCurrentText(form.llm.actions)
        if self.picture_side.findData(form.llm.picture_side) == -1:  # of an earlier run
            self.picture_side.addItem(f"{form.llm.picture_side} px", form.llm.picture_side)
        for box, value in (
            (self.pictures, form.llm.pictures),
            (self.picture_detail, form.llm.picture_detail),
            (self.picture_side, form.llm.picture_side),
            (self.marks, form.marks),
        ):
            box.setCurrentIndex(box.findData(value))
        self.actions_meaning.setText(form.actions_meaning)
        self.actions_meaning.setVisible(bool(form.actions_meaning))
        for field, text in ((self.zone_field, form.llm.timezone), (self.locale_field, form.llm.locale)):
            if field.text().strip() != text:
                field.setText(text)

        self.judge.setCurrentIndex(self.judge.findData(form.llm.judge))
        self._show_number(self.judge_every, form.llm.judge_every, EVERY)
        self._show_number(self.judge_calls, form.llm.judge_calls, CALLS)

    def _show_model(self) -> None:
        form = self._form
        if self.model.text() != form.values["model"]:
            self.model.setText(form.values["model"])
        self.model.setPlaceholderText(form.usual_model)
        says = (
            self.tr("empty: the one in the settings, {0}").format(form.usual_model)
            if form.usual_model
            else self.tr("the name at the endpoint in the settings")
        )
        self.model_meaning.setText(says)
        self.set_up.setVisible(not form.has_model)

    def _show_number(self, field: QComboBox, number: int, usual: tuple[int, ...]) -> None:
        """Offer the usual numbers and the one in force, which may come from the terminal."""
        numbers = sorted({*usual, number})
        if [field.itemData(place) for place in range(field.count())] != numbers:
            field.clear()
            for one in numbers:
                field.addItem(str(one) if one else self.tr("none"), one)
        field.setCurrentIndex(field.findData(number))
        field.setEnabled(self._form.llm.judge != "off")

    def _on_judge(self, _place: int) -> None:
        self._form.choose_option(
            judge=self.judge.currentData(),
            judge_every=self.judge_every.currentData(),
            judge_calls=self.judge_calls.currentData(),
        )

    def _on_choice(self, box: QComboBox, option: str, place: int) -> None:
        self._form.choose_option(**{option: box.itemData(place)})

    def _on_marks(self, place: int) -> None:
        self._form.choose_marks(self.marks.itemData(place))

    def _on_actions(self, place: int) -> None:
        self._form.choose_option(actions=self.actions_set.itemText(place))

    def _on_timezone(self, text: str) -> None:
        self._form.choose_option(timezone=text.strip())

    def _on_locale(self, text: str) -> None:
        self._form.choose_option(locale=text.strip())
