"""The supervisor's desk: what was asked, decided, said and done is a row, and a row stays."""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.api.run_api import RunRequest
from app.engine.core.intervention_policy import (
    DEFAULT_POLICY,
    UNATTENDED,
    FlagRule,
    PolicyAnswer,
    Reaction,
    RiskClass,
)
from app.engine.core.supervision import (
    MAX_HINT_CHARS,
    ApprovalScope,
    DecisionKind,
    FlagReaction,
    Hint,
    Intervention,
    LiveRow,
    OperatorAction,
    OperatorDecision,
    RaisedFlag,
    RequestState,
    RunState,
    TipOverride,
)
from app.engine.core.verdicts import Severity
from app.engine.store.database import translate_error
from app.engine.store.review_schema import APPEND_ONLY
from app.engine.store.review_store import ReviewStore
from app.engine.store.supervision.supervision_state import LiveRunSnapshot
from app.engine.store.supervision.supervision_store import SupervisionStore
from app.engine.store.workspace import Workspace
from app.errors import Conflict, NotFound, StoreError, UsageError
from tests.support.kill_supervision_writers import ask
from tests.support.laws import examples

ROOT = Path(__file__).parents[3]
YES = OperatorDecision(kind=DecisionKind.APPROVE, author="ana", at=7.0)


@pytest.fixture
def place(tmp_path):
    return tmp_path / "workspace"


@pytest.fixture
def desk(place):
    with Workspace.open(place) as workspace:
        yield workspace.supervision


def hint(id: str = "h1", text: str = "Look under 'Orders'", run: str = "run") -> Hint:
    return Hint(id=id, run=run, step=2, text=text, author="ana", at=3.0)


def reaction(step: int = 1, right: bool = True, **more: object) -> FlagReaction:
    return replace(FlagReaction(run="run", step=step, detector="crash", right=right), **more)


def live_note(run: str, state: RunState = RunState.PAUSED) -> LiveRunSnapshot:
    mark = RaisedFlag(detector="crash", step=2, severity=Severity.ERROR, message="broke off")
    row = LiveRow(run=run, intent="Find it", state=state, flags=(mark,), needs=(ask("r1", run),), step=3)
    return LiveRunSnapshot(run=run, row=row, at=9.0)


# ---------------------------------------------------------------- requests


def test_a_request_is_open_then_decided_then_closed_when_the_step_that_goes_by_it_has_begun(
    desk: SupervisionStore,
):
    opened = desk.open_request(ask("r1"))
    assert opened.state is RequestState.OPEN
    assert desk.requests("run") == [opened]
    decided = desk.decide("r1", YES)
    assert (decided.state, decided.decision) == (RequestState.DECIDED, YES)
    assert desk.requests("run") == [decided]
    [closed] = desk.close_requests(["r1", "unknown"], 11.0)
    assert (closed.state, closed.closed_at, closed.decision, closed.void) == (
        RequestState.CLOSED,
        11.0,
        YES,
        "",
    )
    assert desk.requests("run") == []
    assert desk.requests("run", closed=True) == [closed]
    assert desk.close_requests(["r1"], 12.0) == []


def test_a_second_decision_is_told_who_decided_and_what(desk: SupervisionStore):
    desk.open_request(ask("r1"))
    desk.decide("r1", YES)
    with pytest.raises(Conflict, match="decided already by ana: approve"):
        desk.decide("r1", replace(YES, kind=DecisionKind.DENY, author="ben"))
    desk.close_requests(["r1"], 1.0)
    with pytest.raises(Conflict, match="decided already by ana: approve"):
        desk.decide("r1", YES)
    assert desk.request("r1").decision == YES


def test_a_request_nobody_waits_for_is_closed_with_the_reason_and_takes_no_decision(desk: SupervisionStore):
    desk.open_request(ask("r1"))
    voided = desk.void_request("r1", "the run ended")
    assert (voided.state, voided.void, voided.decision) == (RequestState.CLOSED, "the run ended", None)
    assert desk.void_request("r1", "again") == voided
    with pytest.raises(Conflict, match="the run ended"):
        desk.decide("r1", YES)


def test_an_undecided_request_is_not_closed_by_a_step(desk: SupervisionStore):
    desk.open_request(ask("r1"))
    assert desk.close_requests(["r1"], 1.0) == []
    assert desk.request("r1").state is RequestState.OPEN


