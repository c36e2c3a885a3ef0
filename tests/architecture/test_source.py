"""Forbidden content of the source."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 450
NESTED_LOOPS = {"exec", "exec_", "processEvents"}
MACHINE_PATH = re.compile(r"(?<![\w.:/-])/(?:root|work|opt/[a-z]+)/[\w.]")
REGISTRY = re.compile(
    r"https?://[\w.-]*(?:pypi\.org|pythonhosted\.org|pytorch\.org|npmjs\.org)|--(?:extra-)?index-url[ =]http"
)
TEXTS = {
    ".py",
    ".toml",
    ".md",
    ".txt",
    ".lock",
    ".json",
    ".jsonl",
    ".qss",
    ".css",
    ".js",
    ".html",
    ".yml",
    ".cfg",
    ".sh",
}


def source(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def relative(path: Path, line: int | str = "") -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def calls(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        if isinstance(node, ast.Call):
            yield (
                node.lineno,
                node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""),
            )


def in_repository() -> list[Path]:
    """Files that are or are about to be committed; without git, nothing to look at."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        pytest.skip("git is not installed")
    if listed.returncode:
        pytest.skip("this is no git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_event_loop_runs_inside_another() -> None:
    found = [
        relative(path, line) for path in source("app") for line, name in calls(path) if name in NESTED_LOOPS
    ]
    assert found == [], "exec() and processEvents() break every task of the window's loop"


def test_packaging_is_no_package() -> None:
    assert not (ROOT / "packaging" / "__init__.py").exists(), "it would shadow the library called packaging"


def test_no_module_is_too_long_to_read() -> None:
    lengths = {
        relative(path): len(path.read_text("utf-8").splitlines()) for path in source("app", "kb", "packaging")
    }
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def test_nothing_names_a_place_on_one_machine_or_a_registry() -> None:
    found: list[str] = []
    for path in in_repository():
        if (path.suffix not in TEXTS and path.name != "Makefile") or path == Path(__file__).resolve():
            continue
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
            if MACHINE_PATH.search(line) or REGISTRY.search(line):
                found.append(f"{relative(path, number)} {line.strip()[:100]}")
    assert found == []


def test_the_lock_has_no_cuda_and_pins_everything_with_a_hash() -> None:
    text = (ROOT / "packaging" / "requirements.lock").read_text("utf-8")
    lines = re.sub(r"\s*\\\n\s*", " ", text).splitlines()
    entries = [line for line in lines if line and not line.startswith("#")]
    assert [line for line in entries if re.match(r"(nvidia|cuda|triton)", line)] == []
    cpu = [line for line in entries if re.match(r"torch==\S+\+cpu ; sys_platform == 'linux'$", line)]
    assert len(cpu) == 1
    pinned = re.compile(r"^[\w.-]+==[\w.+!]+( ; .+?)?( --hash=sha256:[0-9a-f]{64})+$")
    assert [line for line in entries if line not in cpu and not pinned.match(line)] == []


def test_the_lock_names_every_package_that_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    asked += project["optional-dependencies"]["encoder"]
    names = {re.match(r"[\w.-]+", each)[0].lower() for each in asked}
    locked = re.findall(r"^([\w.-]+)==", (ROOT / "packaging" / "requirements.lock").read_text("utf-8"), re.M)
    assert names - set(locked) == set()
