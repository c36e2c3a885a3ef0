"""A log-in that a person made in one run: kept for its site, and given to the runs that wait for it.

- A log-in is shared by itself when a run that waited at a log-in is handed back, its browser has got cookies or stored
  values since it was taken over, and a page before which that log-in stood shows none any more: the start page of a run
  that began with it, its own address, or the page that its address names, if that leads who has no cookies to a log-in.
  A page that is open to everybody proves nothing.  On a person's wish the page in front is believed.
- It is the log-in of the site where the person ended up: of the run's own site, even if the log-in was on another host
  (single sign-on), whose cookies then belong to it; of another site of the table if they stayed there; else of none.
- Runs wait for it that stopped at the same wall of the same site and asked for the same log-in (the site's usual one,
  or the same role or file), then or later.  One that asked to be logged out neither gives nor takes any.
- It is kept as the usual log-in or as the role's, another site's always as the usual one; one of a run that began with
  another file is given and not kept.  One that is only wished never takes the place of one with more session cookies.
- It is kept before it is given.  A run that comes to the wall within ten minutes gets what is saved then, if that is
  still this log-in.
- A run is held while it is given a log-in.  It goes on only when it no longer sees the log-in itself; otherwise its
  request stays open, and its browser has again what it had.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag

from app import settings
from app.engine.agent.walls import wall_key
from app.engine.core.addresses import browser_host
from app.engine.core.events import Event, LoginShared, RequestChanged, SitesChanged
from app.engine.core.labels import state_label
from app.engine.core.login_state import guarded_pages, is_changed, is_of_hosts, login_of_hosts
from app.engine.core.page_state import Challenge
from app.engine.core.request_groups import is_login_wall, request_key
from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    OperatorAction,
    OperatorDecision,
    RunState,
)
from app.engine.services.core import Core
from app.engine.services.site_logins import (
    is_nobody,
    keep_login_state,
    login_name,
    login_role,
    read_login,
    saved_login,
)
from app.engine.services.supervision.approvals import ApprovalService
from app.engine.services.supervision.fleet import Fleet
from app.engine.services.supervision.made_login import (
    MadeLogin,
    login_mark,
    saved_part,
    shared_words,
    state_to_give,
)
from app.engine.services.supervision.supervised_run import SupervisedRun
from app.errors import Conflict, SiteloreError

if TYPE_CHECKING:
    from app.engine.browser.live_browser import LiveBrowser

log = logging.getLogger(__name__)

PROOF_SECONDS = 10.0
"""Longest duration of the look at pages that prove a log-in, while the run is handed back."""
OPEN_SECONDS = 4.0
"""Longest duration of the look whether a page is open to everybody."""
GIVE_SECONDS, BACK_SECONDS = 45.0, 10.0
"""Longest duration of giving one run a log-in, and of putting back what its browser had."""
MADE_SECONDS, MAX_MADE = 600.0, 50
"""Seconds for which a log-in is given to runs that come to its wall later, and how many are at most."""
WAIT_INTERVAL, WAIT_LOOKS = 0.05, 100
"""Seconds between two looks whether a run that has just asked waits, and how many there are."""
AT_ONCE = 4
"""Runs that are given a log-in at the same time."""

SHARE_COMMAND, TAKE_COMMAND = "share log-in", "take log-in"
"""Commands of another process: share a run's log-in; take the one that is kept."""


