"""Scope of an approval (``RunControl``, ``ApprovalGate``, ``SupervisionStore``), one row a clause."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.agent.run_control import RunControl
from app.engine.core.actions.types import Click, Press, Stop
from app.engine.core.hand_back import HandBack, HandBackKind
from app.engine.core.intervention_policy import DEFAULT_POLICY, PolicyAnswer, RiskClass
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.supervision import (
    ApprovalRequest,
    ApprovalScope,
    DecisionKind,
    Need,
    OperatorDecision,
    RequestState,
    RunState,
)
from app.engine.store.supervision.supervision_store import SupervisionStore
from app.engine.store.workspace import Workspace
from app.errors import Conflict, StoreError
from tests.support.fake_approvals import FakeApprovals
from tests.support.fake_executor import HOME
from tests.support.kill_supervision_writers import ask
from tests.support.supervised_loop import ASKING, PAGES, SupervisedLoop

YES = OperatorDecision(kind=DecisionKind.APPROVE, author="ana", at=7.0)
NO = OperatorDecision(kind=DecisionKind.DENY, author="ben", at=8.0)

# one request and another: is it the same that was asked?

ASKED = ApprovalRequest(
    id="old", run="r1", need=Need.APPROVAL, step=3, question="Let it click button 'Delete'?",
    words="click button 'Delete'", call="click('2')", url="http://shop.test/orders", element="e1",
    state=RequestState.DECIDED, decision=YES,
)  # fmt: skip

HOLDS: tuple[tuple[str, dict[str, object], bool], ...] = (
    ("the same action at the same step", {}, True),
    ("the reason may be another", {"why": "it deletes; I changed my mind"}, True),
    ("another step", {"step": 4}, False),
    ("another element of the same name", {"call": "click('5')"}, False),
    ("another element under the same number", {"element": "e2"}, False),
    ("another page", {"url": "http://shop.test/basket"}, False),
    ("an element of another name under the same number", {"words": "click button 'Delete all'"}, False),
    ("another kind of request", {"need": Need.FLAG}, False),
)


@pytest.mark.parametrize(("changes", "holds"), [row[1:] for row in HOLDS], ids=[row[0] for row in HOLDS])
async def test_a_decision_holds_for_the_very_action_that_was_asked_about(
    changes: dict[str, object], holds: bool
) -> None:
    desk = FakeApprovals(lambda one: NO)
    desk.rows["old"] = ASKED
    control = RunControl("r1", desk)
    await control.begin(3)
    now = replace(ASKED, id="new", state=RequestState.OPEN, decision=None, **changes)  # type: ignore[arg-type]
    decided = await control.ask(now)
    assert decided is not None
    assert decided.kind is (DecisionKind.APPROVE if holds else DecisionKind.DENY)
    assert ("new" in desk.rows) is not holds, "what was decided is not asked twice, anything else is asked"


WALL = replace(ASKED, need=Need.WALL, words="", call="", wall="log-in shop.test/login", risk="")
QUESTION = replace(ASKED, need=Need.QUESTION, question="Which size?")

OTHERS: tuple[tuple[str, ApprovalRequest, dict[str, object], bool], ...] = (
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
    asked: ApprovalRequest, changes: dict[str, object], holds: bool
) -> None:
    desk = FakeApprovals(lambda one: NO)
    desk.rows["old"] = asked
    control = RunControl("r1", desk)
    await control.begin(3)
    await control.ask(replace(asked, id="new", state=RequestState.OPEN, decision=None, **changes))  # type: ignore[arg-type]
    assert ("new" in desk.rows) is not holds


async def test_the_first_word_that_ends_a_run_counts() -> None:
    control = RunControl("r1", FakeApprovals())
    await control.begin(0)
    first = HandBack(how=HandBackKind.ANSWER, answer="42")
    control.finish_by_hand(first)
    with pytest.raises(Conflict, match="already ending"):
        control.finish_by_hand(HandBack(how=HandBackKind.FINISHED))
    assert control.end_by_hand == first


SPENT = (
    ("an approval holds", Need.APPROVAL, DecisionKind.APPROVE, False),
    ("'try again' held for one try", Need.APPROVAL, DecisionKind.RETRY, True),
    ("of a trouble each is asked about", Need.TROUBLE, DecisionKind.APPROVE, True),
)


@pytest.mark.parametrize(("need", "verb", "asked"), [row[1:] for row in SPENT], ids=[row[0] for row in SPENT])
async def test_how_long_a_decision_holds(need: Need, verb: DecisionKind, asked: bool) -> None:
    desk = FakeApprovals(lambda one: NO)
    desk.rows["old"] = replace(ASKED, need=need, decision=replace(YES, kind=verb))
    control = RunControl("r1", desk)
    await control.begin(3)
    await control.ask(replace(ASKED, id="new", need=need, state=RequestState.OPEN, decision=None))
    assert ("new" in desk.rows) is asked


# where the policy can't be read


class Unreadable(FakeApprovals):
    async def answer(self, run: str, site: str, risk: RiskClass) -> PolicyAnswer:
        raise StoreError("the disk has a fault")


@pytest.mark.parametrize("risk", list(RiskClass), ids=[risk.value for risk in RiskClass])
async def test_where_the_policy_can_not_be_read_the_usual_one_holds(risk: RiskClass) -> None:
    assert await RunControl("r1", Unreadable()).answer(risk) is DEFAULT_POLICY.answer("", risk)


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
    desk = FakeApprovals(policy=ASKING)
    bench = SupervisedLoop([Click(3), Stop("")], desk=desk)
    bench.hands.pages = {HOME: orders("Apron", "Bowl")}

    async def approve() -> None:
        await bench.until(RunState.WAITING)
        bench.control.pause("wait")
        bench.hands.pages = {HOME: after}
        await desk.answer_request(YES)
        await bench.until(RunState.PAUSED)
        bench.control.resume()

    await bench.run(approve)
    assert (Click(3) in bench.hands.done) is done


async def test_an_approval_before_a_takeover_does_not_hold_for_the_row_that_has_moved_up() -> None:
    """Approved, then taken over before the deed: the agent decides anew, and its words and number are the same."""
    desk = FakeApprovals(policy=ASKING)
    bench = SupervisedLoop([Click(1), Click(1), Stop("")], desk=desk)
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
    answers: Iterator[OperatorDecision] = iter(
        [OperatorDecision(kind=DecisionKind.EDIT, call="click('0')\nclick('2')"), NO]
    )
    desk = FakeApprovals(lambda one: next(answers), ASKING)
    bench = SupervisedLoop([Click(2), Stop("")], desk=desk)
    await bench.run()
    assert not {Click(0), Click(2)}.intersection(bench.hands.done)
    assert len(desk.rows) == 2


async def test_the_delete_key_on_a_thing_is_asked_about_as_deleting_it_is() -> None:
    desk = FakeApprovals(lambda one: NO, ASKING)
    bench = SupervisedLoop([Press("Delete", 2), Stop("")], desk=desk)
    await bench.run()
    assert [row.risk for row in desk.rows.values()] == ["deletes"]
    assert Press("Delete", 2) not in bench.hands.done


# rows: who decides, and what it reaches


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[SupervisionStore]:
    with Workspace.open(tmp_path / "workspace") as workspace:
        yield workspace.supervision


def _decided(desk: SupervisionStore) -> None:
    desk.decide("r1", YES)


def _closed(desk: SupervisionStore) -> None:
    desk.void_request("r1", "")


def _done(desk: SupervisionStore) -> None:
    desk.decide("r1", YES)
    desk.close_requests(["r1"], 1.0)


@pytest.mark.parametrize("before", [_decided, _closed, _done], ids=["decided", "closed", "gone by"])
@pytest.mark.parametrize("decision", [YES, NO], ids=["yes", "no"])
def test_only_an_open_request_takes_a_decision(
    desk: SupervisionStore, before: Callable[[SupervisionStore], None], decision: OperatorDecision
) -> None:
    desk.open_request(ask("r1"))
    before(desk)
    was = desk.request("r1")
    with pytest.raises(Conflict):
        desk.decide("r1", decision)
    assert desk.request("r1") == was
    assert desk.standing("run") == []


def test_the_first_decision_counts_whatever_rows_came_after_it(desk: SupervisionStore) -> None:
    """Another version of the program may have written a second row."""
    from app.engine.store.supervision.json_rows import to_json

    desk.open_request(ask("r1"))
    for decision in (NO, YES):
        desk.connection.execute(
            "INSERT INTO person_decision (request, document) VALUES (?,?)", ("r1", to_json(decision))
        )
    assert desk.request("r1").decision == NO


REACHES: tuple[tuple[str, DecisionKind, ApprovalScope, PolicyAnswer | None, PolicyAnswer | None], ...] = (
    ("one approval is for one action", DecisionKind.APPROVE, ApprovalScope.ONCE, None, None),
    ("one denial is for one action", DecisionKind.DENY, ApprovalScope.ONCE, None, None),
    (
        "an approval for the run holds for it",
        DecisionKind.APPROVE,
        ApprovalScope.RUN,
        PolicyAnswer.ALLOW,
        None,
    ),
    ("a denial for the run holds for it", DecisionKind.DENY, ApprovalScope.RUN, PolicyAnswer.DENY, None),
    (
        "an approval for the site is a rule of the policy",
        DecisionKind.APPROVE,
        ApprovalScope.SITE,
        None,
        PolicyAnswer.ALLOW,
    ),
    (
        "a denial for the site is a rule of the policy",
        DecisionKind.DENY,
        ApprovalScope.SITE,
        None,
        PolicyAnswer.DENY,
    ),
)


@pytest.mark.parametrize(
    ("verb", "reach", "run", "site"), [case[1:] for case in REACHES], ids=[case[0] for case in REACHES]
)
def test_what_a_decision_reaches(
    desk: SupervisionStore,
    verb: DecisionKind,
    reach: ApprovalScope,
    run: PolicyAnswer | None,
    site: PolicyAnswer | None,
) -> None:
    desk.open_request(replace(ask("r1"), risk=RiskClass.DELETES.value, site="shop"))
    desk.decide("r1", OperatorDecision(kind=verb, scope=reach))
    mine = [] if run is None else [(RiskClass.DELETES, run)]
    assert desk.standing("run") == mine
    assert desk.standing("another run") == []
    policy = desk.policy()
    assert policy.answer("shop", RiskClass.DELETES) is (site or PolicyAnswer.ASK)
    for elsewhere in ("", "wiki"):
        assert policy.answer(elsewhere, RiskClass.DELETES) is PolicyAnswer.ASK
    assert policy.answer("shop", RiskClass.PAYS) is PolicyAnswer.ASK
