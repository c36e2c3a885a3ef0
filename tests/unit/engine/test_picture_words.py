"""Words of pages that a run has only pictures of: where they go, when none are read, and what is said."""

from __future__ import annotations

import base64
import io
import json

import pytest

from app.engine.core.ax_tree import content_key, parse_tree
from app.engine.imports import picture_words
from app.engine.imports.importer import import_paths
from app.engine.imports.picture_words import (
    MAX_PIXELS,
    NOTE,
    PictureWords,
    ReadingStopped,
    can_read_pictures,
    read_lines,
)
from app.engine.store.workspace import Workspace
from tests.support.foreign_runs import PNG, SAMPLES, needs_samples, read_one

needs_ocr = pytest.mark.skipif(not can_read_pictures(), reason="the extra 'ocr' is not installed")


def result(tmp_path, pictures: int = 2):
    """A run of Online-Mind2Web with pictures alone."""
    place = tmp_path / "runs" / "abc"
    (place / "trajectory").mkdir(parents=True)
    actions = [f"<button> {n} -> CLICK" for n in range(pictures)]
    (place / "result.json").write_text(
        json.dumps({"task_id": "abc", "task": "Buy it", "action_history": actions, "thoughts": []})
    )
    for n in range(pictures):
        (place / "trajectory" / f"{n}_screenshot.png").write_bytes(base64.b64decode(PNG) + b"%d" % n)
    return tmp_path / "runs"


@pytest.fixture
def said(monkeypatch):
    """Reads of pictures, each with one line that names the picture."""
    calls: list[bytes] = []

    def lines(data: bytes) -> list[str]:
        calls.append(data)
        return ["Oak Board 39.00 EUR", f"it's page {data[-1:].decode()}", "password: hunter2x9"]

    monkeypatch.setattr(picture_words, "read_lines", lines)
    return calls


def test_the_lines_of_a_picture_are_the_tree_of_its_page(tmp_path, said):
    read = PictureWords().completed(read_one(result(tmp_path)))
    tree = read.blobs[read.steps[0].tree].decode()
    assert [(node.role, node.name) for node in parse_tree(tree)] == [
        ("StaticText", "Oak Board 39.00 EUR"),
        ("StaticText", "it's page 0"),
        ("StaticText", "password: REDACTED"),
    ]
    assert read.steps[0].state == content_key(tree)
    assert read.steps[0].state != read.steps[1].state
    assert NOTE in read.run.notes


def test_a_repeated_picture_is_read_once(tmp_path, said):
    words, read = PictureWords(), read_one(result(tmp_path))
    words.completed(read)
    words.completed(read)
    assert len(said) == 2


def test_a_run_that_has_trees_is_left_as_it_is(tmp_path, said):
    words = PictureWords()
    complete = words.completed(read_one(result(tmp_path)))
    said.clear()
    assert words.completed(complete) is complete
    assert said == []


def test_reading_stops_before_the_next_picture_when_it_is_cancelled(tmp_path, said):
    with pytest.raises(ReadingStopped):
        PictureWords(lambda done, total: done < 1).completed(read_one(result(tmp_path)))
    assert len(said) == 1


def test_pictures_after_the_time_is_over_are_counted(tmp_path, said, monkeypatch):
    monkeypatch.setattr(picture_words, "MAX_RUN_SECONDS", -1.0)
    read = PictureWords().completed(read_one(result(tmp_path)))
    assert said == []
    assert "pictures that were not read, as the time was over: 2" in read.run.notes


@pytest.mark.parametrize(
    "data", [b"", b"no picture", base64.b64decode(PNG)[:30], b"\x89PNG\r\n\x1a\n" + b"\0" * 90]
)
def test_a_damaged_picture_has_no_words(data):
    assert read_lines(data) == []


def test_a_picture_of_too_many_pixels_is_not_unpacked(monkeypatch):
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("1", (20_000, MAX_PIXELS // 20_000 + 1)).save(buffer, "PNG")
    monkeypatch.setattr(picture_words, "_engine", lambda: pytest.fail("it was read"))
    assert read_lines(buffer.getvalue()) == []


def test_an_import_reads_words_only_when_asked_and_says_how_far_it_is(tmp_path, said):
    place, steps = result(tmp_path), []
    with Workspace.open(tmp_path / "w") as workspace:
        assert import_paths(workspace, [place]).imported == 1
        assert said == []
    with Workspace.open(tmp_path / "w2") as workspace:

        def progress(done, total, detail):
            steps.append(detail)
            return True

        report = import_paths(workspace, [place], progress=progress, words=True)
        _, stored = workspace.runs.load(report.runs[0])
        assert all(step.tree for step in stored)
    assert "abc: words of picture 2 of 2" in steps


def test_a_cancelled_import_stores_no_half_read_run(tmp_path, said):
    with Workspace.open(tmp_path / "w") as workspace:
        report = import_paths(
            workspace,
            [result(tmp_path)],
            progress=lambda done, total, detail: "picture 2" not in detail,
            words=True,
        )
        assert (report.imported, report.cancelled, report.failed) == (0, True, ())
        assert workspace.runs.ids() == set()


@needs_ocr
@needs_samples
def test_the_words_of_the_sample_shop_are_read():
    lines = read_lines((SAMPLES / "browser-use" / "screenshots" / "step_3.png").read_bytes())
    words = " ".join(lines)
    for wanted in (
        "Catalogue",
        "Linen Apron",
        "24.50 EUR",
        "Oak Board",
        "39.00 EUR",
        "Clay Mug",
        "14.00 EUR",
    ):
        assert wanted in words
    assert lines.index("Catalogue") < len(lines) - 1
