"""Events of a Playwright trace (versions 3 to 10, and leniently later ones), read line by line into calls and pages.

Traces of the test runner and of its browser contexts are merged: a call that both know is one call. Events of unknown
types are passed over; a line that is no event is counted. Times are Unix seconds, or seconds of an unknown clock where
a trace has no wall time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

import orjson

from app.engine.imports.json_values import fields_of, items_of
from app.engine.imports.playwright_files import TraceFiles
from app.engine.imports.playwright_snapshots import DomSnapshot, SnapshotStore
from app.engine.imports.playwright_values import (
    MAX_VALUE,
    Fields,
    annotations_of,
    error_text,
    flat_event,
    short_args,
    short_value,
)
from app.engine.imports.step_records import number, text

NEWEST = 10
"""The newest version that is known; a later one is read all the same, with a note."""

MAX_LINES = 2_000_000
"""Lines that are read of one run; a long session has some ten thousand."""
MAX_CALLS = 50_000
MAX_EVENTS = 200_000
"""Pictures, messages and failed requests kept of one run."""
MAX_LOG_LINES = 60
MAX_LOG_CHARS = 500
NAVIGATED = re.compile(r"navigated to \"([^\"]+)\"")


@dataclass(slots=True)
class TracedCall:
    """One call of Playwright's interface, or one step of the test runner (``of_runner``).

    ``snapshots`` are those of the page by phase (before, action, after) and frame, ``pictures`` files by phase.
    ``end`` is 0 for a call that did not end.
    """

    key: str
    of_runner: bool
    cls: str = ""
    method: str = ""
    title: str = ""
    api: str = ""
    parent: str = ""
    page: str = ""
    params: Fields = field(default_factory=Fields)
    result: Any = None
    start: float = 0.0
    end: float = 0.0
    error: str = ""
    log: list[str] = field(default_factory=list[str])
    point: tuple[float, float] | None = None
    box: tuple[float, float, float, float] | None = None
    snapshots: dict[str, dict[str, DomSnapshot]] = field(default_factory=dict[str, dict[str, DomSnapshot]])
    pictures: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class ScreencastPicture:
    """A picture of a page: its file, and the size of the page in CSS pixels."""

    time: float
    file: str
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class PageMessage:
    """A console error, a script's error, a dialog, a download or a failed request, with its moment."""

    time: float
    page: str
    kind: str
    text: str


@dataclass(slots=True)
class PlaywrightTrace:
    """Everything that is read of one run. ``opened`` and ``closed`` are the times of pages, in order of opening;
    ``arrivals`` the moments when a page was known to be at an address.
    """

    store: SnapshotStore = field(default_factory=SnapshotStore)
    calls: list[TracedCall] = field(default_factory=list[TracedCall])
    opened: dict[str, float] = field(default_factory=dict[str, float])
    closed: dict[str, float] = field(default_factory=dict[str, float])
    frames: dict[str, list[ScreencastPicture]] = field(default_factory=dict[str, list[ScreencastPicture]])
    arrivals: dict[str, list[tuple[float, str]]] = field(default_factory=dict[str, list[tuple[float, str]]])
    documents: dict[str, list[DomSnapshot]] = field(default_factory=dict[str, list[DomSnapshot]])
    messages: list[PageMessage] = field(default_factory=list[PageMessage])
    version: int = 0
    title: str = ""
    browser: str = ""
    test_id: str = "data-testid"
    started_at: float = 0.0
    has_runner: bool = False
    runner_ended: bool = False
    errors: list[str] = field(default_factory=list[str])
    annotations: set[str] = field(default_factory=set[str])
    damaged: int = 0
    beyond: int = 0
    has_more: bool = False
    """There are lines beyond the bound, which were not read."""


def read_trace(files: TraceFiles) -> PlaywrightTrace:
    """Read all events of a run.

    Raises:
        InputError: a file of events is encrypted, damaged or beyond the bounds.
    """
    trace = PlaywrightTrace()
    readers: list[_EventReader] = []
    left = MAX_LINES
    for stem in files.stems:
        reader = _EventReader(trace)
        for name in (f"{stem}.trace", f"{stem}.network"):
            for line in files.lines(name):
                left -= 1
                if left < 0:
                    trace.has_more = True
                    break
                reader.line(line)
        readers.append(reader)
    trace.has_runner = any(reader.of_runner for reader in readers)
    trace.calls = _merged(readers)
    trace.messages.sort(key=lambda message: message.time)
    for pictures in trace.frames.values():
        pictures.sort(key=lambda picture: picture.time)
    for arrivals in trace.arrivals.values():
        arrivals.sort(key=lambda arrival: arrival[0])
    for documents in trace.documents.values():
        documents.sort(key=lambda document: document.time)
    return trace


def _merged(readers: list[_EventReader]) -> list[TracedCall]:
    """Return all calls in order of time; a call of a browser context takes what the test runner says of it."""
    of_runner = {
        call.key: call for reader in readers if reader.of_runner for call in reader.calls.values() if call.key
    }
    calls: list[TracedCall] = []
    for reader in readers:
        for call in () if reader.of_runner else reader.calls.values():
            known = of_runner.pop(call.key, None)
            if known is not None:
                call.title, call.api = call.title or known.title, call.api or known.api
                call.parent = known.parent or call.parent
                call.error = known.error or call.error
            calls.append(call)
    calls += of_runner.values()
    return sorted(calls, key=lambda call: call.start)


