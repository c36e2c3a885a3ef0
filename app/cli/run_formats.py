"""``sitelore import --formats``: the formats of runs that are read and written."""

from __future__ import annotations

import typer

from app.cli.common import print_result, table


def print_formats(wanted: bool) -> None:
    """Print every format with its title and end the program; ``--json`` may stand anywhere on the line."""
    if not wanted:
        return
    import sys

    from app.engine.exports import EXPORTS, NATIVE
    from app.engine.imports import FORMATS, added_formats

    formats = {**FORMATS, **added_formats()}
    rows = [
        {"name": name, "title": form.title, "import": True, "export": name == NATIVE or name in EXPORTS}
        for name, form in formats.items()
    ]
    rows += [
        {"name": name, "title": form.title, "import": False, "export": True}
        for name, form in EXPORTS.items()
        if name not in formats
    ]

    def text() -> str:
        cells = [
            (row["name"], "yes" if row["import"] else "", "yes" if row["export"] else "", row["title"])
            for row in rows
        ]
        return table(cells, ("format", "import", "export", "title"), widest=80)

    print_result(rows, "--json" in sys.argv, text)
    raise typer.Exit
