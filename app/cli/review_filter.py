"""The filter line of the window as an option of ``sitelore review``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from app.engine.api.run_filter_words import FilterValues, parse_filter, unknown_words
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
        UsageError: a word looks like a filter and is none, or names a site, suite or detector that is not here.
    """
    from app.engine.detectors.runner import ALL_DETECTORS

    rows = await engine.list_runs(RunFilter())
    known = FilterValues(
        sites=_sorted(row.site for row in rows),
        suites=_sorted(row.suite for row in rows),
        detectors=_sorted(
            [
                *(one.name for one in ALL_DETECTORS),
                *(name for row in rows for name in row.flags),
            ]
        ),
    )
    if unknown := unknown_words(words, known):
        raise UsageError("; ".join(map(str, unknown)))
    return parse_filter(words, known.sites)


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names) - {""}))
