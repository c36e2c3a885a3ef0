"""Words of a control: the verb it names, whether it completes a form, whether it only searches.  Pure.

The write gate (``app.engine.agent.write_gate.gate``) compares them with the change that a task asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qsl, unquote

from app.engine.agent.write_gate.action_risk import RiskAssessment
from app.engine.agent.write_gate.page_scope import PageScope, plain_words
from app.engine.agent.write_gate.query_forms import saves_a_view
from app.engine.agent.write_gate.task_changes import RequestedChange
from app.engine.agent.write_gate.vocabulary import senses_of, stem_of, word_set
from app.engine.core.actions.types import Action, AnswerDialog, ClickMark, Goto, NewTab, TypeMark
from app.engine.core.addresses import split_address
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.page_state import Element, PageCapture
from app.engine.graph.rules.danger import link_of
from app.engine.graph.rules.danger_words import verb_in_address

GRAVE_RISKS = frozenset({RiskClass.DELETES, RiskClass.BUYS, RiskClass.PAYS, RiskClass.SIGNS_OUT})
"""Risk classes that need a verb of the same sense in the task."""
REQUIRED_SENSES = {
    RiskClass.DELETES: frozenset({"delete", "cancel"}),
    RiskClass.BUYS: frozenset({"buy"}),
    RiskClass.PAYS: frozenset({"buy"}),
    RiskClass.SIGNS_OUT: frozenset({"logout"}),
}
CHANGE_NOUNS = frozenset({"change", "changes", "anderungen", "änderungen"})
"""Objects of "Save" that are no verbs there."""

_DEEDS = frozenset({"send", "place", "sign", "agree"})
"""Words that complete a form and say what it does, too."""
_PROGRESS = frozenset({"next", "continue", "proceed", "weiter"})
_CHOICES = frozenset(
    {"option", "menuitem", "menuitemradio", "menuitemcheckbox", "radio", "checkbox", "switch", "treeitem"}
)


def label_words(action: Action, scope: PageScope, page: PageCapture) -> tuple[str, ...]:
    """Return the words that say what an action does: the control's name, an address's, a dialog's."""
    match action:
        case Goto(url) | NewTab(url):
            return plain_words(f"{url_path(url)} {unquote(split_address(url).query)}")
        case AnswerDialog():
            return plain_words(" ".join(page.alerts))
        case ClickMark(_, label) | TypeMark(_, label):
            return plain_words(label)
        case _:
            words = plain_words(scope.own.replace("&", " and "))
            element = scope.element
            if element is not None and len("".join(words)) < 2:  # a nameless control: its names in the source
                marks = [
                    element.test_id,
                    *(value for key, value in element.attributes if key in ("id", "name", "value")),
                ]
                words = plain_words(" ".join(marks).replace("-", " "))
            return words


def is_plain_link(element: Element | None, page: PageCapture) -> bool:
    return element is not None and link_of(element, page.url) is not None


def says_same_verb(
    change: RequestedChange, words: tuple[str, ...], scope: PageScope, about: RiskAssessment
) -> bool:
    """Whether the control names the same verb as the task."""
    if is_named_by_task(change, scope):
        return True
    if "use" in change.senses:
        return about.risk not in GRAVE_RISKS and _sends_value(change, words, scope)
    stems = set(map(stem_of, words))
    if not senses_of((change.verb,)) and (change.verb in words or stem_of(change.verb) in stems):
        return True  # a verb of no group: only the word itself can match
    if about.risk in GRAVE_RISKS:
        return bool(change.senses & REQUIRED_SENSES[about.risk])
    if "all" in words and change.count == 1:
        return False
    own = senses_of(word for word in words if word not in word_set("commits"))
    if "cart" in own:
        return bool(change.senses & {"buy", "cart"})
    said = _verbs_said(verbs_of(change, words))
    if said:
        return all(senses & change.senses for senses in said)
    return bool(own & change.senses) or _chooses_value(change, scope)


