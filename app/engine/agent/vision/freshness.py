"""Freshness of the last look: may an action use remembered element positions, or must the page be looked at again?

SuperBrowser, section 4.5, algorithm 2, over typed fingerprints: what can be acted on, the text, the layout, the
frames and the address.  Typed text and ticked boxes are no part of the key, for they do not make another page.
Within the key, numbers that count or tell the time may change in a few places (``DRIFT_LIMIT``); any other change is a
drift.  Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from app.engine.core.actions.types import Action, Click, TypeText, elements_of
from app.engine.core.fingerprint import FingerprintKind, Fingerprints
from app.engine.core.page_state import Element, PageCapture

DRIFT_LIMIT = 6
"""Number of added and removed elements and lines from which a page counts as another, even if its key is the same."""
SOFT_WAIT, HARD_WAIT = 1.5, 8.0
"""Seconds that an ordinary and a critical action wait for a look under way."""
CACHE_KEY_KINDS = frozenset(
    {
        FingerprintKind.ADDRESS,
        FingerprintKind.ELEMENTS,
        FingerprintKind.TEXT,
        FingerprintKind.SHAPE,
        FingerprintKind.FRAMES,
        FingerprintKind.SCROLL,
    },
)
"""Fingerprint kinds that form the cache key."""
TOLERATED_KINDS = frozenset({FingerprintKind.TEXT})
"""Changes that are tolerated while the text's shape stays: a clock, a count of letters left."""


class GroundingMode(StrEnum):
    """How an action may proceed."""

    PROCEDURAL = "procedural"  # the page is unchanged, the element is known: no look is needed
    PERCEIVED = "perceived"  # the page is unchanged: its marks are valid
    WAIT = "wait"  # a look is under way
    LOOK = "look"  # the page has drifted: look again


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDrift:
    """Changes since a look: the kinds of the key, and how many elements and lines were added or removed."""

    kinds: frozenset[FingerprintKind]
    delta: int

    def within(self) -> bool:
        """Whether the look is still valid."""
        return self.kinds <= TOLERATED_KINDS and self.delta < DRIFT_LIMIT

    @property
    def words(self) -> str:
        """Names of the changed kinds."""
        return ", ".join(sorted(kind.value for kind in self.kinds)) or "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """How to proceed; ``wait`` is how many seconds a look under way may take."""

    mode: GroundingMode
    wait: float = 0.0
    why: str = ""


def page_drift(
    now: PageCapture, now_prints: Fingerprints, then: PageCapture, then_prints: Fingerprints
) -> PageDrift:
    """Return the changes between two looks."""
    kinds = now_prints.changed(then_prints) & CACHE_KEY_KINDS
    return PageDrift(
        kinds=kinds, delta=mutation_delta(then, now) if kinds <= TOLERATED_KINDS and kinds else 0
    )


def mutation_delta(before: PageCapture, after: PageCapture) -> int:
    """Count the elements and lines of text added or removed between two looks."""
    return _difference(map(_kind, before.elements), map(_kind, after.elements)) + _difference(
        before.text.split("\n"), after.text.split("\n")
    )


def check_freshness(
    action: Action,
    drifted: PageDrift | None,
    *,
    pending: bool,
    critical: bool = False,
) -> Freshness:
    """Decide how an action may proceed (algorithm 2).

    Args:
        drifted: changes since the last look, ``None`` where there was none.
        pending: a look at the page is under way.
        critical: use the longer wait: the action sends something, or the page was never acted on.
    """
    if drifted is not None and drifted.within():
        known = isinstance(action, Click | TypeText) or bool(elements_of(action))
        return Freshness(mode=GroundingMode.PROCEDURAL if known else GroundingMode.PERCEIVED)
    why = "nothing was looked at yet" if drifted is None else f"changed: {drifted.words}"
    if pending:
        return Freshness(mode=GroundingMode.WAIT, wait=HARD_WAIT if critical else SOFT_WAIT, why=why)
    return Freshness(mode=GroundingMode.LOOK, wait=HARD_WAIT, why=why)


def _difference(before: Iterable[object], after: Iterable[object]) -> int:
    old, new = Counter(before), Counter(after)
    return (old - new).total() + (new - old).total()


def _kind(element: Element) -> tuple[str, str, bool]:
    return element.role, element.name, element.visible
