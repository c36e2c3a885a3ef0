"""The prompts of a run in the terminal, and one of them asked again; the server's log says what was sent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.program import Sitelore
from tests.support.protocol_server import Answer, ProtocolServer, Request, text_of
from tests.support.shop_brain import count_the_kitchen, role_of

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser")]

TIP = "A department such as Kitchen stands in the bar at the top: click on its name there."
OTHER = "Departments are opened from the page of all offers."
KEY = "sk-test-key-that-nobody-may-keep"


def with_model(workspace: Path, endpoint: ProtocolServer) -> Sitelore:
    return Sitelore(
        workspace,
        SITELORE_MODEL_URL=endpoint.url,
        SITELORE_MODEL_NAME="gpt-4.1",
        OPENAI_API_KEY=KEY,
    )


def words_of(request: Request) -> str:
    """All words of a request, without how neighbouring messages were joined on the way."""
    contents = [message["content"] for message in request["messages"]]
    texts = [
        one if isinstance(one, str) else "\n".join(part.get("text", "") for part in one) for one in contents
    ]
    return re.sub(r"\s+", " ", " ".join(texts)).strip()


def hinted(request: Request) -> str | Answer:
    """Goes back where the other tip stands, else as the shop's brain."""
    if role_of(request) == "operator" and OTHER in text_of(request):
        return "<think>The offers, then.</think><action>go_back()</action>"
    return count_the_kitchen(request)


def test_what_each_role_was_sent_is_listed_and_asked_again_with_another_model_and_tip(server, tmp_path):
    with ProtocolServer(brain=hinted) as endpoint:
        sitelore = with_model(tmp_path / "workspace", endpoint)
        host = server.shop_url.removeprefix("http://")
        tip = sitelore(
            "tip", "add", "--site", "my-shop", "--scope", f"{host}/**", "--kind", "navigation", "--text", TIP
        )["id"]
        sitelore("tip", "status", tip, "--to", "active")
        run = sitelore(
            "run", "How many things are in the Kitchen department?", "--start-url", server.shop_url,
            "--policy", "llm", "--max-steps", "6",
        )["run"]  # fmt: skip
        sent = list(endpoint.bodies)

        listed = sitelore("runs", "prompts", run)
        step = sitelore("runs", "prompts", run, "--step", "0", "--role", "operator")["exchanges"]
        before = sitelore("runs", "show", run)
        same = sitelore("runs", "ask-again", run, "0", "--model", "gpt-4.1-mini", "--times", "2")
        other = sitelore("runs", "ask-again", run, "0", "--without-tip", tip, "--tip-text", OTHER)
        plan = sitelore("runs", "ask-again", run, "0", "--role", "planner")
        again = endpoint.bodies[len(sent) :]

    # every request that the server has logged is listed, with its cost at the listed price
    assert len(listed["exchanges"]) == len(sent)
    assert sum(total["calls"] for total in listed["totals"]) == len(sent)
    assert all(row["money"] > 0 for row in listed["exchanges"])
    operator = next(body for body in sent if role_of(body) == "operator")
    told = "\n".join(part["text"] for message in step[0]["messages"] for part in message["parts"])
    assert words_of(operator) == re.sub(r"\s+", " ", told).strip()
    assert step[0]["parameters"]["model"] == "gpt-4.1"
    assert [part["tip"] for message in step[0]["messages"] for part in message["parts"] if part["tip"]] == [
        tip
    ]

    # asked again: the same words to another model, twice
    assert [body["model"] for body in again] == ["gpt-4.1-mini", "gpt-4.1-mini", "gpt-4.1", "gpt-4.1"]
    assert words_of(again[0]) == words_of(again[1]) == words_of(operator)
    assert same["verdict"].startswith("same action (2 of 2 the same): click link 'Kitchen'")
    # with another tip: that one is left out, the other stands in its place, and nothing else is different
    whole = re.escape(TIP) + r".*?(?= The planner proposes)"  # the tip and its steps
    assert words_of(again[2]) == re.sub(whole, OTHER, words_of(operator))
    assert other["verdict"].startswith("other action: ")
    assert "instead of click link 'Kitchen'" in other["verdict"]
    assert plan["verdict"].startswith("same decision: go on: open the department")
    # nothing was done, and the run is as it was
    assert sitelore("runs", "show", run) == before
    kept = b"".join(path.read_bytes() for path in (tmp_path / "workspace").rglob("*") if path.is_file())
    assert KEY.encode() not in kept
    estimate = sitelore("runs", "ask-again", run, "0", "--estimate")
    assert estimate["money"] > 0
