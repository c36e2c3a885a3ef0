"""The open state's panel: elements, transitions, runs and tips, and where activating one leads."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QComboBox, QLineEdit, QToolButton

from app.engine.core.events import GraphChanged, KnowledgeChanged
from app.engine.core.page_state import Element
from app.engine.core.transition import (
    FrontierItem,
    FrontierStatus,
    Locator,
    Operation,
    SkipReason,
    Transition,
)
from app.models.graph.node_detail import DetailState, NodeDetailModel
from app.models.graph.node_lists import (
    PassingRun,
    TransitionRow,
    element_rows,
    item_words,
    passing_runs,
    score_words,
    seconds_words,
    status_of,
    transition_rows,
)
from app.views.graph.node_head import about_words
from app.views.graph.node_panel import NodePanel
from app.views.graph.screenshot_view import ScreenshotMark, ScreenshotView
from tests.support.generated_site import SITE, node_id
from tests.support.qt_loop import until

FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal
CHECKOUT, ORDERS, HOME = 19, 23, 0


def item(status, reason=None, detail="", value="", operation=Operation.CLICK):
    return FrontierItem(
        page="p", element="e", operation=operation, value=value, status=status, reason=reason, detail=detail
    )


def way(**fields):
    given = {
        "id": "w1",
        "source": "a",
        "target": "b",
        "locator": Locator(role="link", name="Cart"),
        "attempts": 3,
        "successes": 3,
        "seconds": 0.42,
        "last_at": 9.0,
        "last_ok_at": 9.0,
    }
    return Transition(**{**given, **fields})


# ---------------------------------------------------------------- words
@pytest.mark.parametrize(
    ("frontier", "words"),
    [
        (item(FrontierStatus.WAITING), "waiting to be tried"),
        (item(FrontierStatus.TRIED), "tried"),
        (item(FrontierStatus.FAILED, detail="it is covered by 'dialog'"), "failed: it is covered by 'dialog'"),
        (item(FrontierStatus.SKIPPED, SkipReason.EXTERNAL, "cdn.example.com"),
         "skipped: leads to another host (cdn.example.com)"),
        (item(FrontierStatus.SKIPPED, SkipReason.BLOCKED, "vendor-pages"),
         "skipped: blocked by a rule (rule vendor-pages)"),
        (item(FrontierStatus.SKIPPED), "skipped: no reason recorded"),
    ],
)  # fmt: skip
def test_what_became_of_an_element_is_said_in_words(frontier, words):
    assert item_words(frontier) == words


def test_an_element_nobody_noted_says_why_it_can_be_so():
    assert (
        status_of(Element(index=0, role="textbox"), [])[1]
        == "skipped: elements with role textbox are not tried"
    )
    assert status_of(Element(index=0, role="link", visible=False), [])[1] == "skipped: not visible"
    assert status_of(Element(index=0, role="button", states=("disabled",)), [])[1] == "skipped: disabled"
    assert status_of(Element(index=0, role="button"), []) == ("", "unknown")


def test_the_choices_of_a_list_count_one_by_one():
    choices = [item(FrontierStatus.TRIED, value=str(n), operation=Operation.SELECT) for n in range(3)]
    choices.append(item(FrontierStatus.WAITING, value="3", operation=Operation.SELECT))
    assert status_of(Element(index=0, role="combobox"), choices) == (
        "waiting",
        "4 options: 1 waiting, 3 tried",
    )


def test_what_was_tried_once_counts_as_tried_even_where_it_was_skipped_elsewhere():
    both = [item(FrontierStatus.SKIPPED, SkipReason.KNOWN), item(FrontierStatus.TRIED)]
    assert status_of(Element(index=0, role="link"), both) == ("tried", "tried")
    assert status_of(Element(index=0, role="link"), both[::-1]) == ("tried", "tried")


def test_a_transition_says_tries_time_risk_and_how_it_was_found():
    row = TransitionRow(
        transition=way(risk=0.4, last_tier="role and name"), other="b", title="Cart", outgoing=True
    )
    assert row.numbers == "3 of 3 arrived · 0.42 s · risk 0.4 · by role and name"
    assert row.status == "ok"
    seen = replace(row, transition=way(attempts=0, successes=0))
    assert (seen.numbers, seen.status) == ("not tried", "")
    gone = replace(row, transition=way(gone_at=5.0))
    assert (gone.numbers, gone.status) == ("no longer on the page", "fail")


def test_a_transition_that_failed_last_is_a_warning_and_one_that_never_arrived_a_failure():
    def status(**fields):
        return TransitionRow(transition=way(**fields), other="b", title="", outgoing=True).status

    assert status(attempts=4, successes=3, last_at=9, last_ok_at=8) == "warn"
    assert status(attempts=4, successes=3, last_at=9, last_ok_at=9) == "ok"
    assert status(attempts=2, successes=0, last_ok_at=0) == "fail"


def test_transitions_that_fail_come_first_and_those_only_seen_last():
    ways = [way(id="seen", attempts=0, successes=0), way(id="ok"), way(id="never", successes=0, last_ok_at=0)]
    rows = transition_rows(ways, {"b": "Cart"}, outgoing=True)
    assert [row.transition.id for row in rows] == ["never", "ok", "seen"]
    assert rows[0].title == "Cart"
    assert transition_rows(ways, {}, outgoing=False)[0].other == "a"


def test_a_run_passing_twice_at_one_step_stands_once():
    assert passing_runs([("r", 1), ("r", 1), ("r", 2)], {}) == [
        PassingRun(run="r", step=1),
        PassingRun(run="r", step=2),
    ]


def test_scores_and_times_read_as_a_person_says_them():
    words = [score_words(PassingRun(run="r", step=0, score=score)) for score in (None, 0.0, 0.5, 1.0)]
    assert words == ["not scored", "failed", "partly passed", "passed"]
    assert [seconds_words(s) for s in (0.04, 0.42, 12.3, 125, 3725)] == [
        "40 ms", "0.42 s", "12 s", "2 min 05 s", "1 h 02 min",
    ]  # fmt: skip


# ---------------------------------------------------------------- the model
@pytest.fixture
def model(client, tasks):
    made = NodeDetailModel(client, tasks)
    testers = [
        QAbstractItemModelTester(rows, FATAL)
        for rows in (made.elements, made.outgoing, made.incoming, made.runs, made.tips)
    ]
    yield made
    made.pictures.close()
    for tester in testers:
        tester.deleteLater()


@pytest.fixture
def opened(model, settle):
    model.show(SITE, node_id(CHECKOUT))
    settle(0.1)
    assert model.state is DetailState.READY
    return model


def test_a_state_is_shown_with_its_elements_ways_runs_and_tips(opened, fake_engine):
    row = fake_engine.node_rows[CHECKOUT]
    assert opened.detail.row == row
    assert len(opened.all_elements) == opened.elements.rowCount() > 5
    assert opened.outgoing.rowCount() == row.outgoing
    assert opened.incoming.rowCount() == row.incoming
    assert opened.runs.rowCount() == row.runs
    assert [tip.tip for tip in opened.tips.rows] == list(opened.detail.tips)
    assert opened.tips.rows[0].text == fake_engine.tips[opened.detail.tips[0]].text


def test_runs_say_what_they_were_about_and_how_they_ended(model, fake_engine, settle, monkeypatch):
    run = next(run for run in fake_engine.all_runs.values() if run.score == 0.0)
    answer = fake_engine.graph_node

    async def passed(site, node):
        return replace(await answer(site, node), runs=((run.id, 4),))

    monkeypatch.setattr(fake_engine, "graph_node", passed)
    model.show(SITE, node_id(CHECKOUT))
    settle(0.1)
    assert model.runs.rows[0].intent == run.intent
    assert model.runs.words(model.runs.rows[0]) == f"{run.id}, step 4, failed: {run.intent}"


def test_elements_are_filtered_by_standing_and_words(opened):
    opened.filter("skipped", "")
    assert {row.status for row in opened.elements.rows} == {"skipped"}
    assert opened.elements.rowCount() == opened.count("skipped")
    opened.filter(None, "basket link")
    assert [row.name for row in opened.elements.rows] == ["Basket"]
    opened.filter(None, "")
    assert opened.elements.rowCount() == opened.count(None)


def test_a_tried_element_names_the_state_it_leads_to(opened):
    there = opened.detail.outgoing[0]
    element = Element(index=0, role="button", name="Next")
    frontier = FrontierItem(
        page="p", element="k", operation=there.operation, locator=there.locator, status=FrontierStatus.TRIED
    )
    detail = replace(opened.detail, elements=(element,), element_keys=("k",), frontier=(frontier,))
    row = element_rows(detail)[0]
    assert row.target == there.target
    assert row.why == f"tried: leads to {detail.titles[there.target]}"
    link = replace(detail, frontier=(replace(frontier, value="http://shop.example:8123/next"),))
    assert element_rows(link)[0].target == there.target, "a link's address is no part of the click"
    here = replace(detail, outgoing=(replace(there, target=detail.row.id),))
    assert element_rows(here)[0].why == "tried: the page stays as it is"


def test_a_link_that_was_only_seen_leads_to_its_page_where_its_looks_are_its_alone(opened):
    element = Element(index=0, role="link", name="Cart", landmarks=("banner",))
    skipped = item(FrontierStatus.SKIPPED, SkipReason.KNOWN, "/cart")
    seen = way(
        target="b", attempts=0, successes=0, locator=Locator(role="link", name="Cart", landmarks=("banner",))
    )
    detail = replace(
        opened.detail, elements=(element,), element_keys=("e",), frontier=(skipped,), outgoing=(seen,)
    )
    row = element_rows(detail)[0]
    assert (row.target, row.why) == ("b", "skipped: leads to a known page (/cart)")
    two = replace(detail, outgoing=(seen, replace(seen, id="w2", target="c")))
    assert element_rows(two)[0].target == ""


def test_the_smallest_element_under_a_point_is_found(opened):
    box = opened.all_elements[3].element.rect
    assert opened.element_at(box[0] + 1, box[1] + 1) == 3
    assert opened.element_at(-5, -5) == -1


def test_a_growing_graph_refreshes_the_open_state_and_keeps_the_selected_element(opened, fake_engine, settle):
    opened.select_element(4)
    shown = []
    opened.changed.connect(lambda: shown.append(opened.state))
    fake_engine.node_rows[CHECKOUT] = replace(fake_engine.node_rows[CHECKOUT], title="Where to send it")
    for _ in range(5):
        fake_engine.bus.publish(GraphChanged(site=SITE))
    settle(0.6)
    assert opened.detail.row.title == "Where to send it"
    assert opened.element == 4
    assert shown == [DetailState.READY], "asked once for five events, and never blank between"


def test_another_sites_graph_does_not_concern_it(opened, fake_engine, settle):
    shown = []
    opened.changed.connect(lambda: shown.append(1))
    fake_engine.bus.publish(GraphChanged(site="other"))
    settle(0.5)
    assert shown == []


def test_tips_are_asked_for_again_only_when_knowledge_changed(opened, fake_engine, settle):
    tip = opened.detail.tips[0]
    fake_engine.tips[tip] = replace(fake_engine.tips[tip], text="Sort first.")
    fake_engine.bus.publish(GraphChanged(site=SITE))
    settle(0.6)
    assert opened.tips.rows[0].text != "Sort first."
    fake_engine.bus.publish(KnowledgeChanged(tips=(tip,)))
    settle(0.6)
    assert opened.tips.rows[0].text == "Sort first."


def test_a_state_that_is_not_there_says_so(model, settle):
    model.show(SITE, "feedfeedfeedfeed")
    settle(0.1)
    assert model.state is DetailState.FAILED
    assert "feedfeed" in model.error


def test_a_slow_answer_shows_loading_and_a_quick_one_never_does(model, fake_engine, settle, monkeypatch):
    model.show(SITE, node_id(HOME))
    settle(0.1)
    seen = []
    model.changed.connect(lambda: seen.append(model.state))
    answer = fake_engine.graph_node

    async def slowly(site, node):
        await asyncio.sleep(0.35)
        return await answer(site, node)

    monkeypatch.setattr(fake_engine, "graph_node", slowly)
    model.show(SITE, node_id(ORDERS))
    settle(0.5)
    assert seen == [DetailState.LOADING, DetailState.READY]


def test_passing_over_states_shows_only_the_last(model, settle):
    seen = []
    model.changed.connect(lambda: seen.append(model.detail and model.detail.row.id))
    for number in range(6):
        model.show(SITE, node_id(number))
    settle(0.1)
    assert seen == [node_id(5)]


def test_no_state_leaves_nothing_behind(opened):
    opened.clear()
    assert opened.detail is None
    assert opened.elements.rowCount() == opened.runs.rowCount() == opened.tips.rowCount() == 0


def test_filtering_thousands_of_elements_tells_the_views_once(model, settle, fake_engine, monkeypatch):
    answer = fake_engine.graph_node

    async def large(site, node):
        many = tuple(Element(index=n, role="link", name=f"Product {n % 2}") for n in range(5000))
        return replace(await answer(site, node), elements=many, element_keys=("",) * 5000, frontier=())

    monkeypatch.setattr(fake_engine, "graph_node", large)
    model.show(SITE, node_id(CHECKOUT))
    for _ in range(400):
        if model.elements.rowCount() == 5000:
            break
        settle(0.05)
    told = []
    for signal in (model.elements.modelReset, model.elements.rowsRemoved, model.elements.rowsInserted):
        signal.connect(lambda *_: told.append(1))
    model.filter(None, "'product 1'")
    assert model.elements.rowCount() == 2500
    assert len(told) == 1


# ---------------------------------------------------------------- the panel
@pytest.fixture
def panel(qtbot, model, center, theme, settle):
    made = NodePanel(model, center, theme)
    qtbot.addWidget(made)
    center.set_place("map")
    made.addActions(center.actions())
    made.resize(330, 690)
    made.show()
    made.activateWindow()
    model.show(SITE, node_id(ORDERS))
    settle(0.2)
    yield made
    made.hide()


def test_the_head_tells_title_address_template_and_depth(panel, fake_engine):
    row = fake_engine.node_rows[ORDERS]
    assert panel.head.title.text() == row.title
    assert panel.head.url.text() == row.url
    assert row.template in panel.head.template.text()
    assert panel.head.badges["depth"].text == f"depth {row.depth}"


def test_badges_say_gone_log_in_and_no_address_of_its_own(panel, model, fake_engine):
    badges = panel.head.badges
    model.show(SITE, node_id(7))
    until(badges["challenge"].isVisible)
    assert badges["challenge"].text == "asks for a log-in"
    assert not badges["gone"].isVisible()
    model.show(SITE, node_id(21))
    until(badges["gone"].isVisible)
    model.show(SITE, node_id(9))
    until(lambda: badges["way"].text == "no address of its own")


def test_the_picture_comes_and_the_selected_element_is_outlined_on_it(panel, model, qtbot):
    qtbot.waitUntil(lambda: panel.shot.has_image)
    panel.elements.setCurrentIndex(model.elements.index(2))
    assert panel.shot.chosen.number == 2
    assert panel.shot.chosen.rect == model.all_elements[2].element.rect
    assert model.all_elements[2].why in panel.caption.text()


def test_an_element_beyond_the_picture_says_so(panel, model, qtbot):
    qtbot.waitUntil(lambda: panel.shot.has_image)
    far = replace(
        model.all_elements[1], element=replace(model.all_elements[1].element, rect=(10, 5000, 20, 20))
    )
    model.all_elements[1] = far
    model.select_element(1)
    assert panel.shot.chosen is None
    assert "outside the picture" in panel.caption.text()


def test_a_click_on_the_picture_selects_the_element_there(panel, model, qtbot):
    qtbot.waitUntil(lambda: panel.shot.has_image)
    panel.shot.repaint()
    panel.filter.setText("no such thing")
    qtbot.waitUntil(lambda: model.elements.rowCount() == 0)
    x, y, width, height = model.all_elements[6].element.rect
    scale = panel.shot.height() / 800
    left = (panel.shot.width() - 1280 * scale) / 2
    QTest.mouseClick(
        panel.shot,
        Qt.MouseButton.LeftButton,
        pos=QPoint(round(left + (x + width / 2) * scale), round((y + height / 2) * scale)),
    )
    assert model.element == 6
    assert panel.elements.currentIndex().row() == 6, "the filter that hid it is gone"


def test_enter_on_a_transition_goes_to_its_other_end(panel, model, qtbot):
    panel.focus_list("out")
    row = model.outgoing.rows[0]
    with qtbot.waitSignal(panel.node_requested) as wanted:
        QTest.keyClick(panel.out, Qt.Key.Key_Return)
    assert wanted.args == [row.other]
    panel.focus_list("in")
    with qtbot.waitSignal(panel.node_requested) as wanted:
        QTest.keyClick(panel.in_, Qt.Key.Key_Return)
    assert wanted.args == [model.incoming.rows[0].other]


def test_enter_in_a_list_is_not_taken_by_the_places_command(panel, center, qtbot):
    taken = []
    center.bind("map.open", lambda: taken.append(1))
    panel.focus_list("out")
    with qtbot.waitSignal(panel.node_requested):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert taken == []


def test_enter_on_a_run_asks_for_its_step_and_on_a_tip_for_the_tip(panel, model, qtbot):
    panel.focus_list("runs")
    with qtbot.waitSignal(panel.step_requested) as wanted:
        QTest.keyClick(panel.runs, Qt.Key.Key_Return)
    assert wanted.args == [model.runs.rows[0].run, model.runs.rows[0].step]
    panel.focus_list("tips")
    with qtbot.waitSignal(panel.tip_requested) as wanted:
        QTest.keyClick(panel.tips, Qt.Key.Key_Return)
    assert wanted.args == [model.tips.rows[0].tip]


def test_digits_show_the_lists(panel, center):
    for name in ("out", "in", "runs", "tips", "about", "elements"):
        assert center.trigger(f"map.panel.{name}")
        assert panel.tabs[name].isChecked()
    assert panel.elements.hasFocus()


def test_the_counts_stand_on_the_tabs(panel, model):
    assert panel.tabs["out"].text() == f"Out {model.outgoing.rowCount()}"
    assert panel.tabs["elements"].text() == f"Elements {len(model.all_elements)}"


def test_the_filter_and_its_choice_narrow_the_elements(panel, model, qtbot):
    panel.status.setCurrentIndex(2)
    panel.status.activated.emit(2)
    assert model.status == "waiting"
    assert panel.status.currentText() == f"waiting {model.count('waiting')}"
    panel.filter.setText("nothing at all")
    qtbot.waitUntil(lambda: model.elements.rowCount() == 0)
    assert panel.elements.isHidden()


def test_it_says_what_is_missing(panel, model, settle):
    model.show(SITE, "feedfeedfeedfeed")
    settle(0.1)
    assert panel._empty.title.text() == "This state can't be shown"
    assert "feedfeed" in panel._empty.hint.text()
    model.clear()
    assert panel._empty.title.text() == "No state is open"


def test_about_names_the_keys_and_the_notes(model, panel):
    text = about_words(replace(model.detail, notes=("12 elements beyond the limit were left out",)))
    assert text.startswith("! 12 elements beyond the limit")
    keys = model.detail.keys
    assert all(part in text for part in (model.detail.row.id, keys.structure, keys.skeleton, keys.template))


def test_every_control_has_a_name(panel):
    for kind in (QAbstractItemView, QComboBox, QLineEdit, QToolButton):
        for widget in panel.findChildren(kind):
            if not widget.objectName().startswith("qt_") and not isinstance(
                widget.parent(), (QLineEdit, QComboBox)
            ):
                inside_popup = widget.window() is not panel
                assert inside_popup or widget.accessibleName(), widget


# ---------------------------------------------------------------- the picture
def test_marks_lie_over_their_elements_in_any_size(qtbot, theme):
    shot = ScreenshotView(theme, "page")
    qtbot.addWidget(shot)
    image = QImage(400, 200, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    shot.show_image(image)
    for width, height in ((400, 200), (200, 200), (800, 120)):
        shot.resize(width, height)
        shot.show_marks(
            [ScreenshotMark(number=0, rect=(100, 50, 40, 20), role="fail", sign="block", label="delete")]
        )
        drawn = shot.grab().toImage()
        scale = min(width / 400, height / 200)
        left = (width - 400 * scale) / 2
        edge = drawn.pixelColor(round(left + 120 * scale), round(50 * scale) - 2)
        assert edge != Qt.GlobalColor.white, (width, height)
        assert drawn.pixelColor(round(left + 300 * scale), round(150 * scale)) == Qt.GlobalColor.white


def test_where_there_is_no_picture_a_sentence_stands(qtbot, theme):
    shot = ScreenshotView(theme, "page")
    qtbot.addWidget(shot)
    shot.show_image(None, "No picture was taken of this state.")
    assert shot.accessibleDescription() == "No picture was taken of this state."
    assert not shot.is_inside((0, 0, 10, 10))
    clicked = []
    shot.clicked.connect(lambda x, y: clicked.append((x, y)))
    shot.resize(200, 100)
    shot.grab()
    QTest.mouseClick(shot, Qt.MouseButton.LeftButton)
    assert clicked == []
