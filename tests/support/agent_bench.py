"""Runs of the engine's own agent, in a browser that several of them share, decided by a script instead of a policy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Browser

from app.engine.api.run_api import RunRequest, RunSummary
from app.engine.browser.live_browser import LiveBrowser
from app.engine.browser.session import open_session
from app.engine.core.actions.types import Action, Click, TypeText
from app.engine.core.observation import AgentDecision, Observation, Policy
from app.engine.core.page_state import PageCapture
from app.engine.core.trajectory import Run, Step
from app.engine.engine import Engine
from app.engine.services import agent_runs
from app.engine.services.policy_factory import PolicyBundle
from tests.support.fake_executor import ScriptedPolicy

Move = Action | AgentDecision | Callable[[Observation], AgentDecision]


def number_of(page: PageCapture, name: str) -> int:
    """The element of this name; one that is not there gets a number that no element has."""
    return next((one.index for one in page.elements if one.name == name or one.label == name), 99_999)


def click(name: str) -> Callable[[Observation], AgentDecision]:
    """Click what is called so."""
    return lambda sight: AgentDecision(action=Click(number_of(sight.page, name)))


def fill(name: str, text: str, *, enter: bool = False) -> Callable[[Observation], AgentDecision]:
    """Type into the field that is called so."""
    return lambda sight: AgentDecision(action=TypeText(number_of(sight.page, name), text, enter))


class SlowPolicy(ScriptedPolicy):
    """Takes this many seconds for each decision, as a model does; the page goes on meanwhile."""

    def __init__(self, moves: Sequence[Move], seconds: float) -> None:
        super().__init__(moves)
        self._seconds = seconds

    async def decide(self, sight: Observation) -> AgentDecision:
        await asyncio.sleep(self._seconds)
        return await super().decide(sight)


@dataclass(frozen=True, kw_only=True)
class AgentRunResult:
    """A run that is over: how it was told, how it was kept, and what its policy saw."""

    summary: RunSummary | None
    run: Run
    steps: list[Step]
    policy: ScriptedPolicy
    folder: Path

    @property
    def seen(self) -> list[Observation]:
        return self.policy.seen


class AgentBench:
    """One engine; its runs take the browser that is given."""

    def __init__(self, engine: Engine, patch: pytest.MonkeyPatch) -> None:
        self.engine, self._patch = engine, patch
        self.policy = ScriptedPolicy([])

    def share(self, browser: Browser) -> None:
        """Runs get a visit of this browser in place of a browser of their own."""

        async def shared(_: object, request: RunRequest) -> LiveBrowser:
            stack = AsyncExitStack()
            tab = await stack.enter_async_context(open_session(browser, agent_runs.VIEWPORT, keep_tabs=True))
            return LiveBrowser(stack, tab, headed=False)

        self._patch.setattr(agent_runs.AgentRunService, "_browser", shared)

    def script(self, moves: Sequence[Move], slow: float = 0.0) -> None:
        """The next run is decided by this."""
        self.policy = SlowPolicy(moves, slow)
        self.give(self.policy)

    def give(self, policy: Policy) -> None:
        """The next run is decided by this policy."""
        self._patch.setattr(agent_runs, "make_policy_bundle", lambda *_: PolicyBundle(policy))

    async def go(
        self,
        url: str,
        moves: Sequence[Move],
        *,
        intent: str = "Look around",
        max_steps: int = 8,
        domains: tuple[str, ...] = (),
        slow: float = 0.0,
    ) -> AgentRunResult:
        """One run from its beginning to its end."""
        self.script(moves, slow)
        request = RunRequest(intent=intent, start_url=url, kb="none", max_steps=max_steps, domains=domains)
        summary = await self.engine.run_task(request)
        return self.went(summary)

    @property
    def workspace(self) -> Path:
        """Its folder."""
        return self.engine._core.workspace.path

    def newest_id(self) -> str:
        """The run that was begun last."""
        runs = self.engine._core.workspace.runs
        return max(runs.ids(), key=lambda run: runs.folder(run).stat().st_ctime_ns)

    def newest(self) -> AgentRunResult:
        """The run that was begun last, as the workspace has it; nobody was told how it went."""
        run = self.newest_id()
        return self._kept(run, None)

    def went(self, summary: RunSummary) -> AgentRunResult:
        """A run that is over, as the workspace has it."""
        return self._kept(summary.run, summary)

    def _kept(self, run: str, summary: RunSummary | None) -> AgentRunResult:
        runs = self.engine._core.workspace.runs
        head, steps = runs.load(run)
        return AgentRunResult(
            summary=summary, run=head, steps=list(steps), policy=self.policy, folder=runs.folder(run)
        )

    def export(self, went: AgentRunResult) -> Path:
        """The run in a file or folder of its own, as it is handed on."""
        return self.engine._core.workspace.runs.export(
            went.run.id, went.folder.parent.parent / f"out-{went.run.id}"
        )

    async def kept(self, went: AgentRunResult) -> dict[str, bytes]:
        """Everything that is kept of a run: its files, and the contents that its steps name."""
        named = {
            digest
            for step in (*went.steps, *((went.run.final,) if went.run.final is not None else ()))
            for digest in (step.tree, step.screenshot, *step.calls)
            if digest
        }
        core = self.engine._core
        found = {digest: await core.on_store(core.workspace.runs.read_blob, digest) for digest in named}
        return found | {path.name: path.read_bytes() for path in went.folder.rglob("*") if path.is_file()}
