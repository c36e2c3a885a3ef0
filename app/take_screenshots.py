"""The process that opens the window offscreen and saves screenshots of every view: ``WORKSPACE OUT``."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    from app.main import run_screenshots

    sys.exit(run_screenshots(Path(sys.argv[1]), Path(sys.argv[2])))
