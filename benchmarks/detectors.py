"""Cost of all detectors together per step, beside parsing the step's line of JSON; and its growth."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import orjson

from app.engine.core.sites import load_sites
from app.engine.core.trajectory import Step
from app.engine.detectors.base import RunContext
from app.engine.detectors.runner import RULES, RuleRunner
from app.engine.imports.colorbrowseragent import find_runs
from tests.support.runs import read_run

SHARED = Path(os.environ.get("SITELORE_SHARED", Path(__file__).parents[2] / "shared"))
ROOT = SHARED / "data" / "colorbrowseragent"
ROUNDS = 5


def microseconds(work: object, count: int) -> float:
    """Shortest time of a few rounds, a step."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()  # type: ignore[operator]
        best = min(best, time.perf_counter() - started)
    return best / count * 1e6


def detect(runs: Sequence[Sequence[Step]]) -> int:
    found = 0
    for steps in runs:
        watch = RuleRunner(RunContext(run="r", site="s", usual_steps=5))
        for step in steps:
            found += len(watch.see(step))
    return found


def as_one_run(steps: Sequence[Step], length: int) -> list[Step]:
    return [replace(steps[i % len(steps)], index=i) for i in range(length)]


def main() -> None:
    if not ROOT.is_dir():
        print("detectors: the run collection is not beside the checkout; nothing measured")
        return
    runs = [read_run(folder, ROOT, load_sites()).steps for folder in find_runs(ROOT)]
    steps = [step for one in runs for step in one]
    lines = [orjson.dumps(step) for step in steps]
    floor = microseconds(lambda: [orjson.loads(line) for line in lines], len(lines))
    cost = microseconds(lambda: detect(runs), len(steps))
    size = sum(map(len, lines)) / len(lines)
    print(
        f"{len(RULES)} detectors over {len(steps)} steps of {len(runs)} real runs: {cost:.1f} us a step; "
        f"json of a step ({size:.0f} bytes) {floor:.1f} us; ratio {cost / floor:.2f}"
    )
    for length in (100, 1_000, 10_000):
        long = as_one_run(steps, length)
        print(
            f"  one run of {length} steps: {microseconds(lambda long=long: detect([long]), length):.1f} us a step"
        )


if __name__ == "__main__":
    main()
