"""Requests as they are shown, and the next action of a paused run while it is edited."""

from __future__ import annotations

from dataclasses import dataclass

from app.engine.core.supervision import ApprovalRequest, Need, PlannedAction
from app.models.common.translate import tr

PLANNED_CARD = "planned"
"""Need of the card of a planned action."""
APPROVE_LABELS = {
    Need.FLAG: "Resume",
    Need.APPROVAL: "Approve",
    Need.WALL: "I've handled it",
    Need.TROUBLE: "Try again",
}
DENY_LABELS = {
    Need.FLAG: "End the run",
    Need.APPROVAL: "Deny",
    Need.QUESTION: "No answer",
    Need.WALL: "End the run",
    Need.TROUBLE: "End the run",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionOption:
    """One possible decision: the command that makes it and its label."""

    command: str
    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A request as it is shown.

    ``place`` is "1 of 2" where several are open; ``equal`` lists the runs it stands for, "" for one, and ``requests``
    has the ids of their requests; ``decided`` says who decided what, "" before that; ``offers`` are the possible
    decisions, the usual one first; ``risk_role`` is a colour role.
    """

    id: str
    need: str
    title: str
    question: str
    why: str = ""
    words: str = ""
    call: str = ""
    risk: str = ""
    risk_role: str = "muted"
    place: str = ""
    equal: str = ""
    requests: tuple[str, ...] = ()
    decided: str = ""
    offers: tuple[DecisionOption, ...] = ()

    @property
    def aim(self) -> tuple[str, ...]:
        """Its id and the requests it stands for: a decision is meant for these."""
        return (self.id, *self.requests)


def planned_id(planned: PlannedAction) -> str:
    """Return the id of the card of a planned action: another action has another one."""
    return f"{PLANNED_CARD} {planned.step} {planned.call}"


def planned_card(planned: PlannedAction) -> Card:
    """Return the planned action of a paused run as a card to be edited."""
    return Card(
        id=planned_id(planned),
        need=PLANNED_CARD,
        title=tr("Edit the next action"),
        question="",
        words=planned.words,
        call=planned.call,
        offers=(DecisionOption(command="live.edit", word=tr("Edit")),),
    )


def offers_of(request: ApprovalRequest) -> tuple[DecisionOption, ...]:
    """Return the decisions that fit a request, the usual one first."""
    need = request.need
    offers: list[DecisionOption] = []
    if need in APPROVE_LABELS:
        offers.append(DecisionOption(command="live.approve", word=tr(APPROVE_LABELS[need])))
    if need is Need.QUESTION:
        offers.append(DecisionOption(command="live.answer", word=tr("Answer")))
    offers.append(DecisionOption(command="live.deny", word=tr(DENY_LABELS[need])))
    if need is Need.WALL:
        hands = (("live.take_over", tr("Take over")), ("live.no_wall", tr("Not blocked")))
        offers += [DecisionOption(command=command, word=word) for command, word in hands]
    if need is Need.APPROVAL:
        offers += [
            DecisionOption(command="live.approve.run", word=tr("run")),
            DecisionOption(command="live.approve.site", word=tr("site")),
            DecisionOption(command="live.deny.run", word=tr("run")),
            DecisionOption(command="live.deny.site", word=tr("site")),
        ]
        if request.call:
            offers.append(DecisionOption(command="live.edit", word=tr("Edit")))
    return tuple(offers)
