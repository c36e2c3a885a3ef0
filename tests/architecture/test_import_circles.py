"""No module of the engine or of the knowledge base imports itself by way of others, not even for types only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import networkx

ROOT = Path(__file__).resolve().parents[2]


def _modules() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for package in ("app/engine", "kb"):
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _imports(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Yield module and name of each import at the top of a file, under ``TYPE_CHECKING`` too."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.If):
            yield from _imports([*node.body, *node.orelse])


def test_no_imports_run_in_a_circle_not_even_for_types() -> None:
    modules = _modules()
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    for name, path in modules.items():
        for module, member in _imports(ast.parse(path.read_text("utf-8")).body):
            target = f"{module}.{member}" if f"{module}.{member}" in modules else module
            if target in modules and target != name:
                graph.add_edge(name, target)
    circles = [sorted(found) for found in networkx.strongly_connected_components(graph) if len(found) > 1]
    assert circles == []
