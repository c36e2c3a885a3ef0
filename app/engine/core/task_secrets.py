"""Finds passwords written out in a task and replaces them by names.  Pure text."""

from __future__ import annotations

import re

WRITTEN = "WRITTEN_"
"""Prefix of the names of such passwords."""
SHORTEST = 4
"""Shorter values are not replaced in other texts: they would match everywhere."""

NAMED = re.compile(r"\{secret:([A-Za-z_]\w{0,60})\}")
_QUOTED = re.compile(
    r"\b(?P<word>pass(?:word|phrase|code)|pin|token|api[ _-]?key)\b"
    r"(?P<link>(?:\s+(?:is|of|field|with|to|as|:))*\s*[:=]?\s*)"
    r"(?:\"(?P<double>[^\"\n]{1,200})\"|'(?P<single>[^'\n]{1,200})'|“(?P<curly>[^”\n]{1,200})”)",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"\b(?P<word>pass(?:word|phrase|code))(?P<link>(?:\s+(?:is|of|as))?\s*[:=]?\s*)"
    r"(?P<value>(?=[^\s\"'“”{}]*\d)(?=[^\s\"'“”{}]*[^\d\s])[^\s\"'“”{}]{4,200}?)(?=[.,;:?)]*(?:\s|$))",
    re.IGNORECASE,
)
"""A password without quotes: a word with a digit and a special character, as no ordinary word has."""
_WORDS = (
    r"(?:pass(?:word|phrase|code|wd|wort)|kennwort|wachtwoord|contraseña|mot de passe|senha|пароль"
    r"|pin(?:\s+code)?|token|api[ _-]?key)"
)
_LINKED = re.compile(
    rf"(?:\b(?P<word>{_WORDS})(?P<link>\s*[:=]\s*|\s+is\s+)|\bwith\s+(?:the\s+)?(?P<word2>{_WORDS})(?P<link2>\s+))"
    r"(?P<value>[^\s\"'“”{}]{4,200}?)(?=[.,;)!?]*(?:$|\s*\n|\s+and\b)|[,;)]\s)",
    re.IGNORECASE,
)
"""A value that is explicitly given (``password: swordfish``, ``with password swordfish``) and ends its part of the
sentence; ``Change password: click Save`` contains none.
"""
_NO_VALUES = frozenset(
    ["required", "wrong", "correct", "missing", "shown", "hidden", "empty", "valid", "invalid", "field"]
)


def extract_secrets(intent: str, values: dict[str, str]) -> str:
    """Return the task with its written-out passwords replaced by names; they are added to ``values`` by name."""

    def lift_quoted(match: re.Match[str]) -> str:
        value = match["double"] or match["single"] or match["curly"] or ""
        return match[0] if NAMED.fullmatch(value) else f'{match["word"]}{match["link"]}"{named(value)}"'

    def named(value: str) -> str:
        name = next((name for name, known in values.items() if known == value), f"{WRITTEN}{len(values) + 1}")
        values[name] = value
        return f"{{secret:{name}}}"

    def lift_bare(match: re.Match[str]) -> str:
        return f"{match['word']}{match['link']}{named(match['value'])}"

    def lift_linked(match: re.Match[str]) -> str:
        plain_word = (match["link"] or "").strip().casefold() == "is" and match["value"].isalpha()
        if plain_word or match["value"].casefold() in _NO_VALUES:
            return match[0]
        before = match[0][: match.start("value") - match.start()]
        return f"{before}{named(match['value'])}"

    intent = _LINKED.sub(lift_linked, _BARE.sub(lift_bare, _QUOTED.sub(lift_quoted, intent)))
    for name, value in values.items():  # further occurrences in the task
        if len(value) >= SHORTEST and not value.isalpha():
            intent = intent.replace(value, f"{{secret:{name}}}")
    return intent
