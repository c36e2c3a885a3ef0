"""What an operator's deed says of the flags that held a run: whether the detectors called rightly."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.judgement import Flag
from app.engine.supervision import Deed, FlagReaction, Intervention

STEERING = frozenset({Deed.TOOK_OVER, Deed.HINTED, Deed.STOPPED, Deed.DENIED})
"""Deeds that mend or end a run that a flag held: the call was worth it."""


def reactions_of(deed: Intervention, flags: Sequence[Flag]) -> list[FlagReaction]:
    """Reactions that follow from a deed, one for each flag concerned.

    ``flags`` are those that hold the run now; none where it is not held by a flag.  Confirming or dismissing concerns
    the flags of the detector that ``deed.about`` names; taking over, a hint, stopping and denying concern all of them.
    Going on without a word says nothing.  What the policy or the watchdog does is no reaction of a person's.
    """
    if deed.author in ("policy", "watchdog"):
        return []
    if deed.deed in (Deed.CONFIRMED, Deed.DISMISSED):
        concerned = [flag for flag in flags if flag.detector == deed.about]
    else:
        concerned = list(flags) if deed.deed in STEERING else []
    named = dict.fromkeys((flag.detector, flag.step, flag.version) for flag in concerned)
    return [
        FlagReaction(
            run=deed.run,
            step=step,
            detector=detector,
            right=deed.deed is not Deed.DISMISSED,
            version=version,
            how=deed.deed.value,
            author=deed.author,
            at=deed.at,
        )
        for detector, step, version in named
    ]
