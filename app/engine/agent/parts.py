"""Dependencies of a run loop, and its measured times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from app.engine.agent.control import Control
from app.engine.agent.deeds import Deeds
from app.engine.agent.memory.book import LedgerBook
from app.engine.agent.ports import Hands, Knowledge, Navigator, Recorder, Told, Watching
from app.engine.agent.secrets import Secrets
from app.engine.agent.sight import Policy
from app.engine.intervention_policy import RiskClass


@dataclass(slots=True)
class Timing:
    """Seconds spent on looking, acting and the model; ``own`` is the rest of each step."""

    look: float = 0.0
    act: float = 0.0
    model: float = 0.0
    own: list[float] = field(default_factory=list[float])


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Dependencies of a run loop; ``None`` for those it has not.

    ``allow`` are risk classes of actions that the task does not have to ask for.
    """

    hands: Hands
    policy: Policy
    book: LedgerBook
    recorder: Recorder
    deeds: Deeds
    knowledge: Knowledge | None = None
    navigator: Navigator | None = None
    watching: Watching | None = None
    secrets: Secrets = field(default_factory=Secrets)
    tell: Callable[[Told], None] | None = None
    control: Control | None = None
    allow: frozenset[RiskClass] = frozenset()
