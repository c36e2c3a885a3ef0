"""Sessions of ``tests.support`` that are played in a window process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def played(module: str, folder: Path) -> dict[str, Any]:
    """Play a session of ``tests.support`` in a window process with a home of its own; return its report."""
    report = folder / "report.json"
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        **{name: str(folder / "home") for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")},
    }
    environment.pop("DBUS_SESSION_BUS_ADDRESS", None)
    done = subprocess.run(
        [sys.executable, "-m", f"tests.support.{module}", str(folder / "workspace"), str(report)],
        cwd=Path(__file__).parents[2], env=environment, capture_output=True, text=True, timeout=540, check=False,
    )  # fmt: skip
    assert report.exists(), done.stderr
    told = json.loads(report.read_text(encoding="utf-8"))
    assert "broke" not in told, told["broke"]
    assert done.returncode == 0, done.stderr
    return told
