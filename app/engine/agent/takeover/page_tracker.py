"""Looks during a takeover: one is taken whenever the page is idle after an input."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, replace

from app.engine.agent.takeover.recorded_steps import TrackedPage
from app.engine.browser.capture.snapshot import capture
from app.engine.browser.manual_input.input_target import (
    FieldContent,
    FocusedField,
    InputTarget,
    PageUnreadable,
)
from app.engine.browser.manual_input.press_notes import ExpectedPress, PressNote
from app.engine.browser.session import BrowserSession
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.rectangles import smallest_at
from app.errors import SiteloreError

TAB_TIMEOUT = 0.5
"""Seconds a tab may take to return its title."""
INPUT_WAIT = 0.4
"""Seconds a person's click waits for a look in progress."""
FRESH_LOOK_WAIT = 1.0
"""Seconds a look may take while a person's click waits for it."""
MAX_EVENTS = 20
LOOK_INTERVAL = 2.0
"""Seconds between two looks at a page that changes by itself."""
NOTE_TIMEOUT = 0.6
"""Seconds the page may take to tell what a press hit; then it is what stood there in the latest look."""
CHANGED_SINCE = "the page had changed since; what was pressed is from the page itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class PressTarget:
    """Target of a press.

    Attributes:
        look: the page before it. element: in that look.
        captured: the look is of the page as it was; else only the element is known.
        lists: a list of choices was opened.
        held: content of the field that was being filled in, ``None`` where it has to be asked for.
    """

    look: TrackedPage
    element: Element | None = None
    captured: bool = True
    lists: bool = False
    held: FieldContent | None = None


