"""Faults in the rules of the wall of live runs: its filter, its order, its pictures."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

FILTER = "app/engine/api/live_filter_words.py"
_FILTER = ("tests/unit/engine/test_rules_of_the_live_filter.py",)

FAULTS = (
    Mutation(
        "wall-filter-needs-first",
        FILTER,
        "    if row.needs and row.state is not RunState.TAKEN_OVER:\n",
        "    if row.needs and row.state is RunState.WAITING:\n",
        "A run with an open request is among those that need a person, whatever its state.",
        _FILTER,
        safety=True,
    ),
    Mutation(
        "wall-filter-failed-is-not-done",
        FILTER,
        "else STOPPED if row.outcome == Outcome.STOPPED else FAILED",
        "else STOPPED",
        "A run that ended without an answer is failed.",
        _FILTER,
    ),
    Mutation(
        "wall-filter-all-clauses",
        FILTER,
        "        if any(not (_values(name, row, batch) & wanted) for name, wanted in self.fields.items()):\n",
        "        if all(not (_values(name, row, batch) & wanted) for name, wanted in self.fields.items()):\n",
        "Clauses of different kinds must all hold.",
        _FILTER,
    ),
    Mutation(
        "wall-filter-no-cost",
        FILTER,
        "return spent is not None and all(",
        "return spent is None or all(",
        "A run without a model fits no cost.",
        _FILTER,
    ),
    Mutation(
        "wall-filter-every-word",
        FILTER,
        "        return all(word in text for word in self.words)\n",
        "        return any(word in text for word in self.words)\n",
        "Every word must occur in the row.",
        _FILTER,
    ),
)
