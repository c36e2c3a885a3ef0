"""Loaded modules: no Qt under the engine, nothing heavy at the start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
QT = ("PySide6", "shiboken6", "qasync", "pyqtgraph", "qtawesome")
HEAVY = (
    "torch",
    "sentence_transformers",
    "transformers",
    "onnxruntime",
    "playwright",
    "openai",
    "scipy",
    "networkx",
)


def modules_of(*packages: str) -> list[str]:
    found: list[str] = []
    for path in sorted(path for package in packages for path in (ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[-1] != "__main__":
            found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


def loaded_after(imports: list[str], suspects: tuple[str, ...]) -> list[str]:
    code = (
        f"import importlib, sys\nfor name in {imports!r}: importlib.import_module(name)\n"
        f"print(*(name for name in {suspects!r} if name in sys.modules))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_no_module_of_engine_or_kb_loads_qt() -> None:
    assert loaded_after(modules_of("app/engine", "kb"), QT) == []


def test_kb_loads_nothing_of_the_application() -> None:
    assert loaded_after(modules_of("kb"), ("app", *QT, *HEAVY)) == []


def test_the_command_line_starts_without_qt_and_without_the_heavy_libraries() -> None:
    assert loaded_after(["app.cli", "app.__main__"], (*QT, *HEAVY)) == []


def test_the_house_costs_a_start_nothing() -> None:
    assert (
        loaded_after(["app.assets", "app.log", "app.settings"], (*QT, *HEAVY, "pydantic", "keyring", "numpy"))
        == []
    )
