"""A kept log-in and a waiting run (``LoginSharing``): held meanwhile, decided once, taken out where it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app import settings
from app.engine.agent.run_control import RunControl
from app.engine.core.events import RequestChanged, SitesChanged
from app.engine.core.page_state import Challenge
from app.engine.core.request_groups import request_key
from app.engine.core.supervision import ApprovalRequest, Need, OperatorAction, RunState
from app.engine.services.site_logins import forget_login, keep_login_state, login_path, saved_login
from app.engine.services.supervision import login_sharing
from app.engine.services.supervision.login_sharing import LoginSharing
from app.engine.services.supervision.made_login import MadeLogin
from app.errors import Conflict, SiteloreError

HOME = "http://shop.test/"
ORDERS = "http://shop.test/orders"
LOGIN = "http://shop.test/login?next=/orders"
SECRET = "very-secret"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "logins"
    made.mkdir(mode=0o700)
    monkeypatch.setattr(settings, "logins_dir", lambda: made)
    monkeypatch.setattr(login_sharing, "WAIT_INTERVAL", 0.0)
    return made


def state(value: str = SECRET, name: str = "sid") -> dict[str, list[Any]]:
    cookie = {"name": name, "value": value, "domain": "shop.test", "path": "/"}
    return {"cookies": [cookie], "origins": []}


class Browser:
    """A browser that is logged in once it has the cookie; ``open_pages`` never ask for a log-in."""

    def __init__(self, *open_pages: str, now: dict[str, list[Any]] | None = None) -> None:
        self.now, self.open_pages = now or state("old"), (HOME, *open_pages)
        self.looked: list[str] = []
        self.on_look: Callable[[], None] = lambda: None
        self.works = self.gives_back = True
        self.address = LOGIN

    async def login_state(self) -> dict[str, list[Any]]:
        return self.now

    async def add_login(self, added: dict[str, list[Any]]) -> None:
        self.now = added

    async def put_back_login(self, _: object, before: dict[str, list[Any]]) -> None:
        if not self.gives_back:
            raise SiteloreError("no answer")
        self.now = before

    async def go(self, url: str) -> str:
        self.address = url
        return ""

    async def is_behind_login(self, url: str, wall: str, seconds: float) -> bool:
        return url not in self.open_pages

    async def shows_no_login(self, url: str, seconds: float) -> str:
        return url if url in self.open_pages or self.is_logged_in else ""

    async def look_at(self, url: str) -> SimpleNamespace:
        self.looked.append(url)
        self.address = url
        self.on_look()
        await asyncio.sleep(0)
        asks = url not in self.open_pages and not (self.is_logged_in and self.works)
        return SimpleNamespace(
            challenge=Challenge.LOGIN if asks else Challenge.NONE,
            url=url,
            elements=(),
            headings=(),
            title="",
            text="",
        )

    @property
    def is_logged_in(self) -> bool:
        return any(one["value"].startswith(SECRET) for one in self.now["cookies"])


class Approvals:
    def __init__(self) -> None:
        self.done: list[tuple[str, str]] = []
        self.problem: SiteloreError | None = None

    async def decide(self, request: str, _: object) -> None:
        if self.problem is not None:
            raise self.problem
        self.done.append(("decided", request))

    async def note(
        self, run: str, step: int, action: OperatorAction, words: str = "", about: str = ""
    ) -> None:
        self.done.append((action.value, words))


class Bench:
    """Runs at one wall, and the sharing of log-ins between them."""

    def __init__(self) -> None:
        self.runs: dict[str, Any] = {}
        self.approvals, self.events, self.tasks = Approvals(), list[object](), list[asyncio.Task[None]]()
        core = SimpleNamespace(
            bus=SimpleNamespace(subscribe=lambda _: None, publish=self.events.append),
            registry=SimpleNamespace(hold=lambda work: self.tasks.append(asyncio.ensure_future(work))),
            on_worker=self._on_worker,
            workspace=SimpleNamespace(
                sites={"shop": ("shop.test",), "forge": ("forge.test",)},
                site_table=SimpleNamespace(site_of_host=lambda host: host.partition(".")[0]),
            ),
        )
        fleet = SimpleNamespace(
            remote_handlers={}, get=self.runs.__getitem__, find=self.runs.get, all=self.runs.values()
        )
        self.sharing = LoginSharing(core, self.approvals, fleet)  # type: ignore[arg-type]

    async def _on_worker(self, work: Callable[..., Any], *args: Any, **more: Any) -> Any:
        return work(*args, **more)

    def run(self, name: str, browser: Browser, *, wall: str = LOGIN, step: int = 0, file: str = "") -> Any:
        control = RunControl(name, site="shop")
        control._begun = True
        request = ApprovalRequest(
            id=f"req-{name}", run=name, need=Need.WALL, step=step, question="", site="shop",
            wall="log-in shop.test/login", url=wall,
        )  # fmt: skip
        control._needs[request.id] = request
        control._shift()
        assert control.state is RunState.WAITING
        page = SimpleNamespace(
            browser=browser, logging_in=asyncio.Lock(), taken_over=False, login_before=state("old"),
            path=SimpleNamespace(final=None),
        )  # fmt: skip
        asked = SimpleNamespace(site="shop", start_url=ORDERS, storage_state=file)
        self.runs[name] = SimpleNamespace(run=name, control=control, page=page, request=asked, steps=())
        return self.runs[name]

    def wall(self, name: str) -> ApprovalRequest:
        (found,) = self.runs[name].control.needs
        return found

    async def give(self, name: str) -> bool:
        made = MadeLogin(
            run="r0", run_site="shop", login="", site="shop", hosts=("shop.test",), state=state()
        )  # fmt: skip
        return await self.sharing._give(self.runs[name], self.wall(name), made)

    async def made(self, name: str = "r1", here: str = ORDERS, value: str = SECRET) -> MadeLogin | None:
        """The log-in that a person made in a run."""
        found = self.runs[name]
        found.page.browser.now = state(value)
        found.page.path.final = SimpleNamespace(challenge=Challenge.NONE, url=here)
        return await self.sharing.made_at(found, self.wall(name))

    async def comes(self, name: str) -> bool:
        """A run comes to the wall; whether it is given the log-in."""
        self.sharing._heard(RequestChanged(request=self.wall(name)))
        await asyncio.gather(*self.tasks)
        return self.runs[name].page.browser.is_logged_in


@pytest.fixture
def bench() -> Bench:
    return Bench()


# proof


async def test_a_page_that_is_open_to_everybody_is_no_proof(bench: Bench) -> None:
    keep_login_state("shop", state("good"))
    bench.run("r1", Browser(), wall="http://shop.test/login?next=/", step=1)
    assert await bench.made(here=HOME, value="of-nobody") is None
    assert "good" in login_path("shop").read_text()


async def test_the_page_that_a_run_was_led_away_from_is_a_proof(bench: Bench) -> None:
    bench.run("r1", Browser(), wall="http://shop.test/login?next=/")
    made = await bench.made()
    assert made is not None
    assert made.kept


async def test_a_browser_that_has_got_nothing_since_it_was_taken_over_made_no_log_in(bench: Bench) -> None:
    run = bench.run("r1", Browser())
    run.page.login_before = state()
    assert await bench.made() is None
    run.page.login_before = None
    assert await bench.made() is None, "it is not known"
    assert saved_login("shop") == ""


async def test_a_waiting_run_is_not_let_on_by_an_open_page(bench: Bench) -> None:
    browser = Browser()
    browser.works = False
    bench.run("r2", browser, wall="http://shop.test/login?next=/", step=1)
    assert not await bench.give("r2")
    assert HOME not in browser.looked
    assert bench.approvals.done == []


# giving


async def test_a_run_is_held_while_it_is_given_a_log_in(bench: Bench) -> None:
    browser = Browser()
    control = bench.run("r2", browser).control
    gates: list[asyncio.Task[bool]] = []

    def decided_elsewhere() -> None:
        gates.append(asyncio.ensure_future(control.wait_until_released()))

    browser.on_look = decided_elsewhere
    assert await bench.give("r2")
    (gate,) = gates
    assert await asyncio.wait_for(gate, 5), "it was held"
    assert not await control.wait_until_released(), "and is not any more"


async def test_a_request_that_is_decided_meanwhile_ends_it_and_the_browser_has_again_what_it_had(
    bench: Bench,
) -> None:
    browser = Browser()
    browser.works = False
    control = bench.run("r2", browser).control
    browser.on_look = control._needs.clear
    assert not await bench.give("r2")
    assert browser.looked == [ORDERS], "the page is not driven on"
    assert browser.now == state("old")
    assert bench.approvals.done == []


async def test_a_log_in_that_works_but_was_decided_elsewhere_is_not_said_to_be_given(bench: Bench) -> None:
    browser = Browser()
    bench.run("r2", browser)
    bench.approvals.problem = Conflict("decided already")
    assert not await bench.give("r2")
    assert browser.now == state("old")
    assert bench.approvals.done == []


async def test_it_is_said_after_the_decision(bench: Bench) -> None:
    bench.run("r2", Browser())
    assert await bench.give("r2")
    assert [what for what, _ in bench.approvals.done] == ["decided", OperatorAction.GOT_LOGIN.value]


async def test_a_log_in_that_can_not_be_taken_out_again_is_said(bench: Bench) -> None:
    browser = Browser()
    browser.works = browser.gives_back = False
    bench.run("r2", browser)
    assert not await bench.give("r2")
    ((action, words),) = bench.approvals.done
    assert action == OperatorAction.GOT_LOGIN.value
    assert "did not work, and could not be taken out" in words


# later runs


async def test_a_run_that_comes_later_is_given_what_is_saved(bench: Bench) -> None:
    bench.run("r1", Browser())
    assert await bench.made() is not None
    assert SECRET not in str([one.state for one in bench.sharing._made.values()]), "no secret stays in memory"
    bench.run("r2", Browser())
    assert await bench.comes("r2")


def forgotten(bench: Bench, _: pytest.MonkeyPatch) -> None:
    assert forget_login("shop")
    bench.sharing._heard(SitesChanged())
    assert bench.sharing._made == {}


def forgotten_by_another_process(_: Bench, __: pytest.MonkeyPatch) -> None:
    assert forget_login("shop")


def changed(_: Bench, __: pytest.MonkeyPatch) -> None:
    keep_login_state("shop", state(f"{SECRET}-of-somebody-else"))


def keeping_off(_: Bench, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("SITELORE_KEEP_LOGINS", "off")


def old(bench: Bench, patch: pytest.MonkeyPatch) -> None:
    ((key, made),) = bench.sharing._made.items()
    bench.sharing._made[key] = replace(made, expires=0.0)


@pytest.mark.parametrize("change", [forgotten, forgotten_by_another_process, changed, keeping_off, old])
async def test_a_log_in_that_is_no_longer_kept_is_given_to_nobody(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, change: Callable[[Bench, pytest.MonkeyPatch], None]
) -> None:
    bench.run("r1", Browser())
    assert await bench.made() is not None
    change(bench, monkeypatch)
    bench.run("r2", Browser())
    assert not await bench.comes("r2")
    assert bench.sharing._made == {}


async def test_a_log_in_of_other_hosts_that_is_kept_too_changes_nothing(bench: Bench) -> None:
    bench.run("r1", Browser())
    assert await bench.made() is not None
    cookie = {"name": "sid", "value": "x", "domain": "forge.test", "path": "/"}
    keep_login_state("shop", {"cookies": [cookie], "origins": []})
    bench.run("r2", Browser())
    assert await bench.comes("r2")


async def test_only_the_newest_log_ins_are_remembered(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login_sharing, "MAX_MADE", 3)
    for number in range(5):
        run = bench.run(f"r{number}", Browser())
        wall = replace(bench.wall(run.run), wall=f"log-in shop.test/{number}")
        run.control._needs[wall.id] = wall
        assert await bench.made(run.run, value=f"{SECRET}-{number}") is not None
    keys = [request_key(bench.wall(f"r{number}")) for number in (2, 3, 4)]
    assert list(bench.sharing._made) == keys


async def test_a_role_of_the_runs_site_is_no_role_of_another_site(bench: Bench) -> None:
    keep_login_state("shop", state("old"), "admin")
    run = bench.run("r1", Browser(), file=str(login_path("shop", "admin")))
    run.page.browser.now = {
        "cookies": [{"name": "sid", "value": SECRET, "domain": "forge.test", "path": "/"}], "origins": []
    }  # fmt: skip
    made = await bench.sharing._login_of(run, bench.wall("r1"), "http://forge.test/", wished=False)
    assert made is not None
    await bench.sharing._kept(made)
    assert (saved_login("forge", "admin"), saved_login("forge")) == ("", str(login_path("forge")))
