"""Reading foreign runs, a format at a time, beside merely reading and decoding the same files in the same process.

Each sample is read as often as it takes for a steady figure. ``bytes`` reads the files that the run is made of;
``decoded`` also decodes them by a plain decoder (JSON, the members of a zip, a pickle without its classes), which every
reader must do. ``read`` is what an import does of a run before it is stored. A case is a line in ``CASES``.

The memory is the most that a process of its own held, its children with it, for one and for forty times the runs.
"""

from __future__ import annotations

import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.engine.core.sites import load_sites
from app.engine.imports import FORMATS
from app.engine.imports.importer import import_paths
from app.engine.imports.run_format import FoundRun, find_runs
from app.engine.pickles.reader import reader
from app.engine.pickles.recorded import read_pickle
from app.engine.store.workspace import Workspace
from tests.support.browsergym_runs import MadeRun, observation
from tests.support.runs import SHARED

SAMPLES = SHARED / "data" / "formats"
SECONDS = 1.5
"""Time for which one figure is measured."""
ROUNDS = 5
SITES = load_sites()


@dataclass(frozen=True)
class Case:
    """A name and what makes its files in an empty folder; ``format`` where more than one could read them."""

    name: str
    make: Callable[[Path], Path]
    format: str = ""


def sample(name: str) -> Case:
    def copy(place: Path) -> Path:
        return Path(shutil.copytree(SAMPLES / name, place / name, copy_function=shutil.copyfile))

    return Case(f"{name} (sample)", copy)


def long_browsergym(place: Path) -> Path:
    """A run of 40 steps on pages of 1,200 elements, with pictures: a usual one of WebArena."""
    from PIL import Image

    chance = random.Random(18)
    words = [f"word{number}" for number in range(3000)]
    steps = []
    for at in range(41):
        lines = [
            f"\t[{bid}] link '{' '.join(chance.choices(words, k=4))}', url='https://shop.example/{bid}/{at}'"
            for bid in range(1200)
        ]
        seen = observation(
            at,
            axtree_txt="RootWebArea 'Shop'\n" + "\n".join(lines),
            pruned_html="".join(f'<a bid="{bid}">{chance.choice(words)} {at}</a>\n' for bid in range(1200)),
            extra_element_properties={
                str(bid): {
                    "visibility": 1.0,
                    "bbox": [1.5, bid, 100, 20],
                    "clickable": True,
                    "set_of_marks": True,
                }
                for bid in range(1200)
            },
        )
        steps.append(
            MadeRun.step(at, seen, "click('14')" if at < 40 else None, think="On.", truncated=at == 40)
        )
    folder = MadeRun(place / "long" / "2026-11-22_16-41-06_A_on_webarena.310_0", steps=steps).write()
    for at in range(41):
        picture = Image.effect_noise((320, 180), 40).resize((1280, 720))
        picture.convert("RGB").save(folder / f"screenshot_step_{at}.png")
    return folder.parent


def long_atif(place: Path) -> Path:
    """A trajectory of 400 steps with results of 4,000 characters."""
    text = "Page URL: https://shop.example/{}\n" + "- link: words of the page\n" * 150
    steps = [{"step_id": 1, "source": "user", "message": "Buy it"}]
    for at in range(2, 402):
        call = {"tool_call_id": "c", "function_name": "browser_click", "arguments": {"ref": "e4"}}
        result = {"source_call_id": "c", "content": text.format(at)}
        steps.append(
            {
                "step_id": at,
                "source": "agent",
                "message": "On.",
                "tool_calls": [call],
                "observation": {"results": [result]},
            }
        )
    whole = {"schema_version": "ATIF-v1.8", "agent": {"name": "a", "version": "1"}, "steps": steps}
    (place / "long.json").write_text(json.dumps(whole))
    return place


CASES = (
    *(
        sample(name)
        for name in (
            "agentlab", "browsergym", "browser-use", "playwright", "atif", "otel", "online-mind2web", "webarena-html",
            "agent-reward-bench", "osworld", "seeact",
        )
    ),
    Case("browsergym (40 steps)", long_browsergym),
    Case("atif (400 steps)", long_atif),
)  # fmt: skip


