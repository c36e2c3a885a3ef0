"""Importers: one module per foreign format, recognised by the files' content."""

from __future__ import annotations

import logging
from functools import cache
from importlib.metadata import entry_points

from app.engine.imports import (
    agent_reward_bench,
    atif,
    browser_use,
    browsergym,
    colorbrowseragent,
    jsonl,
    native,
    online_mind2web,
    osworld,
    otlp,
    playwright,
    seeact,
    webarena_html,
)
from app.engine.imports.run_format import RunFormat
from app.errors import InputError

log = logging.getLogger(__name__)

FORMATS: dict[str, RunFormat] = {
    module.RUN_FORMAT.name: module.RUN_FORMAT
    for module in (
        native,
        browsergym,
        colorbrowseragent,
        browser_use,
        playwright,
        atif,
        otlp,
        online_mind2web,
        webarena_html,
        agent_reward_bench,
        osworld,
        seeact,
        jsonl,
    )
}
"""Formats by the name that ``--format`` takes; of two that claim a run the first has it."""

ENTRY_POINTS = "sitelore.importers"
"""Group by which packages of others add formats."""

AUTO = "auto"


@cache
def added_formats() -> dict[str, RunFormat]:
    """Return the formats that installed packages add, by name; one that fails to load is left out and logged."""
    found: dict[str, RunFormat] = {}
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            form = entry.load()
        except Exception as error:  # noqa: BLE001 code of another package must not stop an import
            log.warning("the importer %r can't be loaded: %s: %s", entry.name, type(error).__name__, error)
            continue
        if not isinstance(form, RunFormat) or form.name in FORMATS or form.name == AUTO:
            log.warning("the importer %r is left out: it is no RunFormat with a name of its own", entry.name)
            continue
        found[form.name] = form
    return found


def run_format_named(name: str) -> RunFormat:
    """Return the format of this name.

    Raises:
        InputError: there is no such format.
    """
    formats = {**FORMATS, **added_formats()}
    if name not in formats:
        raise InputError(
            f"no run format is called {name!r}", remedy=f"use {AUTO}, {', '.join(sorted(formats))}"
        )
    return formats[name]


def chosen_formats(name: str) -> list[RunFormat]:
    """Return the formats to look for: the named one, or all of them for ``auto``.

    Raises:
        InputError: there is no such format.
    """
    if name == AUTO:
        return [*FORMATS.values(), *added_formats().values()]
    return [run_format_named(name)]
