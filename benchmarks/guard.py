"""A page load under the guard, beside none and beside Playwright's own routing: ms, ratio, requests to the server.

    python -m benchmarks.guard

The page has 20 pictures, 5 scripts (all cacheable), 10 GET requests of its script and 2 POSTs.  The arms take turns,
so that other load affects them alike; a ratio is the median of the ratios of one round.  Routing is the alternative:
every request, and no cache.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from playwright.async_api import Browser, Route

from app.engine.browser.network.write_guard import WriteGuard
from app.engine.browser.session import BrowserSession, open_browser, open_session

ROUNDS = 30
PICTURES, SCRIPTS, ASKED, POSTED = 20, 5, 10, 2
PAGE = (
    "<!doctype html><title>A page</title>"
    + "".join(f"<script src='/kept/{number}.js'></script>" for number in range(SCRIPTS))
    + "".join(f"<img src='/kept/{number}.svg' width='20' height='20'>" for number in range(PICTURES))
    + "<script>const all = [];"
    + f"for (let n = 0; n < {ASKED}; n++) all.push(fetch('/asked/' + n).then(a => a.text()));"
    + f"for (let n = 0; n < {POSTED}; n++) all.push(fetch('/rpc', {{method: 'POST', body: JSON.stringify({{n}})}}));"
    + "Promise.all(all).then(() => document.title = 'done');</script>"
)
PICTURE = (
    "<svg xmlns='http://www.w3.org/2000/svg' width='20' height='20'><rect width='20' height='20'/></svg>"
)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    counted: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.counted.append(self.path)
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        kind, body = "text/html", "x"
        if self.path == "/":
            body = PAGE
        elif self.path.endswith(".js"):
            kind, body = "text/javascript", "globalThis.kept = 1;"
        elif self.path.endswith(".svg"):
            kind, body = "image/svg+xml", PICTURE
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self.path.startswith("/kept"):
            self.send_header("Cache-Control", "max-age=3600")
        self.end_headers()
        self.wfile.write(body.encode())

    do_POST = do_GET  # noqa: N815 - the server asks for these names

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@contextmanager
def serving() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@asynccontextmanager
async def arm(browser: Browser, name: str) -> AsyncGenerator[BrowserSession]:
    async with open_session(browser) as tab:
        if name == "guard":
            await WriteGuard().watch(tab)
        elif name == "routing":

            async def decide(route: Route) -> None:
                await route.continue_()

            await tab.context.route("**/*", decide)
        yield tab


async def loaded(tab: BrowserSession, url: str) -> tuple[float, int]:
    """Milliseconds until the page's script has all its answers, and the number of requests that reached the
    server.
    """
    _Handler.counted.clear()
    began = time.perf_counter()
    await tab.page.goto(url)
    await tab.page.wait_for_function("document.title === 'done'", polling=5)
    return (time.perf_counter() - began) * 1000, len(_Handler.counted)


async def main_async() -> None:
    # The guard holds up the whole browser it is in, so each arm has one of its own.
    names = ("nothing", "guard", "routing")
    times: dict[str, list[float]] = {name: [] for name in names}
    asked: dict[str, list[int]] = {name: [] for name in names}
    with serving() as url:
        async with open_browser() as first, open_browser() as second, open_browser() as third:
            print(
                f"Chromium {first.version}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {ROUNDS} rounds"
            )
            async with arm(first, "nothing") as a, arm(second, "guard") as b, arm(third, "routing") as c:
                tabs = dict(zip(names, (a, b, c), strict=True))
                for name in names:
                    await loaded(tabs[name], url)  # fills the cache
                for number in range(ROUNDS):
                    for name in names[number % 3 :] + names[: number % 3]:
                        took, count = await loaded(tabs[name], url)
                        times[name].append(took)
                        asked[name].append(count)
    for name in names:
        ratios = [one / none for one, none in zip(times[name], times["nothing"], strict=True)]
        print(
            f"  {name:<8} {statistics.median(times[name]):7.1f} ms   {statistics.median(ratios):.2f} of nothing"
            f"   {statistics.median(asked[name]):.0f} requests a load"
        )


def main() -> None:
    asyncio.run(main_async())


if __name__ == "__main__":
    main()
