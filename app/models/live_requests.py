"""What the open run waits for a person to decide: one card at a time, the weightiest first, decided by a key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Signal

from app.engine.errors import Conflict
from app.engine.intervention_policy import RiskClass
from app.engine.supervision import (
    LONGEST_HINT,
    LiveRow,
    Need,
    PersonDecision,
    PersonRequest,
    Reach,
    RequestState,
    Verb,
)
from app.models.run_queue import detector_words

if TYPE_CHECKING:
    from app.models.engine_client import EngineEvents
    from app.models.tasks import Tasks

LONGEST = LONGEST_HINT
"""Characters of an answer, a reason or a hint; what is longer is not sent and never cut."""

TITLES = {
    Need.FLAG: "A detector called",
    Need.APPROVAL: "May it do this?",
    Need.QUESTION: "The agent asks",
    Need.WALL: "A wall stands in the way",
    Need.TROUBLE: "It can't go on by itself",
}
APPROVALS = {
    Need.FLAG: "Let it go on",
    Need.APPROVAL: "Approve",
    Need.WALL: "Dealt with",
    Need.TROUBLE: "Try again",
}
DENIALS = {
    Need.FLAG: "End the run",
    Need.APPROVAL: "Deny",
    Need.QUESTION: "No answer",
    Need.WALL: "End the run",
    Need.TROUBLE: "End the run",
}
RISK_ROLES = ("muted", "live", "warn", "fail")
"""Colour roles of the levels of a risk class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One thing that can be decided: the command that does it and its word here."""

    command: str
    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A request as it is shown.

    ``place`` is "1 of 2" where several are open; ``decided`` says who decided what, "" while nobody did; ``offers`` are
    what can be decided now, the usual one first; ``risk_role`` a colour role.
    """

    id: str
    need: str
    title: str
    question: str
    why: str = ""
    words: str = ""
    command: str = ""
    risk: str = ""
    risk_role: str = "muted"
    place: str = ""
    decided: str = ""
    offers: tuple[Offer, ...] = ()


class LiveRequests(QObject):
    """Requests of one run.

    Signals:
        changed: another card, or another state of it.
        decided(request id): a decision was taken by the engine.
    """

    changed = Signal()
    decided = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self._run = ""
        self._known: dict[str, PersonRequest] = {}
        self.card: Card | None = None
        self.reason = ""
        """What the agent is told with the next decision."""
        self.error = ""
        self.is_deciding = False

    # ------------------------------------------------------------ what is open
    def show(self, run: str, requests: Iterable[PersonRequest]) -> None:
        """Another run is open, or this one was read anew."""
        if run != self._run:
            self.reason = self.error = ""
            self.is_deciding = False
        self._run = run
        self._known = {one.id: one for one in requests if one.state is not RequestState.CLOSED}
        self._choose()

    def follow(self, row: LiveRow) -> None:
        """The run's row knows which requests are open now, and whether the step of a decided one has begun."""
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
        self._choose()

    def take(self, request: PersonRequest) -> None:
        """A request was opened, decided (here or by somebody else), or closed."""
        if request.run != self._run:
            return
        if request.state is RequestState.CLOSED:
            self._known.pop(request.id, None)
        else:
            self._known[request.id] = request
        self._choose()

    def can(self, command: str) -> bool:
        """Whether the card offers this command now."""
        return (
            self.card is not None
            and not self.is_deciding
            and any(offer.command == command for offer in self.card.offers)
        )

    @property
    def takes_reason(self) -> bool:
        """Whether the agent can be told why with the decision: an answer speaks for itself."""
        return self.card is not None and bool(self.card.offers) and self.card.need != Need.QUESTION.value

    # ------------------------------------------------------------ deciding
    def set_reason(self, text: str) -> None:
        """What the agent is told with the decision; kept until one is taken."""
        self.reason = text

    def clear_error(self) -> None:
        """What was wrong is given up."""
        if self.error:
            self._refuse("")

    def approve(self, reach: str = "once") -> None:
        """Let it be done, go on, or try again: once, for this run, or on this site."""
        request = self._current()
        if request is not None:
            verb = Verb.RETRY if request.need is Need.TROUBLE else Verb.APPROVE
            self._decide(PersonDecision(verb=verb, reach=Reach(reach), text=self.reason.strip()))

    def deny(self, reach: str = "once") -> None:
        """Refuse it; for a wall, trouble or a flag this ends the run."""
        self._decide(PersonDecision(verb=Verb.DENY, reach=Reach(reach), text=self.reason.strip()))

    def edit(self, command: str) -> None:
        """Do this action (in the call form) instead; the engine says what is wrong with it."""
        line = command.strip()
        if not line:
            self._refuse(_tr('Type the action to do instead, as in click("12").'))
            return
        self._decide(PersonDecision(verb=Verb.EDIT, command=line, text=self.reason.strip()))

    def answer(self, text: str) -> None:
        """Answer the agent's question."""
        if not text.strip():
            self._refuse(_tr("Type the answer first."))
            return
        self._decide(PersonDecision(verb=Verb.ANSWER, text=text.strip()))

    def _decide(self, decision: PersonDecision) -> None:
        request = self._current()
        if request is None or self.is_deciding:
            return
        longest = max(len(decision.text), len(decision.command))
        if longest > LONGEST:
            self._refuse(too_long(longest))
            return
        self.is_deciding, self.error = True, ""
        self.changed.emit()
        run = self._run

        def came(answer: PersonRequest) -> None:
            if run == self._run:
                self.is_deciding, self.reason = False, ""
                self.take(answer)
            self.decided.emit(answer.id)

        def failed(error: Exception) -> None:
            if run != self._run:
                return
            self.is_deciding = False
            self._refuse(str(error))
            if isinstance(error, Conflict):  # somebody was quicker: show what they decided
                self._ask_again(run)

        self._tasks.start(self._client.api.decide(request.id, decision), came, failed)

    def _ask_again(self, run: str) -> None:
        def came(found: list[PersonRequest]) -> None:
            if run == self._run:
                self.show(run, found)

        self._tasks.start(self._client.api.requests(run), came, lambda _error: None, key="live-requests")

    def _refuse(self, why: str) -> None:
        self.error = why
        self.changed.emit()

    # ------------------------------------------------------------ the card
    def _current(self) -> PersonRequest | None:
        request = self._known.get(self.card.id) if self.card is not None else None
        return request if request is not None and request.state is RequestState.OPEN else None

    def _choose(self) -> None:
        before = self.card
        still_open = sorted(
            (one for one in self._known.values() if one.state is RequestState.OPEN),
            key=lambda one: (-list(Need).index(one.need), one.opened_at, one.id),
        )
        decided = [one for one in self._known.values() if one.state is RequestState.DECIDED]
        if still_open:
            kept = next((one for one in still_open if before is not None and one.id == before.id), None)
            self.card = card_of(kept or still_open[0], len(still_open))
        else:
            newest = max(decided, key=lambda one: one.decision.at if one.decision else 0.0, default=None)
            self.card = card_of(newest, 1) if newest is not None else None
        if before is not None and (self.card is None or self.card.id != before.id):
            self.error, self.reason = "", ""
        if self.card != before:
            self.changed.emit()


