"""Opening a run of 35 MB at its suspect step, and stepping through it, beside ``json.load``-ing its files.

The run is made of real pages: records of the shared runs concatenated, the longest pages first.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

from app.engine.api.page_diff import step_view
from app.engine.core.verdicts import Risk
from app.engine.imports import colorbrowseragent
from app.engine.imports.importer import import_paths
from app.engine.store.workspace import Workspace
from tests.support.runs import COLLECTION

TARGET_MB = (9, 35)


def long_run(folder: Path, megabytes: int) -> int:
    """A run folder of about that size; its number of steps."""
    records = [
        path for run in colorbrowseragent.find_runs(COLLECTION) for path in run.glob("steps_info_*.json")
    ]
    records.sort(key=lambda path: path.stat().st_size, reverse=True)
    folder.mkdir(parents=True)
    written, number = 0, 0
    for path in records:
        if written > megabytes * 1e6:
            break
        record = json.loads(path.read_text())
        record["step"] = number
        text = json.dumps(record, indent=4)
        (folder / f"steps_info_{number}.json").write_text(text)
        written, number = written + len(text), number + 1
    summary = {
        "n_steps": number - 1,
        "cum_reward": 0,
        "err_msg": None,
        "terminated": False,
        "truncated": True,
    }
    (folder / "summary_info.json").write_text(json.dumps(summary))
    return number - 1


def show(workspace: Workspace, run: str, index: int) -> None:
    head, steps = workspace.runs.load(run)
    pages = [*steps, *([head.final] if head.final is not None else [])]
    step_view(
        run, pages[index], pages[index + 1] if index + 1 < len(pages) else None, workspace.runs.read_blob
    )


def main() -> None:
    if not COLLECTION.is_dir():
        print("the run collection is not beside the checkout")
        return
    print(
        f"{'MB':>3} {'steps':>5} {'json.load s':>11} {'open s':>7} {'ratio':>6} {'next ms':>9} {'p95':>6} {'worst':>6}"
    )
    for megabytes in TARGET_MB:
        with tempfile.TemporaryDirectory() as place:
            root = Path(place)
            steps = long_run(root / "runs" / "task_1", megabytes)
            with Workspace.open(root / "w") as workspace:
                (run,) = import_paths(workspace, [root / "runs"]).runs
                workspace.index.put_judgement(run, [], Risk(run=run, value=1.0, suspect_step=steps // 2), "")
            with Workspace.open(root / "w") as workspace:
                start = time.perf_counter()
                workspace.index.flags(run)
                workspace.review.verdicts(run)
                show(workspace, run, workspace.index.risk(run).suspect_step)
                opened = time.perf_counter() - start
                times: list[float] = []
                for index in range(steps):
                    start = time.perf_counter()
                    show(workspace, run, index)
                    times.append((time.perf_counter() - start) * 1e3)
            start = time.perf_counter()
            for path in (root / "runs" / "task_1").glob("*.json"):
                json.loads(path.read_text())
            floor = time.perf_counter() - start
        times.sort()
        print(
            f"{megabytes:3} {steps:5} {floor:11.3f} {opened:7.3f} {opened / floor:6.2f} {times[len(times) // 2]:9.1f}"
            f" {times[int(len(times) * 0.95)]:6.1f} {times[-1]:6.1f}"
        )


if __name__ == "__main__":
    main()
