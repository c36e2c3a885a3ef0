"""``sitelore review progress``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.common import Json, full_path, json_data, print_result, table, with_engine
from app.cli.review_filter import FilterWords, filter_of
from app.engine.api.review_api import ProgressRow, ReviewProgress

if TYPE_CHECKING:
    from app.engine.engine import Engine

_SHOWN = 10


def progress(
    out: Annotated[
        Path | None, typer.Option(help="Also write it as an HTML page for print into this file.")
    ] = None,
    words: FilterWords = "failed",
    as_json: Json = False,
) -> None:
    """Show what is judged and what is left: by site and person, seconds a verdict and a tip, pages without a tip."""

    async def telling(engine: Engine) -> tuple[ReviewProgress, str]:
        which = await filter_of(engine, words)
        page = await engine.progress_page(full_path(out), which) if out else ""
        return await engine.review_progress(which), page

    found, page = with_engine(telling)
    body = {**json_data(found), "page": page}
    print_result(body, as_json, lambda: _text(found) + (f"\n{page}" if page else ""))


def add_progress_command(app: typer.Typer) -> None:
    """Add the command to ``sitelore review``."""
    app.command()(progress)


def _text(found: ReviewProgress) -> str:
    heads = ("judged", "runs", "left", "tips", "s/verdict", "s/tip")
    sites = [*map(_row, found.sites), _row(found.total)]
    pages = [(page.site, page.page, page.uncovered, len(page.runs)) for page in found.uncovered[:_SHOWN]]
    left = len(found.uncovered) - len(pages)
    labels = sorted(found.labels.items(), key=lambda item: (-item[1], item[0]))
    parts = [
        table(sites, ("site", *heads)),
        table([_row(row) for row in found.people], ("person", *heads)),
        table(labels, ("label", "verdicts")),
        table(pages, ("site", "page that fails without a tip", "uncovered", "failures"))
        + (f"\n{left} more pages" if left else ""),
    ]
    return "\n\n".join(part for part in parts if part)


def _row(row: ProgressRow) -> tuple[str, int, int, int, int, str, str]:
    return (
        row.name,
        row.judged,
        row.runs,
        row.runs - row.judged,
        row.tips,
        "-" if row.verdict_seconds is None else f"{row.verdict_seconds:.0f}",
        "-" if row.tip_seconds is None else f"{row.tip_seconds:.0f}",
    )
