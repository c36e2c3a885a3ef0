"""Listing the review queue at 1,350 and 13,500 runs, beside reading the same rows without joining or making objects."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from app.engine.api.run_rows import RunFilter
from app.engine.core.verdicts import Flag, Label, Risk, Severity, Verdict
from app.engine.store.workspace import Workspace
from tests.support.runs import make_run

SITES = ("gitlab", "map", "reddit", "shopping", "shopping_admin", "cross")
DETECTORS = ("state-action-loop", "no-effect", "step-limit", "hard-errors", "gave-up")


def fill(workspace: Workspace, runs: int) -> None:
    chance = random.Random(7)
    with workspace.index.batch():
        for number in range(runs):
            run = f"made-{number}-{number:08x}"
            head = make_run(
                run, site=chance.choice(SITES), score=chance.choice((0.0, 0.5, 1.0)), intent="Find " * 20
            )
            workspace.index.put_run(head, [], workspace.site_of)
            flags = [
                Flag(run=run, detector=name, step=1, severity=Severity.WARNING, confidence=0.5, message="odd")
                for name in chance.sample(DETECTORS, chance.randrange(4))
            ]
            workspace.index.put_judgement(
                run, flags, Risk(run=run, value=chance.random(), suspect_step=1), "kind"
            )
            if number % 5 == 0:
                workspace.review.add_verdict(
                    Verdict(id=f"v{number}", run=run, label=chance.choice(list(Label)))
                )


def median_ms(work: Callable[[], object]) -> float:
    times: list[float] = []
    for _ in range(11):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def main() -> None:
    print(f"{'runs':>6} {'what':28} {'ms':>8} {'ratio':>6}")
    for runs in (1_350, 13_500):
        with tempfile.TemporaryDirectory() as place, Workspace.open(Path(place) / "w") as workspace:
            fill(workspace, runs)
            index, connection = workspace.index, workspace.index.connection
            floor = median_ms(lambda: connection.execute("SELECT * FROM run ORDER BY risk DESC").fetchall())  # noqa: B023
            print(f"{runs:6} {'plain rows':28} {floor:8.2f} {1:6.1f}")
            for name, which in (
                ("all, by risk", RunFilter(order="risk")),
                ("failed, unjudged, by risk", RunFilter(failed=True, unjudged=True, order="risk")),
                ("one site and detector", RunFilter(site="map", detector="no-effect")),
                ("with a search", RunFilter(search="find made 13", order="risk")),
            ):
                took = median_ms(lambda: index.rows(which))  # noqa: B023
                print(f"{runs:6} {name:28} {took:8.2f} {took / floor:6.1f}")


if __name__ == "__main__":
    main()
