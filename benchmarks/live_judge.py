"""How many questions the live judge would ask over published runs: ``python -m benchmarks.live_judge``.

No model is asked. Every stored run is gone through step by step with the rules and the rule of ``when_to_ask``, as if
each question were answered before the next step. The runs record no observed effect, so no question is asked because
an expected effect was not seen; those would come on top until the budget is used up. Whether an answer would be right
is not measured.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass, replace

from app.engine.agent.judging.live_judge import last_acted
from app.engine.agent.judging.when_to_ask import AskedSoFar, AskReason, JudgeLimits, question_key, when_to_ask
from app.engine.core.sites import load_sites
from app.engine.core.trajectory import Run, Step
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.runner import RuleRunner, context_of, detect_run
from app.engine.imports.colorbrowseragent import find_runs
from benchmarks.published_runs import ROOT, roots
from tests.support.runs import read_run

LIMITS = JudgeLimits(calls=12, every=5)


@dataclass(frozen=True)
class Asked:
    """The questions of one run, and the flags of the rules on it."""

    run: Run
    steps: int
    flags: list[Flag]
    reasons: list[AskReason]

    @property
    def about_steps(self) -> int:
        return sum(reason is not AskReason.CLAIM for reason in self.reasons)


def questions(run: Run, steps: list[Step], usual: float) -> list[AskReason]:
    """The reasons of a run's questions, in order."""
    rules, asked, reasons = RuleRunner(context_of(run, usual)), AskedSoFar(), list[AskReason]()
    for step in steps:
        reason = when_to_ask(step, rules.see(step), asked, LIMITS)
        if reason is not None:
            reasons.append(reason)
            last = asked.last if reason is AskReason.CLAIM else step.index
            keys = asked.keys | {question_key(step, asked.acted)}
            asked = replace(asked, calls=asked.calls + 1, last=last, keys=keys)
        asked = replace(asked, acted=last_acted(step, asked.acted))
    return reasons


def spread(counts: list[int]) -> str:
    ninety = sorted(counts)[min(len(counts) - 1, int(0.9 * len(counts)))]
    return f"median {statistics.median(counts):g}, 90th percentile {ninety}, most {max(counts)}"


def main() -> None:
    if not ROOT.is_dir():
        print("live judge: the run collection is not beside the checkout; nothing measured")
        return
    with roots() as places:
        read = [read_run(folder, place, load_sites()) for place in places for folder in find_runs(place)]
    lengths: dict[str, list[int]] = defaultdict(list)
    for one in read:
        lengths[one.run.site].append(one.run.step_count)
    usual = {site: statistics.median(counts) for site, counts in lengths.items()}
    cases = [
        Asked(
            one.run,
            len(one.steps),
            detect_run(one.run, one.steps, usual[one.run.site]),
            questions(one.run, one.steps, usual[one.run.site]),
        )
        for one in read
    ]
    kinds = Counter(reason.value for case in cases for reason in case.reasons)
    print(
        f"{len(cases)} runs of {statistics.median(case.steps for case in cases):g} steps (median), N=5, budget 12"
    )
    print(f"questions: {spread([len(case.reasons) for case in cases])}; {dict(kinds)}")
    print(f"the budget used up in {sum(len(case.reasons) == LIMITS.calls for case in cases)} runs")
    failed = [case for case in cases if case.run.failed]
    for name, silent in (
        ("no flag at all", [case for case in failed if not case.flags]),
        (
            "no warning or error",
            [case for case in failed if all(flag.severity is Severity.HINT for flag in case.flags)],
        ),
    ):
        steps = sum(case.about_steps > 0 for case in silent)
        any_ = sum(bool(case.reasons) for case in silent)
        print(
            f"failed runs with {name}: {len(silent)} of {len(failed)}; asked about a step in {steps},"
            f" at all before the end in {any_}"
        )


if __name__ == "__main__":
    main()
