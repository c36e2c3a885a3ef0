"""The agent's ledger at the current step, as rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.api.run_api import RunMemory
from app.engine.core.ledger import Ledger
from app.models.common.object_list import ObjectList

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLine:
    """One entry: its role, details (step, category, cause) and text; ``new`` when it was made at this very step."""

    key: str
    role: str
    text: str
    more: str = ""
    new: bool = False


class MemoryList(ObjectList[MemoryLine]):
    """Rows of the ledger in the order of the agent's own view."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda line: line.key, parent)

    def words(self, value: MemoryLine) -> str:
        """``fact (step 3): total = 42``."""
        return f"{value.role}{f' ({value.more})' if value.more else ''}: {value.text}"


class RunMemoryModel(QObject):
    """Follows the current step while the memory pane is open.

    Signals:
        changed: other rows, or another reason why there are none.
    """

    changed = Signal()

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.lines = MemoryList(self)
        self.watched = False
        self.missing = ""
        self._run, self._step = "", 0

    def watch(self, on: bool) -> None:
        """Load memories only while the pane is open."""
        self.watched = on
        if on:
            self._ask()

    def show(self, run: str, step: int) -> None:
        """Show the ledger of a step."""
        if (run, step) == (self._run, self._step):
            return
        if run != self._run:
            self.lines.replace([])
        self._run, self._step = run, step
        if self.watched:
            self._ask()

    def _ask(self) -> None:
        if not self._run:
            return
        run, step = self._run, self._step

        def came(memory: RunMemory) -> None:
            if (run, step) != (self._run, self._step):
                return
            self.missing = "" if memory.events else self.tr("This run was imported and has no ledger.")
            self.lines.merge(list(lines_of(memory.ledger, step)))
            self.changed.emit()

        def failed(error: BaseException) -> None:
            self.missing = str(error)
            self.lines.replace([])
            self.changed.emit()

        self._tasks.start(
            self._client.api.run_memory(run, step), came, failed, key="review-memory", delay=0.1
        )


def lines_of(ledger: Ledger, step: int) -> Iterator[MemoryLine]:
    """Yield the rows of a ledger as it was after ``step``; repeated texts get keys of their own."""
    if ledger.goal:
        yield MemoryLine(key="goal", role="goal", text=ledger.goal)
    if ledger.subgoal:
        yield MemoryLine(key="subgoal", role="subgoal", text=ledger.subgoal)
    for node in ledger.plan:
        why = f"{node.intent}: {node.reason}" if node.reason else node.intent
        yield MemoryLine(
            key=f"plan {node.id}", role="plan", text=why, more=node.state.value, new=node.step == step
        )
    for one in ledger.constraints:
        yield MemoryLine(
            key=f"constraint {one.text}",
            role="constraint",
            text=one.text,
            more=f"{one.kind} · met: {one.met}",
        )
    for place, fact in enumerate(ledger.facts):
        more = f"step {fact.step} · {fact.category.value}" + (" · retracted" if fact.retracted else "")
        yield MemoryLine(
            key=f"fact {place}",
            role="fact",
            text=f"{fact.key}: {fact.value}",
            more=more,
            new=fact.step == step,
        )
    for place, end in enumerate(ledger.dead_ends):
        again = f" · again from step {end.until}" if end.until else ""
        more = f"step {end.step} · {end.cause}{again}"
        yield MemoryLine(
            key=f"dead end {place}",
            role="dead end",
            text=f"{end.target}: {end.words}" if end.target else end.words,
            more=more,
            new=end.step == step,
        )
    for place, mark in enumerate(ledger.checkpoints):
        yield MemoryLine(
            key=f"landmark {place}",
            role="landmark",
            text=mark.words,
            more=f"step {mark.step}",
            new=mark.step == step,
        )
    for note in ledger.notes:
        yield MemoryLine(
            key=f"note {note.number}",
            role=f"note {note.number}",
            text=note.text,
            more=f"step {note.step}",
            new=note.step == step,
        )
    for place, told in enumerate(ledger.episodic):
        yield MemoryLine(key=f"episode {place}", role="episode", text=told)
