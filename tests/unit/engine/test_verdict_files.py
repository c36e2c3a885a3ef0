"""Files of verdicts: what is written is read back exactly, hostile files change nothing."""

from __future__ import annotations

import csv
import json
import os
import shutil
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.api.run_rows import RunFilter
from app.engine.core.verdict_rows import COLUMNS, VerdictRow, csv_bytes, jsonl_bytes, own_rows, read_rows
from app.engine.core.verdicts import Label, Verdict
from app.engine.engine import Engine
from app.engine.store.workspace import Workspace
from app.errors import InputError, UsageError
from tests.support.laws import examples
from tests.support.runs import make_run, make_step

HEAD = "run,label,author\n"


@pytest.fixture
def place(tmp_path):
    """A workspace of four runs, the last two of one task."""
    with Workspace.open(tmp_path / "workspace") as workspace:
        for number in range(4):
            run = make_run(
                f"run-{number}",
                site="gitlab",
                score=0.0,
                step_count=2,
                suite="webarena",
                task_id=str(min(number, 2)),
            )
            workspace.runs.add(run, [make_step(index=at) for at in range(2)], {})
        workspace.rebuild_index()
    return tmp_path / "workspace"


@pytest.fixture
async def engine(place):
    engine = await Engine.open(place, author="ann")
    yield engine
    await engine.aclose()


async def verdicts(engine) -> list[Verdict]:
    rows = await engine.list_runs(RunFilter())
    return [verdict for row in rows for verdict in (await engine.open_run(row.id)).verdicts]


# ---------------------------------------------------------------- rows
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
VERDICTS = st.builds(
    Verdict,
    id=st.uuids().map(str),
    run=st.sampled_from(["run-0", "run-1"]),
    label=st.sampled_from(Label),
    step=st.none() | st.integers(0, 99),
    detector=TEXT,
    note=TEXT | st.sampled_from(["=1+1", "'=1", "''", "@x", " =a", "\ttab", "-1", "a\r\nb\n", '"', "a;b,c"]),
    author=st.sampled_from(["", "ann", "Bob Lee", "=1", "'x", "Åse"]),
    at=st.floats(0, 1.7e9),
    guideline=st.sampled_from(["1", "2", ""]),
    lead_seconds=st.floats(0, 1e4),
    settles=st.booleans(),
)


@given(st.lists(VERDICTS, min_size=1, max_size=4), st.sampled_from(["jsonl", "csv"]))
@settings(max_examples=examples(150), deadline=None)
def test_what_is_written_is_read_back_exactly(given_ones, form):
    rows = own_rows(given_ones, {"run-0": ("webarena", "415", "gitlab")})
    data = jsonl_bytes(rows) if form == "jsonl" else csv_bytes(rows, COLUMNS)
    read, failed = read_rows(data)
    assert failed == []
    assert [Verdict(**{name: getattr(row, name) for name in Verdict.__slots__}) for row in read] == given_ones
    if form == "csv":
        for cells in list(csv.reader(data.decode().splitlines(keepends=True)))[1:]:
            assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in cells)


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")))
@settings(max_examples=examples(60), deadline=None)
def test_any_bytes_are_rows_or_one_clear_error(data):
    for start in (b"", HEAD.encode(), b'{"run": "a", "label": '):
        refused = ""
        rows: list[VerdictRow] = []
        try:
            rows, _ = read_rows(start + data)
        except InputError as error:
            refused = error.remedy
        assert bool(rows) != bool(refused)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"label": "loop"}, "neither a run nor a task"),
        ({"run": "run-0"}, "its label is None"),
        ({"run": "run-0", "label": ["loop"]}, "its label is ['loop']"),
        ({"run": "run-0", "label": "lop"}, "'lop' is no label; did you mean 'loop'?"),
        ({"run": ["run-0"], "label": "loop"}, "run is ['run-0'] and no text"),
        ({"run": "r" * 301, "label": "loop"}, "run is longer than 300 letters"),
        ({"run": "run-0", "label": "loop", "note": "x" * 20_001}, "note is longer than 20,000 letters"),
        ({"run": "run-0", "label": "loop", "note": "a\0"}, "note is no text"),
        ({"run": "run-0", "label": "loop", "step": True}, "True is no step"),
        ({"run": "run-0", "label": "loop", "step": -1}, "-1 is no step"),
        ({"run": "run-0", "label": "loop", "step": "2"}, "'2' is no step"),
        ({"run": "run-0", "label": "loop", "at": 1.79e12}, "at is 1790000000000.0: not a number of seconds"),
        ({"run": "run-0", "label": "loop", "lead_seconds": float("nan")}, "lead_seconds is nan"),
        ({"run": "run-0", "label": "loop", "lead_seconds": -1}, "lead_seconds is -1"),
        ({"run": "run-0", "label": "loop", "settles": "yes"}, "settles is 'yes' and not true or false"),
        ({"run": "run-0", "label": "loop", "at": 4e9}, "at is 4000000000: more than a day in the future"),
        ({"run": "run-0", "label": "loop", "author": "b\x1bob"}, "is no name of a person"),
        ({"run": "run-0", "label": "loop", "author": "b" * 81}, "is no name of a person"),
        (["run-0", "loop"], "this is no JSON object"),
        (7, "this is no JSON object"),
    ],
)
def test_a_row_that_cannot_be_read_is_named_and_the_rest_is_read(line, why):
    good = json.dumps({"run": "run-1", "label": "Gave_Up"})
    rows, failed = read_rows(f"{good}\n{json.dumps(line)}\n[[[[\n".encode())
    assert [row.label for row in rows] == [Label.GAVE_UP]
    assert why in failed[0]
    assert [sentence[:7] for sentence in failed] == ["line 2:", "line 3:"]


