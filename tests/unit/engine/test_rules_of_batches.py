"""The written rules of ``batch_rules``, a row a clause; what is expected comes from the rules, not from the code."""

from __future__ import annotations

import pytest

from app.engine.core.batch import BatchRow, BatchState, TaskState
from app.engine.core.cost import Cost
from app.engine.core.supervision import ApprovalRequest, LiveRow, Need, RunState
from app.engine.services.supervision import batch_rules as rules
from app.engine.services.supervision.batch_rules import Left, Spending
from app.engine.store.supervision.batch_store import BatchRun, BatchStatus
from app.errors import Conflict

W, A, N, OK, F, S = (
    TaskState.WAITING, TaskState.ACTIVE, TaskState.NEEDS_PERSON, TaskState.ANSWERED, TaskState.FAILED,
    TaskState.STOPPED,
)  # fmt: skip
ASKED = (ApprovalRequest(id="r", run="1", need=Need.WALL, step=0, question="?"),)


def run(state: TaskState = OK, *, lost: bool = False, **more: object) -> BatchRun:
    return BatchRun(run="r", number=1, state=state, lost=lost, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("state", "outcome", "needs", "here", "expected"),
    [
        pytest.param(RunState.ENDED, "answered", (), False, OK, id="an answer"),
        pytest.param(RunState.ENDED, "done_by_hand", (), False, OK, id="done by hand"),
        pytest.param(RunState.ENDED, "ended_by_environment", (), False, OK, id="ended by its environment"),
        pytest.param(RunState.ENDED, "stopped", (), False, S, id="ended by a person"),
        pytest.param(RunState.ENDED, "infeasible", (), False, F, id="given up"),
        pytest.param(RunState.ENDED, "step_limit", (), False, F, id="too many steps"),
        pytest.param(RunState.ENDED, "out_of_budget", (), False, F, id="its own budget"),
        pytest.param(RunState.ENDED, "crashed", (), False, F, id="crashed"),
        pytest.param(RunState.QUEUED, "", (), False, A, id="queued"),
        pytest.param(RunState.RUNNING, "", (), False, A, id="running"),
        pytest.param(RunState.PAUSED, "", (), False, A, id="paused"),
        pytest.param(RunState.TAKEN_OVER, "", (), False, A, id="a person has its page"),
        pytest.param(RunState.WAITING, "", (), False, N, id="it waits"),
        pytest.param(RunState.RUNNING, "", ASKED, False, N, id="it asks"),
        pytest.param(RunState.INTERRUPTED, "", (), True, F, id="broken off in this process"),
        pytest.param(RunState.INTERRUPTED, "", ASKED, True, F, id="broken off while it asked"),
        pytest.param(RunState.INTERRUPTED, "", (), False, A, id="left by a process that died"),
        pytest.param(RunState.INTERRUPTED, "", ASKED, False, N, id="left while it asked"),
    ],
)
def test_a_tasks_state_follows_from_its_newest_run(state, outcome, needs, here, expected):
    row = LiveRow(run="1", intent="Find it", state=state, outcome=outcome, needs=needs)
    assert rules.run_state(row, broke_off_here=here) is expected


@pytest.mark.parametrize(
    ("runs", "retries", "expected"),
    [
        pytest.param([], 0, W, id="no run"),
        pytest.param([run(F)], 0, F, id="its run"),
        pytest.param([run(F), run(OK)], 1, OK, id="the newest"),
        pytest.param([run(F)], 1, W, id="asked for again since"),
        pytest.param([run(F), run(F)], 2, W, id="and again"),
        pytest.param([run(A, lost=True)], 0, W, id="a lost run is none"),
        pytest.param([run(F), run(A, lost=True)], 1, W, id="lost after it was asked for again"),
    ],
)
def test_a_task_is_not_started_until_it_has_a_run_since_it_was_asked_for(runs, retries, expected):
    assert rules.task_state(runs, retries) is expected


