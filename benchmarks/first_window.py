"""Time from process start to the first paint: ours against an empty PySide6 + pyqtgraph + qasync window.

Each run is a process of its own, alternating; medians are compared.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNS = 9
LIMIT = 1.5

EMPTY = """
import os, sys, asyncio
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
import pyqtgraph
import qasync
class Window(QMainWindow):
    def paintEvent(self, event):
        super().paintEvent(event)
        QTimer.singleShot(0, lambda: os._exit(0))
app = QApplication(sys.argv)
async def main():
    await asyncio.Event().wait()
window = Window()
window.resize(1280, 800)
window.show()
with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(app)) as runner:
    runner.run(main())
"""

OURS = """
import os, sys
import app.main
async def painted(self, inner=app.main._Session._first_painted):
    await inner(self)
    os._exit(0)
app.main._Session._first_painted = painted
"""

DIRECT = OURS + "from pathlib import Path; app.main.run_workbench(Path(sys.argv[1]))"
BY_COMMAND = OURS + "from app.cli import main; sys.exit(main(['--workspace', sys.argv[1]]))"


def seconds(code: str, folder: str) -> float:
    """One process from start to first paint."""
    environment = {**os.environ, "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen")}
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        environment[name] = folder
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", code, str(Path(folder) / "workspace")],
        cwd=ROOT,
        env=environment,
        check=True,
        timeout=120,
    )
    return time.perf_counter() - began


def main() -> None:
    kinds = {"empty window": EMPTY, "sitelore's window": DIRECT, "the same through 'sitelore'": BY_COMMAND}
    times: dict[str, list[float]] = {name: [] for name in kinds}
    with tempfile.TemporaryDirectory() as folder:
        for code in kinds.values():  # the first start reads the disk and writes byte code
            seconds(code, folder)
        for _ in range(RUNS):
            for name, code in kinds.items():
                times[name].append(seconds(code, folder))
    floor = statistics.median(times["empty window"])
    print(f"process start to first paint, {RUNS} runs each, medians (fastest to slowest):")
    for name, taken in times.items():
        median = statistics.median(taken)
        print(
            f"  {name:28} {median * 1000:6.0f} ms  ({min(taken) * 1000:.0f} to {max(taken) * 1000:.0f})"
            f"  {median / floor:.2f}x"
        )
    ours = statistics.median(times["the same through 'sitelore'"]) / floor
    print(f"  asked for: at most {LIMIT}x; reached: {ours:.2f}x")


if __name__ == "__main__":
    main()
