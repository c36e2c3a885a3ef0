"""The approval gate between a decision and its action: announces it, asks about it, refuses it or holds it.

``agent.risk`` classifies the action; the standing approvals, the intervention policy and the write gate decide.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from hashlib import blake2b

from app.engine.agent.answer_parser import parse_answer
from app.engine.agent.llm.action_batch import renumber_action
from app.engine.agent.run_control import RunControl
from app.engine.agent.secret_fields import SECRET_ALTERNATIVES, SecretRuling, secret_use
from app.engine.agent.secrets import Secrets
from app.engine.agent.step_record import action_target, redacted_action, target_element
from app.engine.agent.write_gate.action_risk import RiskAssessment
from app.engine.agent.write_gate.gate import WriteDecision, WriteGate, permit_for
from app.engine.core.action_result import ActionResult, Cause, Effect, refused
from app.engine.core.actions.recorded import describe_action, format_recorded
from app.engine.core.actions.types import (
    ACTION_SETS,
    Action,
    AskHuman,
    Branch,
    Calculate,
    ClickAt,
    Prune,
    ReportInfeasible,
    Stop,
    TakeNote,
    Wait,
    elements_of,
)
from app.engine.core.identity import element_key
from app.engine.core.intervention_policy import PolicyAnswer, RiskClass
from app.engine.core.observation import AgentDecision, Observation
from app.engine.core.page_index import PageIndex
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.redaction import redact_text, redact_url
from app.engine.core.supervision import DecisionKind, Need, OperatorDecision, PlannedAction
from app.engine.core.write_permit import WritePermit

ALL_ACTIONS = frozenset(kind for kinds in ACTION_SETS.values() for kind in kinds)
"""Actions a person may choose in place of the agent's."""

_NOT_ON_PAGE = (TakeNote, Calculate, Branch, Prune, Stop, ReportInfeasible, AskHuman, Wait)
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

    sight: Observation
    decision: AgentDecision
    result: ActionResult | None = None
    anew: bool = False
    notes: tuple[str, ...] = ()
    gate: WriteDecision | None = None

    @property
    def permit(self) -> WritePermit | None:
        """Permission for the writes of the action; ``None``: it may only read."""
        return self.gate.permit if self.gate is not None else None


