"""What an approval holds for (``Control``, ``Clearance``, ``DeskStore``), one row a clause."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.agent.control import Control
from app.engine.command import Click, Press, Stop
from app.engine.errors import Conflict, StoreError
from app.engine.hand_back import HandBack, Handing
from app.engine.intervention_policy import USUAL, Answer, RiskClass
from app.engine.page_state import Element, PageCapture
from app.engine.store.desk import DeskStore
from app.engine.store.workspace import Workspace
from app.engine.supervision import Need, PersonDecision, PersonRequest, Reach, RequestState, RunState, Verb
from tests.support.fake_desk import FakeDesk
from tests.support.fake_hands import HOME
from tests.support.held_run import ASKING, PAGES, Bench
from tests.support.killing_desk import ask

YES = PersonDecision(verb=Verb.APPROVE, author="ana", at=7.0)
NO = PersonDecision(verb=Verb.DENY, author="ben", at=8.0)

# one request and another: is it the same that was asked?

ASKED = PersonRequest(
    id="old", run="r1", need=Need.APPROVAL, step=3, question="Let it click button 'Delete'?",
    words="click button 'Delete'", command="click('2')", url="http://shop.test/orders", element="e1",
    state=RequestState.DECIDED, decision=YES,
)  # fmt: skip

HOLDS: tuple[tuple[str, dict[str, object], bool], ...] = (
    ("the same action at the same step", {}, True),
    ("the reason may be another", {"why": "it deletes; I changed my mind"}, True),
    ("another step", {"step": 4}, False),
    ("another element of the same name", {"command": "click('5')"}, False),
    ("another element under the same number", {"element": "e2"}, False),
    ("another page", {"url": "http://shop.test/basket"}, False),
    ("an element of another name under the same number", {"words": "click button 'Delete all'"}, False),
    ("another kind of request", {"need": Need.FLAG}, False),
)


@pytest.mark.parametrize(("changes", "holds"), [row[1:] for row in HOLDS], ids=[row[0] for row in HOLDS])
async def test_a_decision_holds_for_the_very_action_that_was_asked_about(
    changes: dict[str, object], holds: bool
) -> None:
    desk = FakeDesk(lambda one: NO)
    desk.rows["old"] = ASKED
    control = Control("r1", desk)
    await control.begin(3)
    now = replace(ASKED, id="new", state=RequestState.OPEN, decision=None, **changes)  # type: ignore[arg-type]
    decided = await control.ask(now)
    assert decided is not None
    assert decided.verb is (Verb.APPROVE if holds else Verb.DENY)
    assert ("new" in desk.rows) is not holds, "what was decided is not asked twice, anything else is asked"


WALL = replace(ASKED, need=Need.WALL, words="", command="", wall="log-in shop.test/login", risk="")
QUESTION = replace(ASKED, need=Need.QUESTION, question="Which size?")

OTHERS: tuple[tuple[str, PersonRequest, dict[str, object], bool], ...] = (
    ("the same wall", WALL, {"question": "A log-in stands before it again."}, True),
    ("another wall at the same step", WALL, {"wall": "captcha shop.test/login"}, False),
    ("the same wall at another step", WALL, {"step": 4}, False),
    ("the same question", QUESTION, {}, True),
    ("another question", QUESTION, {"question": "Which colour?"}, False),
)


@pytest.mark.parametrize(
    ("asked", "changes", "holds"), [row[1:] for row in OTHERS], ids=[row[0] for row in OTHERS]
)
async def test_what_was_said_of_a_wall_or_a_question_holds_for_that_one(
    asked: PersonRequest, changes: dict[str, object], holds: bool
) -> None:
    desk = FakeDesk(lambda one: NO)
    desk.rows["old"] = asked
    control = Control("r1", desk)
    await control.begin(3)
    await control.ask(replace(asked, id="new", state=RequestState.OPEN, decision=None, **changes))  # type: ignore[arg-type]
    assert ("new" in desk.rows) is not holds


async def test_the_first_word_that_ends_a_run_counts() -> None:
    control = Control("r1", FakeDesk())
    await control.begin(0)
    first = HandBack(how=Handing.ANSWER, answer="42")
    control.finish_by_hand(first)
    with pytest.raises(Conflict, match="already ending"):
        control.finish_by_hand(HandBack(how=Handing.FINISHED))
    assert control.end_by_hand == first


SPENT = (
    ("an approval holds", Need.APPROVAL, Verb.APPROVE, False),
    ("'try again' held for one try", Need.APPROVAL, Verb.RETRY, True),
    ("of a trouble each is asked about", Need.TROUBLE, Verb.APPROVE, True),
)


@pytest.mark.parametrize(("need", "verb", "asked"), [row[1:] for row in SPENT], ids=[row[0] for row in SPENT])
async def test_how_long_a_decision_holds(need: Need, verb: Verb, asked: bool) -> None:
    desk = FakeDesk(lambda one: NO)
    desk.rows["old"] = replace(ASKED, need=need, decision=replace(YES, verb=verb))
    control = Control("r1", desk)
    await control.begin(3)
    await control.ask(replace(ASKED, id="new", need=need, state=RequestState.OPEN, decision=None))
    assert ("new" in desk.rows) is asked


# where the policy can't be read


class Unreadable(FakeDesk):
    async def answer(self, risk: RiskClass) -> Answer:
        raise StoreError("the disk has a fault")


@pytest.mark.parametrize("risk", list(RiskClass), ids=[risk.value for risk in RiskClass])
async def test_where_the_policy_can_not_be_read_the_usual_one_holds(risk: RiskClass) -> None:
    assert await Control("r1", Unreadable()).answer(risk) is USUAL.answer("", risk)


# an approved action, while the page changes under it


def row(number: int, product: str) -> list[Element]:
    place = {"repeat": "li", "repeat_index": number, "landmarks": ("main",)}
    return [
        Element(index=2 * number, role="link", name=product, href=f"{HOME}p/{product}", **place),  # type: ignore[arg-type]
        Element(index=2 * number + 1, role="button", name="Delete", css=f"li:nth-child({number + 1}) > button",
                listens=True, **place),  # type: ignore[arg-type]
    ]  # fmt: skip


def orders(*products: str, url: str = HOME) -> PageCapture:
    elements = [one for number, product in enumerate(products) for one in row(number, product)]
    return replace(PAGES[HOME], url=url, elements=tuple(elements), tree="", text="")


AFTER_A_HOLD: tuple[tuple[str, PageCapture, bool], ...] = (
    ("the same page: it is done", orders("Apron", "Bowl"), True),
    ("the rows have changed places: it is decided anew", orders("Bowl", "Apron"), False),
    ("the row has gone and the next one has its number: it is decided anew", orders("Apron", "Cup"), False),
    ("the element has gone: it is decided anew", orders("Apron"), False),
)


@pytest.mark.parametrize(
    ("after", "done"), [case[1:] for case in AFTER_A_HOLD], ids=[case[0] for case in AFTER_A_HOLD]
)
async def test_what_was_approved_is_done_to_that_very_element_only(after: PageCapture, done: bool) -> None:
    """Row 2 ("Bowl") is to be deleted; while the question waits the page changes."""
    desk = FakeDesk(policy=ASKING)
    bench = Bench([Click(3), Stop("")], desk=desk)
    bench.hands.pages = {HOME: orders("Apron", "Bowl")}

    async def approve() -> None:
        await bench.until(RunState.WAITING)
        bench.control.pause("wait")
        bench.hands.pages = {HOME: after}
        await desk.answer_request(YES)
        await bench.until(RunState.PAUSED)
        bench.control.go_on()

    await bench.run(approve)
    assert (Click(3) in bench.hands.done) is done


async def test_an_approval_before_a_takeover_does_not_hold_for_the_row_that_has_moved_up() -> None:
    """Approved, then taken over before the deed: the agent decides anew, and its words and number are the same."""
    desk = FakeDesk(policy=ASKING)
    bench = Bench([Click(1), Click(1), Stop("")], desk=desk)
    bench.hands.pages = {HOME: orders("Apron", "Bowl")}

    async def by_hand() -> None:
        await bench.until(RunState.WAITING)
        bench.control.pause("wait")
        await desk.answer_request(YES)
        await bench.until(RunState.PAUSED)
        await bench.control.take_over()
        bench.hands.pages = {HOME: orders("Bowl")}
        desk.decide = lambda one: NO
        await bench.control.release()

    await bench.run(by_hand)
    assert Click(1) not in bench.hands.done
    assert len(desk.rows) == 2, "the row that has moved up is asked about"


async def test_an_edit_that_holds_two_actions_is_asked_about_again_and_neither_is_done() -> None:
    answers: Iterator[PersonDecision] = iter(
        [PersonDecision(verb=Verb.EDIT, command="click('0')\nclick('2')"), NO]
    )
    desk = FakeDesk(lambda one: next(answers), ASKING)
    bench = Bench([Click(2), Stop("")], desk=desk)
    await bench.run()
    assert not {Click(0), Click(2)}.intersection(bench.hands.done)
    assert len(desk.rows) == 2


async def test_the_delete_key_on_a_thing_is_asked_about_as_deleting_it_is() -> None:
    desk = FakeDesk(lambda one: NO, ASKING)
    bench = Bench([Press("Delete", 2), Stop("")], desk=desk)
    await bench.run()
    assert [row.risk for row in desk.rows.values()] == ["deletes"]
    assert Press("Delete", 2) not in bench.hands.done


# rows: who decides, and what it reaches


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[DeskStore]:
    with Workspace.open(tmp_path / "workspace") as workspace:
        yield workspace.desk


def _decided(desk: DeskStore) -> None:
    desk.decide("r1", YES)


def _closed(desk: DeskStore) -> None:
    desk.void_request("r1", "")


def _done(desk: DeskStore) -> None:
    desk.decide("r1", YES)
    desk.close_requests(["r1"], 1.0)


@pytest.mark.parametrize("before", [_decided, _closed, _done], ids=["decided", "closed", "gone by"])
@pytest.mark.parametrize("decision", [YES, NO], ids=["yes", "no"])
def test_only_an_open_request_takes_a_decision(
    desk: DeskStore, before: Callable[[DeskStore], None], decision: PersonDecision
) -> None:
    desk.open_request(ask("r1"))
    before(desk)
    was = desk.request("r1")
    with pytest.raises(Conflict):
        desk.decide("r1", decision)
    assert desk.request("r1") == was
    assert desk.standing("run") == []


def test_the_first_decision_counts_whatever_rows_came_after_it(desk: DeskStore) -> None:
    """Another version of the program may have written a second row."""
    from app.engine.store.desk_rows import written

    desk.open_request(ask("r1"))
    for decision in (NO, YES):
        desk.connection.execute(
            "INSERT INTO person_decision (request, document) VALUES (?,?)", ("r1", written(decision))
        )
    assert desk.request("r1").decision == NO


REACHES: tuple[tuple[str, Verb, Reach, Answer | None, Answer | None], ...] = (
    ("one approval is for one action", Verb.APPROVE, Reach.ONCE, None, None),
    ("one denial is for one action", Verb.DENY, Reach.ONCE, None, None),
    ("an approval for the run holds for it", Verb.APPROVE, Reach.RUN, Answer.ALLOW, None),
    ("a denial for the run holds for it", Verb.DENY, Reach.RUN, Answer.DENY, None),
    ("an approval for the site is a rule of the policy", Verb.APPROVE, Reach.SITE, None, Answer.ALLOW),
    ("a denial for the site is a rule of the policy", Verb.DENY, Reach.SITE, None, Answer.DENY),
)


@pytest.mark.parametrize(
    ("verb", "reach", "run", "site"), [case[1:] for case in REACHES], ids=[case[0] for case in REACHES]
)
def test_what_a_decision_reaches(
    desk: DeskStore, verb: Verb, reach: Reach, run: Answer | None, site: Answer | None
) -> None:
    desk.open_request(replace(ask("r1"), risk=RiskClass.DELETES.value, site="shop"))
    desk.decide("r1", PersonDecision(verb=verb, reach=reach))
    mine = [] if run is None else [(RiskClass.DELETES, run)]
    assert desk.standing("run") == mine
    assert desk.standing("another run") == []
    policy = desk.policy()
    assert policy.answer("shop", RiskClass.DELETES) is (site or Answer.ASK)
    for elsewhere in ("", "wiki"):
        assert policy.answer(elsewhere, RiskClass.DELETES) is Answer.ASK
    assert policy.answer("shop", RiskClass.PAYS) is Answer.ASK
