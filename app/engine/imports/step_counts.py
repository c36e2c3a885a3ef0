"""Number of executed actions of a run whose pages are numbered files: by its summary, corrected by the files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_GAPS_NAMED = 20
"""Missing records with a note of their own; further ones share one note."""


def count_steps(
    said: int, by_index: dict[int, dict[str, Any]], notes: list[str], name_of: Callable[[int], str]
) -> int:
    """Return the number of executed actions; what contradicts it is noted.

    Where nearly all records are missing, those that are there are renumbered without gaps.

    Args:
        said: by the summary, below 0 for none.
        by_index: records by their number, of which the last is the page after the last action.
        notes: gets the remarks.
        name_of: returns the name of a record's file.
    """
    last = max(by_index, default=-1)
    if said < last or said > last + 1:
        count = max(last, 0)
        if said >= 0:
            missing = (
                f"the records of steps {last + 1} to {said} are missing"
                f" ({name_of(last + 1)} to {name_of(said)})"
                if said > last
                else "there are more records"
            )
            notes.append(f"the summary says {said} steps, {missing}")
            count = last + 1 if said > last else count
    else:
        count = said
    missing = count - sum(index < count for index in by_index)
    if missing > 10 * len(by_index) + 100:
        notes.append(f"{missing} records are missing; only the steps that are there are shown")
        kept = [by_index[index] for index in sorted(by_index)]
        by_index.clear()
        by_index.update(enumerate(kept))
        return max(len(kept) - 1, 0)
    gaps = [index for index in range(count) if index not in by_index]
    notes.extend(
        f"the record of step {index} is missing or unreadable ({name_of(index)})"
        for index in gaps[:_GAPS_NAMED]
    )
    if rest := gaps[_GAPS_NAMED:]:
        notes.append(
            f"{len(rest)} more records are missing or unreadable ({name_of(rest[0])} to {name_of(rest[-1])})"
        )
    return count
