"""Run the stages of a check one after the other, some of them side by side, and say how each ended."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

RUNS_KEPT = 10
LAST_FAILED = ["--last-failed", "--last-failed-no-failures=none"]
"""pytest's own way to run again what failed, and nothing where it can't tell what did."""


@dataclass(frozen=True)
class Stage:
    """A command with the name it is reported by; ``cache`` is pytest's cache folder where it may be run again."""

    name: str
    command: list[str]
    cache: Path | None = None


@dataclass(frozen=True)
class Ended:
    """A finished stage: its exit code, its wall time, and the tests that passed only at the second try."""

    name: str
    code: int
    seconds: float
    retried: tuple[str, ...] = ()

    def line(self) -> str:
        """Return its row of the summary."""
        how = f", killed by signal {-self.code}" if self.code < 0 else ""
        how += f", {len(self.retried)} at the second try" if self.retried else ""
        return f"  {'FAILED' if self.code else 'ok    '} {self.name:<16} {self.seconds:7.1f} s{how}"


class Stages:
    """Runs groups of stages; those of a group run at the same time, and all run even if one fails."""

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str],
        step: Callable[[str], None],
        *,
        retry: bool = False,
    ) -> None:
        self._folder, self._environment, self._step, self._retry = folder, dict(environment), step, retry

    def run(self, groups: Sequence[Sequence[Stage]]) -> list[Ended]:
        """Run every group; the first stage of each writes to this console, the others' output follows it."""
        return [ended for group in groups for ended in self._group(group)]

    def _group(self, group: Sequence[Stage]) -> list[Ended]:
        self._step(", beside it: ".join(stage.name for stage in group))
        others = [_Background(stage, self._folder, self._environment) for stage in group[1:]]
        first, began = group[0], time.monotonic()
        code = subprocess.call(first.command, cwd=self._folder, env=self._environment)
        ended = [(first, Ended(first.name, code, time.monotonic() - began))]
        for stage, other in zip(group[1:], others, strict=True):
            done, said = other.end()
            print(f"--- {stage.name}\n{said}", flush=True)
            ended.append((stage, done))
        return [self._again(stage, done) for stage, done in ended]

    def _again(self, stage: Stage, ended: Ended) -> Ended:
        """Run once more the tests that failed, where that is asked for; they are named even if they pass now."""
        if not self._retry or stage.cache is None or ended.code != 1:
            return ended
        failed = tuple(last_failed(self._folder / stage.cache))
        self._step(f"{stage.name}: the {len(failed)} failed tests once more")
        code = subprocess.call([*stage.command, *LAST_FAILED], cwd=self._folder, env=self._environment)
        return Ended(ended.name, code, ended.seconds, failed)


class _Background:
    """A command that runs while another does; its output is kept for later."""

    def __init__(self, stage: Stage, folder: Path, environment: Mapping[str, str]) -> None:
        self._stage, self._began = stage, time.monotonic()
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 it is closed by end
        self._process = subprocess.Popen(
            stage.command, cwd=folder, env=dict(environment), stdout=self._output, stderr=subprocess.STDOUT
        )

    def end(self) -> tuple[Ended, str]:
        """Wait for it; return how it ended and its output."""
        code = self._process.wait()
        seconds = time.monotonic() - self._began
        self._output.seek(0)
        text = self._output.read().decode("utf-8", "replace")
        self._output.close()
        return Ended(self._stage.name, code, seconds), text


def last_failed(cache: Path) -> list[str]:
    """Return the tests that failed in the last run with this cache folder of pytest's."""
    try:
        return sorted(json.loads((cache / "v" / "cache" / "lastfailed").read_text("utf-8")))
    except (OSError, ValueError):
        return []


def record_retries(file: Path, retried: Sequence[str]) -> list[str]:
    """Add this run to the list of the last ten; return the tests that were retried in two of them or more."""
    try:
        runs: list[list[str]] = json.loads(file.read_text("utf-8"))["runs"]
    except (OSError, ValueError, KeyError):
        runs = []
    runs = [*runs, sorted(set(retried))][-RUNS_KEPT:]
    file.write_text(json.dumps({"runs": runs}, indent=1) + "\n", "utf-8")
    return sorted(
        name for name in {name for run in runs for name in run} if sum(name in run for run in runs) > 1
    )
