"""Freshness of the last look: may an action use remembered element positions, or must the page be looked at again?

SuperBrowser, section 4.5, algorithm 2, over typed fingerprints: what can be acted on, the text, the layout, the
frames
and the address.  Typed text and ticked boxes are no part of the key, for they do not make another page.  Within
the
key, numbers that count or tell the time may change in a few places (``theta``); any other change is a drift.
Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from app.engine.command import Click, Command, TypeText, elements_of
from app.engine.fingerprint import Kind, Prints
from app.engine.page_state import Element, PageCapture

THETA = 6
"""Number of added and removed elements and lines from which a page counts as another, even if its key is the same."""
SOFT, HARD = 1.5, 8.0
"""Seconds that an ordinary and a critical action wait for a look under way."""
KEY = frozenset(
    {Kind.ADDRESS, Kind.ELEMENTS, Kind.TEXT, Kind.SHAPE, Kind.FRAMES, Kind.SCROLL},
)
"""Fingerprint kinds that form the cache key."""
TICKS = frozenset({Kind.TEXT})
"""Changes that are tolerated while the text's shape stays: a clock, a count of letters left."""


class Way(StrEnum):
    """How an action may proceed."""

    PROCEDURAL = "procedural"  # the page is unchanged, the element is known: no look is needed
    PERCEIVED = "perceived"  # the page is unchanged: its marks are valid
    WAIT = "wait"  # a look is under way
    LOOK = "look"  # the page has drifted: look again


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Changes since a look: the kinds of the key, and how many elements and lines were added or removed."""

    kinds: frozenset[Kind]
    delta: int

    def within(self, theta: int = THETA) -> bool:
        """Whether the look is still valid."""
        return self.kinds <= TICKS and self.delta < theta

    @property
    def words(self) -> str:
        """Names of the changed kinds."""
        return ", ".join(sorted(kind.value for kind in self.kinds)) or "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """How to proceed; ``wait`` is how many seconds a look under way may take."""

    way: Way
    wait: float = 0.0
    why: str = ""


def drift(now: PageCapture, now_prints: Prints, then: PageCapture, then_prints: Prints) -> Drift:
    """Return the changes between two looks."""
    kinds = now_prints.changed(then_prints) & KEY
    return Drift(kinds=kinds, delta=mutation_delta(then, now) if kinds <= TICKS and kinds else 0)


def mutation_delta(before: PageCapture, after: PageCapture) -> int:
    """Count the elements and lines of text added or removed between two looks."""
    return _difference(map(_kind, before.elements), map(_kind, after.elements)) + _difference(
        before.text.split("\n"), after.text.split("\n")
    )


def gate(
    command: Command, drifted: Drift | None, *, pending: bool, critical: bool = False, theta: int = THETA
) -> Gate:
    """Decide how an action may proceed (algorithm 2).

    Args:
        drifted: changes since the last look, ``None`` where there was none.
        pending: a look at the page is under way.
        critical: use the longer wait: the action sends something, or the page was never acted on.
    """
    if drifted is not None and drifted.within(theta):
        known = isinstance(command, Click | TypeText) or bool(elements_of(command))
        return Gate(way=Way.PROCEDURAL if known else Way.PERCEIVED)
    why = "nothing was looked at yet" if drifted is None else f"changed: {drifted.words}"
    if pending:
        return Gate(way=Way.WAIT, wait=HARD if critical else SOFT, why=why)
    return Gate(way=Way.LOOK, wait=HARD, why=why)


def _difference(before: Iterable[object], after: Iterable[object]) -> int:
    old, new = Counter(before), Counter(after)
    return (old - new).total() + (new - old).total()


def _kind(element: Element) -> tuple[str, str, bool]:
    return element.role, element.name, element.visible
