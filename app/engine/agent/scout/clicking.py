"""Clicks on what the task names, in the order in which it names it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.engine.agent.scout.grounding import find, nth, of_roles
from app.engine.agent.scout.intent import Clause, Verb
from app.engine.agent.scout.skill import CERTAIN, PLAUSIBLE, Proposal, View
from app.engine.command import Click

CLICKING = frozenset(
    {
        Verb.CLICK,
        Verb.SUBMIT,
        Verb.CLOSE,
        Verb.OPEN,
        Verb.SELECT,
        Verb.LOGIN,
        Verb.SAVE,
        Verb.DELETE,
        Verb.CHECK,
    }
)


class ClickNamed:
    """Click what the clause that comes next names: by its name, else the so-and-so-manieth of its kind."""

    name = "click"

    def propose(self, view: View) -> Sequence[Proposal]:
        """One click for the first target that was not clicked yet."""
        clause = view.clause
        if clause is None or clause.verb not in CLICKING:
            return ()
        return [*self._named(view, clause), *self._counted(view, clause)]

    def _named(self, view: View, clause: Clause) -> Iterator[Proposal]:
        left = [name for name in clause.targets if _mark(view, name) not in view.memory.marks]
        for name in left[:1]:
            mine = _mark(view, name)
            marks = (mine, view.closes()) if len(left) == 1 else (mine,)
            for found in find(name, view.shown, roles=clause.roles)[:3]:
                yield Proposal(
                    command=Click(found.element.index, label=found.element.name),
                    score=min(CERTAIN, found.score) * 0.9,
                    reason=f"the task names '{name}'",
                    marks=marks,
                )

    def _counted(self, view: View, clause: Clause) -> Iterator[Proposal]:
        if not clause.kinds:
            return
        alike = of_roles(view.shown, clause.roles)
        one = nth(alike, clause.ordinal) if clause.ordinal else alike[0] if len(alike) == 1 else None
        if one is not None:
            which = f"number {clause.ordinal} of" if clause.ordinal else "the only one of"
            yield Proposal(
                command=Click(one.index, label=one.name),
                score=PLAUSIBLE,
                reason=f"it is {which} its kind ({clause.kinds[0]})",
                marks=(view.closes(),),
            )


def _mark(view: View, name: str) -> str:
    return f"clicked:{view.number}:{name}"
