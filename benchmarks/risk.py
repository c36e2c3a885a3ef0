"""How well the risk ranking tells failed runs from passed ones, beside "number of steps / site median".

Verdicts are simulated from the recorded score (below 1 is a failure); neither detectors nor ranking read it.  The
held-back runs are those whose task id has an odd BLAKE2b byte: this was settled before the detectors were first run on
real data, and the other runs alone were looked at while rules and prior were written.
"""

from __future__ import annotations

import hashlib
import os
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from app.engine.detectors.calibration import scorecard
from app.engine.detectors.risk import Example, RiskModel, fit
from app.engine.detectors.runner import detect_run
from app.engine.imports.colorbrowseragent import find_runs, read_run
from app.engine.judgement import Label, Verdict
from app.engine.sites import load_sites

SHARED = Path(os.environ.get("SITELORE_SHARED", Path(__file__).parents[2] / "shared"))
ROOT = SHARED / "data" / "colorbrowseragent"
ORDERS, RESAMPLES = 200, 2000


@dataclass(frozen=True)
class Case:
    task: str
    site: str
    held_back: bool
    example: Example


def held_back(task: str) -> bool:
    return hashlib.blake2b(task.encode(), digest_size=1).digest()[0] % 2 == 1


def load_cases() -> list[Case]:
    read = [read_run(folder, ROOT, load_sites()) for folder in find_runs(ROOT)]
    lengths: dict[str, list[int]] = defaultdict(list)
    for one in read:
        lengths[one.run.site].append(one.run.step_count)
    usual = {site: statistics.median(counts) for site, counts in lengths.items()}
    cases: list[Case] = []
    for one in read:
        run = one.run
        flags = detect_run(run, one.steps, usual[run.site])
        example = Example(
            run=run.id,
            flags=tuple(flags),
            steps=run.step_count,
            usual_steps=usual[run.site],
            failed=run.failed,
        )
        cases.append(Case(run.task_id, run.site, held_back(run.task_id), example))
    return cases


def auc(values: Sequence[float], failed: Sequence[bool]) -> float:
    """Chance that a failed run stands above a passed one, a tie counting half."""
    high = np.array([value for value, bad in zip(values, failed, strict=True) if bad])
    low = np.array([value for value, bad in zip(values, failed, strict=True) if not bad])
    if not len(high) or not len(low):
        return float("nan")
    above = (high[:, None] > low).sum() + 0.5 * (high[:, None] == low).sum()
    return float(above / (len(high) * len(low)))


def baseline(example: Example) -> float:
    return example.steps / (example.usual_steps or 1)


def by_model(model: RiskModel) -> Callable[[Example], float]:
    return lambda example: model.value(example.flags, example.steps, example.usual_steps)


def leave_one_site_out(cases: Sequence[Case]) -> dict[str, float]:
    values: dict[str, float] = {}
    for site in {case.site for case in cases}:
        model = by_model(fit([case.example for case in cases if case.site != site]))
        values |= {case.example.run: model(case.example) for case in cases if case.site == site}
    return values


def interval(values: Sequence[float], failed: Sequence[bool], beside: Sequence[float] | None = None) -> str:
    """95 % bootstrap interval of the area, or of its difference to another ranking's."""
    chance = np.random.default_rng(7)
    found: list[float] = []
    for _ in range(RESAMPLES):
        drawn = chance.integers(0, len(values), len(values))
        bad = [failed[i] for i in drawn]
        area = auc([values[i] for i in drawn], bad)
        found.append(area - (auc([beside[i] for i in drawn], bad) if beside else 0))
    low, high = np.nanpercentile(found, [2.5, 97.5])
    return f"[{low:+.2f}, {high:+.2f}]" if beside else f"[{low:.2f}, {high:.2f}]"


