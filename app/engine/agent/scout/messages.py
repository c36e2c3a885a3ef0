"""Answers and passes on: opens the form of a message, fills in whom and what, sends it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.engine.agent.scout.grounding import fit, marks_of, words
from app.engine.agent.scout.intent import Clause, Task, Verb
from app.engine.agent.scout.planning import subject_of
from app.engine.agent.scout.rows import controls_called
from app.engine.agent.scout.skill import CERTAIN, Proposal, View, key_of
from app.engine.agent.scout.typing_in import fields_of
from app.engine.core.actions.types import Click, TypeText
from app.engine.core.page_state import Element

_NAME = r"([A-Z][\w'-]*)"
_TO = (
    re.compile(rf"\bto\s+{_NAME}"),
    re.compile(rf"\b(?:give|send|forward|pass|hand)\s+(?:it\s+to\s+)?{_NAME}(?!['’]s)", re.IGNORECASE),
    re.compile(rf"\b(?:with|for)\s+{_NAME}"),
)
_NO_NAMES = frozenset(
    [
        "The",
        "This",
        "That",
        "Email",
        "Message",
        "Mail",
        "Please",
        "It",
        "Me",
        "Forward",
        "Send",
        "Give",
        "Find",
        "All",
        "My",
        "An",
        "A",
    ]
)
_SEARCHES = frozenset({"search", "find", "query"})


class Message:
    """Fill in and send what answering or passing on has opened."""

    name = "message"

    def propose(self, view: View) -> Sequence[Proposal]:
        """The field for whom, the field for what, then sending."""
        clause = view.clause
        if clause is None or clause.verb not in (Verb.REPLY, Verb.FORWARD):
            return ()
        return [*_fill(view, clause)]


def recipient_of(task: Task) -> str:
    """To whom something is to be passed on; "" where it is not told."""
    subject = subject_of(task)
    for pattern in _TO:
        for found in pattern.finditer(task.text):
            name = found[1]
            if name != subject and name not in _NO_NAMES and name[0].isupper():
                return name
    return ""


def _fill(view: View, clause: Clause) -> Iterator[Proposal]:
    said = clause.quoted[0] if clause.quoted else ""
    text = said if clause.verb is Verb.REPLY or not recipient_of(view.task) else recipient_of(view.task)
    fields = [field for field in fields_of(view) if not _is_search(field)]
    if not fields or not text or f"begun:{view.number}" not in view.memory.marks:
        return
    if any(field.value == text for field in fields):
        yield from _send(view)
        return
    empty = [field for field in fields if not field.value]
    wanted = _for_whom(empty) if clause.verb is Verb.FORWARD else _for_what(empty)
    if wanted is not None:
        yield Proposal(
            command=TypeText(wanted.index, text),
            score=CERTAIN,
            reason="the task says so",
            marks=(f"typed:{key_of(wanted)}",),
        )


def _send(view: View) -> Iterator[Proposal]:
    for control in controls_called(view, ("send", "submit", "reply", "forward", "post"))[:1]:
        yield Proposal(
            command=Click(control.index, label=control.name or "send"),
            score=CERTAIN,
            reason="it is filled in",
            marks=(view.closes(), "sent"),
        )


def _for_whom(fields: Sequence[Element]) -> Element | None:
    named = [f for f in fields if any(fit(name, f) >= 0.55 for name in ("to", "recipient", "forward"))]
    return (named or [f for f in fields if f.tag != "textarea"] or [*fields] or [None])[0]


def _for_what(fields: Sequence[Element]) -> Element | None:
    return ([f for f in fields if f.tag == "textarea"] or [*fields] or [None])[0]


def _is_search(field: Element) -> bool:
    return field.role == "searchbox" or any(
        _SEARCHES & set(words(mark)) for mark in (field.name, *marks_of(field))
    )
