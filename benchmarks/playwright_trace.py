"""Importing a Playwright trace of 1 GB (stored pictures and resources), beside a small one and beside its contents.

Each in a process of its own: time, and peak memory over that of the same process before the import. The floor is
reading the zip file's table of contents alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from app.engine.core.sites import load_sites
from app.engine.imports import playwright
from app.engine.imports.run_format import find_runs
from tests.support.playwright_traces import DOCUMENT, SHOP, TraceWriter, jpeg

STEPS, GIGABYTE = 60, 2**30
RESOURCES = 512


def write(path: Path, size: int) -> None:
    """A trace of ``STEPS`` clicks; beside it resources of ``size`` bytes in all, as a test of a large site has them."""
    trace = TraceWriter()
    for step in range(STEPS):
        trace.frame(jpeg(800, 600, step))
        trace.call(
            "click", {"selector": "#x"}, html=DOCUMENT, url=f"{SHOP}{step}", input={"point": {"x": 9, "y": 9}}
        )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in trace.entries().items():
            archive.writestr(name, data, zipfile.ZIP_DEFLATED)
        for number in range(RESOURCES if size else 0):
            archive.writestr(f"resources/{number:040x}.bin", os.urandom(size // RESOURCES))


def peak() -> float:
    """Peak memory of this process, in MB; what ``getrusage`` says begins with the parent's."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def measure(path: Path, what: str) -> None:
    """Print the seconds and the MB that one way of reading the file takes."""
    sites = load_sites()
    before, began = peak(), time.perf_counter()
    if what == "contents":
        with zipfile.ZipFile(path) as archive:
            count = len(archive.filelist)
    elif what == "bytes":
        count = 0
        with path.open("rb", buffering=0) as file:
            while data := file.read(2**20):
                count += len(data)
    else:
        (found,) = find_runs(path, [playwright.RUN_FORMAT], [])
        raw = playwright.load(found.path, found.root, found.part)
        count = len(playwright.RUN_FORMAT.read(raw, sites).steps)
    print(f"{time.perf_counter() - began:.4f} {peak() - before:.1f} {count}")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.zip", Path(folder) / "large.zip"
        write(small, 0)
        write(large, GIGABYTE)
        for label, path, what in (
            ("table of contents, 1 GB", large, "contents"),
            ("all bytes once, 1 GB", large, "bytes"),
            (f"import, {STEPS} steps, small", small, "import"),
            (f"import, {STEPS} steps, 1 GB", large, "import"),
        ):
            command = [sys.executable, "-m", "benchmarks.playwright_trace", str(path), what]
            rounds = [
                subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(3)
            ]
            seconds, megabytes, _ = min(tuple(map(float, one.split())) for one in rounds)
            size = path.stat().st_size / 2**20
            print(f"{label:30} {size:8.1f} MB file {seconds * 1000:8.1f} ms {megabytes:6.1f} MB more memory")
    return 0


if __name__ == "__main__":
    if len(sys.argv) > 2:
        measure(Path(sys.argv[1]), sys.argv[2])
    else:
        sys.exit(main())
