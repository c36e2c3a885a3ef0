"""Contents of the wheel, and the program as it runs from it, away from the checkout."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).resolve().parents[2]


def tracked(folder: str) -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def home(wheel: Path) -> Iterator[Path]:
    """A home of its own near the root (a socket's path has 108 bytes), with the wheel unpacked in ``site``."""
    with TemporaryDirectory(prefix="home-") as folder:
        with zipfile.ZipFile(wheel) as file:
            file.extractall(Path(folder) / "site")
        yield Path(folder)


def start(home: Path, *words: str, module: str = "app") -> subprocess.Popen[str]:
    names = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "HOME", "TMPDIR")
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", **{name: str(home) for name in names}}
    environment.pop("XDG_RUNTIME_DIR", None)
    environment |= {"PYTHONPATH": str(home / "site"), "SITELORE_ENCODER": str(home / "none")}
    return subprocess.Popen(
        [sys.executable, "-m", module, *words],
        cwd=home,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def call(home: Path, *words: str, says: bool = False) -> str:
    process = start(home, *words)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return err if says else out


def test_a_wheel_holds_the_program_and_its_resources_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()

    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"app", "kb"}
    assert {"app/settings.py", "kb/tip.py"} <= set(names)
    shipped = {name.removeprefix("app/_resources/") for name in names if name.startswith("app/_resources/")}
    assert {name.removeprefix("resources/") for name in tracked("resources")} <= shipped
    guide = {name.removeprefix("docs/") for name in tracked("docs/guide")}
    assert {name for name in guide if not name.startswith("guide/pictures/")} <= shipped
    pictures = {name for name in shipped if name.endswith(".png") and "demo_" not in name}
    assert all(name.startswith("icons/png/") for name in pictures), "pictures of the guide are not shipped"
    licences = {name.rsplit("/", 1)[-1] for name in names if "/licenses/" in name}
    assert licences == {"LICENSE", "NOTICE"}
    assert wheel.stat().st_size < 8_000_000


def test_the_command_line_works_from_the_wheel(home: Path) -> None:
    assert call(home, "--version").startswith("sitelore ")
    resources = home / "site" / "app" / "_resources"
    report = json.loads(call(home, "--workspace", "ws", "import", str(resources / "demo_runs"), "--json"))
    assert report["imported"] > 0
    assert not report["failed"]
    checks = {check["name"]: check for check in json.loads(call(home, "doctor", "--json"))}
    assert checks["Qt"]["ok"]
    assert checks["SQLite"]["ok"]
    if sys.platform.startswith("linux"):
        entry = home / "applications" / "sitelore.desktop"
        written = json.loads(call(home, "install-desktop", "--json"))["written"]
        assert str(entry) in written


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM there")
def test_the_window_opens_from_the_wheel(home: Path) -> None:
    process = start(home, "--workspace", "window")
    end = time.monotonic() + 120
    while process.poll() is None and not list(home.rglob("*.window")) and time.monotonic() < end:
        time.sleep(0.05)
    try:
        assert "already open" in call(home, "--workspace", "window", "open", "--show", "live", says=True)
        process.send_signal(signal.SIGTERM)  # it may still be starting
        _out, complaint = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0, complaint
