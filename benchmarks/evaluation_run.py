"""Cost of evaluating a run beside the run itself, and how much faster two workers are than one.

The tasks of the demo shop's suite are run by the scout in an evaluation with one worker, with two workers, and as
plain runs in one engine.  Overhead is what a record says: site states, evidence after the run, scoring, storing; and,
from outside, the time from one record to the next beside the runs' own seconds.  The throughput of an evaluation is
taken after every worker has ended its first episode, so that starting is not in it.  Run it on a quiet machine.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from app.demo.server import DemoServer
from app.engine.api.evaluation_api import EvaluationRequest
from app.engine.api.run_api import RunRequest
from app.engine.core.evaluation.episode import EpisodeRecord
from app.engine.engine import Engine
from tests.support.demo_suite import demo_tasks, demo_workspace, write_suite

COPIES = 4
"""Copies of the suite's four tasks in each measurement."""


async def evaluated(
    engine: Engine, suite: Path, out: Path, workers: int
) -> tuple[list[EpisodeRecord], float]:
    """Run an evaluation; return its records and the seconds until its first episode began."""
    began = time.time()
    await engine.run_evaluation(EvaluationRequest(suite=str(suite), out=str(out), workers=workers))
    records = await engine.episode_records(str(out))
    wrong = [record.error for record in records if record.error]
    if wrong:
        raise SystemExit(f"{len(wrong)} episodes failed: {wrong[0]}")
    first = records[0]
    return records, first.finished_at - first.seconds - first.overhead - began


async def plain_seconds(engine: Engine, url: str, copies: int) -> list[float]:
    """Return the seconds of the same tasks as plain runs."""
    return [
        (
            await engine.run_task(
                RunRequest(intent=task["intent"], start_url=url, kb="none", max_steps=task["max_steps"])
            )
        ).seconds
        for task in demo_tasks(copies)
    ]


def throughput(records: Sequence[EpisodeRecord], workers: int) -> float:
    """Return episodes a minute after each worker's first."""
    ends = sorted(record.finished_at for record in records)
    return 60 * (len(ends) - workers) / (ends[-1] - ends[workers - 1])


async def measure(copies: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        async with await DemoServer.start() as server:
            suite = write_suite(folder / "shop.json", demo_tasks(copies))
            engine = await Engine.open(demo_workspace(folder / "workspace", server.shop_url))
            try:
                plain = await plain_seconds(engine, server.shop_url, copies)
                one, starting = await evaluated(engine, suite, folder / "one", 1)
                two, _ = await evaluated(engine, suite, folder / "two", 2)
            finally:
                await engine.aclose()
    shares = [record.overhead / record.seconds for record in one[1:]]
    seconds = [record.seconds for record in one[1:]]
    ends = [record.finished_at for record in one]
    between = ends[-1] - ends[0] - sum(seconds)
    print(
        f"runs alone: median {statistics.median(plain):.2f} s; in an evaluation {statistics.median(seconds):.2f} s"
    )
    print(
        f"overhead a run, as its record says: median {statistics.median(shares):.2%}, highest {max(shares):.2%};"
        f" the first one {one[0].overhead:.2f} s"
    )
    print(f"from record to record beside the runs' own seconds: {between / sum(seconds):.2%}")
    print(f"from the command to the first episode: {starting:.1f} s")
    rates = throughput(one, 1), throughput(two, 2)
    print(
        f"runs a minute: one worker {rates[0]:.2f}, two workers {rates[1]:.2f}: {rates[1] / rates[0]:.2f} times"
    )


def main() -> None:
    """Run it: ``python -m benchmarks.evaluation_run [COPIES]``."""
    asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else COPIES))


if __name__ == "__main__":
    main()
