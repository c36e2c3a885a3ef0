"""Element lists as a diff against one that was sent before. Pure functions.

After most actions a page is the same but for a few lines, and runs come back to pages they have seen. On the recorded
runs the diff is a fifth of the list (``benchmarks/eviction.py``); the earlier list stays as it was sent, so an
endpoint's cache still has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

WORTH_SHARE = 0.5
"""A diff is sent only where it is shorter than this share of the complete list."""

_MOST_LINES = 2_000
"""Lines beyond which two lists are not compared line by line: that would take longer than it saves."""

_REMOVED_SHOWN = 6
"""Removed lines that are shown one by one; of further ones only the number."""


def diff_lists(before: str, after: str, step: int) -> str:
    """Return the diff against the list sent at ``step``; "" where it would not be worth sending.

    Each change is located by the line above it; ``-`` was removed, ``+`` is new or replaces it.
    """
    if before == after:
        return f"The same list as at step {step}."
    old, new = before.split("\n"), after.split("\n")
    if shared_lines(frozenset(old), frozenset(new)) < WORTH_SHARE * len(set(new)):
        return ""
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    if max(len(old), len(new)) - start - end > _MOST_LINES:
        return ""
    lines = _diff_lines(old, new, start, end)
    text = "\n".join([f"The list of step {step} with these changes:", *lines])
    return text if len(text) < WORTH_SHARE * len(after) else ""


def shared_lines(one: frozenset[str], other: frozenset[str]) -> int:
    """Count the distinct lines two lists have in common, wherever they are."""
    return len(one & other)


def _diff_lines(old: Sequence[str], new: Sequence[str], start: int, end: int) -> Iterator[str]:
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    matcher = SequenceMatcher(None, before, after)  # autojunk stays on: far faster, and the diff is as short
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind == "equal":
            continue
        above = new[start + j1 - 1].strip() if start + j1 else ""
        yield f"@ below: {above}" if above else "@ at the top:"
        gone = before[i1:i2]
        if len(gone) <= _REMOVED_SHOWN:
            yield from (f"- {line}" for line in gone)
        else:
            yield f"- {len(gone)} lines, from: {gone[0].strip()}"
        yield from (f"+ {line}" for line in after[j1:j2])


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the common beginning."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
