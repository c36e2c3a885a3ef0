"""The scout on real applications nobody tuned it for: with nothing, the map, an expert's tips, or both.

``python -m benchmarks.scout_sites [--split open|sealed] [--sites A,B] [--arms nothing,map,tips,both] [--only ID,ID]
[--kind question|way|change] [--held-back] [--trace] [--out FILE] [--maps DIR]``

Each task begins from the same state of its site and is judged by the site's own data.  Rows that differ although the
task does not allow it are unasked writes; a run that says it is done and is not is a false "done".  Of the sealed
sites only figures are printed.  ``--held-back`` takes the tasks of ``held_back.json``, which only open sites have.
``--maps`` keeps explored maps between calls; ``--out`` appends a line of JSON a run.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from app.engine.api.graph_api import ExploreOptions
from app.engine.api.run_api import LIVE_KNOWLEDGE, WITHOUT_KNOWLEDGE, RunRequest, RunSummary
from app.engine.browser.session import open_browser
from app.engine.core.page_state import Mode
from app.engine.engine import Engine
from benchmarks.sites.__main__ import OPEN, SEALED, site_of
from benchmarks.sites.site import Site
from benchmarks.sites.tasks import SiteTask, expected, load_tasks, strayed, verdict
from kb.tip import Status

FROZEN = "frozen"
ARMS = ("nothing", "map", "tips", "both", FROZEN)
MOST_STEPS = 25
MOST_STATES, DEPTH = 150, 3
SAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class SiteRun:
    """One task in one arm; ``why`` says why it failed, ``writes`` which rows changed unasked."""

    site: str
    task: str
    template: str
    kind: str
    arm: str
    ok: bool
    claimed: bool
    outcome: str
    answer: str
    why: str
    writes: tuple[str, ...]
    steps: int
    seconds: float
    tokens: int
    run: str


async def prepare(
    engine: Engine, site: Site, folder: Path, *, maps: bool, tasks: Sequence[SiteTask]
) -> dict[str, str]:
    """Log-ins by role, tips and, if asked for, the map."""
    logins = {"": ""}
    roles = {task.login for task in tasks} | {role for _, role in site.explored}
    async with open_browser() as browser:
        for role in sorted(roles - {""}):
            context = await browser.new_context()
            page = await context.new_page()
            await site.log_in(page, site.accounts[role])
            logins[role] = str(folder / f"{site.name}-{role}.json")
            await context.storage_state(path=logins[role])
            await context.close()
    site.keep()
    await engine.load_encoder(allow_export=False)
    await engine.kb_import(str(site.data / "tips.jsonl"), "jsonl", site.name)
    await engine.set_status([tip.id for tip in await engine.list_tips(site.name)], Status.REVIEWED)
    if maps:
        before = site.rows()
        for path, role in site.explored:
            options = ExploreOptions(
                mode=Mode.SKELETON, depth=DEPTH, workers=1, max_states=MOST_STATES, storage_state=logins[role]
            )
            await engine.explore(f"{site.url}{path}", site.name, options)
        print(f"{site.name}: exploring wrote {len(strayed(before, site.rows(), {}))} rows", flush=True)
        site.reset()
    return logins


def half_of(site: str, template: str) -> str:
    """``a`` or ``b``: the half of the templates that a template belongs to, by its hash."""
    return "ab"[hashlib.sha256(f"{site}:{template}".encode()).digest()[0] % 2]


async def run(
    engine: Engine, site: Site, task: SiteTask, arm: str, logins: Mapping[str, str], kb: str = ""
) -> SiteRun:
    """One task in one arm, from the kept state of its site."""
    site.reset()
    wanted, before = expected(site, task), site.rows()
    began = time.monotonic()
    summary = await engine.run_task(
        RunRequest(
            intent=task.intent,
            start_url=f"{site.url}{task.start}",
            kb=kb if arm == FROZEN else LIVE_KNOWLEDGE if arm in ("tips", "both") else WITHOUT_KNOWLEDGE,
            graph=(site.name,) if arm in ("map", "both") else (),
            site=site.name,
            max_steps=MOST_STEPS,
            storage_state=logins[task.login],
            suite="scout_sites",
            task_id=task.id,
        )
    )
    seconds = time.monotonic() - began
    after = site.rows()
    answered = summary.outcome == "answered"
    ended_at = (
        (await engine.open_run(summary.run)).steps[-1].url if task.kind == "way" and summary.steps else ""
    )
    why = verdict(site, task, wanted, answer=summary.answer or "", url=ended_at, before=before)
    why = why or ("" if answered else f"ended as {summary.outcome}")
    return SiteRun(
        site=site.name,
        task=task.id,
        template=task.template,
        kind=task.kind,
        arm=arm,
        ok=not why,
        claimed=answered,
        outcome=summary.outcome,
        answer=summary.answer or summary.error or "",
        why=why,
        writes=tuple(strayed(before, after, task.may_change)),
        steps=summary.steps,
        seconds=round(seconds, 1),
        tokens=_tokens(summary),
        run=summary.run,
    )


def _tokens(summary: RunSummary) -> int:
    return sum(one.tokens_in + one.tokens_out for one in summary.usage)


async def measure(asked: argparse.Namespace, name: str) -> list[SiteRun]:
    """All tasks of one site in all arms."""
    site = site_of(name, asked.port)
    arms = [arm for arm in ARMS if arm in asked.arms.split(",") or (arm == FROZEN and asked.kb)]
    listed = load_tasks(site, "held_back" if asked.held_back else "tasks")
    tasks = [
        task
        for task in listed
        if (not asked.only or task.id in asked.only.split(","))
        and (not asked.kind or task.kind == asked.kind)
        and asked.half in ("", half_of(name, task.template))
    ]
    made: list[SiteRun] = []
    kept = Path(asked.maps) / name if asked.maps else None
    needs_map = bool({"map", "both"} & set(arms))
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(asked.workspace) / name if asked.workspace else Path(folder) / "workspace"
        known = kept is not None and kept.is_dir()
        if known and kept is not None:
            shutil.copytree(kept, workspace)
        site.start()
        shutil.rmtree(site.kept, ignore_errors=True)
        site.reset()
        engine = await Engine.open(workspace, "benchmark")
        try:
            logins = await prepare(engine, site, Path(folder), maps=needs_map and not known, tasks=listed)
            if kept is not None and needs_map and not known:
                await engine.aclose()
                shutil.copytree(workspace, kept)
                engine = await Engine.open(workspace, "benchmark")
                await engine.load_encoder(allow_export=False)
            for task in tasks:
                for arm in arms:
                    one = await run(engine, site, task, arm, logins, asked.kb)
                    made.append(one)
                    await _tell(engine, one, sealed=name in SEALED, trace=asked.trace)
                    if asked.out:
                        _append(Path(asked.out), one, sealed=name in SEALED)
        finally:
            await engine.aclose()
            site.reset()
            site.stop()
    return made


def _append(path: Path, one: SiteRun, *, sealed: bool) -> None:
    record = asdict(one)
    if sealed:
        record |= {"answer": "", "why": "", "writes": len(one.writes), "run": ""}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


async def _tell(engine: Engine, one: SiteRun, *, sealed: bool, trace: bool) -> None:
    if sealed:
        print(f"{one.site:11} {one.arm:8} {one.steps:3} steps {one.seconds:5.1f} s", flush=True)
        return
    told = "ok" if one.ok else f"{one.why} ({one.outcome}: {one.answer[:160]})"
    print(
        f"{one.task:16} {one.kind:8} {one.arm:8} {one.steps:3} steps {one.seconds:5.1f} s  {told}", flush=True
    )
    for row in one.writes:
        print(f"      UNASKED {row[:200]}", flush=True)
    if not trace:
        return
    for step in (await engine.open_run(one.run)).steps:
        said = f"{step.words[:60]:60} | {step.reason[:110]} | {step.effect} {step.error[:100]}"
        print(f"      {step.index:2} {step.url[-45:]:45} {said}", flush=True)


def table(runs: Sequence[SiteRun]) -> None:
    """Success by arm and kind with intervals, pairs, unasked writes, false "done", steps and seconds."""
    for split, names in (("open", OPEN), ("sealed", SEALED)):
        mine = [one for one in runs if one.site in names]
        if mine:
            print(f"\n{split} sites: {', '.join(dict.fromkeys(one.site for one in mine))}")
            _split_table(mine)


def _split_table(runs: Sequence[SiteRun]) -> None:
    arms = [arm for arm in ARMS if any(one.arm == arm for one in runs)]
    nothing = {(one.site, one.task): one.ok for one in runs if one.arm == "nothing"}
    for arm in arms:
        mine = [one for one in runs if one.arm == arm]
        low, high = interval([(f"{one.site}:{one.template}", float(one.ok)) for one in mine])
        pairs = [
            (f"{one.site}:{one.template}", float(one.ok) - float(nothing[one.site, one.task]))
            for one in mine
            if (one.site, one.task) in nothing
        ]
        kinds = ", ".join(
            f"{kind} {sum(one.ok for one in mine if one.kind == kind)}/{sum(one.kind == kind for one in mine)}"
            for kind in dict.fromkeys(one.kind for one in mine)
        )
        false = sum(one.claimed and not one.ok for one in mine)
        won = sum(one.ok for one in mine)
        print(f"{arm:8} {won} of {len(mine)} = {won / len(mine):.2f} [{low:.2f}, {high:.2f}]; {kinds}")
        print(
            f"         unasked writes in {sum(bool(one.writes) for one in mine)}, false done {false} "
            f"({false / len(mine):.3f}), {statistics.median(one.steps for one in mine):.0f} steps, "
            f"{statistics.median(one.seconds for one in mine):.1f} s, {sum(one.tokens for one in mine)} tokens"
        )
        if arm != "nothing" and pairs:
            low, high = interval(pairs)
            gain = statistics.mean(value for _, value in pairs)
            won, lost = sum(value > 0 for _, value in pairs), sum(value < 0 for _, value in pairs)
            print(f"         against nothing {gain:+.2f} [{low:+.2f}, {high:+.2f}], {won} won, {lost} lost")


def interval(values: Sequence[tuple[str, float]]) -> tuple[float, float]:
    """The middle 95 % of means over templates drawn with replacement (seed 7)."""
    groups: dict[str, list[float]] = defaultdict(list)
    for template, value in values:
        groups[template].append(value)
    listed, draw = list(groups.values()), random.Random(7)
    means: list[float] = []
    for _ in range(SAMPLES):
        drawn = [value for group in draw.choices(listed, k=len(listed)) for value in group]
        means.append(sum(drawn) / len(drawn))
    means.sort()
    return means[int(0.025 * SAMPLES)], means[int(0.975 * SAMPLES)]


def read_runs(path: Path) -> list[SiteRun]:
    """Runs that ``--out`` kept."""
    return [_run_of(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def _run_of(record: dict[str, Any]) -> SiteRun:
    """A run from its line; of a sealed site only the number of unasked writes was kept."""
    kept = record["writes"]
    record["writes"] = tuple(str(one) for one in (range(kept) if isinstance(kept, int) else kept))
    return SiteRun(**record)


def main() -> None:
    """Run the tasks and print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--split", choices=("open", "sealed"), default="open")
    parser.add_argument("--sites", default="")
    parser.add_argument("--arms", default=",".join(ARMS[:4]))
    parser.add_argument("--only", default="")
    parser.add_argument("--kind", default="")
    parser.add_argument(
        "--held-back", action="store_true", help="the tasks of held_back.json; open sites only"
    )
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--maps", default="")
    parser.add_argument("--half", choices=("", "a", "b"), default="")
    parser.add_argument("--kb", default="")
    parser.add_argument("--workspace", default="")
    parser.add_argument("--out", default="")
    parser.add_argument("--read", default="", help="print the figures of a file that --out made")
    parser.add_argument("--trace", action="store_true", help="print every step; open sites only")
    asked = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    if asked.read:
        table(read_runs(Path(asked.read)))
        return
    names = [name for name in asked.sites.split(",") if name] or list(
        OPEN if asked.split == "open" else SEALED
    )
    if asked.split == "open" and set(names) & set(SEALED):
        sys.exit("a sealed site needs --split sealed")
    if asked.held_back and set(names) & set(SEALED):
        sys.exit("a sealed site has no tasks held back")
    runs: list[SiteRun] = []
    for name in names:
        runs += asyncio.run(measure(asked, name))
    table(runs)


if __name__ == "__main__":
    main()
