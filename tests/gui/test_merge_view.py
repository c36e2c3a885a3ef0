"""Merging a knowledge base in the window: conflicts side by side, decided by keys, applied as one change."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication

from app.engine.api.shared_knowledge_api import MergeChoices
from app.models.knowledge.knowledge_model import KnowledgeState
from kb.confidential import LeaveOut
from kb.merge_plan import MergePlan, MergeRow, MergeSide
from kb.three_way import MergeConflict, MergeOutcome
from kb.tip import Status, Tip
from tests.support import qt_loop
from tests.support.knowledge_window import shown_knowledge

Key = Qt.Key
BASE = Tip(
    id="shop-abc", site="shop", text="Sort the orders by date before reading them.", status=Status.ACTIVE
)
MINE = replace(BASE, why="The newest stand last.", revision=2)
THEIRS = replace(BASE, why="The oldest stand first, unless a filter is set.", revision=2)
RIVAL = Tip(id="shop-own", site="shop", text="Use the search bar for orders.", status=Status.ACTIVE)
NEW = Tip(id="shop-new", site="shop", text="Do not use the search bar for orders.", status=Status.ACTIVE)
ADDED = Tip(id="forum-xyz", site="forum", text="Votes need a second click on a narrow window.")
PLAN = MergePlan(
    path="/tmp/bob.akb",
    shared=2,
    key="k1",
    kept=3,
    hosts={},
    rows=(
        MergeRow(
            tip=BASE.id,
            outcome=MergeOutcome.CONFLICT,
            conflict=MergeConflict.EDITED_TWICE,
            theirs=THEIRS,
            mine=MINE,
            base=BASE,
            fields=("why",),
            by="bob",
        ),
        MergeRow(
            tip=NEW.id,
            outcome=MergeOutcome.CONFLICT,
            conflict=MergeConflict.CONTRADICTION,
            theirs=NEW,
            rival=RIVAL,
            by="bob",
        ),
        MergeRow(tip=ADDED.id, outcome=MergeOutcome.ADDED, theirs=ADDED, by="carol"),
    ),
)


@pytest.fixture
def knowledge(qtbot, client, tasks, center, theme, fake_engine):
    fake_engine.merge_plan = PLAN
    model, view = shown_knowledge(qtbot, client, tasks, center, theme)
    model.start()
    qt_loop.until(lambda: model.state is not KnowledgeState.LOADING and view.isActiveWindow())
    model.merging.open(PLAN.path)
    qt_loop.until(lambda: model.merging.plan is not None)
    yield view
    view.hide()


def press(key, modifier=Qt.KeyboardModifier.NoModifier):
    QTest.keyClick(QApplication.focusWidget(), key, modifier)
    qt_loop.turn(0.03)


def merged(engine) -> list[MergeChoices]:
    return [given[1] for name, given in engine.calls if name == "kb_merge"]


def test_conflicts_are_decided_by_keys_and_applied_with_their_plan(knowledge, center, fake_engine):
    model, pane = knowledge.model.merging, knowledge.merging
    assert center.place == "merge"
    assert model.current == BASE.id
    assert not center.action("merge.apply").isEnabled()
    press(Key.Key_T)
    assert (model.current, model.undecided) == (NEW.id, 1)
    press(Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert merged(fake_engine) == []
    press(Key.Key_B)
    assert model.undecided == 0
    assert pane.apply.text().startswith("Apply")
    press(Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qt_loop.until(lambda: bool(merged(fake_engine)))
    assert merged(fake_engine)[0].decisions == {BASE.id: MergeSide.THEIRS, NEW.id: MergeSide.BOTH}
    assert merged(fake_engine)[0].plan_key == "k1"
    qt_loop.until(lambda: not model.is_open)
    assert center.place == "knowledge"
    assert knowledge.pages.currentWidget() is knowledge.columns


def test_both_versions_stand_beside_the_past_with_what_differs_marked(knowledge):
    pane = knowledge.merging
    assert "The newest stand last." in pane.views["mine"].toPlainText()
    assert "The oldest stand first" in pane.views["theirs"].toPlainText()
    assert "why: +" in pane.views["theirs"].toPlainText()
    assert "stand" not in pane.views["before"].toPlainText()
    assert pane.heads["theirs"].text() == "There, by bob"
    press(Key.Key_J)
    assert pane.heads["mine"].text() == f"Here: {RIVAL.id}"
    assert "Use the search bar" in pane.views["mine"].toPlainText()


def test_keys_of_the_tip_table_do_nothing_while_a_merge_is_decided(knowledge, center, fake_engine):
    for key in (Key.Key_A, Key.Key_X, Key.Key_R, Key.Key_E):
        press(key)
    assert not [name for name, _ in fake_engine.calls if name in ("set_status", "edit_tip")]
    assert not knowledge.model.editor.is_editing
    press(Key.Key_Escape)
    assert not knowledge.model.merging.is_open
    assert merged(fake_engine) == []


def test_every_control_has_a_name_and_the_list_says_what_is_decided(knowledge):
    pane, lines = knowledge.merging, knowledge.model.merging.lines
    for button in pane.findChildren(QAbstractButton):
        assert button.accessibleName() or button.text()
    assert pane.list.accessibleName()
    assert "undecided" in lines.words(lines.rows[0])
    press(Key.Key_M)
    assert "decided: mine" in lines.words(lines.rows[0])
    assert "2 conflicts" in pane.summary.text()


def test_a_plan_that_fails_is_one_sentence(knowledge, fake_engine):
    async def refuses(path: str, base: str = ""):
        raise ValueError(f"{path}: this is not a knowledge base")

    fake_engine.kb_merge_plan = refuses
    knowledge.model.merging.open("/tmp/odd.akb")
    qt_loop.until(lambda: bool(knowledge.model.merging.error))
    assert knowledge.merging.error.text() == "/tmp/odd.akb: this is not a knowledge base"
    assert not knowledge.model.merging.can_apply


def test_the_freeze_pane_leaves_out_what_is_named_and_remembers_it(knowledge, center, fake_engine, tmp_path):
    press(Key.Key_Escape)
    knowledge.model.open_files()
    pane, form = knowledge.freeze, knowledge.model.freezing
    pane.without["tags"].setFocus()
    QTest.keyClicks(pane.without["tags"], "confidential, Draft")
    form.set_path(str(tmp_path / "f.akb"))
    form.freeze()
    qt_loop.until(lambda: form.report is not None)
    given = next(given for name, given in fake_engine.calls if name == "freeze")
    assert given[-1] == LeaveOut.of(tags=["confidential", "draft"])
    assert knowledge.model.session()["without"]["tags"] == "confidential, Draft"
    assert center.action("kb.release").isEnabled()
    form.set_since("/tmp/old.akb")
    form.write_page(str(tmp_path / "page"))
    qt_loop.until(lambda: any(name == "kb_release" for name, _ in fake_engine.calls))
    assert next(given for name, given in fake_engine.calls if name == "kb_release")[1:] == (
        "/tmp/old.akb",
        str(tmp_path / "page.html"),
    )
