"""Clusters of failures at 338 to 2,700 runs, with the queue's rows they count, beside reading these rows alone.

The runs are those of an imported workspace (``SITELORE_RUNS``), repeated under other ids in a temporary index: their
flags, steps and errors stay, so that clusters grow with the runs. Without that variable made-up runs take their place.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from app.engine.api.run_rows import RunFilter
from app.engine.services.clustering import cluster_workspace, filtered_rows
from app.engine.store.run_index import RunIndex
from app.engine.store.run_search_text import COLUMNS
from app.engine.store.workspace import Workspace
from benchmarks.queue import fill

SIZES = (338, 675, 1350, 2700)
BUDGET_MS = 500.0
"""Most milliseconds for the clusters of 1,350 runs."""
ROUNDS = 7


def copy_of(workspace: Path | None, into: Path) -> Path:
    """Return a workspace's two files of Review in a folder of their own."""
    if workspace is None:
        with Workspace.open(into) as made:
            fill(made, SIZES[0])
        return into
    into.mkdir()
    for name in ("index.sqlite", "review.sqlite"):
        shutil.copyfile(workspace / name, into / name)
    return into


def resize(index: RunIndex, runs: int) -> None:
    """Repeat or remove runs until there are so many."""
    connection = index.connection
    with index.batch():
        ids = [row[0] for row in connection.execute("SELECT id FROM run ORDER BY id")]
        index.remove(ids[runs:])
        for number in range(len(ids), runs):
            _repeat(index, ids[number % len(ids)], f"again-{number}")


def _repeat(index: RunIndex, run: str, name: str) -> None:
    execute = index.connection.execute
    for table, key in (("run", "id"), ("flag", "run")):
        columns = [row[1] for row in execute(f"PRAGMA table_info({table})") if row[1] != key]
        listed = ", ".join(columns)
        execute(
            f"INSERT INTO {table} ({key}, {listed}) SELECT ?, {listed} FROM {table} WHERE {key} = ?",
            (name, run),
        )
    words = ", ".join(COLUMNS)
    first = int(execute("SELECT max(id) FROM page").fetchone()[0]) + 1
    pages = execute("SELECT id, step, url, site, by_hand FROM page WHERE run = ?", (run,)).fetchall()
    for row, (old, *page) in enumerate(pages, first):
        execute(
            "INSERT INTO page (id, run, step, url, site, by_hand) VALUES (?,?,?,?,?,?)", (row, name, *page)
        )
        execute(
            f"INSERT INTO words (rowid, {words}) SELECT ?, {words} FROM words WHERE rowid = ?", (row, old)
        )


def milliseconds(work: Callable[[], object]) -> tuple[float, float]:
    """Return the shortest and the median processor time of a few rounds, in which nothing waits."""
    times: list[float] = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append((time.process_time() - start) * 1e3)
    return min(times), statistics.median(times)


def main() -> None:
    given = os.environ.get("SITELORE_RUNS", "")
    print(f"runs of {'a workspace' if given else 'no workspace: made up'}")
    print(
        f"{'runs':>6} {'failed':>7} {'clusters':>9} {'in pairs':>9} {'ms':>8} {'median':>8} {'rows ms':>8} {'ratio':>6}"
    )
    before = 0.0
    for runs in SIZES:
        with tempfile.TemporaryDirectory() as place:
            folder = copy_of(Path(given) if given else None, Path(place) / "w")
            index = RunIndex(folder / "index.sqlite", folder / "review.sqlite")
            resize(index, runs)
            floor, _ = milliseconds(lambda: index.rows(RunFilter(order="risk")))  # noqa: B023
            took, median = milliseconds(lambda: (index.rows(RunFilter()), cluster_workspace(index)))  # noqa: B023
            clusters = cluster_workspace(index)
            failed = sum(len(one.members) for one in clusters)
            pairs = sum(len(one.members) for one in clusters if len(one.members) > 1)
            print(
                f"{runs:6} {failed:7} {len(clusters):9} {pairs / max(failed, 1):9.0%} {took:8.1f} {median:8.1f}"
                f" {floor:8.1f} {took / floor:6.1f}"
                + (f"   x{took / before:.2f} for twice the runs" if before else "")
            )
            if runs == 1350:
                listed, _ = milliseconds(
                    lambda: filtered_rows(index, RunFilter(cluster=clusters[0].key))  # noqa: B023
                )
                print(f"       the rows of one cluster: {listed:.1f} ms; budget of clusters {BUDGET_MS:.0f} ms:"
                      f" {'kept' if median <= BUDGET_MS else 'MISSED'}")  # fmt: skip
            before = took
            index.close()


if __name__ == "__main__":
    main()
