"""A run's question to a person is a row: acted on once, not asked twice, closed when its step begins; on a full
disk too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from app.engine.agent import run_control as control_module
from app.engine.core.action_result import ActionResult
from app.engine.core.actions.types import Action, AskHuman, Click, Goto, Stop
from app.engine.core.intervention_policy import FlagRule, InterventionPolicy, Reaction
from app.engine.core.model_api import ModelError, ModelErrorKind
from app.engine.core.observation import AgentDecision, Observation
from app.engine.core.page_state import Challenge
from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    Need,
    OperatorAction,
    OperatorDecision,
    RequestState,
    RunState,
)
from app.engine.core.trajectory import Outcome
from app.engine.core.verdicts import Severity
from app.errors import StoreError, UsageError
from tests.support.fake_approvals import FakeApprovals, approve
from tests.support.fake_executor import HOME, ScriptedPolicy, page_of
from tests.support.supervised_loop import (
    ASKING,
    DENYING,
    PAGES,
    FiringDetectors,
    SupervisedLoop,
    decide_after,
)

# approvals


async def test_what_the_policy_asks_about_waits_for_approval_and_is_closed_once_the_step_begins():
    desk = FakeApprovals(policy=ASKING)
    bench = SupervisedLoop([Click(2, label="Delete account"), Stop("")], desk=desk)

    async def approve() -> None:
        await bench.until(RunState.WAITING)
        (need,) = bench.control.needs
        assert (need.need, need.risk, need.words) == (Need.APPROVAL, "deletes", "click link 'Delete account'")
        assert bench.kept.steps == []
        assert Click(2, label="Delete account") not in bench.hands.done
        row = await desk.answer_request(OperatorDecision(kind=DecisionKind.APPROVE, author="ann"))
        assert desk.rows[row.id].state is RequestState.DECIDED

    await bench.run(approve)
    assert bench.words[0] == "click link 'Delete account'"
    (row,) = desk.rows.values()
    assert (row.state, desk.steps) == (RequestState.CLOSED, [0])
    assert row.id not in desk.why, "it was gone by, not voided"


async def test_what_is_denied_is_not_done_and_the_agent_is_told_why():
    desk = FakeApprovals(
        lambda one: OperatorDecision(kind=DecisionKind.DENY, text="not this account"), ASKING
    )
    bench = SupervisedLoop([Click(2), Stop("")], desk=desk)
    await bench.run()
    step = bench.kept.steps[0]
    assert (step.executed, step.cause, step.effect) == (False, "person", "refused")
    assert "not this account" in bench.policy.seen[1].history[0].result.why
    assert Click(2) not in bench.hands.done


async def test_what_the_policy_refuses_is_not_asked_about():
    desk = FakeApprovals(policy=DENYING)
    bench = SupervisedLoop([Click(2), Stop("")], desk=desk)
    await bench.run()
    assert (bench.kept.steps[0].cause, desk.rows) == ("policy", {})
    assert Click(2) not in bench.hands.done


async def test_an_action_is_edited_and_what_can_not_be_read_is_refused_with_a_sentence():
    desk = FakeApprovals(policy=ASKING)
    bench = SupervisedLoop([Click(2), Stop("")], desk=desk)

    async def edit() -> None:
        await bench.until(RunState.WAITING)
        (need,) = bench.control.needs
        with pytest.raises(UsageError, match="there is no element 99"):
            bench.control.check_decision(
                need.id, OperatorDecision(kind=DecisionKind.EDIT, call='click("99")')
            )
        good = OperatorDecision(kind=DecisionKind.EDIT, call='click("0")', text="look first")
        bench.control.check_decision(need.id, good)
        await desk.answer_request(good)

    await bench.run(edit)
    assert bench.words[0] == "click link 'Orders'"
    assert "look first" in bench.kept.steps[0].reason
    assert any("instead of" in note for note in bench.policy.seen[1].history[0].result.notes)


async def test_a_decision_is_checked_from_the_moment_its_request_is_announced():
    wrong = OperatorDecision(kind=DecisionKind.EDIT, call='click("99")')
    refused: list[str] = []

    def decide(request: ApprovalRequest) -> OperatorDecision:
        with pytest.raises(UsageError, match="there is no element 99"):
            bench.control.check_decision(request.id, wrong)
        refused.append(request.id)
        return OperatorDecision(kind=DecisionKind.DENY)

    bench = SupervisedLoop([Click(2), Stop("")], desk=FakeApprovals(decide, policy=ASKING))
    await bench.run()
    assert refused == list(bench.desk.rows)


async def test_an_edit_nobody_checked_and_nobody_can_read_is_asked_about_again():
    answers = iter(
        [
            OperatorDecision(kind=DecisionKind.EDIT, call="gibberish("),
            OperatorDecision(kind=DecisionKind.DENY, text="leave it"),
        ]
    )
    desk = FakeApprovals(lambda one: next(answers), ASKING)
    bench = SupervisedLoop([Click(2), Stop("")], desk=desk)
    await bench.run()
    assert bench.kept.steps[0].cause == "person"
    assert len(desk.rows) == 2


async def opened_before() -> ApprovalRequest:
    """Return the program's question before it deletes the account, as an interrupted run has left it."""
    desk = FakeApprovals(lambda one: OperatorDecision(kind=DecisionKind.DENY), ASKING)
    await SupervisedLoop([Click(2), Stop("")], desk=desk).run()
    (row,) = desk.rows.values()
    return replace(row, id="old", state=RequestState.OPEN, decision=None)


