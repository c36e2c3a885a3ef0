"""A model that judges a run while it goes on, over a real page and a server that speaks the protocol."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace

import pytest
import pytest_asyncio

from app.engine.api.run_api import LlmRunOptions, RunRequest
from app.engine.core.actions.types import Goto
from app.engine.core.events import RunAdvanced
from app.engine.core.intervention_policy import DEFAULT_POLICY, FlagRule, Reaction
from app.engine.core.observation import AgentDecision
from app.engine.core.supervision import DecisionKind, Need, OperatorAction, OperatorDecision, RunState
from app.engine.core.verdicts import Severity
from app.engine.services import agent_runs
from app.engine.services.model_judging import ModelJudging
from app.engine.services.policy_factory import JudgedScoutBundle
from tests.support.agent_bench import SlowPolicy
from tests.support.operator_driver import Operator
from tests.support.pages_server import serving
from tests.support.protocol_server import Answer, ProtocolServer, Request, failing, text_of
from tests.support.shop_brain import plan, role_of

NO = json.dumps({"expected": "Ann on file", "shows": "no", "evidence": "on file: Bob", "confidence": 0.9})
YES = json.dumps({"expected": "it is there", "shows": "yes", "evidence": "Ann", "confidence": 0.9})
MET = json.dumps({"missing": "", "met": "yes", "reason": "", "step": 0, "evidence": "Ann", "confidence": 0.9})
UNMET = json.dumps(
    {
        "missing": "the name",
        "met": "no",
        "reason": "only claimed",
        "step": 0,
        "evidence": "Bob",
        "confidence": 0.9,
    }
)


def asks_outcome(request: Request) -> bool:
    return "You decide whether an agent" in text_of(request)


def asks_step(request: Request) -> bool:
    return "You check the work of an agent" in text_of(request)


class Saver:
    """Presses Save once and claims that the name is saved; its judge is another function."""

    def __init__(self, judge: Callable[[Request], str | Answer]) -> None:
        self.judge, self.pressed = judge, False

    def __call__(self, request: Request) -> str | Answer:
        if asks_outcome(request) or asks_step(request):
            return self.judge(request)
        text = text_of(request)
        if role_of(request) == "planner":
            return plan(done=self.pressed, answer="saved" if self.pressed else "")
        if role_of(request) != "operator":
            return "{}"
        if self.pressed:
            return '<think>Saved.</think><action>stop("saved")</action>'
        self.pressed = True
        number = re.findall(r"\[(\d+)\] button 'Save'", text)[-1]
        return f'<think>Save it.</think><expect>the name Ann is on file</expect><action>click("{number}")</action>'


@pytest.fixture(scope="module")
def home() -> Iterator[str]:
    with serving() as address:
        yield address


@pytest_asyncio.fixture(loop_scope="session")
async def operator(tmp_path, chromium) -> AsyncIterator[Operator]:
    made = await Operator.at(tmp_path / "workspace")
    yield made
    await made.engine.aclose()


def use(monkeypatch: pytest.MonkeyPatch, endpoint: ProtocolServer) -> None:
    monkeypatch.setenv("SITELORE_MODEL_URL", endpoint.url)
    monkeypatch.setenv("SITELORE_MODEL_NAME", "scripted")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


def saving(home: str, **llm: object) -> RunRequest:
    return RunRequest(
        intent="Save the name Ann", start_url=f"{home}/quiet_save.html", policy="llm", kb="none", max_steps=6,
        allow=("sends",), llm=LlmRunOptions(**llm),
    )  # fmt: skip


async def react(operator: Operator, reaction: Reaction) -> None:
    rules = tuple(FlagRule(severity=one, reaction=reaction) for one in Severity)
    await operator.engine.save_intervention_policy(replace(DEFAULT_POLICY, flags=rules))


def judged(endpoint: ProtocolServer) -> int:
    return sum(asks_step(body) or asks_outcome(body) for body in endpoint.bodies)


async def test_a_silent_failure_is_paused_by_a_live_flag_within_its_budget(operator, home, monkeypatch):
    await react(operator, Reaction.PAUSE)
    with ProtocolServer(brain=Saver(lambda request: MET if asks_outcome(request) else NO)) as endpoint:
        use(monkeypatch, endpoint)
        (run,) = await operator.start(saving(home, judge_calls=3))
        row = await operator.until(run, lambda row: row.state is RunState.PAUSED or not row.state.alive)
        assert row.state is RunState.PAUSED
        assert [(flag.detector, flag.step) for flag in row.flags] == [("step-consistency", 0)]
        assert "on file: Bob" in row.flags[0].message
        assert row.step == 1, "the claim is not recorded before the person has seen the flag"
        paused = [
            one for one in await operator.engine.interventions(run) if one.action is OperatorAction.PAUSED
        ]
        assert [one.about for one in paused] == ["step-consistency"]
        await operator.engine.continue_run(run)
        assert (await operator.over(run)).outcome == "answered"
        assert 1 <= judged(endpoint) <= 3
        detail = await operator.engine.open_run(run)
        assert len(detail.steps[1].calls) >= 2, "the judge's exchanges are those of the step"
        assert [flag.detector for flag in detail.flags] == ["step-consistency"], (
            "kept like an opinion given afterwards"
        )
        before = judged(endpoint)
        flags = await ModelJudging(operator.engine._core, operator.engine._review).ask_model([run])
        assert [flag.step for flag in flags] == [0]
        assert judged(endpoint) == before, "nothing that was judged live is asked again"


async def test_a_wrong_claim_is_held_by_the_policy_before_the_run_ends(operator, home, monkeypatch):
    await react(operator, Reaction.ASK)
    with ProtocolServer(brain=Saver(lambda request: UNMET if asks_outcome(request) else YES)) as endpoint:
        use(monkeypatch, endpoint)
        (run,) = await operator.start(saving(home))
        request = await operator.asked(run)
        assert (request.need, request.detectors) == (Need.FLAG, ("run-outcome",))
        assert (await operator.row(run)).state is RunState.WAITING
        await operator.engine.decide(
            request.id, OperatorDecision(kind=DecisionKind.DENY, text="it is not saved")
        )
        row = await operator.over(run)
        assert (row.outcome, row.why) == ("stopped", "it is not saved")


async def test_a_judge_that_is_down_leaves_the_run_unharmed_and_is_told_of_once(operator, home, monkeypatch):
    await react(operator, Reaction.ASK)
    with ProtocolServer(brain=Saver(lambda request: failing(401, "no key"))) as endpoint:
        use(monkeypatch, endpoint)
        (run,) = await operator.start(saving(home))
        assert (await operator.over(run)).outcome == "answered"
        told = [
            one for one in await operator.engine.interventions(run) if one.action is OperatorAction.TROUBLED
        ]
        assert [one.author for one in told] == ["judge"]
        assert judged(endpoint) == 1, "a key that is refused is refused again"


async def test_a_judge_beside_the_agent_hardly_slows_the_run(operator, home, monkeypatch, capsys):
    """Ten steps of half a second's thought each, with a judge that takes a second a question and without one."""
    pages = ("orders.html", "rows.html", "lists.html", "notices.html", "who.html")
    moves = [
        AgentDecision(
            action=Goto(f"{home}/{pages[at % 5]}?n={at}"), reason="Open it.", intent="the page is shown"
        )
        for at in range(10)
    ]
    seconds: dict[str, float] = {}
    with ProtocolServer(brain=lambda request: Answer(text=YES, first=1.0)) as endpoint:
        use(monkeypatch, endpoint)
        monkeypatch.setattr(
            agent_runs,
            "make_policy_bundle",
            lambda _core, request, secrets, *_: (
                JudgedScoutBundle(SlowPolicy(moves, 0.5), request, secrets)
                if request.is_judged
                else agent_runs.PolicyBundle(SlowPolicy(moves, 0.5))
            ),
        )
        for judge in ("off", "on", "off", "on"):
            request = RunRequest(
                intent="Look around", start_url=f"{home}/orders.html", kb="none", max_steps=10,
                llm=LlmRunOptions(judge=judge),
            )  # fmt: skip
            times: list[float] = []
            stop = operator.engine.bus.subscribe(
                lambda event, times=times: (
                    times.append(time.monotonic()) if isinstance(event, RunAdvanced) else None
                )
            )
            summary = await operator.engine.run_task(request)
            stop()
            assert (summary.cost is None) == (judge == "off"), (
                "a judge's price that is not known is not nothing"
            )
            took = times[10] - times[0]  # until the tenth step was recorded
            seconds[judge] = min(seconds.get(judge, took), took)
        assert judged(endpoint) >= 6
    with capsys.disabled():
        sys.stdout.write(
            f"\n  ten steps: {seconds['off']:.2f} s without a judge, {seconds['on']:.2f} s with one\n"
        )
    assert seconds["on"] < seconds["off"] * 1.25, "a busy machine; on a quiet one a few percent"