@pytest.mark.parametrize(
    ("states", "retries", "only", "expected"),
    [
        pytest.param({1: OK, 2: W, 3: W}, {}, False, 2, id="in the order of the file"),
        pytest.param({1: W, 2: F, 3: W}, {3: 1}, False, 3, id="asked for again comes first"),
        pytest.param({1: W, 2: W, 3: W}, {3: 1, 2: 1}, False, 2, id="these in the order of the file, too"),
        pytest.param({1: W, 2: OK}, {2: 1}, False, 1, id="one that was started again waits no more"),
        pytest.param({1: W, 2: W}, {2: 1}, True, 2, id="only what was asked for again"),
        pytest.param({1: W, 2: OK}, {2: 1}, True, 0, id="and nothing else"),
        pytest.param({1: A, 2: N}, {}, False, 0, id="nothing waits"),
        pytest.param({}, {}, False, 0, id="no task"),
    ],
)
def test_the_next_task(states, retries, only, expected):
    assert rules.next_task(states, retries, only_retried=only) == expected


@pytest.mark.parametrize(
    ("spent", "money", "tokens", "expected"),
    [
        pytest.param(Spending(money=9, tokens=9), 0, 0, "", id="no budget"),
        pytest.param(Spending(tokens=99), 0, 100, "", id="tokens are left"),
        pytest.param(Spending(tokens=100), 0, 100, "100 of 100 tokens are used; raise the budget to go on", id="none"),
        pytest.param(Spending(money=0.99), 1.0, 0, "", id="money is left"),
        pytest.param(Spending(money=1.0), 1.0, 0, "$1.00 of $1.00 is used; raise the budget to go on", id="as much"),
        pytest.param(Spending(money=1.5), 1.0, 0, "$1.50 of $1.00 is used; raise the budget to go on", id="too much"),
        pytest.param(
            Spending(money=0.1, is_known=False), 1.0, 0,
            "the price of a model that was used is not known; set it, or take the budget of money away", id="unknown",
        ),
        pytest.param(Spending(money=0.1, is_known=False), 0, 100, "", id="unknown, and no budget of money"),
    ],
)  # fmt: skip
def test_a_budget_is_reached_by_the_sum_of_all_runs(spent, money, tokens, expected):
    assert rules.budget_problem(spent, money, tokens) == expected


def test_failed_and_repeated_runs_are_paid_for_too():
    runs = [
        run(F, tokens=100, cost=Cost(known=0.5)),
        run(OK, tokens=50, cost=Cost(known=0.25)),
        run(S, tokens=1),
    ]
    assert rules.spending_of(runs) == Spending(money=0.75, tokens=151)
    assert rules.cost_of_runs(runs) == Cost(known=0.75)
    unknown = [*runs, run(A, cost=Cost(unpriced=(("m", 2),)))]
    assert rules.spending_of(unknown).is_known is False
    assert rules.cost_of_runs([run(OK)]) is None


@pytest.mark.parametrize(
    ("status", "states", "problem", "expected"),
    [
        pytest.param(BatchState.ACTIVE, [A, W], "", BatchState.ACTIVE, id="it goes on"),
        pytest.param(BatchState.ACTIVE, [W, OK], "spent", BatchState.OUT_OF_BUDGET, id="nothing is left"),
        pytest.param(BatchState.ACTIVE, [OK, F, S], "", BatchState.ENDED, id="every task has ended"),
        pytest.param(BatchState.ACTIVE, [OK], "spent", BatchState.ENDED, id="with the last of its budget"),
        pytest.param(BatchState.PAUSED, [OK], "", BatchState.ENDED, id="while it is paused"),
        pytest.param(
            BatchState.OUT_OF_BUDGET, [OK], "spent", BatchState.ENDED, id="while it is out of budget"
        ),
        pytest.param(BatchState.PAUSED, [N, OK], "spent", BatchState.PAUSED, id="paused stays paused"),
        pytest.param(
            BatchState.OUT_OF_BUDGET, [W], "", BatchState.OUT_OF_BUDGET, id="a person lets it go on"
        ),
        pytest.param(BatchState.STOPPED, [OK, S], "", BatchState.STOPPED, id="stopped stays stopped"),
        pytest.param(BatchState.ENDED, [W], "", BatchState.ENDED, id="ended stays ended"),
    ],
)
def test_the_state_that_follows(status, states, problem, expected):
    assert rules.state_after(BatchStatus(state=status), states, problem)[0] is expected


