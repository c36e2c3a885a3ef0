"""Duration of ``retrieve_tips`` at 100, 1,000 and 10,000 tips: over standard input, in process, and a plain loop.

The server is a process of its own, asked by the official client one question at a time; its own cost is the time of
``akb://tip/ID``, which searches nothing.  The floor is a loop in this process over all tips' words with the goal's.
Each question is new, tips are spread over 20 sites.  A tip is read for orders to the agent when it is first found, or
by the server in the background after its start: hence two rows each.  A last part opens each file in a fresh process:
seconds to import and open, and memory (Linux).
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from benchmarks.retrieval import SITES, make_tips
from kb import image, open_frozen
from kb.retrieval.terms import tip_terms, words_of
from kb.tip import Tip

COUNTS = (100, 1_000, 10_000)
QUESTIONS, WARM = 300, 20
TARGET_MS = 10.0
READY = 8.0
"""Seconds until a server of 10,000 tips has read them all for orders to the agent."""

ROOT = Path(__file__).resolve().parents[1]
_FRESH = """
import json, sys, time
began = time.perf_counter()
from kb import open_frozen
imported = time.perf_counter()
kb = open_frozen(sys.argv[1])
opened = time.perf_counter()
kb.retrieve(url="https://a.site3.example/s3/x", goal="sort the orders by date")
first = time.perf_counter()
status = open("/proc/self/status").read() if sys.platform == "linux" else ""
megabytes = int(status.partition("VmHWM:")[2].split()[0]) / 1024 if status else 0.0
print(json.dumps([imported - began, opened - imported, first - opened, megabytes]))
"""


def write(tips: list[Tip], path: Path) -> None:
    hosts = {f"site{number}": (f"*.site{number}.example",) for number in range(SITES)}
    path.write_bytes(image.build(image.Content.of(tips, hosts)))


def questions(tips: list[Tip], seed: int = 3) -> list[dict[str, str]]:
    """Goals of eight words, half of them from a tip of the site asked about."""
    rng = random.Random(seed)
    asked: list[dict[str, str]] = []
    for number in range(QUESTIONS + WARM):
        tip = rng.choice(tips)
        words = rng.choices(tip.text.split(), k=4) + rng.choices(rng.choice(tips).text.split(), k=4)
        url = f"https://a.{tip.site}.example/s{rng.randrange(40)}/{number}"
        asked.append({"url": url, "goal": " ".join(words) + f" {number}"})
    return asked


async def timed(
    ask: Callable[[dict[str, str]], Awaitable[object]], asked: list[dict[str, str]]
) -> tuple[float, float]:
    """p50 and p95 in milliseconds."""
    for one in asked[:WARM]:
        await ask(one)
    took: list[float] = []
    for one in asked[WARM:]:
        began = time.perf_counter()
        await ask(one)
        took.append((time.perf_counter() - began) * 1e3)
    took.sort()
    return took[len(took) // 2], took[int(len(took) * 0.95)]


async def of_file(path: Path, tips: list[Tip]) -> dict[str, tuple[float, float]]:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    asked = questions(tips)
    again = [{**one, "goal": one["goal"] + "0"} for one in asked]
    terms = [frozenset(tip_terms(tip).forms) for tip in tips]
    found: dict[str, tuple[float, float]] = {}

    async def floor(one: dict[str, str]) -> object:
        goal = frozenset(words_of(one["goal"]))
        return max(range(len(terms)), key=lambda row: len(goal & terms[row]))

    found["plain loop"] = await timed(floor, asked)
    with open_frozen(path) as kb:

        async def inside(one: dict[str, str]) -> object:
            return kb.retrieve(**one)

        found["in process, first time"] = await timed(inside, asked)
        found["in process"] = await timed(inside, again)
    server = StdioServerParameters(command=sys.executable, args=["-m", "kb", "serve", str(path)], cwd=ROOT)
    async with Client(server) as client:

        async def over_stdio(one: dict[str, str]) -> object:
            result = await client.call_tool("retrieve_tips", dict(one))
            assert not result.is_error
            return result

        async def nothing(_: dict[str, str]) -> object:
            return await client.read_resource(f"akb://tip/{tips[0].id}")

        await client.list_tools()
        found["over stdio, at once"] = await timed(over_stdio, asked)
        await asyncio.sleep(READY)
        found["over stdio"] = await timed(over_stdio, again)
        found["stdio, no search"] = await timed(nothing, asked)
    return found


def fresh(path: Path) -> list[float]:
    command = [sys.executable, "-c", _FRESH, str(path)]
    runs = [
        json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
        for _ in range(5)
    ]
    return [sorted(column)[2] for column in zip(*runs, strict=True)]


def main() -> None:
    measured: dict[int, dict[str, tuple[float, float]]] = {}
    opened: dict[int, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for count in COUNTS:
            tips = make_tips(count, SITES)
            path = Path(folder) / f"{count}.akb"
            write(tips, path)
            measured[count] = asyncio.run(of_file(path, tips))
            opened[count] = fresh(path)
    heads = "".join(f"{count:>18,}" for count in COUNTS)
    print(f"{f'p50 / p95 ms of {QUESTIONS}':<24}{heads}{'growth':>10}")
    for name in measured[COUNTS[0]]:
        row = [measured[count][name] for count in COUNTS]
        growth = row[-1][0] / row[0][0]
        print(f"{name:<24}" + "".join(f"{p50:>9.2f} /{p95:>7.2f}" for p50, p95 in row) + f"{growth:>9.1f}x")
    print("fresh process (median of 5): import s, open s, first answer s, peak MB")
    for count, (imported, read, first, megabytes) in opened.items():
        print(f"{count:>8,} tips  {imported:.3f}  {read:.3f}  {first:.3f}  {megabytes:.1f}")
    p95 = measured[COUNTS[-1]]["over stdio"][1]
    print(f"target: p95 over stdio at {COUNTS[-1]:,} tips {p95:.1f} ms, at most {TARGET_MS:.0f}")


if __name__ == "__main__":
    main()
