"""Runs and their steps.  Pure data, the same for imported and for own runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from app.engine.core.actions.recorded import ActionTarget, RecordedAction, describe_action
from app.engine.core.cost import Cost
from app.engine.core.prompt_set import ActionsVersion, PromptVersion
from app.engine.core.text import one_line

MAX_NEEDS = 400
"""Characters of the reason of a run that gave up."""


class Outcome(StrEnum):
    """How a run ended, apart from its score."""

    ANSWERED = "answered"
    INFEASIBLE = "infeasible"  # the agent reported that it can't be done
    ENDED_BY_ENVIRONMENT = "ended_by_environment"  # scored and stopped; detectors must not see this
    STEP_LIMIT = "step_limit"
    LEFT_ALLOWED_SITES = "left_allowed_sites"
    CRASHED = "crashed"
    RUNNING = "running"
    INTERRUPTED = "interrupted"  # the program ended during the run; it can be resumed
    NEEDS_PERSON = "needs_person"  # a captcha, a login wall or a question, and nobody to ask
    OUT_OF_BUDGET = "out_of_budget"  # tokens, money or time are used up
    STOPPED = "stopped"  # a person ended it
    DONE_BY_HAND = "done_by_hand"  # an operator did the task and marked it finished
    UNKNOWN = "unknown"  # the records are missing


class ErrorClass(StrEnum):
    """Severity of an action's error."""

    NONE = ""
    SOFT = "soft"  # reported, but the action was done (a click that timed out after being performed)
    HARD = "hard"  # the action was not done
    HARNESS = "harness"  # the agent's output could not be read; nothing was tried


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """One open page."""

    url: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """A tip shown to the agent at a step: its routes, its rank, and what the action made of it.

    Attributes:
        followed: True if the action did one of the tip's steps and its effect was seen; False if the run was told
            that it deviates from the tip; None otherwise.
        applied: the tip's condition held, and one of its steps could be done.
        step: number of the tip's step that the action did, counted from 1; 0 for none.
        effect: the effect of that step was seen.
    """

    tip: str
    routes: tuple[str, ...] = ()
    score: float = 0.0
    followed: bool | None = None
    applied: bool = False
    step: int = 0
    effect: bool = False


