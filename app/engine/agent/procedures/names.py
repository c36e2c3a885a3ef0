"""Names of controls, and how well one fits the name that a tip says.  Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from app.engine.core.page_state import Element

LEAST_SHARED = 0.75
"""Share of the step's words that a control's name must contain."""


def names_of(element: Element) -> tuple[str, ...]:
    """Every name a control goes by, normalised."""
    return tuple(dict.fromkeys((*own_names(element), *lent_names(element))))


def own_names(element: Element) -> tuple[str, ...]:
    """The names a control has itself, normalised."""
    attributes = dict(element.attributes)
    given = (
        element.name,
        element.label,
        element.text if len(element.text) <= 120 else "",
        attributes.get("placeholder", ""),
        attributes.get("title", ""),
        element.value if element.type in ("submit", "button") else "",
    )
    return tuple(dict.fromkeys(name for one in given if (name := plain(one))))


def lent_names(element: Element) -> tuple[str, ...]:
    """The words beside a nameless control, and its developers' name for it, normalised."""
    attributes = dict(element.attributes)
    return tuple(name for key in ("near", "hint") if (name := plain(attributes.get(key, ""))))


@lru_cache(maxsize=16_384)
def plain(text: str) -> str:
    """A name without case, surplus blanks, icons and closing punctuation."""
    text = re.sub(r"[\ue000-\uf8ff]", " ", text.casefold())
    return re.sub(r"\s+", " ", text).strip(" .:…*›»>▾▼\u200b")


def name_fit(wanted: str, name: str) -> float:
    """How well a name fits the wanted one, both plain, in [0, 1]: 1 is the same, 0 below ``LEAST_SHARED`` words."""
    if wanted == name:
        return 1.0
    if len(wanted) >= 3 and (name.startswith(f"{wanted} ") or name.endswith(f" {wanted}")):
        return 0.9
    words, there = set(_words(wanted)), set(_words(name))
    if not words or not there:
        return 0.0
    shared = len(words & there) / len(words)
    spare = len(there - words) / max(len(there), 1)
    return round(0.85 * shared - 0.3 * spare, 3) if shared >= LEAST_SHARED and spare <= 0.6 else 0.0


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)
