"""The write gate: which action of a run may change something on the site.

Rules, in this order (ARCHITECTURE.md, "The write gate"):

1. Reading needs no permission: links that open a page, searches, tabs, fields that are filled in and not sent.  The
   network guard lets only reading requests out meanwhile.
2. A write needs a change that the task asks for (``task_changes``), and it must be the task's own verb: the control
   says the same verb, one of the same sense, the task names the control, or the control only finishes a form or dialog
   ("Save") that is about the change.  What deletes, buys or pays needs a verb of that very sense.
3. It must be the right object: a control that the page repeats needs the named thing in its own row; any other needs it
   in what the page is about (title, headings, address, breadcrumbs, its form).  An author the task names must be seen
   with it.
4. It may happen as often as the task says, once by default, and never twice on the same thing.
5. ``allow`` widens it by class of risk; a person can allow everything else where one supervises.

A person's answers and hints are orders like the task; page text and tips are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urljoin

from app.engine.agent.write_gate.action_risk import RiskAssessment, assess_risk
from app.engine.agent.write_gate.control_labels import (
    GRAVE_RISKS,
    REQUIRED_SENSES,
    completes_form,
    control_key,
    dialog_is_graver,
    harmless_while_closed,
    is_from_task,
    is_named_by_task,
    is_plain_link,
    label_words,
    only_searches,
    says_same_verb,
    url_path,
    verbs_of,
)
from app.engine.agent.write_gate.page_scope import PageScope, plain_words, scope_of
from app.engine.agent.write_gate.task_changes import RequestedChange, forbidden_verbs, requested_changes
from app.engine.agent.write_gate.vocabulary import senses_of, stem_of, word_set
from app.engine.core.action_result import ActionResult, Effect
from app.engine.core.actions.specs import Action, spec_of
from app.engine.core.actions.types import AnswerDialog, Goto, NewTab, TypeKeys, TypeText
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.observation import HistoryEntry, Observation
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.write_permit import WritePermit

RECENT_STEPS = 3
"""Steps after a permitted press in which a control that only confirms belongs to the same change."""

_SIGN_IN_WORDS = re.compile(
    r"\b(log|sign)(ging|ning)?[ -]?(in|on|up|into|onto)\b|\bpassword\b|\bregister\b|\bcredentials\b|\{secret:",
    re.IGNORECASE,
)
_CREATING_SENSES = frozenset({"create", "send"})
_TEXT_FIELDS = frozenset({"textbox", "searchbox"})
_UNSENT_RISKS = frozenset({RiskClass.READS, RiskClass.EDITS})


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteDecision:
    """Whether an action may be done, and what it may write.

    Attributes:
        allowed: it may be done; with ``permit`` ``None`` it may only read.
        why: the reason for a refusal or a permit, one clause for a person and for a model.
        about: its risk.
        key: identifies the write, to count repetitions; ``None`` where nothing is written.
        thing: the row or page that the write concerns.
    """

    allowed: bool
    assessment: RiskAssessment
    permit: WritePermit | None = None
    why: str = ""
    key: tuple[int, str] | None = None
    subject: str = ""


@dataclass(frozen=True, slots=True)
class _Press:
    """A control about to be used: its words, its surroundings, its risk, and the observation it is on."""

    words: tuple[str, ...]
    scope: PageScope
    about: RiskAssessment
    observation: Observation

    def key(self, number: int) -> tuple[int, str]:
        """Return the key of a write that belongs to the change of this number."""
        return number, control_key(self.words, self.scope)


@dataclass(slots=True)
class WriteGate:
    """The gate of one run.

    Attributes:
        allow: risk classes that the task does not have to ask for.
    """

    allow: frozenset[RiskClass] = frozenset()
    _done: dict[tuple[int, str], list[str]] = field(default_factory=dict[tuple[int, str], "list[str]"])
    _pressed: dict[int, int] = field(default_factory=dict[int, int])
    _typed: set[str] = field(default_factory=set[str])
    _opened: dict[int, str] = field(default_factory=dict[int, str])
    _begun: int = -1

    def judge(self, action: Action, observation: Observation) -> WriteDecision:
        """Decide about one action on the page in front."""
        if self._begun < 0:
            self._begun = observation.step
        page = observation.page
        about = assess_risk(action, page)
        reading = WriteDecision(allowed=True, assessment=about)
        if not spec_of(action).may_write or (isinstance(action, AnswerDialog) and not action.accept):
            return reading
        element = _target(action, page, about)
        if isinstance(action, TypeText) and not action.enter and element is not None:
            self._typed.add(_field_key(element, page))
        if about.risk in self.allow:
            return _granted(about, element, f"--allow {about.risk.value}")
        if about.risk is RiskClass.SIGNS_IN:
            types = isinstance(action, TypeText | TypeKeys) and not _sends(action)
            return reading if types else _signing_in(about, element, observation)
        opens = isinstance(action, Goto | NewTab)
        if about.risk in _UNSENT_RISKS and (opens or is_plain_link(element, page)):
            self._note_opening(element, observation)
            return reading
        # The address alone names the object of an action that opens one.
        scope = scope_of(None, PageCapture(url=action.url)) if opens else scope_of(element, page)
        return self._judge_write(_Press(label_words(action, scope, page), scope, about, observation), element)

    def _judge_write(self, press: _Press, element: Element | None) -> WriteDecision:
        about, observation = press.about, press.observation
        changes = ordered_changes(observation)
        forbidden = _forbidden(press.words, observation)
        if forbidden and about.risk not in _UNSENT_RISKS:
            return WriteDecision(allowed=False, assessment=about, why=f"the task says not to {forbidden}")
        refusals: list[str] = []
        for number, change in enumerate(changes):
            why = self._misfit(change, number, press)
            if not why:
                return self._permitted(change, number, press, element)
            refusals.append(why)
        if about.risk in _UNSENT_RISKS or harmless_while_closed(
            element, press.words, about, observation.page
        ):
            return WriteDecision(allowed=True, assessment=about)
        if only_searches(element, press.words, press.scope, about):
            return _granted(about, element, "it searches")
        return WriteDecision(allowed=False, assessment=about, why=_refusal(about, changes, refusals))

    def settle(self, decision: WriteDecision, result: ActionResult, step: int) -> None:
        """Count the write of an action; one that was refused or blocked does not count."""
        if decision.key is None or not decision.allowed:
            return
        self._pressed[decision.key[0]] = step
        if _has_written(decision, result):
            self._done.setdefault(decision.key, []).append(decision.subject)

    def _note_opening(self, element: Element | None, observation: Observation) -> None:
        """Remember the address that a link opens which says a change of the task on its thing: ``Mark as paid``."""
        if element is None or not element.href:
            return
        page, scope = observation.page, scope_of(element, observation.page)
        words = plain_words(element.name)
        stems = set(map(stem_of, words))
        for number, change in enumerate(ordered_changes(observation)):
            objects = change.objects or change.whose
            says = stem_of(change.verb) in stems and len(words) > 1 and stems & change.nouns
            if change.certain and says and objects and any(scope.near(name) for name in objects):
                self._opened[number] = url_path(urljoin(page.url, element.href))

    def _sends_opened(self, number: int, press: _Press) -> bool:
        """Whether a control sends the one form of the page that a link named like the change has opened."""
        element, page = press.scope.element, press.scope.page
        if element is None or not element.submits or press.about.risk in GRAVE_RISKS:
            return False
        path = url_path(page.url)
        own_form = url_path(urljoin(page.url, element.form.partition(":")[2])) == path
        beside = [
            one
            for one in page.elements
            if one.submits and one.form == element.form and one.index != element.index
        ]
        return own_form and not beside and self._opened.get(number) == path

    # objections

    def _misfit(self, change: RequestedChange, number: int, press: _Press) -> str:
        """Return why an action does not belong to a change; "" where it does."""
        words, scope = press.words, press.scope
        if not says_same_verb(change, words, scope, press.about):
            completes = completes_form(words, scope.element) and self._may_finish(change, number, press)
            if not completes and not self._sends_opened(number, press):
                return f"the task asks to {change.verb}, not for this"
        elif why := self._wrong_thing(change, number, scope):
            return why
        return self._too_often(change, number, press)

    def _may_finish(self, change: RequestedChange, number: int, press: _Press) -> bool:
        """Whether a control such as "Save" completes this change."""
        about, scope, observation = press.about, press.scope, press.observation
        if about.risk in GRAVE_RISKS and not change.senses & REQUIRED_SENSES[about.risk]:
            return False
        own = senses_of(verbs_of(change, press.words))
        if own and not own & (change.senses | {"login"}):
            return False
        if dialog_is_graver(change, scope):
            return False
        recently = observation.step - self._pressed.get(number, -RECENT_STEPS - 1) <= RECENT_STEPS
        if recently and not self._foreign_text(scope, observation):
            return True
        if any(scope.around(name) for name in change.names):
            return not change.whose or scope.rivals == 0 or all(scope.near(name) for name in change.whose)
        if not change.certain:
            return False
        if change.names and not change.inherited and not change.senses & _CREATING_SENSES:
            return False
        about_words = set(map(stem_of, plain_words(scope.about)))
        return bool(change.nouns & about_words) or (
            self._typed_by_task(scope, observation) and bool(change.senses & _CREATING_SENSES)
        )

    def _wrong_thing(self, change: RequestedChange, number: int, scope: PageScope) -> str:
        """Return why the control belongs to another thing than the task names; "" where it does not."""
        if is_named_by_task(change, scope):
            return ""
        made = bool(change.senses & _CREATING_SENSES) and not change.senses & {"delete", "edit"}
        objects = () if made and not scope.row else change.objects
        missing = [
            name
            for name in change.whose
            if not (scope.near(name) or (not scope.row and scope.anywhere(name)))
        ]
        if missing:
            return f"{missing[0]!r} is not seen with it"
        buying = bool(change.senses & {"buy", "cart"})
        if objects:
            see = scope.anywhere if buying and not scope.row else scope.near
            if any(see(name) for name in objects):
                return ""
            if buying and number in self._pressed and not scope.row:
                return ""  # the basket or check-out of the named thing
            return f"{' or '.join(repr(name) for name in objects[:3])} is not what it is about"
        if scope.rivals and not scope.row and not scope.dialog and change.count == 1 and not change.picks:
            return f"the page has {scope.rivals + 1} of it, and the task does not say which"
        if change.places and not any(scope.anywhere(name) for name in change.places):
            return f"{change.places[0]!r} is not on this page"
        if scope.row and change.count == 1 and not change.picks and not change.whose:
            seen = [name for name in (*change.places, *change.values) if scope.near(name)]
            row = set(map(stem_of, plain_words(scope.row)))
            if not seen and not len(change.nouns & row) > 1 and scope.rivals:
                return f"the page has {scope.rivals + 1} of it, and the task does not say which"
        return ""

    def _too_often(self, change: RequestedChange, number: int, press: _Press) -> str:
        scope = press.scope
        done = [
            *self._done.get(press.key(number), ()),
            *self._done_before(press.observation.history, scope),
        ]
        if change.count and len(done) >= change.count:
            times = "once" if len(done) == 1 else f"{len(done)} times"
            return f"it was done {times}, as often as the task says"
        if scope.row and scope.row in done:
            return "it was already done on this one"
        return ""

    def _done_before(self, turns: Sequence[HistoryEntry], scope: PageScope) -> list[str]:
        """Return presses of the same control before the run was interrupted and resumed."""
        name = scope.element.name if scope.element is not None else ""
        if not name:
            return []
        return [
            turn.words
            for turn in turns
            if turn.step < self._begun
            and turn.result.success
            and turn.result.effect in (Effect.CHANGED, Effect.NAVIGATED)
            and f"'{name}'" in turn.words
        ]

    # permits

    def _permitted(
        self, change: RequestedChange, number: int, press: _Press, element: Element | None
    ) -> WriteDecision:
        granted = _granted(press.about, element, f"the task asks for it: {change.text}")
        scope = press.scope
        return replace(granted, key=press.key(number), subject=scope.row or scope.page.url)

    # typed values

    def _foreign_text(self, scope: PageScope, observation: Observation) -> bool:
        """Whether a text field of the form holds text that is not from the task."""
        known = _ordered_words(observation)
        return any(
            one.role in _TEXT_FIELDS
            and not is_from_task(one.value, known)
            and _field_key(one, scope.page) in self._typed
            for one in scope.fields
        )

    def _typed_by_task(self, scope: PageScope, observation: Observation) -> bool:
        """Whether the agent typed values of the task into the form."""
        known = _ordered_words(observation)
        return any(
            is_from_task(one.value, known) and _field_key(one, scope.page) in self._typed
            for one in scope.fields
        )


def _granted(about: RiskAssessment, element: Element | None, why: str) -> WriteDecision:
    return WriteDecision(allowed=True, assessment=about, permit=permit_for(element, why), why=why)


def _signing_in(about: RiskAssessment, element: Element | None, observation: Observation) -> WriteDecision:
    asked = any(_SIGN_IN_WORDS.search(text) for text in _orders(observation))
    if asked:
        return _granted(about, element, "the task speaks of logging in")
    why = f"{about.why}; the task does not speak of logging in"
    return WriteDecision(allowed=False, assessment=about, why=why)


def _field_key(element: Element, page: PageCapture) -> str:
    return f"{element.frame}{element.css or element.name}{url_path(page.url)}"


def _ordered_words(observation: Observation) -> set[str]:
    return {word for text in _orders(observation) for word in plain_words(text)}


def ordered_changes(observation: Observation) -> tuple[RequestedChange, ...]:
    """Return the changes that the task, a person's answers and a person's hints ask for."""
    return tuple(change for text in _orders(observation) for change in requested_changes(text))


def permit_for(element: Element | None, why: str) -> WritePermit:
    """Return a permit for the writes of one control: limited to its own form where it submits one."""
    form = element.form if element is not None and element.form.startswith("post:") else ""
    return WritePermit(why=why[:300], form=form)


def _forbidden(words: tuple[str, ...], observation: Observation) -> str:
    """Return the verb of a control that the task forbids, "" for none."""
    refused = frozenset(verb for text in _orders(observation) for verb in forbidden_verbs(text))
    if not refused:
        return ""
    senses = {sense: verb for verb in refused for sense in senses_of((verb,))}
    for word in words:
        if stem_of(word) in refused:
            return word
    own = senses_of(word for word in words if word not in word_set("commits"))
    return next((senses[sense] for sense in sorted(own & senses.keys())), "")


def _orders(observation: Observation) -> Iterable[str]:
    yield observation.intent
    for _, answer in observation.answers:
        yield answer
    for tip in observation.tips:
        if tip.kind == "person":
            yield tip.text


def _sends(action: TypeText | TypeKeys) -> bool:
    return action.enter if isinstance(action, TypeText) else "\n" in action.text


def _target(action: Action, page: PageCapture, about: RiskAssessment) -> Element | None:
    numbers = (about.element, getattr(action, "element", None))
    return next((one for number in numbers for one in page.elements if one.index == number), None)


def _has_written(decision: WriteDecision, result: ActionResult) -> bool:
    """Whether something was written: a request was sent and not answered with an error, or an effect was seen."""
    if result.sent:
        answered = [line.rpartition(" ")[2] for line in result.sent]
        return any(not status.isdecimal() or int(status) < 400 for status in answered)
    if not result.success:
        return False
    return decision.assessment.risk.changes and result.effect in (Effect.NAVIGATED, Effect.CHANGED)


def _refusal(about: RiskAssessment, changes: Sequence[RequestedChange], refusals: Sequence[str]) -> str:
    if not changes:
        return f"{about.why}; the task asks for no change"
    return f"{about.why}; {refusals[0] if len(refusals) == 1 else '; '.join(dict.fromkeys(refusals))}"
