"""Facts about a run from which the rules of ``cause_sentences`` tell why it failed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.engine.api.evaluation_api import ExpectedOutcome
from app.engine.api.review_api import AnswerTerm, Suspect
from app.engine.core.list_pages import ListShare
from app.engine.core.trajectory import Run, Step
from app.engine.core.verdicts import Flag, Label
from app.engine.detectors.base import FINAL_ACTIONS, KNOWN_ACTIONS, OFF_PAGE_ACTIONS

_CHANGES = re.compile(
    r"^\W*(?:please |can you |could you )?(?:i (?:want|would like) (?:you )?to )?(?:create|add|post|edit|change"
    r"|update|delete|remove|set|submit|draft|send|write|upvote|downvote|like|follow|star|fork|invite|reply|comment"
    r"|report|rate|buy|order|make|assign|disable|enable|mark|modify|increase|reduce|cancel|notify|subscribe|fill"
    r"|open (?:an?|a new) issue)\b",
    re.IGNORECASE,
)
_SEARCHES = re.compile(r"\b(?:search|find|filter|keyword)\b", re.IGNORECASE)
_SENDS = re.compile(
    r"\b(?:save|create|submit|post|send|add|delete|remove|update|commit|apply|confirm|invite|star|fork|upvote|downvote"
    r"|like|follow|subscribe|edit|comment|place order|checkout|set|enable|disable|merge|close|reopen|assign|mark"
    r"|retract|reply|publish|share|yes|ok|rate|review|approve|cancel)\b",
    re.IGNORECASE,
)
_DOES_AT_ONCE = re.compile(
    r"\W*(?:add to|delete|remove|cancel|follow|star|fork|upvote|downvote|retract|subscribe|join|mark)\b",
    re.IGNORECASE,
)
LOOP_FLAGS = frozenset(
    {"state-action-loop", "repeated-action", "action-cycle", "back-and-forth", "no-effect", "url-revisits"}
)
"""Detectors that say that a run went on in vain."""
FILLS = frozenset(
    {"fill", "select_option", "check", "uncheck", "keyboard_type", "set_slider", "type_mark", "clear"}
)
QUOTED_VALUE = re.compile(r"“([^”]*)”")


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseMaterial:
    """Everything the rules may read of a run.

    Attributes:
        expected: ``None`` where no suite knows the task; hidden where its suite is blind.
        terms: of the answer, with their places on the visited pages.
        shares: what each step's page (the final one too) shows of a list, ``None`` for no or a whole list.
        last_lines: the text of the last pages, for what the site said there, with their step.
    """

    run: Run
    steps: Sequence[Step]
    flags: Sequence[Flag] = ()
    suspect: Suspect = field(default_factory=Suspect)
    expected: ExpectedOutcome | None = None
    terms: Sequence[AnswerTerm] = ()
    shares: Sequence[ListShare | None] = ()
    last_lines: Sequence[tuple[int, str]] = ()

    @property
    def answering(self) -> int:
        """The step that answers, else the last one."""
        for step in reversed(self.steps):
            if step.action is not None and step.action.kind in FINAL_ACTIONS:
                return step.index
        return max(0, len(self.steps) - 1)

    @property
    def wanted(self) -> tuple[str, ...]:
        """The values that the answer was expected to have; empty where that is unknown or hidden."""
        if self.expected is None or self.expected.hidden:
            return ()
        lines = [line for line in self.expected.expected if line.startswith(("the answer", "a judge finds"))]
        return tuple(value for line in lines for value in QUOTED_VALUE.findall(line) if value)

    @property
    def asks_for_a_change(self) -> bool:
        """Whether the task asks for something to be done, not for an answer."""
        if self.expected is not None and not self.expected.hidden and self.expected.expected:
            return any(line.startswith("the page") for line in self.expected.expected)
        return _CHANGES.match(self.run.intent) is not None

    @property
    def visits(self) -> list[Step]:
        """The steps, and the final page as one more."""
        return [*self.steps, *([self.run.final] if self.run.final is not None else [])]

    @property
    def sent_something(self) -> bool:
        """Whether it filled in a field other than a search, or pressed a button that sends or changes something.

        Another program's own kind of action, or a press on something that nobody recorded, may have done so.
        """
        for step in self.steps:
            if step.action is None or not step.executed:
                continue
            if step.action.kind not in KNOWN_ACTIONS or (
                step.action.kind in ("click", "dblclick", "mouse_click") and not step.target and not step.tree
            ):
                return True
            role, name = (step.target.role, step.target.name) if step.target is not None else ("", "")
            if step.action.kind in FILLS and role != "searchbox" and not _SEARCHES.search(name):
                return True
            sends = _DOES_AT_ONCE.match(name) if role == "link" else _SENDS.search(name)
            if step.action.kind in ("click", "dblclick") and sends:
                return True
        return False

    def share(self, at: int) -> ListShare | None:
        """Return how much of a list the page of a step shows."""
        return self.shares[at] if 0 <= at < len(self.shares) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseSentence:
    """A cause in words, the step it speaks of (-1 for the run as a whole), the label it suggests, its rule."""

    text: str
    step: int = -1
    label: Label | None = None
    rule: str = ""
    evidence: tuple[str, ...] = ()


def touches(step: Step) -> bool:
    """Whether a step did something to a page."""
    kind = step.action.kind if step.action is not None else ""
    return step.executed and kind not in OFF_PAGE_ACTIONS | FINAL_ACTIONS | {"scroll", "hover", "focus"}
