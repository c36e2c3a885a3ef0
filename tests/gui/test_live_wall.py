"""The wall as an operator of many runs uses it: filter, counts, groups, list, sizes, and what is painted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtTest import QTest

from app.engine.core.cost import Cost
from app.engine.core.supervision import RunState
from app.models.live.model import LiveModel
from app.models.live.wall_figures import HOUR, spent_words, wall_figures
from app.models.live.wall_list import GroupHeading
from app.views.live.view import LiveView
from tests.support.live_window import LiveWindow
from tests.support.manual_clock import ManualClock
from tests.support.many_live_runs import many_rows

SHIFT, ALT = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.AltModifier
SIZE = QSize(1224, 745)


@pytest.fixture
def make_wall(qtbot, client, tasks, center, theme, fake_engine):
    made: list[LiveWindow] = []

    def make(rows=None, size=SIZE):
        if rows is not None:
            fake_engine.rows = {row.run: row for row in rows}
            fake_engine.needs = {need.id: need for row in rows for need in row.needs}
        clock = ManualClock()
        model = LiveModel(client, tasks, clock=clock)
        view = LiveView(model, center, theme)
        qtbot.addWidget(view)
        view.addActions(center.actions())
        center.set_place("live")
        view.resize(size)
        view.show()
        view.activateWindow()
        view.focus_first()
        desk = LiveWindow(view, model, client.api, center, clock)
        made.append(desk)
        desk.until(view.isActiveWindow)
        model.start()
        desk.until(lambda: model.is_loaded)
        desk.wait(0.1)
        return desk

    yield make
    for desk in made:
        desk.view.hide()
        desk.model.frames.close()


@pytest.fixture
def live(make_wall) -> LiveWindow:
    return make_wall()


def shown(live: LiveWindow) -> list[str]:
    return [row.group if isinstance(row, GroupHeading) else row.run for row in live.model.wall.list.rows]


# ------------------------------------------------------------ filter
def test_slash_filters_while_typing_escape_clears_and_goes_back_to_the_runs(live: LiveWindow) -> None:
    live.press(Qt.Key.Key_Slash)
    assert live.holds(live.view.wall.filter)
    QTest.keyClicks(live.view.wall.filter, "needs")
    live.wait()
    assert shown(live) == ["live-2", "live-3"]
    live.press(Qt.Key.Key_Escape)
    live.press(Qt.Key.Key_Escape)
    live.press(Qt.Key.Key_Escape)
    assert len(shown(live)) == 6
    assert live.holds(live.view.wall.tiles)


def test_escape_clears_a_filter_from_the_tiles_too(live: LiveWindow) -> None:
    live.model.wall.set_filter("needs")
    live.press(Qt.Key.Key_Escape)
    assert len(shown(live)) == 6
    assert live.view.wall.filter.text() == ""


def test_a_wrong_word_is_named(live: LiveWindow) -> None:
    live.view.wall.filter.setText("sites:shop")
    live.wait()
    assert live.view.wall.head.unknown.text() == 'Unknown filter word "sites:"; did you mean site:?'
    assert live.view.wall.faces.currentWidget() is live.view.wall.no_match


def test_the_hand_is_always_on_a_run_that_is_shown(live: LiveWindow) -> None:
    assert live.model.current == "live-2"
    live.model.wall.set_filter("paused")
    assert live.model.current == "live-4"
    live.model.wall.set_filter("site:nowhere")
    assert live.model.current == ""


def test_a_number_opens_a_hidden_run_and_j_goes_on_among_the_shown_ones(live: LiveWindow) -> None:
    live.model.wall.set_filter("needs")
    live.press(live.number("live-4"))
    assert live.model.run == "live-4"
    assert live.view.list.model().rowCount() == 2
    assert live.view.list.note.text() == "2 of 6 runs: needs"
    live.press(Qt.Key.Key_J, SHIFT)
    assert live.model.run == "live-3"


def test_a_decided_run_stays_in_a_filtered_list_until_the_operator_is_idle(live: LiveWindow) -> None:
    live.model.wall.set_filter("needs")
    live.press(Qt.Key.Key_J)
    live.put(replace(live.engine.rows["live-2"], needs=(), state=RunState.RUNNING))
    assert shown(live) == ["live-2", "live-3"]
    live.rest()
    assert shown(live) == ["live-3"]


# ------------------------------------------------------------ counts
def test_a_count_filters_by_click_and_by_key_and_shows_that_it_is_pressed(live: LiveWindow) -> None:
    counts = live.view.wall.counts
    assert counts.words == "2 need you · 1 running · 1 paused · 1 queued · 1 done"
    live.click(counts.buttons["needs"])
    assert shown(live) == ["live-2", "live-3"]
    assert counts.buttons["needs"].isChecked()
    assert live.view.wall.filter.text() == "needs"
    live.press(Qt.Key.Key_8, ALT)
    assert shown(live) == ["live-6"]
    assert not counts.buttons["needs"].isChecked()
    live.press(Qt.Key.Key_8, ALT)
    assert len(shown(live)) == 6


def test_a_failed_run_is_counted_as_failed(live: LiveWindow) -> None:
    live.put(replace(live.engine.rows["live-6"], outcome="infeasible"))
    live.rest()
    assert "1 failed" in live.view.wall.counts.words
    assert "done" not in live.view.wall.counts.words


# ------------------------------------------------------------ groups
def test_groups_have_headings_with_counts_and_sums_and_keep_the_order_inside(make_wall) -> None:
    live = make_wall(many_rows(12, 6))
    live.press(Qt.Key.Key_G, SHIFT)
    headings = [row for row in live.model.wall.list.rows if isinstance(row, GroupHeading)]
    assert [one.title for one in headings] == ["gitlab", "map", "shop", "wiki"]
    assert headings[0].counts.startswith("3 runs · ")
    assert "spent $" in headings[0].spent
    inside = [run for run in shown(live) if run.startswith("run-")]
    order = [row.run for row in live.model.list.rows]
    assert [run for run in inside if int(run[-3:]) % 4 == 0] == [
        run for run in order if int(run[-3:]) % 4 == 0
    ]


def test_a_group_is_collapsed_and_expanded_by_key_and_its_heading_keeps_the_hand(make_wall) -> None:
    live = make_wall(many_rows(12, 6))
    live.model.wall.set_grouping("site")
    live.model.select("run-001")
    live.press(Qt.Key.Key_C, SHIFT)
    assert shown(live)[:2] == ["gitlab", "map"]
    assert live.model.current == "", "no run that nobody sees is current"
    live.press(Qt.Key.Key_J)
    assert live.model.row is not None
    assert live.model.row.site == "map"
    live.press(Qt.Key.Key_J, SHIFT)
    live.press(Qt.Key.Key_Return)
    assert shown(live)[1].startswith("run-")
    live.press(Qt.Key.Key_X, SHIFT)
    assert shown(live) == ["gitlab", "map", "shop", "wiki"]


def test_nothing_changes_places_in_a_group_while_keys_are_pressed(make_wall) -> None:
    live = make_wall(many_rows(12, 6))
    live.model.wall.set_grouping("state")
    before = shown(live)
    live.press(Qt.Key.Key_J)
    live.put(replace(live.engine.rows["run-002"], state=RunState.PAUSED))
    assert shown(live) == before
    live.rest()
    assert shown(live) != before


# ------------------------------------------------------------ size, list, session
def test_keys_make_tiles_larger_and_smaller_and_fit_them_again(make_wall) -> None:
    live = make_wall(many_rows(20, 8))
    tiles, fitted = live.view.wall.tiles, live.view.wall.tiles.shown_width
    live.press(Qt.Key.Key_Plus)
    assert tiles.shown_width > fitted
    for _ in range(3):
        live.press(Qt.Key.Key_Minus)
    assert tiles.shown_width < fitted
    live.press(Qt.Key.Key_F, SHIFT)
    assert tiles.shown_width == fitted


def test_the_list_has_the_same_order_selection_and_filter_as_the_tiles(make_wall) -> None:
    live = make_wall(many_rows(20, 8))
    live.press(Qt.Key.Key_J)
    live.press(Qt.Key.Key_L, SHIFT)
    table = live.view.wall.table
    assert table.isVisible()
    assert live.holds(table)
    assert table.currentIndex().row() == 1
    live.model.wall.set_filter("failed")
    assert table.model().rowCount() == len(live.model.wall.shown)
    live.press(Qt.Key.Key_Return)
    assert live.model.run == live.model.current


def test_the_page_beside_the_list_is_the_only_one_watched(make_wall) -> None:
    live = make_wall(many_rows(20, 8), QSize(1700, 900))
    live.press(Qt.Key.Key_L, SHIFT)
    live.model.select("run-003")
    live.until(lambda: set(live.engine.watched) == {"run-003"})


def test_form_size_and_groups_are_remembered_and_a_filter_is_not(make_wall) -> None:
    live = make_wall(many_rows(12, 6))
    wall = live.model.wall
    wall.toggle_table()
    wall.set_grouping("site")
    wall.toggle_group("map")
    wall.set_tile_width(208)
    wall.set_filter("needs")
    saved = live.view.save_layout()
    wall.set_filter("")
    wall.toggle_table()
    wall.set_grouping("")
    wall.set_tile_width(0)
    live.view.restore_layout(saved)
    assert (wall.is_table, wall.grouping, wall.tile_width, wall.text) == (True, "site", 208, "")
    assert wall.is_folded("map")


@pytest.mark.parametrize(
    "saved", [None, 7, {"tile_width": "x", "grouping": 3, "folded": [1, ["a"]], "table": "yes"}]
)
def test_a_malformed_session_is_ignored(live: LiveWindow, saved: object) -> None:
    live.model.wall.restore(saved)
    assert (live.model.wall.tile_width, live.model.wall.grouping, live.model.wall.is_table) == (0, "", False)


# ------------------------------------------------------------ what is painted
class Painted:
    """Runs whose tile was painted, in order."""

    def __init__(self, tiles, monkeypatch) -> None:
        self.runs: list[str] = []
        paint = tiles.tile._paint_tile

        def noted(painter, option, row):
            self.runs.append(row.run)
            paint(painter, option, row)

        monkeypatch.setattr(tiles.tile, "_paint_tile", noted)


def test_a_change_of_one_run_paints_no_other_tile(make_wall, monkeypatch) -> None:
    live = make_wall(many_rows(20, 0))
    painted = Painted(live.view.wall.tiles, monkeypatch)
    run = live.view.wall.tiles.in_sight[1]
    live.put(replace(live.engine.rows[run], words="click link 'Home'"))
    assert set(painted.runs) == {run}


def test_a_picture_paints_its_tile_alone(make_wall, monkeypatch) -> None:
    live = make_wall(many_rows(12, 12))
    painted = Painted(live.view.wall.tiles, monkeypatch)
    first, last = live.view.wall.tiles.in_sight[0], live.view.wall.tiles.in_sight[-1]
    live.until(lambda: {first, last} <= set(live.engine.watched))
    painted.runs.clear()
    for run in (first, last):
        live.engine.frame(run)
    live.until(lambda: live.model.frames.counts.decoded >= 2)
    live.wait()
    assert {first, last} <= set(painted.runs)
    clocks = set(painted.runs) - {first, last}
    assert not clocks or len(painted.runs) > 2, "other tiles only for their clocks"


def test_no_run_is_on_two_tiles_while_rows_change_places(live: LiveWindow, monkeypatch) -> None:
    live.rest()
    tiles = live.view.wall.tiles
    painted = Painted(tiles, monkeypatch)
    live.model.list.put(replace(live.engine.rows["live-1"], state=RunState.PAUSED, risk=0.99))
    tiles.viewport().repaint(
        tiles.visualRect(tiles.model().index(0))
    )  # before the view has laid out the rows
    live.wait()
    first = painted.runs[: len(set(painted.runs))]
    assert len(first) == len(set(first)), "each run once in one painting"
    assert set(first) == set(tiles.in_sight)


# ------------------------------------------------------------ figures
def test_figures_say_what_was_spent_and_what_ended_within_the_hour() -> None:
    now = 10_000.0
    rows = many_rows(4, 4)
    ended = [
        replace(rows[0], state=RunState.ENDED, outcome="answered", ended_at=now - 10),
        replace(rows[0], run="b", state=RunState.ENDED, outcome="crashed", ended_at=now - HOUR + 1),
        replace(rows[0], run="c", state=RunState.ENDED, outcome="answered", ended_at=now - HOUR - 1),
    ]
    found = wall_figures([*rows[1:], *ended], now)
    assert found.hour_words == "last hour: 2 ended, 50 % answered"
    assert found.spent_words == "spent $0.0520 · 9.2k tokens"
    assert "6 runs shown" in found.explanation
    assert wall_figures([rows[0]], now).hour_words == ""


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"cost": None, "tokens": 0}, ""),
        ({"cost": Cost(known=0.2)}, "$0.20"),
        ({"cost": Cost(known=0.2), "max_money": 0.5}, "$0.20 of $0.50"),
        (
            {"cost": Cost(known=0.2), "max_money": 0.5, "tokens": 900, "max_tokens": 1000},
            "900 of 1.0k tokens",
        ),
        ({"cost": Cost(unpriced=(("m", 1),)), "tokens": 12_340}, "12.3k tokens"),
    ],
)
def test_a_tile_shows_what_is_nearer_to_its_limit(more: dict[str, object], words: str) -> None:
    row = replace(many_rows(1, 1)[0], **more)  # type: ignore[arg-type]
    assert spent_words(row) == words
