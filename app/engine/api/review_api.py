"""Use cases of Review: why a run failed, verdicts, clusters, comparisons, annotators.  Part of ``EngineApi``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Protocol

from app.engine.api.evaluation_api import ExpectedOutcome
from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.core.verdicts import Flag, Label, Score, Verdict


# ---------------------------------------------------------------- why a run failed
@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """The step a run opens at: where the evidence of its failure begins.

    ``because`` is one sentence ("the same click did nothing six times from here on"); ``detector`` and ``flag_step``
    name the flag it rests on ("" and -1 for none).
    """

    step: int = 0
    because: str = ""
    detector: str = ""
    flag_step: int = -1


class CauseSource(StrEnum):
    """Where a cause comes from."""

    RULES = "rules"
    MODEL = "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyCause:
    """The likely cause of a failure in one sentence of plain English; "" where nothing points at one.

    ``step`` is the step it speaks of, -1 for the run as a whole; ``evidence`` are the findings it rests on, one
    sentence each; ``label`` is the verdict it suggests. A model's is marked by ``source`` and names the ``model``.
    """

    run: str
    text: str = ""
    step: int = -1
    label: Label | None = None
    evidence: tuple[str, ...] = ()
    source: CauseSource = CauseSource.RULES
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPlace:
    """A place on a visited page where a term of the answer stands.

    ``step`` is the step whose page it is (the step count for the final page); ``line`` the row in ``PageView.lines``,
    -1 beyond those that are shown;
    ``text`` the words of that line.
    """

    step: int
    line: int
    url: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTerm:
    """A number, name or wording of the answer, and where it stands, first visit first; empty: on no visited page.

    ``in_task``: the task itself says it, so that it proves nothing.
    """

    text: str
    kind: Literal["number", "name", "words"]
    places: tuple[AnswerPlace, ...] = ()
    in_task: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPage:
    """All that is needed to judge an answer; for runs without one, how they ended.

    ``step`` is the step that answers; ``pages`` the addresses that were searched, ``missing`` those of which a step was
    not recorded. ``unknown`` counts terms that stand on none of them, where they are recorded in part: such a term may
    stand on the page all the same, and is left out. ``expected`` is ``None`` where no suite knows the task, and hidden
    where its suite is blind.
    """

    run: str
    step: int
    intent: str
    answer: str | None
    ended: str
    expected: ExpectedOutcome | None = None
    terms: tuple[AnswerTerm, ...] = ()
    pages: int = 0
    missing: int = 0
    unknown: int = 0


# ---------------------------------------------------------------- side by side
@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarRun:
    """A run to show beside another one.

    ``relation``: ``task`` (the same task), ``template``, ``goal`` (alike words), ``page`` (the same page of the site).
    ``likeness`` is in [0, 1]; ``knowledge`` the knowledge base it ran with.
    """

    id: str
    relation: Literal["task", "template", "goal", "page"]
    likeness: float
    intent: str
    score: float | None
    steps: int
    knowledge: str = ""
    started_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedStep:
    """One row of two runs side by side: a step of each that stands on the same page state, or of one alone (-1).

    ``same_action``: both did the same there.
    """

    left: int
    right: int
    same_action: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAlignment:
    """Two runs aligned on page states.

    ``parting`` is the row at which they first part (-1: never); ``why`` says how in one sentence. ``tips_left`` and
    ``tips_right`` are the tips that only this run was shown.
    """

    left: str
    right: str
    rows: tuple[AlignedStep, ...]
    parting: int = -1
    why: str = ""
    tips_left: tuple[str, ...] = ()
    tips_right: tuple[str, ...] = ()


# ---------------------------------------------------------------- clusters
@dataclass(frozen=True, slots=True, kw_only=True)
class FailureCluster:
    """Failures of one kind: the same detector, page, error and control.

    Attributes:
        key: stable while verdicts come in; ``RunFilter.cluster`` takes it.
        title: in words ("the click on 'Save' changed nothing"), without the count.
        page: template of the page's address, "" where the runs differ.
        runs: ids, riskiest first; judged: of these, with a verdict.
        label: the verdict that the cause suggests.
    """

    key: str
    title: str
    detector: str
    sites: tuple[str, ...]
    page: str
    runs: tuple[str, ...]
    judged: int
    label: Label | None = None
    control: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TipOpportunity:
    """A page of a site where runs fail: how many, the tips there, and how many of the failures a tip reached.

    ``runs`` are ids of failed runs, riskiest first; ``tips`` those whose scope is about this page, with their
    ``statuses``; ``site_tips`` counts those that hold anywhere on the site. ``covered`` runs used, or would be given, a
    tip of the page; ``clusters`` are their keys; ``step`` is a step of the first run there, to write the tip from.
    """

    site: str
    page: str
    runs: tuple[str, ...]
    tips: tuple[str, ...]
    covered: int
    clusters: tuple[str, ...] = ()
    step: int = 0
    statuses: tuple[str, ...] = ()
    site_tips: int = 0

    @property
    def uncovered(self) -> int:
        """Failures without any tip."""
        return len(self.runs) - self.covered


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkVerdict:
    """Verdicts given at once; one undo withdraws them all. ``skipped`` are runs that had this label already."""

    label: Label
    verdicts: tuple[str, ...]
    runs: tuple[str, ...]
    skipped: tuple[str, ...] = ()


# ---------------------------------------------------------------- ranking
@dataclass(frozen=True, slots=True, kw_only=True)
class RiskReport:
    """The state of the ranking: origin of its weights, and each detector's scorecard by people's verdicts."""

    fitted_on: int
    """Verdicts the weights in use were fitted on; 0 means the built-in prior."""
    scores: tuple[Score, ...]
    weights: dict[str, float] = field(default_factory=dict[str, float])
    in_use: str = "built-in"
    """``built-in``, ``fitted`` or ``similar goals``: whichever orders unseen judged runs best."""
    judged_failed: int = 0
    judged_passed: int = 0
    auroc_cold: float | None = None
    """Area under the curve of the built-in ranking on the judged runs; ``None`` while too few are judged."""
    auroc_fitted: float | None = None
    """The same of fits to the other judged runs, cross-validated with every task on one side only."""
    auroc_similar: float | None = None
    """The same of the built-in ranking corrected by the verdicts on runs with similar goals."""
    why: str = ""
    """Why the one in use was chosen, in one sentence."""


# ---------------------------------------------------------------- annotators
@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentRequest:
    """A division of runs among annotators: each gets a queue, and ``overlap`` (0 to 1) of the runs go to two.

    The same seed gives the same division. Assigning again replaces the queues of these annotators.
    """

    annotators: tuple[str, ...]
    which: RunFilter
    overlap: float = 0.2
    seed: int = 1
    limit: int = 0
    """Runs at most; 0 for all that pass the filter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorQueue:
    """A person's queue: runs assigned, of these shared with another, and judged by this person."""

    annotator: str
    assigned: int
    shared: int
    judged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelAgreement:
    """Agreement of two annotators on one label, over the runs both judged; ``kappa`` is ``None`` where undefined."""

    label: Label
    both: int
    only_first: int
    only_second: int
    neither: int
    kappa: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A run that two annotators judged differently; ``settled`` is the label of its adjudication, if any."""

    run: str
    site: str
    intent: str
    first: tuple[Label, ...]
    second: tuple[Label, ...]
    settled: Label | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """Agreement of two annotators: Cohen's kappa over their labels, with its 95 % interval, and by label.

    A run's label is the annotator's newest one in force. Kappa is ``None`` below two runs or where it is undefined.
    """

    first: str
    second: str
    runs: int
    agreed: int
    kappa: float | None
    low: float | None
    high: float | None
    labels: tuple[LabelAgreement, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Guideline:
    """A version of the text that says how to use the labels; verdicts name the version in force."""

    version: str
    text: str
    author: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictImport:
    """The result of reading a file of verdicts.

    ``known`` were here already; ``unmatched`` name no run of this workspace (their words for it); ``failed`` are rows
    that can't be read, one sentence each.
    """

    added: int
    known: int
    unmatched: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


VERDICT_FORMATS = ("jsonl", "csv", "agentrewardbench")
"""Formats of files of verdicts: Sitelore's own lines, a table, AgentRewardBench's annotations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressRow:
    """Progress of a site, a person or the whole: runs judged of all, medians in seconds (``None`` without data)."""

    name: str
    runs: int
    judged: int
    tips: int
    verdict_seconds: float | None = None
    tip_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewProgress:
    """The state of the review of the runs that pass a filter: judged, left, tips, seconds."""

    total: ProgressRow
    sites: tuple[ProgressRow, ...]
    people: tuple[ProgressRow, ...]
    labels: dict[str, int] = field(default_factory=dict[str, int])
    """Verdicts in force by label."""
    uncovered: tuple[TipOpportunity, ...] = ()
    """Pages that fail and have no tip, most failures first."""


