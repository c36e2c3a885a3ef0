"""The approval gate between a decision and its action: announces it, asks about it, refuses it or holds it.

``agent.risk`` classifies the action; the standing approvals, the intervention policy and the write gate decide.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from hashlib import blake2b

from app.engine.agent.answer_parser import parse_answer
from app.engine.agent.run_control import RunControl
from app.engine.agent.secret_fields import SECRET_ALTERNATIVES, SecretRuling, secret_use
from app.engine.agent.secrets import Secrets
from app.engine.agent.step_record import action_target, redacted_action, target_element
from app.engine.agent.write_gate.action_risk import RiskAssessment
from app.engine.agent.write_gate.gate import WriteDecision, WriteGate, permit_for
from app.engine.core.action_result import ActionResult, Cause, Effect, refused
from app.engine.core.actions.action_sets import all_calls
from app.engine.core.actions.recorded import describe_action, format_recorded
from app.engine.core.actions.specs import Action, spec_of
from app.engine.core.actions.types import ClickAt, ReportInfeasible, Stop, elements_of
from app.engine.core.element_identity import identity_of, renumber_action
from app.engine.core.intervention_policy import PolicyAnswer, RiskClass
from app.engine.core.observation import AgentDecision, Observation
from app.engine.core.page_index import PageIndex
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.redaction import redact_text, redact_url
from app.engine.core.supervision import DecisionKind, Need, OperatorDecision, PlannedAction, TipDue
from app.engine.core.write_permit import WritePermit
from app.errors import UsageError

ALL_ACTIONS = frozenset(form.shown for form in all_calls())
"""Actions a person may choose in place of the agent's."""

_NO_RESULT = ActionResult(success=False, effect=Effect.REFUSED)

