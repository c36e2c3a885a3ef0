"""Seven supervised runs at once on a real shop, its back office and the bundled shop; three of them need a person.

    python -m benchmarks.live_shop --url http://127.0.0.1:8101/

Needs a running django-oscar shop (with the administrator's login of its README).  Two runs of the scout are made to
block (a captcha, a modal over everything), a third needs approval before it fills a basket, one run has a scripted
model behind the chat protocol that streams slowly; its result is no agent's success.  Printed are how each ended, its
requests, the step of its first flag, and how long a request took to the wall.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from urllib.parse import urlsplit

from app.demo.server import DemoServer
from app.engine.api.run_api import RunRequest
from app.engine.browser.session import open_browser
from app.engine.core.events import ActionPlanned, Event, LiveRunChanged, PageFrame, RequestChanged
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.supervision import DecisionKind, Need, OperatorDecision, RequestState, RunState
from tests.support.blocking_proxy import BlockingProxy, Door
from tests.support.operator_driver import Operator, asking
from tests.support.protocol_server import ProtocolServer
from tests.support.shop import ADMIN, record_login
from tests.support.shop_brain import count_the_kitchen

ASKS = asking(RiskClass.SENDS)
TRACKBALL = "What is the price of the Voltmere Quartz Trackball?"
LONGEST = 400.0


class Times:
    """Times of events, by run: seconds of one clock."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.at: dict[str, dict[str, float]] = defaultdict(dict)
        self.frames: dict[str, int] = defaultdict(int)

    def hear(self, event: Event) -> None:
        """One event of the engine."""
        now = time.monotonic() - self.began
        match event:
            case RequestChanged(request=request):
                self.at[request.run].setdefault(request.state.value, now)
            case ActionPlanned(next=action):
                self.at[action.run].setdefault("first action", now)
            case LiveRunChanged(row=row) if row.needs:
                self.at[row.run].setdefault("on the wall", now)
            case PageFrame(run=run):
                self.frames[run] += 1
            case _:
                pass


async def measure(url: str) -> None:
    """Run all seven and return the results."""
    parts = urlsplit(url)
    outer = (parts.hostname or "127.0.0.1", parts.port or 80)
    with (
        tempfile.TemporaryDirectory() as folder,
        BlockingProxy(*outer, Door(captcha=r"^/(search/)?$")) as walled,
        BlockingProxy(*outer, Door(modal="^/")) as covered,
        ProtocolServer(brain=count_the_kitchen) as endpoint,
    ):
        os.environ |= {
            "SITELORE_MODEL_URL": endpoint.url,
            "SITELORE_MODEL_NAME": "scripted",
            "OPENAI_API_KEY": "sk-x",
        }
        async with await DemoServer.start() as demo:
            async with open_browser() as browser:
                login = str(await record_login(browser, url, ADMIN, Path(folder) / "admin.json"))
            tasks = {
                "captcha": RunRequest(intent=TRACKBALL, start_url=walled, kb="none"),
                "modal": RunRequest(intent=TRACKBALL, start_url=covered, kb="none", max_steps=12),
                "basket": RunRequest(
                    intent="Put the Voltmere Quartz Trackball into the basket", start_url=url, kb="none"
                ),
                "price": RunRequest(intent=TRACKBALL, start_url=url, kb="none"),
                "author": RunRequest(intent='Who is the author of the book "A Short Canal"?', start_url=url, kb="none"),
                "admin": RunRequest(
                    intent="How many orders are there in all?", start_url=f"{url}dashboard/orders/", kb="none",
                    storage_state=login,
                ),
                "model": RunRequest(
                    intent="How many things are in the Kitchen department?", start_url=demo.shop_url, policy="llm",
                    kb="none", max_steps=6,
                ),
            }  # fmt: skip
            operator = await Operator.at(Path(folder) / "workspace")
            try:
                await _watch(operator, tasks)
            finally:
                await operator.engine.aclose()


async def _watch(operator: Operator, tasks: dict[str, RunRequest]) -> None:
    times = Times()
    operator.engine.bus.subscribe(times.hear)
    await operator.engine.save_intervention_policy(ASKS)
    runs = dict(zip(tasks, await operator.start(*tasks.values(), at_once=len(tasks)), strict=True))
    for run in runs.values():
        await operator.engine.watch_page(run, 320, 200, 1)
    names = {run: name for name, run in runs.items()}
    async with asyncio.timeout(LONGEST):
        while any(row.state.alive for row in await operator.engine.live_runs()):
            for row in await operator.engine.live_runs():
                await _decide(operator, row, names[row.run])
            await asyncio.sleep(0.1)
    print(
        f"{'run':9}{'outcome':12}{'steps':>6}{'own s':>7}{'held s':>7}{'pictures':>9}  first flag, what was asked"
    )
    for row in await operator.engine.live_runs():
        at = times.at[row.run]
        asked = [
            f"{one.need.value}: {one.decision.kind.value if one.decision else one.void or 'closed'}"
            for one in await operator.engine.requests(row.run, closed=True)
        ]
        flag = f"{row.flags[0].detector} at step {row.flags[0].step}" if row.flags else "-"
        print(
            f"{names[row.run]:9}{row.outcome:12}{row.step:6}{row.seconds:7.1f}{row.held_seconds:7.1f}"
            f"{times.frames[row.run]:9}  {flag}; {', '.join(asked) or '-'}"
        )
        if "open" in at and "on the wall" in at:
            print(f"{'':9}from the request to the wall {1000 * abs(at['on the wall'] - at['open']):.0f} ms")


async def _decide(operator: Operator, row, name: str) -> None:
    """Decide as an operator: the captcha by hand, the modal by hand once it is flagged, the basket approved."""
    engine = operator.engine
    if row.needs and row.needs[0].need is Need.WALL:
        await engine.take_over(row.run)
        await operator.click(row.run, 50.0, 212.0)
        await asyncio.sleep(1.5)
        await engine.release(row.run)
    elif row.needs and row.needs[0].state is RequestState.OPEN:
        await engine.decide(row.needs[0].id, OperatorDecision(kind=DecisionKind.APPROVE))
    elif name == "modal" and row.flags and row.step >= 2 and row.state in (RunState.RUNNING, RunState.PAUSED):
        deeds = await engine.interventions(row.run)
        if not deeds or all(deed.action.value != "took over" for deed in deeds):
            await engine.take_over(row.run)
            await operator.click(row.run, 640.0, 400.0)
            await operator.click(row.run, 640.0, 400.0, clicks=2)
            await asyncio.sleep(1.5)
            await engine.release(row.run)


def main() -> None:
    """Measure if there is a shop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default=os.environ.get("SHOP_URL", ""))
    url = parser.parse_args().url
    if not url:
        sys.stdout.write("no shop is named (--url, or SHOP_URL): nothing is measured\n")
        return
    asyncio.run(measure(url if url.endswith("/") else f"{url}/"))


if __name__ == "__main__":
    main()
