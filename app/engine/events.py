"""What happened, told to whoever listens; the one bus between the engine and its faces."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that has happened; names are past tense."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsChanged(Event):
    """Runs were imported, deleted or restored, or their flags, risk or verdicts changed."""

    runs: tuple[str, ...] = ()
    """Ids concerned; empty means "ask again for all"."""


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
class HostLost(Event):
    """The engine process ended unexpectedly; it is being started again."""

    message: str


EVENTS: dict[str, type[Event]] = {
    kind.__name__: kind
    for kind in (
        RunsChanged,
        KnowledgeChanged,
        HistoryChanged,
        JobChanged,
        EncoderChanged,
        ExplorationChanged,
        GraphChanged,
        RunAdvanced,
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
