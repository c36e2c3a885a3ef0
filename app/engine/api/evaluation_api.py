"""Use cases of suites, rescoring, evaluations and their comparison.  Part of ``EngineApi``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from app.engine.core.evaluation.episode import Arm, EpisodeRecord, EvaluationHead
from app.engine.core.evaluation.suite import TaskFilter
from app.engine.core.evaluation.task_score import JudgeReply, SubCheck, TaskScore

EngineKind = Literal["local", "ray"]
WithMaps = Literal["no", "yes", "both"]
OnTaint = Literal["refuse", "leave out", "mark"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRow:
    """A suite of the workspace.

    Attributes:
        tasks, templates: numbers of them; ``sites``, ``kinds`` with the number of tasks of each.
        without_oracle: tasks that nothing can be scored by; ``unknown`` names evaluators that the program lacks.
        unbound: names such as ``__SHOPPING__`` that stand for no address in the table of sites.
        blind: whether answers are hidden from people who write tips.
        subsets: names of its subsets.
    """

    name: str
    title: str
    form: str
    dialect: str
    sha256: str
    tasks: int
    templates: int
    sites: tuple[tuple[str, int], ...] = ()
    kinds: tuple[tuple[str, int], ...] = ()
    without_oracle: int = 0
    unknown: tuple[str, ...] = ()
    unbound: tuple[str, ...] = ()
    blind: bool = False
    subsets: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTaskRow:
    """A task as people see it; ``expected`` says by which rule what is right, "" where the suite is blind."""

    id: str
    intent: str
    sites: tuple[str, ...]
    template: str
    kind: str
    required_obs: str
    writes: bool
    evaluators: tuple[str, ...]
    expected: tuple[str, ...] = ()
    runs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedOutcome:
    """The outcome that a run should have come to, and why its score is what it is; for Review.

    Attributes:
        hidden: the suite is blind: ``expected`` and ``score`` are empty.
        expected: one line a rule.
        recorded: the recorded score.
        score: the verdict by the suite's dialect, ``None`` where the run has not been scored by it.
    """

    suite: str
    task: str
    template: str = ""
    hidden: bool = False
    expected: tuple[str, ...] = ()
    recorded: float | None = None
    score: TaskScore | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitReport:
    """Halves of a suite, by template; the runs of the workspace that belong to each."""

    suite: str
    seed: int
    a: tuple[str, ...]
    b: tuple[str, ...]
    templates_a: int
    templates_b: int
    runs_a: int = 0
    runs_b: int = 0
    tips_a: tuple[str, ...] = ()
    """Tips whose authors had seen a template of half ``a``."""
    tips_b: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoredRun:
    """A run scored again.  The names of the fields are those of the command line's document.

    Attributes:
        suite: the name of the suite it was scored by, and ``dialect`` the rules.
    """

    run: str
    task: str
    recorded: float | None
    score: float | None
    verdict: str
    why: str
    checks: tuple[SubCheck, ...] = ()
    evaluators: tuple[str, ...] = ()
    site: str = ""
    judge: tuple[JudgeReply, ...] = ()
    suite: str = ""
    dialect: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRequest:
    """An evaluation to be planned, run or resumed.

    Attributes:
        suite: name of a suite of the workspace, or a path.
        kb: path of a frozen file, or ``none``; ``against`` the same for the other arm.
        maps: whether the arms may use interaction graphs: none of them, all of them, or each arm once without and
            once with.
        out: folder; "" for one in the workspace, named after the suite.
        tainted: what becomes of tasks whose template an author of a tip had seen.
        dialect: "" for the suite's own.  infeasible_is_na, off_site_is_zero: BrowserGym's two rules.
        max_seconds, max_tokens, max_money: budgets of a run; 0 for none.
        address: of a running cluster, for ``ray``.
        leave_out: ids of tips of ``kb``; for each an arm with ``kb`` without it. ``each`` stands for all of them.
    """

    suite: str
    tasks: TaskFilter = field(default_factory=TaskFilter)
    kb: str = "none"
    against: str = "none"
    maps: WithMaps = "no"
    policy: str = "scout"
    repeats: int = 1
    workers: int = 1
    engine: EngineKind = "local"
    address: str = ""
    out: str = ""
    max_steps: int = 30
    max_seconds: float = 0.0
    max_tokens: int = 0
    max_money: float = 0.0
    dialect: str = ""
    infeasible_is_na: bool = False
    off_site_is_zero: bool = False
    tainted: OnTaint = "refuse"
    seed: int = 7
    name: str = ""
    leave_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteWait:
    """Episodes on one site in a plan: those that need it for themselves, and the hours that takes at least."""

    site: str
    episodes: int
    alone: int
    hours: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationPlan:
    """The plan of an evaluation: what it would do, and what it could show.

    Attributes:
        problems: why it can't begin, one sentence each; ``warnings`` what to know.
        hours: wall-clock on the workers asked for; ``seconds_per_run`` what that is based on, ``based_on`` says whose.
        memory_gb: of all workers together.
        power: chance to show an effect of so many points (0.05, 0.10, ...), by effect, with these templates.
        templates_needed: templates that show an effect with a chance of 80 %, by effect.
    """

    head: EvaluationHead
    episodes: int
    done: int
    templates: int
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    hours: float = 0.0
    seconds_per_run: float = 0.0
    based_on: str = ""
    memory_gb: float = 0.0
    sites: tuple[SiteWait, ...] = ()
    power: tuple[tuple[float, float], ...] = ()
    templates_needed: tuple[tuple[float, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRow:
    """An evaluation as a list shows it; ``state`` is ``running``, ``stopped``, ``done`` or ``unreadable``."""

    name: str
    folder: str
    suite: str
    state: str
    episodes: int
    done: int
    errors: int = 0
    arms: tuple[Arm, ...] = ()
    repeats: int = 1
    begun_at: float = 0.0
    tokens: int = 0
    money: float | None = 0.0
    seconds: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRequest:
    """One episode for a worker, whose workspace has suite, graphs, table of sites and knowledge bases already.

    ``renew`` are sites that were put back since the worker logged in on them; ``har`` records requests, which the
    strict dialect reads.
    """

    suite: str
    dialect: str
    task: str
    arm: Arm
    repeat: int
    policy: str = "scout"
    max_steps: int = 30
    max_seconds: float = 0.0
    max_tokens: int = 0
    max_money: float = 0.0
    infeasible_is_na: bool = False
    off_site_is_zero: bool = False
    renew: tuple[str, ...] = ()
    har: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RateRow:
    """A single rate with its Wilson interval (clusters ignored) and its cluster-bootstrap interval."""

    name: str
    tasks: int
    templates: int
    mean: float
    low: float
    high: float
    wilson_low: float
    wilson_high: float
    all_of: float = 0.0
    """Share of tasks solved in every repeat."""
    best_of: float = 0.0
    """Share solved in at least one repeat; never the figure to report."""
    macro: float = 0.0
    """Mean over templates of their means."""
    undecided: int = 0
    steps: float = 0.0
    seconds: float = 0.0
    tokens: float = 0.0
    money: float | None = 0.0
    false_done: int = 0
    unasked: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceRow:
    """The difference of one arm to another over the same tasks, in all or for one site or type.

    Attributes:
        group: ``all``, ``site gitlab``, ``type question`` …
        low, high: 95 % interval by cluster bootstrap over templates.
        p: of the sign-flip test by template; ``p_holm`` corrected over its family.
        mcnemar_p: of the naive test, which ignores that tasks of a template go together.
        won, lost, both, neither: tasks by their means over repeats: right only with, only without, in both, in none.
        seconds, steps: mean differences.
    """

    arm: str
    against: str
    group: str
    tasks: int
    templates: int
    difference: float
    low: float
    high: float
    p: float
    mcnemar_p: float
    won: int
    lost: int
    both: int
    neither: int
    p_holm: float = 1.0
    undecided: int = 0
    steps: float = 0.0
    seconds: float = 0.0
    tokens: float = 0.0
    money: float | None = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """One task in two arms; ``result`` is ``won``, ``lost``, ``both``, ``neither`` or ``undecided``."""

    task: str
    cluster: str
    site: str
    kind: str
    intent: str
    arm: str
    against: str
    result: str
    score: float | None
    score_against: float | None
    runs: tuple[str, ...] = ()
    runs_against: tuple[str, ...] = ()
    why: str = ""
    why_against: str = ""
    tainted: bool = False


Answer = Literal["better", "worse", "same", "not enough data"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonVerdict:
    """The answer in one sentence; ``more_templates`` says how many more it would take where data is missing."""

    arm: str
    against: str
    answer: Answer
    sentence: str
    more_templates: int = 0
    always_valid: tuple[float, float] = (-1.0, 1.0)
    """Interval that also holds when one looks after every task (a confidence sequence)."""
    early: bool = False
    """The evaluation is not over: only the always-valid interval counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TipCreditRow:
    """The worth of one tip, over the tasks in which it was retrieved.

    Attributes:
        retrieved: tasks of the arm in which it was shown; ``followed`` those in which one of its steps was done.
        difference: share of these tasks that is right less that in the arm compared with; its interval is by template.
        method: ``pairs`` or ``left out``.
        verdict: ``helps``, ``hurts``, ``no difference seen`` or ``not enough data``.
        followed_difference, ignored_difference: over tasks in which it was followed, and the others; ``None`` for none.
    """

    tip: str
    text: str
    retrieved: int
    followed: int
    templates: int
    difference: float
    low: float
    high: float
    method: str
    verdict: str
    followed_difference: float | None = None
    ignored_difference: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTable:
    """A table of the report: rows are groups, columns arms; cells are texts."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Everything that one or several evaluations say."""

    heads: tuple[EvaluationHead, ...]
    arms: tuple[RateRow, ...]
    verdicts: tuple[ComparisonVerdict, ...] = ()
    differences: tuple[DifferenceRow, ...] = ()
    pairs: tuple[PairRow, ...] = ()
    credits: tuple[TipCreditRow, ...] = ()
    tables: tuple[GroupTable, ...] = ()
    margin: float = 0.02
    notes: tuple[str, ...] = ()
    """A reader has to know them: tainted tasks, undecided ones, errors, an evaluation that is not over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFiles:
    """Files of a report: a self-contained page, tables as CSV and LaTeX, everything as JSON.

    ``html`` is "" where the page could not be made; ``notes`` says why.
    """

    html: str
    csv: tuple[str, ...]
    latex: str
    json: str
    notes: tuple[str, ...] = ()


class EvaluationApi(Protocol):
    """Suites, evaluations, comparison."""

    async def suites(self) -> list[SuiteRow]: ...
    async def add_suite(self, path: str, name: str = "", blind: bool = False) -> SuiteRow: ...
    async def remove_suite(self, name: str) -> None: ...
    async def set_suite_blind(self, name: str, blind: bool) -> SuiteRow: ...
    async def suite_tasks(self, name: str, tasks: TaskFilter | None = None) -> list[SuiteTaskRow]: ...
    async def split_suite(self, name: str, seed: int = 7) -> SplitReport: ...
    async def expected_outcome(self, run: str) -> ExpectedOutcome | None: ...
    async def rescore(
        self,
        runs: Sequence[str],
        suite: str,
        dialect: str = "",
        judge: bool = False,
        browsergym: bool | None = None,
    ) -> list[RescoredRun]: ...
    async def rescore_folder(
        self, path: str, suite: str, dialect: str = "", judge: bool = False, browsergym: bool | None = None
    ) -> list[RescoredRun]: ...
    async def evaluations(self) -> list[EvaluationRow]: ...
    async def plan_evaluation(self, request: EvaluationRequest) -> EvaluationPlan: ...
    async def run_evaluation(self, request: EvaluationRequest) -> EvaluationRow: ...
    async def resume_evaluation(self, folder: str, workers: int = 0) -> EvaluationRow: ...
    async def stop_evaluation(self, folder: str) -> None: ...
    async def forget_evaluation(self, folder: str) -> None: ...
    async def run_episode(self, request: EpisodeRequest) -> EpisodeRecord: ...
    async def packed_run(self, run: str) -> bytes: ...
    async def episode_records(self, folder: str) -> list[EpisodeRecord]: ...
    async def compare_evaluations(
        self, folders: Sequence[str], arm: str = "", against: str = "", margin: float = 0.02
    ) -> Comparison: ...
    async def write_report(
        self, folders: Sequence[str], out: str = "", margin: float = 0.02
    ) -> ReportFiles: ...
    async def tip_credits(self) -> list[TipCreditRow]: ...