class ApprovalGate:
    """Approval gate of one run."""

    def __init__(
        self, control: RunControl, secrets: Secrets, relook: Relook, gate: WriteGate | None = None
    ) -> None:
        self._control, self._secrets, self._relook = control, secrets, relook
        self._gate = gate or WriteGate()
        self._resolved: WriteDecision | None = None

    async def clear(self, sight: Observation, decision: AgentDecision) -> ApprovalOutcome:
        """Announce the decision, ask and hold where needed; return right before the action."""
        cleared = ApprovalOutcome(sight=sight, decision=decision)
        mark = self._control.mark
        self._resolved = None
        if decision.command is not None:
            cleared = await self._permitted(sight, decision, decision.command)
        await self._control.gate()
        if self._control.stopping and self._control.supervised:
            return replace(cleared, anew=True)
        if cleared.anew or cleared.result is not None or self._control.mark == mark:
            return cleared
        return await self._seen_again(cleared)

    def check_resolved_mark(
        self, command: Action, sight: Observation, permit: WritePermit | None
    ) -> WriteDecision:
        """Judge the element that a mark turned out to be; a permit given for the mark stays valid."""
        found = self._gate.judge(command, sight)
        if permit is not None and not found.allowed:
            found = replace(found, allowed=True, permit=permit)
        self._resolved = found
        return found

    def settle(self, cleared: ApprovalOutcome, result: ActionResult) -> None:
        """Record the result of a permitted action, so that it is not done more often than the task asks."""
        decision = self._resolved or cleared.gate
        if decision is not None:
            self._gate.settle(decision, result, cleared.sight.step)

    async def _permitted(
        self, sight: Observation, decision: AgentDecision, command: Action
    ) -> ApprovalOutcome:
        gate, use = self._gate.judge(command, sight), secret_use(command, sight, self._secrets)
        about = gate.about
        is_asked = use is not None and use.ruling is SecretRuling.ASK
        if use is not None and is_asked:
            about = replace(about, why="; ".join(why for why in (about.why, use.why) if why))
        action = self._next(sight, decision, command, about)
        self._tell(action)
        cleared = ApprovalOutcome(sight=sight, decision=decision, gate=gate)
        if isinstance(command, _NOT_ON_PAGE):
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
            return self._by_person(cleared, action)
        if gate.allowed and answer is PolicyAnswer.ALLOW and not (is_asked and self._control.supervised):
            return cleared
        if not gate.allowed:
            why = f"{use.why}; {gate.why}" if use is not None and is_asked else gate.why
            action = replace(action, risk_why=f"the task does not ask for it: {why}")
        asked = await self._asked(cleared, action)
        self._approve(asked)
        return asked

    def _approve(self, cleared: ApprovalOutcome) -> None:
        """Allow a secret use that a person has let through."""
        command = cleared.decision.command
        if cleared.result is None and not cleared.anew and command is not None:
            use = secret_use(command, cleared.sight, self._secrets)
            if use is not None and use.ruling is SecretRuling.ASK:
                self._secrets.approve(use.key)

    @staticmethod
    def _by_person(cleared: ApprovalOutcome, action: PlannedAction) -> ApprovalOutcome:
        element = next((one for one in cleared.sight.page.elements if one.index == action.element), None)
        permit = permit_for(element, "a person allowed it")
        gate = cleared.gate
        assert gate is not None
        return replace(cleared, gate=replace(gate, allowed=True, permit=permit, why=permit.why))

    async def _asked(self, cleared: ApprovalOutcome, action: PlannedAction) -> ApprovalOutcome:
        page = cleared.sight.page
        request = self._control.request(
            Need.APPROVAL,
            f"Let it {action.words}?",
            why=_why(action),
            words=action.words,
            command=action.command,
            risk=action.risk.value,
            url=action.url,
            element=_elements_digest(cleared.decision.command, page),
        )
        self._control.check = lambda text: parse_answer(text, ALL_ACTIONS, page).why
        try:
            decided = await self._control.ask(request)
        finally:
            self._control.check = None
        if decided is None or decided.verb is DecisionKind.RETRY:
            return replace(cleared, anew=True)
        if decided.verb is DecisionKind.EDIT:
            return await self._edited(cleared, action, decided)
        if decided.verb is DecisionKind.APPROVE:
            notes = (f"a person approved it: {decided.text}",) if decided.text else ()
            return replace(self._by_person(cleared, action), notes=notes)
        why = f"a person said no to this: {decided.text}" if decided.text else "a person said no to this"
        return replace(cleared, result=refused(Cause.PERSON, why, "go on without it"))

    async def _edited(
        self, cleared: ApprovalOutcome, action: PlannedAction, decided: OperatorDecision
    ) -> ApprovalOutcome:
        """Apply the action a person wants instead; ask once more where it can't be read."""
        parsed = parse_answer(decided.command, ALL_ACTIONS, cleared.sight.page)
        if parsed.command is None or parsed.dropped:
            await self._control.drop(Need.APPROVAL)
            why = parsed.why or "it has more than one action"
            return await self._asked(
                cleared, replace(action, reason=f"{decided.command[:200]!r} can't be done: {why}")
            )
        reason = f"a person chose this instead of: {action.words}"
        if decided.text:
            reason = f"{reason} ({decided.text})"
        decision = replace(cleared.decision, command=parsed.command, reason=reason, intent="", followed={})
        gate = self._gate.judge(parsed.command, cleared.sight)
        wanted = self._next(cleared.sight, decision, parsed.command, gate.about)
        self._tell(wanted)
        return replace(
            self._by_person(replace(cleared, gate=gate), wanted), decision=decision, notes=(reason,)
        )

    async def _seen_again(self, cleared: ApprovalOutcome) -> ApprovalOutcome:
        """Look again after a hold: keep the decision on the same page and element, renumbered; else decide again."""
        fresh = await self._relook(cleared.sight)
        command = cleared.decision.command
        if fresh is not None and command is not None:
            command = renumber_action(command, cleared.sight.page, fresh.page)
            if _elements_digest(command, fresh.page) != _elements_digest(
                cleared.decision.command, cleared.sight.page
            ):
                command = None
        if fresh is None or (command is None and cleared.decision.command is not None):
            if cleared.notes:
                await self._control.drop(Need.APPROVAL, DecisionKind.EDIT)
            return replace(cleared, anew=True)
        return replace(cleared, sight=fresh, decision=replace(cleared.decision, command=command))

    # announcements

    def _tell(self, action: PlannedAction) -> None:
        if self._control.planned is not None:
            self._control.planned(action)

    def _next(
        self, sight: Observation, decision: AgentDecision, command: Action, about: RiskAssessment
    ) -> PlannedAction:
        element = _target(sight.page, command, about)
        action = redacted_action(command, element, self._secrets)
        target = action_target(element) if element is not None else None
        box = element.rect if element is not None else None
        return PlannedAction(
            run=self._control.run,
            step=sight.step,
            words=self._said(describe_action(action, target)),
            command=self._said(format_recorded(action)),
            reason=self._said(decision.reason),
            risk=about.risk,
            risk_why=self._said(about.why),
            element=element.index if element is not None else None,
            box=box,
            point=_pointer_position(command, box, sight.page.viewport),
            url=redact_url(self._secrets.mask(sight.page.url)),
            follows=dict(decision.followed),
        )

    def _said(self, text: str) -> str:
        return redact_text(self._secrets.mask(text))


def _elements_digest(command: Action | None, page: PageCapture) -> str:
    """Return 16 hex digits that identify the elements of an action, "" for an action without any.

    Rows of a list may change places while their elements keep names, numbers and paths, so the text near each
    counts too.
    """
    numbers = elements_of(command) if command is not None else ()
    index = PageIndex.of(page)
    found = [one for number in numbers for one in page.elements if one.index == number]
    parts = ["\x1f".join((element_key(one), one.css, index.near(one))) for one in found]
    return blake2b("\x1e".join(parts).encode("utf-8", "replace"), digest_size=8).hexdigest() if parts else ""


def _target(page: PageCapture, command: Action, about: RiskAssessment) -> Element | None:
    element = target_element(page, command, _NO_RESULT)
    if element is not None or about.element is None:
        return element
    return next((one for one in page.elements if one.index == about.element), None)


def _pointer_position(
    command: Action, box: tuple[float, float, float, float] | None, viewport: tuple[int, int]
) -> tuple[float, float] | None:
    """Return the pointer position: the middle of the visible part of the target."""
    if isinstance(command, ClickAt):
        return command.at
    if box is None:
        return None
    left, right = max(0.0, box[0]), min(float(viewport[0]), box[0] + box[2])
    top, bottom = max(0.0, box[1]), min(float(viewport[1]), box[1] + box[3])
    if right <= left or bottom <= top:
        return (box[0] + box[2] / 2, box[1] + box[3] / 2)
    return ((left + right) / 2, (top + bottom) / 2)


def _why(action: PlannedAction) -> str:
    known = "" if action.risk is RiskClass.READS else f"it {action.risk.value}"
    return "; ".join(part for part in (known, action.risk_why, action.reason) if part)