def test_an_id_is_asked_once_and_an_unknown_one_is_said_to_be(desk: SupervisionStore):
    desk.open_request(ask("r1"))
    with pytest.raises(Conflict, match="exists already"):
        desk.open_request(ask("r1"))
    for deed in (
        lambda: desk.request("r2"),
        lambda: desk.decide("r2", YES),
        lambda: desk.void_request("r2", ""),
    ):
        with pytest.raises(NotFound, match="r2"):
            deed()


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        (OperatorDecision(kind=DecisionKind.EDIT, call="  "), "action is missing"),
        (OperatorDecision(kind=DecisionKind.ANSWER, text="\n"), "is empty"),
        (
            OperatorDecision(kind=DecisionKind.DENY, text="x" * (MAX_HINT_CHARS + 1)),
            "4,001 characters; at most 4,000",
        ),
        (OperatorDecision(kind=DecisionKind.EDIT, call="x" * 1_000_000), "1,000,000 characters"),
        (
            OperatorDecision(kind=DecisionKind.RETRY),
            "retry does not fit this approval: give approve, deny, edit",
        ),
    ],
)
def test_a_decision_that_lacks_something_is_refused_and_the_request_stays_open(desk, decision, said):
    desk.open_request(ask("r1"))
    with pytest.raises(UsageError, match=said):
        desk.decide("r1", decision)
    assert desk.request("r1").state is RequestState.OPEN


@given(deeds=st.lists(st.tuples(st.sampled_from("odcv"), st.integers(0, 2)), max_size=25))
@settings(deadline=None, max_examples=examples(60))
def test_a_request_goes_one_way_whatever_is_tried(tmp_path_factory, deeds):
    review = ReviewStore(tmp_path_factory.mktemp("desk") / "review.sqlite")
    desk, expected = SupervisionStore(review), dict[str, RequestState]()
    for deed, number in deeds:
        name = f"r{number}"
        before = expected.get(name)
        if deed == "o" and before is None:
            desk.open_request(ask(name))
            expected[name] = RequestState.OPEN
        elif deed == "d" and before is RequestState.OPEN:
            desk.decide(name, YES)
            expected[name] = RequestState.DECIDED
        elif deed == "d" and before is not None:
            with pytest.raises(Conflict):
                desk.decide(name, YES)
        elif deed == "c":
            desk.close_requests([name], 1.0)
            if before is RequestState.DECIDED:
                expected[name] = RequestState.CLOSED
        elif deed == "v" and before is not None:
            desk.void_request(name, "why")
            expected[name] = RequestState.CLOSED
        assert {one.id: one.state for one in desk.requests(closed=True)} == expected
        waiting = {id for id, state in expected.items() if state is not RequestState.CLOSED}
        assert {one.id for one in desk.requests()} == waiting
    review.close()


@given(text=st.text(max_size=60))
@settings(deadline=None, max_examples=examples(50))
def test_any_text_of_a_page_can_be_asked_about(tmp_path_factory, text):
    review = ReviewStore(tmp_path_factory.mktemp("desk") / "review.sqlite")
    SupervisionStore(review).open_request(replace(ask("r1"), question=text + "\ud800", words=text))
    found = SupervisionStore(review).request("r1")
    assert (found.words, found.question) == (text, text + "?")
    review.close()


# ---------------------------------------------------------------- hints, deeds, reactions


def test_a_hint_is_given_once_and_says_since_when(desk: SupervisionStore):
    desk.add_hint(hint("h1"))
    desk.add_hint(hint("h2", run="other"))
    assert [one.id for one in desk.take_hints("run", 5.0)] == ["h1"]
    desk.add_hint(hint("h3"))
    assert [one.id for one in desk.take_hints("run", 6.0)] == ["h3"]
    assert desk.take_hints("run", 7.0) == []
    assert [(one.id, one.taken_at) for one in desk.hints("run")] == [("h1", 5.0), ("h3", 6.0)]
    assert desk.hints("other") == [hint("h2", run="other")]


