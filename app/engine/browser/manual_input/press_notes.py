"""Notes on a person's presses, reported by the page itself at the moment of the event.

A listener in our world of each document (``resources/js/input_target.js``) is the first to hear of a press and tells
what it hit, through a DevTools binding: nothing has to be asked in front of a click, and the answer holds even where
the click leaves the page.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast

from playwright.async_api import CDPSession, Error, Page

from app.assets import resource
from app.engine.browser.capture.frame_decoder import FramePlacement, FrameSnapshot, decode_elements
from app.engine.browser.capture.frames import IGNORE_PRESSES, WORLD, IsolatedWorld, script
from app.engine.browser.session import BrowserSession
from app.engine.core.page_state import Element

BINDING = "siteloreTell"
LISTEN_TIMEOUT = 1.0
"""Seconds a tab may take until its presses are listened to."""
STOP_TIMEOUT = 2.0
MAX_EXPECTED = 32
"""Presses whose note may still come."""
SAME_POINT = 2.0
"""CSS pixels between a press and the note on it."""
MAX_NOTE_LENGTH = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PressNote:
    """A press as its page reports it.

    Attributes:
        world: where it happened. x, y: there, CSS pixels. top: that is the page's own document.
        generation, number: of the capture and of the element in that frame, -1 for none.
        described: an operable element that is in no capture, numbered 0.
        lists: a list of choices was opened.
        held: content of the frame's tracked field, ``None`` where it tracks none.
        url, title: of the document.
    """

    world: IsolatedWorld
    generation: int = 0
    number: int = -1
    described: Element | None = None
    lists: bool = False
    x: float = 0.0
    y: float = 0.0
    top: bool = True
    held: Mapping[str, Any] | None = None
    url: str = ""
    title: str = ""


class ExpectedPress:
    """A press that was sent, and its note as soon as the page has reported it."""

    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y
        self._note: asyncio.Future[PressNote | None] = asyncio.get_running_loop().create_future()

    @property
    def waits(self) -> bool:
        """Whether its note is still of use."""
        return not self._note.done()

    def is_at(self, note: PressNote) -> bool:
        """Whether a note can be the one on this press; of a frame's own points nothing is known."""
        return not note.top or abs(self.x - note.x) + abs(self.y - note.y) <= SAME_POINT

    def tell(self, note: PressNote | None) -> None:
        """Set the note, once."""
        if not self._note.done():
            self._note.set_result(note)

    async def note(self, timeout: float) -> PressNote | None:
        """Return the note; ``None`` where none comes within ``timeout`` seconds."""
        with suppress(TimeoutError):
            return await asyncio.wait_for(asyncio.shield(self._note), timeout)
        self.tell(None)
        return None