class PageTracker:
    """The latest look, and the elements under the person's pointer and cursor in it.

    Attributes:
        latest, first: looks; ``None`` as long as the page could not be captured.
        stale: the page got input since the last look.
        answered: dialogs that a person answered, which are reported elsewhere.
        happened: dialogs, windows and downloads that came up, in words.
    """

    def __init__(self, session: BrowserSession) -> None:
        self._session = session
        self._input_target = InputTarget(session)
        self._busy = asyncio.Lock()
        self._touched_at = 0.0
        self._count = 0
        self._looks: dict[int, TrackedPage] = {}
        self.latest: TrackedPage | None = None
        self.first: TrackedPage | None = None
        self.stale = True
        self.happened: list[str] = []
        self.answered: set[str] = set()

    @property
    def before(self) -> TrackedPage:
        """The latest look; a page that could not be captured has only its address."""
        if self.latest is not None:
            return self.latest
        url = self._session.page.url if self._session.pages else ""
        return TrackedPage(page=PageCapture(url=url))

    def touched(self) -> None:
        """Note that the page gets input."""
        self.stale = True
        self._touched_at = time.monotonic()

    async def moved(self) -> bool:
        """Whether the page has changed by itself since a look that is a while ago."""
        if self.latest is not None and time.monotonic() - self.latest.at < LOOK_INTERVAL:
            return False
        try:
            return await self._input_target.moved()
        except PageUnreadable:
            return True

    async def look(self, *, yielding: bool = False) -> TrackedPage | None:
        """Capture the page now; ``None`` where that fails, or yields to input that arrives meanwhile."""
        async with self._busy:
            return await self._look(yielding)

    async def refresh(self, most: float = INPUT_WAIT) -> None:
        """Look again where the page may have changed, unless that takes longer than a person can wait."""
        with suppress(TimeoutError):
            async with asyncio.timeout(most), self._busy:
                if self._outdated:
                    await self._look()

    async def listen(self) -> None:
        """See to it that the tab in front tells of presses; a request only in a tab that is new."""
        if not self._input_target.presses.hears:
            await self._input_target.presses.listen()

    async def stop_listening(self) -> None:
        """Leave the pages as the agent needs them."""
        await self._input_target.presses.stop()

    def expect_press(self, x: float, y: float) -> ExpectedPress:
        """Announce a press that is about to be sent to the page."""
        return self._input_target.presses.expect(x, y)

    async def pressed(self, press: ExpectedPress) -> PressTarget:
        """Return what a press hit, after it was sent."""
        before = self.before
        note = await press.note(NOTE_TIMEOUT)
        if note is None:  # a busy page, or one that took our listener away
            if self._session.pages and self._session.page.url == before.page.url:
                look, element = await self.element_at(press.x, press.y)
                return PressTarget(look=look, element=element)
            return PressTarget(look=before, element=_at(before, press.x, press.y))
        if note.lists:
            self._input_target.opened(note, press.x, press.y)
        look, element = self._of(note.generation, self._input_target.number_of(note))
        target = PressTarget(
            look=look, element=element, lists=note.lists, held=self._input_target.content_in(note)
        )
        return target if element is not None else self._described(target, note)

    def _described(self, target: PressTarget, note: PressNote) -> PressTarget:
        """Return the target with an element that only the page itself reported."""
        before = self.before
        pressed, same = note.described, before.page.url == note.url
        if pressed is None:
            return target if same or not note.top else replace(target, look=_uncaptured(note), captured=False)
        alike = [one for one in before.page.elements if _is_same(one, pressed)] if same else []
        if len(alike) == 1:  # drawn anew since
            return replace(target, look=before, element=alike[0])
        look = before if same or not note.top else _uncaptured(note)
        page, pressed = look.page, replace(pressed, index=len(look.page.elements))
        line = f"\t[{pressed.index}] {pressed.role} {pressed.name!r}"
        page = replace(
            page,
            elements=(*page.elements, pressed),
            tree=f"{page.tree or f'RootWebArea {page.title!r}'}\n{line}",
            notes=(*page.notes, CHANGED_SINCE),
        )
        return replace(target, look=replace(look, page=page), element=pressed, captured=False)

    async def element_at(self, x: float, y: float) -> tuple[TrackedPage, Element | None]:
        """Return the look, and the element in it under a point.

        A page that may have changed is captured once more where the element is unknown.
        """
        try:
            found = await self._at(x, y)
            if found[1] is None and self._outdated:
                await self.refresh(FRESH_LOOK_WAIT)
                found = await self._at(x, y)
        except PageUnreadable:  # don't wait for a busy page: its elements' positions are known
            look = self.before
            return look, _at(look, x, y)
        return found

    async def cursor(self) -> tuple[FocusedField, TrackedPage, Element | None]:
        """Return what has the cursor, the look, and its element; nothing where the page does not say."""
        cursor = FocusedField()
        with suppress(PageUnreadable):
            cursor = await self._cursor()
            if (not cursor.known or (cursor.typable and cursor.number < 0)) and self._outdated:
                await self.refresh(FRESH_LOOK_WAIT)
                cursor = await self._cursor()
        return (cursor, *self._of(cursor.generation, cursor.number))

    async def open_list(self) -> FieldContent | None:
        """Show the choices of the list with the cursor; return what is chosen in it now.

        ``None`` where there is none.
        """
        with suppress(PageUnreadable):
            if await self._input_target.open_list():
                return await self._input_target.held()
        return None

    async def choose(self, operation: str, x: float = 0.0, y: float = 0.0) -> tuple[bool, str | None]:
        """Operate the open list (``InputTarget.choose``): whether it is still open, and what was chosen."""
        try:
            return await self._input_target.choose(operation, x, y)
        except PageUnreadable:
            return False, None

    async def hold(self) -> FieldContent | None:
        """Keep the field that has the cursor; return its content."""
        with suppress(PageUnreadable):
            await self._input_target.hold()
            return await self._input_target.held()
        return None

    async def held(self) -> FieldContent | None:
        """Return the kept field's content; ``None`` where it is gone."""
        with suppress(PageUnreadable):
            return await self._input_target.held()
        return None

    @property
    def _outdated(self) -> bool:
        """Whether the page may differ from the latest look."""
        return self.stale or self.latest is None or time.monotonic() - self.latest.at > FRESH_LOOK_WAIT

    async def _at(self, x: float, y: float) -> tuple[TrackedPage, Element | None]:
        try:
            return self._of(*await self._input_target.at(x, y))
        except PageUnreadable as blind:
            if blind.busy:
                raise
            return self.before, None

    async def _cursor(self) -> FocusedField:
        try:
            return await self._input_target.cursor()
        except PageUnreadable as blind:
            if blind.busy:
                raise
            return FocusedField()

    def _of(self, generation: int, number: int) -> tuple[TrackedPage, Element | None]:
        look = self._looks.get(generation)
        if look is None or not 0 <= number < len(look.page.elements):
            return self.before, None
        return look, look.page.elements[number]

    async def _look(self, yielding: bool = False) -> TrackedPage | None:
        began = time.monotonic()
        try:
            page = await capture(self._session, thorough=True, yielding=yielding)
            tabs, active = await self._session.tabs(TAB_TIMEOUT)
        except SiteloreError:
            return None
        self._note(page)
        self._count += 1
        look = TrackedPage(page=page, tabs=tabs, active=active, at=began)
        self._looks = {**dict(list(self._looks.items())[-1:]), self._count: look}
        await self._input_target.meet(page, self._count)
        self.latest = look
        self.first = self.first or self.latest
        self.stale = self._touched_at >= began
        return self.latest

    def _note(self, page: PageCapture) -> None:
        lines = [
            *(
                f"a dialog said {text!r} and was dismissed"
                for text in page.alerts
                if text not in self.answered
            ),
            *(f"a window was opened and closed again: {url}" for url in page.popups),
            *(f"a download was offered and not saved: {name!r}" for name in page.downloads),
        ]
        self.happened += lines[: max(0, MAX_EVENTS - len(self.happened))]


def _at(look: TrackedPage, x: float, y: float) -> Element | None:
    return smallest_at((one for one in look.page.elements if one.visible), x, y)


def _uncaptured(note: PressNote) -> TrackedPage:
    """Return a page that was pressed before it could be captured."""
    return TrackedPage(page=PageCapture(url=note.url, title=note.title), at=time.monotonic())


def _is_same(one: Element, other: Element) -> bool:
    return (one.role, one.name, one.tag, one.css) == (other.role, other.name, other.tag, other.css)
