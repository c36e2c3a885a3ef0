"""Uses of tips in runs, and votes on them, as evidence in the live knowledge base."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.core.events import KnowledgeChanged
from app.engine.core.trajectory import Exposure, Step
from app.engine.services.core import Core
from app.errors import UsageError
from kb.evidence import DOWN, UP, Evidence, EvidenceKind, UseOutcome

_OUTCOMES = {1: UP, -1: DOWN, 0: ""}


def use_outcome(exposure: Exposure, step: Step) -> UseOutcome | None:
    """Return what came of a tip at a step; ``None`` where its condition did not hold, or it was only shown."""
    if exposure.step and exposure.effect:
        return UseOutcome.EFFECT
    if exposure.step:
        return UseOutcome.DONE if step.executed else UseOutcome.FAILED
    return UseOutcome.APPLIED if exposure.applied else None


def uses_of(run: str, steps: Sequence[Step], revisions: dict[str, int]) -> list[Evidence]:
    """Return the uses of the tips that have a revision here, one a tip and step."""
    found: list[Evidence] = []
    for step in steps:
        for exposure in step.exposures:
            outcome = use_outcome(exposure, step)
            if outcome is None or exposure.tip not in revisions:
                continue
            found.append(
                Evidence(
                    tip=exposure.tip,
                    revision=revisions[exposure.tip],
                    kind=EvidenceKind.USE,
                    outcome=outcome,
                    step=step.index,
                    run=run,
                    message=f"step {exposure.step} of the tip" if exposure.step else "",
                    at=step.started_at,
                )
            )
    return found


async def keep_uses(core: Core, run: str, steps: Sequence[Step]) -> int:
    """Store the uses of a run's tips and return how many were new; counting a run again adds nothing."""
    used = {
        exposure.tip for step in steps for exposure in step.exposures if exposure.applied or exposure.step
    }
    if not used:
        return 0

    def keeping() -> tuple[list[str], int]:
        revisions = {tip.id: tip.revision for tip in core.kb.tips() if tip.id in used}
        return sorted(revisions), core.kb.add_evidence(uses_of(run, steps, revisions))

    tips, added = await core.on_store(keeping)
    if added:
        core.bus.publish(KnowledgeChanged(tips=tuple(tips)))
    return added


async def keep_vote(core: Core, run: str, tip: str, vote: int, *, needed: bool) -> None:
    """Store a person's vote on a tip: 1, -1, or 0 to take it back; of one person in one run the last counts.

    Raises ``NotFound`` for a tip that is not in the live knowledge base, if it is ``needed`` there.
    """
    if vote not in _OUTCOMES:
        raise UsageError(f"a vote is 1, -1 or 0, not {vote}")

    def keeping() -> int:
        if not needed and all(one.id != tip for one in core.kb.tips()):
            return 0
        revision = core.kb.get(tip).revision
        piece = Evidence(tip=tip, revision=revision, kind=EvidenceKind.VOTE, outcome=_OUTCOMES[vote], run=run)
        return core.kb.add_evidence([piece])

    if await core.on_store(keeping):
        core.bus.publish(KnowledgeChanged(tips=(tip,)))
