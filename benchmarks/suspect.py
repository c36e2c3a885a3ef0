"""Whether a failed run opens at the right step: the suspect step beside two people's labels.

``data/suspect_labels.jsonl`` holds 60 failed runs of as many templates, half WebArena's, each labelled twice and
independently with the one step to open first (``step``) and others that would do as well (``also``). *Right* is one of
these, *next to right* at most one step beside. The work half was looked at while the rule was written; the sealed half
was run once, when it was finished.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.engine.api.review_api import Suspect
from app.engine.core.trajectory import Run
from app.engine.detectors.runner import detect_run
from app.engine.detectors.suspect import find_suspect
from app.engine.evaluation.statistics.single_rates import wilson
from benchmarks.published_runs import MORE, ROOT, published_runs, usual_lengths

LABELS = Path(__file__).parent / "data" / "suspect_labels.jsonl"
WHO = ("first", "second")


@dataclass(frozen=True)
class Labelled:
    """A labelled run, the step it opens at now, and its last step."""

    half: str
    labels: tuple[dict[str, Any], dict[str, Any]]
    run: Run
    suspect: Suspect
    last: int


def load_labelled() -> list[Labelled]:
    rows = {row["run"]: row for row in map(json.loads, LABELS.read_text("utf-8").splitlines())}
    read = [one for _, one in published_runs()]
    usual = usual_lengths(read)
    found: list[Labelled] = []
    for one in read:
        row = rows.get(one.run.id)
        if row is not None:
            flags = detect_run(one.run, one.steps, usual[one.run.site], one.blobs.__getitem__)
            suspect = find_suspect(one.run, one.steps, flags)
            last = max(0, len(one.steps) - 1)
            found.append(Labelled(row["half"], (row["first"], row["second"]), one.run, suspect, last))
    return found


def is_right(step: int, label: dict[str, Any], within: int) -> bool:
    return any(abs(step - good) <= within for good in (label["step"], *label["also"]))


def share(hits: Sequence[bool]) -> str:
    low, high = wilson(sum(hits) / len(hits), len(hits))
    return f"{sum(hits):2d} of {len(hits)} = {sum(hits) / len(hits):.2f} [{low:.2f}, {high:.2f}]"


def report(name: str, cases: Sequence[Labelled], step: Callable[[Labelled], int]) -> None:
    for within, words in ((0, "right"), (1, "right or next to right")):
        hits = [tuple(is_right(step(case), label, within) for label in case.labels) for case in cases]
        told = [f"{who} {share([hit[at] for hit in hits])}" for at, who in enumerate(WHO)]
        print(f"  {name}, {words}: {'; '.join(told)}; both {share([all(hit) for hit in hits])}")


def kappa(cases: Sequence[Labelled]) -> float:
    pairs = [(case.labels[0]["label"], case.labels[1]["label"]) for case in cases]
    names = {label for pair in pairs for label in pair}
    by_chance = (
        sum(sum(one == name for one, _ in pairs) * sum(other == name for _, other in pairs) for name in names)
        / len(pairs) ** 2
    )
    return (sum(one == other for one, other in pairs) / len(pairs) - by_chance) / (1 - by_chance)


def main() -> None:
    if not ROOT.is_dir() or not MORE.exists():
        print("suspect: the run collection is not beside the checkout; nothing measured")
        return
    cases = load_labelled()
    same = [case.labels[0]["step"] == case.labels[1]["step"] for case in cases]
    near = [abs(case.labels[0]["step"] - case.labels[1]["step"]) <= 1 for case in cases]
    print(
        f"{len(cases)} labelled runs; the labellers agree on the step in {share(same)}, within one in {share(near)};"
    )
    print(f"  kappa of their verdicts {kappa(cases):.2f}")
    for half in sys.argv[1:] or ("work", "sealed"):
        here = [case for case in cases if case.half == half]
        print(f"{half} half, {len(here)} runs (95 % intervals by Wilson)")
        report("suspect step", here, lambda case: case.suspect.step)
        report("always the last step", here, lambda case: case.last)


if __name__ == "__main__":
    main()