@pytest.mark.parametrize(
    "text",
    [
        '[{"run": "run-0", "label": "loop"}]',
        "\ufeffRun;Label\nrun-0;loop\n",
        "label\trun\nloop\trun-0\n",
        "run,label,step,settles\r\nrun-0,loop,,\r\n\r\n",
        "task,label\n415,loop",
    ],
)
def test_lists_and_tables_of_spreadsheets_are_read(text):
    [row], failed = read_rows(text.encode())
    assert (row.label, failed) == (Label.LOOP, [])


def test_a_long_cell_fails_its_row_and_an_unclosed_quote_names_its_row():
    limit = csv.field_size_limit()
    rows, failed = read_rows(f"run,label,note\nrun-0,loop,{'x' * 200_000}\nrun-1,loop,\n".encode())
    assert [row.run for row in rows] == ["run-1"]
    assert failed == ["line 2: note is longer than 20,000 letters"]
    with pytest.raises(InputError, match="begins in line 3"):
        read_rows(b'run,label,note\nrun-0,loop,\nrun-1,loop,"open\nrun-2,loop,\n')
    assert csv.field_size_limit() == limit


# ---------------------------------------------------------------- the workspace
async def test_authors_are_stripped_and_me_or_blank_is_the_reader(engine, tmp_path):
    file = tmp_path / "names.csv"
    file.write_text("run,label,author\nrun-0,loop, bob \nrun-1,loop,me\nrun-2,loop,  \n")
    assert (await engine.import_verdicts(str(file))).added == 3
    assert [one.author for one in await verdicts(engine)] == ["bob", "ann", "ann"]
    with pytest.raises(UsageError):
        await engine.import_verdicts(str(file), author="b" * 81)


async def test_a_row_that_settles_needs_two_people_who_judged_the_run(engine, tmp_path):
    await engine.give_verdict("run-0", Label.LOOP)
    file = tmp_path / "settled.csv"
    file.write_text(
        "run,label,author,settles\nrun-0,loop,eve,true\nrun-1,loop,eve,true\nrun-0,gave up,bob,\n"
    )
    told = await engine.import_verdicts(str(file))
    assert (told.added, told.failed) == (
        2, ("line 3: it settles run run-1, which two people have yet to judge",),
    )  # fmt: skip


