"""The right column: progress and cost of the open evaluation, its arms, protocol and errors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QProgressBar, QWidget

from app.models.evaluate.evaluate_model import EvaluateModel
from app.models.evaluate.evaluation_list import RUNNING, error_count, progress_words
from app.models.evaluate.figures import count_words, hours_words, money_text, short_hash
from app.views.evaluate.rows import ARM, ERROR, STATE_ROLE, arm_row, error_row
from app.views.widgets import Badge, ElidedLabel
from app.views.widgets.build import Gap, ground, hbox, scroll_area, text_label, vbox
from app.views.widgets.command_button import CommandButton
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.rows import FittedList

if TYPE_CHECKING:
    from app.engine.api.evaluation_api import EvaluationRow
    from app.engine.core.evaluation.episode import EvaluationHead
    from app.models.common.commands import CommandCenter
    from app.views.frame.theme import Theme

MOST_NOTES = 12


class FactGrid(QWidget):
    """Names and values in two columns; labels are used again, so that nothing flickers while they change."""

    def __init__(self) -> None:
        super().__init__()
        self._labels: list[tuple[QLabel, QLabel]] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)

    def show_facts(self, facts: Sequence[tuple[str, str]]) -> None:
        """Show name and value of each fact; those without a value are left out."""
        shown = [fact for fact in facts if fact[1]]
        while len(self._labels) < len(shown):
            name, value = text_label(kind="secondary"), text_label(wrap=True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            row = len(self._labels)
            self._grid.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(value, row, 1)
            self._labels.append((name, value))
        for number, (name, value) in enumerate(self._labels):
            for label, text in zip(
                (name, value), shown[number] if number < len(shown) else ("", ""), strict=True
            ):
                label.setText(text)
                label.setVisible(number < len(shown))

    def texts(self) -> dict[str, str]:
        """The facts shown, by name."""
        return {name.text(): value.text() for name, value in self._labels if name.text()}


class FactsPane(QWidget):
    """Follows the open evaluation."""

    def __init__(self, model: EvaluateModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._result = model, model.result
        ground(self)
        self.name, self.state = ElidedLabel(), Badge("", "muted", theme)
        self.name.setProperty("kind", "heading")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Progress of the evaluation"))
        self.progress, self.last = text_label(wrap=True), ElidedLabel()
        self.last.setProperty("kind", "secondary")
        resume = ("evaluate.resume", self.tr("Resume"))
        self.control = CommandButton("evaluate.stop", center, theme, self.tr("Stop"), others=(resume,))
        self.report = CommandButton("evaluate.report", center, theme, self.tr("Report"))
        self.remove = CommandButton("evaluate.remove", center, theme, self.tr("Remove"))
        self.cost, self.protocol = FactGrid(), FactGrid()
        self.arms = FittedList(theme, arm_row, self.tr("Arms"), ARM, most=8)
        self.arms.setModel(model.result.arms)
        self.errors = FittedList(theme, error_row, self.tr("Errors"), ERROR, most=6)
        self.errors.setModel(model.result.errors)
        self.notes = text_label(wrap=True)
        self.notes.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._heads = {
            name: text_label(title, "section")
            for name, title in (
                ("arms", self.tr("Arms")),
                ("notes", self.tr("Notes")),
                ("errors", self.tr("Errors")),
                ("cost", self.tr("Cost")),
                ("protocol", self.tr("Protocol")),
            )
        }
        self._lay_out()
        for signal in (model.changed, model.current_changed, model.result.changed):
            signal.connect(self._show)
        self._show()

    def _lay_out(self) -> None:
        buttons = QWidget()
        FlowLayout(self.control, self.report, self.remove, parent=buttons, gap=6)
        inner = ground(QWidget())
        heads = self._heads
        for head in heads.values():
            head.setContentsMargins(0, 10, 0, 2)
        vbox(
            hbox((self.name, 1), self.state, spacing=8),
            self.bar,
            self.progress,
            self.last,
            Gap(4),
            buttons,
            heads["arms"], self.arms,
            heads["notes"], self.notes,
            heads["errors"], self.errors,
            heads["cost"], self.cost,
            heads["protocol"], self.protocol,
            1,
            parent=inner, margins=(14, 10, 12, 12), spacing=4,
        )  # fmt: skip
        self._scroll = scroll_area(inner)
        vbox(self._scroll, parent=self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the lists: another width breaks their sentences elsewhere."""
        super().resizeEvent(event)
        for lines in (self.arms, self.errors):
            lines.fit()

    # ------------------------------------------------------------ what is shown
    def _show(self) -> None:
        model, result, row = self._model, self._result, self._model.row
        self._scroll.setVisible(row is not None)
        if row is None:
            return
        self.name.setText(row.name)
        self.state.set(self.tr(row.state), STATE_ROLE.get(row.state, "muted"))
        self.bar.setVisible(bool(row.episodes))
        self.bar.setRange(0, max(row.episodes, 1))
        self.bar.setValue(row.done)
        self.progress.setText(self._progress(row))
        self.progress.setVisible(bool(self.progress.text()))
        self.last.setText(model.last_words)
        self.last.setVisible(bool(model.last_words) and row.state == RUNNING)
        word = self.tr("Resume") if row.state != RUNNING else self.tr("Stop")
        self.control.show_as("evaluate.stop" if row.state == RUNNING else "evaluate.resume", word)
        self.control.setVisible(row.state in (RUNNING, "stopped"))
        for lines in (self.arms, self.errors):
            lines.fit()
        notes = [note for note in (row.note, *self._notes()) if note][:MOST_NOTES]
        self.notes.setText("\n".join(f"· {note}" for note in notes))
        self.cost.show_facts(self._cost(row))
        head = result.head
        self.protocol.show_facts(protocol_facts(head) if head is not None else ())
        shown = {
            "arms": bool(result.arms.rows),
            "notes": bool(notes),
            "errors": bool(result.errors.rows),
            "cost": bool(row.episodes),
            "protocol": head is not None,
        }
        for name, label in self._heads.items():
            label.setVisible(shown[name])
        self.notes.setVisible(bool(notes))
        self.cost.setVisible(shown["cost"])
        self.protocol.setVisible(shown["protocol"])

    def _notes(self) -> tuple[str, ...]:
        comparison = self._result.comparison
        return comparison.notes if comparison is not None else ()

    def _progress(self, row: EvaluationRow) -> str:
        if not row.episodes:
            return ""
        parts = [self.tr("{0} episodes").format(progress_words(row))]
        if row.errors:
            parts.append(error_count(row.errors))
        if self._model.time_left:
            parts.append(self._model.time_left)
        return " · ".join(parts)

    def _cost(self, row: EvaluationRow) -> tuple[tuple[str, str], ...]:
        return (
            (self.tr("Tokens"), count_words(row.tokens)),
            (self.tr("Money"), money_text(row.money)),
            (self.tr("Time of all runs"), hours_words(row.seconds / 3600)),
        )


