"""An element list told as what has changed against one shown before.  Pure functions.

After most actions a page is the same but for a few lines, and runs come back to pages they have seen.  On the recorded
runs the changes are a fifth of the list (``benchmarks/eviction.py``); what was shown before stays as it was sent, so an
endpoint's cache still has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

WORTH = 0.5
"""Changes are told only where they are shorter than this share of the whole list."""

_MOST_LINES = 2_000
"""Lines beyond which two lists are not compared line by line: it would take longer than it saves."""

_SHOWN = 6
"""Lines that went, shown one by one; of more only how many there were."""


def changes(before: str, after: str, step: int) -> str:
    """What changed between two lists, the first of which was shown at ``step``; "" where it is not worth telling.

    Each place is named by the line above it; ``-`` went, ``+`` is new or took its place.
    """
    if before == after:
        return f"The same list as at step {step}."
    old, new = before.split("\n"), after.split("\n")
    if shared(frozenset(old), frozenset(new)) < WORTH * len(set(new)):
        return ""
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    if max(len(old), len(new)) - start - end > _MOST_LINES:
        return ""
    lines = _told(old, new, start, end)
    text = "\n".join([f"The list of step {step} with these changes:", *lines])
    return text if len(text) < WORTH * len(after) else ""


def shared(one: frozenset[str], other: frozenset[str]) -> int:
    """How many different lines two lists have in common, wherever they stand."""
    return len(one & other)


def _told(old: Sequence[str], new: Sequence[str], start: int, end: int) -> Iterator[str]:
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    matcher = SequenceMatcher(
        None, before, after
    )  # with its rule on lines that come often: far faster, as short
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind == "equal":
            continue
        above = new[start + j1 - 1].strip() if start + j1 else ""
        yield f"@ below: {above}" if above else "@ at the top:"
        gone = before[i1:i2]
        if len(gone) <= _SHOWN:
            yield from (f"- {line}" for line in gone)
        else:
            yield f"- {len(gone)} lines, from: {gone[0].strip()}"
        yield from (f"+ {line}" for line in after[j1:j2])


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Length of the common beginning."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
