"""Playwright traces for tests, as each version of the format writes them (from Playwright's own schema)."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from PIL import Image

WALL, CLOCK = 1_700_000_000_000, 5_000.0
"""Wall time and monotonic clock, in milliseconds, at the start of a trace."""
SHOP = "https://shop.example/"
PAGE, FRAME = "page@1", "frame@1"
TARGET = "__playwright_target__"

FORM: list[Any] = [
    "FORM",
    {},
    ["LABEL", {}, "User ", ["INPUT", {"__playwright_value_": "ann", "name": "user"}]],
    ["LABEL", {}, "Password ", ["INPUT", {"__playwright_value_": "s3same!pw", "type": "password"}]],
    ["BUTTON", {"onclick": "x()"}, "Sign in"],
]
DOCUMENT: list[Any] = [
    "HTML",
    {"lang": "en"},
    ["HEAD", {}, ["TITLE", {}, "Shop"]],
    ["BODY", {}, ["H1", {}, "Shop"], FORM],
]

Event = dict[str, Any]


def jpeg(width: int = 400, height: int = 300, grey: int = 200) -> bytes:
    """A picture of one shade."""
    data = io.BytesIO()
    Image.new("L", (width, height), grey).save(data, "JPEG")
    return data.getvalue()


class TraceWriter:
    """Writes events as a version of the format does: names of fields, snapshots by name or phase, clocks."""

    def __init__(self, version: int = 10, *, origin: str = "library", title: str = "a test") -> None:
        self.version, self.events, self.network, self.files = (
            version,
            list[Event](),
            list[Event](),
            dict[str, bytes](),
        )
        self.now, self._calls = 0.0, 0
        options: Event = {
            "type": "context-options",
            "version": version,
            "browserName": "chromium",
            "title": title,
        }
        options |= {"options": {"viewport": {"width": 800, "height": 600}}, "wallTime": WALL}
        if version >= 7:
            options |= {"origin": origin, "monotonicTime": CLOCK}
        self.events.append(options)

    @property
    def clock(self) -> float:
        """The monotonic clock now, in milliseconds."""
        return CLOCK + self.now * 1000

    def frame(self, data: bytes, at: float | None = None) -> None:
        """A picture of the page."""
        name = f"{len(self.files)}.jpeg"
        place = f"screencast/{name}" if self.version >= 10 else f"resources/{name}"
        self.files[place] = data
        named = {"file": place} if self.version >= 9 else {"sha1": name}
        event = {"type": "screencast-frame", "pageId": PAGE, **named, "width": 800, "height": 600}
        self.events.append({**event, "timestamp": CLOCK + (self.now if at is None else at) * 1000})

    def snapshot(self, call: str, phase: str, html: Any, url: str = SHOP, **more: Any) -> None:
        """A DOM snapshot of the page's main frame."""
        named = {"phase": phase} if self.version >= 9 else {"snapshotName": f"{phase}@{call}"}
        event: Event = {
            "callId": call,
            **named,
            "pageId": PAGE,
            "frameId": FRAME,
            "frameUrl": url,
            "html": html,
        }
        event |= {"viewport": {"width": 800, "height": 600}, "timestamp": self.clock, "isMainFrame": True}
        self.events.append({"type": "frame-snapshot", "snapshot": event | more})

    def call(
        self,
        method: str,
        params: Event | None = None,
        *,
        cls: str = "Frame",
        html: Any = None,
        url: str = SHOP,
        error: Event | None = None,
        result: Any = None,
        log: tuple[str, ...] = (),
        input: Event | None = None,
        ended: bool = True,
        **more: Any,
    ) -> str:
        """One call, a second long; ``html`` is the page before it, and at the action where ``input`` is given."""
        self._calls += 1
        call = f"call@{self._calls}"
        before: Event = {
            "type": "before",
            "callId": call,
            "startTime": self.clock,
            "class": cls,
            "method": method,
        }
        before |= {"params": params or {}, **more}
        if self.version < 10:
            before["pageId"] = PAGE
        if self.version < 9:
            before["beforeSnapshot"] = f"before@{call}"
        if self.version < 8:
            before["apiName"] = f"page.{method}"
        if self.version < 7:
            before["wallTime"] = WALL + self.now * 1000
        self.events.append(before)
        if html is not None and input is None:
            self.snapshot(call, "before", html, url)
        for line in log:
            self.events.append({"type": "log", "callId": call, "time": self.clock, "message": line})
        if input is not None:
            named = {"inputSnapshot": f"input@{call}"} if self.version < 9 else {}
            self.events.append({"type": "input", "callId": call, **named, **input})
            if html is not None:
                self.snapshot(call, "action" if self.version >= 9 else "input", html, url)
        self.now += 1
        if ended:
            after: Event = {"type": "after", "callId": call, "endTime": self.clock}
            self.events.append(
                after | ({"error": error} if error else {}) | ({"result": result} if result else {})
            )
        return call

    def request(self, url: str, status: int, **more: Any) -> None:
        """A request of the page."""
        secret = [{"name": "Cookie", "value": "session=s3cret-cookie"}]
        entry: Event = {"pageref": PAGE, "_monotonicTime": self.clock, "_resourceType": "fetch"}
        entry |= {"request": {"method": "GET", "url": url, "headers": secret, "cookies": secret}}
        entry |= {"response": {"status": status, "headers": secret, "content": {}}}
        self.network.append({"type": "resource-snapshot", "snapshot": entry | more})

    def lines(self) -> bytes:
        """The events as ``trace.trace`` has them."""
        return b"".join(json.dumps(event).encode() + b"\n" for event in self.events)

    def entries(self, prefix: str = "") -> dict[str, bytes]:
        """The files of a trace, by name."""
        network = b"".join(json.dumps(event).encode() + b"\n" for event in self.network)
        return {f"{prefix}trace.trace": self.lines(), f"{prefix}trace.network": network, **self.files}


