"""Steps of the tips that fit the task, in their order; in between and behind them the scout goes on by itself.

A step is done where its control stands on the page in front; until then the scout looks for the way, and steps that
are not needed here are passed over.  Opening the thing of the task is left to navigation where no control here is
called so.  Forms that change something are filled in and sent by the rules of changes alone; a question or a way
presses nothing but what reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.engine.agent.procedures.actions import StepAction, action_of
from app.engine.agent.procedures.values import fill_placeholders
from app.engine.agent.scout.change_part import may_change_here
from app.engine.agent.scout.filters import filter_steps, is_half_filled
from app.engine.agent.scout.likeness import holds, meaning, plain, word_fit, words
from app.engine.agent.scout.memory import ScoutStep, Sent
from app.engine.agent.scout.navigation import ARRIVED, KEPT_BESIDE, is_harmless, link_to
from app.engine.agent.scout.ordering import read_ordering
from app.engine.agent.scout.page_context import page_key
from app.engine.agent.scout.part_view import PartDone, PartView
from app.engine.agent.scout.quantities import quantity_in
from app.engine.agent.scout.question_limits import Order
from app.engine.agent.scout.questions import read_question
from app.engine.agent.scout.relations import PageRelations, Relation, Row
from app.engine.agent.scout.task import TaskMode, TaskPart
from app.engine.agent.scout.tip_fit import fitting_tips
from app.engine.agent.scout.value_matching import read_changes
from app.engine.core.actions.types import Action, Click, Goto, Hover, Select, SetChecked, TypeText
from app.engine.core.addresses import split_address
from app.engine.core.observation import Observation, RetrievedTip
from app.engine.core.page_state import Element
from kb.procedure import PLACEHOLDER, Choice, ProcedureStep, StepKind

_LEAST_SAID = 0.5
_SHOWN_BY_ITSELF = 0.7
"""Promise from which on a link of the page in front is followed before a tip is begun."""
_LOOKED_AT = frozenset({StepKind.READ, StepKind.WAIT})
_FILLING = frozenset({StepKind.FILL, StepKind.CHOOSE})
_PASSED = frozenset({StepKind.PRESS, StepKind.HOVER})
_LEAST_LIKE = 0.12
_QUOTED = re.compile(r"[\"“]([^\"”]{1,120})[\"”]")


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A step with its number, counted from 1."""

    number: int
    step: ProcedureStep


def tip_step(view: PartView) -> ScoutStep | PartDone | None:
    """Return the due step of a tip that was begun, else of the first fitting one that can be followed on this page.

    A way ends where the last step of a tip led, if that page shows every name of the task; a question is answered by
    what the tip says to read there.
    """
    if view.memory.sent is not None:
        return None  # what was sent is looked at first
    for tip in dict.fromkeys((*_begun(view), *fitting_tips(view.observation.tips, view.part))):
        followed = _TipOnPage(view, tip)
        step = followed.end() or followed.step()
        if step is not None or (followed.is_over and view.part.mode is TaskMode.QUESTION):
            return step  # the page that a tip leads to is read before another tip is followed
    return None


def _begun(view: PartView) -> list[RetrievedTip]:
    begun = {mark.split(":")[1] for mark in view.memory.marks if mark.startswith("tip:")}
    return [tip for tip in view.observation.tips if tip.tip in begun and tip.kind != "person"]


