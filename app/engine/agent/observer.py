"""The loop's view of the page: opened, looked at inside the run's sites only, and reopened where it was lost."""

from __future__ import annotations

from dataclasses import replace

from app.engine.agent.action_dispatcher import LoopEnding
from app.engine.agent.dependencies import AgentDependencies
from app.engine.agent.memory import entries
from app.engine.agent.ports import AgentTask
from app.engine.agent.run_control import RunControl, WatchdogTimeout
from app.engine.agent.run_recording import RunRecording
from app.engine.agent.secret_masking import mask_secrets, mask_tabs
from app.engine.browser.network.navigation_policy import NavigationPolicy
from app.engine.core.action_result import ActionResult, Cause, refused
from app.engine.core.actions.types import CloseTab, Goto
from app.engine.core.identity import keys_of, page_id
from app.engine.core.observation import Observation
from app.engine.core.page_state import PageCapture
from app.engine.core.redaction import MARK
from app.engine.core.supervision import DecisionKind, Stage
from app.engine.core.trajectory import Outcome, Tab
from app.errors import SiteloreError, StoreError

MAX_LOST_PAGES = 2
"""Lost pages in a row after which a run is given up."""
MAX_OFF_SITE_LOOKS = 3
"""Looks in a row at a page of another site after which a run is given up."""

_OPEN_ALL_THE_SAME = frozenset({Cause.CHALLENGE, Cause.LOGIN, Cause.ERROR_PAGE})


class PageObserver:
    """Observes the pages of one run."""

    def __init__(
        self, task: AgentTask, parts: AgentDependencies, control: RunControl, recording: RunRecording
    ) -> None:
        self._task, self._control, self._recording = task, control, recording
        self._hands, self._secrets, self._book = parts.executor, parts.secrets, parts.ledger_store
        self._fences = NavigationPolicy(task.domains)
        self._lost = 0

    async def look(self) -> PageCapture:
        """Capture the page in front without secrets.  Raises ``SiteloreError`` where there is none."""
        return mask_secrets(await self._hands.look(), self._secrets)

    async def tabs(self) -> tuple[tuple[Tab, ...], int]:
        """Return every tab without secrets, and the number of the one in front."""
        tabs, front = await self._hands.tabs()
        return mask_tabs(tabs, self._secrets), front

    def state_of(self, page: PageCapture) -> str:
        """Return the id of the page's state in the site's graph."""
        return page_id(keys_of(page, self._task.home or self._task.start_url))

    async def look_within_sites(self) -> PageCapture | None:
        """Capture a page of this run's sites; leave pages that went elsewhere.  ``None`` if they always do.

        The executor checks where an action leads; a page may also leave, or open a window, between two steps.
        """
        words = ""
        for _ in range(MAX_OFF_SITE_LOOKS):
            page = await self.look()
            outside = self._fences.outside(page.url) if page.url.startswith(("http:", "https:")) else None
            if outside is None:
                self._lost = 0
                return replace(page, notes=(*page.notes, words)) if words else page
            tabs, _ = await self._hands.tabs()
            await self._control.before_action()
            await self._hands.do(CloseTab() if len(tabs) > 1 else Goto(self.address))
            words = f"a page of another site opened by itself and was closed: {outside.why}"
            await self._recording.write(entries.note(words, self._recording.number))
        return None

    async def look_again(self, observation: Observation) -> Observation | None:
        """Look again after a hold; ``None`` where the page is not the one that was decided about."""
        try:
            async with self._control.in_stage(Stage.LOOKING):
                page = await self.look()
                tabs, active = await self.tabs()
        except StoreError:
            raise
        except SiteloreError:
            return None
        if self._control.takeover_summary is not None or (self.state_of(page), page.url) != (
            observation.state,
            observation.page.url,
        ):
            return None
        return replace(observation, page=page, tabs=tabs, active_tab=active)

    async def open(self, address: str) -> LoopEnding | None:
        """Open the first page of a run; return why it can't, or ``None``."""
        opened = await self._go(address)
        if opened.success or opened.cause in _OPEN_ALL_THE_SAME:
            return None
        if opened.cause is Cause.OFF_SITE:
            tabs, front = await self.tabs()
            if tabs and tabs[front].url.startswith("http") and self._fences.outside(tabs[front].url) is None:
                return None  # the page opened a window elsewhere, which was closed again
            return LoopEnding(Outcome.CRASHED, error=f"{address} leads elsewhere: {opened.why}")
        return LoopEnding(Outcome.CRASHED, error=opened.why or f"{address} could not be opened")

    async def has_page(self) -> bool:
        """Whether the browser shows a page of the network, and no empty tab or error of its own."""
        try:
            tabs, front = await self._hands.tabs()
        except StoreError:
            raise
        except SiteloreError:
            return False
        return 0 <= front < len(tabs) and tabs[front].url.startswith(("http://", "https://"))

    async def recover(self, why: str) -> LoopEnding | None:
        """Reopen the page after the page or the browser was lost; return the ending where that fails and no
        person helps.
        """
        self._lost += 1
        if self._lost > MAX_LOST_PAGES:
            return await self._given_up(why)
        await self._control.before_action()
        address = self.address
        result = await self._go(address)
        words = f"the page was lost ({why}); reopened {address}"
        await self._recording.write(entries.note(words, self._recording.number))
        if result.success or result.cause in _OPEN_ALL_THE_SAME:
            return None
        return await self._given_up(why if result.why in why else f"{why}; {result.why}")

    @property
    def address(self) -> str:
        """Last address of the run; its start where that one held a secret."""
        last = self._book.ledger.url
        return last if last.startswith("http") and MARK not in last else self._task.start_url

    async def _go(self, address: str) -> ActionResult:
        try:
            async with self._control.in_stage(Stage.ACTING):
                return await self._hands.do(Goto(address))
        except WatchdogTimeout as cut:
            return refused(Cause.TIMEOUT, str(cut))

    async def _given_up(self, why: str) -> LoopEnding | None:
        """Ask a person to fix what is broken; return the ending where they don't."""
        if await self._control.ask_about_trouble("The page can't be opened.", why) is DecisionKind.RETRY:
            self._lost = 0
            return None
        return (
            LoopEnding(Outcome.STOPPED) if self._control.stopping else LoopEnding(Outcome.CRASHED, error=why)
        )
