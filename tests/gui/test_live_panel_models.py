"""Models of the panels beside a live page: requests, knowledge, flags and hints."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPersistentModelIndex
from PySide6.QtTest import QAbstractItemModelTester

from app.engine.core.events import HintChanged, InterventionMade, LedgerChanged, RequestChanged, TipsRetrieved
from app.engine.core.ledger import Fact, Ledger, PlanNode
from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    Intervention,
    Need,
    OperatorAction,
    OperatorDecision,
    RaisedFlag,
    RequestState,
    RunState,
    TipAtStep,
    TipOverride,
)
from app.engine.core.verdicts import Severity
from app.errors import Conflict, StoreError
from app.models.common.object_list import ReorderableList
from app.models.live.model import LiveModel
from app.models.live.requests import MAX_TEXT_LENGTH
from app.models.live.timeline import timeline
from tests.support import qt_loop
from tests.support.made_up import NOW, make_run, make_step
from tests.support.manual_clock import ManualClock

FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal


@pytest.fixture
def settle(run, tasks):
    """Run the loop until every pending answer has arrived."""

    def wait(seconds=0.02):
        qt_loop.turn(seconds)
        qt_loop.until(lambda: not tasks._tasks)

    return wait


@pytest.fixture
def live(client, tasks, run, settle):
    model = LiveModel(client, tasks, clock=ManualClock())
    model.start()
    settle()
    yield model
    model.frames.close()


@pytest.fixture
def opened(live, settle):
    def open_run(name):
        live.open(name)
        settle(0.1)
        live.hands.now.forward()
        return live.open_run

    return open_run


# ------------------------------------------------------------ the list that moves
@settings(deadline=None)
@given(
    before=st.lists(st.integers(0, 12), unique=True),
    after=st.lists(st.integers(0, 12), unique=True),
)
def test_rows_take_any_new_order_without_being_shown_anew(qapp, before, after):
    rows = ReorderableList(lambda value: value[0])
    rows.arrange([(key, "old") for key in before])
    tester = QAbstractItemModelTester(rows, FATAL)
    resets = []
    rows.modelReset.connect(lambda: resets.append(True))
    held = {key: QPersistentModelIndex(rows.index(place)) for place, key in enumerate(before)}
    rows.arrange([(key, "new") for key in after])
    assert [key for key, _ in rows.rows] == after
    assert all(words == "new" for _, words in rows.rows)
    assert not resets
    for key, index in held.items():
        assert index.isValid() == (key in after)
        if index.isValid():
            assert rows.at(index.row()) == (key, "new")
    tester.deleteLater()


def test_all_lists_of_a_large_run_keep_the_laws_of_item_models(live, opened, fake_engine, settle):
    open_run = live.open_run
    lists = (
        open_run.timeline,
        open_run.memory,
        open_run.plan,
        open_run.flags.flags,
        open_run.hints.hints,
        open_run.knowledge.tips,
    )
    testers = [QAbstractItemModelTester(rows, FATAL) for rows in lists]
    opened("live-4")
    open_run.hints.send("look at the second page")
    open_run.flags.say(True)
    open_run.knowledge.pin()
    settle()
    opened("live-3")
    live.close()
    assert all(not rows.rows for rows in lists)
    assert len(testers) == 6


# ------------------------------------------------------------ requests
def request(name, need, **more):
    usual = ApprovalRequest(id=name, run="live-1", need=need, step=2, question=f"{name}?", opened_at=NOW)
    return replace(usual, **more)


def put_needs(engine, *needs):
    row = engine.rows["live-1"]
    engine.needs |= {need.id: need for need in needs}
    engine.put(replace(row, needs=needs, state=RunState.WAITING if needs else RunState.RUNNING))


def test_the_weightiest_request_is_asked_first_and_stays_while_it_is_open(opened, fake_engine):
    requests = opened("live-1").requests
    flag, wall = request("flag", Need.FLAG), request("wall", Need.WALL)
    put_needs(fake_engine, flag, wall)
    assert (requests.card.id, requests.card.place) == ("wall", "1 of 2")
    put_needs(fake_engine, flag, wall, request("disk", Need.TROUBLE))
    assert (requests.card.id, requests.card.place) == ("wall", "1 of 3")
    put_needs(fake_engine, flag)
    assert (requests.card.id, requests.card.place) == ("flag", "")


@pytest.mark.parametrize(
    ("need", "offers"),
    [
        (Need.FLAG, {"live.approve", "live.deny"}),
        (Need.QUESTION, {"live.answer", "live.deny"}),
        (Need.WALL, {"live.approve", "live.deny", "live.take_over", "live.no_wall"}),
        (Need.TROUBLE, {"live.approve", "live.deny"}),
    ],
)
def test_each_kind_of_request_offers_what_can_be_decided_about_it(opened, fake_engine, need, offers):
    requests = opened("live-1").requests
    put_needs(fake_engine, request("one", need))
    assert {offer.command for offer in requests.card.offers} == offers


def test_trouble_is_tried_again_and_the_reason_goes_with_it(opened, live, fake_engine, settle):
    requests = opened("live-1").requests
    put_needs(fake_engine, request("disk", Need.TROUBLE))
    live.hands.now.forward()
    requests.set_reason("  I freed 2 GB  ")
    requests.approve()
    settle()
    ((name, decision),) = [given for called, given in fake_engine.calls if called == "decide"]
    assert (name, decision.kind, decision.text) == ("disk", DecisionKind.RETRY, "I freed 2 GB")
    assert requests.reason == ""


def test_what_somebody_else_decided_is_shown_with_their_name(opened, fake_engine):
    requests = opened("live-3").requests
    decision = OperatorDecision(kind=DecisionKind.DENY, author="bo", text="too dear", at=NOW)
    decided = replace(fake_engine.needs["req-2"], state=RequestState.DECIDED, decision=decision)
    fake_engine.bus.publish(RequestChanged(request=decided))
    assert "bo" in requests.card.decided
    assert "deny: too dear" in requests.card.decided
    assert not requests.card.offers


def test_the_second_of_two_decisions_says_so_and_shows_the_first(opened, fake_engine, settle, monkeypatch):
    requests = opened("live-3").requests

    async def decided_already(name, decision):
        taken = OperatorDecision(kind=DecisionKind.APPROVE, author="bo", at=NOW)
        fake_engine.needs[name] = replace(fake_engine.needs[name], state=RequestState.DECIDED, decision=taken)
        raise Conflict("this was decided already by bo: approve")

    monkeypatch.setattr(fake_engine, "decide", decided_already)
    requests.deny()
    settle(0.1)
    assert not requests.is_deciding
    assert requests.error == "this was decided already by bo: approve"
    assert "bo: approve" in requests.card.decided


def test_a_decided_card_goes_once_the_step_has_begun_or_the_run_is_over(opened, fake_engine, settle):
    requests = opened("live-3").requests
    requests.approve("site")
    settle()
    assert "on this site" in requests.card.decided
    fake_engine.put(replace(fake_engine.rows["live-3"], step=5))
    assert requests.card is None


def test_a_request_that_was_withdrawn_is_gone(opened, fake_engine):
    requests = opened("live-2").requests
    assert requests.card.need == "wall"
    fake_engine.put(replace(fake_engine.rows["live-2"], needs=(), state=RunState.RUNNING))
    assert requests.card is None


def test_a_decision_that_can_not_be_kept_leaves_the_request_open_and_says_why(
    opened, fake_engine, settle, monkeypatch
):
    requests = opened("live-3").requests

    async def full(name, decision):
        raise StoreError("the disk is full: free some room and decide again")

    monkeypatch.setattr(fake_engine, "decide", full)
    requests.set_reason("fine")
    requests.approve()
    settle()
    assert "disk is full" in requests.error
    assert requests.reason == "fine"
    assert requests.can("live.approve")


def test_an_answer_too_long_or_empty_is_never_sent(opened, live, fake_engine, settle):
    requests = opened("live-1").requests
    put_needs(fake_engine, request("ask", Need.QUESTION))
    live.hands.now.forward()
    for text in ("x" * (MAX_TEXT_LENGTH + 1), "  \n "):
        requests.answer(text)
        settle()
        assert requests.error
    assert not [called for called, _ in fake_engine.calls if called == "decide"]
    requests.answer("x" * MAX_TEXT_LENGTH)
    settle()
    assert [called for called, _ in fake_engine.calls if called == "decide"]


def test_one_decision_at_a_time(opened, fake_engine, settle):
    requests = opened("live-3").requests
    requests.approve()
    requests.deny()
    settle()
    assert len([called for called, _ in fake_engine.calls if called == "decide"]) == 1


# ------------------------------------------------------------ flags
def test_a_flag_is_judged_and_the_next_one_that_is_not_is_selected(opened, fake_engine, settle):
    flags = opened("live-4").flags
    old = fake_engine.rows["live-4"].flags[0]
    new = RaisedFlag(detector="no_effect", step=5, severity=Severity.WARNING, message="Nothing changed")
    fake_engine.put(replace(fake_engine.rows["live-4"], flags=(old, new)))
    assert flags.selected == ("repeated_action", 4)
    flags.say(False)
    settle()
    assert fake_engine.reactions[0].right is False
    assert flags.selected == ("no_effect", 5)
    assert [flag.verdict for flag in flags.flags.rows] == ["", "wrong"]


def test_what_was_said_of_a_flag_is_taken_back_when_it_can_not_be_kept(
    live, opened, fake_engine, settle, monkeypatch
):
    flags, said = opened("live-4").flags, []
    live.notice.connect(said.append)

    async def refuse(*_args):
        raise StoreError("the workspace can only be read")

    monkeypatch.setattr(fake_engine, "judge_flag", refuse)
    flags.say(True)
    settle()
    assert flags.flag.right is None
    assert said == ["the workspace can only be read"]


def test_what_another_person_said_of_a_flag_is_shown(opened, fake_engine):
    flags = opened("live-4").flags
    deed = Intervention(
        run="live-4",
        step=4,
        action=OperatorAction.DISMISSED,
        about="repeated_action",
        author="bo",
        at=NOW,
        order=900,
    )
    fake_engine.bus.publish(InterventionMade(intervention=deed))
    assert flags.flag.right is False


# ------------------------------------------------------------ knowledge
def test_tips_that_were_cut_stand_last_with_their_reason(opened):
    knowledge = opened("live-1").knowledge
    assert [tip.tip for tip in knowledge.tips.rows] == ["shop-001", "shop-002", "shop-003"]
    assert "over the budget" in knowledge.tips.words(knowledge.tips.rows[2])
    assert knowledge.summary == "2 given, 1 cut · 33 of 600 tokens"


def test_a_tip_is_muted_pinned_and_voted_on_and_the_same_again_takes_it_back(opened, fake_engine, settle):
    knowledge = opened("live-1").knowledge
    for deed in (knowledge.mute, knowledge.pin, lambda: knowledge.vote(1)):
        deed()
        settle()
        deed()
        settle()
    asked = [given for called, given in fake_engine.calls if called in ("steer_tip", "vote_tip")]
    assert [given[2] for given in asked] == [
        TipOverride.MUTED,
        TipOverride.NONE,
        TipOverride.PINNED,
        TipOverride.NONE,
        1,
        0,
    ]


def test_the_selected_tip_stays_selected_when_the_order_changes(opened, fake_engine):
    knowledge = opened("live-1").knowledge
    knowledge.move(1)
    here = fake_engine.knowledge_of("live-1")
    fake_engine.bus.publish(TipsRetrieved(here=replace(here, tips=here.tips[::-1])))
    assert knowledge.selected == "shop-002"
    assert [tip.tip for tip in knowledge.tips.rows] == ["shop-002", "shop-001", "shop-003"]


def test_a_persons_hint_is_no_tip_to_be_muted_or_voted_on(opened, fake_engine):
    knowledge = opened("live-1").knowledge
    here = fake_engine.knowledge_of("live-1")
    hint = TipAtStep(tip="hint:7", text="use the search", kind="person", route="person")
    fake_engine.bus.publish(TipsRetrieved(here=replace(here, tips=(hint, *here.tips))))
    knowledge.select(0)
    assert not knowledge.can_steer()
    knowledge.mute()
    knowledge.vote(1)
    assert not [called for called, _ in fake_engine.calls if called in ("steer_tip", "vote_tip")]


def test_a_stance_that_can_not_be_kept_is_shown_as_it_was(opened, fake_engine, settle, monkeypatch):
    knowledge = opened("live-1").knowledge

    async def refuse(*_args):
        raise StoreError("the workspace can only be read")

    monkeypatch.setattr(fake_engine, "override_tip", refuse)
    knowledge.mute()
    assert knowledge.tip.stance is TipOverride.MUTED
    settle()
    assert knowledge.tip.stance is TipOverride.NONE


def test_the_next_action_says_which_tips_it_follows_at_its_own_step_only(opened, fake_engine):
    open_run = opened("live-1")
    here = fake_engine.knowledge_of("live-1")
    bare = replace(here, tips=tuple(replace(tip, follows=None) for tip in here.tips))
    fake_engine.bus.publish(TipsRetrieved(here=bare))
    fake_engine.plan("live-1")
    assert [tip.follows for tip in open_run.knowledge.tips.rows] == [True, False, None]
    fake_engine.bus.publish(TipsRetrieved(here=replace(bare, step=bare.step + 1)))
    assert [tip.follows for tip in open_run.knowledge.tips.rows] == [None, None, None]


# ------------------------------------------------------------ hints
def test_a_hint_of_a_megabyte_is_refused_with_a_sentence_and_never_sent(opened, fake_engine, settle):
    hints = opened("live-1").hints
    assert not hints.send("x" * 1_000_000)
    settle()
    assert "1,000,000 characters" in hints.error
    assert not [called for called, _ in fake_engine.calls if called == "send_hint"]


def test_a_hint_waits_until_a_step_was_given_it(opened, fake_engine, settle):
    hints = opened("live-1").hints
    assert hints.send("use the search")
    settle()
    assert hints.hints.words(hints.newest) == "waiting for the next step: use the search"
    fake_engine.bus.publish(HintChanged(hint=replace(hints.newest, taken_at=NOW)))
    assert hints.hints.words(hints.newest) == "delivered: use the search"


def test_a_hint_of_another_run_is_not_shown_here(opened, fake_engine, run, settle):
    hints = opened("live-1").hints
    run(fake_engine.send_hint("live-3", "not for you"))
    assert not hints.hints.rows


# ------------------------------------------------------------ time line and ledger
def test_actions_stand_before_the_step_they_preceded():
    made = make_run(0)
    deeds = [
        Intervention(run="r", step=1, action=OperatorAction.PAUSED, author="ana", order=2),
        Intervention(
            run="r", step=1, action=OperatorAction.HINTED, author="ana", words="the second", order=1
        ),
        Intervention(run="r", step=3, action=OperatorAction.STOPPED, author="ana", order=3),
    ]
    line = timeline([make_step(made, number) for number in range(3)], deeds, ())
    assert [(moment.step, moment.action) for moment in line] == [
        (0, ""), (1, "hinted"), (1, "paused"), (1, ""), (2, ""), (3, "stopped"),
    ]  # fmt: skip


def test_a_step_done_by_hand_and_a_flag_at_a_step_are_said_in_words(live):
    step = replace(make_step(make_run(0), 0), by="person", effect="nothing")
    flag = RaisedFlag(detector="no_effect", step=0, severity=Severity.ERROR, message="Nothing changed")
    (moment,) = timeline([step], (), [flag])
    words = live.open_run.timeline.words(moment)
    assert words.startswith("step 0 by hand: ")
    assert "changed nothing" in words
    assert "Nothing changed" in words


def test_new_steps_come_as_they_are_recorded(opened, fake_engine, settle):
    open_run = opened("live-1")
    assert len(open_run.timeline.rows) == 2
    fake_engine.put(replace(fake_engine.rows["live-1"], step=4))
    settle(0.2)
    assert len(open_run.timeline.rows) == 4


def test_what_the_last_step_changed_in_the_ledger_is_marked(opened, fake_engine):
    open_run = opened("live-1")
    ledger = Ledger(
        goal="other",
        plan=(PlanNode(id="1", parent="", intent="find it", step=1),),
        facts=(Fact(key="old", value="1", step=0), Fact(key="new", value="2", step=2)),
    )
    fake_engine.bus.publish(LedgerChanged(run="live-1", step=2, ledger=ledger, changes=("fact: new",)))
    assert [(line.text, line.new) for line in open_run.memory.rows] == [("old: 1", False), ("new: 2", True)]
    assert [line.role for line in open_run.plan.rows] == ["goal", "plan"]
    assert open_run.ledger_changes == ("fact: new",)


def test_events_of_other_runs_change_nothing_here(opened, fake_engine, run):
    open_run = opened("live-1")
    before = (open_run.row, open_run.next, open_run.requests.card, open_run.knowledge.here)
    fake_engine.plan("live-3")
    run(fake_engine.pause_run("live-3"))
    fake_engine.bus.publish(TipsRetrieved(here=fake_engine.knowledge_of("live-3")))
    assert (open_run.row, open_run.next, open_run.requests.card, open_run.knowledge.here) == before


def test_goal_and_subgoal_are_not_said_twice(opened, fake_engine):
    open_run = opened("live-1")
    ledger = Ledger(
        goal=fake_engine.rows["live-1"].intent,
        subgoal="n1",
        plan=(PlanNode(id="n1", parent="", intent="find it", step=1),),
    )
    fake_engine.bus.publish(LedgerChanged(run="live-1", step=2, ledger=ledger))
    assert [line.text for line in open_run.plan.rows] == ["find it"]
