"""Cost of a whole comparison: 812 tasks, 3 repeats, 2 arms, 10,000 draws; beside slower bootstraps; and its growth.

One comparison has some 35 intervals: of arms, of the differences in all, by site and by type, and of tips.  The floors
give one interval each: a bootstrap over templates in plain Python, and ``scipy.stats.bootstrap``, which draws tasks.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import numpy as np
from scipy import stats

from app.engine.core.evaluation.episode import EvaluationJournal
from app.engine.evaluation.comparing import compare
from app.engine.evaluation.pooling import pool
from app.engine.evaluation.statistics import cluster_bootstrap, paired_tests
from app.engine.evaluation.statistics.cluster_bootstrap import DRAWS
from tests.support.made_up_evaluation import FOUR_ARMS, made_up_journal

BAR_SECONDS = 2.0
ROUNDS = 3


def timed(work: Callable[[], object], rounds: int = ROUNDS) -> tuple[float, float]:
    """Return the shortest wall-clock and processor seconds; nothing is kept from the round before."""
    best: list[tuple[float, float]] = []
    for _ in range(rounds):
        cluster_bootstrap._kept_counts.cache_clear()
        paired_tests._drawn_signs.cache_clear()
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        best.append((time.perf_counter() - wall, time.process_time() - cpu))
    return min(wall for wall, _ in best), min(cpu for _, cpu in best)


def differences(journal: EvaluationJournal) -> dict[str, list[float]]:
    """Return the differences of the tasks by template."""
    pooled = pool([journal], {})
    found: dict[str, list[float]] = {}
    none, akb = pooled.outcomes["none"], pooled.outcomes["akb"]
    for task, traits in pooled.traits.items():
        one, other = akb[task].rate, none[task].rate
        if one is not None and other is not None:
            found.setdefault(traits.cluster, []).append(one - other)
    return found


def plain_bootstrap(groups: dict[str, list[float]]) -> tuple[float, float]:
    """Return one interval, drawing templates in plain Python."""
    sums = [(sum(values), len(values)) for values in groups.values()]
    draw = random.Random(7)
    means: list[float] = []
    for _ in range(DRAWS):
        total = count = 0.0
        for part, size in draw.choices(sums, k=len(sums)):
            total, count = total + part, count + size
        means.append(total / count)
    means.sort()
    return means[int(0.025 * DRAWS)], means[int(0.975 * DRAWS)]


def main() -> None:
    journal = made_up_journal(arms=FOUR_ARMS[:2])
    wall, cpu = timed(lambda: compare([journal], {}))
    found = compare([journal], {})
    intervals = len(found.arms) + len(found.differences) + len(found.verdicts) + len(found.credits)
    print(
        f"compare(): {len(journal.records)} episodes (812 x 3 x 2), {DRAWS:,} draws, {intervals} intervals:"
        f" {wall:.2f} s, {cpu:.2f} s of processor; bar {BAR_SECONDS:.0f} s:"
        f" {'met' if wall <= BAR_SECONDS else 'MISSED'}"
    )
    groups = differences(journal)
    values = np.array([value for group in groups.values() for value in group])
    plain, _ = timed(lambda: plain_bootstrap(groups), 1)
    library, _ = timed(lambda: stats.bootstrap((values,), np.mean, n_resamples=DRAWS, method="percentile"), 1)
    sums = cluster_bootstrap.ClusterSums.of(values, [name for name, group in groups.items() for _ in group])
    ours, _ = timed(lambda: cluster_bootstrap.bootstrap_mean(sums, -1, 1))
    print(
        f"  one interval over {len(groups)} templates: {ours * 1000:.0f} ms; in plain Python {plain * 1000:.0f} ms"
        f" ({plain / ours:.0f} times); scipy's over {len(values)} tasks {library * 1000:.0f} ms"
    )
    twice = made_up_journal(arms=FOUR_ARMS[:2], tasks=1624, templates=380)
    wall_twice, cpu_twice = timed(lambda: compare([twice], {}))
    print(
        f"  twice the tasks and templates ({len(twice.records)} episodes): {wall_twice:.2f} s,"
        f" {wall_twice / wall:.2f} times as long ({cpu_twice / cpu:.2f} times of processor)"
    )
    four = made_up_journal(arms=FOUR_ARMS)
    print(f"  four arms ({len(four.records)} episodes): {timed(lambda: compare([four], {}))[0]:.2f} s")


if __name__ == "__main__":
    main()
