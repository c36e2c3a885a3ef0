"""Detect the effect of an action from page changes and typed fingerprints of two captures. Pure.

SuperBrowser counts mutations; so does a clock on the page. Here what changes by itself is known
before the action, and what only a capture can show (a menu that a style sheet opens) is compared kind
by kind (``app.engine.core.fingerprint``).
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urldefrag

from app.engine.browser.capture.page_monitor import PageChanges
from app.engine.core.action_result import Effect
from app.engine.core.fingerprint import FingerprintKind, Fingerprints


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideChanges:
    """Changes outside the document: another tab in front, dialogs that opened, files that were offered."""

    tab: bool = False
    dialogs: int = 0
    downloads: int = 0


def effect_from_changes(changes: PageChanges, around: OutsideChanges) -> Effect | None:
    """Return the effect as far as the page's document tells; ``None`` if only another capture can tell."""
    if changes.replaced or around.tab or _left_document(changes.was, changes.url):
        return Effect.NAVIGATED
    if changes.any or around.dialogs or around.downloads:
        return Effect.CHANGED
    return None


def effect_from_captures(changes: PageChanges, before: Fingerprints, after: Fingerprints) -> Effect:
    """Return the effect on an unchanged document, from the captures before and after."""
    differing = after.changed(before) - {FingerprintKind.SCROLL}
    if changes.noisy:  # its texts and names change by themselves; an added or removed box does not
        differing &= {FingerprintKind.VALUES, FingerprintKind.FRAMES} | (
            {FingerprintKind.ELEMENTS} if FingerprintKind.SHAPE in differing else frozenset()
        )
        return Effect.CHANGED if differing else Effect.UNRELATED
    return Effect.CHANGED if differing else Effect.NOTHING


def _left_document(was: str, now: str) -> bool:
    """Whether the address changed within the same document, other than by a jump within the page."""
    if was == now:
        return False
    (old, _), (new, fragment) = urldefrag(was), urldefrag(now)
    return old != new or fragment.startswith(("/", "!"))
