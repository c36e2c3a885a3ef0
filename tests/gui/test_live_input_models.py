"""Live's models of operator input: idle time, typing, run numbers, delayed actions, the next action."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from PySide6.QtTest import QAbstractItemModelTester

from app.engine.core.events import ActionPlanned
from app.engine.core.supervision import ApprovalRequest, LiveRow, Need, PlannedAction, RunState, Stage
from app.errors import Conflict
from app.models.common.workspace import WorkspaceModel
from app.models.live.delayed_actions import TOO_LATE_SECONDS, UNDO_SECONDS, DelayedAction, DelayedActions
from app.models.live.input_guard import IDLE_SECONDS, TYPING_SECONDS, InputGuard, KeyKind
from app.models.live.model import LiveModel
from app.models.live.next_action import is_deciding, same_page, still_next
from app.models.live.run_list import REUSE_SECONDS, SECOND_DIGIT, RunList, RunNumbers
from tests.support.fake_live import make_rows
from tests.support.manual_clock import ManualClock

ROWS = {row.run: row for row in make_rows()}
SOONER, LATER = -0.01, 0.01


@pytest.fixture(autouse=True)
def _turning(loop) -> None:
    """Timers need the window's event loop."""


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def hands(clock: ManualClock) -> InputGuard:
    return InputGuard(clock)


# ------------------------------------------------------------ resting
def test_hands_rest_three_seconds_after_the_last_touch_and_say_so_once(hands, clock) -> None:
    idle: list[None] = []
    hands.idle.connect(lambda: idle.append(None))
    hands.touch()
    clock.forward(2)
    hands.touch()
    clock.forward(IDLE_SECONDS + SOONER)
    hands.look()
    assert (hands.is_busy, idle) == (True, [])
    clock.forward(LATER - SOONER)
    hands.look()
    assert (hands.is_busy, idle) == (False, [None])


# ------------------------------------------------------------ typing
TEXT, LEAVES, OTHER = KeyKind.TEXT, KeyKind.LEAVES, KeyKind.OTHER
PAUSE = TYPING_SECONDS + LATER


@pytest.mark.parametrize(
    ("story", "taken"),
    [
        # each press: seconds before it, its kind, whether a field has the keys; at last: is the last one taken?
        ([(9, TEXT, False)], False),
        ([(9, TEXT, True)], False),
        ([(9, TEXT, True), (TYPING_SECONDS + SOONER, TEXT, False)], True),
        ([(9, TEXT, True), (PAUSE, TEXT, False)], False),
        ([(9, TEXT, True), (0.5, TEXT, False), (0.9, TEXT, False)], True),
        ([(9, TEXT, True), (0.5, TEXT, False), (PAUSE, TEXT, False)], False),
        ([(9, TEXT, True), (0.2, LEAVES, True), (0.2, TEXT, False)], False),
        ([(9, TEXT, True), (0.2, LEAVES, False)], True),
        ([(9, TEXT, True), (PAUSE, LEAVES, False)], False),
        ([(9, TEXT, True), (0.2, LEAVES, False), (0.2, TEXT, False)], False),
        ([(9, TEXT, True), (0.2, OTHER, True), (0.2, TEXT, False)], False),
        ([(9, TEXT, True), (0.2, OTHER, False)], False),
        ([(9, TEXT, False), (0.1, TEXT, False)], False),
        ([(9, TEXT, True), (0.2, TEXT, True)], False),
    ],
)
def test_a_key_that_follows_a_typed_letter_within_a_second_is_no_command(hands, clock, story, taken) -> None:
    answer = None
    for before, kind, in_field in story:
        clock.forward(before)
        answer = hands.press(kind, in_field=in_field)
    assert answer is taken


def test_a_field_that_can_not_be_had_is_as_good_as_typed_into_until_a_click(hands, clock) -> None:
    hands.expect_typing()
    clock.forward(0.3)
    assert hands.press(TEXT, in_field=False)
    hands.stop_typing()
    assert not hands.press(TEXT, in_field=False)


