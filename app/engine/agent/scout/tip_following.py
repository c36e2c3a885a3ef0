"""Steps of the tips that fit the task, in their order; in between and behind them the scout goes on by itself.

A tip's steps lead to the place where the scout then reads, filters or fills in: its presses are done where their
control stands on the page in front, steps whose control is not here are passed over for later ones, and a step that
opens the thing of the task is left to navigation.  Forms that change something are filled in and sent by the rules
of changes alone; a question or a way presses nothing but what reads.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from app.engine.agent.procedures.actions import StepAction, action_of
from app.engine.agent.procedures.values import fill_placeholders
from app.engine.agent.scout.change_part import may_change_here
from app.engine.agent.scout.filters import filter_steps
from app.engine.agent.scout.likeness import fits, meaning, plain, says, word_fit, words
from app.engine.agent.scout.memory import ScoutStep
from app.engine.agent.scout.navigation import ARRIVED, KEPT_BESIDE, is_harmless
from app.engine.agent.scout.page_context import page_key
from app.engine.agent.scout.part_view import PartView
from app.engine.agent.scout.task import TaskMode
from app.engine.agent.scout.terms import LISTED
from app.engine.agent.scout.tip_fit import fitting_tips
from app.engine.agent.scout.value_matching import CREATING
from app.engine.agent.write_gate.action_risk import assess_risk
from app.engine.agent.write_gate.vocabulary import senses_of
from app.engine.core.actions.types import Action, Click, Goto, Select, SetChecked, TypeText
from app.engine.core.addresses import split_address
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.observation import Observation, RetrievedTip
from app.engine.core.page_state import Element
from kb.procedure import PLACEHOLDER, Choice, ProcedureStep, StepKind

_LEAST_SAID, _LEAST_OPTION = 0.5, 0.75
_SHOWN_BY_ITSELF = 0.7
"""Promise from which on a link of the page in front is followed before a tip is begun."""
_READING = frozenset({RiskClass.READS, RiskClass.EDITS})
_QUOTED = re.compile(r"[\"“]([^\"”]{1,120})[\"”]")


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A step with its number, counted from 1; ``alternative`` where it belongs to one of several ways."""

    number: int
    step: ProcedureStep
    alternative: bool = False


def tip_step(view: PartView) -> ScoutStep | None:
    """Return the due step of a tip that was begun, else of the first fitting one that can be followed on this page."""
    if view.memory.sent is not None:
        return None  # what was sent is looked at first
    tips = view.observation.tips
    begun = {mark.split(":")[1] for mark in view.memory.marks if mark.startswith("tip:")}
    going_on = [tip for tip in tips if tip.tip in begun and tip.kind != "person"]
    for tip in dict.fromkeys((*going_on, *fitting_tips(tips, view.part))):
        follower = _TipOnPage(view, tip)
        if not follower.begun and not follower.may_begin():
            continue
        step = follower.step()
        if step is not None:
            return step
    return None


