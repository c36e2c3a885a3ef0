"""A workspace's files are its owner's alone, from the moment they are made and whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import log as logs
from app.engine.agent.memory import entries
from app.engine.agent.memory.ledger_store import LedgerStore
from app.engine.api.run_api import RunRequest
from app.engine.core.actions.types import Click, Stop
from app.engine.imports.importer import import_paths
from app.engine.store.database import open_database
from app.engine.store.review_schema import MIGRATIONS
from app.engine.store.run_writer import RunWriter, request_file
from app.engine.store.workspace import Workspace
from kb.store import KnowledgeBase
from kb.tip import TipDraft
from tests.support.browserless import Browserless
from tests.support.runs import make_run, make_step, write_run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="rights are another thing there")
IMPORTED = 20
"""Enough for a helper process to take part."""
REQUEST = RunRequest(intent="Find it", start_url="http://shop.example/")


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct, autouse=True)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def everything(root: Path) -> list[Path]:
    return [root, *root.rglob("*")]


def open_to_others(root: Path) -> dict[str, str]:
    """Return the files others have rights on, with their modes."""
    return {
        str(path.relative_to(root)): stat.filemode(path.lstat().st_mode)
        for path in everything(root)
        if path.lstat().st_mode & 0o077
    }


def fill(workspace: Workspace, source: Path) -> None:
    """Something of everything that a workspace holds."""
    live = RunWriter.begin(workspace, make_run("live"), request_file(REQUEST))
    live.append(make_step(0), {})
    with LedgerStore.open(live.folder) as book:
        book.write(entries.note("seen", 0))
    live.close()
    workspace.run_registry.claim(["queued"])
    workspace.graph("shop")
    workspace.delete_runs(["live"])
    for number in range(IMPORTED):
        write_run(source / f"run{number}", about={"task": number})
    import_paths(workspace, [source])
    with KnowledgeBase.open(workspace.knowledge_path, author="ada") as base:
        base.add(TipDraft(site="shop", text="Press Save first."))


def test_all_that_a_workspace_makes_is_its_owners_alone(tmp_path: Path):
    place = tmp_path / "workspace"
    with Workspace.open(place) as workspace:
        fill(workspace, tmp_path / "source")
        names = {path.name for path in everything(place)}
        assert {
            "review.sqlite-wal",
            "review.sqlite-shm",
            "blobs.sqlite",
            "knowledge.akb",
            "steps.jsonl",
        } <= names
        assert {"ledger-events.jsonl", "shop.sqlite", "task.json", "run.json", "trash"} <= names
        assert open_to_others(place) == {}
    assert open_to_others(place) == {}


async def test_all_that_a_supervised_run_leaves_is_its_owners_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    wall = await Browserless.at(tmp_path / "workspace", monkeypatch)
    runs = await wall.start((Click(0), Stop("done")), (Click(0), Stop("done")), at_once=1)
    for run in runs:
        await wall.over(run)
    assert open_to_others(tmp_path / "workspace") == {}
    await wall.engine.aclose()
    assert open_to_others(tmp_path / "workspace") == {}


def test_a_workspace_that_everybody_could_read_is_its_owners_once_it_is_opened(tmp_path: Path):
    place = tmp_path / "workspace"
    with Workspace.open(place) as workspace:
        fill(workspace, tmp_path / "source")
    beside = place / "holiday.txt"
    beside.write_text("somebody's own", encoding="utf-8")
    for path in everything(place):
        path.chmod(0o755 if path.is_dir() else 0o644)
    elsewhere = tmp_path / "elsewhere.txt"
    elsewhere.write_text("not ours", encoding="utf-8")
    elsewhere.chmod(0o644)
    (place / "runs" / "link").symlink_to(elsewhere)
    with Workspace.open(place):
        assert set(open_to_others(place)) == {"holiday.txt", "runs/link"}
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o644
    assert stat.S_IMODE((place / "review.sqlite").stat().st_mode) == 0o600


def test_a_workspace_of_somebody_else_is_opened_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    place = tmp_path / "workspace"
    Workspace.open(place).close()
    place.chmod(0o770)

    def refuse(path: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted", str(path))

    monkeypatch.setattr(Path, "chmod", refuse)
    with Workspace.open(place) as workspace:
        assert workspace.runs.ids() == set()
    assert "can be read by others: Operation not permitted" in caplog.text


def test_a_workspace_made_in_a_folder_that_is_there_is_its_owners_alone(tmp_path: Path):
    place = tmp_path / "mine"
    place.mkdir()
    place.chmod(0o777)
    with Workspace.open(place):
        assert open_to_others(place) == {}


def test_backups_and_exported_runs_are_their_owners_alone(tmp_path: Path):
    place = tmp_path / "workspace"
    place.mkdir(mode=0o700)
    open_database(place / "review.sqlite", MIGRATIONS[:2]).close()
    with Workspace.open(place) as workspace:
        assert list(place.glob("review.sqlite.backup-*"))
        live = RunWriter.begin(workspace, make_run("live"), request_file(REQUEST))
        live.append(make_step(0), {})
        live.close()
        workspace.export_runs(["live"], tmp_path / "out")
    assert open_to_others(place) == {}
    assert open_to_others(tmp_path / "out" / "live") == {}


def test_logs_are_their_owners_alone_also_those_of_before(tmp_path: Path):
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "host.log").write_text("old\n", encoding="utf-8")
    (folder / "host.log").chmod(0o644)
    folder.chmod(0o755)
    files = logs.setup(role="host", folder=folder)
    try:
        logs.log.warning("something")
        for handler in files.handlers:
            if hasattr(handler, "doRollover"):
                handler.doRollover()
        assert {path.name for path in folder.iterdir()} == {"host.log", "host.log.1", "host.crash.log"}
        assert open_to_others(folder) == {}
    finally:
        files.close()
