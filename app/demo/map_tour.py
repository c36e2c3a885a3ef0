"""The demo's live part: maps from the recorded runs alone, then, if a browser can be started, an exploration of
the bundled site, a navigation to an answer, and a task done by the scout.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.demo.server import DemoServer
from app.engine.api.engine_api import EngineApi
from app.engine.api.graph_api import ExploreOptions
from app.engine.api.run_api import RunRequest
from app.errors import SiteloreError

SHOP, ADMIN = "demo-shop", "demo-admin"
QUESTION = "where do I see what is in my basket"
TASK, PRICE = "How much does the Linen Apron cost?", "24.00"
"""A task for the scout, and the shop's price."""
OPTIONS = ExploreOptions(depth=2, max_states=60, max_seconds=120.0)


@dataclass(slots=True, kw_only=True)
class MapReport:
    """The map in figures.

    ``explored`` is False if no browser could be started (``why`` says so), ``arrived`` tells whether the live browser
    reached the state that the question found, ``answer`` is the scout's.
    """

    states: int = 0
    transitions: int = 0
    explored: bool = False
    found: str = ""
    arrived: bool = False
    why: str = ""
    answer: str = ""


async def map_from_runs(engine: EngineApi, say: Callable[[str], object]) -> MapReport:
    """Build maps of the bundled site's two parts from the recorded runs; nothing is visited."""
    rows = [await engine.graph_from_runs(site) for site in (SHOP, ADMIN)]
    states, transitions = sum(row.states for row in rows), sum(row.transitions for row in rows)
    say(f"map       {states} states and {transitions} transitions from the runs alone, no page visited")
    return MapReport(states=states, transitions=transitions)


async def explore_the_shop(engine: EngineApi, report: MapReport, say: Callable[[str], object]) -> MapReport:
    """Explore the bundled shop, ask the map a question, and navigate a live browser to the answer."""
    async with await DemoServer.start() as server:
        try:
            explored = await engine.explore(f"{server.shop_url}/", SHOP, OPTIONS)
        except SiteloreError as error:
            report.why = str(error)
            say(f"explore   skipped: {error}")
            return report
        report.explored = explored.ended in ("done", "states", "seconds")
        report.states, report.transitions = explored.states, explored.transitions
        report.why = "; ".join(explored.notes[:1])
        say(
            f"explore   {explored.states} states of the live shop in {explored.seconds:.1f} s,"
            f" {explored.interaction_only} of them without an address, {explored.tried} elements tried, 0 tokens"
        )
        await _go(engine, report, say)
        await _run(engine, report, f"{server.shop_url}/", say)
    return report


async def _go(engine: EngineApi, report: MapReport, say: Callable[[str], object]) -> None:
    choices = await engine.graph_choices(SHOP, QUESTION)
    if not choices.like:
        report.why = f"nothing on the map is like {QUESTION!r}"
        return
    found = choices.hits[0]
    report.found = found.title
    journey = await engine.graph_navigate(SHOP, found.node)
    await engine.close_browser(SHOP)
    report.arrived = journey.arrived
    verdicts = ", ".join(arrival.kind.value for arrival in journey.arrivals)
    say(f'navigate  "{QUESTION}": {report.found} ({verdicts})')
    if not journey.arrived:
        report.why = journey.why


async def _run(engine: EngineApi, report: MapReport, url: str, say: Callable[[str], object]) -> None:
    """Run the scout with tips and map; nothing is bought."""
    request = RunRequest(intent=TASK, start_url=url, site=SHOP, graph=(SHOP,), max_steps=12)
    summary = await engine.run_task(request)
    report.answer = summary.answer or ""
    told = (
        summary.answer
        if summary.outcome == "answered"
        else f"{summary.outcome}: {summary.error or summary.answer}"
    )
    say(f'run       "{TASK}": {told} ({summary.steps} steps by the scout, no model, 0 tokens)')
    if PRICE not in report.answer:
        report.why = f"the scout answered {report.answer!r} to {TASK!r}, the shop's price is {PRICE}"
