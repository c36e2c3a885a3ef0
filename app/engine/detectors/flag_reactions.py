"""Reactions: an operator's action judges the flags that paused the run."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.core.supervision import FlagReaction, Intervention, OperatorAction
from app.engine.core.verdicts import Flag

STEERING_ACTIONS = frozenset(
    {OperatorAction.TOOK_OVER, OperatorAction.HINTED, OperatorAction.STOPPED, OperatorAction.DENIED}
)
"""Actions that correct or end a run that a flag paused: the flag was right."""


def reactions_of(intervention: Intervention, flags: Sequence[Flag]) -> list[FlagReaction]:
    """Return the reactions that follow from an operator's action, one for each flag concerned.

    ``flags`` are those that pause the run now; none where no flag does. Confirming or dismissing concerns the flags
    of the detector that ``intervention.about`` names; taking over, a hint, stopping and denying concern all of them.
    Resuming without a word judges nothing. Actions of the policy or the watchdog are no person's reactions.
    """
    if intervention.author in ("policy", "watchdog"):
        return []
    if intervention.action in (OperatorAction.CONFIRMED, OperatorAction.DISMISSED):
        concerned = [flag for flag in flags if flag.detector == intervention.about]
    else:
        concerned = list(flags) if intervention.action in STEERING_ACTIONS else []
    named = dict.fromkeys((flag.detector, flag.step, flag.version) for flag in concerned)
    return [
        FlagReaction(
            run=intervention.run,
            step=step,
            detector=detector,
            right=intervention.action is not OperatorAction.DISMISSED,
            version=version,
            how=intervention.action.value,
            author=intervention.author,
            at=intervention.at,
        )
        for detector, step, version in named
    ]
