"""Fit the constants of ``kb.retrieval.calibration`` to the labelled steps of the half "work" (``tip_relevance``).

A logistic regression on the scores of the parts with a small quadratic penalty, whose weights may not be negative (a
higher score never speaks against a tip; being beside the topic and having arrived do, so those two are turned round).
Then what may be expected of it: each task template is judged by a fit without it.  First the precision at several
recalls, then the delivery with a threshold that the others alone chose, as the highest that keeps a recall of ``KEEP``
among them, and with the written one.  The same once more with what votes would add: one for each tip at each step of
other templates it was given at.  Last, the two people against each other: no rule can agree with one better than the
other does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.tip_relevance import HOSTS, encoder, labelled_steps, tips, withheld
from kb.retrieval import Retriever
from kb.retrieval.calibration import THRESHOLD
from kb.retrieval.cascade import points_of, probability_of, record_points
from kb.retrieval.destinations import Destinations, PageNames
from kb.retrieval.url import parse_address
from kb.tip import TipRecord

PARTS = (
    "words",
    "condition",
    "answer",
    "meaning",
    "page_words",
    "page_meaning",
    "url",
    "on_topic",
    "elsewhere",
)
PENALTY = 0.3
KEEP = 0.8
RECALLS = (0.9, 0.8, 0.7, 0.5)
Matrix = NDArray[np.float64]


def fit(scores: Matrix, useful: Matrix) -> Matrix:
    """Bias and weights, by Newton's method; a weight that comes out negative is held at 0."""
    chosen = np.ones(scores.shape[1] + 1, dtype=bool)
    whole = np.column_stack((np.ones(len(scores)), scores))
    penalty = np.diag([0.0, *[PENALTY] * scores.shape[1]])
    while True:
        columns, held = whole[:, chosen], penalty[np.ix_(chosen, chosen)]
        weights = np.zeros(columns.shape[1])
        for _ in range(30):
            odds = 1 / (1 + np.exp(-np.clip(columns @ weights, -30, 30)))
            slope = columns.T @ (odds - useful) + held @ weights
            spread = np.maximum(odds * (1 - odds), 1e-4)
            weights -= np.linalg.solve((columns * spread[:, None]).T @ columns + held + 1e-9, slope)
        full = np.zeros(len(chosen))
        full[chosen] = weights
        if (full[1:] >= 0).all():
            return full
        chosen[1:] &= full[1:] >= 0


def logits(weights: Matrix, scores: Matrix) -> Matrix:
    """The sums of rows."""
    return weights[0] + scores @ weights[1:]


def threshold_for(logit: Matrix, useful: Matrix, recall: float) -> float:
    """The highest threshold that keeps a recall."""
    hits = np.sort(logit[useful > 0])[::-1]
    return float(hits[min(len(hits) - 1, int(np.ceil(recall * len(hits))) - 1)])


def held_out(scores: Matrix, useful: Matrix, templates: NDArray[np.str_]) -> tuple[Matrix, Matrix]:
    """Each row's sum and threshold by a fit without its template; the threshold by folds among the others."""
    names = np.unique(templates)
    sums, thresholds = np.zeros(len(useful)), np.zeros(len(useful))
    for name in names:
        out = templates == name
        sums[out] = logits(fit(scores[~out], useful[~out]), scores[out])
        others = names[names != name]
        inner = np.zeros(len(useful))
        for fold in range(5):
            part = np.isin(templates, others[fold::5])
            inner[part] = logits(fit(scores[~part & ~out], useful[~part & ~out]), scores[part])
        thresholds[out] = threshold_for(inner[~out], useful[~out], KEEP)
    return sums, thresholds


@dataclass(frozen=True, slots=True)
class Pairs:
    """Tips at steps: the scores of each part, whether useful, and of which step, template and tip."""

    scores: Matrix
    useful: Matrix
    steps: NDArray[np.int64]
    templates: NDArray[np.str_]
    tips: NDArray[np.str_]


