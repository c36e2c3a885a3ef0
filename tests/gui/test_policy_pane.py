"""The policy table: edited by keyboard, previewed on stored runs, saved, and undone as a whole."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication

from app.engine.core.events import PolicyChanged
from app.engine.core.intervention_policy import (
    DEFAULT_POLICY,
    FlagRule,
    InterventionPolicy,
    PolicyAnswer,
    PolicyCount,
    PolicyPreview,
    Reaction,
    RiskClass,
    RiskRule,
)
from app.engine.core.verdicts import Severity
from app.errors import StoreError
from app.models.live.intervention_policy import InterventionPolicyModel
from app.views.live.policy_pane import PolicyPane
from tests.support import qt_loop

CTRL = Qt.KeyboardModifier.ControlModifier


class Desk:
    """The pane in a window with the keys of Live."""

    def __init__(self, model, pane, engine, settle):
        self.model, self.pane, self.engine, self.settle = model, pane, engine, settle
        self.closed, self.saved = [], []
        pane.closed.connect(lambda: self.closed.append(True))
        model.saved.connect(self.saved.append)

    def press(self, key, modifier=Qt.KeyboardModifier.NoModifier):
        QTest.keyClick(QApplication.focusWidget(), key, modifier)
        self.settle(0.02)

    def at(self, row, column):
        self.pane.grid.setCurrentIndex(self.model.table.index(row, column))

    def word(self, row, column):
        return self.model.table.index(row, column).data()

    def until(self, condition):
        qt_loop.until(condition)


@pytest.fixture
def desk(client, tasks, fake_engine, center, theme, qtbot, settle):
    model = InterventionPolicyModel(client, tasks)
    QAbstractItemModelTester(model.table, QAbstractItemModelTester.FailureReportingMode.Fatal)
    pane = PolicyPane(model, center, theme)
    qtbot.addWidget(pane)
    pane.addActions(center.actions())
    center.set_place("live")
    center.bind("live.pause", lambda: pytest.fail("Space went to the run"))
    center.bind("live.open.2", lambda: pytest.fail("2 went to the wall"))
    center.bind("live.review", lambda: pytest.fail("Ctrl+Enter went to Review"))
    center.bind("live.back", lambda: pytest.fail("Esc went to the wall"))
    pane.resize(400, 620)
    pane.show()
    pane.activateWindow()
    pane.begin()
    made = Desk(model, pane, fake_engine, settle)
    made.until(lambda: model.is_ready and model.preview is not None and model.table.columnCount() == 2)
    return made


def test_it_opens_on_what_is_in_force_with_the_keys_in_the_table(desk):
    assert desk.pane.grid.hasFocus()
    assert [desk.word(row, 0) for row in range(3)] == ["mark", "notify me", "pause"]
    assert desk.word(2, 1) == "pause"
    assert desk.model.table.headerData(1, Qt.Orientation.Horizontal) == "shop"
    assert not desk.model.is_changed
    assert not desk.pane.save.isEnabled()


def test_the_line_says_what_it_would_have_done_to_stored_runs(desk):
    assert desk.pane.preview.text().startswith("Would have paused 14 of 59 runs, 12 of them failed")
    assert "shop: Would have paused" in desk.pane.preview.toolTip()


def test_keys_turn_set_and_let_go_of_a_cell_and_never_reach_the_runs(desk):
    desk.at(1, 1)
    desk.press(Qt.Key.Key_Space)
    assert desk.word(1, 1) == "pause"
    desk.press(Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    assert desk.word(1, 1) == "notify me"
    desk.press(Qt.Key.Key_4)
    assert desk.model.draft.reaction("shop", Severity.WARNING, "any") is Reaction.ASK
    assert desk.model.draft.reaction("wiki", Severity.WARNING, "any") is Reaction.NOTIFY
    desk.press(Qt.Key.Key_Delete)
    assert not desk.model.is_changed
    desk.at(11, 0)
    desk.press(Qt.Key.Key_2)
    assert desk.word(11, 0) == "ask me"
    desk.press(Qt.Key.Key_4)  # there are three answers
    assert desk.word(11, 0) == "ask me"


def test_what_holds_everywhere_can_not_be_let_go(desk):
    desk.at(0, 0)
    desk.press(Qt.Key.Key_Delete)
    assert desk.word(0, 0) == "mark"
    assert desk.model.draft == DEFAULT_POLICY


def test_every_edit_is_tried_on_the_stored_runs_and_a_burst_once(desk, monkeypatch):
    tried = []

    async def preview(policy):
        tried.append(policy)
        count = PolicyCount(
            site="", runs=59, judged=59, failed=31, marked=0, notified=0, paused=40, asked=0,
            failed_notified=0, failed_paused=25, failed_asked=0,
        )  # fmt: skip
        return PolicyPreview(whole=count)

    monkeypatch.setattr(desk.engine, "preview_policy", preview)
    desk.at(0, 0)
    for _turn in range(6):
        QTest.keyClick(desk.pane.grid, Qt.Key.Key_Space)
    desk.until(lambda: "40 of 59" in desk.pane.preview.text())
    assert tried[-1] == desk.model.draft
    assert len(tried) <= 2


def test_ctrl_enter_puts_it_into_force(desk):
    desk.at(2, 0)
    desk.press(Qt.Key.Key_4)
    desk.press(Qt.Key.Key_Return, CTRL)
    desk.until(lambda: desk.saved)
    assert desk.engine.policy.reaction("shop", Severity.ERROR, "any") is Reaction.ASK
    assert not desk.model.is_changed


def test_esc_closes_and_the_draft_is_there_again(desk):
    desk.at(2, 0)
    desk.press(Qt.Key.Key_1)
    desk.press(Qt.Key.Key_Escape)
    assert desk.closed
    desk.pane.begin()
    desk.settle(0.1)
    assert desk.word(2, 0) == "mark"
    assert desk.model.is_changed
    desk.pane.back.click()
    assert desk.word(2, 0) == "pause"


def test_undo_elsewhere_is_seen_here_and_a_draft_is_kept(desk):
    desk.engine.policy = InterventionPolicy(flags=(FlagRule(severity=Severity.ERROR, reaction=Reaction.ASK),))
    desk.engine.bus.publish(PolicyChanged())
    desk.until(lambda: desk.word(2, 0) == "ask me")
    desk.at(2, 0)
    desk.press(Qt.Key.Key_1)
    desk.engine.policy = DEFAULT_POLICY
    desk.engine.bus.publish(PolicyChanged())
    desk.settle(0.1)
    assert desk.word(2, 0) == "mark"
    assert desk.model.is_changed


def test_a_detector_gets_a_line_goes_by_weight_and_can_have_its_own(desk):
    desk.until(lambda: desk.pane.detector.count() > 1)
    desk.pane.detector.setFocus()
    desk.pane.detector.setCurrentIndex(1)
    desk.pane.detector.textActivated.emit(desk.pane.detector.itemText(1))
    row = desk.pane.grid.currentIndex().row()
    name = desk.model.table.rows[row].detector
    assert name
    assert desk.word(row, 0) == "by severity"
    assert desk.pane.grid.hasFocus()
    desk.press(Qt.Key.Key_Space)
    assert desk.model.draft.reaction("shop", Severity.ERROR, name) is Reaction.MARK
    desk.press(Qt.Key.Key_Delete)
    assert desk.word(row, 0) == "by severity"
    desk.press(Qt.Key.Key_3)
    desk.model.drop_detector(row)
    assert name not in {line.detector for line in desk.model.table.rows}
    assert not desk.model.is_changed


def test_enter_lists_the_values_with_the_one_in_force_marked(desk):
    desk.at(3 + list(RiskClass).index(RiskClass.PAYS), 1)
    menu = desk.pane.grid.values_menu()
    assert menu is not None
    words = [action.text() for action in menu.actions() if not action.isSeparator()]
    assert [word[1] for word in words[:3]] == ["1", "2", "3"]
    assert words[-1] == "Same as every site"
    menu.actions()[2].trigger()
    assert desk.model.draft.answer("shop", RiskClass.PAYS) is PolicyAnswer.DENY
    assert desk.model.draft.answer("", RiskClass.PAYS) is PolicyAnswer.ASK


def test_a_save_that_fails_says_why_and_keeps_the_draft(desk, monkeypatch):
    async def refuse(_policy):
        raise StoreError("the disk is full; make room and save again")

    monkeypatch.setattr(desk.engine, "save_intervention_policy", refuse)
    desk.at(2, 0)
    desk.press(Qt.Key.Key_1)
    desk.pane.save.click()
    desk.until(lambda: desk.pane.error.isVisible())
    assert "disk is full" in desk.pane.error.text()
    assert desk.model.is_changed
    assert desk.pane.save.isEnabled()


def test_nothing_can_be_set_before_the_policy_is_known(client, tasks, fake_engine, qapp):
    model = InterventionPolicyModel(client, tasks)
    model.set_value(0, 0, Reaction.ASK)
    model.turn(0, 0)
    model.save()
    assert model.draft == DEFAULT_POLICY
    assert ("save_intervention_policy", (DEFAULT_POLICY,)) not in fake_engine.calls


def test_sites_with_rules_of_their_own_have_columns_and_the_rest_stays_in_place(desk):
    selected = (2, 1)
    desk.at(*selected)
    policy = InterventionPolicy(
        flags=DEFAULT_POLICY.flags,
        risks=(*DEFAULT_POLICY.risks, RiskRule(risk=RiskClass.SENDS, answer=PolicyAnswer.ASK, site="a-wiki")),
    )
    desk.engine.policy = policy
    desk.engine.bus.publish(PolicyChanged())
    desk.until(lambda: desk.model.table.columnCount() == 3)
    assert desk.model.table.sites == ["", "a-wiki", "shop"]
    assert desk.pane.grid.currentIndex().row() == 2
    assert desk.pane.grid.currentIndex().column() == 2


def test_every_control_has_a_name_and_tab_goes_round(desk):
    controls = (desk.pane.grid, desk.pane.save, desk.pane.back, desk.pane.detector, desk.pane.close_button)
    assert all(one.accessibleName() or one.text() for one in controls)
    cell = desk.model.table.index(2, 1)
    assert cell.data(Qt.ItemDataRole.AccessibleTextRole) == "Flag: an error, shop: pause (inherited)"
