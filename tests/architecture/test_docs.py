"""The documents are true: links lead somewhere, named files exist, named commands can be typed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.core
import typer.main

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    path
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
    if path.name != "CHANGELOG.md"  # it names what was
)
OF_ENGINEERS = [path for path in DOCUMENTS if path.name in {"ARCHITECTURE.md", "CONTRIBUTING.md"}]
FOLDERS = ("app/", "kb/", "tests/", "packaging/", "resources/", "docs/", "benchmarks/", "tools/")
IN_ENGINE = ("agent/", "browser/", "core/", "detectors/", "graph/", "services/", "store/")
"""Folders that ARCHITECTURE.md names without app/engine in front."""


def ids(paths: list[Path]) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in paths]


@pytest.mark.parametrize("document", DOCUMENTS, ids=ids(DOCUMENTS))
def test_links_and_pictures_are_there(document: Path) -> None:
    missing: list[str] = []
    for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text("utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        found = (document.parent / file).resolve() if file else document
        if not found.exists() or (anchor and anchor not in anchors(found)):
            missing.append(target)
    assert missing == []


def anchors(document: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", OF_ENGINEERS, ids=ids(OF_ENGINEERS))
def test_named_files_exist(document: Path) -> None:
    named = re.findall(r"`([\w./*-]+)(?::[^`]*)?`", document.read_text("utf-8"))
    missing = [
        name
        for name in named
        if name.startswith((*FOLDERS, *IN_ENGINE))
        and not any([*root.glob(name)] for root in (ROOT, ROOT / "app" / "engine"))
    ]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=ids(DOCUMENTS))
def test_named_commands_exist(document: Path) -> None:
    from app.cli.root import app

    root = typer.main.get_command(app)
    wrong: list[str] = []
    for line in re.findall(r"(?:^|`)(?:sitelore) ([a-z][^`\n#]*)", document.read_text("utf-8"), re.MULTILINE):
        command, words = root, line.split()
        while words and isinstance(command, typer.core.TyperGroup) and re.fullmatch(r"[a-z|-]+", words[0]):
            names = words.pop(0).split("|")
            wrong += [f"{line.strip()}: {name}" for name in names if name not in command.commands]
            command = command.commands.get(names[0], typer.core.TyperCommand("none"))
        options = {
            option for parameter in command.params for option in parameter.opts + parameter.secondary_opts
        }
        if "|" not in line:
            asked = set(re.findall(r"(?<!\S)(--[a-z-]+)", line)) - {"--json", "--help"}
            wrong += [f"{line.strip()}: {option}" for option in asked if option not in options]
    assert wrong == []