class PressListener:
    """Listens to the presses in a session's tabs, in order.

    Args:
        worlds: returns our worlds in the captured frames.
    """

    def __init__(self, session: BrowserSession, worlds: Callable[[], list[IsolatedWorld]]) -> None:
        self._session, self._worlds = session, worlds
        self._tabs: dict[Page, tuple[CDPSession, str]] = {}
        self._heard: dict[CDPSession, list[tuple[str, Callable[[dict[str, Any]], Any]]]] = {}
        self._expected: list[ExpectedPress] = []

    @property
    def hears(self) -> bool:
        """Whether the tab in front is listened to."""
        return bool(self._session.pages) and self._session.page in self._tabs

    async def listen(self) -> None:
        """Listen in the tab in front, in this document and in those that follow.  Never raises for what a page does."""
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(LISTEN_TIMEOUT):
                page, wire = self._session.page, await self._session.wire()
                if page in self._tabs:
                    return
                await self.hear(wire)
                await wire.send("Page.enable")
                source = {"source": f"void {script()}; void {input_script()}", "worldName": WORLD}
                added = cast(
                    "dict[str, Any]", await wire.send("Page.addScriptToEvaluateOnNewDocument", source)
                )
                self._tabs[page] = wire, str(added["identifier"])

    async def hear(self, wire: CDPSession) -> None:
        """Receive what the worlds behind a connection tell, those that are there now.

        Raises ``playwright.async_api.Error``.
        """
        if wire not in self._heard:

            def received(event: dict[str, Any]) -> None:
                self._on_message(wire, event)

            async def navigated(_event: dict[str, Any]) -> None:
                with suppress(Error):
                    await _bind(wire)

            self._heard[wire] = [("Runtime.bindingCalled", received), ("Page.frameNavigated", navigated)]
            for event, handler in self._heard[wire]:
                wire.on(event, handler)
        await _bind(wire)

    async def stop(self) -> None:
        """Leave the pages to the agent: lists of choices open as the browser's own again.

        A page too busy for that within ``STOP_TIMEOUT`` seconds is left by the agent's next look at it.
        """
        for expected in self._expected:
            expected.tell(None)
        for wire, handlers in self._heard.items():
            for event, handler in handlers:
                wire.remove_listener(event, handler)
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(STOP_TIMEOUT):
                for page, (wire, identifier) in self._tabs.items():
                    if not page.is_closed():
                        with suppress(Error):
                            await _leave(wire, identifier)
                for world in self._worlds():  # frames in processes of their own
                    with suppress(Error, RuntimeError):
                        await world.call(IGNORE_PRESSES)
        self._tabs.clear()
        self._heard.clear()

    def expect(self, x: float, y: float) -> ExpectedPress:
        """Announce a press that is about to be sent."""
        expected = ExpectedPress(x, y)
        self._expected = [*self._expected[1 - MAX_EXPECTED :], expected]
        return expected

    def _on_message(self, wire: CDPSession, event: Mapping[str, Any]) -> None:
        note = self._note(wire, event)
        if note is None:
            return
        for at, expected in enumerate(self._expected):
            if expected.waits and expected.is_at(note):
                for before in self._expected[:at]:
                    before.tell(None)  # pages tell in order
                del self._expected[: at + 1]
                expected.tell(note)
                return

    def _note(self, wire: CDPSession, event: Mapping[str, Any]) -> PressNote | None:
        """Return the note of a message; ``None`` where it is none."""
        payload, context = str(event.get("payload", "")), int(event.get("executionContextId", -1))
        if event.get("name") != BINDING or len(payload) > MAX_NOTE_LENGTH:
            return None
        known = [world for world in self._worlds() if world.wire is wire and world.context == context]
        try:
            return _read(payload, known[0] if known else IsolatedWorld(wire, "", context))
        except (ValueError, TypeError, LookupError):
            return None


def _read(payload: str, world: IsolatedWorld) -> PressNote:
    data = json.loads(payload)  # half a letter, which a page may contain, is no error here
    described = data["described"]
    return PressNote(
        world=world,
        generation=int(data["generation"]),
        number=int(data["number"]),
        described=_element(described, in_page=bool(data["top"])) if described else None,
        lists=bool(data["lists"]),
        x=float(data["x"]),
        y=float(data["y"]),
        top=bool(data["top"]),
        held=data["held"],
        url=str(data["url"]),
        title=str(data["title"]),
    )


async def _bind(wire: CDPSession) -> None:
    """Let our worlds that exist now tell: new documents don't have the binding without the runtime's events."""
    await wire.send("Runtime.addBinding", {"name": BINDING, "executionContextName": WORLD})


async def _leave(wire: CDPSession, identifier: str) -> None:
    await wire.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": identifier})
    tree = cast("dict[str, Any]", await wire.send("Page.getFrameTree"))["frameTree"]
    for frame_id in _frame_ids(tree):
        with suppress(Error, RuntimeError):
            place = {"frameId": frame_id, "worldName": WORLD}
            made = cast("dict[str, Any]", await wire.send("Page.createIsolatedWorld", place))
            await IsolatedWorld(wire, frame_id, int(made["executionContextId"])).call(IGNORE_PRESSES)
    await wire.send("Runtime.removeBinding", {"name": BINDING})


@cache
def input_script() -> str:
    """Return the script that knows what input is aimed at, as one expression."""
    return "\n".join(('(() => { "use strict";', resource("js", "input_target.js").read_text("utf-8"), "})()"))


def _element(described: str, *, in_page: bool) -> Element:
    (element,) = decode_elements(FrameSnapshot.read(described), FramePlacement())
    return element if in_page else replace(element, rect=None)  # where its frame is, is not known


def _frame_ids(tree: Mapping[str, Any]) -> list[str]:
    below = cast("list[Mapping[str, Any]]", tree.get("childFrames") or [])
    return [str(tree["frame"]["id"]), *(found for child in below for found in _frame_ids(child))]
