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
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from app.engine.agent.page_scope import PageScope, plain_words, scope_of
from app.engine.agent.risk import Assessment, assess
from app.engine.agent.sight import Sight, Turn
from app.engine.agent.task_changes import RequestedChange, forbidden_verbs, requested_changes, senses_of, stem_of, word_set
from app.engine.command import (
    AnswerDialog,
    Check,
    Click,
    ClickAt,
    ClickMark,
    Command,
    Drag,
    Goto,
    NewTab,
    Press,
    Select,
    SetSlider,
    TypeKeys,
    TypeMark,
    TypeText,
    Upload,
)
from app.engine.effect import Effect, Result
from app.engine.graph.danger import link_of
from app.engine.graph.danger_words import said_by_address
from app.engine.intervention_policy import RiskClass
from app.engine.page_state import Element, PageCapture
from app.engine.write_permit import WritePermit

RECENT = 3
"""Steps after a permitted press in which a control that only confirms belongs to the same change."""

_TOUCHING = (
    Click, ClickAt, ClickMark, TypeText, TypeMark, TypeKeys, Press, Check, Select, SetSlider, Drag, Upload,
    AnswerDialog, Goto, NewTab,
)  # fmt: skip
_GRAVE = frozenset({RiskClass.DELETES, RiskClass.BUYS, RiskClass.PAYS, RiskClass.SIGNS_OUT})
_NEEDED = {
    RiskClass.DELETES: frozenset({"delete", "cancel"}),
    RiskClass.BUYS: frozenset({"buy"}),
    RiskClass.PAYS: frozenset({"buy"}),
    RiskClass.SIGNS_OUT: frozenset({"logout"}),
}
_SIGNING_IN = re.compile(
    r"\b(log|sign)(ging|ning)?[ -]?(in|on|up|into|onto)\b|\bpassword\b|\bregister\b|\bcredentials\b|\{secret:", re.IGNORECASE
)
_CHANGES = frozenset({"change", "changes", "anderungen", "änderungen"})
"""Objects of "Save": no verbs there."""
_MAKING = frozenset({"create", "send"})
_PROGRESS = frozenset({"next", "continue", "proceed", "weiter"})
_CHOICES = frozenset({"option", "menuitem", "menuitemradio", "menuitemcheckbox", "radio", "checkbox", "switch", "treeitem"})
_TEXT_FIELDS = frozenset({"textbox", "searchbox"})
_UNSENT = frozenset({RiskClass.READS, RiskClass.EDITS})


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDecision:
    """Whether an action may be done, and what it may write.

    Attributes:
        allowed: it may be done; with ``permit`` ``None`` it may only read.
        why: the reason for a refusal or a permit, one clause for a person and for a model.
        about: the class of risk.
        key: what counts as the same write; ``None`` where nothing is written.
    """

    allowed: bool
    about: Assessment
    permit: WritePermit | None = None
    why: str = ""
    key: tuple[int, str] | None = None
    thing: str = ""