def test_that_typing_is_ignored_is_said_once_for_each_burst(hands, clock) -> None:
    said: list[None] = []
    hands.key_withheld.connect(lambda: said.append(None))
    for _ in range(2):
        clock.forward(9)
        hands.press(TEXT, in_field=True)
        for _letter in range(5):
            clock.forward(0.1)
            hands.press(TEXT, in_field=False)
    assert len(said) == 2


# ------------------------------------------------------------ numbers
def test_numbers_are_given_once_in_the_order_runs_come_and_the_smallest_free_one_first() -> None:
    numbers = RunNumbers(ManualClock())
    assert [numbers.give(run) for run in ("a", "b", "a", "c")] == [1, 2, 1, 3]
    assert (numbers.of("b"), numbers.run_of(3), numbers.of("z"), numbers.run_of(9)) == (2, "c", 0, "")


def test_a_number_goes_to_another_run_only_long_after_its_own_left_the_wall() -> None:
    clock = ManualClock()
    numbers = RunNumbers(clock)
    for run in "abc":
        numbers.give(run)
    numbers.free("b")
    assert numbers.run_of(2) == ""
    clock.forward(REUSE_SECONDS + SOONER)
    assert numbers.give("d") == 4
    clock.forward(LATER - SOONER)
    assert numbers.give("e") == 2


def test_numbers_of_a_session_are_kept_and_what_makes_no_sense_is_left_out() -> None:
    numbers = RunNumbers(ManualClock())
    numbers.restore({"a": 7, "b": 7, "c": 0, "d": -1, "e": "2", "f": True, "g": 2.0, 3: 4, "h": 1})
    assert numbers.saved == {"a": 7, "h": 1}
    assert numbers.give("i") == 2
    for nonsense in (None, [], "x", 3):
        numbers.restore(nonsense)
    assert numbers.saved == {"a": 7, "h": 1, "i": 2}


@pytest.mark.parametrize(
    ("runs", "typed", "found"),
    [
        # how many runs; digits with the seconds before each; the run numbers gone to
        (9, [(9, 3)], [3]),
        (9, [(9, 1), (0.2, 2)], [1, 2]),
        (12, [(9, 1), (0.2, 2)], [1, 12]),
        (12, [(9, 1), (SECOND_DIGIT + LATER, 2)], [1, 2]),
        (12, [(9, 1), (0.2, 0)], [1, 10]),
        (12, [(9, 2), (0.2, 1), (0.2, 1)], [2, 1, 11]),
        (12, [(9, 0)], [0]),
        (120, [(9, 1), (0.2, 1), (0.2, 9)], [1, 11, 119]),
        (120, [(9, 9), (0.2, 9), (0.2, 9)], [9, 99, 9]),
        (3, [(9, 7)], [0]),
    ],
)
def test_two_digits_typed_soon_after_each_other_are_one_number(runs, typed, found) -> None:
    clock = ManualClock()
    numbers = RunNumbers(clock)
    for number in range(1, runs + 1):
        numbers.give(f"r{number}")
    gone = []
    for before, digit in typed:
        clock.forward(before)
        run = numbers.typed(digit)[1]
        gone.append(int(run[1:]) if run else 0)
    assert gone == found


def test_numbers_go_by_the_start_and_survive_a_restart_and_rows_that_move(client, tasks, settle) -> None:
    first = LiveModel(client, tasks)
    first.start()
    settle()
    of = first.list.numbers.of
    assert [of(f"live-{n}") for n in (6, 5, 4, 3, 2, 1)] == [1, 2, 3, 4, 5, 6], "live-6 began first"
    client.api.put(replace(ROWS["live-1"], state=RunState.PAUSED, risk=1.0))
    assert (of("live-1"), first.list.row_of("live-1")) == (6, 2)
    kept = first.session()
    client.api.rows = {run: row for run, row in client.api.rows.items() if run != "live-6"}
    again = LiveModel(client, tasks)
    again.restore(kept)
    again.start()
    settle()
    assert [again.list.numbers.of(f"live-{n}") for n in (5, 4, 3, 2, 1)] == [2, 3, 4, 5, 6]


