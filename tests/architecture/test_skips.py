"""Why a test may be skipped: for what a machine can't do or lacks, and for nothing else."""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]

NOT_OURS = {
    "the run collection is not beside the checkout",
    "the format samples are not beside the checkout",
    "the task files are not beside the checkout",
    "the tasks of WebArena are not beside the checkout",
    "MiniWoB++ is not installed",
    "the MiniWoB++ pages are not installed, and there is no installer beside the checkout",
}
"""Data and pages of others, which can't be published with the code."""
NOT_INSTALLED = {
    "the extra 'encoder' is not installed",
    "the extra 'ocr' is not installed",
    "dbus-daemon is not installed",
    "desktop-file-utils is not installed",
    "mandoc is not installed",
    "the shell is not installed",
    "git is not installed",
    "Ray is an extra",
    "needs packages of others, each in an environment: make test-adapters",
    "harbor needs Python 3.12",
    "harbor can't be installed here",
    "webarena-verified is not installed: sitelore eval strict-setup",
}
NOT_ON_THIS_SYSTEM = {
    "an open file can't be taken away there",
    "looks at processes in /proc",
    "finds the worker in /proc",
    "a cluster on loopback, and the worker is found in /proc",
    "process groups of POSIX",
    "an AppDir is for Linux",
    "no SIGTERM there",
    "no such files there",
    "pipes have no mode",
    "processes are killed in the way of POSIX",
    "processes are stopped in the way of POSIX",
    "process groups are killed in the way of POSIX",
    "rights are another thing there",
    "there is always a display there",
    "a matter of access lists there",
    "a pipe is not opened this way",
    "a process can give up less there",
    "writers are forked",
    "only there a file's name may be any bytes",
}
NOT_ALLOWED_HERE = {
    "no small disk can be mounted here",
    "only root gives folders away",
    "root alone is refused the sandbox",
    "root may read everything",
    "this machine allows no user namespaces",
    "this process may not mount a disk",
    "this is no git checkout",
    "there is no shop, and none could be installed",
}
JUSTIFIED = NOT_OURS | NOT_INSTALLED | NOT_ON_THIS_SYSTEM | NOT_ALLOWED_HERE
ASKS_THE_MACHINE = {"str(missing)"}
"""Reasons that are the message of a missing browser; where ``CI`` is set a missing one fails instead."""


def reasons() -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for path in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or ast.unparse(node.func) not in {
                "pytest.skip",
                "pytest.mark.skipif",
            }:
                continue
            given = [word.value for word in node.keywords if word.arg == "reason"] or node.args[:1]
            for value in given:
                text = value.value if isinstance(value, ast.Constant) else ast.unparse(value)
                found.add((path.relative_to(TESTS).as_posix(), str(text)))
    return found


def test_every_skip_is_justified() -> None:
    unjustified = {one for one in reasons() if one[1] not in JUSTIFIED | ASKS_THE_MACHINE}
    assert unjustified == set()


def test_nothing_is_expected_to_fail() -> None:
    marked = [str(path) for path in TESTS.rglob("test_*.py") if "mark.x" + "fail" in path.read_text("utf-8")]
    assert marked == []
