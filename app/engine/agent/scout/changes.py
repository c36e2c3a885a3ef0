"""Changes that are no form, ways to a form, and the evidence that a change was saved.  Pure.

A control counts only on the page or in the row of the thing the task names.  "Done" needs the page's own words: the
values stand there, or a message speaks of them, and no field complains.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace
from urllib.parse import urlsplit

from app.engine.agent.scout.field_values import has_words, own_words, values_in
from app.engine.agent.scout.form_fields import Outline, fields_of, outline_of
from app.engine.agent.scout.form_senders import sending_score
from app.engine.agent.scout.forms import FormStep
from app.engine.agent.scout.likeness import forms, meaning, plain, says, word_fit, words
from app.engine.agent.scout.task import Name, TaskPart
from app.engine.agent.scout.value_matching import CREATING, FormPlan, is_creating, trail_of
from app.engine.agent.write_gate.action_risk import assess_risk
from app.engine.agent.write_gate.page_scope import contains_name
from app.engine.agent.write_gate.vocabulary import senses_of, word_set
from app.engine.core.actions.types import Click
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.page_state import Element, PageCapture

_PRESSED = frozenset(
    {"button", "link", "menuitem", "menuitemradio", "menuitemcheckbox", "tab", "option", "summary"}
)
_ROWS = frozenset({"row", "listitem", "article", "LayoutTableRow", "treeitem"})
_ASIDE = ("navigation", "banner", "contentinfo", "search", "menubar")
_MENUS = frozenset({"actions", "action", "more", "options", "menu", "tools", "manage"})
_NEW = frozenset({"new", "add", "create", "write", "compose"})
_EDIT = frozenset({"edit", "change", "modify", "update", "properties"})
_GENERAL = frozenset({"edit", "create"})
"""Senses too wide for one verb to stand for another: ``rename`` is no ``move``."""
_UNSURE = re.compile(
    r"\b(?:are you sure|really|confirm|confirmation|cannot be undone|can't be undone)\b", re.IGNORECASE
)
LEAST = 0.5
MOST_WORDS = 6


def thing_names(part: TaskPart, plan: FormPlan | None = None) -> tuple[Name, ...]:
    """Return the names of the thing a change is about: those that no field takes and no value is made of.

    Names of the parts before stand in where this part has none of its own.
    """
    taken = {plain(text) for one in (plan.assignments if plan else ()) for text in (one.told, one.value)}
    adds = bool(
        senses_of(words(part.verb)) & CREATING
    )  # ``to`` then leads to the thing: ``add the note … to F-12``
    given = {
        plain(one.text)
        for one in values_in(part.text)
        if one.joint and one.kind != "phrase" and not (adds and one.joint == "to")
    }
    own = tuple(one for one in part.names if plain(one.text) not in taken)
    told = tuple(one for one in own if plain(one.text) not in given)
    return told or own or part.context


def is_about(part: TaskPart, page: PageCapture, plan: FormPlan | None = None) -> bool:
    """Whether the page is that of the thing the task names, or the task names none."""
    names = thing_names(part, plan)
    about = subject_of(page)
    held = [one for field in fields_of(page) if field.form.startswith("post") for one in field.held]
    return not names or any(
        contains_name(about, one.text) or any(plain(one.text) == plain(value) for value in held)
        for one in names
    )


def subject_of(page: PageCapture) -> str:
    return " \n ".join(
        (page.title, *page.headings, *trail_of(page), urlsplit(page.url).path.rpartition("/")[2])
    )


# controls of the thing


def control_step(part: TaskPart, page: PageCapture, done: Set[str]) -> FormStep | None:
    """Return the press that makes the change itself: ``Mark as paid``, ``Archive`` on the page or in the row of the
    thing; else the one that opens the row's menu; ``None`` where two things would fit.
    """
    outline = outline_of(page.tree)
    entry = _menu_entry(part, page, outline) if any(key.startswith("menu:") for key in done) else None
    if entry is not None and (key := f"press:{plain(entry.name)}") not in done:
        return FormStep(
            action=Click(entry.index, label=entry.name), reason="the open menu offers it", key=key
        )
    scored = [(says_change(one, part), one) for one in page.elements if _may_press(one)]
    best = max((score for score, _ in scored), default=0.0)
    if best >= LEAST:
        among = [one for score, one in scored if score >= best - 0.05]
        chosen = _of_the_thing(
            among, part, page, outline, opened=any(key.startswith("menu:") for key in done)
        )
        if chosen is not None:
            key = f"press:{plain(_name(chosen))}"
            if key in done:
                return None
            return FormStep(
                action=Click(chosen.index, label=chosen.name),
                reason=f"{_name(chosen)!r} is what the task asks for: {part.text[:80]}",
                key=key,
            )
    menus = [one for one in page.elements if _may_press(one) and _opens_menu(one)]
    chosen = _of_the_thing(menus, part, page, outline) if menus else None
    key = f"menu:{plain(_name(chosen))}" if chosen is not None else ""
    if chosen is None or key in done:
        return None
    return FormStep(
        action=Click(chosen.index, label=chosen.name), reason="its menu may hold the change", key=key
    )


def _menu_entry(part: TaskPart, page: PageCapture, outline: Outline) -> Element | None:
    """Return the entry of an open menu that is called like a name of the task: ``Put it on my shelf "…"``."""
    names = {plain(one.text) for one in part.names}
    for opener in page.elements:
        at = outline.place.get(opener.index, -1)
        if (
            at < 0
            or "expanded" not in opener.states
            or not _opens_menu(replace(opener, states=("haspopup",)))
        ):
            continue
        end = outline.ends[max(0, outline.parents[at])]
        for one in page.elements:
            if at < outline.place.get(one.index, -1) < end and one.visible and plain(one.name) in names:
                return one
    return None


def _may_press(one: Element) -> bool:
    return one.role in _PRESSED and one.visible and not one.in_advert and "disabled" not in one.states


def _name(one: Element) -> str:
    attributes = dict(one.attributes)
    return one.name or one.label or attributes.get("title", "") or attributes.get("aria-label", "")


def says_change(one: Element, part: TaskPart) -> float:
    """Return in [0, 1] how well a control's name says the change."""
    said = meaning(_name(one))
    if len(said) not in range(1, MOST_WORDS + 1) or one.form.startswith("get:"):
        return 0.0
    asked = {form for word in own_words(part) for form in forms(word)}
    unasked = [word for word in said if not forms(word) & asked]
    senses, own = senses_of(words(part.verb)), senses_of(said)
    if (senses_of(unasked) - senses) or (
        not unasked and own and not own & senses and not forms(said[0]) & asked
    ):
        return 0.0
    first = forms(said[0])
    if any(first & forms(word) for word in words(part.verb)):
        score = 1.0 if len(said) > 1 or not senses & _GENERAL else 0.0
    elif senses_of((said[0],)) & (senses - _GENERAL):
        score = 0.8
    elif not unasked and senses & _GENERAL and one.role != "link" and not own - senses:
        score = 0.65  # ``Paid`` for "mark as paid"
    else:
        return 0.0
    if not set(said) - word_set("commits") - {part.verb} and part.verb not in said:
        return 0.0
    return score - 0.15 * len(unasked)


