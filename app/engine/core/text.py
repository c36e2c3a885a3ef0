"""Text on one line, for messages, prompts and reports. Pure functions."""

from __future__ import annotations


def one_line(text: str, limit: int) -> str:
    """Return a text on one line, cut at ``limit`` characters."""
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def quoted(text: str, limit: int = 80) -> str:
    """Return a text on one line between quotes, cut at ``limit`` characters."""
    return f"'{one_line(text, limit)}'"


def first_line(text: str, default: str = "") -> str:
    """Return the first line that is not blank."""
    return next((line.strip() for line in text.splitlines() if line.strip()), default)


def word_set(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())
