"""Order of the suite: the window's tests last."""

from __future__ import annotations

from pathlib import Path

import pytest

GUI = Path(__file__).resolve().parent / "gui"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The window's loop counts as running from its first test to the end; no other loop could start beside it."""
    items.sort(key=lambda item: GUI in item.path.parents)
