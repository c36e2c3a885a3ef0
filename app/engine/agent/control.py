"""A person's hold on one run: pause, step, stop, take over, decide; and the watchdog's, which cuts short what hangs.

The loop passes gates, tells its stages and asks; everybody else calls the deeds at the top from the same event loop.
Nothing here touches the page.  Without a desk nobody is there: gates are open unless somebody closes them, and nothing
is asked.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.engine.agent.holding import Clocks, first_of
from app.engine.agent.sight import Hint
from app.engine.errors import Conflict, NotFound, SiteloreError, StoreError
from app.engine.supervision import (
    Answer,
    Deed,
    Need,
    NextAction,
    PersonDecision,
    PersonRequest,
    RequestState,
    RiskClass,
    RunState,
    Stage,
    TakeoverAccount,
    Verb,
)

if TYPE_CHECKING:
    from app.engine.agent.ports import DeskPort

RETRY_SECONDS = 5.0
"""Between two tries of what a run in trouble waits for."""
MOST_HINTS = 6
"""The newest hints that are given to an agent; older ones have had their time."""

_CUTTABLE = frozenset({Stage.LOOKING, Stage.THINKING, Stage.ACTING})
_OUTLIVE_A_TOUCH = frozenset({Need.QUESTION, Need.FLAG, Need.TROUBLE})
"""Requests that a takeover does not make pointless: they are not about the page as it was."""


class Interrupted(SiteloreError):
    """What was being waited for was cut short by the watchdog; says why."""


class SetAside(Exception):
    """What was being waited for is not wanted any more: a person takes over, or has ended the run."""


class Control:
    """One run, as a person (or the watchdog) holds it.

    Attributes:
        step: number of the step the loop is at.
        touches: how often a person's hands were on the page; ``holds`` how often the loop stood still.
        why: why it is paused, mended or in trouble, in a sentence; "" where nothing is.
        account: what a person did by hand and the agent has not been told yet.
        changed: called whenever state, stage or needs are others than before.
        planned: called with each action before it is done.

    Args:
        clock: seconds that stand still while the machine sleeps.  now: Unix seconds.
    """

    def __init__(
        self,
        run: str = "",
        desk: DeskPort | None = None,
        *,
        site: str = "",
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        changed: Callable[[], None] | None = None,
        planned: Callable[[NextAction], None] | None = None,
    ) -> None:
        self.run, self.desk, self.site = run, desk, site
        self.changed, self.planned = changed, planned
        self.step = self.touches = self.holds = 0
        self.why = ""
        self.account: TakeoverAccount | None = None
        self._now = now
        self._clocks = Clocks(clock)
        self._state, self._stage, self._stage_since = RunState.STARTING, Stage.IDLE, now()
        self._begun = self._ended = self._stopping = False
        self._paused = self._single = self._taking = False
        self._mending = 0
        self._needs: dict[str, PersonRequest] = {}
        self._left: list[PersonRequest] = []
        self._in_memory: dict[str, PersonDecision] = {}
        self._limit: asyncio.Timeout | None = None
        self._cut: Exception | None = None
        self._bell = asyncio.Event()
        self._hints: tuple[Hint, ...] = ()
        self._untaken = False

    # ------------------------------------------------------------------------------------------ what is to be seen

    @property
    def state(self) -> RunState:
        """Where the run stands."""
        return self._state

    @property
    def stage(self) -> Stage:
        """What the loop is at."""
        return self._stage

    @property
    def stage_since(self) -> float:
        """Unix seconds at which the stage was entered."""
        return self._stage_since

    @property
    def seconds(self) -> float:
        """The run's own clock, which stands still while it is held."""
        return self._clocks.own

    @property
    def held_seconds(self) -> float:
        """How long it was held, in all."""
        return self._clocks.held

    @property
    def needs(self) -> tuple[PersonRequest, ...]:
        """Requests it waits for, those that could not be written down too."""
        return tuple(self._needs.values())

    @property
    def supervised(self) -> bool:
        """Somebody can be asked."""
        return self.desk is not None

    @property
    def stopping(self) -> bool:
        """The run is to end."""
        return self._stopping

    @property
    def pausing(self) -> bool:
        """A pause is wanted; it is there already where ``state`` says so."""
        return self._paused

    @property
    def mark(self) -> tuple[int, int]:
        """Another one than before says that the run was held since, and the page must be looked at again."""
        return self.holds, self.touches

    # ------------------------------------------------------------------------------------------ a person's deeds

    def pause(self, why: str = "", author: str = "") -> None:
        """Hold the run before its next action; ``author`` is who wants it (``policy``, ``watchdog``, a person)."""
        self._check_alive()
        self._paused, self._single = True, False
        self.why = why
        self._shift()

    def go_on(self) -> None:
        """Let a paused run go on."""
        self._check_alive()
        if self._taking:
            raise Conflict("a person's hands are on the page; hand it back first")
        self._paused = self._single = False
        self.why = ""
        self._shift()

    def step_once(self) -> None:
        """Let a paused run do one step, and hold it again."""
        self.go_on()
        self._single = True

    def stop(self) -> None:
        """End the run after the action in flight, at once where it is held or thinks."""
        self._stopping = True
        if self.supervised and self._stage is Stage.THINKING:
            self._cut_short(SetAside("the run is to end"))
        self._shift()

    def interrupt(self, why: str) -> bool:
        """Cut short what the loop waits for; ``False`` where nothing is that may be: it is held, or writes."""
        return self._cut_short(Interrupted(why))

    async def take_over(self) -> None:
        """Hold the run for a person's hands; returns when nothing is done to the page any more.

        Raises:
            Conflict: somebody has taken over already, or the run is over.
        """
        self._check_alive()
        if self._taking:
            raise Conflict("a person's hands are on the page already")
        self._taking = True
        if self._stage in (Stage.LOOKING, Stage.THINKING):
            self._cut_short(SetAside("a person takes over"))
        self._shift()
        while self._state is not RunState.TAKEN_OVER:
            if self._ended or not self._taking:
                raise Conflict("the run ended before it could be taken over")
            await self._bell.wait()

    async def release(self, account: TakeoverAccount | None = None) -> None:
        """Hand the page back; the agent is told the account, looks again and goes on."""
        if not self._taking:
            raise Conflict("nobody has taken this run over")
        if account is not None:
            self.account = account
        self._taking = self._paused = self._single = False
        self.touches += 1
        self.why = ""
        self._shift()

    def decide(self, request: str, decision: PersonDecision) -> PersonRequest:
        """Decide about a request that could not be written down (``needs``), or about any that is waited for.

        Raises:
            NotFound: nothing waits for it.  Conflict: it is decided already.
        """
        known = self._needs.get(request)
        if known is None:
            raise NotFound(f"the run does not wait for request {request}")
        if request in self._in_memory:
            raise Conflict(f"it was decided already: {self._in_memory[request].verb.value}")
        self._in_memory[request] = decision
        self._ring()
        return replace(known, state=RequestState.DECIDED, decision=decision)

    # ------------------------------------------------------------------------------------------ the loop's side

    async def begin(self, step: int) -> None:
        """The loop begins; requests left open or decided by a run that broke off are taken up again."""
        self.step, self._begun = step, True
        if self.desk is not None:
            self._left = list(await self.desk.pending())
        self._shift()

    async def finish(self) -> None:
        """The run is over: nothing waits any more."""
        self._ended = True
        self._needs.clear()
        self._shift()
        if self.desk is not None:
            left, self._left = self._left, []
            for request in left:
                await self.desk.void(request.id, "the run is over")

    @asynccontextmanager
    async def at(self, stage: Stage) -> AsyncGenerator[None]:
        """The loop is at something that takes its time.

        Raises:
            Interrupted: the watchdog cut it short.  SetAside: a person did.
        """
        before = self._stage
        self._enter(stage)
        limit = asyncio.timeout(None)
        outer, self._limit = self._limit, limit
        try:
            async with limit:
                yield
        except TimeoutError:
            cut, self._cut = self._cut, None
            if cut is None or not limit.expired():
                raise
            raise cut from None
        finally:
            self._limit, self._cut = outer, None
            self._enter(before)

    async def gate(self) -> bool:
        """Wait while the run is held; whether it was.  To be passed before every action."""
        if not self._holding:
            return False
        before = self._stage
        self.holds += 1
        self._enter(Stage.HELD)
        try:
            while self._holding:
                await self._bell.wait()
        finally:
            self._enter(before)
        return True

    def stepped(self) -> None:
        """A step was recorded; where only one was wanted, the run is held again."""
        if self._single:
            self._single, self._paused = False, True
            self._shift()

    async def answer(self, risk: RiskClass) -> Answer:
        """What the policy and the approvals so far say to an action of this class."""
        return await self.desk.answer(risk) if self.desk is not None else Answer.ALLOW

    async def ask(self, request: PersonRequest) -> PersonDecision | None:
        """Wait for a person's decision; ``None`` where nobody is there, or it is pointless by now (stop, takeover).

        What was asked at the same step before, by a run that broke off or before a takeover, is not asked twice.
        """
        if self.desk is None or self._stopping:
            return None
        known = next((one for one in self._left if _same(one, request)), None)
        if known is not None and known.decision is not None:
            return known.decision
        stored = True
        if known is None:
            request, stored = await self._opened(request)
        else:
            request = known
        decision = await self._waited(request, stored)
        self._left = [one for one in self._left if one.id != request.id]
        if decision is not None:
            self._left.append(replace(request, state=RequestState.DECIDED, decision=decision))
        elif stored:
            await self._voided(
                request, "the run is to end" if self._stopping else "the page was dealt with by hand"
            )
        return decision

    async def trouble(
        self, what: str, why: str = "", mended: Callable[[], Awaitable[bool]] | None = None
    ) -> Verb | None:
        """Something is broken that a person must know of; what is decided, ``None`` where nobody is there.

        ``RETRY`` says that it is to be tried again; it also comes when ``mended``, tried every few seconds, says so.
        """
        request = self.request(Need.TROUBLE, what, why=why)
        await self._noted(Deed.TROUBLED, what, "watchdog")
        decision = await self.ask(request) if mended is None else await self._asked_or_mended(request, mended)
        if decision is None:
            return None
        return Verb.DENY if decision.verb is Verb.DENY else Verb.RETRY

    async def begun(self, step: int) -> None:
        """The step that goes by what was decided and said begins.  Raises ``StoreError``; may be called again then."""
        if self.desk is None:
            return
        for request in [one for one in self._left if one.decision is None]:
            await self.desk.void(request.id, "the run went on without it")
            self._left.remove(request)
        if self._left or self._untaken:
            await self.desk.begun(step)
            self._left, self._untaken = [], False

    async def hints(self) -> tuple[Hint, ...]:
        """What people said to this run, the oldest first, as the agent is given it."""
        if self.desk is None:
            return ()
        with suppress(StoreError):  # those known so far hold
            said = await self.desk.hints()
            self._untaken = any(not one.taken_at for one in said)
            self._hints = tuple(
                Hint(tip=f"hint:{one.id}", text=one.text, kind="person", routes=("person",), score=1.0)
                for one in said[-MOST_HINTS:]
            )
        return self._hints

    def request(self, need: Need, question: str, **more: Any) -> PersonRequest:
        """A request of this run at its present step."""
        return PersonRequest(
            id=uuid.uuid4().hex[:16],
            run=self.run,
            need=need,
            step=more.pop("step", self.step),
            question=question,
            site=self.site,
            opened_at=self._now(),
            **more,
        )

    @contextmanager
    def mending(self, why: str) -> Generator[None]:
        """The browser or the page is being brought back."""
        self._mending += 1
        self.why = why
        self._shift()
        try:
            yield
        finally:
            self._mending -= 1
            self.why = "" if self.why == why else self.why
            self._shift()

    # ------------------------------------------------------------------------------------------ inside

    async def _opened(self, request: PersonRequest) -> tuple[PersonRequest, bool]:
        """The request, and whether it is written down: a full disk must not keep it from being asked."""
        assert self.desk is not None
        try:
            return await self.desk.open(request), True
        except StoreError:
            return request, False

    async def _waited(self, request: PersonRequest, stored: bool) -> PersonDecision | None:
        before, touches = self._stage, self.touches
        self.holds += 1
        self._needs[request.id] = request
        self._enter(Stage.HELD)
        self._shift(always=True)
        try:
            waits = [self._told(request.id), self._pointless(request.need, touches)]
            if stored:
                waits.append(self._row(request.id))
            return await first_of(*waits)
        finally:
            self._needs.pop(request.id, None)
            self._in_memory.pop(request.id, None)
            self._enter(before)
            self._shift(always=True)

    async def _told(self, request: str) -> PersonDecision | None:
        while request not in self._in_memory:
            await self._bell.wait()
        return self._in_memory[request]

    async def _row(self, request: str) -> PersonDecision | None:
        assert self.desk is not None
        try:
            return await self.desk.decision(request)
        except StoreError:
            return await self._told(request)

    async def _pointless(self, need: Need, touches: int) -> PersonDecision | None:
        while not self._stopping and (self.touches == touches or need in _OUTLIVE_A_TOUCH):
            await self._bell.wait()
        return None

    async def _asked_or_mended(
        self, request: PersonRequest, mended: Callable[[], Awaitable[bool]]
    ) -> PersonDecision | None:
        async def again() -> PersonDecision | None:
            while not await mended():
                await asyncio.sleep(RETRY_SECONDS)
            return PersonDecision(verb=Verb.RETRY, text="it works again", author="watchdog", at=self._now())

        async def tried() -> PersonDecision | None:
            await asyncio.sleep(RETRY_SECONDS)
            decision = await again()
            assert decision is not None
            with suppress(Conflict, NotFound):  # a person was quicker
                self.decide(request.id, decision)
            return await asyncio.Event().wait() and None

        return await first_of(self.ask(request), tried())

    async def _voided(self, request: PersonRequest, why: str) -> None:
        assert self.desk is not None
        with suppress(StoreError, Conflict, NotFound):
            await self.desk.void(request.id, why)

    async def _noted(self, deed: Deed, words: str, author: str, about: str = "") -> None:
        if self.desk is not None:
            with suppress(StoreError):
                await self.desk.note(deed, self.step, words, about, author)

    @property
    def _holding(self) -> bool:
        return not self._stopping and (self._paused or self._taking)

    def _check_alive(self) -> None:
        if self._ended:
            raise Conflict("the run is over")

    def _enter(self, stage: Stage) -> None:
        if stage is not self._stage:
            self._stage, self._stage_since = stage, self._now()
            self._shift(always=True)

    def _cut_short(self, cut: Exception) -> bool:
        if self._limit is None or self._stage not in _CUTTABLE or self._cut is not None:
            return False
        self._cut = cut
        self._limit.reschedule(asyncio.get_running_loop().time())
        return True

    def _shift(self, *, always: bool = False) -> None:
        """The state that follows from everything; whoever waits or watches is told."""
        state = self._follows()
        moved = state is not self._state
        self._state = state
        self._clocks.run(own=state.alive and not state.held, held=state.held)
        self._ring()
        if (moved or always) and self.changed is not None:
            self.changed()

    def _follows(self) -> RunState:
        if self._ended:
            return RunState.ENDED
        if not self._begun:
            return RunState.STARTING
        if self._taking and self._stage is Stage.HELD:
            return RunState.TAKEN_OVER
        if self._needs:
            return RunState.WAITING
        if self._mending:
            return RunState.MENDING
        # An action in flight is not held; it is over in a moment.
        return RunState.PAUSED if self._paused and self._stage is not Stage.ACTING else RunState.RUNNING

    def _ring(self) -> None:
        bell, self._bell = self._bell, asyncio.Event()
        bell.set()


def _same(one: PersonRequest, other: PersonRequest) -> bool:
    """Whether two requests ask the same: elements are numbered anew with every look, so words count as well."""
    if (one.step, one.need) != (other.step, other.need):
        return False
    if one.need is Need.APPROVAL:
        return bool(one.command and one.command == other.command) or bool(
            one.words and one.words == other.words
        )
    return one.need is Need.WALL or one.question == other.question
