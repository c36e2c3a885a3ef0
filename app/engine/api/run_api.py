"""Use cases of the embedded agent: its runs and their ledgers.  Part of ``EngineApi``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from app.engine.core.cost import Cost
from app.engine.core.ledger import Ledger, LedgerEvent

LIVE_KNOWLEDGE, WITHOUT_KNOWLEDGE = "live", "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmRunOptions:
    """Options of a run of the llm policy; the scout has no use for them.

    Attributes:
        pictures: when operator and planner are shown the page's screenshot with marks; ``auto`` is ``changed`` for a
            model that takes pictures and ``off`` for any other.
        picture_side: longest side of a picture that is sent, in pixels; 0 sends it as it is.
        picture_detail: detail that the endpoint is asked to read a picture with.
        marks: when a run with vision asks for marks: where element numbers do not reach, or at every changed page.
        judge: whether a model is asked about steps while the run goes on (hybrid detector); ``auto`` is ``on`` for a
            supervised run of the llm policy. ``on`` has a scout's run judged, too.
        judge_every: steps after which it is asked although nothing gives a reason to; 0 for never.
        judge_calls: questions to it in one run at most.
        actions: set of actions the model is offered: ``compact`` (WebNavigator's six), ``standard``, ``all``, or a set
            of the workspace.
        timezone: IANA name for the prompts and the browser; "" for this machine's.
        locale: language tag for the prompts and the browser; "" for en-GB.
    """

    pictures: Literal["auto", "off", "changed", "always"] = "auto"
    picture_side: int = 1280
    picture_detail: Literal["auto", "low", "high"] = "auto"
    marks: Literal["auto", "always"] = "auto"
    judge: Literal["auto", "off", "on"] = "auto"
    judge_every: int = 5
    judge_calls: int = 12
    actions: str = "standard"
    timezone: str = ""
    locale: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A task for the embedded agent.

    Attributes:
        intent: the task in words; a password is written as ``{secret:NAME}``.
        policy: ``scout`` (no model, no tokens) or ``llm``.
        kb: ``live``, ``none``, or the path of a frozen knowledge base.
        graph: sites whose interaction graphs the run may navigate by.
        start_url: where it begins; "" for the site's start page.
        site: site of the run and of its tips; "" derives it from the address.
        max_steps: steps at most.
        headed: show the browser.
        storage_state: path of a recorded log-in.
        domains: hosts the agent may visit besides the start's; ``*`` for any.
        vision: ask a vision model for boxes, too.
        max_seconds, max_tokens, max_money: budgets of a model; 0 for none.
        supervised: apply the workspace's intervention policy; a person can be asked.
        tip_budget: tokens of the tips of a step; 0 for the setting.
        allow: risk classes (``buys``, ``deletes`` …) allowed although the task does not ask for them.
        setup: a named set-up of its pages (``miniwob:SEED``); "" for none.
        batch: id of the batch it belongs to, "" for none.
        model: name of a model in place of the one in the settings, for all roles without their own; "" for none.
        har: record its requests for an evaluation (without cookies, bodies and secrets).
        llm: options of the llm policy.
    """

    intent: str
    start_url: str
    policy: str = "scout"
    kb: str = LIVE_KNOWLEDGE
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
    tip_budget: int = 0
    supervised: bool = False
    allow: tuple[str, ...] = ()
    setup: str = ""
    batch: str = ""
    model: str = ""
    har: bool = False
    llm: LlmRunOptions = field(default_factory=LlmRunOptions)

    @property
    def is_judged(self) -> bool:
        """Whether a model is asked about its steps while it goes on."""
        is_watched = self.supervised and self.policy == "llm"
        return self.llm.judge_calls > 0 and (
            self.llm.judge == "on" or (self.llm.judge == "auto" and is_watched)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TipUse:
    """A tip shown in a run: at how many steps, by which routes, and what the actions made of it.

    Attributes:
        applied: steps at which its condition held; ``done`` at which one of its steps was done.
        effect: of those, steps whose effect was seen; ``failed``: steps at which its step could not be done.
        steps: numbers of the tip's steps that were done.
    """

    tip: str
    text: str
    shown: int
    routes: tuple[str, ...]
    followed: int
    ignored: int
    applied: int = 0
    done: int = 0
    effect: int = 0
    failed: int = 0
    steps: tuple[int, ...] = ()

    @property
    def words(self) -> str:
        """The use in words."""
        given = f"given at {self.shown} steps by {', '.join(self.routes)}"
        if not self.applied:
            return f"{given}, followed {self.followed} times" if self.followed else f"{given}, never applied"
        done = f"{number_ranges(self.steps)} done" if self.steps else "no step done"
        seen = ", effect seen" if self.effect else ", no effect seen" if self.done else ""
        failed = f", failed {self.failed} times" if self.failed else ""
        return f"{given}, applied at {self.applied} steps, {done}{seen}{failed}"


def number_ranges(numbers: Sequence[int]) -> str:
    """Return numbers in order, runs of them together: ``steps 1-3, 5``."""
    parts: list[list[int]] = []
    for number in sorted(set(numbers)):
        if parts and parts[-1][-1] == number - 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    text = ", ".join("-".join(map(str, part)) for part in parts)
    return f"step{'s' if len(set(numbers)) > 1 else ''} {text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleUsage:
    """A model role's usage: calls, tokens in, out and cached, seconds, retries, US dollars (``None``: not known)."""

    role: str
    calls: int
    tokens_in: int
    tokens_out: int
    cached: int
    seconds: float
    retries: int
    money: float | None
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """The result of a run.

    ``cost`` and ``tokens`` (in and out) are of the whole run, ``cost`` is ``None`` without a model; ``own_ms`` is the
    median cost of a step besides the browser and the model, in milliseconds; ``ended_by`` is the person who ended the
    run by hand ("" for the agent).
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
    cost: Cost | None = None
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMemory:
    """The ledger of a run and its events; empty for runs without one."""

    ledger: Ledger
    events: tuple[LedgerEvent, ...] = ()


class RunApi(Protocol):
    """Use cases of the embedded agent."""

    async def run_task(self, request: RunRequest) -> RunSummary: ...
    async def resume_run(self, run: str) -> RunSummary: ...
    async def stop_run(self, run: str) -> None: ...
    async def run_memory(self, run: str, step: int | None = None) -> RunMemory: ...