async def test_a_decision_from_before_a_crash_is_gone_by_and_not_asked_for_again():
    asked = replace(
        await opened_before(),
        state=RequestState.DECIDED,
        decision=OperatorDecision(kind=DecisionKind.APPROVE),
    )
    desk = FakeApprovals(policy=ASKING)
    desk.rows["old"] = asked
    bench = SupervisedLoop([Click(2), Stop("")], desk=desk)
    await bench.run()
    assert bench.words[0] == "click link 'Delete account'"
    assert list(desk.rows) == ["old"]
    assert desk.rows["old"].state is RequestState.CLOSED


async def test_an_open_request_from_before_a_crash_is_waited_for_and_another_action_voids_it():
    asked = await opened_before()
    again = FakeApprovals(policy=ASKING)
    again.rows["old"] = asked
    bench = SupervisedLoop([Click(2), Stop("")], desk=again)
    await bench.run(lambda: again.answer_request(OperatorDecision(kind=DecisionKind.APPROVE)))
    assert (list(again.rows), bench.words[0]) == (["old"], "click link 'Delete account'")

    other = FakeApprovals(policy=ASKING)
    other.rows["old"] = asked
    bench = SupervisedLoop([Click(0), Stop("")], desk=other)
    await bench.run()
    assert other.why["old"] == "the run continued without it"


# questions, walls, flags, troubles


async def test_a_question_is_answered_and_the_row_is_closed_when_the_next_step_begins():
    desk = FakeApprovals(lambda one: OperatorDecision(kind=DecisionKind.ANSWER, text="the blue one"))
    bench = SupervisedLoop([AskHuman("Which?"), Stop("")], desk=desk)
    await bench.run()
    assert bench.kept.steps[0].output == "the blue one"
    assert bench.policy.seen[1].answers == (("Which?", "the blue one"),)
    assert desk.steps == [1]


async def test_a_captcha_waits_for_a_person_and_is_asked_about_again_while_it_stands():
    walled = page_of(HOME, title="Are you human?", challenge=Challenge.CAPTCHA)
    desk = FakeApprovals()
    bench = SupervisedLoop([Stop("42")], desk=desk)
    bench.hands.pages = {**PAGES, HOME: walled}

    async def solve() -> None:
        await desk.answer_request(OperatorDecision(kind=DecisionKind.APPROVE))
        first = set(desk.rows)
        while desk.waiting is None or desk.waiting.id in first:
            await asyncio.sleep(0)
        bench.hands.pages = dict(PAGES)
        await desk.answer_request(OperatorDecision(kind=DecisionKind.APPROVE))

    run = await bench.run(solve)
    assert (run.outcome, len(desk.rows)) == (Outcome.ANSWERED, 2)
    assert {row.state for row in desk.rows.values()} == {RequestState.CLOSED}