@dataclass(slots=True)
class WriteGate:
    """The gate of one run.

    Attributes:
        allow: classes of risk that need no request by the task.
    """

    allow: frozenset[RiskClass] = frozenset()
    _done: dict[tuple[int, str], list[str]] = field(default_factory=dict[tuple[int, str], "list[str]"])
    _pressed: dict[int, int] = field(default_factory=dict[int, int])
    _typed: dict[str, str] = field(default_factory=dict[str, str])
    _begun: int = -1

    def judge(self, command: Command, sight: Sight) -> GateDecision:
        """Decide about one action on the page in front."""
        if self._begun < 0:
            self._begun = sight.step
        page = sight.page
        about = assess(command, page)
        if not isinstance(command, _TOUCHING) or (isinstance(command, AnswerDialog) and not command.accept):
            return GateDecision(allowed=True, about=about)
        element = _target(command, page, about)
        if isinstance(command, TypeText) and not command.enter:
            self._remember(element, command.text, page)
        if about.risk in self.allow:
            return self._granted(about, element, f"--allow {about.risk.value}")
        changes = orders_of(sight)
        if about.risk is RiskClass.SIGNS_IN:
            return self._signing_in(about, element, sight)
        if about.risk in _UNSENT and (_is_plain_link(element, page) or isinstance(command, Goto | NewTab)):
            return GateDecision(allowed=True, about=about)
        if isinstance(command, Goto | NewTab):
            scope = scope_of(None, PageCapture(url=command.url))  # the address alone tells what it is done to
        else:
            scope = scope_of(element, page)
        words = _words_of(command, scope, page)
        forbidden = _forbidden(words, sight)
        if forbidden and about.risk not in _UNSENT:
            return GateDecision(allowed=False, about=about, why=f"the task says not to {forbidden}")
        refusals: list[str] = []
        for number, change in enumerate(changes):
            why = self._misfit(change, number, words, scope, about, sight)
            if not why:
                return self._permitted(change, number, words, scope, about, element)
            refusals.append(why)
        if about.risk in _UNSENT or _harmless_while_closed(element, words, about, page):
            return GateDecision(allowed=True, about=about)
        if _only_searches(element, words, scope, about):
            return self._granted(about, element, "it searches")
        return GateDecision(allowed=False, about=about, why=_refusal(about, changes, refusals))

    def settle(self, decision: GateDecision, result: Result, step: int) -> None:
        """Take note of what came of an action: what was written counts, what was refused or held back does not."""
        if decision.key is None or not decision.allowed:
            return
        self._pressed[decision.key[0]] = step
        if _has_written(decision, result):
            self._done.setdefault(decision.key, []).append(decision.thing)

    # what speaks against it

    def _misfit(
        self,
        change: RequestedChange,
        number: int,
        words: tuple[str, ...],
        scope: PageScope,
        about: Assessment,
        sight: Sight,
    ) -> str:
        """Why an action does not belong to a change; "" where it does."""
        finishes = _finishes(words, scope.element)
        if not _same_verb(change, words, scope, about):
            if not finishes or not self._may_finish(change, number, words, scope, about, sight):
                return f"the task asks to {change.verb}, not for this"
        elif why := self._wrong_thing(change, number, scope, about, sight):
            return why
        return self._too_often(change, number, words, scope, sight)

    def _may_finish(
        self,
        change: RequestedChange,
        number: int,
        words: tuple[str, ...],
        scope: PageScope,
        about: Assessment,
        sight: Sight,
    ) -> bool:
        """Whether a control such as "Save" finishes this change."""
        if about.risk in _GRAVE and not change.senses & _NEEDED[about.risk]:
            return False
        own = senses_of(word for word in words if word not in word_set("commits") | _CHANGES)
        if own and not own & (change.senses | {"login"}):
            return False
        if _dialog_is_worse(change, scope):
            return False
        recently = sight.step - self._pressed.get(number, -RECENT - 1) <= RECENT
        if recently and not self._foreign_text(scope, sight):
            return True
        if any(scope.around(name) for name in change.names):
            return not change.whose or scope.rivals == 0 or all(scope.near(name) for name in change.whose)
        if not change.certain:
            return False
        if change.names and not change.inherited and not change.senses & _MAKING:
            return False
        about_words = set(map(stem_of, plain_words(scope.about)))
        return bool(change.nouns & about_words) or (self._typed_by_task(scope, sight) and bool(change.senses & _MAKING))

    def _wrong_thing(
        self, change: RequestedChange, number: int, scope: PageScope, about: Assessment, sight: Sight
    ) -> str:
        """Why the control belongs to another thing than the task names; "" where it does not."""
        if _is_named(change, scope):
            return ""
        made = bool(change.senses & _MAKING) and not change.senses & {"delete", "edit"}
        objects = () if made and not scope.row else change.objects
        missing = [name for name in change.whose if not (scope.near(name) or (not scope.row and scope.anywhere(name)))]
        if missing:
            return f"{missing[0]!r} is not seen with it"
        buying = bool(change.senses & {"buy", "cart"})
        if objects:
            see = scope.anywhere if buying and not scope.row else scope.near
            if any(see(name) for name in objects):
                return ""
            if buying and number in self._pressed and not scope.row:
                return ""  # the basket or the check-out that the named thing was put into
            return f"{' or '.join(repr(name) for name in objects[:3])} is not what it belongs to"
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

    def _too_often(
        self, change: RequestedChange, number: int, words: tuple[str, ...], scope: PageScope, sight: Sight
    ) -> str:
        key = (number, _label(words, scope))
        done = [*self._done.get(key, ()), *self._done_before(sight.turns, scope)]
        if change.count and len(done) >= change.count:
            times = "once" if len(done) == 1 else f"{len(done)} times"
            return f"it was done {times}, as often as the task says"
        if scope.row and scope.row in done:
            return "it was done on this one already"
        return ""

    def _done_before(self, turns: Sequence[Turn], scope: PageScope) -> list[str]:
        """Presses of the same control by a run that broke off and was resumed."""
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

    # what is granted

    def _permitted(
        self,
        change: RequestedChange,
        number: int,
        words: tuple[str, ...],
        scope: PageScope,
        about: Assessment,
        element: Element | None,
    ) -> GateDecision:
        granted = self._granted(about, element, f"the task asks for it: {change.text}")
        return GateDecision(
            allowed=True,
            about=about,
            permit=granted.permit,
            why=granted.why,
            key=(number, _label(words, scope)),
            thing=scope.row or scope.page.url,
        )

    def _granted(self, about: Assessment, element: Element | None, why: str) -> GateDecision:
        return GateDecision(allowed=True, about=about, permit=permit_for(element, why), why=why)

    def _signing_in(self, about: Assessment, element: Element | None, sight: Sight) -> GateDecision:
        asked = any(_SIGNING_IN.search(text) for text in _orders(sight))
        if asked:
            return self._granted(about, element, "the task speaks of logging in")
        return GateDecision(allowed=False, about=about, why=f"{about.why}; the task does not speak of logging in")

    # what was typed

    def _remember(self, element: Element | None, text: str, page: PageCapture) -> None:
        if element is not None:
            self._typed[f"{element.frame}{element.css or element.name}{_path(page.url)}"] = text

    def _foreign_text(self, scope: PageScope, sight: Sight) -> bool:
        """Whether a text field of the form holds what does not come from the task."""
        known = {word for text in _orders(sight) for word in plain_words(text)}
        return any(
            one.role in _TEXT_FIELDS and not _comes_from(one.value, known) and self._was_typed(one, scope.page)
            for one in scope.fields
        )

    def _typed_by_task(self, scope: PageScope, sight: Sight) -> bool:
        """Whether the agent put values of the task into the form."""
        known = {word for text in _orders(sight) for word in plain_words(text)}
        typed = [one for one in scope.fields if self._was_typed(one, scope.page)]
        return bool(typed) and any(_comes_from(one.value, known) for one in typed)

    def _was_typed(self, element: Element, page: PageCapture) -> bool:
        return f"{element.frame}{element.css or element.name}{_path(page.url)}" in self._typed


