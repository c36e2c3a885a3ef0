"""Kill the engine with eight supervised runs and its browsers: ``python -m benchmarks.live_crash_recovery [KILLS]``.

Everything confirmed as stored (approvals requested and decided, hints, steps) has to exist at the end, exactly once.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
from pathlib import Path

from app.demo.server import DemoServer
from tests.support.kill_engines import Tally, kills

RUNS, KILLS = 8, 20
LIFE = (12.0, 30.0)
"""Minimum and maximum seconds of a life, from the time it is up."""


def main() -> None:
    """Kill, count, and report what is missing."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else KILLS
    with tempfile.TemporaryDirectory() as folder:
        tally = _with_a_shop(Path(folder) / "workspace", times)
    counts = tally.counts
    sys.stdout.write(
        f"{times} kills of the engine and its browsers during {RUNS} supervised runs\n"
        f"told and kept: {counts['asked']} requests, {counts['decided']} decisions, {counts['hint']} hints,"
        f" {counts['step']} steps of {len(tally.steps)} runs\n"
        f"missing or doubled: {len(tally.faults)}\n"
        f"found what was left after {max(tally.lives):.1f} s at most (median"
        f" {sorted(tally.lives)[len(tally.lives) // 2]:.1f} s), up to {max(tally.left)} runs\n"
    )
    for fault in tally.faults:
        sys.stdout.write(f"  {fault}\n")


def _with_a_shop(folder: Path, times: int) -> Tally:
    """Serve the shop by a loop of its own in a thread across restarts."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(DemoServer.start(), loop).result()
    try:
        return kills(folder, server.shop_url, runs=RUNS, times=times, seconds=LIFE, seed=7)
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


if __name__ == "__main__":
    main()