Relook = Callable[[Observation], Awaitable[Observation | None]]
"""Look at the page again; ``None`` where it is no longer the page that was decided about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalOutcome:
    """Outcome of the approval gate for one decision.

    Attributes:
        sight, decision: as they are now; a person may have replaced the action, a new look may have renumbered
            the page.
        result: of an action that was refused and must not be done.
        anew: do nothing, because the page has changed; look and decide again.
        notes: notes for the agent, added to the result.
        gate: the write gate's decision about the action.
    """

    observation: Observation
    decision: AgentDecision
    result: ActionResult | None = None
    stale: bool = False
    notes: tuple[str, ...] = ()
    write: WriteDecision | None = None

    @property
    def permit(self) -> WritePermit | None:
        """Permission for the writes of the action; ``None``: it may only read."""
        return self.write.permit if self.write is not None else None


class ApprovalGate:
    """Approval gate of one run."""

    def __init__(
        self, control: RunControl, secrets: Secrets, relook: Relook, gate: WriteGate | None = None
    ) -> None:
        self._control, self._secrets, self._relook = control, secrets, relook
        self._gate = gate or WriteGate()
        self._resolved: WriteDecision | None = None

    async def review(
        self, observation: Observation, decision: AgentDecision, mark: tuple[int, int] | None = None
    ) -> ApprovalOutcome:
        """Announce the decision, ask and hold where needed; return right before the action.

        ``mark`` is the page mark of the observation, where the run may have been held since.
        """
        mark = mark or self._control.page_mark
        self._resolved = None
        notes: tuple[str, ...] = ()
        while True:
            cleared = ApprovalOutcome(observation=observation, decision=decision)
            if decision.action is not None:
                cleared = await self._permitted(observation, decision, decision.action)
            edited = await self._released(cleared)
            if edited is None:
                break
            decision, notes = edited, (edited.reason,)  # judged, and asked about, like any other
        cleared = replace(cleared, notes=(*notes, *cleared.notes))
        if self._control.stopping and self._control.supervised:
            return replace(cleared, stale=True)
        if cleared.stale or cleared.result is not None or self._control.page_mark == mark:
            return cleared
        return await self._seen_again(cleared)

    async def _released(self, cleared: ApprovalOutcome) -> AgentDecision | None:
        """Wait until the run is released; return the decision by which a person replaced this one meanwhile."""
        edits: list[AgentDecision] = []
        if cleared.decision.action is not None and not cleared.stale and cleared.result is None:
            self._control.replan = lambda by: self._replanned(cleared, edits, by)
        try:
            await self._control.wait_until_released()
        finally:
            self._control.replan = None
        return edits[-1] if edits and not self._control.stopping else None

    def _replanned(
        self, cleared: ApprovalOutcome, edits: list[AgentDecision], by: OperatorDecision
    ) -> PlannedAction:
        action, wrong = _read_edit(by.call, cleared.observation.page)
        if action is None:
            raise UsageError(wrong)
        assert cleared.decision.action is not None
        assert cleared.write is not None
        before = self._next(
            cleared.observation, cleared.decision, cleared.decision.action, cleared.write.assessment
        )
        decision, _, wanted = self._chosen(cleared, before, action, by.text)
        edits.append(decision)
        self._tell(wanted)
        return wanted

    def _chosen(
        self, cleared: ApprovalOutcome, planned: PlannedAction, action: Action, text: str
    ) -> tuple[AgentDecision, WriteDecision, PlannedAction]:
        """Return the decision for the action a person chose, the write gate's about it, and it as the next action."""
        reason = f"a person chose this instead of: {planned.words}"
        if text:
            reason = f"{reason} ({text})"
        decision = replace(cleared.decision, action=action, reason=reason, intent="", followed={})
        write = self._gate.judge(action, cleared.observation)
        return decision, write, self._next(cleared.observation, decision, action, write.assessment)

    def check_resolved_mark(
        self, action: Action, observation: Observation, permit: WritePermit | None
    ) -> WriteDecision:
        """Judge the element that a mark turned out to be; a permit given for the mark stays valid."""
        found = self._gate.judge(action, observation)
        if permit is not None and not found.allowed:
            found = replace(found, allowed=True, permit=permit)
        self._resolved = found
        return found

    def settle(self, cleared: ApprovalOutcome, result: ActionResult) -> None:
        """Record the result of a permitted action, so that it is not done more often than the task asks."""
        decision = self._resolved or cleared.write
        if decision is not None:
            self._gate.settle(decision, result, cleared.observation.step)

    async def _permitted(
        self, observation: Observation, decision: AgentDecision, action: Action
    ) -> ApprovalOutcome:
        gate, use = self._gate.judge(action, observation), secret_use(action, observation, self._secrets)
        about = gate.assessment
        is_asked = use is not None and use.ruling is SecretRuling.ASK
        if use is not None and is_asked:
            about = replace(about, why="; ".join(why for why in (about.why, use.why) if why))
        planned = self._next(observation, decision, action, about)
        self._tell(planned)
        cleared = ApprovalOutcome(observation=observation, decision=decision, write=gate)
        if not spec_of(action).touches_page:
            return cleared
        if use is not None and use.ruling is SecretRuling.REFUSE:
            return replace(cleared, result=refused(Cause.POLICY, use.why, *SECRET_ALTERNATIVES))
        answer = await self._control.answer(about.risk)
        if answer is PolicyAnswer.DENY:
            why = f"actions of this kind ({about.risk.value}) are not allowed in this run: {about.why}"
            return replace(
                cleared, result=refused(Cause.POLICY, why, "do without it, or say what is missing")
            )
        if not gate.allowed and not self._control.supervised:
            why = f"it {about.risk.value}, and the task does not ask for that here: {gate.why}"
            instead = "do only what the task asks for, on the thing it names"
            return replace(cleared, result=refused(Cause.POLICY, why, instead))
        if not gate.allowed and not is_asked and await self._control.is_class_allowed(about.risk):
            return self._by_person(cleared, planned)
        if gate.allowed and answer is PolicyAnswer.ALLOW and not (is_asked and self._control.supervised):
            return cleared
        if not gate.allowed:
            why = f"{use.why}; {gate.why}" if use is not None and is_asked else gate.why
            planned = replace(planned, risk_why=f"the task does not ask for it: {why}")
        asked = await self._asked(cleared, planned)
        self._approve(asked)
        return asked

    def _approve(self, cleared: ApprovalOutcome) -> None:
        """Allow a secret use that a person has let through."""
        action = cleared.decision.action
        if cleared.result is None and not cleared.stale and action is not None:
            use = secret_use(action, cleared.observation, self._secrets)
            if use is not None and use.ruling is SecretRuling.ASK:
                self._secrets.approve(use.key)

    @staticmethod
    def _by_person(cleared: ApprovalOutcome, planned: PlannedAction) -> ApprovalOutcome:
        element = next(
            (one for one in cleared.observation.page.elements if one.index == planned.element), None
        )
        permit = permit_for(element, "a person allowed it")
        gate = cleared.write
        assert gate is not None
        return replace(cleared, write=replace(gate, allowed=True, permit=permit, why=permit.why))

    async def _asked(self, cleared: ApprovalOutcome, planned: PlannedAction) -> ApprovalOutcome:
        page = cleared.observation.page
        request = self._control.request(
            Need.APPROVAL,
            f"Let it {planned.words}?",
            why=_why(planned),
            words=planned.words,
            call=planned.call,
            risk=planned.risk.value,
            url=planned.url,
            element=_elements_digest(cleared.decision.action, page),
        )
        self._control.check = lambda text: _read_edit(text, page)[1]
        try:
            decided = await self._control.ask(request)
        finally:
            self._control.check = None
        if decided is None or decided.kind is DecisionKind.RETRY:
            return replace(cleared, stale=True)
        if decided.kind is DecisionKind.EDIT:
            return await self._edited(cleared, planned, decided)
        if decided.kind is DecisionKind.APPROVE:
            notes = (f"a person approved it: {decided.text}",) if decided.text else ()
            return replace(self._by_person(cleared, planned), notes=notes)
        why = f"a person said no to this: {decided.text}" if decided.text else "a person said no to this"
        return replace(cleared, result=refused(Cause.PERSON, why, "go on without it"))

    async def _edited(
        self, cleared: ApprovalOutcome, planned: PlannedAction, decided: OperatorDecision
    ) -> ApprovalOutcome:
        """Apply the action a person wants instead; ask once more where it can't be read, and about an action of
        another class, unless that is a lower one: what was approved did not say it.
        """
        action, wrong = _read_edit(decided.call, cleared.observation.page)
        if action is None:
            await self._control.void_decisions(Need.APPROVAL)
            return await self._asked(
                cleared, replace(planned, reason=f"{decided.call[:200]!r} can't be done: {wrong}")
            )
        decision, write, wanted = self._chosen(cleared, planned, action, decided.text)
        denied = await self._control.answer(wanted.risk) is PolicyAnswer.DENY
        if denied or not _covers(planned.risk, wanted.risk):
            again = await self._permitted(cleared.observation, decision, action)
            return replace(again, notes=(decision.reason, *again.notes))
        self._tell(wanted)
        return replace(
            self._by_person(replace(cleared, write=write), wanted),
            decision=decision,
            notes=(decision.reason,),
        )

    async def _seen_again(self, cleared: ApprovalOutcome) -> ApprovalOutcome:
        """Look again after a hold: keep the decision on the same page and element, renumbered; else decide again."""
        fresh = await self._relook(cleared.observation)
        action = cleared.decision.action
        if fresh is not None and action is not None:
            moved = renumber_action(action, cleared.observation.page, fresh.page)
            action = None if isinstance(moved, int) else moved
        if fresh is None or (action is None and cleared.decision.action is not None):
            if cleared.notes:
                await self._control.void_decisions(Need.APPROVAL, DecisionKind.EDIT)
            return replace(cleared, stale=True)
        return replace(cleared, observation=fresh, decision=replace(cleared.decision, action=action))

    # announcements

    def _tell(self, planned: PlannedAction) -> None:
        if self._control.on_planned is not None:
            self._control.on_planned(planned)

    def _next(
        self, observation: Observation, decision: AgentDecision, action: Action, about: RiskAssessment
    ) -> PlannedAction:
        element = _target(observation.page, action, about)
        recorded = redacted_action(action, element, self._secrets)
        target = action_target(element) if element is not None else None
        box = element.rect if element is not None else None
        return PlannedAction(
            run=self._control.run,
            step=observation.step,
            words=self._said(describe_action(recorded, target)),
            call=self._said(format_recorded(recorded)),
            reason=self._said(decision.reason),
            risk=about.risk,
            risk_why=self._said(about.why),
            element=element.index if element is not None else None,
            box=box,
            point=_pointer_position(action, box, observation.page.viewport),
            url=redact_url(self._secrets.mask(observation.page.url)),
            follows=dict(decision.followed),
            due=tuple(
                TipDue(
                    tip=state.tip,
                    steps=state.steps,
                    number=state.number,
                    line=self._said(state.line),
                    applies=state.applies,
                    why=self._said(state.why) if state.action is None else "",
                    over=state.over,
                )
                for state in observation.procedures
            ),
        )

    def _said(self, text: str) -> str:
        return redact_text(self._secrets.mask(text))


