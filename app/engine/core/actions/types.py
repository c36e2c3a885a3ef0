"""The typed actions of the embedded agent: one class an action, told apart by type and never by text.  Pure data.

WebNavigator's six are the compact set (section 3.3); the wider sets are further actions of the field's agents
(SuperBrowser appendix A, ColorBrowserAgent section 4.5, AgentOccam's plan actions).  Elements are named by
their number
in the last look at the page (``app.engine.core.page_state.Element.index``), points in CSS pixels of the viewport.

``app.engine.agent.answer_parser`` parses a model's answer into these, ``app.engine.core.actions.codec`` converts them to the form
that
steps store, ``app.engine.browser.executor`` executes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Point = tuple[float, float]
"""Left and top in CSS pixels of the viewport."""


class ActionSet(StrEnum):
    """Sets of actions an agent is offered."""

    COMPACT = "compact"  # WebNavigator's six
    FORMS = "forms"
    POINTER = "pointer"
    TABS = "tabs"
    ADDRESS = "address"
    NOTES = "notes"
    PLAN = "plan"
    PERSON = "person"
    VISION = "vision"


@dataclass(frozen=True, slots=True)
class Click:
    """Click an element; ``label`` is the name the agent believes it has."""

    element: int
    button: Literal["left", "middle", "right"] = "left"
    double: bool = False
    label: str = ""


@dataclass(frozen=True, slots=True)
class ClickAt:
    """Click at a point, for what no element represents: canvas, drawing."""

    at: Point
    button: Literal["left", "middle", "right"] = "left"
    double: bool = False


@dataclass(frozen=True, slots=True)
class ClickMark:
    """Click within a box that a vision model drew (``[V3]``); ``label`` is the text expected there
    (SuperBrowser, 4.4).
    """

    mark: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class TypeMark:
    """Type a text into the field within a vision model's box."""

    mark: int
    text: str
    enter: bool = False


@dataclass(frozen=True, slots=True)
class TypeText:
    """Replace the text of a field; ``enter`` submits it."""

    element: int
    text: str
    enter: bool = False


@dataclass(frozen=True, slots=True)
class TypeKeys:
    """Type at the cursor, key by key."""

    text: str


@dataclass(frozen=True, slots=True)
class Press:
    """Press keys such as ``Enter`` or ``Control+A``, in an element or at the cursor."""

    keys: str
    element: int | None = None


@dataclass(frozen=True, slots=True)
class Hover:
    """Move the pointer over an element."""

    element: int


@dataclass(frozen=True, slots=True)
class Select:
    """Choose options of a list by their labels."""

    element: int
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SetChecked:
    """Set or clear a check box, or set a radio button."""

    element: int
    on: bool = True


@dataclass(frozen=True, slots=True)
class Scroll:
    """Turn the wheel, over an element or the middle of the page; pixels down and to the right."""

    dy: float
    dx: float = 0.0
    element: int | None = None


@dataclass(frozen=True, slots=True)
class Drag:
    """Drag from one element or point to another."""

    source: int | Point
    target: int | Point


@dataclass(frozen=True, slots=True)
class SetSlider:
    """Set a slider to a value."""

    element: int
    value: float


@dataclass(frozen=True, slots=True)
class SelectText:
    """Select text within an element: from one character to another (``end`` -1: to its end)."""

    element: int
    start: int = 0
    end: int = -1


@dataclass(frozen=True, slots=True)
class Upload:
    """Upload a file through a file field; ``file`` is a name within the run's own folder of files."""

    element: int
    file: str


@dataclass(frozen=True, slots=True)
class AnswerDialog:
    """Answer the next JavaScript dialog; without it dialogs are dismissed."""

    accept: bool = True
    text: str = ""


@dataclass(frozen=True, slots=True)
class GoBack:
    """Go to the previous page."""


@dataclass(frozen=True, slots=True)
class GoForward:
    """Go to the next page."""


@dataclass(frozen=True, slots=True)
class Goto:
    """Open an address; limited by the navigation guards (SuperBrowser, section 6.5)."""

    url: str


@dataclass(frozen=True, slots=True)
class NewTab:
    """Open a tab in front, empty or with an address."""

    url: str = ""


@dataclass(frozen=True, slots=True)
class SwitchTab:
    """Bring a tab to the front, by its number from 0."""

    tab: int


@dataclass(frozen=True, slots=True)
class CloseTab:
    """Close the tab in front."""


@dataclass(frozen=True, slots=True)
class Navigate:
    """Retrieve-Reason-Teleport as one action (WebNavigator, section 3.2): go to the state that fits the query."""

    domain: str
    query: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait for the page; seconds, 10 at most."""

    seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class TakeNote:
    """Remember something; it becomes a fact of the ledger, with the step as its evidence."""

    text: str


@dataclass(frozen=True, slots=True)
class Calculate:
    """Calculate exactly (decimal numbers, + - * / ** and brackets; sum, min, max, mean, round, abs)."""

    expression: str


@dataclass(frozen=True, slots=True)
class Branch:
    """Add a subgoal under one of the plan's."""

    parent: str
    intent: str


@dataclass(frozen=True, slots=True)
class Prune:
    """Give up a subgoal; nothing of it is erased, and its changes on the site remain."""

    node: str
    reason: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Claim that the task is done, with the answer; only the planner declares it."""

    answer: str = ""


@dataclass(frozen=True, slots=True)
class ReportInfeasible:
    """Report that the task can't be done, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class AskHuman:
    """Ask the person who supervises."""

    question: str


Action = (
    Click | ClickAt | ClickMark | TypeMark | TypeText | TypeKeys | Press | Hover | Select | SetChecked | Scroll
    | Drag | SetSlider | SelectText | Upload | AnswerDialog | GoBack | GoForward | Goto | NewTab | SwitchTab
    | CloseTab | Navigate | Wait | TakeNote | Calculate | Branch | Prune | Stop | ReportInfeasible | AskHuman
)  # fmt: skip

ACTION_SETS: dict[ActionSet, tuple[type, ...]] = {
    ActionSet.COMPACT: (Click, TypeText, Stop, TakeNote, GoBack, Navigate),
    ActionSet.FORMS: (Select, SetChecked, Press, TypeKeys, SetSlider, Upload, AnswerDialog),
    ActionSet.POINTER: (Hover, Scroll, Drag, ClickAt, SelectText),
    ActionSet.TABS: (NewTab, SwitchTab, CloseTab),
    ActionSet.ADDRESS: (Goto, GoForward),
    ActionSet.NOTES: (Calculate, Wait),
    ActionSet.PLAN: (Branch, Prune),
    ActionSet.PERSON: (ReportInfeasible, AskHuman),
    ActionSet.VISION: (ClickMark, TypeMark),
}


def elements_of(command: Action) -> tuple[int, ...]:
    """Return the numbers of an action's target elements."""
    if isinstance(command, Drag):
        return tuple(end for end in (command.source, command.target) if isinstance(end, int))
    element = getattr(command, "element", None)
    return (element,) if isinstance(element, int) else ()
