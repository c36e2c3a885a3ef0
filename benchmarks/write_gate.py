"""The write gate on real tasks and on the actions of real runs (``../shared/data``): no browser, no model.

Three figures.  Reading: whether a task of WebArena and WebChoreArena asks for a change, beside its published kind of
evaluation (``program_html`` checks the site's state; tasks of the map only look).  False stops: runs of a strong
model that passed such tasks, replayed action by action; every refusal there is a fault of the gate.  Too much:
permits in runs of tasks that change nothing.  Half of the templates, drawn by hash, were inspected while the rules
were written; of the other half three quarters were opened later, after the gate had stopped 12 of its 53 passed runs.
The rest is sealed: nobody has read its traces.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import statistics
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from app.engine.agent.write_gate.action_risk import assess_risk
from app.engine.agent.write_gate.gate import WriteGate
from app.engine.agent.write_gate.task_changes import requested_changes
from app.engine.core.action_result import ActionResult, Effect
from app.engine.core.actions.recorded import RecordedAction, from_recorded
from app.engine.core.actions.types import Action
from app.engine.core.observation import Observation
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.sites import load_sites
from app.engine.core.trajectory import Step
from app.engine.graph.recorded_pages import read_page
from app.engine.imports.colorbrowseragent import find_runs
from benchmarks.published_runs import SHARED
from tests.support.runs import read_run

DATA = SHARED / "data"
TASKS = {
    "webarena": DATA / "webarena" / "config_files" / "test.raw.json",
    "webchorearena": DATA / "webchorearena" / "BrowserGym" / "config_files" / "test_webchore.raw.json",
}
MORE = DATA / "colorbrowseragent-more.tar.zst"
_BID = re.compile(r"^(\t*)\[([^\]\s]+)\] ", re.MULTILINE)


@dataclass(frozen=True)
class Task:
    suite: str
    number: str
    intent: str
    changes: bool
    sealed: bool


@dataclass
class Count:
    runs: int = 0
    actions: int = 0
    refused: int = 0
    stopped: int = 0
    permits: int = 0
    opened: int = 0


def load_tasks() -> dict[tuple[str, str], Task]:
    found: dict[tuple[str, str], Task] = {}
    for suite, path in TASKS.items():
        for raw in json.loads(path.read_text("utf-8")):
            key = raw.get("intent_template_id", raw["intent_template"])
            template = f"{'wa' if suite == 'webarena' else 'wca'}{key}"
            changes = "program_html" in raw["eval"]["eval_types"] and raw["sites"] != ["map"]
            sealed = all(
                byte % 2 == 1 for byte in hashlib.blake2b(template.encode(), digest_size=4).digest()[:3]
            )
            task = Task(suite, str(raw["task_id"]), raw["intent"], changes, sealed)
            found[suite, task.number] = task
    return found


def wilson(hits: int, all_: int) -> str:
    if not all_:
        return "-"
    z, p = 1.96, hits / all_
    middle = (p + z * z / (2 * all_)) / (1 + z * z / all_)
    half = z * math.sqrt(p * (1 - p) / all_ + z * z / (4 * all_ * all_)) / (1 + z * z / all_)
    return f"{hits} of {all_} ({p:.3f}; {max(0.0, middle - half):.3f} to {min(1.0, middle + half):.3f})"


@contextmanager
def folders() -> Iterator[list[Path]]:
    """Roots of the run collections; the packed one is unpacked during the block."""
    with tempfile.TemporaryDirectory() as place:
        roots = [DATA / "colorbrowseragent"]
        if MORE.exists():
            import zstandard

            with MORE.open("rb") as packed:
                stream = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(packed)
                with tarfile.open(fileobj=stream, mode="r|") as archive:
                    archive.extractall(place, filter="data")
            roots.append(Path(place))
        yield roots


def shown(step: Step, blobs: Mapping[str, bytes]) -> tuple[PageCapture, Mapping[str, Element]]:
    """The page of a step as a capture of our own: elements are numbered in the tree as in the list."""
    tree = blobs[step.tree].decode("utf-8", "replace")
    markup = blobs[step.html].decode("utf-8", "replace") if step.html in blobs else ""
    page = read_page(step, tree, markup)
    numbers = {bid: str(element.index) for bid, element in page.elements.items()}
    own = _BID.sub(lambda m: f"{m[1]}[{numbers[m[2]]}] " if m[2] in numbers else m[1], tree)
    return replace(page.page, tree=own), page.elements


def command_of(action: RecordedAction | None, elements: Mapping[str, Element]) -> Action | None:
    if action is None:
        return None
    if action.bid:
        if action.bid not in elements:
            return None
        action = replace(action, args={**action.args, "bid": str(elements[action.bid].index)})
    return from_recorded(action)


def replay(
    tasks: Mapping[tuple[str, str], Task],
) -> tuple[dict[tuple[bool, bool, bool], Count], list[float], list[float]]:
    """Counts by (sealed, changes, passed); seconds of the gate and of the risk assessment alone."""
    counts: dict[tuple[bool, bool, bool], Count] = {}
    judging: list[float] = []
    assessing: list[float] = []
    sites = load_sites()
    with folders() as roots:
        for root in roots:
            for folder in find_runs(root):
                read = read_run(folder, root, sites)
                task = tasks.get((read.run.suite, read.run.task_id))
                if task is None:
                    continue
                blobs = read.blobs
                passed = (read.run.score or 0) >= 1
                count = counts.setdefault((task.sealed, task.changes, passed), Count())
                gate = WriteGate()
                refused = permits = 0
                for step in read.steps:
                    if not step.executed or not step.tree:
                        continue
                    page, elements = shown(step, blobs)
                    command = command_of(step.action, elements)
                    if command is None:
                        continue
                    sight = Observation(
                        step=step.index, steps_left=9, intent=read.run.intent, start_url="", page=page
                    )
                    began = time.perf_counter()
                    decision = gate.judge(command, sight)
                    judging.append(time.perf_counter() - began)
                    began = time.perf_counter()
                    assess_risk(command, page)
                    assessing.append(time.perf_counter() - began)
                    worked = not step.error
                    effect = Effect.CHANGED if worked else Effect.NOTHING
                    gate.settle(decision, ActionResult(success=worked, effect=effect), step.index)
                    count.actions += 1
                    refused += not decision.allowed
                    permits += decision.permit is not None
                count.runs += 1
                count.refused += refused
                count.permits += permits
                count.stopped += refused > 0
                count.opened += permits > 0
    return counts, judging, assessing


def main() -> None:
    if not DATA.is_dir():
        print("write_gate: the run collection is not beside the checkout; nothing measured")
        return
    tasks = load_tasks()
    only = [name == "sealed" for name in ("looked at", "sealed") if not sys.argv[1:] or name in sys.argv[1:]]
    for sealed in only:
        half = [task for task in tasks.values() if task.sealed is sealed]
        certain = {task: any(one.certain for one in requested_changes(task.intent)) for task in half}
        right = sum(certain[task] is task.changes for task in half)
        changing = [task for task in half if task.changes]
        looking = [task for task in half if not task.changes]
        print(
            f"{'sealed' if sealed else 'looked at'}: kind of task read as published {wilson(right, len(half))}"
        )
        print(f"  changes seen as changes {wilson(sum(certain[t] for t in changing), len(changing))}")
        print(f"  tasks that only look seen so {wilson(sum(not certain[t] for t in looking), len(looking))}")
    counts, judging, assessing = replay(tasks)
    for sealed in only:
        name = "sealed" if sealed else "looked at"
        for changes, passed in ((True, True), (True, False), (False, True), (False, False)):
            count = counts.get((sealed, changes, passed), Count())
            kind = f"{'changes' if changes else 'only looks'}, {'passed' if passed else 'failed'}"
            print(
                f"{name}, task {kind}: {count.runs} runs, {count.actions} actions; refused {count.refused} in "
                f"{wilson(count.stopped, count.runs)} runs; permits {count.permits} in {count.opened} runs"
            )
    judging.sort()
    slow = judging[int(len(judging) * 0.95)]
    print(
        f"cost: {statistics.median(judging) * 1e3:.2f} ms a decision, p95 {slow * 1e3:.1f} ms;"
        f" the risk assessment alone {statistics.median(assessing) * 1e3:.2f} ms"
        f" ({sum(judging) / max(sum(assessing), 1e-9):.1f}x in all)"
    )


if __name__ == "__main__":
    main()
