"""Recording of a run: its ledger, its steps (the agent's and a person's), its ending."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from itertools import takewhile
from urllib.parse import urlsplit

from app.engine.agent.action_dispatcher import LoopEnding
from app.engine.agent.dependencies import AgentDependencies
from app.engine.agent.memory import entries
from app.engine.agent.memory.entries import LedgerEntry, checkpoint, dead_end_of, outcome
from app.engine.agent.ports import StepReport
from app.engine.agent.run_control import RunControl
from app.engine.agent.secret_masking import mask_tabs
from app.engine.agent.step_record import complete_step, observed_step
from app.engine.core.action_result import ActionResult, Cause, Effect
from app.engine.core.actions.recorded import from_recorded, to_recorded
from app.engine.core.actions.types import Navigate, elements_of
from app.engine.core.cost import Cost
from app.engine.core.ledger import Checkpoint
from app.engine.core.observation import AgentDecision, HistoryEntry, Observation, TipCredit
from app.engine.core.page_state import PageCapture
from app.engine.core.supervision import DecisionKind, Stage
from app.engine.core.trajectory import BY_PERSON, ErrorClass, Run, Step, Tab, add_blob
from app.engine.core.verdicts import Flag
from app.errors import SiteloreError, StoreError


class RunRecording:
    """The growing record of one run.

    Attributes:
        number: of the next step.  by_hand: number of steps done by a person.
        turns: the agent's own steps so far.  flags: the detectors' flags.
    """

    def __init__(
        self, parts: AgentDependencies, control: RunControl, run: Run, steps: Sequence[Step]
    ) -> None:
        self._parts, self._control, self._run = parts, control, run
        self.number = len(steps)
        self.operator_steps = sum(step.by == BY_PERSON for step in steps)
        self.history: list[HistoryEntry] = list(history_of_steps(steps))
        self.flags: list[Flag] = []
        self._tokens = run.tokens
        self._earlier = cost_of_steps(run, steps)
        self._earlier_tokens = tokens_of_steps(run, steps)
        self._counted = Cost()
        self._dropped: list[AgentDecision] = []
        self._one_at_a_time = asyncio.Lock()

    async def write(self, *news: LedgerEntry | None, held: bool = False) -> None:
        """Write to the ledger; where the disk is full a person is asked to fix that.

        ``held`` where a takeover writes while the loop is held.
        """

        async def writing() -> None:
            self._parts.ledger_store.write(*news)

        await retry_on_full_disk(self._control, "The agent's memory", writing, held=held)

    async def remember(self, decision: AgentDecision) -> None:
        """Store the plan, facts and notes of a decision."""
        step = self.number
        new_goal = (
            decision.subgoal is not None and decision.subgoal != self._parts.ledger_store.ledger.subgoal
        )
        await self.write(
            entries.plan(decision.plan, step) if decision.plan is not None else None,
            entries.subgoal(decision.subgoal or "", step) if new_goal else None,
            *(entries.fact_of(fact, step) for fact in decision.facts),
            *(entries.note(note, step) for note in decision.notes),
            entries.constraints(decision.constraints, step) if decision.constraints else None,
        )

    def add_flags(self, flags: Sequence[Flag]) -> None:
        """Add flags that came after their step."""
        self.flags += flags
        if self._parts.on_flags is not None:
            self._parts.on_flags(flags)

    def drop(self, decision: AgentDecision) -> None:
        """Drop a decision that is not acted on; its cost is added to the next one."""
        self._dropped.append(decision)

    async def record_step(
        self,
        observation: Observation,
        decision: AgentDecision,
        result: ActionResult,
        seen: Step,
        blobs: Mapping[str, bytes],
        credits: Mapping[str, TipCredit] | None = None,
    ) -> list[Flag]:
        """Write the ledger first and the step last, so a step on the disk is complete.  Return the flags it
        raised.
        """
        parts = self._parts
        decision = self._with_dropped(decision)
        async with self._one_at_a_time:
            seen = replace(seen, index=self.number)  # a person may have added steps during a request
            step = complete_step(
                seen,
                observation,
                decision,
                result,
                parts.secrets,
                page_state=observation.state,
                credits=credits,
            )
            step = replace(step, cost=self._cost_since_last())
            turn = _turn(decision, result, step)
            if turn is not None:
                await self.write(
                    *ledger_entries(turn, observation, await self._where(step.url), self.history)
                )
            flags = parts.detectors.see(step, blobs) if parts.detectors is not None else []
            self.flags += flags
            self._spend(decision)
            await self._kept(step, blobs)
        if parts.judge is not None:
            parts.judge.on_step(step, flags)
        if turn is not None:
            self.history.append(turn)
        self._tell(step, flags)
        self._control.on_step_recorded()
        return flags

    async def record_operator_step(self, step: Step, blobs: Mapping[str, bytes]) -> int:
        """Record a step of a person during a takeover; return its number."""
        async with self._one_at_a_time:
            step = replace(step, index=self.number, by=BY_PERSON)
            await self._kept(step, blobs, held=True)
            self.operator_steps += 1
            await self.write(entries.note(f"a person did: {step.words}", step.index), held=True)
        self._tell(step, ())
        return step.index

    async def close(
        self,
        ending: LoopEnding,
        page: PageCapture | None,
        tabs: Sequence[Tab],
        active: int,
        evidence: bytes = b"",
    ) -> Run:
        """Close the run with its ending, its last page and the evidence for its evaluation, if there is any."""
        secrets = self._parts.secrets
        final, blobs = None, dict[str, bytes]()
        self._spend(self._with_dropped(AgentDecision(action=None)))
        if page is not None:
            final, blobs = observed_step(self.number, page, tuple(tabs), active, secrets, time.time())
            final = replace(final, executed=False)
        run = replace(
            self._run,
            outcome=ending.outcome,
            answer=_storable(secrets.mask(ending.answer)) if ending.answer is not None else None,
            error=_storable(secrets.mask(ending.error)),
            ended_by=_storable(ending.by),
            step_count=self.number,
            final=final,
            tokens=self._tokens,
            cost=self._cost(),
            evidence=add_blob(blobs, evidence) if evidence else "",
        )
        await retry_on_full_disk(
            self._control, "The end of the run", lambda: self._parts.recorder.finish(run, blobs)
        )
        return run

    @property
    def tokens(self) -> int:
        """Tokens of the whole run in and out, of all roles, with those from before it was resumed."""
        return self._earlier_tokens + self._parts.tokens()

    # internals

    async def _where(self, before: str) -> str:
        """Return the address where the step led; where it can't be read any more, where it began."""
        try:
            tabs, active = await self._parts.executor.tabs()
        except StoreError:
            raise
        except SiteloreError:
            return before
        tabs = mask_tabs(tabs, self._parts.secrets)
        return tabs[active].url if 0 <= active < len(tabs) else before

    async def _kept(self, step: Step, blobs: Mapping[str, bytes], *, held: bool = False) -> None:
        """Store the step; retry with a person's help."""

        async def append() -> None:
            await self._parts.recorder.append(step, blobs)

        await retry_on_full_disk(self._control, f"Step {step.index + 1}", append, held=held)
        self.number = step.index + 1

    def _with_dropped(self, decision: AgentDecision) -> AgentDecision:
        dropped, self._dropped = self._dropped, []
        if not dropped:
            return decision
        every = (*dropped, decision)
        return replace(
            decision,
            calls=tuple(call for one in every for call in one.calls),
            tokens=(sum(one.tokens[0] for one in every), sum(one.tokens[1] for one in every)),
            seconds=sum(one.seconds for one in every),
        )

    def _spend(self, decision: AgentDecision) -> None:
        self._tokens = (self._tokens[0] + decision.tokens[0], self._tokens[1] + decision.tokens[1])

    def _cost(self) -> Cost | None:
        """Return the cost of the whole run, with what it had cost before it was resumed."""
        now = self._parts.cost()
        return self._earlier if now is None else (self._earlier or Cost()) + now

    def _cost_since_last(self) -> Cost | None:
        now, before = self._parts.cost(), self._counted
        self._counted = now or before
        return now - before if now is not None else None

    def _tell(self, step: Step, flags: Sequence[Flag]) -> None:
        if self._parts.on_step is not None:
            self._parts.on_step(
                StepReport(
                    run=self._run.id,
                    step=step.index,
                    words=step.words,
                    effect=step.effect,
                    why=step.error,
                    url=step.url,
                    plan=self._parts.ledger_store.ledger.subgoal,
                    flags=tuple(flags),
                    cost=self._cost(),
                    tokens=self.tokens,
                )
            )


