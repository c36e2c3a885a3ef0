"""Requests of the open run, one card at a time, the most urgent first; decided by a key."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.engine.core.intervention_policy import RiskClass
from app.engine.core.supervision import (
    MAX_HINT_CHARS,
    ApprovalRequest,
    ApprovalScope,
    DecisionKind,
    LiveRow,
    Need,
    OperatorDecision,
    PlannedAction,
    RequestState,
    RunState,
)
from app.errors import Conflict
from app.models.common.tasks import ignore
from app.models.common.translate import tr
from app.models.live.cards import Card, offers_of, planned_card, planned_id
from app.models.review.run_queue import detector_label

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks
    from app.models.live.delayed_actions import DelayedStops
    from app.models.live.input_guard import InputGuard

Decide = Callable[[ApprovalRequest, OperatorDecision], Coroutine[Any, Any, ApprovalRequest]]

MAX_TEXT_LENGTH = MAX_HINT_CHARS
"""Characters of an answer, a reason or a hint; a longer text is refused, never cut."""

_SEEN_FIRST = frozenset({DecisionKind.APPROVE, DecisionKind.EDIT})
_NO_PAGE = frozenset({RunState.INTERRUPTED, RunState.STARTING})
"""States without a page to look at: an action is approved only before the page as it is now."""
GRACE_SECONDS = 0.5
"""A request younger than this can't be decided: the key was meant for what was shown before."""

CARD_TITLES = {
    Need.FLAG: "A detector fired",
    Need.APPROVAL: "Approve this action?",
    Need.QUESTION: "The agent asks",
    Need.WALL: "Blocked by a log-in or captcha",
    Need.TROUBLE: "It can't continue by itself",
}
ENDS_RUN_IF_DENIED = frozenset({Need.FLAG, Need.WALL, Need.TROUBLE})
"""Needs whose denial ends the run."""
RISK_ROLES = ("muted", "live", "warn", "fail")
"""Colour roles of the levels of a risk class."""


