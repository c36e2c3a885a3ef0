"""An evaluation: its arms, its episodes and what its journal keeps of each.  Pure data."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.engine.core.evaluation.task_score import JudgeReply, ScoreVerdict

JOURNAL_VERSION = 1
MIN_TEMPLATES = 8
"""With fewer templates nothing is concluded, of arms or of tips."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One of the ways in which every task is run.

    Attributes:
        name: short and unique (``none``, ``akb``, ``none+map``).
        kb: path of a frozen knowledge base, ``none`` for none.
        kb_sha256: hash of its bytes; "" without one.
        tips: number of its tips.
        maps: whether the interaction graphs of the task's sites may be used.
    """

    name: str
    kb: str = "none"
    kb_sha256: str = ""
    tips: int = 0
    maps: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class EpisodeKey:
    """One task in one arm, for the n-th time (from 0)."""

    task: str
    repeat: int
    arm: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TipInEpisode:
    """A tip that was shown in an episode: at how many steps, and at how many of them its step was done."""

    tip: str
    shown: int
    followed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRecord:
    """One line of an evaluation's journal.

    Attributes:
        cluster: template with site, the unit of statistics; ``sites``, ``kind`` and ``required_obs`` are the task's.
        run: id of its run; "" where none could be made.
        score: ``None`` where it is undecided.
        evaluator: name and version of the rules, of WebArena-Verified with the checksums of its rules and data.
        judge: raw replies of a judge model that the verdict depends on.
        outcome: how the run ended.  error: why there is no run or no score; "" where there is.
        unasked: changes of the site that the task does not allow.
        seconds: of the run; ``overhead`` those of evaluating it: site states, evidence, scoring, resets.
        money: US dollars; ``None`` where a price is not known.
        browser: version of the browser; "" where none was started.
        worker: name of the worker that ran it.  finished_at: Unix seconds.  attempt: 1, or 2 after a worker died.
    """

    key: EpisodeKey
    cluster: str
    sites: tuple[str, ...] = ()
    kind: str = ""
    required_obs: str = ""
    run: str = ""
    verdict: ScoreVerdict = ScoreVerdict.UNDECIDED
    score: float | None = None
    why: str = ""
    evaluator: str = ""
    judge: tuple[JudgeReply, ...] = ()
    outcome: str = ""
    error: str = ""
    claimed: bool = False
    """Whether the run said that it is done, or answered."""
    unasked: int = 0
    steps: int = 0
    seconds: float = 0.0
    overhead: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float | None = 0.0
    tips: tuple[TipInEpisode, ...] = ()
    actions: tuple[str, ...] = ()
    """Kinds of the actions done, in order; for the table of tool use."""
    flags: tuple[str, ...] = ()
    browser: str = ""
    worker: str = ""
    attempt: int = 1
    finished_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationHead:
    """The head of an evaluation: what it is of; written once, and checked before it is resumed.

    Attributes:
        tasks: ids in the order in which they are run.
        tainted: ids of tasks whose template an author of a tip had seen.
        versions: of the program, Python, the browser and its driver.  machine: processors and memory, no names.
        seed: of the order of tasks.
    """

    name: str
    suite: str
    suite_sha256: str
    dialect: str
    policy: str
    arms: tuple[Arm, ...]
    tasks: tuple[str, ...]
    repeats: int = 1
    max_steps: int = 30
    model: str = ""
    prompts_sha256: str = ""
    tainted: tuple[str, ...] = ()
    seed: int = 7
    options: tuple[tuple[str, str], ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    machine: tuple[tuple[str, str], ...] = ()
    begun_at: float = 0.0
    version: int = JOURNAL_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationJournal:
    """An evaluation as its folder holds it: the head and the records, the last of a key counts."""

    head: EvaluationHead
    records: tuple[EpisodeRecord, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple[str, ...])
    """Oddities in the files, one sentence each."""
