"""Exporters: one module per format that other programs and people read; each is a ``RUN_EXPORT`` and a line here."""

from __future__ import annotations

from app.engine.exports import animation, atif, html_page, online_mind2web, otlp
from app.engine.exports.run_export import NATIVE, RunExport
from app.errors import InputError

EXPORTS: dict[str, RunExport] = {
    module.RUN_EXPORT.name: module.RUN_EXPORT
    for module in (html_page, atif, otlp, online_mind2web, animation)
}
"""Formats by the name that ``runs export --format`` takes, besides ``native``."""

__all__ = ["EXPORTS", "NATIVE", "run_export_named"]


def run_export_named(name: str) -> RunExport:
    """Return the format of this name.

    Raises:
        InputError: there is no such format.
    """
    if name not in EXPORTS:
        raise InputError(
            f"runs can't be exported as {name!r}", remedy=f"use {NATIVE}, {', '.join(sorted(EXPORTS))}"
        )
    return EXPORTS[name]
