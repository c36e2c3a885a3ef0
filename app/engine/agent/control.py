"""The hold on one run with somebody behind it: requests, decisions, hints, as rows that survive the process.

Without a desk nobody is there: gates are open unless somebody closes them, and nothing is asked.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.engine.agent.holding import Hold, Interrupted, SetAside
from app.engine.agent.sight import Hint
from app.engine.agent.waiting import first_of
from app.engine.errors import Conflict, NotFound, StoreError, UsageError
from app.engine.intervention_policy import USUAL, Answer, Reaction, RiskClass
from app.engine.judgement import Flag
from app.engine.supervision import (
    Deed,
    Need,
    NextAction,
    PersonDecision,
    PersonRequest,
    RequestState,
    Stage,
    Verb,
    misfit,
)

if TYPE_CHECKING:
    from app.engine.agent.ports import DeskPort

__all__ = ["MOST_HINTS", "RETRY_SECONDS", "Control", "Interrupted", "SetAside"]

RETRY_SECONDS = 5.0
"""Between two tries of what a run in trouble waits for."""
MOST_HINTS = 6
"""The newest hints that are given to an agent; older ones have had their time."""
WATCHDOG, POLICY = "watchdog", "policy"
"""Authors that are nobody."""

_OUTLIVE_A_TOUCH = frozenset({Need.QUESTION, Need.FLAG, Need.TROUBLE})
"""Requests that a takeover does not make pointless: they are not about the page as it was."""


class Control(Hold):
    """A run that can be held, and whose loop can ask a person; one for each run.

    Attributes:
        desk: where requests, decisions and hints are kept; ``None`` where nobody is to be asked.
        check: reads an action in the call form against the page it is for; says what is wrong with it, "" if nothing.
        no_walls: what looks like a wall and is none, as a person said; never asked about again.
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
        unplanned: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(
            run, site=site, clock=clock, now=now, changed=changed, planned=planned, unplanned=unplanned
        )
        self.desk = desk
        self.check: Callable[[str], str] | None = None
        self._left: list[PersonRequest] = []
        self._in_memory: dict[str, PersonDecision] = {}
        self._hints: tuple[Hint, ...] = ()
        self.no_walls: set[str] = set()
        self._untaken = False

    @property
    def supervised(self) -> bool:
        """Somebody can be asked."""
        return self.desk is not None

    # a person's side

    def check_decision(self, request: str, decision: PersonDecision) -> None:
        """To be asked before a decision is kept.

        Raises:
            UsageError: it is none for what is asked, or the action to be done instead can't be read, or names what
                is not on the page.
        """
        asked = self._needs.get(request)
        if asked is not None and (wrong := misfit(asked.need, decision.verb)):
            raise UsageError(wrong)
        if decision.verb is Verb.EDIT and request in self._needs and self.check is not None:
            wrong = self.check(decision.command)
            if wrong:
                raise UsageError(wrong)

    def decide(self, request: str, decision: PersonDecision) -> PersonRequest:
        """Decide a request that could not be written down (one of ``needs`` that the desk does not know).

        Raises:
            NotFound: nothing waits for it.  Conflict: it is decided already.  UsageError: as ``check_decision``.
        """
        known = self._needs.get(request)
        if known is None:
            raise NotFound(f"the run does not wait for request {request[:80]}")
        if request in self._in_memory:
            before = self._in_memory[request]
            raise Conflict(f"decided already by {before.author or 'somebody'}: {before.verb.value}")
        self.check_decision(request, decision)
        self._in_memory[request] = decision
        self._ring()
        return replace(known, state=RequestState.DECIDED, decision=decision)

    # the loop's side

    async def begin(self, step: int) -> None:
        """The loop begins; what a run that broke off left open or decided is taken up again where it is asked."""
        self.step, self._begun = step, True
        if self.desk is not None:
            with suppress(StoreError):  # what can't be read is asked anew
                self._left = list(await self.desk.pending())
                said = await self.desk.word()
                self.no_walls |= said.no_walls
                if said.end is not None:  # its process died before the run was closed
                    self.end_by_hand, self._stopping = said.end, True
        self._shift()

    def left(self, need: Need) -> tuple[PersonRequest, ...]:
        """Requests of a kind that a run which broke off has left."""
        return tuple(one for one in self._left if one.need is need)

    async def finish(self) -> None:
        """The run was closed: nothing waits any more."""
        self.end()
        if self.desk is not None:
            left, self._left = self._left, []
            for request in left:
                await self._voided(request, "the run is over")

    def request(self, need: Need, question: str, *, step: int | None = None, **more: Any) -> PersonRequest:
        """A request of this run, at its present step where none is given."""
        return PersonRequest(
            id=f"req-{uuid.uuid4().hex[:12]}",
            run=self.run,
            need=need,
            step=self.step if step is None else step,
            question=question,
            site=self.site,
            opened_at=self._now(),
            **more,
        )

    async def ask(
        self,
        request: PersonRequest,
        mended: Callable[[], Awaitable[bool]] | None = None,
        *,
        until_handed: bool = False,
    ) -> PersonDecision | None:
        """Wait for a person's decision; ``None`` where nobody is there, or it is pointless by now (stop, takeover).

        What was asked at the same step before, by a run that broke off or before a takeover, is not asked twice.

        Args:
            mended: tried every few seconds; once it says so, the decision is to try again.
            until_handed: it is pointless once a person's hands were on the page, whatever is asked.
        """
        if self.desk is None or self._stopping:
            return None
        known = next((one for one in self._left if _same(one, request)), None)
        if known is not None and known.decision is not None and _is_spent(known.need, known.decision):
            known = None  # it was tried again, and is asked again
        if known is not None and known.decision is not None:
            return known.decision
        for stale in [one for one in self._left if one.decision is None and _is_stale(one, request)]:
            await self._voided(stale, "it is asked anew, for the page is another by now")
            self._left.remove(stale)
        request, stored = (known, True) if known is not None else await self._opened(request)
        decision, kept = await self._waited(request, stored, mended, until_handed=until_handed)
        self._left = [one for one in self._left if one.id != request.id]
        if decision is not None and kept:
            self._left.append(replace(request, state=RequestState.DECIDED, decision=decision))
        elif stored:
            await self._voided(request, _why_void(decision, stopping=self._stopping))
        return decision

    async def trouble(
        self,
        what: str,
        why: str = "",
        mended: Callable[[], Awaitable[bool]] | None = None,
        *,
        until_handed: bool = False,
    ) -> Verb | None:
        """Something is broken that a person must know of.

        ``RETRY``: it is to be tried again, or is mended by itself.  ``DENY``: the run is to end as it stands.
        ``None``: nobody is there, the run is to stop, or (``until_handed``) a person has had the page.
        """
        if self.desk is None or self._stopping:
            return None
        await self.note(Deed.TROUBLED, what, author=WATCHDOG)
        decision = await self.ask(
            self.request(Need.TROUBLE, what, why=why), mended, until_handed=until_handed
        )
        if decision is None:
            return None
        return Verb.DENY if decision.verb is Verb.DENY else Verb.RETRY

    async def drop(self, need: Need, verb: Verb | None = None) -> None:
        """Decisions of a kind that can't be gone by: what they were about has changed."""
        for request in self._left:
            if (
                request.need is need
                and request.decision is not None
                and verb in (None, request.decision.verb)
            ):
                await self._voided(request, "what it was about has changed")
        self._left = [
            one
            for one in self._left
            if one.need is not need or one.decision is None or verb not in (None, one.decision.verb)
        ]

    async def begun(self, step: int) -> None:
        """The step that goes by what was decided and said begins.  Raises ``StoreError``; may be called again then."""
        if self.desk is None:
            return
        for request in [one for one in self._left if one.decision is None]:
            await self._voided(request, "the run went on without it")
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

    async def answer(self, risk: RiskClass) -> Answer:
        """What the approvals so far and the policy say to an action of this class."""
        if self.desk is None:
            return Answer.ALLOW
        try:
            return await self.desk.answer(risk)
        except StoreError:
            return USUAL.answer(self.site, risk)

    async def widened(self, risk: RiskClass) -> bool:
        """Whether a person allowed every action of this class for this run or its site."""
        if self.desk is None:
            return False
        try:
            return await self.desk.widened(risk)
        except StoreError:
            return False

    async def reaction(self, flag: Flag) -> Reaction:
        """What the policy says to a flag."""
        if self.desk is None:
            return Reaction.MARK
        try:
            return await self.desk.reaction(flag)
        except StoreError:
            return USUAL.reaction(self.site, flag.severity, flag.detector)

    async def note(self, deed: Deed, words: str, about: str = "", author: str = "") -> None:
        """Something for the time line; where it can't be written the run goes on without."""
        if self.desk is not None:
            with suppress(StoreError):
                await self.desk.note(deed, self.step, words, about, author)

    # inside

    async def _opened(self, request: PersonRequest) -> tuple[PersonRequest, bool]:
        """The request, and whether it is written down: a full disk must not keep it from being asked."""
        assert self.desk is not None
        try:
            return await self.desk.open(request), True
        except StoreError:
            return request, False

    async def _waited(
        self,
        request: PersonRequest,
        stored: bool,
        mended: Callable[[], Awaitable[bool]] | None,
        *,
        until_handed: bool,
    ) -> tuple[PersonDecision | None, bool]:
        """The decision, and whether it is a row."""
        before, touches, handed = self._stage, self.touches, self.handed if until_handed else -1
        self.holds += 1
        self._needs[request.id] = request
        self._enter(Stage.HELD)
        self._shift(always=True)
        try:
            while True:
                waits = [self._told(request.id), self._pointless(request.need, touches, handed)]
                if stored:
                    waits.append(self._row(request.id))
                if mended is not None:
                    waits.append(self._later())
                decision = await first_of(*waits)
                if mended is None or decision is not _LATER:
                    return decision, stored and request.id not in self._in_memory
                # Tried here, and not beside the waiting: what writes must not be cancelled half-way.
                if await mended():
                    return PersonDecision(verb=Verb.RETRY, text="it works again", author=WATCHDOG), False
        finally:
            self._needs.pop(request.id, None)
            self._in_memory.pop(request.id, None)
            self._enter(before)
            self._shift(always=True)

    async def _later(self) -> PersonDecision | None:
        await asyncio.sleep(RETRY_SECONDS)
        return _LATER

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
        except (Conflict, NotFound):
            return None  # it was closed elsewhere

    async def _pointless(self, need: Need, touches: int, handed: int) -> PersonDecision | None:
        while not self._stopping and (self.touches == touches or need in _OUTLIVE_A_TOUCH):
            if handed not in (-1, self.handed):
                break
            await self._bell.wait()
        return None

    async def _voided(self, request: PersonRequest, why: str) -> None:
        assert self.desk is not None
        with suppress(StoreError, Conflict, NotFound):
            await self.desk.void(request.id, why)


_LATER = PersonDecision(verb=Verb.RETRY)


def _same(one: PersonRequest, other: PersonRequest) -> bool:
    """Whether two requests ask the same; of an action its words, its page and its very element have to be the same."""
    if (one.step, one.need) != (other.step, other.need):
        return False
    if one.need is Need.APPROVAL:
        return _deed(one) == _deed(other)
    if one.need is Need.WALL:
        return one.wall == other.wall
    return one.question == other.question


def _deed(one: PersonRequest) -> tuple[str, ...]:
    return one.words, one.command, one.url, one.element


def _is_stale(one: PersonRequest, now: PersonRequest) -> bool:
    """Of requests that are about the page as it is only the newest waits for anybody."""
    return one.need not in _OUTLIVE_A_TOUCH and not _same(one, now)


def _is_spent(need: Need, decision: PersonDecision) -> bool:
    """It held for one try."""
    return need is Need.TROUBLE or decision.verb is Verb.RETRY


def _why_void(decision: PersonDecision | None, *, stopping: bool) -> str:
    if decision is not None:
        return decision.text or decision.verb.value
    return "the run is to end" if stopping else "the page is not the one it was asked about any more"
