"""Damaged and hostile trace files: one sentence each, nothing outside is read, nothing is unpacked whole."""

from __future__ import annotations

import json
import random
import struct
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from app.engine.imports import playwright_files, playwright_snapshots, playwright_trace
from tests.support.foreign_runs import damages, read_all, read_one
from tests.support.playwright_traces import SHOP, TraceWriter, runner_trace, shop_trace, write_zip


def refusal(place: Path) -> str:
    """Why a place was refused; no run came of it."""
    runs, problems = read_all(place, "playwright")
    assert runs == []
    (problem,) = problems
    return problem.error


def test_a_zip_whose_end_is_cut_off_is_one_sentence(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "t.zip", shop_trace(10).entries())
    whole = path.read_bytes()
    for length in (len(whole) - 1, len(whole) - 30, len(whole) // 2, 200):
        path.write_bytes(whole[:length])
        assert refusal(path) == "a zip file whose table of contents is cut off or damaged"
        assert refusal(tmp_path) == refusal(path)


def test_other_zip_files_in_a_folder_are_passed_over(tmp_path: Path) -> None:
    write_zip(tmp_path / "photos.zip", {"a.png": b"x"})
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 nothing of a trace")
    assert read_all(tmp_path, "playwright") == ([], [])


def test_an_encrypted_trace_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "t.zip", shop_trace(10).entries(), zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    at = data.find(b"PK\x01\x02")
    data[at + 8] |= 1
    path.write_bytes(data)
    assert refusal(path) == "trace.trace is encrypted"


def test_another_compression_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "t.zip", shop_trace(10).entries(), zipfile.ZIP_LZMA)
    assert refusal(path) == "trace.trace is compressed by a method that is not supported"


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "t.zip", {"trace.trace": b"\n" * (64 * 2**20)})
    tracemalloc.start()
    assert refusal(path).endswith("times as long as packed: a zip bomb")
    assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    tracemalloc.stop()


def test_events_beyond_the_bound_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playwright_files, "MAX_EVENT_BYTES", 5000)
    path = write_zip(
        tmp_path / "t.zip", {f"{n}-trace.trace": shop_trace(10).lines()[:4000] for n in range(3)}
    )
    assert "its events are longer than" in refusal(path)


def test_too_many_entries_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playwright_files, "MAX_ENTRIES", 3)
    path = write_zip(tmp_path / "t.zip", {"trace.trace": b"{}", "a": b"", "b": b"", "c": b""})
    assert refusal(path) == "its table of contents has more than 3 entries"


def test_a_table_of_contents_that_claims_to_be_endless_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "t.zip", shop_trace(10).entries())
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x05\x06")
    data[at + 12 : at + 20] = struct.pack("<LL", 2**31, 0)
    path.write_bytes(data)
    assert refusal(path) == "a zip file whose table of contents is cut off or damaged"


OUTSIDE = (
    "../secret.jpeg",
    "/secret.jpeg",
    "..\\secret.jpeg",
    "resources/../../secret.jpeg",
    "screencast/link.jpeg",
)


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("packed", [True, False])
def test_names_in_a_trace_lead_nowhere_outside_of_it(name: str, packed: bool, tmp_path: Path) -> None:
    secret = b"\xff\xd8\xffsecret"
    (tmp_path / "secret.jpeg").write_bytes(secret)
    trace = TraceWriter()
    event = {"type": "screencast-frame", "pageId": "p", "file": name, "width": 8, "height": 6, "timestamp": 1}
    trace.events.append(event)
    trace.call("click", {"selector": "a"})
    place = tmp_path / "run"
    (place / "screencast").mkdir(parents=True)
    (place / "screencast" / "link.jpeg").symlink_to(tmp_path / "secret.jpeg")
    if packed:
        write_zip(place / "t.zip", trace.entries() | {"../evil.txt": b"x", "/abs/evil.txt": b"x"})
    else:
        (place / "trace.trace").write_bytes(trace.lines())
    read = read_one(place, "playwright")
    assert all(secret not in data for data in read.blobs.values())
    assert sorted(path.name for path in tmp_path.rglob("*")) == sorted(
        ["run", "screencast", "link.jpeg", "secret.jpeg", "t.zip" if packed else "trace.trace"]
    )


def test_a_link_to_a_trace_is_not_followed(tmp_path: Path) -> None:
    write_zip(tmp_path / "t.zip", shop_trace(10).entries())
    place = tmp_path / "here"
    place.mkdir()
    (place / "t.zip").symlink_to(tmp_path / "t.zip")
    assert read_all(place, "playwright") == ([], [])


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.9])
def test_a_trace_cut_in_the_middle_gives_what_is_there(kept: float, tmp_path: Path) -> None:
    lines = shop_trace(10).lines()
    read = read_one(write_zip(tmp_path / "t.zip", {"trace.trace": lines[: int(len(lines) * kept)]}))
    assert 1 <= len(read.steps) <= 4
    assert "1 line is damaged or cut off and left out" in read.run.notes


