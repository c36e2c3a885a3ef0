"""Takes away what lies over what is to be used: the picker that stayed open, the dialog, the banner."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.agent.procedures.covering import CLOSING_NAMES, CLOSING_ROLES
from app.engine.agent.scout.grounding import plain
from app.engine.agent.scout.phrases import one_of
from app.engine.agent.scout.skill import CERTAIN, Proposal, View, key_of
from app.engine.core.action_result import Cause
from app.engine.core.actions.types import Action, Click, ClickAt, Press

_DECLINES = one_of("cancel no stay later skip") | {"no thanks", "not now", "stay here"}
"""What declines a question that came up and keeps the rest of the page from being used."""


class Uncover:
    """After something was found covered: close what covers it; else leave it with Escape."""

    name = "uncover"

    def propose(self, view: View) -> Sequence[Proposal]:
        """One attempt after the other."""
        last = view.sight.last
        if last is None or last.result.cause not in (Cause.COVERED, Cause.DISABLED, Cause.WRONG_KIND):
            return ()
        closes = CLOSING_NAMES if last.result.cause is Cause.COVERED else _DECLINES
        made = [
            Proposal(
                command=Click(e.index, label=e.name),
                score=CERTAIN + 0.01,
                reason="something lies over what is to be used",
                key=f"uncover:{key_of(e)}",
            )
            for e in view.shown
            if e.role in CLOSING_ROLES and plain(e.name) in closes and not view.covered(e)
        ]
        return [*made[:2], *(_keys(view) if last.result.cause is Cause.COVERED else ())]


def _keys(view: View) -> list[Proposal]:
    """Escape closes what asks for it; what belongs to a field goes when the cursor leaves it."""
    commands: list[Action] = [Press("Escape"), Press("Tab")]
    point = _nowhere(view)
    if point is not None:
        commands.append(ClickAt(point))
    return [
        Proposal(
            command=command,
            score=CERTAIN + 0.005 - 0.001 * place,
            reason="something lies over what is to be used",
            marks=(f"uncovered:{place}",),
            key=f"uncovered:{place}",
        )
        for place, command in enumerate(commands)
        if f"uncovered:{place}" not in view.memory.marks
    ]


def _nowhere(view: View) -> tuple[float, float] | None:
    """A point near a corner of the viewport where no element is."""
    width, height = view.page.viewport
    boxes = [e.rect for e in view.page.elements if e.rect is not None and e.visible]
    for x, y in ((width - 6.0, height - 6.0), (6.0, height - 6.0), (width - 6.0, 6.0)):
        if x > 0 and y > 0 and not any(a <= x <= a + w and b <= y <= b + h for a, b, w, h in boxes):
            return x, y
    return None
