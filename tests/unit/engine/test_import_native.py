"""Native run folders: what is written is read back, and nothing else is trusted."""

from __future__ import annotations

import hashlib
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.actions.specs import FORMS
from app.engine.core.sites import load_sites
from app.engine.core.trajectory import ErrorClass, Outcome, Step, Tab
from app.engine.imports import native
from app.engine.imports.native import find_runs
from app.engine.store.run_files import write_run_folder
from app.errors import Conflict, InputError
from tests.support.laws import examples
from tests.support.runs import make_run, make_step, needs_collection, read, read_run

SITES = load_sites()


texts = st.text(max_size=30)
numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
scalars = texts | st.integers(-(2**53), 2**53) | numbers | st.booleans() | st.none()
actions = st.builds(
    RecordedAction,
    kind=st.sampled_from(sorted(FORMS)),
    args=st.dictionaries(texts, scalars | st.lists(scalars, max_size=3), max_size=3),
)
steps = st.builds(
    Step,
    index=st.integers(0, 500),
    url=texts,
    title=texts,
    tabs=st.lists(st.builds(Tab, url=texts, title=texts), max_size=2).map(tuple),
    reason=texts,
    raw_output=texts,
    action=st.none() | actions,
    target=st.none() | st.builds(ActionTarget, role=texts, name=texts, bid=texts),
    executed=st.booleans(),
    error=texts,
    error_class=st.sampled_from(ErrorClass),
    notices=st.lists(texts, max_size=2).map(tuple),
    tips=st.lists(texts, max_size=2).map(tuple),
    summary=texts,
    started_at=numbers,
)


@settings(max_examples=examples(60), deadline=None)
@given(
    recorded=st.lists(steps, max_size=4),
    final=st.none() | steps,
    pages=st.lists(texts, min_size=1, max_size=3),
    outcome=st.sampled_from(Outcome),
    score=st.none() | st.floats(0, 1),
    intent=texts,
)
def test_what_is_written_is_read_again(recorded, final, pages, outcome, score, intent):
    blobs = {hashlib.sha256(page.encode()).hexdigest(): page.encode() for page in pages}
    named = [replace(step, index=at, tree=list(blobs)[at % len(blobs)]) for at, step in enumerate(recorded)]
    run = make_run(outcome=outcome, score=score, intent=intent, final=final, step_count=len(named), site="s")
    with tempfile.TemporaryDirectory() as folder:
        out = write_run_folder(Path(folder) / "run", run, named, blobs)
        got = read_run(out, out, SITES, native)
        assert replace(got.run, source_path="") == run
        assert list(got.steps) == named
        assert got.blobs == {digest: blobs[digest] for digest in {step.tree for step in named}}
        assert got.problems == ()


@needs_collection
@pytest.mark.shared_data
def test_a_real_run_is_the_same_after_export_and_import(tmp_path):
    original = read("webarena/701")
    out = write_run_folder(tmp_path / "out", original.run, original.steps, original.blobs)
    got = read_run(out, out, SITES, native)
    assert (got.steps, got.blobs) == (original.steps, original.blobs)
    assert replace(got.run, source_path=original.run.source_path) == original.run
    assert str(original.run.source_path) not in (out / "run.json").read_text()


def _folder(tmp_path: Path, **run) -> Path:
    page = b"RootWebArea 'x'"
    digest = hashlib.sha256(page).hexdigest()
    return write_run_folder(tmp_path / "run", make_run(**run), [make_step(tree=digest)], {digest: page})


def test_pictures_are_kept_as_they_are(tmp_path):
    for magic, suffix in ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpg"), (b"RIFF....WEBP", "webp")):
        digest = hashlib.sha256(magic).hexdigest()
        out = write_run_folder(tmp_path / suffix, make_run(), [make_step(screenshot=digest)], {digest: magic})
        assert (out / "blobs" / f"{digest}.{suffix}").read_bytes() == magic
        assert read_run(out, out, SITES, native).blobs == {digest: magic}


def test_a_folder_that_exists_is_not_written_over(tmp_path):
    out = _folder(tmp_path)
    before = (out / "run.json").read_bytes()
    with pytest.raises(Conflict, match="exists already"):
        write_run_folder(out, make_run(intent="other"), [], {})
    assert (out / "run.json").read_bytes() == before


