"""Prepare a workspace for an evaluation on the sites: table of sites, log-ins, maps, frozen tips, suites."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from app.engine.api.graph_api import ExploreOptions
from app.engine.core.page_state import Mode
from app.engine.core.sites import Site as SiteEntry
from app.engine.engine import Engine
from app.errors import SiteloreError
from benchmarks.sites.evaluation import TITLES, base_of, command_line, save_login, suite_document
from benchmarks.sites.tasks import SETS, TaskSet, load_tasks, sets_of, strayed
from kb.tip import Status

if TYPE_CHECKING:
    from benchmarks.sites.site import Site

MOST_STATES, DEPTH = 150, 3
FROZEN = "akb.akb"
TIP_FILES = {"expert": "tips.jsonl", "fresh": "tips_fresh.jsonl"}


def prepare_workspace(
    folder: Path, sites: Sequence[Site], *, maps: bool = False, tips: Literal["", "expert", "fresh"] = ""
) -> None:
    """Make a workspace in which ``sitelore eval run`` can begin at once; the sites keep running.

    Raises:
        RuntimeError: a site does not start, or the workspace refuses something.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        asyncio.run(_prepare(folder, sites, maps=maps, tips=tips))
    except SiteloreError as error:
        raise RuntimeError(str(error)) from error


async def _prepare(folder: Path, sites: Sequence[Site], *, maps: bool, tips: str) -> None:
    engine = await Engine.open(folder, "benchmark")
    try:
        await engine.load_encoder(allow_export=False)
        for site in sites:
            began = time.monotonic()
            with tempfile.TemporaryDirectory() as secrets:
                logins = await _started(engine, site, Path(secrets))
                if maps:
                    await _explore(engine, site, logins)
            if tips:
                await _import_tips(engine, site, site.data / TIP_FILES[tips])
            print(f"{site.name}: ready at {site.url} after {time.monotonic() - began:.0f} s", flush=True)
        if tips:
            frozen = await engine.freeze(str(folder / FROZEN), [Status.REVIEWED])
            print(f"{frozen.tips} tips in {frozen.path}, left out: {frozen.left_out or 'none'}", flush=True)
        for which in SETS:
            having = [site for site in sites if which in sets_of(site)]
            if having:
                await _add_suite(engine, folder / f"{which}.json", having, which)
    finally:
        await engine.aclose()


async def _add_suite(engine: Engine, file: Path, sites: Sequence[Site], which: TaskSet) -> None:
    """Write a suite and add it, in place of one of an earlier call."""
    name = which.replace("_", "-")
    file.write_text(json.dumps(suite_document(sites, which), indent=1), encoding="utf-8")
    if name in {row.name for row in await engine.suites()}:
        await engine.remove_suite(name)
    row = await engine.add_suite(str(file), name)
    print(f"suite {row.name}: {row.tasks} {TITLES[which]} of {row.templates} templates", flush=True)


async def _started(engine: Engine, site: Site, secrets: Path) -> dict[str, Path]:
    """Start a site in its first state, enter it into the table and save its log-ins; return them by role."""
    site.start()
    shutil.rmtree(site.kept, ignore_errors=True)
    site.reset()
    await _enter(engine, site)
    roles = {task.login for which in sets_of(site) for task in load_tasks(site, which)}
    logins: dict[str, Path] = {}
    for role in sorted((roles | {role for _, role in site.explored}) - {""}):
        logins[role] = secrets / f"{role}.json"
        await save_login(site, role, logins[role])
        await engine.keep_login(site.name, str(logins[role]), role)
    return logins


async def _enter(engine: Engine, site: Site) -> None:
    before = next((row.site for row in await engine.sites() if row.site.name == site.name), None)
    default_port = type(site).port
    entry = SiteEntry(
        name=site.name,
        hosts=(site.url.removeprefix("http://"),),
        starts=(f"{site.url}/",),
        bases={base_of(site.name): site.url},
        reset=command_line("reset", site, default_port),
        state=command_line("state", site, default_port),
        login=command_line("login", site, default_port),
    )
    await engine.save_site(entry, before)


async def _explore(engine: Engine, site: Site, logins: dict[str, Path]) -> None:
    """Explore the map from the site's own first pages, and put back what exploring wrote."""
    before = site.rows()
    for path, role in site.explored:
        options = ExploreOptions(
            mode=Mode.SKELETON,
            depth=DEPTH,
            workers=1,
            max_states=MOST_STATES,
            storage_state=str(logins[role]) if role else "",
        )
        await engine.explore(f"{site.url}{path}", site.name, options)
    print(f"{site.name}: exploring wrote {len(strayed(before, site.rows(), {}))} rows", flush=True)
    site.reset()


async def _import_tips(engine: Engine, site: Site, path: Path) -> None:
    """Import the tips of a file, which have to be the only ones of the site: what is frozen is one set."""
    texts = {json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()}
    if any(tip.text not in texts for tip in await engine.list_tips(site.name)):
        raise RuntimeError(f"this workspace has other tips of {site.name} already; prepare another folder")
    await engine.kb_import(str(path), "jsonl", site.name)
    await engine.set_status([tip.id for tip in await engine.list_tips(site.name)], Status.REVIEWED)