async def test_a_row_without_a_time_is_known_only_while_its_author_still_says_so(engine, tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("run,label\nrun-0,loop\n")
    await engine.give_verdict("run-0", Label.LOOP)
    assert (await engine.import_verdicts(str(file))).known == 1
    await engine.give_verdict("run-0", Label.GAVE_UP)
    assert (await engine.import_verdicts(str(file))).added == 1
    assert (await verdicts(engine))[-1].label is Label.LOOP


@pytest.mark.parametrize("form", ["jsonl", "csv"])
async def test_an_export_into_a_copy_of_the_workspace_is_exact_and_reading_it_again_adds_nothing(
    place, tmp_path, form
):
    shutil.copytree(place, tmp_path / "copy")
    out = str(tmp_path / f"out.{form}")
    engine = await Engine.open(place, author="ann")
    await engine.give_verdict("run-0", Label.LOOP, 1, "=HYPERLINK(1)\nsecond line", 12.5)
    withdrawn = await engine.give_verdict("run-1", Label.LOOP)
    await engine.withdraw_verdict(withdrawn.id)
    await engine.give_verdict("run-1", Label.COUNTING)
    assert await engine.export_verdicts(out, form) == 2
    before = await verdicts(engine)
    await engine.aclose()

    engine = await Engine.open(tmp_path / "copy", author="bob")
    told = await engine.import_verdicts(out)
    assert (told.added, told.known, told.unmatched, told.failed) == (2, 0, (), ())
    after = await verdicts(engine)
    assert [replace(verdict, origin="") for verdict in after] == before
    assert {verdict.origin for verdict in after} == {f"out.{form}"}
    again = await engine.import_verdicts(out)
    assert (again.added, again.known) == (0, 2)
    assert (await engine.undo()).did == f"import 2 verdicts from out.{form}"
    assert await verdicts(engine) == []
    assert (await engine.import_verdicts(out)).added == 2
    assert [replace(verdict, origin="") for verdict in await verdicts(engine)] == before
    await engine.aclose()


async def test_runs_are_found_by_id_else_by_a_task_that_one_run_is_of(engine, tmp_path):
    file = tmp_path / "mixed.csv"
    file.write_text(
        "run,suite,task,label,author,step\n"
        "run-0,,,loop,bob,\n"
        ",webarena,1,gave up,bob,1\n"
        ",,1,wrong page,,\n"
        ",webarena,2,loop,bob,\n"
        ",webarena,77,loop,bob,\n"
        "run-77,webarena,1,loop,bob,\n"
        "run-0,,,lop,bob,\n"
        "run-0,,,loop,bob,3\n"
        "run-0,,,loop,bob,\n"
    )
    told = await engine.import_verdicts(str(file), author="eve")
    assert (told.added, told.known) == (3, 1)
    assert told.unmatched == (
        "line 5: 2 runs of task '2' of webarena: it must name the run's id",
        "line 6: no run of task '77' of webarena",
        "line 7: no run 'run-77'",
    )
    assert [sentence[:7] for sentence in told.failed] == ["line 8:", "line 9:"]
    assert [(one.run, one.label.value, one.author) for one in await verdicts(engine)] == [
        ("run-0", "loop", "bob"), ("run-1", "gave up", "bob"), ("run-1", "wrong page", "eve"),
    ]  # fmt: skip
    assert (await engine.import_verdicts(str(file), author="eve")).added == 0


async def test_an_id_that_names_another_verdict_here_is_no_reason_to_lose_one(engine, tmp_path):
    mine = await engine.give_verdict("run-0", Label.LOOP)
    file = tmp_path / "other.jsonl"
    file.write_text(json.dumps({"id": mine.id, "run": "run-1", "label": "gave up", "author": "bob", "at": 5}))
    assert (await engine.import_verdicts(str(file))).added == 1
    assert (await engine.import_verdicts(str(file))).known == 1
    assert [(one.run, one.label) for one in await verdicts(engine)] == [
        ("run-0", Label.LOOP), ("run-1", Label.GAVE_UP),
    ]  # fmt: skip


async def test_an_older_verdict_of_a_file_does_not_stand_in_for_a_newer_one_given_here(engine, tmp_path):
    await engine.give_verdict("run-0", Label.LOOP)
    file = tmp_path / "old.jsonl"
    row = {"run": "run-0", "label": "gave up", "author": "bob"}
    file.write_text(json.dumps(row | {"at": 5}))
    await engine.import_verdicts(str(file))
    [shown] = [one for one in await engine.list_runs(RunFilter()) if one.id == "run-0"]
    assert (shown.label, shown.verdicts, shown.judged_by) == ("loop", 2, ("ann", "bob"))
    file.write_text(json.dumps(row | {"at": time.time() + 60, "label": "counting"}))
    await engine.import_verdicts(str(file))
    assert (await engine.list_runs(RunFilter(label="counting")))[0].id == "run-0"


async def test_annotations_of_agentrewardbench_come_in_by_task_and_go_out_in_its_columns(engine, tmp_path):
    file = tmp_path / "annotations.csv"
    head = (
        "annotator_name,benchmark,task_id,model_name,exp_name,trajectory_success,trajectory_side_effect,"
        "trajectory_optimality,trajectory_looping\n"
    )
    file.write_text(
        head + "A,webarena,webarena.0,m,m_on_w,Successful,No,4. Completely Optimal,No\n"
        "B,webarena,webarena.0,m,m_on_w,Unsuccessful,No,2. Suboptimal,No\n"
        "A,webarena,webarena.1,m,m_on_w,Unsuccessful,Yes,1. Complete Failure,Yes\n"
        "A,webarena,webarena.2,m,m_on_w,Unsure,No,2. Suboptimal,No\n"
        "A,webarena,webarena.3,m,m_on_w,Successful,No,2. Suboptimal,No\n"
    )
    told = await engine.import_verdicts(str(file))
    assert (told.added, len(told.unmatched), len(told.failed)) == (3, 1, 1)
    found = await verdicts(engine)
    assert [(one.run, one.label.value, one.author) for one in found] == [
        ("run-0", "not a failure", "A"), ("run-0", "wrong answer", "B"), ("run-1", "loop", "A"),
    ]  # fmt: skip
    assert found[2].note == (
        "AgentRewardBench: success: Unsuccessful; side effect: Yes; optimality: 1. Complete Failure; looping: Yes"
    )
    assert (await engine.import_verdicts(str(file))).known == 3

    out = tmp_path / "out.csv"
    assert await engine.export_verdicts(str(out), "agent-reward-bench") == 3
    assert out.read_text().splitlines() == [
        head.strip(),
        "A,webarena,webarena.0,made,run-0,Successful,,,",
        "B,webarena,webarena.0,made,run-0,Unsuccessful,,,",
        "A,webarena,webarena.1,made,run-1,Unsuccessful,,,Yes",
    ]
    with pytest.raises(UsageError):
        await engine.export_verdicts(str(out), "xml")


async def test_annotations_of_several_agents_are_not_put_on_the_one_run_here(engine, tmp_path):
    file = tmp_path / "annotations.csv"
    file.write_text(
        "annotator_name,benchmark,task_id,model_name,exp_name,trajectory_success\n"
        "A,webarena,webarena.0,one,one_on_w,Successful\n"
        "A,webarena,webarena.0,two,two_on_w,Unsuccessful\n"
        "A,webarena,webarena.1,two,run-1,Unsuccessful\n"
    )
    told = await engine.import_verdicts(str(file))
    assert (told.added, len(told.unmatched)) == (1, 2)
    assert "the file judges 2 runs of task '0' of webarena" in told.unmatched[0]


@pytest.mark.parametrize(
    "kind", ["missing", "folder", "pipe", "empty", "binary", "latin", "huge", "other", "deep"]
)
async def test_a_file_of_another_kind_is_refused_and_changes_nothing(engine, tmp_path, kind):
    path = tmp_path / "file"
    contents = {
        "empty": b"", "binary": b"\x7fELF\0\0", "latin": "run,label\nrün,loop".encode("latin-1"),
        "other": b"<html><body>run</body></html>", "deep": b"[" * 200_000,
    }  # fmt: skip
    if kind in contents:
        path.write_bytes(contents[kind])
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "huge":
        with path.open("wb") as file:
            file.truncate(65 * 2**20)
    with pytest.raises(InputError) as refused:
        await engine.import_verdicts(str(path))
    assert refused.value.exit_code == 3
    assert refused.value.remedy
    assert await verdicts(engine) == []
    assert (await engine.undo()).did == ""


async def test_an_export_that_cannot_be_written_leaves_the_file_that_was_there(engine, tmp_path):
    await engine.give_verdict("run-0", Label.LOOP)
    for bad in (tmp_path, tmp_path / "no folder" / "out.csv"):
        with pytest.raises(InputError):
            await engine.export_verdicts(str(bad))
    assert list(tmp_path.iterdir()) == [tmp_path / "workspace"]


async def test_ten_thousand_lines_are_read_in_a_few_seconds(engine, tmp_path):
    file = tmp_path / "many.jsonl"
    with file.open("w") as lines:
        for number in range(10_000):
            label = list(Label)[number % 15].value
            row = {
                "run": f"run-{number % 5}",
                "label": label,
                "author": f"p{number}",
                "note": "n",
                "at": number,
            }
            lines.write(json.dumps(row) + "\n")
    start = time.process_time()
    told = await engine.import_verdicts(str(file))
    assert (told.added, len(told.unmatched)) == (8_000, 101)
    assert told.unmatched[-1] == "1900 more rows name no run of this workspace"
    assert time.process_time() - start < 10
