"""``sitelore model test`` against a server that speaks the protocol, well or badly."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from app import settings
from app.cli.model import check_text
from app.engine.api.model_test_api import ModelCheck, ModelTestRequest
from app.engine.core.model_api import AgentRole
from app.engine.services.model_testing import report_on
from app.errors import UsageError
from tests.support.protocol_server import Answer, ProtocolServer, Request, text_of

KEY = "sk-a-key-that-must-not-be-shown"


def able(request: Request) -> str | Answer:
    """Answers everything but pictures, which no script sees."""
    words = text_of(request)
    if request.get("tools"):
        return Answer(calls=(("add", {"a": 17, "b": 25}),), finish="tool_calls")
    if "17 + 25" in words:
        return '{"sum": 42}'
    if "Count" in words:
        return " ".join(map(str, range(1, 21)))
    return "red, blue" if "colour" in words else "ready"


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "settings_path", lambda: tmp_path / "settings.json")
    monkeypatch.setattr(settings, "model_reports_dir", lambda: tmp_path / "models")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name in ("SITELORE_MODEL_URL", "SITELORE_MODEL_NAME", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def report_of(url: str, model: str = "") -> tuple[bool, dict[str, tuple[bool | None, str]]]:
    lines: list[ModelCheck] = []
    report = asyncio.run(report_on(ModelTestRequest(url=url, model=model), lines.append))
    assert KEY not in repr(report)
    assert tuple(lines) == report.checks
    return report.is_usable, {one.name: (one.ok, one.found) for one in lines}


@pytest.mark.smoke
def test_an_endpoint_that_can_do_much_is_told_line_by_line_and_stored_without_the_key(tmp_path):
    with ProtocolServer(able, key=KEY) as server:
        usable, checks = report_of(server.url)
    assert usable
    assert checks["key"] == (True, "accepted")
    assert checks["answers by schema"] == (True, "JSON schema")
    assert checks["tool calls"] == (True, "work")
    assert checks["price"] == (None, "unknown")
    [stored] = (tmp_path / "models").iterdir()
    assert json.loads(stored.read_text("utf-8"))["model"] == "test-model"
    assert KEY not in stored.read_text("utf-8")
    assert (
        check_text(ModelCheck(name="key", ok=False, found="401", remedy="check it"))
        == "NO  key: 401 (check it)"
    )


@pytest.mark.parametrize(
    ("refused", "name", "found"),
    [
        ("response_format", "answers by schema", (True, "in words")),
        ("tools", "tool calls", (False, "not accepted")),
        ("image_url", "pictures", (False, "not accepted")),
        ("reasoning_effort", "reasoning effort", (False, "low is not accepted")),
        ("max_tokens", "answer", (True, "test-model answers")),
        ("stream_options", "answer", (True, "test-model answers")),
    ],
)
def test_what_an_endpoint_refuses_is_found(refused, name, found):
    with ProtocolServer(able, refuses=(refused,)) as server:
        usable, checks = report_of(server.url)
    assert (usable, checks[name]) == (True, found)


def test_a_picture_that_is_accepted_and_not_seen_is_no_picture_seen():
    blind = lambda request: "I see a picture" if "colour" in text_of(request) else able(request)  # noqa: E731
    with ProtocolServer(blind) as server:
        _, checks = report_of(server.url)
    assert checks["pictures"][0] is False
    assert "not seen" in str(checks["pictures"][1])


def test_a_wrong_key_is_named_with_its_remedy_and_nothing_more_is_asked():
    with ProtocolServer(able, key="another") as server:
        usable, checks = report_of(server.url, "test-model")
    assert not usable
    assert list(checks) == ["key"]
    assert checks["key"][0] is False
    assert "401" in str(checks["key"][1])


def test_an_effort_that_no_endpoint_knows_is_refused_before_anything_is_asked():
    with ProtocolServer(able) as server, pytest.raises(UsageError, match="no effort 'immense'"):
        asyncio.run(report_on(ModelTestRequest(url=server.url, effort="immense"), print))
    assert not server.asked


def test_the_model_of_a_role_is_tested_with_its_effort_and_price(monkeypatch):
    with ProtocolServer(able, models=("small", "large")) as server:
        chosen = replace(
            settings.load(),
            model_url=server.url,
            model_name="large",
            roles={AgentRole.SUMMARIZER: settings.RoleSettings(model="small", effort="high", price="1/2")},
        )
        monkeypatch.setattr(settings, "load", lambda: chosen)
        report = asyncio.run(report_on(ModelTestRequest(role=AgentRole.ALIGNMENT), lambda line: None))
        efforts = [body["reasoning_effort"] for body in server.bodies if "reasoning_effort" in body]
    assert report.model == "small"
    assert efforts == ["high"]
    assert "1/2 US dollars per million tokens" in [check.found for check in report.checks]


def test_an_address_where_nothing_listens_is_not_usable():
    usable, checks = report_of("http://127.0.0.1:9/v1", "m")
    assert not usable
    assert "can't be reached" in checks["reachable"][1]


def test_of_several_models_none_is_guessed():
    with ProtocolServer(able, models=("a", "b")) as server:
        usable, checks = report_of(server.url)
    assert (usable, checks["models"]) == (False, (False, "2 listed, and none is chosen"))


def test_a_model_that_reasons_gets_room_for_it():
    with ProtocolServer(able, reasoning=500) as server:
        usable, checks = report_of(server.url)
    assert (usable, checks["reasoning"]) == (True, (True, "reasons before it answers"))
