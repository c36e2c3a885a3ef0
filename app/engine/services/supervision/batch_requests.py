"""The check of a batch before it starts: its limits, its models; and its facts."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from app.engine.api.batch_api import BatchRequest
from app.engine.api.run_api import RunRequest
from app.engine.services.core import Core
from app.engine.services.policy_factory import check_model
from app.engine.services.supervision.fleet import MAX_CONCURRENCY
from app.engine.store.supervision.batch_store import BatchHead
from app.errors import UsageError

MAX_TASKS = 5_000
MAX_NAME = 80


def new_batch_id() -> str:
    """Return a new id; ids sort by time."""
    return f"batch-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{uuid.uuid4().hex[:6]}"


def batch_head(id: str, request: BatchRequest, tasks: Sequence[RunRequest], author: str) -> BatchHead:
    """Return the facts of a batch that is about to start."""
    name = request.name.strip() or (Path(request.source).stem if request.source else tasks[0].intent)
    return BatchHead(
        id=id,
        name=" ".join(name.split())[:MAX_NAME],
        author=author,
        source=request.source,
        policy=_joined(tasks, lambda task: task.policy),
        model=_joined(tasks, lambda task: task.model),
        kb=_joined(tasks, lambda task: Path(task.kb).name),
        graph=", ".join(dict.fromkeys(name for task in tasks for name in task.graph)),
        sites=_joined(tasks, lambda task: task.site),
        total=len(tasks),
        created_at=time.time(),
    )


def _joined(tasks: Sequence[RunRequest], value: Callable[[RunRequest], str]) -> str:
    return ", ".join(dict.fromkeys(word for task in tasks if (word := value(task))))


def check_limits(at_once: int, max_money: float, max_tokens: int) -> None:
    """Check parallel runs and budget.

    Raises:
        UsageError: one is out of its range.
    """
    if not 0 <= at_once <= MAX_CONCURRENCY:
        raise UsageError(f"{at_once} parallel runs are not possible", remedy=f"give 0 to {MAX_CONCURRENCY}")
    if not math.isfinite(max_money) or max_money < 0 or max_tokens < 0:
        raise UsageError("a budget can't be less than nothing", remedy="give 0 for none")


def check_number(tasks: Sequence[RunRequest]) -> None:
    """Check that a batch is not too large.  Raises ``UsageError``."""
    if len(tasks) > MAX_TASKS:
        raise UsageError(f"the batch has {len(tasks):,} tasks, at most {MAX_TASKS:,} are allowed")


async def check_models(core: Core, tasks: Iterable[RunRequest], max_money: float) -> None:
    """Check that each model the tasks ask can be asked, and has a price where there is a budget of money.

    Raises:
        ModelError: no endpoint is set.  UsageError: the price of a model is not known; the message names it.
    """
    asked = {(task.policy, task.model, task.is_judged): task for task in tasks}
    for task in asked.values():
        await core.on_worker(check_model, replace(task, max_money=max_money or task.max_money))
