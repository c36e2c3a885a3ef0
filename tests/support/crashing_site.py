"""Pages that hang, crash and grow; and a run's browser with everything that keeps it alive."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from app.engine.agent.health import HealthLimits
from app.engine.agent.health_probes import DiskProbe, RunHealthProbe
from app.engine.agent.memory.ledger_store import LedgerStore
from app.engine.agent.model.limits import Heartbeat
from app.engine.agent.recovery import RecoveringExecutor
from app.engine.agent.run_control import RunControl
from app.engine.agent.watchdog import Watchdog
from app.engine.browser.executor import Executor
from app.engine.browser.live_browser import LiveBrowser
from app.engine.core.page_state import PageCapture
from tests.support.bad_site import Answer, Asked, BadSite, html

QUICK = HealthLimits(every=0.2, page=0.8, page_cut=3.0, model=0.4, model_first=2.0, model_idle=1.0, grace=1.0)
"""As the usual limits, in a tenth of the time."""

MORTAL = {
    "start": html("Start", "<a href='/form'>Form</a> <a href='/hangs'>Hang</a> <a href='/grows'>Grow</a>"),
    "form": html("Form", "<label>Name <input id='n'></label><button>Send</button><a href='/start'>Back</a>"),
    "hangs": html(
        "Hangs",
        "<button>Hang</button><a href='/start'>Back</a>",
        "document.querySelector('button').onclick=()=>{for(;;){}}",
    ),
    "hangs-soon": html("Hangs soon", "<a href='/start'>Back</a>", "setTimeout(()=>{for(;;){}}, 400)"),
    "grows": html(
        "Grows",
        "<button>Grow</button><a href='/start'>Back</a>",
        "document.querySelector('button').onclick="
        "()=>{let n=0.5;const kept=[];for(;;)kept.push(new Array(1e5).fill(n++))}",
    ),
    "tabs": html(
        "Tabs",
        "<button id='a'>One</button><button id='b' aria-expanded='false'>More</button><div id='d'></div>",
        "document.querySelector('#b').onclick=e=>{e.target.setAttribute('aria-expanded','true');"
        "document.querySelector('#d').innerHTML='<button>Deep</button><button>Deeper</button>'}",
    ),
}


class CrashingSite(BadSite):
    """Serves them."""

    def answer(self, asked: Asked) -> Answer:
        """A page by its name."""
        return MORTAL.get(asked.path.strip("/")) or super().answer(asked)


@dataclass
class RecoveryBench:
    """One run's browser, executor, pause control and watchdog, without a loop."""

    site: CrashingSite
    live: LiveBrowser
    control: RunControl
    hands: RecoveringExecutor
    dog: Watchdog
    book: LedgerStore
    heartbeat: Heartbeat
    told: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])

    def at(self, name: str) -> str:
        """The address of a page."""
        return f"{self.site.url}/{name}"

    async def kill(self, number: int = signal.SIGKILL) -> None:
        """Send the browser a signal; a killed one is waited for."""
        os.kill(self.live.process, number)
        if number == signal.SIGKILL:
            await until(lambda: bool(self.live.broken))

    async def renderers(self) -> list[int]:
        """Process ids of the renderers."""
        browser = self.live.session.context.browser
        assert browser is not None
        wire = await browser.new_browser_cdp_session()
        told = cast("dict[str, list[dict[str, Any]]]", await wire.send("SystemInfo.getProcessInfo"))
        return [int(one["id"]) for one in told["processInfo"] if one["type"] == "renderer"]

    def button(self, page: PageCapture, name: str) -> int:
        """Return the element of this name."""
        return next(one.index for one in page.elements if one.name == name)


async def until(holds: Callable[[], bool], seconds: float = 120.0) -> float:
    """Wait for a condition; return how long it took."""
    began = asyncio.get_running_loop().time()
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.02)
    return asyncio.get_running_loop().time() - began


@asynccontextmanager
async def recovery_bench(
    folder: Path, *, limits: HealthLimits = QUICK, watched: bool = True
) -> AsyncGenerator[RecoveryBench]:
    """A bed for one test; the watchdog runs as long as it exists."""
    async with (
        await CrashingSite.start() as site,
        await LiveBrowser.open(keep_tabs=True) as live,
        asyncio.TaskGroup() as group,
    ):
        with LedgerStore.open(folder) as book:
            control = RunControl("run")
            await control.begin(0)
            hands = RecoveringExecutor(Executor(live.session), live, control, home=site.url, book=book)
            heartbeat = Heartbeat()

            async def on_worker(call: Callable[[], str]) -> str:
                return await asyncio.to_thread(call)

            probe = RunHealthProbe(control, live, hands, DiskProbe(folder, on_worker), heartbeat)
            told: list[tuple[float, str]] = []
            dog = Watchdog(
                control,
                probe,
                hands,
                limits=limits,
                noticed=lambda why: told.append((asyncio.get_running_loop().time(), why)),
            )
            watching = group.create_task(dog.watch()) if watched else None
            try:
                yield RecoveryBench(site, live, control, hands, dog, book, heartbeat, told)
            finally:
                if watching is not None:
                    watching.cancel()
                with suppress(OSError):
                    os.kill(live.process, signal.SIGCONT)
