"""Steps of a Playwright trace: its calls on their pages, with their errors and what the browser reported."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from app.engine.core.action_result import Cause
from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.redaction import MARK, names_a_secret, redact_url
from app.engine.core.secret_inputs import names_secret_selector
from app.engine.core.trajectory import ErrorClass, Step
from app.engine.imports.json_values import fields_of, items_of
from app.engine.imports.notices import MAX_NOTICES
from app.engine.imports.page_contents import ForeignContents
from app.engine.imports.playwright_actions import (
    CallKind,
    FoundTarget,
    action_of,
    expect_failed,
    find_target,
    kind_of,
    may_be_secret,
    result_words,
)
from app.engine.imports.playwright_files import TraceFiles
from app.engine.imports.playwright_pages import PageReader, RenderedPage, TypedSecrets, target_box
from app.engine.imports.playwright_snapshots import DomSnapshot
from app.engine.imports.playwright_trace import NAVIGATED, PageMessage, PlaywrightTrace, TracedCall
from app.engine.imports.step_records import error_class, text

MAX_STEPS = 10_000
MAX_READS = 10
"""Values read after a step that are listed with it."""
MAX_ERROR = 8000
READ_AFTERWARDS = "(read afterwards)"
"""Begins the values in a step's output that later calls read from the page."""

_ANSI = re.compile("\x1b\\[[0-9;]*[A-Za-z]")
_UNEXPECTED = re.compile(r"unexpected value (.+)")
_COMPARED = re.compile(r"^\s*(?:Expected|Received)[^:\n]*:[ \t]*(.+)$", re.MULTILINE)
_BARE_ERRORS = ("", "Expect failed", "ExpectError: Expect failed")
_LOAD_FAILED = "Failed to load resource"
_STEP_KINDS = (CallKind.ACTS, CallKind.EXPECTS)
_TYPING_TITLE = re.compile(r"(?:fill|type|press sequentially|insert)\s+\"(.+?)\"\s+(.+)", re.IGNORECASE)
_FIELDS = frozenset({"textbox", "field", "element", "searchbox"})
_TYPING = frozenset({"fill", "press", "keyboard_press", "keyboard_type", "keyboard_down", "keyboard_up"})

CAUSES: tuple[tuple[str, Cause], ...] = (
    ("strict mode violation", Cause.AMBIGUOUS),
    ("intercepts pointer events", Cause.COVERED),
    ("element is not visible", Cause.HIDDEN),
    ("element is not enabled", Cause.DISABLED),
    ("element was detached", Cause.STALE),
    ("did not find some options", Cause.NO_OPTION),
    ("net::ERR", Cause.NETWORK),
    ("NS_ERROR", Cause.NETWORK),
    ("has been closed", Cause.PAGE_LOST),
    ("Target closed", Cause.PAGE_LOST),
    ("Page crashed", Cause.PAGE_LOST),
)
"""Causes of a failed call by what its error or its log says, the first that fits."""


@dataclass(slots=True)
class ReadTrace:
    """The steps of a run and the page after them. ``is_unfinished``: the last call has no end."""

    secrets: TypedSecrets
    steps: list[Step] = field(default_factory=list[Step])
    final: Step | None = None
    blobs: dict[str, bytes] = field(default_factory=dict[str, bytes])
    notes: list[str] = field(default_factory=list[str])
    start_url: str = ""
    is_unfinished: bool = False
    steps_left_out: int = 0

    @staticmethod
    def plain(said: str) -> str:
        """Return a text without a terminal's colours."""
        return _ANSI.sub("", said)


def read_steps(trace: PlaywrightTrace, files: TraceFiles) -> ReadTrace:
    """Make the steps of a run."""
    return _StepBuilder(trace, files).read()


