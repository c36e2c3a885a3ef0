"""How well a model's label fits an element's name, and which elements expand something.  Pure.

The label factor and the chevron indicators of SuperBrowser's snapper (appendix E.3, equations 10 to 12).
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

from app.engine.core.page_state import Element, Rect

ARROW_GLYPHS = frozenset("▼▶◀▲▽▷◁△▾▸◂▴▿▹◃▵⏷⏵⏴⏶⌄⌃⋮")
"""The paper's four arrows, their hollow and small forms, and the glyphs for "more"."""
EXPAND_WORDS = frozenset({"expand", "collapse", "toggle", "more"})
ROW_WIDTH, ROW_HEIGHT = 60.0, 24.0
"""A box of at least this size, in CSS pixels, is a row that may hold a label and a chevron."""
MIN_LABEL_LETTERS = 3
"""Minimum letters of a label or a word that counts."""
SHARED_WORD_SCORE = 0.7
"""Score of a shared word of three letters for an element that shows a value (section 6.1)."""
OTHER_NAME_FACTOR = 0.5
"""Factor left to a plain element with another name."""

_WORDS = re.compile(r"[^\W_]+")
_MONTH = re.compile(
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?"
)
_CHOICES = frozenset({"option", "menuitem", "menuitemcheckbox", "menuitemradio", "treeitem"})
_HOLDERS = frozenset({"combobox", "spinbutton", "slider", "textbox", "searchbox", "listbox"})
_ARROW_ICON = re.compile(r"chevron|caret|(?:angle|arrow|triangle)[-_ ]?(?:down|right|left|up)", re.IGNORECASE)


@lru_cache(maxsize=8192)
def words_of(text: str) -> tuple[str, ...]:
    """Return the words in lower case, without punctuation."""
    return tuple(_WORDS.findall(text.casefold()))


def names_expander(label: str) -> bool:
    """Whether a label asks for an expander: it has an arrow, or says expand, collapse, toggle or more."""
    return bool(ARROW_GLYPHS.intersection(label)) or bool(EXPAND_WORDS.intersection(words_of(label)))


def expander_indicators(element: Element) -> int:
    """Count the signs that an element expands something, 0 to 4 (equation 11)."""
    told = dict(element.attributes)
    aria = told.get("aria-label", "") or told.get("title", "") or element.name
    shown = f"{element.name}{element.text}"
    return (
        any(state in ("expanded", "collapsed") for state in element.states)
        + ("haspopup" in element.states)
        + bool(ARROW_GLYPHS.intersection(shown) or _ARROW_ICON.search(told.get("icon", "")))
        + bool(EXPAND_WORDS.intersection(words_of(aria)))
    )


def is_row(box: Rect) -> bool:
    """Whether a box may hold a label and a chevron."""
    return box[2] >= ROW_WIDTH and box[3] >= ROW_HEIGHT


def chevron_factor(element: Element, box: Rect) -> float:
    """Return 1 for an element without signs and outside of rows, up to 3 with every sign (equation 12)."""
    count = expander_indicators(element)
    return 1 + 2 * math.tanh(count / 2) if count and is_row(box) else 1.0


def label_factor(element: Element, label: str) -> float:
    """Return how well a label fits an element, 0 to 1, each kind of widget by its own rule (equation 10); 1
    without a label.
    """
    wanted = words_of(label)
    if not wanted:
        return 1.0
    shown = words_of(f"{element.text or element.name}")
    told = {word for name in _names(element) for word in words_of(name)}
    if _is_day(element):
        return float(set(wanted) <= told)
    if element.role in _CHOICES:
        return float(_within(wanted, words_of(element.name)) or _within(wanted, shown))
    if _holds_value(element, told):
        both = set(wanted) | told
        jaccard = len(set(wanted) & told) / len(both) if both else 0.0
        common = any(len(word) >= MIN_LABEL_LETTERS for word in set(wanted) & told)
        return max(jaccard, SHARED_WORD_SCORE if common else 0.0)
    return OTHER_NAME_FACTOR + (1 - OTHER_NAME_FACTOR) * label_fit(element, label)


def label_fit(element: Element, label: str) -> bool:
    """Whether the label and one of the element's names are about the same: equal, or one a part of the other."""
    wanted = words_of(label)
    for name in _names(element):
        words = words_of(name)
        if words and (words == wanted or _within(wanted, words) or _within(words, wanted)):
            return True
    return False


def label_matches(element: Element, label: str) -> bool:
    """Whether the element at the middle of a box fits the label, so that no other candidate needs to be weighed.

    A label that names an expander matches only an expander.
    """
    if names_expander(label) and not expander_indicators(element):
        return False
    return label_factor(element, label) >= SHARED_WORD_SCORE


def is_unlabelled(element: Element) -> bool:
    """Whether the element is a plain expander: arrows and such words aside, it has no words."""
    told = dict(element.attributes)
    unseen = element.name in (told.get("aria-label"), told.get("title"))
    shown = element.text or ("" if unseen else element.name)
    return (
        expander_indicators(element) > 0
        and element.role not in _HOLDERS
        and not set(words_of(shown)) - EXPAND_WORDS
    )


def _names(element: Element) -> tuple[str, ...]:
    told = dict(element.attributes)
    return (
        element.name, element.text, element.label, element.value, told.get("aria-label", ""), told.get("title", ""),
        told.get("placeholder", ""),
    )  # fmt: skip


def _within(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """Whether the words occur side by side; at least three letters of them, or "a" would be in everything."""
    if sum(map(len, part)) < MIN_LABEL_LETTERS:
        return part == whole
    return f" {' '.join(part)} " in f" {' '.join(whole)} "


def _is_day(element: Element) -> bool:
    """Whether the element is a day of a calendar: a number from 1 to 31, alone or with its month."""
    if element.role not in ("gridcell", "button", "link", "generic", "cell", "option"):
        return False
    words = words_of(element.text or element.name)
    numbers = [word for word in words if word.isdecimal() and len(word) <= 2 and 1 <= int(word) <= 31]
    rest = [word for word in words if not word.isdecimal()]
    return len(numbers) == 1 and (
        (not rest and len(words) == 1) or (bool(rest) and any(map(_MONTH.fullmatch, rest)))
    )


def _holds_value(element: Element, told: set[str]) -> bool:
    """Whether the element is a field, or a button that shows the chosen value and opens a list; a bare chevron
    shows nothing.
    """
    if element.role in _HOLDERS:
        return True
    return "haspopup" in element.states and not is_unlabelled(element) and bool(told - EXPAND_WORDS)
