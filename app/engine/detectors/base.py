"""Base class of detectors, and everything a detector may know.

A detector sees a run step by step, as a live system would, so one class serves imported and live runs alike. Its input
leaves out the recorded score and everything derived from it: there is no field to read it from.

    RunContext   before the first step: the goal, the site, its usual length
    see          each step of the agent, in order; one whose output could not be read has ``executed`` false
    see_handover the page a person took over, without the person's steps; what follows until it is handed back is
                 not shown at all
    see_last     the page after the last action, without the action requested there that never ran
    end          how the run ended; not called where a score ended it (``runner.ending_of``)
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.actions.specs import SPECS, Component
from app.engine.core.trajectory import ErrorClass, Step
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.page_texts import PageTexts

FINAL_ACTIONS = frozenset(
    form.name for spec in SPECS.values() if spec.component is Component.LOOP for form in spec.forms
)
"""Actions that end a run."""
KNOWN_ACTIONS = frozenset(form.name for spec in SPECS.values() for form in spec.forms) | {"focus"}
"""Actions whose effect is known; programs whose runs were imported have others."""
OFF_PAGE_ACTIONS = (
    frozenset(form.name for spec in SPECS.values() if not spec.touches_page for form in spec.forms)
    | {"answer_dialog", "expect", "fetch"}
) - FINAL_ACTIONS
"""Actions that are not meant to change a page: a dialog is answered in advance, a test's assertion only looks, its own
request passes by the page."""

_ICON = re.compile(r"(?:\\u[ef][0-9a-f]{3}|[\ue000-\uf8ff])\s*")
"""Glyphs of icon fonts, as characters or as BrowserGym writes them."""

Explains = Literal["hindrance", "ending", "nothing"]

SINCE = "since"
"""Evidence key: the step at which the problem began, where that is before the flag's own step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """Facts known of a run before its first step.

    ``usual_steps`` is the median number of steps of the site's runs; ``allowed_hosts`` are ``host`` or ``host:port``.
    ``None`` means unknown: detectors that need the value stay silent. ``pages`` are the texts of the run's pages, empty
    where nobody can read them.
    """

    run: str
    site: str = ""
    intent: str = ""
    start_url: str = ""
    step_limit: int | None = None
    usual_steps: float | None = None
    allowed_hosts: frozenset[str] | None = None
    pages: PageTexts = field(default_factory=PageTexts, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnding:
    """How a run ended, without its score.

    ``crash`` is the error that ended the run, ``infeasible`` the agent's reason for giving up, ``answer`` what it
    told the user.
    """

    crash: str = ""
    at_step_limit: bool = False
    answer: str | None = None
    infeasible: str | None = None
    left_sites: bool = False


@dataclass(frozen=True, slots=True)
class Prior:
    """Log odds of a failure before any verdict: the detector fired, fired often, fired on one of the last two steps.

    ``app.engine.detectors.rules`` says where the numbers come from.
    """

    fired: float
    often: float = 0.0
    at_end: float = 0.0


class DetectorInfo:
    """Description of a detector, a rule or a question to a model.

    Class attributes: ``name`` (stable, in flags and weights), ``version`` (raised when the rule or the prompt
    changes, so that a scorecard never mixes two), ``severity``, ``summary`` (what it detects), ``explains`` (how far
    its flag points at the step that went wrong: a hindrance, how the agent ended the run, or only that it failed),
    ``fires_during_run`` (whether it may fire while the run can still be paused), ``asked_at_end`` (its question is
    asked when the run claims to be done, whatever step its flag names), ``prior`` (its weight in the risk ranking
    before any verdict).
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    severity: ClassVar[Severity]
    summary: ClassVar[str]
    explains: ClassVar[Explains] = "hindrance"
    fires_during_run: ClassVar[bool] = True
    asked_at_end: ClassVar[bool] = False
    prior: ClassVar[Prior]


