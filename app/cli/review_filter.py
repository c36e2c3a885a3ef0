"""The filter line of the window as an option of ``sitelore review``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.engine.api.run_filter_words import parse_filter, unknown_words
from app.engine.api.run_rows import RunFilter
from app.errors import UsageError

if TYPE_CHECKING:
    from app.engine.engine import Engine

FilterWords = Annotated[
    str,
    typer.Option(
        "--filter",
        help="Runs by the words of the window's filter line, such as 'failed site:gitlab label:\"gave up\"';"
        " '' for all.",
    ),
]


async def filter_of(engine: Engine, words: str) -> RunFilter:
    """Return the filter of the words; a bare name of a site is one.

    Raises:
        UsageError: a word looks like a filter and is none.
    """
    if unknown := unknown_words(words):
        raise UsageError(str(unknown[0]))
    return parse_filter(words, {row.site for row in await engine.list_runs(RunFilter())})
