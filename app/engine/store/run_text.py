"""What of a run can be searched, and how a person's words become a question to the full-text index."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.engine.trajectory import Run, Step

COLUMNS = ("intent", "reason", "action", "target", "url", "error", "answer")

WEIGHTS = (4.0, 1.0, 3.0, 3.0, 2.0, 2.0, 3.0)
"""How much a find in each column counts (bm25): what was meant and done above what was thought about it."""

_WORD = re.compile(r"\w+")
_MAX_WORDS = 16
_MAX_FIELD = 20_000

Row = tuple[str, str, str, str, str, str, str]


def run_row(run: Run) -> Row:
    """The searchable text of a run as a whole."""
    sites = " ".join(dict.fromkeys((run.site, *run.sites)))
    return (run.intent, "", f"{run.id} {sites}", "", run.start_url, run.error[:_MAX_FIELD], run.answer or "")


def step_row(step: Step) -> Row:
    """The searchable text of one step; the run's intent stands in the run's row only."""
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


def question(text: str) -> str:
    """An FTS5 query that finds every word of a person's text, the last one also as a beginning; "" without words.

    Each word is quoted, so that nothing in the text can be an operator.  What stands in double quotes is a phrase.
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