def test_a_hint_of_a_megabyte_or_of_no_words_is_refused_whole(desk: SupervisionStore):
    with pytest.raises(
        UsageError, match=r"1,000,000 characters; at most 4,000 are allowed .*nothing was stored"
    ):
        desk.add_hint(hint(text="x" * 1_000_000))
    with pytest.raises(UsageError, match="is empty"):
        desk.add_hint(hint(text=" \n"))
    assert desk.hints() == []
    assert desk.add_hint(hint(text="x" * MAX_HINT_CHARS)).text == "x" * MAX_HINT_CHARS


def test_deeds_stand_in_order_over_the_workspace(desk: SupervisionStore):
    first = desk.add_action(Intervention(run="a", step=1, action=OperatorAction.PAUSED, author="ana", at=9.0))
    second = desk.add_action(
        Intervention(run="b", step=1, action=OperatorAction.MENDED, author="watchdog", at=1.0)
    )
    third = desk.add_action(
        Intervention(run="a", step=1, action=OperatorAction.RESUMED, author="ana", at=2.0)
    )
    assert first.order < second.order < third.order
    assert desk.interventions("a") == [first, third]
    assert desk.interventions() == [first, second, third]


def test_the_newest_reaction_to_a_flag_counts(desk: SupervisionStore):
    desk.add_reaction(reaction(1, True, at=1.0))
    desk.add_reaction(reaction(2, True, at=2.0))
    desk.add_reaction(reaction(1, False, at=3.0))
    assert [(one.step, one.right) for one in desk.reactions("run")] == [(2, True), (1, False)]
    assert desk.reactions("other") == []


@pytest.mark.parametrize("table", APPEND_ONLY)
def test_nothing_a_person_did_can_be_changed_or_taken_away(desk: SupervisionStore, table: str):
    desk.open_request(ask("r1"))
    desk.decide("r1", replace(YES, scope=ApprovalScope.RUN))
    desk.close_requests(["r1"], 1.0)
    desk.add_hint(hint())
    desk.take_hints("run", 1.0)
    desk.add_action(Intervention(run="run", step=1, action=OperatorAction.PAUSED))
    desk.add_reaction(reaction())
    desk.set_tip_override("run", "t1", TipOverride.MUTED)
    [column] = [row["name"] for row in desk.connection.execute(f"PRAGMA table_info({table})")][:1]
    for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET {column} = {column}"):
        with pytest.raises(sqlite3.IntegrityError, match="kept for ever"):
            desk.connection.execute(statement)


# ---------------------------------------------------------------- what holds now


def test_where_a_run_stood_is_known_after_a_restart(place):
    request = RunRequest(intent="Find it", start_url="http://shop.example/")
    with Workspace.open(place) as workspace:
        workspace.supervision.save_snapshot(replace(live_note("b"), request=request))
        workspace.supervision.save_snapshot(live_note("a"))
        workspace.supervision.save_snapshot(live_note("b", RunState.WAITING))
    with Workspace.open(place) as workspace:
        notes = workspace.supervision.snapshots()
        assert notes == [replace(live_note("b", RunState.WAITING), request=request), live_note("a")]
        workspace.supervision.delete_snapshot("b")
        assert workspace.supervision.snapshots() == [live_note("a")]


def test_leanings_on_tips_hold_for_one_run_and_the_newest_counts(desk: SupervisionStore):
    desk.set_tip_override("run", "t1", TipOverride.MUTED)
    desk.set_tip_override("run", "t2", TipOverride.PINNED)
    desk.set_tip_override("run", "t1", TipOverride.NONE)
    desk.set_vote("run", "t1", 1)
    desk.set_vote("run", "t1", -1)
    desk.set_vote("run", "t2", 1)
    desk.set_vote("run", "t2", 0)
    assert desk.tip_overrides("run") == {"t2": TipOverride.PINNED}
    assert desk.votes("run") == {"t1": -1}
    assert desk.tip_overrides("other") == desk.votes("other") == {}
    with pytest.raises(UsageError, match="1, -1 or 0"):
        desk.set_vote("run", "t1", 5)


def test_a_decision_that_reaches_further_holds_for_the_run_or_the_site(desk: SupervisionStore):
    for name, verb, reach in (
        ("once", DecisionKind.APPROVE, ApprovalScope.ONCE),
        ("site", DecisionKind.APPROVE, ApprovalScope.SITE),
        ("run", DecisionKind.DENY, ApprovalScope.RUN),
    ):
        desk.open_request(replace(ask(name), site="shop"))
        desk.decide(name, replace(YES, kind=verb, scope=reach))
    assert desk.standing("run") == [(RiskClass.BUYS, PolicyAnswer.DENY)]
    assert desk.standing("other") == []
    assert desk.policy().answer("shop", RiskClass.BUYS) is PolicyAnswer.ALLOW
    assert desk.policy().answer("admin", RiskClass.BUYS) is PolicyAnswer.ASK


