"""The Map's models: sites, states, filter, table, path, search, thumbnails."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QSignalSpy

from app.engine.core.events import RunsChanged
from app.engine.core.transition import ReplayVerdictKind
from app.errors import NotFound
from app.models.common.object_table import row_groups
from app.models.graph.filter import matches, parse_map_filter, toggled
from app.models.graph.map_graph import MapGraph, StateMark, counts, node_words
from app.models.graph.model import MapModel, MapState
from app.models.graph.node_table import COLUMNS, NodeTableModel, path_of
from app.models.graph.path import PathState
from app.models.graph.thumbnails import Thumbnails
from tests.support import qt_loop
from tests.support.generated_site import SITE, large_site, make_picture, make_rows, node_id


@pytest.fixture
def until(settle):
    return qt_loop.until


@pytest.fixture
def model(client, tasks, until):
    made = MapModel(client, tasks)
    QAbstractItemModelTester(made.table, QAbstractItemModelTester.FailureReportingMode.Fatal, made)
    made.start()
    until(lambda: made.state is not MapState.LOADING)
    return made


def graph_of(rows, edges):
    return MapGraph.of(make_picture(rows, edges))


# ---------------------------------------------------------------- arrays
def test_the_arrays_say_what_the_picture_says():
    rows, edges = make_rows()
    graph = graph_of(rows, edges)
    assert len(graph) == 40
    leaves, comes = graph.edges_of(6)
    assert sorted(graph.targets[leaves].tolist()) == sorted(t for s, t, _ in edges if s == 6)
    assert sorted(graph.sources[comes].tolist()) == sorted(s for s, t, _ in edges if t == 6)
    assert counts(graph)[StateMark.FAILED] == sum(row.failures > 0 for row in rows)
    assert list(graph.bands) == [0, 1, 2, 3]
    assert (graph.tried[np.argsort(graph.order)][: int(graph.tried.sum())]).all(), "followed links come first"


def test_arrows_go_to_linked_states_and_along_the_column():
    rows, edges = make_rows()
    graph = graph_of(rows, edges)
    shown = np.ones(40, bool)
    right = graph.toward(0, 1, 0, shown)
    assert rows[right].depth == 1
    assert graph.toward(right, -1, 0, shown) == 0
    down = graph.toward(right, 0, 1, shown)
    assert rows[down].depth == 1
    assert graph.places[down, 1] > graph.places[right, 1]
    assert graph.toward(down, 0, -1, shown) == right
    shown[down] = False
    assert graph.toward(right, 0, 1, shown) != down
    assert graph.toward(0, -1, 0, np.ones(40, bool)) == 0, "there is nothing to the left of the home page"


def test_a_state_reads_aloud_with_its_signs():
    row = make_rows()[0][19]
    assert "Checkout" in node_words(row)
    assert "5 failed runs" in node_words(row)
    assert "3 tips" in node_words(row)


# ---------------------------------------------------------------- filter
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", lambda row: True),
        ("depth:2", lambda row: row.depth == 2),
        ("depth:1-2", lambda row: 1 <= row.depth <= 2),
        ("depth:2-", lambda row: row.depth >= 2),
        ("depth:0,3", lambda row: row.depth in (0, 3)),
        ("failures", lambda row: row.failures > 0),
        ("failures tips", lambda row: row.failures > 0 and row.tips > 0),
        ("untipped", lambda row: row.failures > 0 and not row.tips),
        ("gone", lambda row: row.gone),
        ("barred", lambda row: bool(row.challenge)),
        ("menus", lambda row: row.direct is False),
        ("suspect", lambda row: row.suspect_tips > 0),
        ("waiting", lambda row: row.waiting > 0),
        ("runs", lambda row: row.runs > 0),
        ("template:accounts/orders", lambda row: "/accounts/orders" in row.template),
        ('"order number"', lambda row: "Order number" in row.title),
        ("reviews depth:3", lambda row: "reviews" in f"{row.title} {row.url}".lower() and row.depth == 3),
    ],
)
def test_words_leave_the_states_they_mean(text, wanted):
    rows = make_rows()[0]
    which = parse_map_filter(text)
    assert [row.id for row in rows if matches(row, which)] == [row.id for row in rows if wanted(row)]


@pytest.mark.parametrize("text", ['"', "depth:", "depth:x", "depth:-", "template:", ":", "'a \""])
def test_nothing_typed_is_an_error(text):
    parse_map_filter(text)


def test_a_switch_comes_and_goes():
    assert toggled("books", "tips") == "books tips"
    assert toggled("books tips", "tips") == "books"


# ---------------------------------------------------------------- table
def test_the_table_grows_by_rows_and_keeps_its_order(qapp):
    table = NodeTableModel()
    QAbstractItemModelTester(table, QAbstractItemModelTester.FailureReportingMode.Fatal, table)
    rows = make_rows()[0]
    table.load(rows[:10])
    resets, inserted = QSignalSpy(table.modelReset), QSignalSpy(table.rowsInserted)
    for count in range(11, 41):
        table.load(rows[:count])
    assert resets.count() == 0
    assert inserted.count() == 30
    assert [row.depth for row in table.rows] == sorted(row.depth for row in rows)
    table.sort(COLUMNS.index("failures"), Qt.SortOrder.DescendingOrder)
    assert table.rows[0].failures == 5
    table.load(rows[5:])
    assert table.rowCount() == 35
    table.set_filter("failures")
    assert {row.failures > 0 for row in table.rows} == {True}
    table.hold([table.rows[0].id])
    held = table.rows[0].id
    table.set_filter("failures")
    table.load([row for row in rows if row.id != held])
    assert table.row_of(held) < 0


def test_every_cell_reads_aloud(qapp):
    table = NodeTableModel()
    table.load(make_rows()[0])
    for column in range(table.columnCount()):
        index = table.index(0, column)
        assert table.data(index, Qt.ItemDataRole.AccessibleTextRole)
        assert table.headerData(column, Qt.Orientation.Horizontal)


def test_an_address_is_shown_without_its_host():
    assert path_of("http://shop.example:8123/a/b?q=1#/x") == "/a/b?q=1#/x"
    assert path_of("http://shop.example") == "/"
    assert row_groups([1, 2, 4, 7, 8]) == [(1, 2), (4, 4), (7, 8)]


def test_ten_thousand_states_load_at_once_and_one_more_comes_alone(qapp):
    rows = large_site(10_000)[0]
    table = NodeTableModel()
    table.load(rows[:-1])
    resets = QSignalSpy(table.modelReset)
    table.load(rows)
    assert resets.count() == 0
    assert table.rowCount() == 10_000


# ---------------------------------------------------------------- the map
def test_it_shows_the_only_site(model):
    assert model.site == SITE
    assert model.state is MapState.READY
    assert len(model.graph) == 40
    assert model.counts_text == "40 / 40"


def test_a_workspace_without_graphs_says_so(client, tasks, until):
    client.api.start_graphs(empty=True)
    made = MapModel(client, tasks)
    made.start()
    until(lambda: made.state is MapState.NO_GRAPH)
    client.api.start_graphs()
    client.api.reveal(5)
    until(lambda: made.state is MapState.READY and len(made.graph) == 5)


def test_an_engine_that_fails_says_why(client, tasks, until, monkeypatch):
    async def graph_picture(site, tidy=False):
        raise NotFound("the graph file was cut in half")

    monkeypatch.setattr(client.api, "graph_picture", graph_picture)
    made = MapModel(client, tasks)
    made.start()
    until(lambda: made.state is MapState.ERROR)
    assert "cut in half" in made.error


def test_a_site_being_explored_is_followed_from_nothing_on(client, tasks, until):
    client.api.start_graphs(empty=True)
    made = MapModel(client, tasks)
    made.start()
    until(lambda: made.state is MapState.NO_GRAPH)
    made.follow(SITE)
    until(lambda: made.state is MapState.EMPTY)
    client.api.start_graphs()
    client.api.reveal(1)
    until(lambda: made.state is MapState.READY)
    assert len(made.graph) == 1


def test_a_site_of_the_last_time_that_is_gone_gives_its_place_to_another(client, tasks, until):
    made = MapModel(client, tasks)
    made.restore({"site": "forum", "node": "x", "filter": ""})
    made.start()
    until(lambda: made.state is MapState.READY)
    assert made.site == SITE


def test_an_engine_that_comes_back_brings_the_map_back(client, tasks, until, monkeypatch):
    working = client.api.graph_picture

    async def graph_picture(site, tidy=False):
        raise NotFound("the engine stopped")

    monkeypatch.setattr(client.api, "graph_picture", graph_picture)
    made = MapModel(client, tasks)
    made.start()
    until(lambda: made.state is MapState.ERROR)
    monkeypatch.setattr(client.api, "graph_picture", working)
    client.api.bus.publish(RunsChanged())
    until(lambda: made.state is MapState.READY)


def test_a_growing_graph_is_asked_for_once_a_second_and_nothing_moves(client, tasks, until, settle):
    client.api.shown = 20
    model = MapModel(client, tasks)
    model.start()
    until(lambda: model.state is MapState.READY)
    model.select(model.graph.rows[7].id)
    before = {row.id: place for row, place in zip(model.graph.rows, model.graph.places.tolist(), strict=True)}
    asked = sum(name == "graph_picture" for name, _ in client.api.calls)
    for count in range(21, 41):
        client.api.reveal(count)
        settle(0.01)
    until(lambda: len(model.graph) == 40)
    assert sum(name == "graph_picture" for name, _ in client.api.calls) - asked <= 2
    after = {row.id: place for row, place in zip(model.graph.rows, model.graph.places.tolist(), strict=True)}
    assert all(after[node] == place for node, place in before.items())
    assert model.node == model.graph.rows[7].id
    assert model.selected == (model.node,)


def test_selecting_tells_once_and_another_state_asks_nothing_of_the_map(model, client):
    changed = QSignalSpy(model.node_changed)
    calls = len(client.api.calls)
    model.select(node_id(3))
    model.select(node_id(3))
    assert changed.count() == 1
    assert len(client.api.calls) == calls
    model.select("no such state")
    assert model.node == ""


def test_a_filter_leaves_a_mask_and_the_open_state(model):
    model.select(node_id(3))
    model.set_filter("failures")
    assert int(model.shown.sum()) == 4
    assert model.node == node_id(3)
    assert model.counts_text == "4 / 40"


def test_a_path_from_here_to_the_state_chosen_next(model, until, client):
    model.select(node_id(1))
    model.path_from(node_id(1))
    assert model.path.state is PathState.CHOOSING
    model.select(node_id(29))
    until(lambda: model.path.state is PathState.READY)
    assert model.path.nodes[0] == node_id(1)
    assert model.path.nodes[-1] == node_id(29)
    assert model.path.steps.rowCount() == len(model.path.nodes) - 1
    assert ("graph_path", (node_id(29), node_id(1))) in client.api.calls


def test_a_path_to_a_state_starts_at_the_home_page(model, until):
    model.path_to(node_id(37))
    until(lambda: model.path.state is PathState.READY)
    assert model.path.nodes[0] == node_id(0)
    assert "Log in" in model.path.steps.words(model.path.steps.rows[0])


def test_where_no_way_leads_it_says_so(model, until):
    model.graph.number["lost"] = 0
    model.path_to("lost")
    until(lambda: model.path.state is PathState.NO_WAY)
    assert "no state" in model.path.error


def test_being_taken_there_shows_each_arrival(model, until, client):
    client.api.arrive_at = [ReplayVerdictKind.EXACT, ReplayVerdictKind.SAME_TEMPLATE, ReplayVerdictKind.EXACT]
    model.navigate_to(node_id(37))
    until(lambda: model.path.state is PathState.ARRIVED)
    assert [step.verdict for step in model.path.steps.rows] == ["exact", "same template", "exact"]
    assert model.path.live == node_id(37)
    assert ("graph_go", (node_id(37), False, False)) in client.api.calls, (
        "nothing is shown where there is no screen"
    )
    model.path.close_browser()
    until(lambda: model.path.live == "")


def test_a_way_that_leads_elsewhere_stops_there_and_says_why(model, until, client):
    client.api.arrive_at = [ReplayVerdictKind.EXACT, ReplayVerdictKind.WRONG]
    model.navigate_to(node_id(37))
    until(lambda: model.path.state is PathState.STOPPED)
    assert [step.verdict for step in model.path.steps.rows] == ["exact", "wrong", ""]
    assert "step 2" in model.path.error
    assert model.path.live == ""


def test_merging_opens_what_came_of_it_and_undo_stands_in_the_history(model, until, client):
    model.choose((node_id(3), node_id(4)), node_id(4))
    assert model.can_merge
    model.merge()
    until(lambda: len(model.graph) == 39 and model.node == node_id(3))
    assert client.api.done[-1] == "merge 2 states of shop"


def test_splitting_takes_a_state_apart(model, until):
    model.select(node_id(12))
    assert model.can_split
    model.split()
    until(lambda: len(model.graph) == 41)
    model.select(node_id(1))
    assert not model.can_split


def test_the_search_asks_when_the_typing_rests(model, until, client):
    for text in ("o", "or", "orders"):
        model.search.ask(model.site, text)
    until(lambda: model.search.hits.rowCount() > 0)
    assert [args[0] for name, args in client.api.calls if name == "graph_choices"] == ["orders"]
    assert "Orders" in model.search.hits.words(model.search.hits.rows[0])
    model.search.ask(model.site, "")
    assert model.search.hits.rowCount() == 0


def test_the_session_goes_back_to_the_state(model, client, tasks, until):
    model.select(node_id(9))
    model.set_filter("depth:1")
    again = MapModel(client, tasks)
    again.restore(model.session())
    again.start()
    until(lambda: again.state is MapState.READY and again.node == node_id(9))
    assert again.table.text == "depth:1"


def test_a_state_that_is_gone_from_the_map_is_not_open_any_more(model, client, until):
    model.select(node_id(39))
    client.api.reveal(39)
    until(lambda: len(model.graph) == 39)
    assert model.node == ""


# ---------------------------------------------------------------- thumbnails
def test_pictures_come_in_three_sizes_and_the_oldest_go(client, tasks, until):
    pictures = Thumbnails(client, tasks, keep=400_000)
    for number in range(12):
        # One at a time: two threads decode, and of two pictures either may be ready first.
        pictures.want([f"thumb-{number}"])
        until(lambda: pictures.is_idle)
    assert 0 < pictures.held <= 400_000
    assert pictures.get("thumb-0", 40) is None
    last = pictures.get("thumb-11", 40)
    assert last is not None
    assert last.width() < pictures.get("thumb-11", 200).width()
    pictures.close()


def test_a_picture_that_is_not_there_is_not_asked_for_again(client, tasks, until, monkeypatch):
    asked = []

    async def blob(digest):
        asked.append(digest)
        return b"no picture"

    monkeypatch.setattr(client.api, "blob", blob)
    pictures = Thumbnails(client, tasks)
    for _ in range(3):
        pictures.want(["broken"])
        until(lambda: pictures.is_idle)
    assert asked == ["broken"]
    assert pictures.get("broken", 10) is None


def test_what_went_out_of_sight_is_not_fetched(client, tasks, until):
    pictures = Thumbnails(client, tasks)
    pictures.want(f"thumb-{number}" for number in range(40))
    pictures.want(["thumb-39"])
    until(lambda: pictures.is_idle)
    assert pictures.get("thumb-39", 10) is not None
    assert sum(pictures.get(f"thumb-{number}", 10) is not None for number in range(40)) < 12
