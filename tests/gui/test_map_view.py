"""The Map by keyboard and mouse: keys, drawing, stability, and the text of every state."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
)

from app.engine.api.graph_api import ChangedState, GraphDiff
from app.engine.core.transition import ReplayVerdictKind
from app.models.graph.map_graph import MapGraph
from app.models.graph.model import MapModel, MapState
from app.models.graph.node_table import COLUMNS
from app.models.graph.path import PathState
from app.models.graph.workspace import MapWorkspace
from app.views.graph.background import strips
from app.views.graph.painter import CARDS_FROM, MAX_LINES
from app.views.graph.table import NodeTable
from app.views.graph.view import MapView
from app.views.widgets import EmptyState
from tests.support import qt_loop
from tests.support.generated_site import large_site, make_picture, node_id

Key = Qt.Key
SHIFT, CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
LEFT = Qt.MouseButton.LeftButton


def pixels(widget):
    """Return (height, width, 3) pixels of a widget."""
    image = widget.grab().toImage()
    raw = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine() // 4, 4)
    return raw[:, : image.width(), :3].astype(int)


class Desk:
    """The Map in its own window with the program's keys."""

    def __init__(self, view, engine, center):
        self.view, self.model, self.canvas = view, view.model, view.canvas
        self.engine, self.center = engine, center
        self.said: list[str] = []
        self.model.notice.connect(self.said.append)

    def press(self, key, modifier=Qt.KeyboardModifier.NoModifier):
        QTest.keyClick(QApplication.focusWidget() or self.view, key, modifier)
        self.wait()

    def type(self, text):
        QTest.keyClicks(QApplication.focusWidget(), text)
        self.wait()

    def wait(self, seconds=0.03):
        qt_loop.turn(seconds)

    def until(self, condition):
        qt_loop.until(condition)

    def point(self, node) -> QPoint:
        number = self.model.graph.number[node]
        return self.canvas.overlay.outline(self.canvas.camera, number).center().toPoint()

    def click(self, node, modifier=Qt.KeyboardModifier.NoModifier):
        QTest.mouseClick(self.canvas, LEFT, modifier, self.point(node))
        self.wait()

    def color(self, at: QPoint) -> QColor:
        return QColor(self.canvas.grab().toImage().pixel(at))


@pytest.fixture
def make_desk(qtbot, client, tasks, center, theme):
    made: list[Desk] = []

    def make(start=True):
        theme.set_reduced_motion(True)
        view = MapView(MapWorkspace(client, tasks), center, theme)
        qtbot.addWidget(view)
        view.addActions(center.actions())
        center.set_place("map")
        view.resize(1200, 720)
        view.show()
        view.activateWindow()
        desk = Desk(view, client.api, center)
        made.append(desk)
        desk.until(view.isActiveWindow)
        if start:
            view.desk.start()
            desk.until(lambda: view.model.state is not MapState.LOADING)
            desk.wait()
            view.focus_first()
        return desk

    yield make
    for desk in made:
        desk.view.hide()
        desk.model.thumbnails.close()


@pytest.fixture
def desk(make_desk):
    return make_desk()


# ---------------------------------------------------------------- looking
def test_it_opens_with_the_whole_map_and_the_keys_on_it(desk):
    assert desk.canvas.hasFocus()
    for x, y in desk.model.graph.places.tolist():
        assert desk.canvas.camera.sees(x, y, margin=0)
    assert desk.canvas.painter.drawn_states == 40


def test_the_whole_map_stays_whole_while_its_place_changes(desk):
    desk.view.resize(1000, 560)
    desk.wait()
    assert all(desk.canvas.camera.sees(x, y, margin=0) for x, y in desk.model.graph.places.tolist())
    desk.press(Key.Key_Plus)
    before = desk.canvas.camera.scale
    desk.view.resize(1100, 700)
    desk.wait()
    assert desk.canvas.camera.scale == before, "a map moved by hand stays as it is"


