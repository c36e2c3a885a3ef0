"""A run killed at random moments and resumed: missing and duplicate records afterwards.

    python -m benchmarks.crash_recovery [KILLS]

Kills the whole process group, including the browser; after each kill the files are checked, then the run resumes from
its ledger.  Nothing may be missing but the step in flight, and nothing may be duplicated.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from app.demo.server import DemoServer
from tests.support.long_run import STEPS, Kills, survive

KILLS = 50


async def measure(kills: int) -> tuple[Kills, float]:
    """Kill a run on the bundled site so often."""
    async with await DemoServer.start() as server:
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            found = await asyncio.to_thread(survive, Path(folder) / "workspace", server.shop_url, kills)
            return found, time.monotonic() - began


def main() -> None:
    """Print the number of kills, of those between a run's first and last step, and every fault."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else KILLS
    found, seconds = asyncio.run(measure(kills))
    faults = found.faults or []
    print(f"{found.kills} kills in {seconds:.0f} s, {found.running} of them after new steps had been written")
    print(f"faults: {len(faults)} (steps missing, doubled or out of order, of runs of {STEPS} steps)")
    for fault in faults:
        print(f"  {fault}")
    print(f"the last run ended {found.outcome} with {found.steps} steps; its ledger: {found.answer}")


if __name__ == "__main__":
    main()