class Detector(DetectorInfo, ABC):
    """A rule over one run; created for each run, fed in order, keeps only what it has seen."""

    def __init__(self, context: RunContext) -> None:
        self.context = context
        self.times = self.since = 0
        """How often ``count`` was called, and the step of the first time."""

    def see(self, step: Step) -> Iterable[Flag]:
        """Return flags for this step and those before it; a flag may name an earlier step, never a later one."""
        return ()

    def see_handover(self, page: Step) -> Iterable[Flag]:
        """Return flags for the page a person took over: the result of the agent's last action.

        Steps before and after a takeover are not consecutive.
        """
        return ()

    def see_last(self, page: Step) -> Iterable[Flag]:
        """Return flags for the page after the last action; ``page`` carries no action, reason or error."""
        return ()

    def end(self, ending: RunEnding) -> Iterable[Flag]:
        """Return flags for how the run ended."""
        return ()

    def count(self, step: int) -> None:
        """Count one more occurrence."""
        self.times += 1
        self.since = step if self.times == 1 else self.since

    @property
    def again(self) -> str:
        """`` (2nd time)``, for a message; "" the first time."""
        return f" ({ordinal(self.times)} time)" if self.times > 1 else ""

    def flag(
        self,
        step: int,
        confidence: float,
        message: str,
        evidence: dict[str, str | int | float] | None = None,
        severity: Severity | None = None,
    ) -> Flag:
        """Return a flag of this detector on this run."""
        return Flag(
            run=self.context.run,
            detector=self.name,
            step=step,
            severity=severity or self.severity,
            confidence=confidence,
            message=message,
            evidence=evidence or {},
            version=self.version,
        )


class ResultDetector(Detector):
    """A rule over an action and the page it led to; a takeover parts the two."""

    def __init__(self, context: RunContext) -> None:
        super().__init__(context)
        self._before: Step | None = None

    def see(self, step: Step) -> Iterable[Flag]:
        yield from self.compare(self._before, step)
        self._before = step

    def see_handover(self, page: Step) -> Iterable[Flag]:
        yield from self.compare(self._before, page)
        self._before = None

    def see_last(self, page: Step) -> Iterable[Flag]:
        yield from self.compare(self._before, page)

    @abstractmethod
    def compare(self, step: Step | None, after: Step) -> Iterable[Flag]:
        """Return flags for the action of ``step``, whose page ``after`` shows; ``None`` before the first action."""


ActionKey = tuple[str, str, str, str]


def action_key(action: RecordedAction, target: ActionTarget | None) -> ActionKey:
    """Return a key of an action on any page: kind, target's role and name, arguments with ids."""
    return (
        action.kind,
        target.role if target else "",
        target.name if target else "",
        repr(sorted(action.args.items(), key=lambda item: item[0])),
    )


_ON_ELEMENTS = frozenset({"click", "dblclick", "hover", "fill", "select_option", "check", "uncheck", "press"})
_AT_POINTS = frozenset({"mouse_click", "mouse_dblclick", "mouse_drag_and_drop", "mouse_move"})


def step_action_key(step: Step) -> ActionKey | None:
    """Return a key of a step's action by which it is the same as another; ``None`` where that can't be known.

    An element's id or a point means something only on its page: where the run has neither the element's name nor the
    page's tree, the page is told by its address or its picture, and an action whose element or page nobody recorded
    has no key.
    """
    action = step.action
    if action is None:
        return None
    if step.tree or step.target is not None or action.kind not in _ON_ELEMENTS | _AT_POINTS:
        return action_key(action, step.target)
    place = page_key(step.url) or step.screenshot
    known = action.kind in _AT_POINTS or bool(action.args.keys() - {"value", "text", "options", "button"})
    return (action.kind, "", place, action_key(action, None)[3]) if place and known else None


def page_key(url: str) -> str:
    """Return an address for comparing pages: no fragment, no slash at the end."""
    return url.partition("#")[0].rstrip("/")


def short_url(url: str, limit: int = 70) -> str:
    """Return an address for a message: no scheme, no host, shortened in the middle beyond ``limit``."""
    rest = url.partition("://")[2] or url
    path = rest[rest.find("/") :] if "/" in rest else rest
    return path if len(path) <= limit else f"{path[: limit // 2]}…{path[len(path) - limit // 2 + 1 :]}"


def action_text(step: Step) -> str:
    """Return a step's action in words, without the glyphs of icon fonts."""
    return " ".join(_ICON.sub("", step.words).split())


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st..."""
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def evidence_start(flag: Flag) -> int:
    """Return the step at which a flag's problem began: never after its own."""
    since = flag.evidence.get(SINCE, flag.step)
    return max(0, min(since, flag.step)) if isinstance(since, int) else flag.step


def was_tried(step: Step) -> bool:
    """Whether the agent's action was done, or was tried and failed; an unreadable answer was neither."""
    return step.action is not None and (step.executed or step.error_class is ErrorClass.HARD)


def is_worth_flagging(count: int, first: int) -> bool:
    """Whether the ``count``-th repeat is flagged: at ``first``, then at each doubling of it.

    A loop of fifty steps thus gives a handful of flags instead of fifty.
    """
    multiple, rest = divmod(count, first)
    return count >= first and rest == 0 and multiple & (multiple - 1) == 0
