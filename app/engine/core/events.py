"""Events, and the one bus between the engine and its faces."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from app.engine.core.batch import BatchRow
from app.engine.core.ledger import Ledger
from app.engine.core.schedule import ScheduleResult
from app.engine.core.supervision import (
    ApprovalRequest,
    Hint,
    Intervention,
    KnowledgeAtStep,
    LiveRow,
    PlannedAction,
)

log = logging.getLogger(__name__)

IMPORT_JOB_TITLE = "Import runs"
"""Title of the job that imports runs; views show it where runs would be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A fact; names are past tense."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsChanged(Event):
    """Runs were imported, deleted or restored, or their flags, risk or verdicts changed."""

    runs: tuple[str, ...] = ()
    """Ids concerned; empty means all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexDamaged(Event):
    """The search index was found damaged; ``message`` says so and what to do."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeChanged(Event):
    """Tips were added, edited, retired, restored or imported."""

    tips: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SitesChanged(Event):
    """The table of sites changed; ``note`` says in one sentence what the program learned by itself, "" for nothing."""

    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitesChanged(Event):
    """Suites were added, removed or made blind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationAdvanced(Event):
    """An evaluation was begun, got further or ended; its folder names it."""

    folder: str
    state: str
    done: int
    episodes: int
    words: str = ""
    """The episode that ended last, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptsChanged(Event):
    """A prompt or a set of actions of the workspace was saved or put back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryChanged(Event):
    """The labels of undo and redo changed; an empty text means there is none."""

    undo: str = ""
    redo: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChanged(Event):
    """A job started, advanced or ended."""

    id: str
    title: str
    state: str
    done: int = 0
    total: int | None = None
    detail: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderChanged(Event):
    """The encoder became ready or failed; ``message`` is for the status bar."""

    ready: bool
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserStarted(Event):
    """A browser of this process started: it works, whatever an earlier check said.

    ``found`` names it; ``unsandboxed`` is the reason for running without a sandbox ("" where it has one), ``remedy``
    the advice about it, ``warning`` both in a sentence.
    """

    found: str
    unsandboxed: str = ""
    remedy: str = ""
    warning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorationChanged(Event):
    """An exploration advanced, paused or ended.

    ``state`` is ``running``, ``paused``, ``done``, ``stopped`` or ``failed``, ``trying`` is the current operation in
    words, ``skipped`` counts elements by reason.
    """

    site: str
    state: str
    states: int = 0
    frontier: int = 0
    tried: int = 0
    depth: int = 0
    states_per_minute: float = 0.0
    seconds: float = 0.0
    trying: str = ""
    skipped: tuple[tuple[str, int], ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphChanged(Event):
    """A site's graph got states or transitions, or a person merged or split some."""

    site: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAdvanced(Event):
    """A run of the embedded agent began, made a step, or ended.

    ``state`` is ``running`` or the outcome; ``words`` and ``effect`` are the last step's, ``flags`` the detectors
    that fired at it.
    """

    run: str
    intent: str
    state: str
    step: int = 0
    words: str = ""
    effect: str = ""
    why: str = ""
    url: str = ""
    plan: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRunChanged(Event):
    """A live run changed: its state, step, flags, requests or clock."""

    row: LiveRow


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRunDismissed(Event):
    """A run was dismissed from the live runs; it stays in the workspace."""

    run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchChanged(Event):
    """A batch was started, dismissed (``row.total`` is 0), or is further than before."""

    row: BatchRow


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginShared(Event):
    """A log-in made by a person in one run was kept for its site and handed to runs that waited for it.

    ``runs`` are those that go on with it; ``words`` says it in a sentence for the person.
    """

    site: str
    source: str
    runs: tuple[str, ...] = ()
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleChanged(Event):
    """The schedule changed, or scheduled work began (no ``result``) or ended."""

    schedule: str
    result: ScheduleResult | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionPlanned(Event):
    """A run is about to do this action; published before it is done, also where nobody is asked."""

    next: PlannedAction


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionEnded(Event):
    """The planned action was done or dropped; the next one is not decided yet."""

    run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TipsRetrieved(Event):
    """A run was given tips at its current step."""

    here: KnowledgeAtStep


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerChanged(Event):
    """A run's ledger after a step, and the step's changes in words."""

    run: str
    step: int
    ledger: Ledger
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestChanged(Event):
    """A request was opened, decided or closed."""

    request: ApprovalRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class HintChanged(Event):
    """A hint was sent, or given to the agent."""

    hint: Hint


@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionMade(Event):
    """Somebody acted on a run."""

    intervention: Intervention


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChanged(Event):
    """Another intervention policy is in force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFrame(Event):
    """A picture of a run's page; it travels beside the JSON.

    ``number`` counts up for each run; ``width`` and ``height`` are the picture's pixels, ``page_width`` and
    ``page_height`` the viewport's CSS pixels; ``pointer`` is the position of the agent's or the operator's pointer;
    ``input_at`` is the sender's clock of the newest input done before the picture was taken, 0 for none.
    """

    run: str
    number: int
    width: int
    height: int
    page_width: int
    page_height: int
    jpeg: bytes
    url: str = ""
    pointer: tuple[float, float] | None = None
    input_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLost(Event):
    """The engine process ended unexpectedly; it is being restarted."""

    message: str


EVENTS: dict[str, type[Event]] = {kind.__name__: kind for kind in Event.__subclasses__()}
"""Event types by the name they travel under."""

Listener = Callable[[Event], None]


class EventBus:
    """Calls every listener in order; a listener that fails is logged and never stops the publisher."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Add a listener; the returned call removes it."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def publish(self, event: Event) -> None:
        """Call every listener now; on the engine's loop only."""
        for listener in list(self._listeners):
            try:
                listener(event)
            except Exception:
                log.exception("a listener failed on %s", type(event).__name__)
