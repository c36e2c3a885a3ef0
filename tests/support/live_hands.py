"""A person's mouse and keyboard input, and a page under takeover, for tests in a real browser."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from app.engine.agent.secrets import Secrets
from app.engine.agent.takeover.takeover import Takeover
from app.engine.browser.capture.screencast import Screencast, ScreencastFrame
from app.engine.browser.session import BrowserSession
from app.engine.core.events import EventBus
from app.engine.core.page_input import InputKind, MouseButton, PageInput
from app.engine.core.trajectory import Step
from app.engine.jobs import JobRegistry

PATIENCE = 120.0
"""Seconds; a busy machine is slow."""


async def until(holds: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < end, "it never came to be so"
        await asyncio.sleep(0.02)


async def until_so(holds: Callable[[], Awaitable[bool]], patience: float = PATIENCE) -> None:
    """Wait until an awaited condition holds."""
    end = time.monotonic() + patience
    while not await holds():
        assert time.monotonic() < end, "it never came to be so"
        await asyncio.sleep(0.02)


def click(x: float, y: float, clicks: int = 1, button: MouseButton = MouseButton.LEFT) -> list[PageInput]:
    """A click at a point; ``clicks=2`` is a double click."""
    inputs = [PageInput(kind=InputKind.MOVE, x=x, y=y)]
    for number in range(1, clicks + 1):
        for kind in (InputKind.PRESS, InputKind.RELEASE):
            inputs.append(PageInput(kind=kind, x=x, y=y, button=button, clicks=number))
    return inputs


def key(name: str, modifiers: int = 0, code: str = "", text: str = "") -> list[PageInput]:
    """A key, down and up."""
    return [
        PageInput(kind=kind, key=name, code=code or name, modifiers=modifiers, text=text)
        for kind in (InputKind.KEY_DOWN, InputKind.KEY_UP)
    ]


def typed(text: str) -> list[PageInput]:
    """Letters, one after the other."""
    return [
        one
        for letter in text
        for one in key(letter, code=f"Key{letter.upper()}" if letter.isalpha() else "", text=letter)
    ]


async def middle(session: BrowserSession, selector: str) -> tuple[float, float]:
    """Return the middle of an element."""
    box = await session.page.locator(selector).first.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


class Kept:
    """Records of a takeover; ``refuse`` is raised instead, as long as it is set."""

    def __init__(self, first: int = 3) -> None:
        self.first = first
        self.steps: list[Step] = []
        self.blobs: dict[str, bytes] = {}
        self.refuse: Exception | None = None

    async def write(self, step: Step, blobs: Mapping[str, bytes]) -> int:
        if self.refuse is not None:
            raise self.refuse
        self.steps.append(step)
        self.blobs.update(blobs)
        return self.first + len(self.steps) - 1

    @property
    def words(self) -> list[str]:
        return [step.words for step in self.steps]

    def text_of(self, step: Step) -> str:
        return self.blobs[step.tree].decode()

    def everything(self) -> str:
        """All recorded content but screenshots."""
        pictures = {step.screenshot for step in self.steps}
        trees = [data.decode("utf-8", "replace") for name, data in self.blobs.items() if name not in pictures]
        return "\n".join([*map(repr, self.steps), *trees])


@asynccontextmanager
async def in_hand(
    session: BrowserSession,
    home: str = "http://page.test/",
    secrets: Secrets | None = None,
    tell: Callable[[str], None] | None = None,
) -> AsyncIterator[tuple[Takeover, Kept]]:
    """Take over the page of a session; hand it back at the end if it was not before."""
    registry, kept = JobRegistry(EventBus()), Kept()
    takeover = Takeover(
        session,
        secrets=secrets or Secrets(),
        home=home,
        write=kept.write,
        spawn=registry.hold,
        run="run-1",
        tell=tell,
    )
    await takeover.begin()
    try:
        yield takeover, kept
        kept.refuse = None
        await takeover.end()
    finally:
        await registry.aclose()


@asynccontextmanager
async def filmed(session: BrowserSession) -> AsyncIterator[tuple[Screencast, list[ScreencastFrame]]]:
    """A screencast without viewers, and the frames it delivers."""
    registry, frames = JobRegistry(EventBus()), list[ScreencastFrame]()
    cast = Screencast(session, frames.append, registry.hold)
    try:
        yield cast, frames
    finally:
        await cast.aclose()
        await registry.aclose()
