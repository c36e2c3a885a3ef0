"""What an operator can ask of the engine about runs that are going on.  Part of ``EngineApi``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from app.engine.hand_back import ON, HandBack
from app.engine.intervention_policy import InterventionPolicy, PolicyPreview
from app.engine.ledger import Ledger
from app.engine.page_input import PageInput
from app.engine.run_api import RunRequest
from app.engine.supervision import (
    FlagReaction,
    Intervention,
    KnowledgeHere,
    LiveRow,
    NextAction,
    PersonDecision,
    PersonHint,
    PersonRequest,
    Stance,
    TakeoverAccount,
)
from app.engine.trajectory import Step
from kb.tip import TipDraft

if TYPE_CHECKING:
    from app.engine.events import PageFrame

__all__ = ["LiveApi", "LiveDetail", "PageFrame"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveDetail:
    """One run, large: all that the view needs to open; changes come as events.

    ``steps`` are those recorded so far (without trees); ``ledger_changes`` what the last step changed in the ledger,
    in words.
    """

    row: LiveRow
    steps: tuple[Step, ...] = ()
    next: NextAction | None = None
    knowledge: KnowledgeHere | None = None
    ledger: Ledger | None = None
    ledger_changes: tuple[str, ...] = ()
    requests: tuple[PersonRequest, ...] = ()
    hints: tuple[PersonHint, ...] = ()
    interventions: tuple[Intervention, ...] = ()
    takeover: TakeoverAccount | None = None


class LiveApi(Protocol):
    """Use cases of supervision.  Errors are ``SiteloreError``s.

    A run is one of ``live_runs``: begun here, waiting to begin, broken off, or ended since the engine was opened.
    """

    # the wall
    async def live_runs(self) -> list[LiveRow]: ...
    async def live_run(self, run: str) -> LiveDetail: ...
    async def start_runs(self, requests: Sequence[RunRequest], at_once: int = 0) -> list[str]: ...
    async def read_tasks(self, path: str, start_url: str = "") -> list[RunRequest]: ...
    async def run_request(self, run: str) -> RunRequest: ...
    async def set_at_once(self, limit: int) -> int: ...
    async def dismiss_run(self, run: str) -> None: ...

    # one run
    async def pause_run(self, run: str) -> None: ...
    async def continue_run(self, run: str) -> None: ...
    async def step_run(self, run: str) -> None: ...
    async def end_run(self, run: str) -> None: ...
    async def pause_all(self) -> int: ...

    # a person's word
    async def requests(self, run: str = "", closed: bool = False) -> list[PersonRequest]: ...
    async def decide(self, request: str, decision: PersonDecision) -> PersonRequest: ...
    async def send_hint(self, run: str, text: str) -> PersonHint: ...
    async def hint_draft(self, hint: str) -> TipDraft: ...
    async def interventions(self, run: str) -> list[Intervention]: ...
    async def react(self, run: str, step: int, detector: str, right: bool) -> FlagReaction: ...
    async def steer_tip(self, run: str, tip: str, stance: Stance) -> None: ...
    async def vote_tip(self, run: str, tip: str, vote: int) -> None: ...

    # the policy
    async def intervention_policy(self) -> InterventionPolicy: ...
    async def save_intervention_policy(self, policy: InterventionPolicy) -> InterventionPolicy: ...
    async def preview_policy(self, policy: InterventionPolicy) -> PolicyPreview: ...

    # the page
    async def watch_page(self, run: str, width: int, height: int, rate: float) -> None: ...
    async def take_over(self, run: str) -> None: ...
    async def send_input(self, run: str, inputs: Sequence[PageInput]) -> None: ...
    async def release(self, run: str, back: HandBack = ON) -> TakeoverAccount: ...
    async def takeover_draft(self, run: str, step: int) -> TipDraft: ...
    async def takeover_to_graph(self, run: str, step: int) -> int: ...
