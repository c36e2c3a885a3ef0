"""Result of an action: whether it was done, what was tried, its visible effect, why not, and the alternatives.

SuperBrowser's tool contract (appendix A) with its effect as a type of its own: its published code compares two kinds
of hash and so always sees a change.  Pure data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Effect(StrEnum):
    """Observed effects."""

    NAVIGATED = "navigated"
    CHANGED = "changed"  # on this page, where a change was expected
    NOTHING = "nothing"
    UNRELATED = "unrelated"  # only a part changed that changes by itself (a ticker, a clock)
    REFUSED = "refused"  # not done
    DONE = "done"  # in memory, or with a person: the page was not meant to change


class Cause(StrEnum):
    """Why an action was not done, or had no effect; SuperBrowser's causes of dead ends where it has one."""

    NONE = ""
    SYNTAX = "syntax"  # the answer has no action
    MISSING = "missing"  # no such element
    STALE = "stale"  # the element has left the page
    COVERED = "covered"
    HIDDEN = "hidden"
    DISABLED = "disabled"
    AMBIGUOUS = "ambiguous"
    WRONG_KIND = "wrong kind"  # the element can't take this action
    NO_OPTION = "no option"
    VALUE = "value"  # the field does not take this value
    NO_EFFECT = "no effect"
    DEAD_CLICK = "dead click"  # the same click again after it did nothing
    OFF_SITE = "off site"  # the address is outside of the run's domains
    REGRESSION = "regression"  # back to an address already left
    ERROR_PAGE = "error page"
    CHALLENGE = "challenge"
    LOGIN = "login"
    NETWORK = "network"
    TIMEOUT = "timeout"
    PAGE_LOST = "page lost"
    FILE = "file"
    POLICY = "policy"  # this action is not allowed here, or not offered
    NAVIGATOR = "navigator"  # no graph, no state found, or no route that arrives
    PERSON = "person"  # a person said no, or there is no person to ask


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResult:
    """Result of one action.

    Attributes:
        success: it was done, and had an effect where it had to.
        tried: the methods tried, in order (``cdp``, ``playwright``, ``script``).
        why: one sentence where it was not done or had no effect; for a model and for a person.
        alternatives: other things to do, each a sentence or a call in the action language.
        output: its output: the note's number, the calculated value, the place of arrival, a person's answer.
        status: HTTP status of a page that came, 0 for none or unknown.
        perceptions: new looks by a vision model that this action needed.
        seconds: from its start until the page was idle.
        element: number of the element of a mark; ``None`` where the action named its own.
        held_back: writes of the page that were blocked, as ``POST /basket/add``.
        sent: writes that left, as ``POST /basket/add 302``.
    """

    success: bool
    effect: Effect
    tried: tuple[str, ...] = ()
    cause: Cause = Cause.NONE
    why: str = ""
    alternatives: tuple[str, ...] = ()
    output: str = ""
    status: int = 0
    perceptions: int = 0
    seconds: float = 0.0
    element: int | None = None
    notes: tuple[str, ...] = field(default_factory=tuple)
    blocked_writes: tuple[str, ...] = ()
    sent: tuple[str, ...] = ()


def refused(cause: Cause, why: str, *alternatives: str, tried: tuple[str, ...] = ()) -> ActionResult:
    """Return the result of an action that was not done."""
    return ActionResult(
        success=False, effect=Effect.REFUSED, cause=cause, why=why, alternatives=alternatives, tried=tried
    )
