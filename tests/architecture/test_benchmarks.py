"""Benchmarks follow the names of the program: they run seldom, so nothing else would notice."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OTHER_ENVIRONMENT = {"_browsergym_side"}
"""Run by an interpreter of their own."""

NAMES = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if path.stem not in OTHER_ENVIRONMENT)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "__main__"])
def test_every_benchmark_can_be_imported(name: str) -> None:
    assert import_module(f"benchmarks.{name}").__doc__
