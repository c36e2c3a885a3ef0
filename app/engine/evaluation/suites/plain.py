"""Plain lists of tasks, as runs under supervision are started from: lines of text, or objects with an ``intent``.

They have no oracle.  A task without ``task_id`` or ``id`` is named by its number in the file.
"""

from __future__ import annotations

from app.engine.core.evaluation.suite import Dialect, SuiteTask
from app.engine.evaluation.suites.read_tasks import AND, ReadTasks, sites_in_order, template_text
from app.engine.evaluation.suites.suite_file import SuiteContent
from app.engine.evaluation.suites.task_record import TaskRecord

NAME = "plain"


def claims(content: SuiteContent) -> bool:
    """Whether it has no head of its own: everything else was asked before."""
    return not content.head


def read(content: SuiteContent) -> ReadTasks:
    """Read the tasks.  Raises ``InputError`` that names the task."""
    tasks = tuple(
        _task(TaskRecord.of(value, number, content.path)) for number, value in enumerate(content.records, 1)
    )
    return ReadTasks(form=NAME, dialect=Dialect.SITELORE, tasks=tasks, notes=("no task has an oracle",))


def _task(record: TaskRecord) -> SuiteTask:
    start, site = record.text("start_url").strip(), record.text("site").strip()
    sites = record.texts("sites") or ((site,) if site else ())
    return SuiteTask(
        id=record.id("task_id", "id") or str(record.number),
        intent=record.intent(),
        sites=sites_in_order(sites, start.split(AND)[0]),
        start_url=start,
        template=record.word("template") or template_text(record.text("intent_template")),
        kind=record.text("kind"),
        max_steps=record.count("max_steps"),
    )
