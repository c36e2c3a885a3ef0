"""The context that actions share, and what an action returns. One context lasts as long as its session."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import ElementHandle, Error

from app.engine.browser.actions.click_cascade import ClickCascade, Pointer
from app.engine.browser.actions.dead_clicks import DeadClicks
from app.engine.browser.actions.failure_reasons import (
    describe_element,
    no_such_element,
    obstruction,
    stale_element,
)
from app.engine.browser.capture.capture_cache import CaptureCache
from app.engine.browser.capture.frames import NoSuchElement, object_handle
from app.engine.browser.capture.page_monitor import ElementProbe, PageMonitor, ask_page
from app.engine.browser.capture.snapshot import element_location
from app.engine.browser.network.navigation_policy import NavigationPolicy
from app.engine.browser.session import BrowserSession
from app.engine.core.action_result import ActionResult, Cause, Effect, refused
from app.engine.core.learnings import LearnedWays
from app.engine.core.page_state import Element, PageCapture


class ActionRefused(Exception):
    """An action is not done; ``result`` says why."""

    def __init__(self, result: ActionResult) -> None:
        super().__init__(result.why)
        self.result = result


def refuse(cause: Cause, why: str, *alternatives: str, tried: tuple[str, ...] = ()) -> ActionRefused:
    """Return the exception for an action that is not done."""
    return ActionRefused(refused(cause, why, *alternatives, tried=tried))


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionOutcome:
    """An action was carried out; its effect is detected afterwards.

    Attributes:
        calm: it is a success even if nothing visible changes.
        effect: the effect, if it is known without a capture.
        status: HTTP status of a page that was opened.
        settled: the page is idle already.
    """

    tried: tuple[str, ...] = ()
    calm: bool = False
    effect: Effect | None = None
    notes: tuple[str, ...] = ()
    output: str = ""
    status: int = 0
    settled: bool = False


@dataclass(slots=True, kw_only=True)
class ExecutionContext:
    """The session, its last capture, and the tools of an action."""

    session: BrowserSession
    monitor: PageMonitor
    captures: CaptureCache
    pointer: Pointer
    cascade: ClickCascade
    policy: NavigationPolicy
    files: Path | None = None
    dead: DeadClicks = field(default_factory=DeadClicks)
    ways: LearnedWays = field(default_factory=LearnedWays)
    quiet: float
    most: float

    @property
    def page(self) -> PageCapture:
        """The last captured page."""
        return self.captures.now

    def element(self, index: int, label: str = "") -> Element:
        """Return the element of this number in the last capture.

        Raises:
            ActionRefused: there is none.
        """
        if not 0 <= index < len(self.page.elements):
            raise ActionRefused(no_such_element(index, self.page, label))
        return self.page.elements[index]

    def refuse_obstructed(self, element: Element, probe: ElementProbe) -> None:
        """Raise ``ActionRefused`` if the element is gone, hidden, disabled or out of the pointer's reach."""
        why = obstruction(element, probe, self.page)
        if why is not None:
            raise ActionRefused(why)

    async def ask(self, element: Element, function: str, *arguments: object) -> Any:
        """Call a function of the page script about an element of the last capture; ``arguments`` are JavaScript.

        Raises ``playwright.async_api.Error`` when the frame is gone, ``RuntimeError`` when the function throws.
        """
        world, number = element_location(self.session, element.index)
        return await ask_page(
            world, f"siteloreMonitor.{function}({', '.join(map(str, (number, *arguments)))})"
        )

    async def handle(self, element: Element, function: str) -> ElementHandle:
        """Return the node that a function of the page script names for an element.

        Raises ``NoSuchElement`` when it has left the page.
        """
        world, number = element_location(self.session, element.index)
        gone = NoSuchElement(f"{describe_element(element)} has left the page")
        try:
            await ask_page(world, "true")
            handle = await object_handle(self.session, world, f"siteloreMonitor.{function}({number})")
        except (Error, RuntimeError) as error:
            raise gone from error
        if handle is None:
            raise gone
        return handle

    def again(self, element: Element) -> Element:
        """Return an element of an earlier capture as it is in the last one.

        Raises:
            ActionRefused: it is not there any more.
        """
        for one in self.page.elements:
            if (one.frame, one.css, one.xpath, one.role) == (
                element.frame,
                element.css,
                element.xpath,
                element.role,
            ):
                return one
        raise ActionRefused(stale_element(element, self.page))