def _opens_menu(one: Element) -> bool:
    if (
        any(mark.partition(":")[0] in _ASIDE for mark in one.landmarks)
        or "expanded" in one.states
        or one.submits
    ):
        return False
    said = set(words(_name(one)))
    return "haspopup" in one.states or (
        one.role in ("button", "summary") and (bool(said & _MENUS) or not said)
    )


def _of_the_thing(
    among: Sequence[Element], part: TaskPart, page: PageCapture, outline: Outline, *, opened: bool = False
) -> Element | None:
    """Return the control that belongs to the named thing; ``None`` for none or for several things."""
    names = thing_names(part)
    about = subject_of(page)
    repeated = Counter(plain(one.name) for one in page.elements if _may_press(one))
    ranked: list[tuple[float, Element]] = []
    for one in among:
        rivals = [other for other in page.elements if other.index != one.index and _alike(one, other)]
        near = _surroundings(one, rivals, outline)
        if near:
            met = [name for name in names if contains_name(near, name.text)]
        else:
            met = [name for name in names if contains_name(about, name.text)]
            met = list(names[:1]) if opened and not met and one.role.startswith("menuitem") else met
        if names and not met:
            continue
        if not names and rivals:
            continue
        told = sum(_row_says(near, word, one.name, repeated) for word in part.words) if rivals else 0
        ranked.append((len(met) + 0.1 * told, one))
    ranked.sort(key=lambda entry: -entry[0])
    if len(ranked) > 1 and ranked[0][0] - ranked[1][0] < 0.05 and not _same_place(ranked[0][1], ranked[1][1]):
        return None
    return ranked[0][1] if ranked else None


def _row_says(near: str, word: str, control: str, repeated: Mapping[str, int]) -> bool:
    """Whether a row's own texts have a word; names of controls that every row has say nothing."""
    return any(
        has_words(piece, word) and repeated.get(plain(piece), 0) < 2 and not (control and control in piece)
        for piece in near.split(" \n ")
    )


def _alike(one: Element, other: Element) -> bool:
    return one.role == other.role and re.sub(r"\d+", "#", one.name.casefold()) == re.sub(
        r"\d+", "#", other.name.casefold()
    )


