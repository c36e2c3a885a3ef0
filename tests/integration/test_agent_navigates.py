"""The agent is taken through an explored site in its own browser, and told the truth about the arrival."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.engine.api.graph_api import ExploreOptions
from app.engine.api.run_api import RunRequest
from app.engine.core.actions.types import Navigate, Stop
from app.engine.core.observation import AgentDecision, Observation
from app.engine.engine import Engine
from app.engine.services import agent_runs
from app.engine.services.policy_factory import PolicyBundle
from tests.support.demo_site_thread import demo_site
from tests.support.fake_executor import ScriptedPolicy

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server() -> Iterator[object]:
    with demo_site() as running_site:
        yield running_site


@pytest.mark.smoke
async def test_a_run_is_taken_to_the_basket_by_words_and_its_steps_tell_how(
    server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def where(sight: Observation) -> AgentDecision:
        return AgentDecision(action=Stop(sight.page.url.removeprefix(server.shop_url)))

    moves: list[Navigate | Callable[[Observation], AgentDecision]] = [
        Navigate("demo-shop", "what is in my basket"),
        Navigate("gitlab", "issues"),
        Navigate("demo-shop", "sonnets on teapots zzz"),
        where,
    ]
    policy = ScriptedPolicy(moves)
    monkeypatch.setattr(agent_runs, "make_policy_bundle", lambda *_: PolicyBundle(policy))
    engine = await Engine.open(tmp_path / "workspace")
    try:
        await engine.explore(f"{server.shop_url}/", "demo-shop", ExploreOptions(depth=1, max_states=12))
        summary = await engine.run_task(
            RunRequest(
                intent="Look into the basket", start_url=server.shop_url, graph=("demo-shop",), max_steps=6
            )
        )
        detail = await engine.open_run(summary.run)
        graph = await engine.graph_stats("demo-shop")
        node = next(step.page_state for step in detail.steps[1:])
        assert (await engine.graph_node("demo-shop", node)).row.url.endswith("/basket")
    finally:
        await engine.aclose()
    assert summary.outcome == "answered"
    assert summary.answer == "/basket"
    arrived, unknown, nowhere, _ = detail.steps
    assert (arrived.effect, arrived.cause) == ("navigated", "")
    assert "Basket" in arrived.output
    assert (unknown.effect, unknown.cause) == ("refused", "navigator")
    assert "demo-shop" in unknown.error or "no graph" in unknown.error
    assert nowhere.cause == "navigator"
    assert policy.seen[0].domains[0].name == "demo-shop"
    assert graph.row.states >= 5
