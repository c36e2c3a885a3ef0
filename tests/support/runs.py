"""Runs for tests: the shared collection where it lies beside the checkout, made-up folders, a small workspace."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.sites import SiteTable, load_sites
from app.engine.core.trajectory import Outcome, Run, Step
from app.engine.imports import colorbrowseragent
from app.engine.imports.source_files import ReadRun

SHARED = Path(os.environ.get("SITELORE_SHARED", Path(__file__).parents[2] / ".." / "shared")).resolve()
COLLECTION = SHARED / "data" / "colorbrowseragent"
"""The published runs, with the map of their tasks' sites."""

TRAJECTORIES = COLLECTION / "trajectories"

needs_collection = pytest.mark.skipif(
    not COLLECTION.is_dir(), reason="the run collection is not beside the checkout"
)


def folder_of(task: str) -> Path:
    """A run's folder: ``webarena/33`` or ``webchorearena/20024``."""
    suite, _, number = task.partition("/")
    return TRAJECTORIES / suite / "results" / f"task_{number}"


@cache
def read(task: str) -> ReadRun:
    """A run of the collection, read with everything that lies beside it."""
    return read_run(folder_of(task), COLLECTION, load_sites())


def read_run(folder: Path, root: Path, sites: SiteTable, importer: Any = colorbrowseragent) -> ReadRun:
    """Import one run folder without storing it."""
    return importer.parse(importer.load(folder, root), sites)


def copy_runs(tasks: Iterable[str], into: Path) -> Path:
    """Copies of some runs (writable), in the layout of the collection; the root."""
    for task in tasks:
        suite, _, number = task.partition("/")
        shutil.copytree(
            folder_of(task), into / suite / "results" / f"task_{number}", copy_function=shutil.copyfile
        )
    for folder in [into, *(path for path in into.rglob("*") if path.is_dir())]:
        folder.chmod(0o755)
    return into


def make_step(index: int = 0, **fields: Any) -> Step:
    """A click on a button of a made-up page."""
    given: dict[str, Any] = {
        "url": f"http://shop.example:7770/page/{index}",
        "title": f"Page {index}",
        "reason": f"I look for the thing on page {index}.",
        "action": RecordedAction(kind="click", args={"bid": "12"}),
        "target": ActionTarget(role="button", name="Save", bid="12"),
    }
    return Step(index=index, **{**given, **fields})


def make_run(run_id: str = "made-1-00000000", **fields: Any) -> Run:
    """A failed run of the shop."""
    given: dict[str, Any] = {
        "source": "made",
        "suite": "made",
        "task_id": "1",
        "site": "shopping",
        "intent": "Find the thing",
        "score": 0.0,
        "outcome": Outcome.ANSWERED,
        "content_hash": f"hash of {run_id}",
    }
    return Run(id=run_id, **{**given, **fields})


def record(index: int, **fields: Any) -> dict[str, Any]:
    """A step record as BrowserGym writes it: click 12 on a made-up page."""
    obs: dict[str, Any] = {
        "chat_messages": [
            {"role": "assistant", "timestamp": 1.0, "message": "Hi!"},
            {"role": "user", "timestamp": 2.0, "message": "Find the thing"},
        ],
        "goal": "Find the thing",
        "goal_object": None,
        "last_action": "```click('12')```" if index else "",
        "last_action_error": "",
        "open_pages_urls": [f"http://shop.example:7770/page/{index}"],
        "open_pages_titles": [f"Page {index}"],
        "active_page_index": [0],
        "axtree_txt": f"RootWebArea 'Page {index}', focused\n\t[12] button 'Save'\n\tStaticText 'number {index}'",
        "pruned_html": f'<button bid="12">Save {index}</button>',
    }
    obs.update(fields.pop("obs", {}))
    return {
        "step": index,
        "obs": obs,
        "reward": 0,
        "raw_reward": None,
        "terminated": False,
        "truncated": False,
        "action": f"<think>Step {index}.</think><action>\n```click('12')```\n</action>",
        "stats": {"step_elapsed": 1.5, "agent_elapsed": 2.5},
        "profiling": {"env_start": 100.0 + index, "agent_start": 101.0 + index, "agent_stop": 102.0 + index},
        "task_info": {} if index else None,
        **fields,
    }


def summary(steps: int, **fields: Any) -> dict[str, Any]:
    """A run's summary: ended by itself with score 0."""
    return {
        "n_steps": steps,
        "cum_reward": 0.0,
        "cum_raw_reward": 0,
        "err_msg": None,
        "stack_trace": None,
        "terminated": True,
        "truncated": False,
        **fields,
    }


def write_run(
    folder: Path, records: Mapping[int, object] | None = None, about: object | None = None, steps: int = 2
) -> Path:
    """A run folder in the published layout; by default ``steps`` steps and the page after them."""
    folder.mkdir(parents=True, exist_ok=True)
    records = records if records is not None else {index: record(index) for index in range(steps + 1)}
    for index, value in records.items():
        (folder / f"steps_info_{index}.json").write_text(json.dumps(value, indent=4))
    (folder / "summary_info.json").write_text(
        json.dumps(about if about is not None else summary(len(records) - 1))
    )
    return folder
