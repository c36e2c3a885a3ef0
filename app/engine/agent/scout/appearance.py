"""Things told by what they look like: colour, shape, size, letter or digit.  Pure; the capture says how things look."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.engine.agent.scout.grounding import words
from app.engine.agent.scout.intent import Verb
from app.engine.agent.scout.phrases import one_of
from app.engine.agent.scout.skill import LIKELY, PLAUSIBLE, Proposal, View, key_of
from app.engine.core.actions.types import Click
from app.engine.core.page_state import Element

COLOURS = one_of(
    "red green blue yellow cyan magenta black white gray orange purple pink brown olive lime maroon navy teal aqua",
    "fuchsia silver grey violet gold indigo",
)
_SAME = {"aqua": "cyan", "fuchsia": "magenta", "grey": "gray"}
SHAPES = {
    "circle": "circle", "circles": "circle", "square": "rectangle", "squares": "rectangle", "rectangle": "rectangle",
    "rectangles": "rectangle", "triangle": "triangle", "triangles": "triangle", "line": "line", "ellipse": "ellipse",
    "polygon": "polygon", "polygons": "polygon",
}  # fmt: skip
_SIZED = re.compile(r"(\d+)x(\d+)")
_LARGE, _SMALL = one_of("large larger big bigger"), one_of("small smaller little tiny")
_THINGS = one_of("item items shape shapes thing things object objects figure figures box boxes area square")


@dataclass(frozen=True, slots=True)
class Looks:
    """What a thing looks like: words of colour and shape, its size in pixels, and the letter or digit it is."""

    colours: frozenset[str]
    shape: str
    size: float
    sign: str


def looks_of(element: Element) -> Looks | None:
    """What an element looks like; ``None`` where nothing is told."""
    told = dict(element.attributes).get("looks", "")
    return looks_told(told, element.name if element.tag == "text" else "") if told else None


def looks_told(told: str, name: str = "") -> Looks:
    """Looks as a capture tells them (``red circle 20x20``), of a thing with this name."""
    said = words(told)
    sized = _SIZED.search(told)
    return Looks(
        colours=frozenset(_SAME.get(word, word) for word in said if word in COLOURS),
        shape=next((SHAPES[word] for word in said if word in SHAPES), ""),
        size=float(sized[1]) * float(sized[2]) if sized else 0.0,
        sign=name if len(name) == 1 else "",
    )


def things_told(text: str, things: Sequence[Element]) -> list[Element]:
    """Those of some things that a text describes by colour, shape, size or sign; empty where it describes none."""
    said = words(text)
    colours = {_SAME.get(word, word) for word in said if word in COLOURS}
    shapes = {SHAPES[word] for word in said if word in SHAPES}
    found: list[tuple[Element, Looks]] = []
    for thing in things:
        looks = looks_of(thing) or Looks(frozenset(), "", _area(thing), "")
        if colours and not colours & looks.colours:
            continue
        if shapes and looks.shape not in shapes and not (looks.shape == "" and shapes == {"rectangle"}):
            continue
        if "digit" in said and not looks.sign.isdigit():
            continue
        if "letter" in said and not looks.sign.isalpha():
            continue
        found.append((thing, looks))
    sized = bool((_LARGE | _SMALL) & set(said))
    if not (colours or shapes or sized or {"digit", "letter"} & set(said)):
        return [
            thing
            for thing in things
            if (looks := looks_of(thing)) and looks.sign and looks.sign in text.split()
        ]
    return _by_size([*found], said, [_size(thing) for thing in things])


def _by_size(
    found: list[tuple[Element, Looks]], said: Sequence[str], all_sizes: Sequence[float]
) -> list[Element]:
    large, small = bool(_LARGE & set(said)), bool(_SMALL & set(said))
    if not (large or small) or not all_sizes:
        return [thing for thing, _ in found]
    middle = (max(all_sizes) + min(all_sizes)) / 2
    kept = [thing for thing, _ in found if (_size(thing) > middle) is large]
    return sorted(kept, key=_size, reverse=large)


def _size(thing: Element) -> float:
    """The longer side, so that a letter and a circle of one size are about equal."""
    return max(thing.rect[2], thing.rect[3]) if thing.rect else 0.0


def _area(thing: Element) -> float:
    return thing.rect[2] * thing.rect[3] if thing.rect else 0.0


def shapes_of(view: View) -> list[Element]:
    """Things that have a look of their own and no other use."""
    return [
        e for e in view.shown
        if looks_of(e) and e.role not in ("button", "link", "textbox") and e.tag not in ("svg", "line", "canvas")
    ]  # fmt: skip


class ClickLooks:
    """Click what is told by its looks; with ``all`` every one of them."""

    name = "looks"

    def propose(self, view: View) -> Sequence[Proposal]:
        """One click."""
        clause = view.clause
        if clause is None or clause.verb not in (Verb.CLICK, Verb.SELECT) or clause.quoted:
            return ()
        said = set(words(clause.text))
        looks = said & (COLOURS | set(SHAPES) | _LARGE | _SMALL | _THINGS | {"digit", "letter"})
        if not looks and not re.search(r"\ba\s+\w$", clause.text):
            return ()
        return [*_clicks(view, clause.text, several=clause.many)]


def _clicks(view: View, text: str, *, several: bool) -> Iterator[Proposal]:
    found = things_told(text, shapes_of(view))
    if not several and len(found) > 1:
        small = [e for e in found if "query" not in e.css]
        found = small or found
        found.sort(key=lambda e: -_area(e))
    fresh = [e for e in found if f"looked:{view.number}:{key_of(e)}" not in view.memory.marks]
    for thing in fresh[:1]:
        last = not several or len(fresh) == 1
        yield Proposal(
            command=Click(thing.index, label=thing.name),
            score=LIKELY if several or len(found) == 1 else PLAUSIBLE,
            reason=f"it looks like that ({dict(thing.attributes).get('looks', '')})",
            marks=(f"looked:{view.number}:{key_of(thing)}", "did:looks", *((view.closes(),) if last else ())),
        )
