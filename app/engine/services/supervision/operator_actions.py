"""The operator's actions on runs: decisions, hints, reactions to flags, overrides of tips, and the policy."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from app.engine.api.engine_api import RunFilter
from app.engine.core.intervention_policy import InterventionPolicy, PolicyPreview
from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    FlagReaction,
    Hint,
    Intervention,
    Need,
    OperatorAction,
    OperatorDecision,
    RunState,
    TipOverride,
)
from app.engine.core.verdicts import Flag
from app.engine.detectors.policy_preview import PreviewRun, preview
from app.engine.services.core import Core
from app.engine.services.supervision.approvals import ApprovalService
from app.engine.services.supervision.fleet import Fleet
from app.engine.services.tip_drafting import draft_tip
from app.errors import Conflict, NotFound
from kb.tip import TipDraft


class OperatorActions:
    """Operator actions across the live runs."""

    def __init__(self, core: Core, desk: ApprovalService, fleet: Fleet) -> None:
        self._core, self._desk, self._fleet = core, desk, fleet

    # requests

    async def requests(self, run: str = "", closed: bool = False) -> list[ApprovalRequest]:
        """Return all open requests, including those that could not be stored."""
        rows = await self._desk.requests(run, closed)
        known = {row.id for row in rows}
        held = [need for one in self._fleet.all for need in one.control.needs if run in ("", need.run)]
        return [*rows, *(need for need in held if need.id not in known)]

    async def decide(self, request: str, decision: OperatorDecision) -> ApprovalRequest:
        """Decide a request; an interrupted run is resumed with the decision.

        Raises:
            NotFound: no such request.  Conflict: it was decided already.
            UsageError: the decision lacks its text, or its action is invalid on the page.
        """
        waits = next(
            (one for one in self._fleet.all if any(need.id == request for need in one.control.needs)), None
        )
        if waits is not None:
            waits.control.check_decision(request, decision)
        try:
            decided = await self._desk.decide(request, decision)
        except NotFound:
            if waits is None:
                raise
            author = decision.author or self._core.author
            return waits.control.decide(request, replace(decision, author=author, at=time.time()))
        found = self._fleet.find(decided.run)
        if found is not None and decided.need is Need.FLAG and decision.verb is DecisionKind.DENY:
            flags = [flag for flag in found.flags if flag.detector in decided.detectors]
            await self._desk.note(
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
            return await self._desk.send_hint(run, rows[run].step, text)
        if found.row.state is RunState.ENDED:
            raise Conflict("the run is over; write a tip instead, for the next run")
        flags = found.flags if found.control.state.held else ()
        return await self._desk.send_hint(run, found.row.step, text, flags=flags)

    async def draft_tip_from_hint(self, hint: str) -> TipDraft:
        """Draft a tip from a hint: its text, with the page it was sent at as scope."""
        said = await self._desk.hint(hint)

        def drafting() -> TipDraft:
            workspace = self._core.workspace
            run, steps = workspace.runs.load(said.run)
            pages = [*steps, *([run.final] if run.final is not None else [])]
            if not pages:
                return TipDraft(site=run.site, text=said.text)
            page = pages[min(said.step, len(pages) - 1)]
            site = run.site or workspace.site_of(page.url)
            draft = draft_tip(run, page, workspace.index.flags(said.run), site, said.author, "")
            return replace(draft, text=said.text)

        return await self._core.on_store(drafting)

    # flags and tips

    async def interventions(self, run: str) -> list[Intervention]:
        """Return the time line of a run, oldest first."""
        return await self._desk.deeds(run)

    async def judge_flag(self, run: str, step: int, detector: str, right: bool) -> FlagReaction:
        """Judge whether a flag is right; the ranking learns from it.

        Raises:
            NotFound: the detector has no flag at this step.
        """
        named = [flag for flag in await self._flags(run) if flag.detector == detector and flag.step == step]
        if not named:
            raise NotFound(f"{detector!r} has no flag at step {step} of run {run}")
        deed = OperatorAction.CONFIRMED if right else OperatorAction.DISMISSED
        (made,) = await self._desk.note(run, step, deed, named[0].message, about=detector, flags=named[:1])
        return made

    async def override_tip(self, run: str, tip: str, stance: TipOverride) -> None:
        """Mute or pin a tip for a run."""
        found = self._fleet.known(run)
        await self._core.on_store(self._core.workspace.desk.set_tip_override, run, tip, stance)
        found.tip_overrides[tip] = stance
        found.republish_tips()
        deed = {TipOverride.MUTED: OperatorAction.MUTED, TipOverride.PINNED: OperatorAction.PINNED}.get(
            stance, OperatorAction.FREED
        )
        await self._desk.note(run, found.row.step, deed, tip, about=tip)

    async def vote_tip(self, run: str, tip: str, vote: int) -> None:
        """Vote on a tip's usefulness in a run: 1, -1, or 0 for no vote."""
        found = self._fleet.known(run)
        await self._core.on_store(self._core.workspace.desk.set_vote, run, tip, vote)
        found.votes[tip] = vote
        found.republish_tips()
        words = {1: f"{tip} is useful", -1: f"{tip} is not useful", 0: f"no vote on {tip}"}[vote]
        await self._desk.note(run, found.row.step, OperatorAction.VOTED, words, about=tip)

    # the policy

    async def intervention_policy(self) -> InterventionPolicy:
        """Return the policy in force."""
        return await self._desk.policy()

    async def save_intervention_policy(self, policy: InterventionPolicy) -> InterventionPolicy:
        """Put a policy in force; undo restores the one before."""
        return await self._desk.save_policy(policy)

    async def preview_policy(self, policy: InterventionPolicy) -> PolicyPreview:
        """Apply a policy to the stored runs, and count the consequences."""

        def gathering() -> tuple[dict[str, list[Flag]], list[PreviewRun]]:
            index = self._core.workspace.index
            rows = index.rows(RunFilter())
            stored = [PreviewRun(id=row.id, site=row.site, steps=row.steps, score=row.score) for row in rows]
            return index.all_flags(), stored

        flags, runs = await self._core.on_store(gathering)
        return await self._core.on_worker(preview, policy, flags, runs)

    # inside

    async def _flags(self, run: str) -> Sequence[Flag]:
        """Return all flags of the run: current ones, and those from before an interruption."""
        stored = await self._core.on_store(self._core.workspace.index.flags, run)
        found = self._fleet.find(run)
        return [*(found.flags if found is not None else ()), *stored]
