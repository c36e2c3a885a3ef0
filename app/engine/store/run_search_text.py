"""The searchable text of runs, and the translation of search words into a full-text query."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.engine.core.trajectory import Run, Step

COLUMNS = ("intent", "reason", "action", "target", "url", "error", "answer")

WEIGHTS = (4.0, 1.0, 3.0, 3.0, 2.0, 2.0, 3.0)
"""Weight of a match by column (bm25): intent and action count more than reasoning."""

_WORD = re.compile(r"\w+")
_MAX_WORDS = 16
_MAX_FIELD = 20_000
_SNIPPET_CHARS, _SNIPPET_BEFORE = 140, 40

Row = tuple[str, str, str, str, str, str, str]


def run_row(run: Run) -> Row:
    """Return the searchable text of a run as a whole."""
    sites = " ".join(dict.fromkeys((run.site, *run.sites)))
    return (run.intent, "", f"{run.id} {sites}", "", run.start_url, run.error[:_MAX_FIELD], run.answer or "")


def step_row(step: Step) -> Row:
    """Return the searchable text of one step; the intent is in the run's row only."""
    target = f"{step.target.role} {step.target.name}" if step.target is not None else ""
    return (
        "",
        step.reason[:_MAX_FIELD],
        step.words[:_MAX_FIELD],
        target[:_MAX_FIELD],
        f"{step.url} {step.title}"[:_MAX_FIELD],
        step.error[:_MAX_FIELD],
        "",
    )


def fts_query(text: str) -> str:
    """Return an FTS5 query for every word of a text, the last one also as a prefix; "" without words.

    Each word is quoted, so that nothing in the text can be an operator.  Text in double quotes is a phrase.
    """
    parts: list[str] = []
    pieces = text.split('"')
    for position, piece in enumerate(pieces):
        words: Sequence[str] = _WORD.findall(piece.replace("_", " "))[: _MAX_WORDS - len(parts)]
        is_phrase = position % 2 == 1 and position < len(pieces) - 1
        if is_phrase and words:
            parts.append(f'"{" ".join(words)}"')
        elif words:
            parts.extend(f'"{word}"' for word in words)
            if position == len(pieces) - 1 and len(words[-1]) > 1:
                parts[-1] += "*"
    return " ".join(parts)


def query_words(text: str) -> list[str]:
    """Return the words of a query, for marking them in the hits."""
    return _WORD.findall(text.replace("_", " "))[:_MAX_WORDS]


def snippet(fields: Sequence[str], words: Sequence[str]) -> str:
    """Return a part of the field with the most matches, each marked with [ ].

    FTS5's own ``snippet`` queries the index for every row: with a word that is in every step that takes longer than
    the search itself.
    """
    patterns = [re.compile(rf"\b{re.escape(word)}\w*", re.IGNORECASE) for word in words]
    best, field = max(
        ((sum(bool(pattern.search(field)) for pattern in patterns), field) for field in fields if field),
        key=lambda found: found[0],
        default=(0, ""),
    )
    starts = [found.start() for pattern in patterns if (found := pattern.search(field))]
    start = _word_start(field, min(starts) - _SNIPPET_BEFORE) if best else 0
    end = start + _SNIPPET_CHARS
    piece = re.compile("|".join(pattern.pattern for pattern in patterns), re.IGNORECASE).sub(
        lambda found: f"[{found[0]}]", field[start:end]
    )
    return ("…" if start else "") + " ".join(piece.split()) + ("…" if end < len(field) else "")


def _word_start(text: str, at: int) -> int:
    if at <= 0:
        return 0
    space = text.find(" ", at)
    return space + 1 if space != -1 and space - at < _SNIPPET_BEFORE else at
