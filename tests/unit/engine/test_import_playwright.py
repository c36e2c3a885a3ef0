"""Playwright's traces: every version of the format, several traces a file, secrets, and what one run is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.engine.core.action_result import Cause
from app.engine.core.trajectory import ErrorClass, Outcome
from app.engine.detectors.runner import detect_run
from tests.support.foreign_runs import SAMPLES, needs_samples, read_all, read_one
from tests.support.playwright_traces import (
    CLOCK,
    DOCUMENT,
    PAGE,
    SHOP,
    WALL,
    TraceWriter,
    jpeg,
    runner_trace,
    shop_trace,
    write_zip,
)

VERSIONS = (6, 7, 8, 9, 10, 11, 42)


def words(read) -> list[str]:
    return [step.words for step in read.steps]


def blob(read, digest: str) -> str:
    return read.blobs[digest].decode()


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_gives_the_same_run(version: int, tmp_path: Path) -> None:
    read = read_one(write_zip(tmp_path / "any-name.bin", shop_trace(version).entries()))
    run, (goto, fill, click, checkout) = read.run, read.steps
    assert (run.source, run.intent, run.start_url) == ("playwright", "shop › signs in", SHOP)
    assert words(read) == [
        f"go to {SHOP}",
        "type 'REDACTED' into textbox 'Password'",
        "click button 'Sign in'",
        "click button 'Checkout'",
    ]
    assert (goto.url, fill.url, fill.title) == ("about:blank", SHOP, "Shop")
    assert goto.started_at == pytest.approx(WALL / 1000 + 1)
    assert fill.env_seconds == pytest.approx(1)
    assert "textbox 'User', value='ann'" in blob(read, fill.tree)
    assert fill.action is not None
    assert f"[{fill.action.bid}] textbox 'Password'" in blob(read, fill.tree)
    assert 'name="user" value="ann"' in blob(read, fill.html)
    assert click.output == "(read afterwards) innerText of #price: '24.50'"
    assert (checkout.error_class, checkout.cause) == (ErrorClass.HARD, Cause.MISSING)
    assert checkout.error.startswith("TimeoutError: Timeout 500ms exceeded.\nCall log:\nwaiting for")
    assert "/home/me" not in checkout.error
    assert (run.outcome, run.score) == (Outcome.CRASHED, None)
    assert run.error == checkout.error
    assert any("newest known is 10" in note for note in run.notes) == (version > 10)


@pytest.mark.parametrize("version", VERSIONS)
def test_no_secret_of_a_page_a_call_or_a_request_is_kept(version: int, tmp_path: Path) -> None:
    read = read_one(write_zip(tmp_path / "t.zip", shop_trace(version).entries()))
    kept = repr((read.run, read.steps)).encode() + b"".join(read.blobs.values())
    for secret in (b"s3same", b"s3cret-cookie", b"abcdef123456"):
        assert secret not in kept
    assert read.steps[2].notices == (
        "console error: boom REDACTED",
        f"failed request: status 500, GET {SHOP}api?token=REDACTED",
    )


def test_keys_typed_after_a_password_field_was_clicked_are_masked(tmp_path: Path) -> None:
    trace = TraceWriter()
    resolved = ('locator resolved to <input type="password"/>',)
    trace.call("click", {"selector": "#pin"}, log=resolved, input={"point": {"x": 1, "y": 1}})
    trace.call("keyboardType", {"text": "open-sesame"}, cls="Page")
    trace.call("keyboardPress", {"key": "q"}, cls="Page")
    trace.call("keyboardPress", {"key": "Enter"}, cls="Page")
    trace.call("click", {"selector": "#q"}, input={"point": {"x": 1, "y": 1}})
    trace.call("keyboardType", {"text": "apron open-sesame"}, cls="Page")
    read = read_one(write_zip(tmp_path / "t.zip", trace.entries()))
    typed = [list(step.action.args.values())[-1] for step in read.steps if step.action]
    assert typed == ["#pin", "REDACTED", "REDACTED", "Enter", "#q", "apron REDACTED"]


def test_the_box_is_in_the_pictures_pixels_and_the_picture_is_the_last_one_before(tmp_path: Path) -> None:
    trace = TraceWriter()
    trace.frame(jpeg(400, 300, 10))
    trace.now = 1
    box = {"x": 40, "y": 40, "width": 80, "height": 20}
    trace.call("click", {"selector": "a"}, html=DOCUMENT, input={"box": box})
    trace.frame(jpeg(400, 300, 99))
    trace.call("click", {"selector": "b"}, html=DOCUMENT, input={"point": {"x": 796, "y": 10}})
    trace.call("click", {"selector": "c"}, html=DOCUMENT, input={"point": {"x": 9000, "y": 10}})
    first, second, outside = read_one(write_zip(tmp_path / "t.zip", trace.entries())).steps
    assert first.target_box == (20, 20, 40, 10)
    assert second.target_box == (392, 0, 8, 11)
    assert outside.target_box is None
    assert len({first.screenshot, second.screenshot}) == 2


def test_a_picture_of_the_page_before_is_not_shown_for_the_next(tmp_path: Path) -> None:
    trace = TraceWriter()
    trace.frame(jpeg(grey=1))
    trace.call("click", {"selector": "a"}, html=DOCUMENT, url=SHOP)
    trace.now = 3
    trace.call("click", {"selector": "b"}, html=DOCUMENT, url=SHOP + "2")
    trace.now = 5
    trace.call("click", {"selector": "c"}, html=DOCUMENT, url=SHOP + "3")
    trace.frame(jpeg(grey=90), at=5.2)
    _, stale, next_one = read_one(write_zip(tmp_path / "t.zip", trace.entries())).steps
    assert stale.screenshot == ""
    assert next_one.screenshot


def test_a_screenshot_of_the_call_itself_comes_before_the_screencast(tmp_path: Path) -> None:
    trace = TraceWriter()
    trace.frame(jpeg(grey=1))
    call = trace.call("click", {"selector": "a"}, html=DOCUMENT)
    file = "screenshots/x-before.png"
    trace.files[file] = jpeg(800, 600)
    trace.events.append(
        {"type": "screenshot", "callId": call, "phase": "before", "file": file, "pageId": PAGE}
    )
    read = read_one(write_zip(tmp_path / "t.zip", trace.entries()))
    assert read.blobs[read.steps[0].screenshot] == trace.files[file]


def test_documents_are_put_together_from_earlier_ones(tmp_path: Path) -> None:
    trace = TraceWriter()
    trace.call(
        "click", {"selector": "a"}, html=DOCUMENT
    )  # nodes, children first: 0 "Shop", 1 TITLE, 2 HEAD, …
    changed = ["HTML", {}, [[1, 2]], ["BODY", {}, [[1, 4]], ["P", {}, "New"]]]
    trace.call("click", {"selector": "b"}, html=changed)
    trace.call("click", {"selector": "c"}, html=[[1, 3]])
    first, second, third = (step for step in read_one(write_zip(tmp_path / "t.zip", trace.entries())).steps)
    assert second.title == third.title == first.title == "Shop"
    assert second.html == third.html != first.html


def test_frames_shadow_roots_and_states_of_fields_are_in_the_page(tmp_path: Path) -> None:
    trace = TraceWriter()
    body = [
        "BODY",
        {},
        ["DIV", {}, ["template", {"__playwright_shadow_root_": "open"}, ["BUTTON", {}, "Shadow"]]],
        ["INPUT", {"type": "checkbox", "aria-label": "News", "__playwright_checked_": "true"}],
        [
            "SELECT",
            {"aria-label": "Land"},
            ["OPTION", {"__playwright_selected_": "false"}, "Peru"],
            ["OPTION", {"__playwright_selected_": "true"}, "Norway"],
        ],
        ["IFRAME", {"src": "/snapshot/frame@2", "title": "Ad"}],
        ["SCRIPT", {}, "evil()"],
        ["A", {"href": "b", "onclick": "x()"}, "Next"],
    ]
    call = trace.call("click", {"selector": "a"}, html=["HTML", {}, body])
    inner = ["HTML", {}, ["BODY", {}, ["BUTTON", {}, "Buy"], ["INPUT", {"name": "token", "value": "k3y"}]]]
    trace.snapshot(call, "before", inner, SHOP + "ad", frameId="frame@2", isMainFrame=False)
    read = read_one(write_zip(tmp_path / "t.zip", trace.entries()))
    tree, html = blob(read, read.steps[0].tree), blob(read, read.steps[0].html)
    assert "button 'Shadow'" in tree
    assert "checkbox 'News', checked='true'" in tree
    assert "combobox 'Land', value='Norway'" in tree
    assert f"link 'Next', url='{SHOP}b'" in tree
    assert "Iframe 'Ad'\n\t\t[" in tree
    assert "button 'Buy'" in tree
    assert "evil" not in html
    assert "onclick" not in html
    assert "srcdoc=" in html
    assert "Buy&lt;/button" in html
    assert "k3y" not in html


def test_references_in_circles_and_beyond_the_beginning_end(tmp_path: Path) -> None:
    trace = TraceWriter()
    trace.call("click", {"selector": "a"}, html=[[0, 0]])
    trace.call(
        "click", {"selector": "a"}, html=["HTML", {}, ["BODY", {}, [[0, 1]], [[5, 0]], [[-1, 0]], "x"]]
    )
    doubling: list = ["HTML", {}, "x"]
    for _ in range(12):
        doubling = ["P", {}, doubling, *([[[0, 0]]] * 20)]
    trace.call("click", {"selector": "a"}, html=doubling)
    for _ in range(30):
        trace.call("click", {"selector": "a"}, html=["B", {}, *([[[1, 0]]] * 100), *([[[1, 100]]] * 100)])
    read = read_one(write_zip(tmp_path / "t.zip", trace.entries()))
    assert len(read.steps) == 33


def test_what_is_no_step_is_summed_up_unless_it_failed(tmp_path: Path) -> None:
    trace = TraceWriter()
    trace.call("setDefaultTimeoutNoReply", cls="Page")
    trace.call("goto", {"url": SHOP})
    trace.call("waitForSelector", {"selector": "#x"})
    trace.call("textContent", {"selector": "#x"}, result={"value": "One"})
    trace.call("innerText", {"selector": "#y"}, result={"value": "Two"})
    error = {"message": "Timeout"}
    trace.call("waitForSelector", {"selector": "#gone"}, error=error, log=("waiting for locator('#gone')",))
    read = read_one(write_zip(tmp_path / "t.zip", trace.entries()))
    assert words(read) == [f"go to {SHOP}", "wait_for_selector(selector='#gone')"]
    assert "calls that are no steps: reads 2, waits 1, settings 1" in read.run.notes[0]
    assert read.steps[0].output == "(read afterwards) textContent of #x: 'One'; innerText of #y: 'Two'"


ACTIONS = [
    ("dblclick", "Frame", {}, "dblclick"),
    ("click", "ElementHandle", {"clickCount": 2}, "dblclick"),
    ("fill", "Frame", {"value": ""}, "clear"),
    ("type", "Frame", {"text": "x"}, "fill"),
    ("press", "Frame", {"key": "Enter"}, "press"),
    ("check", "Frame", {}, "check"),
    ("uncheck", "Frame", {}, "uncheck"),
    ("selectOption", "Frame", {"options": [{"label": "Peru"}]}, "select_option"),
    ("setInputFiles", "Frame", {"localPaths": ["/home/me/cv.pdf"]}, "upload_file"),
    ("hover", "Frame", {}, "hover"),
    ("dragAndDrop", "Frame", {"source": "a", "target": "b"}, "drag_and_drop"),
    ("evaluateExpression", "Frame", {"expression": "1 + 1"}, "evaluate"),
    ("goBack", "Page", {}, "go_back"),
    ("reload", "Page", {}, "reload"),
    ("close", "Page", {}, "tab_close"),
    ("keyboardPress", "Page", {"key": "Tab"}, "keyboard_press"),
    ("mouseClick", "Page", {"x": 1, "y": 2}, "mouse_click"),
    ("mouseWheel", "Page", {"deltaY": 100}, "scroll"),
    ("fetch", "APIRequestContext", {"url": SHOP, "method": "POST"}, "fetch"),
    ("expect", "Frame", {"expression": "to.be.visible"}, "expect"),
]


@pytest.mark.parametrize(("method", "cls", "params", "kind"), ACTIONS)
def test_calls_that_act_have_browsergyms_names(
    method: str, cls: str, params: dict, kind: str, tmp_path: Path
) -> None:
    trace = TraceWriter()
    trace.call(method, {"selector": "#x", **params}, cls=cls)
    (step,) = read_one(write_zip(tmp_path / "t.zip", trace.entries())).steps
    assert step.action is not None
    assert step.action.kind == kind
    assert "/home/me" not in repr(step)


SELECTORS = [
    ('internal:role=button[name="Add to \\"basket\\""i]', ("button", 'Add to "basket"')),
    ('internal:role=row >> nth=2 >> internal:text="Oak"s', ("text", "Oak")),
    ('internal:label="E-mail"i', ("field", "E-mail")),
    ('internal:attr=[placeholder="Search"i]', ("field", "Search")),
    ('internal:attr=[alt="Logo"i]', ("image", "Logo")),
    ('internal:testid=[data-testid="buy"s] >> visible=true', ("element", "buy")),
    ("iframe >> internal:control=enter-frame >> internal:role=link", ("link", "")),
    ("text='Oak'", ("text", "Oak")),
    ("#price > b", ("element", "#price > b")),
]


@pytest.mark.parametrize(("selector", "target"), SELECTORS)
def test_a_selector_names_its_element(selector: str, target: tuple[str, str], tmp_path: Path) -> None:
    trace = TraceWriter()
    trace.call("click", {"selector": selector})
    (step,) = read_one(write_zip(tmp_path / "t.zip", trace.entries())).steps
    assert step.target is not None
    assert (step.target.role, step.target.name) == target
    assert (
        "internal:" not in str(step.action.args.get("selector") if step.action else "")
        or "control" in selector
    )


def test_an_assertion_that_did_not_hold_says_what_it_saw(tmp_path: Path) -> None:
    trace = TraceWriter(8)
    params = {"selector": "#m", "expression": "to.have.text", "isNot": False}
    params["expectedText"] = [{"string": "Two"}]
    trace.call("expect", params, result={"matches": False}, log=('  unexpected value "One"',))
    trace.call("expect", {**params, "isNot": True}, result={"matches": False})
    failed, held = read_one(write_zip(tmp_path / "t.zip", trace.entries())).steps
    assert failed.words == "expect element '#m' to have text 'Two'"
    assert failed.error.startswith("AssertionError: expected to have text 'Two'; it was \"One\"\n")
    assert (held.words, held.error) == ("expect element '#m' not to have text 'Two'", "")


@pytest.mark.parametrize("version", [6, 7, 8, 9, 10])
@pytest.mark.parametrize(
    ("how", "score", "outcome"),
    [
        ({}, 1.0, Outcome.ENDED_BY_ENVIRONMENT),
        ({"error": "Expected 2"}, 0.0, Outcome.CRASHED),
        ({"ended": False}, None, Outcome.UNKNOWN),
        ({"annotations": ("skip",)}, None, Outcome.UNKNOWN),
    ],
)
def test_the_test_runner_alone_says_whether_a_test_passed(
    version: int, how: dict, score: float | None, outcome: Outcome, tmp_path: Path
) -> None:
    trace = TraceWriter(version)
    trace.now = 3
    trace.call("goto", {"url": SHOP})
    entries = {"test.trace": runner_trace(version, **how), **trace.entries("0-")}
    run = read_one(write_zip(tmp_path / "t.zip", entries)).run
    assert (run.score, run.outcome) == (score, outcome)
    assert "\x1b" not in run.error


def test_steps_of_a_test_are_the_reasons_and_its_assertions_are_steps(tmp_path: Path) -> None:
    trace = TraceWriter(8, title="a.spec.ts:1 › t")
    trace.now = 1.2
    trace.call("click", {"selector": "#buy"}, stepId="pw:api@9", parentId="test.step@3")
    runner = runner_trace(8, error="Expected 2").decode().splitlines()
    start = {
        "type": "before",
        "callId": "pw:api@9",
        "stepId": "pw:api@9",
        "startTime": CLOCK + 1200,
        "class": "Test",
    }
    start |= {"method": "pw:api", "title": 'Click "Buy"', "parentId": "test.step@3"}
    runner += [
        json.dumps(start),
        json.dumps({"type": "after", "callId": "pw:api@9", "endTime": CLOCK + 1300}),
    ]
    entries = {"test.trace": "\n".join(runner).encode(), **trace.entries("0-")}
    read = read_one(write_zip(tmp_path / "t.zip", entries))
    assert [step.reason for step in read.steps] == [
        'Buy the apron > Click "Buy"',
        "Buy the apron > expect.toBe",
    ]
    assert read.steps[1].error == "Expected 2"
    assert read.run.error == "Expected 2"
    assert words(read)[1] == "expect to be"


def test_two_pages_are_two_tabs_and_a_closed_one_leaves(tmp_path: Path) -> None:
    trace = TraceWriter()
    trace.call("goto", {"url": SHOP}, html=DOCUMENT)
    opened = {"type": "event", "time": trace.clock, "class": "BrowserContext", "method": "page"}
    trace.events.append({**opened, "params": {"pageId": "page@2", "openerPageId": PAGE}})
    call = trace.call("click", {"selector": "#b"})
    other = ["HTML", {}, ["HEAD", {}, ["TITLE", {}, "Other"]], ["BODY", {}, "Two"]]
    trace.snapshot(call, "before", other, SHOP + "2", pageId="page@2", frameId="frame@9")
    trace.call("close", cls="Page")
    trace.events.append(
        {**opened, "method": "pageClosed", "time": trace.clock, "params": {"pageId": "page@2"}}
    )
    trace.now += 1
    trace.call("click", {"selector": "#c"})
    read = read_one(write_zip(tmp_path / "t.zip", trace.entries()))
    assert [(step.url, step.active_tab, len(step.tabs)) for step in read.steps] == [
        (SHOP, 0, 1),
        (SHOP + "2", 1, 2),
        (SHOP + "2", 1, 2),
        (SHOP, 0, 1),
    ]
    assert read.run.final is not None
    assert read.run.final.url == SHOP


def test_a_call_without_an_end_is_an_interrupted_run(tmp_path: Path) -> None:
    trace = TraceWriter()
    trace.call("goto", {"url": SHOP})
    trace.call("click", {"selector": "#b"}, ended=False)
    assert read_one(write_zip(tmp_path / "t.zip", trace.entries())).run.outcome is Outcome.INTERRUPTED


def test_unpacked_folders_hold_one_run_a_trace(tmp_path: Path) -> None:
    for name, data in shop_trace(10).entries().items():
        place = tmp_path / "unpacked" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    live = tmp_path / "traces"
    live.mkdir()
    for name in ("a1-test", "a1-recording1", "b2"):
        trace = TraceWriter(title=name)
        trace.call("goto", {"url": SHOP + name})
        (live / f"{name}.trace").write_bytes(trace.lines())
    runs, problems = read_all(tmp_path, "playwright")
    assert problems == []
    assert [len(read.steps) for read in runs] == [2, 1, 4]
    assert runs[-1].steps[1].screenshot


def test_the_hash_is_of_the_content_not_of_the_packing(tmp_path: Path) -> None:
    entries = shop_trace(10).entries()
    packed = read_one(write_zip(tmp_path / "a.zip", entries)).run
    stored = read_one(write_zip(tmp_path / "b.zip", dict(reversed(entries.items())), 0)).run
    assert packed.content_hash == stored.content_hash
    entries["screencast/more.jpeg"] = b"x"
    assert read_one(write_zip(tmp_path / "c.zip", entries)).run.content_hash != packed.content_hash


def test_old_actions_within_metadata_are_read(tmp_path: Path) -> None:
    held = {
        "id": "call@1",
        "type": "Frame",
        "method": "goto",
        "params": {"url": SHOP},
        "startTime": 1,
        "endTime": 2,
    }
    events = [
        {"type": "context-options", "version": 3},
        {
            "type": "action",
            "metadata": {**held, "log": ["x"], "error": {"error": {"name": "E", "message": "no"}}},
        },
    ]
    lines = "\n".join(map(json.dumps, events)).encode()
    (step,) = read_one(write_zip(tmp_path / "t.zip", {"trace.trace": lines})).steps
    assert (step.words, step.error.partition("\n")[0]) == (f"go to {SHOP}", "E: no")


@needs_samples
def test_the_sample_is_read() -> None:
    read = read_one(SAMPLES / "playwright" / "trace-a.zip")
    assert read.run.intent == "Which price has the Linen Apron?"
    assert [step.target_box for step in read.steps[1:4]] == [
        (100.3, 32.0, 81.4, 19.0),
        (72.0, 131.9, 95.8, 19.0),
        (139.9, 166.9, 107.9, 21.0),
    ]
    assert all(bool(step.screenshot and step.tree and step.html) for step in read.steps[1:])
    assert read.steps[2].output == "(read afterwards) innerText of #price: '24.50'"
    assert read.steps[4].notices == ("Choose a size first",)


def test_assertions_and_scripts_that_change_nothing_are_no_flags(tmp_path: Path) -> None:
    trace = TraceWriter()
    trace.call("expect", {"selector": "#x", "expression": "to.be.visible"}, html=DOCUMENT)
    trace.call("evaluateExpression", {"expression": "1"}, html=DOCUMENT)
    trace.call("fetch", {"url": SHOP}, cls="APIRequestContext")
    trace.call("click", {"selector": "#x"}, html=DOCUMENT)
    trace.call("click", {"selector": "#y"}, html=DOCUMENT)
    read = read_one(write_zip(tmp_path / "t.zip", trace.entries()))
    flags = detect_run(read.run, read.steps, None, lambda digest: read.blobs.get(digest, b""))
    assert [flag.step for flag in flags if flag.detector == "no-effect"] == [3, 4]


def test_the_value_of_a_password_field_is_not_kept_whatever_its_name(tmp_path: Path) -> None:
    trace = TraceWriter()
    field = ["INPUT", {"type": "password", "aria-label": "PIN", "__playwright_value_": "4711-0815"}]
    trace.call("click", {"selector": "#x"}, html=["HTML", {}, ["BODY", {}, field]])
    read = read_one(write_zip(tmp_path / "t.zip", trace.entries()))
    assert "textbox 'PIN', value='REDACTED'" in blob(read, read.steps[0].tree)
    assert b"4711" not in b"".join(read.blobs.values())
