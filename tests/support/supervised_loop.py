"""A supervised run with everything around it in memory: a loop, its hold, a desk, a browser that is none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from app.engine.agent.action_dispatcher import ActionDispatcher
from app.engine.agent.calculator import calculate
from app.engine.agent.judging.live_judge import LiveJudge
from app.engine.agent.judging.when_to_ask import JudgeLimits
from app.engine.agent.loop import AgentDependencies, AgentLoop
from app.engine.agent.memory.ledger_store import LedgerStore
from app.engine.agent.ports import AgentTask, StepReport
from app.engine.agent.run_control import RunControl
from app.engine.agent.secrets import Secrets
from app.engine.core.actions.types import Action
from app.engine.core.intervention_policy import (
    UNATTENDED,
    InterventionPolicy,
    PolicyAnswer,
    RiskClass,
    RiskRule,
)
from app.engine.core.model_api import LanguageModel
from app.engine.core.observation import AgentDecision, Observation, RetrievedTip
from app.engine.core.page_state import PageCapture
from app.engine.core.supervision import PlannedAction, RunState
from app.engine.core.trajectory import Outcome, Run, Step
from app.engine.core.verdicts import Flag, Opinion, Severity
from app.errors import NotFound, StoreError
from kb.tip import Query
from tests.support.fake_approvals import FakeApprovals
from tests.support.fake_executor import HOME, FakeExecutor, InMemoryRecorder, ScriptedPolicy, page_of

ORDERS = f"{HOME}orders"
DELETED = f"{HOME}deleted"
PAGES = {
    HOME: page_of(HOME, f"Orders -> {ORDERS}", "box:Search", f"Delete account -> {DELETED}", title="Shop"),
    ORDERS: page_of(ORDERS, f"Home -> {HOME}", title="Orders", text="Total 42"),
    DELETED: page_of(DELETED, title="Gone"),
}
TASK = AgentTask(run="r1", intent="How high is the total?", start_url=HOME, max_steps=10)
RUN = Run(id="r1", source="sitelore", intent=TASK.intent, start_url=HOME, outcome=Outcome.RUNNING)
ASKING = InterventionPolicy(
    flags=UNATTENDED.flags,
    risks=(
        RiskRule(risk=RiskClass.DELETES, answer=PolicyAnswer.ASK),
        RiskRule(risk=RiskClass.READS, answer=PolicyAnswer.ALLOW),
    ),
)
DENYING = InterventionPolicy(risks=(RiskRule(risk=RiskClass.DELETES, answer=PolicyAnswer.DENY),))


class FlakyRecorder(InMemoryRecorder):
    """A recorder whose disk takes nothing while ``full``."""

    def __init__(self) -> None:
        super().__init__()
        self.full = False

    async def append(self, step: Step, blobs: Mapping[str, bytes]) -> None:
        if self.full:
            raise StoreError("No space left on device")
        assert step.index == len(self.steps), "a step is written once, in its order"
        await super().append(step, blobs)


class FiringDetectors:
    """A detector that fires at one step."""

    def __init__(self, at: int, severity: Severity) -> None:
        self._at, self._severity = at, severity

    def see(self, step: Step, blobs: Mapping[str, bytes] | None = None) -> list[Flag]:
        if step.index != self._at:
            return []
        return [
            Flag(
                run="r1",
                step=step.index,
                detector="loop",
                severity=self._severity,
                message="It goes round and round.",
                confidence=0.9,
            )
        ]


class GivenTips:
    """A knowledge base that has the same tips for every step."""

    def __init__(self, tips: tuple[RetrievedTip, ...]) -> None:
        self._tips = tips

    async def tips(self, query: Query, page: PageCapture | None = None) -> tuple[RetrievedTip, ...]:
        return self._tips


class PacedPolicy(ScriptedPolicy):
    """Thinks as long as the live judge does."""

    judge: LiveJudge | None = None

    async def decide(self, sight: Observation) -> AgentDecision:
        if self.judge is not None:
            await self.judge.settle()
        return await super().decide(sight)


class SupervisedLoop:
    """A supervised loop with everything around it in memory."""

    def __init__(
        self,
        moves: Sequence[object],
        *,
        desk: FakeApprovals | None = None,
        supervised: bool = True,
        steps: Sequence[Step] = (),
        watching: FiringDetectors | None = None,
        task: AgentTask = TASK,
        secrets: Secrets | None = None,
        tips: tuple[RetrievedTip, ...] = (),
        judge: LanguageModel | None = None,
        limits: JudgeLimits | None = None,
        known: Opinion | None = None,
        patience: float = 60.0,
        paced: bool = False,
    ) -> None:
        secrets = secrets or Secrets()
        self.hands = FakeExecutor(dict(PAGES))
        self.policy = PacedPolicy(moves) if paced else ScriptedPolicy(moves)  # type: ignore[arg-type]
        self.kept, self.book, self.desk = FlakyRecorder(), LedgerStore(), desk or FakeApprovals()
        self.kept.steps = list(steps)
        self.told: list[StepReport] = []
        self.opinions: list[Opinion] = []
        self.late: list[Flag] = []
        self.judge = (
            LiveJudge(
                RUN,
                self.kept.steps,
                judge,
                load=self._load,
                keep=self._keep,
                hold=lambda work: asyncio.create_task(work),
                limits=limits,
                known=known,
                patience=patience,
            )
            if judge is not None
            else None
        )
        self.planned: list[PlannedAction] = []
        self.states: list[RunState] = []
        self.control = RunControl(
            "r1",
            self.desk if supervised else None,
            changed=lambda: self.states.append(self.control.state),
            planned=self.planned.append,
        )
        if isinstance(self.policy, PacedPolicy):
            self.policy.judge = self.judge
        self.desk.step_of = lambda: self.control.step
        self.loop = AgentLoop(
            task,
            AgentDependencies(
                executor=self.hands,
                policy=self.policy,
                ledger_store=self.book,
                recorder=self.kept,
                dispatcher=ActionDispatcher(self.hands, self.book, calculate, secrets=secrets),
                secrets=secrets,
                knowledge=GivenTips(tips) if tips else None,
                detectors=watching,
                judge=self.judge,
                on_step=self.told.append,
                on_flags=self.late.extend,
                control=self.control,
            ),
            RUN,
            steps,
        )

    async def run(self, *besides: Callable[[], Awaitable[object]]) -> Run:
        """The run, with what others do meanwhile; all is over within moments, or something hangs."""

        async def other(one: Callable[[], Awaitable[object]]) -> None:
            await one()

        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            running = group.create_task(self.loop.run())
            for one in besides:
                group.create_task(other(one))
        return running.result()

    async def _load(self, digest: str) -> bytes:
        if digest not in self.kept.blobs:
            raise NotFound(digest)
        return self.kept.blobs[digest]

    async def _keep(self, opinion: Opinion) -> None:
        self.opinions.append(opinion)

    async def until(self, state: RunState) -> None:
        while self.control.state is not state:
            await asyncio.sleep(0)

    async def settles(self) -> None:
        """Long enough for the loop to do whatever it would do."""
        for _ in range(200):
            await asyncio.sleep(0)

    @property
    def words(self) -> list[str]:
        return [step.words for step in self.kept.steps]


def decide_after(action: Action, do: Callable[[], object]) -> Callable[[Observation], AgentDecision]:
    """A decision during which something happens."""

    def decide(sight: Observation) -> AgentDecision:
        do()
        return AgentDecision(action=action, reason="because", tokens=(10, 1))

    return decide
