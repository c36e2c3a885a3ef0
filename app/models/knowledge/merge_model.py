"""The merge of another knowledge base: its plan, the decisions, and the apply."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.api.shared_knowledge_api import MergeChoices
from app.models.common.object_list import ObjectList
from app.models.common.translate import tr
from kb.merge_plan import MergePlan, MergeRow, MergeSide
from kb.three_way import MergeOutcome
from kb.tip import Tip
from kb.tip_changes import FIELDS, DiffPart, FieldChange, diff_words, field_text

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks
    from kb.merge import MergeReport

SIDES = tuple(side.value for side in MergeSide)
COMING = (MergeOutcome.ADDED, MergeOutcome.TAKEN, MergeOutcome.COMBINED)
_ALWAYS = ("text", "status")


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeLine:
    """A row of the list: what would become of a tip, and what was decided."""

    tip: str
    word: str
    """The conflict, or what would be done."""
    text: str
    about: str
    is_conflict: bool
    decided: str = ""


@dataclass(frozen=True, slots=True)
class MergeSides:
    """The versions of a tip side by side, field by field: before, here, there."""

    before: tuple[FieldChange, ...]
    mine: tuple[FieldChange, ...]
    theirs: tuple[FieldChange, ...]
    by: str = ""
    rival: str = ""


class MergeListModel(ObjectList[MergeLine]):
    """The tips that a merge asks about or would bring."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda line: line.tip, parent)

    def words(self, value: MergeLine) -> str:
        """``edited twice, shop-abc: Sort the orders, why; decided: mine``."""
        decided = tr("decided: {0}").format(value.decided) if value.decided else ""
        state = decided or (tr("undecided") if value.is_conflict else "")
        said = ", ".join(part for part in (value.about, state) if part)
        return f"{value.word}, {value.tip}: {value.text}" + (f" ({said})" if said else "")