def test_the_session_is_saved_when_a_run_gets_its_number(client, tasks, settle) -> None:
    live = LiveModel(client, tasks)
    told: list[None] = []
    live.numbered.connect(lambda: told.append(None))
    live.start()
    settle()
    assert len(told) == 1
    client.api.put(replace(ROWS["live-1"], step=9))
    settle(0.1)
    assert len(told) == 1
    client.api.put(replace(ROWS["live-1"], run="live-9"))
    settle(0.1)
    assert len(told) == 2


# ------------------------------------------------------------ rows under busy hands
def busy_list(clock: ManualClock) -> tuple[RunList, InputGuard]:
    hands = InputGuard(clock)
    rows = RunList(clock=clock, is_busy=lambda: hands.is_busy)
    hands.idle.connect(rows.arrange)
    rows.tester = QAbstractItemModelTester(rows, QAbstractItemModelTester.FailureReportingMode.Fatal)  # type: ignore[attr-defined]
    rows.settle(ROWS.values())
    return rows, hands


def runs(rows: RunList) -> list[str]:
    return [one.run for one in rows.rows]


def test_rows_keep_their_places_under_busy_hands_and_take_their_own_once_they_rest(clock) -> None:
    rows, hands = busy_list(clock)
    before = runs(rows)
    hands.touch()
    rows.put(replace(ROWS["live-6"], state=RunState.PAUSED, risk=1.0))
    rows.put(replace(ROWS["live-2"], needs=(), state=RunState.ENDED))
    rows.put(replace(ROWS["live-3"], run="new"))
    assert runs(rows) == [*before, "new"], "a new one comes last"
    assert rows.at(rows.row_of("live-6")).state is RunState.PAUSED, "what they say is of now"
    clock.forward(IDLE_SECONDS + LATER)
    hands.look()
    assert runs(rows) == ["live-3", "new", "live-6", "live-4", "live-1", "live-5", "live-2"]


def test_sorting_is_not_waited_for_where_it_is_asked_for(clock) -> None:
    rows, hands = busy_list(clock)
    hands.touch()
    rows.put(replace(ROWS["live-6"], state=RunState.PAUSED, risk=1.0))
    rows.arrange()
    assert runs(rows)[2] == "live-6"


def test_a_change_after_the_rest_sorts_even_if_the_timer_is_late(clock) -> None:
    rows, hands = busy_list(clock)
    hands.touch()
    rows.put(replace(ROWS["live-6"], state=RunState.PAUSED, risk=1.0))
    clock.forward(IDLE_SECONDS + LATER)
    rows.put(replace(ROWS["live-1"], step=9))
    assert runs(rows)[2] == "live-6"


# ------------------------------------------------------------ actions that wait
class Sent:
    """A delayed action that records what became of it."""

    def __init__(self, held: DelayedActions, clock: ManualClock, tasks) -> None:
        self.held, self.clock, self.notes = held, clock, []

    def ask(self, key: str, error: Exception | None = None) -> None:
        async def send() -> str:
            self.notes.append(f"sent {key}")
            if error is not None:
                raise error
            return key

        self.held.hold(
            DelayedAction(
                key=key, label=f"end {key}", at=self.clock(), send=send,
                sent=lambda answer: self.notes.append(f"done {answer}"),
                failed=lambda why: self.notes.append(f"failed: {why}"),
                undone=lambda: self.notes.append(f"back {key}"),
            )
        )  # fmt: skip


@pytest.fixture
def actions(tasks, clock) -> Sent:
    return Sent(DelayedActions(tasks, clock), clock, tasks)


def test_a_held_action_is_sent_after_five_seconds_and_not_before(actions, clock, settle) -> None:
    actions.ask("a")
    clock.forward(UNDO_SECONDS + SOONER)
    actions.held.look()
    settle()
    assert (actions.notes, actions.held.get("a") is not None) == ([], True)
    clock.forward(LATER - SOONER)
    actions.held.look()
    settle()
    assert (actions.notes, actions.held.newest) == (["sent a", "done a"], None)