def shop_trace(version: int) -> TraceWriter:
    """A test that signs in to a shop, reads a price, and fails on a button that is not there."""
    trace = TraceWriter(version, title="tests/shop.spec.ts:7 › shop › signs in")
    trace.events.append(
        {
            "type": "event",
            "time": CLOCK,
            "class": "BrowserContext",
            "method": "page",
            "params": {"pageId": PAGE},
        }
    )
    trace.call("newPage", cls="BrowserContext")
    trace.call("goto", {"url": SHOP}, html=["HTML", {}, ["BODY"]], url="about:blank")
    trace.frame(jpeg())
    label = 'internal:label="Password"i'
    resolved = '  locator resolved to <input type="password"/>'
    form = [
        "FORM",
        {},
        FORM[2],
        ["LABEL", {}, "Password ", ["INPUT", {"type": "password", TARGET: ""}]],
        FORM[4],
    ]
    box = {
        "point": {"x": 60, "y": 45},
        **({"box": {"x": 40, "y": 40, "width": 80, "height": 20}} if version > 9 else {}),
    }
    trace.call(
        "fill",
        {"selector": label, "value": "s3same!pw"},
        html=["HTML", {}, ["HEAD", {}, ["TITLE", {}, "Shop"]], ["BODY", {}, ["H1", {}, "Shop"], form]],
        input=box,
        log=(f"waiting for {label}", resolved),
    )
    trace.events.append(
        {
            "type": "console",
            "messageType": "error",
            "text": "boom s3same!pw",
            "time": trace.clock,
            "pageId": PAGE,
        }
    )
    trace.request(SHOP + "api?token=abcdef123456", 500)
    trace.now += 1
    trace.call(
        "click",
        {"selector": 'internal:role=button[name="Sign in"i]'},
        html=DOCUMENT,
        input={"point": {"x": 60, "y": 80}},
        log=(f'  navigated to "{SHOP}in?pw=s3same%21pw"',),
    )
    trace.call("innerText", {"selector": "#price"}, result={"value": "24.50"})
    trace.call(
        "click",
        {"selector": 'internal:role=button[name="Checkout"i]', "timeout": 500},
        html=DOCUMENT,
        log=('waiting for getByRole("button")',),
        error={"name": "TimeoutError", "message": "Timeout 500ms exceeded.", "stack": "at /home/me/x.js"},
    )
    return trace


def runner_trace(
    version: int, *, error: str = "", ended: bool = True, annotations: tuple[str, ...] = ()
) -> bytes:
    """The events of the test runner: hooks, a step of the test, and a call within it."""
    events: list[Event] = []
    if version >= 7:
        events.append(
            {"type": "context-options", "version": version, "origin": "testRunner", "wallTime": WALL}
        )
        events[0] |= {"monotonicTime": CLOCK, "options": {}}

    def step(key: str, title: str, method: str, at: float, **more: Any) -> None:
        name = {"title": title} if version >= 8 else {"apiName": title}
        event: Event = {"type": "before", "callId": key, "startTime": CLOCK + at * 1000, "class": "Test"}
        event |= {"method": method if version >= 8 else "step", **name, **more}
        if version in (7, 8, 9):
            event["stepId"] = key
        events.append(event)

    def end(key: str, at: float, **more: Any) -> None:
        events.append({"type": "after", "callId": key, "endTime": CLOCK + at * 1000, **more})

    step("hook@1", "Before Hooks", "hook", 0)
    step("fixture@2", "browser", "fixture", 0, parentId="hook@1")
    end("fixture@2", 0.2)
    end("hook@1", 0.5)
    step("test.step@3", "Buy the apron", "test.step", 1)
    step("expect@4", "expect.toBe", "expect", 1.5, parentId="test.step@3")
    failed = {"error": {"message": f"\x1b[31m{error}\x1b[39m"}} if error else {}
    end("expect@4", 1.6, **failed)
    end("test.step@3", 2, **failed)
    step("hook@5", "After Hooks", "hook", 30)
    if ended:
        end("hook@5", 31, annotations=[{"type": one} for one in annotations])
    if error:
        events.append({"type": "error", "message": f"\x1b[31m{error}\x1b[39m"})
    return b"\n".join(json.dumps(event).encode() for event in events)


def write_zip(path: Path, entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    """A zip file with these entries."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path
