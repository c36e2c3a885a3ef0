"""Dispatch of decided actions: to the page, the ledger, the navigator or the supervisor.

Actions are told apart by their type.  An action that ends the run returns an ``LoopEnding``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from app.engine.agent.memory.entries import agent_note, fact
from app.engine.agent.memory.ledger_store import LONGEST_NOTE, LedgerStore
from app.engine.agent.memory.notes import read_back
from app.engine.agent.ports import ActionExecutor, MarkResolver, Navigator, Supervisor
from app.engine.agent.secret_fields import SECRET_ALTERNATIVES, SecretRuling, secret_use
from app.engine.agent.secrets import Secrets
from app.engine.agent.write_gate.gate import WriteDecision
from app.engine.core.action_result import ActionResult, Cause, Effect, refused
from app.engine.core.actions.types import (
    Action,
    AskHuman,
    Branch,
    Calculate,
    ClickMark,
    Look,
    Navigate,
    Prune,
    ReadNotes,
    ReportInfeasible,
    Stop,
    TakeNote,
    TypeMark,
    elements_of,
)
from app.engine.core.ledger import FactCategory, Ledger
from app.engine.core.observation import Observation
from app.engine.core.trajectory import Outcome
from app.engine.core.write_permit import WritePermit
from app.errors import Conflict, NotFound

EvaluateExpression = Callable[[str], str]
"""Exact arithmetic: return the value of an expression as text; raises ``ValueError`` with the reason."""


@dataclass(frozen=True, slots=True)
class LoopEnding:
    """Why a run is over; ``by`` is the person who ended it, "" for the agent."""

    outcome: Outcome
    answer: str | None = None
    error: str = ""
    by: str = ""


@dataclass(slots=True)
class ActionDispatcher:
    """Dispatches each action to the component that does it.

    Attributes:
        answers: answers of people so far, as (question, answer).
        gate: awaited right before the page is touched; its exceptions propagate.
        check: the write gate, asked about the element that a mark turned out to be.
    """

    executor: ActionExecutor
    ledger_store: LedgerStore
    evaluate: EvaluateExpression
    navigator: Navigator | None = None
    marks: MarkResolver | None = None
    supervisor: Supervisor | None = None
    secrets: Secrets = field(default_factory=Secrets)
    answers: tuple[tuple[str, str], ...] = ()
    before_page: Callable[[], Awaitable[None]] | None = None
    check_mark: Callable[[Action, Observation, WritePermit | None], WriteDecision] | None = None

    async def do(
        self, action: Action, observation: Observation, permit: WritePermit | None = None
    ) -> tuple[ActionResult, LoopEnding | None]:
        """Do one action on the page in front; without a permit it may only read."""
        match action:
            case Stop(answer):
                return _succeeded(), LoopEnding(Outcome.ANSWERED, answer=answer)
            case ReportInfeasible(reason):
                return _succeeded(), LoopEnding(Outcome.INFEASIBLE, answer=reason)
            case AskHuman(question):
                return await self._asked(question, observation.step)
            case Navigate():
                return await self._travel(action, observation), None
            case TakeNote() | ReadNotes() | Calculate() | Branch() | Prune():
                return self._in_memory(action, observation), None
            case Look() if self.marks is not None:
                return _succeeded("the marks are listed with the page"), None
            case _ if self.marks is not None:
                return await self._with_marks(self.marks, action, observation, permit), None
            case Look() | ClickMark() | TypeMark():
                return refused(
                    Cause.POLICY, "there are no marks: no vision model is used", "name an element instead"
                ), None
            case _:
                return await self._on_page(action, observation, permit), None

    async def ask(self, question: str, step: int) -> str | None:
        """Return a person's answer, ``None`` where there is no person."""
        answer = await self.supervisor.ask(question, step) if self.supervisor is not None else None
        if answer is not None:
            self.answers = (*self.answers, (question, answer))
        return answer

    async def _asked(self, question: str, step: int) -> tuple[ActionResult, LoopEnding | None]:
        answer = await self.ask(question, step)
        if answer is None:
            why = "there is no one to answer"
            return refused(Cause.PERSON, why), LoopEnding(Outcome.NEEDS_PERSON, error=f"asked: {question}")
        return _succeeded(self.secrets.mask(answer)), None

    async def _travel(self, action: Navigate, observation: Observation) -> ActionResult:
        if self.navigator is None or not self.navigator.domains():
            return refused(
                Cause.NAVIGATOR,
                "there is no interaction graph to navigate by",
                "use the links and menus of the page",
            )
        return await self.navigator.navigate(action, observation.intent, self.before_page)

    async def _with_marks(
        self, marks: MarkResolver, action: Action, observation: Observation, permit: WritePermit | None
    ) -> ActionResult:
        """Resolve marks first: a known element needs no new look, a mark stands for an element or a point."""
        resolved, said = await marks.resolve(action, observation.page)
        if resolved is None:
            return said or refused(Cause.MISSING, "the marked element is gone")
        if self.check_mark is not None and resolved != action:
            found = self.check_mark(resolved, observation, permit)
            if not found.allowed:
                return refused(
                    Cause.POLICY, f"it {found.assessment.risk.value}: {found.why}", "name the element itself"
                )
            permit = permit or found.permit
        done = await self._on_page(resolved, observation, permit)
        if isinstance(action, ClickMark | TypeMark):
            done = replace(done, element=next(iter(elements_of(resolved)), None))
        if said is None:
            return done
        return replace(
            done, notes=(*done.notes, *said.notes), perceptions=done.perceptions + said.perceptions
        )

    async def _on_page(
        self, action: Action, observation: Observation, permit: WritePermit | None
    ) -> ActionResult:
        use = secret_use(action, observation, self.secrets)
        if use is not None and not (use.ruling is SecretRuling.ALLOW or self.secrets.is_approved(use.key)):
            return refused(Cause.POLICY, use.why, *SECRET_ALTERNATIVES)
        if self.before_page is not None:
            await self.before_page()
        result = await self.executor.do(self.secrets.fill(action), permit)
        if not self.secrets.has_values:
            return result
        return replace(
            result,
            why=self.secrets.mask(result.why),
            output=self.secrets.mask(result.output),
            notes=tuple(map(self.secrets.mask, result.notes)),
            alternatives=tuple(map(self.secrets.mask, result.alternatives)),
        )

    def _in_memory(
        self, action: TakeNote | ReadNotes | Calculate | Branch | Prune, observation: Observation
    ) -> ActionResult:
        match action:
            case TakeNote(text):
                return self._noted(text, observation)
            case ReadNotes(which):
                return self._read_notes(which)
            case Calculate(expression):
                return self._reckoned(expression, observation.step)
            case Branch(parent, intent):
                return self._planned(
                    lambda: (
                        f"added as subgoal {self.ledger_store.branch(parent, intent, observation.step).id}"
                    )
                )
            case Prune(node, reason):
                remains = _changes_since(self.ledger_store.ledger, node)
                return self._planned(lambda: self._pruned(node, reason, observation.step, remains))

    def _noted(self, text: str, observation: Observation) -> ActionResult:
        if not text.strip():
            return refused(Cause.VALUE, "the note is empty", "say what is to be remembered")
        self.ledger_store.write(agent_note(text, observation.step, observation.page.url))
        number = next(
            note.number for note in reversed(self.ledger_store.ledger.notes) if note.step == observation.step
        )
        if len(text) <= LONGEST_NOTE:
            return _succeeded(f"kept as note {number}")
        return _succeeded(
            f"kept as note {number}, but only its first {LONGEST_NOTE:,} of {len(text):,} characters;"
            " note the rest separately"
        )

    def _read_notes(self, which: str) -> ActionResult:
        notes = self.ledger_store.ledger.notes
        if not notes:
            return refused(Cause.MISSING, "there are no notes yet")
        told = read_back(notes, which)
        if not told:
            known = f"there are notes 1 to {len(notes)}"
            return refused(Cause.MISSING, f"no note has these numbers or words; {known}", "read_notes()")
        return _succeeded(told)

    def _pruned(self, node: str, reason: str, step: int, remains: tuple[str, ...]) -> str:
        self.ledger_store.prune(node, reason, step, remains)
        left = f"; still changed on the site: {'; '.join(remains)}" if remains else ""
        return f"gave up subgoal {node}{left}"

    def _planned(self, change: Callable[[], str]) -> ActionResult:
        try:
            return _succeeded(change())
        except (NotFound, Conflict) as error:
            return refused(Cause.MISSING, str(error))

    def _reckoned(self, expression: str, step: int) -> ActionResult:
        try:
            value = self.evaluate(expression)
        except ValueError as error:
            return refused(Cause.VALUE, str(error), "write it with numbers, + - * / ** and brackets")
        self.ledger_store.write(fact(expression[:80], value, step, category=FactCategory.DERIVED))
        return _succeeded(f"= {value}")


def _changes_since(ledger: Ledger, node: str) -> tuple[str, ...]:
    """List the changes made on the site since a subgoal began, as far as the last steps show; pruning undoes
    nothing.
    """
    begun = next((known.step for known in ledger.plan if known.id == node), 0)
    return tuple(
        step.words
        for step in ledger.recent
        if step.step >= begun and step.success and step.effect == Effect.CHANGED
    )


def _succeeded(output: str = "") -> ActionResult:
    """Return the result of an action that was done and is not meant to change the page."""
    return ActionResult(success=True, effect=Effect.DONE, output=output)