def orders_of(sight: Sight) -> tuple[RequestedChange, ...]:
    """The changes that the task, a person's answers and a person's hints ask for."""
    return tuple(change for text in _orders(sight) for change in requested_changes(text))


def permit_for(element: Element | None, why: str) -> WritePermit:
    """A permit for what one control writes: its own form where it sends one."""
    form = element.form if element is not None and element.form.startswith("post:") else ""
    return WritePermit(why=why[:300], form=form)


def _forbidden(words: tuple[str, ...], sight: Sight) -> str:
    """The verb of a control that the task forbids, "" for none."""
    refused = frozenset(verb for text in _orders(sight) for verb in forbidden_verbs(text))
    if not refused:
        return ""
    senses = {sense: verb for verb in refused for sense in senses_of((verb,))}
    for word in words:
        if stem_of(word) in refused:
            return word
    own = senses_of(word for word in words if word not in word_set("commits"))
    return next((senses[sense] for sense in sorted(own & senses.keys())), "")


def _orders(sight: Sight) -> Iterable[str]:
    yield sight.intent
    for _, answer in sight.answers:
        yield answer
    for tip in sight.tips:
        if tip.kind == "person":
            yield tip.text


# ---------------------------------------------------------------------------------------------------- the control


def _target(command: Command, page: PageCapture, about: Assessment) -> Element | None:
    return next((one for one in page.elements if one.index == about.element), None) or _named_target(command, page)


