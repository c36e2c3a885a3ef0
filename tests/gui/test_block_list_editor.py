"""The block-list editor: rules are tested as they are typed, and no typed text is lost."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextFormat
from PySide6.QtTest import QAbstractItemModelTester, QTest

from app.engine.api.graph_api import LabReport
from app.errors import InputError
from app.models.graph.block_list import BlockListModel, position_of, syntax_error
from app.views.graph.block_list_editor import BlockListEditor
from app.views.graph.rule_editor import RuleEditor
from tests.support.generated_site import SITE, node_id

FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal
RULES = json.dumps(
    {
        "format": "sitelore-rules",
        "version": 1,
        "rules": [{"name": "vendors", "when": {"attr": "role", "op": "equals", "value": "link"}}],
    },
    indent=2,
)
ORDERS, DELETE = 23, 8


# ---------------------------------------------------------------- errors and their places
def test_where_the_text_stops_being_json_is_told_with_line_and_column():
    assert syntax_error(RULES) == syntax_error("") == syntax_error(" \n ") == ""
    assert syntax_error('{\n  "rules": [,]}') == "Line 2, column 13: Expecting value"
    assert syntax_error("[" * 100_000) == "The rules are nested too deeply"


@settings(deadline=None)  # the machine may be busy
@given(st.text())
def test_no_text_is_an_error_of_the_checker(text):
    error = syntax_error(text)
    assert position_of(error, text) is not None or not error or "nested" in error


def test_the_place_of_an_error_is_read_from_its_words():
    assert position_of("Line 3, column 7: Expecting value", RULES) == (3, 7)
    assert position_of("rule 1 'vendors', when.value (line 9): '(' is never closed", RULES) == (9, 1)
    line, column = position_of("rule 1 'vendors', when.op: unknown operation 'is'", RULES)
    assert RULES.splitlines()[line - 1][column - 1 :].startswith('"name": "vendors"')
    assert position_of("rule 1 'nobody', when: a rule needs a condition", RULES) is None
    assert position_of("this is not a rule file", RULES) is None


# ---------------------------------------------------------------- the model
@pytest.fixture
def model(client, tasks, fake_engine):
    fake_engine.rules = RULES
    made = BlockListModel(client, tasks)
    tester = QAbstractItemModelTester(made.rows, FATAL)
    yield made
    made.pictures.close()
    tester.deleteLater()


@pytest.fixture
def block_list(model, settle):
    model.show(SITE, node_id(ORDERS))
    settle(0.15)
    return model


def tried(fake_engine):
    return [args[1] for name, args in fake_engine.calls if name == "try_rules"]


def test_the_sites_rules_are_tried_on_the_state_at_once(block_list, fake_engine):
    assert block_list.text == RULES
    assert tried(fake_engine) == [RULES]
    assert block_list.counts == {"block": 1, "ask": 0, "allow": 9}
    assert (block_list.report.stopped_everywhere, block_list.report.elements_everywhere) == (29, 812)
    assert block_list.page_rows[DELETE].rule == "delete"
    assert not block_list.is_changed


def test_typing_is_tried_once_when_the_hands_rest(block_list, fake_engine, settle):
    for end in ("a", "ab", "abc"):
        block_list.set_text(RULES.replace("vendors", end))
    assert block_list.is_trying
    settle(0.5)
    assert tried(fake_engine)[1:] == [RULES.replace("vendors", "abc")]
    assert block_list.is_changed
    assert not block_list.is_trying


def test_text_that_is_no_json_is_never_sent(block_list, fake_engine, settle):
    block_list.set_text(RULES[:-3])
    settle(0.5)
    assert len(tried(fake_engine)) == 1
    assert block_list.error.startswith("Line ")
    assert block_list.error_position is not None
    assert not block_list.can_save
    assert block_list.counts["block"] == 1, "what the last good rules said still stands"


def test_an_error_of_the_engine_names_its_place_and_keeps_the_last_verdicts(
    block_list, fake_engine, settle, monkeypatch
):
    async def broken(site, node, rules):
        return LabReport(hits=(), error="rule 1 'vendors', when.value (line 9): '(' is never closed")

    monkeypatch.setattr(fake_engine, "try_rules", broken)
    block_list.set_text(RULES + " ")
    settle(0.5)
    assert block_list.error_position == (9, 1)
    assert block_list.counts["block"] == 1
    assert not block_list.can_save


def test_saving_stores_the_rules_for_the_site(block_list, fake_engine, settle, qtbot):
    new = RULES.replace("vendors", "sellers")
    block_list.set_text(new)
    assert not block_list.can_save, "rules that are not tried yet are not saved"
    settle(0.5)
    assert block_list.can_save
    with qtbot.waitSignal(block_list.notice) as notice:
        block_list.save()
    assert fake_engine.rules == new
    assert SITE in notice.args[0]
    assert not block_list.is_changed


def test_a_save_that_fails_says_why_and_keeps_the_text(block_list, fake_engine, settle, monkeypatch):
    async def full(site, rules):
        raise InputError("the disk is full")

    monkeypatch.setattr(fake_engine, "save_block_rules", full)
    block_list.set_text(RULES + "\n")
    settle(0.5)
    block_list.save()
    settle()
    assert "the disk is full" in block_list.error
    assert block_list.text == RULES + "\n"
    assert block_list.is_changed


def test_what_is_typed_stays_when_another_state_or_site_is_looked_at(block_list, fake_engine, settle):
    typed = RULES.replace("vendors", "mine")
    block_list.set_text(typed)
    block_list.show(SITE, node_id(3))
    settle(0.15)
    assert block_list.text == typed
    assert tried(fake_engine)[-1] == typed
    block_list.show("other", "")
    block_list.show(SITE, node_id(3))
    settle(0.15)
    assert block_list.text == typed
    assert block_list.is_changed


def test_slow_checks_wait_for_longer_pauses(block_list, fake_engine, settle, monkeypatch):
    answer = fake_engine.try_rules

    async def slowly(site, node, rules):
        await asyncio.sleep(0.5)
        return await answer(site, node, rules)

    monkeypatch.setattr(fake_engine, "try_rules", slowly)
    block_list.load_stored()
    settle(0.7)
    block_list.set_text(RULES + " ")
    settle(0.4)
    assert len(tried(fake_engine)) == 2, "half a second of quiet is asked for now"


def test_back_to_the_saved_rules(block_list, settle):
    block_list.set_text("{}")
    block_list.load_stored()
    settle(0.1)
    assert block_list.text == RULES
    assert not block_list.is_changed


def test_only_what_is_stopped_is_listed_when_asked_for(block_list):
    block_list.set_only_stopped(True)
    assert [row.number for row in block_list.rows.rows] == [DELETE]
    assert "stopped by delete" in block_list.rows.words(block_list.rows.rows[0])
    block_list.set_only_stopped(False)
    assert block_list.rows.rowCount() == 10


def test_the_next_stopped_element_goes_round(block_list):
    block_list.page_rows = [
        replace(row, verdict="block" if row.number in (2, 5) else "ask" if row.number == 7 else "allow")
        for row in block_list.page_rows
    ]
    seen = []
    for by in (1, 1, 1, 1, -1, -1):
        block_list.next_stopped(by)
        seen.append(block_list.element)
    assert seen == [2, 5, 7, 2, 7, 5]


def test_a_state_that_is_gone_says_so(model, settle):
    model.show(SITE, "feedfeedfeedfeed")
    settle(0.1)
    assert "feedfeed" in model.page_error
    assert model.page_rows == []


# ---------------------------------------------------------------- the view
@pytest.fixture
def view(qtbot, block_list, center, theme):
    made = BlockListEditor(block_list, center, theme)
    qtbot.addWidget(made)
    center.set_place("map")
    made.addActions(center.actions())
    made.resize(940, 600)
    made.splitter.setSizes([420, 520])
    made.show()
    made.activateWindow()
    made.begin()
    qtbot.waitUntil(lambda: made.shot.has_image)
    yield made
    made.hide()


def test_stopped_elements_are_marked_with_sign_and_rule(view, block_list):
    marks = [(mark.number, mark.sign, mark.label, mark.role) for mark in view.shot.marks]
    assert marks == [(DELETE, "block", "delete", "fail")]
    assert view.here.text() == "On this page: 1 of 10 stopped"
    assert view.everywhere.text() == "On all stored pages: 29 of 812 elements stopped"


def test_stopped_elements_beyond_the_picture_are_counted(view, block_list):
    far = block_list.page_rows[DELETE].element
    block_list.page_rows[DELETE] = replace(
        block_list.page_rows[DELETE], element=replace(far, rect=(10, 9000, 20, 20))
    )
    block_list.changed.emit()
    assert view.shot.marks == ()
    assert view.here.text() == "On this page: 1 of 10 stopped, 1 of them outside the picture"


def test_typing_marks_the_line_of_an_error_and_a_button_goes_there(view, block_list, qtbot):
    view.editor.setPlainText(RULES.replace('"version": 1', '"version": '))
    qtbot.waitUntil(lambda: bool(block_list.error))
    assert view.verdict.text == "✕ invalid"
    selections = view.editor.extraSelections()
    assert selections[0].cursor.blockNumber() + 1 == block_list.error_position[0]
    assert selections[0].format.boolProperty(QTextFormat.Property.FullWidthSelection)
    view.to_error.click()
    assert view.editor.textCursor().blockNumber() + 1 == block_list.error_position[0]
    assert view.editor.hasFocus()
    assert not view.save.isEnabled()


def test_a_key_goes_to_the_next_stopped_element_and_a_click_selects_one(view, block_list, center):
    view.list.setFocus()
    assert center.trigger("map.lab.next")
    assert block_list.element == DELETE
    assert view.list.currentIndex().row() == DELETE
    assert view.shot.chosen.number == DELETE
    x, y, width, height = block_list.page_rows[0].element.rect
    scale = view.shot.height() / 800
    left = (view.shot.width() - 1280 * scale) / 2
    QTest.mouseClick(
        view.shot,
        Qt.MouseButton.LeftButton,
        pos=QPoint(round(left + (x + width / 2) * scale), round((y + height / 2) * scale)),
    )
    assert block_list.element == 0


def test_its_commands_rest_while_it_is_hidden(view, block_list, center, settle):
    block_list.set_text(RULES + " ")
    settle(0.5)
    assert center.trigger("map.lab.save")
    settle()
    view.hide()
    block_list.set_text(RULES)
    settle(0.5)
    assert block_list.can_save
    assert not center.trigger("map.lab.save")
    assert not center.trigger("map.lab.next")


def test_rules_that_are_loaded_can_be_taken_back_with_undo(view, block_list):
    view.editor.setFocus()
    block_list.set_text("{}")
    block_list.load_stored()
    view.editor.setPlainText("{ }")
    block_list.load_stored()
    assert view.editor.toPlainText() == RULES
    view.editor.undo()
    assert view.editor.toPlainText() == "{ }"
    assert block_list.text == "{ }"


def test_every_control_has_a_name_and_tab_leaves_the_editor(view):
    for widget in (
        view.editor,
        view.list,
        view.shot,
        view.save,
        view.builtin,
        view.stored,
        view.next,
        view.only,
    ):
        assert widget.accessibleName() or widget.text(), widget
    view.editor.setFocus()
    QTest.keyClick(view.editor, Qt.Key.Key_Tab)
    assert not view.editor.hasFocus()


def test_without_a_state_it_says_what_to_do(qtbot, client, tasks, center, theme):
    model = BlockListModel(client, tasks)
    view = BlockListEditor(model, center, theme)
    qtbot.addWidget(view)
    assert view.none.text() == "Choose a state on the map to test the rules on."
    assert view.here.text() == ""


# ---------------------------------------------------------------- the editor
def test_a_new_line_keeps_the_indentation(qtbot, theme):
    editor = RuleEditor(theme, "rules")
    qtbot.addWidget(editor)
    editor.setPlainText('  "rules": [')
    editor.moveCursor(editor.textCursor().MoveOperation.End)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QTest.keyClicks(editor, "x")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert editor.toPlainText() == '  "rules": [\n    x\n    '


def test_an_error_beyond_the_text_is_marked_at_its_end(qtbot, theme):
    editor = RuleEditor(theme, "rules")
    qtbot.addWidget(editor)
    editor.setPlainText("{\n}")
    editor.mark_error((99, 99))
    assert editor.extraSelections()[0].cursor.blockNumber() == 1
    editor.mark_error(None)
    assert editor.extraSelections() == []


async def _never(*_args):
    await asyncio.sleep(60)


def test_a_check_that_takes_long_says_that_it_tries(view, block_list, fake_engine, settle, monkeypatch):
    monkeypatch.setattr(fake_engine, "try_rules", _never)
    block_list.set_text(RULES + " ")
    settle(0.4)
    assert view.verdict.text == "trying…"
    assert "by the previous rules" in view.here.text()


def test_a_large_picture_does_not_keep_the_window_large(view, block_list, settle):
    view.resize(1800, 1200)
    settle()
    assert view.shot.height() > 400
    assert view.minimumSizeHint().height() < 480
    view.resize(800, 480)
    settle()
    assert view.height() == 480
