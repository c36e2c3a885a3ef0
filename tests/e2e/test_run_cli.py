"""``sitelore run`` without a model and with one behind the protocol; its runs are like any others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import Sitelore
from tests.support.protocol_server import Answer, ProtocolServer, failing, huge, text_of
from tests.support.shop_brain import count_the_kitchen, role_of

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser")]

KITCHEN = "How many things are in the Kitchen department?"


def with_model(workspace: Path, endpoint: ProtocolServer) -> Sitelore:
    return Sitelore(
        workspace,
        SITELORE_MODEL_URL=endpoint.url,
        SITELORE_MODEL_NAME="scripted",
        OPENAI_API_KEY="sk-test-key-that-nobody-may-keep",
    )


def all_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.smoke
def test_the_scout_opens_what_is_named_and_its_run_is_stored_like_any_other(server, tmp_path):
    sitelore = Sitelore(tmp_path / "workspace")
    summary = sitelore("run", 'Click on "Kitchen"', "--start-url", server.shop_url, "--max-steps", "8")
    assert summary["outcome"] == "answered"
    assert summary["usage"] == []
    assert summary["url"].endswith("/department/Kitchen")
    (row,) = sitelore("runs", "list")
    assert (row["id"], row["source"]) == (summary["run"], "sitelore")
    assert row["site"] == server.shop_url.removeprefix("http://")
    shown = sitelore("runs", "show", summary["run"])
    assert shown["steps"][0]["target"] == {"role": "link", "name": "Kitchen"}
    memory = sitelore("runs", "memory", summary["run"])
    assert memory["ledger"]["goal"] == 'Click on "Kitchen"'
    assert memory["events"]


def test_a_tip_that_was_shown_stands_in_the_run_with_its_route(server, tmp_path):
    sitelore = Sitelore(tmp_path / "workspace")
    text = "A department such as Kitchen stands in the bar at the top: click on its name there."
    host = server.shop_url.removeprefix("http://")
    added = sitelore(
        "tip", "add", "--site", "my-shop", "--scope", f"{host}/**", "--kind", "navigation", "--text", text
    )
    sitelore("tip", "status", added["id"], "--to", "active")
    summary = sitelore("run", 'Click on "Kitchen"', "--start-url", server.shop_url)
    (use,) = summary["tips"]
    assert (use["tip"], use["text"]) == (added["id"], text)
    assert "url" in use["routes"]
    assert use["shown"] >= 1
    without = sitelore("run", 'Click on "Kitchen"', "--start-url", server.shop_url, "--kb", "none")
    assert without["tips"] == []


def test_a_task_that_nobody_can_do_ends_with_a_reason_and_exit_code_1(server, tmp_path):
    sitelore = Sitelore(tmp_path / "workspace")
    summary = sitelore(
        "run", "Compose a sonnet on teapots", "--start-url", server.shop_url, "--max-steps", "6", code=1
    )
    assert summary["outcome"] in ("infeasible", "step_limit")
    assert summary["answer"] or summary["outcome"] == "step_limit"


@pytest.mark.smoke
def test_a_model_behind_the_protocol_does_a_task_and_every_exchange_is_kept(server, tmp_path):
    with ProtocolServer(brain=count_the_kitchen) as endpoint:
        sitelore = with_model(tmp_path / "workspace", endpoint)
        summary = sitelore(
            "run", KITCHEN, "--start-url", server.shop_url, "--policy", "llm", "--max-steps", "6"
        )
        asked = len(endpoint.bodies)
    assert (summary["outcome"], summary["answer"]) == ("answered", "5 things")
    roles = {use["role"]: use for use in summary["usage"]}
    assert sum(use["calls"] for use in roles.values()) == asked
    assert roles["operator"]["tokens_in"] > 0
    shown = sitelore("runs", "show", summary["run"])
    assert [step["action"]["kind"] for step in shown["steps"]] == ["click", "send_msg_to_user"]
    stored = all_bytes(tmp_path / "workspace")
    assert b"sk-test-key" not in stored


def test_without_an_endpoint_the_policy_says_what_to_set_and_leaves_no_run(server, tmp_path):
    sitelore = Sitelore(
        tmp_path / "workspace",
        SITELORE_MODEL_URL="",
        OPENAI_BASE_URL="",
        OPENAI_API_KEY="",
        PYTHON_KEYRING_BACKEND="keyring.backends.null.Keyring",
    )
    told = sitelore("run", KITCHEN, "--start-url", server.shop_url, "--policy", "llm", code=1)
    assert "SITELORE_MODEL_URL" in told["error"]
    assert sitelore("runs", "list") == []


@pytest.mark.parametrize(
    ("answer", "outcome", "words"),
    [
        (failing(401, "bad key"), "crashed", "key"),
        (huge(), "crashed", "no action"),
        (Answer(text="I would rather not."), "crashed", "no action"),
    ],
    ids=["401", "10 MB", "no action"],
)
def test_what_an_endpoint_may_answer_closes_the_run_with_its_reason(server, tmp_path, answer, outcome, words):
    def brain(request):
        return (
            count_the_kitchen(request) if role_of(request) == "planner" and answer.status == 200 else answer
        )

    with ProtocolServer(brain=brain) as endpoint:
        sitelore = with_model(tmp_path / "workspace", endpoint)
        summary = sitelore(
            "run", KITCHEN, "--start-url", server.shop_url, "--policy", "llm", "--max-steps", "6", code=1
        )
    assert summary["outcome"] == outcome
    assert words in summary["error"]
    (row,) = sitelore("runs", "list")
    assert row["outcome"] == outcome


def test_an_endpoint_that_is_gone_closes_the_run_with_its_reason(server, tmp_path):
    with ProtocolServer(brain=count_the_kitchen) as endpoint:
        sitelore = with_model(tmp_path / "workspace", endpoint)
    summary = sitelore(
        "run", KITCHEN, "--start-url", server.shop_url, "--policy", "llm", "--max-seconds", "4", code=1
    )
    assert summary["outcome"] in ("crashed", "out_of_budget")
    assert summary["error"]


def test_a_budget_of_tokens_ends_the_run(server, tmp_path):
    with ProtocolServer(brain=count_the_kitchen) as endpoint:
        sitelore = with_model(tmp_path / "workspace", endpoint)
        summary = sitelore(
            "run", KITCHEN, "--start-url", server.shop_url, "--policy", "llm", "--max-tokens", "1500", code=1
        )
    assert summary["outcome"] == "out_of_budget"


def test_a_password_is_in_no_prompt_and_in_no_file(server, tmp_path):
    seen: list[str] = []

    def brain(request):
        text = text_of(request)
        seen.append(text)
        if role_of(request) == "planner":
            from tests.support.shop_brain import plan

            return plan(done="signed in" in text, answer="signed in")
        if "titled 'Sign in" in text.rpartition("You are at")[2]:
            import re

            user = re.findall(r"\[(\d+)\] textbox 'User", text)[-1]
            secret = re.findall(r"\[(\d+)\] textbox 'Password", text)[-1]
            button = re.findall(r"\[(\d+)\] button 'Sign in", text)[-1]
            calls = f'fill("{user}", "demo")\nfill("{secret}", "{{secret:ADMIN}}")\nclick("{button}")'
            return f"<action>{calls}</action>"
        return '<action>stop("signed in")</action>'

    with ProtocolServer(brain=brain) as endpoint:
        sitelore = with_model(tmp_path / "workspace", endpoint)
        sitelore.environment["SITELORE_SECRET_ADMIN"] = "larkspur"
        summary = sitelore(
            "run",
            "Sign in as demo with the password {secret:ADMIN}",
            "--start-url",
            f"{server.admin_url}/admin",
            "--policy",
            "llm",
        )
    assert summary["outcome"] == "answered"
    assert "larkspur" not in "".join(seen).replace("Larkspur", "").replace("larkspur-", "")
    typed = [
        step for step in sitelore("runs", "show", summary["run"])["steps"] if step["action"]["kind"] == "fill"
    ]
    assert len(typed) == 2
    assert "larkspur" not in str(typed)
    assert summary["url"].endswith("/admin")