def _named_target(command: Command, page: PageCapture) -> Element | None:
    number = getattr(command, "element", None)
    return next((one for one in page.elements if one.index == number), None) if isinstance(number, int) else None


def _words_of(command: Command, scope: PageScope, page: PageCapture) -> tuple[str, ...]:
    """The words by which an action says what it does: the control's name, an address's, a dialog's."""
    match command:
        case Goto(url) | NewTab(url):
            return plain_words(f"{_path(url)} {unquote(urlsplit(url).query)}" if _is_address(url) else url)
        case AnswerDialog():
            return plain_words(" ".join(page.alerts))
        case ClickMark(_, label) | TypeMark(_, label):
            return plain_words(label)
        case _:
            words = plain_words(scope.own.replace("&", " and "))
            element = scope.element
            if element is not None and len("".join(words)) < 2:  # a nameless control: what its makers call it
                marks = [element.test_id, *(value for key, value in element.attributes if key in ("id", "name", "value"))]
                words = plain_words(" ".join(marks).replace("-", " "))
            return words


def _is_plain_link(element: Element | None, page: PageCapture) -> bool:
    return element is not None and link_of(element, page.url) is not None


def _same_verb(change: RequestedChange, words: tuple[str, ...], scope: PageScope, about: Assessment) -> bool:
    """Whether the control says the verb that the task says."""
    if _is_named(change, scope):
        return True
    stems = set(map(stem_of, words))
    if not senses_of((change.verb,)) and (change.verb in words or stem_of(change.verb) in stems):
        return True  # a verb of no group: the same word is all there is
    if about.risk in _GRAVE:
        return bool(change.senses & _NEEDED[about.risk])
    if "all" in words and change.count == 1:
        return False
    own = senses_of(word for word in words if word not in word_set("commits"))
    if "cart" in own:
        return bool(change.senses & {"buy", "cart"})
    said = _verbs_said(words)
    if said:
        return all(senses & change.senses for senses in said)
    return bool(own & change.senses) or _chooses_value(change, scope)

def _verbs_said(words: tuple[str, ...]) -> list[frozenset[str]]:
    """Senses of the verbs a control's name begins with, and of those after "and" (``Comment and close``)."""
    telling = [word for word in words if word not in word_set("commits")]
    found: list[frozenset[str]] = []
    for at, word in enumerate(telling):
        if at == 0 or telling[at - 1] in ("and", "then"):
            senses = senses_of((word,))
            if senses:
                found.append(senses)
            elif at == 0:
                return []
    return found


def _is_named(change: RequestedChange, scope: PageScope) -> bool:
    """Whether the task itself names the control (``Press "Buy now"``)."""
    own = [plain_words(text) for text in (scope.own, scope.element.name if scope.element is not None else "") if text]
    return any(plain_words(name) in own for name in change.presses)


