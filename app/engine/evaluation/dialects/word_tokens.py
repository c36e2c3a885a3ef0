"""Words of an answer as the published evaluators split it: Treebank conventions, without a sentence splitter.

Only a full stop at the end of the text is a token of its own (``0. None`` begins with the token ``0.``), and no number
is split at its comma, stop or slash.
"""

from __future__ import annotations

import re

_FINAL_QUOTES = "\\])}>\"'»”’ "

_BEFORE = tuple(
    (re.compile(pattern), by)
    for pattern, by in (
        # quotation marks that open
        (r"([«“‘„]|`+)", r" \1 "),
        (r'\A"', "``"),
        (r"(``)", r" \1 "),
        (r"""([ (\[{<])("|'')""", r"\1 `` "),
        (r"(?i)\B'(?=\w)(?!(?:re|ve|ll|[dmnst])\b)", "' "),
        # punctuation
        (rf"([^.])\.([{_FINAL_QUOTES}]*)\s*\Z", r"\1 . \2 "),
        (r"([:,])([^\d])", r" \1 \2"),
        (r"([:,])\Z", r" \1 "),
        (r"(\.{2,})", r" \1 "),
        (r"([;@#$%&?!*])", r" \1 "),
        (r"([^'])' ", r"\1 ' "),
        (r"([\]\[(){}<>])", r" \1 "),
        (r"--", " -- "),
    )
)
_AFTER = tuple(
    (re.compile(pattern), by)
    for pattern, by in (
        # quotation marks that close, and what hangs on a word
        (r"([»”’])", r" \1 "),
        (r"''", " '' "),
        (r'"', " '' "),
        (r"([^' ])('[sS]|'[mM]|'[dD]|')(?=\s)", r"\1 \2"),
        (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T)(?=\s)", r"\1 \2"),
        (r"(?i)\b(can)(not)\b", r" \1 \2 "),
        (r"(?i)\b(d)('ye)\b", r" \1 \2 "),
        (r"(?i)\b(gim|lem)(me)\b", r" \1 \2 "),
        (r"(?i)\b(gon)(na)\b", r" \1 \2 "),
        (r"(?i)\b(wan)(na)(?=\s)", r" \1 \2"),
        (r"(?i)\b(got)(ta)\b", r" \1 \2 "),
        (r"(?i)\b(more)('n)\b", r" \1 \2 "),
        (r"(?i) ('t)(is|was)\b", r" \1 \2 "),
    )
)


def word_tokens(text: str) -> list[str]:
    """Split a text into words and marks."""
    for pattern, by in _BEFORE:
        text = pattern.sub(by, text)
    text = f" {text} "
    for pattern, by in _AFTER:
        text = pattern.sub(by, text)
    return text.split()
