"""The evidence of a run is stored, exported, deleted, brought back and imported with it, byte for byte.

The files of such a run stand in ``tests/golden/evidence``; a change of them is a change of the form that old runs are
stored in: ``python -m tests.unit.engine.test_evidence_files`` writes them anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard

from app.engine.api.run_api import RunRequest
from app.engine.core.evaluation.run_evidence import RunEvidence, SiteState, TargetEvidence
from app.engine.core.trajectory import Outcome, Run, Tab, add_blob
from app.engine.evaluation.evidence_codec import decode_evidence, encode_evidence
from app.engine.imports.importer import import_paths
from app.engine.store.run_writer import RunWriter, request_file
from app.engine.store.workspace import Workspace
from tests.support.runs import make_step

GOLDEN = Path(__file__).parents[2] / "golden" / "evidence"
EVIDENCE = RunEvidence(
    answer="42",
    tabs=(
        Tab(url="http://shop.example/orders", title="Orders"),
        Tab(url="http://shop.example/", title="Shop"),
    ),
    active=0,
    html='<!DOCTYPE html><html><body><input id="q" value="typed é"></body></html>',
    targets=(
        TargetEvidence(target="0", url="http://shop.example/orders", value="None"),
        TargetEvidence(target="1.0", why="it did not answer within 15 s"),
    ),
    before=(SiteState(site="shop", output={"answer": ["42"]}),),
    after=(SiteState(site="shop", why="the state command of 'shop' printed no JSON"),),
    har={"log": {"version": "1.2", "entries": []}},
    notes=("a note",),
)
REQUEST = RunRequest(intent="How many?", start_url="http://shop.example/", setup="miniwob:3", har=True)


def _workspace(path: Path) -> Workspace:
    return Workspace.open(path)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = _workspace(tmp_path / "workspace")
    yield opened
    opened.close()


def _finished(workspace: Workspace) -> Run:
    """A run of one step with evidence, as it is on the disk."""
    begun = Run(
        id="run-1", source="sitelore", intent=REQUEST.intent, start_url=REQUEST.start_url, started_at=7.0
    )
    live = RunWriter.begin(workspace, begun, request_file(REQUEST))
    live.append(make_step(0))
    blobs: dict[str, bytes] = {}
    digest = add_blob(blobs, encode_evidence(EVIDENCE))
    return live.finish(replace(live.run, outcome=Outcome.ANSWERED, answer="42", evidence=digest), blobs)


def _files(folder: Path) -> dict[str, bytes]:
    """The files of an exported run by name, contents unpacked."""
    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            packed = path.suffix == ".zst"
            found[path.name.removesuffix(".txt.zst")] = (
                zstandard.ZstdDecompressor().decompress(data, max_output_size=2**20) if packed else data
            )
    return found


def test_the_files_of_a_run_with_evidence_are_the_golden_ones(workspace: Workspace, tmp_path: Path) -> None:
    run = _finished(workspace)
    files = _files(workspace.runs.export(run.id, tmp_path / "out"))
    assert files["run.json"] == (GOLDEN / "run.json").read_bytes()
    assert files[run.evidence] + b"\n" == (GOLDEN / "evidence.json").read_bytes()
    assert decode_evidence(files[run.evidence]) == EVIDENCE


def test_evidence_written_before_is_read() -> None:
    assert decode_evidence((GOLDEN / "evidence.json").read_bytes()) == EVIDENCE


def test_evidence_is_deleted_and_brought_back_with_its_run(workspace: Workspace) -> None:
    run = _finished(workspace)
    workspace.runs.delete([run.id])
    workspace.runs.restore([run.id])
    head, _ = workspace.runs.load(run.id)
    assert decode_evidence(workspace.runs.read_blob(head.evidence)) == EVIDENCE


def test_an_exported_run_is_imported_with_its_evidence(workspace: Workspace, tmp_path: Path) -> None:
    run = _finished(workspace)
    out = workspace.runs.export(run.id, tmp_path / "out")
    other = _workspace(tmp_path / "other")
    try:
        report = import_paths(other, [out])
        assert not report.failed
        (found,) = other.runs.ids()
        head, _ = other.runs.load(found)
        assert decode_evidence(other.runs.read_blob(head.evidence)) == EVIDENCE
    finally:
        other.close()


def test_a_run_that_is_resumed_has_no_evidence_until_it_ends_again(workspace: Workspace) -> None:
    run = _finished(workspace)
    workspace.runs.delete([run.id])
    begun = Run(id="run-2", source="sitelore", intent="x", start_url="http://shop.example/")
    live = RunWriter.begin(workspace, begun, request_file(REQUEST))
    blobs: dict[str, bytes] = {}
    digest = add_blob(blobs, encode_evidence(EVIDENCE))
    live.finish(replace(live.run, outcome=Outcome.CRASHED, evidence=digest), blobs)
    again = RunWriter.resume(workspace, "run-2")
    assert again.run.evidence == ""
    again.close()


def _write() -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        opened = _workspace(Path(name) / "workspace")
        run = _finished(opened)
        files = _files(opened.runs.export(run.id, Path(name) / "out"))
        opened.close()
    GOLDEN.mkdir(parents=True, exist_ok=True)
    (GOLDEN / "run.json").write_bytes(files["run.json"])
    (GOLDEN / "evidence.json").write_bytes(files[run.evidence] + b"\n")


if __name__ == "__main__":
    _write()