def card_of(request: PersonRequest, among: int) -> Card:
    """A request as it is shown; ``among`` is how many are open."""
    need = request.need
    why = [request.why] if request.why else []
    why += [detector_words(name) for name in request.detectors if name not in request.why]
    return Card(
        id=request.id,
        need=need.value,
        title=_tr(TITLES[need]),
        question=request.question,
        why=" · ".join(why),
        words=request.words,
        command=request.command,
        risk=request.risk,
        risk_role=risk_role(request.risk),
        place=_tr("1 of {0}").format(among) if among > 1 else "",
        decided=decision_words(request),
        offers=_offers(request) if request.state is RequestState.OPEN else (),
    )


def decision_words(request: PersonRequest) -> str:
    """``Decided by ana: approve, for the whole run. …``; "" while nobody decided."""
    decision = request.decision
    if decision is None or request.state is RequestState.OPEN:
        return ""
    far = {Reach.ONCE: "", Reach.RUN: _tr(", for the whole run"), Reach.SITE: _tr(", on this site")}
    what = f"{decision.verb.value}{far[decision.reach]}"
    if decision.command:
        what = f"{what}: {decision.command}"
    elif decision.text:
        what = f"{what}: {decision.text}"
    by = _tr("Decided by {0}: {1}").format(decision.author or _tr("you"), what)
    return f"{by.rstrip('.')}. {_tr('It counts from the next step on.')}"


def risk_role(risk: str) -> str:
    """The colour role of a risk class; unknown ones are told plainly."""
    return RISK_ROLES[RiskClass(risk).level] if risk in {one.value for one in RiskClass} else "muted"


def too_long(length: int) -> str:
    """Why a text is not sent."""
    return _tr("That is {0} characters; at most {1} can be sent. Nothing was cut: shorten it.").format(
        f"{length:,}", f"{LONGEST:,}"
    )


def _offers(request: PersonRequest) -> tuple[Offer, ...]:
    need = request.need
    offers = [Offer(command="live.approve", word=_tr(APPROVALS[need]))] if need in APPROVALS else []
    if need is Need.QUESTION:
        offers.append(Offer(command="live.answer", word=_tr("Answer")))
    offers.append(Offer(command="live.deny", word=_tr(DENIALS[need])))
    if need is Need.WALL:
        offers.append(Offer(command="live.take_over", word=_tr("Take over")))
    if need is Need.APPROVAL:
        offers += [
            Offer(command="live.approve.run", word=_tr("run")),
            Offer(command="live.approve.site", word=_tr("site")),
            Offer(command="live.deny.run", word=_tr("run")),
            Offer(command="live.deny.site", word=_tr("site")),
        ]
        if request.command:
            offers.append(Offer(command="live.edit", word=_tr("Edit")))
    return tuple(offers)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Live", text)
