"""Capture a page: its elements, tree, text and screenshot, by a few DevTools calls and without changing it.

The script of ``app.engine.browser.capture.frames`` walks each frame once;
``app.engine.browser.capture.frame_decoder`` decodes its answer. The screenshot is taken at the same time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from playwright.async_api import ElementHandle, Error

from app.engine.browser.capture.challenge import detect_challenge
from app.engine.browser.capture.frame_decoder import (
    FramePlacement,
    FrameSnapshot,
    decode_elements,
    tree_with_frames,
    with_frames,
)
from app.engine.browser.capture.frames import (
    IGNORE_PRESSES,
    FrameTree,
    IsolatedWorld,
    NoSuchElement,
    document_of,
    listeners_in,
    main_world,
    object_handle,
    script,
)
from app.engine.browser.capture.screenshot import take_screenshot
from app.engine.browser.session import BrowserSession, UnsolicitedEvents
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.text import first_line
from app.errors import SiteloreError

CAPTURE_TIMEOUT = 15.0
"""Seconds a capture may take in all; a page that is busy for longer counts as gone."""
REPLACEMENT_TIMEOUT = 5.0
"""Seconds the page that replaces another gets to load."""
MAX_FRAMES = 60
MAX_FRAME_DEPTH = 8
CANVAS_SHARE = 0.5
FEW_ELEMENTS, FEW_LETTERS = 4, 300


class PageGone(SiteloreError):
    """There is no page to capture: it crashed, was closed, keeps navigating away, or doesn't answer."""


class CaptureInterrupted(SiteloreError):
    """Input for the page arrived during a yielding capture, which was given up for it."""


@dataclass(slots=True)
class _Part:
    """One frame of a capture and its child frames; ``below`` is by the number of the frame element."""

    world: IsolatedWorld
    look: FrameSnapshot
    around: FramePlacement
    below: dict[int, _Part] = field(default_factory=dict[int, "_Part"])


@dataclass(slots=True)
class _CaptureRun:
    limit: int
    frames: FrameTree
    thorough: bool = False
    yielding: bool = False
    by_hand: bool = False
    count: int = 0
    opaque: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class _ElementLocations:
    """Where the elements of the last capture are: each one's world and its number there."""

    spots: tuple[tuple[IsolatedWorld, int], ...]


async def capture(
    session: BrowserSession,
    *,
    picture: bool = True,
    limit: int = 8000,
    thorough: bool = False,
    yielding: bool = False,
) -> PageCapture:
    """Capture the page in front; at most ``limit`` elements of each frame are named.

    A ``thorough`` capture is an agent's: it also numbers elements operable only by script, drawn shapes
    and scrollable ones, and says what the pointer meets and what nameless elements look like. A page's
    identity is the same either way.

    A ``yielding`` capture is given up as soon as a click or a key for the page waits for it, which else would
    wait for the whole walk over the page.

    If the page is replaced during the capture, it is captured once more. Unsolicited events since the
    previous capture (dialogs, windows, files) are part of it.

    Raises:
        PageGone: the page crashed, was closed, keeps navigating away, or doesn't answer.
        CaptureInterrupted: input arrived during a yielding capture.
    """
    for attempt in (1, 2):
        _raise_if_dead(session)
        try:
            async with asyncio.timeout(CAPTURE_TIMEOUT):
                seen = await _capture(
                    session,
                    picture,
                    _CaptureRun(limit, FrameTree(session.page), thorough, yielding, session.in_hand),
                )
        except TimeoutError as error:
            raise PageGone(
                f"{session.page.url} is busy: it did not answer for {CAPTURE_TIMEOUT:.0f} s"
            ) from error
        except Error as error:
            _raise_if_dead(session)
            if attempt == 2:
                raise PageGone(f"{session.page.url} keeps navigating away: {_reason(error)}") from error
            await _wait_for_load(session)
        except RuntimeError as error:
            raise PageGone(f"{session.page.url} can't be read: {_reason(error)}") from error
        else:
            if seen is not None:
                return seen
            if attempt == 2:
                raise PageGone(f"{session.page.url} keeps navigating away")
            await _wait_for_load(session)
    raise AssertionError("unreachable")


async def element_handle(session: BrowserSession, index: int) -> ElementHandle:
    """Return the element of this number in the last capture, in whichever frame or shadow root it is.

    Raises:
        NoSuchElement: it has left the page, or the last capture has no such number.
    """
    world, number = element_location(session, index)
    missing = _missing(index)
    try:
        handle = await object_handle(session, world, f"sitelore.element({number})")
    except (Error, RuntimeError) as error:
        raise missing from error
    if handle is None:
        raise missing
    return handle


