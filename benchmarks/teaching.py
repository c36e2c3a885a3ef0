"""Lessons of verdicts for the ranking: the correction by similar goals, and the order in which the program asks.

Verdicts are simulated from the recorded score, as in ``benchmarks.risk``; messages that tell the outcome are masked.
The formula and its constants come from a study of 1,350 published runs, these among them, and were not chosen here.
How often a covering pick is asked (``EVERY``), and when similar goals are in use, were chosen on the WebArena runs;
WebChoreArena is the part to go by. (That a fit must beat similar goals beyond doubt was written after a first look at
WebChoreArena, where the fit in use was the worse one; WebArena has no case that tells.) Three ways to look:

- the runs not yet judged, beside the built-in ranking on the same: asking about risky runs leaves a harder rest;
- runs that were never up for asking, the same for every way of asking;
- every run by verdicts on the other tasks, or the other templates, alone.

Intervals are 95 % bootstrap intervals over templates of tasks.
"""

from __future__ import annotations

import random
import statistics
import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from app.engine.detectors.cross_validation import (
    MIN_SIMILAR,
    CrossValidation,
    auroc,
    cross_validate,
    findings,
    held_out_corrections,
)
from app.engine.detectors.ranking import RankedRun
from app.engine.detectors.risk import JudgedRun, RiskModel, fit
from app.engine.detectors.similar_goals import Finding, RunGoal, SimilarGoals, corrected_logit
from app.engine.detectors.teaching import EVERY, covering_picks, teaching_order
from benchmarks.risk import ROOT, Case, load_cases

COUNTS = (20, 40, 100)
ORDERS, RESAMPLES, HALVES = 15, 1000, 15
ASKED_OF = 0.65
"""Share of the runs that may be asked about where the others are the measure."""
PRIOR = RiskModel()
Values = Mapping[str, float]


