"""Opens what may hide the target: tabs, menus, trees, sections; scrolls; turns the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.engine.agent.scout.grounding import find, fit, likeness, plain, words
from app.engine.agent.scout.intent import Clause, Verb
from app.engine.agent.scout.phrases import one_of
from app.engine.agent.scout.planning import subject_of
from app.engine.agent.scout.skill import CERTAIN, GUESS, LAST_RESORT, Proposal, View, key_of
from app.engine.agent.scout.submitting import is_submit
from app.engine.core.actions.types import Click, Hover, Scroll
from app.engine.core.page_state import Element

_WANTS = frozenset(
    {
        Verb.CLICK,
        Verb.SELECT,
        Verb.OPEN,
        Verb.CHECK,
        Verb.DELETE,
        Verb.REPLY,
        Verb.FORWARD,
        Verb.TYPE,
        Verb.BUY,
        Verb.FIND,
    }
)
_CLOSED = one_of("collapsed expandable closed accordion toggle expander caret dropdown folded")
_OPENERS = one_of("menu more expand show details options tree folder open")
_NEXT = one_of("> » › next → more older")
_SIGNS = frozenset(["+", "▸", "▶", "▾", "▼", "☰", "⋮", "…", "⋯"])
_PRESSED = frozenset({"button", "link", "tab", "treeitem", "summary"})
SURE = 0.9


class Reveal:
    """Open, one after the other, what may hide what is asked for; only where it can't be seen."""

    name = "reveal"

    def propose(self, view: View) -> Sequence[Proposal]:
        """Things to open, those the task speaks of first."""
        clause = view.clause
        if clause is None or clause.verb not in _WANTS or is_submit(clause):
            return ()
        if clause.path:
            return [*_along(view, clause)]
        wanted = _wanted(view, clause)
        if not wanted or _seen(view, wanted, by_text=not clause.quoted):
            return ()
        return [*_openings(view, wanted), *_further(view)]


def _wanted(view: View, clause: Clause) -> tuple[str, ...]:
    if clause.quoted and clause.verb is not Verb.TYPE:
        return clause.quoted
    subject = subject_of(view.task)
    if subject:
        return (subject,)
    return (
        clause.targets if clause.verb in (Verb.SELECT, Verb.OPEN, Verb.CLICK) and not clause.ordinal else ()
    )


def _seen(view: View, wanted: tuple[str, ...], *, by_text: bool) -> bool:
    """Whether one of them is there; plain words count only where nothing has to be pressed that is called so."""
    for name in wanted:
        if any(fit(name, element) >= SURE and not view.covered(element) for element in view.shown):
            return True
        if any(fit(name, element) >= SURE for element in view.shown):
            continue
        if any(plain(option) == plain(name) for element in view.shown for option in element.options):
            return True
        if (
            by_text
            and len(name) > 1
            and set(words(name))
            and set(words(name)) <= set(words(view.outline.text))
        ):
            return True
    return False


def _along(view: View, clause: Clause) -> Iterator[Proposal]:
    """One part of a menu path after the other: rest on what opens, press the last."""
    for place in range(len(clause.path) - 1, -1, -1):
        part = clause.path[place]
        found = find(part, view.shown, least=SURE)
        if not found:
            continue
        element = found[0].element
        last = place == len(clause.path) - 1
        mark = f"path:{view.number}:{place}"
        if last:
            yield Proposal(
                command=Click(element.index, label=element.name),
                score=CERTAIN,
                reason=f"'{part}' is the end of the path",
                marks=(view.closes(), "did:path"),
            )
            return
        if mark in view.memory.marks:
            yield Proposal(
                command=Click(element.index, label=element.name),
                score=0.8,
                reason=f"'{part}' did not open by resting on it",
            )
            return
        yield Proposal(
            command=Click(element.index, label=element.name)
            if element.role in _PRESSED and "haspopup" not in element.states
            else Hover(element.index),
            score=0.9,
            reason=f"'{part}' is on the path",
            marks=(mark,),
        )
        return


def _openings(view: View, wanted: tuple[str, ...]) -> Iterator[Proposal]:
    said = set(words(view.task.text))
    for element in view.shown:
        sure = _opens(element) or _behind(view, element, wanted)
        if not sure:
            continue
        mark = f"opened:{key_of(element)}:{plain(element.name)}"
        if mark in view.memory.marks or any(key_of(element) in done for done in view.memory.done):
            continue
        spoken = bool(set(words(element.name)) & said)
        close = max(likeness(name, element.name) for name in wanted)
        command = (
            Hover(element.index) if element.role == "menuitem" else Click(element.index, label=element.name)
        )
        yield Proposal(
            command=command,
            score=min(0.7, sure + (0.15 if spoken else 0.0) + 0.1 * close),
            reason=f"'{wanted[0]}' can't be seen; it may be behind '{element.name or element.role}'",
            marks=(mark,),
        )


def _opens(element: Element) -> float:
    """How likely it opens something that is closed now; 0 for no."""
    if element.role == "tab":
        return GUESS + 0.15 if "selected" not in element.states and "expanded" not in element.states else 0.0
    if "collapsed" in element.states or ("haspopup" in element.states and "expanded" not in element.states):
        return GUESS + (0.2 if element.role == "menuitem" else 0.12)
    if element.role == "summary" and "expanded" not in element.states:
        return GUESS + 0.1
    attributes = dict(element.attributes)
    tokens = set(words(attributes.get("class", "")))
    if tokens & _CLOSED and not element.href:
        return GUESS + 0.08
    if element.role in ("button", "generic") and (set(words(element.name)) | tokens) & _OPENERS:
        return GUESS
    return 0.0


def _behind(view: View, element: Element, wanted: tuple[str, ...]) -> float:
    """How likely a thing without words opens what is wanted: a sign, or what stands in for a hidden list."""
    if element.name.strip() in _SIGNS and view.task.has(Verb.OPEN):
        return GUESS + 0.1
    if element.rect is None or element.role not in ("generic", "button", "combobox", "textbox"):
        return 0.0
    for hidden in view.page.elements:
        if hidden.visible or hidden.rect is None or not hidden.options:
            continue
        x, y = hidden.rect[0], hidden.rect[1]
        left, top, width, height = element.rect
        over = left - 2 <= x <= left + width and top - 2 <= y <= top + height
        if over and any(plain(option) == plain(name) for option in hidden.options for name in wanted):
            return GUESS + 0.2
    return 0.0


def next_page(view: View) -> list[Element]:
    """What leads to the next page of a list, or to more of it."""
    return [
        e for e in view.shown
        if plain(e.name) in _NEXT or e.name.strip() in _NEXT
        or (e.role in ("link", "button") and words(e.name)[:1] == ("next",))
    ]  # fmt: skip


def _further(view: View) -> Iterator[Proposal]:
    for element in next_page(view)[:1]:
        yield Proposal(
            command=Click(element.index, label=element.name),
            score=GUESS - 0.05,
            reason="it may be on the next page",
            key=f"next:{key_of(element)}",
            again=True,
        )
    height = view.page.viewport[1]
    if view.page.size[1] > height + 40:
        yield Proposal(
            command=Scroll(dy=float(max(200, height - 60))),
            score=LAST_RESORT,
            reason="it may be further down",
            key=f"scroll:{view.page.url}",
        )
