"""Faults in the rules of comparing arms: the answer, its pairs, what counts as evidence, and the credit of tips."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

ANSWER, PAIRS, POOL, CREDIT = (
    f"app/engine/evaluation/{name}.py" for name in ("answering", "pairing", "pooling", "credit")
)
BOOTSTRAP, FLIPS, ALWAYS = (
    f"app/engine/evaluation/statistics/{name}.py"
    for name in ("cluster_bootstrap", "paired_tests", "always_valid")
)
_ANSWER = ("tests/unit/evaluation/test_answering.py",)
_COMPARING = ("tests/unit/evaluation/test_comparing.py",)
_CREDIT = ("tests/unit/evaluation/test_tip_credit.py",)
_BOOTSTRAP = ("tests/unit/evaluation/test_cluster_bootstrap.py",)
_FLIPS = ("tests/unit/evaluation/test_paired_tests.py",)
_ALWAYS = ("tests/unit/evaluation/test_always_valid.py",)

FAULTS = (
    Mutation(
        "answer-few-templates",
        ANSWER,
        "    if templates < MIN_TEMPLATES:\n",
        "    if templates < MIN_TEMPLATES - 1:\n",
        "With fewer than 8 templates there is not enough data, whatever the interval is.",
        _ANSWER,
    ),
    Mutation(
        "answer-above-zero",
        ANSWER,
        "    if low > 0:\n",
        "    if low >= 0:\n",
        "Better: the interval lies above 0.",
        _ANSWER,
    ),
    Mutation(
        "answer-same-needs-templates",
        ANSWER,
        " and templates >= templates_for_same(margin):\n",
        ":\n",
        "Same needs so many templates that an effect in a share of them would hardly have been missed.",
        _ANSWER,
    ),
    Mutation(
        "answer-early",
        PAIRS,
        "        low, high = always if self.early else (fixed.low, fixed.high)\n",
        "        low, high = (fixed.low, fixed.high)\n",
        "While the evaluation is not over, only the always-valid interval counts.",
        _COMPARING,
    ),
    Mutation(
        "answer-first-repeat",
        POOL,
        "EpisodeKey(task=task, repeat=0, arm=arm.name)",
        "EpisodeKey(task=task, repeat=head.repeats - 1, arm=arm.name)",
        "An early look takes the first repeats alone.",
        _COMPARING,
    ),
    Mutation(
        "pairs-undecided",
        PAIRS,
        "        return self.with_.rate is not None and self.without.rate is not None\n",
        "        return self.with_.rate is not None or self.without.rate is not None\n",
        "A task that is undecided in one arm is no pair.",
        _COMPARING,
    ),
    Mutation(
        "pairs-error-is-no-failure",
        POOL,
        "    return not record.error and record.verdict is not ScoreVerdict.UNDECIDED\n",
        "    return record.verdict is not ScoreVerdict.UNDECIDED\n",
        "An episode with an error is neither right nor wrong.",
        _COMPARING,
    ),
    Mutation(
        "pairs-mean-of-repeats",
        POOL,
        "        return fmean(self.passes) if self.passes else None\n",
        "        return float(any(self.passes)) if self.passes else None\n",
        "Repeats are averaged, never the best of them is taken.",
        _COMPARING,
    ),
    Mutation(
        "mixed-dialects",
        POOL,
        '            ("dialects", first.dialect, head.dialect),\n',
        "",
        "Evaluations of two dialects are never mixed.",
        _COMPARING,
    ),
    Mutation(
        "family-of-sites",
        PAIRS,
        "        corrected = holm([row.p for row in rows])\n",
        "        corrected = [row.p for row in rows]\n",
        "The groups of a family are corrected by Holm.",
        _COMPARING,
    ),
    Mutation(
        "interval-one-cluster",
        BOOTSTRAP,
        "    if count < 2:\n        return ClusteredMean(mean, lowest, highest, size, count, 0.0)\n",
        "    if count < 2:\n        return ClusteredMean(mean, mean, mean, size, count, 0.0)\n",
        "One template says nothing about others.",
        _BOOTSTRAP,
    ),
    Mutation(
        "interval-by-cluster",
        BOOTSTRAP,
        "        _, codes = np.unique(np.asarray(clusters), return_inverse=True)\n",
        "        codes = np.arange(len(values))\n",
        "Tasks of a template are drawn together.",
        _BOOTSTRAP,
    ),
    Mutation(
        "flips-whole-templates",
        FLIPS,
        "    return float((np.abs(_all_signs(count) @ differing) >= seen).mean())\n",
        "    return float(((_all_signs(count) @ differing) >= seen).mean())\n",
        "The sign-flip test looks at both sides.",
        _FLIPS,
    ),
    Mutation(
        "always-valid-level",
        ALWAYS,
        "np.maximum(up, down) / 2 < 1 / _ERROR",
        "np.maximum(up, down) / 2 < 0.1 / _ERROR",
        "The always-valid interval misses the truth at any look with a chance of 5 % at most.",
        _ALWAYS,
    ),
    Mutation(
        "credit-evidence",
        CREDIT,
        "    if templates < MIN_TEMPLATES:\n",
        "    if templates < 2:\n",
        "A tip that was seen in fewer than 8 templates has not enough data.",
        _CREDIT,
    ),
    Mutation(
        "credit-one-tip",
        CREDIT,
        "    return (LEFT_OUT, gone.pop()) if len(gone) == 1 and others < mine else",
        "    return (LEFT_OUT, gone.pop()) if len(gone) == 1 else",
        "Leaving out: the other base lacks this tip and is otherwise the same.",
        _CREDIT,
    ),
    Mutation(
        "credit-tainted",
        CREDIT,
        "for record in records if task not in tainted else ():\n",
        "for record in records:\n",
        "A tainted task is not looked at for the credit of tips.",
        _CREDIT,
    ),
)
