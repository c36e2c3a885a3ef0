"""WebArena's task files, the published one and its variants: lists of objects with ``sites``, ``intent`` and ``eval``.

A variant adds ``or`` beside ``reference_url``, further right addresses; one dialect reads it.  WebChoreArena and
Online-Mind2Web are written in the same fields and read their oracles here.
"""

from __future__ import annotations

from app.engine.core.evaluation.suite import Dialect, HtmlTarget, Oracle, SuiteTask
from app.engine.evaluation.suites.read_tasks import (
    AND,
    NOBODY,
    OddThings,
    ReadTasks,
    kind_by,
    sites_in_order,
    template_text,
    values_of,
)
from app.engine.evaluation.suites.suite_file import SuiteContent
from app.engine.evaluation.suites.task_record import TaskRecord

NAME = "webarena"
UNACHIEVABLE = "N/A"
_ANSWERS = ("exact_match", "must_include", "fuzzy_match")
_CONTENTS = ("exact_match", "must_include")
_FURTHER = 20
"""Alternatives of one target at most."""


def claims(content: SuiteContent) -> bool:
    """Whether the first object has WebArena's fields."""
    first = content.records[0]
    return isinstance(first, dict) and "sites" in first and "eval" in first and "intent" in first


def read(content: SuiteContent) -> ReadTasks:
    """Read the tasks.  Raises ``InputError`` that names the task."""
    odd = OddThings()
    tasks = tuple(
        read_task(TaskRecord.of(value, number, content.path), odd)
        for number, value in enumerate(content.records, 1)
    )
    further = any(task.oracle.url_alternatives or _has_alternatives(task.oracle) for task in tasks)
    return ReadTasks(
        form=NAME,
        dialect=Dialect.WEBCHOREARENA if further else Dialect.WEBARENA,
        tasks=tasks,
        notes=odd.notes,
    )


def read_task(record: TaskRecord, odd: OddThings) -> SuiteTask:
    """Read one task in WebArena's fields."""
    id, start = record.id("task_id", "id"), record.text("start_url").strip()
    if not id:
        raise record.wrong("it has no task_id", "give every task one of its own")
    oracle = read_oracle(record.inner("eval"), id, odd)
    changes = bool(record.flag("require_reset") or record.flag("affects_environment"))
    if AND in start:
        odd.add("several start pages, of which a run takes the first", id)
    if "string_note" in record.fields:
        odd.add("a string_note outside of eval, which is not used", id)
    template = record.word("intent_template_id")
    return SuiteTask(
        id=id,
        intent=record.intent(),
        sites=sites_in_order(record.texts("sites"), start),
        start_url=start,
        template=template or template_text(record.text("intent_template")),
        kind=kind_by(oracle.evaluators, changes=changes),
        login=NOBODY if record.flag("require_login") is False else "",
        writes=changes or "program_html" in oracle.evaluators,
        values=values_of(record.inner("instantiation_dict")),
        oracle=oracle,
    )


def read_oracle(record: TaskRecord, id: str, odd: OddThings) -> Oracle:
    """Read ``eval``; what the program can't judge by stays as an evaluator of its own name."""
    evaluators = list(record.texts("eval_types"))
    answers = _answers(record, id, odd)
    known = {name: answers.texts(name, numbers=True) for name in _ANSWERS}
    if len(known["exact_match"]) > 1:
        raise record.wrong("its reference answer has several exact_match", "write one text")
    evaluators += [f"string_match:{name}" for name in answers.fields if name not in _ANSWERS]
    unachievable = known["fuzzy_match"] == (UNACHIEVABLE,)
    target_records = record.inners("program_html")
    html = tuple(_target(one, id, odd, evaluators) for one in target_records)
    url, note = record.text("reference_url"), record.text("string_note")
    further = tuple(one.text("reference_url") for one in record.inners("or"))
    if further:
        odd.add("further right addresses (or), which only the dialect webchorearena knows", id)
    if "string_match" in evaluators and not any(known.values()):
        odd.add("judged by the answer, but no reference answer is given", id)
    if "url_match" in evaluators and not url:
        odd.add("judged by the address, but no reference address is given", id)
    if "program_html" in evaluators and not html:
        odd.add("judged by contents of pages, but none is named", id)
    raw, sum_ = record.text("reference_answer_raw_annotation"), record.text("price_calculation")
    if sum_:
        odd.add("the sum that gives the answer (price_calculation), which only people are shown", id)
        raw = f"{raw or ' '.join(known['exact_match'])} ({sum_})".strip()
    return Oracle(
        evaluators=tuple(dict.fromkeys(evaluators)),
        exact_match=known["exact_match"][0] if known["exact_match"] else None,
        must_include=known["must_include"],
        fuzzy_match=() if unachievable else known["fuzzy_match"],
        unachievable=unachievable,
        note=note,
        raw_answer=raw,
        url=url,
        url_alternatives=tuple(filter(None, further)),
        url_note=record.text("url_note"),
        html=html,
    )


def _answers(record: TaskRecord, id: str, odd: OddThings) -> TaskRecord:
    """Return the reference answers; some files have a text where there are none."""
    given = record.fields.get("reference_answers")
    if isinstance(given, str):
        odd.add("a text in place of reference answers, which is not used", id)
        return TaskRecord({}, record.number, record.path, f"{record.within}reference_answers.")
    return record.inner("reference_answers")


def _target(
    record: TaskRecord, id: str, odd: OddThings, evaluators: list[str], *, is_inner: bool = False
) -> HtmlTarget:
    contents = record.inner("required_contents")
    exact = contents.texts("exact_match", numbers=True)
    included = contents.texts("must_include", numbers=True)
    if len(exact) > 1:
        raise record.wrong(f"its {record.within}required_contents has several exact_match", "write one text")
    unknown = [name for name in contents.fields if name not in _CONTENTS]
    evaluators += [f"program_html:{name}" for name in unknown]
    further = record.inners("or")
    if len(further) > _FURTHER:
        raise record.wrong(f"its {record.within}or has more than {_FURTHER} targets", "leave some out")
    if further and is_inner:
        raise record.wrong(f"its {record.within}or is inside another one", "write one list of alternatives")
    if not exact and not included and not unknown:
        odd.add("a target of program_html without required contents", id)
    return HtmlTarget(
        url=record.text("url", "last"),
        locator=record.text("locator"),
        exact_match=exact[0] if exact else None,
        must_include=included,
        prep_actions=record.texts("prep_actions"),
        alternatives=tuple(_target(one, id, odd, evaluators, is_inner=True) for one in further),
    )


def _has_alternatives(oracle: Oracle) -> bool:
    return any(target.alternatives for target in oracle.html)