def protocol_facts(head: EvaluationHead) -> tuple[tuple[str, str], ...]:
    """Return what an evaluation was run by: suite, rules, budgets, versions."""
    from app.models.common.translate import tr

    limits = dict(head.options)
    budget = [tr("{0} steps").format(head.max_steps)]
    for name, unit in (
        ("max_seconds", tr("{0} s")),
        ("max_tokens", tr("{0} tokens")),
        ("max_money", tr("${0}")),
    ):
        if limits.get(name, "0") not in ("0", "0.0", ""):
            budget.append(unit.format(limits[name]))
    begun = datetime.fromtimestamp(head.begun_at).strftime("%Y-%m-%d %H:%M") if head.begun_at else ""
    return (
        (tr("Suite"), f"{head.suite} · {short_hash(head.suite_sha256)}"),
        (tr("Dialect"), head.dialect),
        (
            tr("Tasks"),
            (
                tr("{0}, each {1} times in every arm")
                if head.repeats > 1
                else tr("{0}, each once in every arm")
            ).format(count_words(len(head.tasks)), head.repeats),
        ),
        (tr("Tainted"), count_words(len(head.tainted)) if head.tainted else ""),
        (tr("Policy"), " · ".join(part for part in (head.policy, head.model) if part)),
        (tr("Prompts"), short_hash(head.prompts_sha256)),
        (tr("Budget of a run"), ", ".join(budget)),
        (tr("Versions"), ", ".join(f"{name} {version}" for name, version in head.versions)),
        (tr("Machine"), ", ".join(f"{name} {value}" for name, value in head.machine)),
        (tr("Seed"), str(head.seed)),
        (tr("Begun"), begun),
    )
