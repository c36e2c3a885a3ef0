"""Two runs aligned on page states, and where they part.  Pure functions.

Steps are paired only where both stand on the same kind of page; among all ways to pair them in order the one with the
most likeness is taken (global alignment, after Needleman and Wunsch).
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.engine.core.actions.recorded import ArgValue
from app.engine.core.addresses import url_key, url_template
from app.engine.core.past_actions import page_name, past_words
from app.engine.core.trajectory import Run, Step

SAME_STATE, SAME_ADDRESS, SAME_TEMPLATE = 3.0, 2.0, 1.2
"""Likeness of two steps' pages: the same state, the same address, another page of the same template."""
SAME_ACTION = 1.0
"""Added where both did the same there."""
GAP = -0.1
"""For a step that stands alone: of equally good pairings the one that keeps steps together wins."""

_PASSING = frozenset({"scroll", "noop", "hover", "focus", "take_note", "read_notes", "calculate", "look"})
"""Actions that lead nowhere: a run that does one more of them has not parted from the other."""


_WORD = re.compile(r"\w+")
_OF_THE_TASK = "{of the task}"


class PairedSteps(NamedTuple):
    """Places of two paired steps, -1 for a step that stands alone."""

    left: int
    right: int
    same_action: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """A step as it is compared: state ids ("" for unknown), address, template and action."""

    page_state: str
    state: str
    address: str
    template: str
    action: tuple[str, ...]


def align_steps(
    left: Sequence[Step], right: Sequence[Step], goals: tuple[str, str] = ("", "")
) -> list[PairedSteps]:
    """Return the steps of two runs in rows: those that belong together in one row, others alone.

    ``goals`` are their tasks: where each does the same with what its own task names (typing ``Circe`` in one, ``Zing``
    in the other), the action is the same.
    """
    said = [frozenset(_WORD.findall(goal.casefold())) for goal in goals]
    ours = [_place(step, said[0] - said[1]) for step in left]
    theirs = [_place(step, said[1] - said[0]) for step in right]
    known: dict[_Place, int] = {}
    kinds = [[known.setdefault(place, len(known)) for place in places] for places in (ours, theirs)]
    wide = len(theirs) + 1
    best = array("d", (GAP * at for at in range(wide)))
    came = [bytes([0] + [2] * len(theirs))]  # 1 pairs both, 2 leaves the right one alone, 3 the left one
    likeness: dict[tuple[int, int], float] = {}
    for at, mine in enumerate(ours, 1):
        row = array("d", [GAP * at])
        how = bytearray([3])
        for to, other in enumerate(theirs, 1):
            pair = (kinds[0][at - 1], kinds[1][to - 1])
            if (like := likeness.get(pair)) is None:
                like = likeness[pair] = _likeness(mine, other)
            choice, score = 3, best[to] + GAP
            if row[to - 1] + GAP >= score:
                choice, score = 2, row[to - 1] + GAP
            if like and best[to - 1] + like >= score:
                choice, score = 1, best[to - 1] + like
            row.append(score)
            how.append(choice)
        best = row
        came.append(bytes(how))
    return _traced(came, ours, theirs)


def parting_row(rows: Sequence[PairedSteps], left: Sequence[Step], right: Sequence[Step]) -> int:
    """Return the row at which two runs first part after they were together; 0 if they never were, -1 for never.

    They are together where they stand on the same page; they part where they do different things there, or where one
    goes on alone. Scrolling, waiting and taking notes don't count.
    """
    together = False
    for number, row in enumerate(rows):
        if row.left >= 0 and row.right >= 0:
            if not row.same_action and not _passes(left[row.left]) and not _passes(right[row.right]):
                return number
            together = True
        elif together and not _passes(left[row.left] if row.left >= 0 else right[row.right]):
            return number
    return -1 if together or not rows else 0


