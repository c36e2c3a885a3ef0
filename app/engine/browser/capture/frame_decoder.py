"""Decode the answer of the capture script in a frame into ``Element`` objects. Pure.

The script names strings, landmark chains and element paths by number (``resources/js/snapshot.js``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import orjson

from app.engine.core.page_state import Element

STATES = (
    "checked", "collapsed", "current", "disabled", "expanded", "focused", "haspopup", "pressed", "readonly",
    "required", "selected",
)  # fmt: skip
"""In the order of the script's bits, lowest first."""
IN_SHADOW, SUBMITS, IN_LIVE, IN_ADVERT, VISIBLE, LISTENS, MET = 1, 2, 4, 8, 16, 32, 64
CROSSES, FOREIGN = 1, 2

_Record = tuple[
    int, int, int, int, list[float] | None, int, int, int, int, int, int, int, list[int], int, list[int], int, int, int,
    int, int, int,
]  # fmt: skip
"""An element as the script writes it, in the order ``decode_elements`` unpacks it; mostly indexes of strings."""

_MARK = re.compile("\x01(\\d+)\x01")
_ODD = re.compile(r"[^\w-]")
_NUMBERED = re.compile(r"^(\t*)\[(\d+)\]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FramePosition:
    """Position of a frame in its parent: before which element, and its content's corner in pixels."""

    before: int
    name: str
    source: str
    x: float
    y: float
    landmarks: tuple[str, ...]
    advert: bool


def _facts(answer: str) -> dict[str, Any]:
    """Parse the script's JSON; half a letter (a lone surrogate), which a page may contain, becomes a question mark."""
    try:
        return orjson.loads(answer)
    except orjson.JSONDecodeError:
        whole = json.dumps(json.loads(answer), ensure_ascii=False)
        return orjson.loads(whole.encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class FrameSnapshot:
    """One frame as the script saw it; ``facts`` is the rest of its answer."""

    facts: Mapping[str, Any]
    spots: tuple[FramePosition, ...]

    @classmethod
    def read(cls, answer: str) -> FrameSnapshot:
        """Decode the script's answer."""
        facts = _facts(answer)
        told: list[dict[str, Any]] = facts["frames"]
        spots = tuple(
            FramePosition(
                before=spot["before"],
                name=spot["name"],
                source=spot["source"],
                x=spot["x"],
                y=spot["y"],
                landmarks=tuple(spot["landmarks"]),
                advert=spot["advert"],
            )
            for spot in told
        )
        return cls(facts, spots)


@dataclass(frozen=True, slots=True)
class FramePlacement:
    """A frame's inheritance from its position: chain of names, corner within the page, landmarks, advert."""

    chain: tuple[str, ...] = ()
    x: float = 0.0
    y: float = 0.0
    landmarks: tuple[str, ...] = ()
    advert: bool = False

    def within(self, spot: FramePosition, name: str) -> FramePlacement:
        """Return the placement of a frame inside this one."""
        return FramePlacement(
            (*self.chain, name),
            self.x + spot.x,
            self.y + spot.y,
            (*self.landmarks, *spot.landmarks),
            self.advert or spot.advert,
        )


def decode_elements(look: FrameSnapshot, around: FramePlacement, first: int = 0) -> list[Element]:
    """Return the frame's own elements, numbered from ``first`` on."""
    facts = look.facts
    strings: list[str] = facts["strings"]
    chains: list[list[int]] = facts["landmarks"]
    landmarks = [(*around.landmarks, *[strings[word] for word in chain]) for chain in chains]
    css, xpath = selectors(facts["paths"], strings)
    states: dict[int, tuple[str, ...]] = {}
    origin = str(facts.get("origin", "")) if around.chain else ""
    made: list[Element] = []
    records: list[_Record] = facts["elements"]
    for number, record in enumerate(records, start=first):
        (role, name, tag, bits, rect, chain, flags, href, target, form, kind, value, options, test_id, pairs, label,
         text, path, repeat, row, hears) = record  # fmt: skip
        if bits not in states:
            states[bits] = tuple(word for place, word in enumerate(STATES) if bits >> place & 1)
        made.append(
            Element(
                index=number,
                role=strings[role],
                name=strings[name],
                tag=strings[tag],
                states=states[bits],
                rect=(rect[0] + around.x, rect[1] + around.y, rect[2], rect[3]) if rect else None,
                frame=around.chain,
                origin=origin,
                landmarks=landmarks[chain],
                in_shadow=bool(flags & IN_SHADOW),
                href=strings[href],
                target=strings[target],
                form=strings[form],
                submits=bool(flags & SUBMITS),
                type=strings[kind],
                value=strings[value],
                options=tuple([strings[option] for option in options]),
                test_id=strings[test_id],
                attributes=tuple(
                    [(strings[pairs[at]], strings[pairs[at + 1]]) for at in range(0, len(pairs), 2)]
                ),
                label=strings[label],
                text=strings[text],
                css=css[path],
                xpath=xpath[path],
                repeat=strings[repeat],
                repeat_index=row,
                in_live=bool(flags & IN_LIVE),
                in_advert=around.advert or bool(flags & IN_ADVERT),
                visible=bool(flags & VISIBLE),
                listens=bool(flags & LISTENS),
                hears=event_kinds(strings[hears]),
                met=bool(flags & MET),
            )
        )
    return made


@cache
def event_kinds(kinds: str) -> tuple[str, ...]:
    """Split the script's event kinds."""
    return tuple(kinds.split())


def selectors(paths: Sequence[Sequence[int]], strings: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return CSS and XPath of every path.

    CSS starts at the nearest id that looks hand-written; XPath is full, and "" in a shadow root.
    """
    css: list[str] = []
    xpath: list[str] = []
    for above, tag_number, place, of, id_number, kind in paths:
        tag, name = strings[tag_number], strings[id_number]
        crosses = bool(kind & CROSSES)
        plain = _ODD.sub(r"\\\g<0>", tag) if kind & FOREIGN else tag
        step = plain if of == 1 else f"{plain}:nth-of-type({place})"
        if name:
            step = f"#{name}"
        parent = css[above] if above >= 0 else ""
        if crosses:
            css.append(f"{parent} >> {step if name else ':host > ' + step}")
        elif name:
            css.append(f"{parent.rpartition(' >> ')[0]} >> {step}" if " >> " in parent else step)
        else:
            css.append(f"{parent} > {step}" if parent else step)
        node = f"*[name()='{tag}']" if kind & FOREIGN else tag
        node = node if of == 1 else f"{node}[{place}]"
        outside = xpath[above] if above >= 0 else ""
        xpath.append("" if crosses or (above >= 0 and not outside) else f"{outside}/{node}")
    return css, xpath


def with_frames(text: str, inner: Mapping[int, str]) -> str:
    """Insert the texts of frames at their positions; a frame that was not read leaves nothing."""
    if "\x01" not in text:
        return text
    filled = _MARK.sub(lambda found: inner.get(int(found[1]), ""), text)
    return re.sub(r"\n{2,}", "\n", filled).strip("\n")


def tree_with_frames(lines: str, numbers: Sequence[int], inner: Mapping[int, str]) -> str:
    """Renumber a frame's tree to the page's element numbers and insert the trees of its frames."""
    if numbers and numbers[-1] != len(numbers) - 1:
        lines = _NUMBERED.sub(lambda found: f"{found[1]}[{numbers[int(found[2])]}]", lines)
    if "\x01" not in lines:
        return lines
    done: list[str] = []
    for line in lines.split("\n"):
        mark = _MARK.search(line)
        if mark is None:
            done.append(line)
        elif tree := inner.get(int(mark[1]), ""):
            indent = line[: mark.start()]
            done.extend(indent + part for part in tree.split("\n"))
    return "\n".join(done)