def _read_edit(text: str, page: PageCapture) -> tuple[Action | None, str]:
    """Return the action a person typed, or why it is none.

    An answer given as an edit would count as the agent's; a person's end of a run says who gave it.
    """
    parsed = parse_answer(text, ALL_ACTIONS, page)
    if parsed.action is None or parsed.dropped:
        return None, parsed.why or "it has more than one action"
    if isinstance(parsed.action, Stop | ReportInfeasible):
        return None, "an edit can't end the run: end it by hand, as finished or with your answer"
    return parsed.action, ""


def _covers(asked: RiskClass, wanted: RiskClass) -> bool:
    """Whether the question about an action of one class says enough for an edit into another one."""
    return wanted is asked or wanted.level < asked.level


def _elements_digest(action: Action | None, page: PageCapture) -> str:
    """Return 16 hex digits that identify the elements of an action, "" for an action without any."""
    numbers = elements_of(action) if action is not None else ()
    index = PageIndex(page)
    found = [one for number in numbers for one in page.elements if one.index == number]
    parts = ["\x1f".join(identity_of(one, index)) for one in found]
    return blake2b("\x1e".join(parts).encode("utf-8", "replace"), digest_size=8).hexdigest() if parts else ""


def _target(page: PageCapture, action: Action, about: RiskAssessment) -> Element | None:
    element = target_element(page, action, _NO_RESULT)
    if element is not None or about.element is None:
        return element
    return next((one for one in page.elements if one.index == about.element), None)


def _pointer_position(
    action: Action, box: tuple[float, float, float, float] | None, viewport: tuple[int, int]
) -> tuple[float, float] | None:
    """Return the pointer position: the middle of the visible part of the target."""
    if isinstance(action, ClickAt):
        return action.at
    if box is None:
        return None
    left, right = max(0.0, box[0]), min(float(viewport[0]), box[0] + box[2])
    top, bottom = max(0.0, box[1]), min(float(viewport[1]), box[1] + box[3])
    if right <= left or bottom <= top:
        return (box[0] + box[2] / 2, box[1] + box[3] / 2)
    return ((left + right) / 2, (top + bottom) / 2)


def _why(planned: PlannedAction) -> str:
    known = "" if planned.risk is RiskClass.READS else f"it {planned.risk.value}"
    return "; ".join(part for part in (known, planned.risk_why, planned.reason) if part)
