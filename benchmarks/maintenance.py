"""Cost of updating a map after a small change.  ``python -m benchmarks.maintenance [--sections N]``.

A site of sections with pages, menus and filters is explored, changed a little (a section gets a page with one below
it, a page goes, a page gets a button), updated, and explored from scratch.  Printed: requests to the server, pages
opened and elements operated, and seconds, each against the full exploration of the changed site in the same run; and
whether the updated map has the states that the full exploration finds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from app.demo.server import HOST, DemoServer, Request, Response

AIM = 0.25


class Sections:
    """A site whose pages can be changed while it is served; ``asked`` counts requests."""

    def __init__(self, sections: int) -> None:
        self.names = [f"part-{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(sections)]
        self.asked = 0
        self.changed = False

    def __call__(self, request: Request) -> Response:
        self.asked += 1
        body = self._page(*[part for part in request.path.split("/") if part])
        return Response(status="200 OK" if body else "404 Not Found", body=(body or "nothing here").encode())

    def change(self) -> None:
        self.changed = True

    def _page(self, section: str = "", leaf: str = "", *more: str) -> str:
        if more or (section and section not in self.names):
            return ""
        second = self.names[1]
        leaves = ["first", "second", "third", "fourth"]
        if self.changed and section == second:
            leaves += ["fifth", "sixth"]
        if self.changed and section == self.names[2]:
            leaves.remove("third")
        if leaf and leaf not in leaves:
            return ""
        shown = (
            [name for name in leaves if name != "sixth" or leaf == "fifth"]
            if not leaf or leaf == "fifth"
            else []
        )
        links = "".join(
            f"<li><a href='/{section}/{name}'>{name} of {section}</a></li>" for name in shown if section
        )
        extra = "<button>Compare</button>" if self.changed and section == self.names[3] and not leaf else ""
        return (
            f"<!doctype html><html lang=en><title>{leaf or section or 'Home'}</title>"
            f"<nav aria-label=Sections>{''.join(f'<a href=/{name}>{name}</a> ' for name in self.names)}</nav>"
            f"<main><h1>{leaf or section or 'Home'}</h1><ul>{links}</ul>{extra}{_toggle('Filter') if leaf else ''}"
            f"{_toggle('Menu')}</main></html>"
        )


def _toggle(name: str) -> str:
    opens = "this.setAttribute('aria-expanded', 'true'); this.nextElementSibling.hidden = false"
    return (
        f'<button aria-expanded=false onclick="{opens}">{name}</button>'
        f"<div hidden><button>{name} one</button><button>{name} two</button></div>"
    )


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--sections", type=int, default=8)
    site = Sections(asked.parse_args().sections)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="site")
    thread.start()
    server = DemoServer()
    listening = asyncio.run_coroutine_threadsafe(server.listen(site, 0), loop)
    try:
        _measure(site, f"http://{HOST}:{listening.result(10)}/")
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _measure(site: Sections, home: str) -> None:
    explore = ["explore", home, "--site", "sections", "--depth", "4"]
    with tempfile.TemporaryDirectory() as kept, tempfile.TemporaryDirectory() as fresh:
        before, _, _ = _run(site, kept, *explore)
        print(f"{before['states']} states, {before['tried']} tries to find them")
        site.change()
        update, update_asked, update_seconds = _run(site, kept, "graph", "update", "sections", "--depth", "4")
        full, full_asked, full_seconds = _run(site, fresh, *explore)
        rows = [
            ("pages opened, elements operated", update["loads"], full["tried"]),
            ("requests at the server", update_asked, full_asked),
            ("seconds", round(update_seconds, 1), round(full_seconds, 1)),
        ]
        for what, cost, whole in rows:
            print(f"{what}: {cost} against {whole} ({cost / whole:.0%} of a full exploration, aim {AIM:.0%})")
        file = Path(fresh) / "full.json"
        _run(site, fresh, "graph", "export", "sections", str(file))
        difference, _, _ = _run(site, kept, "graph", "diff", "sections", str(file))
        more, lost = len(difference["added"]), len(difference["removed"])
        print(
            f"updated map against full exploration: {difference['same']} the same, {lost} missing, {more} more"
        )
        for _, title, where in (*difference["removed"], *difference["added"]):
            print(f"  {title} {where}")


def _run(site: Sections, workspace: str, *words: str) -> tuple[dict[str, Any], int, float]:
    """A command's output, its number of requests, and its duration."""
    asked, began = site.asked, time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "app", "--workspace", f"{workspace}/workspace", *words, "--json"],
        check=True, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    return json.loads(done.stdout), site.asked - asked, time.perf_counter() - began


if __name__ == "__main__":
    main()