def read_runs(found: list[FoundRun]) -> None:
    for one in found:
        one.format.read(one.format.load(one.path, one.root, one.part), SITES)


def files_of(found: list[FoundRun]) -> list[Path]:
    """Every file of the runs; a run that is a file has those beside it as well, as pictures are."""
    folders = {one.path if one.path.is_dir() else one.path.parent for one in found}
    return sorted({file for folder in folders for file in folder.rglob("*") if file.is_file()})


def read_bytes(files: list[Path]) -> None:
    for file in files:
        file.read_bytes()


def decode(files: list[Path]) -> None:
    for file in files:
        data = file.read_bytes()
        match file.suffix:
            case ".json":
                json.loads(data)
            case ".jsonl":
                [json.loads(line) for line in data.splitlines() if line.strip()]
            case ".gz" | ".pkl" if "study" not in file.name:
                read_pickle(data)
            case ".html" | ".txt" | ".csv" | ".md":
                data.decode("utf-8", "replace")
            case ".zip":
                _decode_members(file)
            case _:
                continue


def _decode_members(file: Path) -> None:
    with zipfile.ZipFile(file) as packed:
        for member in packed.infolist():
            data = packed.read(member)
            if member.filename.endswith((".trace", ".network")):
                [json.loads(line) for line in data.splitlines() if line.strip()]


def seconds_of(work: Callable[[], None]) -> float:
    """Median seconds of one call."""
    work()
    times: list[float] = []
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times) < ROUNDS:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def found_in(place: Path) -> list[FoundRun]:
    return list(find_runs(place, list(FORMATS.values()), []))


def ratios() -> None:
    print(
        f"{'':28} {'runs':>4} {'kB':>7} {'bytes':>8} {'decoded':>8} {'read':>8} {'/bytes':>7} {'/decoded':>8}   (ms)"
    )
    for case in CASES:
        with tempfile.TemporaryDirectory() as place:
            try:
                found = found_in(case.make(Path(place)))
            except OSError:
                print(f"{case.name:28} the sample is not beside the checkout")
                continue
            files = files_of(found)
            size = sum(file.stat().st_size for file in files) / 1e3
            plain, decoded = seconds_of(lambda: read_bytes(files)), seconds_of(lambda: decode(files))  # noqa: B023
            took = seconds_of(lambda: read_runs(found))  # noqa: B023
        print(
            f"{case.name:28} {len(found):4} {size:7.0f} {plain * 1e3:8.2f} {decoded * 1e3:8.2f} {took * 1e3:8.2f}"
            f" {took / plain:7.1f} {took / decoded:8.2f}"
        )


def growth() -> None:
    """Memory and time of whole imports of the long run of BrowserGym, stored and indexed."""
    print(f"\n{'imported':28} {'runs':>4} {'s':>7} {'peak MB':>8}")
    for copies in (1, 10, 40):
        with tempfile.TemporaryDirectory() as place:
            first = long_browsergym(Path(place) / "first")
            for number in range(1, copies):
                shutil.copytree(first, Path(place) / f"copy{number}")
            for number, file in enumerate(sorted(Path(place).rglob("*.pkl.gz"))):
                with file.open("ab") as opened:
                    opened.write(b"\0" * (1 + number))  # padding that gzip ignores: no copy is known
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.import_foreign_runs", place],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
        runs, seconds, peak = done.stdout.split()
        print(f"{'browsergym (40 steps)':28} {runs:>4} {float(seconds):7.2f} {float(peak):8.0f}")


def import_once(root: Path) -> None:
    with tempfile.TemporaryDirectory() as place, Workspace.open(Path(place) / "w") as workspace:
        start = time.perf_counter()
        report = import_paths(workspace, [root])
        took = time.perf_counter() - start
    reader.close()
    peak = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(report.imported, took, peak / 1024)


def main() -> None:
    if len(sys.argv) > 1 and Path(sys.argv[-1]).is_dir():
        import_once(Path(sys.argv[-1]))
        return
    ratios()
    reader.close()
    growth()


if __name__ == "__main__":
    main()
