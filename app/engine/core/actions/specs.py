"""The spec of an action: the calls it is written as, its help, its component, its risk.  Pure data.

``app.engine.core.actions.types`` declares each action with one ``ActionSpec``; reading, printing and describing its
calls, the prompt, the risk, the batches and the dispatch follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from typing import TypeVar, dataclass_transform

from app.engine.core.risk_class import RiskClass


class ActionSet(StrEnum):
    """Groups of calls, from which the sets are made that an agent is offered (``action_sets``)."""

    COMPACT = "compact"  # WebNavigator's six
    FORMS = "forms"
    POINTER = "pointer"
    TABS = "tabs"
    ADDRESS = "address"
    NOTES = "notes"
    PLAN = "plan"
    PERSON = "person"
    VISION = "vision"


class Component(Enum):
    """Components that do actions."""

    PAGE = "page"  # the browser's executor
    NAVIGATOR = "navigator"
    LEDGER = "ledger"
    SUPERVISOR = "supervisor"
    LOOP = "loop"  # ends the run


class ArgumentType(Enum):
    """Types of arguments, in the words of an error message."""

    ELEMENT = "the number of an element"
    MARK = "the number of a mark"
    TEXT = "a text"
    LABEL = "the target's name"  # the agent's belief; it never reaches the page
    ADDRESS = "an address"
    NUMBER = "a number"
    COUNT = "a whole number"
    FLAG = "true or false"
    TEXTS = "a text, or a list of texts"
    BUTTON = "left, middle or right"


class Stored(Enum):
    """When a step stores an argument."""

    ALWAYS = "always"
    IF_SET = "if set"  # unless it has its default
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One argument of a call.

    Attributes:
        aliases: further names it is accepted under.
        attribute: the action's attribute; "" for one of the same name.
        part: coordinate of an attribute that is a point.
        scale: number of the argument's units in one of the attribute.
        refusal: why the argument is not accepted, "" where it is.
    """

    name: str
    type: ArgumentType = ArgumentType.TEXT
    aliases: tuple[str, ...] = ()
    needed: bool = True
    attribute: str = ""
    part: int | None = None
    scale: float = 1.0
    stored: Stored = Stored.ALWAYS
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """Base of the actions, which are told apart by type and never by text."""


class ActionSyntaxError(ValueError):
    """The text is no valid action; the message tells a model how to fix it."""


Arguments = Mapping[str, object]
"""Arguments by parameter name, each of its parameter's type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallForm:
    """One call an action is written as.

    Attributes:
        names: the first is stored in steps, the others are accepted from models.
        usage: an example.  help: what it does, for a model.
        words: what it does, for a person: ``{value}``, ``{value:q}`` in quotes, ``{enter:?text}`` for a text where the
            argument is true, ``{what}`` for the target; "" for the call itself.
        set: the group this call belongs to, where it is not that of its action.
        fixed: attributes this call has no arguments for.
        build: makes the action where its attributes do not follow from the arguments.
    """

    makes: type[Action] = Action
    names: tuple[str, ...]
    parameters: tuple[Parameter, ...] = ()
    usage: str = ""
    help: str = ""
    words: str = ""
    set: ActionSet | None = None
    fixed: Mapping[str, object] = field(default_factory=dict[str, object])
    build: Callable[[Arguments], Action] | None = None

    @property
    def name(self) -> str:
        """Name of the call in a step."""
        return self.names[0]

    @property
    def shown(self) -> str:
        """Name of the call as an agent is told it, and as it stands in a set of actions."""
        return self.usage.partition("(")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionSpec:
    """Everything about an action but the code that does it.

    Attributes:
        forms: the calls it is written as; a step stores the first that can express it.
        component: does the action.
        touches_page: it may change the page, so it is held, asked about and refused like any write.
        ends_batch: the next action needs a new look at the page.
        risk: its risk class where the page says no more (``app.engine.agent.write_gate.action_risk``); ``READS`` only
            for actions that never write.
        risk_why: the reason, in words for a person.
    """

    makes: type[Action]
    set: ActionSet
    forms: tuple[CallForm, ...]
    component: Component = Component.PAGE
    touches_page: bool = True
    ends_batch: bool = False
    risk: RiskClass = RiskClass.READS
    risk_why: str = "it changes nothing on the site"

    @property
    def takes_element(self) -> bool:
        """Whether the action is aimed at an element."""
        return any(one.type is ArgumentType.ELEMENT for form in self.forms for one in form.parameters)

    @property
    def may_write(self) -> bool:
        """Whether the action may change something on the site."""
        return self.risk is not RiskClass.READS


SPECS: dict[type[Action], ActionSpec] = {}
"""Every action, in the order in which a model is told about them."""
FORMS: dict[str, CallForm] = {}
"""Every call by each of its names."""


def spec_of(action: Action) -> ActionSpec:
    """Return the spec of an action."""
    return SPECS[type(action)]


A = TypeVar("A", bound=Action)


def _register(form: CallForm) -> CallForm:
    """Make a call known by all of its names.

    Raises:
        ValueError: one of them is taken.
    """
    for name in form.names:
        if name in FORMS:
            raise ValueError(f"two calls are named {name}")
    FORMS.update(dict.fromkeys(form.names, form))
    return form


@dataclass_transform(frozen_default=True)
def action(
    set: ActionSet,
    *,
    calls: Iterable[CallForm],
    component: Component = Component.PAGE,
    touches_page: bool = True,
    ends_batch: bool = False,
    risk: RiskClass = RiskClass.READS,
    risk_why: str = "it changes nothing on the site",
) -> Callable[[type[A]], type[A]]:
    """Declare an action: make its class a frozen dataclass and register its spec."""

    def declared(cls: type[A]) -> type[A]:
        made = dataclass(frozen=True, slots=True)(cls)
        SPECS[made] = ActionSpec(
            makes=made,
            set=set,
            forms=tuple(_register(replace(form, makes=made, set=form.set or set)) for form in calls),
            component=component,
            touches_page=touches_page,
            ends_batch=ends_batch,
            risk=risk,
            risk_why=risk_why,
        )
        return made

    return declared
