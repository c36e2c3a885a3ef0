"""Checks of a run request: addresses, hosts, files and graphs, and where the run may go."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.api.run_api import LlmRunOptions, RunRequest
from app.engine.browser.network.navigation_policy import NavigationPolicy
from app.engine.engine import Engine
from app.engine.services.graph_cache import checked_address
from app.engine.services.run_requests import allowed_hosts
from app.errors import SiteloreError, UsageError


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("shop.test", "http://shop.test/"),
        (" HTTP://Shop.Test/A?b=C#d ", "http://shop.test/A?b=C#d"),
        ("http://shop.test:80", "http://shop.test/"),
        ("https://shop.test:443/x", "https://shop.test/x"),
        ("https://shop.test:80/x", "https://shop.test:80/x"),
        ("http://b\u00fccher.test/x", "http://xn--bcher-kva.test/x"),
        ("http://127.0.0.1:7801", "http://127.0.0.1:7801/"),
        ("http://[::1]:7801/x", "http://[::1]:7801/x"),
        ("http://under_score.test/", "http://under_score.test/"),
    ],
)
def test_an_address_is_written_as_browsers_write_it(given: str, address: str):
    assert checked_address(given) == address
    assert checked_address(address) == address


@pytest.mark.parametrize(
    "given",
    [
        "not a url",
        "http://",
        "http://a b/",
        "http://shop.test:99999/",
        "http://[::1",
        "file:///x",
        "http://a..b/",
    ],
)
def test_what_no_browser_opens_is_refused_at_once(given: str):
    with pytest.raises(UsageError, match="not the address of a page"):
        checked_address(given)


@pytest.mark.parametrize(
    ("start", "domains", "there"),
    [
        ("http://shop.test:80/", (), "http://shop.test/x"),
        ("http://SHOP.test/", (), "http://shop.test/x"),
        ("http://b\u00fccher.test/", (), "http://xn--bcher-kva.test/x"),
        ("http://[::1]:7801/", (), "http://[::1]:7801/x"),
        ("http://shop.test/", ("https://Pay.Test/start",), "https://pay.test/x"),
        ("http://shop.test/", ("pay.test:443",), "https://pay.test/x"),
        ("http://shop.test/", ("*.pay.test",), "https://www.pay.test/x"),
        ("http://shop.test/", ("*",), "https://elsewhere.test/x"),
    ],
)
def test_a_run_may_be_where_it_was_told_to_be(start: str, domains: tuple[str, ...], there: str):
    request = RunRequest(intent="Look", start_url=checked_address(start), domains=domains)
    elsewhere = RunRequest(intent="Look", start_url="http://a.test/")
    assert NavigationPolicy(allowed_hosts(request)).outside(there) is None
    assert NavigationPolicy(allowed_hosts(elsewhere)).outside(there) is not None


@pytest.mark.parametrize("domain", ["", "pay test", "http://", "*."])
def test_a_host_that_is_none_is_said_to_be_none(domain: str):
    with pytest.raises(UsageError, match="is not a host"):
        allowed_hosts(RunRequest(intent="Look", start_url="http://a.test/", domains=(domain,)))


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"graph": ("nowhere",)}, "no graph of 'nowhere'"),
        ({"kb": "notes.txt"}, "not a knowledge base"),
        ({"kb": "gone.kb"}, "no such knowledge base"),
        ({"storage_state": "notes.txt"}, "this log-in can't be read"),
        ({"storage_state": "gone.json"}, "this log-in can't be read"),
        ({"domains": ("pay test",)}, "is not a host"),
    ],
)
async def test_a_slip_of_the_pen_leaves_no_run_behind(tmp_path: Path, wrong: dict[str, object], error: str):
    (tmp_path / "notes.txt").write_text("milk, eggs", encoding="utf-8")
    given = {
        name: str(tmp_path / str(value)) if name in ("kb", "storage_state") else value
        for name, value in wrong.items()
    }
    engine = await Engine.open(tmp_path / "workspace")
    try:
        with pytest.raises(SiteloreError, match=error):
            await engine.run_task(RunRequest(intent="Look", start_url="http://shop.test/", **given))
        assert engine._core.workspace.runs.ids() == set()
    finally:
        await engine.aclose()


@pytest.mark.parametrize(
    ("judge", "policy", "supervised", "calls", "is_judged"),
    [
        ("auto", "llm", True, 12, True),
        ("auto", "llm", False, 12, False),
        ("auto", "scout", True, 12, False),
        ("on", "llm", False, 12, True),
        ("on", "scout", True, 12, True),
        ("on", "scout", False, 12, True),
        ("off", "llm", True, 12, False),
        ("auto", "llm", True, 0, False),
        ("on", "llm", True, 0, False),
    ],
)
def test_a_supervised_run_of_a_model_is_judged_by_itself_and_any_other_where_somebody_asks_for_it(
    judge, policy, supervised, calls, is_judged
):
    options = LlmRunOptions(judge=judge, judge_calls=calls)
    request = RunRequest(intent="i", start_url="u", policy=policy, supervised=supervised, llm=options)
    assert request.is_judged is is_judged
