"""No run stays without the detectors: whatever ended an import early, the next deed or opening looks at the rest."""

from __future__ import annotations

import asyncio

import pytest

from app.cli.root import run as command_line
from app.engine.api.run_rows import RunFilter
from app.engine.core.events import IndexDamaged, JobChanged
from app.engine.core.trajectory import Outcome
from app.engine.core.verdicts import Risk
from app.engine.detectors import risk
from app.engine.detectors.rules.endings import GaveUp
from app.engine.engine import Engine
from app.engine.imports.importer import import_paths
from app.engine.services import review
from app.engine.services import runs as run_cases
from app.engine.store.database import INDEX_FILE
from app.engine.store.run_index import RunIndex
from app.engine.store.workspace import Workspace
from app.errors import DamagedIndex
from tests.support.runs import make_run, make_step, summary, write_run


@pytest.fixture
def root(tmp_path):
    for number in range(8):
        write_run(tmp_path / "root" / f"task_{number}", about=summary(2, cum_reward=number / 16))
    return tmp_path / "root"


@pytest.fixture
async def opened(tmp_path):
    """Opens engines on one workspace; all are closed at the end."""
    engines: list[Engine] = []

    async def opening() -> Engine:
        engines.append(await Engine.open(tmp_path / "workspace", author="mina"))
        return engines[-1]

    yield opening
    for engine in engines:
        await engine.aclose()


async def _waiting(engine: Engine) -> int:
    return sum(not row.looked_at for row in await engine.list_runs(RunFilter()))


def _taken_in(tmp_path, root, count: int) -> None:
    """Return the state left by an import killed after so many runs."""
    with Workspace.open(tmp_path / "workspace") as workspace:
        import_paths(workspace, [root], progress=lambda done, total, what: done < count)


async def test_runs_of_a_killed_import_are_looked_at_by_the_next_import(tmp_path, root, opened):
    _taken_in(tmp_path, root, 5)
    engine = await opened()
    assert await _waiting(engine) == 5
    report = await engine.import_runs([str(root)])
    assert (report.imported, report.skipped) == (3, 5)
    assert await _waiting(engine) == 0
    assert all(row.risk > 0 and row.signature for row in await engine.list_runs(RunFilter()))


async def test_they_are_looked_at_even_by_an_import_that_brings_nothing(tmp_path, root, opened):
    _taken_in(tmp_path, root, 100)
    engine = await opened()
    assert (await engine.import_runs([str(root)])).imported == 0
    assert await _waiting(engine) == 0


async def test_they_are_looked_at_in_the_background_when_the_window_opens(tmp_path, root, opened):
    _taken_in(tmp_path, root, 100)
    engine = await opened()
    jobs: list[JobChanged] = []

    def hear(event: object) -> None:
        if isinstance(event, JobChanged) and event.title == "Look for failures":
            jobs.append(event)

    engine.bus.subscribe(hear)
    engine.warm_up()
    for _ in range(1000):
        if any(job.state == "done" for job in jobs):
            break
        await asyncio.sleep(0.01)
    assert [jobs[0].state, jobs[-1].state, jobs[-1].total] == ["running", "done", 8]
    assert await _waiting(engine) == 0


async def test_nothing_starts_where_every_run_has_been_looked_at(root, opened):
    engine = await opened()
    await engine.import_runs([str(root)])
    before = len(await engine.jobs())
    await engine._review.start_missing_detection()
    assert len(await engine.jobs()) == before


async def test_a_cancelled_import_leaves_no_run_without_the_detectors(root, opened, monkeypatch):
    engine = await opened()

    def cancelled_after_four(own, roots, form, _progress, **_options):
        return import_paths(own, roots, form, lambda done, total, what: done < 4)

    monkeypatch.setattr(run_cases, "import_paths", cancelled_after_four)
    report = await engine.import_runs([str(root)])
    assert (report.cancelled, report.imported) == (True, 4)
    assert engine._review._looking is not None
    await engine._review._looking
    rows = await engine.list_runs(RunFilter())
    assert [row.looked_at for row in rows] == [True] * 4
    monkeypatch.undo()
    await engine.import_runs([str(root)])
    assert (await engine.info()).runs == 8
    assert await _waiting(engine) == 0


async def test_a_new_version_of_a_detector_looks_at_every_run_again(root, opened, monkeypatch):
    engine = await opened()
    await engine.import_runs([str(root)])
    monkeypatch.setattr(review, "DETECTOR_SET_HASH", "of another version")
    rest = engine._core.workspace.index.runs_to_detect
    assert len(rest("of another version")) == 8
    await engine._review.start_missing_detection()
    assert engine._review._looking is not None
    await engine._review._looking
    assert rest("of another version") == []


def test_the_basis_changes_with_a_detectors_version_with_the_set_and_with_the_prior():
    class Newer(GaveUp):
        version = GaveUp.version + 1

    detectors, priors = risk.ALL_DETECTORS, risk.FEATURES
    newer = [Newer if known is GaveUp else known for known in detectors]
    found = {
        risk.detector_set_hash(detectors, priors),
        risk.detector_set_hash(newer, priors),
        risk.detector_set_hash(detectors[1:], priors),
        risk.detector_set_hash(detectors, {**priors, "gave-up": (9.0, 1.0)}),
    }
    assert len(found) == 4
    assert risk.detector_set_hash(list(detectors), dict(priors)) == risk.DETECTOR_SET_HASH in found


