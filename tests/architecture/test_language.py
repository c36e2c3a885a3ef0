"""The language of the source: one noun for one concept, plain technical English, no sentences that begin with "What".

The rules are in CONTRIBUTING.md, the nouns in the glossary of ARCHITECTURE.md.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

METAPHORS = frozenset(
    {
        "ails",
        "anew",
        "atlas",
        "belongings",
        "beneath",
        "blame",
        "clearance",
        "cure",
        "deed",
        "deeds",
        "fences",
        "gaze",
        "grip",
        "happenings",
        "hearing",
        "lasting",
        "logbook",
        "manners",
        "newcomer",
        "noticing",
        "nurse",
        "rehoming",
        "roaming",
        "shelf",
        "stance",
        "told",
        "unseen",
        "whoever",
    }
)
"""Words that no name has: each has a standard term in the glossary."""

DIALECT = frozenset(
    {
        "Arrival",
        "Calls",
        "Clearance",
        "Cleared",
        "Clocks",
        "Desk",
        "Door",
        "Epoch",
        "Eyes",
        "Hands",
        "Head",
        "Hold",
        "Ill",
        "LastingHands",
        "LiveNote",
        "LivePageOf",
        "Looker",
        "Looking",
        "ModelHead",
        "Moment",
        "PersonHint",
        "Probe",
        "Pulse",
        "Ruling",
        "Said",
        "Seeing",
        "SetAside",
        "Sight",
        "Signs",
        "Spot",
        "Standing",
        "Steering",
        "Supervised",
        "TakeoverAccount",
        "TipHere",
        "Travelled",
        "Wall",
        "Watching",
        "Way",
        "Wish",
        "Words",
        "CallDesk",
        "MapDesk",
    }
)
"""Class names of the first version, before it took the field's terms."""


def modules(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def place(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"


def words(name: str) -> list[str]:
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return [part.lower() for part in parts]


def test_no_two_classes_have_the_same_name() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path in modules("app", "kb"):
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(place(path, node))
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_no_docstring_begins_with_what() -> None:
    found: list[str] = []
    for path in modules("app", "kb", "tests", "packaging", "benchmarks", "tools"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node) or ""
                if re.match(r"What(ever)?\b", text):
                    found.append(f"{place(path, node)} {text[:60]}")
    assert found == []


def test_names_are_the_fields_terms_and_no_metaphors() -> None:
    found: list[str] = []
    for path in modules("app", "kb"):
        found += [f"{path.relative_to(ROOT)}" for word in words(path.stem) if word in METAPHORS]
        for node in ast.walk(tree(path)):
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            dialect = isinstance(node, ast.ClassDef) and node.name.lstrip("_") in DIALECT
            if dialect or METAPHORS.intersection(words(node.name)):
                found.append(f"{place(path, node)} {node.name}")
    assert found == []
