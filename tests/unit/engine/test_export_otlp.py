"""A run as an OpenTelemetry trace: what is written is valid OTLP and comes back as the same run."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.trajectory import BY_PERSON, ErrorClass, Outcome, add_blob
from app.engine.core.verdicts import Flag, Label, Severity, Verdict
from app.engine.exports.otlp import RUN_EXPORT
from app.engine.exports.redacted_source import redacted
from app.engine.exports.run_export import ExportSource
from app.errors import NotFound
from tests.support.foreign_runs import PNG, read_one
from tests.support.runs import make_run, make_step


def source(**fields) -> ExportSource:
    """A run of three steps with trees, a picture, an error, a flag and verdicts."""
    blobs: dict[str, bytes] = {}
    tree = [add_blob(blobs, f"RootWebArea 'Page {n}'\n\t[12] button 'Save'".encode()) for n in range(4)]
    picture = add_blob(blobs, base64.b64decode(PNG))
    steps = (
        make_step(0, tree=tree[0], screenshot=picture, tokens=(700, 31), started_at=100.0, agent_seconds=2.0,
                  env_seconds=0.5),
        make_step(1, tree=tree[1], error="it timed out", error_class=ErrorClass.SOFT, started_at=103.0),
        make_step(2, tree=tree[2], action=RecordedAction(kind="fill", args={"bid": "3", "value": "apron"}),
                  target=ActionTarget(role="textbox", name="Search", bid="3"), by=BY_PERSON, started_at=110.0),
    )  # fmt: skip
    final = replace(make_step(3, tree=tree[3]), action=None, target=None, executed=False, reason="")
    run = make_run(
        "run-1", suite="webarena", task_id="7", score=0.5, answer="24.50", outcome=Outcome.ANSWERED, final=final,
        step_count=3, model="model-1", tokens=(700, 31), started_at=100.0, start_url=steps[0].url,
    )  # fmt: skip

    def read(digest: str) -> bytes:
        if digest not in blobs:
            raise NotFound("no such content")
        return blobs[digest]

    flag = Flag(
        run="run-1", detector="loop", step=1, severity=Severity.WARNING, confidence=0.5, message="twice"
    )
    said = Verdict(
        id="v", run="run-1", label=Label.LOOP, note="the same again", author="ann", at=200.0, step=1
    )
    whole = Verdict(id="w", run="run-1", label=Label.WRONG_ANSWER, author="ann", at=201.0)
    return ExportSource(run=run, steps=steps, read_blob=read, flags=[flag], verdicts=[said, whole], **fields)


def written(tmp_path, given: ExportSource | None = None):
    path = tmp_path / f"run{RUN_EXPORT.suffix}"
    sentences = RUN_EXPORT.write(redacted(given or source()), path)
    return path, sentences


def test_a_run_comes_back_from_its_trace(tmp_path):
    given = source()
    read = read_one(written(tmp_path)[0])
    names = (
        "intent",
        "suite",
        "task_id",
        "score",
        "answer",
        "outcome",
        "model",
        "tokens",
        "start_url",
        "started_at",
    )
    for name in names:
        assert getattr(read.run, name) == getattr(given.run, name), name
    names = (
        "url", "title", "reason", "action", "target", "error", "error_class", "tree", "screenshot", "tokens", "by",
        "started_at", "env_seconds",
    )  # fmt: skip
    for name in names:
        assert [getattr(step, name) for step in read.steps] == [
            getattr(step, name) for step in given.steps
        ], name
    assert read.run.final is not None
    assert given.run.final is not None
    assert (read.run.final.url, read.run.final.tree) == (given.run.final.url, given.run.final.tree)


def test_verdicts_and_flags_are_evaluations_and_never_become_the_score(tmp_path):
    path, _ = written(tmp_path)
    spans = json.loads(path.read_text())["resourceSpans"][0]["scopeSpans"][0]["spans"]
    names = {
        next(
            one["value"]["stringValue"]
            for one in event["attributes"]
            if one["key"] == "gen_ai.evaluation.name"
        )
        for one in spans
        for event in one["events"]
        if event["name"] == "gen_ai.evaluation.result"
    }
    assert names == {"recorded score", "verdict", "loop"}
    run = read_one(path).run
    assert run.score == 0.5
    assert any("verdict (loop) of one step, by a person: the same again" in note for note in run.notes)


@pytest.mark.parametrize(
    ("note", "after"),
    [
        (
            "the score is the evaluation task success 0.5 (partly), by a person: nearly",
            "the score is the evaluation task success 0.5 (fail), by a person",
        ),
        (
            "the score is the evaluation reward 0.5, by a program",
            "the score is the evaluation reward 0.5 (fail), by a program",
        ),
        (
            "of another kind",
            "the score is the evaluation recorded score 0.5 (fail), by an evaluator of an unknown kind",
        ),
    ],
)
def test_a_score_keeps_who_gave_it_and_claims_no_program_where_nobody_knows(tmp_path, note, after):
    given = source()
    path, _ = written(tmp_path, replace(given, run=replace(given.run, notes=(note,))))
    run = read_one(path).run
    assert (run.score, after in run.notes) == (0.5, True), run.notes


def test_no_secret_leaves_in_a_trace(tmp_path):
    given = source()
    fill = RecordedAction(kind="fill", args={"bid": "3", "value": "hunter2222"})
    typed = replace(
        given.steps[2],
        action=fill,
        target=ActionTarget(role="textbox", name="Password", bid="3"),
        reason="I type hunter2222",
        url="http://shop.example/?token=abcdef123456",
    )
    path, _ = written(tmp_path, replace(given, steps=(*given.steps[:2], typed)))
    assert b"hunter2222" not in path.read_bytes()
    assert b"abcdef123456" not in path.read_bytes()


def test_what_is_left_out_is_said(tmp_path):
    given = source()
    lost = replace(given.steps[0], screenshot="0" * 64)
    silent = replace(given.steps[1], action=None, target=None)
    _, sentences = written(tmp_path, replace(given, steps=(lost, silent, given.steps[2])))
    assert "Pictures left out, missing or unusable: 1." in sentences
    assert "Answers without a readable action, which are model spans alone: 1." in sentences


def test_the_same_run_is_the_same_trace_each_time(tmp_path):
    one = written(tmp_path)[0].read_bytes()
    (tmp_path / "again").mkdir()
    assert written(tmp_path / "again")[0].read_bytes() == one


def test_the_file_is_an_export_request_of_the_protocol(tmp_path):
    """By protobuf's own JSON mapping, which writes ids in base64 where OTLP/JSON has them in hexadecimal digits."""
    trace_service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    from google.protobuf import json_format

    document = json.loads(written(tmp_path)[0].read_text())
    for span in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        assert (len(span["traceId"]), len(span["spanId"])) == (32, 16)
        for name in ("traceId", "spanId", "parentSpanId"):
            if name in span:
                span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    request = json_format.ParseDict(document, trace_service.ExportTraceServiceRequest())
    spans = request.resource_spans[0].scope_spans[0].spans
    assert [one.name for one in spans][:3] == ["invoke_agent made", "chat model-1", "execute_tool click"]
    assert all(one.end_time_unix_nano >= one.start_time_unix_nano > 0 for one in spans)
