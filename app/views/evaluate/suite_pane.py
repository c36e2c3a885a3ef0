"""An open suite: its tasks in the middle, its facts and problems in the right column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.models.evaluate.figures import count_words, short_hash
from app.models.evaluate.suites_model import SuitesModel, suite_problems
from app.views.evaluate.facts_pane import FactGrid
from app.views.evaluate.rows import task_cell
from app.views.evaluate.single_row_table import SingleRowTable
from app.views.widgets import ElidedLabel, EmptyState
from app.views.widgets.build import ground, hbox, scroll_area, text_label, vbox
from app.views.widgets.command_button import WORD, CommandButton
from app.views.widgets.filter_line import FilterLine
from app.views.widgets.flow_layout import FlowLayout

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.views.frame.theme import Theme

WIDTHS = {"id": 56, "site": 116, "kind": 82, "template": 84, "expected": 230, "runs": 48}
SHRINKING = ("template", "runs", "expected", "kind", "site")


class SuitePane(QWidget):
    """The tasks of the open suite."""

    def __init__(self, model: SuitesModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model = model
        ground(self)
        self.title, self.count = ElidedLabel(), text_label(kind="secondary")
        self.title.setProperty("kind", "heading")
        self.filter = FilterLine(
            "",
            self.tr("words of a task, site, type"),
            self.tr("Filter of the suite's tasks"),
            self.take_focus,
        )
        self.table = SingleRowTable(
            model.tasks,
            theme,
            task_cell,
            self.tr("Tasks of the suite"),
            widths=WIDTHS,
            least=240,
            shrinking=SHRINKING,
        )
        self._empty = EmptyState("", "")
        self._stack = QStackedWidget()
        for face in (self.table, self._empty):
            self._stack.addWidget(face)
        head = hbox((self.title, 3), (self.filter, 4), self.count, margins=(16, 8, 12, 8), spacing=8)
        vbox(head, (self._stack, 1), parent=self, spacing=0)
        self.filter.textChanged.connect(self._on_filter)
        model.changed.connect(self._show)
        self._show()

    def take_focus(self) -> None:
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_filter(self, text: str) -> None:
        self._model.tasks.set_filter(text)
        self._show()

    def _show(self) -> None:
        model, tasks, row = self._model, self._model.tasks, self._model.row
        self.title.setText((row.title or row.name) if row is not None else "")
        self.filter.show_words(tasks.text)
        self.count.setText(f"{count_words(tasks.rowCount())} / {count_words(tasks.total)}")
        self._stack.setCurrentIndex(0 if tasks.rowCount() else 1)
        if model.task_error:
            self._empty.set(self.tr("The tasks can't be loaded"), model.task_error)
        elif model.is_loading_tasks:
            self._empty.set(self.tr("Loading the tasks…"), "")
        elif tasks.total:
            self._empty.set(self.tr("No matching tasks"), self.tr("Change the filter, or clear it."))
        else:
            self._empty.set(self.tr("No tasks"), self.tr("The suite has none."))


class SuiteFacts(QWidget):
    """Form, size, sites and problems of the open suite, and what can be done to it."""

    def __init__(self, model: SuitesModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center = model, center
        ground(self)
        self.name = ElidedLabel()
        self.name.setProperty("kind", "heading")
        self.new = CommandButton("evaluate.new", center, theme, self.tr("Evaluate"))
        self.rescore = CommandButton("evaluate.rescore", center, theme, self.tr("Rescore"))
        shown = ("suite.blind", self.tr("Show answers"))
        self.blind = CommandButton("suite.blind", center, theme, self.tr("Hide answers"), others=(shown,))
        self.remove = CommandButton("evaluate.remove", center, theme, self.tr("Remove"))
        self.facts, self.problems = FactGrid(), text_label(wrap=True)
        self.problems_head = text_label(self.tr("Problems"), "section")
        self.blind_words = text_label(
            self.tr("Answers are hidden from people who write tips. Taint still counts the whole suite."),
            "secondary",
            wrap=True,
        )
        for button in (self.rescore, self.remove):
            button.set_detail(WORD)
        buttons = QWidget()
        FlowLayout(self.new, self.rescore, self.blind, self.remove, parent=buttons, gap=6)
        inner = ground(QWidget())
        vbox(
            self.name, buttons, self.blind_words, self.problems_head, self.problems, self.facts, 1,
            parent=inner, margins=(14, 10, 12, 12), spacing=8,
        )  # fmt: skip
        vbox(scroll_area(inner), parent=self)
        model.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        row = self._model.row
        if row is None:
            return
        self.name.setText(row.name)
        icon = "eye-outline" if row.blind else ""
        self.blind.show_as(
            "suite.blind", self.tr("Show answers") if row.blind else self.tr("Hide answers"), icon
        )
        self.blind_words.setVisible(row.blind)
        problems = suite_problems(row)
        self.problems.setText("\n".join(f"! {problem}" for problem in problems))
        for widget in (self.problems_head, self.problems):
            widget.setVisible(bool(problems))
        self.facts.show_facts(
            (
                (self.tr("Tasks"), count_words(row.tasks)),
                (self.tr("Templates"), count_words(row.templates)),
                (self.tr("Format"), row.form),
                (self.tr("Dialect"), row.dialect),
                (self.tr("sha256"), short_hash(row.sha256)),
                (self.tr("Sites"), _counted(row.sites)),
                (self.tr("Types"), _counted(row.kinds)),
                (self.tr("Subsets"), ", ".join(row.subsets)),
            )
        )


def _counted(groups: tuple[tuple[str, int], ...]) -> str:
    return "\n".join(f"{name or '—'} {count_words(count)}" for name, count in groups)
