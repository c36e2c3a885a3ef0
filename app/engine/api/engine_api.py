"""The use cases of the program, as the command line and the window both call them.

``Engine`` implements them in process; ``app.models.common.engine_client.EngineClient`` calls the engine host over the
channel. Every value that crosses is one of these dataclasses (or plain JSON); bytes travel beside the JSON.  This
module imports no machinery, so that the window's first picture does not wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.engine.api.batch_api import BatchApi
from app.engine.api.evaluation_api import EvaluationApi
from app.engine.api.exchange_api import ExchangeApi
from app.engine.api.export_api import RunExportReport
from app.engine.api.graph_api import GraphApi
from app.engine.api.live_api import LiveApi
from app.engine.api.model_test_api import ModelTestApi
from app.engine.api.prompt_api import PromptApi
from app.engine.api.review_api import ReviewApi, Suspect
from app.engine.api.run_api import RunApi, TipUse
from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.api.schedule_api import ScheduleApi
from app.engine.api.shared_knowledge_api import SharedKnowledgeApi
from app.engine.api.site_api import SiteApi
from app.engine.api.tip_api import TipApi
from app.engine.core.ax_tree import AxTreeLine
from app.engine.core.events import JobChanged
from app.engine.core.supervision import Intervention
from app.engine.core.trajectory import Run, Step
from app.engine.core.verdicts import Flag, Risk, Verdict
from app.errors import PathError
from kb.confidential import LeaveOut
from kb.tip import (
    FreezeReport,
    ImportReport,
    KbDiff,
    KbStats,
    LintFinding,
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
    """Missing parts of an imported run, one sentence each."""

    run: str
    path: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunImportReport:
    """The result of an import: counts of runs, errors by path, ids of new runs.

    ``failed`` names every unusable file or folder; a run with such a file may be among ``runs``.  ``notes`` lists
    missing parts of new runs, ``learned`` which hosts sites got, or did not, one sentence each.  ``first_present`` is
    the id of the first skipped run, as far as a small import knows it.  ``unrecognised`` are files below the chosen
    folders that no format recognised, of endings in which people expect runs.
    """

    imported: int
    skipped: int
    failed: tuple[PathError, ...] = ()
    runs: tuple[str, ...] = ()
    cancelled: bool = False
    notes: tuple[RunNotes, ...] = ()
    learned: tuple[str, ...] = ()
    first_present: str = ""
    unrecognised: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetail:
    """A run with its steps (without trees), flags, risk and verdicts: all a run view needs to open."""

    run: Run
    steps: tuple[Step, ...]
    flags: tuple[Flag, ...]
    risk: Risk
    verdicts: tuple[Verdict, ...]
    tips: tuple[str, ...] = ()
    uses: tuple[TipUse, ...] = ()
    """Tips the agent was shown, most shown first."""
    suspect: Suspect = field(default_factory=Suspect)
    """The step it opens at, and why."""
    hidden_verdicts: int = 0
    """Verdicts of others, withheld until its second annotator has judged it, too."""
    interventions: tuple[Intervention, ...] = ()
    """Actions of its operator, the policy and the watchdog while it was live, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """A page for display: a picture if there is one (a blob hash), else the tree's lines.

    ``target_box`` is (x, y, width, height) in the picture's pixels where known.
    """

    url: str
    title: str
    screenshot: str = ""
    target_box: tuple[float, float, float, float] | None = None
    lines: tuple[AxTreeLine, ...] = ()
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
    alike: float = 1.0
    """Share of the longer page's lines that both have, in [0, 1]."""
    another: bool = False
    """The action led to another page: its lines are not marked, as nearly all of them would be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A match in a run (``step`` is None), a step, or a tip (``kind``); ``snippet`` marks it with [ ]."""

    kind: str
    id: str
    step: int | None
    title: str
    snippet: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TipForm:
    """The composer's initial form for a step: a draft and its source."""

    draft: TipDraft
    intent: str
    task_values: tuple[str, ...]
    """Values of this task (quoted strings, numbers, names) that must not be in a site-level tip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TipCheck:
    """The checks that the composer shows under a draft while it is typed."""

    lint: tuple[LintFinding, ...]
    similar: tuple[Similar, ...]
    preflight: Preflight | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTip:
    """The id of a stored tip with its lint findings and near duplicates."""

    id: str
    lint: tuple[LintFinding, ...]
    similar: tuple[Similar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDifference:
    """A stored step for which two knowledge bases retrieve different tips."""

    run: str
    step: int
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    failed: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BehaviourDiff:
    """Differences of two knowledge bases over the stored steps: counts, and the first examples."""

    steps: int
    changed: int
    in_passed_runs: int
    examples: tuple[StepDifference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoResult:
    """The action undone or redone, and the labels of the next undo and redo ("" for none)."""

    did: str
    undo: str = ""
    redo: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the doctor: name, whether it works, finding, remedy.

    ``slow`` marks a check that did not answer in time: neither known to work nor known to be missing.
    """

    name: str
    ok: bool
    found: str
    remedy: str = ""
    needed: bool = True
    slow: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceInfo:
    """The workspace's figures for the status bar."""

    path: str
    name: str
    runs: int
    tips: int
    encoder: str
    encoder_ready: bool
    notes: tuple[str, ...] = ()
    """Repairs made when it was opened, one sentence each."""
    author: str = ""
    """The name stored with this user's verdicts and tips."""
    unscored: int = 0
    """Runs that nobody scored, of ``runs``."""


