"""Tasks that only name what to press or where to go: ``Click on "Lamps"``, ``Go to the basket``.  Done once, then over.

What is named is sought among the page's own links, buttons and menus; the clause is closed when it was pressed, or when
the page that is shown is the one that was asked for.
"""

from __future__ import annotations

import re
from dataclasses import replace

from app.engine.agent.scout.grounding import plain, words
from app.engine.agent.scout.intent import Clause, Task, Verb
from app.engine.agent.scout.place import Place
from app.engine.agent.scout.skill import CERTAIN, DONE, LIKELY, Proposal, View
from app.engine.agent.scout.wayfinding import ways
from app.engine.agent.scout.wording import names
from app.engine.core.actions.types import Click, Stop
from app.engine.core.page_state import Element

_GOING = frozenset({"open", "go", "visit", "navigate", "browse", "view"})
_PARTS = frozenset(
    [
        "department",
        "category",
        "section",
        "page",
        "area",
        "part",
        "tab",
        "link",
        "button",
        "menu",
        "screen",
        "site",
        "catalogue",
        "collection",
    ]
)
_PRESSED_KINDS = frozenset({"button", "link", "tab", "menu", "section"})
_COUNT = re.compile(r"\s*[(\[]\s*\d[\d.,]*\s*[)\]]\s*$")
_HEADING = re.compile(r"^(?:your|my|our|the|all)\s+", re.IGNORECASE)
_LONG = 4
"""A name that holds the one asked for may have this many words more."""


def plainly(task: Task) -> bool:
    """Whether the whole task is to press named things, or to go to named places."""
    return not task.question and bool(task.clauses) and all(_named(clause) for clause in task.clauses)


def _named(clause: Clause) -> bool:
    if clause.verb is Verb.OPEN and clause.word not in _GOING:
        return False
    simple = clause.verb in (Verb.CLICK, Verb.OPEN) and (len(clause.targets) == 1 or bool(clause.path))
    return simple and not clause.pairs and not clause.extremes and not clause.many


def by_others(view: View) -> bool:
    """Whether the clause that comes next tells its target by place, kind or menu path, which other skills know."""
    clause = view.clause
    if clause is None or not plainly(view.task):
        return False
    return bool(clause.path or clause.ordinal or set(clause.kinds) - _PRESSED_KINDS)


def reaches(place: Place) -> list[Proposal]:
    """Press what the clause that comes next names; else ways towards it; the end when all is done."""
    view, clause = place.view, place.view.clause
    if clause is None:
        return [
            Proposal(
                command=Stop(DONE), score=CERTAIN, reason="everything the task asks for is done", key="stop"
            )
        ]
    if by_others(view):
        return [replace(one, score=one.score * 0.4) for one in ways(place)]
    name = clause.targets[0]
    if clause.verb is Verb.OPEN and _is_here(place, name):
        return [
            Proposal(score=CERTAIN, reason=f"this is the page of {name}", marks=(view.closes(),), key="here")
        ]
    found = called(place, name, clause)
    if found is not None:
        element, sure = found
        return [
            Proposal(
                command=Click(element.index, label=element.name),
                score=sure,
                reason=f"the task names {name}",
                marks=(view.closes(),),
            ),
            *([] if sure == CERTAIN else ways(place)),
        ]
    return ways(place)


def called(place: Place, name: str, clause: Clause) -> tuple[Element, float] | None:
    """What is called like this: in the same letters, but for a count behind it or a word such as ``page``, in part."""
    wanted = bare(name)
    best: Element | None = None
    score = 0.0
    for one in place.pressed:
        if not one.name:
            continue
        own = _COUNT.sub("", one.name)
        found = 0.0
        if one.name == name:
            found = 1.0
        elif plain(own) == plain(name):
            found = 0.98
        elif plain(own) == wanted or bare(own) == wanted:
            found = 0.95
        elif clause.verb is Verb.OPEN and names(own, wanted) and len(words(own)) <= len(words(wanted)) + 1:
            found = 0.6
        found += 0.01 if found and one.role in clause.roles else 0.0
        if found > score:
            best, score = one, found
    if best is None:
        return None
    return best, CERTAIN if score >= 0.9 else LIKELY


def bare(name: str) -> str:
    """A name without the word for what kind of place it is: ``Garden department`` is called Garden."""
    said = plain(name).split(" ")
    while len(said) > 1 and said[-1] in _PARTS:
        said.pop()
    if len(said) > 2 and said[0] in _PARTS and said[1] == "of":
        said = said[3:] if said[2] in ("the", "a", "my") and len(said) > 3 else said[2:]
    return " ".join(said)


def _is_here(place: Place, name: str) -> bool:
    """Whether the page calls itself so."""
    wanted = bare(name)
    return any(plain(_HEADING.sub("", head)) == wanted for head in place.heads)
