"""A log-in that a person made in one run: kept for its site, and given to the runs that wait for it.

- A log-in is shared by itself when a run that waited at a log-in is handed back and a page before which that log-in
  stood shows none any more: the page that the log-in's address names, the start page of a run that began with it, or
  its own address.  A page that was open to everybody proves nothing.  On a person's wish the page in front is believed.
- It is the log-in of the site where the person ended up: of the run's own site, even if the log-in was on another host
  (single sign-on), whose cookies then belong to it; of another site of the table if they stayed there; else of none.
- Runs wait for it that stopped at the same wall of the same site and asked for the same log-in (the site's usual one,
  or the same role or file), then or later.  One that asked to be logged out neither gives nor takes any.
- It is kept as the usual log-in or as the role's; one of a run that began with another file is given and not kept.
- It is kept before it is given.  A run goes on only when it no longer sees the log-in itself; otherwise its request
  stays open.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app import settings
from app.engine.agent.walls import wall_key
from app.engine.core.addresses import browser_host
from app.engine.core.events import Event, LoginShared, RequestChanged, SitesChanged
from app.engine.core.labels import state_label
from app.engine.core.login_state import guarded_pages, is_of_hosts, login_of_hosts
from app.engine.core.page_state import Challenge
from app.engine.core.request_groups import is_login_wall, request_key
from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    OperatorAction,
    OperatorDecision,
    RequestState,
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
from app.engine.services.supervision.supervised_run import SupervisedRun
from app.errors import Conflict, SiteloreError, StoreError

log = logging.getLogger(__name__)

PROOF_SECONDS = 10.0
"""Longest duration of the look at pages that prove a log-in, while the run is handed back."""
GIVE_SECONDS = 45.0
"""Longest duration of giving one run a log-in."""
WAIT_INTERVAL, WAIT_LOOKS = 0.05, 100
"""Seconds between two looks whether a run that has just asked waits, and how many there are."""
AT_ONCE = 4
"""Runs that are given a log-in at the same time."""

SHARE_COMMAND, TAKE_COMMAND = "share log-in", "take log-in"
"""Commands of another process: share a run's log-in; take the one that is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeLogin:
    """A log-in that a person made in a run.

    Attributes:
        run_site, login: the site of the run, and the log-in that it asked for.  wall: where it waited, ``None`` where
            it did not.
        site: whose log-in it is.  hosts: those it is for, globs included.
        state: cookies and local storage: secrets, never printed or stored elsewhere.
        kept: for later runs.  problem: why not, "" where it was not to be.
        wished: a person said that it is one.
    """

    run: str
    run_site: str
    login: str
    site: str
    hosts: tuple[str, ...]
    wall: ApprovalRequest | None = None
    state: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]], repr=False)
    kept: bool = False
    problem: str = ""
    wished: bool = False

    def is_waited_for(self, request: ApprovalRequest) -> bool:
        """Whether a request waits for this log-in."""
        if not is_login_wall(request) or request.state is not RequestState.OPEN or request.run == self.run:
            return False
        if self.wall is not None:
            return request_key(request) == request_key(self.wall)
        same = (request.site, request.login) == (self.run_site, self.login)
        return same and is_of_hosts(request.url, self.hosts)


