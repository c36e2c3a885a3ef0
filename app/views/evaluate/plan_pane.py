"""The plan of a new evaluation, made again while its form is filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from app.models.common.object_table import Column, ObjectTable
from app.models.evaluate.evaluation_form import EvaluationFormModel
from app.models.evaluate.figures import chance, count_words, hours_words
from app.views.evaluate.facts_pane import FactGrid
from app.views.widgets.build import ground, scroll_area, text_label, vbox

if TYPE_CHECKING:
    from app.engine.api.evaluation_api import EvaluationPlan
    from app.views.frame.theme import Theme

ROW = 24


class PowerTable(ObjectTable[tuple[float, float | None, int | None]]):
    """Effect, chance to show it with the templates of the plan, templates for a chance of 80 %."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row[0], parent)
        tr = self.tr
        self.columns = (
            Column(key="effect", title=tr("Points"), numeric=True,
                   cell=lambda row: f"{round(100 * row[0], 1):g}", help=tr("Difference of the two arms")),
            Column(key="power", title=tr("Chance"), numeric=True,
                   cell=lambda row: chance(row[1]) if row[1] is not None else "—",
                   help=tr("To show the effect with these templates")),
            Column(key="needed", title=tr("Templates"), numeric=True,
                   cell=lambda row: count_words(row[2]) if row[2] is not None else "—",
                   help=tr("That show the effect with a chance of 80 %")),
        )  # fmt: skip

    def show_plan(self, plan: EvaluationPlan | None) -> None:
        power, needed = (dict(plan.power), dict(plan.templates_needed)) if plan is not None else ({}, {})
        effects = sorted({*power, *needed})
        self.load((effect, power.get(effect), needed.get(effect)) for effect in effects)


class PlanPane(QWidget):
    """Problems first, then what it takes and what it could show; an older plan stays until the new one is there."""

    def __init__(self, model: EvaluationFormModel, theme: Theme) -> None:
        super().__init__()
        self._model, self._theme = model, theme
        ground(self)
        self.title = text_label(self.tr("Plan"), "heading")
        self.status = text_label(kind="secondary", wrap=True)
        self.problems, self.warnings = text_label(kind="fail", wrap=True), text_label(kind="warn", wrap=True)
        self.facts, self.waits = FactGrid(), text_label(wrap=True)
        self.power, self.power_words = PowerTable(self), text_label(wrap=True)
        self.table = QTableView()
        self._heads = [
            text_label(text, "section")
            for text in (self.tr("What it takes"), self.tr("Sites that wait"), self.tr("What it could show"))
        ]
        self._set_up_table()
        inner = ground(QWidget())
        for head in self._heads:
            head.setContentsMargins(0, 8, 0, 2)
        takes, waits, shows = self._heads
        vbox(
            self.title, self.status, self.problems, self.warnings, takes, self.facts, shows, self.power_words,
            self.table, waits, self.waits, 1,
            parent=inner, margins=(14, 10, 12, 12), spacing=4,
        )  # fmt: skip
        vbox(scroll_area(inner), parent=self)
        model.planned.connect(self._show)
        theme.changed.connect(self._fit)
        self._show()

    def _set_up_table(self) -> None:
        table = self.table
        table.setModel(self.power)
        table.setAccessibleName(self.tr("Chance to show an effect, and templates it needs"))
        table.verticalHeader().hide()
        table.setShowGrid(False)
        table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        table.setTabKeyNavigation(False)
        table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)

    # ------------------------------------------------------------ what is shown
    def _show(self) -> None:
        model, plan = self._model, self._model.plan
        self.status.setText(self._status())
        self.status.setVisible(bool(self.status.text()))
        problems = [model.plan_error] if model.plan_error else list(plan.problems if plan is not None else ())
        warnings = plan.warnings if plan is not None else ()
        for label, lines in ((self.problems, problems), (self.warnings, warnings)):
            label.setText("\n".join(f"! {line}" for line in lines))
            label.setVisible(bool(lines))
        self.facts.show_facts(self._facts(plan))
        waits = plan.sites if plan is not None else ()
        self.waits.setText("\n".join(
            self.tr("{0}: {1} episodes, {2} of them alone on it, {3}").format(
                wait.site, count_words(wait.episodes), count_words(wait.alone), hours_words(wait.hours)
            )
            for wait in waits
        ))  # fmt: skip
        self.power.show_plan(plan)
        self.power_words.setText(power_sentence(plan) if plan is not None else "")
        for head, shown in zip(
            self._heads, (plan is not None, bool(waits), self.power.total > 0), strict=True
        ):
            head.setVisible(shown)
        self.waits.setVisible(bool(waits))
        self.power_words.setVisible(bool(self.power_words.text()))
        self.table.setVisible(self.power.total > 0)
        self._fit()

    def _status(self) -> str:
        model = self._model
        if model.suite is None:
            return self.tr("The plan stands here once a suite is chosen.")
        if model.problems:
            return self.tr("Waiting for the form: {0}").format(model.problems[0].message)
        if model.is_planning:
            return self.tr("Planning…") if model.plan is None else self.tr("Planning again…")
        return ""

    def _facts(self, plan: EvaluationPlan | None) -> tuple[tuple[str, str], ...]:
        if plan is None:
            return ()
        done = self.tr("{0}, of which {1} are done").format(
            count_words(plan.episodes), count_words(plan.done)
        )
        a_run = self.tr("{0:.1f} s").format(plan.seconds_per_run)
        return (
            (self.tr("Arms"), ", ".join(arm.name for arm in plan.head.arms)),
            (self.tr("Tasks"), count_words(len(plan.head.tasks))),
            (self.tr("Templates"), count_words(plan.templates)),
            (self.tr("Episodes"), done if plan.done else count_words(plan.episodes)),
            (self.tr("Time"), hours_words(plan.hours)),
            (self.tr("A run"), f"{a_run} · {plan.based_on}" if plan.based_on else a_run),
            (self.tr("Memory"), self.tr("{0:.1f} GB").format(plan.memory_gb)),
            (self.tr("Dialect"), plan.head.dialect),
            (self.tr("Tainted"), count_words(len(plan.head.tainted)) if plan.head.tainted else ""),
        )

    def _fit(self) -> None:
        row, head = self._theme.px(ROW), self.table.horizontalHeader().sizeHint().height() + 2
        self.table.verticalHeader().setDefaultSectionSize(row)
        self.table.setFixedHeight(row * self.power.total + head)


def power_sentence(plan: EvaluationPlan) -> str:
    """Say in words the smallest effect that is likely to be seen."""
    from app.models.common.translate import tr

    likely = [effect for effect, power in plan.power if power >= 0.8]
    if not plan.power:
        return ""
    if likely:
        return tr("An effect of {0:g} points or more is likely to be seen.").format(
            round(100 * min(likely), 1)
        )
    most, power = max(plan.power)
    words = tr("Even an effect of {0:g} points is likely to be missed (chance {1}); take more templates.")
    return words.format(round(100 * most, 1), chance(power))
