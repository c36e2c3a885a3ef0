"""The atlas of the Map: pages that fail and have no tip, counted, filtered, and one key from their runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication

from app.models.graph.filter import matches, parse_map_filter
from app.models.graph.map_graph import StateMark, failure_count_words, is_untipped, node_words, page_of
from app.models.graph.model import MapState
from app.models.graph.workspace import MapWorkspace
from app.views.graph.marks import SHOWN, draw_dot
from app.views.graph.view import MapView
from tests.support import qt_loop
from tests.support.generated_site import make_rows, node_id

FAILING = node_id(14)
"""The one state of the made-up shop where a run failed and that has no tip."""
HELPED = node_id(19)
"""Five failed runs and three tips."""


@pytest.fixture
def view(qtbot: Any, client: Any, tasks: Any, center: Any, theme: Any) -> Iterator[MapView]:
    theme.set_reduced_motion(True)
    made = MapView(MapWorkspace(client, tasks), center, theme)
    qtbot.addWidget(made)
    made.addActions(center.actions())
    center.set_place("map")
    made.resize(1200, 720)
    made.show()
    made.activateWindow()
    qt_loop.until(made.isActiveWindow)
    made.desk.start()
    qt_loop.until(lambda: made.model.state is MapState.READY)
    made.focus_first()
    yield made
    made.hide()
    made.model.thumbnails.close()


def press(view: MapView, key: Qt.Key) -> None:
    QTest.keyClick(QApplication.focusWidget() or view, key)
    qt_loop.turn(0.05)


@pytest.mark.parametrize(
    ("failures", "tips", "words", "untipped"),
    [
        (0, 0, "", False),
        (3, 0, "3 failed · no tip", True),
        (3, 1, "3 failed · 1 tip", False),
        (0, 2, "0 failed · 2 tips", False),
    ],
)
def test_a_state_says_how_many_runs_failed_and_how_many_tips_it_has(
    failures: int, tips: int, words: str, untipped: bool
):
    row = replace(make_rows()[0][3], failures=failures, tips=tips, suspect_tips=0)
    assert (failure_count_words(row), is_untipped(row)) == (words, untipped)
    assert matches(row, parse_map_filter("untipped")) is untipped
    assert ("no tip" in node_words(row)) is untipped


@pytest.mark.parametrize(
    ("template", "page"),
    [
        ("/", "/"),
        ("/cart", "/cart"),
        ("/directions?from&to", "/directions"),
        ("/app#/cart", "/app"),
        ("/a/b/c/d/e/f/g", "/a/b/c/d/e/f"),
    ],
)
def test_the_page_of_a_state_is_named_as_pages_of_runs_are(template: str, page: str):
    assert page_of(replace(make_rows()[0][3], template=template)) == page


def test_the_legend_counts_and_filters_pages_that_fail_without_a_tip(view: MapView):
    row = view.legend.rows["untipped"]
    assert row.accessibleName() == "failed runs, no tip: 1"
    row.click()
    assert view.model.table.text == "untipped"
    assert [row.id for row in view.model.table.rows] == [FAILING]
    row.click()
    assert view.model.table.text == ""


def test_the_table_says_none_where_a_tip_is_missing(view: MapView):
    table = view.model.table
    column = next(number for number, one in enumerate(table.columns) if one.key == "tips")
    cells = {one.id: table.columns[column].cell(one) for one in table.rows}
    assert (cells[FAILING], cells[HELPED]) == ("none", "3")
    assert sum(cell == "none" for cell in cells.values()) == 1


@pytest.mark.parametrize(
    ("marks", "rings"),
    [
        (StateMark.FAILED | StateMark.UNTIPPED, 2),
        (StateMark.FAILED | StateMark.TIPS, 1),
        (StateMark.FAILED | StateMark.TIPS | StateMark.SUSPECT, 1),
        (StateMark.TIPS, 0),
        (StateMark(0), 0),
    ],
)
def test_a_second_ring_tells_a_failure_without_a_tip_from_one_with(theme: Any, marks: StateMark, rings: int):
    picture = QImage(80, 80, QImage.Format.Format_RGB32)
    picture.fill(theme.color("surface"))
    painter = QPainter(picture)
    draw_dot(painter, theme, QPointF(40, 40), 9.0, int(marks & SHOWN))
    painter.end()
    found = [_is_near(QColor(picture.pixel(40 - step, 40)), theme.color("fail")) for step in range(40)]
    assert sum(now and not before for before, now in pairwise(found)) == rings


def _is_near(one: QColor, other: QColor) -> bool:
    return (
        abs(one.red() - other.red()) + abs(one.green() - other.green()) + abs(one.blue() - other.blue()) < 150
    )


def test_one_key_opens_and_closes_the_atlas_and_the_next_start_has_it(view: MapView):
    labels = view.canvas.painter.labels
    press(view, Qt.Key.Key_A)
    assert view.canvas.painter.atlas
    assert view.head.buttons["map.atlas"].isChecked()
    assert view.save_layout()["atlas"] is True
    labels.choose(view.canvas.camera)
    told = {view.model.graph.rows[number].id: text for number, (text, _) in labels.chosen.items()}
    assert told[FAILING].endswith("1 failed · no tip")
    rows = {row.id: row for row in view.model.graph.rows}
    assert all(text.endswith(failure_count_words(rows[node])) for node, text in told.items())
    press(view, Qt.Key.Key_A)
    assert not view.canvas.painter.atlas
    view.restore_layout({"atlas": True})
    assert view.canvas.painter.atlas


def test_the_atlas_leaves_the_filter_and_its_counts_alone(view: MapView):
    view.show_failures_only(True)
    assert view.model.counts_text == "40 / 40"


def test_one_key_asks_review_for_the_failures_of_the_page(view: MapView):
    asked = QSignalSpy(view.review_requested)
    view.model.select(FAILING)
    press(view, Qt.Key.Key_R)
    row = view.model.current
    assert row is not None
    assert asked.at(0) == [f"failed page:{view.model.site}{page_of(row)}"]
    view.model.select(node_id(1))
    press(view, Qt.Key.Key_R)
    assert asked.count() == 1, "no run failed there"


def test_the_panel_offers_the_failures_of_its_page(view: MapView):
    asked = QSignalSpy(view.review_requested)
    view.model.select(FAILING)
    qt_loop.until(lambda: view.panel.failures.isVisible())
    assert view.panel.failures.text() == "1 failed · no tip: review this page's failures (R)"
    view.panel.failures.click()
    assert asked.count() == 1
    view.model.select(node_id(1))
    qt_loop.until(lambda: not view.panel.failures.isVisible())


def test_from_the_map_to_the_first_failed_run_of_a_page_is_one_key(bench: Any):
    window = bench._window
    bench.map.map.start()
    qt_loop.until(lambda: bench.map.map.state is MapState.READY)
    window.go("map")
    qt_loop.turn(0.1)
    bench.map.map.select(FAILING)
    QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_R)
    queue = bench.review.queue
    qt_loop.until(lambda: queue.text.startswith("failed page:") and queue.model.rowCount() > 0)
    qt_loop.until(lambda: bench.review.run == queue.model.at(0).id)
    assert window.place == "review"
