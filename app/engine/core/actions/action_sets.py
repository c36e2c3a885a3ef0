"""The actions an agent is offered, by their sets, and the description of them in a prompt."""

from __future__ import annotations

from collections.abc import Collection

from app.engine.core.actions.specs import SPECS, ActionSet
from app.engine.core.actions.types import Action  # importing the module declares every action


def actions_in(*sets: ActionSet) -> frozenset[type[Action]]:
    """Return the actions of some sets."""
    return frozenset(made for made, spec in SPECS.items() if spec.set in sets)


def action_help(offered: Collection[type[Action]]) -> str:
    """Describe the offered actions to a model: one line each call, always in the same order."""
    forms = (form for made, spec in SPECS.items() if made in offered for form in spec.forms)
    return "\n".join(f"{form.usage}: {form.help}" for form in forms)
