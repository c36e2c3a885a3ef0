"""Changes that are no form, confirmations, and ways to a form.  Pure.

A control counts only on the page or in the row of the thing the task names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence, Set

from app.engine.agent.scout.change_subject import (
    SAME_KIND,
    is_about,
    is_creating,
    made_thing,
    makes_new,
    thing_names,
)
from app.engine.agent.scout.field_values import asked_forms
from app.engine.agent.scout.form_fields import fields_of, form_keys
from app.engine.agent.scout.form_senders import GENERAL, part_senses, sending_score
from app.engine.agent.scout.forms import FormStep
from app.engine.agent.scout.likeness import forms, meaning, plain, says, word_fit, words
from app.engine.agent.scout.page_context import PageContext, landmark_roles, page_key
from app.engine.agent.scout.task import TaskPart
from app.engine.agent.scout.tree_texts import Outline, outline_of
from app.engine.agent.write_gate import vocabulary
from app.engine.agent.write_gate.action_risk import assess_risk
from app.engine.agent.write_gate.page_scope import contains_name
from app.engine.agent.write_gate.vocabulary import senses_of
from app.engine.core.actions.types import Click, Select, SetChecked
from app.engine.core.addresses import split_address
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.text import word_set

_PRESSED = word_set("button link menuitem menuitemradio menuitemcheckbox tab option summary")
_ASIDE = word_set("navigation banner contentinfo search menubar")
_EDITORS = frozenset({"application"})
_MENUS = word_set("actions action more options menu tools manage")
_NEW, _EDIT = word_set("new add create write compose +"), word_set("edit change modify update properties")
_UNSURE = re.compile(r"\b(?:are you sure|really|confirm(?:ation)?|can(?:not|'t) be undone)\b", re.IGNORECASE)
LEAST, _MOST_WORDS, _MOST_ENTRIES = 0.5, 6, 200


# controls of the thing


def control_step(part: TaskPart, page: PageCapture, done: Set[str], *, sends: bool = True) -> FormStep | None:
    """Return the press that makes the change: ``Mark as paid``, ``Archive`` on the page or in the row of the thing.

    Where none does, the one that opens the menu of the thing; ``None`` where two things would fit.

    Args:
        sends: controls that send a form count, too; not where values of the task have found no field.
    """
    outline = outline_of(page.tree)
    pressable = [one for one in _pressable(page) if sends or not one.submits]
    chosen = _menu_entry(part, page, outline, done)
    if chosen is None:
        scored = [(says_change(one, part), one) for one in pressable]
        best = max((score for score, _ in scored), default=0.0)
        among = [one for score, one in scored if score >= max(LEAST, best - 0.05)]
        chosen = _of_the_thing(among, part, page, outline)
    if chosen is not None:
        return _only_option(chosen, page, done) or _press(
            chosen, f"press:{plain(_name(chosen))}", f"is what the task asks for: {part.text[:80]}", done
        )
    chosen = _of_the_thing([one for one in pressable if _opens_menu(one, part)], part, page, outline)
    return _press(chosen, f"menu:{plain(_name(chosen))}", "may hold the change", done) if chosen else None


def _only_option(sender: Element, page: PageCapture, done: Set[str]) -> FormStep | None:
    """Return the step that sets a field with one option, which what is pressed sends: a tray comes in one size."""
    form = form_keys(page.elements)[sender.index] if sender.submits else ""
    for field in fields_of(page) if form else ():
        key = f"set:{plain(field.label)}:only"
        needed = field.kind == "radio" or (field.kind == "select" and "required" in field.element.states)
        if field.form != form or not needed or any(field.held) or key in done:
            continue
        options = [at for at, option in enumerate(field.options) if option]
        if len(options) == 1:
            option = field.options[options[0]]
            member = field.members[options[0]].index if field.members else 0
            action = SetChecked(member) if field.members else Select(field.element.index, (option,))
            return FormStep(
                action=action, reason=f"{option!r} is the only {field.label or 'option'}", key=key
            )
    return None


def _press(one: Element, key: str, why: str, done: Set[str]) -> FormStep | None:
    if key in done:
        return None
    return FormStep(action=Click(one.index, label=one.name), reason=f"{_name(one)!r} {why}", key=key)


def _menu_entry(part: TaskPart, page: PageCapture, outline: Outline, done: Set[str]) -> Element | None:
    """Return the entry of the menu opened before that is called like a name: ``Put it on my shelf "…"``.

    A link that leads to the page of that name is none.
    """
    names = {plain(one.text) for one in part.names}
    entries = [one for one in page.elements if one.visible and plain(one.name) in names and not one.href]
    for opener in page.elements if entries else ():
        at = outline.place.get(opener.index, -1)
        if at >= 0 and "expanded" in opener.states and f"menu:{plain(_name(opener))}" in done:
            end = min(outline.ends[max(0, outline.parents[at])], at + _MOST_ENTRIES)
            for one in entries:
                if at < outline.place.get(one.index, -1) < end:
                    return one
    return None


def _pressable(page: PageCapture) -> list[Element]:
    """Return what may be pressed; the buttons of an editor change no more than the text in it."""
    outline = outline_of(page.tree)
    shown = (one for one in PageContext(page).shown if one.role in _PRESSED)
    return [one for one in shown if outline.around(one, _EDITORS) < 0]


def _name(one: Element) -> str:
    attributes = dict(one.attributes)
    return one.name or one.label or attributes.get("title", "") or attributes.get("aria-label", "")


def says_change(one: Element, part: TaskPart) -> float:
    """Return in [0, 1.1] how well a control's name says the change, less for every word that the task does not say."""
    said = meaning(_name(one))
    if not said or len(said) > _MOST_WORDS or one.form.startswith("get:"):
        return 0.0
    asked, verb, senses = asked_forms(part.verb, part.text), words(part.verb), part_senses(part)
    named = {word for name in part.names for word in words(name.text)}
    unasked = [word for word in said if word not in named and not forms(word) & asked]
    only_commits = not set(said) - vocabulary.word_set("commits") and not set(said) & set(verb)
    if senses_of(unasked) - senses - GENERAL or only_commits or not _names_made(said, part):
        return 0.0
    narrow = senses - GENERAL
    score = 0.0
    if any(forms(said[0]) & forms(word) for word in verb):
        # ``Add to list`` is no "add the tag"; of a wide verb the name must say nothing else.
        score = 1.0 if narrow or not senses else float(len(said) > 1 and not unasked)
    elif not _names_place(one, said) and senses_of(said[:1]) and senses_of(said) & narrow:
        score = 0.8
    elif (
        not unasked
        and not set(said) <= named
        and senses & GENERAL
        and one.role != "link"
        and not senses_of(said) - senses
    ):
        score = 0.65  # ``Paid`` for "mark as paid"
    return score - 0.15 * len(unasked) + 0.1 * bool(score and named & set(said))


