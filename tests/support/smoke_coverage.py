"""Measure which smoke test runs which module: ``python -m tests.support.smoke_coverage`` writes ``tests/smoke.json``.

A module counts as run by a test that executes a line inside one of its functions. Tests that start the program in
a process of its own are not measured.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "tests" / "smoke.json"
FOLDERS = (
    "app/engine/browser",
    "app/engine/graph/explore",
    "app/engine/agent",
    "app/engine/services/supervision",
)
"""Folders whose every module a smoke test has to run."""


def bodies(path: Path) -> set[int]:
    """Return the lines inside functions; none in a module that only declares."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                    continue  # a docstring, or the dots of a protocol
                found.update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    return found


def modules() -> dict[str, set[int]]:
    """Return every module of the folders that has something to run, with the lines of its functions."""
    paths = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    found = {path.relative_to(ROOT).as_posix(): bodies(path) for path in paths}
    return {name: lines for name, lines in found.items() if lines}


class PerTest:
    """A pytest plugin: coverage's context is the test that runs."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self._measured = measured

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._measured.switch_context(item.nodeid.split("[")[0])
        return (yield)


def first_tests(data: coverage.CoverageData) -> dict[str, str]:
    """Return for each module that was run the first of the tests that ran it."""
    found: dict[str, str] = {}
    for name, lines in modules().items():
        contexts = data.contexts_by_lineno(str(ROOT / name))
        tests = sorted({test for line in lines for test in contexts.get(line, ()) if test})
        if tests:
            found[name] = tests[0]
    return found


def main() -> int:
    """Run the smoke tests, write the list, and name the modules that none of them runs."""
    os.chdir(ROOT)
    measured = coverage.Coverage(data_file=None, source=["app/engine"], concurrency=["thread", "greenlet"])
    measured.start()
    code = pytest.main(
        ["-q", "-p", "no:cacheprovider", "-m", "smoke", "tests/integration", "tests/e2e", *sys.argv[1:]],
        plugins=[PerTest(measured)],
    )
    measured.stop()
    found = first_tests(measured.get_data())
    LIST.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    missing = sorted(set(modules()) - set(found))
    print(f"{len(found)} modules are run; not run: {', '.join(missing) or 'none'}")  # noqa: T201
    return int(code) or bool(missing)


if __name__ == "__main__":
    sys.exit(main())
