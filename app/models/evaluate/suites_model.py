"""Suites of the workspace: the list, the open one with its tasks, and what can be done to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.api.evaluation_api import SuiteRow, SuiteTaskRow
from app.models.common.object_list import ObjectList
from app.models.common.object_table import Column, ObjectTable
from app.models.common.translate import tr
from app.models.evaluate.figures import count_words

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

SUITE_SUFFIXES = (".json", ".jsonl")
"""Endings of files that are taken for suites when they are dropped."""


def suite_problems(row: SuiteRow) -> tuple[str, ...]:
    """Return what is wrong with a suite, one sentence each."""
    found = list[str]()
    if row.without_oracle:
        found.append(tr("{0} tasks have no reference answer; they are undecided").format(row.without_oracle))
    if row.unknown:
        found.append(tr("Unknown evaluators: {0}").format(", ".join(row.unknown)))
    if row.unbound:
        found.append(tr("No address in the table of sites: {0}").format(", ".join(row.unbound)))
    return (*found, *row.notes)


class SuiteListModel(ObjectList[SuiteRow]):
    """Suites by name."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.name, parent)

    def words(self, value: SuiteRow) -> str:
        text = tr("{0}, {1} tasks, {2} templates, {3}").format(
            value.name, count_words(value.tasks), count_words(value.templates), value.dialect
        )
        blind = tr(", answers hidden") if value.blind else ""
        problems = len(suite_problems(value))
        return text + blind + (tr(", {0} problems").format(problems) if problems else "")

    def tip(self, value: SuiteRow) -> str:
        return "\n".join((value.title or value.name, *suite_problems(value)))


class SuiteTaskTable(ObjectTable[SuiteTaskRow]):
    """Tasks of a suite, filtered by words."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.id, parent)
        self.text = ""
        tr = self.tr
        self.columns = (
            Column(key="id", title=tr("Task"), cell=lambda row: row.id, numeric=True),
            Column(key="site", title=tr("Site"), cell=lambda row: ", ".join(row.sites)),
            Column(key="kind", title=tr("Type"), cell=lambda row: row.kind),
            Column(key="template", title=tr("Template"), cell=lambda row: row.template),
            Column(
                key="intent",
                title=tr("Task in words"),
                cell=lambda row: " ".join(row.intent[:600].split()),
                tooltip=lambda row: row.intent[:4000],
            ),
            Column(
                key="expected",
                title=tr("Expected"),
                cell=lambda row: "; ".join(row.expected),
                tooltip=lambda row: "\n".join(row.expected)[:4000] or tr("hidden, or no reference answer"),
            ),
            Column(key="runs", title=tr("Runs"), cell=lambda row: str(row.runs), numeric=True),
        )

    def set_filter(self, text: str) -> None:
        if text != self.text:
            self.text = text
            self.filter_again()

    def matches(self, value: SuiteTaskRow) -> bool:
        if not self.text:
            return True
        text = f"{value.id} {' '.join(value.sites)} {value.kind} {value.template} {value.intent}".lower()
        return all(word in text for word in self.text.lower().split())


class SuitesModel(QObject):
    """Signals:

    changed: the list, the open suite or an error changed.
    notice: a sentence for a passing message.
    """

    changed = Signal()
    notice = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.list = SuiteListModel(self)
        self.tasks = SuiteTaskTable(self)
        self.current = ""
        self.is_loaded = self.is_loading_tasks = False
        self.error = self.task_error = ""
        client.suites_changed.connect(self.load)

    @property
    def row(self) -> SuiteRow | None:
        """The open suite."""
        return self.list.at(self.list.row_of(self.current))

    def load(self, _event: object = None) -> None:
        self._tasks.start(self._client.api.suites(), self._loaded, self._failed, key="evaluate-suites")

    def open(self, name: str) -> None:
        """Open a suite and load its tasks."""
        if name != self.current:
            self.current, self.tasks.text = name, ""
            self.tasks.load(())
            self.is_loading_tasks = bool(name)
        self._load_tasks()
        self.changed.emit()

    def add(self, paths: Sequence[str]) -> None:
        """Add suites from files, one after the other; a file that is no suite leaves the others."""

        async def add() -> list[str]:
            added = list[str]()
            for path in paths:
                try:
                    row = await self._client.api.add_suite(path)
                    added.append(row.name)
                    self.notice.emit(
                        self.tr("Suite '{0}' added: {1} tasks").format(row.name, count_words(row.tasks))
                    )
                except Exception as error:
                    self._tasks.error.emit(str(error) or type(error).__name__)
                    if not hasattr(error, "exit_code"):
                        raise
            return added

        def done(added: list[str]) -> None:
            if added:
                self.current = added[-1]
                self.load()

        self._tasks.start(add(), done)

    def remove(self, name: str) -> None:
        """Remove a suite; undo brings it back."""

        def done(_nothing: None) -> None:
            self.notice.emit(self.tr("Suite '{0}' removed").format(name))
            self.load()

        self._tasks.start(self._client.api.remove_suite(name), done)

    def turn_blind(self) -> None:
        """Hide the answers of the open suite from people who write tips, or show them."""
        row = self.row
        if row is None:
            return

        def done(now: SuiteRow) -> None:
            self.list.put(now)
            self._load_tasks()
            words = self.tr("Answers of '{0}' hidden") if now.blind else self.tr("Answers of '{0}' shown")
            self.notice.emit(words.format(now.name))
            self.changed.emit()

        self._tasks.start(self._client.api.set_suite_blind(row.name, not row.blind), done)

    # ------------------------------------------------------------ answers
    def _loaded(self, rows: list[SuiteRow]) -> None:
        self.is_loaded, self.error = True, ""
        self.list.merge(rows, keep_places=True)
        if self.row is None:
            self.current = ""
            self.tasks.load(())
        elif not self.tasks.total:
            self._load_tasks()
        self.changed.emit()

    def _failed(self, error: Exception) -> None:
        self.is_loaded, self.error = True, str(error) or type(error).__name__
        self.changed.emit()

    def _load_tasks(self) -> None:
        name = self.current
        if not name:
            return

        def came(rows: list[SuiteTaskRow]) -> None:
            self.is_loading_tasks, self.task_error = False, ""
            if name == self.current:
                self.tasks.load(rows)
            self.changed.emit()

        def failed(error: Exception) -> None:
            self.is_loading_tasks, self.task_error = False, str(error) or type(error).__name__
            self.changed.emit()

        self._tasks.start(self._client.api.suite_tasks(name), came, failed, key="evaluate-suite-tasks")
