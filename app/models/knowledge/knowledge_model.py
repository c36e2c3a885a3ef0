"""The Knowledge perspective: all tips, the open tip, the retrieval tester, and freezing."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QObject, QTimer, Signal

from app.models.common.tasks import ignore
from app.models.knowledge.freeze_form import FreezeModel
from app.models.knowledge.merge_model import MergeModel
from app.models.knowledge.retrieval_test import RetrievalTestModel
from app.models.knowledge.tip_editor import TipEditor
from app.models.knowledge.tip_table import TipTableModel
from app.models.knowledge.tip_tests import TipTestModel
from kb.tip import Status, StatusChange, Tip

if TYPE_CHECKING:
    from app.engine.api.engine_api import StepView
    from app.engine.api.evaluation_api import TipCreditRow
    from app.engine.core.events import EvaluationAdvanced, KnowledgeChanged, RunsChanged
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

COALESCE_MS = 60
LINT_BATCH = 100
"""Tips linted in one batch: some 40 ms of the store."""
MAX_SINGLE_FETCHES = 64
"""Up to so many changed tips are fetched one by one; for more, the whole list is fetched."""


class KnowledgeState(StrEnum):
    """The state of the tip table."""

    LOADING = "loading"
    READY = "ready"
    NO_TIPS = "no tips"
    NO_MATCH = "no match"
    ERROR = "error"


class KnowledgeModel(QObject):
    """State and actions of the Knowledge perspective; views bind to its signals and item models.

    Signals:
        changed: state, counts or filter changed.
        current_changed(tip): another tip is open ("" for none); the table marks it.
        step_requested(run, step): show the step that a tip came from.
        freezing_changed(open): the freeze pane opened or closed.
        credits_changed: what evaluations say of tips came anew.
        waiver_changed: lint refused to activate tips, or that is settled.
        notice: a sentence for a passing message.
    """

    changed = Signal()
    current_changed = Signal(str)
    selection_changed = Signal()
    step_requested = Signal(str, object)
    freezing_changed = Signal(bool)
    credits_changed = Signal()
    waiver_changed = Signal()
    notice = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.table = TipTableModel(self)
        self.editor = TipEditor(client, tasks, self)
        self.trying = RetrievalTestModel(client, tasks, self)
        self.freezing = FreezeModel(client, tasks, self)
        self.tests = TipTestModel(client, tasks, self)
        self.merging = MergeModel(client, tasks, self)
        self.state, self.error = KnowledgeState.LOADING, ""
        self.current = ""
        self.selected: tuple[str, ...] = ()
        self.refused: dict[str, tuple[str, ...]] = {}
        """Tips that lint has just kept from becoming active, with the rules: a reason would waive them."""
        self._stale: set[str] = set()
        self._all_stale = False
        self._timer = QTimer(self, singleShot=True, interval=COALESCE_MS)
        self._timer.timeout.connect(self._catch_up)
        for part in (self.editor, self.freezing, self.tests, self.merging):
            part.notice.connect(self.notice)
        self.editor.opened.connect(lambda: self.tests.show(self.editor.tip))
        self.tests.changed.connect(self._show_results)
        self.editor.editing_changed.connect(self._show_results)
        client.knowledge_changed.connect(self._on_knowledge)
        client.runs_changed.connect(self._on_runs)
        client.evaluation_advanced.connect(self._on_evaluation)

    def start(self) -> None:
        self._tasks.start(self._client.api.list_tips(), self._loaded, self._failed, key="knowledge-list")
        self._fetch_credits()

    # ------------------------------------------------------------ the table
    def set_filter(self, text: str) -> None:
        if text != self.table.text:
            self.table.set_filter(text)
            self._tell_state()
            self.current_changed.emit(self.current)

    def select(self, tips: Sequence[str], current: str) -> None:
        self.selected = tuple(tips)
        self.table.hold({*tips, current})
        if current and current != self.current:
            self._open(current)
        self.selection_changed.emit()

    def open_tip(self, tip: str) -> None:
        """Open a tip from elsewhere; clears a filter that hides it."""
        if self.state is KnowledgeState.LOADING:
            self.current = tip
            return
        if self.table.row_of(tip) < 0 and self.table.tip(tip) is not None:
            self.set_filter("")
        if self.table.tip(tip) is None:
            self.notice.emit(self.tr("Tip {0} not found.").format(tip))
            return
        self.close_files()
        self.selected = (tip,)
        self._open(tip)
        self.current_changed.emit(tip)

    @property
    def open_site(self) -> str:
        """The site of the open tip, "" for none."""
        tip = self.table.tip(self.current)
        return tip.site if tip is not None else ""

    def neighbour(self, offset: int) -> str:
        """Return the tip so many rows on, as filtered and sorted; the nearest end beyond it."""
        count, here = self.table.rowCount(), self.table.row_of(self.current)
        if not count:
            return ""
        row = self.table.at(max(0, min(here + offset, count - 1)) if here >= 0 else 0)
        return row.id if row is not None else ""

    @property
    def counts_text(self) -> str:
        """``12 / 52``."""
        return f"{self.table.rowCount()} / {self.table.total}"

    # ------------------------------------------------------------ operations
    @property
    def targets(self) -> tuple[str, ...]:
        """The tips that an action applies to: all selected, else the open one."""
        if len(self.selected) > 1:
            return self.selected
        return (self.current,) if self.current and self.table.tip(self.current) is not None else ()

    def can_become(self, status: str) -> bool:
        if self.editor.is_editing:
            return False
        found = (self.table.tip(tip) for tip in self.targets)
        return any(tip is not None and tip.status.value != status for tip in found)

    def set_status(self, status: str) -> None:
        """Give the targets this status; those that have it already stay as they are."""
        to = Status(status)
        tips = [
            tip for tip in self.targets if (one := self.table.tip(tip)) is not None and one.status is not to
        ]
        self.dismiss_waiver()
        if tips:
            self._move(tips, to)

    def waive(self, reason: str) -> None:
        """Activate the tips that lint refused, for this reason; without a reason nothing is done."""
        tips = list(self.refused)
        if tips and reason.strip():
            self._move(tips, Status.ACTIVE, reason.strip())

    def dismiss_waiver(self) -> bool:
        """Leave the refused tips as they are; returns whether there were any."""
        asked, self.refused = bool(self.refused), {}
        if asked:
            self.waiver_changed.emit()
        return asked

    def _move(self, tips: list[str], to: Status, reason: str = "") -> None:
        def done(change: StatusChange) -> None:
            self._take(list(change.tips))
            asked = bool(self.refused)
            self.refused = change.refused
            moved = [tip for tip in tips if tip not in change.refused]
            named = moved[0] if len(moved) == 1 else self.tr("{0} tips").format(len(moved))
            words = [self.tr("{0}: now {1}").format(named, to.value)] if moved else []
            if change.refused:
                words.append(self.tr("{0} refused by lint").format(len(change.refused)))
            self.notice.emit(", ".join(words))
            if asked or self.refused:
                self.waiver_changed.emit()

        self._tasks.start(self._client.api.set_status(tips, to, reason), done)

    def open_evidence(self) -> None:
        """Show the step that the open tip came from."""
        tip = self.editor.tip
        if tip is not None and tip.provenance.run:
            self.step_requested.emit(tip.provenance.run, tip.provenance.step)

    @property
    def has_evidence(self) -> bool:
        return self.editor.tip is not None and bool(self.editor.tip.provenance.run)

    def try_evidence(self) -> None:
        """Fill the address and the goal from the open tip's step, unless the user has typed something there."""
        tip, trying = self.editor.tip, self.trying
        if tip is None or not tip.provenance.run or (trying.is_touched and not trying.is_blank):
            return
        source = f"{tip.provenance.run}:{tip.provenance.step or 0}"
        if source == trying.filled_from:
            return
        self.fill_from(tip.provenance.run, tip.provenance.step or 0)

    def try_evidence_now(self) -> None:
        """Fill the address and the goal from the open tip's step, replacing what was typed."""
        tip = self.editor.tip
        if tip is not None and tip.provenance.run:
            self.fill_from(tip.provenance.run, tip.provenance.step or 0)

    def fill_from(self, run: str, step: int) -> None:
        async def fetch() -> tuple[str, str, str]:
            detail = await self._client.api.open_run(run)
            view: StepView | None = None
            url = next((one.url for one in detail.steps if one.index == step), "")
            if not url:
                view = await self._client.api.view_step(run, step)
                url = view.before.url
            return url, detail.run.intent, detail.run.site

        def came(answer: tuple[str, str, str]) -> None:
            self.trying.fill(*answer, f"{run}:{step}")

        self._tasks.start(fetch(), came, ignore, key="knowledge-fill")

    # ------------------------------------------------------------ files
    def open_files(self) -> None:
        """Open the freeze pane."""
        if not self.freezing.is_open:
            self.editor.leave()
            self.freezing.open()
            self.freezing_changed.emit(True)

    def close_files(self) -> None:
        """Return to the open tip."""
        if self.freezing.is_open:
            self.freezing.close()
            self.freezing_changed.emit(False)

    # ------------------------------------------------------------ session
    def session(self) -> dict[str, Any]:
        """Filter, sorting and open tip, for the next start."""
        table = self.table
        return {
            "filter": table.text,
            "sort": [table.sorted_by, table.descending],
            "tip": self.current,
            "try": [self.trying.url, self.trying.goal],
            "frozen": self.freezing.path,
            "without": dict(self.freezing.without),
        }

    def restore(self, session: dict[str, Any]) -> None:
        """Restore the session; call it before ``start``."""
        text, tip, tried = session.get("filter"), session.get("tip"), session.get("try")
        if isinstance(text, str):
            self.set_filter(text)
        if isinstance(tip, str) and tip:
            self.open_tip(tip)
        if isinstance(tried, list):
            match cast("list[object]", tried):
                case [str(url), str(goal)]:
                    self.trying.fill(url, goal, "", "")
                case _:
                    pass
        without = session.get("without")
        if isinstance(without, dict):
            for what, names in cast("dict[str, object]", without).items():
                if what in self.freezing.without and isinstance(names, str):
                    self.freezing.without[what] = names
        if isinstance(session.get("frozen"), str):
            self.freezing.set_path(session["frozen"])

    # ------------------------------------------------------------ answers
    def _open(self, tip: str) -> None:
        self.current = tip
        self.editor.show(self.table.tip(tip))

    def _loaded(self, tips: list[Tip]) -> None:
        anew = self.state is KnowledgeState.LOADING
        self.error, self.state = "", KnowledgeState.READY
        self.table.load(tips)
        if self.table.tip(self.current) is None:
            top = self.table.at(0)
            self.current, self.selected = (top.id if top is not None else ""), ()
            anew = True
        self.editor.show(self.table.tip(self.current))
        self._tell_state()
        self._mark()
        if anew:
            self.current_changed.emit(self.current)

    def _show_results(self) -> None:
        """Mark the steps with the last test's outcomes, unless they are being edited."""
        self.editor.procedure.show_results({} if self.editor.is_editing else self.tests.results)

    def _mark(self) -> None:
        """Lint the tips whose result is unknown, in batches; the table fills up meanwhile."""
        tips = self.table.unmarked()[:LINT_BATCH]
        if not tips:
            return

        def came(marks: dict[str, tuple[str, ...]]) -> None:
            self.table.mark({tip: marks.get(tip, ()) for tip in tips})
            self.changed.emit()
            self._mark()

        self._tasks.start(self._client.api.lint_marks(tips), came, ignore, key="knowledge-marks", delay=0.05)

    def _fetch_credits(self) -> None:
        """Fetch what evaluations say of tips; they are a table's column, so their failure is none of it."""

        def came(rows: list[TipCreditRow]) -> None:
            self.table.give_credits(rows)
            self.credits_changed.emit()

        self._tasks.start(self._client.api.tip_credits(), came, ignore, key="knowledge-credits", delay=0.1)

    def _on_evaluation(self, event: EvaluationAdvanced) -> None:
        if event.state != "running":
            self._fetch_credits()

    def _failed(self, error: BaseException) -> None:
        self.error = str(error)
        if not self.table.total:
            self.state = KnowledgeState.ERROR
            self.changed.emit()
        else:
            self.notice.emit(self.error)

    def _on_knowledge(self, event: KnowledgeChanged) -> None:
        self._stale.update(event.tips)
        self._all_stale = self._all_stale or not event.tips
        self._timer.start()

    def _on_runs(self, _event: RunsChanged) -> None:
        self.editor.refresh()

    def _catch_up(self) -> None:
        stale, every = self._stale, self._all_stale or len(self._stale) > MAX_SINGLE_FETCHES
        self._stale, self._all_stale = set(), False
        if every or self.state is not KnowledgeState.READY:
            self.start()
            return

        async def fetch() -> list[Tip]:
            return [await self._client.api.tip(tip) for tip in sorted(stale)]

        self._tasks.start(fetch(), self._take, lambda _error: self.start())

    def _take(self, tips: list[Tip]) -> None:
        self.table.put(tips)
        self._mark()
        if any(tip.id == self.current for tip in tips):
            self.editor.show(self.table.tip(self.current))
        elif tips:
            self.editor.refresh()
        self._tell_state()

    def _tell_state(self) -> None:
        if self.state in (KnowledgeState.READY, KnowledgeState.NO_TIPS, KnowledgeState.NO_MATCH):
            empty = KnowledgeState.NO_MATCH if self.table.total else KnowledgeState.NO_TIPS
            self.state = KnowledgeState.READY if self.table.rowCount() else empty
        self.changed.emit()