class _TipOnPage:
    """One tip against the page in front."""

    def __init__(self, view: PartView, tip: RetrievedTip) -> None:
        self.view, self.tip, self.memory = view, tip, view.memory
        self._mark = f"tip:{tip.tip}:"
        done = [mark.removeprefix(self._mark) for mark in self.memory.marks if mark.startswith(self._mark)]
        self.last = max(map(int, done), default=0)
        procedure = tip.procedure
        names = procedure.placeholders if procedure is not None else ()
        self.values = _named_by_lead(names, view.part) | fill_placeholders(names, view.observation.intent)
        self._quoted = {plain(one) for one in _QUOTED.findall(f"{tip.do} {tip.text}")}
        taken = _steps_of(tip, view.part.text)
        self._reads = [
            one.step.target
            for one in taken
            if one.step.kind is StepKind.READ and plain(one.step.target) in self._quoted
        ]
        every = [one for one in taken if one.step.kind not in _LOOKED_AT]
        self._end = every[-1].number if every else 0
        self.steps = [one for one in every if self._is_acted_on(one.step)]
        self.never = procedure.never if procedure is not None else ()

    @property
    def is_over(self) -> bool:
        """Whether every step that can be done was done."""
        return 0 < (self.steps[-1].number if self.steps else 0) <= self.last

    def end(self) -> PartDone | None:
        """Return the end of a part where the tip's last step led: that page, or what is to be read on it."""
        view, finder = self.view, self.view.finder
        if view.part.mode is TaskMode.QUESTION and self.is_over and view.context.next_page is None:
            told = (labelled_answer(view.part, view.context.relations, label) for label in self._reads)
            answer, row = next((one for one in told if one[0]), ("", ""))
            return (
                PartDone(evidence=f"a tip says where to read it: {row[:120]}", answer=answer)
                if answer
                else None
            )
        if view.part.mode is not TaskMode.WAY or not 0 < self._end <= self.last:
            return None
        if not finder.has_names or not finder.names_shown or read_ordering(view.part.text) is not None:
            return None
        return PartDone(evidence="a tip's last step led here, and the page shows every name of the task")

    def step(self) -> ScoutStep | None:
        """Return the next step that is still to do, where it can be done here; ``None`` where the scout goes on."""
        if not self.last and not self._may_begin():
            return None
        for one in self.steps:
            opens = one.step.kind is StepKind.PRESS and PLACEHOLDER.search(one.step.target) is not None
            if one.number <= self.last or (opens and self._thing_is_open(one.step)):
                continue
            if one.step.kind in _FILLING and PLACEHOLDER.search(one.step.filled(self.values).value):
                if (unset := self._unset_filter(sends=True)) is not None:
                    return unset  # the task gives it in other words
                continue
            found = self._action(one.step)
            if found.done:
                continue
            made = self._made(one, found) or self._likest_link(one)
            if made is not None or opens or one.step.kind not in _PASSED:
                return made  # a field or the thing has to be found first; menus may be open already
        return None

    def _likest_link(self, one: _Numbered) -> ScoutStep | None:
        """Return the step to the link here that is most like the task, where the tip opens a thing not named by it."""
        step = one.step.filled(self.values)
        before = max((other.number for other in self.steps if other.number < one.number), default=0)
        if step.kind is not StepKind.PRESS or PLACEHOLDER.fullmatch(step.target) is None:
            return None
        if not 0 < before == self.last:
            return None  # the list it stands in is not open yet
        best = self.view.finder.best(_LEAST_LIKE, within=True)
        if best is None or not best.key.startswith("link:"):
            return None
        return replace(best, tip=self.tip.tip, marks=(*best.marks, f"{self._mark}{one.number}"))

    def _may_begin(self) -> bool:
        """Whether nothing on the page in front is plainly nearer to what the task names."""
        finder = self.view.finder
        if not finder.has_names or finder.names_shown:
            return True
        best = finder.best(max(finder.fit, _SHOWN_BY_ITSELF))
        return best is None or not best.key.startswith("link:")

    def _thing_is_open(self, step: ProcedureStep) -> bool:
        found = PLACEHOLDER.search(step.target)
        value = self.values.get(found[1], "") if found else ""
        last = self.view.observation.last
        pressed = plain(getattr(last.action, "label", "")) if last is not None and last.result.success else ""
        if value and pressed == plain(value):
            return True
        link = link_to(self.view.context, value) if value else None
        if (
            link is not None
            and plain(link.name) == plain(value)
            and page_key(link.href) not in self.memory.fits
        ):
            return False  # a list that was narrowed to it
        if value and self.view.context.is_about(value):
            return True
        finder = self.view.finder
        if not value:
            return finder.has_names and finder.names_shown
        told = zip(finder.terms, finder.here, strict=True)
        return any(term.text == value and one >= ARRIVED for term, one in told)

    def _action(self, step: ProcedureStep) -> StepAction:
        page = self.view.context.page
        found = action_of(step, page, self.values, self.never)
        if not found.possible and step.kind is StepKind.CHOOSE and not PLACEHOLDER.search(step.value):
            near = step.near or step.target
            entry = replace(step, kind=StepKind.PRESS, target=step.value, value="", near=near, where="under")
            found = action_of(entry, page, self.values, self.never)
        return found

    def _is_acted_on(self, step: ProcedureStep) -> bool:
        """Whether a step names its control, and does not only describe it."""
        if step.when and not _is_said(step.when, self.view.part.text):
            return False
        target = step.target or step.value
        named = plain(target) in self._quoted or target[:1].isupper()
        return named or step.kind is StepKind.OPEN or PLACEHOLDER.search(step.target) is not None

    def _made(self, one: _Numbered, found: StepAction) -> ScoutStep | None:
        action, element = found.action, found.element
        sends = isinstance(action, Click) and element is not None and is_sender(element)
        if one.step.kind not in _FILLING and (unset := self._unset_filter(sends=sends)) is not None:
            return unset  # what else the task says of a form is filled in; it is sent before the page is left
        if action is None or not self._may_do(action, element):
            return None
        if isinstance(action, Select) and one.step.kind is StepKind.PRESS:
            return None  # an option called like the link that is meant
        writes = self.view.part.mode is TaskMode.CHANGE and one is self.steps[-1] and not found.opens
        writes = writes and (sends or not self._only_looks(action))
        total = len(self.tip.procedure.steps) if self.tip.procedure is not None else 0
        step = ScoutStep(
            action=action,
            reason=f"step {one.number} of {total} of a tip: {one.step.filled(self.values)}",
            key=f"{'press:' if writes else ''}{self._mark}{one.number}:{self.view.context.path if found.opens else ''}",
            tip=self.tip.tip,
            marks=()
            if found.opens
            else (f"{self._mark}{one.number}", *self._filter_marks(action, sends=sends)),
        )
        if self.memory.worn_out(step):
            return None
        if writes:
            page = self.view.context.page
            plan = read_changes(self.view.part, page, frozenset(self.memory.marks))
            self.memory.sent = Sent(plan, page, 1)
        return step

    def _unset_filter(self, *, sends: bool) -> ScoutStep | None:
        """Return the step that sets what the task says of a form before a tip sends or leaves it."""
        if not sends and not is_half_filled(self.view):
            return None
        steps = filter_steps(self.view)
        return next((one for one in steps if not (sends and one.key.startswith("apply:"))), None)

    def _filter_marks(self, action: Action, *, sends: bool) -> tuple[str, ...]:
        """Return the marks by which a filter or a search of a tip counts as one of the scout's own."""
        if sends:
            return ("applied",)
        if isinstance(action, TypeText):
            return (f"searched:{action.text}",)
        if not isinstance(action, Select):
            return ()
        return (*(f"filter:{value}" for value in action.options), f"half:{self.view.context.key}")

    def _only_looks(self, action: Action) -> bool:
        return not isinstance(action, Click) or is_harmless(action, self.view.observation)

    def _may_do(self, action: Action, element: Element | None) -> bool:
        """Whether an action leads on and changes nothing that the rules of changes would not change."""
        if element is None:
            return isinstance(action, Goto) and page_key(action.url) not in self.memory.fits
        changes = self.view.part.mode is TaskMode.CHANGE
        if element.form.startswith("post:") and (is_sender(element) or isinstance(action, TypeText | Select)):
            return False
        if isinstance(action, TypeText):
            return self._may_type(action, element)
        if isinstance(action, Select | SetChecked):
            return bool(element.form) or (changes and may_change_here(self.view))
        if isinstance(action, Click):
            if not self._leads_on(element):
                return False
            if is_sender(element):
                return self._has_filled() and (changes or self._only_looks(action))
            return self._only_looks(action) or (changes and may_change_here(self.view))
        return isinstance(action, Hover)

    def _may_type(self, action: TypeText, element: Element) -> bool:
        """Whether a text may be typed: a name of the task, for a question or a way into a form that only asks."""
        known = {name.text for name in self.view.part.names if not self.view.context.is_about(name.text)}
        if element.options or action.text not in known:
            return False
        if self.view.part.mode is TaskMode.CHANGE:
            return bool(self.last and element.form)
        return element.form.startswith("get:")

    def _leads_on(self, element: Element) -> bool:
        """Whether a control leads to a page not seen yet, of the thing in front where that is the task's."""
        if not element.href:
            return True
        view, finder = self.view, self.view.finder
        if page_key(element.href) in self.memory.fits:
            return False
        at_thing = bool(self.memory.opened.get(view.context.path.rstrip("/"))) or any(
            term.is_name and view.context.is_about(term.text) for term in finder.terms
        )
        inside = finder.kept(element) >= KEPT_BESIDE and not view.context.path.startswith(
            split_address(element.href).path
        )
        return bool(self.last) or not at_thing or inside

    def _has_filled(self) -> bool:
        """Whether a field was filled before a form is sent, by the tip or by what the task says."""
        filled = any(one.number <= self.last and one.step.kind in _FILLING for one in self.steps)
        return filled or is_half_filled(self.view)