def _same_place(one: Element, other: Element) -> bool:
    """Whether two controls do the same: links to one address, or buttons of one form."""
    return bool(one.href and one.href == other.href) or bool(
        one.form and one.form == other.form and one.submits
    )


def _surroundings(one: Element, rivals: Sequence[Element], outline: Outline) -> str:
    """Return the text of the row or card a control stands in, "" where it stands outside of any."""
    row = outline.around(one, _ROWS)
    if rivals:
        return outline.names_without(one, rivals)
    return outline.names(row) if row >= 0 and not _whole_form(one, row, outline) else ""


def _whole_form(one: Element, row: int, outline: Outline) -> bool:
    """Whether the row only lays out a form or a menu, and lists no thing."""
    below = outline.nodes[row : outline.ends[row]]
    return all(not node.name or node.bid for node in below) or sum(node.role in _ROWS for node in below) > 1


# ways to a form


def opens_form(part: TaskPart, page: PageCapture, frame: Collection[str] = ()) -> FormStep | None:
    """Return the link or button that only leads to the form for this change: ``New issue``, ``Edit``.

    For an existing thing it stands on its page or in its row, and its address is not in ``frame``: those of links that
    stand on every page.
    """
    creating = is_creating(part)
    outline = outline_of(page.tree)
    scored = [
        (_leads(one, part, page, creating=creating), one)
        for one in page.elements
        if _may_press(one) and (creating or one.href not in frame)
    ]
    for score, one in sorted(scored, key=lambda entry: (-entry[0], entry[1].index))[:5]:
        if score < LEAST or assess_risk(Click(one.index), page).risk is not RiskClass.READS or one.submits:
            continue
        if not creating:
            among = [other for other_score, other in scored if other_score >= score - 0.05]
            chosen = _of_the_thing(among, part, page, outline)
            if chosen is None:
                continue
            one = chosen
        return FormStep(
            action=Click(one.index, label=one.name),
            reason=f"{_name(one)!r} may lead to the form",
            key=f"open:{plain(_name(one))}:{page.url}",
        )
    return None


def _leads(one: Element, part: TaskPart, page: PageCapture, *, creating: bool) -> float:
    said = meaning(_name(one)) or (("+",) if _name(one).strip() == "+" else ())
    if (
        not said
        or len(said) > MOST_WORDS
        or (one.href and one.href.partition("#")[0] == page.url.partition("#")[0])
    ):
        return 0.0
    asked = (*words(part.verb), *part.words)
    rest = [word for word in said if word not in _NEW | _EDIT and word != "+"]
    known = [max((word_fit(word, other) for other in asked), default=0.0) for word in rest]
    share = sum(known) / len(known) if known else 0.0
    makes = bool({*_NEW, "+"} & set(said)) or one.href.rstrip("/").rpartition("/")[2] in (
        "new",
        "add",
        "create",
    )
    if creating and makes:
        if rest or len(words(_name(one))) > len(said):
            return 0.5 + 0.5 * share if share >= LEAST else 0.0
        about = any(says(text, word) for text in (page.title, *page.headings[:2]) for word in part.words)
        return 0.6 if about or "haspopup" in one.states else 0.0
    verb = any(word_fit(said[0], word) == 1.0 for word in words(part.verb))
    if creating:
        return 0.6 + 0.2 * share if verb else 0.0
    if verb and said[0] not in _EDIT:
        return 0.9 - 0.1 * (len(rest) - 1)
    if _EDIT & set(said):
        return 0.7 + 0.2 * share if not rest or share >= LEAST or {"this", "page"} & set(said) else 0.0
    return 0.55 * (share == 1.0 and one.role in ("link", "tab") and len(rest) <= 2)


def confirm_step(part: TaskPart, page: PageCapture, done: Set[str]) -> FormStep | None:
    """Return the press that confirms what was pressed before (``Yes, delete``), in a dialog or on a page that asks."""
    if not any(key.startswith(("send:", "press:")) for key in done):
        return None
    inside = [
        one
        for one in page.elements
        if any(mark.startswith(("dialog", "alertdialog")) for mark in one.landmarks)
    ]
    asks = bool(_UNSURE.search(" ".join((page.title, *page.headings, page.text[:3000]))))
    among = inside or (
        [one for one in page.elements if one.submits and one.form.startswith("post")] if asks else []
    )
    best, best_score = None, 0.0
    for one in among:
        if not _may_press(one) or (one.href and not asks):
            continue
        score = sending_score(words(_name(one)), part) + 0.4 * one.submits
        if score > best_score:
            best, best_score = one, score
    if best is None or (key := f"confirm:{plain(_name(best))}:{page.url}") in done:
        return None
    return FormStep(
        action=Click(best.index, label=best.name),
        reason=f"{_name(best)!r} confirms what was pressed",
        key=key,
    )
