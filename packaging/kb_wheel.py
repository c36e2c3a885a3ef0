"""Build the wheel ``sitelore-kb``, the package ``kb`` alone: ``python packaging/kb_wheel.py OUT``.

The main wheel holds ``kb`` as well, because the window needs it: who has ``sitelore`` has ``kb``.  Install one of the
two in an environment, not both: removing the one would take the other's files.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "docs" / "guide" / "knowledge-for-agents.md"


def build(out: Path) -> Path:
    """Build the wheel in ``out`` from a copy, so that its licence and page are inside; return its path."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sitelore-kb-") as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "kb", copy / "kb", ignore=shutil.ignore_patterns("__pycache__"))
        for file in (ROOT / "packaging" / "kb" / "pyproject.toml", ROOT / "LICENSE", ROOT / "NOTICE"):
            shutil.copy(file, copy / file.name)
        shutil.copy(README, copy / "README.md")
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out.resolve())]
        subprocess.run(command, cwd=copy, check=True, stdout=sys.stderr)
    return max(out.glob("sitelore_kb-*.whl"), key=lambda wheel: wheel.stat().st_mtime)


if __name__ == "__main__":
    print(build(Path(sys.argv[1] if len(sys.argv) > 1 else "dist")))
