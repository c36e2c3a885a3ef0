"""Tasks of a site with their oracles: lists of objects with the fields of ``SiteTask``.

``<site>/tasks.json`` is what the scout is worked on with; ``<site>/held_back.json`` asks for other things, for figures;
``<site>/fresh.json`` was written from the pages alone, by nobody who knew the scout, and is run for figures only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from benchmarks.sites.site import Site

Kind = Literal["question", "way", "change"]
TaskSet = Literal["tasks", "held_back", "fresh"]
SETS: tuple[TaskSet, ...] = ("tasks", "held_back", "fresh")
Rows = Mapping[str, Mapping[object, tuple[object, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteTask:
    """One task.

    Attributes:
        kind: a question wants an answer and no change; a way wants a page to be in front; a change wants the data
            changed.
        template: tasks that ask the same of different things share it.
        login: role of ``Site.accounts``; "" for nobody.
        start: path of the first page.
        answer: ``number``, ``text``, ``list`` or ``date``; of a question only.
        sql: gives the answer of a question, a list one row an item; a text with several rows may be any of them.
        url: of a way, a regular expression for the path and query the run must end at; ``{0}`` is the first column
            of ``sql``.
        after: of a change, queries and the rows they give once it is done.
        may_change: of a change, by table of ``Site.content`` the number of rows that may differ, come or go.  All
            other rows must stay as they are, in every task.
    """

    id: str
    kind: Kind
    template: str
    intent: str
    login: str = ""
    start: str = "/"
    answer: str = ""
    sql: str = ""
    url: str = ""
    after: Sequence[Mapping[str, Any]] = ()
    may_change: Mapping[str, int] = field(default_factory=dict[str, int])


def load_tasks(site: Site, which: TaskSet = "tasks") -> list[SiteTask]:
    """All tasks of one set of a site."""
    records = json.loads((site.data / f"{which}.json").read_text(encoding="utf-8"))
    return [SiteTask(**record) for record in records]


def sets_of(site: Site) -> list[TaskSet]:
    """The sets that a site has; only open sites have more than one."""
    return [which for which in SETS if (site.data / f"{which}.json").is_file()]


def find_task(site: Site, id: str) -> SiteTask:
    """The task of this id, of whatever set.

    Raises:
        RuntimeError: the site has none.
    """
    for which in sets_of(site):
        for task in load_tasks(site, which):
            if task.id == id:
                return task
    raise RuntimeError(f"{site.name} has no task {id[:80]!r}")


def ask(site: Site, sql: str) -> list[tuple[object, ...]]:
    """Rows that a query gives now."""
    with closing(site.view()) as view:
        return [tuple(row) for row in view.execute(sql).fetchall()]


def expected(site: Site, task: SiteTask) -> list[str]:
    """Items of the right answer; of a way the address as a regular expression; empty for a change."""
    if task.kind == "change":
        return []
    found = [str(row[0]) for row in ask(site, task.sql)] if task.sql else []
    if task.kind == "way":
        return [task.url.replace("{0}", re.escape(found[0])) if found else task.url]
    if not found or found == ["None"]:
        raise AssertionError(f"the question of {task.id} has no answer on this site")
    return found


def verdict(site: Site, task: SiteTask, wanted: Sequence[str], *, answer: str, url: str, before: Rows) -> str:
    """Why the task is not done; "" when it is.  Rows changed unasked are reported by ``strayed``."""
    if task.kind == "question":
        return "" if is_right(task.answer, answer, wanted) else f"answered {answer!r} for {', '.join(wanted)}"
    if task.kind == "way":
        parts = urlsplit(url)
        path = unquote(parts.path + (f"?{parts.query}" if parts.query else ""))
        return "" if re.fullmatch(wanted[0], path) else f"ended at {path} for {wanted[0]}"
    for truth in task.after:
        rows = sorted(tuple(row) for row in truth["rows"])
        found = sorted(ask(site, truth["sql"]))  # type: ignore[type-var]
        if found != rows:
            return f"{truth['sql']} gives {found} for {rows}"
    return ""


def strayed(before: Rows, after: Rows, may_change: Mapping[str, int]) -> list[str]:
    """Rows that differ although the task does not allow it, in words."""
    found: list[str] = []
    for table in before.keys() | after.keys():
        old, new = before.get(table, {}), after.get(table, {})
        changed = [key for key in old.keys() | new.keys() if old.get(key) != new.get(key)]
        if len(changed) > may_change.get(table, 0):
            found += [f"{table} {key}: {old.get(key)} -> {new.get(key)}" for key in changed]
    return found


def is_right(kind: str, answer: str, wanted: Sequence[str]) -> bool:
    """Whether an answer says what is wanted and no other thing of its kind; case, units and order don't count."""
    if kind == "number":
        numbers = {float(one.replace(",", "")) for one in re.findall(r"-?\d[\d,]*(?:\.\d+)?", answer)}
        return any(numbers == {float(one)} for one in wanted)
    if kind == "date":
        return any(_plain(one) in _plain(answer) for one in wanted)
    if kind == "list":
        items = sorted(_plain(item) for item in re.split(r"[,;\n]", answer) if item.strip())
        return items == sorted(_plain(one) for one in wanted)
    return any(f" {_plain(one)} " in f" {_plain(answer)} " and _fits(answer, one) for one in wanted)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w@.:/-]+", " ", text.casefold()).split()).strip(".")


def _fits(answer: str, wanted: str) -> bool:
    """A text answer may have a few words beside what is wanted, not a whole page."""
    return len(_plain(answer).split()) <= len(_plain(wanted).split()) + 12
