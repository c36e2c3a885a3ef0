"""Relations of a page, read from its accessibility tree: tables, cards, links, labels with values.  Pure.

A table with a head gives rows by column; a table of heads and values, a list of definitions, a form and
``Label: value`` give labelled values; things that repeat in one shape (list items, articles, a grid of boxes) give
cards, whose columns are named by the words beside each value.  A table that only lays out a page is walked like any
other part of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from app.engine.agent.scout.dates import is_date
from app.engine.agent.scout.likeness import says
from app.engine.agent.scout.relation_types import (
    Control,
    Labelled,
    PageRelations,
    Relation,
    RelationReading,
    Row,
)
from app.engine.agent.scout.row_reading import read_cards, read_table
from app.engine.agent.scout.tree_texts import FIELDS, Outline, bare_label, is_label, outline_of, split_label
from app.engine.core.ax_tree import AxNode
from app.engine.core.text import word_set

__all__ = [
    "Control",
    "Labelled",
    "PageRelations",
    "Relation",
    "Row",
    "merge_relations",
    "read_relations",
    "stated_total",
]

_MENUS = word_set("navigation contentinfo menu menubar tablist toolbar")
_TABLES = word_set("table grid treegrid layouttable")
_TERMS = word_set("term descriptionlistterm")
_DEFINITIONS = word_set("definition descriptionlistdetail")
_LABELS = word_set("label labeltext legend")
_INLINE = word_set("statictext link strong emphasis time code abbr mark status")
_BLOCKS = word_set("paragraph blockquote pre listitem definition note")
_COUNTS = re.compile(r"\d.{0,30}\b(?:of|from|out of|/)\b|\d\s+[a-z]|\(\d", re.IGNORECASE)
_COUNTED = re.compile(r"(?<!of )(?<![\w.,])(\d[\d,.]{0,9})\s+([^\W\d]\w{2,30})")
_TOLD = (
    re.compile(
        r"\b\d[\d,.]*\s*(?:-|–|to|\.\.+|through)\s*\d[\d,.]*\s+(?:of|out of|from)\s+(?:about\s+)?(\d[\d,.]*)",
        re.I,
    ),
    re.compile(
        r"\b(\d[\d,.]*)\s+(?:\w+\s+)?(?:results?|items?|records?|entries|matches|hits|rows|found|total|in total)\b",
        re.I,
    ),
    re.compile(r"\b(?:total|results?|found|count|items?)\s*[:=]?\s*\(?(\d[\d,.]*)\b", re.IGNORECASE),
)
_BEFORE_SIGN, _LEADING_SIGNS = re.compile(r"\s+([,.;:!?)])"), re.compile(r"^[\W_]+")
_BY = re.compile(r"\bby$", re.IGNORECASE)
_PREPOSITIONS = re.compile(r"^(?:and|on|at|,|\W)+\s*|\s+(?:on|at|in|since|the)$|[\s:,·|–-]+$", re.IGNORECASE)
MOST_NODES = 12_000
"""Nodes of a page that are read."""
MOST_SAID = 120
"""Characters of a text that can be the value of the heading above it."""


@lru_cache(maxsize=16)
def read_relations(tree: str) -> PageRelations:
    """Return what a page lists; the tree is in the form ``app.engine.core.ax_tree`` reads."""
    told = RelationReading(outline_of(tree))
    _walk(told, 0, min(len(told.tree.nodes), MOST_NODES))
    return PageRelations(
        headings=tuple(told.headings), relations=tuple(told.relations), labelled=tuple(told.labelled),
        said=tuple(told.said), trail=tuple(told.trail), labels=tuple(told.labels), counts=tuple(told.counts[:200]),
    )  # fmt: skip


def merge_relations(pages: Sequence[PageRelations]) -> PageRelations:
    """Return several pages of one list as one page: rows of the same columns together, each row once.

    Headings, labelled values and texts are those of the last page.
    """
    if not pages:
        return PageRelations()
    merged: dict[tuple[object, ...], Relation] = {}
    for page in pages:
        for relation in page.relations:
            key = (relation.kind, relation.columns if relation.kind == "table" else relation.title)
            known = merged.get(key, replace(relation, rows=()))
            seen = {row.cells for row in known.rows}  # rows of one page may be alike
            rows = (*known.rows, *(row for row in relation.rows if row.cells not in seen))
            merged[key] = replace(
                relation,
                rows=rows,
                columns=tuple(dict.fromkeys((*known.columns, *relation.columns))),
            )
    return replace(pages[-1], relations=tuple(merged.values()))


def stated_total(relations: PageRelations) -> int | None:
    """Return the number of rows that a page speaks of: ``1-20 of 85``, ``85 results``, ``146 orders`` under Orders.

    ``None`` where it speaks of none.
    """
    texts = [text[:200] for text in relations.counts]
    for pattern in _TOLD:
        for found in (pattern.search(text) for text in texts):
            if found and found[1].strip(",."):
                return int(re.sub(r"[,.]", "", found[1]))
    about = " ".join((*relations.headings[:2], *relations.trail[-1:]))
    counted = (found for text in texts for found in _COUNTED.finditer(text) if says(about, found[2]))
    return next((int(re.sub(r"[,.]", "", found[1])) for found in counted), None)


def _walk(reading: RelationReading, start: int, end: int) -> None:
    tree, at = reading.tree, start
    while at < end:
        role, below = tree.nodes[at].role.casefold(), tree.ends[at]
        if role in _MENUS:
            _menu(reading, at)
        elif role in _TABLES:
            for inner, inner_end in read_table(reading, at):
                _walk(reading, inner, inner_end)
        elif (skipped := read_cards(reading, at)) > at:
            below = skipped
        elif role in _TERMS or role in _DEFINITIONS:
            _define(reading, role, tree.text(at))
        elif role != "option":
            below = _note(reading, at, role)
        at = below


def _menu(reading: RelationReading, at: int) -> None:
    tree = reading.tree
    texts = [tree.nodes[one].name for one in tree.pieces(at + 1, tree.ends[at])]
    if "breadcrumb" in tree.nodes[at].name.casefold():
        reading.trail = [bare for text in texts if (bare := text.strip("›»>/|→ "))]
    reading.counts += [text for text in (*texts, " ".join(texts[:40])) if _COUNTS.search(text[:120])]


def _define(reading: RelationReading, role: str, text: str) -> None:
    if role in _TERMS:
        reading.label = bare_label(text)
        reading.about = ""
    elif reading.label and text:
        reading.about = f"{reading.about}, {text}" if reading.about else text
        if reading.labelled and reading.labelled[-1].label == reading.label and reading.about != text:
            reading.labelled.pop()
        reading.tell(reading.label, reading.about)


def _note(reading: RelationReading, at: int, role: str) -> int:
    """Take one node in; where to go on."""
    tree, node, end = reading.tree, reading.tree.nodes[at], reading.tree.ends[at]
    if role == "heading":
        reading.label = reading.before = ""
        if text := tree.text(at):
            reading.headings.append(text)
            reading.title, reading.untold = text, True
    elif role in _LABELS:
        reading.label, reading.before = bare_label(tree.text(at)), ""
        for one in range(at + 1, end):
            if tree.nodes[one].role in FIELDS:
                _field(reading, one)
    elif role in FIELDS:
        _field(reading, at)
    elif role in _BLOCKS and _is_prose(tree, at):
        _prose(reading, [tree.nodes[one] for one in tree.pieces(at + 1, end)])
    elif role in _INLINE and node.name:
        _text(reading, role, node.name)
    else:
        return at + 1
    return end


def _field(reading: RelationReading, at: int) -> None:
    node, value = reading.tree.nodes[at], reading.tree.value(at)
    number = int(node.bid) if node.bid.isdecimal() else None
    label = node.name
    if not node.name or node.name == value:
        label = reading.label or (bare_label(reading.before) if is_label(reading.before) else "")
        if number is not None and label:
            reading.labels.append((number, label))
    if node.role != "radio":
        reading.tell(bare_label(label), "" if node.role == "searchbox" else value, number)
    elif value == "yes":
        reading.tell(reading.title, node.name, number)
    if node.role == "combobox" or node.name:
        reading.label = ""
    reading.untold = False


def _is_prose(tree: Outline, at: int) -> bool:
    """Whether a block holds only text: a field, table or list in it is read by itself."""
    return all(
        one.role.casefold() in _INLINE
        or one.role in ("paragraph", "image", "ListMarker", "superscript", "subscript")
        for one in tree.nodes[at + 1 : tree.ends[at]]
    )


def _prose(reading: RelationReading, pieces: Sequence[AxNode]) -> None:
    """A paragraph: one text, and the labels with values in it."""
    texts = [" ".join(one.name.split()) for one in pieces if one.role != "image" and one.name]
    if len(texts) < 2:
        for text in texts:
            _text(reading, pieces[0].role.casefold(), text)
        return
    known = len(reading.labelled)
    reading.before = ""
    for text in texts:
        _inline(reading, text)
    first = bare_label(texts[0])
    if len(reading.labelled) == known and len(texts) == 2 and is_label(first) and len(first.split()) <= 3:
        reading.tell(first, texts[1].lstrip(": "))
    _say(reading, _BEFORE_SIGN.sub(r"\1", " ".join(texts)))


def _text(reading: RelationReading, role: str, text: str) -> None:
    """One text that stands by itself."""
    if role != "link" or reading.before.rstrip().endswith(":") or reading.label:
        _inline(reading, text)
    else:
        reading.before = text
    if role != "link":
        _say(reading, text)


def _inline(reading: RelationReading, text: str) -> None:
    """A text as the value of the label before it, or as both."""
    before, reading.before = reading.before, text
    label, value = split_label(text)
    asked = bare_label(_LEADING_SIGNS.sub("", before))
    if reading.label:
        reading.tell(reading.label, text.lstrip(": "))
        reading.label = ""
    elif value:
        reading.tell(label, value)
    elif is_label(asked) and before.endswith(":") != text.startswith(":") and not text.endswith(":"):
        reading.tell(asked, text.lstrip(": "))
    else:
        _by_or_date(reading, before, text)


def _by_or_date(reading: RelationReading, before: str, text: str) -> None:
    """``Created on DATE by NAME``: the word before is the label, and stays it for the name behind."""
    lead = _PREPOSITIONS.sub("", _PREPOSITIONS.sub("", before)).strip(" ,.;·|")
    if _BY.search(before.strip()) and len(text.split()) <= 5:
        label = before.strip(" ,.;·|") if len(before.split()) > 1 else f"{reading.about} by".strip()
        reading.tell(label, text)
    elif is_date(text) and is_label(lead) and len(lead.split()) <= 3:
        reading.about = lead
        reading.tell(lead, text)


def _say(reading: RelationReading, text: str) -> None:
    if reading.said and re.fullmatch(r"\(?\d[\d,.]*\)?", reading.said[-1]):
        reading.counts.append(f"{reading.said[-1]} {text}")
    reading.said.append(text)
    if _COUNTS.search(text[:120]):
        reading.counts.append(text)
    if reading.untold and len(text) <= MOST_SAID:
        reading.tell(reading.title, text)
    reading.untold = False
