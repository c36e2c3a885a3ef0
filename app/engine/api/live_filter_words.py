"""Words of the filter line of live runs: parsed into a ``LiveFilter``, checked, and completed.  Pure."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from app.engine.api.filter_vocabulary import FilterVocabulary, ValueForm, filter_words, split_words
from app.engine.core.labels import state_label
from app.engine.core.supervision import LiveRow, RunState
from app.engine.core.trajectory import Outcome

NEEDS, RUNNING, PAUSED, QUEUED = "needs", "running", "paused", "queued"
INTERRUPTED, FAILED, STOPPED, DONE = "interrupted", "failed", "stopped", "done"
STATE_GROUPS = (NEEDS, RUNNING, PAUSED, QUEUED, INTERRUPTED, FAILED, STOPPED, DONE)
"""Every live run is in exactly one of these; each is a word of the filter."""
FIELDS = ("site", "task", "batch", "policy", "flag", "cost")
"""Words that take a value after a colon."""

_DONE = (Outcome.ANSWERED, Outcome.DONE_BY_HAND, Outcome.ENDED_BY_ENVIRONMENT)
_STATES = {
    RunState.WAITING: NEEDS,
    RunState.PAUSED: PAUSED,
    RunState.QUEUED: QUEUED,
    RunState.INTERRUPTED: INTERRUPTED,
}
_COST = re.compile(r"(<=|>=|<|>)?\$?(\d{1,9}(?:\.\d{1,9})?)")
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def state_group(row: LiveRow) -> str:
    """Return which of ``STATE_GROUPS`` a run is in.

    Ended runs are ``done`` (answered, finished by hand, ended by the site), ``stopped`` (by a person) or ``failed``.
    """
    if row.needs and row.state is not RunState.TAKEN_OVER:
        return NEEDS
    if row.state is RunState.ENDED:
        return DONE if row.outcome in _DONE else STOPPED if row.outcome == Outcome.STOPPED else FAILED
    return _STATES.get(row.state, RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFilterValues:
    """Values known among the live runs, for completion."""

    sites: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    batches: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFilter:
    """Which live runs are shown.  Clauses of different kinds must all hold; of one kind, any.

    Attributes:
        states: of ``STATE_GROUPS``; any of them, none for all.
        fields: lower-case values by field (``site``, ``task``, ``batch``, ``policy``, ``flag``).
        costs: comparison sign and US dollars; all must hold.
        words: lower case; each occurs somewhere in the run's row.
    """

    states: frozenset[str] = frozenset()
    fields: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    costs: tuple[tuple[str, float], ...] = ()
    words: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether every run passes."""
        return not (self.states or self.fields or self.costs or self.words)

    def fits(self, row: LiveRow, batch: str = "") -> bool:
        """Whether a run passes; ``batch`` is the name of its batch."""
        if self.states and state_group(row) not in self.states:
            return False
        if any(not (_values(name, row, batch) & wanted) for name, wanted in self.fields.items()):
            return False
        if self.costs and not self._fits_cost(row):
            return False
        text = _text(row, batch) if self.words else ""
        return all(word in text for word in self.words)

    def _fits_cost(self, row: LiveRow) -> bool:
        """A run without a model has no cost, so none fits it; an unknown part counts as nothing."""
        spent = row.cost
        return spent is not None and all(_COMPARE[sign](spent.known, value) for sign, value in self.costs)


def parse_live_filter(text: str) -> LiveFilter:
    """Parse ``needs failed site:shop flag:loop cost:>0.1 words``; no input is an error.

    A field without a value, and a cost that is no number, filter nothing.
    """
    states, words = set[str](), list[str]()
    fields, costs = dict[str, frozenset[str]](), list[tuple[str, float]]()
    for word in split_words(text):
        name, colon, value = word.lower().partition(":")
        if name in STATE_GROUPS and not colon:
            states.add(name)
        elif not colon or name not in FIELDS:
            words.append(word.lower())
        elif name == "cost":
            costs += _cost(value)
        elif value:
            fields[name] = fields.get(name, frozenset()) | {value}
    return LiveFilter(states=frozenset(states), fields=fields, costs=tuple(costs), words=tuple(words))


def live_vocabulary(known: LiveFilterValues | None = None) -> FilterVocabulary:
    """Return the words of the filter line, with the values of these runs."""
    known = known or LiveFilterValues()
    return FilterVocabulary(
        switches=STATE_GROUPS,
        fields=FIELDS,
        values={
            "site": known.sites,
            "task": known.tasks,
            "batch": known.batches,
            "policy": known.policies,
            "flag": known.flags,
            "cost": (">0.1", ">1", "<0.1"),
        },
        forms={"cost": ValueForm(pattern=_COST, example=">0.1")},
        bare=known.sites,
    )


def filter_values(rows: Iterable[LiveRow], batches: Mapping[str, str] | None = None) -> LiveFilterValues:
    """Return the values that these runs have; ``batches`` are names by id."""
    rows, names = tuple(rows), batches or {}
    return LiveFilterValues(
        sites=_sorted(row.site for row in rows),
        tasks=_sorted(row.task_id for row in rows),
        batches=_sorted(names.get(row.batch, row.batch) for row in rows),
        policies=_sorted(row.policy for row in rows),
        flags=_sorted(flag.detector for row in rows for flag in row.flags),
    )


def toggled_state(text: str, state: str) -> str:
    """Return the filter line with this state as its only one, or without states where it was that already."""
    words = filter_words(text)
    before = {word.lower() for word in words} & set(STATE_GROUPS)
    kept = [word for word in words if word.lower() not in STATE_GROUPS]
    return " ".join([*([] if before == {state} else [state]), *kept])


def _cost(value: str) -> list[tuple[str, float]]:
    found = _COST.fullmatch(value)
    return [(found[1] or ">=", float(found[2]))] if found else []


def _values(name: str, row: LiveRow, batch: str) -> frozenset[str]:
    """Return what a field of a run may be called, in lower case."""
    if name == "flag":
        return frozenset(flag.detector.lower() for flag in row.flags)
    values = {
        "site": (row.site,),
        "task": (row.task_id, row.intent),
        "batch": (row.batch, batch),
        "policy": (row.policy,),
    }
    return frozenset(value.lower() for value in values[name] if value)


def _text(row: LiveRow, batch: str) -> str:
    """Return all that the words of a filter are looked for in."""
    return "\n".join(
        (
            row.intent, row.site, row.task_id, row.batch, batch, row.policy, row.run, row.url, row.title, row.plan,
            row.words, row.why, state_label(row), *(need.question for need in row.needs),
            *(flag.message for flag in row.flags),
        )
    ).lower()  # fmt: skip


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names) - {""}))