class _TipOnPage:
    """One tip against the page in front."""

    def __init__(self, view: PartView, tip: RetrievedTip) -> None:
        self.view, self.tip, self.memory = view, tip, view.memory
        self._mark = f"tip:{tip.tip}:"
        self.done = {
            int(mark.removeprefix(self._mark)) for mark in self.memory.marks if mark.startswith(self._mark)
        }
        self.begun = bool(self.done)
        self.steps = _steps_of(tip, view.part.text)
        procedure = tip.procedure
        self.total = len(procedure.steps) if procedure is not None else 0
        names = procedure.placeholders if procedure is not None else ()
        self._filled = any(
            one.number in self.done and one.step.kind in (StepKind.FILL, StepKind.CHOOSE)
            for one in self.steps
        )
        self.values = fill_placeholders(names, view.observation.intent)
        self._quoted = {plain(one) for one in _QUOTED.findall(f"{tip.do} {tip.text}")}
        own = {plain(text) for one in self.steps for text in (one.step.target, one.step.value)}
        self.never = tuple(
            one for one in (procedure.never if procedure is not None else ()) if plain(one) not in own
        )

    def may_begin(self) -> bool:
        """Whether nothing on the page in front is plainly nearer to what the task names."""
        finder = self.view.finder
        if finder.has_names and not finder.names_shown:
            best = finder.best(max(finder.fit, _SHOWN_BY_ITSELF))
            return best is None or not best.key.startswith("link:")
        return True

    def step(self) -> ScoutStep | None:
        """Return the first step behind those done that can be done here; ``None`` where the scout goes on."""
        for one in self.steps:
            if one.number <= max(self.done, default=0):
                continue
            if one.step.when and not _is_said(one.step.when, self.view.part.text):
                continue
            if self._opens_the_thing(one.step):
                if self._thing_is_open(one.step):
                    continue
                if not self.begun:
                    return None
            found = self._action(one.step)
            if found.done:
                continue
            step = self._made(one, found)
            if step is not None:
                return step
        return None

    def _opens_the_thing(self, step: ProcedureStep) -> bool:
        return step.kind is StepKind.PRESS and PLACEHOLDER.search(step.target) is not None

    def _thing_is_open(self, step: ProcedureStep) -> bool:
        found = PLACEHOLDER.search(step.target)
        value = self.values.get(found[1], "") if found else ""
        finder = self.view.finder
        if value and self.view.context.is_about(value):
            return True
        shown = [
            term.text
            for term, one in zip(finder.terms, finder.here, strict=True)
            if term.is_name and one >= ARRIVED
        ]
        return value in shown if value else bool(shown)

    def _action(self, step: ProcedureStep) -> StepAction:
        page = self.view.context.page
        if step.kind in (StepKind.READ, StepKind.WAIT, StepKind.HOVER) or not self._is_name(step):
            return StepAction()
        step = self._with_option(_by_place(step, self._quoted) or step)
        found = action_of(step, page, self.values, self.never)
        if not found.possible and step.kind is StepKind.CHOOSE and not PLACEHOLDER.search(step.value):
            found = action_of(
                replace(
                    step,
                    kind=StepKind.PRESS,
                    target=step.value,
                    value="",
                    near=step.near or step.target,
                    where="under",
                ),
                page,
                self.values,
                self.never,
            )
        return found

    def _is_name(self, step: ProcedureStep) -> bool:
        """Whether a step names its control and does not only describe it."""
        if step.kind is StepKind.OPEN or PLACEHOLDER.search(step.target):
            return True
        target = step.target or step.value
        named = plain(target) in self._quoted or target[:1].isupper()
        return named or _by_place(step, self._quoted) is not None

    def _with_option(self, step: ProcedureStep) -> ProcedureStep:
        """Return the step with the option that the task says in place of its placeholder."""
        whole = PLACEHOLDER.fullmatch(step.value)
        if step.kind is not StepKind.CHOOSE or whole is None:
            return step
        for field in self.view.context.fields:
            if fits(step.target, field.label) >= 1.0 and field.element.options:
                option = _option_said(field.element.options, self.view.part.text)
                return replace(step, value=option) if option else step
        return step

    def _made(self, one: _Numbered, found: StepAction) -> ScoutStep | None:
        if found.action is None or not self._may_do(found.action, found.element):
            return None
        fills = one.step.kind in (StepKind.FILL, StepKind.CHOOSE) and not isinstance(found.action, Goto)
        if fills and found.element is not None and found.element.form.startswith("post:"):
            return None
        sends = isinstance(found.action, Click) and found.element is not None and is_sender(found.element)
        if sends and (
            wish := next((w for w in filter_steps(self.view) if not w.key.startswith("apply:")), None)
        ):
            return wish  # what else the task says of the form is filled in before it is sent
        step = ScoutStep(
            action=found.action,
            reason=f"step {one.number} of {self.total} of a tip: {one.step.filled(self.values)}",
            key=f"{self._mark}{one.number}:{self.view.context.path if found.opens else ''}",
            tip=self.tip.tip,
            marks=()
            if found.opens
            else (f"{self._mark}{one.number}", *_filter_marks(found.action, sends=sends)),
        )
        return None if self.memory.worn_out(step) else step

    def _may_do(self, action: Action, element: Element | None) -> bool:
        """Whether the action leads on and changes nothing that the rules of changes would not change."""
        if isinstance(action, Goto) or element is None:
            return isinstance(action, Goto) and page_key(action.url) not in self.memory.fits
        if element.form.startswith("post:") and is_sender(element):
            return False
        if not self.begun and not self._leads_nearer(element):
            return False
        if isinstance(action, Click):
            return self._may_press(action, element)
        if isinstance(action, Select | SetChecked):
            return bool(element.form) or self._changes_here()
        return isinstance(action, TypeText) and self._may_type(action, element)

    def _may_type(self, action: TypeText, element: Element) -> bool:
        """Whether a text may be typed: a name of the task, for a question or a way into a search field alone."""
        if element.options or action.text not in {name.text for name in self.view.part.names}:
            return False
        if self.view.part.mode is TaskMode.CHANGE:
            return self.begun and bool(element.form)
        return any(one.element.index == element.index for one in self.view.context.search_fields)

    def _may_press(self, action: Click, element: Element) -> bool:
        if element.href and page_key(element.href) in self.memory.fits:
            return False
        if is_sender(element):
            return self._filled and is_harmless(action, self.view.observation)
        asks = self.view.part.mode is not TaskMode.CHANGE
        if (
            asks
            and senses_of(words(element.name)[:1]) & CREATING
            and not _is_said(element.name, self.view.part.text)
        ):
            return False  # the form of a new thing holds no answer
        if is_harmless(action, self.view.observation):
            return True
        reads = assess_risk(action, self.view.context.page).risk in _READING
        if asks:
            return reads and bool(element.href) and _is_said(element.name, self.view.part.text)
        return (reads and bool(element.href)) or self._changes_here()

    def _changes_here(self) -> bool:
        return self.view.part.mode is TaskMode.CHANGE and may_change_here(self.view)

    def _leads_nearer(self, element: Element) -> bool:
        """Whether a control does not lead away from the page of a thing of the task."""
        finder = self.view.finder
        if not element.href or not finder.has_names or not self._is_at_a_thing():
            return True
        ours, theirs = self.view.context.path, split_address(element.href).path
        return finder.kept(element) >= KEPT_BESIDE and not ours.startswith(theirs)

    def _is_at_a_thing(self) -> bool:
        """Whether the page is about a name of the task, or its values tell all of them."""
        finder = self.view.finder
        named = [
            (term.text, one) for term, one in zip(finder.terms, finder.here, strict=True) if term.is_name
        ]
        return any(self.view.context.is_about(name) for name, _ in named) or all(
            one >= LISTED for _, one in named
        )


