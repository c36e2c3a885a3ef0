"""Online-Mind2Web's tasks in WebArena's fields: intents on public sites, without an oracle.

The ``eval`` of the published file is one and the same filler in every task.  A file whose ``eval`` differs from task to
task has oracles, and they are read.
"""

from __future__ import annotations

from dataclasses import replace

import orjson

from app.engine.core.evaluation.suite import Dialect, Oracle, SuiteTask
from app.engine.evaluation.suites.read_tasks import OddThings, ReadTasks
from app.engine.evaluation.suites.suite_file import SuiteContent
from app.engine.evaluation.suites.task_record import TaskRecord
from app.engine.evaluation.suites.webarena import claims as is_like_webarena
from app.engine.evaluation.suites.webarena import read_task

NAME = "online-mind2web"


def claims(content: SuiteContent) -> bool:
    """Whether the first object has WebArena's fields and those of the data set's own."""
    return is_like_webarena(content) and {"original_task_id", "reference_length"} <= content.records[0].keys()


def read(content: SuiteContent) -> ReadTasks:
    """Read the tasks.  Raises ``InputError`` that names the task."""
    odd = OddThings()
    records = [TaskRecord.of(value, number, content.path) for number, value in enumerate(content.records, 1)]
    is_filler = (
        len({orjson.dumps(one.fields.get("eval"), option=orjson.OPT_SORT_KEYS) for one in records}) == 1
    )
    tasks = tuple(_task(record, odd, is_filler=is_filler) for record in records)
    filler = f"the eval of all {len(tasks)} tasks is the same filler: they have no oracle"
    return ReadTasks(
        form=NAME,
        dialect=Dialect.WEBARENA,
        tasks=tasks,
        notes=((filler,) if is_filler else odd.notes),
    )


def _task(record: TaskRecord, odd: OddThings, *, is_filler: bool) -> SuiteTask:
    task = replace(read_task(record, odd), level=record.text("level"))
    return replace(task, kind="", writes=False, oracle=Oracle()) if is_filler else task
