"""A run is held before its next action, taken over and handed back; nothing is done behind a person's back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.engine.agent.run_recording import history_of_steps
from app.engine.core.action_result import ActionResult
from app.engine.core.actions.types import Action, AskHuman, Click, Goto, Stop, TypeText
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.observation import AgentDecision, Observation, RetrievedTip
from app.engine.core.supervision import (
    DecisionKind,
    Hint,
    OperatorDecision,
    RequestState,
    RunState,
    Stage,
    TakeoverSummary,
    TipDue,
)
from app.engine.core.trajectory import Outcome, Run, Step
from app.errors import Conflict
from kb.compiler import compile_text
from tests.support.fake_approvals import FakeApprovals
from tests.support.fake_executor import HOME, ScriptedPolicy, page_of
from tests.support.laws import examples
from tests.support.supervised_loop import ASKING, DELETED, ORDERS, PAGES, SupervisedLoop, decide_after


async def test_without_anybody_nothing_is_held_or_asked():
    bench = SupervisedLoop([Click(2), Stop("")], supervised=False)
    run = await bench.run()
    assert (run.outcome, bench.words[0]) == (Outcome.ANSWERED, "click link 'Delete account'")
    assert bench.control.state is RunState.ENDED


# pause, step, stop


async def test_a_pause_takes_effect_before_the_next_action_and_the_clock_stands_still():
    time = [0.0]
    bench = SupervisedLoop([])
    bench.control._clocks._clock = lambda: time[0]  # pyright: ignore[reportPrivateUsage]
    bench.policy.moves = [decide_after(Click(0), bench.control.pause), Stop("42")]

    async def look() -> None:
        await bench.until(RunState.PAUSED)
        await bench.settles()
        assert [type(one) for one in bench.hands.done] == [Goto]
        assert bench.control.stage is Stage.HELD
        before = bench.control.seconds
        time[0] += 100.0
        assert bench.control.seconds == before
        assert bench.control.held_seconds == 100.0
        bench.control.resume()

    run = await bench.run(look)
    assert (run.outcome, bench.words) == (Outcome.ANSWERED, ["click link 'Orders'", "answer '42'"])
    assert len(bench.policy.seen) == 2, "the page was the same: it was not decided anew"


async def test_a_page_that_changed_during_a_pause_is_decided_anew_and_no_step_is_recorded_for_it():
    bench = SupervisedLoop([])
    bench.policy.moves = [decide_after(Click(0), bench.control.pause), Stop("42")]

    async def change() -> None:
        await bench.until(RunState.PAUSED)
        await bench.settles()
        bench.hands.url = ORDERS
        bench.control.resume()

    run = await bench.run(change)
    assert bench.words == ["answer '42'"]
    assert "has changed" in " ".join(bench.policy.seen[1].news)
    assert run.tokens == (10, 1), "what the dropped decision cost is counted"


async def test_the_same_element_under_another_number_is_acted_on_where_it_stands_now():
    bench = SupervisedLoop([])
    bench.policy.moves = [decide_after(Click(0), bench.control.pause), Stop("42")]

    async def renumber() -> None:
        await bench.until(RunState.PAUSED)
        await bench.settles()
        turned = page_of(
            HOME, f"Delete account -> {DELETED}", f"Orders -> {ORDERS}", "box:Search", title="Shop"
        )
        bench.hands.pages = {**PAGES, HOME: turned}
        bench.control.resume()

    await bench.run(renumber)
    assert Click(1) in bench.hands.done
    assert bench.words[0] == "click link 'Orders'"


async def test_one_step_is_done_and_the_run_is_held_again():
    bench = SupervisedLoop([Click(0), Click(0), Stop("")])
    bench.control.pause()

    async def one_by_one() -> None:
        for done in range(3):
            await bench.until(RunState.PAUSED)
            await bench.settles()
            assert len(bench.kept.steps) == done
            bench.control.step_once()
            while bench.control.state is RunState.PAUSED:
                await asyncio.sleep(0)

    await bench.run(one_by_one)
    assert len(bench.kept.steps) == 3


async def test_a_stop_ends_a_run_that_is_held_and_one_that_thinks():
    held = SupervisedLoop([Click(0)])
    held.control.pause()

    async def stop() -> None:
        await held.until(RunState.PAUSED)
        held.control.stop()

    assert (await held.run(stop)).outcome is Outcome.STOPPED
    assert held.hands.done == []

    thinking = SupervisedLoop([])

    class Slow(ScriptedPolicy):
        async def decide(self, sight: Observation) -> AgentDecision:
            thinking.control.stop()
            await asyncio.sleep(1000)
            raise AssertionError

    thinking.loop._parts = replace(thinking.loop._parts, policy=Slow([]))  # pyright: ignore[reportPrivateUsage]
    assert (await thinking.run()).outcome is Outcome.STOPPED


async def test_what_is_over_can_not_be_held():
    bench = SupervisedLoop([Stop("")])
    await bench.run()
    for deed in (bench.control.pause, bench.control.resume, bench.control.step_once):
        with pytest.raises(Conflict, match="over"):
            deed()
    with pytest.raises(Conflict, match="over"):
        await bench.control.take_over()


# what is told


async def test_each_action_is_told_before_it_is_done_with_its_place():
    bench = SupervisedLoop([TypeText(1, "lamp"), Stop("")])
    seen: list[int] = []
    bench.control.on_planned = lambda action: (
        seen.append(len(bench.hands.done)),
        bench.planned.append(action),
    )
    await bench.run()
    first = bench.planned[0]
    assert (first.words, first.element) == ("type 'lamp' into textbox 'Search'", 1)
    assert (first.box, first.point) == ((10.0, 40.0, 100.0, 20.0), (60.0, 50.0))
    assert first.risk is RiskClass.EDITS
    assert seen[0] == 1, "only the first page was opened by then"


async def test_the_next_step_of_each_tip_is_announced_with_the_action():
    tips = (
        RetrievedTip(
            tip="t1", text="The orders", when="the task asks for the total",
            procedure=compile_text('Press "Orders", then press "Export".'),
        ),
        RetrievedTip(tip="t2", text="Dates", when="a calendar is open", procedure=compile_text('Press "Today".')),
    )  # fmt: skip
    bench = SupervisedLoop([Click(0), Click(0), Stop("")], tips=tips)
    await bench.run()
    first, second = bench.planned[0].due, bench.planned[1].due
    assert first[0] == TipDue(tip="t1", steps=2, number=1, line='press "Orders"', applies=True)
    assert first[1].applies is False
    assert (second[0].number, bool(second[0].why)) == (2, True), "there is nothing to export on this page"


# hints and takeovers


async def test_a_hint_stands_before_all_tips_and_is_taken_when_the_step_it_is_given_to_begins():
    bench = SupervisedLoop([Click(0), Stop("")])
    bench.desk.said = [Hint(id="h1", run="r1", step=0, text="use the orders")]
    await bench.run()
    (hint,) = bench.policy.seen[0].tips
    assert (hint.tip, hint.routes, hint.kind) == ("hint:h1", ("person",), "person")
    step = bench.kept.steps[0]
    assert (step.tips, [one.tip for one in step.exposures]) == ((), ["hint:h1"])
    assert bench.desk.steps == [0]
    assert bench.desk.said[0].taken_at


async def test_a_takeover_becomes_steps_the_account_is_told_and_the_decision_is_made_anew():
    done = SupervisedLoop([Click(0), Stop("")])
    await done.run()
    by_hand = done.kept.steps[0]
    bench = SupervisedLoop([])
    account = TakeoverSummary(
        run="r1", first_step=0, steps=1, words="opened the orders", changes=("now at Orders",)
    )

    async def person() -> None:
        await bench.control.take_over()
        assert bench.control.state is RunState.TAKEN_OVER
        with pytest.raises(Conflict, match="already"):
            await bench.control.take_over()
        with pytest.raises(Conflict, match="hand it back"):
            bench.control.resume()
        number = await bench.loop.add_operator_step(by_hand, {})
        assert number == 0
        bench.hands.url = ORDERS
        await bench.control.release(account)

    class Slow(ScriptedPolicy):
        async def decide(self, sight: Observation) -> AgentDecision:
            if not self.seen:
                self.seen.append(sight)
                await asyncio.sleep(1000)
            return await super().decide(sight)

    slow = Slow([Stop("42"), Stop("42")])
    bench.loop._parts = replace(bench.loop._parts, policy=slow)  # pyright: ignore[reportPrivateUsage]

    async def when_it_thinks() -> None:
        while bench.control.stage is not Stage.THINKING:
            await asyncio.sleep(0)
        await person()

    run = await bench.run(when_it_thinks)
    assert [(step.index, step.by) for step in bench.kept.steps] == [(0, "person"), (1, "")]
    assert (run.step_count, run.final is not None and run.final.url) == (2, ORDERS)
    sight = slow.seen[-1]
    assert sight.news == ("a person controlled the page for 1 step: opened the orders", "now at Orders")
    assert (sight.step, sight.steps_left, sight.history) == (1, 10, ()), "a person's steps do not count"
    assert any("opened the orders" in note for note in bench.book.ledger.episodic)
    with pytest.raises(Conflict, match="not taken over"):
        await bench.control.release()


async def test_steps_done_by_hand_while_a_question_is_open_come_before_it():
    done = SupervisedLoop([Click(0), Stop("")])
    await done.run()
    desk = FakeApprovals()
    bench = SupervisedLoop([AskHuman("Which?"), Stop("42")], desk=desk)

    async def person() -> None:
        await bench.until(RunState.WAITING)
        await bench.control.take_over()
        await bench.loop.add_operator_step(done.kept.steps[0], {})
        await bench.control.release()
        await desk.answer_request(OperatorDecision(kind=DecisionKind.ANSWER, text="blue"))

    await bench.run(person)
    assert [(step.index, step.by) for step in bench.kept.steps] == [(0, "person"), (1, ""), (2, "")]
    assert bench.kept.steps[1].output == "blue"


async def test_a_run_that_is_gone_on_with_knows_what_was_done_by_hand_and_does_not_take_it_for_its_own():
    done = SupervisedLoop([Click(0), Stop("")])
    await done.run()
    hand = replace(done.kept.steps[0], index=1, by="person")
    steps = [done.kept.steps[0], hand]
    assert len(history_of_steps(steps)) == 1
    bench = SupervisedLoop([Stop("42")], steps=steps)
    await bench.run()
    assert bench.policy.seen[0].news == ("before this, a person did: click link 'Orders'",)
    assert bench.policy.seen[0].steps_left == 9


async def test_whoever_waits_to_take_over_is_told_when_the_run_ends_first():
    bench = SupervisedLoop([Click(0), Stop("42")])
    real = bench.hands.do
    going = asyncio.Event()

    async def do(action: Action, permit: object = None) -> ActionResult:
        if isinstance(action, Click):
            going.set()
            await bench.settles()
        return await real(action)

    bench.hands.do = do  # type: ignore[method-assign]

    async def late() -> None:
        await going.wait()
        bench.control.stop()
        with pytest.raises(Conflict, match="ended before"):
            await bench.control.take_over()

    run = await bench.run(late)
    assert (run.outcome, len(bench.kept.steps)) == (Outcome.STOPPED, 1)


# laws

DEEDS = (
    "pause",
    "go on",
    "step",
    "take over",
    "hand back",
    "approve",
    "deny",
    "edit",
    "hint",
    "interrupt",
    "by hand",
)


class Supervisor:
    """Does whatever comes, in any order, and looks that nothing happens behind its back."""

    def __init__(self) -> None:
        moves = [Click(0), Click(0), AskHuman("Which?"), Click(2), TypeText(1, "lamp"), Click(2), Stop("42")]
        self.desk = FakeApprovals(policy=ASKING)
        self.bench = SupervisedLoop(moves, desk=self.desk)
        slow = SlowPolicy(moves)
        self.bench.loop._parts = replace(self.bench.loop._parts, policy=slow)  # pyright: ignore[reportPrivateUsage]
        self.hints, self.behind, self.answered = 0, list[str](), False
        real = self.bench.hands.do

        async def do(action: Action, permit: object = None) -> ActionResult:
            """Nothing may be begun on a page that is held."""
            if self.bench.control.pause_requested or self.bench.control.state.held:
                self.behind.append(f"{action} was begun while the run was {self.bench.control.state.value}")
            await ticks(6)
            return await real(action)

        self.bench.hands.do = do  # type: ignore[method-assign]

    async def go(self, deeds: Sequence[tuple[str, int]]) -> Run:
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            running = group.create_task(self.bench.loop.run())
            for deed, pause in deeds:
                await self._do(deed)
                await self._check(pause)
            if self.bench.control.state is not RunState.ENDED:
                self.bench.control.stop()
        return running.result()

    async def _do(self, deed: str) -> None:
        control, row = self.bench.control, self.desk.waiting
        self.answered = deed in ("approve", "deny", "edit", "go on", "step", "hand back")
        try:
            match deed:
                case "pause":
                    control.pause()
                case "go on":
                    control.resume()
                case "step":
                    control.step_once()
                case "take over":
                    await control.take_over()
                case "hand back":
                    await control.release(TakeoverSummary(run="r1", first_step=0, steps=1, words="something"))
                case "by hand" if control.state is RunState.TAKEN_OVER:
                    await self.bench.loop.add_operator_step(BY_HAND, {})
                case "approve" if row is not None:
                    await self.desk.answer_request(OperatorDecision(kind=DecisionKind.APPROVE, text="fine"))
                case "deny" if row is not None:
                    await self.desk.answer_request(OperatorDecision(kind=DecisionKind.DENY))
                case "edit" if row is not None:
                    await self.desk.answer_request(
                        OperatorDecision(kind=DecisionKind.EDIT, call='click("0")')
                    )
                case "hint":
                    self.hints += 1
                    self.desk.said.append(Hint(id=f"h{self.hints}", run="r1", step=0, text="go on"))
                case "interrupt":
                    control.interrupt("it hangs")
                case _:
                    pass
        except Conflict:
            assert control.state in (RunState.ENDED, RunState.TAKEN_OVER) or deed in (
                "hand back",
                "take over",
            )

    async def _check(self, pause: int) -> None:
        control, hands = self.bench.control, self.bench.hands
        if control.state.held and control.stage is Stage.HELD:
            done, own, needs = len(hands.done), control.seconds, control.needs
            await ticks(30)
            if control.state.held and control.needs == needs and not self.answered:
                assert len(hands.done) == done, "the page was touched while the run was held"
                assert control.seconds == own, "the clock of a held run went on"
        await ticks(pause)
        assert self.behind == []
        assert [step.index for step in self.bench.kept.steps] == list(range(len(self.bench.kept.steps)))
        assert len([row for row in self.desk.rows.values() if row.state is RequestState.OPEN]) <= 1


async def ticks(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


class SlowPolicy(ScriptedPolicy):
    """Takes its time."""

    async def decide(self, sight: Observation) -> AgentDecision:
        await ticks(9)
        return await super().decide(sight)


BY_HAND = Step(index=0, url=HOME, title="Shop", tree="")


@settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(DEEDS), st.integers(0, 60)), max_size=16))
def test_whatever_a_person_does_in_whatever_order_a_held_page_is_not_touched_and_all_is_closed(
    deeds: list[tuple[str, int]],
):
    person = Supervisor()
    run = asyncio.run(person.go(deeds))
    ended = {deed for deed, _ in deeds} >= {"interrupt", "deny"}  # a page that hung, and was not tried again
    assert run.outcome in (Outcome.ANSWERED, Outcome.STOPPED, *([Outcome.CRASHED] if ended else []))
    assert person.bench.control.state is RunState.ENDED
    assert person.behind == []
    assert {row.state for row in person.desk.rows.values()} <= {RequestState.CLOSED}
    assert run.step_count == len(person.bench.kept.steps)
    denied = [step for step in person.bench.kept.steps if step.cause == "person"]
    assert all(not step.executed for step in denied)


async def test_what_was_done_is_no_next_action_while_its_step_is_being_written():
    bench = SupervisedLoop([Click(0), Stop("42")])
    planned: list[bool] = []
    next_now: list[bool] = [False]
    bench.control.on_planned = lambda action: next_now.__setitem__(0, True)
    bench.control.on_unplanned = lambda: next_now.__setitem__(0, False)
    append = bench.kept.append

    async def writing(step, blobs):
        planned.append(next_now[0])
        await append(step, blobs)

    bench.kept.append = writing  # type: ignore[method-assign]
    await bench.run()
    assert planned[0] is False


async def test_a_takeover_at_the_start_opens_the_start_page():
    bench = SupervisedLoop([Stop("42")])
    bench.control.pause("wait")
    seen: list[str] = []

    async def by_hand() -> None:
        bench.control.resume()
        await bench.control.take_over()
        seen.append(bench.hands.url)
        await bench.control.release()

    assert (await bench.run(by_hand)).outcome is Outcome.ANSWERED
    assert seen == [HOME]
