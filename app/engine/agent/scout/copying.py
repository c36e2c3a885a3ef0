"""Copies a text from one field into another by the keys, so that nothing of it is lost on the way."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.agent.scout.intent import Verb
from app.engine.agent.scout.skill import CERTAIN, Proposal, View
from app.engine.agent.scout.typing_in import fields_of
from app.engine.core.actions.types import Click, Press
from app.engine.core.page_state import Element


class CopyPaste:
    """Mark all, copy, go to the other field, paste."""

    name = "copy"

    def propose(self, view: View) -> Sequence[Proposal]:
        """The next of the four."""
        clause = view.clause
        copied = next(iter(view.task.of(Verb.COPY)), None)
        if clause is None or copied is None or clause.verb not in (Verb.PASTE, Verb.TYPE):
            return ()
        fields = fields_of(view)
        sources = [e for e in fields if e.tag == "textarea"] or [e for e in fields if e.value]
        place = max(copied.ordinal - 1, 0) if copied.ordinal >= 0 else len(sources) - 1
        if place >= len(sources):
            return ()
        targets = [e for e in fields if e.tag != "textarea" and not e.value] or [
            e for e in fields if not e.value
        ]
        return _next(view, sources[place], targets)


def _next(view: View, source: Element, targets: Sequence[Element]) -> Sequence[Proposal]:
    marks = view.memory.marks
    if "copied" not in marks:
        keys, mark = ("Control+C", "copied") if "marked" in marks else ("Control+A", "marked")
        reason = "it is the text the task means" if mark == "marked" else "it is marked"
        return [
            Proposal(
                command=Press(keys, source.index), score=CERTAIN, reason=reason, marks=(mark,), again=True
            )
        ]
    if not targets:
        return ()
    target = targets[0]
    if "aimed" not in marks:
        return [
            Proposal(
                command=Click(target.index), score=CERTAIN, reason="the text goes there", marks=("aimed",)
            )
        ]
    reason = "the text was copied"
    closing = (view.closes(), "typed:pasted")
    return [Proposal(command=Press("Control+V", target.index), score=CERTAIN, reason=reason, marks=closing)]
