"""How well the risk ranking tells failed runs from passed ones, beside "number of steps / site median".

Verdicts are simulated from the recorded score (below 1 is a failure); neither detectors nor ranking read it.  All
published runs that lie beside the checkout are taken, 378 with the archive of further ones.

*Masked*: WebArena ends a run on a state task (evaluated by the address or the page alone) as soon as it has succeeded,
so only failing agents ever send a message there, and whoever reads the message knows the outcome.  The masked figures
hide that message and how such a run ended, and are the ones to go by.  WebChoreArena is scored on the answer alone,
has no such leak, and is given apart.

The held-back runs are those whose task id has an odd BLAKE2b byte: this was settled before the detectors were first run
on real data, and of the first 59 runs the others alone were looked at while rules and prior were written.
"""

from __future__ import annotations

import hashlib
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.engine.core.trajectory import Outcome, Run, Step
from app.engine.core.verdicts import Label, Verdict
from app.engine.detectors.base import FINAL_ACTIONS
from app.engine.detectors.cross_validation import auroc as auc
from app.engine.detectors.cross_validation import cross_validate
from app.engine.detectors.risk import JudgedRun, RiskModel, fit
from app.engine.detectors.runner import detect_run
from app.engine.detectors.scorecard import scorecard
from app.engine.detectors.similar_goals import RunGoal, SimilarGoals
from benchmarks.published_runs import ROOT, published_runs, state_tasks, templates, usual_lengths

ORDERS, RESAMPLES = 60, 2000


@dataclass(frozen=True)
class Case:
    """A run: ``seen`` as it was recorded, ``example`` the same masked, where ``hidden`` says that it had to be."""

    task: str
    suite: str
    site: str
    blocked_writes: bool
    first: bool
    state_task: bool
    hidden: bool
    seen: JudgedRun
    example: JudgedRun
    goal: RunGoal
    template: str


def held_back(task: str) -> bool:
    return hashlib.blake2b(task.encode(), digest_size=1).digest()[0] % 2 == 1


def masked(run: Run, steps: Sequence[Step]) -> tuple[Run, list[Step]]:
    """The run as one that its environment ended, without the message that the agent sent."""
    kept = [step for step in steps if step.action is None or step.action.kind not in FINAL_ACTIONS]
    outcome = Outcome.ENDED_BY_ENVIRONMENT
    return replace(run, outcome=outcome, answer=None, step_count=len(kept)), kept


def load_cases() -> list[Case]:
    read = list(published_runs())
    usual = usual_lengths([one for _, one in read])
    states, template_of = state_tasks(), templates()
    cases: list[Case] = []
    for first, one in read:
        run, steps = one.run, one.steps
        state_task = run.suite == "webarena" and run.task_id in states
        hidden = state_task and run.outcome in (Outcome.ANSWERED, Outcome.INFEASIBLE)

        def example(run: Run, steps: Sequence[Step], blobs: Mapping[str, bytes] = one.blobs) -> JudgedRun:
            return JudgedRun(
                run=run.id,
                flags=tuple(detect_run(run, steps, usual[run.site], blobs.__getitem__)),
                steps=run.step_count,
                usual_steps=usual[run.site],
                failed=run.failed,
                task=f"{run.suite} {run.task_id}",
            )

        seen = example(run, steps)
        shown = example(*masked(run, steps)) if hidden else seen
        cases.append(
            Case(
                run.task_id,
                run.suite,
                run.site,
                held_back(run.task_id),
                first,
                state_task,
                hidden,
                seen,
                shown,
                RunGoal(run.id, run.site, run.intent),
                f"{run.suite} {template_of.get((run.suite, run.task_id), run.task_id)}",
            )
        )
    return cases


def baseline(example: JudgedRun) -> float:
    return example.steps / (example.usual_steps or 1)


def by_model(model: RiskModel) -> Callable[[JudgedRun], float]:
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
        rest = [case.example for case in order[count:] if case.blocked_writes or not only_held_back]
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


def report_leak(cases: Sequence[Case]) -> None:
    print("built-in ranking, AUC with 95 % bootstrap interval")
    groups = {
        "all": list(cases),
        "WebArena": [case for case in cases if case.suite == "webarena"],
        "WebArena, state tasks": [case for case in cases if case.state_task],
        "WebChoreArena": [case for case in cases if case.suite == "webchorearena"],
        "the first 59": [case for case in cases if case.first],
        "further runs": [case for case in cases if not case.first],
    }
    value = by_model(RiskModel())
    for name, group in groups.items():
        failed = [case.example.failed for case in group]
        if len(set(failed)) < 2:
            continue
        told: list[str] = []
        for examples in ([case.example for case in group], [case.seen for case in group]):
            values = [value(example) for example in examples]
            told.append(f"{auc(values, failed):.3f} {interval(values, failed)}")
        hidden = sum(case.hidden for case in group)
        print(
            f"  {name:22s} {len(group):4d} runs, {sum(failed):3d} failed: masked {told[0]},"
            f" with the leak of {hidden:2d} messages {told[1]}"
        )


def main() -> None:
    if not ROOT.is_dir():
        print("risk: the run collection is not beside the checkout; nothing measured")
        return
    cases = load_cases()
    report_leak(cases)
    left_out = leave_one_site_out(cases)
    report("all runs, masked", cases, left_out)
    report("WebChoreArena", [case for case in cases if case.suite == "webchorearena"], left_out)
    report("held-back runs, masked", [case for case in cases if case.blocked_writes], left_out)
    trial = cross_validate([case.example for case in cases], SimilarGoals(case.goal for case in cases))
    print(f"the switch, every run judged, masked: {trial.why}")
    report_verdicts("all runs, masked", cases, only_held_back=False)
    report_detectors(cases)
    report_cost(cases)


if __name__ == "__main__":
    main()
