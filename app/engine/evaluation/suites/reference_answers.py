"""The reference answers of tasks that must not stand in a tip: whoever reads one there needs no skill to be right."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.engine.core.evaluation.suite import Evaluator, Oracle, Suite

_OR = re.compile(r" \|(?:OR|or)\| ")
_LONGEST = 500


def reference_answers(suite: Suite, site: str = "") -> Iterator[tuple[str, str]]:
    """Yield answers with their tasks (``SUITE:TASK``), of the tasks of one site or of all.

    Answers of agents only: what a page has to hold in the end is mostly said in the task, and an address is knowledge
    of the site.  The lint decides which of them say something by themselves.
    """
    for task in suite.tasks:
        if site and site not in task.sites:
            continue
        for answer in dict.fromkeys(_answers(task.oracle)):
            text = " ".join(answer.split())
            if text and len(text) <= _LONGEST:
                yield text, f"{suite.name}:{task.id}"


def _answers(oracle: Oracle) -> Iterator[str]:
    if Evaluator.STRING in oracle.evaluators:
        given = (oracle.exact_match or "", *oracle.must_include, *oracle.fuzzy_match)
        yield from (part for text in given for part in _OR.split(text))
    yield from oracle.accepted
