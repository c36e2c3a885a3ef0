"""Preview of an intervention policy on the stored runs, before it takes effect.

A stored run is treated as a live one: a flag can mark and notify at any time, but pause or ask only while the run can
still be paused. A rule that fires only at the end pauses nothing, however strict the policy is. A model's flags count
as if it had been asked while the run went on: about a step right after it, about the goal before the last step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median

from app.engine.core.intervention_policy import InterventionPolicy, PolicyCount, PolicyPreview, Reaction
from app.engine.core.verdicts import Flag
from app.engine.detectors.runner import BY_NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewRun:
    """A run's data for a preview; ``score`` in [0, 1], ``None`` without one."""

    id: str
    site: str
    steps: int
    score: float | None = None


@dataclass(frozen=True, slots=True)
class _RunOutcome:
    """The strongest reaction to a run (``None`` without a flag), and the step where it is paused first."""

    run: PreviewRun
    reaction: Reaction | None
    held_at: int | None


def preview(
    policy: InterventionPolicy, flags_by_run: Mapping[str, Sequence[Flag]], runs: Iterable[PreviewRun]
) -> PolicyPreview:
    """Return counts over all runs and by site (in alphabetical order), and which runs would have paused at which
    step.
    """
    fates = [_run_outcome(policy, run, flags_by_run.get(run.id, ())) for run in runs]
    sites = sorted({fate.run.site for fate in fates if fate.run.site})
    return PolicyPreview(
        whole=_count("", fates),
        sites=tuple(_count(site, [fate for fate in fates if fate.run.site == site]) for site in sites),
        held=tuple((fate.run.id, fate.held_at) for fate in fates if fate.held_at is not None),
    )


def reaction_to(policy: InterventionPolicy, site: str, flag: Flag, steps: int) -> Reaction:
    """Return the reaction to a flag in a run of ``steps`` steps; one that comes too late to pause notifies."""
    wanted = policy.reaction(site, flag.severity, flag.detector)
    in_time = _seen_at(flag, steps) < steps and _fires_during_run(flag.detector)
    return wanted if in_time or wanted.level < Reaction.PAUSE.level else Reaction.NOTIFY


@cache
def _fires_during_run(detector: str) -> bool:
    """Whether a detector may fire during the run; one that no longer exists may have."""
    kind = BY_NAME.get(detector)
    return kind is None or kind.fires_during_run


def _seen_at(flag: Flag, steps: int) -> int:
    """Return the step at which a flag would have been raised."""
    kind = BY_NAME.get(flag.detector)
    return max(flag.step, steps - 1) if kind is not None and kind.asked_at_end else flag.step


def _run_outcome(policy: InterventionPolicy, run: PreviewRun, flags: Sequence[Flag]) -> _RunOutcome:
    reactions = [
        (reaction_to(policy, run.site, flag, run.steps), _seen_at(flag, run.steps)) for flag in flags
    ]
    strongest = max((one for one, _ in reactions), key=lambda one: one.level, default=None)
    held = [step for one, step in reactions if one.level >= Reaction.PAUSE.level]
    return _RunOutcome(run, strongest, min(held, default=None))


def _count(site: str, fates: Sequence[_RunOutcome]) -> PolicyCount:
    def reaching(reaction: Reaction) -> list[_RunOutcome]:
        return [one for one in fates if one.reaction is not None and one.reaction.level >= reaction.level]

    notified, paused, asked = (reaching(one) for one in (Reaction.NOTIFY, Reaction.PAUSE, Reaction.ASK))
    held = [fate.held_at for fate in fates if fate.held_at is not None]
    return PolicyCount(
        site=site,
        runs=len(fates),
        judged=sum(fate.run.score is not None for fate in fates),
        failed=_failed(fates),
        marked=len(reaching(Reaction.MARK)),
        notified=len(notified),
        paused=len(paused),
        asked=len(asked),
        failed_notified=_failed(notified),
        failed_paused=_failed(paused),
        failed_asked=_failed(asked),
        first_step=float(median(held)) if held else None,
    )


def _failed(fates: Sequence[_RunOutcome]) -> int:
    return sum(fate.run.score is not None and fate.run.score < 1 for fate in fates)