class Suite:
    """The runs of one suite: goals, examples and log odds by the built-in ranking."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = {case.example.run: case for case in cases}
        self.goals = SimilarGoals(case.goal for case in cases)
        self.cold = {run: PRIOR.logit(case.example) for run, case in self.cases.items()}

    def failed(self, run: str) -> bool:
        return self.cases[run].example.failed

    def examples(self, runs: Collection[str]) -> list[JudgedRun]:
        return [self.cases[run].example for run in runs]

    def corrected(self, judged: Collection[str]) -> dict[str, float]:
        found = self.goals.corrections(findings(self.examples(judged), self.cold))
        return {run: corrected_logit(logit, found.get(run)) for run, logit in self.cold.items()}

    def in_use(self, judged: Collection[str]) -> tuple[CrossValidation, Values]:
        """The comparison of the rankings after these verdicts, and the values of the one in use."""
        trial = cross_validate(self.examples(judged), self.goals)
        match trial.in_use:
            case "similar goals":
                return trial, self.corrected(judged)
            case "fitted":
                model = fit(self.examples(judged))
                return trial, {run: model.logit(case.example) for run, case in self.cases.items()}
            case _:
                return trial, self.cold

    def area(self, values: Values, runs: Sequence[str]) -> float:
        return auroc([values[run] for run in runs], [self.failed(run) for run in runs])

    def ask(self, count: int, every: int, among: Collection[str] | None = None) -> list[str]:
        """The runs that the program asks about; ``every`` 0 asks about the riskiest alone.

        From ``MIN_SIMILAR`` verdicts on it goes by the corrected ranking: which ranking would be in use is left out.
        """
        judged: list[str] = []
        open_runs = set(self.cases if among is None else among)
        goals = SimilarGoals(case.goal for run, case in self.cases.items() if run in open_runs)
        values: Values = self.cold
        while len(judged) < count and open_runs:
            waiting = sorted(open_runs, key=lambda run: (-values[run], run))
            picks = covering_picks(goals, judged, waiting, limit=2) if every else []
            run = teaching_order(waiting, picks, len(judged), every)[0][0] if every else waiting[0]
            judged.append(run)
            open_runs.discard(run)
            values = self.corrected(judged) if len(judged) >= MIN_SIMILAR else self.cold
        return judged

    def interval(self, values: Values, runs: Sequence[str]) -> str:
        """Area on these runs, and its difference to the built-in ranking, with intervals over templates."""
        by_template: dict[str, list[str]] = defaultdict(list)
        for run in runs:
            by_template[self.cases[run].template].append(run)
        groups = list(by_template.values())
        chance = np.random.default_rng(7)
        found: list[tuple[float, float]] = []
        for _ in range(RESAMPLES):
            places: list[int] = chance.integers(0, len(groups), len(groups)).tolist()
            drawn = [run for at in places for run in groups[at]]
            area = self.area(values, drawn)
            found.append((area, area - self.area(self.cold, drawn)))
        (low, worse), (high, better) = np.nanpercentile(np.array(found), [2.5, 97.5], axis=0)
        area, cold = self.area(values, runs), self.area(self.cold, runs)
        return (
            f"{area:.3f} [{low:.2f}, {high:.2f}], built-in there {cold:.3f},"
            f" difference {area - cold:+.3f} [{worse:+.2f}, {better:+.2f}]"
        )


def report_rest(suite: Suite) -> None:
    runs = sorted(suite.cases)
    print("  AUROC on the runs not judged yet")
    for count in COUNTS:
        if count > len(runs) - 20:
            continue
        areas: list[tuple[float, float, float]] = []
        for seed in range(ORDERS):
            order = random.Random(seed).sample(runs, len(runs))
            rest = order[count:]
            used = suite.in_use(order[:count])[1]
            areas.append(
                (
                    suite.area(suite.corrected(order[:count]), rest),
                    suite.area(used, rest),
                    suite.area(suite.cold, rest),
                )
            )
        always, used, cold = (statistics.mean(column) for column in zip(*areas, strict=True))
        spread = statistics.stdev(one - other for one, _, other in areas)
        worse = sum(one < other for _, one, other in areas)
        print(
            f"    {count:3d} at random, {ORDERS} orders: corrected {always:.3f}, in use {used:.3f},"
            f" built-in {cold:.3f} (spread of the gain {spread:.3f}; in use worse than built-in in {worse})"
        )
    for name, every in (
        ("covering picks alone", 1),
        (f"every {EVERY}rd covering", EVERY),
        ("riskiest alone", 0),
    ):
        asked = suite.ask(min(COUNTS[-1], len(runs) - 20), every)
        for count in COUNTS:
            judged = asked[:count]
            rest = [run for run in runs if run not in set(judged)]
            trial, used = suite.in_use(judged)
            print(
                f"    {count:3d} {name} ({sum(map(suite.failed, judged))} of them failed):"
                f" corrected {suite.interval(suite.corrected(judged), rest)};"
                f" in use {trial.in_use} {suite.area(used, rest):.3f}"
            )


def report_apart(suite: Suite) -> None:
    """Gains on runs that are never up for asking; the same runs for every way of asking."""
    runs = sorted(suite.cases)
    cut = int(len(runs) * ASKED_OF)
    counts = [count for count in (20, 40, 60, 80) if count <= cut]
    print(f"  gain in AUROC on {len(runs) - cut} runs that are never asked about, {HALVES} divisions")
    for every in (1, 2, 3, 4, 0, None):
        gains: dict[int, list[float]] = defaultdict(list)
        failed: dict[int, list[int]] = defaultdict(list)
        for seed in range(HALVES):
            order = random.Random(seed).sample(runs, len(runs))
            asked = order[:cut] if every is None else suite.ask(counts[-1], every, order[:cut])
            for count in counts:
                judged, apart = asked[:count], order[cut:]
                gains[count].append(
                    suite.area(suite.corrected(judged), apart) - suite.area(suite.cold, apart)
                )
                failed[count].append(sum(map(suite.failed, judged)))
        name = {None: "at random", 0: "riskiest alone", 1: "covering alone"}.get(
            every, f"covering 1 in {every}"
        )
        told = [
            f"{count}: {statistics.mean(gains[count]):+.3f} ({statistics.stdev(gains[count]) / HALVES**0.5:.3f}),"
            f" {statistics.mean(failed[count]):.0f} failed"
            for count in counts
        ]
        print(f"    {name:16s} {'; '.join(told)}")


def report_domain(suite: Suite) -> None:
    """Every run by verdicts on all others but those of its task, or of its template."""
    runs = sorted(suite.cases)
    examples = suite.examples(runs)
    logits = [suite.cold[run] for run in runs]
    apart = [replace(one, task=suite.cases[one.run].template) for one in examples]
    for name, judged in (("5-fold, tasks apart", examples), ("5-fold, templates apart", apart)):
        values = dict(zip(runs, held_out_corrections(judged, logits, suite.goals, 0), strict=True))
        print(f"  {name}: corrected {suite.interval(values, runs)}")
    print(f"  every run judged: {cross_validate(examples, suite.goals).why}")


def report_shuffled(suite: Suite) -> None:
    """Goals exchanged within their site, so that there is nothing to learn from them."""
    for count in COUNTS[1:]:
        used = 0
        gains: list[float] = []
        for seed in range(ORDERS):
            dice = random.Random(seed)
            by_site: dict[str, list[Case]] = defaultdict(list)
            for case in suite.cases.values():
                by_site[case.goal.site].append(case)
            shuffled: list[Case] = []
            for cases in by_site.values():
                texts = dice.sample([case.goal.text for case in cases], len(cases))
                shuffled += [
                    replace(case, goal=replace(case.goal, text=text))
                    for case, text in zip(cases, texts, strict=True)
                ]
            other = Suite(shuffled)
            order = dice.sample(sorted(other.cases), len(other.cases))
            trial, values = other.in_use(order[:count])
            used += trial.in_use == "similar goals"
            gains.append(other.area(values, order[count:]) - other.area(other.cold, order[count:]))
        print(
            f"  goals exchanged, {count} verdicts: similar goals in use in {used} of {ORDERS} orders;"
            f" gain {statistics.mean(gains):+.3f}, least {min(gains):+.3f}"
        )


def made_goals(cases: Sequence[Case], count: int) -> list[RunGoal]:
    """Goals like those of the collection; beyond it, a quarter of the words is exchanged."""
    dice = random.Random(1)
    words = " ".join(case.goal.text for case in cases).split()
    made: list[RunGoal] = []
    for number in range(count):
        source = cases[number % len(cases)].goal
        text = source.text.split()
        for _ in range(len(text) // 4 if number >= len(cases) else 0):
            text[dice.randrange(len(text))] = dice.choice(words)
        made.append(RunGoal(f"run {number}", source.site, " ".join(text)))
    return made


def report_cost(cases: Sequence[Case]) -> None:
    """CPU time: reading the goals, the first correction, one more verdict, and picks, beside a full new ranking."""
    for count, verdicts in ((1350, 100), (1350, 300), (4050, 300), (12150, 300)):
        known = made_goals(cases, count)
        dice = random.Random(2)
        order = dice.sample(range(count), count)
        examples = [
            replace(cases[at % len(cases)].example, run=known[at].run, task=known[at].run)
            for at in order[:verdicts]
        ]
        began = time.process_time()
        goals = SimilarGoals(known)
        built = time.process_time() - began
        judged = {one.run: Finding(one.failed, 0.3) for one in examples}
        began = time.process_time()
        goals.corrections(judged)
        first = time.process_time() - began
        more: list[float] = []
        for at in order[verdicts : verdicts + 9]:
            judged[known[at].run] = Finding(True, 0.3)
            began = time.process_time()
            goals.corrections(judged)
            more.append(time.process_time() - began)
        waiting = [known[at].run for at in order if known[at].run not in judged]
        picking: list[float] = []
        for _ in range(2):
            began = time.process_time()
            covering_picks(goals, judged, waiting)
            picking.append(time.process_time() - began)
        runs = {
            known[at].run: RankedRun(
                steps=cases[at % len(cases)].example.steps,
                usual_steps=cases[at % len(cases)].example.usual_steps,
                flags=cases[at % len(cases)].example.flags,
            )
            for at in range(count)
        }
        began = time.process_time()
        cross_validate(examples, goals)
        model = fit(examples)
        for run, one in runs.items():
            model.assess(run, one.flags, one.steps, one.usual_steps)
        full = time.process_time() - began
        once = statistics.median(more)
        print(
            f"  {count:5d} runs, {verdicts} verdicts: goals read {built * 1e3:.0f} ms, first correction"
            f" {first * 1e3:.0f} ms, one more verdict {once * 1e3:.1f} ms ({once / full:.1%} of the full new ranking,"
            f" {full * 1e3:.0f} ms); picks {picking[0] * 1e3:.0f} ms, again {picking[1] * 1e3:.0f} ms"
        )


def main() -> None:
    if not ROOT.is_dir():
        print("teaching: the run collection is not beside the checkout; nothing measured")
        return
    cases = load_cases()
    for name in ("webchorearena", "webarena"):
        suite = Suite([case for case in cases if case.suite == name])
        runs = sorted(suite.cases)
        many = len({suite.cases[run].template for run in runs})
        print(
            f"{name}: {len(runs)} runs of {many} templates, {sum(map(suite.failed, runs))} failed;"
            f" built-in AUROC {suite.area(suite.cold, runs):.3f}"
        )
        report_rest(suite)
        report_apart(suite)
        report_domain(suite)
        report_shuffled(suite)
    print("cost, CPU time")
    report_cost(cases)


if __name__ == "__main__":
    main()