def test_what_was_decided_for_a_site_is_a_rule_of_the_policy_that_undo_takes_back(place):
    with Workspace.open(place) as workspace:
        desk = workspace.supervision
        desk.open_request(replace(ask("r1"), site="shop"))
        desk.decide("r1", replace(YES, kind=DecisionKind.DENY, scope=ApprovalScope.SITE))
        assert desk.policy().answer("shop", RiskClass.BUYS) is PolicyAnswer.DENY
        workspace.undo()
        assert desk.policy().answer("shop", RiskClass.BUYS) is PolicyAnswer.ASK


def test_an_answer_or_an_edit_gives_no_standing_leave(desk: SupervisionStore):
    desk.open_request(replace(ask("r1"), site="shop"))
    desk.decide("r1", OperatorDecision(kind=DecisionKind.EDIT, call='click("3")', scope=ApprovalScope.SITE))
    assert desk.standing("run") == []


def test_the_policy_is_the_usual_one_until_it_is_edited_and_undo_leads_back(place):
    strict = replace(
        DEFAULT_POLICY,
        flags=(*DEFAULT_POLICY.flags, FlagRule(severity=Severity.HINT, reaction=Reaction.ASK, site="shop")),
    )
    with Workspace.open(place) as workspace:
        assert workspace.supervision.policy() == DEFAULT_POLICY
        workspace.supervision.save_policy(UNATTENDED, "ana")
        workspace.supervision.save_policy(strict, "ana")
        workspace.supervision.save_policy(strict, "ana")
    with Workspace.open(place) as workspace:
        assert workspace.supervision.policy() == strict
        assert workspace.undo().label == "edit the intervention policy"
        assert workspace.supervision.policy() == UNATTENDED
        workspace.undo()
        assert workspace.supervision.policy() == DEFAULT_POLICY
        assert workspace.undo() is None
        workspace.redo()
        workspace.redo()
        assert workspace.supervision.policy() == strict


def test_wishes_of_another_process_are_seen_and_granted_once(place):
    with Workspace.open(place) as window, Workspace.open(place) as line:
        before = window.supervision.data_version
        assert window.supervision.data_version == before
        line.supervision.add_remote_command("run", "pause")
        line.supervision.add_remote_command("other", "hint", "Look there")
        assert window.supervision.data_version != before
        taken = window.supervision.take_remote_commands(["run", "other"])
        assert [(one.run, one.what, one.text) for one in taken] == [
            ("run", "pause", ""),
            ("other", "hint", "Look there"),
        ]
        assert (
            window.supervision.take_remote_commands(["run", "other"])
            == line.supervision.take_remote_commands(["run", "other"])
            == []
        )
        with pytest.raises(UsageError, match="4,000"):
            line.supervision.add_remote_command("run", "hint", "x" * 5000)


# ---------------------------------------------------------------- trouble


def test_a_row_that_cant_be_read_costs_only_itself(desk: SupervisionStore, caplog):
    desk.open_request(ask("good"))
    for table, columns in (
        ("person_request (id, run, document)", "'bad', 'run', '{'"),
        ("person_decision (request, document)", "'good', '{\"verb\": \"fly\"}'"),
        ("person_hint (id, run, document)", "'bad', 'run', 'null'"),
        ("intervention (run, document)", "'run', '[]'"),
        ("flag_reaction (run, step, detector, document)", "'run', 1, 'crash', ''"),
        ("live_note (run, state, document, request, at)", "'run', 'running', '7', '', 1"),
        ("standing_answer (reach, run, site, risk, answer, at)", "'run', 'run', '', 'flies', 'allow', 1"),
        ("tip_leaning (run, tip, kind, value, at)", "'run', 't', 'stance', 'adored', 1"),
        ("state (key, value, at)", "'intervention-policy', '{\"flags\": 3}', 1"),
    ):
        desk.connection.execute(f"INSERT INTO {table} VALUES ({columns})")
    with caplog.at_level(logging.WARNING):
        assert [one.id for one in desk.requests()] == ["good"]
        assert (
            desk.hints()
            == desk.interventions()
            == desk.reactions()
            == desk.snapshots()
            == desk.standing("run")
            == []
        )
        assert desk.tip_overrides("run") == {}
        assert desk.policy() == DEFAULT_POLICY
    assert "is skipped" in caplog.text
    assert desk.decide("good", YES).decision == YES, "a broken decision is none"
    with pytest.raises(NotFound):
        desk.request("bad")
    desk.save_policy(UNATTENDED)
    assert desk.policy() == UNATTENDED


