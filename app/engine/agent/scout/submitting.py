"""Sends off what was filled in, where the task asks for that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.engine.agent.scout.grounding import fit, plain
from app.engine.agent.scout.intent import Clause, Verb
from app.engine.agent.scout.phrases import one_of
from app.engine.agent.scout.skill import CERTAIN, LIKELY, PLAUSIBLE, Proposal, View
from app.engine.core.actions.types import Click, Select, SetChecked, TypeText
from app.engine.core.page_state import Element

SENDING = one_of(
    "submit ok okay go send save search login done apply continue confirm order book add create update post"
)
_BUTTONS = frozenset({"button", "generic", "link", "image"})
_ENDS = frozenset(
    {
        Verb.SEARCH, Verb.TYPE, Verb.SET, Verb.EDIT, Verb.ADD, Verb.BUY, Verb.CHECK, Verb.SELECT, Verb.LOGIN,
        Verb.REPLY, Verb.FORWARD, Verb.FILTER, Verb.SUBMIT, Verb.DRAG, Verb.SORT,
    }
)  # fmt: skip


_CHANGES = ("typed:", "chosen:", "did:drag", "did:sort", "did:form", "did:add")
"""Marks that say something was entered or moved which may have to be sent; a click alone is not sent off."""


def is_submit(clause: Clause) -> bool:
    """Whether a clause asks for no more than to send off: ``press Submit``, ``and submit``."""
    if clause.verb is Verb.SUBMIT:
        return True
    words = plain(clause.targets[0]) if len(clause.targets) == 1 else ""
    return clause.verb is Verb.CLICK and words in (
        "submit",
        "ok",
        "login",
        "log in",
        "sign in",
        "send",
        "save",
        "search",
    )


class Submit:
    """Press what sends the form: the button the clause names, else the one that is there for it."""

    name = "submit"

    def propose(self, view: View) -> Sequence[Proposal]:
        """Only where it is the turn of a clause that says so, or everything else is done."""
        clause = view.clause
        if clause is not None and is_submit(clause):
            return [*_asked(view, clause)]
        if (
            clause is None
            and not view.task.question
            and view.task.has(*_ENDS)
            and "sent" not in view.memory.marks
        ):
            return [*_at_the_end(view)]
        return ()


def _asked(view: View, clause: Clause) -> Iterator[Proposal]:
    name = clause.targets[0] if clause.targets else "submit"
    for element, sure in senders(view, name):
        yield Proposal(
            command=Click(element.index, label=element.name),
            score=sure,
            reason=f"the task says to press '{name}'",
            marks=(view.closes(), "sent"),
            again=True,
        )


def _at_the_end(view: View) -> Iterator[Proposal]:
    if not any(mark.startswith(_CHANGES) for mark in view.memory.marks):
        return
    for element, sure in senders(view, "submit"):
        yield Proposal(
            command=Click(element.index, label=element.name),
            score=sure * 0.7,
            reason="everything is filled in",
            marks=("sent",),
        )


def senders(view: View, name: str) -> list[tuple[Element, float]]:
    """Elements that send a form and how sure that is, surest first: so named, of type submit, named like that."""
    found: list[tuple[Element, float]] = []
    for element in view.shown:
        if element.role not in _BUTTONS:
            continue
        said = fit(name, element)
        if said >= 0.9:
            found.append((element, CERTAIN if element.role == "button" else 0.95))
        elif plain(element.name).rstrip("!") in SENDING:
            found.append((element, LIKELY if element.submits or element.role == "button" else PLAUSIBLE))
        elif element.submits and element.role == "button":
            found.append((element, PLAUSIBLE))
    form = _form_in_use(view)
    found.sort(key=lambda one: (-one[1], bool(form) and one[0].form != form, one[0].index))
    return found[:3]


def _form_in_use(view: View) -> str:
    """The form of the field that was filled in last, where it is still there; "" where it is not known."""
    for turn in reversed(view.sight.history):
        if isinstance(turn.action, TypeText | Select | SetChecked):
            number = turn.action.element
            same = turn.url == view.page.url and 0 <= number < len(view.page.elements)
            return view.page.elements[number].form if same else ""
    return ""