def element_location(session: BrowserSession, index: int) -> tuple[IsolatedWorld, int]:
    """Return the frame that contains an element of the last capture, and its number there.

    Raises:
        NoSuchElement: the last capture has no such number.
    """
    found = session.last
    if not isinstance(found, _ElementLocations) or not 0 <= index < len(found.spots):
        raise _missing(index)
    return found.spots[index]


@dataclass(frozen=True, slots=True)
class FrameMap:
    """Locations of a capture's elements.

    Attributes:
        top: the page's own world; ``None`` if nothing is known of the capture any more.
        below: child frames by the world around them (frame, context) and the number of their element there.
        numbers: the page's element numbers by world and number there.
    """

    top: IsolatedWorld | None = None
    below: dict[tuple[str, int, int], IsolatedWorld] = field(
        default_factory=dict[tuple[str, int, int], IsolatedWorld]
    )
    numbers: dict[tuple[str, int, int], int] = field(default_factory=dict[tuple[str, int, int], int])

    @property
    def worlds(self) -> list[IsolatedWorld]:
        """The world of every known frame, the page's own first."""
        return [*([self.top] if self.top is not None else []), *self.below.values()]


def frame_map(session: BrowserSession, page: PageCapture) -> FrameMap:
    """Return the locations of the last capture's elements; incomplete if another page has been captured since."""
    top: IsolatedWorld | None = None
    found = FrameMap()
    for element in page.elements:
        try:
            world, own = element_location(session, element.index)
        except NoSuchElement:
            break
        found.numbers[world.frame_id, world.context, own] = element.index
        while world.parent is not None:
            found.below[world.parent.frame_id, world.parent.context, world.owner] = world
            world = world.parent
        top = world
    return replace(found, top=top)


def _missing(index: int) -> NoSuchElement:
    return NoSuchElement(f"Could not find element {index}: it is not on the page any more")


async def thumbnail(session: BrowserSession, width: int = 256) -> bytes:
    """Return the viewport as a small JPEG of that width; empty if the page does not paint.

    The browser scales it; it costs two thirds of a full screenshot, so it is taken of new states only.
    """
    size = session.page.viewport_size
    if size is None:
        return b""
    clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": width / size["width"]}
    image, _ = await take_screenshot(session, clip=clip)
    return image


async def _capture(session: BrowserSession, picture: bool, looking: _CaptureRun) -> PageCapture | None:
    """Capture once; ``None`` if the page was replaced meanwhile."""
    began = time.perf_counter()
    try:
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(_watch(session))
            world = await main_world(session)  # first: a screenshot of a crashed page crashes Chromium
            shot = group.create_task(take_screenshot(session) if picture else _no_picture())
            top = await _part(looking, world, FramePlacement())
            image, note = await shot
            same = await document_of(session) == world.document
            watch.cancel()
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    if not same:
        return None
    if note:
        looking.notes.append(note)
    happened = session.happened()
    if not looking.yielding:
        return _put_together(session, top, looking, image, happened, began)
    # Beside the loop: a person's clicks and their pictures go through it.
    return await asyncio.to_thread(_put_together, session, top, looking, image, happened, began)


async def _part(looking: _CaptureRun, world: IsolatedWorld, around: FramePlacement, depth: int = 0) -> _Part:
    top = "true" if world.parent is None else "false"
    part = _Part(world, await _look(looking, world, top), around)
    names: set[str] = set()
    for owner, spot in enumerate(part.look.spots):
        name = next(n for n in _variants(spot.name) if n not in names)
        names.add(name)
        looking.count += 1
        if looking.count > MAX_FRAMES or depth >= MAX_FRAME_DEPTH:
            looking.opaque.append(spot.source)
            continue
        try:
            below = await looking.frames.below(world, owner)
            part.below[owner] = await _part(looking, below, around.within(spot, name), depth + 1)
        except (Error, RuntimeError):
            looking.opaque.append(spot.source)
    return part


async def _look(looking: _CaptureRun, world: IsolatedWorld, top: str) -> FrameSnapshot:
    """Run the script in one frame; once more if the page changed while its listeners were read.

    The end of a takeover does not wait for a busy frame, so the look of an agent takes the frame's presses back.
    """
    begin = script() if looking.by_hand else f"{script()}, {IGNORE_PRESSES}"
    if not looking.thorough:
        return FrameSnapshot.read(await world.call(f"{begin}, sitelore.look({looking.limit}, {top})"))

    async def listening() -> FrameSnapshot:
        listeners, yielding = await listeners_in(world), str(looking.yielding).lower()
        answer = await world.call(
            f"{begin}, sitelore.look({looking.limit}, {top}, '{listeners}', {yielding})"
        )
        if not answer:
            raise CaptureInterrupted(f"{world.frame_id} got input")
        return FrameSnapshot.read(answer)

    look = await listening()
    return look if look.facts["heard"] else await listening()


