"""Runs supervised from two terminals: one runs them, the other decides, hints and pauses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest

from app.engine.core.intervention_policy import RiskClass
from tests.support.operator_driver import asking
from tests.support.program import CHECKOUT, Sitelore

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser")]

WAIT = 240.0
ASKS = asking(RiskClass.SENDS)


@contextmanager
def holding(workspace: Path, *arguments: str):
    """``sitelore live start`` in its own terminal."""
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "--workspace", str(workspace), "live", "start", *arguments, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=CHECKOUT,
        env={**os.environ},
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=60)


def until(look, what: str):
    """Wait until ``look`` returns something, and return it."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.2)
    raise AssertionError(f"{what} did not come")


def test_a_second_terminal_sees_decides_and_hints(server, tmp_path):
    sitelore = Sitelore(tmp_path / "workspace")
    policy = tmp_path / "policy.json"
    policy.write_bytes(orjson.dumps(ASKS))
    shown = sitelore("live", "policy", "--set", str(policy))
    assert {"risk": "sends", "answer": "ask", "site": ""} in shown["policy"]["risks"]
    tasks = tmp_path / "tasks.jsonl"
    lines = [
        {"intent": "Put the Oak Tray into the basket", "start_url": server.shop_url, "kb": "none"},
        {"intent": 'Click on "Kitchen"', "start_url": server.shop_url, "kb": "none"},
    ]
    tasks.write_text("\n".join(json.dumps(line) for line in lines))
    with holding(sitelore.workspace, str(tasks), "--concurrency", "2") as first:
        (request,) = until(lambda: sitelore("live", "requests"), "a request")
        assert request["risk"] == "sends"
        assert not server.state.in_baskets()
        rows = {row["run"]: row for row in sitelore("live", "list")}
        assert rows[request["run"]]["needs"][0]["id"] == request["id"]
        hint = sitelore("live", "hint", request["run"], "The tray comes in one size.")
        assert hint["step"] == request["step"]
        sitelore("live", "decide", request["id"], "approve", "--text", "go on")
        sitelore_fails = Sitelore(sitelore.workspace)
        again = subprocess.run(
            [sys.executable, "-m", "app", "--workspace", str(sitelore_fails.workspace), "live", "decide",
             request["id"], "deny"],
            capture_output=True, text=True, timeout=120, check=False, cwd=CHECKOUT,
        )  # fmt: skip
        assert (again.returncode, "decided already" in again.stderr) == (1, True)
        out, errors = first.communicate(timeout=WAIT)
    assert first.returncode == 0, errors
    assert sorted(row["outcome"] for row in json.loads(out)) == ["answered", "answered"]
    assert server.state.in_baskets()
    deeds = [deed["action"] for deed in sitelore("live", "timeline", request["run"])]
    assert deeds[:3] == ["asked", "hinted", "approved"]
    settled = sitelore("live", "requests", "--closed")
    assert [one["state"] for one in settled] == ["closed"]
    assert sitelore("live", "list") == []


def test_what_is_no_policy_and_what_is_no_task_is_said_with_exit_code_3(tmp_path):
    workspace = tmp_path / "workspace"
    for name, content, arguments in (
        ("policy.json", '{"flags": [{"severity": "loud"}]}', ("policy", "--set")),
        ("tasks.json", '[{"start_url": "http://shop.test/"}]', ("start",)),
    ):
        file = tmp_path / name
        file.write_text(content)
        done = subprocess.run(
            [sys.executable, "-m", "app", "--workspace", str(workspace), "live", *arguments, str(file)],
            capture_output=True, text=True, timeout=120, check=False, cwd=CHECKOUT,
        )  # fmt: skip
        assert done.returncode == 3, done.stderr
        assert name in done.stderr
        assert "Traceback" not in done.stderr


def test_a_run_of_the_command_line_asks_where_it_is_supervised(server, tmp_path):
    """The request is printed with its id; the decision comes from another terminal."""
    workspace = tmp_path / "workspace"
    sitelore = Sitelore(workspace)
    policy = tmp_path / "policy.json"
    policy.write_bytes(orjson.dumps(ASKS))
    sitelore("live", "policy", "--set", str(policy))
    command = [
        sys.executable,
        "-m",
        "app",
        "--workspace",
        str(workspace),
        "run",
        "Put the Oak Tray into the basket",
    ]
    process = subprocess.Popen(
        [*command, "--start-url", server.shop_url, "--kb", "none", "--supervised", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=CHECKOUT, env={**os.environ},
    )  # fmt: skip
    try:
        (request,) = until(lambda: sitelore("live", "requests"), "a request")
        sitelore("live", "decide", request["id"], "approve")
        out, errors = process.communicate(timeout=WAIT)
    finally:
        if process.poll() is None:
            process.kill()
    assert json.loads(out)["run"] == request["run"]
    assert f"sitelore live decide {request['id']}" in errors
