"""Text search over 20,000 and 80,000 steps, beside scanning the same texts with ``in``.

The steps are those of the shared collection repeated, each time with other numbers.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from app.engine.core.trajectory import Run, Step
from app.engine.imports import colorbrowseragent
from app.engine.store.run_search_text import run_row, step_row
from app.engine.store.workspace import Workspace
from tests.support.runs import COLLECTION, read

QUESTIONS = 200


def collection() -> list[tuple[Run, tuple[Step, ...]]]:
    reads = [
        read(f"{folder.parts[-3]}/{folder.name[5:]}") for folder in colorbrowseragent.find_runs(COLLECTION)
    ]
    return [(got.run, got.steps) for got in reads]


def fill(workspace: Workspace, steps: int) -> list[str]:
    """Index that many steps and return their texts."""
    texts: list[str] = []
    real, number = collection(), 0
    with workspace.index.batch():
        while len(texts) < steps:
            run, recorded = real[number % len(real)]
            copy = [replace(step, reason=f"{step.reason} copy{number} of{number % 97}") for step in recorded]
            workspace.index.put_run(replace(run, id=f"{run.id}-{number}"), copy, workspace.site_of)
            texts += [" ".join(step_row(step)) for step in copy] + [" ".join(run_row(run))]
            number += 1
    return texts


def questions(texts: list[str]) -> list[str]:
    """One to three words of a text, the last one truncated as while typing; some rare, some in every step."""
    chance = random.Random(3)
    asked = ["the", "click", "t", "cl", "page", "search results", "copy7", '"the user"']
    while len(asked) < QUESTIONS:
        words = chance.choice(texts).split()
        start = chance.randrange(max(len(words) - 3, 1))
        chosen = words[start : start + chance.randint(1, 3)]
        asked.append(" ".join(chosen)[: chance.randint(4, 30)])
    return asked


def main() -> None:
    if not COLLECTION.is_dir():
        print("the run collection is not beside the checkout")
        return
    print(f"{'rows':>6} {'p50 ms':>7} {'p95 ms':>7} {'worst':>7} {'scan p50':>9} {'scan/index':>10}")
    for steps in (20_000, 80_000):
        with tempfile.TemporaryDirectory() as place, Workspace.open(Path(place) / "w") as workspace:
            texts = fill(workspace, steps)
            asked = questions(texts)
            times: list[float] = []
            for text in asked:
                start = time.perf_counter()
                workspace.index.search(text, 50)
                times.append((time.perf_counter() - start) * 1e3)
            scans: list[float] = []
            low = [text.lower() for text in texts]
            for text in asked[:40]:
                words = text.lower().split()
                start = time.perf_counter()
                [at for at, one in enumerate(low) if all(word in one for word in words)][:50]
                scans.append((time.perf_counter() - start) * 1e3)
        times.sort()
        middle, scan = statistics.median(times), statistics.median(scans)
        print(
            f"{len(texts):6} {middle:7.2f} {times[int(len(times) * 0.95)]:7.2f} {times[-1]:7.2f}"
            f" {scan:9.2f} {scan / middle:10.1f}"
        )


if __name__ == "__main__":
    main()
