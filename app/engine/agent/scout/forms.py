"""Fills a form from what the task says about its fields, in the task's own words; takes up suggestions.

The field leads: for each one the task is searched for the value that stands with its label (``from: A to: B``,
``directed by Bowen from year 1998``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.engine.agent.scout.grounding import STOP, likeness, plain, stem, stems, words
from app.engine.agent.scout.intent import Clause, Verb
from app.engine.agent.scout.skill import CERTAIN, LIKELY, PLAUSIBLE, Proposal, View, key_of
from app.engine.agent.scout.submitting import senders
from app.engine.agent.scout.typing_in import fields_of, named_like
from app.engine.core.actions.types import Click, Select, TypeText, Wait
from app.engine.core.page_state import Element

_FILLING = frozenset(
    {
        Verb.SEARCH,
        Verb.BUY,
        Verb.ADD,
        Verb.EDIT,
        Verb.SET,
        Verb.FIND,
        Verb.FILTER,
        Verb.TYPE,
        Verb.OTHER,
        Verb.SAVE,
    }
)
_DATES = re.compile(r"\b\d{1,2}/\d{1,2}/\d{4}\b")
_VALUE = re.compile(
    r"\s*(?::|=|is|to be|to|as|of|by|from|in|with|named|called|year|the)*\s*(\"[^\"]+\"|[^\s,.;:]+(?:,\s[A-Z]{2}\b)?)"
)
_LONGEST = 80
"""Letters a suggestion may have."""
_SUGGESTIONS = frozenset({"option", "menuitem", "listitem", "treeitem", "generic", "link"})
_KINDS_OF_THINGS = re.compile(
    r"\b(?:for|all|the|any)\s+([\w-]+)\s+(?:movies?|films?|books?|songs?|products?|items?|games?)\b"
)


class FillForm:
    """Give each field of the form what the task says about it; then the clause is done."""

    name = "form"

    def propose(self, view: View) -> Sequence[Proposal]:
        """One field at a time."""
        clause = view.clause
        if clause is None or clause.verb not in _FILLING or clause.quoted or "sent" in view.memory.marks:
            return ()
        fields = [f for f in fields_of(view) if not (clause.dates and _is_date(view, f))]
        if len(fields) < 2 and not clause.pairs:
            return ()
        values = values_for(view, clause, fields)
        if not values:
            return ()
        left = [(f, text) for f, text in values if f"typed:{key_of(f)}" not in view.memory.marks]
        for field, text in left[:1]:
            return [
                Proposal(
                    command=TypeText(field.index, text),
                    score=LIKELY,
                    reason=f"the task says so of '{_label(view, field)}'",
                    marks=(f"typed:{key_of(field)}",),
                    keeps=(("suggest", f"{key_of(field)}\n{text}"),),
                )
            ]
        if clause.dates and not any(mark.startswith("did:date") for mark in view.memory.marks):
            return ()
        if clause.extremes and "did:form" in view.memory.marks:
            return [*_look_up(view)]
        return [Proposal(score=PLAUSIBLE, reason="the form is filled in", marks=_closing(view, clause))]


class Suggestion:
    """Press the suggestion that a field offers for what was typed into it, or that meets what the task tells of it."""

    name = "suggest"

    def propose(self, view: View) -> Sequence[Proposal]:
        """Only while a field that was typed into last offers some."""
        clause = view.clause
        if clause is not None and clause.matches and clause.verb in (Verb.TYPE, Verb.SELECT):
            return [*_matching(view, clause)]
        _, _, text = view.memory.values.get("suggest", "").partition("\n")
        typed = _typed_last(view)
        if not text or typed is None or typed.text != text:
            return ()
        offered = [
            e for e in offered_by(view) if likeness(text, e.name) >= 0.5 or plain(text) in plain(e.name)
        ]
        offered.sort(key=lambda e: (-likeness(text, e.name), e.index))
        if not offered and _completes(view, typed.element):
            return [
                Proposal(
                    command=Wait(0.6),
                    score=CERTAIN,
                    reason="the field may offer something yet",
                    key=f"offer {text}",
                )
            ]
        return [
            Proposal(
                command=Click(e.index, label=e.name),
                score=CERTAIN,
                reason=f"it is offered for '{text}'",
                marks=("suggested",),
            )
            for e in offered[:1]
        ]


class ChooseFields:
    """Set lists by what the task says about them: ``set status to Shipped``, ``country: France``."""

    name = "pick"

    def propose(self, view: View) -> Sequence[Proposal]:
        """One list at a time."""
        clause = view.clause
        if clause is None:
            return ()
        made: list[Proposal] = []
        for name, told in clause.pairs:
            for element in view.shown:
                if not element.options or f"chosen:{key_of(element)}" in view.memory.marks:
                    continue
                option = next((o for o in element.options if plain(o) == plain(told)), "")
                if option and named_like(view, element, name) >= 0.6:
                    only = (view.closes(),) if len(clause.pairs) == 1 else ()
                    made.append(
                        Proposal(
                            command=Select(element.index, (option,)),
                            score=CERTAIN,
                            reason=f"the task wants {name} to be '{told}'",
                            marks=(f"chosen:{key_of(element)}", *only),
                        )
                    )
        return made


def _typed_last(view: View) -> TypeText | None:
    """What was typed last, where nothing but waiting came behind it."""
    for turn in reversed(view.sight.history):
        if isinstance(turn.action, TypeText):
            return turn.action
        if not isinstance(turn.action, Wait):
            return None
    return None


def _completes(view: View, number: int) -> bool:
    """Whether a field says of itself that it offers what begins like what is typed; it may take its time."""
    elements = view.page.elements
    if not 0 <= number < len(elements):
        return False
    told = " ".join(value for _, value in elements[number].attributes)
    return elements[number].role == "combobox" or "autocomplete-input" in told or "typeahead" in told


def values_for(view: View, clause: Clause, fields: Sequence[Element]) -> list[tuple[Element, str]]:
    """What the task says about each of some fields; fields it says nothing about are left out."""
    found: list[tuple[Element, str]] = []
    left: list[Element] = []
    for field in fields:
        label = _label(view, field)
        told = next((value for name, value in clause.pairs if label and likeness(name, label) >= 0.8), "")
        told = _DATES.sub("", told).removesuffix(" on ").strip() or _stands_with(clause.text, label)
        if told:
            found.append((field, told.strip('" ')))
        else:
            left.append(field)
    rest = _KINDS_OF_THINGS.search(clause.text)
    if len(left) == 1 and found and rest and plain(rest[1]) not in STOP:
        found.append((left[0], rest[1]))
    return found if len(found) > 1 or clause.pairs else []


def _look_up(view: View) -> Iterator[Proposal]:
    """What was asked for has to be chosen among what the form finds."""
    for element, sure in senders(view, "search")[:1]:
        yield Proposal(
            command=Click(element.index, label=element.name),
            score=sure * LIKELY,
            reason="the form is filled in",
            marks=("sent",),
        )


def _closing(view: View, clause: Clause) -> tuple[str, ...]:
    return ("did:form",) if clause.extremes else (view.closes(), "did:form")


def _label(view: View, field: Element) -> str:
    told = dict(field.attributes)
    before = view.outline.before(field.index)
    return (
        field.name
        or field.label
        or told.get("placeholder", "")
        or told.get("near", "")
        or (before or [""])[0]
    ).strip(" :*")


def _stands_with(text: str, label: str) -> str:
    """The value behind the word of a text that has the stem of the label."""
    wanted = {stem(word) for word in words(label) if word not in STOP}
    if "date" in wanted:
        wanted.add("year")
    if not wanted:
        return ""
    for found in re.finditer(r"[^\W\d_]+", text):
        if stem(found[0].lower()) in wanted or any(_akin(found[0].lower(), word) for word in wanted):
            value = _VALUE.match(text[found.end() :])
            if value and not stems(value[1]) <= wanted and not value[1].islower():
                return value[1]
    return ""


def _akin(one: str, other: str) -> bool:
    """Whether two words have a long beginning in common: ``directed``, ``director``."""
    short = min(len(one), len(other))
    return short >= 5 and one[:5] == other[:5]


def _is_date(view: View, field: Element) -> bool:
    return "date" in f"{_label(view, field)} {field.type} {dict(field.attributes).get('class', '')}".lower()


def offered_by(view: View) -> list[Element]:
    """Things of lists that opened below a field."""
    return [
        e
        for e in view.shown
        if e.role in _SUGGESTIONS and e.name and len(e.name) < _LONGEST and _is_choice(e)
    ]


def _is_choice(element: Element) -> bool:
    if element.role in ("option", "menuitem") or (element.role == "listitem" and "click" in element.hears):
        return True
    lists = ("menu", "listbox", "dialog")
    return bool(element.repeat) or any(mark.partition(":")[0] in lists for mark in element.landmarks)


def _matching(view: View, clause: Clause) -> Iterator[Proposal]:
    fields = fields_of(view)
    fitting = [e for e in offered_by(view) if all(match.holds(e.name) for match in clause.matches)]
    for element in fitting[:1]:
        yield Proposal(
            command=Click(element.index, label=element.name),
            score=CERTAIN,
            reason="it meets what the task says of it",
            marks=(view.closes(), "typed:suggestion"),
        )
    starts = next((match.text for match in clause.matches if match.how == "starts"), clause.matches[0].text)
    last = view.sight.last
    if not fitting and last is not None and isinstance(last.action, TypeText):
        yield Proposal(
            command=Wait(0.6), score=LIKELY, reason="the field may offer something yet", key="offers"
        )
        return
    if not fitting and fields:
        yield Proposal(
            command=TypeText(fields[0].index, starts),
            score=LIKELY,
            reason="the field may offer what begins like this",
            key=f"offer:{starts}",
            marks=("began",),
        )
