"""OpenTelemetry: traces of several conventions become runs, whatever order, ids and files they come in."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import orjson
import pytest

from app.engine.core.trajectory import ErrorClass, Outcome
from app.engine.imports import otlp_index
from app.engine.imports.otlp_spans import TracedSpan
from app.engine.imports.otlp_tree import SpanTree
from tests.support.foreign_runs import PNG, SAMPLES, damages, needs_samples, read_all, read_one

TRACE = "8705efffd45176a79d737b4277a873cd"
SHOP = "http://127.0.0.1:8977"
SNAPSHOT = f"""### Page
- Page URL: {SHOP}/catalogue.html
- Page Title: Catalogue
### Snapshot
```yaml
- generic [ref=e1]:
  - link "Linen Apron" [ref=e9] [cursor=pointer]:
    - /url: linen-apron.html
  - textbox "Password" [ref=e10]: hunter22
```"""


def value_of(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [value_of(one) for one in value]}}
        case dict():
            return {"kvlistValue": {"values": attributes(value)}}
        case _:
            return {"stringValue": value}


def attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": value_of(value)} for key, value in values.items()]


def span(number: int, name: str, start: float, values: dict[str, Any], parent: int | None = 1, **more: Any):
    """A span that lasts half a second, ``start`` seconds after the trace began."""
    first = 1_795_364_057_000_000_000
    return {
        "traceId": more.pop("trace", TRACE),
        "spanId": f"{number:016x}",
        **({"parentSpanId": f"{parent:016x}"} if parent is not None else {}),
        "name": name,
        "startTimeUnixNano": str(first + int(start * 1e9)),
        "endTimeUnixNano": str(first + int(start * 1e9) + 500_000_000),
        "attributes": attributes(values),
        **more,
    }


def request(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": list(spans)}]}]}


def agent(**more: Any) -> dict[str, Any]:
    said = [{"role": "user", "parts": [{"type": "text", "content": "What does the Linen Apron cost?"}]}]
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": "24.50 EUR"}]}]
    values = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "shopper",
        "gen_ai.input.messages": json.dumps(said),
        "gen_ai.output.messages": json.dumps(answer),
    }
    return span(1, "invoke_agent shopper", 0, values, None, **more)


def chat(number: int, start: float, words: str, *calls: tuple[str, str, dict[str, Any]], **more: Any):
    parts: list[dict[str, Any]] = [{"type": "text", "content": words}]
    parts += [{"type": "tool_call", "id": key, "name": name, "arguments": args} for key, name, args in calls]
    values = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "model-1",
        "gen_ai.usage.input_tokens": 700,
        "gen_ai.usage.output_tokens": 31,
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts}]),
        **more,
    }
    return span(number, "chat model-1", start, values)


def tool(number: int, start: float, name: str, args: Any, result: Any = None, key: str = "", **more: Any):
    values = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.arguments": args if isinstance(args, str) else json.dumps(args),
        **({"gen_ai.tool.call.result": result} if result is not None else {}),
        **({"gen_ai.tool.call.id": key} if key else {}),
    }
    return span(number, f"execute_tool {name}", start, values, **more)


def shopping() -> list[dict[str, Any]]:
    """An agent's trace: two tool calls, each after an answer of the model."""
    return [
        agent(),
        chat(2, 1, "First the shop.", ("c0", "browser_navigate", {"url": f"{SHOP}/index.html"})),
        tool(3, 2, "browser_navigate", {"url": f"{SHOP}/index.html"}, SNAPSHOT, "c0"),
        chat(4, 3, "Now the apron.", ("c1", "browser_click", {"ref": "e9", "element": "Linen Apron link"})),
        tool(5, 4, "browser_click", {"ref": "e9"}, json.dumps({"url": f"{SHOP}/linen-apron.html"}), "c1"),
    ]


def write(folder, *requests: dict[str, Any], name: str = "traces.jsonl"):
    path = folder / name
    path.write_text("\n".join(json.dumps(one) for one in requests))
    return path


def seen(read) -> list[tuple[str, str, dict[str, Any]]]:
    return [(step.url, step.action.kind, step.action.args) for step in read.steps if step.action]


