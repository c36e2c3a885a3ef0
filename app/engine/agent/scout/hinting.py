"""Hints of the supervising person to a running scout: what one names is done before anything else, once.

A hint is written for the moment: a control, a menu path, an address, words to search for or to type, or the answer.
What of it can be done on this page is done; the rest waits for a page where it can.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urljoin

from app.engine.agent.scout.likeness import plain, words
from app.engine.agent.scout.memory import Memory, ScoutStep
from app.engine.agent.scout.page_context import PageContext
from app.engine.core.actions.types import Action, Click, Goto, Stop, TypeText
from app.engine.core.addresses import split_address
from app.engine.core.observation import Observation, RetrievedTip
from app.engine.core.page_state import Element

_NOT = re.compile(
    r"(?:\b(?:not|never|avoid|without|except|unless|instead of|rather than|wrong)\b|\b\w{2,7}n['’]t\b)"
    r".{0,400}?(?=[.;!?,](?:\s|$)|\bbut\b|\n|$)",
    re.IGNORECASE,
)
"""Words that say what is not to be done."""
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


def hint_step(observation: Observation, context: PageContext, memory: Memory) -> ScoutStep | None:
    """Return the first thing named in the newest hint that can be done here and was not done yet."""
    hints = [tip for tip in observation.tips if tip.kind == "person"]
    for hint in reversed(hints):
        made = next(_steps(observation, context, memory, hint), None)
        if made is not None:
            return made
    return None


@lru_cache(maxsize=64)
def named_in(text: str) -> tuple[Named, ...]:
    """Return what a hint names by its form, in the order of its words; what one form took is not taken by another."""
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


def _steps(
    observation: Observation, context: PageContext, memory: Memory, hint: RetrievedTip
) -> Iterator[ScoutStep]:
    told = named_in(hint.text)
    if not told:
        told = tuple(Named(at, "control", name) for at, name in enumerate(_named_here(context, hint.text)))
    for one in told:
        mark = f"hint:{hint.tip}:{one.kind}:{one.what}"
        if mark in memory.marks:
            continue
        made = _action(context, one)
        if made is None or _was_done(observation, made[0]):
            continue
        action, last = made
        step = ScoutStep(
            action=action,
            reason=f"the person who supervises says: {' '.join(hint.text.split())[:160]}",
            key=f"{mark}:{getattr(action, 'label', '')}",
            tip=hint.tip,
            marks=(mark,) if last else (),
        )
        if not memory.worn_out(step, 2 if last else 9):
            yield step


def _action(context: PageContext, named: Named) -> tuple[Action, bool] | None:
    """Return what does it on this page, and whether that is all of it; ``None`` where it can't be done here."""
    match named.kind:
        case "answer":
            return Stop(named.what), True
        case "address":
            return Goto(_joined(context.page.url, named.what)), True
        case "search":
            fields = context.search_fields
            return (TypeText(fields[0].element.index, named.what, enter=True), True) if fields else None
        case "type":
            field = next((one for one in context.fields if plain(one.label) == plain(named.where)), None)
            return (TypeText(field.element.index, named.what), True) if field is not None else None
        case "path":
            return _on_the_path(context, [part.strip() for part in named.what.split(">")])
        case _:
            control = control_called(context.pressed, named.what)
            return (Click(control.index, label=control.name), True) if control is not None else None


def _joined(base: str, address: str) -> str:
    """Return a whole address; one that can't be read stays as it is."""
    try:
        return urljoin(base, address)
    except ValueError:
        return address


def _on_the_path(context: PageContext, parts: Sequence[str]) -> tuple[Action, bool] | None:
    """Return the last part of a menu path that can be pressed here."""
    for depth in range(len(parts) - 1, -1, -1):
        one = control_called(context.pressed, parts[depth])
        if one is None or (depth < len(parts) - 1 and "expanded" in one.states):
            continue
        return Click(one.index, label=one.name), depth == len(parts) - 1
    return None


def control_called(elements: Sequence[Element], name: str) -> Element | None:
    """Return the control called so, else the first whose name begins with it; ``None`` for none."""
    asked = plain(name)
    exact = next((one for one in elements if asked and plain(one.name) == asked), None)
    if exact is not None or len(asked) < _SHORTEST:
        return exact
    return next((one for one in elements if plain(one.name).startswith(f"{asked} ")), None)


def _named_here(context: PageContext, text: str) -> list[str]:
    """Return the controls of this page whose names the words tell, although nothing marks them as names."""
    said = f" {' '.join(words(without_warnings(text[:_LONGEST])))} "
    names = dict.fromkeys(one.name for one in context.pressed if len(one.name.strip()) >= _SHORTEST)
    told = [name for name in names if words(name) and f" {' '.join(words(name))} " in said]
    longest = [
        name for name in told if not any(name != other and plain(name) in plain(other) for other in told)
    ]
    return sorted(longest, key=lambda name: said.index(" ".join(words(name))))


def _was_done(observation: Observation, action: Action) -> bool:
    """Whether the run was taken to an address before; a resumed run does not follow it again."""
    if not isinstance(action, Goto):
        return False
    return any(
        isinstance(entry.action, Goto) and entry.action.url == action.url for entry in observation.history
    ) or (split_address(action.url) == split_address(observation.page.url))


def blank(one: re.Match[str]) -> str:
    """Return spaces in the place of what was matched, so that everything else stays where it was."""
    return " " * len(one[0])


def without_warnings(text: str) -> str:
    """Return the words without those that say what is not to be done."""
    return _NOT.sub(blank, text)
