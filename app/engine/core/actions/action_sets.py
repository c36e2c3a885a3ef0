"""The sets of actions an agent is offered, and the description of them in a prompt.  Pure data.

A set is a choice of calls, by the names an agent is told (``CallForm.shown``).  Three are built in; a workspace may
have its own.  What can't work in a run (``navigate`` without a graph) is left out of any set by who runs it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from app.engine.core.actions.specs import FORMS, SPECS, ActionSet, CallForm
from app.engine.core.actions.types import (  # importing the module declares every action
    Action,
    Hover,
    ReportInfeasible,
    Scroll,
    Stop,
)
from app.errors import UsageError

MAX_CALLS = 200
"""Names in one set at most."""
LONGEST_SET_NAME = 60


def calls_of(*kinds: type[Action]) -> frozenset[str]:
    """Return the names of all calls of some actions."""
    return frozenset(form.shown for kind in kinds for form in SPECS[kind].forms)


def actions_in(*groups: ActionSet) -> frozenset[str]:
    """Return the names of the calls of some groups."""
    return frozenset(form.shown for form in all_calls() if form.set in groups)


def all_calls() -> list[CallForm]:
    """Return every call, in the order in which a model is told about them."""
    return [form for spec in SPECS.values() for form in spec.forms]


def action_help(offered: Collection[str]) -> str:
    """Describe the offered calls to a model: one line each, always in the same order."""
    return "\n".join(f"{form.usage}: {form.help}" for form in all_calls() if form.shown in offered)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedActions:
    """A set of actions.

    Attributes:
        calls: names of its calls, in the order of ``all_calls``.
        why: what it is for, in one sentence; "" for a workspace's own.
        own: it belongs to a workspace.
    """

    name: str
    calls: tuple[str, ...]
    why: str = ""
    own: bool = False

    @property
    def digest(self) -> str:
        """The set's version: the SHA-256 of its calls."""
        return hashlib.sha256("\n".join(self.calls).encode()).hexdigest()


def make_set(name: str, calls: Iterable[str], *, why: str = "", own: bool = False) -> OfferedActions:
    """Return a set of calls, which may be named by any of their names.

    Raises:
        UsageError: the name is unusable, there is no such action, or none that ends a task.
    """
    name, given = name.strip(), list(calls)
    if not name or len(name) > LONGEST_SET_NAME or not name.isprintable():
        raise UsageError(
            f"{name[:80]!r} can't name a set of actions", remedy=f"give 1 to {LONGEST_SET_NAME} characters"
        )
    if own and name in BUILT_IN:
        raise UsageError(f"'{name}' is a built-in set of actions", remedy="choose another name")
    known = dict(FORMS) | {form.shown: form for form in all_calls()}
    unknown = [call for call in given[: MAX_CALLS + 1] if call not in known]
    if unknown:
        raise UsageError(
            f"there is no action {unknown[0][:60]!r}", remedy="sitelore prompts sets lists the actions"
        )
    chosen = {known[call].shown for call in given}
    if not chosen & ENDINGS:
        raise UsageError(
            f"the set '{name}' holds no action that ends a task", remedy=f"add {' or '.join(sorted(ENDINGS))}"
        )
    ordered = tuple(dict.fromkeys(form.shown for form in all_calls() if form.shown in chosen))
    return OfferedActions(name=name, calls=ordered, why=why, own=own)


ENDINGS = calls_of(Stop, ReportInfeasible)
"""Calls that end a task."""
BUILT_IN: dict[str, OfferedActions] = {}
"""The built-in sets by name: ``compact``, ``standard``, ``all``."""
DEFAULT_SET = "standard"

_STANDARD = (
    actions_in(
        ActionSet.COMPACT, ActionSet.FORMS, ActionSet.TABS, ActionSet.ADDRESS, ActionSet.NOTES, ActionSet.PERSON,
        ActionSet.VISION,
    )
    | calls_of(Hover, Scroll)
    | {"mouse_click"}  # for a run whose model is shown pictures
)  # fmt: skip

BUILT_IN.update(
    (one.name, one)
    for one in (
        make_set(
            "compact",
            actions_in(ActionSet.COMPACT),
            why="WebNavigator's six: the fewest choices at a step, for sites whose map is known.",
        ),
        make_set(
            "standard",
            _STANDARD,
            why="The six with forms, tabs, addresses, notes and questions: what ordinary tasks need, without"
            " dragging and changes of the plan.",
        ),
        make_set(
            "all",
            (form.shown for form in all_calls()),
            why="Everything the program can do, for drawn pages, drag and drop, and plans the agent changes itself.",
        ),
    )
)