def test_tool_calls_are_the_steps_and_their_results_the_pages_after_them(tmp_path):
    read = read_one(write(tmp_path, request(*shopping())))
    run, (first, second) = read.run, read.steps

    assert seen(read) == [
        ("", "goto", {"url": f"{SHOP}/index.html"}),
        (f"{SHOP}/catalogue.html", "click", {"bid": "e9"}),
    ]
    assert (run.intent, run.answer, run.outcome) == (
        "What does the Linen Apron cost?", "24.50 EUR", Outcome.ANSWERED
    )  # fmt: skip
    assert (run.model, run.policy, run.tokens) == ("model-1", "shopper", (1400, 62))
    assert (first.reason, first.tokens, first.agent_seconds) == ("First the shop.", (700, 31), 0.5)
    assert second.title == "Catalogue"
    assert second.target is not None
    assert (second.target.role, second.target.name) == ("link", "Linen Apron")
    assert read.blobs[second.tree].decode().splitlines() == [
        "RootWebArea 'Catalogue'",
        "\t[e1] generic ''",
        "\t\t[e9] link 'Linen Apron', url='linen-apron.html'",
        "\t\t[e10] textbox 'Password', value='REDACTED'",
    ]
    assert run.final is not None
    assert run.final.url == f"{SHOP}/linen-apron.html"
    assert b"hunter22" not in b"".join(read.blobs.values())


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_spans_lines_and_resources_and_doubles_change_nothing(tmp_path, seed):
    spans = shopping() + shopping()[2:4]
    random.Random(seed).shuffle(spans)
    mixed = write(tmp_path, *(request(one) for one in spans), name="mixed.jsonl")
    plain = write(tmp_path, request(*shopping()), name="plain.json")
    one, other = read_one(mixed), read_one(plain)

    assert seen(one) == seen(other)
    assert one.run.content_hash == other.run.content_hash


def test_ids_may_be_base64_and_names_as_in_the_protocol(tmp_path):
    def as_protobuf(value: Any) -> Any:
        if isinstance(value, list):
            return [as_protobuf(one) for one in value]
        if not isinstance(value, dict):
            return value
        return {
            "".join(f"_{c.lower()}" if c.isupper() else c for c in key): base64.b64encode(
                bytes.fromhex(one)
            ).decode()
            if key in ("traceId", "spanId", "parentSpanId")
            else as_protobuf(one)
            for key, one in value.items()
        }

    read = read_one(write(tmp_path, as_protobuf(request(*shopping()))))
    assert seen(read) == seen(read_one(write(tmp_path, request(*shopping()), name="hex.json")))
    assert read.run.id.startswith(f"otlp-{TRACE[:12]}")


def test_a_trace_that_a_collector_spread_over_files_is_one_run(tmp_path):
    spans = shopping()
    write(tmp_path, request(*spans[:2]), name="traces-1.json")
    write(tmp_path, request(*spans[2:]), name="traces-2.json")
    whole = read_one(write(tmp_path / "..", request(*spans), name="whole.json"))
    assert read_one(tmp_path).run.content_hash == whole.run.content_hash


def test_each_trace_of_a_file_is_a_run_and_a_webservers_trace_is_none(tmp_path):
    other = [{**one, "traceId": "ab" * 16} for one in shopping()]
    web = span(9, "GET /", 0, {"http.request.method": "GET"}, None, trace="cd" * 16)
    runs, problems = read_all(write(tmp_path, request(*shopping(), web), request(*other)))
    assert (len(runs), problems) == (2, [])


def test_a_file_of_one_indented_document_is_read(tmp_path):
    path = tmp_path / "trace.json"
    other = [{**one, "traceId": "ab" * 16} for one in shopping()]
    path.write_text(json.dumps(request(*shopping(), *other), indent=2))
    runs, problems = read_all(path)
    assert (len(runs), problems) == (2, [])
    assert len(runs[0].steps) == len(runs[1].steps) == 2


def test_a_missing_root_is_said_and_the_models_messages_give_the_goal(tmp_path):
    said = [{"role": "user", "parts": [{"type": "text", "content": "Find the apron"}]}]
    spans = shopping()[1:]
    spans[0]["attributes"] += attributes({"gen_ai.input.messages": json.dumps(said)})
    run = read_one(write(tmp_path, request(*spans))).run
    assert (run.intent, run.outcome) == ("Find the apron", Outcome.UNKNOWN)
    assert any("span of the whole run is missing" in note for note in run.notes)


def test_without_tool_spans_the_calls_in_the_models_answers_are_the_steps(tmp_path):
    history = [
        {"role": "user", "content": "Find the apron"},
        {"role": "tool", "tool_call_id": "c0", "content": SNAPSHOT},
    ]
    spans = [one for one in shopping() if not one["name"].startswith("execute_tool")]
    spans[2]["attributes"] += attributes({"gen_ai.input.messages": json.dumps(history)})
    read = read_one(write(tmp_path, request(*spans)))
    assert [(url, kind) for url, kind, _ in seen(read)] == [("", "goto"), (f"{SHOP}/catalogue.html", "click")]


