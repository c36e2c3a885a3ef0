"""What a tip says to do, without its warnings and reasons.  Pure."""

from __future__ import annotations

import re

_NOT = re.compile(
    r"(?:\b(?:not|never|avoid|without|except|unless|instead of|rather than|wrong)\b|\b\w{2,7}n['’]t\b)"
    r".{0,400}?(?=[.;!?,](?:\s|$)|\bbut\b|\n|$)",
    re.IGNORECASE,
)
"""What is not to be done is not named."""
_WHY = re.compile(r"\b(?:because|otherwise|or else)\b.{0,400}?(?=[.;!?](?:\s|$)|\n|$)", re.IGNORECASE)
"""Why a thing is so names nothing to be done either."""


def blank(one: re.Match[str]) -> str:
    """Spaces in the place of what was matched, so that everything else stays where it was."""
    return " " * len(one[0])


def without_warnings(text: str) -> str:
    """Words without those that say what is not to be done."""
    return _NOT.sub(blank, text)


def advice(text: str) -> str:
    """A tip's words without its warnings and its reasons: what is left is what it says to do."""
    return _WHY.sub(blank, without_warnings(text))