def _names_place(one: Element, said: Sequence[str]) -> bool:
    """Whether a link names a place and commands nothing: ``Basket (2)``."""
    return bool(one.href) and said[0] in vocabulary.word_set("nouns")


def _names_made(said: Sequence[str], part: TaskPart) -> bool:
    """Whether a control's words name the thing that a part makes, or no thing at all (``New``)."""
    made, verb = made_thing(part), words(part.verb)
    things = [word for word in said if word not in _NEW and word not in verb]
    return not made or not things or any(word_fit(word, made[-1]) >= SAME_KIND for word in things)


def _opens_menu(one: Element, part: TaskPart) -> bool:
    """Whether a control opens a menu that may hold the change: one for everything, or one that says words of it."""
    said = set(words(_name(one)))
    general = not said or bool(said & _MENUS)
    told = general or any(forms(word) & forms(other) for word in said for other in part.words)
    opens = "haspopup" in one.states or (general and one.role in ("button", "summary"))
    return (
        opens
        and told
        and "expanded" not in one.states
        and not one.submits
        and not _ASIDE & landmark_roles(one)
    )


def _of_the_thing(
    among: Sequence[Element], part: TaskPart, page: PageCapture, outline: Outline
) -> Element | None:
    """Return the control that belongs to the named thing; ``None`` for none or for several things."""
    context, names = PageContext(page), thing_names(part)
    own = [name for name in names if context.is_about(name.text)]
    alike: dict[tuple[str, str], list[Element]] = {}
    for one in page.elements if among else ():
        alike.setdefault(_kind(one), []).append(one)
    ranked: list[tuple[float, Element]] = []
    for one in among:
        rivals = [other for other in alike[_kind(one)] if other.index != one.index]
        near = outline.names_without(one, rivals) if rivals else ""
        met = [name for name in names if contains_name(near, name.text)] if near else own
        if names and not met:
            continue
        # Of equal rows the one that says more of the task: the *paid* invoice of Acme.
        told = sum(says(piece, word) for piece in near.split(" \n ") for word in part.words)
        ranked.append((len(met) + 0.01 * told, one))
    if not ranked:
        return None
    best = max(score for score, _ in ranked)
    first = [one for score, one in ranked if score == best]
    return first[0] if all(_same_target(one, first[0]) for one in first) else None


