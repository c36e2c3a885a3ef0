"""Handing back a run: it continues, it is done, this is the answer, this was no wall."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.agent.walls import is_form_of_task, wall_key
from app.engine.browser.capture.challenge import detect_challenge
from app.engine.core.actions.types import AskHuman, Click, Stop
from app.engine.core.decision_rules import decision_problem
from app.engine.core.hand_back import HAND_BACK, HandBack, HandBackKind, OperatorStatements
from app.engine.core.page_state import Challenge, Element, PageCapture
from app.engine.core.supervision import (
    MAX_HINT_CHARS,
    DecisionKind,
    Need,
    OperatorAction,
    OperatorDecision,
    RequestState,
    RunState,
)
from app.engine.core.trajectory import Outcome
from app.engine.detectors.runner import detect_run, ending_of
from app.engine.services.run_reader import close_interrupted
from app.engine.services.supervision.crash_recovery import recoverable_runs
from app.errors import Conflict, UsageError
from tests.support.browserless import Browserless
from tests.support.fake_executor import HOME, page_of
from tests.support.runs import make_run, make_step
from tests.support.supervised_loop import ORDERS, PAGES, SupervisedLoop

DONE = HandBack(how=HandBackKind.FINISHED)
NONE = HandBack(how=HandBackKind.NO_WALL)


def answer(text: str) -> HandBack:
    return HandBack(how=HandBackKind.ANSWER, answer=text)


@pytest.fixture
async def wall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Browserless]:
    made = await Browserless.at(tmp_path / "workspace", monkeypatch)
    yield made
    await made.engine.aclose()


async def taken(wall: Browserless, *moves: object) -> str:
    """A run whose page is in a person's hands, before its second step."""
    (run,) = await wall.start((Click(0), AskHuman("Which?"), *(moves or (Stop("7"),))))
    await wall.asked(run)
    await wall.engine.take_over(run)
    assert (await wall.row(run)).state is RunState.TAKEN_OVER
    return run


# the end of a run, said by a person


@pytest.mark.parametrize(
    ("back", "outcome", "given", "deed"),
    [
        (DONE, Outcome.DONE_BY_HAND, None, OperatorAction.FINISHED),
        (answer(" 41 pieces "), Outcome.ANSWERED, "41 pieces", OperatorAction.GAVE_ANSWER),
    ],
)
async def test_a_run_ends_as_the_person_says_who_did_its_task(
    wall: Browserless, back: HandBack, outcome: Outcome, given: str | None, deed: OperatorAction
):
    run = await taken(wall)
    await wall.engine.release(run, back)
    row = await wall.over(run)
    head = (await wall.engine.open_run(run)).run
    assert (head.outcome, head.answer, head.ended_by) == (outcome, given, "ana")
    assert row.outcome == outcome.value
    assert "ana" in row.why
    deeds = await wall.engine.interventions(run)
    assert [(one.action, one.author) for one in deeds][-2:] == [
        (OperatorAction.RELEASED, "ana"),
        (deed, "ana"),
    ]
    assert deeds[-1].words == (given or "")
    assert all(one.state is RequestState.CLOSED for one in await wall.engine.requests(run, closed=True))


@pytest.mark.parametrize("how", ["paused", "waiting"])
async def test_a_run_that_is_held_can_be_ended_by_hand_without_a_takeover(wall: Browserless, how: str):
    lets = asyncio.Event()
    (run,) = await wall.start((AskHuman("Which?"), Stop("7")) if how == "waiting" else (lets, Stop("7")))
    if how == "paused":
        await wall.engine.pause_run(run)
        lets.set()
    await wall.until(run, lambda row: row.state.value == how)
    await wall.engine.release(run, answer("42"))
    await wall.over(run)
    head = (await wall.engine.open_run(run)).run
    assert (head.outcome, head.answer, head.ended_by) == (Outcome.ANSWERED, "42", "ana")


async def test_a_run_that_nobody_holds_is_not_ended_by_hand(wall: Browserless):
    lets = asyncio.Event()
    (run,) = await wall.start((lets, Stop("7")))
    await wall.until(run, lambda row: row.state is RunState.RUNNING)
    for back in (DONE, answer("42"), NONE, HAND_BACK):
        with pytest.raises(Conflict):
            await wall.engine.release(run, back)
    lets.set()
    await wall.over(run)
    head = (await wall.engine.open_run(run)).run
    assert (head.answer, head.ended_by) == ("7", "")
    with pytest.raises(Conflict):
        await wall.engine.release(run, DONE)


