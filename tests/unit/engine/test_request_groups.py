"""Equal requests (``request_key``, ``inbox_groups``), one row a clause of the docstring."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from app.engine.core.request_groups import (
    MODEL_DETECTORS,
    InboxOrder,
    inbox_groups,
    request_key,
    shared_decision_problem,
    task_key,
)
from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    LiveRow,
    Need,
    OperatorDecision,
    RequestState,
    RunState,
)
from app.engine.detectors import vlm

ASKED = ApprovalRequest(
    id="one", run="r1", need=Need.QUESTION, step=3, question="Which order is it?", site="shop", task="t1",
    url="http://shop.test/orders", opened_at=10.0,
)  # fmt: skip
WALL = replace(
    ASKED, need=Need.WALL, wall="log-in shop.test/login password:pw", question="A log-in blocks it."
)
TROUBLE = replace(ASKED, need=Need.TROUBLE, question="The run can't start.", why="shop.test does not answer")
FLAG = replace(
    ASKED, need=Need.FLAG, question="Continue?", why="It goes round in circles.", detectors=("loop", "slow")
)
SIGN_IN = replace(
    ASKED, need=Need.APPROVAL, question="Let it click 'Log in'?", words="click button 'Log in'", call='click("2")',
    element="e2", risk="signs in",
)  # fmt: skip

ROWS: tuple[tuple[str, ApprovalRequest, dict[str, object], bool], ...] = (
    # walls
    ("the same wall", WALL, {}, True),
    ("a wall of another task", WALL, {"task": "t2"}, True),
    ("a wall at another address of its page", WALL, {"url": "http://shop.test/login?next=/a", "step": 9}, True),
    ("another wall", WALL, {"wall": "log-in shop.test/login password:pw|text:code"}, False),
    ("a wall of another site", WALL, {"site": "forge"}, False),
    ("a wall for another role", WALL, {"login": "buyer"}, False),
    # questions
    ("the same question", ASKED, {"step": 9, "url": "http://shop.test/other"}, True),
    ("a question in other spaces", ASKED, {"question": "Which  order\nis it? "}, True),
    ("a question of another task", ASKED, {"task": "t2"}, False),
    ("a question in other words", ASKED, {"question": "Which order was it?"}, False),
    ("a question in another case", ASKED, {"question": "Which Order is it?"}, False),
    ("a question on another site", ASKED, {"site": "forge"}, False),
    # problems
    ("the same problem of another task", TROUBLE, {"task": "t2"}, True),
    ("a problem for another reason", TROUBLE, {"why": "the disk is full"}, False),
    ("another problem", TROUBLE, {"question": "The decision could not be stored."}, False),
    ("a problem on another site", TROUBLE, {"site": "forge"}, False),
    # flags
    ("the same flags", FLAG, {"detectors": ("slow", "loop")}, True),
    ("a flag of another task", FLAG, {"task": "t2"}, False),
    ("a flag of another detector", FLAG, {"detectors": ("loop",)}, False),
    ("a flag for another reason", FLAG, {"why": "It goes round in circles, twice."}, False),
    ("a flag on another page", FLAG, {"url": "http://shop.test/basket"}, False),
    ("a flag that asks something else", FLAG, {"question": "Stop?"}, False),
    ("a flag on another site", FLAG, {"site": "forge"}, False),
    # actions
    ("the same action", SIGN_IN, {"step": 9}, True),
    ("an action of another task", SIGN_IN, {"task": "t2"}, False),
    ("another call", SIGN_IN, {"call": 'click("3")'}, False),
    ("the same call on another element", SIGN_IN, {"element": "e3"}, False),
    ("the same call on another page", SIGN_IN, {"url": "http://shop.test/orders?page=2"}, False),
    ("an action in other words", SIGN_IN, {"words": "click button 'Log in as guest'"}, False),
    ("an action of another class", SIGN_IN, {"risk": "signs out"}, False),
    ("an action on another site", SIGN_IN, {"site": "forge"}, False),
)  # fmt: skip

ALONE: tuple[tuple[str, ApprovalRequest, dict[str, object]], ...] = (
    ("a wall without a key", WALL, {"wall": ""}),
    ("a question on no known site", ASKED, {"site": ""}),
    ("a question of an unknown task", ASKED, {"task": ""}),
    ("a problem on no known site", TROUBLE, {"site": ""}),
    ("a flag on no known site", FLAG, {"site": ""}),
    ("a flag of an unknown task", FLAG, {"task": ""}),
    *(
        (f"what a model says: {name}", FLAG, {"detectors": ("loop", name)})
        for name in sorted(MODEL_DETECTORS)
    ),
    *(
        (f"an action that {risk}", SIGN_IN, {"risk": risk})
        for risk in ("sends", "uploads", "buys", "pays", "deletes", "conjures", "")
    ),
    ("an action without an element", SIGN_IN, {"element": ""}),
    ("an action without a call", SIGN_IN, {"call": ""}),
    ("an action on an unknown page", SIGN_IN, {"url": ""}),
    ("an action on no known site", SIGN_IN, {"site": ""}),
    ("an action of an unknown task", SIGN_IN, {"task": ""}),
)


@pytest.mark.parametrize(
    ("asked", "changes", "equal"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_requests_are_equal_where_one_answer_is_right_for_both(
    asked: ApprovalRequest, changes: dict[str, object], equal: bool
) -> None:
    other = replace(asked, id="two", run="r2", opened_at=11.0, **changes)  # type: ignore[arg-type]
    assert (request_key(asked) == request_key(other)) is equal


@pytest.mark.parametrize(("asked", "changes"), [row[1:] for row in ALONE], ids=[row[0] for row in ALONE])
def test_a_request_that_lacks_something_or_writes_is_answered_alone(
    asked: ApprovalRequest, changes: dict[str, object]
) -> None:
    one, other = (replace(asked, id=id, **changes) for id in ("one", "two"))  # type: ignore[arg-type]
    assert (request_key(one), request_key(other)) == ("one", "two")


def test_a_hostile_text_can_not_make_two_requests_equal() -> None:
    one = replace(TROUBLE, question="a', 'b", why="c")
    other = replace(TROUBLE, question="a", why="b', 'c")
    assert request_key(one) != request_key(other)


def test_the_detectors_that_ask_a_model_are_all_known() -> None:
    names = {kind.name for kind in vars(vlm).values() if isinstance(kind, type) and hasattr(kind, "name")}
    assert names & MODEL_DETECTORS == MODEL_DETECTORS


SHARED: tuple[tuple[str, ApprovalRequest, DecisionKind, bool], ...] = (
    ("a log-in may be said to be dealt with", WALL, DecisionKind.APPROVE, True),
    ("a captcha may not", replace(WALL, wall="captcha shop.test/"), DecisionKind.APPROVE, False),
    ("nor tried again", replace(WALL, wall="captcha shop.test/"), DecisionKind.RETRY, False),
    ("runs before captchas may be ended", replace(WALL, wall="captcha shop.test/"), DecisionKind.DENY, True),
    ("a captcha that is none is none", replace(WALL, wall="captcha shop.test/"), DecisionKind.NO_WALL, True),
    ("an action is edited alone", SIGN_IN, DecisionKind.EDIT, False),
    ("an action is approved", SIGN_IN, DecisionKind.APPROVE, True),
    ("a question is answered", ASKED, DecisionKind.ANSWER, True),
)


@pytest.mark.parametrize(
    ("asked", "kind", "fits"), [row[1:] for row in SHARED], ids=[row[0] for row in SHARED]
)
def test_a_decision_answers_several_where_it_holds_for_each(
    asked: ApprovalRequest, kind: DecisionKind, fits: bool
) -> None:
    assert (shared_decision_problem(asked, kind) == "") is fits


def row(run: str, *needs: ApprovalRequest, risk: float = 0.0) -> LiveRow:
    return LiveRow(run=run, intent="", state=RunState.WAITING, needs=needs, risk=risk)


def of(asked: ApprovalRequest, run: str, at: float, **more: object) -> ApprovalRequest:
    return replace(asked, id=f"{asked.need}-{run}", run=run, opened_at=at, **more)  # type: ignore[arg-type]


BUYS = replace(SIGN_IN, risk="buys")
WALLS = (of(WALL, "r1", 30.0), of(WALL, "r2", 20.0))
ORDER: tuple[tuple[str, InboxOrder, list[LiveRow], list[list[str]]], ...] = (
    (
        "equal ones together, the oldest first",
        InboxOrder.AGE,
        [row("r1", WALLS[0]), row("r2", WALLS[1])],
        [["r2", "r1"]],
    ),
    (
        "the oldest group first, by its oldest request",
        InboxOrder.AGE,
        [row("r1", WALLS[0]), row("r3", of(ASKED, "r3", 25.0)), row("r2", WALLS[1])],
        [["r2", "r1"], ["r3"]],
    ),
    (
        "the most urgent need first",
        InboxOrder.RISK,
        [row("r3", of(ASKED, "r3", 1.0), risk=0.9), row("r1", WALLS[0]), row("r4", of(TROUBLE, "r4", 40.0))],
        [["r4"], ["r1"], ["r3"]],
    ),
    (
        "then the highest class of action",
        InboxOrder.RISK,
        [row("r1", of(SIGN_IN, "r1", 1.0), risk=0.9), row("r2", of(BUYS, "r2", 9.0))],
        [["r2"], ["r1"]],
    ),
    (
        "an unknown class is as high as the highest",
        InboxOrder.RISK,
        [row("r1", of(replace(SIGN_IN, risk="sends"), "r1", 1.0)), row("r2", of(replace(BUYS, risk="?"), "r2", 9.0))],
        [["r2"], ["r1"]],
    ),
    (
        "then the run most likely to fail, of a group's the highest",
        InboxOrder.RISK,
        [
            row("r3", of(WALL, "r3", 1.0, login="buyer"), risk=0.5),
            row("r1", WALLS[0], risk=0.1),
            row("r2", WALLS[1], risk=0.8),
        ],
        [["r2", "r1"], ["r3"]],
    ),
    (
        "then the oldest",
        InboxOrder.RISK,
        [row("r1", of(BUYS, "r1", 9.0)), row("r2", of(BUYS, "r2", 8.0))],
        [["r2"], ["r1"]],
    ),
    (
        "only what is open",
        InboxOrder.AGE,
        [row("r1", replace(WALLS[0], state=RequestState.DECIDED, decision=OperatorDecision(kind=DecisionKind.DENY)))],
        [],
    ),
)  # fmt: skip


@pytest.mark.parametrize(("order", "rows", "runs"), [one[1:] for one in ORDER], ids=[one[0] for one in ORDER])
def test_the_inbox_is_in_order(order: InboxOrder, rows: list[LiveRow], runs: list[list[str]]) -> None:
    assert [list(group.runs) for group in inbox_groups(rows, order)] == runs
    assert [list(group.runs) for group in inbox_groups(reversed(rows), order)] == runs


def test_a_task_is_the_same_in_other_spaces_only() -> None:
    assert task_key("Buy  one\nbowl") == task_key(" Buy one bowl ")
    assert task_key("Buy one bowl") != task_key("Buy two bowls")


def test_the_inbox_of_sixty_runs_is_ready_within_a_millisecond() -> None:
    needs = (WALL, ASKED, TROUBLE, FLAG, SIGN_IN, BUYS)
    rows = [row(f"r{n}", of(needs[n % 6], f"r{n}", float(n)), risk=n / 60) for n in range(60)]
    best = 1.0
    for _ in range(30):  # the best of many: what the machine does besides is not the inbox's
        began = time.perf_counter()
        groups = inbox_groups(rows)
        best = min(best, time.perf_counter() - began)
    assert len(groups) == 5 + 10
    assert best < 0.001, best
