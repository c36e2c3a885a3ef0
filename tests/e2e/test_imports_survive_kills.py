"""An import killed at any moment loses nothing, and leaves no run without detection."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from app.engine.detectors.risk import DETECTOR_SET_HASH
from app.engine.store.run_files import blob_digests
from app.engine.store.workspace import Workspace
from tests.support.program import CHECKOUT, Sitelore
from tests.support.runs import COLLECTION, summary, write_run

RUNS, KILLS, SEED = 59, 5, 20240501
LONGEST = 120.0
"""Seconds after which the test gives an import up."""


def _some_runs(folder: Path) -> Path:
    if COLLECTION.is_dir():
        return COLLECTION
    for number in range(RUNS):
        write_run(folder / f"task_{number}", steps=12, about=summary(12, cum_reward=number / 100))
    return folder


def _in_place(workspace: Path) -> int:
    runs = workspace / "runs"
    return sum(not path.name.startswith(".") for path in runs.iterdir()) if runs.is_dir() else 0


def _killed(workspace: Path, root: Path, at: int, delay: float) -> bool:
    """Import until ``at`` runs are in place and ``delay`` seconds more, then kill; False if it ended before."""
    command = [sys.executable, "-m", "app", "--workspace", str(workspace), "import", str(root)]
    process = subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + LONGEST
        while process.poll() is None and _in_place(workspace) < at and time.monotonic() < until:
            time.sleep(0.005)
        time.sleep(delay)
        return process.poll() is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def _waiting(workspace: Path) -> int:
    with Workspace.open(workspace) as opened:
        return len(opened.index.runs_to_detect(DETECTOR_SET_HASH))


def test_an_import_killed_at_five_moments_leaves_no_run_lost_and_none_without_the_detectors(tmp_path: Path):
    root, dice = _some_runs(tmp_path / "root"), random.Random(SEED)
    place = tmp_path / "workspace"
    moments = [*sorted(dice.sample(range(1, RUNS - 5), KILLS - 1)), RUNS]  # the last while detectors look
    killed, waited = 0, 0
    for at in moments:
        killed += _killed(place, root, at, dice.uniform(0.0, 0.1))
        waited = max(waited, _waiting(place))
    assert killed >= KILLS - 1
    assert waited > 0, "no kill came before the detectors: the test shows nothing"

    report = Sitelore(place)("import", str(root))

    assert report["failed"] == []
    assert report["imported"] + report["skipped"] == RUNS
    rows = Sitelore(place)("runs", "list")
    assert len(rows) == RUNS
    assert [
        row["id"] for row in rows if not row["looked_at"] or not row["risk"] or not row["signature"]
    ] == []
    with Workspace.open(place) as opened:
        for row in rows:
            head, steps = opened.runs.load(row["id"])
            assert opened.runs.blobs.missing(blob_digests(head, steps)) == set()
