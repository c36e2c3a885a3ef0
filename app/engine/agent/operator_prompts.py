"""Questions to the person who supervises a run: the agent's own, log-in walls, flags; and summaries of takeovers."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.agent.run_control import POLICY, RunControl
from app.engine.core.intervention_policy import Reaction
from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    Need,
    OperatorAction,
    OperatorDecision,
    TakeoverSummary,
)
from app.engine.core.verdicts import Flag

SOMETHING_WRONG = "Something seems to be wrong. Continue the run?"
CLAIM_DOUBTED = (
    "The agent says that it is done, and the model that checked it disagrees. Resume to let it end,"
    " or answer what is missing to send it back."
)
"""Questions about flags: of a step, and of a claim to be done."""
DECLINED_TO_ANSWER = "The person left this unanswered; decide by yourself within the task."


class OperatorPrompts:
    """Asks the supervisor through the run's control (``app.engine.agent.ports.Supervisor``)."""

    def __init__(self, control: RunControl) -> None:
        self._control = control

    async def ask(self, question: str, step: int) -> str | None:
        """Return the answer; ``None`` where the run is stopping."""
        decision = await self._control.ask(self._control.request(Need.QUESTION, question))
        if decision is None:
            return None
        if decision.kind is DecisionKind.DENY:
            return f"{DECLINED_TO_ANSWER} ({decision.text})" if decision.text else DECLINED_TO_ANSWER
        return decision.text or "yes"


async def ask_about_wall(control: RunControl, what: str, url: str, wall: str) -> OperatorDecision | None:
    """Ask about a captcha or a log-in page.  Return the decision, ``None`` after a takeover or a stop.

    ``wall`` is the key that tells this wall from others.
    """
    question = f"{what[:1].upper()}{what[1:]} blocks {url}. Take over and pass it, then hand the run back."
    return await control.ask(control.request(Need.WALL, question, url=url, wall=wall))


async def react_to_flags(
    control: RunControl,
    flags: Sequence[Flag],
    url: str,
    *,
    goes_on: bool = True,
    question: str = SOMETHING_WRONG,
) -> OperatorDecision | None:
    """React to a step's flags as the intervention policy says.  Return the decision, where a person was asked.

    ``goes_on`` is false where the run ends with this step: there is nothing left to hold then.
    """
    if not goes_on:
        return None
    reactions = [(await control.reaction(flag), flag) for flag in flags]
    asking = [flag for reaction, flag in reactions if reaction is Reaction.ASK]
    if asking:
        return await control.ask(
            control.request(
                Need.FLAG,
                question,
                step=asking[0].step,
                why=" ".join(f"{flag.message.rstrip('.')}." for flag in asking),
                detectors=tuple(dict.fromkeys(flag.detector for flag in asking)),
                url=url,
            )
        )
    pausing = [flag for reaction, flag in reactions if reaction is Reaction.PAUSE]
    if pausing:
        why = pausing[0].message
        control.pause(why, POLICY)
        await control.add_to_timeline(OperatorAction.PAUSED, why, about=pausing[0].detector, author=POLICY)
    return None


async def ask_again_about_flags(control: RunControl) -> list[tuple[ApprovalRequest, OperatorDecision]]:
    """Ask again about the flags that were open when an earlier process was interrupted.  Return the decisions."""
    decided: list[tuple[ApprovalRequest, OperatorDecision]] = []
    for request in control.left_requests(Need.FLAG):
        decision = await control.ask(request)
        if decision is not None:
            decided.append((request, decision))
    return decided


def describe_takeover(account: TakeoverSummary) -> tuple[str, ...]:
    """Describe a takeover to the agent, one line for each thing that happened."""
    words = f"a person controlled the page for {account.steps} step{'' if account.steps == 1 else 's'}"
    return (f"{words}: {account.words}" if account.words else words, *account.changes)