def verbs_of(change: RequestedChange, words: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a control that may be verbs: no commits, and after one no nouns of the task.

    ``comment`` of ``Save comment`` is what is saved where the task speaks of a comment.
    """
    commits = word_set("commits")
    saved = words[:1] and words[0] in commits - _DEEDS
    return tuple(
        word
        for at, word in enumerate(words)
        if word not in commits | CHANGE_NOUNS
        and not (saved and words[at - 1] != "and" and stem_of(word) in change.nouns)
    )


def _verbs_said(words: Sequence[str]) -> list[frozenset[str]]:
    """Return senses of the verbs at the beginning of a control's name, and of those after "and" (``Comment and
    close``).
    """
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


def is_named_by_task(change: RequestedChange, scope: PageScope) -> bool:
    """Whether the task itself names the control (``Press "Buy now"``)."""
    own = [
        plain_words(text)
        for text in (scope.own, scope.element.name if scope.element is not None else "")
        if text
    ]
    return any(plain_words(name) in own for name in change.presses)


def _sends_value(change: RequestedChange, words: tuple[str, ...], scope: PageScope) -> bool:
    """Whether the control sends a form with a field that holds the very value of the task."""
    element = scope.element
    if element is None or not element.submits or senses_of(words) - {"create", "edit", "send", "approve"}:
        return False
    given = [plain_words(name) for name in change.values]
    return any(plain_words(one.value) in given for one in scope.fields if one.value)


def _chooses_value(change: RequestedChange, scope: PageScope) -> bool:
    """Whether the control is an option with the name the task gives, in a list that saves by itself."""
    element = scope.element
    if (
        element is None
        or element.role not in _CHOICES
        or not change.senses & {"edit", "create", "enable", "disable"}
    ):
        return False
    return any(plain_words(name) == plain_words(element.name) for name in (*change.values, *change.objects))


def completes_form(words: tuple[str, ...], element: Element | None) -> bool:
    """Whether a control completes a form or a dialog without naming a change."""
    if any(word in word_set("commits") for word in words):
        return True
    return element is not None and element.submits and not senses_of(words)


def dialog_is_graver(change: RequestedChange, scope: PageScope) -> bool:
    """Whether a dialog asks about a graver change than the task's."""
    own = senses_of(plain_words(scope.dialog)) if scope.dialog else frozenset[str]()
    return bool(own & {"delete", "cancel", "buy"}) and not own & change.senses


def harmless_while_closed(
    element: Element | None, words: tuple[str, ...], about: RiskAssessment, page: PageCapture
) -> bool:
    """Whether pressing a control is harmless as long as only reading requests leave the browser.

    A choice in a form, "Cancel", "Show report", and a link that only removes a filter of this page.
    """
    if element is None or about.risk is RiskClass.SIGNS_OUT:
        return False
    if link_of(element, page.url) is not None:
        return _lifts_a_filter(element.href, page.url)
    if element.submits:
        return False
    shows = bool(words) and words[0] in word_set("searches") and about.risk is RiskClass.SENDS
    return element.role in _CHOICES or words == ("cancel",) or shows


def _lifts_a_filter(link: str, page_url: str) -> bool:
    there, here = split_address(link), split_address(page_url)
    conditions, known = set(parse_qsl(there.query)), set(parse_qsl(here.query))
    same_page = (there.netloc, there.path) == (here.netloc, here.path)
    return same_page and conditions < known and verb_in_address(there) is None


def only_searches(
    element: Element | None, words: tuple[str, ...], scope: PageScope, about: RiskAssessment
) -> bool:
    """Whether a form only searches although it is sent by POST: its button says so, and nothing is to be stored."""
    if element is None or about.risk is not RiskClass.SENDS or not element.submits:
        return False
    telling = [word for word in words if word not in word_set("stop")]
    reads = bool(telling) and telling[0] in word_set("searches")
    keeps = any(
        one.tag == "textarea" or one.type in ("password", "email", "file") or "multiline" in one.states
        for one in scope.fields
    ) or any(one.value and saves_a_view(one, scope.page) for one in scope.fields)
    return reads and not keeps and not senses_of(telling)


def control_key(words: tuple[str, ...], scope: PageScope) -> str:
    """Return the key of a control: its words, for a step of several pages also the page's headings."""
    label = " ".join(word for word in words if not word.isdecimal())
    if set(words) & _PROGRESS:
        return f"{label} @ {' '.join(scope.page.headings[:2])} {url_path(scope.page.url)}"
    return label


def is_from_task(value: str, known: set[str]) -> bool:
    words = plain_words(value)
    return not words or sum(word in known for word in words) >= 0.6 * len(words)


def url_path(url: str) -> str:
    return unquote(split_address(url).path)
