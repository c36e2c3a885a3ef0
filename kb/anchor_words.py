"""A tip's region in words, for people."""

from __future__ import annotations

from collections.abc import Callable

from kb.tip import BETWEEN, Anchor

_SHOWN, _LONGEST = 3, 60


def region_words(anchor: Anchor, is_there: Callable[[str], bool] | None = None) -> str:
    """Return a region in words: ``"Filters" button beside "Clear all"``; "" for one that has none.

    The neighbour is the nearest one; with ``is_there`` the nearest of those that are on the page.
    """
    names = [f'"{name[:_LONGEST]}"' for name in anchor.words.split(BETWEEN) if name]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    role = f"({anchor.role})" if len(names) > 1 and anchor.role else anchor.role
    main = " ".join(filter(None, (", ".join(names[:_SHOWN]) + more, role)))
    near = next((name for name in anchor.neighbours if is_there is None or is_there(name)), "")
    return " beside ".join(filter(None, (main, f'"{near[:_LONGEST]}"' if near else "")))


def has_words(anchor: Anchor) -> bool:
    """Whether a region can be told again by words: its own, or those of two neighbours."""
    return bool(anchor.words.strip()) or len(anchor.neighbours) > 1