class MergeModel(QObject):
    """State and actions of the merge; ``changed`` reports any change of it, ``opened`` whether it is shown."""

    changed = Signal()
    current_changed = Signal()
    opened = Signal(bool)
    notice = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.lines = MergeListModel(self)
        self.path = self.base = self.error = self.current = ""
        self.is_open = self.is_busy = False
        self.plan: MergePlan | None = None
        self.decisions: dict[str, MergeSide] = {}
        client.knowledge_changed.connect(self._on_knowledge)

    # ------------------------------------------------------------ what is shown
    @property
    def name(self) -> str:
        return PurePath(self.path).name

    @property
    def undecided(self) -> int:
        """Number of conflicts without a decision."""
        return sum(row.tip not in self.decisions for row in self.plan.conflicts) if self.plan else 0

    @property
    def summary(self) -> str:
        """Counts in one line."""
        plan = self.plan
        if plan is None:
            return "" if self.error else tr("Comparing the tips…")
        counts = [
            (len(plan.conflicts), tr("{0} conflicts")),
            (len(plan.of(MergeOutcome.ADDED)), tr("{0} new, as drafts")),
            (len(plan.of(MergeOutcome.TAKEN)), tr("{0} changed there")),
            (len(plan.of(MergeOutcome.COMBINED)), tr("{0} combined")),
            (plan.kept, tr("{0} kept as here")),
        ]
        said = [words.format(count) for count, words in counts if count]
        past = "" if plan.shared else tr("no common past: an older copy of both would show it")
        return " · ".join([*said, *([past] if past else [])]) or tr(
            "Nothing to merge: the tips are the same."
        )

    @property
    def can_apply(self) -> bool:
        return self.plan is not None and not self.is_busy and not self.undecided and bool(self.lines.rows)

    @property
    def row(self) -> MergeRow | None:
        """The row that is looked at."""
        rows = self.plan.rows if self.plan is not None else ()
        return next((row for row in rows if row.tip == self.current), None)

    @property
    def sides(self) -> MergeSides | None:
        """The versions of the row that is looked at."""
        row = self.row
        if row is None:
            return None
        mine = row.rival or row.mine
        fields = _fields(row.base, mine, row.theirs)
        before = row.base if row.rival is None else None
        return MergeSides(
            before=_side(fields, None, before),
            mine=_side(fields, before, mine),
            theirs=_side(fields, before or (mine if row.rival is not None else None), row.theirs),
            by=row.by,
            rival=row.rival.id if row.rival is not None else "",
        )

    # ------------------------------------------------------------ actions
    def open(self, path: str) -> None:
        """Plan the merge of a file and show it."""
        self.path, self.base, self.decisions, self.current = path, "", {}, ""
        if not self.is_open:
            self.is_open = True
            self.opened.emit(True)
        self._ask()

    def set_base(self, path: str) -> None:
        """Plan again with an older copy of both."""
        self.base = path
        self._ask()

    def close(self) -> None:
        """Leave the merge; nothing is changed."""
        if self.is_open:
            self._tasks.cancel("knowledge-merge")
            self.is_open, self.is_busy, self.plan, self.error = False, False, None, ""
            self.lines.merge([])
            self.opened.emit(False)

    def look_at(self, tip: str) -> None:
        if tip != self.current:
            self.current = tip
            self.current_changed.emit()

    def step(self, by: int) -> None:
        """Look at the next row, or the one before."""
        tips = [line.tip for line in self.lines.rows]
        if tips:
            here = tips.index(self.current) if self.current in tips else -by
            self.look_at(tips[max(0, min(here + by, len(tips) - 1))])

    @property
    def can_decide(self) -> bool:
        row = self.row
        return row is not None and bool(row.conflict) and not self.is_busy

    def decide(self, side: str) -> None:
        """Decide the conflict that is looked at, and go to the next undecided one."""
        if not self.can_decide:
            return
        self.decisions[self.current] = MergeSide(side)
        self._show_lines()
        tips = [line.tip for line in self.lines.rows]
        here = tips.index(self.current)
        later = [*tips[here + 1 :], *tips[:here]]
        open_ones = (
            {row.tip for row in self.plan.conflicts} - self.decisions.keys() if self.plan else set[str]()
        )
        self.look_at(next((tip for tip in later if tip in open_ones), self.current))
        self.changed.emit()

    def apply(self) -> None:
        """Merge as planned and decided: one change, which undo takes back."""
        if not self.can_apply or self.plan is None:
            return
        self.is_busy, self.error = True, ""
        self.changed.emit()
        choices = MergeChoices(base=self.base, decisions=dict(self.decisions), plan_key=self.plan.key)
        self._tasks.start(
            self._client.api.kb_merge(self.path, choices), self._merged, self._failed, key="knowledge-merge"
        )

    # ------------------------------------------------------------ answers
    def _ask(self, delay: float = 0.0) -> None:
        self.is_busy, self.error = True, ""
        self.changed.emit()
        self._tasks.start(
            self._client.api.kb_merge_plan(self.path, self.base),
            self._planned,
            self._failed,
            key="knowledge-merge",
            delay=delay,
        )

    def _planned(self, plan: MergePlan) -> None:
        old = {row.tip: row for row in self.plan.conflicts} if self.plan is not None else {}
        new = {row.tip: row for row in plan.conflicts}
        self.plan, self.is_busy = plan, False
        self.decisions = {
            tip: side for tip, side in self.decisions.items() if tip in new and new[tip] == old.get(tip)
        }
        self._show_lines()
        if self.row is None:
            self.current = ""
            self.step(1)
        self.current_changed.emit()
        self.changed.emit()

    def _show_lines(self) -> None:
        plan = self.plan
        rows = [row for row in plan.rows if row.conflict or row.outcome in COMING] if plan is not None else []
        self.lines.merge([self._line(row) for row in rows])

    def _line(self, row: MergeRow) -> MergeLine:
        side = self.decisions.get(row.tip)
        return MergeLine(
            tip=row.tip,
            word=row.conflict.value or _outcome_word(row),
            text=row.theirs.text,
            about=row.rival.id if row.rival is not None else ", ".join(row.fields),
            is_conflict=bool(row.conflict),
            decided=side.value if side is not None else "",
        )

    def _merged(self, report: MergeReport) -> None:
        self.is_busy = False
        parts = [
            tr("Merged {0}: {1} new drafts, {2} changed").format(
                self.name, len(report.added), len(report.changed)
            )
        ]
        if report.drafts:
            parts.append(tr("{0} became drafts, as lint finds errors").format(len(report.drafts)))
        self.close()
        self.notice.emit(", ".join(parts))

    def _failed(self, error: BaseException) -> None:
        self.is_busy, self.error = False, str(error)
        self.changed.emit()

    def _on_knowledge(self, _event: object) -> None:
        if self.is_open and not self.is_busy:
            self._ask(delay=0.3)


def _outcome_word(row: MergeRow) -> str:
    words = {MergeOutcome.ADDED: tr("new"), MergeOutcome.TAKEN: tr("changed there")}
    return words.get(row.outcome, tr("combined"))


def _fields(*versions: Tip | None) -> tuple[str, ...]:
    """The fields in which the versions differ, and those that are always of interest."""
    known = [tip for tip in versions if tip is not None]
    return tuple(
        field
        for field in FIELDS
        if len({field_text(tip, field) for tip in known}) > 1
        or (field in _ALWAYS and any(field_text(tip, field) for tip in known))
    )


def _side(fields: tuple[str, ...], before: Tip | None, tip: Tip | None) -> tuple[FieldChange, ...]:
    if tip is None:
        return ()
    return tuple(
        FieldChange(field, diff_words(field_text(before, field), field_text(tip, field)))
        if before is not None
        else FieldChange(field, (DiffPart("same", field_text(tip, field) or "–"),))
        for field in fields
    )