class ReviewApi(Protocol):
    """Use cases of Review.  Errors are ``SiteloreError``s."""

    # detectors and ranking
    async def detect(self, runs: Sequence[str] = ()) -> list[Flag]: ...
    async def ask_model(self, runs: Sequence[str] = (), limit: int = 20) -> list[Flag]: ...
    async def next_to_review(
        self, after: str = "", other_kind: bool = False, which: RunFilter | None = None
    ) -> RunRow | None: ...
    async def risk_report(self) -> RiskReport: ...

    # why a run failed
    async def answer_page(self, run: str) -> AnswerPage: ...
    async def likely_cause(self, run: str) -> LikelyCause: ...
    async def ask_cause(self, run: str) -> LikelyCause: ...

    # side by side
    async def similar_runs(self, run: str, passed: bool = True, limit: int = 8) -> list[SimilarRun]: ...
    async def align_runs(self, left: str, right: str) -> RunAlignment: ...

    # verdicts
    async def give_verdict(
        self, run: str, label: Label, step: int | None = None, note: str = "", lead_seconds: float = 0.0
    ) -> Verdict: ...
    async def give_verdicts(
        self, runs: Sequence[str], label: Label, note: str = "", lead_seconds: float = 0.0
    ) -> BulkVerdict: ...
    async def withdraw_verdict(self, verdict: str) -> None: ...
    async def export_verdicts(self, out: str, format: str = "jsonl") -> int: ...
    async def import_verdicts(self, path: str, format: str = "", author: str = "") -> VerdictImport: ...

    # clusters
    async def clusters(self, which: RunFilter) -> list[FailureCluster]: ...
    async def tip_opportunities(self, site: str = "") -> list[TipOpportunity]: ...

    # annotators
    async def assign_runs(self, request: AssignmentRequest) -> list[AnnotatorQueue]: ...
    async def annotator_queues(self) -> list[AnnotatorQueue]: ...
    async def agreement(self) -> list[PairAgreement]: ...
    async def adjudicate(self, run: str, label: Label, note: str = "") -> Verdict: ...
    async def guideline(self) -> Guideline: ...
    async def guidelines(self) -> list[Guideline]: ...
    async def save_guideline(self, text: str) -> Guideline: ...
    async def review_progress(self, which: RunFilter) -> ReviewProgress: ...
    async def progress_page(self, out: str, which: RunFilter | None = None) -> str: ...