@pytest.mark.parametrize("words", ["", "   ", "x" * (MAX_HINT_CHARS + 1)])
async def test_an_answer_without_words_or_with_too_many_ends_nothing(wall: Browserless, words: str):
    run = await taken(wall)
    with pytest.raises(UsageError):
        await wall.engine.release(run, answer(words))
    assert (await wall.row(run)).state is RunState.TAKEN_OVER
    await wall.engine.release(run)


async def test_no_detector_calls_the_end_that_a_person_gave_a_run_its_own():
    steps = [make_step(number) for number in range(3)]
    for run in (
        make_run("r", outcome=Outcome.DONE_BY_HAND, answer=None),
        make_run("r", outcome=Outcome.ANSWERED, answer="I could not find it", ended_by="ana"),
    ):
        assert ending_of(run) is None
        by_itself = replace(run, outcome=Outcome.ANSWERED, ended_by="", answer="I could not find it")
        assert ending_of(by_itself) is not None
        went_on = detect_run(replace(run, outcome=Outcome.RUNNING, ended_by=""), steps, None)
        assert detect_run(run, steps, None) == went_on


# killed in between


async def test_a_process_that_dies_after_the_word_leaves_a_run_that_the_next_closes_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    first = await Browserless.at(tmp_path / "workspace", monkeypatch)
    run = await taken(first)
    found = first.engine._fleet.get(run)
    monkeypatch.setattr(
        found.control, "finish_by_hand", lambda _end: None
    )  # it dies before the loop hears of it
    await first.engine.release(run, answer("42"))
    await first.engine.aclose()
    second = await Browserless.at(tmp_path / "workspace", monkeypatch, recover=True)
    try:
        assert [row.run for row in await second.engine.live_runs()] == []
        head = (await second.engine.open_run(run)).run
        assert (head.outcome, head.answer, head.ended_by) == (Outcome.ANSWERED, "42", "ana")
        assert all(one.state is RequestState.CLOSED for one in await second.engine.requests(run, closed=True))
    finally:
        await second.engine.aclose()


async def test_a_run_taken_up_again_whose_end_was_said_is_closed_without_touching_a_page():
    bench = SupervisedLoop([Stop("7")])
    bench.desk.spoken = OperatorStatements(end=HandBack(how=HandBackKind.ANSWER, answer="42", author="eve"))
    run = await bench.run()
    assert (run.outcome, run.answer, run.ended_by) == (Outcome.ANSWERED, "42", "eve")
    assert (bench.hands.done, bench.kept.steps, bench.policy.seen) == ([], [], [])


async def test_a_run_that_broke_off_can_be_ended_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first = await Browserless.at(tmp_path / "workspace", monkeypatch)
    run = await taken(first)
    await first.engine.aclose()
    second = await Browserless.at(tmp_path / "workspace", monkeypatch, recover=True)
    try:
        assert (await second.row(run)).state is RunState.INTERRUPTED
        await second.engine.release(run, DONE)
        row = await second.row(run)
        assert (row.state, row.outcome, row.needs) == (RunState.ENDED, "done_by_hand", ())
        assert (await second.engine.open_run(run)).run.ended_by == "ana"
    finally:
        await second.engine.aclose()


async def test_another_process_hands_back_through_a_wish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first = await Browserless.at(tmp_path / "workspace", monkeypatch)
    run = await taken(first)
    second = await Browserless.at(tmp_path / "workspace", monkeypatch)
    try:
        await second.engine.release(run, HandBack(how=HandBackKind.ANSWER, answer="42", author="eve"))
        await first.over(run)
        head = (await first.engine.open_run(run)).run
        assert (head.answer, head.ended_by) == ("42", "eve")
    finally:
        await second.engine.aclose()
        await first.engine.aclose()


# walls that are none

FORM = {"tag": "input", "xpath": "/html/body/form[1]/p"}
SUBJECT = Element(index=1, role="textbox", name="Subject", **FORM)
MESSAGE = Element(index=2, role="textbox", name="Message", tag="textarea", xpath="/html/body/form[1]/p[2]")
PASSWORD = Element(index=3, role="textbox", name="Password to confirm", type="password", **FORM)
USER = Element(index=4, role="textbox", name="User name", **FORM)
SEND = Element(index=5, role="button", name="Send message", submits=True, **FORM)
ENTER = Element(index=5, role="button", name="Enter", submits=True, **FORM)
CODE = Element(index=6, role="textbox", name="Verification code", **FORM)
KENNUNG = Element(index=7, role="textbox", name="Kennung", **FORM)