def pairs() -> Pairs:
    """The tips the gate admits at the steps of "work"."""
    pool = [tip for tip in tips() if not withheld(tip)]
    retriever = Retriever(pool, HOSTS, encoder())
    leads = {tip.id: Destinations.of(tip) for tip in pool}
    rows: list[list[float]] = []
    told: list[tuple[float, int, str, str]] = []
    for number, step in enumerate(step for step in labelled_steps() if step.half == "work"):
        names, parts = retriever.part_scores(step.query)
        page = PageNames.of(step.query, parse_address(step.query.url))
        scored = [getattr(parts, name) for name in PARTS[:-2]]
        elsewhere = np.array([0.0 if page.is_reached(leads[name]) else 1.0 for name in names])
        rows += np.stack(np.broadcast_arrays(*scored, 1.0 - parts.beside, elsewhere), axis=1).tolist()
        useful = step.first & step.second
        told += [(float(name in useful), number, step.template, name) for name in names]
    marks, steps, templates, names = zip(*told, strict=True)
    return Pairs(np.array(rows), np.array(marks), np.array(steps), np.array(templates), np.array(names))


def tell_curve(given: Pairs, sums: Matrix) -> None:
    """Print the highest precision at several recalls."""
    hits = np.cumsum(given.useful[np.argsort(-sums, kind="stable")])
    precision = hits / np.arange(1, len(hits) + 1)
    curve = (f"{precision[hits >= recall * hits[-1]].max():.2f} at {recall}" for recall in RECALLS)
    print(f"    highest precision by recall: {', '.join(curve)}")


def tell_delivery(given: Pairs, sums: Matrix, thresholds: Matrix) -> None:
    """Print what is given at the thresholds."""
    taken = np.flatnonzero(sums >= thresholds)
    of_step = [taken[given.steps[taken] == number] for number in np.unique(given.steps[taken])]
    right = np.mean([given.useful[rows[np.argmax(sums[rows])]] for rows in of_step])
    level = probability_of(round(1_000 * float(np.median(thresholds))))
    found = given.useful[taken].sum()
    print(
        f"    threshold {level}: {len(taken)} given, precision {found / len(taken):.2f}, recall "
        f"{found / given.useful.sum():.2f}, first right at {right:.2f} of {len(of_step)} steps"
    )


def voted(given: Pairs, sums: Matrix, thresholds: Matrix) -> Matrix:
    """The sums with a record: a vote for each tip at each step of other templates it was given at."""
    points = np.zeros(len(sums))
    for row, (template, tip) in enumerate(zip(given.templates, given.tips, strict=True)):
        others = given.useful[(given.tips == tip) & (given.templates != template) & (sums >= thresholds)]
        up = int(others.sum())
        points[row] = record_points(TipRecord(up=up, down=len(others) - up)) / 1_000
    return sums + points


def main() -> None:
    given = pairs()
    print(f"{len(given.useful)} pairs, {int(given.useful.sum())} useful; in thousandths of a logit")
    for told, kept in (("with meaning", PARTS), ("without", tuple(p for p in PARTS if "meaning" not in p))):
        columns = given.scores[:, [PARTS.index(name) for name in kept]]
        weights = fit(columns, given.useful)
        print(f"{told}\n  bias          {1000 * weights[0]:8.0f}")
        for name, weight, mean in zip(kept, weights[1:], columns.mean(axis=0), strict=True):
            print(f"  {name:<13} {1000 * weight:8.0f}   mean score {mean:.2f}")
        sums, thresholds = held_out(columns, given.useful, given.templates)
        written = np.full(len(sums), points_of(THRESHOLD) / 1_000)
        with_votes = voted(given, sums, written)
        print("  each template by a fit without it; by the threshold of the others, and by the written one")
        tell_curve(given, sums)
        tell_delivery(given, sums, thresholds)
        tell_delivery(given, sums, written)
        print("  the same with the votes of the other templates' steps")
        tell_curve(given, with_votes)
        tell_delivery(given, with_votes, written)
    steps = [step for step in labelled_steps() if step.half == "work"]
    both = sum(len(step.first & step.second) for step in steps)
    first, second = (
        sum(map(len, labels)) for labels in zip(*((s.first, s.second) for s in steps), strict=True)
    )
    print(f"the first person against the second: precision {both / first:.2f}, recall {both / second:.2f}")


if __name__ == "__main__":
    main()
