"""Flags of the live judge in the loop: collected, reported, and reacted to before the agent's next action is done.

A flag may come a step after the one it names.  Where a person watches, an action that leaves something behind on the
site waits for the open question; a claim to be done waits for the question about the outcome, watched or not.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from app.engine.agent.approval_gate import ApprovalOutcome
from app.engine.agent.dependencies import AgentDependencies
from app.engine.agent.judging.live_judge import LiveJudge
from app.engine.agent.operator_prompts import CLAIM_DOUBTED, SOMETHING_WRONG, react_to_flags
from app.engine.agent.run_control import JUDGE, RunControl, WatchdogTimeout
from app.engine.agent.run_recording import RunRecording
from app.engine.agent.step_record import observed_step, redacted_action
from app.engine.agent.write_gate.action_risk import assess_risk
from app.engine.core.action_result import Cause, refused
from app.engine.core.actions.types import ReportInfeasible, Stop
from app.engine.core.observation import AgentDecision, Observation
from app.engine.core.page_state import PageCapture
from app.engine.core.supervision import DecisionKind, OperatorAction, OperatorDecision, Stage
from app.engine.core.trajectory import Outcome, Run
from app.engine.core.verdicts import Flag

log = logging.getLogger(__name__)

_SENDS_BACK = frozenset({DecisionKind.ANSWER, DecisionKind.RETRY})


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Outcome of the review of late flags before an action.

    Attributes:
        claim: a claim to be done was flagged.
        question, decision: of a person, where one was asked.
        stale: the agent is to decide again, with the person's words.
        refused: the claim as a refused action, where the person sends it back.
    """

    claim: bool = False
    question: str = ""
    decision: OperatorDecision | None = None
    stale: bool = False
    refused: ApprovalOutcome | None = None


_NONE = Doubt()


class FlagReview:
    """Brings the live judge of one run and its loop together; does nothing for a run without one."""

    def __init__(
        self, parts: AgentDependencies, control: RunControl, recording: RunRecording, run: Run
    ) -> None:
        self._judge, self._secrets = parts.judge, parts.secrets
        self._control, self._recording, self._run = control, recording, run

    def show_page(self, page: PageCapture) -> None:
        """Give the judge the page before the next decision, which shows the last action's effect."""
        number = self._recording.number
        if self._judge is not None and self._judge.wants_page(number):
            self._judge.on_page(lambda: observed_step(number, page, (), 0, self._secrets, time.time()))

    async def review(self, observation: Observation, decision: AgentDecision) -> Doubt:
        """React to the flags so far, before the action of a decision is done."""
        judge, action = self._judge, decision.action
        if judge is None or action is None:
            return _NONE
        claims = isinstance(action, Stop | ReportInfeasible)
        writes = self._control.supervised and assess_risk(action, observation.page).risk.changes
        with suppress(WatchdogTimeout):
            async with self._control.in_stage(Stage.THINKING):
                if claims:
                    await self._ask_about_claim(judge, observation, action)
                elif writes:
                    await judge.settle()
        flags = await self._collect(judge)
        if not flags or not self._control.supervised:
            return _NONE
        question = CLAIM_DOUBTED if claims else SOMETHING_WRONG
        decided = await react_to_flags(self._control, flags, observation.page.url, question=question)
        if decided is None or decided.kind not in _SENDS_BACK:
            return Doubt(claim=claims, question=question, decision=decided)
        if not claims:
            return Doubt(question=question, decision=decided, stale=bool(decided.text))
        missing = decided.text or " ".join(flag.message for flag in flags)
        result = refused(Cause.PERSON, f"a person says that it is not done: {missing}", "do what is missing")
        outcome = ApprovalOutcome(observation=observation, decision=decision, result=result)
        return Doubt(claim=True, question=question, decision=decided, refused=outcome)

    async def is_overtaken(self, observation: Observation) -> bool:
        """Whether a person sent a hint after the observation: a claim held meanwhile is decided again."""
        given = {tip.tip for tip in observation.tips}
        return any(hint.tip not in given for hint in await self._control.hints())

    async def finish(self) -> None:
        """Close the judge with the run; of one that is being stopped the open question is given up."""
        if self._judge is not None:
            await self._judge.close(wait=not self._control.stopping)
            await self._collect(self._judge)

    def cancel(self) -> None:
        """Give up the open question of a loop that is over."""
        if self._judge is not None:
            self._judge.cancel()

    async def _ask_about_claim(
        self, judge: LiveJudge, observation: Observation, action: Stop | ReportInfeasible
    ) -> None:
        number, mask = self._recording.number, self._secrets.mask
        page = observation.page
        final, pages = observed_step(number, page, (), 0, self._secrets, time.time())
        answered = isinstance(action, Stop)
        ended = replace(
            self._run,
            outcome=Outcome.ANSWERED if answered else Outcome.INFEASIBLE,
            answer=mask(action.answer if answered else action.reason),
            final=replace(final, executed=False),
            step_count=number,
        )
        claim = replace(final, action=redacted_action(action, None, self._secrets))
        await judge.ask_about_claim(claim, ended, pages)

    async def _collect(self, judge: LiveJudge) -> Sequence[Flag]:
        """Add the judge's flags and exchanges to the run; return the flags."""
        calls, tokens = judge.take_usage()
        if calls:
            self._recording.drop(AgentDecision(action=None, calls=calls, tokens=tokens))
        if trouble := judge.take_trouble():
            log.warning("the live judge of run %s: %s", self._run.id, trouble)
            words = f"the live judge is silent, the run goes on without it: {trouble}"
            await self._control.add_to_timeline(OperatorAction.TROUBLED, words, author=JUDGE)
        flags = judge.take_flags()
        if flags:
            self._recording.add_flags(flags)
        return flags
