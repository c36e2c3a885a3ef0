"""AgentLab's ``hint_db.csv``: hints for tasks, a row each; its agents look them up by task, topic or meaning.

Ten columns; used here: ``hint``, ``semantic_keys`` (its topics), ``domain_name`` (the site), ``task_name`` (its
author saw that task, so it taints the tip) and ``source`` (its author). A tip that several tasks taint has a row for
each; ``suite:task`` here is AgentLab's ``suite.task``. AgentLab compares a row's task with the current one and takes no
empty cell there, so a tip without any has the site's name, which is no task. Scope, structured parts, steps and anchor
have no column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from kb.exchange.csv import rows, write_rows
from kb.exchange.parsed import ParsedTip, Parser
from kb.tip import Provenance, TipDraft

COLUMNS = (
    "time_stamp",
    "task_name",
    "task_seed",
    "base_llm",
    "agent_name",
    "domain_name",
    "user_name",
    "source",
    "semantic_keys",
    "hint",
)
"""As AgentLab 0.4 has them."""

_SUITES = frozenset(
    {"webarena", "visualwebarena", "workarena", "miniwob", "assistantbench", "weblinx", "webchorearena"}
)
"""Benchmarks of BrowserGym, whose tasks are named ``suite.task`` there."""
_NO_SLUG = re.compile(r"[^a-z0-9._-]+")
_SEPARATORS = re.compile(r"[,;\n]+")


def is_table(text: str) -> bool:
    """Whether the first row of a CSV names AgentLab's columns."""
    first = {name.strip(' "\r').lower() for name in text.partition("\n")[0].split(",")}
    return {"hint", "semantic_keys"} <= first and "text" not in first


def parse(text: str, site: str) -> Parser:
    """Parse a draft from each hint; rows that follow each other and differ in their task alone are one.

    A given ``site`` takes precedence over the row's domain.
    """
    pending: ParsedTip | None = None
    for row in _rows(text, site):
        before, draft = pending.draft if pending else None, row.draft
        if before and draft and replace(before, taint=()) == replace(draft, taint=()):
            pending = ParsedTip(row.line, replace(before, taint=(*before.taint, *draft.taint)))
            continue
        if pending:
            yield pending
        pending = row
    if pending:
        yield pending


def _rows(text: str, site: str) -> Iterator[ParsedTip]:
    for line, row in rows(text, needs="hint"):
        named = site or _NO_SLUG.sub("-", row.get("domain_name", "").strip().lower()).strip("-._")
        task = row.get("task_name", "").strip()
        if not named:
            yield ParsedTip(line, error="it names no site; give one for the whole file")
            continue
        draft = TipDraft(
            site=named,
            text=row.get("hint", ""),
            keywords=tuple(
                word.strip() for word in _SEPARATORS.split(row.get("semantic_keys", "")) if word.strip()
            ),
            provenance=Provenance(author=row.get("source", "")),
            taint=(_own_name(task),) if task and task != row.get("domain_name", "").strip() else (),
        )
        yield ParsedTip(line, draft)


def _own_name(task: str) -> str:
    suite, dot, rest = task.partition(".")
    return f"{suite}:{rest}" if dot and suite in _SUITES else task


def serialise(tips: Iterable[TipDraft]) -> str:
    """Serialise the hints, without repetitions."""
    table = dict.fromkeys(cells for tip in tips for cells in _cells(tip))
    return write_rows(COLUMNS, table)


def _cells(tip: TipDraft) -> Iterator[tuple[str, ...]]:
    topics = ", ".join(" ".join(_SEPARATORS.split(word)).strip() for word in tip.keywords) or tip.site
    for task in tip.taint or (tip.site,):
        known = {
            "task_name": task.replace(":", ".", 1) if task.partition(":")[0] in _SUITES else task,
            "agent_name": "sitelore",
            "domain_name": tip.site,
            "source": tip.provenance.author,
            "semantic_keys": topics,
            "hint": tip.text,
        }
        yield tuple(known.get(name, "") for name in COLUMNS)
