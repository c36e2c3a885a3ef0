"""Whether a page is still the one that was last perceived, so that an action may go by memory (SuperBrowser, 4.5).

Algorithm 2 over typed fingerprints: what can be acted on, the text, where things stand, the frames and the address.
What has been typed or ticked is no part of the key: it makes no other page.  Within the key, numbers that count or tell
the time may change in a few places (``theta``); anything else is a drift.  Pure.
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
"""Elements and lines that came or went, from which a page counts as another though its key says otherwise."""
SOFT, HARD = 1.5, 8.0
"""Seconds that an action, and one that matters, waits for a look that is under way."""
KEY = frozenset(
    {Kind.ADDRESS, Kind.ELEMENTS, Kind.TEXT, Kind.SHAPE, Kind.FRAMES, Kind.SCROLL},
)
"""The kinds that make the cache key."""
TICKS = frozenset({Kind.TEXT})
"""Changes that are forgiven while the text's shape stays: a clock, a count of letters left."""


class Way(StrEnum):
    """How an action may go on."""

    PROCEDURAL = (
        "procedural"  # the page is the one that was perceived, the element is known: no look is needed
    )
    PERCEIVED = "perceived"  # the page is the one that was perceived: its marks hold
    WAIT = "wait"  # a look is under way
    LOOK = "look"  # the page has drifted: it has to be looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What has changed since a look: the kinds of the key, and how many elements and lines came or went."""

    kinds: frozenset[Kind]
    delta: int

    def within(self, theta: int = THETA) -> bool:
        """Whether the look still holds."""
        return self.kinds <= TICKS and self.delta < theta

    @property
    def words(self) -> str:
        """The kinds in words."""
        return ", ".join(sorted(kind.value for kind in self.kinds)) or "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The way to go; ``wait`` is how many seconds a look under way may take."""

    way: Way
    wait: float = 0.0
    why: str = ""


def drift(now: PageCapture, now_prints: Prints, then: PageCapture, then_prints: Prints) -> Drift:
    """What has changed between two looks."""
    kinds = now_prints.changed(then_prints) & KEY
    return Drift(kinds=kinds, delta=mutation_delta(then, now) if kinds <= TICKS and kinds else 0)


def mutation_delta(before: PageCapture, after: PageCapture) -> int:
    """How many elements and lines of text came or went between two looks."""
    return _difference(map(_kind, before.elements), map(_kind, after.elements)) + _difference(
        before.text.split("\n"), after.text.split("\n")
    )


def gate(
    command: Command, drifted: Drift | None, *, pending: bool, critical: bool = False, theta: int = THETA
) -> Gate:
    """How a command may go on (algorithm 2).

    Args:
        drifted: what changed since the last look, ``None`` where there was none.
        pending: a look at the page is under way.
        critical: it matters so much that the longer wait is due: it sends something, on a page never acted on.
    """
    if drifted is not None and drifted.within(theta):
        known = isinstance(command, Click | TypeText) or bool(elements_of(command))
        return Gate(way=Way.PROCEDURAL if known else Way.PERCEIVED)
    why = "nothing was perceived yet" if drifted is None else f"changed: {drifted.words}"
    if pending:
        return Gate(way=Way.WAIT, wait=HARD if critical else SOFT, why=why)
    return Gate(way=Way.LOOK, wait=HARD, why=why)


def _difference(before: Iterable[object], after: Iterable[object]) -> int:
    old, new = Counter(before), Counter(after)
    return (old - new).total() + (new - old).total()


def _kind(element: Element) -> tuple[str, str, bool]:
    return element.role, element.name, element.visible