def test_a_call_that_no_tool_span_answers_is_a_step_of_its_own(tmp_path):
    last = chat(6, 5, "Done.", ("c2", "done", {"text": "24.50"}))
    read = read_one(write(tmp_path, request(*shopping(), last)))
    assert [kind for _, kind, _ in seen(read)] == ["goto", "click", "send_msg_to_user"]
    assert (read.run.answer, read.run.outcome) == ("24.50", Outcome.ANSWERED)


def test_nested_spans_of_two_libraries_are_one_call(tmp_path):
    inner_tool = tool(7, 4.1, "mcp__playwright__browser_click", {"ref": "e9"}, parent=5)
    inner_chat = chat(8, 1.1, "First the shop.")
    inner_chat["parentSpanId"] = f"{2:016x}"
    read = read_one(write(tmp_path, request(*shopping(), inner_tool, inner_chat)))
    assert (len(read.steps), read.run.tokens) == (2, (1400, 62))


@pytest.mark.parametrize(
    ("failed", "error"),
    [
        ({"status": {"code": 2, "message": "boom"}}, "boom"),
        ({"status": {"code": "STATUS_CODE_ERROR"}}, "the call failed"),
        (
            {
                "status": {"code": 2},
                "events": [
                    {
                        "name": "exception",
                        "attributes": attributes(
                            {"exception.type": "TimeoutError", "exception.message": "30 s"}
                        ),
                    }
                ],
            },
            "TimeoutError: 30 s",
        ),
    ],
)
def test_the_error_of_a_tool_is_the_steps(tmp_path, failed, error):
    spans = shopping()
    spans[4] |= failed
    step = read_one(write(tmp_path, request(*spans))).steps[1]
    assert (step.error, step.error_class) == (error, ErrorClass.HARD)


def test_an_mcp_result_that_is_an_error_is_one(tmp_path):
    spans = shopping()
    result = json.dumps({"isError": True, "content": [{"type": "text", "text": "Ref e9 not found"}]})
    spans[4] = tool(5, 4, "browser_click", {"ref": "e9"}, result, "c1")
    assert read_one(write(tmp_path, request(*spans))).steps[1].error == "Ref e9 not found"


def test_pictures_come_from_results_and_from_what_the_model_was_shown(tmp_path):
    spans = shopping()
    result = json.dumps({"content": [{"type": "image", "data": PNG, "mimeType": "image/png"}]})
    spans[2] = tool(3, 2, "browser_navigate", {"url": SHOP}, result, "c0")
    shown = [{"role": "user", "parts": [{"type": "blob", "mime_type": "image/png", "data": PNG}]}]
    spans[1]["attributes"] += attributes({"gen_ai.input.messages": json.dumps(shown)})
    first, second = read_one(write(tmp_path, request(*spans))).steps
    assert first.screenshot
    assert first.screenshot == second.screenshot


def test_events_of_older_conventions_hold_the_messages(tmp_path):
    spans = shopping()[:1] + shopping()[2:3]
    model = span(
        2, "chat", 1, {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"},
        events=[{"name": "gen_ai.user.message", "attributes": attributes({"content": "Find it"})}],
    )  # fmt: skip
    choice = {"message": {"role": "assistant", "content": "First the shop.", "tool_calls": []}}
    log = {"traceId": TRACE, "spanId": f"{2:016x}", "eventName": "gen_ai.choice", "body": value_of(choice)}
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [log]}]}]}
    read = read_one(write(tmp_path, request(*spans, model), logs))
    assert read.steps[0].reason == "First the shop."


def test_openllmetry_is_read(tmp_path):
    spans = [
        span(1, "shop.workflow", 0, {"traceloop.span.kind": "workflow", "traceloop.entity.name": "shop",
             "traceloop.entity.input": json.dumps({"inputs": {"question": "Find the apron"}})}, None),
        span(2, "openai.chat", 1, {"llm.request.type": "chat", "gen_ai.request.model": "m",
             "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Find the apron",
             "gen_ai.completion.0.content": "I go.", "gen_ai.usage.prompt_tokens": 5,
             "gen_ai.completion.0.tool_calls.0.name": "browser_navigate",
             "gen_ai.completion.0.tool_calls.0.arguments": json.dumps({"url": SHOP})}),
        span(3, "browser_navigate.tool", 2, {"traceloop.span.kind": "tool", "traceloop.entity.name": "browser_navigate",
             "traceloop.entity.input": json.dumps({"inputs": {"url": SHOP}}),
             "traceloop.entity.output": json.dumps({"output": SNAPSHOT})}),
    ]  # fmt: skip
    read = read_one(write(tmp_path, request(*spans)))
    assert (read.run.intent, read.run.tokens) == ("Find the apron", (5, 0))
    assert (seen(read), read.steps[0].reason) == ([("", "goto", {"url": SHOP})], "I go.")
    assert read.run.final is not None
    assert read.run.final.title == "Catalogue"