def test_damaged_lines_are_counted_and_left_out(tmp_path: Path) -> None:
    lines = shop_trace(10).lines().splitlines()
    lines[3:3] = [b"{not json", b"[]", b"\xff\xfe", b'"text"', b"7"]
    read = read_one(write_zip(tmp_path / "t.zip", {"trace.trace": b"\n".join(lines)}))
    assert len(read.steps) == 4
    assert "5 lines are damaged or cut off and left out" in read.run.notes


def test_damaged_packed_bytes_end_the_events_there(tmp_path: Path) -> None:
    trace = TraceWriter()
    for number in range(3000):
        trace.call("goto", {"url": f"{SHOP}{random.Random(number).random()}"})
    path = write_zip(tmp_path / "t.zip", {"trace.trace": trace.lines()})
    data = bytearray(path.read_bytes())
    half = len(data) // 2
    data[half : half + 200] = bytes(200)
    path.write_bytes(data)
    read = read_one(path)
    assert 0 < len(read.steps) < 3000
    assert any("damaged" in note for note in read.run.notes)


def test_a_file_without_an_event_is_one_sentence(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "t.zip", {"trace.trace": b"hello\nworld\n"})
    assert refusal(path) == "no event of a trace could be read in it"


def test_a_very_long_line_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playwright_files, "MAX_LINE_BYTES", 300_000)
    trace = TraceWriter()
    trace.call("setContent", {"html": "x" * 1_000_000})
    trace.call("goto", {"url": SHOP})
    assert len(read_one(write_zip(tmp_path / "t.zip", trace.entries())).steps) == 1


@pytest.mark.parametrize("version", [6, 10])
def test_no_missing_or_odd_value_of_an_event_is_more_than_a_gap(version: int, tmp_path: Path) -> None:
    trace, chosen = shop_trace(version), random.Random(version)
    for events, name in ((trace.events, "trace.trace"), (trace.network, "trace.network")):
        for at, event in enumerate(events):
            changed = list(damages(event))
            for damaged in chosen.sample(changed, min(len(changed), 6)):
                whole = trace.entries()
                lines = [json.dumps(one) for one in (*events[:at], damaged, *events[at + 1 :])]
                path = write_zip(
                    tmp_path / "t.zip", whole | {name: "\n".join(lines).encode()}, zipfile.ZIP_STORED
                )
                read_all(path, "playwright")  # asserts that nothing but expected errors comes of it


def test_no_flipped_byte_is_more_than_a_sentence(tmp_path: Path) -> None:
    entries = {"test.trace": runner_trace(8), **shop_trace(8).entries("0-")}
    path, chosen = write_zip(tmp_path / "t.zip", entries), random.Random(1)
    whole = path.read_bytes()
    for _ in range(80):
        data = bytearray(whole)
        for _ in range(chosen.randint(1, 4)):
            data[chosen.randrange(len(data))] = chosen.randrange(256)
        path.write_bytes(data[: chosen.choice([len(data), chosen.randrange(len(data))])])
        read_all(path, "playwright")


def test_many_small_files_of_events_are_a_bomb_together(tmp_path: Path) -> None:
    lines = b'{"type":"x"}\n' * 60_000
    files = {f"{n}-trace.{kind}": lines for n in range(10) for kind in ("trace", "network")}
    assert "its events are" in refusal(write_zip(tmp_path / "t.zip", files))
    one = {"0-trace.trace": shop_trace(10).lines(), "0-trace.network": lines}
    assert read_one(write_zip(tmp_path / "one.zip", one)).steps


def test_lines_beyond_the_bound_are_left_out_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playwright_trace, "MAX_LINES", 40)
    lines = shop_trace(10).lines()
    count = lines.count(b"\n")
    files = {"0-trace.trace": lines, "1-trace.trace": lines + b'{"type":"x"}\n' * 100}
    read = read_one(write_zip(tmp_path / "t.zip", files))
    assert count < 40
    assert read.steps
    assert any("events after the first" in note for note in read.run.notes)


def test_a_node_is_in_a_page_once(tmp_path: Path) -> None:
    trace = TraceWriter(10)
    trace.call("click", {"selector": "#a"}, html=["DIV", {}, "lol"])
    for _ in range(30):  # each page would be twice as long as the one before
        trace.call("click", {"selector": "#a"}, html=["DIV", {}, [[1, 1]], [[1, 1]], "x"])
    read = read_one(write_zip(tmp_path / "t.zip", trace.entries()))
    assert sum(map(len, read.blobs.values())) < 100_000
    assert any("pages are too long or too deep" in note for note in read.run.notes)


def test_a_run_has_a_bounded_number_of_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playwright_snapshots, "MAX_RUN_NODES", 1000)
    trace = TraceWriter(10)
    trace.call("click", {"selector": "#a"}, html=["DIV", {}, *[["P", {}, f"item {n}"] for n in range(100)]])
    for number in range(1, 10):
        trace.call("click", {"selector": "#a"}, html=["DIV", {"id": str(number)}, [[number, 200]]])
    read = read_one(write_zip(tmp_path / "t.zip", trace.entries()))
    trees = [bool(step.tree) for step in read.steps]
    assert trees == [True] * 5 + [False] * 5
    assert "5 pages are beyond the bounds and left out: those before them are too long" in read.run.notes
