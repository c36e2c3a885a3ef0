"""Takes the n-th of what a search found, over its pages; adds things of a list by the button beside each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.engine.agent.scout.choosing import told_among
from app.engine.agent.scout.grounding import plain
from app.engine.agent.scout.intent import Verb
from app.engine.agent.scout.outline import Outline
from app.engine.agent.scout.revealing import next_page
from app.engine.agent.scout.rows import alike, controls_called
from app.engine.agent.scout.skill import CERTAIN, LIKELY, Proposal, View
from app.engine.core.actions.types import Click
from app.engine.core.page_state import Element

_FOUND = re.compile(
    r"\b(?:results?|hits?|entry|entries|match|matches|items?|links?|posts?|articles?)\b", re.IGNORECASE
)
_ADDS = ("+", "add", "add to cart", "add to basket", "add to bag")
_SIGNS = re.compile(r"[<>«»‹›]|\d+|next|prev|previous|first|last", re.IGNORECASE)


class NthResult:
    """Open the n-th of the things found; turns the page where it shows fewer, and goes on counting."""

    name = "result"

    def propose(self, view: View) -> Sequence[Proposal]:
        """The link, or the next page."""
        clause = view.clause
        if clause is None or clause.verb not in (Verb.CLICK, Verb.OPEN, Verb.SELECT) or clause.ordinal < 1:
            return ()
        if not _FOUND.search(clause.text):
            return ()
        found = _found(view)
        if not found:
            return ()
        behind = int(view.memory.values.get("counted", "0"))
        place = clause.ordinal - behind - 1
        if 0 <= place < len(found):
            one = found[place]
            reason = f"it is number {clause.ordinal}"
            return [
                Proposal(
                    command=Click(one.index, label=one.name),
                    score=CERTAIN,
                    reason=reason,
                    marks=(view.closes(),),
                )
            ]
        return [
            Proposal(
                command=Click(more.index, label=more.name),
                score=CERTAIN,
                reason=f"{behind + len(found)} were on the pages up to here",
                key=f"page:{behind}",
                keeps=(("counted", str(behind + len(found))),),
                marks=("paged",),
            )
            for more in next_page(view)[:1]
        ]


class AddThings:
    """Press what adds a thing, for each thing of a page that the task lists."""

    name = "add"

    def propose(self, view: View) -> Sequence[Proposal]:
        """The next one; when all are added the clause is done."""
        clause = view.clause
        if clause is None or clause.verb not in (Verb.BUY, Verb.ADD) or clause.quoted or clause.extremes:
            return ()
        buttons = controls_called(view, _ADDS)
        if len(buttons) < 2:
            return ()
        names = told_among(clause.text, [line.words for line in view.outline.lines if line.element < 0])
        told = {name for name in names if len(name) > 2}
        left = [name for name in names if name in told and f"did:add:{name}" not in view.memory.marks]
        return [*_next(view, left, alike(buttons, buttons[0]))]


def _next(view: View, left: Sequence[str], buttons: Sequence[Element]) -> Iterator[Proposal]:
    for name in left[:1]:
        button = _behind(view.outline, name, buttons)
        if button is not None:
            yield Proposal(
                command=Click(button.index, label=button.name),
                score=LIKELY,
                reason=f"it adds '{name}'",
                marks=(f"did:add:{name}", *((view.closes(),) if len(left) == 1 else ())),
            )


def _behind(outline: Outline, name: str, buttons: Sequence[Element]) -> Element | None:
    """The first of some buttons behind a line."""
    at = outline.find(name)
    later = [button for button in buttons if outline.place.get(button.index, -1) > at]
    return min(later, key=lambda button: outline.place[button.index], default=None) if at >= 0 else None


def _found(view: View) -> list[Element]:
    """The largest group of links that are alike and lead into content, not to pages of the list."""
    groups: dict[tuple[str, str], list[Element]] = {}
    for element in view.shown:
        named = plain(element.name)
        if element.role != "link" or not named or _SIGNS.fullmatch(named or element.name):
            continue
        if any(
            mark.partition(":")[0] in ("navigation", "banner", "contentinfo") for mark in element.landmarks
        ):
            continue
        key = (dict(element.attributes).get("class", ""), element.repeat)
        groups.setdefault(key, []).append(element)
    return max(groups.values(), key=len, default=list[Element]())
