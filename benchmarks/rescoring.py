"""Scoring the published runs again, beside merely reading their files in the same process; and the agreement.

``python -m benchmarks.rescoring [FOLDER]``: a folder with runs of WebArena and WebChoreArena; by default the shared
collection, with the further runs beside it, which are unpacked into a temporary folder first (1.2 GB).

Three floors are shown: the bytes alone, the bytes with the hash that an import makes, and ``json.load``. The first
scoring is cold (it imports, starts the browser and Playwright); the others start the browser again each time.
"""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import zstandard

from app.engine.api.evaluation_api import RescoredRun
from app.engine.engine import Engine
from app.engine.evaluation.agreement import score_agreement, undecided_reasons
from app.engine.imports import colorbrowseragent
from app.engine.imports.source_files import MAX_JSON_BYTES, read_bytes
from tests.support.runs import COLLECTION, SHARED
from tests.support.suite_files import WEBCHOREARENA, WEBNAVIGATOR

ROUNDS = 3
MORE = SHARED / "data" / "colorbrowseragent-more.tar.zst"
SUITES = {"webarena": WEBNAVIGATOR, "webchorearena": WEBCHOREARENA}
DIALECTS = ("webchorearena", "webarena")
"""The first is the one that the runs were recorded by."""


def processor_seconds() -> float:
    """Of this process and of those it has started and waited for (the browser)."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in both)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds."""
    wall, cpu = time.perf_counter(), processor_seconds()
    work()
    return time.perf_counter() - wall, processor_seconds() - cpu


def run_folders(roots: list[Path]) -> list[Path]:
    return [folder for root in roots for folder in colorbrowseragent.find_runs(root)]


def read_all(folders: list[Path]) -> None:
    for folder in folders:
        for path in folder.glob("*.json"):
            read_bytes(path, MAX_JSON_BYTES)


def load_all(folders: list[Path]) -> None:
    for folder in folders:
        colorbrowseragent.load(folder, folder)


def parse_all(folders: list[Path]) -> None:
    for folder in folders:
        for path in folder.glob("*.json"):
            with path.open(encoding="utf-8") as file:
                json.load(file)


def score_all(roots: dict[str, list[Path]], dialect: str) -> dict[str, list[RescoredRun]]:
    """Score every run once, by the suite of its folder."""

    async def scoring(place: str) -> dict[str, list[RescoredRun]]:
        engine = await Engine.open(Path(place) / "workspace", "benchmark")
        try:
            return {
                suite: [
                    row
                    for root in roots[suite]
                    for row in await engine.rescore_folder(str(root), str(SUITES[suite]), dialect)
                ]
                for suite in roots
            }
        finally:
            await engine.aclose()

    with tempfile.TemporaryDirectory() as place:
        return asyncio.run(scoring(place))


def unpack(into: Path) -> Path:
    with (
        MORE.open("rb") as packed,
        zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(packed) as stream,
        tarfile.open(fileobj=stream, mode="r|") as archive,
    ):
        archive.extractall(into, filter="data")
    return into


def times(roots: dict[str, list[Path]]) -> dict[str, list[RescoredRun]]:
    folders = run_folders([root for of in roots.values() for root in of])
    size = sum(path.stat().st_size for folder in folders for path in folder.glob("*.json"))
    print(f"{len(folders)} runs, {size / 1e6:,.0f} MB; median of {ROUNDS} rounds, the first of all is cold")
    found: list[dict[str, list[RescoredRun]]] = []
    score = lambda: found.append(score_all(roots, DIALECTS[0]))  # noqa: E731
    read_all(folders)  # so that the system has the files in memory for all that follow
    cold = timed(score)
    rounds = [
        [timed(lambda work=work: work(folders)) for work in (read_all, load_all, parse_all)] + [timed(score)]
        for _ in range(ROUNDS)
    ]
    print(f"{'':34} {'wall s':>8} {'cpu s':>8}")
    names = ("reading bytes", "reading and hashing, as an import", "json.load", "scoring again")
    for at, name in enumerate(names):
        wall, cpu = (statistics.median(row[at][kind] for row in rounds) for kind in (0, 1))
        print(f"{name:34} {wall:8.2f} {cpu:8.2f}")
    print(f"{'scoring again, cold':34} {cold[0]:8.2f} {cold[1]:8.2f}")
    for at, name in enumerate(names[:3]):
        warm = statistics.median(row[3][0] / row[at][0] for row in rounds)
        least = statistics.median(row[at][0] for row in rounds)
        print(f"ratio to {name:34} warm {warm:6.2f}   cold {cold[0] / least:6.2f}")
    return found[-1]


def agreement(dialect: str, scored: dict[str, list[RescoredRun]]) -> None:
    print(f"\ndialect {dialect}")
    heads = ("runs", "decided", "agree", "same", "false pass", "false fail")
    print(f"{'suite':14} {'evaluators':26} " + " ".join(f"{head:>10}" for head in heads))
    for suite, rows in scored.items():
        kinds: dict[str, list[RescoredRun]] = {}
        for row in rows:
            kinds.setdefault(" + ".join(row.evaluators) or "no such task", []).append(row)
        for kind, of_kind in sorted(kinds.items()):
            one = score_agreement(of_kind)[-1]
            figures = (one.runs, one.decided, one.agree, one.same, one.false_pass, one.false_fail)
            print(f"{suite:14} {kind:26} " + " ".join(f"{figure:10d}" for figure in figures))
    for why, count in undecided_reasons([row for rows in scored.values() for row in rows]):
        print(f"  undecided {count:4d}  {why}")


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        given = [Path(argument) for argument in sys.argv[1:]]
        if not given:
            given = [COLLECTION, *([unpack(Path(place))] if MORE.is_file() else [])]
        roots = {
            suite: [path for root in given for path in sorted(root.rglob(f"trajectories/{suite}"))]
            for suite in SUITES
        }
        found = times({suite: of for suite, of in roots.items() if of})
        agreement(DIALECTS[0], found)
        for dialect in DIALECTS[1:]:
            agreement(dialect, score_all(roots, dialect))


if __name__ == "__main__":
    main()
