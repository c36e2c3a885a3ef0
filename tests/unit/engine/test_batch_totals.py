"""The sums that a batch keeps as it changes, against all of it added up."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

from app.engine.api.run_api import RunRequest
from app.engine.core.batch import BatchState, TaskState
from app.engine.core.cost import Cost
from app.engine.services.supervision import batch_rules as rules
from app.engine.services.supervision.live_batch import LiveBatch
from app.engine.store.supervision.batch_store import BatchHead, BatchRun, BatchStatus, StoredBatch

COSTS = (None, Cost(known=0.25), Cost(known=0.5, unpriced=(("odd", 1),)))


def batch_of(total: int) -> LiveBatch:
    tasks = {
        number: RunRequest(intent=f"Task {number}", start_url="http://shop.test/")
        for number in range(1, total)
    }
    return LiveBatch(
        StoredBatch(head=BatchHead(id="b", name="b", total=total), status=BatchStatus(), tasks=tasks)
    )


def check(batch: LiveBatch) -> None:
    """Compare with a batch that is read anew, and with the rules over all runs."""
    stored = StoredBatch(
        head=batch.head,
        status=batch.status,
        tasks=batch.tasks,
        runs=tuple(batch.runs.values()),
        retries=batch.retries,
    )
    fresh = LiveBatch(stored)
    assert batch.spending == fresh.spending == rules.spending_of(batch.runs.values())
    assert batch.row(4) == replace(fresh.row(4), seconds_left=batch.row(4).seconds_left)
    assert batch.row(4).cost == rules.cost_of_runs(batch.runs.values())
    assert batch.batch_tasks() == fresh.batch_tasks()
    assert batch.next_task == fresh.next_task
    assert batch.following_state() == fresh.following_state()
    assert batch.to_retry() == fresh.to_retry()
    assert sorted(batch.unfinished) == sorted(fresh.unfinished)
    counts = Counter(task.state for task in batch.batch_tasks())
    row = batch.row(4)
    assert (row.waiting, row.active, row.needy, row.answered, row.failed, row.stopped) == tuple(
        counts[state] for state in TaskState
    )
    waiting = {task.number: task.state for task in batch.batch_tasks() if task.number in batch.tasks}
    assert batch.next_task == rules.next_task(waiting, batch.retries, only_retried=batch.status.only_retried)


def test_whatever_happens_the_kept_sums_are_those_of_all_runs():
    chance = random.Random(17)
    for _ in range(30):
        batch = batch_of(6)
        for number in range(60):
            batch.status = replace(
                batch.status,
                only_retried=chance.random() < 0.2,
                state=chance.choice([BatchState.ACTIVE, BatchState.PAUSED]),
            )
            known = list(batch.runs.values())
            if batch.next_task and chance.random() < 0.4:
                batch.add_run(BatchRun(run=f"r{number}", number=batch.next_task))
            elif known and chance.random() < 0.8:
                run = chance.choice(known)
                batch.put(
                    replace(
                        run,
                        state=chance.choice([*TaskState][1:]),
                        lost=chance.random() < 0.1,
                        tokens=chance.randrange(100),
                        cost=chance.choice(COSTS),
                        outcome="answered",
                        seconds=4.0,
                    )
                )
            elif batch.to_retry():
                batch.ask_again(chance.sample(batch.to_retry(), 1))
            check(batch)
