"""Exporter: Animated GIF."""

from __future__ import annotations

from pathlib import Path

from app.engine.exports.run_export import ExportSource, RunExport
from app.errors import InputError


def write(source: ExportSource, path: Path) -> list[str]:
    """Write a run."""
    raise InputError("this format can't be written yet")


RUN_EXPORT = RunExport(name="gif", title="Animated GIF", suffix=".gif", write=write)
