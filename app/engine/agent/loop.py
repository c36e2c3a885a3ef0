"""The run loop: look, remember, decide, act, record; the same for the scout and for a model.

One step is one line on the disk, written when its action is over; what is in flight when the process dies is the only
thing that is missing afterwards.  A captcha or a question goes to a person.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.engine.agent.deeds import Deeds, Ending
from app.engine.agent.memory import entries
from app.engine.agent.memory.book import LedgerBook
from app.engine.agent.model_api import ModelError, ModelTrouble
from app.engine.agent.ports import Hands, Knowledge, Navigator, Recorder, Task, Told, Watching
from app.engine.agent.secrets import Secrets
from app.engine.agent.sight import Decision, Hint, Policy, Sight, Turn
from app.engine.agent.stepping import full_step, page_step
from app.engine.agent.turns import entries_of, turns_of
from app.engine.agent.unseen import unseen, unseen_tabs
from app.engine.browser.fences import Fences
from app.engine.command import CloseTab, Goto
from app.engine.effect import Cause, Result, refused
from app.engine.errors import SiteloreError, StoreError
from app.engine.identity import keys_of, page_id
from app.engine.judgement import Flag
from app.engine.page_state import Challenge, PageCapture
from app.engine.redaction import MARK
from app.engine.trajectory import Outcome, Run, Step, Tab

UNREADABLE = 3
"""Answers in a row without an action after which a run is given up."""
LOST = 2
"""Pages in a row that could not be looked at after which a run is given up."""

CARRIED_OFF = 3
"""Looks in a row at a page of another site after which a run is given up."""

WALLED = 3
"""Looks in a row at a log-in page after which it counts as a wall; an agent may pass one by mistake."""

_LOGS_IN = re.compile(
    r"\b(log|sign)(ging|ning)?[ -]?(in|on|up)\b|\bpassword\b|\bregister\b|\baccount\b", re.IGNORECASE
)
_OPEN_ALL_THE_SAME = frozenset({Cause.CHALLENGE, Cause.LOGIN, Cause.ERROR_PAGE})


@dataclass(slots=True)
class Timing:
    """Seconds spent on looking, acting and the model; ``own`` is, for each step, what none of them took."""

    look: float = 0.0
    act: float = 0.0
    model: float = 0.0
    own: list[float] = field(default_factory=list[float])


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a loop is put together of; parts that are ``None`` are not there."""

    hands: Hands
    policy: Policy
    book: LedgerBook
    recorder: Recorder
    deeds: Deeds
    knowledge: Knowledge | None = None
    navigator: Navigator | None = None
    watching: Watching | None = None
    secrets: Secrets = field(default_factory=Secrets)
    tell: Callable[[Told], None] | None = None


