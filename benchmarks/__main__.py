"""Run every benchmark in a process of its own and end with a summary: ``python -m benchmarks [NAME...]``."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
MOST_SECONDS = 900
LONGER = {"miniwob": 3600, "scout_sites": 6 * 3600, "scout_tasks": 3 * 3600}
"""Maximum seconds of benchmarks that run many tasks in a browser."""


def benchmarks() -> list[str]:
    """Modules of this folder that have a ``main``."""
    return [
        path.stem for path in sorted(HERE.glob("*.py")) if not path.stem.startswith("_") and _has_main(path)
    ]


def main() -> int:
    names = sys.argv[1:] or benchmarks()
    unknown = sorted(set(names) - set(benchmarks()))
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(benchmarks())}", file=sys.stderr)
        return 2
    told: list[str] = []
    failed = 0
    for name in names:
        print(f"\n=== {name}", flush=True)
        began, most = time.perf_counter(), LONGER.get(name, MOST_SECONDS)
        try:
            code = subprocess.run(
                [sys.executable, "-m", f"benchmarks.{name}"],
                cwd=HERE.parent,
                timeout=most,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            code = -1
        failed += code != 0
        state = "ok" if code == 0 else f"took more than {most} s" if code == -1 else f"ended with {code}"
        told.append(f"  {name:<16} {time.perf_counter() - began:7.1f} s  {state}")
    print(f"\n=== {len(names) - failed} of {len(names)} benchmarks ran")
    print("\n".join(told))
    return 1 if failed else 0


def _has_main(path: Path) -> bool:
    tree = ast.parse(path.read_text("utf-8"), str(path))
    return any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body)


if __name__ == "__main__":
    sys.exit(main())
