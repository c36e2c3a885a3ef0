"""What the embedded agent can be asked for: runs of its own, and what it remembered.  Part of ``EngineApi``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from app.engine.ledger import Ledger, LedgerEvent

LIVE, NO_KNOWLEDGE = "live", "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A task for the embedded agent.

    Attributes:
        intent: the task in words; a password is written as ``{secret:NAME}``.
        policy: ``scout`` (no model, no tokens) or ``llm``.
        kb: ``live``, ``none``, or the path of a frozen knowledge base.
        graph: sites whose interaction graph may be navigated by; none for no navigation.
        site: the tips' and the run's site; "" finds it by the address.
        max_steps: steps at most.
        headed: show the browser.
        storage_state: path of a recorded log-in.
        domains: hosts the agent may be on besides the start's; ``*`` for any.
        vision: ask a vision model for boxes, too.
        max_seconds, max_tokens, max_money: budgets of a model; 0 for none.
        supervised: the workspace's intervention policy holds, and a person can be asked.
        allow: classes of risk (``buys``, ``deletes`` …) that the run may do although its task does not ask for them.
    """

    intent: str
    start_url: str
    policy: str = "scout"
    kb: str = LIVE
    graph: tuple[str, ...] = ()
    site: str = ""
    max_steps: int = 30
    headed: bool = False
    storage_state: str = ""
    domains: tuple[str, ...] = ()
    suite: str = ""
    task_id: str = ""
    vision: bool = False
    max_seconds: float = 0.0
    max_tokens: int = 0
    max_money: float = 0.0
    supervised: bool = False
    allow: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TipUse:
    """A tip that was shown in a run: at how many steps, by which routes, and how often the action went by it."""

    tip: str
    text: str
    shown: int
    routes: tuple[str, ...]
    followed: int
    ignored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleUsage:
    """What one role of the model used: calls, tokens in, out and cached, seconds, retries, US dollars."""

    role: str
    calls: int
    tokens_in: int
    tokens_out: int
    cached: int
    seconds: float
    retries: int
    money: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """How a run went.

    ``own_ms`` is the median of what a step cost beside the browser and the model, in milliseconds; ``ended_by`` who
    ended the run by hand ("" for the agent).
    """

    run: str
    outcome: str
    answer: str | None
    error: str
    steps: int
    seconds: float
    own_ms: float
    policy: str
    url: str
    flags: tuple[str, ...] = ()
    tips: tuple[TipUse, ...] = ()
    usage: tuple[RoleUsage, ...] = ()
    facts: tuple[str, ...] = ()
    ended_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMemory:
    """The ledger of a run, and the events it was made of; empty for runs without one."""

    ledger: Ledger
    events: tuple[LedgerEvent, ...] = ()


class RunApi(Protocol):
    """Use cases of the embedded agent."""

    async def run_task(self, request: RunRequest) -> RunSummary: ...
    async def resume_run(self, run: str) -> RunSummary: ...
    async def stop_run(self, run: str) -> None: ...
    async def run_memory(self, run: str, step: int | None = None) -> RunMemory: ...
    async def run_tips(self, run: str) -> list[TipUse]: ...
