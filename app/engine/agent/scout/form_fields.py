"""Fields of a page by their form: labels, kinds, options, what each holds.  Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.engine.agent.scout.field_values import same_value
from app.engine.agent.scout.likeness import meaning, plain
from app.engine.agent.scout.relations import read_relations
from app.engine.agent.scout.tree_texts import FIELDS, Outline, outline_of
from app.engine.agent.write_gate import vocabulary
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.text import word_set

_TYPES = {
    "date": "date", "datetime-local": "date", "month": "date", "week": "date", "time": "time", "number": "number",
    "range": "number", "email": "mail",
}  # fmt: skip
_DATED = word_set("date day deadline when datepicker expires expiry")
_DATE_FORMAT = re.compile(r"(?:y{2,4}|d{1,2}|m{1,2})[./-]|\d{4}-\d\d-\d\d", re.IGNORECASE)
_JOINING = re.compile(r"[\[\]._@:-]+")
_CLOCK = re.compile(r"\d\d:\d\d")
_SUGGESTING = re.compile(r"autocomplete|typeahead|tagify|tokenfield|token-input|tagsinput", re.IGNORECASE)
_GROUPS = word_set("group radiogroup")
_DIALOGS = ("dialog", "alertdialog")


@dataclass(frozen=True, slots=True, kw_only=True)
class FillableField:
    """One field of a form; radio buttons of one name are one field.

    Attributes:
        labels: its label first, then further names (name attribute, placeholder), in the page's words.
        kind: ``text``, ``long`` (several lines, rich text), ``date``, ``time``, ``number``, ``mail``, ``select``,
            ``multi``, ``list`` (a list made by the page), ``token`` (typed, then picked), ``radio`` or ``box``.
        form: the key of its form; fields with the same key are sent together.
        held: what it holds; for ``multi`` each option chosen.
        members: the buttons of a ``radio`` field, in the order of its options.
    """

    element: Element
    labels: tuple[str, ...]
    kind: str
    form: str
    held: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    members: tuple[Element, ...] = ()

    @property
    def label(self) -> str:
        """Its first name."""
        return self.labels[0] if self.labels else ""

    def holds(self, value: str) -> bool:
        """Whether it holds a value, in whichever form."""
        return any(same_value(value, one) for one in self.held)


def fields_of(page: PageCapture) -> tuple[FillableField, ...]:
    """Return the fields a person could fill in, in document order; those that take files are left out."""
    return _fields(_Look(page))


class _Look:
    """A capture as a key of a cache by identity: to hash all of its elements costs more than to look a field up."""

    def __init__(self, page: PageCapture) -> None:
        self.page = page

    def __hash__(self) -> int:
        return id(self.page)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Look) and other.page is self.page


@lru_cache(maxsize=4)
def _fields(look: _Look) -> tuple[FillableField, ...]:
    elements, tree = look.page.elements, look.page.tree
    outline, forms, beside = outline_of(tree), form_keys(elements), dict(read_relations(tree).labels)
    found: list[FillableField] = []
    radios: dict[tuple[str, str], list[Element]] = {}
    for one in elements:
        off = {"disabled", "readonly"} & set(one.states) or one.type in ("file", "submit", "hidden")
        if one.role not in FIELDS or one.role == "slider" or not one.visible or one.in_advert or off:
            continue
        if one.role == "radio":
            name = dict(one.attributes).get("name", "") or str(outline.around(one, _GROUPS))
            radios.setdefault((forms[one.index], name), []).append(one)
        else:
            found.append(_field(one, forms[one.index], beside.get(one.index, ""), outline))
    found += [_radio_field(form, name, members, outline) for (form, name), members in radios.items()]
    return tuple(sorted(found, key=lambda one: one.element.index))


def _radio_field(form: str, name: str, members: Sequence[Element], outline: Outline) -> FillableField:
    legend = outline.around(members[0], _GROUPS)
    labels = _labels_of(
        outline.nodes[legend].name if legend >= 0 else "", dict(members[0].attributes).get("near", ""), name
    )
    chosen = tuple(_own(one) for one in members if "checked" in one.states)
    return FillableField(
        element=members[0], labels=labels, kind="radio", form=form, held=chosen,
        options=tuple(_own(one) for one in members), members=tuple(members),
    )  # fmt: skip


def form_keys(elements: tuple[Element, ...]) -> dict[int, str]:
    """Return the form of each element by its index.

    Two forms with the same address are told apart by what stands between them; an editor in a frame belongs to the form
    before it; fields outside of any form belong to their dialog, else to the page.
    """
    keys: dict[int, str] = {}
    runs: dict[str, int] = {}
    last = ""
    for one in elements:
        if one.form and one.form != last:
            runs[one.form] = runs.get(one.form, 0) + 1
            last = one.form
        if one.form or (one.frame and last and one.role in FIELDS):
            keys[one.index] = f"{last} {runs[last]}" if runs[last] > 1 else last
        else:
            keys[one.index] = next((mark for mark in one.landmarks if mark.startswith(_DIALOGS)), "")
    return keys


def is_search(field: FillableField) -> bool:
    """Whether a field only asks for things: in a form sent by GET, or a search or filter field by its own words."""
    one = field.element
    marked = any(mark.startswith("search") for mark in one.landmarks)
    if field.form.startswith("get:") or one.role == "searchbox" or one.type == "search" or marked:
        return True
    return not field.form and bool(vocabulary.word_set("searches") & set(meaning(field.label)[:2]))


def _field(one: Element, form: str, told: str, outline: Outline) -> FillableField:
    attributes = dict(one.attributes)
    name = _JOINING.sub(" ", attributes.get("name", "") or attributes.get("id", ""))
    own, near = _own(one), attributes.get("near", "")
    made = one.role == "combobox" and one.tag not in ("input", "textarea", "select") and not one.options
    # A list made by the page is often called only by what it shows.
    labels = _labels_of(
        told or near or own.partition("×")[0] if made else own or told,
        near,
        attributes.get("placeholder", ""),
        name,
    )
    kind = _kind(one, labels, attributes)
    held = (one.value,) if one.value else ()
    if kind == "box":
        held = ("checked",) if "checked" in one.states else ()
    elif one.options or kind == "multi":
        held = outline.chosen(outline.place.get(one.index, -1)) or held
    elif kind == "list" and not held and own not in labels:
        held = (own.strip(" ×"),)
    return FillableField(element=one, labels=labels, kind=kind, form=form, held=held, options=one.options)


def _own(one: Element) -> str:
    """Return an element's label, or its name unless that is only its value."""
    if one.label and one.label != one.value:
        return one.label
    return one.name if one.name and plain(one.name) != plain(one.value) else ""


@lru_cache(maxsize=4096)
def _labels_of(*texts: str) -> tuple[str, ...]:
    bare = [text.strip(" :*\n")[:120] for text in texts if text]
    return tuple(dict.fromkeys([text for text in bare if any(map(str.isalpha, text))]))


def _kind(one: Element, labels: tuple[str, ...], attributes: dict[str, str]) -> str:
    marks = " ".join(value for key, value in attributes.items() if key in ("class", "autocomplete", "id"))
    typed = one.tag in ("input", "textarea")
    roles = {"checkbox": "box", "switch": "box", "listbox": "multi", "spinbutton": "number"}
    if one.role in roles:
        return roles[one.role]
    if one.tag == "select" or one.options:
        return "select"
    if one.role == "combobox":
        return "token" if typed else "list"
    if one.type in _TYPES:
        return _TYPES[one.type]
    if one.tag not in ("input", "") or "multiline" in one.states:
        return "long"
    if _SUGGESTING.search(marks):
        return "token"
    like = attributes.get("placeholder", "")
    dated = _DATED & {word for label in labels for word in meaning(label)} or "datepicker" in marks
    return "time" if _CLOCK.search(like) else "date" if dated or _DATE_FORMAT.search(like) else "text"
