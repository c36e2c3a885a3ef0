"""Taint: the tasks of a suite that an author of tips has seen, or as good as seen.

A tip's taint names tasks as ``SUITE:TASK``.  Who has seen one task of a template knows how all of them are done, so
all are tainted.  Imported runs name a benchmark and not a suite of the workspace, so that a form counts as a name.
"""

from __future__ import annotations

from collections.abc import Iterable

from app.engine.core.evaluation.suite import Suite
from app.engine.evaluation.suites.choose import template_of

_OWN_FORMS = ("sitelore", "plain")
"""Formats that are no benchmark's: their suites go by their names alone."""


def suite_names(suite: Suite) -> tuple[str, ...]:
    """Return the names by which runs and taints may speak of a suite: its own, its file's, and a benchmark's."""
    names = (suite.name, suite.file_name, "" if suite.form in _OWN_FORMS else suite.form)
    return tuple(dict.fromkeys(name for name in names if name))


def tainted_tasks(suite: Suite, taints: Iterable[str]) -> set[str]:
    """Return the ids of all tasks that share a template with a task that the taints name.

    A taint is ``SUITE:TASK``; BrowserGym's spelling ``SUITE.TASK`` counts, too, and what names another suite does not.
    """
    wanted = set(taints)
    if not wanted:
        return set()
    starts = suite_names(suite)
    templates = {
        template_of(task)
        for task in suite.tasks
        if any(f"{name}{mark}{task.id}" in wanted for name in starts for mark in ":.")
    }
    return {task.id for task in suite.tasks if template_of(task) in templates}