def test_undo_takes_back_the_newest_and_the_others_wait_on(actions, clock, settle) -> None:
    actions.ask("a")
    clock.forward(2)
    actions.ask("b")
    assert actions.held.take_back() == "end b"
    clock.forward(UNDO_SECONDS)
    actions.held.look()
    settle()
    assert actions.notes == ["back b", "sent a", "done a"]
    assert actions.held.take_back() == ""


def test_one_action_waits_for_a_run_and_one_that_fails_says_why(actions, clock, settle) -> None:
    actions.ask("a", Conflict("too late"))
    actions.ask("a")
    clock.forward(UNDO_SECONDS)
    actions.held.look()
    settle()
    assert actions.notes == ["sent a", "failed: too late"]


def test_a_window_that_closes_in_good_order_sends_what_waits(actions, run) -> None:
    actions.ask("a")
    actions.ask("b", Conflict("gone"))
    actions.ask("c")
    run(actions.held.finish())
    assert actions.notes == ["sent a", "sent b", "sent c"]


def test_undo_takes_back_whichever_was_done_last_in_the_window_or_in_the_history(
    client, tasks, actions, clock, settle, monkeypatch
) -> None:
    from app.engine.core.events import HistoryChanged

    workspace = WorkspaceModel(client, tasks)
    workspace.follow(actions.held)
    undone: list[str] = []

    async def undo():
        undone.append("history")
        raise Conflict("enough")

    monkeypatch.setattr(client.api, "undo", undo)
    monkeypatch.setattr("app.models.common.workspace.time.monotonic", clock)
    client.api.bus.publish(HistoryChanged(undo="retire tip 1", redo=""))
    assert workspace.undo_label == "retire tip 1"
    clock.forward(1)
    actions.ask("a")
    assert workspace.undo_label == "end a"
    assert not workspace.can_offer_undo, "a message about it has its own undo"
    workspace.undo()
    assert (actions.notes, undone) == (["back a"], [])
    actions.ask("b")
    clock.forward(1)
    client.api.bus.publish(HistoryChanged(undo="retire tip 2", redo=""))
    assert workspace.undo_label == "retire tip 2"
    workspace.undo()
    settle()
    assert (actions.notes, undone) == (["back a"], ["history"])


def test_an_undo_that_comes_a_moment_too_late_takes_back_nothing_else(
    client, tasks, actions, clock, settle, monkeypatch
) -> None:
    from app.engine.core.events import HistoryChanged

    workspace = WorkspaceModel(client, tasks)
    workspace.follow(actions.held)
    undone: list[str] = []
    said: list[str] = []
    workspace.said.connect(lambda words, _kind: said.append(words))

    async def undo():
        undone.append("history")
        raise Conflict("enough")

    monkeypatch.setattr(client.api, "undo", undo)
    client.api.bus.publish(HistoryChanged(undo="retire tip 1", redo=""))
    actions.ask("a")
    clock.forward(UNDO_SECONDS)
    actions.held.look()
    workspace.undo()
    workspace.undo_held_back()
    settle()
    assert (said, undone) == (["Too late to undo: end a", "Too late to undo"], [])
    clock.forward(TOO_LATE_SECONDS)
    workspace.undo_held_back()
    workspace.undo()
    settle()
    assert undone == ["history"]


# ------------------------------------------------------------ the next action
ROW = LiveRow(run="r", intent="Buy it", state=RunState.RUNNING, step=4)
PLANNED = PlannedAction(
    run="r", step=4, words="click link 'Stock'", call="click('1')", url="http://shop.test/stock"
)


def asked(need: Need) -> ApprovalRequest:
    return ApprovalRequest(id=need.value, run="r", need=need, step=4, question="?")


