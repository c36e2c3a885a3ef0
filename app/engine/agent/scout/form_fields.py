"""Fields of a page by their form: labels, kinds, options, what each holds.  Pure.

Joined with ``app.engine.agent.scout.page_context`` by ``fields_of``: a look at the page once for all rules.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.engine.agent.scout.field_values import same_value
from app.engine.agent.scout.likeness import meaning, plain
from app.engine.agent.write_gate.vocabulary import word_set
from app.engine.core.ax_tree import AxNode, parse_tree
from app.engine.core.page_state import Element, PageCapture

_ROLES = frozenset(
    {"textbox", "searchbox", "combobox", "listbox", "spinbutton", "checkbox", "radio", "switch"}
)
_BOXES = frozenset({"checkbox", "switch"})
_TYPES = {
    "date": "date", "datetime-local": "date", "month": "date", "week": "date", "time": "time", "number": "number",
    "range": "number", "email": "mail",
}  # fmt: skip
_DATED = frozenset({"date", "day", "deadline", "when", "datepicker", "expires", "expiry"})
_FORMAT = re.compile(r"(?:y{2,4}|d{1,2}|m{1,2})[./-]", re.IGNORECASE)
_SUGGESTING = re.compile(r"autocomplete|typeahead|tagify|tokenfield|token-input|tagsinput", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
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


@dataclass(frozen=True, slots=True)
class Outline:
    """The tree's nodes, each element's place among them, each node's parent, and the place behind all below it."""

    nodes: tuple[AxNode, ...]
    place: dict[int, int]
    parents: tuple[int, ...]
    ends: tuple[int, ...]

    def around(self, element: Element, roles: frozenset[str]) -> int:
        """Return the nearest node of one of these roles around an element; -1 without one."""
        at = self.parents[self.place[element.index]] if element.index in self.place else -1
        while at >= 0 and self.nodes[at].role not in roles:
            at = self.parents[at]
        return at

    def text(self, first: int, last: int = -1) -> str:
        """Return the names of the nodes from one place to before another, of all below the first by default."""
        last = self.ends[first] if last < 0 else last
        return " \n ".join(node.name for node in self.nodes[first:last] if node.name)

    def around_without(self, element: Element, others: Sequence[Element]) -> str:
        """Return the text of the largest part of the page around an element in which none of the others stands."""
        at = self.place.get(element.index, -1)
        if at < 0:
            return ""
        rivals = sorted(self.place[one.index] for one in others if one.index in self.place)
        top = at
        while (above := self.parents[top]) >= 0 and bisect_left(rivals, above) == bisect_left(
            rivals, self.ends[above]
        ):
            top = above
        first = top
        if (
            top == at
        ):  # texts before a control, up to the next one like it, are its own: ``<h3>Foo</h3><button>``
            known = set(rivals)
            while (
                first > 0 and self.nodes[first - 1].depth >= self.nodes[at].depth and first - 1 not in known
            ):
                first -= 1
        return self.text(first, self.ends[top])


@lru_cache(maxsize=4)
def outline_of(tree: str) -> Outline:
    """Return the nodes of a tree with their parents; kept for the pages in use."""
    nodes = tuple(parse_tree(tree))
    place: dict[int, int] = {}
    parents: list[int] = []
    ends = [len(nodes)] * len(nodes)
    above: list[int] = []
    for at, node in enumerate(nodes):
        while above and nodes[above[-1]].depth >= node.depth:
            ends[above.pop()] = at
        parents.append(above[-1] if above else -1)
        above.append(at)
        if node.bid.isdigit():
            place.setdefault(int(node.bid), at)
    return Outline(nodes, place, tuple(parents), tuple(ends))


@lru_cache(maxsize=4)
def _fields(elements: tuple[Element, ...], tree: str) -> tuple[FormField, ...]:
    outline = outline_of(tree)
    forms = form_keys(elements)
    found: list[FormField] = []
    radios: dict[tuple[str, str], list[Element]] = {}
    for one in elements:
        if not is_fillable(one):
            continue
        form = forms[one.index]
        if one.role == "radio":
            name = dict(one.attributes).get("name", "") or str(outline.around(one, _GROUPS))
            radios.setdefault((form, name), []).append(one)
        else:
            found.append(_field(one, form, outline))
    for (form, name), members in radios.items():
        legend = outline.around(members[0], _GROUPS)
        labels = (
            outline.nodes[legend].name if legend >= 0 else "",
            _near(members[0]),
            "" if name.isdigit() else name,
        )
        chosen = tuple(_own(one) for one in members if "checked" in one.states)
        found.append(
            FormField(
                element=members[0], labels=_told(*labels), kind="radio", form=form, held=chosen,
                options=tuple(_own(one) for one in members), members=tuple(members),
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda one: one.element.index))