def test_nothing_is_left_of_a_folder_that_could_not_be_finished(tmp_path):
    digest = "0" * 64
    with pytest.raises(InputError, match="does not match its digest"):
        write_run_folder(tmp_path / "run", make_run(), [make_step(tree=digest)], {digest: b"x"})
    assert list(tmp_path.iterdir()) == []


def test_a_newer_version_is_refused_by_name(tmp_path):
    out = _folder(tmp_path)
    document = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps({**document, "version": 2}))
    assert list(find_runs(tmp_path)) == [out]
    with pytest.raises(InputError, match=r"format version 2.*newer Sitelore"):
        read_run(out, out, SITES, native)


@pytest.mark.parametrize("name", ["../../evil", "/etc/x", "..", ".hidden", "a/b", "", "x" * 200, "a\nb"])
def test_an_id_that_could_name_another_place_is_refused(tmp_path, name):
    out = _folder(tmp_path)
    document = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps({**document, "id": name}))
    with pytest.raises(InputError, match="is not a run id"):
        read_run(out, out, SITES, native)


def test_a_line_that_was_being_written_is_dropped_and_noted(tmp_path):
    out = _folder(tmp_path)
    with (out / "steps.jsonl").open("ab") as file:
        file.write(b'{"index": 1, "url": "http')
    got = read_run(out, out, SITES, native)
    assert len(got.steps) == 1
    assert "incomplete" in got.run.notes[0]


def test_a_damaged_line_in_the_middle_is_an_error(tmp_path):
    out = _folder(tmp_path)
    lines = (out / "steps.jsonl").read_bytes()
    (out / "steps.jsonl").write_bytes(b"{broken}\n" + lines)
    with pytest.raises(InputError, match="line 1 is damaged"):
        read_run(out, out, SITES, native)


def test_a_damaged_or_missing_content_is_a_problem_and_the_run_is_read(tmp_path):
    out = _folder(tmp_path)
    blob = next((out / "blobs").iterdir())
    blob.write_bytes(blob.read_bytes()[:-2] + b"xx")
    assert "damaged" in read_run(out, out, SITES, native).problems[0].error
    blob.unlink()
    got = read_run(out, out, SITES, native)
    assert "missing" in got.problems[0].error
    assert len(got.steps) == 1


def test_a_small_file_does_not_unpack_to_fill_the_memory(tmp_path):
    import zstandard

    out = _folder(tmp_path)
    blob = next((out / "blobs").iterdir())
    blob.write_bytes(zstandard.ZstdCompressor(level=3).compress(bytes(300 * 2**20)))
    assert "more than 256 MB" in read_run(out, out, SITES, native).problems[0].error


def test_a_folder_made_elsewhere_loses_its_secrets_on_the_way_in(tmp_path):
    tree = "RootWebArea 'Log in'\n\t[7] textbox 'Password', value='hunter2-hunter2'"
    html = (
        '<form><input type="password" value="hunter2-hunter2"><a href="/?token=abcdef0123456789">x</a></form>'
    )
    blobs = {hashlib.sha256(page.encode()).hexdigest(): page.encode() for page in (tree, html)}
    digests = list(blobs)
    step = make_step(
        index=0,
        url="http://h/?token=abcdef0123456789",
        tree=digests[0],
        html=digests[1],
        reason="I type hunter2-hunter2.",
        action=RecordedAction(kind="fill", args={"bid": "7", "value": "hunter2-hunter2"}),
        target=ActionTarget(role="textbox", name="Password"),
    )
    write_run_folder(tmp_path / "run", make_run(step_count=1), [step], blobs)

    got = read_run(tmp_path / "run", tmp_path, SITES, native)

    stored = repr(got.run) + repr(got.steps) + repr(got.blobs)
    assert "hunter2" not in stored
    assert "abcdef0123456789" not in stored
    assert {got.steps[0].tree, got.steps[0].html} == set(got.blobs)
    assert all(hashlib.sha256(data).hexdigest() == digest for digest, data in got.blobs.items())


def test_steps_out_of_order_are_refused_by_line(tmp_path):
    write_run_folder(tmp_path / "run", make_run(step_count=1), [make_step(index=5)], {})
    with pytest.raises(InputError, match="line 1 holds step 5"):
        read_run(tmp_path / "run", tmp_path, SITES, native)
