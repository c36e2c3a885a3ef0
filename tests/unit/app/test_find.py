"""Choice of the browser to start."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.engine.browser.launch import launcher
from app.engine.browser.launch.launcher import BrowserCandidate, candidates


def test_playwrights_own_goes_first_then_channels_then_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name == "chromium" else None)

    found = list(candidates(environ={}))

    assert found[0] == BrowserCandidate()
    assert [c.channel for c in found[1:4]] == ["chromium", "chrome", "msedge"]
    assert found[4:] == [BrowserCandidate(executable="/bin/chromium")]


@pytest.mark.parametrize(
    ("choice", "options"),
    [
        ("msedge", {"channel": "msedge"}),
        ("/some/where/chromium", {"executable_path": "/some/where/chromium"}),
        ("C:\\Chrome\\chrome.exe", {"executable_path": "C:\\Chrome\\chrome.exe"}),
    ],
)
def test_a_choice_is_the_only_candidate(choice: str, options: dict[str, str]) -> None:
    assert [c.launch_options() for c in candidates(environ={launcher.VARIABLE: choice})] == [options]


def test_the_setting_wins_over_the_environment() -> None:
    assert [str(c) for c in candidates("chrome", {launcher.VARIABLE: "msedge"})] == ["channel chrome"]


def test_a_name_on_path_is_that_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"{tmp_path}/{name}")

    assert [c.executable for c in candidates("brave", {})] == [f"{tmp_path}/brave"]
