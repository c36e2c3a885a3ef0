"""A site that lies in memory, and a browser for it: links, menus that open on a click, and things that go wrong."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urljoin, urlsplit

from app.engine.api.graph_api import DepthRow
from app.engine.browser.driver import DriverFailure, DriverResult, PageLost
from app.engine.browser.locators import resolve
from app.engine.core.page_state import Challenge, Element, PageCapture, PageState
from app.engine.core.transition import Attempt, FrontierItem, Locator, Operation, Transition
from app.engine.graph.explore.exploration_store import GraphTransaction, StoredExploration
from app.engine.graph.rules.block_list import RuleResult

HOME = "http://paper.example/"


@dataclass(frozen=True)
class Thing:
    """An element: a link with ``href``; otherwise a button that shows or hides ``opens``, or goes to ``leads``.

    It is there only while ``within`` is open.
    """

    name: str
    href: str = ""
    opens: str = ""
    leads: str = ""
    within: str = ""
    role: str = ""
    states: tuple[str, ...] = ()
    form: str = ""
    submits: bool = False
    repeat: str = ""
    visible: bool = True
    says: str = ""
    by_pointer: bool = False
    """It opens while the pointer rests on it; a click shuts it again."""


@dataclass
class PaperSite:
    """Pages by path.  ``rules`` may answer an opening with trouble; every opening and every act is counted."""

    pages: Mapping[str, Sequence[Thing]]
    opened: Counter[str] = field(default_factory=Counter)
    acted: Counter[tuple[str, str]] = field(default_factory=Counter)
    trouble: Callable[[str], DriverResult | None] = lambda _: None
    look_trouble: Callable[[str], None] = lambda _: None
    logins: frozenset[str] = frozenset()
    redirects: dict[str, str] = field(default_factory=dict)
    reopened: int = 0
    stuck: Callable[[], bool] = lambda: False
    delay: Callable[[], float] = lambda: 0.0

    @property
    def loads(self) -> int:
        """Openings and acts together."""
        return self.opened.total() + self.acted.total()


class PaperDriver:
    """A browser page for a paper site."""

    def __init__(self, site: PaperSite) -> None:
        self.site = site
        self.url = "about:blank"
        self.open_now: set[str] = set()
        self._page = PageCapture(url=self.url)
        self._said: tuple[str, ...] = ()

    async def open(self, url: str) -> DriverResult:
        await asyncio.sleep(self.site.delay())
        path = _path(url)
        self.site.opened[path] += 1
        if (deed := self.site.trouble(path)) is not None:
            return deed
        path = self.site.redirects.get(path, path)
        self.url, self.open_now, self._said = urljoin(HOME, path), set(), ()
        return DriverResult(status=200 if path in self.site.pages else 404, seconds=0.1)

    async def act(self, operation: Operation, locator: Locator, value: str = "") -> DriverResult:
        await asyncio.sleep(self.site.delay())
        found = resolve(locator, self._page)
        if found.element is None:
            return DriverResult(trouble=DriverFailure.MISSING, why=found.why)
        thing = self._things()[found.element.index]
        self.site.acted[_path(self.url), thing.name] += 1
        self._said = (thing.says,) if thing.says else ()
        if thing.href or thing.leads:
            return replace(await self.open(urljoin(self.url, thing.href or thing.leads)), tier=found.tier)
        if thing.by_pointer:
            self.open_now = {*self.open_now, thing.opens} if operation is Operation.HOVER else self.open_now
        elif thing.opens and not self.site.stuck():
            self.open_now ^= {thing.opens}
        return DriverResult(tier=found.tier, seconds=0.1)

    async def look(self, *, picture: bool = True) -> PageCapture:
        path = _path(self.url)
        self.site.look_trouble(path)
        things = self._things()
        self._page = PageCapture(
            url=self.url,
            title=f"Page {path}",
            language="en",
            elements=tuple(_element(index, thing, self) for index, thing in enumerate(things)),
            text="\n".join(thing.name for thing in things),
            picture=b"\xff\xd8\xff" if picture else b"",
            alerts=self._said,
            challenge=Challenge.LOGIN if path in self.site.logins else Challenge.NONE,
        )
        return self._page

    async def reopen(self) -> None:
        self.site.reopened += 1
        self.url, self.open_now = "about:blank", set()

    def _things(self) -> list[Thing]:
        things = self.site.pages.get(_path(self.url), ())
        return [thing for thing in things if not thing.within or thing.within in self.open_now]


def _path(url: str) -> str:
    parts = urlsplit(url)
    if parts.netloc != urlsplit(HOME).netloc:
        return url
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _element(index: int, thing: Thing, driver: PaperDriver) -> Element:
    states = thing.states
    if thing.opens:
        states = (*states, "expanded" if thing.opens in driver.open_now else "collapsed")
    return Element(
        index=index,
        role=thing.role or ("link" if thing.href else "button"),
        name=thing.name,
        tag="a" if thing.href else "button",
        states=states,
        landmarks=("main",) if not thing.within else ("main", f"menu:{thing.within}"),
        href=urljoin(driver.url, thing.href) if thing.href else "",
        form=thing.form,
        submits=thing.submits,
        repeat=thing.repeat,
        css=f"#{thing.name}",
        visible=thing.visible,
    )


class PaperRecorder:
    """Keeps everything in memory; ``fails_at`` stops the process at that many stored entries, as a kill would."""

    def __init__(self, fails_at: int = 0) -> None:
        self.states: dict[str, PageState] = {}
        self.contents: dict[str, tuple[Element, ...]] = {}
        self.transitions: dict[str, Transition] = {}
        self.attempts: list[Attempt] = []
        self.items: dict[tuple[str, str, Operation, str], FrontierItem] = {}
        self.entries: list[GraphTransaction] = []
        self.number = 0
        self.home = self.ended = ""
        self.options: dict[str, object] = {}
        self.depths: tuple[DepthRow, ...] = ()
        self.fails_at = fails_at

    async def memory(self) -> StoredExploration:
        return StoredExploration(
            states=tuple(self.states.values()),
            transitions=tuple(self.transitions.values()),
            items=tuple(self.items.values()),
            exploration=self.number,
            home=self.home,
            ended=self.ended,
            options=self.options,
            depths=self.depths,
        )

    async def begin(self, home: str, options: dict[str, object], at: float) -> int:
        self.number += 1
        self.home, self.options, self.ended = home, options, ""
        self.items.clear()
        return self.number

    async def resume(self, exploration: int) -> None:
        self.ended = ""

    async def end(self, exploration: int, ended: str, at: float, depths: Sequence[DepthRow]) -> None:
        self.ended, self.depths = ended, tuple(depths)

    async def elements(self, page: str) -> tuple[Element, ...]:
        return self.contents.get(page, ())

    async def save(self, entry: GraphTransaction) -> None:
        await asyncio.sleep(0)
        if self.fails_at and len(self.entries) + 1 == self.fails_at:
            raise Killed
        self.entries.append(entry)
        for state, contents in entry.states:
            self.states[state.id] = state
            if contents is not None:
                self.contents[state.id] = contents.elements
        for transition, attempt in entry.transitions:
            known = self.transitions.setdefault(transition.id, transition)
            if attempt is not None:
                self.attempts.append(attempt)
                ok = attempt.arrival.ok
                self.transitions[transition.id] = replace(
                    known, attempts=known.attempts + 1, successes=known.successes + ok
                )
        for item in entry.items:
            self.items[item.page, item.element, item.operation, item.value] = item


class Killed(BaseException):
    """The process ends here."""


class NoRules:
    """Allows everything but elements called by one of these names."""

    def __init__(self, *blocked: str) -> None:
        self.blocked = blocked

    def verdict(self, element: Element, page_url: str, language: str = "") -> RuleResult:
        blocked = element.name in self.blocked
        return RuleResult(verdict="block", rule="named", why="by the test") if blocked else RuleResult()


class NoTime:
    """A clock that never makes anybody wait."""

    def __init__(self) -> None:
        self.at = 1_000.0

    def now(self) -> float:
        return self.at

    def tick(self) -> float:
        self.at += 0.001
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds
        await asyncio.sleep(0)


def lost(message: str = "the page crashed") -> PageLost:
    """The error a crashed page raises."""
    return PageLost(message)
