"""The operator's actions on runs: decisions, hints, reactions to flags, overrides of tips, and the policy."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    FlagReaction,
    Hint,
    Need,
    OperatorAction,
    OperatorDecision,
    RunState,
    TipOverride,
)
from app.engine.core.verdicts import Flag
from app.engine.services.core import Core
from app.engine.services.supervision.approvals import ApprovalService
from app.engine.services.supervision.fleet import Fleet
from app.engine.services.tip_evidence import keep_vote
from app.errors import Conflict, NotFound


class OperatorActions:
    """Operator actions across the live runs."""

    def __init__(self, core: Core, approvals: ApprovalService, fleet: Fleet) -> None:
        self._core, self._approvals, self._fleet = core, approvals, fleet

    # requests

    async def decide(self, request: str, decision: OperatorDecision) -> ApprovalRequest:
        """Decide a request; an interrupted run is resumed with the decision.

        Raises:
            NotFound: no such request.  Conflict: it was decided already.
            UsageError: the decision lacks its text, or its action is invalid on the page.
        """
        for one in self._fleet.all:
            one.control.check_decision(request, decision)  # only the one that waits for it knows the page
        decided = await self._approvals.decide(request, decision)
        found = self._fleet.find(decided.run)
        if found is not None and decided.need is Need.FLAG and decision.kind is DecisionKind.DENY:
            flags = [flag for flag in found.flags if flag.detector in decided.detectors]
            await self._approvals.note(
                found.run, decided.step, OperatorAction.STOPPED, decided.question, flags=flags
            )
        if found is not None and found.row.state is RunState.INTERRUPTED:
            self._fleet.resume_in_background(found)
        return decided

    # hints

    async def send_hint(self, run: str, text: str) -> Hint:
        """Send a hint to a run, for its next step.

        Raises:
            UsageError: the text is empty or too long.  Conflict: the run is over.
        """
        found = self._fleet.find(run)
        if found is None:
            rows = {row.run: row for row in await self._fleet.live_runs()}
            if run not in rows:
                raise NotFound(f"no run {run[:120]!r} among the live runs")
            return await self._approvals.send_hint(run, rows[run].step, text)
        if found.row.state is RunState.ENDED:
            raise Conflict("the run is over; write a tip instead, for the next run")
        flags = found.flags if found.row.state.held else ()
        return await self._approvals.send_hint(run, found.row.step, text, flags=flags)

    # flags and tips

    async def judge_flag(self, run: str, step: int, detector: str, right: bool) -> FlagReaction:
        """Judge whether a flag is right; the ranking learns from it.

        Raises:
            NotFound: the detector has no flag at this step.
        """
        named = [flag for flag in await self._flags(run) if flag.detector == detector and flag.step == step]
        if not named:
            raise NotFound(f"{detector!r} has no flag at step {step} of run {run}")
        action = OperatorAction.CONFIRMED if right else OperatorAction.DISMISSED
        (made,) = await self._approvals.note(
            run, step, action, named[0].message, about=detector, flags=named[:1]
        )
        return made

    async def override_tip(self, run: str, tip: str, stance: TipOverride) -> None:
        """Mute or pin a tip for a run."""
        found = self._fleet.get(run)
        await self._core.on_store(self._core.workspace.supervision.set_tip_override, run, tip, stance)
        found.tip_overrides[tip] = stance
        found.republish_tips()
        action = {TipOverride.MUTED: OperatorAction.MUTED, TipOverride.PINNED: OperatorAction.PINNED}.get(
            stance, OperatorAction.FREED
        )
        await self._approvals.note(run, found.row.step, action, tip, about=tip)

    async def vote_tip(self, run: str, tip: str, vote: int) -> None:
        """Vote on a tip's usefulness in a run, or in general (no run): 1, -1, or 0 to take a vote back.

        Raises:
            NotFound: there is no such run; no run is live and there is no such tip.  UsageError: another number.
        """
        found = self._fleet.find(run)
        if found is None:
            await self._vote_afterwards(run, tip, vote)
            return
        await self._core.on_store(self._core.workspace.supervision.set_vote, run, tip, vote)
        await keep_vote(self._core, run, tip, vote, needed=False)
        found.votes[tip] = vote
        found.republish_tips()
        words = {1: f"{tip} is useful", -1: f"{tip} is not useful", 0: f"no vote on {tip}"}[vote]
        await self._approvals.note(run, found.row.step, OperatorAction.VOTED, words, about=tip)

    # inside

    async def _vote_afterwards(self, run: str, tip: str, vote: int) -> None:
        """Keep an annotator's vote on a tip, in a stored run or in general."""
        workspace = self._core.workspace
        if run and not await self._core.on_store(workspace.runs.has, run):
            raise NotFound(f"there is no run {run[:120]!r}")
        await keep_vote(self._core, run, tip, vote, needed=True)
        if run:
            await self._core.on_store(workspace.supervision.set_vote, run, tip, vote)

    async def _flags(self, run: str) -> Sequence[Flag]:
        """Return all flags of the run: current ones, and those from before an interruption."""
        stored = await self._core.on_store(self._core.workspace.index.flags, run)
        found = self._fleet.find(run)
        return [*(found.flags if found is not None else ()), *stored]
