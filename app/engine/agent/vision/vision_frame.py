"""A vision frame: the result of one pass of the vision model, with the page it belongs to. Immutable, pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.engine.agent.vision.answers import PageType, SceneRole
from app.engine.core.fingerprint import Fingerprints
from app.engine.core.page_state import PageCapture, Rect


@dataclass(frozen=True, slots=True, kw_only=True)
class VisionMark:
    """A mark ``[V1]``, ``[V2]``... with its element's facts (section 4.3).

    Attributes:
        number: from 1 in the order of the list; valid within its frame.
        box: CSS pixels of the viewport.
        role, label, clickable, confidence, relevant, scene: as the model says.
        element: number of its element in the frame's page, ``None`` where there is none (a canvas).
        name: the element's name, labels by reference resolved.
        expanded: whether what it opens is open; ``None`` where it opens nothing.
        active: checked, selected, pressed or current.
        row: the complete box that it was split from.
    """

    number: int
    box: Rect
    label: str
    role: str = ""
    clickable: bool = True
    confidence: float = 0.5
    relevant: bool = False
    scene: SceneRole = SceneRole.UNKNOWN
    element: int | None = None
    name: str = ""
    expanded: bool | None = None
    active: bool = False
    disabled: bool = False
    row: Rect | None = None

    @property
    def words(self) -> str:
        """The mark as a line of a list."""
        name = f" ({self.name})" if self.name and self.name.casefold() not in self.label.casefold() else ""
        opens = "" if self.expanded is None else (", open" if self.expanded else ", closed")
        told = [
            word
            for word, holds in (
                ("on", self.active),
                ("disabled", self.disabled),
                ("covers the page", self.scene is SceneRole.BLOCKER),
                ("for this step", self.relevant),
            )
            if holds
        ]
        number = f" = element {self.element}" if self.element is not None else ""
        return f"[V{self.number}] {self.role or 'thing'} '{self.label}'{name}{number}{opens}" + "".join(
            f", {word}" for word in told
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class VisionFrame:
    """The result of a vision pass.

    Attributes:
        number: counts the passes of a run from 1.
        page: the capture that the picture belongs to, without its pictures.
        prints: that page's fingerprints; they decide whether the frame is still valid.
        at: when the picture was taken, seconds of the monotonic clock.
        calls: digests of the exchanges with the model; tokens and seconds are totals.
        notes: problems that were worked around.
        lag: warning before the list where the page has changed since.
    """

    number: int
    page: PageCapture
    prints: Fingerprints
    at: float
    marks: tuple[VisionMark, ...] = ()
    page_type: PageType = PageType.OTHER
    summary: str = ""
    calls: tuple[str, ...] = ()
    tokens: tuple[int, int] = (0, 0)
    seconds: float = 0.0
    notes: tuple[str, ...] = field(default_factory=tuple)
    lag: str = ""

    def mark(self, number: int) -> VisionMark | None:
        """Return the mark of a number."""
        return next((mark for mark in self.marks if mark.number == number), None)

    @property
    def words(self) -> str:
        """The list as a model is shown it."""
        head = f"{self.page_type.value}: {self.summary}" if self.summary else self.page_type.value
        return "\n".join((*((self.lag,) if self.lag else ()), head, *(mark.words for mark in self.marks)))