def cost_of_steps(run: Run, steps: Sequence[Step]) -> Cost | None:
    """Return what a resumed run has cost: as it was closed, or by its steps where its process died."""
    costs = [step.cost for step in steps if step.cost is not None]
    return run.cost or (sum(costs, Cost()) if costs else None)


def tokens_of_steps(run: Run, steps: Sequence[Step]) -> int:
    """Return the tokens of a run that is resumed, in and out: as it was closed, or by its steps."""
    return sum(run.tokens) or sum(sum(step.tokens) for step in steps)


def describe_last_takeover(steps: Sequence[Step]) -> tuple[str, ...]:
    """Describe the last takeover of a resumed run, in lines for the agent."""
    last = [step.words for step in takewhile(lambda step: step.by == BY_PERSON, reversed(steps))][::-1]
    return (f"before this, a person did: {'; '.join(last)}",) if last else ()


def _turn(decision: AgentDecision, result: ActionResult, step: Step) -> HistoryEntry | None:
    """Return the step as policies remember it; ``None`` for an answer without an action."""
    if decision.action is None:
        return None
    return HistoryEntry(
        step=step.index,
        url=step.url,
        title=step.title,
        state=step.page_state,
        action=decision.action,
        result=result,
        words=step.words,
        reason=step.reason,
    )


