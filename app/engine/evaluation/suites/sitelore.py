"""Sitelore's own suites: ``{"format": "sitelore-suite", "version": 1, "title": …, "tasks": […]}``.

A task has the fields of ``SuiteTask``, its ``oracle`` those of ``Oracle``; only ``id`` and ``intent`` are required, and
of a task with a ``setup`` the instruction may come from the page.  ``subsets`` beside the tasks names lists of ids.
``docs/guide/suites.md`` is the description for people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, cast

from app.engine.core.evaluation.suite import Dialect, Evaluator, HtmlTarget, Oracle, SuiteTask
from app.engine.evaluation.suites.read_tasks import (
    CHANGE,
    OddThings,
    ReadTasks,
    counted,
    kind_by,
    sites_in_order,
    values_of,
)
from app.engine.evaluation.suites.suite_file import SuiteContent
from app.engine.evaluation.suites.task_record import TaskRecord
from app.errors import InputError

NAME = "sitelore"
FORMAT, VERSION = "sitelore-suite", 1
ANSWER_KINDS = ("number", "text", "list", "date")
SETUP = re.compile(r"miniwob:\d{1,9}")
"""Set-ups of a first page that the program knows."""
_DIALECTS = (Dialect.SITELORE, Dialect.WEBARENA, Dialect.WEBCHOREARENA)
_TASK_FIELDS = {one.name for one in fields(SuiteTask)} | {"site", "task_id"}
_ORACLE_FIELDS = {one.name for one in fields(Oracle)}


def claims(content: SuiteContent) -> bool:
    """Whether its head says so."""
    first = content.records[0]
    own = cast("dict[str, Any]", first if isinstance(first, dict) else {})
    return FORMAT in (content.head.get("format"), own.get("format"))


def read(content: SuiteContent) -> ReadTasks:
    """Read the tasks.

    Raises:
        InputError: a task is wrong, and the message names it; or the file is of a newer version.
    """
    _check_head(content)
    odd = OddThings()
    tasks = tuple(
        _task(TaskRecord.of(value, number, content.path), odd)
        for number, value in enumerate(content.records, 1)
    )
    subsets, notes = _subsets(content, tasks)
    title = content.head.get("title")
    return ReadTasks(
        form=NAME,
        dialect=_dialect(content),
        tasks=tasks,
        title=title.strip()[:300] if isinstance(title, str) else "",
        notes=(*odd.notes, *notes),
        subsets=subsets,
    )


def _check_head(content: SuiteContent) -> None:
    version = content.head.get("version")
    if not content.head:
        raise InputError(
            "this suite has no list of tasks", path=content.path, remedy='write them into "tasks": […]'
        )
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise InputError(
            "this suite does not say its version", path=content.path, remedy=f'write "version": {VERSION}'
        )
    if version > VERSION:
        raise InputError(
            f"this suite is of version {version}, this program reads up to {VERSION}",
            path=content.path,
            remedy="use a newer Sitelore",
        )


def _dialect(content: SuiteContent) -> Dialect:
    named = content.head.get("dialect", Dialect.SITELORE.value)
    if named not in {one.value for one in _DIALECTS}:
        raise InputError(
            f"{str(named)[:40]!r} is no dialect of a suite",
            path=content.path,
            remedy=f"use {', '.join(one.value for one in _DIALECTS)}",
        )
    return Dialect(named)


def _task(record: TaskRecord, odd: OddThings) -> SuiteTask:
    id, setup = record.id("id", "task_id"), record.text("setup").strip()
    if not id:
        raise record.wrong("it has no id", "give every task one of its own")
    if setup and not SETUP.fullmatch(setup):
        odd.add("a set-up of the first page that this program lacks", id)
    start, site = record.text("start_url").strip(), record.text("site").strip()
    oracle = _oracle(record.inner("oracle"), id, odd)
    kind, writes = record.text("kind").strip() or kind_by(oracle.evaluators), record.flag("writes")
    _note_unknown(record.fields, _TASK_FIELDS, "", id, odd)
    return SuiteTask(
        id=id,
        intent=record.intent(may_be_empty=bool(setup)),
        sites=sites_in_order(record.texts("sites") or ((site,) if site else ()), start),
        start_url=start,
        template=record.word("template"),
        kind=kind,
        subtype=record.text("subtype"),
        required_obs=record.text("required_obs"),
        level=record.word("level"),
        login=record.text("login").strip(),
        writes=writes if writes is not None else kind == CHANGE or kind_by(oracle.evaluators) == CHANGE,
        setup=setup,
        max_steps=record.count("max_steps"),
        values=values_of(record.inner("values")),
        oracle=oracle,
    )


def _oracle(record: TaskRecord, id: str, odd: OddThings) -> Oracle:
    _note_unknown(record.fields, _ORACLE_FIELDS, "oracle.", id, odd)
    answer_kind, page = record.text("answer_kind"), record.text("page")
    if answer_kind and answer_kind not in ANSWER_KINDS:
        raise record.wrong(
            f"its answer_kind {answer_kind[:40]!r} is none", f"use one of {', '.join(ANSWER_KINDS)}"
        )
    try:
        re.compile(page)
    except (re.error, RecursionError, OverflowError) as error:
        raise record.wrong(
            f"its page is no regular expression ({error})", "write one for path and query"
        ) from error
    exact = record.texts("exact_match", numbers=True)
    if len(exact) > 1:
        raise record.wrong("its exact_match has several texts", "write one; accepted takes several")
    accepted, html = record.texts("accepted", numbers=True), record.inners("html")
    return Oracle(
        evaluators=record.texts("evaluators") or _evaluators_of(record),
        exact_match=exact[0] if exact else None,
        must_include=record.texts("must_include", numbers=True),
        fuzzy_match=record.texts("fuzzy_match"),
        unachievable=bool(record.flag("unachievable")),
        note=record.text("note"),
        raw_answer=record.text("raw_answer"),
        url=record.text("url"),
        url_alternatives=record.texts("url_alternatives"),
        url_note=record.text("url_note"),
        html=tuple(_target(one) for one in html),
        answer_kind=answer_kind or ("text" if accepted else ""),
        accepted=accepted,
        page=page,
    )


def _evaluators_of(record: TaskRecord) -> tuple[str, ...]:
    """Return the evaluators that an oracle needs which names none."""
    wanted = (
        (Evaluator.ANSWER, ("accepted", "answer_kind")),
        (Evaluator.PAGE, ("page",)),
        (Evaluator.STRING, ("exact_match", "must_include", "fuzzy_match", "unachievable")),
        (Evaluator.URL, ("url",)),
        (Evaluator.HTML, ("html",)),
    )
    return tuple(one.value for one, names in wanted if any(record.fields.get(name) for name in names))


def _target(record: TaskRecord, *, is_inner: bool = False) -> HtmlTarget:
    exact, further = record.texts("exact_match", numbers=True), record.inners("alternatives")
    if len(exact) > 1:
        raise record.wrong(f"its {record.within}exact_match has several texts", "write one text")
    if further and is_inner:
        raise record.wrong(f"its {record.within}alternatives are inside others", "write one list of them")
    return HtmlTarget(
        url=record.text("url", "last"),
        locator=record.text("locator"),
        exact_match=exact[0] if exact else None,
        must_include=record.texts("must_include", numbers=True),
        prep_actions=record.texts("prep_actions"),
        alternatives=tuple(_target(one, is_inner=True) for one in further),
    )


def _note_unknown(given: Iterable[str], known: set[str], within: str, id: str, odd: OddThings) -> None:
    for name in given:
        if name not in known:
            odd.add(f"the field {within}{name[:40]}, which is not known and not used", id)


def _subsets(
    content: SuiteContent, tasks: tuple[SuiteTask, ...]
) -> tuple[tuple[tuple[str, tuple[str, ...]], ...], list[str]]:
    """Return the named subsets in the order of the tasks, and what is odd about them."""
    given = content.head.get("subsets")
    if given is None:
        return (), []
    if not isinstance(given, dict):
        raise InputError(
            "its subsets are not an object", path=content.path, remedy='write {"name": ["id", …]}'
        )
    found: list[tuple[str, tuple[str, ...]]] = []
    notes: list[str] = []
    for name, ids in cast("dict[str, Any]", given).items():
        if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,62}", name) or name in ("a", "b"):
            raise InputError(
                f"{name[:40]!r} can't name a subset",
                path=content.path,
                remedy="use small letters, digits, '-', '_' and '.'; a and b are the halves of a split",
            )
        named = {str(id) for id in cast("list[Any]", ids if isinstance(ids, list) else [])}
        inside = tuple(task.id for task in tasks if task.id in named)
        found.append((name, inside))
        if missing := sorted(named - set(inside)):
            notes.append(f"the subset {name} names tasks that are not in the file: {counted(missing)}")
    return tuple(found), notes
