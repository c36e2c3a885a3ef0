"""Marks text, gives it a style, scrolls a part of the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.engine.agent.scout.appearance import COLOURS
from app.engine.agent.scout.grounding import words
from app.engine.agent.scout.intent import Clause, Verb
from app.engine.agent.scout.rows import controls_called
from app.engine.agent.scout.skill import CERTAIN, LIKELY, PLAUSIBLE, Proposal, View
from app.engine.core.actions.types import Click, Hover, Scroll, SelectText
from app.engine.core.page_state import Element

_STYLES = {
    "bold": ("bold",), "italics": ("italic",), "italic": ("italic",), "underlined": ("underline",),
    "underline": ("underline",), "strikethrough": ("strike", "strikethrough"),
}  # fmt: skip
_FAR = 100_000.0
_RESTS = re.compile(r"\bhover(?:ed|ing)?\b|\bkeep\s+(?:your|the)\s+(?:mouse|pointer|cursor)", re.IGNORECASE)
_STAYS = re.compile(r"\bkeep\b", re.IGNORECASE)


class ScrollPart:
    """Scroll what the clause names to the end it names."""

    name = "scroll"

    def propose(self, view: View) -> Sequence[Proposal]:
        """One turn of the wheel."""
        clause = view.clause
        if clause is None or clause.verb is not Verb.SCROLL:
            return ()
        said = words(clause.text)
        up = "top" in said or "up" in said or "beginning" in said
        parts = [e for e in view.page.elements if e.visible and ("scroll" in e.hears or e.tag == "textarea")]
        part = parts[0].index if parts else None
        way = "top" if up else "bottom"
        return [
            Proposal(
                command=Scroll(dy=-_FAR if up else _FAR, element=part),
                score=CERTAIN,
                reason=f"the task wants it at the {way}",
                idle=True,
                marks=(view.closes(), "did:scroll"),
            )
        ]


class Highlight:
    """Mark the text of the paragraph that the clause means."""

    name = "highlight"

    def propose(self, view: View) -> Sequence[Proposal]:
        """One selection."""
        clause = view.clause
        if clause is None or clause.verb is not Verb.HIGHLIGHT:
            return ()
        texts = [
            e
            for e in view.shown
            if e.role in ("paragraph", "generic", "textbox") and len(e.name or e.text) > 8
        ]
        place = max(clause.ordinal - 1, 0)
        if place >= len(texts):
            return ()
        return [
            Proposal(
                command=SelectText(texts[place].index),
                score=LIKELY,
                reason="it is the text the task means",
                marks=(view.closes(), "did:highlight"),
            )
        ]


class Style:
    """Give a text in an editor a style: mark it, press the style's button."""

    name = "style"

    def propose(self, view: View) -> Sequence[Proposal]:
        """The text first, then the button, then the colour where one is wanted."""
        clause = view.clause
        if clause is None or clause.verb not in (
            Verb.ASK,
            Verb.SET,
            Verb.ADD,
            Verb.OTHER,
            Verb.EDIT,
            Verb.USE,
        ):
            return ()
        said = words(view.task.text)
        names = next((_STYLES[word] for word in said if word in _STYLES), ())
        colour = next((word for word in reversed(said) if word in COLOURS and word != "black"), "")
        editors = [e for e in view.shown if e.role == "textbox" and e.tag not in ("input", "textarea")]
        if not editors or not (names or (colour and "color" in said)):
            return ()
        return [*_styled(view, clause, editors[0], names, colour)]


def _styled(
    view: View, clause: Clause, editor: Element, names: tuple[str, ...], colour: str
) -> Iterator[Proposal]:
    if "styled:text" not in view.memory.marks:
        start, end = _span(clause, editor)
        yield Proposal(
            command=SelectText(editor.index, start, end),
            score=CERTAIN,
            reason="it is the text that gets the style",
            marks=("styled:text",),
        )
        return
    if names:
        for button in controls_called(view, names)[:1]:
            yield Proposal(
                command=Click(button.index, label=names[0]),
                score=CERTAIN,
                reason=f"it makes the text {names[0]}",
                marks=(view.closes(), "did:style"),
            )
        return
    for swatch in _swatches(view, colour):
        yield Proposal(
            command=Click(swatch.index, label=colour),
            score=CERTAIN,
            reason=f"it makes the text {colour}",
            marks=(view.closes(), "did:style"),
        )
        return
    for button in controls_called(view, ("color", "colour", "picker"))[:1]:
        yield Proposal(
            command=Click(button.index), score=LIKELY, reason="the colours are behind it", key="open colours"
        )


def _span(clause: Clause, editor: Element) -> tuple[int, int]:
    """From where to where the text goes that is quoted; all of it where none is."""
    text = editor.value or editor.text
    told = [*clause.quoted, *re.findall(r"\btext\s+(.+?)\s+the\s+(?:style|colou?r)\b", clause.text)]
    for wanted in told:
        at = text.find(wanted)
        if at >= 0:
            return at, at + len(wanted)
    return 0, -1


def _swatches(view: View, colour: str) -> list[Element]:
    found: list[Element] = []
    for element in view.shown:
        looks = dict(element.attributes).get("looks", "")
        if colour in words(looks) and element.rect is not None and element.rect[2] < 40:
            found.append(element)
    return found


class HoverOver:
    """Let the pointer rest on what the clause means."""

    name = "hover"

    def propose(self, view: View) -> Sequence[Proposal]:
        """The thing that is called so, else the one that has a look of its own."""
        clause = view.clause
        if clause is None or not (clause.verb is Verb.HOVER or _RESTS.search(clause.text)):
            return ()
        things = [e for e in view.shown if "looks" in dict(e.attributes) and "hover" in e.hears]
        things = things or [
            e for e in view.shown if "looks" in dict(e.attributes) and e.tag not in ("svg", "line")
        ]
        return _rest(view, clause, things)


def _rest(view: View, clause: Clause, things: Sequence[Element]) -> list[Proposal]:
    stays = _STAYS.search(clause.text) is not None
    marks = ("hovered",) if stays else (view.closes(), "hovered")
    reason = "the pointer belongs there"
    return [
        Proposal(command=Hover(e.index), score=PLAUSIBLE, reason=reason, again=stays, marks=marks)
        for e in things[:1]
    ]
