"""``sitelore`` and ``python -m app``: the workbench without arguments, the command line with them."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line or the window; neither loads the other's libraries."""
    if sys.argv[1:2] == ["--run-module"] and getattr(
        sys, "frozen", False
    ):  # before anything heavy is imported
        from app.installation import run_child

        run_child(sys.argv[2:])
        return
    from app.cli import main as command_line

    sys.exit(command_line(sys.argv[1:]))


if __name__ == "__main__":
    main()