def _by_place(step: ProcedureStep, quoted: Collection[str]) -> ProcedureStep | None:
    """Return a press of what stands beside a named landmark, where the step only describes it ("the number")."""
    described = step.kind is StepKind.PRESS and step.target.islower() and plain(step.target) not in quoted
    if not described or PLACEHOLDER.search(step.target) or plain(step.near) not in quoted:
        return None
    return replace(step, target="")


def is_sender(element: Element) -> bool:
    """Whether a control sends a form."""
    return element.submits or element.type == "submit"


def _filter_marks(action: Action, *, sends: bool) -> tuple[str, ...]:
    """Return the marks by which a filter or a search of a tip counts as one of the scout's own."""
    if sends:
        return ("applied",)
    if isinstance(action, TypeText):
        return (f"searched:{action.text}",)
    return tuple(f"filter:{value}" for value in action.options) if isinstance(action, Select) else ()


def _steps_of(tip: RetrievedTip, text: str) -> Sequence[_Numbered]:
    """Return a tip's steps in order, of a choice those that the task speaks of, else those of its first way."""
    if tip.procedure is None:
        return ()
    found: list[_Numbered] = []
    number = 0
    for entry in tip.procedure.entries:
        ways = entry.ways if isinstance(entry, Choice) else ((entry,),)
        numbered: list[list[_Numbered]] = []
        for way in ways:
            numbered.append([_Numbered(number + at, step, len(ways) > 1) for at, step in enumerate(way, 1)])
            number += len(way)
        found += _taken(numbered, text)
    return found


def _taken(ways: Sequence[Sequence[_Numbered]], text: str) -> Sequence[_Numbered]:
    said = [[one for one in way if _is_said(one.step.target, text)] for way in ways]
    if len(ways) == 1 or not any(said):
        return ways[0]
    best = max(range(len(ways)), key=lambda at: len(said[at]))
    keep = [one for one in ways[best] if one.step.kind is not StepKind.PRESS or one in said[best]]
    return keep or ways[best]


def _is_said(name: str, text: str) -> bool:
    """Whether a text says most words of a control's name."""
    wanted, there = meaning(PLACEHOLDER.sub("", name)), meaning(text)
    if not wanted:
        return False
    return (
        sum(any(word_fit(word, other) >= 1.0 for other in there) for word in wanted) / len(wanted)
        > _LEAST_SAID
    )


def _option_said(options: Sequence[str], text: str) -> str:
    """Return the longest option that the text says, else the one nearest to one of its words, "" for none."""
    said = [one for one in options if meaning(one) and says(text, one)]
    if said:
        return max(said, key=len)
    there = meaning(text)
    near = [
        (max((word_fit(word, other) for other in there), default=0.0), one)
        for one in options
        for word in words(one)
        if len(words(one)) == 1
    ]
    best = max(near, default=(0.0, ""))
    return best[1] if best[0] >= _LEAST_OPTION else ""


def failed_tips(observation: Observation) -> Iterator[str]:
    """Yield for each tip that was given up which step failed and why."""
    return (f"a tip's {one.why}" for one in observation.procedures if one.why and "failed" in one.why)
