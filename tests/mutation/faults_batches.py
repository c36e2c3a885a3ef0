"""Faults in the rules of batches: a task's state, the next task, the budget, the state that follows."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

RULES = "app/engine/services/supervision/batch_rules.py"
RUNNER, SERVICE = (
    "app/engine/services/supervision/batch_runner.py",
    "app/engine/services/supervision/batches.py",
)
_RULES = ("tests/unit/engine/test_rules_of_batches.py",)
_BATCHES = ("tests/unit/engine/test_batches.py",)

FAULTS = (
    Mutation(
        "batch-by-hand-counts",
        RULES,
        "Outcome.DONE_BY_HAND.value, ",
        "",
        "A task that was done by hand is answered.",
        _RULES,
    ),
    Mutation(
        "batch-broken-off-here",
        RULES,
        "row.state is RunState.INTERRUPTED and broke_off_here",
        "row.state is RunState.INTERRUPTED",
        "A run that a dead process left can be resumed; its task has not failed.",
        _RULES,
    ),
    Mutation(
        "batch-lost-runs",
        RULES,
        "there = [run for run in runs if not run.lost]",
        "there = list(runs)",
        "A run that never began is none: its task is started again.",
        _RULES,
        safety=True,
    ),
    Mutation(
        "batch-retried-first",
        RULES,
        "first = again if again or only_retried else waiting",
        "first = again if only_retried else waiting",
        "What a person asked for again comes first.",
        _RULES,
    ),
    Mutation(
        "batch-budget-reached",
        RULES,
        "if max_money and spent.money >= max_money:",
        "if max_money and spent.money > max_money:",
        "A budget is used up once the runs have cost as much.",
        ("tests/unit/engine/test_rules_of_batches.py",),
    ),
    Mutation(
        "batch-price-unknown",
        RULES,
        "is_known = is_known and not run.cost.unpriced",
        "is_known = True",
        "A cost of which a part is not known is not taken for nothing.",
        _RULES,
        safety=True,
    ),
    Mutation(
        "batch-paused-stays",
        RULES,
        "if status.state is BatchState.ACTIVE and problem:",
        "if problem:",
        "A paused batch stays paused.",
        _RULES,
    ),
    Mutation(
        "batch-own-budget",
        RULES,
        "own.tokens is None or shared.tokens < own.tokens",
        "True",
        "A run whose own budget is used up ends; its batch goes on.",
        _RULES,
    ),
    Mutation(
        "batch-passwords",
        SERVICE,
        "            self._agent_runs.remove_passwords(task_key(id, number), replace(task, batch=id))\n",
        "            replace(task, batch=id)\n",
        "A password in a task is removed before its batch is stored.",
        _BATCHES,
        safety=True,
    ),
    Mutation(
        "batch-pauses-when-spent",
        RUNNER,
        "        if state is not before and state is BatchState.OUT_OF_BUDGET:\n",
        "        if False:\n",
        "When the budget is used up, the active runs are paused.",
        _BATCHES,
        safety=True,
    ),
    Mutation(
        "batch-held-by-a-person",
        RUNNER,
        "if run.run in batch.held and run.is_active and run.control.pause_requested:",
        "if run.is_active and run.control.pause_requested:",
        "A run that a person paused stays paused when its batch goes on.",
        _BATCHES,
        safety=True,
    ),
)
