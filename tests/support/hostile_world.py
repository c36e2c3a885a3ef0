"""An engine whose runs share a browser, a hostile site, and another site that no run may be at."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from playwright.async_api import Browser

from app.engine.browser import session
from app.engine.core.actions.types import Goto, NewTab
from app.engine.engine import Engine
from tests.support.agent_bench import AgentBench, Move
from tests.support.bad_site import BadSite
from tests.support.hostile_site import HostileSite


@dataclass(frozen=True)
class World:
    """All of it."""

    desk: AgentBench
    site: HostileSite
    other: BadSite
    browser: Browser

    def at(self, *moves: Move) -> list[Move]:
        """Commands with an address of a page (``/page``) or of the other site (``away/page``) made whole."""
        return [self._whole(move) for move in moves]

    def _whole(self, move: Move) -> Move:
        if not isinstance(move, Goto | NewTab) or "://" in move.url:
            return move
        url = move.url
        whole = (
            f"{self.other.url}/{url.removeprefix('away/')}"
            if url.startswith("away/")
            else self.site.url + url
        )
        return type(move)(whole)


@asynccontextmanager
async def hostile_world(engine: Engine, browser: Browser, patch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    """A world for one test; pages may open few windows there, for each takes its time."""
    desk = AgentBench(engine, patch)
    desk.share(browser)
    patch.setattr(session, "MAX_TABS", 4)
    async with await HostileSite.start() as site, await BadSite.start() as other:
        site.other = other.url
        yield World(desk, site, other, browser)