def test_plus_minus_and_zero_come_nearer_go_away_and_show_all(desk):
    whole = desk.canvas.camera.scale
    desk.press(Key.Key_Plus)
    desk.press(Key.Key_Plus)
    assert desk.canvas.camera.scale > 1.8 * whole
    desk.press(Key.Key_Minus)
    desk.press(Key.Key_0)
    assert desk.canvas.camera.scale == pytest.approx(whole)


def test_the_wheel_comes_nearer_at_the_pointer(desk):
    at = QPointF(desk.point(node_id(6)))
    before = desk.canvas.camera.place(at)
    event = QWheelEvent(
        at, desk.canvas.mapToGlobal(at), QPoint(), QPoint(0, 240), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(desk.canvas, event)
    after = desk.canvas.camera.place(at)
    assert after == pytest.approx(before, abs=0.02)


def test_dragging_moves_the_map_and_selects_nothing(desk):
    desk.model.select(node_id(3))
    start = desk.canvas.camera.left, desk.canvas.camera.top
    middle = QPoint(300, 300)
    QTest.mousePress(desk.canvas, LEFT, Qt.KeyboardModifier.NoModifier, middle)
    for step in range(1, 6):
        QTest.mouseMove(desk.canvas, middle + QPoint(12 * step, 7 * step))
        desk.wait(0.01)
    QTest.mouseRelease(desk.canvas, LEFT, Qt.KeyboardModifier.NoModifier, middle + QPoint(60, 35))
    assert (desk.canvas.camera.left - start[0], desk.canvas.camera.top - start[1]) == (60, 35)
    assert desk.model.node == node_id(3)


def test_a_dragged_map_looks_as_one_drawn_anew(desk):
    """Newly visible strips fit the cached background."""
    desk.canvas.clearFocus()
    desk.press(Key.Key_Plus)
    desk.until(lambda: not desk.canvas.painter.quick)
    desk.canvas.grab()
    for right, down in ((37, 0), (0, -21), (-90, 44), (500, 300), (3, -2)):
        desk.canvas.camera.pan(right, down)
        desk.canvas.grab()
    kept = pixels(desk.canvas)
    desk.canvas.invalidate()
    differs = np.abs(pixels(desk.canvas) - kept).max(axis=2)
    assert (differs > 8).mean() < 0.003, "but for dashes and smoothing of lines where they were cut"


@pytest.mark.parametrize(
    ("right", "down"), [(10, 0), (-10, 0), (0, 7), (0, -7), (10, 7), (-10, 7), (900, 0), (0, 0)]
)
def test_strips_and_what_is_kept_make_the_whole_view(right, down):
    whole = QRect(0, 0, 200, 100)
    covered = np.zeros((100, 200), int)
    kept = whole & whole.translated(right, down)
    for part in [kept, *strips(whole, right, down)]:
        covered[part.top() : part.bottom() + 1, part.left() : part.right() + 1] += 1
    assert (covered == 1).all()


def test_dots_from_afar_and_pictures_from_near(desk):
    assert desk.canvas.camera.scale < CARDS_FROM
    desk.canvas.show_node(node_id(6))
    desk.until(lambda: desk.model.thumbnails.get("thumb-6", 10) is not None)
    desk.wait(0.2)
    assert desk.canvas.camera.scale >= CARDS_FROM
    box = desk.canvas.overlay.outline(desk.canvas.camera, 6)
    bar = desk.color(QPoint(int(box.right() - box.width() * 0.4), int(box.top() + box.height() * 0.05)))
    assert bar != desk.view._theme.color("raised")


def test_failures_wear_a_ring_and_tips_a_flag(desk):
    theme, radius = desk.view._theme, desk.canvas.painter.radius(desk.canvas.camera.scale)
    desk.press(Key.Key_V)
    out = int(radius + max(2.2, radius * 0.45))
    fail = theme.color("fail")

    def near(at, wanted):
        image = desk.canvas.grab().toImage()
        found = [QColor(image.pixel(at + QPoint(dx, dy))) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
        return any(abs(c.red() - wanted.red()) + abs(c.green() - wanted.green()) < 60 for c in found)

    at = desk.point(node_id(14)) - QPoint(out, 0)
    assert near(at, fail)
    assert not near(desk.point(node_id(13)) - QPoint(out, 0), fail)


# ---------------------------------------------------------------- states
def test_arrows_walk_from_state_to_state(desk):
    desk.press(Key.Key_Right)
    first = desk.model.node
    assert first, "with none open the one in the middle is"
    desk.model.select(node_id(0))
    desk.press(Key.Key_Right)
    assert desk.model.current.depth == 1
    desk.press(Key.Key_Down)
    assert desk.model.current.depth == 1
    desk.press(Key.Key_Left)
    assert desk.model.node == node_id(0)
    desk.press(Key.Key_Left)
    assert desk.model.node == node_id(0)


def test_shift_and_an_arrow_move_the_map(desk):
    left = desk.canvas.camera.left
    desk.press(Key.Key_Right, SHIFT)
    assert desk.canvas.camera.left == left - 80


def test_a_click_selects_and_the_panel_follows(desk):
    desk.click(node_id(19))
    assert desk.model.node == node_id(19)
    desk.until(lambda: desk.view.desk.detail.detail is not None)
    assert desk.view.desk.detail.detail.row.id == node_id(19)
    assert "Checkout" in desk.canvas.accessibleDescription()
    QTest.mouseClick(desk.canvas, LEFT, Qt.KeyboardModifier.NoModifier, QPoint(desk.canvas.width() - 30, 200))
    assert desk.model.node == ""


def test_control_click_selects_more_and_m_merges_them(desk):
    desk.click(node_id(3))
    desk.click(node_id(4), CONTROL)
    assert desk.model.selected == (node_id(3), node_id(4))
    desk.press(Key.Key_M)
    desk.until(lambda: len(desk.model.graph) == 39)
    assert desk.said[-1] == "2 states merged"
    desk.press(Key.Key_M)
    assert len([1 for name, _ in desk.engine.calls if name == "merge_nodes"]) == 1, (
        "one state alone merges with nothing"
    )


def test_enter_goes_to_the_panel_and_escape_comes_back(desk):
    desk.click(node_id(6))
    desk.until(lambda: desk.view.desk.detail.detail is not None)
    desk.press(Key.Key_Return)
    assert desk.view.panel.isAncestorOf(QApplication.focusWidget())
    desk.press(Key.Key_Escape)
    assert desk.canvas.hasFocus()


def test_j_and_k_go_through_the_table(desk):
    desk.press(Key.Key_J)
    first = desk.model.node
    assert first == desk.model.table.rows[0].id
    desk.press(Key.Key_J)
    assert desk.model.node == desk.model.table.rows[1].id
    desk.press(Key.Key_K)
    assert desk.model.node == first


def test_y_copies_the_address(desk):
    desk.click(node_id(6))
    desk.press(Key.Key_Y)
    assert QGuiApplication.clipboard().text() == "http://shop.example:8123/basket/"


# ---------------------------------------------------------------- the table twin
def test_t_shows_the_table_with_the_same_selection(desk):
    desk.click(node_id(19))
    desk.press(Key.Key_T)
    table = desk.view.table
    assert table.isVisible()
    assert table.hasFocus()
    assert [desk.model.table.at(index.row()).id for index in table.selectionModel().selectedRows()] == [
        node_id(19)
    ]
    desk.press(Key.Key_Down)
    assert desk.model.node == desk.model.table.at(table.currentIndex().row()).id != node_id(19)
    desk.press(Key.Key_Down, SHIFT)
    assert len(desk.model.selected) == 2
    desk.press(Key.Key_T)
    assert not table.isVisible()
    assert desk.canvas.hasFocus()


def test_a_click_on_the_map_marks_the_row(desk):
    desk.press(Key.Key_T)
    desk.click(node_id(30))
    chosen = desk.view.table.selectionModel().selectedRows()
    assert [desk.model.table.at(index.row()).id for index in chosen] == [node_id(30)]


def test_a_header_sorts_and_the_selection_stays(desk):
    desk.click(node_id(19))
    desk.press(Key.Key_T)
    desk.view.table.horizontalHeader().sectionClicked.emit(COLUMNS.index("failures"))
    assert desk.model.table.rows[0].id == node_id(19)
    assert desk.model.node == node_id(19)


def test_nothing_jumps_while_the_map_grows(make_desk, client):
    client.api.shown = 25
    desk = make_desk()
    desk.click(node_id(12))
    desk.press(Key.Key_T)
    desk.press(Key.Key_Plus)
    seen = desk.canvas.camera.scale, desk.canvas.camera.left, desk.canvas.camera.top
    where, top = desk.point(node_id(12)), desk.view.table.verticalScrollBar().value()
    client.api.reveal(40)
    desk.until(lambda: len(desk.model.graph) == 40)
    assert (desk.canvas.camera.scale, desk.canvas.camera.left, desk.canvas.camera.top) == seen
    assert desk.point(node_id(12)) == where
    assert desk.view.table.verticalScrollBar().value() == top
    assert desk.model.node == node_id(12)
    assert desk.view.table.hasFocus()


def test_the_whole_map_stays_in_sight_while_it_grows_until_a_person_moves_it(make_desk, client):
    client.api.shown = 2
    desk = make_desk()
    client.api.reveal(25)
    desk.until(lambda: len(desk.model.graph) == 25)
    camera, places = desk.canvas.camera, desk.model.graph.places
    assert all(camera.sees(x, y) for x, y in places.tolist())
    desk.press(Key.Key_Plus)
    seen = camera.scale, camera.left, camera.top
    client.api.reveal(40)
    desk.until(lambda: len(desk.model.graph) == 40)
    assert (camera.scale, camera.left, camera.top) == seen


def test_newcomers_are_pointed_out_for_a_moment_and_only_they(make_desk, client, theme):
    client.api.shown = 30
    desk = make_desk()
    theme.set_reduced_motion(False)
    client.api.reveal(33)
    desk.until(lambda: len(desk.model.graph) == 33)
    assert set(desk.canvas._arriving) == {row.id for row in desk.model.graph.rows[30:]} or not theme.motion
    desk.until(lambda: not desk.canvas._arriving)
    theme.set_reduced_motion(True)


# ---------------------------------------------------------------- finding and filtering
def test_f_finds_a_state_and_enter_goes_there(desk):
    desk.press(Key.Key_F)
    assert desk.view.head.finder.hasFocus()
    desk.type("payment")
    desk.until(lambda: desk.view.head.finder.found.isVisible() and desk.model.search.hits.rowCount() > 0)
    desk.press(Key.Key_Return)
    assert desk.model.title(desk.model.node) == "Payment"
    assert desk.canvas.hasFocus()
    x, y = desk.model.graph.places[desk.model.graph.number[desk.model.node]]
    assert desk.canvas.camera.sees(x, y)


def test_what_no_state_answers_is_said(desk):
    desk.press(Key.Key_F)
    desk.type("zebra")
    desk.until(lambda: "zebra" in desk.view.head.finder.found.words.text())
    desk.press(Key.Key_Escape)
    assert desk.canvas.hasFocus()
    assert not desk.view.head.finder.found.isVisible()


def test_slash_filters_and_the_rest_stays_as_shadows(desk):
    desk.press(Key.Key_Slash)
    desk.type("failures")
    assert desk.view.head.count.text() == "4 / 40"
    assert desk.canvas.painter.drawn_states == 40
    desk.press(Key.Key_Return)
    desk.press(Key.Key_0)
    desk.model.select(node_id(6))
    desk.press(Key.Key_Right)
    assert desk.model.current.failures > 0, "arrows go to states that are shown"
    desk.press(Key.Key_Escape)
    assert desk.view.head.count.text() == "40 / 40"


def test_the_legend_counts_and_a_click_shows_only_those(desk):
    row = desk.view.legend.rows["failures"]
    assert row.accessibleName() == "with failed runs: 4"
    QTest.mouseClick(row, LEFT)
    assert desk.model.table.text == "failures"
    assert row.isChecked()
    QTest.mouseClick(row, LEFT)
    assert desk.model.table.text == ""


def test_v_hides_links_that_were_never_followed(desk):
    desk.canvas.grab()
    before = desk.canvas.painter.drawn_lines
    desk.press(Key.Key_V)
    desk.canvas.grab()
    assert desk.canvas.painter.drawn_lines < before
    assert "hidden" in desk.view.legend.rows["seen"].accessibleName()
    desk.press(Key.Key_V)


# ---------------------------------------------------------------- ways
def test_p_and_another_state_show_the_way(desk):
    desk.click(node_id(1))
    desk.press(Key.Key_P)
    assert desk.view.path.isVisible()
    assert "Choose" in desk.view.path.says.text()
    desk.click(node_id(29))
    desk.until(lambda: desk.model.path.state is PathState.READY)
    assert desk.view.path.list.model().rowCount() == len(desk.model.path.nodes) - 1
    desk.press(Key.Key_Escape)
    assert not desk.view.path.isVisible()


def test_shift_click_shows_the_way_from_the_open_state(desk):
    desk.click(node_id(0))
    desk.click(node_id(37), SHIFT)
    desk.until(lambda: desk.model.path.state is PathState.READY)
    assert (
        desk.model.path.nodes == (node_id(0), node_id(7), node_id(23), node_id(37))
        or len(desk.model.path.nodes) > 1
    )


def test_take_me_there_lists_every_verdict(desk):
    desk.engine.arrive_at = [ReplayVerdictKind.EXACT, ReplayVerdictKind.DRIFTED, ReplayVerdictKind.EXACT]
    desk.click(node_id(37))
    desk.press(Key.Key_Return, CONTROL)
    desk.until(lambda: desk.model.path.state is PathState.ARRIVED)
    words = [desk.model.path.steps.words(step) for step in desk.model.path.steps.rows]
    assert ": exact" in words[0]
    assert ": drifted, two links" in words[1]
    assert "Arrived" in desk.view.path.says.text()
    assert desk.model.path.live == node_id(37)
    desk.canvas.grab()


def test_a_step_of_the_way_opens_its_state(desk):
    desk.click(node_id(37))
    desk.press(Key.Key_P, SHIFT)
    desk.until(lambda: desk.model.path.state is PathState.READY)
    pane = desk.view.path.list
    pane.setFocus()
    pane.setCurrentIndex(pane.model().index(0, 0))
    desk.press(Key.Key_Return)
    assert desk.model.node == desk.model.path.nodes[1]


# ---------------------------------------------------------------- faces
def test_without_a_graph_it_asks_for_an_address(make_desk, client):
    client.api.start_graphs(empty=True)
    desk = make_desk()
    assert desk.model.state is MapState.NO_GRAPH
    face = desk.view.faces.currentWidget()
    assert face.title.text() == "No map yet"
    assert desk.center.keys("map.explore") in face.button.text()
    assert desk.view.side.currentWidget() is desk.view.form
    assert desk.view.form.fields["url"].hasFocus()


def test_an_engine_that_fails_says_why(make_desk, client, monkeypatch):
    async def graph_picture(site, tidy=False):
        raise RuntimeError("the graph file was cut in half")

    monkeypatch.setattr(client.api, "graph_picture", graph_picture)
    desk = make_desk()
    assert "cut in half" in desk.view.error.text()
    assert desk.view.faces.currentWidget() is desk.view.error


@pytest.mark.parametrize(("key", "page"), [(Key.Key_B, "block_list"), (Key.Key_D, "velocity")])
def test_laboratory_and_velocity_stand_in_the_maps_place_and_go_again(desk, key, page):
    desk.press(key)
    assert desk.view.faces.currentWidget() is getattr(desk.view, page)
    assert not desk.center.trigger("map.fit"), "keys of the map rest while it is not seen"
    desk.press(Key.Key_Escape)
    assert desk.view.faces.currentWidget() is desk.view.rows
    assert desk.canvas.hasFocus()


def test_another_site_is_shown_whole(desk, client, monkeypatch):
    rows, edges = large_site(30)
    other = MapGraph.of(make_picture(rows, edges))
    picture = make_picture(rows, edges)
    from dataclasses import replace

    async def graph_picture(site, tidy=False):
        return replace(picture, site=site)

    monkeypatch.setattr(client.api, "graph_picture", graph_picture)
    desk.model.choose_site("forum")
    desk.until(lambda: desk.model.state is MapState.READY and len(desk.model.graph) == len(other))
    assert all(desk.canvas.camera.sees(x, y, margin=0) for x, y in desk.model.graph.places.tolist())


def test_the_layout_is_remembered(make_desk):
    one = make_desk()
    one.press(Key.Key_T)
    one.press(Key.Key_V)
    one.press(Key.Key_I)
    one.click(node_id(30))
    layout = one.view.save_layout()
    two = make_desk(start=False)
    two.view.restore_layout(layout)
    two.view.desk.start()
    two.until(lambda: two.model.node == node_id(30))
    assert two.view.table.isVisible()
    assert not two.view.legend.isVisible()
    assert not two.canvas.painter.show_seen


def test_every_control_has_an_accessible_name_and_every_command_is_bound(desk):
    desk.click(node_id(19))
    desk.until(lambda: desk.view.desk.detail.detail is not None)
    inner = ("qt_", "QComboBoxListView")
    for kind in (QAbstractButton, QLineEdit, QPlainTextEdit, QComboBox, QAbstractItemView):
        for widget in desk.view.findChildren(kind):
            own = widget.metaObject().className()
            helper = widget.objectName().startswith(inner) or own.startswith(("QHeader", "QTableCorner"))
            blank = widget.isHidden() and isinstance(widget.parent(), EmptyState)
            if helper or blank or own in ("QComboBoxListView", "QLineEditIconButton"):
                continue
            named = widget.accessibleName() or (isinstance(widget, QAbstractButton) and widget.text())
            assert named, (own, widget.parent())
    mine = [one.id for one in desk.center.commands if one.place == "map"]
    # The schedule's panel belongs to the frame, which binds the command.
    assert [one for one in mine if not desk.center.is_bound(one)] == ["map.schedule"]


def test_tab_walks_from_the_find_field_over_the_map_to_the_panel(desk):
    desk.click(node_id(19))
    desk.until(lambda: desk.view.desk.detail.detail is not None)
    desk.view.head.finder.setFocus()
    seen = []
    for _ in range(60):
        QTest.keyClick(QApplication.focusWidget(), Key.Key_Tab)
        seen.append(QApplication.focusWidget())
    assert desk.canvas in seen
    assert any(desk.view.panel.isAncestorOf(widget) for widget in seen)
    assert desk.view.head.finder in seen


def test_a_map_is_made_of_the_runs_of_a_site_that_is_chosen(desk, monkeypatch):
    from PySide6.QtWidgets import QMenu

    shown = []
    monkeypatch.setattr(QMenu, "popup", lambda self, at: shown.append(self))
    assert desk.center.trigger("map.from_runs")
    desk.until(lambda: bool(shown))
    assert {action.text() for action in shown[0].actions()} >= {"gitlab", "shopping"}
    shown[0].actions()[0].trigger()
    desk.until(lambda: any(name == "graph_from_runs" for name, _ in desk.engine.calls))
    desk.until(lambda: bool(desk.said))


def test_verifying_and_bringing_up_to_date_say_what_came_of_it(desk):
    assert desk.center.trigger("map.verify")
    desk.until(lambda: bool(desk.said))
    assert desk.said[-1].startswith("Verified 40 states")
    assert desk.center.trigger("map.update")
    desk.until(lambda: desk.said[-1].startswith("Updated"))


# ---------------------------------------------------------------- large, light and dark
@pytest.mark.parametrize("mode", ["light", "dark", "contrast"])
def test_it_is_drawn_in_every_colour_scheme(desk, mode):
    desk.view._theme.set_mode(mode)
    desk.click(node_id(6))
    picture = desk.canvas.grab().toImage()
    assert QColor(picture.pixel(desk.canvas.width() - 5, 200)) == desk.view._theme.color("surface")


def test_larger_text_gets_larger_cards(desk):
    before = desk.canvas.camera.cell[0] / desk.canvas.camera.scale
    desk.view._theme.set_zoom(1.5)
    desk.wait()
    assert desk.canvas.camera.cell[0] / desk.canvas.camera.scale == pytest.approx(1.5 * before)
    desk.view.grab()
    desk.view._theme.set_zoom(1.0)


def test_ten_thousand_states_are_thinned_out_and_each_can_be_reached(desk):
    rows, edges = large_site(10_000)
    model = desk.model
    model._show(MapGraph.of(make_picture(rows, edges)))
    desk.canvas.fit(gently=False)
    desk.wait(0.15)
    desk.canvas.grab()
    assert desk.canvas.painter.drawn_states == 10_000
    assert desk.canvas.painter.drawn_lines <= MAX_LINES
    model.select(node_id(7_777))
    assert model.table.row_of(node_id(7_777)) >= 0
    desk.canvas.show_node(node_id(7_777))
    desk.wait(0.15)
    assert desk.canvas.node_at(QPointF(desk.point(node_id(7_777)))) == node_id(7_777)
    desk.canvas.grab()
    assert desk.canvas.painter.drawn_states < 200


def test_a_window_of_another_density_is_drawn_sharp(desk):
    from app.views.graph.marks import DotSprites

    sheet = DotSprites(desk.view._theme, 4.0, 2.0)
    assert sheet.pixmap.size() == QSize(sheet.side * 33, sheet.side)
    assert sheet.side == sheet.box * 2


@pytest.mark.parametrize("zoom", [1.0, 1.5])
def test_the_sort_arrow_touches_no_title(qtbot, client, tasks, theme, qapp, settle, zoom) -> None:
    model = MapModel(client, tasks)
    theme.set_zoom(zoom)
    theme.apply(qapp)
    table = NodeTable(model, theme)
    qtbot.addWidget(table)
    table.resize(1400, 200)
    table.show()

    def title(sorted_by: str) -> QImage:
        """The header's column Depth below the arrow's place."""
        model.table.sort(COLUMNS.index(sorted_by), Qt.SortOrder.AscendingOrder)
        table.show_sort()
        settle(0.05)
        header = table.horizontalHeader()
        column, top = COLUMNS.index("depth"), theme.px(8)
        return header.grab(
            QRect(header.sectionPosition(column), top, header.sectionSize(column), header.height() - top)
        ).toImage()

    assert title("depth") == title("runs")


def test_what_changed_is_listed_and_leads_to_the_state(desk):
    row = desk.model.graph.rows[3]
    desk.engine.diff = GraphDiff(
        added=((row.id, row.title, row.url),),
        removed=(("gone-1", "Old page", "http://shop/old"),),
        changed=(
            ChangedState(id=row.id, title="Cart", url="http://shop/cart", gone=("Pay",), come=("Order",)),
        ),
        added_transitions=("click link 'New' on Home",),
        same=30,
    )
    desk.press(Key.Key_H)
    pane = desk.view.changes
    desk.until(lambda: desk.model and pane.summary.text().startswith("1 new · 1 gone · 1 changed · 30"))
    rows = desk.view.desk.changes.list.rows
    assert [one.kind for one in rows] == ["new", "gone", "changed", "new"]
    assert rows[2].detail == "new: Order; gone: Pay"
    assert pane.list.hasFocus()
    pane.list.setCurrentIndex(desk.view.desk.changes.list.index(0))
    desk.press(Key.Key_Return)
    assert desk.model.node == row.id
    desk.press(Key.Key_Escape)
    assert desk.view.side.currentWidget() is desk.view.beside


def test_a_map_without_a_second_exploration_says_why_nothing_is_compared(desk):
    desk.engine.diff = GraphDiff(same=40)
    desk.press(Key.Key_H)
    desk.until(lambda: "Nothing changed" in desk.view.changes.summary.text())
    desk.press(Key.Key_H)
    assert desk.view.side.currentWidget() is desk.view.beside
