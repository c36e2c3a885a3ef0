"""The published runs beside the checkout, 378 with the archive of further ones, and the templates of their tasks."""

from __future__ import annotations

import hashlib
import io
import json
import os
import statistics
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import zstandard

from app.engine.core.sites import load_sites
from app.engine.imports.colorbrowseragent import find_runs
from app.engine.imports.source_files import ReadRun
from tests.support.runs import read_run

SHARED = Path(os.environ.get("SITELORE_SHARED", Path(__file__).parents[2] / "shared"))
ROOT = SHARED / "data" / "colorbrowseragent"
MORE = SHARED / "data" / "colorbrowseragent-more.tar.zst"
WEBARENA = SHARED / "data" / "webarena" / "config_files" / "test.raw.json"
WEBCHOREARENA = SHARED / "data" / "webchorearena" / "BrowserGym" / "config_files" / "test_webchore.raw.json"


@contextmanager
def roots() -> Generator[list[Path]]:
    """The collection, and the archive of further runs unpacked for as long as it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        if MORE.exists():
            decoder = zstandard.ZstdDecompressor(max_window_size=2**27)
            with (
                MORE.open("rb") as file,
                decoder.stream_reader(file) as stream,
                tarfile.open(fileobj=io.BufferedReader(stream), mode="r|") as archive,
            ):
                archive.extractall(folder, filter="data")
        yield [ROOT, *([Path(folder)] if MORE.exists() else [])]


def published_runs() -> Iterator[tuple[bool, ReadRun]]:
    """Every run, and whether it is one of the first 59; one at a time, for they hold their pages."""
    with roots() as places:
        for place in places:
            for folder in find_runs(place):
                yield place == ROOT, read_run(folder, place, load_sites())


def usual_lengths(runs: list[ReadRun]) -> dict[str, float]:
    """The median of steps by site."""
    lengths: dict[str, list[int]] = defaultdict(list)
    for one in runs:
        lengths[one.run.site].append(one.run.step_count)
    return {site: statistics.median(counts) for site, counts in lengths.items()}


def state_tasks() -> frozenset[str]:
    """Ids of WebArena's tasks whose evaluators read no answer."""
    return frozenset(
        str(task["task_id"]) for task in _tasks(WEBARENA) if "string_match" not in task["eval"]["eval_types"]
    )


def templates() -> dict[tuple[str, str], str]:
    """The template of each task, by suite and id: WebArena numbers them, WebChoreArena has their words."""
    return {
        (suite, str(task["task_id"])): str(task[key])
        for suite, path, key in (
            ("webarena", WEBARENA, "intent_template_id"),
            ("webchorearena", WEBCHOREARENA, "intent_template"),
        )
        for task in _tasks(path)
    }


def is_sealed(suite: str, template: str) -> bool:
    """Whether a template belongs to the half that thresholds were not chosen on."""
    name = suite + " ".join(template.casefold().split())
    return hashlib.blake2b(name.encode(), digest_size=1).digest()[0] % 2 == 0


def _tasks(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_bytes()) if path.exists() else []