_GROUPS = frozenset({"group", "radiogroup"})


def fields_of(page: PageCapture) -> tuple[FormField, ...]:
    """Return the fields a person could fill in, in document order; those that take files are left out."""
    return _fields(page.elements, page.tree)


def is_fillable(one: Element) -> bool:
    """Whether an element takes a value: visible, and neither disabled nor read-only."""
    if one.role not in _ROLES or not one.visible or one.in_advert:
        return False
    return one.type not in ("file", "submit", "hidden") and not {"disabled", "readonly"} & set(one.states)


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
        if one.form:
            keys[one.index] = f"{one.form} {runs[one.form]}" if runs[one.form] > 1 else one.form
            continue
        dialog = next((mark for mark in one.landmarks if mark.startswith(("dialog", "alertdialog"))), "")
        if one.frame and last and one.role in _ROLES:
            keys[one.index] = f"{last} {runs[last]}" if runs[last] > 1 else last
        else:
            keys[one.index] = dialog
    return keys


def is_search(field: FormField) -> bool:
    """Whether a field only asks for things: in a form sent by GET, or a search or filter field by its own words."""
    one = field.element
    if field.form.startswith("get:") or one.role == "searchbox" or one.type == "search":
        return True
    if any(mark.startswith("search") for mark in one.landmarks):
        return True
    return not field.form and bool(word_set("searches") & set(meaning(field.label)[:2]))


def _field(one: Element, form: str, outline: Outline) -> FormField:
    attributes = dict(one.attributes)
    name = re.sub(r"[\[\]._-]+", " ", attributes.get("name", "") or attributes.get("id", ""))
    labels = _told(_own(one), _near(one), attributes.get("placeholder", ""), name)
    kind = _kind(one, labels, attributes)
    held = (one.value,) if one.value else ()
    if kind == "box":
        held = ("checked",) if "checked" in one.states else ()
    elif one.options or kind == "multi":
        held = _chosen(one, outline) or held
    if kind == "list" and not held and one.name and not one.label:
        held = (one.text or one.name,)
    return FormField(element=one, labels=labels, kind=kind, form=form, held=held, options=one.options)


def _own(one: Element) -> str:
    """Return an element's label, or its name unless that is only its value."""
    if one.label and one.label != one.value:
        return one.label
    return one.name if one.name and plain(one.name) != plain(one.value) else ""


def _near(one: Element) -> str:
    return dict(one.attributes).get("near", "")


def _told(*texts: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.strip(" :*\n")[:120] for text in texts if text.strip(" :*\n")))


def _chosen(one: Element, outline: Outline) -> tuple[str, ...]:
    at = outline.place.get(one.index, -1)
    if at < 0:
        return ()
    below = outline.nodes[at + 1 : outline.ends[at]]
    return tuple(
        node.name for node in below if node.role == "option" and "selected" in node.properties and node.name
    )


def _kind(one: Element, labels: tuple[str, ...], attributes: dict[str, str]) -> str:
    if one.role in _BOXES:
        return "box"
    if one.role == "listbox" or (one.tag == "select" and "multiselectable" in one.states):
        return "multi"
    if one.tag == "select" or one.options:
        return "select"
    told = " ".join(value for key, value in attributes.items() if key in ("class", "autocomplete", "id"))
    if one.role == "combobox":
        return "token" if one.tag in ("input", "textarea") else "list"
    if one.type in _TYPES:
        return _TYPES[one.type]
    if one.role == "spinbutton":
        return "number"
    if one.tag not in ("input", "") or "multiline" in one.states:
        return "long"
    if _SUGGESTING.search(told):
        return "token"
    dated = _DATED & {word for label in labels for word in meaning(label)} or "datepicker" in told
    return "date" if dated or _FORMAT.search(attributes.get("placeholder", "")) else "text"