async def test_a_run_that_a_person_ends_before_a_wall_was_stopped_by_them():
    desk = FakeApprovals(lambda one: OperatorDecision(kind=DecisionKind.DENY, text="not worth it"))
    bench = SupervisedLoop([Stop("42")], desk=desk)
    bench.hands.pages = {**PAGES, HOME: page_of(HOME, title="Are you human?", challenge=Challenge.CAPTCHA)}
    run = await bench.run()
    assert (run.outcome, run.error) == (Outcome.STOPPED, "not worth it")


async def test_a_captcha_dealt_with_by_hand_asks_nobody_any_more():
    desk = FakeApprovals()
    bench = SupervisedLoop([Stop("42")], desk=desk)
    bench.hands.pages = {**PAGES, HOME: page_of(HOME, title="Are you human?", challenge=Challenge.CAPTCHA)}

    async def by_hand() -> None:
        await bench.until(RunState.WAITING)
        await bench.control.take_over()
        assert bench.control.state is RunState.TAKEN_OVER
        bench.hands.pages = dict(PAGES)
        await bench.control.release()

    assert (await bench.run(by_hand)).outcome is Outcome.ANSWERED
    (row,) = desk.rows.values()
    assert desk.why[row.id] == "the page has changed since it was asked"


async def test_a_flag_pauses_or_asks_as_the_policy_says():
    pausing = InterventionPolicy(flags=(FlagRule(severity=Severity.ERROR, reaction=Reaction.PAUSE),))
    bench = SupervisedLoop(
        [Click(0), Stop("42")],
        desk=FakeApprovals(policy=pausing),
        watching=FiringDetectors(0, Severity.ERROR),
    )

    async def go_on() -> None:
        await bench.until(RunState.PAUSED)
        assert bench.control.why == "It goes round and round."
        assert len(bench.kept.steps) == 1
        bench.control.resume()

    assert (await bench.run(go_on)).outcome is Outcome.ANSWERED
    assert [(deed, author) for deed, _, _, author in bench.desk.deeds] == [(OperatorAction.PAUSED, "policy")]

    asking = InterventionPolicy(flags=(FlagRule(severity=Severity.ERROR, reaction=Reaction.ASK),))
    desk = FakeApprovals(lambda one: OperatorDecision(kind=DecisionKind.DENY, text="enough"), asking)
    bench = SupervisedLoop([Click(0), Stop("42")], desk=desk, watching=FiringDetectors(0, Severity.ERROR))
    run = await bench.run()
    assert (run.outcome, run.error, len(bench.kept.steps)) == (Outcome.STOPPED, "enough", 1)


async def test_a_flag_that_was_asked_about_before_a_crash_is_asked_about_again():
    desk = FakeApprovals()
    desk.rows["old"] = ApprovalRequest(id="old", run="r1", need=Need.FLAG, step=0, question="Let it go on?")
    done = SupervisedLoop([Click(0), Stop("")])
    await done.run()
    bench = SupervisedLoop([Stop("42")], desk=desk, steps=done.kept.steps[:1])
    run = await bench.run(
        lambda: desk.answer_request(OperatorDecision(kind=DecisionKind.APPROVE, text="it is fine"))
    )
    assert (run.outcome, list(desk.rows)) == (Outcome.ANSWERED, ["old"])
    assert bench.policy.seen[0].answers[0][1] == "it is fine"