class LoginSharing:
    """Keeps and gives log-ins."""

    def __init__(self, core: Core, approvals: ApprovalService, fleet: Fleet) -> None:
        self._core, self._approvals, self._fleet = core, approvals, fleet
        self._made: dict[str, MadeLogin] = {}
        """Log-ins that are kept, by the key of their wall, for runs that come to the wall a moment later."""
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
            return await self._kept(made) if made is not None else None
        except (SiteloreError, TimeoutError) as error:
            log.info("the log-in of run %s is not shared: %s", found.run, error)
            return None

    async def share(self, made: MadeLogin) -> LoginShared:
        """Give a log-in to the runs that wait for it, and say so."""
        turn = asyncio.Semaphore(AT_ONCE)

        async def give(found: SupervisedRun, request: ApprovalRequest) -> bool:
            self._tried.add((request_key(request), found.run))
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
        shared = LoginShared(site=made.site, source=made.run, runs=runs, words=_words(made, len(runs), left))
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
        hosts = [*self._own_hosts(found), browser_host(wall.url)]
        pages = _guarded(found, wall, hosts)
        if here.partition("#")[0] in pages and is_of_hosts(here, hosts):
            return here
        for page in pages:
            there = await browser.shows_no_login(page, PROOF_SECONDS) if browser is not None else ""
            if there:
                # Where the log-in's own page leads says little about where the person ended up.
                return there if page != pages[-1] or is_of_hosts(there, self._own_hosts(found)) else here
        return ""

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
            hosts=hosts,
            wall=wall,
            state=state,
            wished=wished,
        )

    async def _kept(self, made: MadeLogin) -> MadeLogin:
        """Keep a log-in for later runs, where that is wanted and it is known whose it is."""
        found = self._fleet.get(made.run)
        role = login_role(made.run_site, found.request.storage_state)
        if settings.load().keep_logins == "off" or role is None:
            return made
        try:
            await self._core.on_worker(keep_login_state, made.site, made.state, role)
        except StoreError as error:
            return replace(made, problem=str(error))
        self._core.bus.publish(SitesChanged())
        made = replace(made, kept=True)
        if made.wall is not None:
            key = request_key(made.wall)
            self._made[key] = made
            self._tried = {one for one in self._tried if one[0] != key}
        return made

    async def _give(self, found: SupervisedRun, request: ApprovalRequest, made: MadeLogin) -> bool:
        """Log a waiting run in, and let it go on if it no longer sees the log-in; return whether it does."""
        page = found.page
        async with page.logging_in:
            try:
                if not _waits(found, request):
                    return False
                async with asyncio.timeout(GIVE_SECONDS):
                    if not await self._opened(found, request, made):
                        return False
                words = f"the log-in that was made in run {made.run}"
                await self._approvals.note(
                    found.run, request.step, OperatorAction.GOT_LOGIN, words, about=made.run
                )
                await self._approvals.decide(request.id, OperatorDecision(kind=DecisionKind.APPROVE))
            except (SiteloreError, TimeoutError) as error:
                log.info("run %s was not logged in: %s", found.run, error)
                return False
            return True

    def _heard(self, event: Event) -> None:
        """Give a run that comes to a wall the log-in that was made there, once."""
        if not isinstance(event, RequestChanged) or not is_login_wall(event.request):
            return
        key, found = request_key(event.request), self._fleet.find(event.request.run)
        made, mark = self._made.get(key), (key, event.request.run)
        if (
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
        if await self._give(found, request, made):
            shared = LoginShared(site=made.site, source=made.run, runs=(found.run,), words=_words(made, 1, 0))
            self._core.bus.publish(shared)

    async def _opened(self, found: SupervisedRun, request: ApprovalRequest, made: MadeLogin) -> bool:
        """Put the log-in into a run's browser and open the page it wanted; return whether that asks for no log-in."""
        browser = found.page.browser
        if browser is None:
            return False
        await browser.add_login(made.state)
        hosts = [*self._own_hosts(found), browser_host(request.url)]
        for url in _guarded(found, request, hosts):
            seen = await browser.look_at(url)
            if seen is not None and (
                seen.challenge is not Challenge.LOGIN or wall_key(seen) in found.control.no_walls
            ):
                return True
        if not made.wished:
            return False
        before = found.steps[-1].url if found.steps else found.request.start_url
        return not await browser.go(before)

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
        role = login_role(found.request.site, found.request.storage_state)
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


def _guarded(found: SupervisedRun, wall: ApprovalRequest, hosts: Sequence[str]) -> list[str]:
    """Return the pages before which a run's wall stands, on these hosts only."""
    start = found.request.start_url if wall.step == 0 else ""
    return [page for page in guarded_pages(wall.url, start) if is_of_hosts(page, hosts)]


def _waits(found: SupervisedRun, request: ApprovalRequest) -> bool:
    """Whether a run still waits for the answer to a request, and nobody has its page."""
    waiting = any(one.id == request.id for one in found.control.needs)
    return waiting and found.control.state is RunState.WAITING and not found.page.taken_over


def _words(made: MadeLogin, runs: int, left: int) -> str:
    kept = (
        "the log-in is kept for later runs"
        if made.kept
        else f"the log-in could not be kept ({made.problem})"
        if made.problem
        else ""
    )
    went_on = f"{runs} run{' goes' if runs == 1 else 's go'} on" if runs else ""
    parts = ", and ".join(filter(None, (went_on, kept))) or "no run waits for it, and it is not kept"
    still = f" {left} run{' still waits' if left == 1 else 's still wait'}." if left else ""
    return f"Logged in to {made.site}: {parts}.{still}"
