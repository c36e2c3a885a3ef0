"""Sites that wait for ever, never end or ask to be left alone, explored with a real browser; bad rule files."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from app.engine.api.graph_api import ExploreOptions
from app.engine.core.transition import FrontierStatus, SkipReason
from app.engine.engine import Engine
from app.errors import InputError
from tests.support.bad_site import GOOD, HOME_LINK, PAGES, BadSite, html
from tests.support.exploration_process import Expedition, expedition

GOOD_PAGES = {f"/good/{name}" for name in GOOD}


@pytest_asyncio.fixture(loop_scope="session")
async def bad() -> AsyncIterator[BadSite]:
    async with await BadSite.start() as site:
        yield site


@pytest_asyncio.fixture(loop_scope="session")
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    engine = await Engine.open(tmp_path / "workspace", author="mina")
    yield engine
    await engine.aclose()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits less for pages that will never come: what is told is the same, and sooner."""
    monkeypatch.setattr("app.engine.browser.page_loading.LOAD_TIMEOUT", 4.0)
    monkeypatch.setattr("app.engine.browser.capture.snapshot.CAPTURE_TIMEOUT", 5.0)


def rules(*entries: dict) -> str:
    return json.dumps({"format": "sitelore-rules", "version": 1, "rules": entries})


def failures(found: Expedition, site: BadSite) -> dict[str, str]:
    """Why nothing came of a link, by its path."""
    failed = (item for item in found.items if item.status is FrontierStatus.FAILED)
    return {item.value.removeprefix(site.url): item.detail for item in failed}


@pytest.mark.usefixtures("impatient")
async def test_a_home_page_that_never_answers_is_told(bad: BadSite, tmp_path: Path):
    found = await expedition(f"{bad.silent_url}/", tmp_path, workers=1)
    assert found.report.ended == "failed"
    assert any("does not answer" in note for note in found.report.notes)
    assert found.states == ()


@pytest.mark.usefixtures("impatient")
async def test_pages_that_never_answer_or_never_yield_cost_themselves_only(bad: BadSite, tmp_path: Path):
    found = await expedition(bad.entry("silent", "hangs"), tmp_path, depth=1, workers=3)
    failed = failures(found, bad)
    assert found.report.ended == "done"
    assert found.addresses == {"/", *GOOD_PAGES}
    assert "does not answer" in failed["/silent"]
    assert "did not answer" in failed["/hangs"]


async def test_odd_pages_are_states_like_others(bad: BadSite, tmp_path: Path):
    found = await expedition(bad.entry("frames", "broken-html", "empty", "many"), tmp_path, depth=1)
    assert found.report.ended == "done"
    assert {"/", "/frames", "/broken-html", "/empty", "/many", *GOOD_PAGES} <= found.addresses
    assert failures(found, bad) == {}


async def test_a_calendar_without_end_is_ended_by_the_budget_and_the_rest_waits(bad: BadSite, tmp_path: Path):
    found = await expedition(bad.entry("calendar"), tmp_path, depth=40, max_states=14, workers=1)
    assert found.report.ended == "states"
    assert 14 <= found.report.states <= 16
    assert found.report.frontier >= 1
    assert found.addresses >= GOOD_PAGES


async def test_a_session_number_in_every_link_makes_no_new_pages(bad: BadSite, tmp_path: Path):
    found = await expedition(bad.entry("session"), tmp_path, depth=3)
    sessions = sorted(state.keys.url for state in found.states if state.keys.url.startswith("/session"))
    assert failures(found, bad) == {}
    assert sessions == ["/session", "/session/a", "/session/b"]


async def test_what_robots_txt_asks_is_done_and_shown(bad: BadSite, engine: Engine):
    report = await engine.explore(bad.entry("private"), "bad", ExploreOptions(depth=1, pictures=False))
    assert report.ended == "done"
    assert report.skipped[SkipReason.ROBOTS] == 1
    assert "/private" in report.robots
    assert bad.times("/private") == 0

    free = ExploreOptions(depth=1, pictures=False, obey_robots=False)
    await engine.explore(bad.entry("private"), "free", free, second_map=True)
    assert bad.times("/private") == 1


async def test_a_broken_rule_file_ends_it_before_a_page_is_asked_for(
    bad: BadSite, engine: Engine, tmp_path: Path
):
    file = tmp_path / "mine.json"
    file.write_text(rules({"name": "bad", "when": {"attr": "name", "op": "regex", "value": "a("}}))
    with pytest.raises(InputError, match=r"mine\.json: rule 1 'bad', when\.value.*character 2"):
        await engine.explore(bad.entry(), "bad", ExploreOptions(block_list=str(file)))
    assert bad.asked == []
    assert await engine.graphs() == []


@pytest.mark.smoke
async def test_a_person_s_rules_are_followed(bad: BadSite, engine: Engine, tmp_path: Path):
    file = tmp_path / "mine.json"
    by_name = {"name": "not two", "when": {"attr": "path", "op": "equals", "value": "/good/two"}}
    lifted = {
        "name": "their log-out only asks",
        "when": {"attr": "name", "op": "equals", "value": "Sign out"},
        "verdict": "allow",
        "lifts_danger": True,
    }
    file.write_text(rules(by_name, lifted))
    options = ExploreOptions(depth=2, pictures=False, block_list=str(file))
    await engine.explore(bad.entry("danger"), "bad", options)
    assert bad.times("/good/two") == 0
    assert bad.times("/good/one") >= 1
    assert {asked.path for asked in bad.destroyed} == {"/account/logout"}


async def test_forms_that_read_are_submitted_as_they_are_and_verbs_that_ask_first_are_tried(
    bad: BadSite, engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    form = (
        "<form action='/found'><input name='q' value='lamp' aria-label='Word'>"
        "<select name='by' aria-label='Sort'><option>name<option>price</select><button>Search</button></form>"
    )
    dialog = "<dialog id='ask'><h2>Schedule an export</h2><button>Monthly</button></dialog>"
    buttons = (
        "<button onclick='ask.show()'>Schedule export</button>"
        "<button onclick=\"fetch('/api/rename',{method:'POST'})\">Rename</button>"
        "<button onclick=\"fetch('/item/3?watch=1')\">Watch</button><a href='/item/3?read=1'>Mark as read</a>"
    )
    found = html("Found", f"{HOME_LINK}<a href='/secretplace'>The lamp</a>")
    monkeypatch.setitem(PAGES, "reads", html("Reads", f"{HOME_LINK}{form}{buttons}{dialog}"))
    monkeypatch.setitem(PAGES, "found", found)
    monkeypatch.setitem(PAGES, "secretplace", html("Secret place", HOME_LINK))
    options = ExploreOptions(depth=4, pictures=False, workers=1)
    report = await engine.explore(bad.entry("reads"), "reads", options)
    nodes = (await engine.graph_picture("reads")).nodes
    assert report.ended == "done"
    assert any(node.url.endswith("/secretplace") for node in nodes)
    assert any(["Schedule an export" in (await engine.graph_node("reads", node.id)).text for node in nodes])
    submitted = [asked.query for asked in bad.asked if asked.path == "/found"]
    assert submitted
    assert all(query == {"q": "lamp", "by": "name"} for query in submitted)
    assert bad.destroyed == []
