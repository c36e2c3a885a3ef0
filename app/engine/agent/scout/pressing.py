"""A part that asks to press a control by its name: ``Click on "Kitchen"``.  It names the deed itself, not its end.

The press is the evidence: nothing is claimed of what it leads to.
"""

from __future__ import annotations

from app.engine.agent.scout.hinting import control_called
from app.engine.agent.scout.likeness import words
from app.engine.agent.scout.memory import ScoutStep
from app.engine.agent.scout.part_view import PartDone, PartView
from app.engine.core.actions.types import Click
from app.engine.core.text import word_set

_VERBS = word_set("click press hit tap push")


def press_step(view: PartView) -> ScoutStep | PartDone | None:
    """Return the press of the next control that the part names, its end once all were pressed, else ``None``."""
    if not words(view.part.verb)[:1] or words(view.part.verb)[0] not in _VERBS or not view.part.names:
        return None
    left = [name.text for name in view.part.names if f"pressed:{name.text}" not in view.memory.marks]
    if not left:
        return PartDone(evidence="pressed " + ", ".join(f'"{name.text}"' for name in view.part.names))
    control = control_called(view.context.pressed, left[0])
    if control is None:
        return None
    step = ScoutStep(
        action=Click(control.index, label=control.name),
        reason=f'the task says to press "{left[0]}"',
        key=f"named:{left[0]}",
        marks=(f"pressed:{left[0]}",),
    )
    return None if view.memory.worn_out(step, 2) else step
