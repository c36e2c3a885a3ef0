"""Address line, back, forward and reload during a takeover; a takeover of a run that is starting; a false login
wall.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from app.engine.api.run_api import RunRequest
from app.engine.browser.manual_input.address_bar import address_of
from app.engine.browser.session import BrowserSession
from app.engine.core.actions.types import Stop
from app.engine.core.hand_back import HandBack, HandBackKind
from app.engine.core.page_input import NavigationKind
from app.engine.core.supervision import (
    DecisionKind,
    Need,
    OperatorAction,
    OperatorDecision,
    RequestState,
    RunState,
)
from app.engine.services import agent_runs
from app.engine.services.policy_factory import PolicyBundle
from app.errors import Conflict, UsageError
from tests.support.agent_bench import click, fill
from tests.support.fake_executor import ScriptedPolicy
from tests.support.live_hands import in_hand
from tests.support.operator_driver import Operator, kitchen
from tests.support.pages_server import serving

HERE = "https://shop.example/orders?p=1"


@pytest_asyncio.fixture(loop_scope="session")
async def operator(tmp_path, chromium) -> AsyncIterator[Operator]:
    made = await Operator.at(tmp_path / "workspace")
    yield made
    await made.engine.aclose()


@pytest.mark.parametrize(
    ("typed", "means"),
    [
        ("https://other.example/a?b#c", "https://other.example/a?b#c"),
        ("  http://other.example ", "http://other.example"),
        ("other.example/a", "https://other.example/a"),
        ("other.example:8443", "https://other.example:8443"),
        ("localhost:8000/x", "http://localhost:8000/x"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("/basket/", "https://shop.example/basket/"),
    ],
)
def test_what_is_typed_is_completed_as_browsers_do(typed: str, means: str):
    assert address_of(typed, HERE) == means


@pytest.mark.parametrize(
    "typed",
    ["", "  ", "weather in paris", "word", "javascript:alert(1)", "file:///etc/passwd", "chrome://version",
     "data:text/html,x", "view-source:https://a.example", "https://", "http://a.example:99999", "//a.example/x",
     "x" * 3000],
)  # fmt: skip
def test_what_is_no_address_of_a_page_is_refused(typed: str):
    with pytest.raises(UsageError):
        address_of(typed, HERE)


@pytest.mark.smoke
async def test_addresses_back_forward_and_reload_are_steps_of_the_person(blank: BrowserSession, server):
    shop = server.shop_url.rstrip("/")
    async with in_hand(blank, shop) as (hands, kept):
        assert await hands.move(NavigationKind.OPEN, f"{shop}/") == ""
        assert await hands.move(NavigationKind.BACK) == "there is no page before this one"
        assert await hands.move(NavigationKind.OPEN, "/department/kitchen/") == ""
        assert await hands.move(NavigationKind.BACK) == ""
        assert blank.page.url == f"{shop}/"
        assert await hands.move(NavigationKind.FORWARD) == ""
        assert blank.page.url == f"{shop}/department/kitchen/"
        assert await hands.move(NavigationKind.RELOAD) == ""
        assert "block the port" in await hands.move(NavigationKind.OPEN, "http://127.0.0.1:9/")
        with pytest.raises(UsageError):
            await hands.move(NavigationKind.OPEN, "javascript:alert(1)")
        await hands.end()
        assert await hands.move(NavigationKind.OPEN, f"{shop}/") == "", (
            "the page is not in their hands any more"
        )
    done = [step.action for step in kept.steps if step.action is not None]
    assert [one.kind for one in done] == [
        "goto", "go_back", "goto", "go_back", "go_forward", "goto", "goto",
    ]  # fmt: skip
    assert done[2].args["url"] == f"{shop}/department/kitchen/"
    assert all(step.by == "person" for step in kept.steps)


async def test_taking_over_a_run_that_is_starting_shows_the_start_page(operator, server):
    (run,) = await operator.start(kitchen(server.shop_url))
    assert (await operator.row(run)).state is RunState.STARTING
    await operator.engine.take_over(run)
    assert (await operator.row(run)).state is RunState.TAKEN_OVER
    browser = operator.engine._fleet.get(run).page._browser
    assert browser.address == server.shop_url.rstrip("/") + "/"
    assert await operator.engine.move_page(run, NavigationKind.OPEN, "/department/kitchen/") == ""
    account = await operator.engine.release(run)
    assert [account.steps, account.url_after] == [1, f"{server.shop_url.rstrip('/')}/department/kitchen/"]
    assert (await operator.over(run)).outcome == "answered"
    steps = (await operator.engine.open_run(run)).steps
    assert steps[0].by == "person"
    assert steps[1].url == account.url_after, "the agent goes on from where the person left"


@pytest.mark.smoke
async def test_a_start_page_that_does_not_answer_leaves_the_person_the_address_line(operator, server):
    request = replace(kitchen("http://127.0.0.1:9/"), domains=("*",))
    (run,) = await operator.start(request)
    assert (await operator.asked(run)).need is Need.TROUBLE
    await operator.engine.take_over(run)
    assert await operator.engine.move_page(run, NavigationKind.OPEN, server.shop_url) == ""
    await operator.engine.release(run)
    assert (await operator.over(run)).outcome == "answered"
    assert all(not one.decision for one in await operator.engine.requests(run, closed=True))


async def test_a_person_may_leave_the_runs_sites_and_is_told_so_and_the_agent_comes_back(operator, server):
    with serving() as elsewhere:
        (run,) = await operator.start(kitchen(server.shop_url))
        await operator.engine.take_over(run)
        with pytest.raises(UsageError):
            await operator.engine.move_page(run, NavigationKind.OPEN, "file:///etc/passwd")
        said = await operator.engine.move_page(run, NavigationKind.OPEN, elsewhere)
        assert "is not one of this run's sites" in said
        assert await operator.engine.move_page(run, NavigationKind.START) == ""
        assert "is not one" in await operator.engine.move_page(run, NavigationKind.OPEN, elsewhere)
        await operator.engine.release(run)
        assert (await operator.over(run)).outcome == "answered"
    with pytest.raises(Conflict):
        await operator.engine.move_page(run, NavigationKind.BACK)


@pytest.mark.parametrize("by_hand", [False, True])
async def test_a_false_wall_is_asked_about_once_and_the_run_fills_in_its_form(
    operator, monkeypatch: pytest.MonkeyPatch, by_hand: bool
):
    moves = [fill("Note", "hello"), click("Keep"), Stop("kept")]
    monkeypatch.setattr(agent_runs, "make_policy_bundle", lambda *_: PolicyBundle(ScriptedPolicy(moves)))
    with serving() as pages:
        task = RunRequest(intent="Write 'hello' down", start_url=f"{pages}/note_form.html", kb="none")
        (run,) = await operator.start(task)
        request = await operator.asked(run)
        assert request.need is Need.WALL
        if by_hand:
            await operator.engine.take_over(run)
            await operator.engine.release(run, HandBack(how=HandBackKind.NO_WALL))
        else:
            await operator.engine.decide(request.id, OperatorDecision(kind=DecisionKind.NO_WALL))
        assert (await operator.over(run)).why == "kept"
        (kept,) = await operator.engine.requests(run, closed=True)
        assert (kept.id, kept.state) == (request.id, RequestState.CLOSED)
        words = [step.words for step in (await operator.engine.open_run(run)).steps]
        assert words[:2] == ["type 'hello' into textbox 'Note'", "click button 'Keep'"]
        assert OperatorAction.NO_WALL in [one.action for one in await operator.engine.interventions(run)]


async def test_a_form_of_several_fields_with_a_password_is_no_wall_at_all(
    operator, monkeypatch: pytest.MonkeyPatch
):
    moves = [fill("Message", "hello"), Stop("written")]
    monkeypatch.setattr(agent_runs, "make_policy_bundle", lambda *_: PolicyBundle(ScriptedPolicy(moves)))
    with serving() as pages:
        task = RunRequest(intent="Write 'hello' down", start_url=f"{pages}/message_form.html", kb="none")
        (run,) = await operator.start(task)
        assert (await operator.over(run)).why == "written"
        assert await operator.engine.requests(run, closed=True) == []


async def test_what_a_person_did_by_hand_ends_the_run_as_they_say(operator, server):
    (run,) = await operator.start(kitchen(server.shop_url))
    await operator.engine.take_over(run)
    await operator.engine.move_page(run, NavigationKind.OPEN, "/department/kitchen/")
    await operator.engine.release(run, HandBack(how=HandBackKind.FINISHED))
    assert (await operator.over(run)).outcome == "done_by_hand"
    detail = await operator.engine.open_run(run)
    assert detail.flags == ()
    assert detail.run.final is not None
    assert detail.run.final.url.endswith("/department/kitchen/")
    assert [step.by for step in detail.steps] == ["person"]