def test_a_workspace_of_before_gets_its_desk_and_keeps_its_verdicts(place):
    with Workspace.open(place) as workspace:
        workspace.review.save_session({"place": "review"})
        rows = workspace.review.connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid DESC"
        )
        for table in {row[0] for row in rows.fetchall()} - {"verdict", "mark", "state", "deed", "opinion"}:
            workspace.review.connection.execute("PRAGMA foreign_keys = OFF")
            workspace.review.connection.execute(f"DROP TABLE {table}")
        for column in ("origin", "settles"):
            workspace.review.connection.execute(f"ALTER TABLE verdict DROP COLUMN {column}")
        workspace.review.connection.execute("PRAGMA user_version = 2")
    with Workspace.open(place) as workspace:
        assert workspace.supervision.requests() == []
        assert workspace.review.load_session() == {"place": "review"}
    assert list(place.glob("review.sqlite.backup-v2-*"))


@pytest.mark.parametrize(
    ("pragma", "said"), [("query_only = 1", "can't be written to"), ("max_page_count = 1", "disk is full")]
)
def test_a_disk_that_takes_nothing_is_said_and_nothing_is_half_there(
    desk: SupervisionStore, pragma: str, said: str
):
    desk.open_request(ask("r1"))
    desk.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    desk.connection.execute(f"PRAGMA {pragma}")
    big = "x" * 3000

    def noting() -> None:
        for number in range(100):
            desk.add_action(Intervention(run="run", step=number, action=OperatorAction.HINTED, words=big))

    def deciding() -> None:
        for number in range(100):
            desk.open_request(replace(ask(f"q{number}"), why=big))
            desk.decide(f"q{number}", replace(YES, text=big))

    for deeds in (noting, deciding):
        with pytest.raises(StoreError, match=said):
            deeds()
    desk.connection.execute("PRAGMA query_only = 0")
    desk.connection.execute("PRAGMA max_page_count = 100000")
    assert desk.decide("r1", YES).state is RequestState.DECIDED
    orders = [deed.order for deed in desk.interventions()]
    assert orders == sorted(set(orders))


def test_an_io_error_of_a_disk_that_became_read_only_is_called_so(tmp_path, monkeypatch):
    disk = SimpleNamespace(f_flag=1, f_frsize=4096, f_bavail=2**20, f_blocks=2**20, f_bfree=2**20)
    monkeypatch.setattr("os.statvfs", lambda path: disk)
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_WRITE
    assert "can't be written to" in str(translate_error(error, tmp_path / "review.sqlite"))


def test_writers_killed_at_any_moment_lose_no_acknowledged_row(tmp_path):
    command = [
        sys.executable,
        "-m",
        "tests.support.kill_supervision_writers",
        str(tmp_path / "workspace"),
        "20",
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=240, check=True)
    found = json.loads(done.stdout)
    assert found["faults"] == []
    assert found["acknowledged"] > 20


def may_mount() -> bool:
    """Whether this process may mount a disk of its own."""
    if shutil.which("unshare") is None:
        return False
    command = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(command, capture_output=True, check=False, timeout=20).returncode == 0


@pytest.mark.parametrize(
    ("how", "said"), [("full", "the disk is full"), ("read-only", "it can't be written to")]
)
def test_on_a_real_disk_that_refuses_the_desk_says_so_and_goes_on_when_it_takes_again(tmp_path, how, said):
    if not may_mount():
        pytest.skip("this process may not mount a disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["unshare", "-rm", sys.executable, "-m", "tests.support.supervision_disk", how, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=True)
    found = json.loads(done.stdout)
    assert said in found["said"]
    assert found["whole"]
