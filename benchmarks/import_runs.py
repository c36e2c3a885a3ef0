"""Importing the shared collection, beside merely ``json.load``-ing the same files in the same process.

Then the same with a set four times as large (copies whose bytes differ), for time a run and peak memory, each in a
process of its own.  Also the comparison behind the choice of the compression level.
"""

from __future__ import annotations

import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import zstandard

from app.engine.detectors.risk import RiskModel, cluster_key
from app.engine.detectors.runner import detect_run
from app.engine.detectors.suspect import find_suspect
from app.engine.imports import colorbrowseragent
from app.engine.imports.importer import import_paths
from app.engine.store.workspace import Workspace
from tests.support.runs import COLLECTION, read

ROUNDS = 5


def processor_seconds() -> float:
    """Of this process and of those it has started and waited for (the import's helper)."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in both)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds."""
    wall, cpu = time.perf_counter(), processor_seconds()
    work()
    return time.perf_counter() - wall, processor_seconds() - cpu


def json_files(root: Path) -> list[Path]:
    return [path for folder in colorbrowseragent.find_runs(root) for path in folder.glob("*.json")]


def load_all(files: list[Path]) -> None:
    for path in files:
        with path.open(encoding="utf-8") as file:
            json.load(file)


def detect_all(workspace: Workspace, runs: tuple[str, ...]) -> None:
    model, usual = RiskModel(), workspace.index.site_lengths()
    with workspace.index.batch():
        for run_id in runs:
            run, steps = workspace.runs.load(run_id)
            typical = usual.get(run.site)
            flags = detect_run(run, steps, typical, workspace.runs.read_blob)
            suspect = find_suspect(run, steps, flags).step
            risk = model.assess(run_id, flags, run.step_count, typical, suspect=suspect)
            workspace.index.put_judgement(run_id, flags, risk, cluster_key(run, flags, steps))


def one_round(root: Path, files: list[Path]) -> list[tuple[float, float]]:
    with tempfile.TemporaryDirectory() as place, Workspace.open(Path(place) / "w") as workspace:
        floor = timed(lambda: load_all(files))
        reports = []
        imported = timed(lambda: reports.append(import_paths(workspace, [root])))
        judged = timed(lambda: detect_all(workspace, reports[0].runs))
    return [floor, imported, judged]


def ratios(root: Path) -> None:
    files = json_files(root)
    size = sum(path.stat().st_size for path in files) / 1e6
    one_round(root, files)
    rounds = [one_round(root, files) for _ in range(ROUNDS)]
    print(f"{len(files)} files, {size:.0f} MB; median of {ROUNDS} rounds")
    print(f"{'':22} {'wall s':>8} {'ratio':>6} {'cpu s':>8} {'ratio':>6}")
    walls = [[step[0] for step in row] for row in rounds]
    cpus = [[step[1] for step in row] for row in rounds]
    for name, pick in (
        ("json.load", lambda row: row[0]),
        ("import + index", lambda row: row[1]),
        ("import + index + detect", lambda row: row[1] + row[2]),
    ):
        wall, cpu = statistics.median(map(pick, walls)), statistics.median(map(pick, cpus))
        by_wall = statistics.median(pick(row) / row[0] for row in walls)
        by_cpu = statistics.median(pick(row) / row[0] for row in cpus)
        print(f"{name:23} {wall:8.3f} {by_wall:6.2f} {cpu:8.3f} {by_cpu:6.2f}")


def growth() -> None:
    print(f"\n{'copies':>6} {'runs':>5} {'s':>7} {'ms a run':>9} {'peak MB':>8}")
    for copies in (1, 4):
        with tempfile.TemporaryDirectory() as place:
            for number in range(copies):
                copy_with_other_bytes(Path(place) / f"set{number}", number)
            out = subprocess.run(
                [sys.executable, "-m", "benchmarks.import_runs", place],
                capture_output=True,
                text=True,
                check=True,
            )
        runs, seconds, peak = out.stdout.split()
        print(
            f"{copies:6} {runs:>5} {float(seconds):7.2f} {float(seconds) / int(runs) * 1e3:9.1f} {float(peak):8.0f}"
        )


def copy_with_other_bytes(into: Path, number: int) -> None:
    """The collection with blanks after each document, so that no copy is recognised as another."""
    shutil.copytree(COLLECTION / "trajectories", into, copy_function=shutil.copyfile)
    for folder in [into, *(path for path in into.rglob("*") if path.is_dir())]:
        folder.chmod(0o755)
    for path in into.rglob("*.json"):
        with path.open("a") as file:
            file.write(" " * (number + 1))


def import_once(root: Path) -> None:
    with tempfile.TemporaryDirectory() as place, Workspace.open(Path(place) / "w") as workspace:
        start = time.perf_counter()
        report = import_paths(workspace, [root])
        seconds = time.perf_counter() - start
    peak = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(report.imported, seconds, peak / 1024)


def levels() -> None:
    contents = {
        digest: data
        for folder in colorbrowseragent.find_runs(COLLECTION)
        for digest, data in read(f"{folder.parts[-3]}/{folder.name[5:]}").blobs.items()
    }
    size = sum(map(len, contents.values())) / 1e6
    print(f"\ncompressing {len(contents)} distinct trees and pages, {size:.1f} MB")
    print(f"{'level':>5} {'cpu s':>7} {'MB':>6}")
    for level in (-5, -1, 1, 3, 6):
        compressor = zstandard.ZstdCompressor(level=level)
        packed: list[int] = []
        _, cpu = timed(lambda: packed.extend(len(compressor.compress(data)) for data in contents.values()))  # noqa: B023
        print(f"{level:5} {cpu:7.3f} {sum(packed) / 1e6:6.2f}")


def main() -> None:
    if len(sys.argv) > 1 and Path(sys.argv[-1]).is_dir():
        import_once(Path(sys.argv[-1]))
        return
    if not COLLECTION.is_dir():
        print("the run collection is not beside the checkout")
        return
    ratios(COLLECTION)
    growth()
    levels()


if __name__ == "__main__":
    main()