class LiveRequests(QObject):
    """Requests of one run.

    Signals:
        changed: another card, or another state of it.
        decided(request, decision): the engine accepted a decision.
        planned_edited(PlannedAction): the next action of a paused run was replaced by this one.
        too_recent: a decision was refused because its request has only just appeared.

    ``decide`` sends a decision, ``dress`` completes a card; the inbox sets both, for equal requests of other runs.
    """

    changed = Signal()
    decided = Signal(object, object)
    too_recent = Signal()
    planned_edited = Signal(object)

    def __init__(
        self,
        client: EngineEvents,
        tasks: Tasks,
        hands: InputGuard,
        endings: DelayedStops,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._hands, self._endings = client, tasks, hands, endings
        self._run = self._wanted = ""
        self._aim: tuple[str, ...] = ()
        self._known: dict[str, ApprovalRequest] = {}
        self._shown_at = float("-inf")
        self._mine: set[str] = set()
        self._state = RunState.WAITING
        self.card: Card | None = None
        self.planned: PlannedAction | None = None
        """The next action of a paused run, while an operator edits it."""
        self.reason = ""
        """The reason given to the agent with the next decision."""
        self.error = ""
        self.is_deciding = False
        self.decide: Decide = lambda request, decision: client.api.decide(request.id, decision)
        self.dress: Callable[[Card], Card] = lambda card: card
        endings.changed.connect(self.update_card)

    # ------------------------------------------------------------ what is open
    def show(self, run: str, requests: Iterable[ApprovalRequest]) -> None:
        """Show a run's requests: another run was opened, or this one was loaded again."""
        if run != self._run:
            self.reason = self.error = ""
            self._aim = ()
            self.is_deciding, self.planned = False, None
            self.mark_shown()
        self._run = run
        self._known = {one.id: one for one in requests if one.state is not RequestState.CLOSED}
        self.update_card()

    def follow(self, row: LiveRow) -> None:
        """Update from the run's row, which knows the open requests and whether the step of a decided one has
        begun.
        """
        self._state = row.state
        wanted = {one.id: one for one in row.needs}
        for one in list(self._known.values()):
            gone = one.state is RequestState.OPEN and one.id not in wanted
            done = one.state is RequestState.DECIDED and (row.step > one.step or not row.state.alive)
            if gone or done:
                del self._known[one.id]
        for one in wanted.values():
            known = self._known.get(one.id)
            if known is None or known.state is RequestState.OPEN:
                self._known[one.id] = one
        self.update_card()

    def take(self, request: ApprovalRequest) -> None:
        """Take a request that was opened, decided (here or by somebody else) or closed."""
        if request.run != self._run:
            return
        if request.state is RequestState.CLOSED:
            self._known.pop(request.id, None)
        else:
            self._known[request.id] = request
        self.update_card()

    def want(self, request: str) -> None:
        """Show this request before the others of its run."""
        self._wanted = request
        self.update_card()

    def can(self, command: str) -> bool:
        offers = self.card.offers if self.card is not None else ()
        return not self.is_deciding and any(offer.command == command for offer in offers)

    # ------------------------------------------------------------ what is before the eyes
    def mark_shown(self) -> None:
        """Note that the run has just come into view."""
        self._shown_at = self._hands.now()

    @property
    def is_too_recent(self) -> bool:
        """Whether the run or its request appeared too recently to be decided."""
        return self._hands.now() - self._shown_at < GRACE_SECONDS

    def is_mine(self, request: str) -> bool:
        """Whether a request was decided in this window."""
        return request in self._mine

    def arm(self) -> None:
        """Remember the requests under a pressed button: releasing the button decides just those or none."""
        self._aim = self.card.aim if self.card is not None else ()

    def let_go(self) -> None:
        self._aim = ()

    def may_decide(self, *, opens_field: bool = False) -> bool:
        """Whether a key or button may act on the card now; emit ``too_recent`` where it has only just appeared.

        Text typed after a key that ``opens_field`` was meant for that field and triggers no command.
        """
        early = self.is_too_recent
        if early:
            if opens_field:
                self._hands.expect_typing()
            self.too_recent.emit()
        return not early

    @property
    def takes_reason(self) -> bool:
        """Whether the decision can carry a reason for the agent; an answer needs none."""
        return self.card is not None and bool(self.card.offers) and self.card.need != Need.QUESTION.value

    # ------------------------------------------------------------ deciding
    def set_reason(self, text: str) -> None:
        self.reason = text

    def clear_error(self) -> None:
        if self.error:
            self._refuse("")

    def approve(self, reach: str = "once") -> None:
        """Approve, resume or retry: once, for this run, or on this site."""
        request = self._current()
        if request is not None:
            verb = DecisionKind.RETRY if request.need is Need.TROUBLE else DecisionKind.APPROVE
            self._decide(OperatorDecision(kind=verb, scope=ApprovalScope(reach), text=self.reason.strip()))

    def deny(self, reach: str = "once") -> None:
        """Deny it; for a log-in wall, a problem or a flag this ends the run."""
        self._decide(
            OperatorDecision(kind=DecisionKind.DENY, scope=ApprovalScope(reach), text=self.reason.strip())
        )

    def no_wall(self) -> None:
        """Say that nothing blocks the page: the run resumes and does not ask about this page again."""
        request = self._current()
        if request is not None and request.need is Need.WALL:
            self._decide(OperatorDecision(kind=DecisionKind.NO_WALL, text=self.reason.strip()))

    def edit(self, command: str) -> None:
        """Replace the action by this one (in the call form); the engine validates it."""
        line = command.strip()
        if not line:
            self._refuse(tr('Type the new action, such as click("12").'))
            return
        if self.planned is not None and self._current() is None:
            self._edit_planned(self.planned, line)
            return
        self._decide(OperatorDecision(kind=DecisionKind.EDIT, call=line, text=self.reason.strip()))

    def plan(self, planned: PlannedAction | None) -> None:
        """Show the next action of a paused run as a card to be edited, or no longer."""
        if planned != self.planned:
            self.planned = planned
            self.update_card()

    def _edit_planned(self, planned: PlannedAction, call: str) -> None:
        run, card = self._run, planned_id(planned)

        def came(now: PlannedAction) -> None:
            if run == self._run and self.planned == planned:
                self.is_deciding, self.reason = False, ""
                self.plan(None)
            self.planned_edited.emit(now)

        def failed(error: Exception) -> None:
            self.is_deciding = False
            self._mine.discard(card)
            self._refuse(str(error))

        self.is_deciding, self.error = True, ""
        self._mine.add(card)
        self.changed.emit()
        edit = self._client.api.edit_planned(run, call, self.reason.strip(), planned.step, planned.call)
        self._tasks.start(edit, came, failed)

    def answer(self, text: str) -> None:
        if not text.strip():
            self._refuse(tr("Type the answer first."))
            return
        self._decide(OperatorDecision(kind=DecisionKind.ANSWER, text=text.strip()))

    def _decide(self, decision: OperatorDecision) -> None:
        request = self._current()
        if request is None or self.is_deciding or self._endings.holds(self._run):
            return
        if self._aim and self.card is not None and self._aim != self.card.aim:
            same = self._aim[0] == request.id
            self._refuse(
                tr("Other runs ask this now. Nothing was decided: press again.")
                if same
                else tr("Another request has appeared. Nothing was decided: press again.")
            )
            return
        if not self.may_decide():
            return
        if self._state in _NO_PAGE and request.need is Need.APPROVAL and decision.kind in _SEEN_FIRST:
            if self._state is RunState.INTERRUPTED:
                self._tasks.start(self._client.api.continue_run(self._run))
            self._refuse(tr("The page is opened again. Look at it, then decide."))
            return
        longest = max(len(decision.text), len(decision.call))
        if longest > MAX_TEXT_LENGTH:
            self._refuse(too_long(longest))
            return
        self._mine.add(request.id)
        if decision.kind is DecisionKind.DENY and request.need in ENDS_RUN_IF_DENIED:
            self._hold(request, decision)
            return
        self.is_deciding, self.error = True, ""
        self.changed.emit()
        self._tasks.start(
            self.decide(request, decision),
            lambda answer: self._on_loaded(answer, decision),
            lambda error: self._failed(request, error),
        )

    def _hold(self, request: ApprovalRequest, decision: OperatorDecision) -> None:
        """Delay a decision that ends the run, so that it can be undone."""
        self._endings.hold(
            request.run,
            lambda: self._client.api.decide(request.id, decision),
            about=request.id,
            sent=lambda answer: self._on_loaded(answer, decision),
            failed=lambda error: self._failed(request, error),
            undone=lambda: self._mine.discard(request.id),
        )

    def _on_loaded(self, answer: ApprovalRequest, decision: OperatorDecision) -> None:
        if answer.run == self._run:
            self.is_deciding, self.reason = False, ""
            self.take(answer)
            self.changed.emit()  # the next request may already be shown
        self.decided.emit(answer, decision)

    def _failed(self, request: ApprovalRequest, error: Exception) -> None:
        run = request.run
        self._mine.discard(request.id)
        if run != self._run:
            self._tasks.error.emit(str(error))
            return
        self.is_deciding = False
        self._refuse(str(error))
        if isinstance(error, Conflict):  # somebody else decided first: show it
            self._ask_again(run)

    def _ask_again(self, run: str) -> None:
        def came(found: list[ApprovalRequest]) -> None:
            if run == self._run:
                self.show(run, found)

        self._tasks.start(self._client.api.requests(run), came, ignore, key="live-requests")

    def _refuse(self, why: str) -> None:
        self.error = why
        self.changed.emit()

    # ------------------------------------------------------------ the card
    def _current(self) -> ApprovalRequest | None:
        request = self._known.get(self.card.id) if self.card is not None else None
        return request if request is not None and request.state is RequestState.OPEN else None

    def update_card(self) -> None:
        """Choose the request to show, and how."""
        before = self.card
        still_open = sorted(
            (one for one in self._known.values() if one.state is RequestState.OPEN),
            key=lambda one: (one.id != self._wanted, -one.need.urgency, one.opened_at, one.id),
        )
        decided = [one for one in self._known.values() if one.state is RequestState.DECIDED]
        if still_open:
            keep = (self._wanted, before.id if before is not None else "")
            kept = next((one for one in still_open if one.id in keep), still_open[0])
            self.card = self.dress(card_of(kept, len(still_open)))
        elif self.planned is not None:
            self.card = planned_card(self.planned)
        else:
            newest = max(decided, key=lambda one: one.decision.at if one.decision else 0.0, default=None)
            self.card = card_of(newest, 1) if newest is not None else None
        if self.card is not None and self._endings.holds(self._run):
            self.card = replace(
                self.card, offers=(), decided=tr("Ends in 5 seconds. Undo to keep it waiting.")
            )
        if before is not None and (self.card is None or self.card.id != before.id):
            self.error, self.reason = "", ""
        if self.card is not None and (before is None or self.card.id != before.id):
            self.mark_shown()
        if self.card != before:
            self.changed.emit()


def card_of(request: ApprovalRequest, among: int) -> Card:
    """Return a request as a card; ``among`` is the number of open requests."""
    need = request.need
    why = [request.why] if request.why else []
    why += [detector_label(name) for name in request.detectors if name not in request.why]
    return Card(
        id=request.id,
        need=need.value,
        title=tr(CARD_TITLES[need]),
        question=request.question,
        why=" · ".join(why),
        words=request.words,
        call=request.call,
        risk=request.risk,
        risk_role=risk_role(request.risk),
        place=tr("1 of {0}").format(among) if among > 1 else "",
        decided=decision_words(request),
        offers=offers_of(request) if request.state is RequestState.OPEN else (),
    )


def decision_words(request: ApprovalRequest) -> str:
    """Return ``Decided by ana: approve, for the whole run. …``; "" before there is a decision."""
    decision = request.decision
    if decision is None or request.state is RequestState.OPEN:
        return ""
    far = {
        ApprovalScope.ONCE: "",
        ApprovalScope.RUN: tr(", for the whole run"),
        ApprovalScope.SITE: tr(", on this site"),
    }
    what = f"{decision.kind.value}{far[decision.scope]}"
    if decision.call:
        what = f"{what}: {decision.call}"
    elif decision.text:
        what = f"{what}: {decision.text}"
    by = tr("Decided by {0}: {1}").format(decision.author or tr("you"), what)
    return f"{by.rstrip('.')}. {tr('It takes effect with the next step.')}"


def notice_words(request: ApprovalRequest, decision: OperatorDecision, name: str) -> str:
    """Return ``Approved: Buy one Gadget · run 3``; "" for a decision that ends the run, announced when it has
    ended.
    """
    if decision.kind is DecisionKind.DENY:
        what = {Need.APPROVAL: tr("Denied"), Need.QUESTION: tr("Not answered")}.get(request.need, "")
    else:
        what = {
            DecisionKind.APPROVE: {
                Need.APPROVAL: tr("Approved"),
                Need.WALL: tr("Handled"),
            }.get(request.need, tr("Resumed")),
            DecisionKind.RETRY: tr("Retrying"),
            DecisionKind.EDIT: tr("Approved with another action"),
            DecisionKind.ANSWER: tr("Answered"),
            DecisionKind.NO_WALL: tr("Not blocked, resumed"),
        }[decision.kind]
    return f"{what}: {name}" if what else ""


def risk_role(risk: str) -> str:
    """Return the colour role of a risk class; neutral for unknown ones."""
    return RISK_ROLES[RiskClass(risk).level] if risk in {one.value for one in RiskClass} else "muted"


def too_long(length: int) -> str:
    return tr("Too long: {0} characters of at most {1}. Nothing was sent.").format(
        f"{length:,}", f"{MAX_TEXT_LENGTH:,}"
    )