class LoginSharing:
    """Keeps and gives log-ins."""

    def __init__(self, core: Core, approvals: ApprovalService, fleet: Fleet) -> None:
        self._core, self._approvals, self._fleet = core, approvals, fleet
        self._made: dict[str, MadeLogin] = {}
        """Log-ins that are kept, without their secrets, by the key of their wall, for runs that come to it later."""
        self._tried: set[tuple[str, str]] = set()
        """Walls and runs that were given the log-in of ``_made``."""
        core.bus.subscribe(self._heard)
        fleet.remote_handlers[SHARE_COMMAND] = self._granted
        fleet.remote_handlers[TAKE_COMMAND] = self._take

    async def made_at(self, found: SupervisedRun, wall: ApprovalRequest | None) -> MadeLogin | None:
        """Return the log-in that a person made at a wall in a takeover that has just ended, kept already; ``None``
        where the wall is no log-in, or still stands, or it is not proven that it is passed.

        Await it before the agent has the page back.
        """
        if wall is None or not is_login_wall(wall) or is_nobody(found.request.storage_state):
            return None
        final = found.page.path.final if found.page.path is not None else None
        if final is None:
            return None
        if final.challenge is not Challenge.NONE and wall_key(final) not in found.control.no_walls:
            return None
        try:
            async with asyncio.timeout(PROOF_SECONDS):
                there = await self._proof(found, wall, final.url)
                made = await self._login_of(found, wall, there, wished=False) if there else None
            before = found.page.login_before
            if (
                made is None
                or before is None
                or not is_changed(login_of_hosts(before, made.hosts), made.state)
            ):
                return None
            return await self._kept(made)
        except (SiteloreError, TimeoutError) as error:
            log.info("the log-in of run %s is not shared: %s", found.run, error)
            return None

    async def share(self, made: MadeLogin) -> LoginShared:
        """Give a log-in to the runs that wait for it, and say so."""
        turn = asyncio.Semaphore(AT_ONCE)

        async def give(found: SupervisedRun, request: ApprovalRequest) -> bool:
            if (key := request_key(request)) in self._made:
                self._tried.add((key, found.run))
            async with turn:
                return await self._give(found, request, made)

        waiting = [
            (found, request)
            for found in self._fleet.all
            for request in found.control.needs
            if made.is_waited_for(request)
        ]
        given = await asyncio.gather(*(give(found, request) for found, request in waiting))
        runs = tuple(found.run for (found, _), went_on in zip(waiting, given, strict=True) if went_on)
        left = len(waiting) - len(runs) + await self._ask_elsewhere(made)
        shared = LoginShared(
            site=made.site, source=made.run, runs=runs, words=shared_words(made, len(runs), left)
        )
        if not (made.kept or made.problem or made.wished or waiting or left):
            return shared
        source = self._fleet.find(made.run)
        step = source.row.step if source is not None else 0
        await self._approvals.note(made.run, step, OperatorAction.SHARED_LOGIN, shared.words, about=made.site)
        self._core.bus.publish(shared)
        return shared

    async def share_login(self, run: str) -> LoginShared:
        """Share the log-in of a held run as a person wishes.

        Raises:
            NotFound, Conflict: there is no such run, it is not held, it is not logged in, or asked not to be.
        """
        if await self._fleet.forward_if_remote(run, SHARE_COMMAND):
            return LoginShared(site="", source=run, words="the process that works on the run was asked")
        found = self._fleet.get_active(run)
        browser = found.page.browser
        if not found.control.state.held or browser is None:
            raise Conflict(
                f"nobody holds the run ({state_label(found.snapshot())}): pause it or take it over first"
            )
        if is_nobody(found.request.storage_state):
            raise Conflict("this run's task begins without a log-in: there is none to share")
        if await browser.asks_for_login():
            raise Conflict(f"{browser.address} still asks for a log-in: log in first")
        walls = [one for one in await self._approvals.requests(run, closed=True) if is_login_wall(one)]
        wall = walls[-1] if walls else None
        made = await self._login_of(found, wall, browser.address, wished=True)
        if made is None:
            raise Conflict("the browser has no log-in of this run's site")
        return await self.share(await self._kept(made))

    # inside

    async def _proof(self, found: SupervisedRun, wall: ApprovalRequest, here: str) -> str:
        """Return the address of a page that shows the log-in to work, "" without one."""
        browser = found.page.browser
        if browser is None:
            return ""
        pages = await self._guarded(found, browser, wall)
        if urldefrag(here).url in pages:
            return here
        for page in pages:
            there = await browser.shows_no_login(page, PROOF_SECONDS)
            if there:
                # Where the log-in's own page leads says little about where the person ended up.
                is_own = page == urldefrag(wall.url).url
                return here if is_own and not is_of_hosts(there, self._own_hosts(found)) else there
        return ""

    async def _guarded(self, found: SupervisedRun, browser: LiveBrowser, wall: ApprovalRequest) -> list[str]:
        """Return the pages of its own hosts before which a run's wall stands, the best evidence first.

        The run itself came from its start to the wall; a page that only the wall's address names may be open.
        """
        start = found.request.start_url if wall.step == 0 else ""
        hosts = [*self._own_hosts(found), browser_host(wall.url)]
        pages = [page for page in guarded_pages(wall.url, start) if is_of_hosts(page, hosts)]
        seen = (start, urldefrag(wall.url).url)
        return [
            page
            for page in pages
            if page in seen or await browser.is_behind_login(page, wall.url, OPEN_SECONDS)
        ]

    async def _login_of(
        self, found: SupervisedRun, wall: ApprovalRequest | None, there: str, *, wished: bool
    ) -> MadeLogin | None:
        own, browser = self._own_hosts(found), found.page.browser
        wall_host = [browser_host(wall.url)] if wall is not None else []
        site, hosts = found.request.site, (*own, *wall_host)
        if not is_of_hosts(there, own):
            site = self._core.workspace.site_table.site_of_host(browser_host(there))
            hosts = (*self._core.workspace.sites.get(site, ()), browser_host(there))
        if not site or browser is None:
            return None
        state = login_of_hosts(await browser.login_state(), hosts)
        if not state["cookies"] and not state["origins"]:
            return None
        return MadeLogin(
            run=found.run,
            run_site=found.request.site,
            login=login_name(found.request.site, found.request.storage_state),
            site=site,
            role=_role(found, site),
            hosts=hosts,
            wall=wall,
            state=state,
            wished=wished,
        )

    async def _kept(self, made: MadeLogin) -> MadeLogin:
        """Keep a log-in for later runs, where that is wanted and it is known whose it is."""
        role = made.role
        if settings.load().keep_logins == "off" or role is None:
            return made

        def keeping() -> str:
            keep_login_state(made.site, made.state, role, proven=not made.wished)
            return login_mark(saved_part(made))

        try:
            mark = await self._core.on_worker(keeping)
        except SiteloreError as error:
            return replace(made, problem=str(error))
        self._core.bus.publish(SitesChanged())
        kept = replace(made, kept=True, mark=mark, expires=time.monotonic() + MADE_SECONDS)
        if made.wall is not None:
            key = request_key(made.wall)
            self._made.pop(key, None)
            self._made[key] = replace(kept, state={})
            for old in list(self._made)[:-MAX_MADE]:
                del self._made[old]
            self._tried = {one for one in self._tried if one[0] in self._made and one[0] != key}
        return kept

    async def _give(self, found: SupervisedRun, request: ApprovalRequest, made: MadeLogin) -> bool:
        """Log a waiting run in, and let it go on if it no longer sees the log-in; return whether it does."""
        page = found.page
        async with page.logging_in:
            browser = page.browser
            if browser is None or not _waits(found, request):
                return False
            with found.control.driven():
                return await self._given(found, browser, request, made)

    async def _given(
        self, found: SupervisedRun, browser: LiveBrowser, request: ApprovalRequest, made: MadeLogin
    ) -> bool:
        words = f"the log-in that was made in run {made.run}"
        before: dict[str, list[Any]] | None = None
        approve = OperatorDecision(kind=DecisionKind.APPROVE)
        is_given = False
        try:
            async with asyncio.timeout(GIVE_SECONDS):
                before = login_of_hosts(await browser.login_state(), made.hosts)
                is_given = await self._opened(found, browser, request, made)
            if is_given:
                is_given = False  # unless the decision is made
                await self._approvals.decide(request.id, approve)
                is_given = True
        except (SiteloreError, TimeoutError) as error:
            log.info("run %s was not logged in: %s", found.run, error)
        if not is_given:
            if before is None or await self._put_back(found, browser, request, made, before):
                return False
            words += " did not work, and could not be taken out of the browser again"
        await self._approvals.note(found.run, request.step, OperatorAction.GOT_LOGIN, words, about=made.run)
        return is_given

    async def _put_back(
        self,
        found: SupervisedRun,
        browser: LiveBrowser,
        request: ApprovalRequest,
        made: MadeLogin,
        before: dict[str, list[Any]],
    ) -> bool:
        """Put back what a browser had before it was given a log-in; return whether it has that again."""
        try:
            async with asyncio.timeout(BACK_SECONDS):
                now = login_of_hosts(await browser.login_state(), made.hosts)
                await browser.put_back_login(now, before)
                if browser.address != request.url:
                    await browser.go(request.url)
        except (SiteloreError, TimeoutError) as error:
            log.info("run %s has a log-in that did not work: %s", found.run, error)
            return found.page.browser is not browser  # it is over
        return True

    def _heard(self, event: Event) -> None:
        """Give a run that comes to a wall the log-in that was made there, once; drop what was forgotten."""
        if isinstance(event, SitesChanged):
            self._made = {
                key: one for key, one in self._made.items() if saved_login(one.site, one.role or "")
            }
        if not isinstance(event, RequestChanged) or not is_login_wall(event.request):
            return
        key, found = request_key(event.request), self._fleet.find(event.request.run)
        made, mark = self._made.get(key), (key, event.request.run)
        if made is not None and time.monotonic() > made.expires:
            del self._made[key]
        elif (
            made is not None
            and found is not None
            and made.is_waited_for(event.request)
            and mark not in self._tried
        ):
            self._tried.add(mark)
            self._core.registry.hold(self._give_later(found, event.request, made))

    async def _give_later(self, found: SupervisedRun, request: ApprovalRequest, made: MadeLogin) -> None:
        for _ in range(WAIT_LOOKS):  # the run is about to wait
            if _waits(found, request):
                break
            await asyncio.sleep(WAIT_INTERVAL)
        state = await self._core.on_worker(state_to_give, made)
        if state is None:  # forgotten or changed meanwhile, perhaps by another process
            self._made.pop(request_key(request), None)
            return
        made = replace(made, state=state)
        if await self._give(found, request, made):
            shared = LoginShared(
                site=made.site, source=made.run, runs=(found.run,), words=shared_words(made, 1, 0)
            )
            self._core.bus.publish(shared)

    async def _opened(
        self, found: SupervisedRun, browser: LiveBrowser, request: ApprovalRequest, made: MadeLogin
    ) -> bool:
        """Put the log-in into a run's browser and open the page it wanted; return whether that asks for no log-in."""
        pages = await self._guarded(found, browser, request)
        if made.wished:
            pages.append(found.steps[-1].url if found.steps else found.request.start_url)
        await browser.add_login(made.state)
        for url in pages:
            if not _waits(found, request):
                return False
            seen = await browser.look_at(url)
            if seen is not None and (
                seen.challenge is not Challenge.LOGIN or wall_key(seen) in found.control.no_walls
            ):
                return _waits(found, request)
        return False

    async def _ask_elsewhere(self, made: MadeLogin) -> int:
        """Ask other processes to log their waiting runs in with what is kept; return how many runs can't be."""
        rows = [row for row in await self._fleet.live_runs() if self._fleet.find(row.run) is None]
        waiting = [row.run for row in rows if any(map(made.is_waited_for, row.needs))]
        if made.kept:
            for run in waiting:
                await self._fleet.forward_if_remote(run, TAKE_COMMAND, f"{made.run}\n{made.site}")
        return 0 if made.kept else len(waiting)

    async def _take(self, run: str, words: str) -> None:
        """Log a waiting run in with the log-in that another process has kept: its run and its site in two lines."""
        source, _, site = words.partition("\n")
        found = self._fleet.get_active(run)
        role = _role(found, site)
        path = saved_login(site, role) if role is not None else ""
        for request in [one for one in found.control.needs if is_login_wall(one)] if path else []:
            hosts = (*self._own_hosts(found), browser_host(request.url))
            state = login_of_hosts(await self._core.on_worker(read_login, path), hosts)
            login = login_name(found.request.site, found.request.storage_state)
            made = MadeLogin(
                run=source,
                run_site=found.request.site,
                login=login,
                site=site,
                hosts=hosts,
                state=state,
            )
            await self._give(found, request, made)

    async def _granted(self, run: str, _: str) -> None:
        await self.share_login(run)

    def _own_hosts(self, found: SupervisedRun) -> list[str]:
        request = found.request
        return [*self._core.workspace.sites.get(request.site, ()), browser_host(request.start_url)]


def _waits(found: SupervisedRun, request: ApprovalRequest) -> bool:
    """Whether a run still waits for the answer to a request, and nobody has its page."""
    waiting = any(one.id == request.id for one in found.control.needs)
    return waiting and found.control.state is RunState.WAITING and not found.page.taken_over


def _role(found: SupervisedRun, site: str) -> str | None:
    """Return the role that a run's log-in of a site is kept as; a role of the run's site is none of another's."""
    role = login_role(found.request.site, found.request.storage_state)
    return role if role is None or site == found.request.site else ""
