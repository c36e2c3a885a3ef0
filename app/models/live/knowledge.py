"""Tips retrieved at the open run's current step, and the operator's changes to them for this run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.core.supervision import KnowledgeAtStep, PlannedAction, TipAtStep, TipOverride
from app.models.common.object_list import ReorderableList
from app.models.common.translate import tr

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

HINT = "hint:"
"""Prefix of the ids of an operator's hints, which are no tips of the knowledge base."""


class LiveTipList(ReorderableList[TipAtStep]):
    """Tips given to the agent in their order, then those that were cut."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda tip: tip.tip, parent)

    def words(self, value: TipAtStep) -> str:
        """``url 1.00: shop-001, the text, followed, pinned``."""
        if value.cut:
            head = tr("not given ({0}): {1}").format(value.cut, value.tip)
        else:
            head = f"{value.route} {value.score:.2f}: {value.tip}".strip()
        parts = [
            head,
            value.text,
            due_words(value),
            follow_words(value),
            value.stance.value,
            vote_words(value),
        ]
        return ", ".join(part for part in parts if part)

    def tip(self, value: TipAtStep) -> str:
        """Text, reason, score of every route, tokens."""
        routes = ", ".join(f"{route} {score:.2f}" for route, score in value.routes.items())
        tokens = tr("{0} tokens").format(value.tokens) if value.tokens else ""
        return "\n".join(part for part in (value.text, value.cut or value.why, routes, tokens) if part)


def follow_words(tip: TipAtStep) -> str:
    """Return whether the next action follows a given tip; "" where that is unknown."""
    if tip.cut or tip.follows is None:
        return ""
    return tr("followed") if tip.follows else tr("not followed")


def due_words(tip: TipAtStep) -> str:
    """Return the next step of a given tip; "" for a tip without steps, or before the next action is known."""
    due = tip.due
    if tip.cut or due is None:
        return ""
    if not due.applies:
        return tr("not applicable here")
    if due.over:
        return tr("all {0} steps done").format(due.steps)
    if not due.line:  # a step failed too often
        return due.why
    words = tr("next: step {0} of {1}, {2}").format(due.number, due.steps, due.line)
    return tr("{0} (not here: {1})").format(words, due.why) if due.why else words


def vote_words(tip: TipAtStep) -> str:
    return "" if not tip.vote else tr("useful") if tip.vote > 0 else tr("not useful")


class LiveKnowledge(QObject):
    """Tips at the current step of one run, one of them selected.

    Signals:
        changed: the tips, their number or the selection.
        failed(reason): an action failed; the list shows what is in force.
        tip_wanted(tip id): Knowledge should open this tip.
    """

    changed = Signal()
    failed = Signal(str)
    tip_wanted = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.tips = LiveTipList(self)
        self.here: KnowledgeAtStep | None = None
        self.selected = ""
        self._run = ""
        self._next: PlannedAction | None = None

    # ------------------------------------------------------------ what is shown
    def show(self, run: str, here: KnowledgeAtStep | None, planned: PlannedAction | None = None) -> None:
        """Show a run's tips: another run was opened, or this one was loaded again."""
        if run != self._run:
            self.selected = ""
        self._run, self.here, self._next = run, here, planned
        self._fill()

    def take(self, here: KnowledgeAtStep) -> None:
        if here.run == self._run:
            self.here = here
            self._fill()

    def plan(self, planned: PlannedAction | None) -> None:
        self._next = planned
        self._fill()

    @property
    def summary(self) -> str:
        """``2 given, 1 cut · 33 of 600 tokens``."""
        if self.here is None:
            return ""
        cut = sum(bool(tip.cut) for tip in self.here.tips)
        given = tr("{0} given").format(len(self.here.tips) - cut)
        head = f"{given}, {tr('{0} cut').format(cut)}" if cut else given
        if not self.here.budget:
            return head
        return f"{head} · {tr('{0} of {1} tokens').format(self.here.tokens, self.here.budget)}"

    @property
    def off(self) -> tuple[str, ...]:
        """Routes that could not be used, and why."""
        pairs = self.here.off.items() if self.here is not None else ()
        return tuple(tr("route {0} is off: {1}").format(route, why) for route, why in pairs)

    # ------------------------------------------------------------ the selected tip
    @property
    def tip(self) -> TipAtStep | None:
        return self.tips.at(self.tips.row_of(self.selected))

    def select(self, row: int) -> None:
        tip = self.tips.at(row)
        if tip is not None and tip.tip != self.selected:
            self.selected = tip.tip
            self.changed.emit()

    def move(self, by: int) -> None:
        """Select the next or the previous tip; the first where none is."""
        last = len(self.tips.rows) - 1
        row = self.tips.row_of(self.selected)
        self.select(max(min(row + by, last), 0) if row >= 0 else 0)

    def can_steer(self) -> bool:
        """Whether the selected tip can be muted, pinned, voted on or opened; an operator's hint can't."""
        tip = self.tip
        return tip is not None and not tip.tip.startswith(HINT)

    def mute(self) -> None:
        """Withhold the tip from the agent for this run, or stop doing so."""
        self._steer(TipOverride.MUTED)

    def pin(self) -> None:
        """Give the tip to the agent at every step of this run, or stop doing so."""
        self._steer(TipOverride.PINNED)

    def vote(self, vote: int) -> None:
        """Vote the tip useful (1) or not (-1); the same vote again takes it back."""
        tip = self.tip
        if tip is not None and self.can_steer():
            wanted = 0 if tip.vote == vote else vote
            self._change(replace(tip, vote=wanted))
            self._tasks.start(self._client.api.vote_tip(self._run, tip.tip, wanted), failed=self._failed)

    def open(self) -> None:
        if self.can_steer():
            self.tip_wanted.emit(self.selected)

    def _steer(self, stance: TipOverride) -> None:
        tip = self.tip
        if tip is not None and self.can_steer():
            wanted = TipOverride.NONE if tip.stance is stance else stance
            self._change(replace(tip, stance=wanted))
            self._tasks.start(self._client.api.override_tip(self._run, tip.tip, wanted), failed=self._failed)

    def _change(self, tip: TipAtStep) -> None:
        """Show a change at once; the engine's event confirms it."""
        self.tips.put(tip)
        self.changed.emit()

    def _failed(self, error: Exception) -> None:
        self._fill()
        self.failed.emit(str(error))

    def _fill(self) -> None:
        tips = self.here.tips if self.here is not None else ()
        planned = self._next if self._is_of_this_step() else None
        follows = planned.follows if planned is not None else {}
        due = {one.tip: one for one in planned.due} if planned is not None else {}
        rows = [
            tip
            if tip.cut
            else replace(tip, follows=follows.get(tip.tip, tip.follows), due=due.get(tip.tip, tip.due))
            for tip in {tip.tip: tip for tip in tips}.values()
        ]
        self.tips.arrange([*(tip for tip in rows if not tip.cut), *(tip for tip in rows if tip.cut)])
        if self.tips.row_of(self.selected) < 0:
            first = self.tips.at(0)
            self.selected = first.tip if first is not None else ""
        self.changed.emit()

    def _is_of_this_step(self) -> bool:
        return self.here is not None and self._next is not None and self._next.step == self.here.step
