"""The command line: every command of the workbench on the same engine.

Exit codes: 0 done, 1 the operation failed or a check did not hold, 2 wrong usage, 3 bad input file.
``--json`` prints one JSON document on standard output; everything else goes to standard error.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    from app.cli.root import run

    return run(list(arguments))
