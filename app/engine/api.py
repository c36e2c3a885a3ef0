"""What the program can do, as the command line and the window both call it.

``Engine`` does it in process; ``app.models.engine_client.EngineClient`` does it over the channel to the engine host.
Every value that crosses is one of these dataclasses (or plain JSON); bytes travel beside the JSON.
This module imports no machinery, so that the window's first picture does not wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.engine.errors import PathError
from app.engine.events import JobChanged
from app.engine.graph_api import GraphApi
from app.engine.judgement import Flag, Label, Risk, Score, Verdict
from app.engine.live_api import LiveApi
from app.engine.observation import TreeLine
from app.engine.run_api import RunApi
from app.engine.supervision import Intervention
from app.engine.trajectory import Run, Step
from kb.tip import (
    Finding,
    FreezeReport,
    ImportReport,
    KbDiff,
    KbStats,
    Preflight,
    Query,
    Retrieval,
    Revision,
    Scope,
    Similar,
    Status,
    StatusChange,
    Tip,
    TipDraft,
    VerifyReport,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNotes:
    """What was missing in the folder of a run that was imported all the same, one sentence each."""

    run: str
    path: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunImportReport:
    """What an import brought: counts of runs, errors per path, ids of the runs that are new.

    ``failed`` names every file or folder that could not be used; a run with such a file may be among ``runs``.
    ``notes`` tells of the new runs what is missing in them.
    """

    imported: int
    skipped: int
    failed: tuple[PathError, ...] = ()
    runs: tuple[str, ...] = ()
    cancelled: bool = False
    notes: tuple[RunNotes, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Which runs, in which order.  Empty fields do not filter.

    ``order``: ``risk`` (highest first), ``date`` (newest first), ``site``, ``steps`` (most first), ``id``.
    ``search`` is full text over intent, reason, action, target, address, error and answer.
    """

    site: str = ""
    suite: str = ""
    failed: bool = False
    passed: bool = False
    unjudged: bool = False
    detector: str = ""
    label: str = ""
    search: str = ""
    order: str = "id"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One line of the queue."""

    id: str
    source: str
    suite: str
    task_id: str
    site: str
    intent: str
    score: float | None
    outcome: str
    steps: int
    risk: float
    suspect_step: int
    flags: tuple[str, ...]
    """Detector names, the most telling first."""
    label: str = ""
    tips: int = 0
    """Tips written from this run."""
    started_at: float = 0.0
    signature: str = ""
    """Names the kind of failure: runs with the same one failed alike (site, first detector, page template)."""
    looked_at: bool = True
    """Whether the detectors have looked at it; until then it has neither flags nor a risk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetail:
    """A run with its steps (without trees), flags, risk and verdicts: all a run view needs to open."""

    run: Run
    steps: tuple[Step, ...]
    flags: tuple[Flag, ...]
    risk: Risk
    verdicts: tuple[Verdict, ...]
    tips: tuple[str, ...] = ()
    interventions: tuple[Intervention, ...] = ()
    """What its operator, the policy and the watchdog did while it was going on, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """A page as shown to a person: a picture where there is one (a blob hash), else the tree's lines.

    ``target_box`` is (x, y, width, height) in the picture's pixels where known.
    """

    url: str
    title: str
    screenshot: str = ""
    target_box: tuple[float, float, float, float] | None = None
    lines: tuple[TreeLine, ...] = ()
    truncated: int = 0
    """Lines left out at the end of a very long tree."""
    missing: str = ""
    """Why there is nothing to show, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """The page before an action and after it, with the changes marked on both sides."""

    run: str
    index: int
    before: PageView
    after: PageView
    changed: int
    """Lines added, removed or changed; 0 means "the page did not change"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """One find: in a run (``step`` is None), a step, or a tip (``kind`` tells); ``snippet`` marks it with [ ]."""

    kind: str
    id: str
    step: int | None
    title: str
    snippet: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TipForm:
    """The composer's fill for a step: a draft and where it comes from."""

    draft: TipDraft
    intent: str
    task_values: tuple[str, ...]
    """Values of this task (quoted strings, numbers, names) that must not stand in a site-level tip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TipCheck:
    """Everything the composer shows under a draft while it is typed."""

    lint: tuple[Finding, ...]
    similar: tuple[Similar, ...]
    preflight: Preflight | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """The id of a stored tip with what lint and the duplicate check say of it."""

    id: str
    lint: tuple[Finding, ...]
    similar: tuple[Similar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskReport:
    """How the ranking stands: where its weights come from, and each detector's record by people's verdicts."""

    fitted_on: int
    """Verdicts the weights in use were fitted on; 0 means the built-in prior."""
    scores: tuple[Score, ...]
    weights: dict[str, float] = field(default_factory=dict[str, float])
    in_use: str = "built-in"
    """``built-in`` or ``fitted``: whichever orders judged runs better that it has not seen."""
    judged_failed: int = 0
    judged_passed: int = 0
    auroc_cold: float | None = None
    """Area under the curve of the built-in ranking on the judged runs; ``None`` while too few are judged."""
    auroc_fitted: float | None = None
    """The same of fits to the other judged runs, cross-validated with every task on one side only."""
    why: str = ""
    """Why the one in use is in use, in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDifference:
    """A stored step in which one knowledge base would tell the agent something else than the other."""

    run: str
    step: int
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    failed: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BehaviourDiff:
    """How two knowledge bases differ over the stored steps: counts, and the first differences."""

    steps: int
    changed: int
    in_passed_runs: int
    examples: tuple[StepDifference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What undo or redo did, and what the next one would do ("" for nothing)."""

    did: str
    undo: str = ""
    redo: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the doctor: what was looked at, whether it works, what was found, how to mend it.

    ``slow`` is true of what did not answer in time: it is not known to work, and not known to be missing.
    """

    name: str
    ok: bool
    found: str
    remedy: str = ""
    needed: bool = True
    slow: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceInfo:
    """What the status bar says at the start."""

    path: str
    name: str
    runs: int
    tips: int
    encoder: str
    encoder_ready: bool
    notes: tuple[str, ...] = ()
    """What had to be mended when it was opened, one sentence each."""


class EngineApi(GraphApi, RunApi, LiveApi, Protocol):
    """Use cases.  Errors are ``SiteloreError``s; long ones run as jobs and tell their progress as events."""

    # the workspace
    async def info(self) -> WorkspaceInfo: ...
    async def doctor(self, browser_only: bool = False) -> list[Check]: ...
    async def jobs(self) -> list[JobChanged]: ...
    async def cancel_job(self, job: str) -> None: ...
    async def undo(self, where: str = "") -> Done: ...
    async def redo(self, where: str = "") -> Done: ...
    async def history(self, limit: int = 50) -> list[str]: ...
    async def load_session(self) -> dict[str, Any]: ...
    async def save_session(self, session: dict[str, Any]) -> None: ...

    # runs
    async def import_runs(self, paths: Sequence[str], format: str = "auto") -> RunImportReport: ...
    async def list_runs(self, which: RunFilter) -> list[RunRow]: ...
    async def open_run(self, run: str) -> RunDetail: ...
    async def view_step(self, run: str, index: int) -> StepView: ...
    async def blob(self, digest: str) -> bytes: ...
    async def search(self, text: str, limit: int = 50) -> list[SearchHit]: ...
    async def delete_runs(self, runs: Sequence[str]) -> int: ...
    async def export_runs(self, runs: Sequence[str], out: str) -> int: ...
    async def rebuild_index(self) -> int: ...

    # judgement
    async def detect(self, runs: Sequence[str] = ()) -> list[Flag]: ...
    async def ask_model(self, runs: Sequence[str] = (), limit: int = 20) -> list[Flag]: ...
    async def give_verdict(
        self, run: str, label: Label, step: int | None = None, note: str = "", lead_seconds: float = 0.0
    ) -> Verdict: ...
    async def withdraw_verdict(self, verdict: str) -> None: ...
    async def next_to_review(
        self, after: str = "", other_kind: bool = False, which: RunFilter | None = None
    ) -> RunRow | None: ...
    async def risk_report(self) -> RiskReport: ...

    # knowledge
    async def compose_tip(self, run: str, step: int) -> TipForm: ...
    async def check_tip(
        self, draft: TipDraft, intent: str = "", tip: str = "", preflight: bool = True
    ) -> TipCheck: ...
    async def save_tip(self, draft: TipDraft, intent: str = "") -> Saved: ...
    async def edit_tip(self, tip: str, draft: TipDraft, intent: str = "", waive: str = "") -> Saved: ...
    async def set_status(self, tips: Sequence[str], to: Status, waive: str = "") -> StatusChange: ...
    async def list_tips(self, site: str = "", status: str = "", search: str = "") -> list[Tip]: ...
    async def tip(self, tip: str) -> Tip: ...
    async def lint_tip(self, tip: str) -> list[Finding]: ...
    async def lint_marks(self, tips: Sequence[str]) -> dict[str, tuple[str, ...]]: ...
    async def unfit_to_freeze(self, include: Sequence[Status] = ()) -> dict[str, list[str]]: ...
    async def tip_history(self, tip: str) -> list[Revision]: ...
    async def restore_revision(self, tip: str, revision: int) -> Tip: ...
    async def retrieve(self, query: Query, k: int = 8, kb: str = "") -> Retrieval: ...
    async def preflight(self, draft: TipDraft, tip: str = "") -> Preflight: ...
    async def matching_pages(self, site: str, scope: Scope) -> int: ...
    async def freeze(
        self, out: str, include: Sequence[Status] = (), waive: dict[str, str] | None = None
    ) -> FreezeReport: ...
    async def verify(self, path: str) -> VerifyReport: ...
    async def kb_stats(self) -> KbStats: ...
    async def kb_diff(self, a: str, b: str) -> KbDiff: ...
    async def kb_behaviour_diff(self, a: str, b: str) -> BehaviourDiff: ...
    async def kb_import(self, path: str, format: str, site: str = "") -> ImportReport: ...
    async def kb_export(self, out: str, format: str, site: str = "") -> int: ...
    async def kb_merge(self, path: str) -> ImportReport: ...

    # drafts that outlive a crash
    async def keep_draft(self, key: str, draft: TipDraft | None) -> None: ...
    async def kept_draft(self, key: str) -> TipDraft | None: ...