async def test_a_full_disk_is_trouble_until_it_takes_the_step_and_nothing_is_lost_or_twice(monkeypatch):
    monkeypatch.setattr(control_module, "RETRY_SECONDS", 0.01)
    desk = FakeApprovals()
    bench = SupervisedLoop([Click(0), Stop("42")], desk=desk)

    def full() -> None:
        bench.kept.full = desk.broken = True

    bench.policy.moves = [decide_after(Click(0), full), Stop("42")]

    async def free() -> None:
        await bench.until(RunState.WAITING)
        (need,) = bench.control.needs
        assert need.need is Need.TROUBLE
        assert "Step 1 can't be saved" in need.question or "The decision" in need.question
        await asyncio.sleep(0.05)
        assert bench.kept.steps == []
        bench.kept.full = desk.broken = False

    run = await bench.run(free)
    assert (run.outcome, [step.index for step in bench.kept.steps]) == (Outcome.ANSWERED, [0, 1])


async def test_a_person_may_end_a_run_whose_step_can_not_be_saved():
    bench = SupervisedLoop([Click(0)])
    bench.kept.full = True
    with pytest.raises(ExceptionGroup) as ended:
        await bench.run(lambda: bench.desk.answer_request(OperatorDecision(kind=DecisionKind.DENY)))
    assert ended.group_contains(StoreError)


async def test_a_model_that_hangs_is_asked_once_more_and_then_a_person_is():
    bench = SupervisedLoop([])
    asked = [0]

    class Hangs(ScriptedPolicy):
        async def decide(self, sight: Observation) -> AgentDecision:
            asked[0] += 1
            if asked[0] <= 2:
                assert bench.control.interrupt("the model gave no sign of life for 60 s")
                await asyncio.sleep(1000)
            return AgentDecision(action=Stop("42"))

    bench.desk.decide = lambda one: OperatorDecision(kind=DecisionKind.RETRY)
    bench.loop._parts = replace(bench.loop._parts, policy=Hangs([]))  # pyright: ignore[reportPrivateUsage]
    run = await bench.run()
    assert (run.outcome, asked[0]) == (Outcome.ANSWERED, 3)
    (row,) = bench.desk.rows.values()
    assert (row.need, row.why) == (Need.TROUBLE, "the model gave no sign of life for 60 s")


async def test_an_endpoint_that_is_down_is_trouble_and_a_used_up_budget_is_the_end():
    def fails(kind: ModelErrorKind) -> Callable[[Observation], AgentDecision]:
        def decide(sight: Observation) -> AgentDecision:
            raise ModelError("it does not answer", kind)

        return decide

    other = next(kind for kind in ModelErrorKind if kind is not ModelErrorKind.BUDGET)
    bench = SupervisedLoop(
        [fails(other), Stop("42")], desk=FakeApprovals(lambda one: OperatorDecision(kind=DecisionKind.RETRY))
    )
    assert (await bench.run()).outcome is Outcome.ANSWERED
    bench = SupervisedLoop([fails(ModelErrorKind.BUDGET)], desk=FakeApprovals(approve))
    assert (await bench.run()).outcome is Outcome.OUT_OF_BUDGET
    assert bench.desk.rows == {}


async def test_an_action_that_hangs_is_cut_short_recorded_and_the_page_is_opened_again():
    bench = SupervisedLoop([Click(0), Stop("42")])
    real = bench.hands.do
    hung = [False]

    async def do(action: Action, permit: object = None) -> ActionResult:
        if isinstance(action, Click) and not hung[0]:
            hung[0] = True
            assert bench.control.interrupt("the page does not answer")
            await asyncio.sleep(1000)
        return await real(action)

    bench.hands.do = do  # type: ignore[method-assign]
    run = await bench.run()
    assert (run.outcome, len(bench.kept.steps)) == (Outcome.ANSWERED, 2)
    assert (bench.kept.steps[0].cause, bench.kept.steps[0].error) == ("timeout", "the page does not answer")
    assert bench.hands.done.count(Goto(HOME)) == 2


async def test_nothing_is_cut_short_while_it_is_held_or_writes():
    bench = SupervisedLoop([Click(0), Stop("")])
    assert not bench.control.interrupt("too early")
    bench.control.pause()

    async def try_it() -> None:
        await bench.until(RunState.PAUSED)
        assert not bench.control.interrupt("held")
        bench.control.resume()

    assert (await bench.run(try_it)).outcome is Outcome.ANSWERED
