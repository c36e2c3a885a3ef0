"""Control of one run with a person behind it: requests, decisions and hints, as rows that survive the process.

Without approvals there is no person: nothing is asked, and gates are open unless something closes them.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from app.engine.agent.pause_control import DecisionStale, PauseControl, WatchdogTimeout
from app.engine.core.decision_rules import decision_problem
from app.engine.core.intervention_policy import DEFAULT_POLICY, PolicyAnswer, Reaction, RiskClass
from app.engine.core.observation import RetrievedTip
from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    Need,
    OperatorAction,
    OperatorDecision,
    PlannedAction,
    RequestState,
    Stage,
)
from app.engine.core.verdicts import Flag
from app.errors import Conflict, NotFound, StoreError, UsageError

if TYPE_CHECKING:
    from app.engine.agent.ports import Approvals

__all__ = ["MOST_HINTS", "RETRY_SECONDS", "DecisionStale", "RunControl", "WatchdogTimeout"]

ResultT = TypeVar("ResultT")

RETRY_SECONDS = 5.0
"""Seconds between two tries of the operation that a run in trouble waits for."""
MOST_HINTS = 6
"""How many of the newest hints the agent gets."""
WATCHDOG, POLICY, JUDGE = "watchdog", "policy", "judge"
"""Authors that are no person."""

_SURVIVE_TAKEOVER = frozenset({Need.QUESTION, Need.FLAG, Need.TROUBLE})
"""Requests that stay valid after a takeover: they do not depend on the page as it was."""


class RunControl(PauseControl):
    """Pause control of a run whose loop can also ask a person; one for each run.

    Attributes:
        approvals: where requests, decisions and hints are stored; ``None`` where no person is to be asked.
        check: reads an action in the call form against the page it is for; returns what is wrong with it, "" if
            nothing.
        replan: replaces the planned action of a paused run by another one, as it then stands; ``None`` where it can't
            be replaced.  Raises ``UsageError`` where the other one can't be read.
        no_walls: keys of pages that look like a wall and are none, as a person said; never asked about again.
        task, login: keys by which its requests are equal to those of other runs.
    """

    def __init__(
        self,
        run: str = "",
        approvals: Approvals | None = None,
        *,
        site: str = "",
        task: str = "",
        login: str = "",
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        changed: Callable[[], None] | None = None,
        planned: Callable[[PlannedAction], None] | None = None,
        unplanned: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(
            run, site=site, clock=clock, now=now, changed=changed, planned=planned, unplanned=unplanned
        )
        self.approvals, self.task, self.login = approvals, task, login
        self.check: Callable[[str], str] | None = None
        self.replan: Callable[[OperatorDecision], PlannedAction] | None = None
        self._left: list[ApprovalRequest] = []
        self._hints: tuple[RetrievedTip, ...] = ()
        self.no_walls: set[str] = set()
        self._untaken = False

    @property
    def supervised(self) -> bool:
        """A person can be asked."""
        return self.approvals is not None

    # called for a person

    def check_decision(self, request: str, decision: OperatorDecision) -> None:
        """Check a decision before it is stored.

        Raises:
            UsageError: it does not fit the request, or the replacement action can't be read or names an element
                that is not
                on the page.
        """
        asked = self._needs.get(request)
        if asked is not None and (wrong := decision_problem(asked.need, decision.kind)):
            raise UsageError(wrong)
        if decision.kind is DecisionKind.EDIT and request in self._needs and self.check is not None:
            wrong = self.check(decision.call)
            if wrong:
                raise UsageError(wrong)

    # called by the loop

    async def begin(self, step: int) -> None:
        """Start the loop; requests that an interrupted process left open or decided are kept until they are
        asked again.
        """
        self.step, self._begun = step, True
        if self.approvals is not None:
            with suppress(StoreError):  # requests that can't be read are asked again
                self._left = list(await self.approvals.requests(self.run))
                said = await self.approvals.statements(self.run)
                self.no_walls |= said.no_walls
                if said.end is not None:  # its process died before the run was closed
                    self.end_by_hand, self._stopping = said.end, True
        self._shift()

    def left_requests(self, need: Need) -> tuple[ApprovalRequest, ...]:
        """Return the requests of one kind that an interrupted process left behind."""
        return tuple(one for one in self._left if one.need is need)

    async def finish(self) -> None:
        """Close what is still open after the run was closed."""
        self.end()
        if self.approvals is not None:
            left, self._left = self._left, []
            for request in left:
                await self._voided(request, "the run is over")

    def request(self, need: Need, question: str, *, step: int | None = None, **more: Any) -> ApprovalRequest:
        """Make a request of this run, at its present step where none is given."""
        return ApprovalRequest(
            id=f"req-{uuid.uuid4().hex[:12]}",
            run=self.run,
            need=need,
            step=self.step if step is None else step,
            question=question,
            site=self.site,
            task=self.task,
            login=self.login,
            opened_at=self._now(),
            **more,
        )

    async def ask(
        self,
        request: ApprovalRequest,
        mended: Callable[[], Awaitable[bool]] | None = None,
        *,
        until_handed: bool = False,
    ) -> OperatorDecision | None:
        """Wait for a person's decision; ``None`` where there is no person, or a stop or takeover has made it pointless.

        A request made before at the same step, by an interrupted process or before a takeover, is not made
        twice.

        Args:
            mended: called every few seconds; once it returns true, the decision is to try again.
            until_handed: the request becomes pointless after any takeover, whatever its kind.
        """
        if self.approvals is None or self._stopping:
            return None
        known = next((one for one in self._left if _same_request(one, request)), None)
        if known is not None and known.decision is not None and _is_spent(known.need, known.decision):
            known = None  # it was retried, so ask again
        if known is not None and known.decision is not None:
            return known.decision
        for stale in [one for one in self._left if one.decision is None and _is_stale(one, request)]:
            await self._voided(stale, "it is asked again, because the page has changed")
            self._left.remove(stale)
        request, is_new = known or request, known is None
        decision = await self._waited(request, mended, is_new=is_new, until_handed=until_handed)
        self._left = [one for one in self._left if one.id != request.id]
        if decision is None or decision is _WORKS_AGAIN:
            await self._voided(request, _why_void(decision, stopping=self._stopping))
        else:
            self._left.append(replace(request, state=RequestState.DECIDED, decision=decision))
        return decision

    async def ask_about_trouble(
        self,
        what: str,
        why: str = "",
        mended: Callable[[], Awaitable[bool]] | None = None,
        *,
        until_handed: bool = False,
    ) -> DecisionKind | None:
        """Report a fault that needs a person, and wait for their decision.

        Returns:
            ``RETRY``: try again, or the fault is gone.  ``DENY``: end the run as it is.  ``None``: there is no
            person, the run
            is to stop, or (``until_handed``) a person has taken over.
        """
        if self.approvals is None or self._stopping:
            return None
        await self.add_to_timeline(OperatorAction.TROUBLED, what, author=WATCHDOG)
        decision = await self.ask(
            self.request(Need.TROUBLE, what, why=why), mended, until_handed=until_handed
        )
        if decision is None:
            return None
        return DecisionKind.DENY if decision.kind is DecisionKind.DENY else DecisionKind.RETRY

    async def void_decisions(self, need: Need, verb: DecisionKind | None = None) -> None:
        """Void decisions of one kind whose subject has changed."""
        for request in self._left:
            if (
                request.need is need
                and request.decision is not None
                and verb in (None, request.decision.kind)
            ):
                await self._voided(request, "its subject has changed")
        self._left = [
            one
            for one in self._left
            if one.need is not need or one.decision is None or verb not in (None, one.decision.kind)
        ]

    async def on_step_started(self, step: int) -> None:
        """Close the decisions and mark the hints that this step goes by.  Raises ``StoreError``; may be called
        again then.
        """
        if self.approvals is None:
            return
        for request in [one for one in self._left if one.decision is None]:
            await self._voided(request, "the run continued without it")
            self._left.remove(request)
        if self._left or self._untaken:
            await self.approvals.on_step_started(self.run)
            self._left, self._untaken = [], False

    async def hints(self) -> tuple[RetrievedTip, ...]:
        """Return the newest hints of people to this run, oldest first, in the form the agent gets."""
        if self.approvals is None:
            return ()
        with suppress(StoreError):  # keep those known so far
            said = await self.approvals.hints(self.run)
            self._untaken = any(not one.taken_at for one in said)
            self._hints = tuple(
                RetrievedTip(
                    tip=f"hint:{one.id}", text=one.text, kind="person", routes=("person",), score=1.0
                )
                for one in said[-MOST_HINTS:]
            )
        return self._hints

    async def answer(self, risk: RiskClass) -> PolicyAnswer:
        """Return how the standing approvals and the policy answer an action of this class."""
        if self.approvals is None:
            return PolicyAnswer.ALLOW
        try:
            return await self.approvals.answer(self.run, self.site, risk)
        except StoreError:
            return DEFAULT_POLICY.answer(self.site, risk)

    async def is_class_allowed(self, risk: RiskClass) -> bool:
        """Whether a person allowed every action of this class for this run or its site."""
        if self.approvals is None:
            return False
        try:
            return await self.approvals.is_class_allowed(self.run, self.site, risk)
        except StoreError:
            return False

    async def reaction(self, flag: Flag) -> Reaction:
        """Return the policy's reaction to a flag."""
        if self.approvals is None:
            return Reaction.MARK
        try:
            return await self.approvals.reaction(self.site, flag)
        except StoreError:
            return DEFAULT_POLICY.reaction(self.site, flag.severity, flag.detector)

    async def add_to_timeline(
        self, action: OperatorAction, words: str, about: str = "", author: str = ""
    ) -> None:
        """Add an entry to the timeline; a run goes on without it where it can't be written."""
        if self.approvals is not None:
            with suppress(StoreError):
                await self.approvals.note(self.run, self.step, action, words, about, author)

    # internals

    async def _waited(
        self,
        request: ApprovalRequest,
        mended: Callable[[], Awaitable[bool]] | None,
        *,
        is_new: bool,
        until_handed: bool,
    ) -> OperatorDecision | None:
        assert self.approvals is not None
        before, touches, handed = self._stage, self.page_changes, self.hand_backs if until_handed else -1
        self.hold_count += 1
        self._needs[request.id] = request  # from now on a decision can be checked
        try:
            if is_new:
                await self.approvals.open(request)
            self._enter(Stage.HELD)
            self._shift(always=True)
            while True:
                waits = [self._decided(request.id), self._pointless(request.need, touches, handed)]
                if mended is not None:
                    waits.append(self._later())
                decision = await first_completed(*waits)
                if mended is None or decision is not _RETRY_LATER:
                    return decision
                # Tried here, and not beside the waiting: a write must not be cancelled half-way.
                if await mended():
                    return _WORKS_AGAIN
        finally:
            self._needs.pop(request.id, None)
            self._enter(before)
            self._shift(always=True)

    async def _later(self) -> OperatorDecision | None:
        await asyncio.sleep(RETRY_SECONDS)
        return _RETRY_LATER

    async def _decided(self, request: str) -> OperatorDecision | None:
        assert self.approvals is not None
        try:
            return await self.approvals.decision(request)
        except (Conflict, NotFound):
            return None  # it was closed elsewhere

    async def _pointless(self, need: Need, touches: int, handed: int) -> OperatorDecision | None:
        while not self._stopping and (self.page_changes == touches or need in _SURVIVE_TAKEOVER):
            if handed not in (-1, self.hand_backs):
                break
            await self._bell.wait()
        return None

    async def _voided(self, request: ApprovalRequest, why: str) -> None:
        assert self.approvals is not None
        with suppress(StoreError, Conflict, NotFound):
            await self.approvals.void(request.id, why)


