"""The whole suite: the order of its tests, and how many examples hypothesis tries."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

GUI = Path(__file__).resolve().parent / "gui"

# What an endpoint was found to take is remembered for the user, and no test is one.
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="sitelore-tests-")

# No deadline: a busy machine must not fail a law.
settings.register_profile("fast", max_examples=25, deadline=None)
settings.register_profile("deep", max_examples=100, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the window's tests last: its loop counts as running to the end of the session, so no other could start."""
    items.sort(key=lambda item: GUI in item.path.parents)
