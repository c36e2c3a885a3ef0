"""Chooses: options of lists, check boxes, radio buttons, by the names the task tells or the place it counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.engine.agent.scout.grounding import nth, plain
from app.engine.agent.scout.intent import Clause, Verb
from app.engine.agent.scout.skill import CERTAIN, LIKELY, Proposal, View, key_of
from app.engine.core.actions.types import Action, Click, ClickAt, Select, SetChecked
from app.engine.core.page_state import Element

_BOXES = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})
_LISTS = frozenset({"combobox", "listbox"})
_CHOOSING = frozenset({Verb.SELECT, Verb.CHECK, Verb.UNCHECK, Verb.SET, Verb.CLICK})


class Choose:
    """Set what the clause names among the choices of the page; what is set already is left as it is."""

    name = "choose"

    def propose(self, view: View) -> Sequence[Proposal]:
        """One list or box at a time."""
        clause = view.clause
        if clause is None or clause.verb not in _CHOOSING:
            return ()
        if clause.verb is Verb.CLICK and not (
            {"checkbox", "check box", "radio", "option"} & set(clause.kinds)
        ):
            return ()
        return [*_counted(view, clause), *_options(view, clause), *_boxes(view, clause)]


def _counted(view: View, clause: Clause) -> Iterator[Proposal]:
    if not clause.ordinal or not clause.kinds:
        return
    roles = frozenset({"checkbox", "switch"}) if "check" in clause.kinds[0] else frozenset({"radio"})
    if not roles & clause.roles:
        return
    box = nth([element for element in view.shown if element.role in roles], clause.ordinal)
    if box is not None:
        yield Proposal(
            command=SetChecked(box.index, on=clause.verb is not Verb.UNCHECK),
            score=CERTAIN,
            reason=f"it is number {clause.ordinal} of them",
            marks=(view.closes(), f"chosen:{key_of(box)}"),
        )


def _options(view: View, clause: Clause) -> Iterator[Proposal]:
    for element in view.shown:
        if element.role not in _LISTS or not element.options:
            continue
        wanted = told_among(clause.text, element.options)
        if not wanted:
            continue
        if element.role == "combobox":
            wanted = wanted[:1]
        yield Proposal(
            command=Select(element.index, tuple(wanted)),
            score=CERTAIN,
            reason=f"the task says to choose {', '.join(wanted)}",
            marks=(view.closes(), f"chosen:{key_of(element)}"),
        )


def _boxes(view: View, clause: Clause) -> Iterator[Proposal]:
    boxes = [element for element in view.shown if element.role in _BOXES]
    names = {element.index: element.name or element.label for element in boxes}
    wanted = told_among(clause.text, [*names.values()])
    left = [
        element
        for element in boxes
        if names[element.index] in wanted and _is_set(element) is (clause.verb is Verb.UNCHECK)
    ]
    done = f"chosen:{view.number}"
    for element in left[:1]:
        closes = (view.closes(),) if len(left) == 1 else ()
        yield Proposal(
            command=_set(element, clause),
            score=CERTAIN,
            reason=f"the task names '{names[element.index]}'",
            marks=(done, *closes),
        )


def _set(element: Element, clause: Clause) -> Action:
    if element.role in ("checkbox", "radio", "switch"):
        return SetChecked(element.index, on=clause.verb is not Verb.UNCHECK)
    return Click(element.index, label=element.name)


def _is_set(element: Element) -> bool:
    return "checked" in element.states or "selected" in element.states


def told_among(text: str, names: Sequence[str]) -> list[str]:
    """Which of some names a text tells, in its order; a name within a longer one that is told does not count.

    Letters' case counts where a name is told in its own, so that ``oB`` is not ``OB``.
    """
    spots: list[tuple[int, int, str]] = []
    for name in dict.fromkeys(names):
        bare = name.strip()
        if not bare:
            continue
        pattern = rf"(?<![\w.]){re.escape(bare)}(?![\w])"
        found = re.search(pattern, text) or re.search(pattern, text, re.IGNORECASE)
        if found:
            spots.append((found.start(), found.end(), name))
    exact = {name for _, _, name in spots if name.strip() in text}
    kept: list[tuple[int, int, str]] = []
    for start, end, name in sorted(spots, key=lambda spot: (spot[0] - spot[1], spot[2] not in exact)):
        if not any(start < other_end and other_start < end for other_start, other_end, _ in kept):
            kept.append((start, end, name))
    return [name for _, _, name in sorted(kept)]


class Order:
    """Click things named by numbers, or by letters, in order."""

    name = "order"

    def propose(self, view: View) -> Sequence[Proposal]:
        """The next one that was not clicked yet."""
        clause = view.clause
        if clause is None or clause.verb is not Verb.CLICK:
            return ()
        found = re.search(
            r"\b(ascending|increasing|descending|decreasing|numerical|alphabetical)\b", clause.text, re.I
        )
        if not found:
            return ()
        down = found[1].lower() in ("descending", "decreasing")
        by_letters = found[1].lower() == "alphabetical"
        named = [e for e in view.shown if by_letters or re.fullmatch(r"-?\d+(?:\.\d+)?", plain(e.name))]
        named.sort(key=lambda e: plain(e.name) if by_letters else float(plain(e.name)), reverse=down)
        for element in named:
            mark = f"did:{element.name}"
            if mark not in view.memory.marks:
                return [
                    Proposal(
                        command=Click(element.index, label=element.name),
                        score=LIKELY,
                        reason=f"'{element.name}' is the next in {found[1]} order",
                        marks=(mark,),
                        keeps=(("places", _places(named, element)),),
                    )
                ]
        return [*_from_memory(view)]


def _places(named: Sequence[Element], done: Element) -> str:
    """Where the ones behind this one stand: a page may hide their names once it has begun."""
    left = named[named.index(done) + 1 :]
    return " ".join(
        f"{e.rect[0] + e.rect[2] / 2:.0f},{e.rect[1] + e.rect[3] / 2:.0f}" for e in left if e.rect
    )


def _from_memory(view: View) -> Iterator[Proposal]:
    first, _, rest = view.memory.values.get("places", "").partition(" ")
    if first:
        x, _, y = first.partition(",")
        yield Proposal(
            command=ClickAt((float(x), float(y))),
            score=LIKELY,
            reason="the next one stood there",
            key=f"place:{first}",
            marks=("did:place",),
            keeps=(("places", rest),),
        )
