"""The executor: performs an action on the last captured page and reports its effect.

Pointer and keys work as a person's do and are refused if something is in the way. The result says
what was tried, what it visibly did, why not, and what to do instead (``app.engine.core.action_result``).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from playwright.async_api import Error

from app.engine.browser.actions import (
    field_actions,
    navigation_actions,
    option_actions,
    pointer_actions,
    slider_actions,
)
from app.engine.browser.actions.click_cascade import ClickCascade, Pointer
from app.engine.browser.actions.dead_clicks import alternatives_to_click
from app.engine.browser.actions.effect_detection import (
    OutsideChanges,
    effect_from_captures,
    effect_from_changes,
    landing_failure,
)
from app.engine.browser.actions.execution_context import ActionOutcome, ActionRefused, ExecutionContext
from app.engine.browser.actions.failure_reasons import stale_element
from app.engine.browser.capture.capture_cache import CaptureCache
from app.engine.browser.capture.frames import NoSuchElement
from app.engine.browser.capture.page_idle import IDLE_TIMEOUT, QUIET_TIME, wait_until_idle
from app.engine.browser.capture.page_monitor import PageChanges, PageMonitor
from app.engine.browser.capture.snapshot import PageGone
from app.engine.browser.network.navigation_policy import NavigationPolicy
from app.engine.browser.network.request_filter import RequestFilter
from app.engine.browser.network.write_guard import WriteGuard
from app.engine.browser.page_loading import open_page
from app.engine.browser.session import BrowserSession
from app.engine.core.action_result import ActionResult, Cause, Effect, refused
from app.engine.core.actions.types import (
    Action,
    AnswerDialog,
    Click,
    ClickAt,
    CloseTab,
    Drag,
    GoBack,
    GoForward,
    Goto,
    Hover,
    NewTab,
    Press,
    Scroll,
    Select,
    SelectText,
    SetChecked,
    SetSlider,
    SwitchTab,
    TypeKeys,
    TypeText,
    Upload,
    Wait,
)
from app.engine.core.element_identity import renumber_action, same_element
from app.engine.core.fingerprint import fingerprints_of
from app.engine.core.learnings import ENTER, OWN_CLICK, LearnedWays
from app.engine.core.page_state import PageCapture
from app.engine.core.trajectory import Tab
from app.engine.core.write_permit import WritePermit

ACTION_TIMEOUT = 60.0
"""Seconds an action may take in all."""
ANSWER_TIMEOUT = 8.0
"""Seconds a page may take to answer queries before and after an action."""

Handler = Callable[[ExecutionContext, Any], Awaitable[ActionOutcome]]
HANDLERS: dict[type, Handler] = {
    Click: pointer_actions.click,
    ClickAt: pointer_actions.click_at,
    Hover: pointer_actions.hover,
    Drag: pointer_actions.drag,
    Scroll: pointer_actions.scroll,
    TypeText: field_actions.type_text,
    TypeKeys: field_actions.type_keys,
    Press: field_actions.press,
    SetChecked: field_actions.check,
    Upload: field_actions.upload,
    Select: option_actions.select,
    SetSlider: slider_actions.set_slider,
    SelectText: pointer_actions.select_text,
    Goto: navigation_actions.goto,
    GoBack: navigation_actions.go_back,
    GoForward: navigation_actions.go_forward,
    NewTab: navigation_actions.new_tab,
    SwitchTab: navigation_actions.switch_tab,
    CloseTab: navigation_actions.close_tab,
    AnswerDialog: navigation_actions.answer_dialog,
    Wait: navigation_actions.wait,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorOptions:
    """Settings of the executor.

    Attributes:
        quiet, most: seconds without a change that count as idle, and the most seconds to wait for that.
        timeout: seconds an element gets to be reached by Playwright's own click.
        thorough: captures are thorough, as agents need them.
        keep_tabs: windows that pages open become tabs; else the session decides.
        refuse_dead_clicks: refuse a repeated click that had no effect.
    """

    quiet: float = QUIET_TIME
    most: float = IDLE_TIMEOUT
    timeout: float = 1.0
    thorough: bool = True
    keep_tabs: bool = True
    refuse_dead_clicks: bool = True


class Executor:
    """Performs actions in one browser session.

    ``domains`` are the hosts the run may visit (see ``NavigationPolicy``), ``files`` the folder that files
    may be uploaded from. With a ``guard`` only reads leave the browser, except for permitted writes.
    ``ways`` are learned for single controls and tried there first.
    """

    def __init__(
        self,
        session: BrowserSession,
        *,
        domains: frozenset[str] | None = frozenset(),
        options: ExecutorOptions | None = None,
        files: Path | None = None,
        guard: WriteGuard | None = None,
        ways: LearnedWays | None = None,
    ) -> None:
        self.session = session
        self.guard = guard
        self.options = options or ExecutorOptions()
        policy, monitor = NavigationPolicy(domains), PageMonitor(session)
        session.keep_tabs = session.keep_tabs or self.options.keep_tabs
        pointer = Pointer(session)
        cascade = ClickCascade(
            session=session, monitor=monitor, pointer=pointer, timeout=self.options.timeout
        )
        self._filter = RequestFilter(session, policy)
        self._captures = CaptureCache(session, monitor, self._filter, thorough=self.options.thorough)
        self._context = ExecutionContext(
            session=session,
            monitor=monitor,
            captures=self._captures,
            pointer=pointer,
            cascade=cascade,
            policy=policy,
            files=files,
            ways=ways or LearnedWays(),
            quiet=self.options.quiet,
            most=self.options.most,
        )

    @property
    def page(self) -> PageCapture:
        """The last captured page; element numbers refer to it."""
        return self._captures.shown

    async def look(self, *, picture: bool = True) -> PageCapture:
        """Capture the page in front; from then on, changes by the page itself are told from those of an action.

        A tab that crashed, was closed, could not be stopped or does not answer is replaced, and a note says so.

        Raises:
            PageGone: there is no page to capture, and no other could be opened.
        """
        if self.guard is not None:
            with suppress(Error):  # a lost page is detected by the capture
                await self.guard.watch(self.session)
        return await self._captures.look(picture, self.options.most)

    async def capture(self, *, picture: bool = True) -> PageCapture:
        """Capture the page in front as ``look`` does, but replace no tab.  Raises ``PageGone``."""
        try:
            return await self._captures.next(picture)
        except Error as error:
            raise PageGone(self._captures.why_lost(error)) from error

    async def peek(self) -> PageCapture:
        """Capture the page in front without a picture; actions go on naming elements by the last ``look``, and what
        happened on the page meanwhile is told by the next one.

        Raises:
            PageGone: there is no page to capture.
        """
        try:
            return await self._captures.ahead(picture=False)
        except Error as error:
            raise PageGone(self._captures.why_lost(error)) from error

    async def tabs(self) -> tuple[tuple[Tab, ...], int]:
        """Return the open tabs in order, and the number of the one in front."""
        return await self.session.tabs(ANSWER_TIMEOUT)

    async def do(self, action: Action, permit: WritePermit | None = None) -> ActionResult:
        """Perform one action; its numbers are those of the last capture. Never raises for what a page or
        browser does.

        With a guard, only the writes that ``permit`` allows may leave meanwhile; without a permit, none.
        """
        began = time.monotonic()
        handler = HANDLERS.get(type(action))
        if handler is None:
            return refused(Cause.POLICY, f"{type(action).__name__} is not an action on a page")
        if self.guard is None:
            result = await self._tried(handler, action)
        else:
            result = await self._guarded(self.guard, handler, action, permit)
        if self.options.refuse_dead_clicks:
            self._context.dead.record_effect(result.effect, self._context.page)
        return replace(result, seconds=round(time.monotonic() - began, 3))

    async def _guarded(
        self, guard: WriteGuard, handler: Handler, action: Action, permit: WritePermit | None
    ) -> ActionResult:
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                await guard.watch(self.session)
        except (Error, TimeoutError) as error:
            return refused(Cause.PAGE_LOST, self._captures.why_lost(error))
        late, _ = guard.refused(), guard.sent()  # writes since then were a person's
        guard.begin(permit)
        try:
            result = await self._tried(handler, action)
        finally:
            guard.end()
        return _with_writes(result, late, guard.refused(), tuple(map(str, guard.sent())))

    async def _tried(self, handler: Handler, action: Action) -> ActionResult:
        try:
            async with asyncio.timeout(ACTION_TIMEOUT):
                return await self._unless_it_dies(self._do(handler, action))
        except ActionRefused as no:
            return self._with_gate(no.result)
        except NoSuchElement as gone:
            return refused(Cause.STALE, str(gone))
        except TimeoutError:
            return refused(Cause.TIMEOUT, "the page is busy and does not answer", "noop(1000)", "go_back()")
        except (Error, PageGone, IndexError) as error:
            return refused(Cause.PAGE_LOST, self._captures.why_lost(error))

    async def _do(self, handler: Handler, action: Action) -> ActionResult:
        session, context = self.session, self._context
        if self.session.failure:
            raise PageGone("there is no page in front")
        if context.page is not self._captures.shown:
            action = self._renumbered(action)
        self._captures.drop_pending()
        front, unasked = session.page, session.unsolicited_count
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                await self._filter.keep()
                await context.monitor.begin()
        except TimeoutError:
            if not isinstance(action, Goto):
                raise
            await session.renew()  # a busy page would keep any address from opening
            front = session.page
        before = context.page
        done = await handler(context, action)
        if not done.settled:
            await wait_until_idle(session, quiet=self.options.quiet, most=self.options.most, acted=True)
            if session.pages and session.page is not front:
                await wait_until_idle(session, quiet=self.options.quiet, most=self.options.most)
        if self.session.failure:
            raise PageGone("the page was lost")
        async with asyncio.timeout(ANSWER_TIMEOUT * 2):
            around = OutsideChanges(
                tab=session.page is not front, dialogs=session.unsolicited_count - unasked
            )
            changes = PageChanges(replaced=True) if around.tab else await context.monitor.changes()
            effect = done.effect or effect_from_changes(changes, around)
            return await self._result_of(action, before, done, effect, changes)

    async def _unless_it_dies(self, doing: Coroutine[Any, Any, ActionResult]) -> ActionResult:
        """Run the action unless the page dies, which would never answer."""

        async def watch() -> None:
            await self.session.dead.wait()
            raise PageGone("the page died")

        try:
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(watch())
                task = group.create_task(doing)
                task.add_done_callback(lambda _: watching.cancel())
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return task.result()

    async def _result_of(
        self,
        action: Action,
        before: PageCapture,
        done: ActionOutcome,
        effect: Effect | None,
        changes: PageChanges,
    ) -> ActionResult:
        stopped = self._filter.refused()
        if effect is None:
            after = await self._captures.ahead()
            effect = effect_from_captures(changes, fingerprints_of(before), fingerprints_of(after))
        elif effect is Effect.NAVIGATED:
            return await self._arrived(action, before, done, await self._captures.ahead())
        if stopped is not None and effect is not Effect.NAVIGATED:
            return replace(stopped, tried=done.tried)
        did = effect is Effect.CHANGED or done.calm
        if isinstance(action, Click) and not did and done.tried[:1] in ((OWN_CLICK,), (ENTER,)):
            element = before.elements[action.element]
            self._context.ways.drop(before.url, element.role, element.name)
        why = "" if did else _NO_EFFECT_REASONS[effect]
        return ActionResult(
            success=did,
            effect=effect,
            tried=done.tried,
            cause=Cause.NONE if did else Cause.NO_EFFECT,
            why=why,
            alternatives=() if did else self._instead(action, before),
            output=done.output,
            notes=done.notes,
        )

    def _instead(self, action: Action, before: PageCapture) -> tuple[str, ...]:
        if not isinstance(action, Click):
            return ()
        element = before.elements[action.element]
        number = same_element(element, before, self._captures.now)
        return (
            tuple(alternatives_to_click(replace(element, index=number), self._captures.now))
            if number is not None
            else ()
        )

    async def _arrived(
        self, action: Action, before: PageCapture, done: ActionOutcome, after: PageCapture
    ) -> ActionResult:
        status = done.status or after.status
        outside = self._context.policy.outside(after.url)
        if outside is not None and not isinstance(action, SwitchTab):
            await self._leave(before)
            return replace(outside, tried=done.tried, status=status, why=f"{outside.why}; the run went back")
        cause, why = landing_failure(action, before, after, status)
        if cause is Cause.CHALLENGE:
            self._context.policy.note_challenge(after.url)
            for url in (action.url,) if isinstance(action, Goto | NewTab) else ():
                self._context.policy.note_challenge(url)
        aside = {Cause.CHALLENGE: ("ask_human(...)",), Cause.LOGIN: ("ask_human(...)",), Cause.NONE: ()}
        return ActionResult(
            success=cause is Cause.NONE,
            effect=Effect.NAVIGATED,
            tried=done.tried,
            cause=cause,
            why=why,
            alternatives=aside.get(cause, ("go_back()",)),
            output=done.output,
            status=status,
            notes=done.notes,
        )

    async def _leave(self, before: PageCapture) -> None:
        """Return to the run's own sites: to the tab that opened this one, else to the previous page."""
        self._captures.drop_pending()
        opener = await self.session.page.opener()
        if opener is not None and opener in self.session.pages:
            with suppress(Error):
                await self.session.page.close()
            self.session.active = self.session.pages.index(opener)
            return
        await open_page(self.session, before.url, most=self.options.most)

    def _renumbered(self, action: Action) -> Action:
        """Return the action with the element numbers of the newest capture.

        Raises:
            ActionRefused: an element it names has left the page.
        """
        found = renumber_action(action, self._captures.shown, self._captures.now)
        if isinstance(found, int):
            raise ActionRefused(stale_element(self._captures.shown.elements[found], self._captures.now))
        return found

    def _with_gate(self, result: ActionResult) -> ActionResult:
        stopped = self._filter.refused()
        return (
            replace(stopped, tried=result.tried)
            if stopped is not None and result.cause is Cause.NETWORK
            else result
        )


def _with_writes(
    result: ActionResult, late: tuple[str, ...], held_back: tuple[str, ...], sent: tuple[str, ...]
) -> ActionResult:
    """Add blocked and sent writes to the result; ``late`` were blocked after earlier actions."""
    if not (late or held_back or sent):
        return result
    result = replace(result, blocked_writes=(*late, *held_back), sent=sent)
    if held_back and not sent and result.cause in _NO_EFFECT:
        return replace(
            result,
            success=False,
            effect=Effect.REFUSED,
            cause=Cause.POLICY,
            why=f"the page tried to send {held_back[0]}, which changes something; only reading is allowed here",
        )
    notes = tuple(
        f"{what} was blocked: it changes something" for what in dict.fromkeys(result.blocked_writes)
    )
    return replace(result, notes=(*result.notes, *notes[:3]))


_NO_EFFECT = (Cause.NO_EFFECT, Cause.NETWORK)
_NO_EFFECT_REASONS = {
    Effect.NOTHING: "it was done, and nothing on the page changed",
    Effect.UNRELATED: "it was done; the page changed only where it changes by itself",
    Effect.REFUSED: "",
}
