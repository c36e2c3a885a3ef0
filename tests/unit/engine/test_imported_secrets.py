"""Texts typed into secret fields are nowhere in an imported run: not in actions, answers, texts or pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.engine.imports import jsonl
from app.engine.imports.tool_calls import read_tool_call
from tests.support.foreign_runs import read_one
from tests.support.playwright_traces import TraceWriter, write_zip

SECRET = "s3cretvalue"


def everything(read: Any) -> str:
    return repr((read.run, read.steps)) + "".join(
        data.decode("utf-8", "replace") for data in read.blobs.values()
    )


def lines(tmp_path: Path, *steps: dict[str, Any]) -> Any:
    path = tmp_path / "runs.jsonl"
    rows = [{"sitelore_runs": 1, "run": {"id": "p", "goal": "log in"}}, *({"step": step} for step in steps)]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert jsonl.MARK in path.read_text()
    return read_one(path)


def tree(name: str, more: str = "") -> str:
    return f"RootWebArea 'S'\n\t[4] textbox {name!r}{more}"


@pytest.mark.parametrize(
    "step",
    [
        {"tree": tree("x"), "html": "<input bid=4 type=password>", "action": f"fill('4', {SECRET!r})"},
        {"tree": tree("Mot de passe"), "action": f"fill('4', {SECRET!r})"},
        {"tree": tree("PIN"), "action": f"fill('4', {SECRET!r})"},
        {"tree": tree("Password", ", focused"), "action": f"keyboard_type({SECRET!r})"},
        {"action": {"name": "fill", "args": {"selector": "input[type=password]", "value": SECRET}}},
        {"action": {"name": "login", "args": {"user": "ann", "password": SECRET}}},
        {
            "action": {
                "name": "browser_fill_form",
                "args": {"fields": [{"name": "Password", "ref": "e5", "value": SECRET}]},
            }
        },
        {
            "action": {
                "name": "browser_fill_form",
                "args": {
                    "fields": [
                        {"name": "User", "ref": "e4", "value": "ann"},
                        {"name": "Kennwort", "ref": "e5", "value": SECRET},
                    ]
                },
            }
        },
    ],
    ids=["html", "name", "pin", "focused", "selector", "argument", "one field", "form"],
)
def test_a_typed_secret_is_masked_in_a_generic_run(step: dict[str, Any], tmp_path: Path):
    read = lines(
        tmp_path,
        {"url": "http://x.example/", "raw_output": f"I type {SECRET} now", "reason": f"{SECRET}", **step},
    )
    assert SECRET not in everything(read)
    assert "REDACTED" in repr(read.steps[0].action)


def test_keys_after_a_click_on_a_password_field_are_masked_and_others_stay(tmp_path: Path):
    page = {
        "url": "http://x.example/",
        "tree": tree("Wachtwoord") + "\n\t[5] textbox 'PIN code of the parcel shop'",
    }
    read = lines(
        tmp_path,
        {**page, "action": "click('4')"},
        {**page, "action": f"keyboard_type({SECRET!r})"},
        {**page, "action": "fill('5', '94110-x')"},
    )
    assert SECRET not in everything(read)
    assert read.steps[2].action.args["value"] == "94110-x"


def test_the_one_field_of_a_form_is_the_target_of_its_fill():
    fields = [{"name": "Password", "type": "textbox", "ref": "e5", "value": SECRET}]
    action, target = read_tool_call("browser_fill_form", {"fields": fields})
    assert action.kind == "fill"
    assert target is not None
    assert (target.role, target.name, target.bid) == ("textbox", "Password", "e5")


def test_a_tool_call_of_an_atif_trajectory_is_without_its_secret_everywhere(tmp_path: Path):
    fields = [{"name": "Password", "type": "textbox", "ref": "e5", "value": SECRET}]
    calls = [
        ("browser_fill_form", {"fields": fields}),
        ("fill", {"selector": "input[type=password]", "value": SECRET + "2"}),
        ("browser_fill_form", {"fields": [*fields, {"name": "User", "ref": "e4", "value": "ann"}]}),
        ("browser_type", {"element": "CVV", "ref": "e7", "text": "739"}),
        ("bash", {"command": f"curl -u ann:{SECRET}3 -H 'Authorization: Basic {SECRET}4' https://x.example"}),
    ]
    steps = [
        {
            "step_id": number,
            "source": "agent",
            "message": "",
            "tool_calls": [{"tool_call_id": str(number), "function_name": name, "arguments": arguments}],
        }
        for number, (name, arguments) in enumerate(calls, 1)
    ]
    path = tmp_path / "trajectory.json"
    agent = {"name": "a", "version": "1", "model_name": "m"}
    path.write_text(
        json.dumps({"schema_version": "ATIF-v1.6", "session_id": "s", "agent": agent, "steps": steps})
    )
    read = read_one(path)
    assert SECRET not in everything(read)
    assert '"739"' not in read.steps[3].raw_output
    assert "ann" in read.steps[2].raw_output


def test_browser_use_masks_keys_and_inputs_that_never_ran_by_their_elements(tmp_path: Path):
    element = {"node_name": "INPUT", "attributes": {"type": "password", "id": "x1"}, "backend_node_id": 5}
    code = {"node_name": "INPUT", "attributes": {"autocomplete": "one-time-code", "id": "x2"}}
    item = {
        "model_output": {
            "next_goal": f"type {SECRET}1 and {SECRET}3",
            "action": [
                {"input": {"index": 5, "text": f"{SECRET}1"}},
                {"send_keys": {"keys": f"{SECRET}2"}},
                {"send_keys": {"keys": "Enter"}},
                {"input": {"index": 6, "text": f"{SECRET}3"}},
                {"input": {"index": 7, "text": f"{SECRET}4"}},
            ],
        },
        "result": [{"extracted_content": f"Typed '{SECRET}1'"}, {}, {}],
        "state": {
            "url": "https://s.example/",
            "title": "S",
            "tabs": [],
            "interacted_element": [element, None, None, element, code],
        },
    }
    path = tmp_path / "history.json"
    path.write_text(json.dumps({"history": [item]}))
    read = read_one(path)
    assert SECRET not in everything(read)
    assert read.steps[2].action.args == {"key": "Enter"}


LOGIN = ["HTML", {}, ["BODY", {},
    ["INPUT", {"type": "text", "id": "user", "aria-label": "User"}],
    ["INPUT", {"type": "password", "id": "x1"}],
    ["INPUT", {"type": "text", "autocomplete": "one-time-code", "id": "x2", "__playwright_value_": SECRET + "9"}],
    ["INPUT", {"type": "hidden", "name": "_csrf", "value": SECRET + "8"}],
]]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("fill", {"selector": "#x1", "value": SECRET}),
        ("type", {"selector": "#x2", "text": SECRET}),
        ("fill", {"selector": 'internal:label="Wachtwoord"i', "value": SECRET}),
        ("fill", {"selector": ".somewhere >> nth=1", "value": SECRET}),
        ("expect", {"selector": "#x1", "expression": "to.have.value", "expectedText": [{"string": SECRET}]}),
        ("goto", {"url": f"https://shop.example/cb?sig={SECRET}"}),
    ],
    ids=["id", "code", "name", "unknown", "expected", "signature"],
)
@pytest.mark.parametrize("early", [True, False], ids=["snapshot before its call", "snapshot after its call"])
def test_a_secret_of_a_playwright_trace_is_nowhere(method: str, params: Any, early: bool, tmp_path: Path):
    trace = TraceWriter(8)
    trace.call("goto", {"url": "https://shop.example/"})
    error = {"message": f"Expected: {SECRET!r}\nReceived: '{SECRET}7'"} if method == "expect" else None
    trace.call(method, params, html=LOGIN, error=error)
    if early:
        at = next(at for at, event in enumerate(trace.events) if event["type"] == "frame-snapshot")
        trace.events[at - 1], trace.events[at] = trace.events[at], trace.events[at - 1]
    read = read_one(write_zip(tmp_path / "trace.zip", trace.entries()))
    assert SECRET not in everything(read)


def test_keys_after_a_click_on_a_password_field_of_a_playwright_trace_are_masked(tmp_path: Path):
    trace = TraceWriter(8)
    trace.call("click", {"selector": "#x1"}, html=LOGIN)
    trace.call("keyboardType", {"text": SECRET}, cls="Page", html=LOGIN)
    trace.call("fill", {"selector": "#user", "value": "ann-the-user"}, html=LOGIN)
    trace.call("fill", {"selector": 'internal:label="User"i', "value": "bob-the-user"}, html=LOGIN)
    at = next(at for at, event in enumerate(trace.events) if event["type"] == "frame-snapshot")
    trace.events[at - 1], trace.events[at] = trace.events[at], trace.events[at - 1]
    read = read_one(write_zip(tmp_path / "trace.zip", trace.entries()))
    assert SECRET not in everything(read)
    assert [step.action.args.get("value") for step in read.steps[-2:]] == ["ann-the-user", "bob-the-user"]
