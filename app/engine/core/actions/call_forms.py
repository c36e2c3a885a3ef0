"""Short ways to write the calls of an action, and the arguments that several share.  Pure data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.engine.core.actions.specs import (
    Action,
    ActionSet,
    Arguments,
    ArgumentType,
    CallForm,
    Parameter,
    Stored,
)


def call(
    names: str,
    *parameters: Parameter,
    usage: str,
    help: str,
    words: str = "",
    set: ActionSet | None = None,
    build: Callable[[Arguments], Action] | None = None,
    **fixed: object,
) -> CallForm:
    """Return a call; ``names`` are separated by spaces, ``fixed`` are attributes without an argument."""
    return CallForm(
        names=tuple(names.split()),
        parameters=parameters,
        usage=usage,
        help=help,
        words=words,
        set=set,
        build=build,
        fixed=fixed,
    )


def argument(
    name: str,
    *aliases: str,
    type: ArgumentType = ArgumentType.TEXT,
    to: str = "",
    needed: bool = True,
    part: int | None = None,
    scale: float = 1.0,
    stored: Stored = Stored.ALWAYS,
    refusal: str = "",
) -> Parameter:
    """Return a parameter; ``to`` is the action's attribute, where it has another name."""
    return Parameter(
        name=name, aliases=aliases, type=type, attribute=to, needed=needed, part=part, scale=scale, stored=stored,
        refusal=refusal,
    )  # fmt: skip


_ELEMENT_NAMES = ("element", "id", "index", "element_id", "node", "ref")
BID = argument("bid", *_ELEMENT_NAMES, type=ArgumentType.ELEMENT, to="element")
MARK = argument("mark", "vision_index", type=ArgumentType.MARK)
X = argument("x", "left", type=ArgumentType.NUMBER, to="at", part=0)
Y = argument("y", "top", type=ArgumentType.NUMBER, to="at", part=1)
KEPT_LABEL = argument("label", "target_label", "name", type=ArgumentType.LABEL, needed=False)
LABEL = replace(KEPT_LABEL, stored=Stored.NEVER)
BUTTON = argument("button", type=ArgumentType.BUTTON, needed=False, stored=Stored.IF_SET)
ENTER = argument(
    "enter",
    "press_enter_after",
    "press_enter",
    "submit",
    type=ArgumentType.FLAG,
    needed=False,
    stored=Stored.IF_SET,
)
MODIFIERS = argument(
    "modifiers", type=ArgumentType.TEXTS, needed=False, stored=Stored.NEVER,
    refusal="a click with modifier keys is not available; leave out modifiers",
)  # fmt: skip