def parting_words(
    rows: Sequence[PairedSteps],
    parting: int,
    left: tuple[Run, Sequence[Step]],
    right: tuple[Run, Sequence[Step]],
) -> str:
    """Say in one sentence how two runs part, the passed one first; "" where they don't."""
    if not 0 <= parting < len(rows):
        return "" if not rows else "Both did the same from the first step to the last."
    row = rows[parting]
    one, other = _next(left[1], rows, parting, 0), _next(right[1], rows, parting, 1)
    names = _names(left[0], right[0])
    told = [(names[0], _action_words(left[0], one)), (names[1], _action_words(right[0], other))]
    if names[1] != "the other run" and names[0] == "this one":
        told.reverse()
    parts = f"{told[0][0]} {told[0][1]}, {told[1][0]} {told[1][1]}"
    if row.left >= 0 and row.right >= 0:
        return f"Both were on {page_name(left[1][row.left])}; {parts}."
    before = next((back for back in reversed(rows[:parting]) if back.left >= 0 and back.right >= 0), None)
    if before is None:
        first = parts[0].upper() + parts[1:]
        return f"They never stood on the same page: {parts}." if one and other else f"{first}."
    return f"After {page_name(left[1][before.left])}, {parts}."


def _next(steps: Sequence[Step], rows: Sequence[PairedSteps], start: int, side: int) -> Step | None:
    """Return the first step of a side from a row on that leads somewhere, if any."""
    for row in rows[start:]:
        at = row[side]
        if at >= 0 and not _passes(steps[at]):
            return steps[at]
    return None


def _names(left: Run, right: Run) -> tuple[str, str]:
    passed = [run.score is not None and run.score >= 1 for run in (left, right)]
    if passed[0] == passed[1]:
        return "this one", "the other run"
    return "this one", "the passed run" if passed[1] else "the failed run"


def _action_words(run: Run, step: Step | None) -> str:
    if step is not None:
        return past_words(step) or "gave an answer that could not be read"
    return f"had ended ({run.outcome.value.replace('_', ' ')})"


def _passes(step: Step) -> bool:
    return step.action is None or step.action.kind in _PASSING


def _place(step: Step, own: frozenset[str]) -> _Place:
    action, target = step.action, step.target
    action_key: tuple[str, ...] = ()
    if action is not None:
        named = (target.role, _folded(target.name, own)) if target is not None else (action.bid or "",)
        args = [
            f"{name}={_folded(value, own)}"
            for name, value in sorted(action.args.items())
            if "bid" not in name
        ]
        action_key = (action.kind, *named, *args)
    return _Place(
        page_state=step.page_state,
        state=step.state,
        address=url_key(step.url),
        template=url_template(step.url),
        action=action_key,
    )


def _folded(value: ArgValue, own: frozenset[str]) -> str:
    """Return a name or value for comparison; one that holds a word of the run's own task alone stands for any such."""
    text = " ".join(str(value).casefold().split())
    return text if own.isdisjoint(_WORD.findall(text)) else _OF_THE_TASK


def _likeness(one: _Place, other: _Place) -> float:
    """Return how alike two steps' pages are, with a bonus for the same action; 0 for different kinds of pages."""
    if one.page_state and other.page_state:
        same = one.page_state == other.page_state
    else:
        same = bool(one.state) and one.state == other.state
    if same:
        like = SAME_STATE
    elif one.address and one.address == other.address:
        like = SAME_ADDRESS
    elif one.template and one.template == other.template:
        like = SAME_TEMPLATE
    else:
        return 0.0
    return like + (SAME_ACTION if one.action and one.action == other.action else 0.0)


def _traced(came: Sequence[bytes], ours: Sequence[_Place], theirs: Sequence[_Place]) -> list[PairedSteps]:
    rows: list[PairedSteps] = []
    at, to = len(ours), len(theirs)
    while at or to:
        choice = came[at][to]
        if choice == 1:
            at, to = at - 1, to - 1
            same = bool(ours[at].action) and ours[at].action == theirs[to].action
            rows.append(PairedSteps(at, to, same))
        elif choice == 2:
            to -= 1
            rows.append(PairedSteps(-1, to))
        else:
            at -= 1
            rows.append(PairedSteps(at, -1))
    rows.reverse()
    return rows
