"""The searchable text of a state: title, headings, controls and address, as short separate fields.

Each field is encoded separately.  So a menu on every page is encoded, stored and compared only once, however many
states contain it, and a word is matched within the thing it names ("Orders" the link, "Orders" the heading) instead
of within the whole page's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

from app.engine.api.graph_api import ROLES
from app.engine.core.page_state import PageState

MAX_CONTROLS = 400
"""Maximum controls indexed for one state; the first rows of a long list represent it."""

MAX_LENGTH = 160
"""Maximum characters of a field; a longer control name is a whole card's text."""

_SPACE = re.compile(r"\s+")
_BETWEEN = re.compile(r"[\W_]+")


class FieldKind(StrEnum):
    """The part of a state a text comes from."""

    TITLE = "title"
    HEADING = "heading"
    CONTROL = "control"
    ADDRESS = "address"


@dataclass(frozen=True, slots=True)
class StateField:
    """One short text of a state."""

    kind: FieldKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StateText:
    """A node of the graph as search reads it.

    Attributes:
        node: id of the node.
        controls: with their roles in front (``button Save``), as ``PageState.controls`` has them.
        address: words of its address (``dashboard orders``).
        text: visible text of its first pages.
        template: the kind of page (``PageKeys.template``).
    """

    node: str
    template: str = ""
    title: str = ""
    headings: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    address: str = ""
    text: str = ""


def state_text(node: str, pages: Sequence[PageState], texts: Iterable[str] = ()) -> StateText:
    """Return the searchable text of a node; for several page states the texts of all of them, each once.

    ``texts`` are the visible texts of its pages, which ``PageTextIndex`` reads.  The first page's title and address
    come first; a node of hundreds of products keeps a bounded number of controls.
    """
    return StateText(
        node=node,
        title=" · ".join(_once(page.title for page in pages)[:3]),
        headings=_once(heading for page in pages for heading in page.headings)[:MAX_CONTROLS],
        controls=_once(control for page in pages for control in page.controls)[:MAX_CONTROLS],
        template=pages[0].keys.template if pages else "",
        address=" ".join(_once(address_words(page.keys.url) for page in pages)[:3]),
        text="\n".join(dict.fromkeys(texts)),
    )


@dataclass(frozen=True, slots=True)
class StateFields:
    """The texts of a state, each once, and its template."""

    template: str
    fields: tuple[StateField, ...]


def fields(state: StateText) -> StateFields:
    """Return the texts of a state, each once: title, headings, address, controls."""
    found = dict.fromkeys(
        StateField(kind, short)
        for kind, texts in (
            (FieldKind.TITLE, (state.title,)),
            (FieldKind.HEADING, state.headings),
            (FieldKind.ADDRESS, (state.address,)),
            (FieldKind.CONTROL, map(_name, state.controls)),
        )
        for text in texts
        if (short := _short(text))
    )
    return StateFields(state.template or state.node, tuple(found))


def address_words(url: str) -> str:
    """The words of an address's path and query (``/catalogue/oak-stool_12/`` gives ``catalogue oak stool 12``)."""
    return _BETWEEN.sub(" ", unquote(url.partition("://")[2] or url)).strip()


def _name(control: str) -> str:
    """A control's name without its role, which nobody searches for."""
    role, _, name = control.partition(" ")
    return name if role in ROLES else control


def _short(text: str) -> str:
    return _SPACE.sub(" ", text).strip()[:MAX_LENGTH]


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(short for text in texts if (short := _SPACE.sub(" ", text).strip())))
