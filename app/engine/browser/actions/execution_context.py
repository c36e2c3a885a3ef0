"""The context that actions share, and what an action returns. One context lasts as long as its session."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from app.engine.browser.actions.click_cascade import ClickCascade
from app.engine.browser.actions.dead_clicks import DeadClicks
from app.engine.browser.actions.failure_reasons import no_such_element, stale_element
from app.engine.browser.actions.pointer import Pointer
from app.engine.browser.capture.capture_cache import CaptureCache
from app.engine.browser.capture.page_monitor import PageMonitor
from app.engine.browser.network.navigation_policy import NavigationPolicy
from app.engine.browser.session import BrowserSession
from app.engine.core.action_result import ActionResult, Effect
from app.engine.core.page_state import Element, PageCapture


class ActionRefused(Exception):
    """An action is not done; ``result`` says why."""

    def __init__(self, result: ActionResult) -> None:
        super().__init__(result.why)
        self.result = result


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionOutcome:
    """An action was carried out; its effect is detected afterwards.

    Attributes:
        calm: it is a success even if nothing visible changes.
        already: nothing had to be done.
        effect: the effect, if it is known without a capture.
        status: HTTP status of a page that was opened.
        settled: the page is idle already.
    """

    tried: tuple[str, ...] = ()
    calm: bool = False
    already: bool = False
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
    quiet: float
    most: float

    @property
    def page(self) -> PageCapture:
        """The last captured page."""
        return self.captures.now

    def element(self, index: int, label: str = "") -> Element:
        """Return the element of this number in the last capture.

        Raises:
            Refused: there is none.
        """
        if not 0 <= index < len(self.page.elements):
            raise ActionRefused(no_such_element(index, self.page, label))
        return self.page.elements[index]

    async def look_again(self) -> PageCapture:
        """Capture again in the middle of an action; from now on element numbers refer to this capture."""
        return await self.captures.capture_during_action()

    def again(self, element: Element) -> Element:
        """Return an element of an earlier capture as it is in the last one.

        Raises:
            Refused: it is not there any more.
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