def _kind(one: Element) -> tuple[str, str]:
    return one.role, re.sub(r"\d+", "#", plain(one.name))


def _same_target(one: Element, other: Element) -> bool:
    """Whether two controls do the same: links to one address, or buttons of one form."""
    same_form = one.form and one.form == other.form and one.submits
    return one is other or bool(same_form or (one.href and one.href == other.href))


# ways to a form


def opens_form(part: TaskPart, page: PageCapture, frame: Collection[str] = ()) -> FormStep | None:
    """Return the link or button that only leads to the form for this change: ``New issue``, ``Edit``.

    For an existing thing it stands on its page or in its row, and its address is not in ``frame``: those of links that
    stand on every page.
    """
    # What is added to a thing whose page this is may have its field in the form of the thing.
    outline, context = outline_of(page.tree), PageContext(page)
    here = not makes_new(part) and bool(thing_names(part)) and is_about(part, context)
    creating = is_creating(part) and not here
    scored = [
        (_leads(one, part, context, creating=creating), one)
        for one in _pressable(page)
        if creating or one.href not in frame
    ]
    edits = [one for _, one in scored if _EDIT & set(words(_name(one))[:1])]
    if not creating and len(edits) == 1:  # ``Edit metadata``, the one that edits anything here
        scored.append((LEAST + 0.05, edits[0]))
    for score, one in sorted(scored, key=lambda entry: (-entry[0], entry[1].index))[:5]:
        if score < LEAST or one.submits or assess_risk(Click(one.index), page).risk is not RiskClass.READS:
            continue
        among = [other for other_score, other in scored if other_score >= score - 0.05]
        chosen = one if creating else _of_the_thing(among, part, page, outline)
        if chosen is not None:
            return _press(
                chosen, f"open:{plain(_name(chosen))}:{page.url}", "may lead to the form", frozenset()
            )
    return None


def _leads(one: Element, part: TaskPart, context: PageContext, *, creating: bool) -> float:
    """Return in [0, 1] how surely a control leads to the form for a change."""
    name, page = _name(one), context.page
    said = meaning(name) or (("+",) if name.strip() == "+" else ())
    address = split_address(one.href)
    here = page_key(one.href) == context.key and address.fragment in ("", split_address(page.url).fragment)
    if not said or len(said) > _MOST_WORDS or here or (creating and not _names_made(said, part)):
        return 0.0
    asked = (*words(part.verb), *part.words)
    rest = [word for word in said if word not in _NEW | _EDIT]
    known = [max((word_fit(word, other) for other in asked), default=0.0) for word in rest]
    share = sum(known) / len(known) if known else 0.0
    if creating and _NEW & {*said, one.href.rstrip("/").rpartition("/")[2]}:
        if rest:
            return 0.5 + 0.5 * share if share >= LEAST else 0.0
        about = (context.page.title, *context.page.headings[:2], one.href)
        return 0.7 * any(word_fit(word, made) >= SAME_KIND for text in about for word in words(text)
                         for made in made_thing(part)[-1:])  # fmt: skip
    if not creating and _EDIT & set(said):
        return 0.7 + 0.2 * share if not rest or share >= LEAST else LEAST
    is_part = one.role == "tab" or bool(address.fragment)
    return (LEAST + 0.2 * share) * (is_part and not creating and share >= LEAST)


def confirm_step(part: TaskPart, page: PageCapture, done: Set[str]) -> FormStep | None:
    """Return the press that confirms what was pressed before (``Yes, delete``), in a dialog or on a page that asks."""
    pressed = any(key.startswith(("send:", "press:")) for key in done)
    if not pressed or any(key.startswith("confirm:") for key in done):
        return None
    sent = {key.rpartition(":")[2] for key in done if key.startswith("send:")}
    asks = bool(_UNSURE.search(" ".join((page.title, *page.headings, page.text[:3000]))))
    pressable = _pressable(page)
    among = [one for one in pressable if {"dialog", "alertdialog"} & landmark_roles(one)]
    if not among and asks:
        among = [one for one in pressable if one.submits and one.form.startswith("post")]
    scored = [
        (sending_score(words(_name(one)), part) + 0.4 * one.submits, one)
        for one in among
        if (asks or not one.href) and plain(_name(one)) not in sent
    ]
    score, best = max(scored, key=lambda entry: entry[0], default=(0.0, None))
    if best is None or score <= 0:
        return None
    return _press(best, f"confirm:{plain(_name(best))}:{page.url}", "confirms what was pressed", done)