async def test_a_run_no_detector_can_look_at_keeps_no_other_from_being_looked_at(
    tmp_path, root, opened, monkeypatch
):
    _taken_in(tmp_path, root, 100)
    engine = await opened()
    bad = (await engine.list_runs(RunFilter()))[0].id
    kept = review.detect_run

    def breaking(run, steps, usual, load):
        if run.id == bad:
            raise KeyError("an odd run")
        return kept(run, steps, usual, load)

    monkeypatch.setattr(review, "detect_run", breaking)
    await engine.detect()
    rows = await engine.list_runs(RunFilter())
    assert [row.id for row in rows if not row.looked_at] == [bad]


def test_a_run_that_is_going_on_waits_for_its_end(tmp_path):
    with Workspace.open(tmp_path / "w") as workspace:
        index: RunIndex = workspace.index
        index.put_run(make_run("going", outcome=Outcome.RUNNING), [make_step()], lambda url: "")
        index.put_run(make_run("over"), [make_step()], lambda url: "")
        assert index.runs_to_detect("now") == ["over"]
        index.put_judgement("over", [], Risk(run="over", value=0.1, suspect_step=0), "", "now")
        assert index.runs_to_detect("now") == []
        assert index.runs_to_detect("later") == ["over"]
        index.put_run(make_run("over"), [make_step()], lambda url: "")
        assert index.runs_to_detect("now") == ["over"]


def test_the_list_says_how_many_runs_wait_for_the_detectors(tmp_path, root, capsys, monkeypatch):
    monkeypatch.setattr("app.log.setup", lambda level="": None)
    _taken_in(tmp_path, root, 100)
    assert command_line(["--workspace", str(tmp_path / "workspace"), "runs", "list"]) == 0
    assert "8 of these runs have not been checked by the detectors yet" in capsys.readouterr().err
    assert command_line(["--workspace", str(tmp_path / "workspace"), "detect"]) == 0
    assert command_line(["--workspace", str(tmp_path / "workspace"), "runs", "list"]) == 0
    assert "looked at" not in capsys.readouterr().err


# ---- a damaged index


def _break(path) -> None:
    """Damage that opening does not meet: the file's pages behind the first few."""
    data = bytearray(path.read_bytes())
    data[6 * 4096 :] = b"\xa5" * (len(data) - 6 * 4096)
    path.write_bytes(bytes(data))


@pytest.fixture
async def broken(tmp_path, root, opened):
    """A workspace whose index opens and can't be used."""
    engine = await opened()
    await engine.import_runs([str(root)])
    await engine.aclose()
    _break(tmp_path / "workspace" / INDEX_FILE)
    return tmp_path / "workspace"


async def test_runs_that_come_back_from_the_trash_are_looked_at_again(root, opened):
    engine = await opened()
    runs = (await engine.import_runs([str(root)])).runs
    before = await engine.list_runs(RunFilter())
    await engine.delete_runs(list(runs[:3]))
    await engine.undo()
    if engine._review._looking is not None:
        await engine._review._looking
    assert await engine.list_runs(RunFilter()) == before


async def test_a_damaged_index_names_the_command_and_tells_whoever_listens(broken, opened):
    engine = await opened()
    heard: list[IndexDamaged] = []
    engine.bus.subscribe(lambda event: heard.append(event) if isinstance(event, IndexDamaged) else None)

    async def use_all_of_it() -> None:
        for run in engine._core.workspace.runs.ids():
            await engine.open_run(run)
        await engine.list_runs(RunFilter())
        await engine.search("thing")
        await engine.detect()

    with pytest.raises(DamagedIndex, match="sitelore runs reindex"):
        await use_all_of_it()
    assert len(heard) == 1


async def test_rebuilding_lays_the_damaged_file_aside_and_the_runs_open_with_flags_and_risk(broken, opened):
    engine = await opened()
    damaged = (broken / INDEX_FILE).read_bytes()
    assert await engine.rebuild_index() == 8
    rows = await engine.list_runs(RunFilter())
    assert all(row.looked_at for row in rows)
    assert (await engine.open_run(rows[0].id)).run.id == rows[0].id
    assert len(await engine.search("thing")) == 8
    kept = [
        path for path in broken.glob(f"{INDEX_FILE}.damaged-*") if not path.name.endswith(("-wal", "-shm"))
    ]
    assert [path.read_bytes() for path in kept] == [damaged]


async def test_one_found_damaged_at_opening_is_kept_too_and_said_in_one_sentence(broken, opened):
    (broken / INDEX_FILE).write_bytes(b"no database at all" * 300)
    engine = await opened()
    (note,) = (await engine.info()).notes
    (kept,) = broken.glob(f"{INDEX_FILE}.damaged-*")
    assert kept.name in note
    assert kept.read_bytes() == b"no database at all" * 300
    assert await _waiting(engine) == 0


def test_reindex_mends_it_from_the_command_line(tmp_path, root, capsys, monkeypatch):
    monkeypatch.setattr("app.log.setup", lambda level="": None)
    workspace = str(tmp_path / "workspace")
    assert command_line(["--workspace", workspace, "import", str(root)]) == 0
    _break(tmp_path / "workspace" / INDEX_FILE)
    codes = [command_line(["--workspace", workspace, *words]) for words in (["runs", "list"], ["detect"])]
    assert 3 in codes
    assert "runs reindex" in capsys.readouterr().err
    assert command_line(["--workspace", workspace, "runs", "reindex"]) == 0
    capsys.readouterr()
    assert command_line(["--workspace", workspace, "runs", "list"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 1 + 8
    assert err == ""