def _named_by_lead(placeholders: Sequence[str], part: TaskPart) -> dict[str, str]:
    """Return the names of the task behind the word of a placeholder: ``the user ann.lee`` for ``{user}``."""
    led = {one: name.text for name in reversed(part.names) for one in words(name.lead)[-1:]}
    return {one: led[kind] for one in placeholders if (kind := one.rpartition("_")[2]) in led}


def is_sender(element: Element) -> bool:
    """Whether a control sends a form."""
    return element.submits or element.type == "submit"


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
            numbered.append([_Numbered(number + at, step) for at, step in enumerate(way, 1)])
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


def failed_tips(observation: Observation) -> Iterator[str]:
    """Yield for each tip that was given up which step failed and why."""
    return (f"a tip's {one.why}" for one in observation.procedures if one.why and "failed" in one.why)


# the column or label that a tip says to read


def labelled_answer(part: TaskPart, relations: PageRelations, label: str) -> tuple[str, str]:
    """Return what a question asks of a column or label of this name, with the row it rests on; "" for nothing."""
    question = read_question(part)
    if len(question.asked) != 1:
        return "", ""
    tables = [
        (one, column)
        for one in relations.relations
        for column in one.columns
        if plain(column) == plain(label)
    ]
    if question.order is not None:
        found = [row for one, column in tables for row in _at_the_end(one, column, question.order)]
        answers = {_name(row, plain(label)): row for row in found}
    else:
        answers = {row[column]: row for one, column in tables for row in _named(one, part)}
    if len(answers) == 1 and (text := next(iter(answers))):
        return text, answers[text].text
    values = {one.value for one in relations.labelled if plain(one.label) == plain(label) and not tables}
    return (next(iter(values)), label) if len(values) == 1 and question.order is None else ("", "")


def _named(relation: Relation, part: TaskPart) -> list[Row]:
    """Return the rows of those names of the task that the relation holds at all; none where it holds none."""
    names = [one.text for one in part.names if any(holds(row.text, one.text) for row in relation.rows)]
    return [row for row in relation.rows if names and all(holds(row.text, name) for name in names)]


def _at_the_end(relation: Relation, column: str, order: Order) -> list[Row]:
    """Return the row at the place of an order by a column of numbers; none where two are equal."""
    ranked = [
        (told.amount, -at, row) for at, row in enumerate(relation.rows) if (told := quantity_in(row[column]))
    ]
    ranked.sort(key=lambda one: one[:2], reverse=order.largest)
    if not order.place <= len(ranked) or len(ranked) < len(relation.rows):
        return []
    amount, _, row = ranked[order.place - 1]
    return [row] if sum(one[0] == amount for one in ranked) == 1 else []


def _name(row: Row, label: str) -> str:
    """Return the first text of a row that is no number and not of the label's own column."""
    texts = (text for column, text in row.cells if plain(column) != label)
    return next((text for text in texts if text and not text.replace(".", "").isdecimal()), "")