@pytest.mark.parametrize(
    ("fields", "title", "wanted"),
    [
        ((SUBJECT, MESSAGE, PASSWORD, SEND), "Contact us", Challenge.NONE),
        ((MESSAGE, PASSWORD, SEND), "Contact us", Challenge.NONE),
        ((SUBJECT, KENNUNG, PASSWORD, SEND), "Contact us", Challenge.NONE),
        ((SUBJECT, MESSAGE, PASSWORD, SEND), "Log in", Challenge.LOGIN),
        ((SUBJECT, PASSWORD, SEND), "Contact us", Challenge.LOGIN),
        ((USER, PASSWORD, ENTER), "Shop", Challenge.LOGIN),
        ((USER, PASSWORD, CODE, ENTER), "Shop", Challenge.LOGIN),
        ((KENNUNG, PASSWORD, CODE, ENTER), "Shop", Challenge.LOGIN),
        ((PASSWORD, ENTER), "Shop", Challenge.LOGIN),
    ],
)
def test_a_form_that_asks_for_more_than_who_somebody_is_is_no_log_in_unless_the_page_says_so(
    fields: tuple[Element, ...], title: str, wanted: Challenge
):
    found = detect_challenge(url=HOME, title=title, headings=(), text="", elements=fields, captcha=False)
    assert found is wanted


def form_page(*fields: Element, title: str = "Shop", url: str = ORDERS) -> PageCapture:
    return PageCapture(url=url, title=title, elements=fields, challenge=Challenge.LOGIN)


@pytest.mark.parametrize(
    ("page", "task", "wanted"),
    [
        (form_page(SUBJECT, PASSWORD, SEND), "Send the message 'hello' to Ann", True),
        (form_page(SUBJECT, PASSWORD, ENTER), "Set the subject to 'hello'", True),
        (form_page(SUBJECT, PASSWORD, SEND), "How many orders are there?", False),
        (form_page(SUBJECT, PASSWORD, SEND, title="Sign in"), "Send the message 'hello'", False),
        (form_page(SUBJECT, PASSWORD, SEND, url=f"{HOME}login"), "Send the message 'hello'", False),
        (form_page(USER, PASSWORD, SEND), "Send the message 'hello'", False),
        (form_page(USER, PASSWORD, ENTER), "Create a user with the name Ann", False),
        (form_page(USER, PASSWORD, CODE, SEND), "Send the message", False),
    ],
)
def test_a_form_that_the_task_is_about_is_no_wall(page: PageCapture, task: str, wanted: bool):
    assert is_form_of_task(page, task) is wanted


def captcha(url: str = ORDERS, title: str = "Are you human?") -> PageCapture:
    return page_of(url, f"Home -> {HOME}", title=title, challenge=Challenge.CAPTCHA)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (captcha(), captcha(), True),
        (captcha(title="wait 5 s"), captcha(title="wait 4 s"), True),
        (captcha(), captcha(url=HOME), False),
        (captcha(), captcha(title="Orders"), False),
        (captcha(url="http://a.example/orders"), captcha(url="http://b.example/orders"), False),
        (form_page(USER, PASSWORD), form_page(USER, PASSWORD, ENTER), True),
        (form_page(SUBJECT, PASSWORD), form_page(USER, PASSWORD), False),
        (form_page(SUBJECT, PASSWORD), captcha(), False),
        (form_page(USER, PASSWORD, url=f"{HOME}m/17"), form_page(USER, PASSWORD, url=f"{HOME}m/18"), True),
    ],
)
def test_walls_are_told_apart_by_page_and_form(one: PageCapture, other: PageCapture, same: bool):
    assert (wall_key(one) == wall_key(other)) is same


def test_only_a_wall_can_be_said_to_be_none():
    assert [need for need in Need if not decision_problem(need, DecisionKind.NO_WALL)] == [Need.WALL]


async def test_what_was_said_to_be_no_wall_is_never_asked_about_again_in_this_run(wall: Browserless):
    wall.pages = {**PAGES, ORDERS: captcha()}
    (run,) = await wall.start((Click(0), Click(0), Click(0), Stop("7")))  # there, back, and there again
    request = await wall.asked(run)
    await wall.engine.decide(request.id, OperatorDecision(kind=DecisionKind.NO_WALL))
    assert (await wall.over(run)).why == "7"
    asked = await wall.engine.requests(run, closed=True)
    assert [one.id for one in asked] == [request.id]
    assert wall.policies[run].seen[-1].page.challenge is Challenge.NONE, "the agent does not see one either"
    assert OperatorAction.NO_WALL in [one.action for one in await wall.engine.interventions(run)]


