"""WebChoreArena's task file: WebArena's fields with types, required observation and a second start page.

``small_set_ids.txt`` beside it names the tasks of the small set; ``type_sub`` may be empty or missing.  The second
start page (``start_url_lite``) is nearer to the answer and is not used.
"""

from __future__ import annotations

import re
from dataclasses import replace

from app.engine.core.evaluation.suite import Dialect, SuiteTask
from app.engine.evaluation.suites.read_tasks import OddThings, ReadTasks, counted
from app.engine.evaluation.suites.suite_file import SMALL_SET, SuiteContent
from app.engine.evaluation.suites.task_record import TaskRecord
from app.engine.evaluation.suites.webarena import claims as is_like_webarena
from app.engine.evaluation.suites.webarena import read_task

NAME = "webchorearena"
SMALL = "small"
OBSERVATIONS = ("any", "text", "image")


def claims(content: SuiteContent) -> bool:
    """Whether the first object has WebArena's fields and types beside them."""
    return is_like_webarena(content) and "type_main" in content.records[0]


def read(content: SuiteContent) -> ReadTasks:
    """Read the tasks.  Raises ``InputError`` that names the task."""
    odd = OddThings()
    tasks = tuple(
        _task(TaskRecord.of(value, number, content.path), odd)
        for number, value in enumerate(content.records, 1)
    )
    small, notes = _small_set(content, tasks)
    lite = [
        task.id
        for task, value in zip(tasks, content.records, strict=True)
        if value.get("start_url_lite") not in (None, task.start_url)
    ]
    if lite:
        notes.append(f"a second start page nearer to the answer, which is not used: {counted(lite)}")
    return ReadTasks(
        form=NAME,
        dialect=Dialect.WEBCHOREARENA,
        tasks=tasks,
        notes=(*odd.notes, *notes),
        subsets=((SMALL, small),) if small else (),
    )


def _task(record: TaskRecord, odd: OddThings) -> SuiteTask:
    task = read_task(record, odd)
    required = record.text("required_obs")
    if required and required not in OBSERVATIONS:
        odd.add(f"a required observation that is none of {', '.join(OBSERVATIONS)}", task.id)
    if record.flag("required_wait"):
        odd.add("a page that has to be waited for (required_wait), which a run does anyway", task.id)
    return replace(
        task,
        kind=record.text("type_main") or task.kind,
        subtype=record.text("type_sub"),
        required_obs=required,
    )


def _small_set(content: SuiteContent, tasks: tuple[SuiteTask, ...]) -> tuple[tuple[str, ...], list[str]]:
    """Return the ids of the small set in the order of the file, and what is odd about them."""
    named = set(re.findall(r"[\w.-]+", content.beside.get(SMALL_SET, "")))
    small = tuple(task.id for task in tasks if task.id in named)
    missing = sorted(named - set(small))
    return small, [f"{SMALL_SET} names tasks that are not in the file: {counted(missing)}"] if missing else []
