"""A takeover, from taking the page over to handing it back.

Inputs go to the page at once. Clicks are noted beside and after, by what the page itself tells of them; keys ask for
the field before. When the page is idle it is captured, and the actions are recorded as steps: the page before, the
action, the element, and no secret, in text or in pictures.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from app.engine.agent.secret_masking import mask_secrets
from app.engine.agent.secrets import Secrets
from app.engine.agent.takeover.dialog_prompts import DialogPrompts
from app.engine.agent.takeover.graph_path import TakeoverPath
from app.engine.agent.takeover.input_recorder import DRAG_DISTANCE, InputRecorder
from app.engine.agent.takeover.page_tracker import PageTracker
from app.engine.agent.takeover.recorded_steps import ActionDraft, RecordedStep, TrackedPage, record_step
from app.engine.agent.takeover.summary import summarize_takeover
from app.engine.browser.capture.screencast import TaskSpawner
from app.engine.browser.manual_input.address_bar import navigation_for, shortcut_of, wait_for_tab_idle
from app.engine.browser.manual_input.input_forwarder import InputForwarder
from app.engine.browser.session import BrowserSession
from app.engine.core.page_input import InputKind, NavigationKind, PageInput
from app.engine.core.supervision import TakeoverSummary
from app.engine.core.trajectory import Step
from app.errors import StoreError

log = logging.getLogger(__name__)

QUIET_SECONDS = 0.4
"""Seconds without input after which the page is captured."""
SELF_CHANGE_SECONDS = 0.7
"""Seconds without input after which the page is checked for changes of its own."""
IDLE_TIMEOUT = 1.5
"""Seconds to wait for the page to be idle."""
IDLE_WINDOW = 0.1
"""Seconds without a change that count as idle."""
RETRY_SECONDS = 1.0
"""Seconds until a step that could not be written is retried."""
MAX_YIELDS = 3
"""Captures in a row that are given up for input; the next one is taken whatever comes."""
MAX_PATH_STEPS = 100
"""Newest actions whose pages are kept for the graph."""
LOOK_TIMEOUT = 6.0
"""Seconds the capture at the beginning and at the end may take."""

_BATCHABLE_BEFORE = {
    InputKind.PRESS: (InputKind.MOVE,),
    InputKind.RELEASE: (InputKind.MOVE, InputKind.PRESS),
    InputKind.WHEEL: (InputKind.MOVE, InputKind.WHEEL),
}
"""Inputs that can't change the next one's target, so that the page gets them together."""

Write = Callable[[Step, Mapping[str, bytes]], Awaitable[int]]
"""Records a step and returns its number."""


class Takeover:
    """One takeover: ``begin``, ``input`` any number of times, ``end``.

    Args:
        secrets: the run's; a person's input into a secret field is added, so that no later look shows it either.
        home: the address that page states are named against.
        write: records a step and returns its number; raises ``StoreError`` where it can't.
        spawn: starts a task and keeps it.
        tell: shows the person a dialog's text, "" when none is open; without it dialogs are dismissed at once, as for
            the agent.
    """

    def __init__(
        self,
        session: BrowserSession,
        *,
        secrets: Secrets,
        home: str,
        write: Write,
        spawn: TaskSpawner,
        run: str = "",
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self._session, self._secrets, self._home, self._write, self._spawn = (
            session,
            secrets,
            home,
            write,
            spawn,
        )
        self._run = run
        self._steering = InputForwarder(session)
        self._tracker = PageTracker(session)
        self._recorder = InputRecorder(self._tracker, secrets)
        self._dialogs = DialogPrompts(tell, secrets) if tell is not None else None
        self._order = asyncio.Lock()
        self._writing = asyncio.Lock()
        self._stirred = asyncio.Event()
        self._input_at = 0.0
        self._swallow = False
        self._pressed_at: tuple[float, float] | None = None
        self._notes: deque[Callable[[], Awaitable[None]]] = deque()
        self._noting: asyncio.Task[Any] | None = None
        self._yields = 0
        self._steps: list[Step] = []
        self._recorded: deque[RecordedStep] = deque(maxlen=MAX_PATH_STEPS)
        self._worker: asyncio.Task[Any] | None = None
        self._ended = False
        self._account: TakeoverSummary | None = None
        self._final: TrackedPage | None = None

    @property
    def pointer(self) -> tuple[float, float] | None:
        """Position of the person's pointer, CSS pixels of the viewport."""
        return self._steering.pointer

    def done_by(self, at: float) -> float:
        """Return the sender's clock of the newest input done by then (Unix seconds); 0 for none."""
        return self._steering.done_by(at)

    @property
    def path(self) -> TakeoverPath:
        """The path so far, for the site's graph."""
        final = mask_secrets(self._final.page, self._secrets) if self._final is not None else None
        return TakeoverPath(steps=tuple(self._recorded), final=final, ended_at=time.time())

    async def begin(self) -> None:
        """Capture the page before any input. Never raises for what a page or browser does."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_TIMEOUT):
                await self._tracker.look()
                await self._tracker.listen()
        self._session.in_hand = True
        if self._dialogs is not None:
            self._session.asked = self._dialogs.ask
            self._tracker.answered = self._dialogs.answered
        self._worker = self._spawn(self._work())

    async def input(self, inputs: Sequence[PageInput]) -> None:
        """Send these to the page, in order; after the end they are dropped."""
        async with self._order:
            if self._ended:
                return
            waiting: list[PageInput] = []
            for one in inputs:
                if one.kind not in (InputKind.MOVE, InputKind.KEY_UP):
                    if any(before.kind not in _BATCHABLE_BEFORE.get(one.kind, ()) for before in waiting):
                        await self._send(waiting)
                        waiting = []
                    kept_back = await self._kept_back(one)
                    self._stir()
                    if kept_back:
                        continue
                waiting.append(one)
            await self._send(waiting)

    async def move(self, move: NavigationKind, url: str = "") -> str:
        """Open an address, go through the history or reload; return a sentence where that failed, else "".

        It is recorded as a step. After the end nothing is done.

        Raises:
            UsageError: the text is no address of a page.
        """
        async with self._order:
            if self._ended:
                return ""
            asked = navigation_for(self._session, move, url)
            await self._noted()
            await self._recorder.shortcut(asked.kind, dict(asked.args))
            self._stir()
            said = await asked.done()
            self._stir()
            return said

    async def end(self) -> TakeoverSummary:
        """Hand the page back and return the summary, with every step recorded. Ending twice returns the same one.

        Raises:
            StoreError: a step can't be written; nothing of it is lost, and ending again retries.
        """
        async with self._order:
            if self._account is not None:
                return self._account
            self._ended = True
            self._session.asked, self._session.in_hand = None, False
            if self._dialogs is not None:
                self._dialogs.close()
            await self._steering.lift()
            await self._noted()
            await self._recorder.finish()
        await self._stop_working()
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_TIMEOUT):
                await wait_for_tab_idle(self._session, IDLE_WINDOW, IDLE_TIMEOUT)
                await self._tracker.look()
        await self._tracker.stop_listening()
        self._final = self._tracker.latest
        await self._record()
        looks = (self._tracker.first, self._final)
        happened = [*(self._dialogs.outcomes if self._dialogs is not None else ()), *self._tracker.happened]
        self._account = summarize_takeover(
            self._run, self._steps, looks, happened, self._secrets, self._recorder.masked
        )
        return self._account

    # ------------------------------------------------------------ input

    async def _send(self, inputs: Sequence[PageInput]) -> None:
        if inputs:
            await self._steering.send(inputs)
            if any(one.kind is not InputKind.MOVE for one in inputs):
                self._stir()

    async def _shortcut(self, one: PageInput) -> bool:
        found = shortcut_of(self._session, one)
        if found is None:
            return False
        await self._recorder.shortcut(found.kind, dict(found.args))
        self._stir()
        await found.done()
        self._stir()
        return True

    async def _kept_back(self, one: PageInput) -> bool:
        """Handle an input; return whether the page is not to get it."""
        if self._dialogs is not None and self._dialogs.takes(one):
            return True
        if one.kind not in (InputKind.RELEASE, InputKind.WHEEL):
            await self._noted()  # it may have opened a list of choices
        if self._recorder.choosing:
            await self._recorder.chooses(one)
            self._swallow = one.kind is InputKind.PRESS
            return True
        match one.kind:
            case InputKind.PRESS:
                await self._press(one)
            case InputKind.RELEASE:
                return await self._release(one)
            case InputKind.WHEEL:
                self._note(lambda: self._wheeled(one))
            case InputKind.TEXT:
                await self._recorder.text(one)
            case _:
                return await self._shortcut(one) or not await self._recorder.key(one)
        return False

    async def _press(self, one: PageInput) -> None:
        self._swallow, self._pressed_at = False, (one.x, one.y)
        await self._tracker.listen()
        press = self._recorder.press(one)
        self._note(lambda: self._recorder.pressed(press))

    async def _release(self, one: PageInput) -> bool:
        if self._swallow:
            self._swallow = False
            return True
        pressed, self._pressed_at = self._pressed_at, None
        if pressed is not None and abs(one.x - pressed[0]) + abs(one.y - pressed[1]) > DRAG_DISTANCE:
            await self._noted()
            await self._recorder.dragged(one)
            return False
        at = time.monotonic()
        self._note(lambda: self._released(at))
        return False

    async def _released(self, at: float) -> None:
        self._recorder.released(at)

    async def _wheeled(self, one: PageInput) -> None:
        self._recorder.wheeled(one)

    def _note(self, work: Callable[[], Awaitable[None]]) -> None:
        """Note an input beside its way to the page, after the notes before it."""
        self._notes.append(work)
        if self._noting is None or self._noting.done():
            self._noting = self._spawn(self._take_notes())

    async def _take_notes(self) -> None:
        while self._notes:
            try:
                await self._notes[0]()
            except Exception:
                log.exception("an input could not be noted")
            finally:
                self._notes.popleft()

    async def _noted(self) -> None:
        """Wait until everything sent so far is noted."""
        while self._noting is not None and not self._noting.done():
            await asyncio.wait([self._noting])

    def _stir(self) -> None:
        self._input_at = time.monotonic()
        self._tracker.touched()
        self._stirred.set()

    # ------------------------------------------------------------ recording

    async def _work(self) -> None:
        while not self._ended:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stirred.wait(), SELF_CHANGE_SECONDS)
            if not self._stirred.is_set():
                if await self._tracker.moved():
                    await self._tracker.look()
                continue
            self._stirred.clear()
            if (left := self._input_at + QUIET_SECONDS - time.monotonic()) > 0:
                await asyncio.sleep(left)
                self._stirred.set()
                continue
            await wait_for_tab_idle(self._session, IDLE_WINDOW, IDLE_TIMEOUT)
            if self._tracker.stale and not await self._look():
                continue
            await self._noted()
            self._recorder.close_idle()
            try:
                await self._record()
            except StoreError as error:
                log.warning("a takeover step is not written yet: %s", error)
                await asyncio.sleep(RETRY_SECONDS)
                self._stirred.set()
            if self._recorder.pending:
                await asyncio.sleep(QUIET_SECONDS)
                self._stirred.set()

    async def _look(self) -> bool:
        """Look at the page; return whether to go on: else input arrived meanwhile, and the look was given up for it."""
        look = await self._tracker.look(yielding=self._yields < MAX_YIELDS)
        self._yields = self._yields + 1 if look is None and self._stirred.is_set() else 0
        return self._yields == 0

    async def _stop_working(self) -> None:
        worker, self._worker = self._worker, None
        if worker is None or worker.done():
            return
        async with self._writing:  # a write in progress is finished first
            worker.cancel()
        await asyncio.wait([worker])

    async def _record(self) -> None:
        """Write finished actions, in order. Raises ``StoreError``; what is not written stays."""
        async with self._writing:
            done = self._recorder.done
            while done:
                draft = done[0]
                following = done[1] if len(done) > 1 else None
                after = self._after(draft, following)
                # Beside the loop: it reads a whole page, and clicks and pictures must not wait for that.
                recorded, blobs = await asyncio.to_thread(
                    record_step, draft, after, self._secrets, self._home
                )
                index = await self._write(recorded.step, blobs)
                step = replace(recorded.step, index=index)
                self._steps.append(step)
                self._recorded.append(replace(recorded, index=index, step=step))
                done.popleft()

    def _after(self, draft: ActionDraft, following: ActionDraft | None) -> TrackedPage | None:
        """Return the look that shows an action's effect."""
        look = following.before if following is not None else self._tracker.latest
        return look if look is not None and look.at > draft.began else None
