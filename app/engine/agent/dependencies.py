"""Dependencies of a run loop, and its measured times."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from app.engine.agent.action_dispatcher import ActionDispatcher
from app.engine.agent.judging.live_judge import LiveJudge
from app.engine.agent.memory.ledger_store import LedgerStore
from app.engine.agent.ports import (
    ActionExecutor,
    DetectorFeed,
    EvidenceCapturer,
    KnowledgeSource,
    Navigator,
    RunRecorder,
    StepReport,
)
from app.engine.agent.run_control import RunControl
from app.engine.agent.secrets import Secrets
from app.engine.core.cost import Cost
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.observation import Policy
from app.engine.core.verdicts import Flag


@dataclass(slots=True)
class LoopTiming:
    """Seconds spent on looking, acting and the model; ``own`` is the rest of each step."""

    look: float = 0.0
    act: float = 0.0
    model: float = 0.0
    own: list[float] = field(default_factory=list[float])


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDependencies:
    """Dependencies of a run loop; ``None`` for those it has not.

    ``allow`` are risk classes of actions that the task does not have to ask for; ``on_flags`` is told of flags that
    come after their step; ``cost`` returns the cost of the model since the loop was made, ``None`` without one, and
    ``tokens`` its tokens in and out; ``more_budget`` is awaited once the model's budget is used up, and returns whether
    the run is held until there is more; ``evidence`` captures the end of the run for its evaluation.
    """

    executor: ActionExecutor
    policy: Policy
    ledger_store: LedgerStore
    recorder: RunRecorder
    dispatcher: ActionDispatcher
    knowledge: KnowledgeSource | None = None
    navigator: Navigator | None = None
    detectors: DetectorFeed | None = None
    judge: LiveJudge | None = None
    secrets: Secrets = field(default_factory=Secrets)
    on_step: Callable[[StepReport], None] | None = None
    on_flags: Callable[[Sequence[Flag]], None] | None = None
    control: RunControl | None = None
    allow: frozenset[RiskClass] = frozenset()
    cost: Callable[[], Cost | None] = lambda: None
    tokens: Callable[[], int] = lambda: 0
    evidence: EvidenceCapturer | None = None
    more_budget: Callable[[], Awaitable[bool]] | None = None
