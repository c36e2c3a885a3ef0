"""The names that ``kb`` offers."""

from __future__ import annotations

import pytest

import kb


@pytest.mark.parametrize("name", kb.__all__)
def test_every_public_name_of_kb_can_be_imported(name: str) -> None:
    assert getattr(kb, name) is not None