def _variants(name: str) -> Iterator[str]:
    """Yield the name, then numbered ones, so that two frames of one name differ."""
    yield name
    number = 2
    while True:
        yield f"{name}#{number}"
        number += 1


def _put_together(
    session: BrowserSession,
    top: _Part,
    looking: _CaptureRun,
    image: bytes,
    happened: UnsolicitedEvents,
    began: float,
) -> PageCapture:
    elements: list[Element] = []
    spots: list[tuple[IsolatedWorld, int]] = []
    headings: list[str] = []
    tree, text = _gather(top, elements, spots, headings)
    session.last = _ElementLocations(tuple(spots))
    facts = top.look.facts
    visible = sum(element.visible for element in elements)
    return PageCapture(
        url=facts["url"],
        title=facts["title"],
        language=facts["language"],
        status=facts["status"],
        elements=tuple(elements),
        headings=tuple(headings),
        text=text,
        tree=tree,
        viewport=(facts["viewport"][0], facts["viewport"][1]),
        size=(facts["size"][0], facts["size"][1]),
        picture=image,
        frames=sum(1 for _ in _parts(top)) - 1,
        opaque=tuple(looking.opaque),
        alerts=happened.alerts,
        popups=happened.popups,
        downloads=happened.downloads,
        challenge=detect_challenge(
            url=facts["url"],
            title=facts["title"],
            headings=headings,
            text=text,
            elements=elements,
            captcha=any(part.look.facts["captcha"] for part in _parts(top)),
        ),
        canvas_only=facts["canvas"] >= CANVAS_SHARE and visible < FEW_ELEMENTS and len(text) < FEW_LETTERS,
        notes=(*_omissions(top, looking), *looking.notes),
        seconds=time.perf_counter() - began,
    )


def _gather(
    part: _Part, elements: list[Element], spots: list[tuple[IsolatedWorld, int]], headings: list[str]
) -> tuple[str, str]:
    """Append the elements of a frame and of those below in document order; return its tree and text with theirs."""
    own = decode_elements(part.look, part.around)
    numbers: list[int] = []
    trees: dict[int, str] = {}
    texts: dict[int, str] = {}
    headings.extend(part.look.facts["headings"])
    done = 0

    def append(until: int) -> None:
        for number in range(done, until):
            index = len(elements)
            element = own[number]
            elements.append(element if index == element.index else replace(element, index=index))
            spots.append((part.world, number))
            numbers.append(index)

    for owner, spot in enumerate(part.look.spots):
        append(spot.before)
        done = max(done, spot.before)
        if owner in part.below:
            trees[owner], texts[owner] = _gather(part.below[owner], elements, spots, headings)
    append(len(own))
    facts = part.look.facts
    return tree_with_frames(facts["lines"], numbers, trees), with_frames(facts["text"], texts)


def _parts(part: _Part) -> Iterator[_Part]:
    yield part
    for below in part.below.values():
        yield from _parts(below)


def _omissions(top: _Part, looking: _CaptureRun) -> Iterator[str]:
    for part in _parts(top):
        facts = part.look.facts
        where = f" in the frame {'/'.join(part.around.chain)}" if part.around.chain else ""
        if facts["found"] > len(facts["elements"]):
            yield f"only {len(facts['elements'])} of {facts['found']} elements are named{where}"
        if facts["cutShort"]:
            yield facts["cutShort"] + where
        if facts["inert"]:
            yield f"{facts['inert']} elements can't be reached while a dialog is open{where}"
    if looking.opaque:
        yield f"{len(looking.opaque)} frames could not be read"


async def _no_picture() -> tuple[bytes, str]:
    return b"", ""


async def _watch(session: BrowserSession) -> None:
    """Raise as soon as the page is dead, which would never answer."""
    await session.dead.wait()
    _raise_if_dead(session)


def _raise_if_dead(session: BrowserSession) -> None:
    if session.failure:
        raise PageGone(session.failure)


async def _wait_for_load(session: BrowserSession) -> None:
    try:
        await session.page.wait_for_load_state("load", timeout=REPLACEMENT_TIMEOUT * 1000)
    except Error:
        _raise_if_dead(session)


def _reason(error: Exception) -> str:
    return first_line(str(error), "no reason given")