EVALUATIONS = [
    pytest.param({"name": "task_success", "score.value": 1.0}, 1.0, id="success by an unknown evaluator"),
    pytest.param(
        {"name": "relevance", "score.value": 1.0}, None, id="something else by an unknown evaluator"
    ),
    pytest.param({"name": "task_success", "score.value": 4.0}, None, id="another scale"),
    pytest.param({"name": "task_success", "score.label": "fail"}, 0.0, id="a label alone"),
    pytest.param({"name": "task_success", "score.value": 1.0, "method": "llm_as_judge"}, None, id="a model"),
]


@pytest.mark.parametrize(("evaluation", "score"), EVALUATIONS)
def test_only_an_evaluation_of_the_run_that_is_no_models_gives_the_score(tmp_path, evaluation, score):
    found = attributes({f"gen_ai.evaluation.{key}": value for key, value in evaluation.items()})
    event = {"name": "gen_ai.evaluation.result", "attributes": found}
    spans = [agent(events=[event]), *shopping()[1:]]
    run = read_one(write(tmp_path, request(*spans))).run
    assert run.score == score
    assert any("evaluation" in note for note in run.notes)

    spans = shopping()
    spans[4]["events"] = [event]
    assert read_one(write(tmp_path, request(*spans), name="step.json")).run.score is None


@pytest.mark.parametrize(("kind", "score"), [("HUMAN", 0.25), ("CODE", 0.25), ("LLM", None)])
def test_annotations_of_people_and_programs_give_the_score(tmp_path, kind, score):
    given = {"name": "quality", "annotator_kind": kind, "score": 0.25}
    spans = shopping()
    spans[0]["attributes"] += attributes(
        {f"annotations.0.annotation.{key}": one for key, one in given.items()}
    )
    assert read_one(write(tmp_path, request(*spans))).run.score == score


def test_a_cut_last_line_is_named_and_the_other_runs_are_read(tmp_path):
    path = write(tmp_path, request(*shopping()), request(*shopping()))
    path.write_text(path.read_text()[:-40])
    runs, problems = read_all(path)
    assert len(runs) == 1
    assert [problem.error for problem in problems] == ["line 2 is cut off or no JSON object"]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (json.dumps(request(*shopping()), indent=1)[:-50], "the file is cut off"),
        ('{"resourceSpans": [}', "line 1 is cut off or no JSON object"),
        ('{\n"resourceSpans": [}', "not valid JSON"),
        (
            json.dumps(request(span(1, "GET", 0, {"http.request.method": "GET"}, None))),
            "without a span of an agent",
        ),
    ],
)
def test_what_is_no_agents_trace_is_one_sentence(tmp_path, content, error):
    (tmp_path / "trace.json").write_text(content)
    runs, problems = read_all(tmp_path)
    assert (runs, len(problems)) == ([], 1)
    assert error in problems[0].error


def test_a_link_is_not_followed(tmp_path):
    target = write(tmp_path, request(*shopping()))
    inside = tmp_path / "runs"
    inside.mkdir()
    (inside / "trace.json").symlink_to(target)
    assert read_all(inside)[0] == []


def test_any_damage_of_a_trace_is_a_run_or_one_sentence(tmp_path):
    path = tmp_path / "trace.json"
    for damaged in damages(request(*shopping())):
        path.write_text(json.dumps(damaged))
        otlp_index._index.cache_clear()
        read_all(path)


@needs_samples
@pytest.mark.parametrize("name", ["genai-a", "openinference-a"])
def test_the_samples_are_the_run_they_record(name):
    read = read_one(SAMPLES / "otel" / f"{name}.otlp.json")
    assert (read.run.intent, read.run.answer, read.run.score) == (
        "What does the Linen Apron cost?",
        "24.50 EUR",
        1.0,
    )
    assert [(step.title, step.action.kind, step.tokens) for step in read.steps if step.action] == [
        ("", "goto", (700, 31)),
        ("Small Shop", "click", (790, 31)),
        ("Catalogue", "click", (880, 31)),
    ]
    assert read.run.final is not None
    assert read.run.final.title == "Linen Apron"