class _StepBuilder:
    def __init__(self, trace: PlaywrightTrace, files: TraceFiles) -> None:
        self._trace = trace
        self._secrets = TypedSecrets()
        self._contents = ForeignContents()
        self._pages = PageReader(trace, files, self._contents, self._secrets)
        self._by_key = {call.key: call for call in trace.calls}
        self._failed_inside = _with_failures_inside(trace.calls, self._by_key)
        self._read = ReadTrace(self._secrets)
        self._page = ""
        self._urls: dict[str, tuple[float, str]] = {}
        self._on_password = False
        self._passed: Counter[CallKind] = Counter()
        self._reported: Counter[str] = Counter()
        self._messages = self._page_messages()
        self._next_message = 0
        self._read_values = 0

    def read(self) -> ReadTrace:
        read = self._read
        opened_first = next((call for call in self._trace.calls if call.method == "newPage"), None)
        last: TracedCall | None = None
        for call in self._trace.calls:
            if call is opened_first or not self._is_step(call):
                self._pass_over(call)
            elif len(read.steps) >= MAX_STEPS:
                read.steps_left_out += 1
            else:
                read.steps.append(self._step(call, len(read.steps)))
                last = call
        if last is not None:
            read.is_unfinished = not last.end and not read.steps[-1].error
            read.final = self._final(len(read.steps))
        read.blobs = self._contents.blobs
        read.notes = list(self._notes())
        return read

    def _page_messages(self) -> list[PageMessage]:
        """Return what pages reported; a request that failed is not said twice."""
        requests = any(message.kind.startswith("failed") for message in self._trace.messages)
        return [
            message
            for message in self._trace.messages
            if not (message.text.startswith(_LOAD_FAILED) and (requests or "404" in message.text))
        ]

    def _is_step(self, call: TracedCall) -> bool:
        kind = kind_of(call)
        if kind in _STEP_KINDS:
            return not (call.of_runner and call.key in self._failed_inside)
        failed = bool(call.error) and call.key not in self._failed_inside
        return failed and (kind is not CallKind.GROUPS or call.of_runner)

    def _pass_over(self, call: TracedCall) -> None:
        kind = kind_of(call)
        self._passed[kind] += 1
        if kind is CallKind.WAITS:
            self._note_navigation(call)
        if kind is not CallKind.READS or not self._read.steps or self._read_values >= MAX_READS:
            return
        if said := result_words(call):
            self._read_values += 1
            last = self._read.steps[-1]
            before = (
                last.output if READ_AFTERWARDS in last.output else f"{last.output} {READ_AFTERWARDS}".lstrip()
            )
            output = f"{before}{';' if before is last.output else ''} {said}"
            self._read.steps[-1] = replace(last, output=self._secrets.without(output))

    def _step(self, call: TracedCall, index: int) -> Step:
        self._page = page_id = self._page_of(call)
        main = self._pages.snapshot_before(call, page_id)
        page = self._render(main, call)
        moment = max(main.time, call.start) if main is not None and main.call else call.start
        step = self._on_page(index, page_id, page, call.start)
        target = self._target(call, main, page)
        action = self._action(call, target, page)
        picture = self._pages.picture(page_id, moment, call, ("action", "before"))
        step = replace(
            step,
            screenshot=picture.digest,
            target_box=target_box(call, picture),
            notices=self._notices(step.notices, call.start),
            started_at=call.start if self._trace.started_at else 0.0,
            env_seconds=max(call.end - call.start, 0.0) if call.end else 0.0,
            action=action,
            target=self._clean_target(target.words),
            reason=self._secrets.without(self._reason(call)),
            output=self._secrets.without(result_words(call)),
        )
        self._read_values = 0
        self._note_navigation(call)
        return self._with_error(step, call)

    def _target(self, call: TracedCall, main: DomSnapshot | None, page: RenderedPage | None) -> FoundTarget:
        """Return a call's element; of an assertion as the page after it has it, where it was not marked before."""
        own = page.document if page is not None and main is not None and _owns(call, main) else None
        if own is None and page is not None and main is not None and main.call == call.key:
            own = page.document  # the snapshot stands before the call's own event
        if (own is None or own.target is None) and kind_of(call) is CallKind.EXPECTS:
            after = next((one for one in call.snapshots.get("after", {}).values() if one.is_main), None)
            later = self._render(after, call)
            found = find_target(call, later.document if later is not None else None)
            if not found.is_known and page is not None:
                found = find_target(call, replace(page.document, target=None))
            return replace(found, words=replace(found.words, bid="") if found.words else None, bid="")
        if own is None and page is not None:
            own = replace(page.document, target=None)
        return find_target(call, own)

    def _page_of(self, call: TracedCall) -> str:
        if call.page:
            return call.page
        closed = self._trace.closed.items() if call.method == "close" else ()
        if of_close := next((page for page, time in closed if call.start <= time <= call.end), ""):
            return of_close
        if self._page and self._trace.closed.get(self._page, call.start + 1) > call.start:
            return self._page
        open_now = [
            page
            for page, opened in self._trace.opened.items()
            if page and opened <= call.start and self._trace.closed.get(page, call.start + 1) > call.start
        ]
        return open_now[-1] if open_now else self._page

    def _render(self, main: DomSnapshot | None, call: TracedCall | None) -> RenderedPage | None:
        if main is None:
            return None
        owner = next((one for one in (call, self._by_key.get(main.call)) if one and _owns(one, main)), None)
        frames = owner.snapshots.get(main.phase, {}) if owner is not None else {}
        return self._pages.render(main, frames)

    def _on_page(self, index: int, page_id: str, page: RenderedPage | None, time: float) -> Step:
        step = Step(index=index, url="", title="")
        if page is not None:
            step = self._pages.on_page(step, page)
        elif page_id in self._urls:
            step = replace(step, url=self._urls[page_id][1])
        tabs, active = self._pages.tabs(page_id, step.url, step.title, time)
        return replace(step, tabs=tabs, active_tab=active)

    def _action(self, call: TracedCall, target: FoundTarget, page: RenderedPage | None) -> RecordedAction:
        """Return the action without its password: of a password field, or keys typed after one was clicked.

        Where the element was not found and the page has a password field, it may be that one.
        """
        action = action_of(call, target.bid)
        name = target.words.name if target.words is not None else ""
        selector = text(call.params.get("selector"))
        is_secret = target.is_password or names_a_secret(name) or names_secret_selector(selector)
        is_field = action.kind in ("fill", "expect") or (
            target.words is not None and target.words.role in _FIELDS
        )
        if not is_secret and is_field and not target.is_known and page is not None:
            is_secret = may_be_secret(page.document.html, name)
        self._remember_title(call)
        if kind_of(call) is CallKind.EXPECTS and is_secret:
            return self._clean(self._without_expected(call, action))
        if kind_of(call) is CallKind.ACTS and (target.words is not None or call.point):
            self._on_password = is_secret
        if action.kind not in _TYPING:
            return self._clean(action)
        if not is_secret and not (self._on_password and action.kind.startswith("keyboard")):
            return self._clean(action)
        for part in ("value", "text", "key", "key_comb"):
            typed = action.args.get(part)
            if isinstance(typed, str) and typed and (part in ("value", "text") or len(typed) == 1):
                self._secrets.add(typed)
                action = replace(action, args={**action.args, part: MARK})
        return self._clean(action)

    def _remember_title(self, call: TracedCall) -> None:
        """Remember the password in the title of a call such as ``Fill "…" getByLabel('Password')``."""
        found = _TYPING_TITLE.match(call.title)
        if found is not None and names_secret_selector(found[2]):
            self._secrets.add(found[1])

    def _without_expected(self, call: TracedCall, action: RecordedAction) -> RecordedAction:
        """Return an assertion about a password field without the values it expects."""
        expected = [
            held
            for one in items_of(call.params.get("expectedText"))[:100]
            if (held := text(fields_of(one).get("string")) or text(fields_of(one).get("regexSource")))
        ]
        expected += filter(None, [text(call.params.get("expected"))])
        expected += [text(fields_of(call.result).get("received"))]
        expected += [seen.strip("\"'") for line in call.log for seen in _UNEXPECTED.findall(line)]
        expected += [seen.strip().strip("\"'") for seen in _COMPARED.findall(ReadTrace.plain(call.error))]
        said = text(action.args.get("assertion"))
        for one in filter(None, expected):
            self._secrets.add(one)
            said = said.replace(repr(one), repr(MARK)).replace(one, MARK)
        return replace(action, args={**action.args, "assertion": said})

    def _clean(self, action: RecordedAction) -> RecordedAction:
        said = self._secrets.without
        args = {
            name: said(value)
            if isinstance(value, str)
            else [said(one) if isinstance(one, str) else one for one in value]
            if isinstance(value, list)
            else value
            for name, value in action.args.items()
        }
        return replace(action, args=args)

    def _clean_target(self, words: ActionTarget | None) -> ActionTarget | None:
        return replace(words, name=self._secrets.without(words.name)) if words is not None else None

    def _reason(self, call: TracedCall) -> str:
        """Return the titles of the test's steps around a call, and the call's own."""
        titles, above = [call.title or call.api], self._by_key.get(call.parent)
        seen = {call.key}
        while above is not None and above.key not in seen and len(titles) < 10:
            seen.add(above.key)
            if above.method != "hook" or above.error:
                titles.append(above.title or above.api)
            above = self._by_key.get(above.parent)
        return " > ".join(ReadTrace.plain(title) for title in reversed(titles) if title)

    def _with_error(self, step: Step, call: TracedCall) -> Step:
        log = "\n".join(call.log)
        error = ReadTrace.plain(call.error)
        if not error and not expect_failed(call):
            return step
        if error in _BARE_ERRORS:
            seen = _UNEXPECTED.findall(log)
            assertion = text((step.action.args if step.action else {}).get("assertion"))
            got = f"; it was {seen[-1]}" if seen else ""
            error = f"AssertionError: expected {assertion}{got}"
        if log and "Call log" not in error:
            error = f"{error}\nCall log:\n{log}"
        error = self._secrets.without(error)[:MAX_ERROR]
        kind = error_class(error, readable=True, moved_on=NAVIGATED.search(log) is not None)
        return replace(
            step,
            error=error,
            error_class=kind or ErrorClass.HARD,
            cause=_cause(error, call),
            output=step.output,
        )

    def _note_navigation(self, call: TracedCall) -> None:
        """Remember where a call led, for pages without a snapshot."""
        url = text(call.params.get("url")) if call.method == "goto" and not call.error else ""
        for line in call.log:
            if found := NAVIGATED.search(line):
                url = found[1]
        if url:
            url = redact_url(self._secrets.typed_out(url))
            self._urls[self._page] = (call.end or call.start, url)
            if not self._read.start_url and call.method == "goto":
                self._read.start_url = url

    def _notices(self, of_page: tuple[str, ...], until: float) -> tuple[str, ...]:
        """Return a page's notices with what the browser reported since the step before, as far as there is room."""
        found = dict.fromkeys(of_page)
        while self._next_message < len(self._messages):
            message = self._messages[self._next_message]
            if message.time > until:
                break
            self._next_message += 1
            self._reported[message.kind] += 1
            if len(found) < MAX_NOTICES:
                said = " ".join(self._secrets.without(f"{message.kind}: {message.text}").split())
                found[said[:300]] = None
        return tuple(found)

    def _final(self, index: int) -> Step | None:
        """Return the page after the last step: of the tab that is open then, as last seen."""
        end = float("inf")
        closed = self._trace.closed
        page_id = self._page
        if page_id in closed:
            still_open = [page for page in self._trace.opened if page and page not in closed]
            page_id = still_open[-1] if still_open else page_id
        main = self._pages.latest(page_id, end)
        moved = self._urls.get(page_id)
        if main is not None and moved is not None and moved[0] > main.time and moved[1] != main.url:
            main = None
        page = self._render(main, None)
        step = self._on_page(index, page_id, page, end)
        if not step.url and not step.tree:
            return None
        picture = self._pages.picture(page_id, end)
        notices = self._notices(step.notices, end)
        return replace(step, executed=False, screenshot=picture.digest, notices=notices)

    def _notes(self) -> Iterator[str]:
        if self._pages.trees:
            yield (
                "the trees were made from the HTML of the DOM snapshots: what a style sheet alone hides is in them,"
                " too"
            )
        passed = [
            (kind.value, self._passed[kind]) for kind in (CallKind.READS, CallKind.WAITS, CallKind.SETS)
        ]
        if any(count for _, count in passed):
            counts = ", ".join(f"{kind} {count:,}" for kind, count in passed if count)
            yield f"calls that are no steps: {counts}; a value that was read stands with the step before"
        if self._reported:
            counts = ", ".join(f"{kind} {count:,}" for kind, count in sorted(self._reported.items()))
            yield f"reported by the browser: {counts}"
        if self._pages.missing:
            yield f"{self._pages.missing:,} pictures are named that are not in the file or can't be read"
        if self._contents.left_out:
            yield f"{self._contents.left_out:,} pictures are beyond the bounds and left out"
        if self._trace.store.dropped or self._pages.html_left_out:
            dropped = self._trace.store.dropped + self._pages.html_left_out
            yield f"{dropped:,} DOM snapshots are beyond the bounds and left out"
        if self._pages.left_out:
            yield f"{self._pages.left_out:,} pages are beyond the bounds and left out: those before them are too long"
        if self._pages.cut:
            yield f"{self._pages.cut:,} pages are too long or too deep, and are cut"


def _owns(call: TracedCall, snapshot: DomSnapshot) -> bool:
    return call.snapshots.get(snapshot.phase, {}).get(snapshot.frame) is snapshot


def _with_failures_inside(calls: list[TracedCall], by_key: dict[str, TracedCall]) -> set[str]:
    """Return the keys of calls that failed because of one within them."""
    found: set[str] = set()
    for call in calls:
        if not call.error and not expect_failed(call):
            continue
        above = by_key.get(call.parent)
        while above is not None and above.key not in found:
            found.add(above.key)
            above = by_key.get(above.parent)
    return found


def _cause(error: str, call: TracedCall) -> str:
    """Return why a call failed; a wait for an element that never came is a missing one."""
    for words, cause in CAUSES:
        if words in error:
            return cause
    if kind_of(call) is CallKind.EXPECTS:
        return Cause.NONE
    if "Timeout" not in error and "timeout" not in error:
        return Cause.NONE
    waited = any("waiting for" in line for line in call.log) or "waiting for" in error
    return Cause.MISSING if waited and "resolved to" not in error else Cause.TIMEOUT
