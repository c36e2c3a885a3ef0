"""An action executor that survives its browser: one that died, crashed or hangs is reopened where the run was.

The position of the run is the page of the last look.  Its address is opened; where that does not bring the same page
state, the site's graph is asked for a route.  An action in flight is not repeated: it may have been done already.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.engine.agent.memory import entries
from app.engine.agent.ports import ActionExecutor
from app.engine.agent.run_control import WATCHDOG, RunControl
from app.engine.browser.session_state import EMPTY_TAB
from app.engine.core.action_result import ActionResult, Cause, refused
from app.engine.core.actions.types import Action, Goto
from app.engine.core.identity import keys_of, page_id
from app.engine.core.page_state import PageCapture
from app.engine.core.redaction import redact_text, redact_url
from app.engine.core.supervision import DecisionKind, OperatorAction
from app.engine.core.trajectory import Tab
from app.engine.core.write_permit import WritePermit
from app.errors import Conflict, SiteloreError, StoreError

if TYPE_CHECKING:
    from app.engine.agent.memory.ledger_store import LedgerStore
    from app.engine.browser.live_browser import LiveBrowser

log = logging.getLogger(__name__)

MAX_RECOVERIES_IN_A_ROW = 3
"""Recoveries without an action in between, after which a person is asked."""
MAX_RETURNS_IN_A_ROW = 2
"""Returns to one page in a row; if it is lost again after that, the run's first page is opened instead."""
LOOK_TIMEOUT = 45.0
"""Longest duration of a look in seconds; after it the browser itself counts as hung."""
RETURN_TIMEOUT = 60.0
"""Longest duration in seconds of the return to the run's position."""

READ_TIMEOUT = 10.0
"""Longest duration in seconds of a reading for a person, who asks again."""

IN_ITS_PLACE = "in its place"

ReturnToState = Callable[[str, str], Awaitable[bool]]
"""Take the browser to a page state through the graph, given the state and its address; return whether it arrived."""


@dataclass(frozen=True, slots=True)
class PagePosition:
    """Position of the run: an address, the page state found there ("" where it was not looked at), and the
    number of tabs.
    """

    url: str = ""
    state: str = ""
    tabs: int = 1