@pytest.mark.parametrize(
    ("row", "shown", "is_next"),
    [
        (ROW, "", True),
        (ROW, PLANNED.url, True),
        (ROW, PLANNED.url + "#top", True),
        (replace(ROW, step=5), PLANNED.url, False),  # it was done
        (replace(ROW, step=3), PLANNED.url, True),  # the row is a moment behind
        (ROW, "http://shop.test/check", False),  # the page is another
        (ROW, "http://other.test/stock", False),
        (replace(ROW, run="other"), "", False),
        (replace(ROW, state=RunState.PAUSED), "", True),
        (replace(ROW, state=RunState.WAITING, needs=(asked(Need.APPROVAL),)), "", True),
        (replace(ROW, state=RunState.WAITING, needs=(asked(Need.QUESTION),)), "", True),
        (replace(ROW, state=RunState.WAITING, needs=(asked(Need.WALL),)), "", False),
        (replace(ROW, state=RunState.WAITING, needs=(asked(Need.TROUBLE),)), "", False),
        (replace(ROW, state=RunState.WAITING, needs=(asked(Need.FLAG),)), "", False),
        (replace(ROW, state=RunState.TAKEN_OVER), "", False),
        (replace(ROW, state=RunState.RECOVERING), "", False),
        (replace(ROW, state=RunState.INTERRUPTED), "", False),
        (replace(ROW, state=RunState.ENDED), "", False),
        (replace(ROW, state=RunState.QUEUED), "", False),
        (None, "", False),
    ],
)
def test_the_next_action_is_one_that_is_still_to_be_done_on_the_page_it_was_planned_for(
    row, shown, is_next
) -> None:
    assert (still_next(PLANNED, row, shown) is PLANNED) is is_next
    assert still_next(None, row, shown) is None


def test_an_address_with_a_token_is_the_same_page_as_its_redacted_one() -> None:
    assert same_page("http://shop.test/a?utm_source=mail", "http://shop.test/a")
    assert same_page(
        "http://shop.test/a?access_token=abcdef123456789", "http://shop.test/a?access_token=[redacted]"
    )
    assert not same_page("http://shop.test/a#/cart", "http://shop.test/a#/list")
    assert not same_page("http://shop.test/a?page=2", "http://shop.test/a?page=3")


def test_a_stale_next_action_of_the_engine_is_not_shown_when_the_run_is_opened(
    client, tasks, settle, monkeypatch
) -> None:
    api = client.api
    done = replace(api.next_of("live-1"), step=api.rows["live-1"].step - 1)
    monkeypatch.setattr(api, "next_of", lambda _run: done)
    live = LiveModel(client, tasks)
    live.start()
    settle()
    live.open("live-1")
    settle()
    assert live.detail is not None
    assert (live.detail.next, live.next) == (done, None)


def test_what_was_planned_before_a_takeover_is_not_the_next_action_after_it(client, tasks, settle) -> None:
    live = LiveModel(client, tasks)
    live.start()
    settle()
    live.open("live-1")
    settle()
    assert live.next is not None
    client.api.put(replace(client.api.rows["live-1"], state=RunState.TAKEN_OVER))
    assert live.next is None
    client.api.put(replace(client.api.rows["live-1"], state=RunState.RUNNING))
    assert live.next is None
    client.api.bus.publish(ActionPlanned(next=client.api.next_of("live-1")))
    assert live.next is not None


def test_deciding_is_said_only_of_a_run_that_decides() -> None:
    thinking = replace(ROW, stage=Stage.THINKING)
    assert is_deciding(thinking)
    assert is_deciding(replace(ROW, stage=Stage.LOOKING))
    assert not is_deciding(replace(ROW, stage=Stage.ACTING))
    assert not is_deciding(replace(thinking, state=RunState.PAUSED))
    assert not is_deciding(replace(thinking, needs=(asked(Need.WALL),)))
    assert not is_deciding(None)


def test_an_action_that_hangs_keeps_no_window_open(actions, run, monkeypatch) -> None:
    monkeypatch.setattr("app.models.live.delayed_actions.UNDO_SECONDS", 0.05)

    async def hangs() -> None:
        await asyncio.sleep(60)

    actions.held.hold(
        DelayedAction(
            key="a",
            label="end a",
            send=hangs,
            sent=lambda _answer: actions.notes.append("done"),
            failed=lambda _why: None,
        )
    )
    actions.ask("b")
    run(actions.held.finish())
    assert actions.notes == ["sent b"]
