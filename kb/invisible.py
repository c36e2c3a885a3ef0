"""Characters that people can't see and models still read, and those of them that belong to their script.

Checked are all default-ignorable code points of Unicode (joiners, variation selectors, tags, fillers, shorthand and
musical controls, unassigned ones), the controls of writing direction, and the marks of annotations.  Allowed is:

1. one variation selector U+FE0E or U+FE0F right after a sign that can be an emoji, or a digit, # or * of a keycap;
2. a zero-width joiner between two emoji (skin tones and selector U+FE0F count to the emoji before);
3. the tags of the flags of England, Scotland and Wales after the black flag;
4. a zero-width non-joiner between two letters of Arabic script (Persian, Urdu) or of one Indic script;
5. a zero-width joiner beside a virama of an Indic script, with letters of that script around it.

Everything else is an error, including some characters that fonts use: soft hyphens, direction marks in right-to-left
text, selectors of ideographs and of Mongolian.  A tip that needs one can be waived.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_UNSEEN = re.compile(f"[{_IGNORABLE}]")
_EMOJI = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2934\u2935\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff]"
)
_ARABIC = re.compile(
    "[\u0620-\u064a\u064b-\u065f\u066e-\u06d3\u06d5\u06ee\u06ef\u06fa-\u06fc\u0750-\u077f\u08a0-\u08c7]"
)
_FLAGS = tuple(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
_NON_JOINER, _JOINER, _SELECTORS = "\u200c", "\u200d", "\ufe0e\ufe0f"
_INDIC_FIRST, _INDIC_LAST, _INDIC_BLOCK, _VIRAMA = 0x0900, 0x0DFF, 0x80, 9


def hidden(text: str) -> Iterator[tuple[int, int]]:
    """The ranges of invisible characters that don't belong to their script, as start and end."""
    start = end = -1
    for match in _UNSEEN.finditer(text):
        if _belongs(text, match.start()):
            continue
        if match.start() != end:
            if start >= 0:
                yield start, end
            start = match.start()
        end = match.end()
    if start >= 0:
        yield start, end


def visible(text: str) -> str:
    """The text without the ranges of ``hidden``."""
    if text.isascii() or _UNSEEN.search(text) is None:
        return text
    pieces: list[str] = []
    at = 0
    for start, end in hidden(text):
        pieces.append(text[at:start])
        at = end
    return "".join((*pieces, text[at:]))


def _belongs(text: str, at: int) -> bool:
    sign, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if sign in _SELECTORS:
        keycap = before != "" and before in "0123456789#*" and after == "\u20e3"
        return keycap or _EMOJI.fullmatch(before) is not None
    if sign == _JOINER:
        joined = _EMOJI.fullmatch(before) is not None or (before in _SELECTORS and before != "")
        return (joined and _EMOJI.fullmatch(after) is not None) or _joins_indic(before, after)
    if sign == _NON_JOINER:
        arabic = _ARABIC.fullmatch(before) is not None and _ARABIC.fullmatch(after) is not None
        return arabic or (_indic(before) is not None and _indic(before) == _indic(after))
    if "\U000e0060" < sign <= "\U000e007f":
        flag = text.rfind("\U0001f3f4", max(0, at - 6), at)
        return flag >= 0 and text.startswith(_FLAGS, flag)
    return False


def _joins_indic(before: str, after: str) -> bool:
    block = _indic(before)
    if block is None:
        return False
    virama = unicodedata.combining(before) == _VIRAMA
    if after and unicodedata.combining(after) == _VIRAMA:
        return _indic(after) == block
    return virama and (_indic(after) in (block, None)) and after not in (_JOINER, _NON_JOINER)


def _indic(sign: str) -> int | None:
    """The block of an Indic letter or mark, None for any other character."""
    if not sign or not _INDIC_FIRST <= ord(sign) <= _INDIC_LAST or unicodedata.category(sign)[0] not in "LM":
        return None
    return ord(sign) // _INDIC_BLOCK