class RecoveringExecutor(ActionExecutor):
    """Executor around another one that reopens a lost browser and reports it.

    Args:
        home: the address that page states are named against.
        back_to: the route through the graph, where there is one.
        mask: removes secrets from texts that are stored.

    Attributes:
        here: the page of the last look.
        book: the run's ledger, where it has one.  back_to: the route through the graph, where there is one.
    """

    def __init__(
        self,
        hands: ActionExecutor,
        browser: LiveBrowser,
        control: RunControl,
        *,
        home: str,
        back_to: ReturnToState | None = None,
        book: LedgerStore | None = None,
        mask: Callable[[str], str] = str,
    ) -> None:
        self._hands, self._browser, self._control, self.ledger_store = hands, browser, control, book
        self._home, self.return_to, self._mask = home, back_to, mask
        self._one_at_a_time = asyncio.Lock()
        self._suspected = ""
        self._in_a_row = self._returned = 0
        self._given_up = self._held = ""
        self._untold: list[str] = []
        self.position = PagePosition()

    def mark_hung(self, why: str) -> None:
        """Mark the browser as hung: it is killed and replaced before anything else is done."""
        self._suspected = why

    def block_actions(self, why: str) -> None:
        """Block actions on the page while a step can't be stored; "" unblocks them."""
        self._held = why

    def note_address(self, url: str) -> None:
        """Record the address that the page was brought to in a takeover."""
        if url.startswith(("http://", "https://")) and url != self.position.url:
            self.position = PagePosition(url)

    async def recover(self) -> bool:
        """Reopen the browser now where it is lost, and not only at its next use; return whether it works.

        Waits for an action in flight, which recovers by itself.
        """
        async with self._one_at_a_time:
            try:
                await self._bring_back(may_ask=False)
            except SiteloreError as gone:
                log.warning("the browser of run %s could not be reopened: %s", self._control.run, gone)
                return False
            return True

    async def between_operations(self, reading: Callable[[], Awaitable[PageCapture]]) -> PageCapture:
        """Read the page between two operations of the run; nothing is recovered.

        Raises:
            Conflict: the browser is busy with one, or the page does not answer.
        """
        if self._one_at_a_time.locked():
            raise Conflict("the browser is busy; try again in a moment")
        async with self._one_at_a_time:
            try:
                async with asyncio.timeout(READ_TIMEOUT):
                    return await reading()
            except TimeoutError:
                raise Conflict("the page does not answer; try again in a moment") from None

    async def look(self, *, picture: bool = True) -> PageCapture:
        """Look at the page in front; a reopened browser is reported in its notes.

        Raises ``SiteloreError`` where it could not be reopened, and a person does not want another try.
        """
        async with self._one_at_a_time:
            while True:
                await self._bring_back()
                page = await self._seen(picture)
                if page is not None:
                    break
            if page.url.startswith(("http://", "https://")):
                state = page_id(keys_of(page, self._home))
                self.position = PagePosition(page.url, state, self._browser.open_tabs)
            await self._browser.remember()
            told, self._untold = tuple(self._untold), []
            return replace(page, notes=(*page.notes, *told)) if told else page

    async def do(self, action: Action, permit: WritePermit | None = None) -> ActionResult:
        """Do one action; where the browser was lost before it, only open addresses: all else needs a new look.

        Raises ``DecisionStale`` where a person held the run while it waited for the disk.
        """
        if self._held and self._control.supervised:
            if not await self._may_go_on():
                return refused(Cause.PERSON, f"not done: {self._held}")
            await self._control.before_action()
        async with self._one_at_a_time:
            why = self._wrong
            if why and not isinstance(action, Goto):
                with suppress(SiteloreError):
                    await self._bring_back()
                return refused(Cause.PAGE_LOST, f"not done: {why}")
            if isinstance(action, Goto):
                return await self._opened(action)
            return self._counted(await self._hands.do(action, permit))

    async def tabs(self) -> tuple[tuple[Tab, ...], int]:
        """Return every open tab, and the number of the one in front."""
        return await self._hands.tabs()

    # internals

    async def _opened(self, action: Goto) -> ActionResult:
        """Open an address; a browser that dies on the way is reopened and tried once more."""
        result = refused(Cause.PAGE_LOST, self._wrong)
        for _ in range(2):
            try:
                await self._bring_back(to=PagePosition())
            except SiteloreError as gone:
                return refused(Cause.PAGE_LOST, str(gone))
            result = self._counted(await self._hands.do(action))
            if result.cause is not Cause.PAGE_LOST or not self._wrong:
                break
        if result.success:
            self.note_address(action.url)  # the browser may be lost before the first look
        return result

    def _counted(self, result: ActionResult) -> ActionResult:
        if result.cause is not Cause.PAGE_LOST:
            self._in_a_row = self._returned = 0
        return result

    @property
    def _wrong(self) -> str:
        return self._suspected or self._browser.broken

    async def _seen(self, picture: bool) -> PageCapture | None:
        """Look at the page; return ``None`` where there was no page and the browser has to be reopened."""
        try:
            async with asyncio.timeout(LOOK_TIMEOUT):
                page = await self._hands.look(picture=picture)
        except TimeoutError:
            self.mark_hung(f"the browser did not answer for {LOOK_TIMEOUT:.0f} s")
            return None
        except StoreError:
            raise
        except SiteloreError as gone:
            self._suspected = self._clean(str(gone))
            return None
        if page.url == "about:blank" and self.position.url:
            given_up = next((note for note in page.notes if note.endswith(EMPTY_TAB)), "")
            if given_up:  # by an executor without a page to return to
                await self._bring_back(self._clean(given_up))
                return None
        return page

    async def _bring_back(
        self, why: str = "", to: PagePosition | None = None, *, may_ask: bool = True
    ) -> None:
        """Reopen the browser until it works.  Raises ``SiteloreError`` where it can't be and nobody wants
        another try.
        """
        place = self.position if to is None else to
        while why or self._wrong:
            why = why or self._wrong
            if self._given_up or self._control.stopping:
                raise SiteloreError(self._given_up or why)
            if self._in_a_row >= MAX_RECOVERIES_IN_A_ROW:
                if not may_ask:
                    raise SiteloreError(why)
                await self._ask(why)
            self._in_a_row += 1
            with self._control.recovering(why):
                why = await self._once(why, place)

    async def _once(self, why: str, place: PagePosition) -> str:
        """Try once; return why it failed, "" where it did not."""
        try:
            anew = await self._browser.relaunch(anew=bool(self._suspected))
        except SiteloreError as error:
            return str(error)
        if anew and not self._suspected:
            why = self._browser.replaced_for or why  # a browser that dies closes its pages first
        self._suspected = ""
        self._control.page_changes += 1  # a decision in progress is about a page that is gone
        found = await self._return(place, instead=self._returned >= MAX_RETURNS_IN_A_ROW)
        self._returned += 1
        if self._browser.broken:
            return self._browser.broken
        others = f"; {place.tabs - 1} other tabs are lost" if place.tabs > 1 else ""
        await self._tell(f"{why}; {'another browser' if anew else 'another tab'} was opened {found}{others}")
        return ""

    async def _return(self, place: PagePosition, *, instead: bool = False) -> str:
        """Return to the run's position, or to its first page if ``instead``; return in words where that led."""
        if instead and place.url:
            place = PagePosition(self._home)
        if not place.url.startswith(("http://", "https://")):
            return IN_ITS_PLACE
        try:
            async with asyncio.timeout(RETURN_TIMEOUT):
                failed = await self._browser.go(place.url)
                address = redact_url(place.url)[:160]
                if failed:
                    return f"{IN_ITS_PLACE}, but {failed}"
                if instead:
                    return f"at {address}, because the run's page was lost repeatedly"
                page = await self._hands.look(picture=False) if place.state else None
                if page is None or page_id(keys_of(page, self._home)) == place.state:
                    return f"at {address}, where the run was"
                if self.return_to is not None and await self.return_to(place.state, place.url):
                    return f"and navigated by the map to where the run was, {address}"
                return f"at {address}; the page there is another than before"
        except (TimeoutError, SiteloreError) as error:
            return f"but the return failed: {error or f'it took longer than {RETURN_TIMEOUT:.0f} s'}"

    async def _ask(self, why: str) -> None:
        """Ask a person for another try after several recoveries in a row.

        Raises ``SiteloreError`` where there is no person, or the run is stopping.
        """
        what = f"The browser was lost {MAX_RECOVERIES_IN_A_ROW} times in a row. Try again?"
        if await self._control.ask_about_trouble(what, why) is not DecisionKind.RETRY:
            self._given_up = why
            raise SiteloreError(why)
        self._in_a_row = 0

    async def _may_go_on(self) -> bool:
        """Wait until steps can be stored again, or a person has decided."""

        async def again() -> bool:
            return not self._held

        what = "Steps can't be saved. Try again?"
        while self._held:
            if await self._control.ask_about_trouble(what, self._held, again) is not DecisionKind.RETRY:
                self._control.stop()
                return False
            await asyncio.sleep(0)
        return True

    def _clean(self, text: str) -> str:
        return redact_text(self._mask(text))

    async def _tell(self, words: str) -> None:
        """Report a recovery in the ledger, to the agent and on the timeline; an unwritable report does not stop
        the run.
        """
        words = self._clean(words)
        self._untold.append(words)
        control = self._control
        try:
            if self.ledger_store is not None:
                self.ledger_store.write(entries.note(words, control.step))
            await control.add_to_timeline(OperatorAction.MENDED, words, author=WATCHDOG)
        except StoreError as error:
            log.warning("the recovery of run %s could not be recorded: %s", control.run, error)
