"""The loop records what was seen, decided and done, gets over what pages do to it, and closes every run truly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.agent.action_dispatcher import ActionDispatcher
from app.engine.agent.calculator import calculate
from app.engine.agent.loop import AgentDependencies, AgentLoop
from app.engine.agent.memory.ledger_store import LedgerStore
from app.engine.agent.ports import AgentTask, KnowledgeSource, StepReport
from app.engine.agent.secrets import Secrets, resolve_secrets
from app.engine.core.actions.types import (
    Action,
    AskHuman,
    Branch,
    Calculate,
    Click,
    ClickMark,
    Goto,
    Navigate,
    Prune,
    ReportInfeasible,
    Stop,
    TakeNote,
    TypeText,
)
from app.engine.core.ledger import Fact, Note, PlanNode, PlanNodeState
from app.engine.core.model_api import ModelError, ModelErrorKind
from app.engine.core.observation import AgentDecision, Observation, RetrievedTip
from app.engine.core.page_state import Challenge, PageCapture
from app.engine.core.trajectory import ErrorClass, Outcome, Run, Step
from app.errors import UsageError
from kb.tip import Query
from tests.support.fake_executor import HOME, FakeExecutor, InMemoryRecorder, ScriptedPolicy, page_of

ORDERS = "http://shop.example/orders"
PAGES = {
    HOME: page_of(HOME, f"Orders -> {ORDERS}", "box:Search", "secret:Password", "Dead", title="Shop"),
    ORDERS: page_of(ORDERS, f"Home -> {HOME}", title="Orders", text="Total 42"),
}
TASK = AgentTask(run="r1", intent="How high is the total?", start_url=HOME, max_steps=10)
RUN = Run(id="r1", source="sitelore", intent=TASK.intent, start_url=HOME, outcome=Outcome.RUNNING)


class Somebody:
    """A person who gives these answers, then is gone."""

    def __init__(self, *answers: str | None, before: object = None) -> None:
        self._answers, self._before = list(answers), before

    async def ask(self, question: str, step: int) -> str | None:
        if callable(self._before):
            self._before()
        return self._answers.pop(0) if self._answers else None


class Bench:
    """A loop with everything around it in memory."""

    def __init__(
        self,
        moves: Sequence[object],
        *,
        pages: dict[str, PageCapture] | None = None,
        task: AgentTask = TASK,
        break_at: frozenset[int] = frozenset(),
        person: Somebody | None = None,
        secrets: Secrets | None = None,
        book: LedgerStore | None = None,
        steps: Sequence[Step] = (),
        tips: tuple[RetrievedTip, ...] = (),
        policy: ScriptedPolicy | None = None,
        knowledge: KnowledgeSource | None = None,
    ) -> None:
        self.hands = FakeExecutor(pages or PAGES, break_at)
        self.policy = policy or ScriptedPolicy(moves)  # type: ignore[arg-type]
        self.kept, self.book = InMemoryRecorder(), book or LedgerStore()
        self.told: list[StepReport] = []
        secrets = secrets or Secrets()
        self.deeds = deeds = ActionDispatcher(
            self.hands, self.book, calculate, supervisor=person, secrets=secrets
        )

        class Knowing:
            async def tips(self, query: Query, page: PageCapture | None = None) -> tuple[RetrievedTip, ...]:
                return tips

        self.loop = AgentLoop(
            task,
            AgentDependencies(
                executor=self.hands,
                policy=self.policy,
                ledger_store=self.book,
                recorder=self.kept,
                dispatcher=deeds,
                knowledge=knowledge or (Knowing() if tips else None),
                secrets=secrets,
                on_step=self.told.append,
            ),
            RUN,
            steps,
        )

    async def run(self) -> Run:
        return await self.loop.run()


async def test_a_task_is_done_step_by_step_and_each_step_is_kept_as_it_was():
    bench = Bench([Click(0), Stop("42")])
    run = await bench.run()
    assert (run.outcome, run.answer, run.step_count) == (Outcome.ANSWERED, "42", 2)
    first, last = bench.kept.steps
    assert (first.url, first.words, first.effect) == (HOME, "click link 'Orders'", "navigated")
    assert first.target is not None
    assert first.target_box == (10.0, 10.0, 100.0, 20.0)
    assert (last.url, last.index) == (ORDERS, 1)
    assert bench.kept.blobs[last.tree].decode().startswith("RootWebArea 'Orders'")
    assert run.final is not None
    assert run.final.url == ORDERS
    assert [told.words for told in bench.told] == [first.words, last.words]


async def test_a_policy_sees_its_turns_with_their_results_and_the_state_they_led_to():
    bench = Bench([Click(3), Click(0), Stop("")])
    await bench.run()
    seen = bench.policy.seen[2]
    assert [turn.result.success for turn in seen.history] == [False, True]
    assert seen.history[0].state == seen.history[0].state_after != seen.state
    assert seen.history[1].state_after == seen.state
    assert seen.steps_left == 8


async def test_a_policy_that_looks_ahead_begins_before_the_tips_of_a_page_are_retrieved():
    order: list[tuple[str, int]] = []

    class Ahead(ScriptedPolicy):
        def look_ahead(self, observation: Observation) -> None:
            order.append(("look", observation.step))
            assert observation.last is None or observation.last.result.success

        async def decide(self, sight: Observation) -> AgentDecision:
            order.append(("decide", sight.step))
            return await super().decide(sight)

    class Knowing:
        async def tips(self, query: Query, page: PageCapture | None = None) -> tuple[RetrievedTip, ...]:
            order.append(("tips", len(order) // 3))
            return ()

    bench = Bench([], policy=Ahead([Click(0), Stop("42")]), knowledge=Knowing())
    await bench.run()
    assert order == [(what, step) for step in (0, 1) for what in ("look", "tips", "decide")]


async def test_what_led_nowhere_becomes_a_dead_end_and_a_new_page_a_landmark():
    bench = Bench([Click(3), Click(0), Stop("")])
    await bench.run()
    ledger = bench.book.ledger
    (dead,) = ledger.dead_ends
    assert (dead.target, dead.cause, dead.step) == ("link 'Dead'", "no effect", 0)
    (mark,) = ledger.checkpoints
    assert (mark.url, mark.step) == (ORDERS, 1)
    assert ledger.goal == TASK.intent
    assert ledger.url == ORDERS


async def test_notes_are_kept_and_sums_become_facts_with_their_evidence():
    bench = Bench([TakeNote("two orders are open"), Calculate("19.90 + 22.10"), Stop("42")])
    await bench.run()
    (note,), (total,) = bench.book.ledger.notes, bench.book.ledger.facts
    assert note == Note(number=1, text="two orders are open", step=0, url=HOME)
    assert (total.key, total.value) == ("19.90 + 22.10", "42")
    assert [(step.effect, step.output) for step in bench.kept.steps[:2]] == [
        ("done", "kept as note 1"),
        ("done", "= 42"),
    ]
    assert bench.policy.seen[2].history[1].result.output == "= 42"


async def test_arithmetic_that_makes_no_sense_is_refused_with_the_reason():
    bench = Bench([Calculate("1 +"), Stop("")])
    await bench.run()
    step = bench.kept.steps[0]
    assert (step.effect, step.cause) == ("refused", "value")
    assert step.error


async def test_a_plan_grows_and_is_pruned_without_losing_anything():
    def prune(sight: Observation) -> AgentDecision:
        return AgentDecision(action=Prune(sight.history[0].result.output.split()[-1], "no such filter"))

    bench = Bench([Branch("", "filter the list"), prune, Prune("nobody", "x"), Stop("")])
    await bench.run()
    (node,) = bench.book.ledger.plan
    assert (node.intent, node.state, node.reason) == (
        "filter the list",
        PlanNodeState.PRUNED,
        "no such filter",
    )
    assert bench.kept.steps[2].cause == "missing"


async def test_facts_plan_and_notes_of_a_decision_are_remembered():
    decision = AgentDecision(
        action=Click(0),
        facts=(Fact(key="total", value="42", quote="Total 42"),),
        plan=(PlanNode(id="a", parent="", intent="open the orders"),),
        subgoal="open the orders",
        notes=("the shop has one list",),
    )
    bench = Bench([decision, Stop("42")])
    await bench.run()
    ledger = bench.book.ledger
    assert [fact.value for fact in ledger.facts] == ["42"]
    assert [node.intent for node in ledger.plan] == ["open the orders"]
    assert ledger.subgoal == "open the orders"
    assert ledger.episodic == ("the shop has one list",)


async def test_tips_in_force_and_whether_they_were_followed_stand_in_the_step():
    tips = (
        RetrievedTip(tip="t1", text="Orders are under Orders", routes=("url", "keyword"), score=0.9),
        RetrievedTip(tip="t2", text="-"),
    )
    bench = Bench([AgentDecision(action=Click(0), followed={"t1": True}), Stop("")], tips=tips)
    await bench.run()
    one, two = bench.kept.steps[0].exposures
    assert (one.tip, one.routes, one.score, one.followed) == ("t1", ("url", "keyword"), 0.9, True)
    assert (two.tip, two.followed) == ("t2", None)
    assert bench.kept.steps[0].tips == ("t1", "t2")


async def test_three_answers_without_an_action_end_the_run():
    bench = Bench([AgentDecision(action=None, why="an empty answer")])
    run = await bench.run()
    assert (run.outcome, run.step_count) == (Outcome.CRASHED, 3)
    assert "an empty answer" in run.error
    assert {step.error_class for step in bench.kept.steps} == {ErrorClass.HARNESS}


async def test_one_unreadable_answer_costs_one_step_and_the_numbers_stay_whole():
    bench = Bench(
        [
            AgentDecision(action=None, why="no action"),
            Click(0),
            AgentDecision(action=None, why="x"),
            Stop("42"),
        ]
    )
    run = await bench.run()
    assert run.outcome is Outcome.ANSWERED
    assert [step.index for step in bench.kept.steps] == [0, 1, 2, 3]


async def test_the_step_limit_ends_a_run():
    run = await Bench([Goto(HOME)], task=replace(TASK, max_steps=4)).run()
    assert (run.outcome, run.step_count) == (Outcome.STEP_LIMIT, 4)


async def test_a_page_that_is_lost_is_opened_again_where_the_run_was():
    bench = Bench([Click(0), Stop("42")], break_at=frozenset({1}))
    run = await bench.run()
    assert run.outcome is Outcome.ANSWERED
    assert bench.hands.done == [Goto(HOME), Click(0), Goto(ORDERS)]
    assert any("crashed" in note for note in bench.book.ledger.episodic)


async def test_a_page_that_stays_lost_ends_the_run_with_its_reason():
    run = await Bench([Stop("42")], break_at=frozenset(range(9))).run()
    assert run.outcome is Outcome.CRASHED
    assert "crashed" in run.error
    assert run.final is None


async def test_a_start_that_does_not_answer_is_told():
    run = await Bench([Stop("")], task=replace(TASK, start_url="http://nobody.example/")).run()
    assert (run.outcome, run.step_count) == (Outcome.CRASHED, 0)
    assert "nobody.example" in run.error


async def test_a_captcha_goes_to_a_person_and_nobody_there_ends_the_run():
    pages = {HOME: page_of(HOME, challenge=Challenge.CAPTCHA)}
    run = await Bench([Stop("")], pages=pages).run()
    assert (run.outcome, run.step_count) == (Outcome.NEEDS_PERSON, 0)
    assert "captcha" in run.error


async def test_a_captcha_that_a_person_has_solved_is_passed():
    pages = {HOME: page_of(HOME, challenge=Challenge.CAPTCHA)}

    def solve() -> None:
        pages[HOME] = page_of(HOME, "Orders")

    run = await Bench([Stop("42")], pages=pages, person=Somebody("done", before=solve)).run()
    assert run.outcome is Outcome.ANSWERED


@pytest.mark.parametrize(
    ("intent", "outcome"),
    [("How high is the total?", Outcome.NEEDS_PERSON), ("Log in as ana", Outcome.ANSWERED)],
)
async def test_a_log_in_wall_goes_to_a_person_unless_the_task_speaks_of_it(intent: str, outcome: Outcome):
    pages = {HOME: page_of(HOME, "box:User", "secret:Password", challenge=Challenge.LOGIN)}
    run = await Bench([Stop("")], pages=pages, task=replace(TASK, intent=intent)).run()
    assert run.outcome is outcome


async def test_a_question_is_answered_or_ends_the_run():
    bench = Bench([AskHuman("Which one?"), Stop("blue")], person=Somebody("the blue one"))
    assert (await bench.run()).outcome is Outcome.ANSWERED
    assert bench.policy.seen[1].answers == (("Which one?", "the blue one"),)
    alone = await Bench([AskHuman("Which one?")]).run()
    assert alone.outcome is Outcome.NEEDS_PERSON
    assert "Which one?" in alone.error


async def test_what_is_not_there_is_refused_with_what_else_there_is():
    bench = Bench([Navigate("shop", "orders"), ClickMark(3), Click(99), ReportInfeasible("no orders here")])
    run = await bench.run()
    assert (run.outcome, run.answer) == (Outcome.INFEASIBLE, "no orders here")
    assert [step.cause for step in bench.kept.steps[:3]] == ["navigator", "policy", "missing"]


async def test_a_step_at_a_mark_keeps_the_element_that_the_mark_stood_for():
    class Marked:
        async def resolve(self, action: Action, page: PageCapture):
            return (Click(0) if isinstance(action, ClickMark) else action), None

    bench = Bench([ClickMark(7, "Orders"), Stop("")])
    bench.deeds.marks = Marked()
    await bench.run()
    step = bench.kept.steps[0]
    assert step.target is not None
    assert (step.target.name, step.target_box) == ("Orders", (10.0, 10.0, 100.0, 20.0))


async def test_no_endpoint_and_no_budget_close_the_run_each_in_its_way():
    def broken(trouble: ModelErrorKind) -> object:
        def decide(sight: Observation) -> AgentDecision:
            raise ModelError("the endpoint does not answer", trouble)

        return decide

    assert (await Bench([broken(ModelErrorKind.UNREACHABLE)]).run()).outcome is Outcome.CRASHED
    assert (await Bench([broken(ModelErrorKind.BUDGET)]).run()).outcome is Outcome.OUT_OF_BUDGET


async def test_a_stop_ends_the_run_after_the_step_in_flight():
    bench = Bench([Goto(HOME)])

    def stop(sight: Observation) -> AgentDecision:
        bench.loop.stop()
        return AgentDecision(action=Click(0))

    bench.policy.moves = [stop]
    run = await bench.run()
    assert (run.outcome, run.step_count) == (Outcome.STOPPED, 1)


async def test_a_secret_is_typed_and_nowhere_kept(tmp_path: Path):
    intent, secrets = resolve_secrets('Log in with the password "hunter2-very-secret"', {})
    assert "hunter2" not in intent

    def tell(sight: Observation) -> AgentDecision:
        words = "typed hunter2-very-secret into the box"
        return AgentDecision(
            action=Stop("it is hunter2-very-secret"), reason=words, raw=words, notes=(words,)
        )

    name = intent.partition("{")[2].partition("}")[0]
    with LedgerStore.open(tmp_path) as book:
        bench = Bench(
            [TypeText(2, f"{{{name}}}"), tell],
            task=replace(TASK, intent=intent),
            secrets=secrets,
            book=book,
        )
        run = await bench.run()
    assert bench.hands.typed[2] == "hunter2-very-secret"
    kept = bench.kept.everything() + repr(run) + repr(bench.told) + repr(bench.policy.seen[0])
    assert "hunter2" not in kept
    files = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"hunter2" not in files


def test_a_secret_of_the_environment_is_named_and_one_that_is_missing_is_told():
    intent, secrets = resolve_secrets(
        "Log in, password {secret:SHOP}", {"SITELORE_SECRET_SHOP": "s3cret-value"}
    )
    assert intent == "Log in, password {secret:SHOP}"
    assert secrets.fill(TypeText(1, "{secret:SHOP}")) == TypeText(1, "s3cret-value")
    assert "s3cret" not in repr(secrets)
    with pytest.raises(UsageError, match="SITELORE_SECRET_OTHER"):
        resolve_secrets("use {secret:OTHER}", {})


async def test_a_run_goes_on_from_its_steps_and_its_ledger_alone(tmp_path: Path):
    moves: list[Action] = [Click(0), TakeNote("seen"), Stop("42")]
    with LedgerStore.open(tmp_path) as book:
        first = Bench(moves, book=book, task=replace(TASK, max_steps=2))
        await first.run()
    with LedgerStore.open(tmp_path) as book:
        second = Bench([Stop("42")], book=book, steps=first.kept.steps)
        run = await second.run()
    sight = second.policy.seen[0]
    assert second.hands.done[0] == Goto(ORDERS)
    assert (run.outcome, run.step_count, sight.step) == (Outcome.ANSWERED, 3, 2)
    assert [turn.action for turn in sight.history] == [Click(0), TakeNote("seen")]
    assert sight.history[1].result.success
    assert [note.text for note in sight.ledger.notes] == ["seen"]
    assert second.kept.steps[0].index == 2


async def test_own_cost_is_told_for_every_step():
    bench = Bench([Click(0), AgentDecision(action=Stop("42"), seconds=5.0)])
    await bench.run()
    assert len(bench.loop.timing.own) == 2
    assert bench.loop.timing.model == 5.0
    assert all(0 <= own < 5 for own in bench.loop.timing.own)
