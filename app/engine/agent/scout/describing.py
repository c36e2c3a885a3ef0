"""Answers by a button what can be seen: how many of some looks there are, what a figure is called."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.engine.agent.scout.appearance import COLOURS, SHAPES, looks_of, looks_told, shapes_of, things_told
from app.engine.agent.scout.grounding import likeness, plain, words
from app.engine.agent.scout.intent import Verb
from app.engine.agent.scout.skill import LIKELY, Proposal, View
from app.engine.core.actions.types import Click, TypeText
from app.engine.core.page_state import Element

_HOW_MANY = re.compile(r"\bhow\s+many\b", re.IGNORECASE)
_WHAT = re.compile(
    r"\b(?:describes?|identif(?:y|ies)|names?)\b.*\b(?:figure|shape|picture|image|item)\b", re.IGNORECASE
)
HEX = {
    "black": "000000", "white": "FFFFFF", "red": "FF0000", "lime": "00FF00", "blue": "0000FF", "yellow": "FFFF00",
    "cyan": "00FFFF", "aqua": "00FFFF", "magenta": "FF00FF", "fuchsia": "FF00FF", "gray": "808080", "grey": "808080",
    "silver": "C0C0C0", "maroon": "800000", "olive": "808000", "green": "008000", "purple": "800080", "teal": "008080",
    "navy": "000080", "orange": "FFA500", "pink": "FFC0CB", "brown": "A52A2A", "gold": "FFD700", "violet": "EE82EE",
    "indigo": "4B0082",
}  # fmt: skip
"""Colours by their names in style sheets."""


class Describe:
    """Press the button that says what is seen."""

    name = "describe"

    def propose(self, view: View) -> Sequence[Proposal]:
        """One button."""
        clause = view.clause
        if clause is None:
            return ()
        buttons = [e for e in view.shown if e.role == "button" and e.name]
        if clause.verb is Verb.ASK and _HOW_MANY.search(clause.text):
            counted = _count(view, clause.text)
            return _press(view, [e for e in buttons if plain(e.name) == str(counted)], f"there are {counted}")
        if clause.verb is Verb.CLICK and _WHAT.search(clause.text):
            names = _names(view)
            fitting = [e for e in buttons if any(likeness(name, e.name) >= 0.9 for name in names)]
            return _press(view, fitting, f"it is a {names[0]}" if names else "")
        return ()


class PickColour:
    """Put a colour into the field of a colour picker."""

    name = "colour"

    def propose(self, view: View) -> Sequence[Proposal]:
        """One field."""
        clause = view.clause
        if (
            clause is None
            or clause.verb not in (Verb.SELECT, Verb.SET)
            or not {"color", "colour"} & set(words(clause.text))
        ):
            return ()
        told = next((word for word in words(clause.text) if word in HEX), "") or _shown_colour(view)
        fields = [e for e in view.shown if e.type == "color" or (e.role == "textbox" and _takes_colour(e))]
        if not told or not fields:
            return ()
        value = f"#{HEX[told].lower()}" if fields[0].type == "color" else HEX[told]
        return [
            Proposal(
                command=TypeText(fields[0].index, value),
                score=LIKELY,
                reason=f"it is {told}",
                marks=(view.closes(), "typed:colour"),
            )
        ]


def _press(view: View, buttons: Sequence[Element], reason: str) -> list[Proposal]:
    return [
        Proposal(
            command=Click(button.index, label=button.name),
            score=LIKELY,
            reason=reason,
            marks=(view.closes(), "did:answer"),
        )
        for button in buttons[:1]
    ]


def _count(view: View, text: str) -> int:
    things = shapes_of(view)
    said = set(words(text))
    if {"shape", "shapes"} & said:
        things = [e for e in things if (looks := looks_of(e)) and looks.shape]
    singular = {word.removesuffix("s") for word in said}
    if not said & (COLOURS | set(SHAPES)) and not singular & {"digit", "letter", "large", "small", "big"}:
        return len(things)
    return len(
        things_told(
            " ".join(
                word.removesuffix("s") if word in ("digits", "letters") else word for word in words(text)
            ),
            things,
        )
    )


def _names(view: View) -> tuple[str, ...]:
    """What the one figure may be called: a thing to be clicked, else one that is only shown."""
    things = [looks for e in shapes_of(view) if (looks := looks_of(e))]
    if not things:
        shown = [
            line for line in view.outline.lines if line.element < 0 and (line.looks or len(line.words) == 1)
        ]
        things = [looks_told(line.looks, line.words) for line in shown]
    if len(things) != 1:
        return ()
    looks = things[0]
    if looks.sign:
        return _of_sign(looks.sign)
    return (looks.shape,) if looks.shape else ()


def _of_sign(sign: str) -> tuple[str, ...]:
    return ("digit", "number") if sign.isdigit() else ("letter",)


def _shown_colour(view: View) -> str:
    for element in view.shown:
        said = words(dict(element.attributes).get("looks", ""))
        found = next((word for word in said if word in HEX), "")
        if found and element.role == "generic" and element.rect and element.rect[3] < 40:
            return found
    return ""


def _takes_colour(field: Element) -> bool:
    told = " ".join((field.name, field.label, *(value for _, value in field.attributes))).lower()
    return "color" in told or "colour" in told
