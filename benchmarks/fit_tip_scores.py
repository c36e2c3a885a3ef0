"""Fit the constants of ``kb.retrieval.calibration`` to the labelled steps of the half "work" (``tip_relevance``).

A logistic regression by projected gradient descent on the scores of the parts, with weights that may not be negative
(a higher score never speaks against a tip) and a small quadratic penalty.  Then the delivery at several thresholds,
with the weights fitted without the template at hand (ten folds).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.tip_relevance import HOSTS, encoder, labelled_steps, tips, withheld
from kb.retrieval import Retriever

PARTS = ("words", "condition", "meaning", "page_words", "page_meaning", "url")
PENALTY = 0.01
Matrix = NDArray[np.float64]


def fit(scores: Matrix, useful: Matrix, rounds: int = 20_000) -> tuple[float, Matrix]:
    """Bias and weights."""
    weights, bias = np.zeros(scores.shape[1]), 0.0
    for _ in range(rounds):
        gap = 1 / (1 + np.exp(-(scores @ weights + bias))) - useful
        weights = np.maximum(0.0, weights - 2.0 * (scores.T @ gap / len(gap) + PENALTY / len(gap) * weights))
        bias -= 2.0 * float(gap.mean())
    return bias, weights


def main() -> None:
    retriever = Retriever([tip for tip in tips() if not withheld(tip)], HOSTS, encoder())
    rows: list[list[float]] = []
    useful: list[bool] = []
    templates: list[str] = []
    for step in labelled_steps():
        if step.half == "work":
            names, parts = retriever.part_scores(step.query)
            columns = np.broadcast_arrays(*(getattr(parts, name) for name in PARTS))
            for tip, row in zip(names, np.stack(columns, axis=1).tolist(), strict=True):
                rows.append(row)
                useful.append(tip in step.first & step.second)
                templates.append(step.template)
    scores, marks = np.array(rows), np.array(useful, dtype=float)
    print(f"{len(rows)} pairs, {int(marks.sum())} useful; in thousandths of a logit")
    for told, parts in (("with meaning", PARTS), ("without", tuple(p for p in PARTS if "meaning" not in p))):
        columns = scores[:, [PARTS.index(name) for name in parts]]
        bias, weights = fit(columns, marks)
        print(f"{told}\n  bias          {1000 * bias:8.0f}")
        for name, weight, mean in zip(parts, weights, columns.mean(axis=0), strict=True):
            print(f"  {name:<13} {1000 * weight:8.0f}   mean score {mean:.2f}")
    names = sorted(set(templates))
    fold = np.array([names.index(name) % 10 for name in templates])
    held = np.zeros(len(marks))
    for number in range(10):
        out = fold == number
        b, w = fit(scores[~out], marks[~out])
        held[out] = 1 / (1 + np.exp(-(scores[out] @ w + b)))
    print("held out: threshold, tips given, precision, recall")
    for threshold in (0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3):
        given = held >= threshold
        hits = float((given * marks).sum())
        print(
            f"  {threshold:.2f}  {given.sum():5d}  {hits / max(1, given.sum()):.2f}  {hits / marks.sum():.2f}"
        )


if __name__ == "__main__":
    main()
