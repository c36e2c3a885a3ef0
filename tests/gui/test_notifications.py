"""Notifications: which runs are notified, when, and which not, with a fake clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from app.engine.core.events import LiveRunChanged, LiveRunDismissed, PolicyChanged, RequestChanged
from app.engine.core.intervention_policy import FlagRule, InterventionPolicy, Reaction
from app.engine.core.supervision import ApprovalRequest, LiveRow, Need, RaisedFlag, RequestState, RunState
from app.engine.core.verdicts import Severity
from app.models.common.desktop_notifications import TIMEOUT_SECONDS
from app.models.common.notifications import DEBOUNCE_SECONDS, NotificationModel, Urgency
from tests.support import qt_loop

NOON = datetime(2026, 11, 21, 12, 0)
ERROR = RaisedFlag(detector="loop", step=3, severity=Severity.ERROR, message="the same click 3 times")
WARNING = RaisedFlag(detector="slow", step=2, severity=Severity.WARNING, message="longer than usual here")
HINT = RaisedFlag(detector="odd", step=1, severity=Severity.HINT, message="an odd address")


def row(run="a", state=RunState.RUNNING, **more):
    return LiveRow(**{"run": run, "intent": f"Task {run}", "state": state, "site": "shop", "step": 4, **more})


def need(run="a", number=1, **more):
    return ApprovalRequest(
        **{
            "id": f"{run}-{number}",
            "run": run,
            "need": Need.WALL,
            "step": 4,
            "question": "A captcha.",
            **more,
        }
    )


def blocked(run="a", number=1, **more):
    return row(run, RunState.WAITING, needs=(need(run, number),), **more)


class Desk:
    """The notification model over a scripted engine."""

    def __init__(self, calls, engine, settle):
        self.calls, self.engine, self.settle = calls, engine, settle
        self.told, self.settled, self.counts, self.quiet = [], [], [], []
        calls.called.connect(self.told.append)
        calls.settled.connect(self.settled.append)
        calls.waiting_changed.connect(self.counts.append)
        calls.quiet.changed.connect(self.quiet.append)

    def put(self, *rows):
        for one in rows:
            self.engine.bus.publish(LiveRunChanged(row=one))

    def wait(self, count=1):
        qt_loop.until(lambda: len(self.told) >= count)
        return self.told[count - 1]

    def silence(self):
        self.settle(0.25)
        return not self.told


@pytest.fixture
def clock():
    return {"now": NOON}


@pytest.fixture
def desk(client, tasks, fake_engine, settle, clock):
    fake_engine.rows.clear()
    calls = NotificationModel(client, tasks, now=lambda: clock["now"], debounce=0.05, patience=0.3)
    calls.start()
    settle(0.1)
    return Desk(calls, fake_engine, settle)


def test_a_run_that_is_blocked_calls_with_its_question(desk):
    desk.put(row(), blocked())
    call = desk.wait()
    assert (call.run, call.weight) == ("a", Urgency.BLOCKED)
    assert desk.calls.words_of(call) == ("Needs you: Task a", "A captcha.")


def test_the_usual_wait_and_a_desktop_that_hangs_are_below_two_seconds():
    assert DEBOUNCE_SECONDS + TIMEOUT_SECONDS < 2.0


def test_a_call_comes_by_itself_after_the_usual_wait(client, tasks, fake_engine, settle):
    calls = NotificationModel(client, tasks)
    desk = Desk(calls, fake_engine, settle)
    calls.start()
    settle(0.1)
    fake_engine.put(replace(fake_engine.rows["live-1"], state=RunState.WAITING, needs=(need("live-1"),)))
    assert desk.wait().run == "live-1"


@pytest.mark.parametrize(
    ("outcome", "weight"),
    [
        ("answered", Urgency.DONE), ("ended_by_environment", Urgency.DONE), ("step_limit", Urgency.FAILED),
        ("infeasible", Urgency.FAILED), ("crashed", Urgency.FAILED), ("needs_person", Urgency.FAILED),
        ("out_of_budget", Urgency.FAILED),
    ],
)  # fmt: skip
def test_a_run_that_ends_calls_by_how_it_ended(desk, outcome, weight):
    desk.put(row(), row(state=RunState.ENDED, outcome=outcome, why="why it ended"))
    call = desk.wait()
    assert call.weight is weight
    assert call.reasons[0].words == "why it ended"


def test_a_run_that_ends_without_a_reason_calls_with_the_label_of_its_outcome(desk):
    desk.put(row(), row(state=RunState.ENDED, outcome="step_limit"))
    assert desk.wait().reasons[0].words == "out of steps"


def test_what_a_person_did_calls_nobody(desk):
    desk.put(row(), row(state=RunState.PAUSED), row(state=RunState.TAKEN_OVER), row())
    desk.put(row(state=RunState.ENDED, outcome="stopped"))
    assert desk.silence()


def test_a_run_that_was_broken_off_calls(desk):
    desk.put(row(), row(state=RunState.INTERRUPTED, why="its browser died"))
    assert desk.wait().weight is Urgency.BLOCKED


def test_a_run_that_is_gone_on_with_by_itself_after_it_broke_off_calls_nobody(desk):
    desk.put(row(), row(state=RunState.INTERRUPTED), row(state=RunState.RECOVERING))
    desk.put(row("b", RunState.PAUSED), row("b", RunState.INTERRUPTED))
    desk.settle(0.6)
    assert not desk.told


def test_of_one_run_the_heaviest_of_a_burst_is_told_once(desk):
    flagged = row(flags=(WARNING,))
    desk.put(
        row(), flagged, replace(flagged, state=RunState.WAITING, needs=(need(),)), replace(flagged, step=5)
    )
    desk.put(replace(flagged, state=RunState.WAITING, needs=(need(),)))
    call = desk.wait()
    assert [reason.weight for reason in call.reasons] == [Urgency.BLOCKED]
    desk.settle(0.2)
    assert len(desk.told) == 1


def test_many_runs_at_once_are_one_call_the_heaviest_first(desk):
    for run in "abcdefg":
        desk.put(row(run))
    desk.put(row("a", RunState.ENDED, outcome="answered"), row("b", RunState.ENDED, outcome="step_limit"))
    desk.put(
        blocked("c"), blocked("d"), row("e", RunState.ENDED, outcome="answered"), blocked("f"), blocked("g")
    )
    call = desk.wait()
    assert call.runs == ("c", "d", "f", "g", "b", "a", "e")
    title, body = desk.calls.words_of(call)
    assert title == "4 need you, 1 failed, 2 done"
    assert body.splitlines()[0] == "Needs you: Task c · A captcha."
    assert body.splitlines()[-1] == "and 2 more"


def test_the_run_in_front_of_the_person_never_calls(desk):
    desk.calls.look_at("a")
    desk.calls.set_active(True)
    desk.put(row(), blocked(), row("b"), blocked("b"))
    call = desk.wait()
    assert call.runs == ("b",)
    assert desk.calls.waiting == ("a", "b")


def test_the_run_is_only_in_front_while_the_window_has_the_keys(desk):
    desk.calls.look_at("a")
    desk.calls.set_active(False)
    desk.put(row(), blocked())
    assert desk.wait().run == "a"


def test_a_call_whose_run_was_opened_meanwhile_is_not_shown(desk):
    desk.put(row(), blocked())
    desk.calls.look_at("a")
    desk.calls.set_active(True)
    assert desk.silence()


def test_a_request_decided_before_the_call_is_not_told_of(desk):
    desk.put(row(), blocked())
    desk.engine.bus.publish(RequestChanged(request=replace(need(), state=RequestState.DECIDED)))
    assert desk.silence()


def test_a_run_taken_off_the_wall_calls_nobody_and_waits_no_more(desk):
    desk.put(row(), blocked())
    desk.engine.bus.publish(LiveRunDismissed(run="a"))
    assert desk.silence()
    assert desk.counts == [1, 0]


def test_a_second_request_of_the_same_run_calls_again(desk):
    desk.put(row(), blocked())
    desk.wait()
    desk.put(row(), blocked(number=2))
    assert desk.wait(2).reasons[0].about == "a-2"


def test_a_decision_settles_the_call(desk):
    desk.put(row(), blocked())
    desk.wait()
    desk.put(row())
    assert desk.settled == ["a"]
    assert desk.counts == [1, 0]


def test_looking_at_the_run_settles_the_call(desk):
    desk.put(row(), blocked())
    desk.wait()
    desk.calls.look_at("a")
    desk.calls.set_active(True)
    assert desk.settled == ["a"]
    assert desk.calls.waiting == ("a",)


def test_flags_call_by_the_policy(desk):
    desk.put(row(), row(flags=(HINT,)))
    assert desk.silence()
    desk.put(row(flags=(HINT, WARNING)), row(flags=(HINT, WARNING), step=5))
    call = desk.wait()
    assert (call.weight, call.reasons[0].words) == (Urgency.FLAGGED, WARNING.message)
    desk.put(row(flags=(HINT, WARNING, ERROR), state=RunState.PAUSED))
    call = desk.wait(2)
    assert (call.weight, call.reasons[0].words) == (Urgency.BLOCKED, ERROR.message)
    assert desk.calls.waiting == ("a",)
    desk.settle(0.2)
    assert len(desk.told) == 2


def test_a_flag_is_told_of_once_though_its_run_is_paused_by_hand_later(desk):
    desk.put(row(), row(flags=(ERROR,), state=RunState.PAUSED))
    desk.wait()
    desk.put(row(flags=(ERROR,)), row(flags=(ERROR,), state=RunState.PAUSED))
    desk.settle(0.2)
    assert len(desk.told) == 1


def test_another_policy_counts_at_once(desk):
    quiet = InterventionPolicy(flags=(FlagRule(severity=Severity.ERROR, reaction=Reaction.MARK),))
    desk.engine.policy = quiet
    desk.engine.bus.publish(PolicyChanged())
    desk.settle(0.1)
    assert desk.calls.policy == quiet
    desk.put(row(), row(flags=(ERROR,), state=RunState.PAUSED))
    assert desk.silence()


def test_what_waited_at_the_start_is_counted_and_not_called(client, tasks, fake_engine, settle):
    calls = NotificationModel(client, tasks, debounce=0.05)
    desk = Desk(calls, fake_engine, settle)
    calls.start()
    settle(0.1)
    assert set(calls.waiting) == {"live-2", "live-3", "live-4"}
    assert desk.silence()


def test_what_happened_while_the_engine_was_away_is_told(desk, client):
    desk.put(row())
    desk.engine.rows = {"a": blocked()}
    client.host_changed.emit("The engine stopped unexpectedly.")
    client.host_changed.emit("")
    assert desk.wait().run == "a"


def test_quiet_for_an_hour_holds_calls_back_and_then_tells_who_still_waits(desk, clock):
    desk.calls.quiet.toggle()
    assert desk.quiet == ["Quiet until 13:00"]
    desk.put(row(), blocked(), row("b"), row("b", RunState.ENDED, outcome="answered"))
    assert desk.silence()
    assert desk.counts == [1]
    clock["now"] = NOON + timedelta(hours=1, seconds=1)
    desk.calls.quiet.look()
    assert desk.wait().runs == ("a",)
    assert desk.quiet == ["Quiet until 13:00", ""]


def test_quiet_ends_by_the_same_key(desk):
    desk.calls.quiet.toggle()
    desk.calls.quiet.toggle()
    assert not desk.calls.quiet.is_on
    desk.put(row(), blocked())
    desk.wait()


def test_quiet_hours_hold_over_midnight(desk, clock):
    assert desk.calls.quiet.set_hours("22:00-07:00") == ""
    assert not desk.calls.quiet.is_on
    clock["now"] = datetime(2026, 11, 22, 3, 0)
    assert desk.calls.quiet.words == "Quiet until 07:00"
    desk.put(row(), blocked())
    assert desk.silence()
    desk.calls.quiet.toggle()  # this night the person sits at it
    assert desk.wait().run == "a"
    clock["now"] = datetime(2026, 11, 22, 23, 0)
    assert desk.calls.quiet.is_on


def test_quiet_hours_that_make_no_sense_are_said_and_the_old_ones_stay(desk):
    desk.calls.quiet.set_hours("11-13")
    assert "tonight" in desk.calls.quiet.set_hours("tonight")
    assert desk.calls.quiet.is_on


def test_calls_that_are_off_still_count(desk):
    desk.calls.enabled = False
    desk.put(row(), blocked())
    assert desk.silence()
    assert desk.calls.waiting == ("a",)


def test_a_thousand_changes_of_fifty_runs_are_a_handful_of_calls(desk):
    for number in range(50):
        desk.put(row(f"r{number}"))
    for turn in range(20):
        for number in range(50):
            state = blocked(f"r{number}", turn) if turn % 2 else row(f"r{number}")
            desk.put(state)
    desk.wait()
    desk.settle(0.3)
    assert len(desk.told) <= 10
    assert len(desk.told[-1].reasons) <= 50
