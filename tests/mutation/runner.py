"""Run mutations one at a time in a copy of the checkout: apply, test, revert.

A fault counts as killed only where a named test fails or hangs with it and passes right after it was reverted, so
that neither a slow machine nor a test that always fails counts as a kill.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.mutation.mutation import Mutation

MOST_SECONDS = 150.0
"""For the tests of one mutation; beyond it they hang."""
HANGS = 60
"""Seconds after which a single test counts as hanging, and fails; not all that hangs can be ended so."""

_PASSED, _FAILED = 0, 1
_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "build", "dist", "demo-out"
)


class Verdict(StrEnum):
    """Outcome of a mutation."""

    KILLED = "killed"
    SURVIVED = "SURVIVED"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class MutationResult:
    """The result of one mutation; ``words`` names the test that killed it, or the problem."""

    mutation: Mutation
    verdict: Verdict
    seconds: float
    words: str = ""


class CheckoutCopy:
    """A copy of a checkout in which mutations are tried; the checkout itself is only read."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root, self._folder = root, folder
        listed = _tracked(root)
        if listed is None:
            shutil.copytree(root, folder, ignore=_LEFT_OUT)
            return
        for name in listed:
            source, target = root / name, folder / name
            if source.is_file() and not source.is_symlink():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)

    def run_all(self, mutation: Mutation) -> MutationResult:
        """Apply the fault, run its tests, revert it; a kill is confirmed without the fault."""
        began = time.monotonic()
        path = self._folder / mutation.file
        before = path.read_bytes()
        broken = mutation.applied(self._folder)
        shutil.rmtree(self._folder / ".pytest_cache", ignore_errors=True)
        try:
            self._write(path, broken.encode("utf-8"))
            code, said = self._test(mutation.tests, "-x")
        finally:
            self._write(path, before)
        verdict, words = self._judged(mutation, code, said)
        return MutationResult(mutation, verdict, time.monotonic() - began, words)

    def _judged(self, mutation: Mutation, code: int | None, said: str) -> tuple[Verdict, str]:
        if code == _PASSED:
            return Verdict.SURVIVED, mutation.clause
        if code is None:
            again, said = self._test(mutation.tests)
            if again == _PASSED:
                return Verdict.KILLED, f"its tests hang, and pass without the fault ({MOST_SECONDS:.0f} s)"
            return Verdict.ERROR, f"its tests fail or hang without the fault, too: {_end_of(said)}"
        failed = self._failed()
        if code != _FAILED or not failed:
            return Verdict.ERROR, f"pytest ended with {code}: {_end_of(said)}"
        again, said = self._test(mutation.tests, "--last-failed", "--last-failed-no-failures=none")
        if again != _PASSED:
            return Verdict.ERROR, f"{failed[0]} fails without the fault, too: {_end_of(said)}"
        return Verdict.KILLED, failed[0]

    def _test(self, files: tuple[str, ...], *options: str) -> tuple[int | None, str]:
        command = [
            sys.executable, "-m", "pytest", "-q", "--tb=short", "--hypothesis-seed=0", f"--timeout={HANGS}",
            "-o", "cache_dir=.pytest_cache", *options, *files,
        ]  # fmt: skip
        process = subprocess.Popen(
            command,
            cwd=self._folder,
            env=_environment(self._folder, self._root),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=MOST_SECONDS)
        except BaseException as reason:
            _end(process)
            if isinstance(reason, subprocess.TimeoutExpired):
                return None, ""
            raise
        return process.returncode, said

    def _failed(self) -> list[str]:
        """Return the tests that failed, from pytest's own record."""
        try:
            noted = json.loads((self._folder / ".pytest_cache/v/cache/lastfailed").read_text("utf-8"))
        except (OSError, ValueError):
            return []
        return sorted(noted)

    @staticmethod
    def _write(path: Path, data: bytes) -> None:
        """Replace the file and drop its bytecode, whose freshness Python judges by whole seconds and a length
        only.
        """
        path.unlink()
        path.write_bytes(data)
        for stale in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            stale.unlink()


def _environment(folder: Path, root: Path) -> dict[str, str]:
    fixed = {
        "QT_QPA_PLATFORM": "offscreen",
        "HF_HUB_OFFLINE": "1",
        "PYTHONUTF8": "1",
        "HYPOTHESIS_PROFILE": "deep",
        "SITELORE_TEST_ENCODER": str(root / ".pytest_cache" / "encoder"),
        "PYTHONPATH": str(folder),
    }
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | fixed


def _tracked(root: Path) -> list[str] | None:
    """Return the files that are or are about to be committed; ``None`` without git."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=root, capture_output=True, check=False)
    except OSError:
        return None
    names = listed.stdout.decode("utf-8", "surrogateescape").split("\0")
    return [name for name in names if name] if not listed.returncode else None


def _end(process: subprocess.Popen[str]) -> None:
    """End the process and its children: tests start browsers and engines of their own."""
    if os.name == "posix":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _end_of(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    return " / ".join(lines[-3:])