class EngineApi(
    GraphApi,
    RunApi,
    ReviewApi,
    EvaluationApi,
    ExchangeApi,
    LiveApi,
    BatchApi,
    ScheduleApi,
    TipApi,
    SharedKnowledgeApi,
    SiteApi,
    PromptApi,
    ModelTestApi,
    Protocol,
):
    """All use cases.  Errors are ``SiteloreError``s; long ones run as jobs and report progress as events."""

    # the workspace
    async def info(self) -> WorkspaceInfo: ...
    async def apply_settings(self) -> None:
        """Read the settings again and use them from now on, without a restart."""
        ...

    async def doctor(self, browser_only: bool = False) -> list[Check]: ...
    async def jobs(self) -> list[JobChanged]: ...
    async def cancel_job(self, job: str) -> None: ...
    async def undo(self, where: str = "") -> UndoResult: ...
    async def redo(self, where: str = "") -> UndoResult: ...
    async def history(self, limit: int = 50) -> list[str]: ...
    async def load_session(self) -> dict[str, Any]: ...
    async def save_session(self, session: dict[str, Any]) -> None: ...

    # runs
    async def import_runs(
        self, paths: Sequence[str], format: str = "auto", picture_words: bool | None = None
    ) -> RunImportReport: ...
    async def list_runs(self, which: RunFilter) -> list[RunRow]: ...
    async def open_run(self, run: str) -> RunDetail: ...
    async def view_step(self, run: str, index: int) -> StepView: ...
    async def blob(self, digest: str) -> bytes: ...
    async def search(self, text: str, limit: int = 50) -> list[SearchHit]: ...
    async def delete_runs(self, runs: Sequence[str]) -> int: ...
    async def export_runs(self, runs: Sequence[str], out: str, format: str = "native") -> RunExportReport: ...
    async def rebuild_index(self) -> int: ...

    # knowledge
    async def compose_tip(self, run: str, step: int) -> TipForm: ...
    async def check_tip(
        self, draft: TipDraft, intent: str = "", tip: str = "", preflight: bool = True
    ) -> TipCheck: ...
    async def save_tip(self, draft: TipDraft, intent: str = "") -> SavedTip: ...
    async def edit_tip(self, tip: str, draft: TipDraft, intent: str = "", waive: str = "") -> SavedTip: ...
    async def set_status(self, tips: Sequence[str], to: Status, waive: str = "") -> StatusChange: ...
    async def list_tips(self, site: str = "", status: str = "", search: str = "") -> list[Tip]: ...
    async def tip(self, tip: str) -> Tip: ...
    async def lint_tip(self, tip: str) -> list[LintFinding]: ...
    async def lint_marks(self, tips: Sequence[str]) -> dict[str, tuple[str, ...]]: ...
    async def tip_history(self, tip: str) -> list[Revision]: ...
    async def restore_revision(self, tip: str, revision: int) -> Tip: ...
    async def retrieve(self, query: Query, k: int | None = None, kb: str = "") -> Retrieval: ...
    async def preflight(self, draft: TipDraft, tip: str = "") -> Preflight: ...
    async def matching_pages(self, site: str, scope: Scope) -> int: ...
    async def freeze(
        self,
        out: str,
        include: Sequence[Status] = (),
        waive: dict[str, str] | None = None,
        with_learnings: bool = False,
        leave_out: LeaveOut | None = None,
    ) -> FreezeReport: ...
    async def kb_without(self, path: str, tip: str, out: str) -> FreezeReport: ...
    async def verify(self, path: str) -> VerifyReport: ...
    async def kb_stats(self) -> KbStats: ...
    async def kb_tips(self, path: str) -> list[Tip]: ...
    async def kb_diff(self, a: str, b: str) -> KbDiff: ...
    async def kb_behaviour_diff(self, a: str, b: str) -> BehaviourDiff: ...
    async def kb_import(self, path: str, format: str, site: str = "") -> ImportReport: ...
    async def kb_export(
        self, out: str, format: str, site: str = "", statuses: Sequence[Status] = (), source: str = ""
    ) -> int: ...

    # drafts that outlive a crash
    async def save_draft(self, key: str, draft: TipDraft | None) -> None: ...
    async def load_draft(self, key: str) -> TipDraft | None: ...