def _storable(text: str) -> str:
    """Replace lone surrogates, which a model or a page may say and no file can store."""
    return text.encode("utf-8", "replace").decode()


def ledger_entries(
    turn: HistoryEntry, observation: Observation, url: str, before: Sequence[HistoryEntry]
) -> list[LedgerEntry]:
    """Return the ledger entries of a step, in order; ``url`` is where it ended."""
    result = turn.result
    found = [outcome(turn.step, turn.words, result, url=url, state=turn.state)]
    if not result.success:
        target = target_words(turn, observation.page)
        dead = dead_end_of(result, target, state=turn.state, url=turn.url, step=turn.step)
        found += [dead] if dead is not None else []
    mark = _navigation_checkpoint(turn, url, before)
    return [*found, checkpoint(mark)] if mark is not None else found


def target_words(turn: HistoryEntry, page: PageCapture) -> str:
    """Describe the target of an action in words that hold on another look at the page."""
    numbers = elements_of(turn.action)
    if numbers and 0 <= numbers[0] < len(page.elements):
        element = page.elements[numbers[0]]
        return f"{element.role} '{element.name or element.text or element.label}'"
    return to_recorded(turn.action).kind + (
        f" {turn.action.query}" if isinstance(turn.action, Navigate) else ""
    )


def _navigation_checkpoint(turn: HistoryEntry, url: str, before: Sequence[HistoryEntry]) -> Checkpoint | None:
    """Return a checkpoint for a page of another path that was reached for the first time."""
    if turn.result.effect is not Effect.NAVIGATED or not turn.result.success:
        return None
    path = urlsplit(url).path
    if path in {urlsplit(known.url).path for known in (*before, turn)}:
        return None
    return Checkpoint(kind="navigation", words=f"{turn.words} led to {path}", url=url, step=turn.step)


def history_of_steps(steps: Sequence[Step]) -> tuple[HistoryEntry, ...]:
    """Return the history of a resumed run from its stored steps.

    Answers without an action are left out, and so are a person's steps: the agent did not decide them.
    """
    turns: list[HistoryEntry] = []
    for number, step in enumerate(steps):
        after = steps[number + 1] if number + 1 < len(steps) else None
        action = from_recorded(step.action) if step.action is not None else None
        if action is None or step.by == BY_PERSON:
            continue
        turns.append(
            HistoryEntry(
                step=step.index,
                url=step.url,
                title=step.title,
                state=step.page_state,
                action=action,
                result=_result_of(step),
                words=step.words,
                reason=step.reason,
                state_after=after.page_state if after is not None else "",
            )
        )
    return tuple(turns)


def _result_of(step: Step) -> ActionResult:
    effect = step.effect if step.effect in set(Effect) else Effect.NOTHING.value
    cause = step.cause if step.cause in set(Cause) else Cause.NONE.value
    return ActionResult(
        success=step.error_class is ErrorClass.NONE,
        effect=Effect(effect),
        cause=Cause(cause),
        why=step.error,
        output=step.output,
        tried=step.tried,
        seconds=step.env_seconds,
    )


async def retry_on_full_disk(
    control: RunControl, what: str, write: Callable[[], Awaitable[object]], *, held: bool = False
) -> None:
    """Write; on failure ask a person and retry until it works.

    Args:
        what: names what is written, for the person ("Step 3").
        write: leaves nothing behind where it fails.
        held: the writer is not the loop, which is held.

    Raises:
        StoreError: it can't be written, and there is no person, or the run is stopping.
    """
    done = False

    async def again() -> bool:
        nonlocal done
        with suppress(StoreError):
            await write()
            done = True
        return done

    async with AsyncExitStack() as stack:
        if not held:
            await stack.enter_async_context(control.in_stage(Stage.WRITING))
        while True:
            try:
                await write()
            except StoreError as error:
                asked = f"{what} can't be saved. Free some space, or make the disk writable; then try again."
                verb = await control.ask_about_trouble(asked, str(error), again)
                if done:
                    return
                if verb is not DecisionKind.RETRY:
                    raise
            else:
                return