BY_PERSON = "person"
"""``Step.by`` of an operator's own actions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One observe-think-act cycle; never changed once recorded.

    The observation is the page *before* the action; the page after it is the next step's, or the run's ``final``.
    ``tree``, ``html``, ``boxes`` and the screenshots are content hashes of blobs.  Times are Unix seconds, durations
    seconds.
    """

    index: int
    url: str
    title: str
    tabs: tuple[Tab, ...] = ()
    active_tab: int = 0
    reason: str = ""
    raw_output: str = ""
    action: RecordedAction | None = None
    target: ActionTarget | None = None
    executed: bool = True
    error: str = ""
    error_class: ErrorClass = ErrorClass.NONE
    tree: str = ""
    html: str = ""
    screenshot: str = ""
    target_box: tuple[float, float, float, float] | None = None
    """(x, y, width, height) of the target in the screenshot's pixels, where it was recorded."""
    boxes: str = ""
    """Content hash of the boxes of the elements in view, by their ids in the tree (``regions.stored_boxes``)."""
    state: str = ""
    """Content key of the page before the action (``observation.content_key``)."""
    notices: tuple[str, ...] = ()
    """Texts of alerts and open dialogs on the page, most informative first."""
    tips: tuple[str, ...] = ()
    """Ids of the tips in force at this step."""
    summary: str = ""
    started_at: float = 0.0
    env_seconds: float = 0.0
    agent_seconds: float = 0.0
    effect: str = ""
    """The observed effect (``app.engine.core.action_result.Effect``); "" for runs that don't record it."""
    cause: str = ""
    """Why it was not done or did nothing (``app.engine.core.action_result.Cause``)."""
    tried: tuple[str, ...] = ()
    """Methods tried to perform the action, in order."""
    output: str = ""
    """The action's result: a number, the page that navigation reached, a person's answer."""
    exposures: tuple[Exposure, ...] = ()
    calls: tuple[str, ...] = ()
    """Content hashes of the model exchanges that led to the action."""
    tokens: tuple[int, int] = (0, 0)
    """Tokens in and out."""
    model_seconds: float = 0.0
    cost: Cost | None = None
    """Cost of the model since the step before; ``None`` where it was not recorded."""
    page_state: str = ""
    """Id of the page state in the site's interaction graph (``identity.page_id``); "" if there is none."""

    by: str = ""
    """``BY_PERSON`` for an operator's action during a takeover; "" for the agent's own steps."""

    @property
    def words(self) -> str:
        """The action in words."""
        page_known = bool(self.url or self.tree or self.html or self.screenshot)
        return describe_action(self.action, self.target, page_known=page_known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One episode of one task.  ``steps`` counts executed actions; ``final`` is the page after the last of them.

    ``score`` is the recorded score in [0, 1] with partial credit kept, ``None`` when nobody scored the run.
    ``failed`` is "scored below 1"; WebArena's own rule is all or nothing.
    """

    id: str
    source: str
    suite: str = ""
    task_id: str = ""
    site: str = ""
    sites: tuple[str, ...] = ()
    intent: str = ""
    start_url: str = ""
    score: float | None = None
    outcome: Outcome = Outcome.ANSWERED
    error: str = ""
    answer: str | None = None
    step_limit: int | None = None
    step_count: int = 0
    final: Step | None = None
    started_at: float = 0.0
    imported_at: float = 0.0
    source_path: str = ""
    content_hash: str = ""
    notes: tuple[str, ...] = field(default_factory=tuple)
    """The importer's remarks: a missing step file, an unreadable log."""
    policy: str = ""
    """The policy: ``scout``, ``llm``; "" for runs that don't record it."""
    model: str = ""
    knowledge: str = ""
    """The knowledge base in force: ``live``, ``none``, or a frozen file's name and hash."""
    graph: str = ""
    """Sites whose interaction graph the agent could navigate by."""
    tokens: tuple[int, int] = (0, 0)
    cost: Cost | None = None
    """Cost of the model; ``None`` where it was not recorded."""
    ended_by: str = ""
    """The operator who marked it finished or gave its answer; "" if the agent ended it."""
    prompts: tuple[PromptVersion, ...] = ()
    """The versions of the prompts, whose texts are blobs; none for runs that don't record them."""
    actions: ActionsVersion | None = None
    """The set of actions a model was offered."""
    calls: tuple[str, ...] = ()
    """Content hashes of the exchanges with a model that belong to no recorded step."""
    evidence: str = ""
    """Content hash of the evidence for its evaluation (``core.evaluation.run_evidence``); "" where there is none."""

    @property
    def failed(self) -> bool:
        """Scored, and not in full."""
        return self.score is not None and self.score < 1

    @property
    def needs(self) -> str:
        """The reason of a run that gave up, on one line: mostly what it would have needed; "" for other runs."""
        return one_line(self.answer or "", MAX_NEEDS) if self.outcome is Outcome.INFEASIBLE else ""


def count_operator_steps(steps: Iterable[Step]) -> int:
    """Count the operator's steps."""
    return sum(step.by == BY_PERSON for step in steps)


def add_blob(blobs: dict[str, bytes], data: bytes) -> str:
    """Add a content that a step names under its SHA-256, and return that digest."""
    digest = hashlib.sha256(data).hexdigest()
    blobs[digest] = data
    return digest


def steps_done(steps: Iterable[Step]) -> dict[str, int]:
    """Return the last step of each tip whose effect was seen in the steps of a run."""
    done: dict[str, int] = {}
    for step in steps:
        done |= {one.tip: one.step for one in step.exposures if one.step and one.effect}
    return done