@pytest.mark.parametrize(
    ("command", "refused"),
    [
        ("pause", {BatchState.STOPPED, BatchState.ENDED}),
        ("resume", {BatchState.ENDED}),
        ("stop", {BatchState.ENDED}),
        ("dismiss", {BatchState.ACTIVE, BatchState.PAUSED, BatchState.OUT_OF_BUDGET}),
        ("retry", set()),
        ("limits", set()),
    ],
)
def test_a_command_is_refused_where_it_has_no_sense(command, refused):
    found: set[BatchState] = set()
    for state in BatchState:
        try:
            rules.check_command(command, state)
        except Conflict:
            found.add(state)
    assert found == refused


@pytest.mark.parametrize(
    ("limit", "own", "shared", "expected"),
    [
        pytest.param("tokens", Left(), Left(tokens=5), True, id="only the batch has one"),
        pytest.param("tokens", Left(tokens=9), Left(tokens=5), True, id="the batch's is smaller"),
        pytest.param("tokens", Left(tokens=5), Left(tokens=5), False, id="the run's is as small"),
        pytest.param("tokens", Left(tokens=5), Left(money=0.1), False, id="the batch has another one"),
        pytest.param("money", Left(tokens=5), Left(money=0.1), True, id="money"),
        pytest.param("money", Left(money=0.05), Left(money=0.1), False, id="the run's own money"),
        pytest.param("seconds", Left(), Left(money=0.1, tokens=5), False, id="time is no budget of a batch"),
        pytest.param("", Left(), Left(tokens=5), False, id="nothing was refused"),
    ],
)
def test_whose_budget_refused_a_request(limit, own, shared, expected):
    assert rules.is_refused_by_batch(limit, own, shared) is expected


def test_a_run_may_spend_at_most_what_is_left():
    assert rules.left_of(Spending(money=2, tokens=30), 5.0, 100) == Left(money=3.0, tokens=70)
    assert rules.left_of(Spending(money=7, tokens=300), 5.0, 100) == Left(money=0.0, tokens=0)
    assert rules.left_of(Spending(), 0.0, 0) == Left()
    assert Left(tokens=5).within(Left(tokens=9, money=1.0)) == Left(tokens=5, money=1.0)


def test_the_time_left_is_that_of_the_median_run():
    runs = [run(OK, seconds=10), run(F, seconds=20), run(OK, seconds=90), run(A, seconds=500)]
    assert rules.seconds_left(runs, 6, 3) == 40
    assert rules.seconds_left(runs, 1, 3) == 20
    assert rules.seconds_left([run(A, seconds=5)], 6, 3) is None
    assert rules.seconds_left(runs, 0, 3) is None


def test_the_states_of_all_tasks_add_up():
    row = BatchRow(
        id="b", name="b", total=812, waiting=770, active=1, needy=4, answered=23, failed=12, stopped=2,
        cost=Cost(known=12.4), max_money=50,
    )  # fmt: skip
    assert row.words == "37 of 812, 4 need you, 62 % answered, $12.40 of $50.00"


@pytest.mark.parametrize(
    ("limit", "before", "now", "expected"),
    [
        pytest.param("tokens", {"max_tokens": 5}, {"max_tokens": 9}, True, id="more tokens"),
        pytest.param("tokens", {"max_tokens": 5}, {"max_tokens": 0}, True, id="no limit any more"),
        pytest.param("tokens", {"max_tokens": 5}, {"max_tokens": 5}, False, id="the same"),
        pytest.param("tokens", {"max_tokens": 5}, {"max_tokens": 3}, False, id="fewer"),
        pytest.param("tokens", {"max_tokens": 0}, {"max_tokens": 3}, False, id="a new limit"),
        pytest.param("money", {"max_tokens": 5}, {"max_tokens": 9}, False, id="another limit"),
        pytest.param("money", {"max_money": 0.5}, {"max_money": 0.6}, True, id="more money"),
    ],
)
def test_a_budget_is_raised_by_more_of_what_it_limits(limit, before, now, expected):
    assert rules.is_raised(limit, BatchStatus(**before), BatchStatus(**now)) is expected


@pytest.mark.parametrize(
    ("outcome", "ended_by", "expected"),
    [
        pytest.param("answered", "", "answered", id="by the agent"),
        pytest.param("answered", "ana", "answered by hand", id="by a person"),
        pytest.param("done_by_hand", "ana", "answered by hand", id="finished by a person"),
        pytest.param("step_limit", "", "step_limit", id="otherwise"),
    ],
)
def test_what_a_person_answered_is_called_so(outcome, ended_by, expected):
    assert rules.outcome_words(run(outcome=outcome, ended_by=ended_by)) == expected