async def first_completed(*waits: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Return the result of the first to end and cancel the others.  Raises the exception of one that fails first."""
    tasks: list[asyncio.Task[ResultT]] = []
    first: list[asyncio.Task[ResultT]] = []

    def over(task: asyncio.Task[ResultT]) -> None:
        if not first and not task.cancelled():
            first.append(task)
            for other in tasks:
                other.cancel()

    try:
        async with asyncio.TaskGroup() as group:
            for wait in waits:
                task = group.create_task(wait)
                task.add_done_callback(over)
                tasks.append(task)
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return first[0].result()


_RETRY_LATER = OperatorDecision(kind=DecisionKind.RETRY)
_WORKS_AGAIN = OperatorDecision(kind=DecisionKind.RETRY, text="it works again", author=WATCHDOG)


def _same_request(one: ApprovalRequest, other: ApprovalRequest) -> bool:
    """Whether two requests ask the same; two approvals only where words, page and element are the same."""
    if (one.step, one.need) != (other.step, other.need):
        return False
    if one.need is Need.APPROVAL:
        return _action_key(one) == _action_key(other)
    if one.need is Need.WALL:
        return one.wall == other.wall
    return one.question == other.question


def _action_key(one: ApprovalRequest) -> tuple[str, ...]:
    return one.words, one.call, one.url, one.element


def _is_stale(one: ApprovalRequest, now: ApprovalRequest) -> bool:
    """Whether a request about the page was replaced by a newer one; only the newest waits."""
    return one.need not in _SURVIVE_TAKEOVER and not _same_request(one, now)


def _is_spent(need: Need, decision: OperatorDecision) -> bool:
    """Whether a decision held for one try only."""
    return need is Need.TROUBLE or decision.kind is DecisionKind.RETRY


def _why_void(decision: OperatorDecision | None, *, stopping: bool) -> str:
    if decision is not None:
        return decision.text or decision.kind.value
    return "the run is stopping" if stopping else "the page has changed since it was asked"
