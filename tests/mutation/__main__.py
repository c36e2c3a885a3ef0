"""Break one written clause at a time in a copy of the checkout, and report whether a test notices.

    python -m tests.mutation [--only NAME ...] [--since COMMIT] [--jobs N] [--list]

Exit code 0: at least 85 % of the faults are killed, and all those of safety.  1: they are not.  2: a fault can't be
planted (its text was changed) or its tests can't be run; nothing is left out silently.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import SimpleQueue

from tests.mutation.faults import ALL
from tests.mutation.mutation import Mutation, stale
from tests.mutation.runner import CheckoutCopy, MutationResult, Verdict

ROOT = Path(__file__).resolve().parents[2]
WANTED = 0.85
"""The share of all faults that has to be killed."""


def main(arguments: Sequence[str] | None = None, root: Path = ROOT, faults: Sequence[Mutation] = ALL) -> int:
    options = _options().parse_args(arguments)
    problems = stale(faults, root)
    unknown = sorted(set(options.only or ()) - {fault.name for fault in faults})
    problems += [f"{name}: there is no such mutation" for name in unknown]
    if problems:
        print("\n".join(problems), file=sys.stderr)
        return 2
    chosen = [fault for fault in faults if not options.only or fault.name in options.only]
    if options.since:
        changed = _changed_since(options.since, root)
        chosen = [fault for fault in chosen if changed.intersection((fault.file, *fault.files))]
    if options.list:
        print("\n".join(map(_listed, chosen)))
        return 0
    began = time.monotonic()
    tried: list[MutationResult] = []
    for one in _tried(chosen, root, options.jobs):
        tried.append(one)
        print(_told(one), flush=True)
    print(_summary(tried, time.monotonic() - began, options.jobs))
    if any(one.verdict is Verdict.ERROR for one in tried):
        return 2
    return 0 if _good_enough(tried) else 1


def wilson(hits: int, tries: int, z: float = 1.96) -> tuple[float, float]:
    """Return the 95 % interval of a share by Wilson's score; (0, 1) where nothing was tried."""
    if not tries:
        return 0.0, 1.0
    share, square = hits / tries, z * z / tries
    middle = (share + square / 2) / (1 + square)
    half = z * math.sqrt(share * (1 - share) / tries + square / (4 * tries)) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation",
        description="Break one written clause at a time and see whether a test notices.",
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these mutations")
    parser.add_argument("--list", action="store_true", help="list them and run nothing")
    parser.add_argument(
        "--jobs", type=int, default=min(2, os.cpu_count() or 1), help="copies worked in at once"
    )
    parser.add_argument("--since", metavar="COMMIT", help="only those whose module or tests changed since")
    return parser


def _tried(chosen: Sequence[Mutation], root: Path, jobs: int) -> Iterator[MutationResult]:
    """Yield each result as soon as it is there."""
    with tempfile.TemporaryDirectory(prefix="sitelore-mutation-") as folder:
        free: SimpleQueue[CheckoutCopy] = SimpleQueue()
        for number in range(max(1, min(jobs, len(chosen)))):
            free.put(CheckoutCopy(root, Path(folder) / str(number)))

        def tried(mutation: Mutation) -> MutationResult:
            bench = free.get()
            try:
                return bench.run_all(mutation)
            finally:
                free.put(bench)

        pool = ThreadPoolExecutor(max(1, jobs))
        try:
            for done in as_completed([pool.submit(tried, mutation) for mutation in chosen]):
                yield done.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _changed_since(commit: str, root: Path) -> set[str]:
    listed = subprocess.run(
        ["git", "diff", "--name-only", commit], cwd=root, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        raise SystemExit(f"git knows no {commit}: {listed.stderr.strip()}")
    return set(listed.stdout.splitlines())


def _listed(mutation: Mutation) -> str:
    return (
        f"{mutation.name:<34} {'safety' if mutation.safety else '      '} {mutation.file}: {mutation.clause}"
    )


def _told(one: MutationResult) -> str:
    return f"{one.verdict.value:<8} {one.seconds:6.1f} s  {one.mutation.name}: {one.words}"


def _share(tried: Sequence[MutationResult]) -> str:
    killed, of = _killed(tried), len(tried)
    low, high = wilson(killed, of)
    return f"{killed} of {of} killed, {killed / of:.0%} ({low:.0%} to {high:.0%})" if of else "none tried"


def _summary(tried: Sequence[MutationResult], seconds: float, jobs: int) -> str:
    safety = [one for one in tried if one.mutation.safety]
    mean = sum(one.seconds for one in tried) / max(1, len(tried))
    lines = [
        f"\nall: {_share(tried)}",
        f"safety: {_share(safety)}",
        f"took {seconds:.0f} s with {jobs} at once, {mean:.1f} s each",
    ]
    for verdict in (Verdict.SURVIVED, Verdict.ERROR):
        names = [
            one.mutation.name + " (safety)" * one.mutation.safety for one in tried if one.verdict is verdict
        ]
        if names:
            lines.append(f"{verdict.value}: {', '.join(names)}")
    return "\n".join(lines)


def _killed(tried: Sequence[MutationResult]) -> int:
    return sum(one.verdict is Verdict.KILLED for one in tried)


def _good_enough(tried: Sequence[MutationResult]) -> bool:
    safe = all(one.verdict is Verdict.KILLED for one in tried if one.mutation.safety)
    return safe and _killed(tried) >= WANTED * len(tried)


if __name__ == "__main__":
    sys.exit(main())
