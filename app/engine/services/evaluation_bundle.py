"""The bundle of an evaluation: all that a worker's workspace needs, and nothing else of this one.

sites.json   prompts/      as they are here           suite.json   the suite
graphs/      blobs/        maps of its sites, and the contents their pages name
kbs/         frozen knowledge bases                   logins/      log-ins of its sites
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from app.engine.core.evaluation.episode import Arm
from app.engine.core.evaluation.suite import Suite, SuiteTask
from app.engine.evaluation.bundled_suite import SUITE_FILE, encode_suite
from app.engine.evaluation.packing import pack_files
from app.engine.evaluation.scale.episode_worker import BUNDLED_BLOBS, BUNDLED_LOGINS
from app.engine.services.site_logins import login_path
from app.engine.services.suite_requests import site_row
from app.engine.store.database import copy_database
from app.engine.store.prompt_store import PROMPTS_FOLDER
from app.engine.store.run_files import encode_blob_file
from app.engine.store.site_store import SITES_FILE
from app.engine.store.workspace import GRAPHS_FOLDER, Workspace
from app.errors import InputError
from kb.manifest import manifest_path

_KBS = "kbs"


def bundled_arm(arm: Arm, place: int) -> Arm:
    """Return an arm as a worker is told it: with the path of its knowledge base in the bundle."""
    return arm if arm.kb == "none" else replace(arm, kb=f"{_KBS}/{place}/{Path(arm.kb).name}")


def make_bundle(
    workspace: Workspace, suite: Suite, tasks: Sequence[SuiteTask], arms: Sequence[Arm], *, pictures: bool
) -> bytes:
    """Return the packed bundle; store thread only.

    Args:
        tasks: those of the suite that are run.
        pictures: with the pictures of the maps' pages, which only models look at.
    """
    rows = workspace.site_store.rows
    named = {name for task in tasks for name in task.sites}
    sites = sorted({row.name for name in named if (row := site_row(name, rows)) is not None})
    files: dict[str, bytes] = {SUITE_FILE: encode_suite(replace(suite, tasks=tuple(tasks)))}
    files |= dict(_of_workspace(workspace))
    if any(arm.maps for arm in arms):
        for site in set(sites) & set(workspace.graph_sites()):
            files |= dict(_graph(workspace, site, pictures))
    for place, arm in enumerate(arms):
        if arm.kb == "none":
            continue
        path = Path(arm.kb)
        for file in (path, manifest_path(path)):
            if file.exists():
                files[f"{_KBS}/{place}/{file.name}"] = _read(file)
    roles = {task.login for task in tasks if task.login}
    for site in sites:
        for login in (login_path(site), *(login_path(site, role) for role in roles)):
            if login.exists():
                files[f"{BUNDLED_LOGINS}/{login.name}"] = _read(login)
    return pack_files(files)


def _of_workspace(workspace: Workspace) -> Iterator[tuple[str, bytes]]:
    if (sites := workspace.path / SITES_FILE).exists():
        yield SITES_FILE, _read(sites)
    prompts = workspace.path / PROMPTS_FOLDER
    for path in sorted(prompts.iterdir()) if prompts.is_dir() else ():
        if path.is_file() and path.suffix in (".md", ".json"):
            yield f"{PROMPTS_FOLDER}/{path.name}", _read(path)


def _graph(workspace: Workspace, site: str, pictures: bool) -> Iterator[tuple[str, bytes]]:
    name = quote(site, safe="")
    graph = workspace.graph(site)
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "copy.sqlite"
        copy_database(workspace.path / GRAPHS_FOLDER / f"{name}.sqlite", copy)
        yield f"{GRAPHS_FOLDER}/{name}.sqlite", _read(copy)
    if (rules := workspace.rules_path(site)).exists():
        yield f"{GRAPHS_FOLDER}/{rules.name}", _read(rules)
    named = {
        digest
        for page in graph.pages()
        for digest in (page.text, page.elements, page.picture if pictures else "")
        if digest
    }
    for digest in sorted(named - workspace.runs.blobs.missing(named)):
        file, data = encode_blob_file(digest, workspace.runs.read_blob(digest))
        yield f"{BUNDLED_BLOBS}/{file}", data


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(error.strerror or str(error), path=str(path)) from error
