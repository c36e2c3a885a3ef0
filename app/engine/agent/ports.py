"""Interfaces the loop depends on: executor, tips, graphs, supervisor, storage; and the data that crosses them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from app.engine.core.action_result import ActionResult
from app.engine.core.actions.types import Action, Navigate
from app.engine.core.hand_back import OperatorStatements
from app.engine.core.intervention_policy import PolicyAnswer, Reaction, RiskClass
from app.engine.core.observation import NavigableSite, RetrievedTip
from app.engine.core.page_state import PageCapture
from app.engine.core.supervision import ApprovalRequest, Hint, OperatorAction, OperatorDecision
from app.engine.core.trajectory import Run, Step, Tab
from app.engine.core.verdicts import Flag
from app.engine.core.write_permit import WritePermit


class ActionExecutor(Protocol):
    """Looks at one browser session and operates it (``app.engine.browser.executor``)."""

    async def look(self, *, picture: bool = True) -> PageCapture:
        """Capture the page in front.  Raises ``SiteloreError`` where there is none."""
        ...

    async def do(self, action: Action, permit: WritePermit | None = None) -> ActionResult:
        """Do one action on the page of the last look; failures of the site come back as a result.

        ``permit`` limits the writes of the action; without one only reading requests leave a guarded browser.
        """
        ...

    async def tabs(self) -> tuple[tuple[Tab, ...], int]:
        """Return every open tab, and the number of the one in front."""
        ...


class MarkResolver(Protocol):
    """Resolves what a vision model pointed at into an element or a point (``app.engine.agent.vision``)."""

    async def resolve(self, action: Action, page: PageCapture) -> tuple[Action | None, ActionResult | None]:
        """Return an action that names an element or a point; or the reason why there is none."""
        ...


class KnowledgeSource(Protocol):
    """The knowledge base (AKB) as an agent may query it."""

    async def tips(self, url: str, goal: str) -> tuple[RetrievedTip, ...]:
        """Return tips for a page and a goal, best first, within the token budget."""
        ...


class Navigator(Protocol):
    """Retrieve-Reason-Teleport over the interaction graphs."""

    def domains(self) -> tuple[NavigableSite, ...]:
        """Return the sites that can be navigated."""
        ...

    async def navigate(
        self, action: Navigate, intent: str, gate: Callable[[], Awaitable[None]] | None = None
    ) -> ActionResult:
        """Go to the state that fits the query; the result reports the verified arrival.

        ``gate`` is awaited once the state is chosen, right before the page is touched.
        """
        ...


class Supervisor(Protocol):
    """The person who supervises the run."""

    async def ask(self, question: str, step: int) -> str | None:
        """Return the answer, or ``None`` when there is no person."""
        ...


class SupervisionPort(Protocol):
    """Requests, decisions and hints of a supervised run, as rows shared by all processes of a workspace.

    Every other method than ``open`` and ``decision`` may raise ``StoreError``: the rows can't be read or written.
    """

    async def open(self, request: ApprovalRequest) -> ApprovalRequest:
        """Store a request to a person and announce it; a disk that takes nothing does not keep it from being asked."""
        ...

    async def pending(self) -> tuple[ApprovalRequest, ...]:
        """Return requests of this run that are open, or decided and not closed: left by a process that died."""
        ...

    async def decision(self, request_id: str) -> OperatorDecision:
        """Wait until a person has decided, in whichever process."""
        ...

    async def statements(self) -> OperatorStatements:
        """Return what people stated about the run as a whole, also before an interruption."""
        ...

    async def void(self, request_id: str, why: str) -> None:
        """Close a pointless request (open or decided), without a step that goes by it."""
        ...

    async def on_step_started(self, step: int) -> None:
        """Close the decided requests and mark the new hints as taken, as a step begins that goes by them."""
        ...

    async def hints(self) -> tuple[Hint, ...]:
        """Return all hints of this run, oldest first, including those taken."""
        ...

    async def note(
        self, action: OperatorAction, step: int, words: str, about: str = "", author: str = ""
    ) -> None:
        """Add to the timeline what the policy, the watchdog or the agent did.

        Actions of a person are recorded where they are requested.
        """
        ...

    async def answer(self, risk: RiskClass) -> PolicyAnswer:
        """Whether an action of this class may be done, by the standing approvals and the policy."""
        ...

    async def is_class_allowed(self, risk: RiskClass) -> bool:
        """Whether a person allowed every action of this class for the run or its site, even if the task does not
        ask for it.
        """
        ...

    async def reaction(self, flag: Flag) -> Reaction:
        """Return the policy's reaction to a flag."""
        ...


class RunRecorder(Protocol):
    """Stores the run."""

    async def append(self, step: Step, blobs: Mapping[str, bytes]) -> None:
        """Store one step with the contents it names; it is on the disk when this returns."""
        ...

    async def finish(self, run: Run, blobs: Mapping[str, bytes]) -> None:
        """Close the run."""
        ...


class DetectorFeed(Protocol):
    """Rule detectors that follow the run step by step."""

    def see(self, step: Step) -> list[Flag]:
        """Return the flags that this step raised."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """Report of the loop to its observers after each step."""

    run: str
    step: int
    words: str
    effect: str
    why: str = ""
    url: str = ""
    plan: str = ""
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTask:
    """Task of a run.  ``domains`` are hosts (``host:port``) that the agent may be on; none means any.

    ``home`` is the address that page states are named against: the graph's home, else the run's start.
    """

    run: str
    intent: str
    start_url: str
    home: str = ""
    site: str = ""
    suite: str = ""
    task_id: str = ""
    domains: frozenset[str] = field(default_factory=frozenset[str])
    max_steps: int = 30
    policy: str = ""
    model: str = ""
    knowledge: str = ""
    graph: str = ""
