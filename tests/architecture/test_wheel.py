"""Contents of the wheel."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def tracked(folder: str) -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()


def test_a_wheel_holds_the_program_and_its_resources_and_nothing_else(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr

    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = wheel.namelist()

    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"app", "kb"}
    assert {"app/settings.py", "kb/tip.py"} <= set(names)
    shipped = {name.removeprefix("app/_resources/") for name in names if name.startswith("app/_resources/")}
    assert {name.removeprefix("resources/") for name in tracked("resources")} <= shipped
    assert {name.removeprefix("docs/") for name in tracked("docs/guide")} <= shipped
    pictures = {name for name in shipped if name.endswith(".png")} - {
        name for name in shipped if "demo_" in name
    }
    assert all(name.startswith("guide/pictures/") for name in pictures), (
        "only the guide's pictures are shipped"
    )
    licences = {name.rsplit("/", 1)[-1] for name in names if "/licenses/" in name}
    assert licences == {"LICENSE", "NOTICE"}