def after_verdicts(cases: Sequence[Case], count: int, only_held_back: bool) -> dict[str, list[float]]:
    """Areas on the runs not yet judged, after ``count`` verdicts in a random order: refitted, prior, baseline."""
    areas: dict[str, list[float]] = {"refitted": [], "prior": [], "baseline": []}
    for seed in range(ORDERS):
        order = list(cases)
        random.Random(seed).shuffle(order)
        rest = [case.example for case in order[count:] if case.held_back or not only_held_back]
        failed = [example.failed for example in rest]
        if len(set(failed)) < 2:
            continue
        model = fit([case.example for case in order[:count]])
        for name, value in (
            ("refitted", by_model(model)),
            ("prior", by_model(RiskModel())),
            ("baseline", baseline),
        ):
            areas[name].append(auc([value(example) for example in rest], failed))
    return areas


def report(title: str, cases: Sequence[Case], left_out: dict[str, float]) -> None:
    examples = [case.example for case in cases]
    failed = [example.failed for example in examples]
    steps = [baseline(example) for example in examples]
    prior = [by_model(RiskModel())(example) for example in examples]
    refit = [left_out[example.run] for example in examples]
    share = sum(failed) / len(failed)
    print(f"{title}: {len(cases)} runs, {sum(failed)} failed")
    print(f"  steps / site median        AUC {auc(steps, failed):.3f} {interval(steps, failed)}")
    for name, values in (("prior", prior), ("leave one site out", refit)):
        area = auc(values, failed)
        brier = statistics.mean((value - bad) ** 2 for value, bad in zip(values, failed, strict=True))
        print(
            f"  {name:26s} AUC {area:.3f} {interval(values, failed)}  ratio to baseline "
            f"{area / auc(steps, failed):.2f}, difference {interval(values, failed, steps)}; "
            f"Brier {brier:.3f} (base rate alone {share * (1 - share):.3f})"
        )


def report_verdicts(title: str, cases: Sequence[Case], only_held_back: bool) -> None:
    print(f"{title}, {ORDERS} random orders of verdicts: AUC mean (spread) on the runs not judged yet")
    for count in (20, 40):
        areas = after_verdicts(cases, count, only_held_back)
        told = ", ".join(
            f"{name} {statistics.mean(found):.3f} ({statistics.stdev(found):.3f})"
            for name, found in areas.items()
        )
        print(f"  after {count} verdicts: {told}")


def report_detectors(cases: Sequence[Case]) -> None:
    flags = {case.example.run: case.example.flags for case in cases}
    verdicts = {
        case.example.run: [
            Verdict(
                id="v",
                run=case.example.run,
                label=Label.WRONG_ANSWER if case.example.failed else Label.NOT_A_FAILURE,
            )
        ]
        for case in cases
    }
    print("each detector, by simulated verdicts on all runs: runs it called on, precision, recall")
    for score in scorecard(flags, verdicts, {}):
        rates = [f"{rate:.2f}" if rate is not None else "   -" for rate in (score.precision, score.recall)]
        print(f"  {score.detector:20s} {score.fired:3d}  {rates[0]}  {rates[1]}")
    silent = [case for case in cases if not case.example.flags]
    print(
        f"  no flag at all: {len(silent)} runs, {sum(case.example.failed for case in silent)} of them failed"
    )


def report_cost(cases: Sequence[Case]) -> None:
    examples = [case.example for case in cases]
    for copies in (1, 5, 25):
        many = [replace(example, run=f"{n} {example.run}") for n in range(copies) for example in examples]
        started = time.perf_counter()
        model = fit(many)
        fitted = time.perf_counter() - started
        started = time.perf_counter()
        for example in many:
            model.assess(example.run, example.flags, example.steps, example.usual_steps)
        each = (time.perf_counter() - started) / len(many)
        print(f"cost: refit on {len(many)} verdicts {fitted * 1e3:.0f} ms; risk of a run {each * 1e6:.0f} us")


def main() -> None:
    if not ROOT.is_dir():
        print("risk: the run collection is not beside the checkout; nothing measured")
        return
    cases = load_cases()
    left_out = leave_one_site_out(cases)
    report("all runs", cases, left_out)
    report("held-back runs", [case for case in cases if case.held_back], left_out)
    report("runs looked at", [case for case in cases if not case.held_back], left_out)
    report_verdicts("all runs", cases, only_held_back=False)
    report_verdicts("held-back runs", cases, only_held_back=True)
    report_detectors(cases)
    report_cost(cases)


if __name__ == "__main__":
    main()
