"""Hands that outlive their browser: brought back where the run was, nothing done twice, a person asked in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.engine.agent.memory.ledger_store import LedgerStore
from app.engine.agent.recovery import MAX_RECOVERIES_IN_A_ROW, RecoveringExecutor
from app.engine.agent.run_control import DecisionStale, RunControl
from app.engine.core.action_result import ActionResult, Cause, Effect, refused
from app.engine.core.actions.types import Action, Click, Goto
from app.engine.core.page_state import PageCapture
from app.engine.core.supervision import DecisionKind, RunState
from app.engine.core.trajectory import Tab
from app.engine.core.write_permit import WritePermit
from app.errors import SiteloreError, StoreError
from tests.support.fake_executor import HOME, page_of

CART = f"{HOME}cart"
PAGES = {
    HOME: page_of(HOME, "Cart->" + CART, title="Home"),
    CART: page_of(CART, "Pay", "Back->" + HOME, title="Cart"),
    "about:blank": PageCapture(url="about:blank"),
}


@dataclass
class Mortal:
    """A browser and the hands on it.  ``dies_at`` are deeds (from 0) that it does not survive."""

    pages: dict[str, PageCapture] = field(default_factory=lambda: dict(PAGES))
    broken: str = ""
    replaced_for: str = ""
    dying: str = ""
    """The fault that is known as soon as another tab is asked for."""
    address: str = "about:blank"
    tabs_open: int = 1
    dies_at: frozenset[int] = frozenset()
    fails: int = 0
    hangs: bool = False
    revived: list[bool] = field(default_factory=list[bool])
    remembered: int = 0
    done: list[Action] = field(default_factory=list[Action])
    lands_at: dict[str, str] = field(default_factory=dict[str, str])
    gives_up: bool = False
    down: bool = False
    hangs_at: str = "nowhere"
    dies_going: int = 0
    went: list[str] = field(default_factory=list[str])

    @property
    def open_tabs(self) -> int:
        return self.tabs_open

    async def remember(self) -> None:
        self.remembered += 1

    async def relaunch(self, *, anew: bool = False) -> bool:
        if self.fails:
            self.fails -= 1
            raise SiteloreError("no browser could be started")
        self.revived.append(anew)
        anew = anew or bool(self.dying)
        self.replaced_for, self.dying = self.dying or self.broken, ""
        self.broken, self.address, self.hangs = "", "about:blank", False
        return anew

    async def go(self, url: str) -> str:
        self.went.append(url)
        if len(self.went) <= self.dies_going:
            self.die()
        if self.broken or self.down:
            return self.broken or f"{url} does not answer"
        self.address = self.lands_at.get(url, url)
        return ""

    async def look(self, *, picture: bool = True) -> PageCapture:
        if self.hangs:
            await asyncio.Event().wait()
        if self.broken or self.address == self.hangs_at:
            raise SiteloreError(self.broken or f"{self.address} is busy")
        if self.gives_up:
            self.gives_up, self.address = False, "about:blank"
            return PageCapture(
                url="about:blank", notes=("it was busy; an empty tab was opened in its place",)
            )
        return self.pages[self.address]

    async def do(self, action: Action, permit: WritePermit | None = None) -> ActionResult:
        self.done.append(action)
        if len(self.done) - 1 in self.dies_at:
            self.die()
        if self.broken:
            return refused(Cause.PAGE_LOST, self.broken)
        if isinstance(action, Goto):
            self.address = self.lands_at.get(action.url, action.url)
            return ActionResult(success=True, effect=Effect.NAVIGATED, status=200)
        return ActionResult(success=True, effect=Effect.CHANGED)

    async def tabs(self) -> tuple[tuple[Tab, ...], int]:
        return (Tab(url=self.address, title=""),), 0

    def die(self) -> None:
        self.broken = "the browser was closed or crashed"


@dataclass
class Held(RunControl):
    """A control whose person decides at once."""

    verbs: list[DecisionKind | None] = field(default_factory=list[DecisionKind | None])
    asked: list[str] = field(default_factory=list[str])
    states: list[RunState] = field(default_factory=list[RunState])

    def __post_init__(self) -> None:
        RunControl.__init__(self, "run", changed=lambda: self.states.append(self.state))

    async def ask_about_trouble(
        self, what: str, why: str = "", mended: Callable[..., object] | None = None
    ) -> DecisionKind | None:
        self.asked.append(f"{what} {why}")
        return self.verbs.pop(0) if self.verbs else None


@dataclass
class Bench:
    mortal: Mortal
    control: Held
    hands: RecoveringExecutor
    book: LedgerStore


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    mortal, control = Mortal(), Held()
    await control.begin(0)
    with LedgerStore.open(tmp_path) as book:
        hands = RecoveringExecutor(mortal, mortal, control, home=HOME, book=book)
        await hands.do(Goto(CART))
        await hands.look()
        yield Bench(mortal, control, hands, book)


async def test_a_dead_browser_is_opened_again_where_the_run_was_and_the_agent_is_told(bench: Bench):
    bench.mortal.die()
    page = await bench.hands.look()
    assert page.url == CART
    told = f"the browser was closed or crashed; another tab was opened at {CART}, where the run was"
    assert page.notes == (told,)
    assert told in str(bench.book.events[-1])
    assert RunState.RECOVERING in bench.control.states
    assert bench.control.state is RunState.RUNNING
    assert (await bench.hands.look()).notes == ()


async def test_what_was_in_flight_is_not_done_twice(bench: Bench):
    bench.mortal.dies_at = frozenset({1})
    result = await bench.hands.do(Click(0))
    assert (result.success, result.cause) == (False, Cause.PAGE_LOST)
    page = await bench.hands.look()
    assert page.url == CART
    assert (bench.mortal.done, bench.mortal.went) == ([Goto(CART), Click(0)], [CART])


async def test_what_was_decided_about_a_page_that_is_gone_is_not_done_on_the_new_one(bench: Bench):
    bench.mortal.die()
    result = await bench.hands.do(Click(0))
    assert result.cause is Cause.PAGE_LOST
    assert result.why == "not done: the browser was closed or crashed"
    assert Click(0) not in bench.mortal.done


async def test_an_address_is_opened_in_the_new_browser(bench: Bench):
    bench.mortal.die()
    result = await bench.hands.do(Goto(HOME))
    assert result.success
    assert bench.mortal.done[1:] == [Goto(HOME)]


async def test_an_address_that_kills_the_browser_is_asked_for_once_more_and_then_told(bench: Bench):
    bench.mortal.dies_at = frozenset({1})
    assert (await bench.hands.do(Goto(HOME))).success
    bench.mortal.dies_at = frozenset({3, 4})
    result = await bench.hands.do(Goto(HOME))
    assert (result.cause, len(bench.mortal.done)) == (Cause.PAGE_LOST, 5)


async def test_a_run_that_is_to_end_opens_no_browser_for_its_last_picture(bench: Bench):
    bench.control.stop()
    bench.mortal.die()
    with pytest.raises(SiteloreError, match="closed or crashed"):
        await bench.hands.look()
    assert bench.mortal.revived == []


async def test_a_browser_that_dies_while_the_agent_thinks_makes_it_decide_anew(bench: Bench):
    mark = bench.control.page_mark
    bench.mortal.die()
    assert await bench.hands.recover()
    assert bench.mortal.address == CART
    assert bench.control.page_mark != mark


async def test_mending_what_is_well_does_nothing(bench: Bench):
    mark = bench.control.page_mark
    assert await bench.hands.recover()
    assert (bench.mortal.revived, bench.control.page_mark) == ([], mark)


async def test_a_suspected_browser_is_ended_though_it_says_that_it_lives(bench: Bench):
    bench.hands.mark_hung("the page has not answered for 25 s")
    page = await bench.hands.look()
    assert bench.mortal.revived == [True]
    assert page.notes[0].startswith("the page has not answered for 25 s; another browser was opened at")


async def test_a_look_that_never_ends_is_ended(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.engine.agent.recovery.LOOK_TIMEOUT", 0.05)
    bench.mortal.hangs = True
    page = await bench.hands.look()
    assert (page.url, bench.mortal.revived) == (CART, [True])


async def test_a_page_given_up_for_an_empty_tab_is_goneback_to(bench: Bench):
    bench.mortal.gives_up = True
    assert (await bench.hands.look()).url == CART


async def test_where_the_address_brings_another_state_the_map_is_asked(bench: Bench):
    asked: list[tuple[str, str]] = []

    async def back_to(state: str, url: str) -> bool:
        asked.append((state, url))
        bench.mortal.address = CART
        return True

    bench.hands.return_to = back_to
    bench.mortal.lands_at[CART] = HOME
    bench.mortal.die()
    page = await bench.hands.look()
    assert [url for _, url in asked] == [CART]
    assert page.url == CART
    assert "navigated by the map" in page.notes[0]


@pytest.mark.parametrize("error", [SiteloreError("the only way may change something"), None])
async def test_where_the_map_has_no_way_it_is_told_that_the_page_is_another(
    bench: Bench, error: SiteloreError | None
):
    async def back_to(state: str, url: str) -> bool:
        if error is not None:
            raise error
        return False

    bench.hands.return_to = back_to
    bench.mortal.lands_at[CART] = HOME
    bench.mortal.die()
    page = await bench.hands.look()
    assert page.url == HOME
    assert ("page there is another than before" if error is None else str(error)) in page.notes[0]


async def test_a_site_that_does_not_answer_leaves_an_empty_tab_and_says_why(bench: Bench):
    bench.mortal.down = True
    bench.mortal.die()
    page = await bench.hands.look()
    assert page.url == "about:blank"
    assert "in its place, but" in page.notes[0]
    assert "does not answer" in page.notes[0]


async def test_a_page_that_is_lost_again_and_again_is_left_for_the_first_page_of_the_run(bench: Bench):
    bench.mortal.hangs_at = CART
    bench.mortal.pages[HOME] = page_of(HOME, "Cart")
    page = await bench.hands.look()
    assert page.url == HOME
    assert bench.mortal.went == [CART, CART, HOME]
    assert "was lost repeatedly" in page.notes[-1]
    assert bench.control.asked == []


async def test_one_lost_before_its_first_look_is_back_where_it_was_sent(bench: Bench):
    hands = RecoveringExecutor(bench.mortal, bench.mortal, bench.control, home=HOME)
    await hands.do(Goto(HOME))
    bench.mortal.die()
    page = await hands.look()
    assert (page.url, page.notes[0].endswith("where the run was")) == (HOME, True)


async def test_tabs_that_are_gone_are_told(bench: Bench):
    bench.mortal.tabs_open = 3
    await bench.hands.look()
    bench.mortal.die()
    assert (await bench.hands.look()).notes[0].endswith("; 2 other tabs are lost")


async def test_an_empty_tab_the_agent_opened_itself_is_left_as_it_is(bench: Bench):
    bench.mortal.address = "about:blank"
    bench.mortal.pages["about:blank"] = PageCapture(url="about:blank", notes=("it has no picture",))
    assert (await bench.hands.look()).url == "about:blank"
    assert bench.mortal.revived == []


async def test_one_that_can_not_be_started_at_first_is_tried_again(bench: Bench):
    bench.mortal.fails = 2
    bench.mortal.die()
    assert (await bench.hands.look()).url == CART
    assert bench.control.asked == []


async def test_after_three_in_a_row_a_person_is_asked_and_may_have_it_tried_again(bench: Bench):
    bench.control.verbs = [DecisionKind.RETRY]
    bench.mortal.fails = MAX_RECOVERIES_IN_A_ROW
    bench.mortal.die()
    assert (await bench.hands.look()).url == CART
    assert len(bench.control.asked) == 1
    assert "3 times in a row" in bench.control.asked[0]
    assert "no browser could be started" in bench.control.asked[0]


@pytest.mark.parametrize("verb", [DecisionKind.DENY, None])
async def test_where_a_person_gives_up_or_nobody_is_there_the_run_is_told_why(
    bench: Bench, verb: DecisionKind | None
):
    bench.control.verbs = [verb]
    bench.mortal.fails = 99
    bench.mortal.die()
    with pytest.raises(SiteloreError, match="no browser could be started"):
        await bench.hands.look()
    result = await bench.hands.do(Goto(CART))
    assert result.cause is Cause.PAGE_LOST
    assert len(bench.control.asked) == 1


async def test_the_watchdog_never_asks_in_the_loops_place(bench: Bench):
    bench.mortal.fails = 99
    bench.mortal.die()
    assert not await bench.hands.recover()
    assert bench.control.asked == []


async def test_a_step_that_goes_well_begins_the_count_anew(bench: Bench):
    for _ in range(3 * MAX_RECOVERIES_IN_A_ROW):
        bench.mortal.die()
        await bench.hands.look()
        assert (await bench.hands.do(Click(0))).success
    assert bench.control.asked == []


async def test_a_page_that_always_kills_its_browser_comes_to_a_person(bench: Bench):
    bench.mortal.dies_going = 99
    bench.mortal.die()
    with pytest.raises(SiteloreError):
        await bench.hands.look()
    assert len(bench.control.asked) == 1
    assert len(bench.mortal.revived) == MAX_RECOVERIES_IN_A_ROW


async def test_while_nothing_can_be_written_an_action_waits(bench: Bench):
    bench.hands.block_actions("the disk is full")
    bench.control.verbs = [DecisionKind.RETRY, DecisionKind.RETRY]
    asked = bench.control.ask_about_trouble

    async def trouble(
        what: str, why: str = "", mended: Callable[..., object] | None = None
    ) -> DecisionKind | None:
        if len(bench.control.asked) == 1:
            bench.hands.block_actions("")
        return await asked(what, why)

    bench.control.ask_about_trouble = trouble  # pyright: ignore[reportAttributeAccessIssue]
    bench.control.approvals = object()  # pyright: ignore[reportAttributeAccessIssue]
    assert (await bench.hands.do(Click(0))).success
    assert len(bench.control.asked) == 2


async def test_a_run_that_was_held_while_it_waited_for_the_disk_decides_anew(bench: Bench):
    bench.hands.block_actions("the disk is full")

    async def trouble(
        what: str, why: str = "", mended: Callable[..., object] | None = None
    ) -> DecisionKind | None:
        bench.hands.block_actions("")
        bench.control.pause()
        asyncio.get_running_loop().call_later(0.02, bench.control.resume)
        return DecisionKind.RETRY

    bench.control.ask_about_trouble = trouble  # pyright: ignore[reportAttributeAccessIssue]
    bench.control.approvals = object()  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(DecisionStale):
        await bench.hands.do(Click(0))
    assert bench.mortal.done == [Goto(CART)]


async def test_a_person_may_end_a_run_that_can_not_be_written_down(bench: Bench):
    bench.hands.block_actions("the disk is full")
    bench.control.verbs = [DecisionKind.DENY]
    bench.control.approvals = object()  # pyright: ignore[reportAttributeAccessIssue]
    result = await bench.hands.do(Click(0))
    assert (result.cause, bench.control.stopping) == (Cause.PERSON, True)
    assert bench.mortal.done == [Goto(CART)]


async def test_a_ledger_that_can_not_be_written_keeps_nothing_from_being_mended(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise StoreError("there is no space")

    monkeypatch.setattr(bench.book, "write", full)
    bench.mortal.die()
    assert (await bench.hands.look()).url == CART


async def test_where_a_persons_hands_brought_the_page_is_where_it_is_brought_back(bench: Bench):
    bench.hands.note_address(HOME)
    bench.mortal.die()
    assert (await bench.hands.look()).url == HOME


async def test_secrets_in_the_address_are_not_told(bench: Bench):
    secret = f"{CART}?token=abcdefghijklmnop1234567890"
    bench.mortal.pages[secret] = page_of(secret, "Pay")
    await bench.hands.do(Goto(secret))
    await bench.hands.look()
    bench.mortal.die()
    page = await bench.hands.look()
    assert page.url == secret
    assert "abcdefghijklmnop" not in page.notes[0]


async def test_the_watchdog_and_the_loop_mend_it_once_between_them(bench: Bench):
    bench.mortal.die()
    page, mended = await asyncio.gather(bench.hands.look(), bench.hands.recover())
    assert (page.url, mended, len(bench.mortal.revived)) == (CART, True, 1)


async def test_a_browser_that_closes_its_pages_before_it_is_gone_is_named_as_the_fault(bench: Bench):
    await bench.hands.look()
    bench.mortal.broken, bench.mortal.dying = "the page closed itself", "the browser was closed or crashed"
    page = await bench.hands.look()
    assert page.notes[0].startswith("the browser was closed or crashed; another browser was opened at")


async def test_a_page_that_is_lost_alone_is_named_as_the_fault(bench: Bench):
    await bench.hands.look()
    bench.mortal.broken = "the page closed itself"
    page = await bench.hands.look()
    assert page.notes[0].startswith("the page closed itself; another tab was opened at")


async def test_mending_that_is_cut_short_is_taken_up_again(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    started = asyncio.Event()
    revive = bench.mortal.relaunch

    async def slowly(*, anew: bool = False) -> bool:
        started.set()
        await asyncio.Event().wait()
        return anew

    monkeypatch.setattr(bench.mortal, "relaunch", slowly)
    bench.hands.mark_hung("it hangs")
    looking = asyncio.ensure_future(bench.hands.look())
    await started.wait()
    looking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await looking
    monkeypatch.setattr(bench.mortal, "relaunch", revive)
    assert (await bench.hands.look()).url == CART
    assert bench.mortal.revived == [True]
    assert bench.control.state is RunState.RUNNING
