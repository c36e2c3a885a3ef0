"""Child processes that try Qt, the browser and SQLite for real, so that a crash in them is a finding."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import app
from app.installation import child_command

PROBE_TIMEOUT = 30.0
"""A child that takes longer counts as hanging; a cold Chromium on a slow disk needs some 5 s."""


class ProbeTimeout(Exception):
    """The child did not answer in time."""


async def run_probe(name: str, *arguments: str, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Run a probe (``probe_process``) in a child that finds this checkout; a hanging child is killed.

    Raises ``ProbeTimeout``.
    """
    inherited = os.environ if env is None else env
    here = str(Path(app.__file__).resolve().parents[1])
    path = os.pathsep.join(part for part in (here, inherited.get("PYTHONPATH", "")) if part)
    child = await asyncio.create_subprocess_exec(
        *child_command("app.engine.services.probe_process", name, *arguments),
        env={**inherited, "PYTHONPATH": path},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await asyncio.wait_for(child.communicate(), PROBE_TIMEOUT)
    except TimeoutError:
        raise ProbeTimeout(f"no answer within {PROBE_TIMEOUT:.0f} s") from None
    finally:
        if child.returncode is None:
            child.kill()
            await child.communicate()
    return child.returncode or 0, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


def qt_files(display: bool) -> list[Path]:
    """Return the files of Qt whose libraries a window, or offscreen rendering, needs."""
    plugins = ("libqoffscreen.so", *(("libqxcb.so",) if display else ()))
    return [
        path
        for package in _installed("PySide6")
        for path in (
            package / "QtWidgets.abi3.so",
            *(package / "Qt/plugins/platforms" / name for name in plugins),
        )
    ]


def driver_files() -> list[Path]:
    """Return the program that Playwright drives browsers with."""
    return [package / "driver" / "node" for package in _installed("playwright")]


def missing_libraries(files: list[Path]) -> list[str]:
    """Return shared libraries that these need and the loader does not find; none on systems other than Linux."""
    loader = shutil.which("ldd")
    if not sys.platform.startswith("linux") or not files or loader is None:
        return []
    done = subprocess.run([loader, *map(str, files)], capture_output=True, text=True, timeout=20, check=False)
    return sorted({line.split()[0] for line in done.stdout.splitlines() if "not found" in line})


def _installed(package: str) -> list[Path]:
    spec = importlib.util.find_spec(package)
    return [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
