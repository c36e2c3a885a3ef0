"""What the supervising person says to a running scout: what it names is done before anything else, once.

A hint is written for the moment: a control, a menu path, an address, words to search for or to type, or the answer.
What of it can be done on this page is done; the rest waits for a page where it can.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urljoin, urlsplit

from app.engine.agent.scout.choosing import told_among
from app.engine.agent.scout.grounding import plain
from app.engine.agent.scout.place import Place
from app.engine.agent.scout.skill import CERTAIN, Proposal, View
from app.engine.agent.scout.tipping import blank, without_warnings
from app.engine.agent.scout.wayfinding import by_search
from app.engine.core.actions.types import Action, Click, Goto, Stop, TypeText
from app.engine.core.observation import RetrievedTip
from app.engine.core.page_state import Element

_QUOTE = r"(?:[\"“]|(?<!\w)['‘])([^\"”\n]{1,200}?)(?:[\"”]|['’](?!\w))"
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("answer", re.compile(rf"\b(?:the answer is|answer with|stop with)\s*:?\s*{_QUOTE}", re.IGNORECASE)),
    (
        "type",
        re.compile(
            rf"\b(?:type|enter|fill(?: in)?|write|put)\s+{_QUOTE}\s+(?:in|into|as|for)\s+(?:the\s+)?{_QUOTE}",
            re.IGNORECASE,
        ),
    ),
    ("search", re.compile(rf"\bsearch(?:ing)?\s+(?:for\s+)?{_QUOTE}", re.IGNORECASE)),
    ("address", re.compile(r"(https?://[^\s\"'<>]+|(?<![\w./])/[\w%-]+(?:/[\w.%-]+)*/?(?:\?[^\s\"'<>]*)?)")),
    ("control", re.compile(_QUOTE)),
)
_LEAD_IN = re.compile(
    r"^(?:.*\b(?:open|use|go to|click|press|choose|under|via|in|follow|take)\s+)", re.IGNORECASE
)
_PIECE = re.compile(r"[^.;:!?\n,()]+")
_SHORTEST = 4
_LONGEST_PART, _MOST_PARTS = 60, 8
_LONGEST = 4_000


@dataclass(frozen=True, slots=True)
class Named:
    """One thing a hint names, at its place in the words."""

    at: int
    kind: str
    what: str
    where: str = ""


class ByHint:
    """Does what the person's newest words name."""

    name = "hint"

    def propose(self, view: View) -> Sequence[Proposal]:
        """The first thing named, in the newest hint, that can be done here and was not done yet."""
        hints = [tip for tip in view.sight.tips if tip.kind == "person"]
        if not hints:
            return ()
        place = Place(view)
        for hint in reversed(hints):
            made = next(_proposals(place, hint), None)
            if made is not None:
                return (made,)
        return ()


@lru_cache(maxsize=64)
def named_in(text: str) -> tuple[Named, ...]:
    """What a hint names by its form, in the order of its words; what one form took is not taken by another."""
    left, found = without_warnings(text[:_LONGEST]), list[Named]()
    for kind, form in _FORMS[:-1]:
        for one in form.finditer(left):
            where = one[2].strip() if kind == "type" else ""
            found.append(Named(one.start(), kind, one[1].strip().rstrip(".,;"), where))
        left = form.sub(blank, left)
    for piece in _PIECE.finditer(left):
        parts = _parts(piece[0])
        if len(parts) > 1:
            found.append(Named(piece.start(), "path", " > ".join(parts)))
            left = left[: piece.start()] + blank(piece) + left[piece.end() :]
    kind, form = _FORMS[-1]
    found += [Named(one.start(), kind, one[1].strip()) for one in form.finditer(left)]
    found = [one for one in found if one.what]
    return tuple(sorted(found, key=lambda one: one.at))


def _parts(piece: str) -> list[str]:
    """A menu path's parts, without the words that lead up to it."""
    if ">" not in piece:
        return []
    parts = [part.strip(" \t\"'“”‘’")[-_LONGEST_PART:] for part in piece.split(">")[:_MOST_PARTS]]
    return [part for part in (_LEAD_IN.sub("", parts[0]), *parts[1:]) if part]


def _proposals(place: Place, hint: RetrievedTip) -> Iterator[Proposal]:
    view = place.view
    told = named_in(hint.text)
    if not told:
        told = tuple(Named(at, "control", name) for at, name in enumerate(_named_here(place, hint.text)))
    for one in told:
        mark = f"{hint.tip}:{one.kind}:{one.what}"
        if mark in view.memory.marks:
            continue
        made = _command(place, one)
        if made is None or _was_done(view, made[0]):
            continue
        command, last = made
        yield Proposal(
            command=command,
            score=CERTAIN,
            reason=f"the person who supervises says: {' '.join(hint.text.split())[:160]}",
            key=f"{mark}:{getattr(command, 'label', '')}",
            marks=(mark,) if last else (),
            followed=((hint.tip, True),),
            again=not last,
            told=True,
        )


def _command(place: Place, named: Named) -> tuple[Action, bool] | None:
    """What does it on this page, and whether that is all of it; ``None`` where it can't be done here."""
    match named.kind:
        case "answer":
            return Stop(named.what), True
        case "address":
            return Goto(urljoin(place.view.page.url, named.what)), True
        case "search":
            found = by_search(place, named.what, "")
            return (found[0].command, True) if found and found[0].command is not None else None
        case "type":
            field = next(
                (one for one in place.fields if plain(place.label_of(one)) == plain(named.where)), None
            )
            return (TypeText(field.index, named.what), True) if field is not None else None
        case "path":
            return _on_the_path(place, [part.strip() for part in named.what.split(">")])
        case _:
            control = _called(place.pressed, named.what)
            return (Click(control.index, label=control.name), True) if control is not None else None


def _on_the_path(place: Place, parts: Sequence[str]) -> tuple[Action, bool] | None:
    """The last part of a menu path that can be pressed here."""
    for depth in range(len(parts) - 1, -1, -1):
        one = _called(place.pressed, parts[depth])
        if one is None or (depth < len(parts) - 1 and "expanded" in one.states):
            continue
        return Click(one.index, label=one.name), depth == len(parts) - 1
    return None


def _called(elements: Sequence[Element], name: str) -> Element | None:
    asked = plain(name)
    exact = next((one for one in elements if asked and plain(one.name) == asked), None)
    if exact is not None or len(asked) < _SHORTEST:
        return exact
    return next((one for one in elements if plain(one.name).startswith(f"{asked} ")), None)


def _named_here(place: Place, text: str) -> list[str]:
    """Controls of this page whose names the words tell, although nothing marks them as names."""
    names = [one.name for one in place.pressed if len(one.name.strip()) >= _SHORTEST]
    return told_among(without_warnings(text[:_LONGEST]), names)


def _was_done(view: View, command: Action) -> bool:
    """A run that is gone on with does not follow an address again that it has been taken to."""
    if not isinstance(command, Goto):
        return False
    return any(
        isinstance(turn.action, Goto) and turn.action.url == command.url for turn in view.sight.history
    ) or (urlsplit(command.url) == urlsplit(view.page.url))
