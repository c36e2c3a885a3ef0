"""The detectors on the published runs: how often each fires and is right, and the cost of all together.

Precision and recall are by the recorded score (below 1 is a failure), which no detector reads, with the messages of
WebArena's state tasks masked (see ``risk``), and WebChoreArena apart. Runs are divided in halves by template.
Thresholds and priors were chosen on the work half; of the sealed half only the precision and recall of early forms of
``answer-not-on-pages`` and ``untouched-constraint`` were seen before.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import orjson

from app.engine.core.trajectory import Outcome, Step
from app.engine.detectors.base import RunContext
from app.engine.detectors.runner import RULES, RuleRunner, detect_run
from app.engine.imports.source_files import ReadRun
from benchmarks.published_runs import (
    ROOT,
    is_sealed,
    published_runs,
    state_tasks,
    templates,
    usual_lengths,
)
from benchmarks.risk import masked

ROUNDS = 5


@dataclass(frozen=True)
class Fired:
    """A run and the detectors that fired on it, its message masked where it tells the outcome."""

    suite: str
    sealed: bool
    failed: bool
    detectors: frozenset[str]


def fired(runs: Sequence[ReadRun]) -> list[Fired]:
    usual, states, names = usual_lengths(list(runs)), state_tasks(), templates()
    found: list[Fired] = []
    for one in runs:
        run, steps = one.run, list(one.steps)
        state_task = run.suite == "webarena" and run.task_id in states
        if state_task and run.outcome in (Outcome.ANSWERED, Outcome.INFEASIBLE):
            run, steps = masked(run, steps)
        flags = detect_run(run, steps, usual[run.site], one.blobs.__getitem__)
        template = names.get((run.suite, run.task_id), run.task_id)
        found.append(
            Fired(
                run.suite,
                is_sealed(run.suite, template),
                run.failed,
                frozenset(flag.detector for flag in flags),
            )
        )
    return found


def report(found: Sequence[Fired]) -> None:
    columns = {
        f"{name} {half}": [one for one in found if one.suite == suite and one.sealed is (half == "sealed")]
        for suite, name in (("webarena", "WA"), ("webchorearena", "WCA"))
        for half in ("work", "sealed")
    }
    print("runs it fired on, precision, recall; WebArena (WA) with messages of state tasks masked")
    print(f"  {'':22s}" + "".join(f"{name:>18s}" for name in columns))
    told = (f"{sum(one.failed for one in part)}/{len(part)} failed" for part in columns.values())
    print(f"  {'base rate':22s}" + "".join(f"{words:>18s}" for words in told))
    for rule in RULES:
        cells: list[str] = []
        for part in columns.values():
            on = [one for one in part if rule.name in one.detectors]
            right = sum(one.failed for one in on)
            failed = sum(one.failed for one in part)
            cells.append(f"{len(on)}, {right / len(on):.2f}, {right / failed:.2f}" if on else "0")
        print(f"  {rule.name:22s}" + "".join(f"{cell:>18s}" for cell in cells))


def report_pages(runs: Sequence[ReadRun]) -> None:
    usual = usual_lengths(list(runs))
    for name, with_pages in (("without pages", False), ("with pages", True)):
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            for one in runs:
                load = one.blobs.__getitem__ if with_pages else None
                detect_run(one.run, one.steps, usual[one.run.site], load)
            best = min(best, time.process_time() - began)
        print(f"detection of {len(runs)} runs {name}: {best:.2f} s of CPU")


def microseconds(work: object, count: int) -> float:
    """Shortest time of a few rounds, a step."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()  # type: ignore[operator]
        best = min(best, time.perf_counter() - started)
    return best / count * 1e6


def detect(runs: Sequence[Sequence[Step]]) -> int:
    count = 0
    for steps in runs:
        watch = RuleRunner(RunContext(run="r", site="s", usual_steps=5))
        for step in steps:
            count += len(watch.see(step))
    return count


def as_one_run(steps: Sequence[Step], length: int) -> list[Step]:
    return [replace(steps[i % len(steps)], index=i) for i in range(length)]


def main() -> None:
    if not ROOT.is_dir():
        print("detectors: the run collection is not beside the checkout; nothing measured")
        return
    read = list(published_runs())
    report(fired([one for _, one in read]))
    report_pages([one for _, one in read])
    runs = [one.steps for first, one in read if first]
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
