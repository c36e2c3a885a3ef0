"""Progress of an exploration: a pause holds, and a resumed one begins with its stored counts."""

from __future__ import annotations

from app.engine.core.events import ExplorationChanged
from app.engine.core.page_state import PageKeys, PageState
from app.engine.core.transition import FrontierItem, FrontierStatus, Locator, Operation
from app.engine.graph.explore.exploration_store import StoredExploration
from app.engine.graph.explore.progress import Progress
from app.engine.graph.explore.robots import RobotsFile
from tests.support.explore_paper_site import addresses, explore
from tests.support.paper_site import PaperSite, Thing


class StillClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds

    def tick(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds


def state(number: int, gone_at: float = 0.0) -> PageState:
    keys = PageKeys(url=f"/{number}", template="/{n}", structure="s", skeleton="k")
    return PageState(id=f"state-{number}", keys=keys, url=f"http://a.example/{number}", gone_at=gone_at)


def item(status: FrontierStatus = FrontierStatus.WAITING) -> FrontierItem:
    locator = Locator(role="link", name="Cart")
    return FrontierItem(
        page="state-1", element="e", operation=Operation.CLICK, locator=locator, status=status
    )


def test_a_step_that_ends_after_the_pause_does_not_say_that_it_runs() -> None:
    told: list[ExplorationChanged] = []
    progress = Progress("a", StillClock(), told.append)
    progress.begin(())
    progress.waiting = 2
    progress.tries(item(), state(1))
    progress.pause()
    progress.closed(item(FrontierStatus.TRIED), 1)
    assert [event.state for event in told] == ["running", "paused", "paused"]
    progress.resume()
    assert told[-1].state == "running"
    assert told[-1].tried == 1


def test_one_that_is_taken_up_begins_with_the_states_that_stand() -> None:
    told: list[ExplorationChanged] = []
    progress = Progress("a", StillClock(), told.append)
    states = (state(1), state(2), state(3, gone_at=5.0))
    progress.restore(StoredExploration(states=states, items=(item(), item(FrontierStatus.TRIED))))
    progress.tries(item(), state(1))
    assert (told[-1].states, told[-1].frontier, told[-1].tried) == (2, 1, 1)


async def test_what_robots_txt_kept_out_is_told_with_addresses_and_one_who_asks_explores_it() -> None:
    robots = RobotsFile.parse("User-agent: *\nDisallow: /private\n")
    pages = {
        "/": [Thing("Open", "/open"), *(Thing(f"P{n}", f"/private/p{n}") for n in range(7))],
        "/open": [],
        **{f"/private/p{n}": [] for n in range(7)},
    }
    report, store = await explore(PaperSite(pages), robots=robots)
    assert report.barred == tuple(f"/private/p{n}" for n in range(7))
    assert report.robots == (
        "forbids /private; kept out: /private/p0, /private/p1, /private/p2, /private/p3, /private/p4 and 2 more"
    )
    assert addresses(store) == {"/", "/open"}

    report, store = await explore(PaperSite(pages), robots=robots, obey_robots=False)
    assert (report.barred, report.robots) == ((), "ignored, as asked for; it forbids /private")
    assert addresses(store) == set(pages)
    assert store.options["obey_robots"] is False
