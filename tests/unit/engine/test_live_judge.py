"""The live judge in the loop: flags before the next action, claims held, a silent judge harmless, its budget kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app.engine.agent.judging.judge import judge_run
from app.engine.agent.judging.live_judge import MAX_FAILURES
from app.engine.agent.judging.model_verdicts import OUTCOME_SCHEMA
from app.engine.agent.judging.when_to_ask import JudgeLimits
from app.engine.core.actions.types import Click, Goto, Stop, TakeNote
from app.engine.core.intervention_policy import UNATTENDED, FlagRule, InterventionPolicy, Reaction
from app.engine.core.model_api import ModelError, ModelErrorKind
from app.engine.core.observation import AgentDecision
from app.engine.core.supervision import DecisionKind, Hint, OperatorAction, OperatorDecision, RunState
from app.engine.core.trajectory import Outcome
from app.engine.core.verdicts import Severity
from app.engine.detectors.vlm import flags_of
from tests.support.fake_approvals import FakeApprovals, approve
from tests.support.scripted_model import Question, Said, ScriptedModel
from tests.support.supervised_loop import ORDERS, FiringDetectors, SupervisedLoop

YES = json.dumps({"expected": "e", "shows": "yes", "evidence": "the heading", "confidence": 0.9})
NO = json.dumps({"expected": "e", "shows": "no", "evidence": "no total", "confidence": 0.9})
MET = json.dumps({"missing": "", "met": "yes", "reason": "", "step": 0, "evidence": "42", "confidence": 0.9})
UNMET = json.dumps(
    {
        "missing": "m",
        "met": "no",
        "reason": "only claimed",
        "step": 0,
        "evidence": "no total",
        "confidence": 0.9,
    }
)
OPEN = AgentDecision(action=Click(0), reason="Open the orders.", intent="the orders are shown")
DONE = AgentDecision(action=Stop("42"), reason="It is there.")


def on_flags(reaction: Reaction) -> InterventionPolicy:
    rules = tuple(FlagRule(severity=one, reaction=reaction) for one in Severity)
    return replace(UNATTENDED, flags=rules)


def judging(of_step: Said = YES, of_run: Said = MET) -> ScriptedModel:
    return ScriptedModel(lambda question: of_run if question.schema == OUTCOME_SCHEMA else of_step)


class SlowJudge(ScriptedModel):
    """Answers once it is let go."""

    def __init__(self, brain: Callable[[Question], Said]) -> None:
        super().__init__(brain)
        self.go = asyncio.Event()
        self.open = self.most_open = 0

    async def ask(self, *args: Any, **more: Any) -> Any:
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await self.go.wait()
            return await super().ask(*args, **more)
        finally:
            self.open -= 1


def asked_steps(model: ScriptedModel) -> list[str]:
    """The questions, by the words of the action asked about; a claim by its ending."""
    return [
        "claim" if one.schema == OUTCOME_SCHEMA else one.text.split("(step ")[1][:1] for one in model.asked
    ]


async def test_a_run_that_went_well_is_asked_about_at_its_step_and_before_its_end():
    model = judging()
    bench = SupervisedLoop([OPEN, DONE], judge=model)
    run = await bench.run()
    assert run.outcome is Outcome.ANSWERED
    assert asked_steps(model) == ["0", "claim"]
    (opinion,) = bench.opinions[-1:]
    assert (opinion.asked, len(opinion.steps)) == (2, 1)
    assert opinion.outcome is not None
    assert opinion.outcome.live
    assert flags_of(opinion) == []
    assert (bench.late, bench.loop.flags) == ([], [])


async def test_a_step_without_its_effect_pauses_the_run_before_the_claim_is_believed():
    desk = FakeApprovals(policy=on_flags(Reaction.PAUSE))
    bench = SupervisedLoop([OPEN, DONE], judge=judging(of_step=NO), desk=desk)

    async def person() -> None:
        await bench.until(RunState.PAUSED)
        assert [(flag.detector, flag.step) for flag in bench.late] == [("step-consistency", 0)]
        assert len(bench.kept.steps) == 1, "the claim is not recorded before it may be believed"
        bench.control.resume()

    run = await bench.run(person)
    assert run.outcome is Outcome.ANSWERED
    assert [words for action, _, words, _ in desk.deeds if action is OperatorAction.PAUSED] == [
        "The page does not show the action's intended result: 'no total'"
    ]


async def test_a_wrong_claim_waits_for_the_person_whom_the_policy_asks_and_is_sent_back_with_what_is_missing():
    desk = FakeApprovals(policy=on_flags(Reaction.ASK))
    model = judging(of_run=UNMET)
    bench = SupervisedLoop(
        [OPEN, DONE, AgentDecision(action=Goto(ORDERS), reason="Look again."), DONE], judge=model, desk=desk
    )

    async def person() -> None:
        back = OperatorDecision(kind=DecisionKind.ANSWER, text="the total is missing", author="ann")
        asked = await desk.answer_request(back)
        assert (asked.detectors, asked.question[:35]) == (
            ("run-outcome",),
            "The agent says that it is done, and",
        )
        await desk.answer_request(OperatorDecision(kind=DecisionKind.APPROVE, author="ann"))

    run = await bench.run(person)
    assert run.outcome is Outcome.ANSWERED
    claim = bench.kept.steps[1]
    assert (claim.action.kind, claim.executed) == ("send_msg_to_user", False)
    assert "the total is missing" in claim.error
    assert asked_steps(model).count("claim") == 2, "something was done since the first claim"
    assert bench.policy.seen[2].answers[-1][1] == "the total is missing"


async def test_a_claim_is_not_asked_about_twice_while_nothing_was_done_and_no_stale_outcome_is_kept():
    desk = FakeApprovals(policy=on_flags(Reaction.ASK))
    model = judging(of_run=UNMET)
    bench = SupervisedLoop([OPEN, DONE, TakeNote("it is 42"), DONE], judge=model, desk=desk)

    async def person() -> None:
        await desk.answer_request(OperatorDecision(kind=DecisionKind.RETRY, author="ann"))

    run = await bench.run(person)
    assert (run.outcome, asked_steps(model)) == (Outcome.ANSWERED, ["0", "claim"])
    assert bench.opinions[-1].outcome is None, "the claim it was about did not end the run"


async def test_a_claim_that_a_person_ends_the_run_for_is_no_answer():
    desk = FakeApprovals(
        lambda request: OperatorDecision(kind=DecisionKind.DENY, text="it is wrong"),
        policy=on_flags(Reaction.ASK),
    )
    run = await SupervisedLoop([OPEN, DONE], judge=judging(of_run=UNMET), desk=desk).run()
    assert (run.outcome, run.error, run.answer) == (Outcome.STOPPED, "it is wrong", None)


async def test_a_hint_during_the_pause_has_a_doubted_claim_decided_again():
    desk = FakeApprovals(policy=on_flags(Reaction.PAUSE))
    bench = SupervisedLoop([OPEN, DONE, TakeNote("so"), DONE], judge=judging(of_run=UNMET), desk=desk)

    async def person() -> None:
        await bench.until(RunState.PAUSED)
        desk.said.append(Hint(id="h", run="r1", step=1, text="look at the total"))
        bench.control.resume()

    run = await bench.run(person)
    assert run.outcome is Outcome.ANSWERED
    assert [step.action.kind for step in bench.kept.steps] == ["click", "take_note", "send_msg_to_user"]


async def test_a_write_waits_for_the_open_question_and_a_flag_holds_it():
    desk = FakeApprovals(approve, policy=on_flags(Reaction.PAUSE))
    model = SlowJudge(
        lambda question: (
            MET if question.schema == OUTCOME_SCHEMA else NO if "(step 0)" in question.text else YES
        )
    )
    delete = AgentDecision(action=Click(2), reason="Delete it.")
    note = AgentDecision(action=TakeNote("seen"), reason="so")
    typed = AgentDecision(action=Goto("http://shop.example/"), reason="Home.", intent="the start page")
    bench = SupervisedLoop([typed, note, delete, DONE], judge=model, desk=desk)

    async def person() -> None:
        while len(bench.kept.steps) < 2:
            await asyncio.sleep(0)
        await bench.settles()
        assert len(bench.hands.done) == 2, "the start and the first step; the deletion waits"
        model.go.set()
        await bench.until(RunState.PAUSED)
        assert len(bench.hands.done) == 2
        assert [flag.step for flag in bench.late] == [0], "it names its own step"
        bench.control.resume()

    await bench.run(person)
    assert len(bench.hands.done) == 3
    assert model.most_open == 1


async def test_without_a_person_flags_only_mark_and_no_write_waits():
    model = SlowJudge(lambda question: NO if question.schema != OUTCOME_SCHEMA else UNMET)
    bench = SupervisedLoop(
        [OPEN, AgentDecision(action=Click(0), reason="Home."), DONE], judge=model, supervised=False
    )

    async def let_go() -> None:
        while model.open == 0 or len(bench.kept.steps) < 2:
            await asyncio.sleep(0)
        await bench.settles()
        assert (model.open, len(bench.kept.steps)) == (1, 2), "the claim waits, no other action did"
        model.go.set()

    run = await bench.run(let_go)
    assert run.outcome is Outcome.ANSWERED
    assert {flag.detector for flag in bench.late} == {"step-consistency", "run-outcome"}


async def test_no_more_questions_than_the_budget_has_and_one_is_left_for_the_claim():
    model = judging()
    walk = [OPEN, AgentDecision(action=Click(0), reason="Home.", intent="the start page")] * 4
    bench = SupervisedLoop([*walk, DONE], judge=model, limits=JudgeLimits(calls=3, every=2), paced=True)
    await bench.run()
    assert len(model.asked) == 3
    assert asked_steps(model)[-1] == "claim"
    assert bench.opinions[-1].asked == 3


async def test_a_resumed_run_continues_its_budget_and_is_not_asked_again_about_the_same():
    first = SupervisedLoop([OPEN, DONE], judge=judging(), limits=JudgeLimits(calls=3))
    await first.run()
    known = replace(first.opinions[-1], outcome=None)
    assert known.asked == 2
    model = judging()
    again = SupervisedLoop(
        [OPEN, AgentDecision(action=Click(0), reason="Home.", intent="home"), DONE],
        judge=model,
        limits=JudgeLimits(calls=3),
        known=known,
        steps=first.kept.steps[:1],
    )
    await again.run()
    assert asked_steps(model) == ["claim"]
    assert again.opinions[-1].asked == 3
    assert [verdict.step for verdict in again.opinions[-1].steps] == [0]


@pytest.mark.parametrize(
    ("trouble", "questions"),
    [
        (ModelError("no connection", ModelErrorKind.UNREACHABLE), 1),
        (ModelError("it is refused", ModelErrorKind.REFUSED), MAX_FAILURES),
        (ModelError("the run's model budget is used up", ModelErrorKind.BUDGET), 1),
        ("no json at all", MAX_FAILURES),
    ],
)
async def test_a_judge_that_does_not_answer_harms_nothing_and_is_told_of_once(trouble, questions):
    model = ScriptedModel(lambda question: trouble)
    walk = [OPEN, AgentDecision(action=Click(0), reason="Home.", intent="home")] * 2
    bench = SupervisedLoop(
        [*walk, DONE], judge=model, desk=FakeApprovals(policy=on_flags(Reaction.ASK)), paced=True
    )
    run = await bench.run()
    assert run.outcome is Outcome.ANSWERED
    assert len(model.asked) == min(questions, 3)
    told = [deed for deed in bench.desk.deeds if deed[0] is OperatorAction.TROUBLED]
    assert len(told) == 1
    assert told[0][3] == "judge"
    assert bench.late == []


async def test_a_judge_that_hangs_is_given_up_after_its_time():
    model = SlowJudge(lambda question: YES)
    bench = SupervisedLoop([OPEN, DONE], judge=model, patience=0.05)
    run = await bench.run()
    assert run.outcome is Outcome.ANSWERED
    assert "gave no answer within" in bench.desk.deeds[0][2]
    assert bench.opinions[-1].asked == 2


async def test_a_step_that_a_rule_flagged_is_not_asked_about():
    model = judging()
    await SupervisedLoop([OPEN, DONE], judge=model, watching=FiringDetectors(0, Severity.WARNING)).run()
    assert asked_steps(model) == ["claim"]


async def test_exchanges_of_the_judge_are_those_of_the_step_they_were_asked_beside_and_count():
    def brain(question: Question) -> Said:
        said = MET if question.schema == OUTCOME_SCHEMA else YES
        from app.engine.agent.model.structured import read_json
        from app.engine.core.model_api import ModelReply

        data = read_json(said, question.schema)
        return ModelReply(
            text=said, data=data, tokens=(100, 10), digest="d-" + str(data and "met" in data), model="m"
        )

    bench = SupervisedLoop([OPEN, DONE], judge=ScriptedModel(brain))
    run = await bench.run()
    assert bench.kept.steps[1].calls == ("d-False", "d-True")
    assert run.tokens == (200, 20)
    assert bench.opinions[-1].calls == ("d-False", "d-True")


async def test_what_was_judged_live_is_not_asked_again_afterwards():
    bench = SupervisedLoop([OPEN, AgentDecision(action=Click(0), reason="Home."), DONE], judge=judging(of_step=NO),
                           limits=JudgeLimits(calls=2), paced=True)  # fmt: skip
    run = await bench.run()
    known = bench.opinions[-1]
    assert [verdict.step for verdict in known.steps] == [0]
    model = judging()
    opinion = await judge_run(run, bench.kept.steps, bench._load, model, known=known)
    assert asked_steps(model) == ["1"]
    assert [verdict.step for verdict in opinion.steps] == [0, 1]
    assert [(flag.detector, flag.step) for flag in flags_of(opinion)] == [("step-consistency", 0)]
    assert opinion.outcome == known.outcome
