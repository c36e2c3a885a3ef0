"""The middle column: the verdict in one sentence, the differences as a plot or a table, pairs and tips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QComboBox, QStackedWidget, QToolButton, QWidget

from app.models.evaluate.evaluate_model import EvaluateModel
from app.models.evaluate.evaluation_list import UNREADABLE
from app.models.evaluate.evaluation_result import ResultState, verdict_title
from app.models.evaluate.figures import count_words
from app.models.evaluate.result_tables import RESULTS
from app.views.evaluate.forest_plot import ForestPlot
from app.views.evaluate.rows import credit_cell, difference_cell, pair_cell
from app.views.evaluate.single_row_table import FilterChips, SingleRowTable
from app.views.widgets import ElidedLabel, EmptyState, Splitter
from app.views.widgets.build import ground, hbox, restyle, scroll_area, styled, text_label, vbox
from app.views.widgets.filter_line import FilterLine

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.views.frame.theme import Theme

PAIR_WIDTHS = {
    "result": 104,
    "task": 92,
    "site": 96,
    "kind": 76,
    "score": 58,
    "against": 58,
    "why": 190,
    "tainted": 62,
}
PAIR_SHRINKING = ("why", "tainted", "kind", "score", "against", "site")
CREDIT_WIDTHS = {
    "verdict": 140,
    "tip": 104,
    "retrieved": 64,
    "followed": 70,
    "templates": 78,
    "difference": 60,
    "interval": 108,
    "method": 66,
}
CREDIT_SHRINKING = ("method", "templates", "followed", "retrieved", "tip")
DIFFERENCE_WIDTHS = {
    "tasks": 52,
    "templates": 76,
    "difference": 58,
    "interval": 128,
    "p": 60,
    "holm": 64,
    "mcnemar": 70,
    "won": 48,
    "lost": 48,
    "steps": 52,
    "money": 76,
}
DIFFERENCE_SHRINKING = ("money", "mcnemar", "steps", "tasks", "templates", "lost", "won", "p", "holm")
PLOT = 292
"""Initial height of the plot."""
SIGNS = {"better": "▲ ", "worse": "▼ "}
ROLES = {"better": "ok", "worse": "fail"}
TASKS, TIPS = 0, 1


class ResultPane(QWidget):
    """One evaluation.  Its empty states say what is missing and what to do."""

    def __init__(self, model: EvaluateModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._result, self._center, self._theme = model, model.result, center, theme
        ground(self)
        self.name = ElidedLabel()
        self.name.setProperty("kind", "secondary")
        self.arms = QComboBox()
        self.arms.setAccessibleName(self.tr("Arms that are compared"))
        self.verdict = text_label(kind="title", wrap=True)
        self.verdict.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.remark = text_label(kind="secondary", wrap=True)
        self.forest = ForestPlot(theme)
        self.numbers = SingleRowTable(
            self._result.differences,
            theme,
            difference_cell,
            self.tr("Differences by site and type, as a table"),
            widths=DIFFERENCE_WIDTHS,
            least=96,
            shrinking=DIFFERENCE_SHRINKING,
        )
        self.pairs = SingleRowTable(
            self._result.pairs,
            theme,
            pair_cell,
            self.tr("Tasks in both arms"),
            widths=PAIR_WIDTHS,
            least=220,
            shrinking=PAIR_SHRINKING,
        )
        self.credits = SingleRowTable(
            self._result.credits,
            theme,
            credit_cell,
            self.tr("What each tip is worth"),
            widths=CREDIT_WIDTHS,
            least=160,
            shrinking=CREDIT_SHRINKING,
        )
        titles = {"": self.tr("All")} | {name: self.tr(name.capitalize()) for name in RESULTS}
        keys = {name: f"evaluate.show.{name or 'all'}" for name in titles}
        self.chips = FilterChips(titles, self._result.show_result, center, keys)
        self.filter = FilterLine(
            "",
            self.tr("site:gitlab  type:change  tainted  words"),
            self.tr("Filter of the tasks"),
            self.take_pairs,
        )
        self.heads = (QToolButton(), QToolButton())
        self._lay_out()
        self._connect()
        self._show()

    # ------------------------------------------------------------ what the view asks
    def take_pairs(self) -> None:
        self.show_tab(TASKS)
        self.pairs.setFocus(Qt.FocusReason.OtherFocusReason)

    def take_tips(self) -> None:
        self.show_tab(TIPS)
        self.credits.setFocus(Qt.FocusReason.OtherFocusReason)

    def take_forest(self) -> None:
        shown = self._plots.currentWidget()
        (self.numbers if shown is self.numbers else self.forest).setFocus(Qt.FocusReason.OtherFocusReason)

    def turn_numbers(self) -> None:
        """Switch between plot and table, keeping the focus on it."""
        held = self.forest.hasFocus() or self.numbers.hasFocus()
        self._plots.setCurrentIndex(1 - self._plots.currentIndex())
        if held:
            self.take_forest()

    def take_filter(self) -> None:
        self.show_tab(TASKS)
        self.filter.take_focus()

    def show_tab(self, number: int) -> None:
        self._tables.setCurrentIndex(number)
        for place, head in enumerate(self.heads):
            head.setChecked(place == number)
        for widget in (self.chips, self.filter):
            widget.setVisible(number == TASKS)

    @property
    def is_tips(self) -> bool:
        return self._tables.currentIndex() == TIPS

    def focused_table(self) -> SingleRowTable | ForestPlot | None:
        """The table or plot with the focus."""
        parts = (self.pairs, self.credits, self.numbers, self.forest)
        return next((part for part in parts if part.hasFocus()), None)

    # ------------------------------------------------------------ layout
    def _lay_out(self) -> None:
        top = hbox((self.name, 1), self.arms, spacing=8)
        head = vbox(top, self.verdict, self.remark, margins=(16, 10, 12, 10), spacing=4)
        self._plots = QStackedWidget()
        inner = ground(QWidget())
        vbox(self.forest, 1, parent=inner)
        for widget in (scroll_area(inner), self.numbers):
            self._plots.addWidget(widget)
        tabs = hbox(*self.heads, (self.filter, 30), 1, margins=(12, 6, 12, 0), spacing=4)
        tools = hbox((self.chips, 1), margins=(14, 6, 12, 6))
        self._tables = QStackedWidget()
        for widget in (self.pairs, self.credits):
            self._tables.addWidget(widget)
        lower = QWidget()
        vbox(tabs, tools, (self._tables, 1), parent=lower, spacing=0)
        self.rows = Splitter(Qt.Orientation.Vertical, (PLOT, 0))
        self.rows.addWidget(self._plots)
        self.rows.addWidget(lower)
        self._plots.setMinimumHeight(80)
        lower.setMinimumHeight(140)
        body = QWidget()
        vbox(head, (self.rows, 1), parent=body, spacing=0)
        self._body, self._empty = body, EmptyState("", "")
        self._start = EmptyState(
            self.tr("What is a knowledge base worth?"),
            self.tr(
                "Run the tasks of a suite with a frozen file and without it, and the answer stands here."
            ),
            "evaluate.new",
            self._center,
        )
        self._first = EmptyState(
            self.tr("What is a knowledge base worth?"),
            self.tr("Add a suite of tasks first: a .json file, or drop one on this window."),
            "suite.add",
            self._center,
        )
        self.error = EmptyState("", "")
        self.unreadable = EmptyState(
            self.tr("The journal can't be read"), "", "evaluate.remove", self._center
        )
        for face in (self.error, self.unreadable):
            face.hint.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._stack = QStackedWidget()
        for face in (body, self._empty, self._start, self._first, self.error, self.unreadable):
            self._stack.addWidget(face)
        vbox(self._stack, parent=self)
        for number, head_button in enumerate(self.heads):
            styled(head_button, "tab")
            head_button.setCheckable(True)
            head_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            head_button.clicked.connect(lambda _on=False, number=number: self.show_tab(number))
        self.show_tab(TASKS)

    def _connect(self) -> None:
        result = self._result
        self.arms.activated.connect(result.choose_arms)
        self.filter.textChanged.connect(result.set_filter)
        self.pairs.picked.connect(result.select_pair)
        self.forest.chosen.connect(self._on_group)
        self.numbers.opened.connect(self._on_group)
        for signal in (result.changed, self._model.changed, self._model.current_changed):
            signal.connect(self._show)

    # ------------------------------------------------------------ what is shown
    def _show(self) -> None:
        model, result = self._model, self._result
        held = self.focused_table() is not None or self.filter.hasFocus()
        self._stack.setCurrentWidget(self._face())
        row, verdict = model.row, result.verdict
        names = [row.name] if row is not None else []
        if verdict is not None:
            names.append(self.tr("{0} against {1}").format(verdict.arm, verdict.against))
        self.name.setText(" · ".join(names))
        self._show_arms()
        standing = result.standing
        sentence = verdict.sentence if verdict is not None else ""
        if verdict is not None and not sentence.startswith(verdict.arm):
            sentence = sentence[:1].upper() + sentence[1:]
        self.verdict.setText(SIGNS.get(standing, "") + sentence)
        restyle(self.verdict, verdict=ROLES.get(standing, ""))
        self.remark.setText(result.remark)
        self.remark.setVisible(bool(result.remark))
        self.forest.show_rows(tuple(result.differences.rows), early=result.is_early)
        pairs = result.pairs
        self.chips.show_counts(pairs.counts, pairs.result)
        self.filter.show_words(pairs.text)
        self.pairs.show_key(result.task)
        words = (self.tr("Tasks {0}").format(count_words(pairs.total)),
                 self.tr("Tips {0}").format(count_words(result.credits.total)))  # fmt: skip
        for head, text in zip(self.heads, words, strict=True):
            head.setText(text)
            head.setAccessibleName(text)
        if held and not (self.focused_table() or self.filter.hasFocus()):
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _face(self) -> QWidget:
        model, result = self._model, self._result
        if model.error or (model.suites.error and not model.suites.list.rows):
            self.error.set(self.tr("The evaluations can't be loaded"), model.error or model.suites.error)
            return self.error
        if not (model.is_loaded and model.suites.is_loaded):
            self._empty.set(self.tr("Loading the evaluations…"), self.tr("Reading suites and journals."))
            return self._empty
        if model.row is None:
            return self._start if model.suites.list.rows else self._first
        if model.row.state == UNREADABLE:
            self.unreadable.hint.setText(result.error or model.row.note)
            keys = self._center.keys("evaluate.remove")
            self.unreadable.button.setText(f"{model.removable}   {keys}")
            return self.unreadable
        match result.state:
            case ResultState.ERROR:
                self.error.set(self.tr("The arms can't be compared"), result.error)
                return self.error
            case ResultState.READY:
                return self._body
            case ResultState.NO_PAIRS:
                self._empty.set(
                    self.tr("Nothing to compare yet"),
                    self.tr("No task has ended in both arms. The first pairs appear here while it runs."),
                )
            case _:
                self._empty.set(self.tr("Comparing the arms…"), self.tr("Reading the journal."))
        return self._empty

    def _show_arms(self) -> None:
        result = self._result
        titles = [verdict_title(one, None) for one in result.verdicts]
        if [self.arms.itemText(place) for place in range(self.arms.count())] != titles:
            with QSignalBlocker(self.arms):
                self.arms.clear()
                self.arms.addItems(titles)
        if result.verdict is not None:
            self.arms.setCurrentIndex(result.verdicts.index(result.verdict))
        self.arms.setVisible(len(titles) > 1)
        self.arms.setToolTip(self._center.action("evaluate.arms").toolTip())

    def _on_group(self, group: str) -> None:
        self._result.show_group(group)
        self.show_tab(TASKS)
