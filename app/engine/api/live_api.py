"""Use cases on live runs.  Part of ``EngineApi``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from app.engine.api.run_api import RunRequest
from app.engine.core.events import LoginShared
from app.engine.core.hand_back import HAND_BACK, HandBack
from app.engine.core.intervention_policy import InterventionPolicy, PolicyPreview
from app.engine.core.ledger import Ledger
from app.engine.core.page_input import NavigationKind, PageInput
from app.engine.core.supervision import (
    ApprovalRequest,
    FlagReaction,
    Hint,
    Intervention,
    KnowledgeAtStep,
    LiveRow,
    OperatorDecision,
    PlannedAction,
    TakeoverSummary,
    TipOverride,
)
from app.engine.core.trajectory import Step
from kb.tip import TipDraft

if TYPE_CHECKING:
    from app.engine.core.events import PageFrame

__all__ = ["DecisionResult", "LiveApi", "LiveRunDetail", "LoginShared", "PageFrame", "PointTarget"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRunDetail:
    """One live run in full, for the view to open; changes come as events.

    ``steps`` are those recorded so far (without trees); ``ledger_changes`` are the last step's changes, in words.
    """

    row: LiveRow
    steps: tuple[Step, ...] = ()
    next: PlannedAction | None = None
    knowledge: KnowledgeAtStep | None = None
    ledger: Ledger | None = None
    ledger_changes: tuple[str, ...] = ()
    requests: tuple[ApprovalRequest, ...] = ()
    hints: tuple[Hint, ...] = ()
    interventions: tuple[Intervention, ...] = ()
    takeover: TakeoverSummary | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionResult:
    """Result for one request of ``decide_all``: the request as it stands, or why it was not decided."""

    request: str
    run: str = ""
    decided: ApprovalRequest | None = None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointTarget:
    """An element of a live page, to be pointed at.

    Attributes:
        number: the number by which calls name it (``click("12")``).
        box: (x, y, width, height) in CSS pixels of the viewport.
        calls: calls that fit it, the usual one first; ``{text}`` stands for a text to be typed.
    """

    number: int
    role: str
    name: str
    box: tuple[float, float, float, float]
    calls: tuple[str, ...] = ()


class LiveApi(Protocol):
    """Use cases of supervision.  Errors are ``SiteloreError``s.

    A run is one of ``live_runs``: queued, active, interrupted, or ended since the engine was opened.
    """

    # the wall
    async def live_runs(self) -> list[LiveRow]: ...
    async def live_run(self, run: str) -> LiveRunDetail: ...
    async def start_runs(self, requests: Sequence[RunRequest], at_once: int = 0) -> list[str]: ...
    async def read_tasks(self, path: str, start_url: str = "") -> list[RunRequest]: ...
    async def run_request(self, run: str) -> RunRequest: ...
    async def dismiss_run(self, run: str) -> None: ...

    # one run
    async def pause_run(self, run: str) -> None: ...
    async def continue_run(self, run: str) -> None: ...
    async def step_run(self, run: str) -> None: ...
    async def end_run(self, run: str) -> None: ...
    async def pause_all(self) -> int: ...

    # a person's word
    async def requests(self, run: str = "", closed: bool = False) -> list[ApprovalRequest]: ...
    async def decide(self, request: str, decision: OperatorDecision) -> ApprovalRequest: ...
    async def decide_all(self, requests: Sequence[str], decision: OperatorDecision) -> list[DecisionResult]:
        """Decide equal requests of several runs; one that can't be decided keeps none of the others."""
        ...

    async def share_login(self, run: str) -> LoginShared:
        """Keep the log-in of a run's browser for its site, and let all runs that wait at the same log-in go on
        with it.
        """
        ...

    async def point_targets(self, run: str) -> list[PointTarget]:
        """Return the elements of a held run's page as its next action would name them."""
        ...

    async def edit_planned(
        self, run: str, call: str, reason: str = "", step: int = -1, instead_of: str = ""
    ) -> PlannedAction:
        """Replace the planned action of a paused run: the one of this step and with this call, where given."""
        ...

    async def send_hint(self, run: str, text: str) -> Hint: ...
    async def draft_tip_from_hint(self, hint: str) -> TipDraft: ...
    async def interventions(self, run: str) -> list[Intervention]: ...
    async def judge_flag(self, run: str, step: int, detector: str, right: bool) -> FlagReaction: ...
    async def override_tip(self, run: str, tip: str, stance: TipOverride) -> None: ...
    async def vote_tip(self, run: str, tip: str, vote: int) -> None: ...

    # the policy
    async def intervention_policy(self) -> InterventionPolicy: ...
    async def save_intervention_policy(self, policy: InterventionPolicy) -> InterventionPolicy: ...
    async def preview_policy(self, policy: InterventionPolicy) -> PolicyPreview: ...

    # the page
    async def watch_page(self, run: str, width: int, height: int, rate: float) -> None: ...
    async def take_over(self, run: str) -> None: ...
    async def move_page(self, run: str, move: NavigationKind, url: str = "") -> str: ...
    async def send_input(self, run: str, inputs: Sequence[PageInput]) -> None: ...
    async def release(self, run: str, back: HandBack = HAND_BACK) -> TakeoverSummary: ...
    async def draft_tip_from_takeover(self, run: str, step: int) -> TipDraft: ...
    async def takeover_to_graph(self, run: str, step: int) -> int: ...
