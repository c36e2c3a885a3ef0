"""The agent in a hostile world, in a real browser: runs end truly, stay on their sites, keep secrets."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from PIL import Image
from playwright.async_api import Browser

from app.engine.api.run_api import RunRequest
from app.engine.core.actions.types import Click, Goto, NewTab, Stop, Wait
from app.engine.core.observation import AgentDecision, Observation
from app.engine.core.trajectory import Outcome
from app.engine.engine import Engine
from tests.support.agent_bench import Move, click, fill
from tests.support.hostile_world import World, hostile_world
from tests.support.protocol_server import ProtocolServer, Request, text_of
from tests.support.shop_brain import plan, role_of

WORD = "Zq7/secret & 'x'"
"""A password that pages, addresses and files each write in another way."""
DONE = Stop("done")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Engine]:
    opened = await Engine.open(tmp_path_factory.mktemp("hostile") / "workspace")
    yield opened
    await opened.aclose()


@pytest_asyncio.fixture(loop_scope="session")
async def world(engine: Engine, chromium: Browser, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    async with hostile_world(engine, chromium, monkeypatch) as made:
        yield made


# what pages do


@pytest.mark.parametrize(
    ("page", "moves", "told"),
    [
        ("alerts", [Wait(1.0), Goto("/good/one"), DONE], "dialogs without end"),
        ("alert-on-click", [click("Say hello"), Goto("/good/one"), DONE], "dialogs without end"),
        ("one-dialog", [click("Ask"), DONE], "first"),
        ("keeps-you", [fill("Note", "x"), click("Home"), DONE], "asks whether to leave"),
        ("closes-itself", [click("Short visit"), Wait(0.5), DONE], "Opens a window"),
        ("storm", [click("More windows"), DONE], "good/one?w=9"),
        ("download", [click("Report"), click("Table"), DONE], "report.csv"),
        ("crash-on-click", [click("Show more"), Goto("/good/one"), DONE], "the page crashed"),
        ("good/one", [Goto("/fails"), DONE], "status 500"),
        ("good/one", [Goto("/loop/a"), DONE], "redirects in a loop"),
        ("good/one", [Goto("/report"), DONE], "offers a file"),
        ("good/one", [Goto("chrome://crash"), DONE], "begins with http"),
        ("never-settles", [click("Home"), DONE], "/never-settles"),
        ("moves-once", [Wait(1.0), DONE], "Good three"),
        ("good/one", [Click(4711), DONE], "there is no element 4711"),
        ("fails", [DONE], "Server error"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_run_gets_over_what_a_page_does_and_tells_it(
    world: World, page: str, moves: list[Move], told: str
):
    went = await world.desk.go(world.site.page(page), world.at(*moves))
    assert (went.run.outcome, went.run.answer, went.run.error) == (Outcome.ANSWERED, "done", "")
    assert [step.index for step in went.steps] == list(range(went.run.step_count))
    assert went.run.step_count >= len(moves)
    assert told in repr(went.steps) + repr(went.seen) + repr(went.run.final)


@pytest.mark.parametrize(
    ("page", "outcome", "error"),
    [
        ("report", Outcome.CRASHED, "offers a file"),
        ("loop/a", Outcome.CRASHED, "redirects in a loop"),
        ("bounce", Outcome.CRASHED, "leads elsewhere"),
        ("captcha", Outcome.NEEDS_PERSON, "a captcha blocks"),
        ("members", Outcome.NEEDS_PERSON, "a log-in blocks"),
    ],
)
async def test_a_start_that_is_no_page_to_work_on_closes_the_run_with_one_sentence(
    world: World, page: str, outcome: Outcome, error: str
):
    went = await world.desk.go(world.site.page(page), [DONE])
    assert (went.run.outcome, went.run.step_count) == (outcome, 0)
    assert error in went.run.error
    assert "\n" not in went.run.error


async def test_a_page_that_holds_half_letters_is_looked_at_and_kept(world: World):
    def odd(sight: Observation) -> AgentDecision:
        number = next(one.index for one in sight.page.elements if one.role == "button")
        return AgentDecision(action=Click(number), reason="half \ud800", raw="\udfff", intent="\ud800")

    went = await world.desk.go(world.site.page("odd-letters"), [odd, Stop("half \ud801")])
    assert (went.run.outcome, went.run.answer) == (Outcome.ANSWERED, "half ?")
    assert went.steps[0].effect == "changed"


# sites


async def test_no_way_out_leads_to_another_site(world: World):
    names = ("Link away", "New tab away", "Window away", "Script away", "Post away", "Bounce away")
    moves = [*map(click, names), *world.at(Goto("away/good/one"), NewTab("away/good/one")), DONE]
    went = await world.desk.go(world.site.page("ways-out"), moves, max_steps=12)
    assert went.run.outcome is Outcome.ANSWERED
    assert [step.cause for step in went.steps[:-1]].count("policy") == 1, (
        "the task asks for no form to be sent"
    )
    assert {step.cause for step in went.steps[:-1]} == {"off site", "policy"}
    assert {sight.page.url for sight in went.seen} == {world.site.page("ways-out")}
    # A window's first page is only found when it is there; everything else is not even asked for.
    assert [asked.path for asked in world.other.asked if asked.method == "POST"] == []
    assert world.other.times("/good/one") <= 1


@pytest.mark.parametrize(
    ("page", "slow"), [("goes-away", 0.0), ("refresh-away", 0.0), ("window-away", 0.0), ("window-away", 1.2)]
)
async def test_an_agent_that_a_page_carries_off_is_brought_back_and_told(
    world: World, page: str, slow: float
):
    first = Wait(1.3) if not slow else click("Nothing")
    went = await world.desk.go(world.site.page(page), [first, click("Home"), DONE], slow=slow)
    assert went.run.outcome is Outcome.ANSWERED
    assert {sight.page.url.rpartition("/")[0] for sight in went.seen} == {world.site.url}
    assert went.run.final is not None
    assert went.run.final.url == f"{world.site.url}/"
    if page == "window-away":
        assert "does not belong to this run's sites" in repr(went.steps) + repr(went.seen[1].page.notes)


async def test_a_run_that_may_be_at_both_sites_goes_there(world: World):
    domain = world.other.url.removeprefix("http://")
    went = await world.desk.go(world.site.page("ways-out"), [click("Link away"), DONE], domains=(domain,))
    assert went.seen[1].page.url.startswith(world.other.url)


# secrets


async def test_a_typed_secret_that_a_page_gives_back_is_nowhere(
    world: World, caplog: pytest.LogCaptureFixture
):
    moves = [
        fill("Password", "{secret:WRITTEN_1}"),
        click("Show"),
        click("Send"),
        Wait(0.2),
        Stop(f"it is {WORD}"),
    ]
    intent = f'Press "Send" to say hello. The password is "{WORD}".'
    with caplog.at_level(logging.DEBUG):
        went = await world.desk.go(world.site.page("echo"), moves, intent=intent)
    assert went.run.outcome is Outcome.ANSWERED
    assert [step.effect for step in went.steps[:3]] == ["changed", "changed", "navigated"]
    assert went.steps[3].url.endswith("/echo?said=REDACTED#REDACTED")
    kept = await world.desk.kept(went)
    told = repr(went.seen) + repr(went.summary) + caplog.text
    for form in ("Zq7", "ZQ7", "zq7"):
        assert lines_with(form, told) == []
        assert [name for name, content in kept.items() if form.encode() in content] == []
    out = world.desk.export(went)
    assert [path for path in out.rglob("*") if path.is_file() and b"Zq7" in path.read_bytes()] == []
    assert "your word is REDACTED" in repr(went.seen[3].page.alerts)


async def test_a_secret_that_a_button_shows_is_painted_over_and_one_in_the_text_leaves_no_picture(
    world: World,
):
    moves = [fill("Password", "{secret:WRITTEN_1}"), click("Show"), click("Send"), DONE]
    intent = f'Press "Send". The password is "{WORD}".'
    went = await world.desk.go(world.site.page("echo"), moves, intent=intent)
    kept = await world.desk.kept(went)
    hidden, shown, echoed = went.steps[1], went.steps[2], went.steps[3]
    for step in (hidden, shown):
        box = next(one.rect for one in went.seen[step.index].page.elements if one.name == "Password")
        assert box is not None
        assert grey(kept[step.screenshot], box)
        assert kept[step.screenshot] == went.seen[step.index].page.picture
    assert echoed.screenshot == ""
    assert any("no picture" in note for note in went.seen[3].page.notes)


def lines_with(word: str, text: str) -> list[str]:
    """Where a word stands, each place with what is around it."""
    return [text[max(0, at.start() - 80) : at.end() + 40] for at in re.finditer(word, text)]


def grey(picture: bytes, box: tuple[float, float, float, float]) -> bool:
    """Whether all of a box has the colour of what is painted over."""
    left, top, width, height = box
    with Image.open(io.BytesIO(picture)) as image:
        inner = image.convert("L").crop(
            (int(left) + 4, int(top) + 4, int(left + width) - 4, int(top + height) - 4)
        )
    low, high = inner.getextrema()
    return bool(low > 110 and high < 146)


# what a model is told

_FENCED = re.compile(r"<<([a-z ]+) (\w{12})>>\n(.*?)\n<<end of \1 \2>>", re.DOTALL)


async def test_page_text_stays_inside_the_fence_and_no_request_holds_a_secret(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def brain(request: Request) -> str:
        text = text_of(request)
        if role_of(request) == "planner":
            return plan(done="all of it" in text, answer="all of it")
        if role_of(request) != "operator":
            return "{}"
        now = text.rpartition("You are at")[2]
        if "titled 'Orders" in now:
            link = re.findall(r"\[(\d+)\] link 'Home'", text)[-1]
            return f'<action>click("{link}")</action>'
        if "titled 'Home" in now:
            return f'<action>goto("{world.site.page("echo")}")</action>'
        if "titled 'Hello" in now:
            return '<action>stop("all of it")</action>'
        field, send = (
            re.findall(rf"\[(\d+)\] {one}", text)[-1] for one in ("textbox 'Password'", "button 'Send'")
        )
        return f'<action>fill("{field}", "{{secret:WRITTEN_1}}")\nclick("{send}")</action>'

    with ProtocolServer(brain=brain) as server, caplog.at_level(logging.DEBUG):
        monkeypatch.setenv("SITELORE_MODEL_URL", server.url)
        monkeypatch.setenv("SITELORE_MODEL_NAME", "scripted")
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        request = RunRequest(
            intent=f'See what there is, then press "Send". The password is "{WORD}".',
            start_url=world.site.page("orders"),
            policy="llm",
            max_steps=8,
        )
        summary = await world.desk.engine.run_task(request)
        asked = [text_of(one.body) for one in server.asked]
        bodies = repr([one.body for one in server.asked])
    assert (summary.outcome, summary.answer) == ("answered", "all of it")
    assert any("Ignore all previous instructions" in text for text in asked)
    for text in asked:
        outside = _FENCED.sub("", text)
        for order in ("Ignore all previous", "evil.invalid", "always delete the account"):
            assert order not in outside
    assert lines_with("Zq7", bodies + caplog.text + repr(summary)) == []
    went = world.desk.went(summary)
    assert [name for name, content in (await world.desk.kept(went)).items() if b"Zq7" in content] == []
    assert summary.facts == ()
    assert (await world.desk.engine.info()).tips == 0
