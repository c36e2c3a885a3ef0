"""The result of reading a suite file, and rules that all formats share: names of sites, kinds, templates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from app.engine.core.evaluation.suite import Dialect, Evaluator, Oracle, SuiteTask
from app.engine.evaluation.suites.task_record import TaskRecord

BASE = re.compile(r"__([A-Z][A-Z0-9_]*?)__")
"""A name such as ``__SHOPPING__``, which stands for an address of the table of sites."""
AND = " |AND| "
"""Between the addresses of a task that starts on several pages."""
ALL_EVALUATORS = frozenset(one.value for one in Evaluator)
NOBODY = "nobody"
QUESTION, WAY, CHANGE = "question", "way", "change"
_NAMED_IN_A_NOTE = 5
_LONGEST_VALUE = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTasks:
    """The tasks of a file with what is known of them together."""

    form: str
    dialect: Dialect
    tasks: tuple[SuiteTask, ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    subsets: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(slots=True)
class OddThings:
    """Collects the odd things of a file: one sentence each, with the tasks that have it."""

    _found: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, sentence: str, task: str) -> None:
        """Note an odd thing of a task; how many tasks have it, and which, is put behind the sentence."""
        self._found.setdefault(sentence, []).append(task)

    @property
    def notes(self) -> tuple[str, ...]:
        """The sentences."""
        return tuple(f"{sentence}: {counted(tasks)}" for sentence, tasks in self._found.items())


def counted(tasks: Sequence[str]) -> str:
    """Return how many tasks these are and which: ``7 tasks (1, 2, 3, 4, 5, …)``."""
    shown = ", ".join(task[:40] for task in tasks[:_NAMED_IN_A_NOTE])
    more = ", …" if len(tasks) > _NAMED_IN_A_NOTE else ""
    return f"{len(tasks)} task{'s' if len(tasks) != 1 else ''} ({shown}{more})"


def names_of_bases(text: str) -> tuple[str, ...]:
    """Return the names of bases in a text, with their underscores."""
    return tuple(dict.fromkeys(match.group() for match in BASE.finditer(text)))


def sites_in_order(sites: Iterable[str], start_url: str) -> tuple[str, ...]:
    """Return a task's sites, the one that its start address names first; those that only the address names, too."""
    named = [match.group(1).lower() for match in BASE.finditer(start_url)]
    listed = [site.strip() for site in sites if site.strip()]
    return tuple(dict.fromkeys((*named[:1], *listed, *named[1:])))


def kind_by(evaluators: Sequence[str], *, changes: bool = False) -> str:
    """Return a task's kind by what it is judged by.

    Contents of pages or a required state mean a change, an answer a question, an address alone a way; a site that has
    to be put back afterwards was changed.
    """
    if changes or {Evaluator.HTML, Evaluator.STATE} & set(evaluators):
        return CHANGE
    if {Evaluator.STRING, Evaluator.ANSWER} & set(evaluators):
        return QUESTION
    if {Evaluator.URL, Evaluator.PAGE} & set(evaluators):
        return WAY
    return ""


def template_text(text: str) -> str:
    """Return the text of a template in its one spelling: two that differ in spaces or case are one."""
    return " ".join(text.split()).casefold()


def values_of(record: TaskRecord) -> tuple[tuple[str, str], ...]:
    """Return the values of a template by name, those of a list one by one."""
    found: list[tuple[str, str]] = []
    for name, value in record.fields.items():
        items = cast("list[Any]", value if isinstance(value, list) else [value])
        found += [(name, str(item)[:_LONGEST_VALUE]) for item in items[:100] if item is not None]
    return tuple(found)


def refuse_duplicates(tasks: Sequence[SuiteTask], path: str) -> None:
    """Raise ``InputError`` where two tasks have one id."""
    twice = [(id, count) for id, count in Counter(task.id for task in tasks).items() if count > 1]
    if not twice:
        return
    id = twice[0][0]
    first, second = [number for number, task in enumerate(tasks, 1) if task.id == id][:2]
    raise TaskRecord({}, second, path).wrong(
        f"its id {id[:80]!r} is that of task {first}, too", "give every task an id of its own"
    )


def has_oracle(oracle: Oracle) -> bool:
    """Whether something says when the task is done."""
    return bool(oracle.evaluators)


def unknown_evaluators(tasks: Iterable[SuiteTask]) -> tuple[str, ...]:
    """Return the names of evaluators that the program lacks."""
    named = {name for task in tasks for name in task.oracle.evaluators}
    return tuple(sorted(named - ALL_EVALUATORS))
