"""Exporter: Online-Mind2Web v2 (folder)."""

from __future__ import annotations

from pathlib import Path

from app.engine.exports.run_export import ExportSource, RunExport
from app.errors import InputError


def write(source: ExportSource, path: Path) -> list[str]:
    """Write a run."""
    raise InputError("this format can't be written yet")


RUN_EXPORT = RunExport(name="online-mind2web", title="Online-Mind2Web v2 (folder)", suffix="", write=write)