async def test_another_wall_is_asked_about_all_the_same(wall: Browserless):
    wall.pages = {**PAGES, ORDERS: captcha(), HOME: PAGES[HOME]}
    (run,) = await wall.start((Click(0), Click(0), Click(0), Stop("7")))
    first = await wall.asked(run)
    hands = wall.hands[run]
    hands.pages = {**wall.pages, HOME: replace(PAGES[HOME], title="Prove it", challenge=Challenge.CAPTCHA)}
    await wall.engine.decide(first.id, OperatorDecision(kind=DecisionKind.NO_WALL))
    second = (await wall.until(run, lambda row: bool(row.needs) and row.needs[0].id != first.id)).needs[0]
    assert second.url == HOME
    await wall.engine.decide(second.id, OperatorDecision(kind=DecisionKind.DENY))
    assert (await wall.over(run)).outcome == "stopped"


async def test_dealt_with_on_a_wall_that_stands_asks_again(wall: Browserless):
    wall.pages = {**PAGES, ORDERS: captcha()}
    (run,) = await wall.start((Click(0), Stop("7")))
    first = await wall.asked(run)
    await wall.engine.decide(first.id, OperatorDecision(kind=DecisionKind.APPROVE))
    again = (await wall.until(run, lambda row: bool(row.needs) and row.needs[0].id != first.id)).needs[0]
    await wall.engine.decide(again.id, OperatorDecision(kind=DecisionKind.NO_WALL))
    assert (await wall.over(run)).outcome == "answered"


async def test_a_takeover_of_a_false_wall_is_handed_back_as_none(wall: Browserless):
    wall.pages = {**PAGES, ORDERS: captcha()}
    (run,) = await wall.start((Click(0), Stop("7")))
    request = await wall.asked(run)
    await wall.engine.take_over(run)
    await wall.engine.release(run, NONE)
    assert (await wall.over(run)).outcome == "answered"
    (kept,) = await wall.engine.requests(run, closed=True)
    assert kept.id == request.id
    assert kept.decision is not None
    assert (kept.decision.kind, kept.decision.author) == (DecisionKind.NO_WALL, "ana")


async def test_where_no_wall_was_asked_about_there_is_none_to_deny(wall: Browserless):
    run = await taken(wall)
    with pytest.raises(Conflict, match="not blocked"):
        await wall.engine.release(run, NONE)
    assert (await wall.row(run)).state is RunState.TAKEN_OVER, "the page is still in the person's hands"
    await wall.engine.release(run)


async def test_what_is_no_wall_is_known_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first = await Browserless.at(tmp_path / "workspace", monkeypatch)
    first.pages = {**PAGES, ORDERS: captcha()}
    (run,) = await first.start((Click(0), asyncio.Event(), Stop("7")))
    request = await first.asked(run)
    await first.engine.decide(request.id, OperatorDecision(kind=DecisionKind.NO_WALL))
    await first.until(run, lambda row: row.state is RunState.RUNNING)
    await first.engine.aclose()
    second = await Browserless.at(tmp_path / "workspace", monkeypatch, recover=True)
    try:
        second.pages, second.moves_of = first.pages, {"Task 0": (Stop("7"),)}
        await second.engine.continue_run(run)
        assert (await second.over(run)).outcome == "answered"
        assert [one.id for one in await second.engine.requests(run, closed=True)] == [request.id]
    finally:
        await second.engine.aclose()


async def test_the_first_word_that_ended_a_run_counts(wall: Browserless):
    run = await taken(wall)
    await wall.engine.release(run, DONE)
    await wall.over(run)
    core = wall.engine._core
    await wall.engine._fleet._approvals.note(run, 3, OperatorAction.GAVE_ANSWER, "late", author="eve")
    word = await core.on_store(core.workspace.supervision.statements, run)
    assert word.end == HandBack(how=HandBackKind.FINISHED, author="ana")
    assert await core.on_store(recoverable_runs, core.workspace) == []
    with pytest.raises(Conflict, match="has ended"):
        await core.on_store(close_interrupted, core.workspace, run, word.end)