class AgentLoop:
    """One run of one task.

    ``stop`` ends it after the step in flight; cancelling the coroutine ends it at once and leaves the run unfinished on
    the disk, to be gone on with or closed as interrupted.

    Args:
        run: the run as it stands on the disk.
        steps: those it has already, where it is gone on with.
    """

    def __init__(self, task: Task, parts: Parts, run: Run, steps: Sequence[Step] = ()) -> None:
        self._task, self._parts, self._run = task, parts, run
        self._turns: list[Turn] = list(turns_of(steps))
        self._number = len(steps)
        self._going_on = bool(steps) or bool(parts.book.ledger.goal)
        self._unreadable = self._lost = self._walled = 0
        self._stopping = False
        self._tokens = run.tokens
        self._fences = Fences(task.domains)
        parts.book.mask_with(parts.secrets.mask)
        self.timing = Timing()
        self.flags: list[Flag] = []

    def stop(self) -> None:
        """End the run after the step in flight."""
        self._stopping = True

    async def run(self) -> Run:
        """Go on until the task is done, given up, or can't go on; the run as it was closed."""
        ending = await self._begin()
        while ending is None:
            ending = await self._step()
        return await self._close(ending)

    async def _begin(self) -> Ending | None:
        address = self._address() if self._going_on else self._task.start_url
        if not self._going_on:
            self._parts.book.write(entries.goal(self._task.intent))
        opened = await self._parts.hands.do(Goto(address))
        if opened.success or opened.cause in _OPEN_ALL_THE_SAME:
            return None
        if opened.cause is Cause.OFF_SITE:
            tabs, front = await self._tabs()
            if tabs and tabs[front].url.startswith("http") and self._fences.allows(tabs[front].url):
                return None  # the page opened a window elsewhere, which was closed again
            return Ending(Outcome.CRASHED, error=f"{address} leads elsewhere: {opened.why}")
        return Ending(Outcome.CRASHED, error=opened.why or f"{address} could not be opened")

    def _address(self) -> str:
        """Where the run was last; one that held a secret is not known any more."""
        last = self._parts.book.ledger.url
        return last if last.startswith("http") and MARK not in last else self._task.start_url

    async def _look(self) -> PageCapture:
        """The page in front without secrets.  Raises ``SiteloreError`` where there is none."""
        return unseen(await self._parts.hands.look(), self._parts.secrets)

    async def _tabs(self) -> tuple[tuple[Tab, ...], int]:
        tabs, front = await self._parts.hands.tabs()
        return unseen_tabs(tabs, self._parts.secrets), front

    async def _step(self) -> Ending | None:
        if self._stopping:
            return Ending(Outcome.STOPPED)
        if self._number >= self._task.max_steps:
            return Ending(Outcome.STEP_LIMIT)
        began = time.monotonic()
        try:
            page = await self._look_inside()
        except StoreError:
            raise
        except SiteloreError as gone:
            return await self._recover(str(gone))
        if page is None:
            return Ending(Outcome.CRASHED, error="the page goes to another site again and again by itself")
        self._lost = 0
        looked = time.monotonic()
        wall = await self._at_a_wall(page)
        if wall is not None:
            return wall
        sight = await self._sight(page)
        known = time.monotonic()
        try:
            decision = await self._parts.policy.decide(sight)
        except ModelError as error:
            return _without_model(error)
        decided = time.monotonic()
        seen, blobs = page_step(
            self._number, page, sight.tabs, sight.active_tab, self._parts.secrets, time.time()
        )
        self._remember(decision)
        prepared = time.monotonic()
        result, ending = await self._act(sight, decision)
        acted = time.monotonic()
        await self._record(sight, decision, result, seen, blobs)
        thought = max(0.0, decided - known - decision.seconds)
        own = (known - looked) + thought + (prepared - decided) + (time.monotonic() - acted)
        self.timing.look += looked - began
        self.timing.model += decision.seconds
        self.timing.act += acted - prepared
        self.timing.own.append(own)
        return ending or self._after(decision)

    async def _look_inside(self) -> PageCapture | None:
        """A look at a page of this run's sites: a page that went elsewhere by itself is left; ``None`` if it always is.

        What an action leads to is the hands' business; a page may also leave, or open a window, between two steps.
        """
        words = ""
        for _ in range(CARRIED_OFF):
            page = await self._look()
            outside = self._fences.outside(page.url) if page.url.startswith(("http:", "https:")) else None
            if outside is None:
                return replace(page, notes=(*page.notes, words)) if words else page
            tabs, _ = await self._parts.hands.tabs()
            await self._parts.hands.do(CloseTab() if len(tabs) > 1 else Goto(self._address()))
            words = f"a page of another site came up by itself and was left: {outside.why}"
            self._parts.book.write(entries.note(words, self._number))
        return None

    async def _at_a_wall(self, page: PageCapture) -> Ending | None:
        """A captcha is nobody's but a person's; so is a log-in page that stays and that the task does not speak of."""
        log_in = page.challenge is Challenge.LOGIN and not _LOGS_IN.search(self._task.intent)
        self._walled = self._walled + 1 if log_in else 0
        if page.challenge is not Challenge.CAPTCHA and self._walled < (WALLED if self._turns else 1):
            return None
        what = "a log-in" if log_in else "a captcha"
        question = f"{what} stands before {page.url}. Deal with it in the browser, then answer."
        if await self._parts.deeds.ask(question, self._number) is None:
            return Ending(Outcome.NEEDS_PERSON, error=f"{what} stands before {page.url}")
        self._walled = 0
        try:
            page = await self._parts.hands.look(picture=False)
        except SiteloreError as gone:
            return Ending(Outcome.NEEDS_PERSON, error=str(gone))
        still = page.challenge is not Challenge.NONE
        return Ending(Outcome.NEEDS_PERSON, error=f"{what} is still there") if still else None

    async def _sight(self, page: PageCapture) -> Sight:
        tips: tuple[Hint, ...] = ()
        if self._parts.knowledge is not None:
            tips = await self._parts.knowledge.tips(page.url, self._task.intent)
        tabs, active = await self._tabs()
        navigator = self._parts.navigator
        state = page_id(keys_of(page, self._task.home or self._task.start_url))
        if self._turns and not self._turns[-1].state_after:
            self._turns[-1] = replace(self._turns[-1], state_after=state)
        return Sight(
            step=self._number,
            steps_left=self._task.max_steps - self._number,
            intent=self._task.intent,
            start_url=self._task.start_url,
            page=page,
            state=state,
            tabs=tabs,
            active_tab=active,
            tips=tips,
            domains=navigator.domains() if navigator is not None else (),
            ledger=self._parts.book.ledger,
            turns=tuple(self._turns),
            answers=self._parts.deeds.answers,
        )

    async def _act(self, sight: Sight, decision: Decision) -> tuple[Result, Ending | None]:
        if decision.command is None:
            return refused(Cause.SYNTAX, decision.why or "the answer holds no action"), None
        return await self._parts.deeds.do(decision.command, sight)

    def _after(self, decision: Decision) -> Ending | None:
        self._unreadable = self._unreadable + 1 if decision.command is None else 0
        if self._unreadable < UNREADABLE:
            return None
        return Ending(Outcome.CRASHED, error=f"{UNREADABLE} answers in a row held no action: {decision.why}")

    async def _recover(self, why: str) -> Ending | None:
        """The page or the browser is gone: open where the run was; what goes on being lost ends it."""
        self._lost += 1
        if self._lost > LOST:
            return Ending(Outcome.CRASHED, error=why)
        address = self._address()
        result = await self._parts.hands.do(Goto(address))
        words = f"the page was lost ({why}); opened {address} again"
        self._parts.book.write(entries.note(words, self._number))
        if result.success or result.cause in _OPEN_ALL_THE_SAME:
            return None
        return Ending(Outcome.CRASHED, error=why if result.why in why else f"{why}; {result.why}")

    # what is kept

    def _remember(self, decision: Decision) -> None:
        book, step = self._parts.book, self._number
        new_goal = decision.subgoal is not None and decision.subgoal != book.ledger.subgoal
        book.write(
            entries.plan(decision.plan, step) if decision.plan is not None else None,
            entries.subgoal(decision.subgoal or "", step) if new_goal else None,
            *(entries.fact_of(fact, step) for fact in decision.facts),
            *(entries.note(note, step) for note in decision.notes),
        )

    async def _record(
        self, sight: Sight, decision: Decision, result: Result, seen: Step, blobs: Mapping[str, bytes]
    ) -> None:
        """The ledger first, the step last: a step on the disk has all that came of it."""
        step = full_step(seen, sight, decision, result, self._parts.secrets, page_state=sight.state)
        turn = _turn(decision, result, step)
        if turn is not None:
            tabs, active = await self._tabs()
            url = tabs[active].url if 0 <= active < len(tabs) else step.url
            self._parts.book.write(*entries_of(turn, sight, url, self._turns))
        flags = self._parts.watching.see(step) if self._parts.watching is not None else []
        self.flags += flags
        self._tokens = (self._tokens[0] + decision.tokens[0], self._tokens[1] + decision.tokens[1])
        await self._parts.recorder.append(step, blobs)
        self._number += 1
        if turn is not None:
            self._turns.append(turn)
        if self._parts.tell is not None:
            self._parts.tell(self._told(step, flags))

    def _told(self, step: Step, flags: Sequence[Flag]) -> Told:
        return Told(
            run=self._task.run,
            step=step.index,
            words=step.words,
            effect=step.effect,
            why=step.error,
            url=step.url,
            plan=self._parts.book.ledger.subgoal,
            flags=tuple(flags),
        )

    async def _close(self, ending: Ending) -> Run:
        """The run with its ending and the page it ended on."""
        secrets = self._parts.secrets
        final, blobs = None, dict[str, bytes]()
        try:
            page = await self._look()
            tabs, active = await self._tabs()
            final, blobs = page_step(self._number, page, tabs, active, secrets, time.time())
            final = replace(final, executed=False)
        except StoreError:
            raise
        except SiteloreError:
            pass  # there is no page to end on; the run is closed without one
        run = replace(
            self._run,
            outcome=ending.outcome,
            answer=_storable(secrets.mask(ending.answer)) if ending.answer is not None else None,
            error=_storable(secrets.mask(ending.error)),
            step_count=self._number,
            final=final,
            tokens=self._tokens,
        )
        await self._parts.recorder.finish(run, blobs)
        return run


def _turn(decision: Decision, result: Result, step: Step) -> Turn | None:
    """The step as policies remember it; an answer without an action is nothing to remember."""
    if decision.command is None:
        return None
    return Turn(
        step=step.index,
        url=step.url,
        title=step.title,
        state=step.page_state,
        command=decision.command,
        result=result,
        words=step.words,
        reason=step.reason,
    )


def _without_model(error: ModelError) -> Ending:
    over = error.trouble is ModelTrouble.BUDGET
    return Ending(Outcome.OUT_OF_BUDGET if over else Outcome.CRASHED, error=str(error))


def _storable(text: str) -> str:
    """Without halves of letters (lone surrogates), which a model or a page may say and no file can keep."""
    return text.encode("utf-8", "replace").decode()
