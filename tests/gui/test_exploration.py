"""Explorations in the window: form, status bar, manual log-in, velocity."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QCheckBox, QLineEdit, QPushButton, QRadioButton

from app.engine.api.graph_api import DepthRow, ExploreOptions, HostMap
from app.engine.core.events import ExplorationChanged, HostLost
from app.engine.core.page_state import Mode
from app.errors import NotFound, SiteloreError
from app.models.graph.exploration import ExplorationModel, ExplorationStage, LogInStage
from app.models.graph.explore_form import FIELDS, ExploreFormModel, complete_url
from app.models.graph.velocity_plot import VelocityPlotModel, VelocityTable, depth_words, ticks
from app.views.graph.exploration_bar import ExplorationBar
from app.views.graph.explore_form import ExploreForm
from app.views.graph.velocity_view import VelocityChart, VelocityView
from tests.support.generated_site import HOME, SITE

FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal


# ---------------------------------------------------------------- the form's values
@pytest.fixture
def form(qapp):
    return ExploreFormModel()


def told(form):
    return {one.field: one.message for one in form.problems}


@pytest.mark.parametrize(
    ("typed", "opened"),
    [
        ("shop.example", "https://shop.example"),
        ("localhost:8101/admin", "http://localhost:8101/admin"),
        ("127.0.0.1:8101", "http://127.0.0.1:8101"),
        (" http://a.example ", "http://a.example"),
        ("", ""),
    ],
)
def test_an_address_without_a_scheme_gets_the_likely_one(typed, opened):
    assert complete_url(typed) == opened


def test_an_untouched_form_lacks_only_the_address(form):
    assert told(form) == {"url": "Enter the address of the site's home page"}
    form.set("url", "shop.example")
    assert form.is_ready


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("url", "ftp://shop.example", "Only http and https are supported, not ftp"),
        ("url", "http://", "The address has no host: http://"),
        ("url", "http://[::1", "Not a valid address: http://[::1"),
        ("url", "http://a.example:99999999/", "Not a valid address: http://a.example:99999999/"),
        ("depth", "many", "Enter a whole number from 0 to 50"),
        ("depth", "51", "Must be between 0 and 50"),
        ("workers", "0", "Must be between 1 and 16"),
        ("max_seconds", "", "Enter a number from 1 to 604800"),
        ("rate", "nan", "Enter a number from 0 to 1000"),
        ("rate", "-1", "Must be between 0 and 1000"),
    ],
)
def test_what_is_wrong_is_said_with_the_way_to_mend_it(form, field, text, words):
    form.set("url", "http://shop.example/")
    form.set(field, text)
    assert told(form) == {field: words}


@settings(deadline=None)  # the machine may be busy
@given(st.sampled_from(FIELDS), st.text())
def test_nothing_a_person_types_is_an_error(field, text):
    form = ExploreFormModel()
    form.set(field, text)
    assert isinstance(form.problems, list)


def test_the_form_becomes_options(form):
    for name, text in {
        "url": "shop.example", "depth": "2", "max_states": "40", "max_seconds": "90.5", "workers": "3",
        "rate": "1,5", "block_list": " rules.json ", "storage_state": "state.json",
    }.items():  # fmt: skip
        form.set(name, text)
    form.set_mode(Mode.SKELETON)
    form.set_switch("obey_robots", False)
    assert form.options() == ExploreOptions(
        depth=2, max_states=40, max_seconds=90.5, workers=3, rate=1.5, block_list="rules.json",
        storage_state="state.json", mode=Mode.SKELETON, obey_robots=False,
    )  # fmt: skip


def test_files_that_are_not_there_are_found_out(form, tmp_path):
    there = tmp_path / "rules.json"
    there.write_text("{}")
    form.set("block_list", str(there))
    form.set("storage_state", str(tmp_path / "gone.json"))
    assert list(form.missing_files()) == ["storage_state"]


# ---------------------------------------------------------------- the exploration
@pytest.fixture
def model(client, tasks):
    made = ExplorationModel(client, tasks)
    tester = QAbstractItemModelTester(made.skipped, FATAL)
    yield made
    tester.deleteLater()


@pytest.fixture
def known(model, settle):
    model.show(SITE)
    settle()
    return model


def hold_exploration(fake_engine, monkeypatch):
    """Make explorations run until the returned future is set."""
    ended = asyncio.get_event_loop().create_future()

    async def explore(url, site="", options=None):
        fake_engine.calls.append(("explore", (url, site, options)))
        if site:
            fake_engine.tell_exploration(site=site, state="running")
        return await ended

    monkeypatch.setattr(fake_engine, "explore", explore)
    return ended


def test_a_site_that_was_explored_shows_its_numbers(known):
    assert known.stage is ExplorationStage.DONE
    assert (known.states, known.frontier, known.depth) == (40, 12, 3)
    assert known.velocity == pytest.approx(40 / 99 * 60)
    assert known.form.values["url"] == HOME
    assert {row.reason for row in known.skipped.rows} == {
        "already tried on the page it came from", "blocked by a rule", "could destroy something",
    }  # fmt: skip


def test_a_site_without_a_graph_was_never_explored(model, settle):
    model.show("nowhere")
    settle()
    assert model.stage is ExplorationStage.NONE
    assert model.headline == "Never explored"
    assert model.error == ""


def test_a_graph_that_cannot_be_read_says_why(model, fake_engine, settle, monkeypatch):
    async def broken(site):
        raise SiteloreError("the graph of 'shop' is damaged; restore it from a backup")

    monkeypatch.setattr(fake_engine, "graph_stats", broken)
    model.show(SITE)
    settle()
    assert "damaged" in model.error


def test_numbers_follow_a_graph_that_changes_without_an_exploration(known, fake_engine, settle):
    known._soon.setInterval(10)
    fake_engine.reveal(30)
    settle(0.1)
    assert known.states == 30


def test_events_move_the_numbers(known, fake_engine):
    fake_engine.tell_exploration(
        state="running", states=21, frontier=9, tried=30, depth=2, states_per_minute=12.5
    )
    assert (known.stage, known.states, known.frontier, known.tried) == (ExplorationStage.RUNNING, 21, 9, 30)
    assert known.trying == "click link 'Orders' on Profile"
    assert known.share == pytest.approx(30 / 39)
    assert known.progress.startswith("30 of 39 elements tried")


def test_another_sites_events_do_not_concern_it(known, fake_engine):
    fake_engine.bus.publish(ExplorationChanged(site="other", state="running", states=5))
    assert known.stage is ExplorationStage.DONE


def test_reasons_keep_their_rows_while_they_grow(known, fake_engine):
    fake_engine.tell_exploration(skipped=(("disabled", 9), ("advert", 4)))
    resets = []
    known.skipped.modelReset.connect(lambda: resets.append(1))
    fake_engine.tell_exploration(skipped=(("disabled", 9), ("advert", 40), ("not visible", 1)))
    assert resets == []
    assert {(row.reason, row.count) for row in known.skipped.rows} == {
        ("disabled", 9), ("advert", 40), ("not visible", 1),
    }  # fmt: skip


def test_starting_asks_with_the_forms_options_and_shows_the_report(
    known, fake_engine, settle, monkeypatch, qtbot
):
    ended = hold_exploration(fake_engine, monkeypatch)
    known.form.set("depth", "1")
    with qtbot.waitSignals([known.started]):
        known.explore()
    settle()
    name, (url, site, options) = fake_engine.calls[-1]
    assert (name, url, site, options.depth) == ("explore", HOME, SITE, 1)
    assert known.stage is ExplorationStage.RUNNING
    with qtbot.waitSignal(known.ended) as told_end:
        ended.set_result(
            replace(
                fake_engine._report(),
                ended="seconds",
                notes=("one page never settled",),
                robots="robots.txt asks for nothing",
            )
        )
    assert told_end.args == [SITE]
    assert known.headline == "Done: the time limit was reached; raise it to continue"
    assert not known.can_resume
    assert known.note == "one page never settled · robots.txt asks for nothing"


def test_a_form_with_problems_starts_nothing(known, fake_engine, settle):
    known.form.set("depth", "many")
    known.explore()
    settle(0.05)
    assert not any(name == "explore" for name, _ in fake_engine.calls)


def test_a_file_that_is_missing_is_told_in_the_form_and_nothing_starts(known, fake_engine, qtbot):
    known.form.set("storage_state", "/nowhere/state.json")
    known.explore()
    qtbot.waitUntil(lambda: "storage_state" in told(known.form))
    assert not any(name == "explore" for name, _ in fake_engine.calls)
    known.form.set("storage_state", "")
    assert known.form.is_ready


@pytest.mark.parametrize(
    ("answer", "started"),
    [("extend_map", ("oscar",)), ("second_map", ("shop-2", True)), ("", ())],
)
def test_a_host_that_has_a_map_of_another_name_asks_whether_to_extend_it(
    known, fake_engine, qtbot, settle, answer, started
):
    fake_engine.maps_of_host = [HostMap(site="oscar", states=878)]
    known.form.set("site", "shop-2")
    known.explore()
    qtbot.waitUntil(lambda: known.host_map is not None)
    assert not any(name == "explore" for name, _ in fake_engine.calls)
    if answer:
        getattr(known, answer)()
    else:
        known.form.set("site", "oscar")
    settle()
    assert known.host_map is None
    calls = [args for name, args in fake_engine.calls if name == "explore"]
    assert [(args[1], *args[3:]) for args in calls] == ([started] if started else [])


def test_an_exploration_that_fails_says_why_and_can_be_resumed(
    known, fake_engine, settle, monkeypatch, qtbot
):
    async def explore(url, site="", options=None):
        raise SiteloreError("shop.example does not answer; start it and resume")

    monkeypatch.setattr(fake_engine, "explore", explore)
    known.explore()
    qtbot.waitUntil(lambda: known.stage is ExplorationStage.FAILED)
    assert "does not answer" in known.error
    assert known.can_resume


def test_pause_and_resume_go_to_the_exploration_that_runs(known, fake_engine, settle, monkeypatch):
    fake_engine.tell_exploration(state="running")
    known.pause_or_resume()
    settle()
    assert known.stage is ExplorationStage.PAUSED
    assert known.trying == ""
    known.pause_or_resume()
    settle()
    assert known.stage is ExplorationStage.RUNNING
    assert [name for name, _ in fake_engine.calls if "explor" in name] == [
        "pause_exploration", "resume_exploration",
    ]  # fmt: skip


def test_one_that_an_earlier_window_left_is_resumed_by_exploring_on(model, fake_engine, settle, monkeypatch):
    stats = fake_engine.graph_stats

    async def left(site):
        found = await stats(site)
        return replace(found, row=replace(found.row, state="interrupted"))

    monkeypatch.setattr(fake_engine, "graph_stats", left)
    model.show(SITE)
    settle()
    assert model.stage is ExplorationStage.INTERRUPTED
    assert model.headline == "Interrupted; can be resumed"
    hold_exploration(fake_engine, monkeypatch)
    model.pause_or_resume()
    settle()
    name, (url, site, options) = fake_engine.calls[-1]
    assert (name, url, site, options.resume) == ("explore", HOME, SITE, True)


def test_when_the_engine_dies_the_exploration_is_interrupted(known, client, fake_engine):
    fake_engine.tell_exploration(state="running")
    client.deliver(HostLost(message="The engine stopped unexpectedly."))
    assert known.stage is ExplorationStage.INTERRUPTED
    assert known.can_resume
    assert not known.is_live


def test_logging_in_by_hand_keeps_the_state_for_the_next_exploration(known, fake_engine, settle, qtbot):
    known.log_in()
    assert known.log_in_stage is LogInStage.OPENING
    settle()
    assert known.log_in_stage is LogInStage.OPEN
    assert HOME in known.log_in_words
    with qtbot.waitSignal(known.notice) as notice:
        known.logged_in()
    assert "saved" in notice.args[0]
    assert known.log_in_stage is LogInStage.NONE
    assert known.form.values["storage_state"].endswith("shop.json")


def test_giving_up_the_log_in_closes_its_window(known, fake_engine, settle):
    known.log_in()
    settle()
    known.cancel_log_in()
    settle()
    assert known.log_in_stage is LogInStage.NONE
    assert ("close_browser", (SITE,)) in fake_engine.calls


def test_a_log_in_that_fails_says_why(known, fake_engine, settle, monkeypatch):
    async def broken(site, url):
        raise NotFound("no browser is installed; see 'sitelore doctor'")

    monkeypatch.setattr(fake_engine, "log_in_by_hand", broken)
    known.log_in()
    settle()
    assert known.log_in_stage is LogInStage.NONE
    assert "no browser" in known.error


def test_a_log_in_needs_an_address_and_a_name_to_be_kept_under(model, qtbot):
    with qtbot.waitSignal(model.notice) as notice:
        model.log_in()
    assert notice.args[0].startswith("Enter the address of the site")
    model.form.set("url", "http://new.example/")
    with qtbot.waitSignal(model.notice) as notice:
        model.log_in()
    assert notice.args[0].startswith("Enter the name of the site")
    assert model.log_in_stage is LogInStage.NONE


def test_the_address_of_another_host_is_another_site(known):
    form = known.form
    assert form.values["site"] == SITE
    form.set("url", "http://other.example/")
    assert form.values["site"] == ""
    form.set("url", HOME + "offers/")
    assert form.values["site"] == SITE
    form.set("site", "mine")
    form.set("url", "http://other.example/")
    assert form.values["site"] == "mine", "a name that was typed stays"


def test_a_site_without_a_name_gets_the_engines_from_the_first_event(
    known, fake_engine, settle, monkeypatch, qtbot
):
    hold_exploration(fake_engine, monkeypatch)
    fake_engine.tell_exploration(site="busy", state="running")
    known.form.set("url", "http://other.example/")
    with qtbot.waitSignal(known.started) as started:
        known.explore()
        settle()
        fake_engine.tell_exploration(site="busy", state="running", states=3)
        fake_engine.tell_exploration(site="other.example", state="running", states=1)
    assert started.args == ["other.example"]
    assert (known.site, known.stage, known.states) == ("other.example", ExplorationStage.RUNNING, 1)


# ---------------------------------------------------------------- the bar
@pytest.fixture
def bar(qtbot, known, center, theme):
    made = ExplorationBar(known, center, theme)
    qtbot.addWidget(made)
    center.set_place("map")
    made.addActions(center.actions())
    made.resize(1224, 70)
    made.show()
    made.activateWindow()
    yield made
    made.hide()


def test_the_bar_tells_states_frontier_speed_depth_and_what_is_tried(bar, fake_engine):
    fake_engine.tell_exploration(
        state="running", states=21, frontier=9, tried=31, depth=2, states_per_minute=12.5
    )
    assert {name: figure.value.text() for name, figure in bar.figures.items()} == {
        "states": "21", "frontier": "9", "velocity": "12.5", "depth": "2",
    }  # fmt: skip
    assert bar.trying.text() == "trying: click link 'Orders' on Profile"
    assert bar.stage.accessibleName() == "Exploring"
    assert bar.bar.value() == 775
    assert "310 already tried on the page it came from" in bar.skipped.accessibleName()


def test_its_buttons_do_what_they_say(bar, fake_engine, center, settle):
    fake_engine.tell_exploration(state="running")
    assert bar.pause.text().startswith("Pause")
    assert not bar.explore.isEnabled()
    bar.pause.click()
    settle()
    assert bar.pause.text().startswith("Resume")
    bar.pause.click()
    settle()
    bar.stop.click()
    settle()
    assert bar.stage.accessibleName() == "Stopped"
    assert not bar.stop.isEnabled()
    wanted = []
    center.bind("map.explore", lambda: wanted.append("explore"))
    center.bind("map.velocity", lambda: wanted.append("velocity"))
    bar.explore.click()
    bar.velocity.click()
    assert wanted == ["explore", "velocity"]


def test_buttons_stand_still_when_pause_becomes_resume(bar, fake_engine, settle):
    fake_engine.tell_exploration(state="running")
    settle()
    before = bar.explore.x(), bar.stop.x()
    fake_engine.tell_exploration(state="paused")
    settle()
    assert (bar.explore.x(), bar.stop.x()) == before


def test_the_bar_is_as_high_whatever_is_explored(bar, fake_engine, settle):
    heights = {bar.sizeHint().height()}
    for facts in (
        {"state": "running"},
        {"state": "paused", "skipped": ()},
        {"state": "stopped", "trying": ""},
    ):
        fake_engine.tell_exploration(**facts)
        settle()
        heights.add(bar.sizeHint().height())
    assert len(heights) == 1


def test_the_line_to_log_in_comes_and_goes(bar, known, settle):
    bar.log_in.click()
    settle()
    assert bar.logged_in.isVisible()
    assert bar.logged_in.isEnabled()
    bar.logged_in.click()
    settle()
    assert not bar.logged_in.isVisible()


def test_every_reason_stands_in_the_card(bar, known, settle):
    bar.skipped.click()
    settle()
    assert bar.card.isVisible()
    assert bar.card.list.model().rowCount() == 3
    QTest.keyClick(bar.card.list, Qt.Key.Key_Escape)
    assert not bar.card.isVisible()


def test_an_error_is_told_in_the_bar(bar, known):
    known.error = "shop.example does not answer"
    known.changed.emit()
    assert bar.error.isVisible()
    assert bar.error.text() == "shop.example does not answer"


# ---------------------------------------------------------------- the form
@pytest.fixture
def sheet(qtbot, known, center, theme):
    made = ExploreForm(known, center)
    qtbot.addWidget(made)
    made.resize(340, 690)
    made.show()
    made.activateWindow()
    made.begin()
    yield made
    made.hide()


def test_the_form_asks_about_the_hosts_map_with_two_buttons_and_the_focus_on_extending(
    sheet, known, fake_engine, qtbot
):
    fake_engine.maps_of_host = [HostMap(site="oscar", states=878)]
    known.form.set("site", "shop-2")
    assert not sheet.question.isVisible()
    known.explore()
    qtbot.waitUntil(sheet.question.isVisible)
    assert (
        sheet.says_map.text()
        == "shop-2 is already mapped as oscar (878 states): extend it, or make a second one?"
    )
    assert sheet.extend.text() == "Extend oscar"
    assert sheet.extend.hasFocus()
    qtbot.mouseClick(sheet.second, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: any(name == "explore" for name, _ in fake_engine.calls))
    assert not sheet.question.isVisible()


def test_the_form_begins_at_the_address(sheet):
    assert sheet.fields["url"].hasFocus()
    assert sheet.fields["url"].selectedText() == HOME


def test_typing_is_checked_when_the_field_is_left(sheet):
    depth = sheet.fields["depth"]
    depth.setFocus()
    depth.selectAll()
    QTest.keyClicks(depth, "many")
    assert not sheet.says["depth"].text().startswith("!")
    QTest.keyClick(depth, Qt.Key.Key_Tab)
    assert sheet.says["depth"].text() == "! Enter a whole number from 0 to 50"
    assert sheet.fields["depth"].accessibleDescription() == sheet.says["depth"].text()


def test_enter_starts_and_the_form_goes(sheet, fake_engine, qtbot):
    with qtbot.waitSignal(sheet.closed):
        QTest.keyClick(sheet.fields["url"], Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: ("explore", (HOME, SITE, ExploreOptions())) in fake_engine.calls)


def test_start_with_a_problem_goes_to_its_field(sheet, fake_engine, known):
    known.form.set("workers", "99")
    sheet.start.click()
    assert sheet.fields["workers"].hasFocus()
    assert sheet.says["workers"].text() == "! Must be between 1 and 16"


def test_the_form_says_what_seconds_are_in_minutes(sheet, known):
    assert sheet.says["max_seconds"].text() == "at most: 30 min 00 s"
    known.form.set("max_seconds", "inf")
    assert sheet.says["max_seconds"].text().startswith("at most")


def test_mode_and_switches_are_kept(sheet, known):
    sheet.modes[Mode.SKELETON].click()
    sheet.switches["headed"].click()
    assert known.form.mode is Mode.SKELETON
    assert known.form.switches["headed"]


def test_everything_in_the_form_is_reached_by_tab_and_has_a_name(sheet):
    reached = set()
    sheet.fields["url"].setFocus()
    for _ in range(40):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        reached.add(QApplication.focusWidget())
    wanted = {*sheet.fields.values(), *sheet.switches.values(), sheet.log_in, sheet.start, sheet.close_button}
    assert wanted <= reached
    for kind in (QLineEdit, QPushButton, QCheckBox, QRadioButton):
        for widget in sheet.findChildren(kind):
            assert widget.accessibleName() or widget.text(), widget


# ---------------------------------------------------------------- velocity
DEPTHS = (
    DepthRow(depth=0, states=1, new=1, seconds=2.0, velocity=30.0),
    DepthRow(depth=1, states=11, new=10, seconds=14.0, velocity=42.9),
    DepthRow(depth=2, states=25, new=14, seconds=31.0, velocity=27.1),
)


@settings(deadline=None)  # the machine may be busy
@given(st.floats(0, 1e9), st.integers(1, 8), st.booleans())
def test_an_axis_begins_at_nought_and_holds_the_most(most, wanted, whole):
    found = ticks(most, wanted, whole=whole)
    assert found[0] == 0
    assert found[-1] >= most * 0.999
    assert 2 <= len(found) <= wanted + 2
    if whole:
        assert all(value == round(value) for value in found)


@pytest.fixture
def velocity(client, tasks):
    made = VelocityPlotModel(client, tasks)
    tester = QAbstractItemModelTester(made.table, FATAL)
    yield made
    made.close()
    tester.deleteLater()


def test_velocity_is_read_from_the_graphs_numbers(velocity, settle):
    velocity.show(SITE)
    settle()
    assert [row.states for row in velocity.rows] == [1, 11, 25, 40]
    assert velocity.summary.startswith(
        "40 states down to depth 3. The fastest was depth 1 with 42.9 states per minute."
    )


def test_numbers_that_cannot_be_read_say_why(velocity, fake_engine, settle, monkeypatch):
    async def broken(site):
        raise SiteloreError("the graph is damaged")

    monkeypatch.setattr(fake_engine, "graph_stats", broken)
    velocity.show(SITE)
    settle()
    assert velocity.error == "the graph is damaged"


def test_a_depth_that_brought_nothing_is_told(velocity):
    empty = DepthRow(depth=3, states=25, new=0, seconds=9.0, velocity=0.0)
    velocity.table.load((*DEPTHS, empty))
    assert "Depth 3 had no new states" in velocity.summary


def test_depths_are_added_row_by_row_while_an_exploration_runs(qapp):
    table = VelocityTable()
    tester = QAbstractItemModelTester(table, FATAL)
    table.load(DEPTHS[:1])
    resets, inserted = [], []
    table.modelReset.connect(lambda: resets.append(1))
    table.rowsInserted.connect(lambda _parent, first, last: inserted.append((first, last)))
    table.load((replace(DEPTHS[0], seconds=3.0), *DEPTHS[1:]))
    assert (resets, inserted) == ([], [(1, 2)])
    assert table.index(1, 1).data() == "11"
    assert table.index(1, 1).data(Qt.ItemDataRole.AccessibleTextRole) == "States: 11"
    assert table.index(0, 0).data(Qt.ItemDataRole.ToolTipRole) == depth_words(table.rows[0])
    tester.deleteLater()


def test_it_follows_an_exploration_and_rests_when_closed(velocity, fake_engine, settle, monkeypatch):
    velocity.show(SITE)
    settle()
    asked = []
    stats = fake_engine.graph_stats

    async def counted(site):
        asked.append(site)
        return await stats(site)

    monkeypatch.setattr(fake_engine, "graph_stats", counted)
    velocity._timer.setInterval(20)
    for _ in range(5):
        fake_engine.tell_exploration(state="running")
    settle(0.1)
    assert asked == [SITE]
    velocity.close()
    fake_engine.tell_exploration(state="running")
    settle(0.1)
    assert asked == [SITE]


def test_bars_and_points_stand_where_the_numbers_say(qtbot, theme):
    chart = VelocityChart(theme)
    qtbot.addWidget(chart)
    chart.resize(420, 220)
    chart.show_rows(DEPTHS, "summary")
    plot = chart.plot()
    most_states, most_velocity = ticks(25, whole=True)[-1], ticks(42.9)[-1]
    for number, row in enumerate(DEPTHS):
        assert chart.bar(number).height() == pytest.approx(plot.height() * row.states / most_states)
        expected = plot.bottom() - plot.height() * row.velocity / most_velocity
        assert chart.point(number).y() == pytest.approx(expected)
        assert chart.point(number).x() == pytest.approx(chart.bar(number).center().x())
    assert chart.accessibleDescription() == "summary"


def test_a_hundred_depths_and_none_are_painted(qtbot, theme):
    chart = VelocityChart(theme)
    qtbot.addWidget(chart)
    chart.resize(300, 160)
    blank = chart.grab().toImage()
    chart.show_rows([replace(DEPTHS[1], depth=n, states=n * 10) for n in range(100)], "")
    assert chart.grab().toImage() != blank
    chart.show_rows((), "")
    assert chart.grab().toImage() == blank


def test_the_view_says_what_is_missing_and_shows_the_table(qtbot, velocity, center, theme, settle):
    view = VelocityView(velocity, center, theme)
    qtbot.addWidget(view)
    view.resize(460, 420)
    view.show()
    assert view._empty.title.text() == "Not explored yet"
    velocity.show("nowhere")
    settle()
    assert view._empty.title.text() == "Not explored yet"
    velocity.show(SITE)
    settle()
    assert view.table.isVisible()
    assert view.summary.text() == velocity.summary
    view.begin()
    assert view.table.hasFocus()
    with qtbot.waitSignal(view.closed):
        view.close_button.click()
    for widget in view.findChildren(QAbstractItemView):
        if widget.isVisible() and widget is not view.table.horizontalHeader():
            assert widget.accessibleName(), widget
    view.hide()
