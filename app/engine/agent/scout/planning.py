"""Which clauses of a task ask for no deed of their own, and whom or what the task is about.  Pure."""

from __future__ import annotations

import re

from app.engine.agent.scout.intent import Clause, Task, Verb
from app.engine.agent.scout.phrases import one_of

_DEEDS = frozenset(
    {
        Verb.CLICK, Verb.TYPE, Verb.SELECT, Verb.CHECK, Verb.DELETE, Verb.REPLY, Verb.FORWARD, Verb.BUY, Verb.EDIT,
        Verb.ADD, Verb.CLOSE, Verb.OPEN, Verb.ASK,
    }
)  # fmt: skip
_ON_ONE = frozenset({Verb.REPLY, Verb.FORWARD, Verb.DELETE})
_BY_DEED = re.compile(r"\b([A-Z][\w-]*)\s+(?:sent|wrote|emailed|mailed|posted)\b")
_PROPER = re.compile(r"@[\w.-]+|\b[A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)*")
_OF_WHOM = re.compile(
    r"\b(?:by|from|of|for|user|named|called|between)\s+(?:the\s+)?(?:user\s+)?(@[\w.-]+|[A-Z][\w-]*(?:\s+[A-Z][\w-]*)*)"
)
_WHOSE = re.compile(r"\b([A-Z][\w-]*)['’]s?\b")
_FIRST = one_of("Find Look Delete Please Give Forward Send Click For The I Get Open Search Locate Remove")


def needs_nothing(task: Task, number: int) -> bool:
    """Whether a clause is done by doing the others: ``find and``, ``using the editor``, ``to delete it``."""
    clause = task.clauses[number]
    later = task.clauses[number + 1 :]
    deeds = [one for one in later if one.verb in _DEEDS]
    if clause.nothing:
        return True
    match clause.verb:
        case Verb.FIND:
            taken = clause.ordinal and any(one.verb is Verb.TYPE for one in later)
            plain = bool(deeds) and not clause.ordinal and not clause.extremes
            return bool(taken) or plain or (_says_nothing(clause) and number > 0)
        case Verb.USE:
            return bool(deeds) or number > 0
        case Verb.OPEN:
            if _WHOSE.search(clause.text) and any(one.verb in _ON_ONE for one in later):
                return True
            named = bool(clause.quoted) or bool(clause.path)
            return not named and any(one.quoted or one.path for one in deeds if one.verb is Verb.CLICK)
        case Verb.COPY:
            return any(one.verb is Verb.PASTE for one in later)
        case Verb.SOLVE:
            return any(one.verb is Verb.TYPE for one in later)
        case Verb.OTHER:
            return bool(deeds) and clause.text.lower().startswith(("for ", "in ", "on ", "with "))
        case _:
            return number > 0 and _is_purpose(task, number)


def _says_nothing(clause: Clause) -> bool:
    return not clause.quoted and not clause.pairs


def _is_purpose(task: Task, number: int) -> bool:
    """``click the bin to delete it``: the second half says what the first is for."""
    clause, before = task.clauses[number], task.clauses[number - 1]
    return (
        before.verb is Verb.CLICK
        and clause.targets == ("it",)
        and clause.verb in (Verb.DELETE, Verb.CHECK, Verb.CLOSE)
    )


def subject_of(task: Task) -> str:
    """Whom or what the task is about: ``the email by Audrey``, ``for the user @leo``; "" if nothing."""
    acted = _BY_DEED.search(task.text)
    if acted and acted[1] not in _FIRST:
        return acted[1]
    for clause in task.clauses:
        if clause.verb is Verb.FIND and clause.targets and not clause.ordinal:
            found = _OF_WHOM.search(clause.text) or _PROPER.search(clause.text.partition(" ")[2])
            if found:
                return re.sub(r"['’]s$", "", found[found.lastindex or 0])
    found = _OF_WHOM.search(task.text) or _WHOSE.search(task.text)
    if found and found[1] not in _FIRST:
        return found[1]
    return ""
