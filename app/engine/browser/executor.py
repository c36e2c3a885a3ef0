"""Does a command on the page that was looked at last, and says what came of it.

It is the agent's hand: pointer and keys as a person has them, refused where something is in the way, with what was
tried, what it visibly did, why not, and what else there is (``app.engine.effect``).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from playwright.async_api import Error

from app.engine.browser import clicking, fields, marking, roaming
from app.engine.browser.cascade import Cascade
from app.engine.browser.effects import Around, effect_of, effect_seen
from app.engine.browser.fences import Fences
from app.engine.browser.frames import NoSuchElement
from app.engine.browser.grip import Done, Grip, Refused
from app.engine.browser.motion import Motion
from app.engine.browser.page_hand import Changes, PageHand
from app.engine.browser.pointer import Pointer
from app.engine.browser.session import Visit
from app.engine.browser.settle import MOST, QUIET, Traffic, settle
from app.engine.browser.snapshot import PageGone, capture
from app.engine.command import (
    AnswerDialog,
    Check,
    Click,
    ClickAt,
    CloseTab,
    Command,
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
    SetSlider,
    SwitchTab,
    TypeKeys,
    TypeText,
    Upload,
    Wait,
)
from app.engine.effect import Cause, Effect, Result, refused
from app.engine.fingerprint import prints_of
from app.engine.page_state import PageCapture
from app.engine.trajectory import Tab

LONGEST = 60.0
"""Seconds a command may take in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOptions:
    """How the hand works.

    Attributes:
        quiet, most: seconds without a change that count as rest, and seconds that are waited for it.
        timeout: seconds an element gets to be reached by Playwright's own click.
        scripted: clicks by script are permitted where no real one reaches.
        smooth, seed: move as a person's hand does; the same seed moves the same way.
    """

    quiet: float = QUIET
    most: float = MOST
    timeout: float = 1.0
    scripted: bool = False
    smooth: bool = False
    seed: int = 0


Handler = Callable[[Grip, Any], Awaitable[Done]]


class Executor:
    """The hand of one visit.

    ``domains`` are the hosts the run may be at (none: no limit), ``files`` the folder that files may be given from.
    Windows that pages open become tabs.
    """

    def __init__(
        self,
        visit: Visit,
        *,
        domains: frozenset[str] = frozenset(),
        options: HandOptions = HandOptions(),
        files: Path | None = None,
    ) -> None:
        visit.keep_tabs = True
        self.options = options
        self.visit = visit
        hand = PageHand(visit)
        pointer = Pointer(visit, Motion(options.seed) if options.smooth else None)
        self._grip = Grip(
            visit=visit,
            hand=hand,
            pointer=pointer,
            cascade=Cascade(
                visit=visit, hand=hand, pointer=pointer, scripted=options.scripted, timeout=options.timeout
            ),
            fences=Fences(domains),
            files=files,
            quiet=options.quiet,
            most=options.most,
        )
        self._ahead: PageCapture | None = None

    @property
    def page(self) -> PageCapture:
        """The page as it was looked at last; element numbers are of this one."""
        return self._grip.page

    async def look(self, *, picture: bool = True) -> PageCapture:
        """Look at the page in front; from here on what changes by itself is told from what an action does.

        Raises:
            PageGone: there is no page to look at.
        """
        page = await capture(self.visit, picture=picture, thorough=True)
        self._grip.page = page
        await self._grip.hand.meet(page)
        return page

    async def tabs(self) -> tuple[tuple[Tab, ...], int]:
        """The open tabs in order, and the number of the one in front."""
        told: list[Tab] = []
        for tab in self.visit.pages:
            try:
                told.append(Tab(url=tab.url, title=await tab.title()))
            except Error:
                told.append(Tab(url=tab.url, title=""))
        return tuple(told), min(self.visit.active, max(0, len(told) - 1))

    async def do(self, command: Command) -> Result:
        """Do one command on the page that was looked at last.  Never raises for what a page does."""
        began = time.monotonic()
        handler = HANDLERS.get(type(command))
        if handler is None:
            return refused(Cause.POLICY, f"{type(command).__name__} is nothing that is done on a page")
        try:
            async with asyncio.timeout(LONGEST):
                result = await self._do(handler, command)
        except Refused as no:
            result = no.result
        except TimeoutError:
            result = refused(Cause.TIMEOUT, f"the page did not answer for {LONGEST:.0f} s")
        except NoSuchElement as gone:
            result = refused(Cause.STALE, str(gone))
        except (Error, PageGone) as error:
            result = refused(Cause.PAGE_LOST, str(error).splitlines()[0][:160])
        return replace(result, seconds=round(time.monotonic() - began, 3))

    async def _do(self, handler: Handler, command: Command) -> Result:
        visit, hand = self.visit, self._grip.hand
        front, unasked = visit.page, visit.unasked
        traffic = Traffic.of(front)
        before, documents = traffic.document, traffic.documents
        await hand.begin()
        done = await handler(self._grip, command)
        if not done.settled:
            await settle(visit, quiet=self.options.quiet, most=self.options.most, acted=True)
            if visit.pages and visit.page is not front:
                await settle(visit, quiet=self.options.quiet, most=self.options.most)
        tab = not visit.pages or visit.page is not front
        changes = Changes(replaced=True) if tab else await hand.changes()
        around = Around(tab=tab, dialogs=visit.unasked - unasked)
        effect = done.effect or effect_of(changes, around)
        if effect is None:
            seen = await capture(visit, picture=False, thorough=True)
            effect = effect_seen(changes, prints_of(self.page), prints_of(seen))
            self._grip.page = seen
        status = done.status or await traffic.status_since(before, documents)
        did = effect in (Effect.NAVIGATED, Effect.CHANGED) or done.calm
        return Result(
            success=did,
            effect=effect,
            tried=done.tried,
            cause=Cause.NONE if did else Cause.NO_EFFECT,
            why="" if did else "nothing on the page changed",
            output=done.output,
            status=status,
            notes=done.notes,
        )


HANDLERS: dict[type, Handler] = {
    Click: clicking.click,
    ClickAt: clicking.click_at,
    Hover: clicking.hover,
    Drag: clicking.drag,
    Scroll: clicking.scroll,
    TypeText: fields.type_text,
    TypeKeys: fields.type_keys,
    Press: fields.press,
    Select: fields.select,
    Check: fields.check,
    SetSlider: fields.set_slider,
    SelectText: marking.select_text,
    Upload: marking.upload,
    Goto: roaming.goto,
    GoBack: roaming.go_back,
    GoForward: roaming.go_forward,
    NewTab: roaming.new_tab,
    SwitchTab: roaming.switch_tab,
    CloseTab: roaming.close_tab,
    AnswerDialog: roaming.answer_dialog,
    Wait: roaming.wait,
}