def traces(count: int) -> dict[str, Any]:
    """One request with ``count`` traces of an agent and a tool."""
    return request(
        *(
            one
            for number in range(1, count + 1)
            for one in (agent(trace=f"{number:032x}"), tool(2, 1, "click", {}, trace=f"{number:032x}"))
        )
    )


@pytest.mark.parametrize("indent", [None, 1])
def test_the_bytes_parsed_of_a_file_grow_as_its_traces_do(tmp_path, monkeypatch, indent):
    parsed: list[int] = []
    loads = orjson.loads
    monkeypatch.setattr(orjson, "loads", lambda data: (parsed.append(len(data)), loads(data))[1])
    sizes: list[float] = []
    for count in (10, 40):
        parsed.clear()
        path = tmp_path / f"{count}.json"
        path.write_text(json.dumps(traces(count), indent=indent))
        assert len(read_all(path, "otlp")[0]) == count
        sizes.append(sum(parsed))
    assert sizes[1] < 5 * sizes[0]


def test_a_trace_on_a_line_of_its_own_and_on_one_with_others_is_the_same_run(tmp_path):
    alone = read_one(write(tmp_path, request(*shopping()), name="alone.jsonl")).run
    shared = request(*shopping(), *traces(2)["resourceSpans"][0]["scopeSpans"][0]["spans"])
    found = read_all(write(tmp_path, shared, name="shared.jsonl"))[0]
    assert alone.content_hash in {read.run.content_hash for read in found}


@pytest.mark.parametrize("reverse", [False, True])
def test_the_lookups_for_the_nearest_tool_and_model_grow_as_the_spans_do(reverse):
    looked_up = 0

    class Counted(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            nonlocal looked_up
            looked_up += 1
            return super().get(key, default)

    counts: list[int] = []
    for size in (50, 200):
        looked_up = 0
        kinds = [{}] * size + [{"gen_ai.tool.name": "click"}] * size
        spans = [
            TracedSpan(f"{at}", f"{min(at, size) - 1}", "", at, at, Counted(values))
            for at, values in enumerate(kinds)
        ]
        tree = SpanTree(spans[::-1] if reverse else spans)
        assert (len(tree.tools()), tree.models()) == (size, [])
        assert {span.id: span for span in tree.tools()}.keys() == {f"{at}" for at in range(size, 2 * size)}
        counts.append(looked_up)
    assert counts[1] < 5 * counts[0]


def test_a_chain_of_spans_of_one_call_is_that_call_with_what_each_of_them_knows():
    chain = [
        TracedSpan(f"{at}", f"{at - 1}", "", 0, 0, {"gen_ai.tool.name": "click", f"own.{at}": at})
        for at in range(300)
    ]
    (only,) = SpanTree(chain[::-1]).tools()
    assert only.id == "0"
    assert len(only.attributes) == 301
    assert all(len(span.attributes) == 2 for span in chain[1:])


@pytest.mark.parametrize(
    ("old", "new"),
    [('"name": "invoke_agent', '"name": "\\ud800invoke_agent'), ('"attributes":', '"x": NaN, "attributes":')],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_a_lone_surrogate_or_nan_loses_nothing(tmp_path, old, new, indent):
    content = json.dumps(request(*shopping()), indent=indent)
    assert old in content
    (tmp_path / "trace.json").write_text(content.replace(old, new))
    assert len(read_one(tmp_path).steps) == 2


@pytest.mark.parametrize("parents", [{3: 5, 5: 3}, {3: 3, 5: 3}])
def test_spans_recorded_as_above_themselves_keep_their_steps_and_it_is_said(tmp_path, parents):
    spans = shopping()
    for one in spans:
        if parent := parents.get(int(one["spanId"], 16)):
            one["parentSpanId"] = f"{parent:016x}"
    read = read_one(write(tmp_path, request(*spans)))
    assert [kind for _, kind, _ in seen(read)] == ["goto", "click"]
    assert any("are recorded as above themselves" in note for note in read.run.notes)


@pytest.mark.parametrize(
    "content",
    [
        '{"resourceSpans":' + "[" * 200_000 + "]" * 200_000 + "}",
        '{"resourceSpans":\n' + "[" * 200_000 + "]" * 200_000 + "}",
        json.dumps(request(agent(deep=json.loads("[" * 400 + "]" * 400)))),
    ],
)
def test_what_is_nested_too_deeply_is_said_so(tmp_path, content):
    (tmp_path / "trace.json").write_text(content)
    runs, problems = read_all(tmp_path)
    assert (runs, len(problems)) == ([], 1)
    assert "nested too deeply to be read" in problems[0].error
