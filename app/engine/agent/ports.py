"""Interfaces the loop depends on: executor, tips, graphs, supervisor, storage; and the data that crosses them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.engine.core.action_result import ActionResult
from app.engine.core.actions.types import Action, Navigate
from app.engine.core.cost import Cost
from app.engine.core.hand_back import OperatorStatements
from app.engine.core.intervention_policy import PolicyAnswer, Reaction, RiskClass
from app.engine.core.local_time import BROWSER_LOCALE, BROWSER_TIMEZONE
from app.engine.core.observation import NavigableSite, RetrievedTip
from app.engine.core.page_state import PageCapture
from app.engine.core.supervision import ApprovalRequest, Hint, OperatorAction, OperatorDecision
from app.engine.core.trajectory import Run, Step, Tab
from app.engine.core.verdicts import Flag
from app.engine.core.write_permit import WritePermit
from kb.tip import Query


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

    async def tips(self, query: Query, page: PageCapture | None = None) -> tuple[RetrievedTip, ...]:
        """Return tips for a step, best first, within the token budget.

        ``page`` is the page in front, whose picture may show the region of a tip.
        """
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


class Approvals(Protocol):
    """The part of ``ApprovalService`` that a run's control uses; its methods are documented there.

    Requests, decisions and hints are shared by all processes of a workspace.  Every method but ``open`` and
    ``decision`` may raise ``StoreError``: the rows can't be read or written.
    """

    async def open(self, request: ApprovalRequest) -> ApprovalRequest: ...
    async def requests(self, run: str) -> Sequence[ApprovalRequest]: ...
    async def decision(self, request: str) -> OperatorDecision: ...
    async def void(self, request: str, why: str) -> None: ...
    async def on_step_started(self, run: str) -> None: ...
    async def statements(self, run: str) -> OperatorStatements: ...
    async def hints(self, run: str) -> Sequence[Hint]: ...
    async def note(
        self, run: str, step: int, action: OperatorAction, words: str = "", about: str = "", author: str = ""
    ) -> object: ...
    async def answer(self, run: str, site: str, risk: RiskClass) -> PolicyAnswer: ...
    async def is_class_allowed(self, run: str, site: str, risk: RiskClass) -> bool: ...
    async def reaction(self, site: str, flag: Flag) -> Reaction: ...


class RunRecorder(Protocol):
    """Stores the run."""

    async def append(self, step: Step, blobs: Mapping[str, bytes]) -> None:
        """Store one step with the contents it names; it is on the disk when this returns."""
        ...

    async def finish(self, run: Run, blobs: Mapping[str, bytes]) -> None:
        """Close the run."""
        ...


class EvidenceCapturer(Protocol):
    """Captures the end of a run for its evaluation, once, before its browser closes."""

    async def capture(self, answer: str | None, *, infeasible: bool) -> bytes:
        """Return the evidence in its stored form, without secrets; what can't be read is noted in it.

        ``answer`` is what the agent said last, ``infeasible`` whether it reported that the task can't be done.
        """
        ...


class DetectorFeed(Protocol):
    """Rule detectors that follow the run step by step."""

    def see(self, step: Step, blobs: Mapping[str, bytes] | None = None) -> list[Flag]:
        """Return the flags that this step raised; ``blobs`` are its contents, which are not stored yet."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """Report of the loop to its observers after each step.

    ``cost`` and ``tokens`` (in and out, all roles) are those of the whole run so far.
    """

    run: str
    step: int
    words: str
    effect: str
    why: str = ""
    url: str = ""
    plan: str = ""
    flags: tuple[Flag, ...] = ()
    cost: Cost | None = None
    tokens: int = 0


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
    timezone: str = BROWSER_TIMEZONE
    locale: str = BROWSER_LOCALE
    policy: str = ""
    model: str = ""
    knowledge: str = ""
    graph: str = ""
