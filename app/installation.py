"""How this copy of the program was installed: its child processes, and the command that adds a package to it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

RUN_MODULE = "--run-module"
"""Hidden first argument of a bundle: its next one is one of ``CHILDREN``."""
CHILDREN = (
    "app.engine.host",
    "app.engine.imports.worker",
    "app.engine.pickles.worker",
    "app.engine.services.probe_process",
    "app.take_screenshots",
)
"""Modules that run in a process of their own."""


def is_bundle() -> bool:
    """Whether this is a bundle (PyInstaller's), which has no Python to start modules with."""
    return bool(getattr(sys, "frozen", False))


def child_command(module: str, *arguments: str) -> list[str]:
    """Return the command line that runs a module of ours as a process of its own."""
    return [sys.executable, RUN_MODULE if is_bundle() else "-m", module, *arguments]


def own_command(*arguments: str) -> list[str]:
    """Return the command line that starts this program once more."""
    return [sys.executable, *([] if is_bundle() else ["-m", "app"]), *arguments]


def run_child(arguments: Sequence[str]) -> None:
    """Run one of our modules in a bundle, as ``python -m`` does.  Exits with 2 for any other module."""
    module = arguments[0] if arguments else ""
    if module not in CHILDREN:
        sys.exit(f"sitelore: {RUN_MODULE} is for the program's own processes")
    import runpy

    sys.argv = list(arguments)
    runpy.run_module(module, run_name="__main__")


def install_command(*packages: str) -> str:
    """Return the command line that adds packages to this installation."""
    words = " ".join(f"'{package}'" if set(package) & set("[<>=; ") else package for package in packages)
    place = Path(sys.prefix)
    if is_bundle():
        return f"install Sitelore with pipx or uv, then add {words} to it"
    if (place / "uv-receipt.toml").is_file():
        return f"uv tool install sitelore {' '.join(f'--with {word}' for word in words.split())}"
    if (place / "pipx_metadata.json").is_file():
        return f"pipx inject sitelore {words}"
    return f"{sys.executable} -m pip install {words}"


def reinstall_command(package: str) -> str:
    """Return the command line that puts a damaged package in place again."""
    place = Path(sys.prefix)
    if is_bundle():
        return "download the bundle once more"
    if (place / "uv-receipt.toml").is_file():
        return "uv tool install --reinstall sitelore"
    if (place / "pipx_metadata.json").is_file():
        return "pipx reinstall sitelore"
    return f"{sys.executable} -m pip install --force-reinstall '{package}'"


def version() -> str:
    """Return the installed version."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("sitelore")
    except PackageNotFoundError:
        return "(from a checkout)"


def program() -> Path:
    """Return the absolute path of the installed program; the one of this environment comes first.

    Raises ``FileNotFoundError`` where only ``python -m app`` starts it.
    """
    if is_bundle():
        return Path(sys.executable).resolve()
    name = "sitelore.exe" if sys.platform == "win32" else "sitelore"
    beside = Path(sys.executable).parent / name  # not resolved: a venv's python is a link
    linked = shutil.which("sitelore")
    if linked and beside.is_file() and Path(linked).resolve() == beside.resolve():
        return Path(linked).absolute()  # pipx's and uv's link stays when the environment is made anew
    if beside.is_file():
        return beside.absolute()
    if linked:
        return Path(linked).absolute()
    raise FileNotFoundError("the program 'sitelore' is not installed beside this Python")
