"""Texts of tasks, pages and models, made safe to be read in any form of the report."""

from __future__ import annotations

import re

from app.errors import printable

_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]"
)
"""Control characters, those that turn the direction of writing, and those without width."""
_SPACE = re.compile(r"\s+")


def visible(text: str) -> str:
    r"""Return a text whose invisible and direction-turning characters are written as ``\u202e``."""
    if text.isascii() and text.isprintable():
        return text
    text = printable(text)
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: str) -> str:
    """Return a visible text with its white space as single spaces."""
    return _SPACE.sub(" ", visible(text)).strip()


def elided(text: str, limit: int) -> str:
    """Return the beginning of a text on one line; what is left out is marked."""
    line = one_line(text[: 8 * limit])  # a text of a megabyte is not read to its end for its first words
    if len(line) <= limit and len(text) <= 8 * limit:
        return line
    return line[: limit - 1].rstrip() + "…"
