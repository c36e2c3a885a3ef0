"""The run list: order, moves, clocks, texts, subscriptions; without a window."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPersistentModelIndex
from PySide6.QtTest import QAbstractItemModelTester

from app.engine.core.supervision import LiveRow, RunState, Stage, sort_live_rows
from app.errors import SiteloreError
from app.models.live.frames import FULL_RATE, TILE_RATE, FrameSubscriptions
from app.models.live.model import LiveModel
from app.models.live.run_list import (
    RunList,
    clock_words,
    display_state,
    need_words,
    state_words,
    step_words,
)
from tests.support.fake_live import make_rows
from tests.support.laws import examples

ROWS = {row.run: row for row in make_rows()}


def row(run: str = "r", **more: object) -> LiveRow:
    usual = LiveRow(run=run, intent="Find it", state=RunState.RUNNING, max_steps=30)
    return replace(usual, **more)  # type: ignore[arg-type]


def wall() -> RunList:
    made = RunList()
    made.tester = QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Fatal)  # type: ignore[attr-defined]
    return made


def runs(rows: RunList) -> list[str]:
    return [one.run for one in rows.rows]


def test_who_needs_a_person_stands_first_then_paused_running_queued_ended() -> None:
    rows = wall()
    rows.settle(ROWS.values())
    assert runs(rows) == ["live-2", "live-3", "live-4", "live-1", "live-5", "live-6"]


def test_a_change_of_rank_moves_one_row_and_never_resets(qtbot) -> None:
    rows = wall()
    rows.settle(ROWS.values())
    held = QPersistentModelIndex(rows.index(rows.row_of("live-1")))
    resets: list[None] = []
    rows.modelReset.connect(lambda: resets.append(None))
    with qtbot.waitSignal(rows.rowsMoved):
        rows.put(replace(ROWS["live-1"], state=RunState.PAUSED, risk=0.99))
    assert runs(rows)[2] == "live-1"
    assert held.row() == 2, "a selection stays on its run"
    assert not resets


def test_a_change_without_another_rank_moves_nothing() -> None:
    rows = wall()
    rows.settle(ROWS.values())
    moved: list[None] = []
    rows.rowsMoved.connect(lambda *_told: moved.append(None))
    rows.put(replace(ROWS["live-1"], step=9, words="click link 'Home'"))
    assert not moved
    assert rows.at(rows.row_of("live-1")).step == 9


states = st.sampled_from(list(RunState))
some_row = st.builds(
    lambda number, state, risk, started: row(f"r{number}", state=state, risk=risk, started_at=started),
    st.integers(0, 7), states, st.sampled_from([0.0, 0.2, 0.9]), st.sampled_from([1.0, 2.0]),
)  # fmt: skip


@settings(deadline=None, max_examples=examples(60))
@given(st.lists(st.one_of(some_row, st.integers(0, 7)), max_size=25), st.lists(some_row, max_size=6))
def test_whatever_is_told_the_rows_stand_in_the_walls_order(
    told: list[LiveRow | int], last: list[LiveRow]
) -> None:
    rows, now = wall(), {}
    for one in told:
        if isinstance(one, int):
            rows.drop(f"r{one}")
            now.pop(f"r{one}", None)
        else:
            rows.put(one)
            now[one.run] = one
        assert list(rows.rows) == sort_live_rows(now.values())
    rows.settle(last)
    assert list(rows.rows) == sort_live_rows({one.run: one for one in last}.values())


def test_a_clock_goes_on_while_the_run_does_and_stands_while_it_is_held() -> None:
    now = [100.0]
    rows = RunList(clock=lambda: now[0])
    going = row("a", seconds=10.0, stage=Stage.THINKING)
    held = row("b", seconds=10.0, state=RunState.PAUSED, stage=Stage.HELD)
    stepping = row("c", seconds=10.0, state=RunState.RUNNING, stage=Stage.HELD)
    rows.settle([going, held, stepping])
    now[0] += 5
    assert [rows.elapsed(one) for one in (going, held, stepping)] == [15.0, 10.0, 10.0]


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0:00"), (7.9, "0:07"), (750, "12:30"), (3723, "1:02:03"), (-3, "0:00")]
)
def test_clocks_read_as_clocks(seconds: float, words: str) -> None:
    assert clock_words(seconds) == words


@pytest.mark.parametrize(
    ("run", "face", "words"),
    [
        ("live-1", "running", "running"),
        ("live-2", "needs", "needs you"),
        ("live-4", "paused", "paused"),
        ("live-5", "queued", "queued"),
        ("live-6", "done", "answered"),
    ],
)
def test_every_state_has_a_face_and_a_word(run: str, face: str, words: str) -> None:
    assert display_state(ROWS[run]) == face
    assert state_words(ROWS[run]) == words


def test_a_likely_failure_is_called_risky_and_a_crash_is_called_a_crash() -> None:
    assert display_state(row(risk=0.7)) == "risky"
    assert state_words(row(state=RunState.ENDED, outcome="crashed")) == "crashed"
    assert state_words(row(state=RunState.INTERRUPTED)) == "interrupted"
    assert state_words(row(state=RunState.ENDED, outcome="step_limit")) == "out of steps"


def test_the_weightiest_need_is_told_with_how_many_more() -> None:
    both = replace(ROWS["live-2"], needs=(*ROWS["live-2"].needs, *ROWS["live-3"].needs))
    assert need_words(both).endswith("(and 1 more)")
    assert step_words(row(step=4)) == "step 4 of 30"
    assert step_words(row(step=4, max_steps=0)) == "step 4"


# ------------------------------------------------------------------------------------------------ what is watched


@pytest.fixture
def subscriptions(client, tasks) -> FrameSubscriptions:
    made = FrameSubscriptions(client, tasks)
    made.set_alive(["live-1", "live-2", "live-3"])
    return made


def test_tiles_in_sight_come_once_a_second_and_the_open_run_at_full_rate(
    subscriptions, fake_engine, settle
) -> None:
    subscriptions.set_shown(True)
    subscriptions.set_tiles(["live-1", "live-2", "live-5"], 280, 175)
    settle(0.15)
    assert fake_engine.watched == {"live-1": (280, 175, TILE_RATE), "live-2": (280, 175, TILE_RATE)}
    subscriptions.set_tiles([], 280, 175)
    subscriptions.set_page("live-2", 900, 560)
    settle(0.15)
    assert fake_engine.watched == {"live-2": (900, 560, FULL_RATE)}


def test_nothing_is_watched_while_nobody_sees_it(subscriptions, fake_engine, settle) -> None:
    subscriptions.set_tiles(["live-1"], 280, 175)
    subscriptions.set_page("live-2", 900, 560)
    settle(0.15)
    assert fake_engine.watched == {}
    subscriptions.set_shown(True)
    settle(0.15)
    assert set(fake_engine.watched) == {"live-1", "live-2"}
    subscriptions.set_shown(False)
    settle(0.15)
    assert fake_engine.watched == {}


def test_another_engine_is_told_everything_again(subscriptions, fake_engine, settle) -> None:
    subscriptions.set_shown(True)
    subscriptions.set_page("live-2", 900, 560)
    settle(0.15)
    fake_engine.watched.clear()
    subscriptions.forget()
    settle(0.15)
    assert set(fake_engine.watched) == {"live-2"}


def test_a_burst_of_sizes_is_told_once(subscriptions, fake_engine, settle, monkeypatch) -> None:
    asked: list[tuple[object, ...]] = []
    real = fake_engine.watch_page

    async def watch_page(*told: object) -> None:
        asked.append(told)
        await real(*told)

    monkeypatch.setattr(fake_engine, "watch_page", watch_page)
    subscriptions.set_shown(True)
    for width in range(400, 900, 10):
        subscriptions.set_page("live-2", width, 500)
    settle(0.15)
    assert asked == [("live-2", 890, 500, FULL_RATE)]


# ------------------------------------------------------------------------------------------------ the model


@pytest.fixture
def live(client, tasks, settle) -> LiveModel:
    made = LiveModel(client, tasks)
    made.start()
    settle()
    return made


def test_the_hand_is_on_the_run_that_needs_a_person_most(live: LiveModel) -> None:
    assert live.current == "live-2"
    assert live.run == ""
    assert [one.run for one in live.needing_attention] == ["live-2", "live-3"]


def test_the_most_needy_is_opened_first_and_then_the_next(live: LiveModel, settle) -> None:
    live.open_next_needing()
    assert live.run == "live-2"
    live.open_next_needing()
    assert live.run == "live-3"
    settle()
    assert live.detail is not None
    assert live.detail.row.run == "live-3"


def test_the_next_action_goes_once_its_step_is_recorded(live: LiveModel, fake_engine, settle) -> None:
    live.open("live-1")
    settle()
    fake_engine.plan("live-1")
    assert live.next is not None
    fake_engine.put(replace(fake_engine.rows["live-1"], step=live.next.step + 1))
    assert live.next is None


def test_opening_another_run_forgets_the_answer_for_the_first(live: LiveModel, settle) -> None:
    live.open("live-1")
    live.open("live-4")
    settle()
    assert live.detail is not None
    assert live.detail.row.run == "live-4"


def test_space_pauses_what_goes_and_goes_on_with_what_stands(live: LiveModel, fake_engine, settle) -> None:
    live.select("live-1")
    live.toggle_pause()
    settle()
    assert fake_engine.rows["live-1"].state is RunState.PAUSED
    live.toggle_pause()
    settle()
    assert fake_engine.rows["live-1"].state is RunState.RUNNING


def test_a_dismissed_run_gives_the_hand_to_its_neighbour(live: LiveModel, settle) -> None:
    live.select("live-6")
    live.dismiss()
    settle()
    assert live.row_of("live-6") is None
    assert live.current == "live-5"


def test_a_dismissed_run_that_was_large_goes_back_to_the_wall(
    live: LiveModel, fake_engine, run, settle
) -> None:
    live.open("live-6")
    settle()
    run(fake_engine.dismiss_run("live-6"))
    assert live.run == ""


def test_an_engine_that_came_back_is_asked_for_everything_again(
    live: LiveModel, client, fake_engine, settle
) -> None:
    live.open("live-1")
    settle()
    loaded: list[object] = []
    live.detail_loaded.connect(loaded.append)
    client.host_changed.emit("The engine stopped.")
    assert live.lost
    del fake_engine.rows["live-6"]
    client.host_changed.emit("")
    settle()
    assert not live.lost
    assert live.row_of("live-6") is None
    assert len(loaded) == 1
    assert live.run == "live-1"


def test_where_the_person_was_is_found_again(client, tasks, settle) -> None:
    made = LiveModel(client, tasks)
    made.restore({"run": "live-4", "current": "live-4"})
    made.start()
    settle()
    assert made.run == "live-4"
    other = LiveModel(client, tasks)
    other.restore({"run": "gone", "current": "gone"})
    other.start()
    settle()
    assert (other.run, other.current) == ("", "live-2")


def test_a_hint_and_a_takeover_become_a_draft(live: LiveModel, fake_engine, run, settle) -> None:
    drafts: list[object] = []
    live.tip_wanted.connect(drafts.append)
    live.open("live-1")
    settle()
    assert not live.can_write_tip
    run(fake_engine.send_hint("live-1", "The price is on the product's page."))
    live.write_tip()
    settle()
    assert drafts[-1].text == "The price is on the product's page."
    live.take_over()
    settle()
    live.release()
    settle()
    live.write_tip()
    settle()
    assert drafts[-1].text.startswith("The orders are under")
    live.add_to_map()
    settle()
    assert ("takeover_to_graph", ("live-1", live.takeover.first_step)) in fake_engine.calls


def test_an_engine_that_cannot_tell_the_runs_is_said(client, tasks, fake_engine, settle, monkeypatch) -> None:
    async def refuse() -> list[LiveRow]:
        raise SiteloreError("the desk is locked")

    monkeypatch.setattr(fake_engine, "live_runs", refuse)
    made = LiveModel(client, tasks)
    made.start()
    settle()
    assert made.is_loaded
    assert "locked" in made.error
