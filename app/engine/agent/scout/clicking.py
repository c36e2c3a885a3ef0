"""Clicks on what the task names, in the order in which it names it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.engine.agent.scout.grounding import Fit, find, likeness, marks_of, nth, of_roles, stems
from app.engine.agent.scout.intent import Clause, Verb
from app.engine.agent.scout.planning import subject_of
from app.engine.agent.scout.skill import CERTAIN, GUESS, PLAUSIBLE, Proposal, View
from app.engine.core.actions.types import Click
from app.engine.core.page_state import Element

CLICKING = frozenset(
    {
        Verb.CLICK,
        Verb.SUBMIT,
        Verb.CLOSE,
        Verb.OPEN,
        Verb.SELECT,
        Verb.LOGIN,
        Verb.SAVE,
        Verb.DELETE,
        Verb.CHECK,
    }
)
_THEIRS = re.compile(r"\b(?:their|his|her|its)\b", re.IGNORECASE)
_PLACE = re.compile(r"\(\s*-?\d+\s*,\s*-?\d+\s*\)")
SURE = 0.9
"""A name that fits less is clicked only where nothing is left to be opened first."""


class ClickNamed:
    """Click what the clause that comes next names: by its name, else the so-and-so-manieth of its kind."""

    name = "click"

    def propose(self, view: View) -> Sequence[Proposal]:
        """One click for the first target that was not clicked yet."""
        clause = view.clause
        if clause is None or clause.verb not in CLICKING or clause.path:
            return ()
        if _elsewhere(view, clause):
            return ()
        return [
            *self._named(view, clause),
            *self._labelled(view, clause),
            *self._counted(view, clause),
            *self._of_type(view, clause),
        ]

    def _named(self, view: View, clause: Clause) -> Iterator[Proposal]:
        left = [name for name in clause.targets if _mark(view, name) not in view.memory.marks]
        for name in left[:1]:
            mine = _mark(view, name)
            marks = (mine, view.closes(), "did:click") if len(left) == 1 else (mine, "did:click")
            for found in _where(
                view,
                clause,
                _at_place(view, clause) or find(name, view.shown, roles=clause.roles, least=0.55),
            )[:3]:
                sure = found.score >= SURE and not view.covered(found.element)
                yield Proposal(
                    command=Click(found.element.index, label=found.element.name),
                    score=min(CERTAIN, found.score) * (0.9 if sure else GUESS),
                    reason=f"the task names '{name}'",
                    marks=marks,
                )

    def _labelled(self, view: View, clause: Clause) -> Iterator[Proposal]:
        """``their phone number``: what stands behind the label Phone."""
        for name in () if clause.quoted else clause.targets[:1]:
            for element in view.shown:
                before = view.outline.before(element.index)[:1]
                if not before or not before[0].endswith(":"):
                    continue
                sure = likeness(name.removeprefix("their ").removeprefix("its "), before[0])
                if sure >= 0.6:
                    yield Proposal(
                        command=Click(element.index, label=element.name),
                        score=sure * PLAUSIBLE,
                        reason=f"it stands behind '{before[0]}'",
                        marks=(view.closes(), "did:click"),
                    )

    def _counted(self, view: View, clause: Clause) -> Iterator[Proposal]:
        if not clause.kinds or (clause.quoted and not clause.ordinal):
            return
        alike = of_roles(view.shown, clause.roles)
        one = nth(alike, clause.ordinal) if clause.ordinal else alike[0] if len(alike) == 1 else None
        if one is not None:
            which = f"number {clause.ordinal} of" if clause.ordinal else "the only one of"
            yield Proposal(
                command=Click(one.index, label=one.name),
                score=PLAUSIBLE if clause.ordinal or len(clause.targets) == 1 else GUESS,
                reason=f"it is {which} its kind ({clause.kinds[0]})",
                marks=(view.closes(), "did:click"),
            )

    def _of_type(self, view: View, clause: Clause) -> Iterator[Proposal]:
        """``a "checkbox" widget``: what is quoted is a kind of control itself."""
        for name in clause.quoted[:1]:
            for element in view.shown:
                if name.casefold() in (element.tag, element.type, element.role) and "tag" not in clause.text:
                    yield Proposal(
                        command=Click(element.index, label=element.name),
                        score=PLAUSIBLE
                        if name.casefold() in (element.type, element.tag)
                        else PLAUSIBLE - 0.05,
                        reason=f"it is a {name}",
                        marks=(view.closes(), "did:click"),
                    )
                    return


def _elsewhere(view: View, clause: Clause) -> bool:
    """Whether it is about something of somebody who is not on this page."""
    if clause.quoted or not _THEIRS.search(clause.text):
        return False
    subject = subject_of(view.task)
    return bool(subject) and re.search(rf"(?<!\w){re.escape(subject)}(?!\w)", view.outline.text) is None


def _at_place(view: View, clause: Clause) -> list[Fit]:
    """``the grid coordinate (2,-1)``: what the page's makers call so."""
    found = _PLACE.search(clause.text)
    if found is None:
        return []
    return [
        Fit(e, 0.95)
        for e in view.shown
        if any(mark.replace(" ", "") == found[0].replace(" ", "") for mark in marks_of(e))
    ]


def _where(view: View, clause: Clause, found: list[Fit]) -> list[Fit]:
    """Those in the place the clause tells come first: in the dialog, in the menu."""
    if "dialog" in clause.kinds:
        inside = [one for one in found if any("dialog" in mark for mark in one.element.landmarks)]
        return inside or found
    return found


def icon_called(elements: Sequence[Element], name: str) -> list[Element]:
    """Elements without words whose code calls them so: ``star`` for ``<span class="star">``."""
    asked = stems(name)
    return [e for e in elements if asked and any(asked <= stems(mark) for mark in marks_of(e))]


def _mark(view: View, name: str) -> str:
    return f"clicked:{view.number}:{name}"