def _chooses_value(change: RequestedChange, scope: PageScope) -> bool:
    """An option of the name that the task gives, in a list that saves by itself."""
    element = scope.element
    if element is None or element.role not in _CHOICES or not change.senses & {"edit", "create", "enable", "disable"}:
        return False
    return any(plain_words(name) == plain_words(element.name) for name in (*change.values, *change.objects))


def _finishes(words: tuple[str, ...], element: Element | None) -> bool:
    """Whether a control finishes a form or a dialog without saying what it does to whom."""
    if any(word in word_set("commits") for word in words):
        return True
    return element is not None and element.submits and not senses_of(words)


def _dialog_is_worse(change: RequestedChange, scope: PageScope) -> bool:
    """Whether a dialog asks about a graver change than the task's."""
    own = senses_of(plain_words(scope.dialog)) if scope.dialog else frozenset[str]()
    return bool(own & {"delete", "cancel", "buy"}) and not own & change.senses


def _harmless_while_closed(
    element: Element | None, words: tuple[str, ...], about: Assessment, page: PageCapture
) -> bool:
    """Whether pressing a control harms nothing as long as only reading requests leave the browser.

    A choice in a form, "Cancel" in a dialog or a row, and a link that only takes a condition out of this page's address.
    """
    if element is None or about.risk is RiskClass.SIGNS_OUT:
        return False
    if link_of(element, page.url) is not None:
        return _lifts_a_filter(element.href, page.url)
    return not element.submits and (element.role in _CHOICES or words == ("cancel",))


def _lifts_a_filter(link: str, page_url: str) -> bool:
    try:
        there, here = urlsplit(link), urlsplit(page_url)
    except ValueError:
        return False
    conditions, known = set(parse_qsl(there.query)), set(parse_qsl(here.query))
    same_page = (there.netloc, there.path) == (here.netloc, here.path)
    return same_page and conditions < known and said_by_address(there) is None


def _only_searches(element: Element | None, words: tuple[str, ...], scope: PageScope, about: Assessment) -> bool:
    """A form that is sent by POST, and asks: its button says so, and none of its fields takes a text to be kept."""
    if element is None or about.risk is not RiskClass.SENDS or not element.submits:
        return False
    telling = [word for word in words if word not in word_set("stop")]
    reads = bool(telling) and telling[0] in word_set("searches")
    keeps = any(
        one.tag == "textarea" or one.type in ("password", "email", "file") or "multiline" in one.states for one in scope.fields
    )
    return reads and not keeps and not senses_of(telling)


def _label(words: tuple[str, ...], scope: PageScope) -> str:
    """What counts as the same control: its words, for a step of several pages also the page's headings."""
    label = " ".join(word for word in words if not word.isdecimal())
    if set(words) & _PROGRESS:
        return f"{label} @ {' '.join(scope.page.headings[:2])} {_path(scope.page.url)}"
    return label


def _comes_from(value: str, known: set[str]) -> bool:
    words = plain_words(value)
    return not words or sum(word in known for word in words) >= 0.6 * len(words)


def _has_written(decision: GateDecision, result: Result) -> bool:
    """Whether something was written: a request that was let out and not answered with an error, or a seen effect."""
    if result.sent:
        answered = [line.rpartition(" ")[2] for line in result.sent]
        return any(not status.isdecimal() or int(status) < 400 for status in answered)
    if not result.success:
        return False
    return decision.about.risk.changes and result.effect in (Effect.NAVIGATED, Effect.CHANGED)


def _refusal(about: Assessment, changes: Sequence[RequestedChange], refusals: Sequence[str]) -> str:
    if not changes:
        return f"{about.why}; the task asks for no change"
    return f"{about.why}; {refusals[0] if len(refusals) == 1 else '; '.join(dict.fromkeys(refusals))}"


def _path(url: str) -> str:
    try:
        return unquote(urlsplit(url).path)
    except ValueError:
        return ""


def _is_address(url: str) -> bool:
    try:
        urlsplit(url)
    except ValueError:
        return False
    return True