class _EventReader:
    """Reads the events of one trace file and its network file into the run."""

    def __init__(self, trace: PlaywrightTrace) -> None:
        self._trace = trace
        self._offset = 0.0
        self._has_clock = False
        self._version = 0
        self._phases: dict[str, str] = {}
        self._has_options = False
        self._is_runner: bool | None = None
        self.calls: dict[str, TracedCall] = {}

    @property
    def of_runner(self) -> bool:
        """Whether it is the test runner's; before version 7 its trace had no options."""
        return self._is_runner if self._is_runner is not None else bool(self.calls) and not self._has_options

    def line(self, line: bytes) -> None:
        """Read one event; anything else is counted."""
        try:
            event: object = orjson.loads(line) if line.strip() else None
        except orjson.JSONDecodeError:
            event = None
        if not isinstance(event, dict):
            self._trace.damaged += bool(line.strip()) or line == b""
            return
        self._event(flat_event(cast("Fields", event)))

    def _event(self, event: Fields) -> None:
        match event.get("type"):
            case "context-options":
                self._options(event)
            case "before" | "action":
                self._before(event)
            case "input":
                self._input(event)
            case "log":
                self._log(event)
            case "after":
                self._after(event)
            case "screencast-frame":
                self._frame(event)
            case "frame-snapshot":
                self._snapshot(fields_of(event.get("snapshot")))
            case "screenshot":
                if (call := self._call(event)) is not None:
                    call.pictures[text(event.get("phase")) or "before"] = text(event.get("file"))
            case "event" | "console":
                self._page_event(event)
            case "resource-snapshot":
                self._request(fields_of(event.get("snapshot")))
            case "error":
                if len(self._trace.errors) < 50 and (said := text(event.get("message"))):
                    self._trace.errors.append(said[:MAX_VALUE])
            case _:
                pass

    def _options(self, event: Fields) -> None:
        trace = self._trace
        self._has_options = True
        self._version = int(number(event.get("version"), 0) or 0)
        trace.version = max(trace.version, self._version)
        if (origin := event.get("origin")) in ("testRunner", "library"):
            self._is_runner = origin == "testRunner"
        wall, clock = number(event.get("wallTime"), 0) or 0.0, number(event.get("monotonicTime"), None)
        if wall and clock is not None:
            self._set_clock(wall, clock)
        trace.title = trace.title or text(event.get("title"))
        trace.browser = trace.browser or text(event.get("browserName"))
        trace.test_id = text(event.get("testIdAttributeName")) or trace.test_id
        trace.annotations |= annotations_of(event)

    def _set_clock(self, wall: float, clock: float) -> None:
        if not self._has_clock:
            self._has_clock, self._offset = True, wall - clock
            started = wall / 1000
            self._trace.started_at = min(self._trace.started_at or started, started)

    def _time(self, value: object) -> float:
        at = number(value, None)
        return (at + self._offset) / 1000 if at is not None and at >= 0 else 0.0

    def _call(self, event: Fields) -> TracedCall | None:
        return self.calls.get(text(event.get("callId")))

    def _before(self, event: Fields) -> None:
        key = text(event.get("callId"))
        if not key or len(self.calls) >= MAX_CALLS:
            self._trace.beyond += bool(key)
            return
        if (wall := number(event.get("wallTime"), 0)) and (clock := number(event.get("startTime"), None)):
            self._set_clock(wall, clock)
        api = text(event.get("apiName"))
        step = text(event.get("stepId"))
        if not step and api and event.get("wallTime") and self._version < 7:
            step = f"{api}@{event['wallTime']}"
        self.calls[key] = TracedCall(
            key=step or key,
            of_runner=event.get("class") == "Test",
            cls=text(event.get("class")),
            method=text(event.get("method")),
            title=text(event.get("title"))[:1000],
            api=api[:200],
            parent=text(event.get("parentId")),
            page=text(event.get("pageId")),
            params=short_args(event.get("params")),
            start=self._time(event.get("startTime")),
        )
        self._phase(event)
        if event.get("type") == "action":
            self._input(event)
            self._after(event)

    def _phase(self, event: Fields) -> None:
        for name, phase in (
            ("beforeSnapshot", "before"),
            ("inputSnapshot", "action"),
            ("afterSnapshot", "after"),
        ):
            if snapshot := text(event.get(name)):
                self._phases[snapshot] = phase

    def _input(self, event: Fields) -> None:
        self._phase(event)
        call = self._call(event)
        if call is None:
            return
        point, box = fields_of(event.get("point")), fields_of(event.get("box"))
        place = [number(point.get(side), None) for side in ("x", "y")]
        if all(side is not None for side in place):
            call.point = cast("tuple[float, float]", tuple(place))
        sides = [number(box.get(side), None) for side in ("x", "y", "width", "height")]
        if all(side is not None for side in sides):
            call.box = cast("tuple[float, float, float, float]", tuple(sides))

    def _log(self, event: Fields) -> None:
        call = self._call(event)
        if call is None or not (said := text(event.get("message"))):
            return
        if len(call.log) == MAX_LOG_LINES:  # the end says more than the middle
            del call.log[MAX_LOG_LINES // 2]
        call.log.append(said[:MAX_LOG_CHARS])
        if (found := NAVIGATED.search(said)) and (time := self._time(event.get("time"))):
            self._trace.arrivals.setdefault(call.page, []).append((time, found[1]))

    def _after(self, event: Fields) -> None:
        self._phase(event)
        call = self._call(event)
        if call is None:
            return
        call.end = self._time(event.get("endTime"))
        call.error = error_text(event.get("error"))
        call.result = short_value(event.get("result"))
        for line in items_of(event.get("log")):
            self._log({"callId": event.get("callId"), "message": line})
        if event.get("point"):
            self._input({"callId": event.get("callId"), "point": event["point"]})
        self._trace.annotations |= annotations_of(event)
        if call.of_runner and call.method in ("hook", "step") and "After Hooks" in (call.title or call.api):
            self._trace.runner_ended = bool(call.end)

    def _frame(self, event: Fields) -> None:
        page, file = text(event.get("pageId")), text(event.get("file"))
        if not file and (sha1 := text(event.get("sha1"))):
            file = f"resources/{sha1}"
        if not file:
            return
        swapped = number(event.get("frameSwapWallTime"), 0) or 0.0
        time = swapped / 1000 if swapped and self._has_clock else self._time(event.get("timestamp"))
        width, height = (number(event.get(side), 0) or 0.0 for side in ("width", "height"))
        frames = self._trace.frames.setdefault(page, [])
        self._trace.opened.setdefault(page, time)
        if len(frames) < MAX_EVENTS:
            frames.append(ScreencastPicture(time, file, width, height))

    def _snapshot(self, event: Fields) -> None:
        frame = text(event.get("frameId"))
        if not frame or event.get("html") is None:
            return
        call = self._call(event)
        name = text(event.get("snapshotName"))
        phase = text(event.get("phase")) or self._phases.get(name) or name.partition("@")[0]
        size = fields_of(event.get("viewport"))
        wall = (number(event.get("wallTime"), 0) or 0.0) / 1000 if self._has_clock else 0.0
        page = text(event.get("pageId"))
        snapshot = DomSnapshot(
            frame=frame,
            index=self._trace.store.add(frame, event["html"]),
            page=page,
            call=text(event.get("callId")),
            phase=phase,
            url=text(event.get("frameUrl"))[:MAX_VALUE],
            is_main=event.get("isMainFrame") is True,
            time=wall or self._time(event.get("timestamp")),
            wall=wall,
            viewport=(number(size.get("width"), 0) or 0.0, number(size.get("height"), 0) or 0.0),
        )
        self._trace.opened.setdefault(page, snapshot.time)
        if snapshot.is_main:
            self._trace.documents.setdefault(page, []).append(snapshot)
            self._trace.arrivals.setdefault(page, []).append((snapshot.time, snapshot.url))
        if call is not None:
            call.snapshots.setdefault(phase, {})[frame] = snapshot
            call.page = call.page or page

    def _page_event(self, event: Fields) -> None:
        params, time = fields_of(event.get("params")), self._time(event.get("time"))
        page = text(event.get("pageId")) or text(params.get("pageId"))
        if event.get("type") == "console":
            if event.get("messageType") == "error":
                self._say(time, page, "console error", text(event.get("text")))
            return
        match event.get("method"):
            case "page" if page:
                self._trace.opened.setdefault(page, time)
            case "pageClosed" if page:
                self._trace.closed[page] = time
            case "pageError":
                self._say(time, page, "script error", error_text(fields_of(params.get("error"))))
            case "dialog":
                self._say(time, page, f"{text(params.get('type'))} dialog", text(params.get("message")))
            case "download":
                self._say(time, page, "download", text(params.get("suggestedFilename")))
            case _:
                pass

    def _request(self, entry: Fields) -> None:
        """Keep a request that failed: its method, address and status; never its headers, cookies or contents."""
        request, response = fields_of(entry.get("request")), fields_of(entry.get("response"))
        status = int(number(response.get("status"), 0) or 0)
        failure = text(response.get("_failureText")) or text(entry.get("_failureText"))
        if not failure and 0 <= status < 400:
            return
        kind = text(entry.get("_resourceType"))
        name = (
            "failed request" if kind in ("", "document", "xhr", "fetch", "script") else f"failed {kind[:20]}"
        )
        what = failure or f"status {status}"
        said = f"{what}, {text(request.get('method'))[:20]} {text(request.get('url'))[:1000]}"
        self._say(self._time(entry.get("_monotonicTime")), text(entry.get("pageref")), name, said)

    def _say(self, time: float, page: str, kind: str, said: str) -> None:
        if said and len(self._trace.messages) < MAX_EVENTS // 10:
            self._trace.messages.append(PageMessage(time, page, kind, said[:1000]))
