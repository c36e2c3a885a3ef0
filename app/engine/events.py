"""What happened, told to whoever listens; the one bus between the engine and its faces."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from app.engine.ledger import Ledger
from app.engine.supervision import Intervention, KnowledgeHere, LiveRow, NextAction, PersonHint, PersonRequest

log = logging.getLogger(__name__)

IMPORT_RUNS = "Import runs"
"""Title of the job that takes runs in; faces say so where runs would be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that has happened; names are past tense."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsChanged(Event):
    """Runs were imported, deleted or restored, or their flags, risk or verdicts changed."""

    runs: tuple[str, ...] = ()
    """Ids concerned; empty means "ask again for all"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexDamaged(Event):
    """The search index was found broken; ``message`` says so and what to do."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeChanged(Event):
    """Tips were added, edited, retired, restored or imported."""

    tips: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryChanged(Event):
    """What undo and redo would do now; empty text means "nothing"."""

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

    ``found`` names it; ``unsandboxed`` says why it runs without its sandbox ("" where it has one), ``remedy`` what a
    person does about that, ``warning`` both in a sentence.
    """

    found: str
    unsandboxed: str = ""
    remedy: str = ""
    warning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorationChanged(Event):
    """An exploration advanced, paused or ended; ``state`` is ``running``, ``paused``, ``done``, ``stopped`` or
    ``failed``, ``trying`` says in words what is being tried, ``skipped`` counts elements by reason.
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
    """A run of the embedded agent made a step, or began or ended.

    ``state`` is ``running`` or the outcome; ``words`` and ``effect`` are the last step's, ``flags`` the detectors that
    fired at it.
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
class LiveChanged(Event):
    """A supervised run is somewhere else than before: its state, step, flags, needs or clock."""

    row: LiveRow


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveGone(Event):
    """A run was taken off the wall; it stays in the workspace."""

    run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionPlanned(Event):
    """A run is about to do this; it comes before the action is done, also where nobody is asked."""

    next: NextAction


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionOver(Event):
    """The action that a run was about to do has been done or given up; it has none until the next one is decided."""

    run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeShown(Event):
    """What a run was given by the knowledge base at its present step."""

    here: KnowledgeHere


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerChanged(Event):
    """A run's ledger after a step, and what that step changed in it, in words."""

    run: str
    step: int
    ledger: Ledger
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestChanged(Event):
    """A request was opened, decided or closed."""

    request: PersonRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class HintChanged(Event):
    """A hint was sent, or given to the agent."""

    hint: PersonHint


@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionMade(Event):
    """Somebody did something in a run."""

    intervention: Intervention


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChanged(Event):
    """Another policy of interventions is in force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFrame(Event):
    """A picture of a run's page as it is now; it travels beside the JSON.

    ``number`` counts up for each run; ``width`` and ``height`` are the picture's pixels, ``page_width`` and
    ``page_height`` the viewport's CSS pixels; ``pointer`` is where the agent's or the person's pointer stands;
    ``input_at`` the sender's clock of the newest input that was done before it was taken, 0 for none.
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
    """The engine process ended unexpectedly; it is being started again."""

    message: str


EVENTS: dict[str, type[Event]] = {
    kind.__name__: kind
    for kind in (
        RunsChanged,
        IndexDamaged,
        KnowledgeChanged,
        HistoryChanged,
        JobChanged,
        EncoderChanged,
        BrowserStarted,
        ExplorationChanged,
        GraphChanged,
        RunAdvanced,
        LiveChanged,
        LiveGone,
        ActionPlanned,
        ActionOver,
        KnowledgeShown,
        LedgerChanged,
        RequestChanged,
        HintChanged,
        InterventionMade,
        PolicyChanged,
        PageFrame,
        HostLost,
    )
}
"""Event types by the name they travel under."""

Listener = Callable[[Event], None]


class EventBus:
    """Calls every listener in order; a listener that fails is logged and never stops the publisher."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Add a listener; the returned call takes it off again."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def publish(self, event: Event) -> None:
        """Tell everyone, now; call it on the engine's loop only."""
        for listener in list(self._listeners):
            try:
                listener(event)
            except Exception:
                log.exception("a listener failed on %s", type(event).__name__)
