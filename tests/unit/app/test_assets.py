"""Resources are found wherever the program is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import assets


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    assets.resources_root.cache_clear()
    yield
    assets.resources_root.cache_clear()


def installed_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "__file__", str(folder / "app" / "assets.py"))


def test_a_checkout_keeps_them_beside_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "resources").mkdir()
    installed_at(tmp_path, monkeypatch)

    assert assets.resource("icons", "a.svg") == tmp_path / "resources" / "icons" / "a.svg"


def test_a_wheel_keeps_them_in_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "app" / "_resources").mkdir(parents=True)
    (tmp_path / "resources").mkdir()
    installed_at(tmp_path, monkeypatch)

    assert assets.resource() == tmp_path / "app" / "_resources"


def test_the_guide_is_a_resource_of_a_wheel_and_a_folder_of_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "resources").mkdir()
    installed_at(tmp_path, monkeypatch)
    assert assets.guide() == tmp_path / "docs" / "guide" / "index.md"

    shipped = tmp_path / "resources" / "guide" / "review.md"
    shipped.parent.mkdir()
    shipped.touch()
    assert assets.guide("review.md") == shipped


def test_a_bundle_unpacks_them_where_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bundle" / "resources").mkdir(parents=True)
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path / "bundle"), raising=False)

    assert assets.resource("x") == tmp_path / "bundle" / "resources" / "x"


def test_an_installation_without_them_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed_at(tmp_path, monkeypatch)

    with pytest.raises(FileNotFoundError, match="reinstall"):
        assets.resource("x")
