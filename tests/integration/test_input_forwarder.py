"""A person's mouse and keyboard on a real page: in order, with modifiers, and never stuck behind a page."""

from __future__ import annotations

import asyncio
import time

import pytest
from playwright.async_api import Browser

from app.engine.browser.manual_input.input_forwarder import InputForwarder
from app.engine.browser.session import BrowserSession, open_browser, open_session
from app.engine.core.page_input import InputKind, MouseButton, PageInput
from tests.support.live_hands import click, key, middle, typed, until_so

FORM = """<body style="margin:0"><input id="one"><input id="two"><textarea id="lines"></textarea>
<p id="words" style="position:absolute;top:100px;left:20px">alpha beta gamma</p>
<button id="ask" style="position:absolute;top:200px" onclick="told.push(String(confirm('Sure?')))">Ask</button>
<button id="busy" style="position:absolute;top:250px"
  onclick="const end = performance.now() + 1500; while (performance.now() < end);">Busy</button>
<div id="from" draggable="true" style="position:absolute;top:300px;width:60px;height:60px">x</div>
<div id="to" style="position:absolute;top:300px;left:300px;width:90px;height:90px"></div>
<div style="height:3000px"></div><script>
const told = [], moves = [];
for (const kind of ["mousedown", "mouseup", "dblclick", "contextmenu", "keydown"])
  addEventListener(kind, (event) => told.push(
    [kind, event.button ?? event.key, event.ctrlKey ? "ctrl" : "", event.detail || ""].filter(String).join(" ")), true);
addEventListener("mousemove", (event) => moves.push([event.clientX, event.clientY, event.buttons]));
to.ondragover = (event) => event.preventDefault();
to.ondrop = () => told.push("dropped");
</script>"""


async def told(tab: BrowserSession) -> list[str]:
    return await tab.page.evaluate("told")


@pytest.mark.smoke
async def test_what_is_typed_composed_and_pasted_stands_in_the_field_in_order(blank: BrowserSession) -> None:
    await blank.page.set_content(FORM)
    hands = InputForwarder(blank)
    await hands.send(
        [
            *click(*await middle(blank, "#one")),
            *typed("Bob"),
            PageInput(kind=InputKind.TEXT, text="日本語 ñ 😀👩‍👩‍👧"),
            *key("Backspace"),
            *typed("z"),
            *key("Tab", text=""),
            *typed("two"),
            *key("a", 2, "KeyA"),
            *typed("new"),
        ]
    )
    assert (await blank.page.input_value("#one")).startswith("Bob日本語 ñ 😀")
    assert (await blank.page.input_value("#one")).endswith("z")
    assert await blank.page.input_value("#two") == "new"


async def test_enter_breaks_a_line_and_arrows_move_between_letters(blank: BrowserSession) -> None:
    await blank.page.set_content(FORM)
    hands = InputForwarder(blank)
    await hands.send(
        [*click(*await middle(blank, "#lines")), *typed("ac"), *key("ArrowLeft"), *typed("b"), *key("End")]
    )
    await hands.send([*key("Enter"), *typed("d")])
    assert await blank.page.input_value("#lines") == "abc\nd"


async def test_buttons_double_clicks_and_modifiers_arrive_as_they_were_pressed(blank: BrowserSession) -> None:
    await blank.page.set_content(FORM)
    hands = InputForwarder(blank)
    x, y = await middle(blank, "#words")
    await hands.send(click(x, y, clicks=2))
    assert await blank.page.evaluate("String(getSelection()).trim()") == "beta"
    await hands.send(click(x, y, button=MouseButton.RIGHT))
    await hands.send(key("k", 2, "KeyK"))
    said = await told(blank)
    assert "dblclick 0 2" in said
    assert "mousedown 2 1" in said
    assert "keydown k ctrl" in said


async def test_the_wheel_scrolls_the_page(blank: BrowserSession) -> None:
    await blank.page.set_content(FORM)
    hands = InputForwarder(blank)
    await hands.send([PageInput(kind=InputKind.WHEEL, x=400, y=400, dy=600)])

    async def scrolled() -> bool:
        return await blank.page.evaluate("scrollY") > 300

    await until_so(scrolled)


async def test_a_thing_is_dragged_to_another_place(blank: BrowserSession) -> None:
    await blank.page.set_content(FORM)
    hands = InputForwarder(blank)
    (x, y), (to_x, to_y) = await middle(blank, "#from"), await middle(blank, "#to")
    await hands.send(click(x, y)[:2])
    for share in (0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0, 1.0):  # a hand takes its time
        await asyncio.sleep(0.08)
        await hands.send([PageInput(kind=InputKind.MOVE, x=x + (to_x - x) * share, y=y + (to_y - y) * share)])
    await hands.send([PageInput(kind=InputKind.RELEASE, x=to_x, y=to_y, button=MouseButton.LEFT)])

    async def dropped() -> bool:
        return "dropped" in await told(blank)

    await until_so(dropped)


async def test_moves_that_come_faster_than_the_page_answers_are_one(blank: BrowserSession) -> None:
    await blank.page.set_content(FORM)
    hands = InputForwarder(blank)
    await hands.send([PageInput(kind=InputKind.MOVE, x=float(n), y=50.0) for n in range(1, 500)])
    moves = await blank.page.evaluate("moves")
    assert moves[-1][0] == 499
    assert len(moves) < 10
    assert hands.pointer == (499.0, 50.0)


async def test_a_dialog_or_a_busy_script_does_not_hold_up_what_comes_after(blank: BrowserSession) -> None:
    await blank.page.set_content(FORM)
    hands = InputForwarder(blank)
    began = time.monotonic()
    await hands.send(click(*await middle(blank, "#ask")))
    await hands.send(click(*await middle(blank, "#busy")))
    await hands.send([*click(*await middle(blank, "#one")), *typed("ok")])
    assert time.monotonic() - began < 15

    async def arrived() -> bool:
        return await blank.page.input_value("#one") == "ok"

    await until_so(arrived)
    assert "false" in await told(blank)


async def test_it_is_known_which_input_was_done_by_when(blank: BrowserSession) -> None:
    await blank.page.set_content(FORM)
    hands = InputForwarder(blank)
    before = time.time()
    await hands.send([PageInput(kind=InputKind.PRESS, x=5, y=5, button=MouseButton.LEFT, at=77.5)])
    assert hands.done_by(before) == 0.0
    assert hands.done_by(time.time()) == 77.5


async def test_what_is_held_down_is_let_go_of_at_the_end(blank: BrowserSession) -> None:
    await blank.page.set_content(FORM)
    hands = InputForwarder(blank)
    await hands.send(
        [
            PageInput(kind=InputKind.MOVE, x=50, y=50),
            PageInput(kind=InputKind.PRESS, x=50, y=50, button=MouseButton.LEFT),
        ]
    )
    await hands.lift()
    await hands.send([PageInput(kind=InputKind.MOVE, x=60, y=60)])

    async def let_go() -> bool:
        moves = await blank.page.evaluate("moves")
        return bool(moves) and moves[-1] == [60, 60, 0]

    await until_so(let_go)


async def test_the_tab_that_comes_to_the_front_gets_what_is_done_from_then_on(blank: BrowserSession) -> None:
    await blank.page.set_content(FORM)
    hands = InputForwarder(blank)
    await hands.send(click(*await middle(blank, "#one")))
    await blank.open_tab()
    await blank.page.set_content("<input id='other' autofocus>")
    await hands.send([*click(*await middle(blank, "#other")), *typed("here")])
    assert await blank.page.input_value("#other") == "here"
    assert await blank.pages[0].input_value("#one") == ""


async def test_a_tab_or_a_browser_that_is_gone_gets_nothing_and_raises_nothing() -> None:
    async with open_browser() as browser, open_session(browser) as tab:
        hands = InputForwarder(tab)
        await hands.send(click(10, 10))
        await tab.page.close()
        await hands.send([*click(10, 10), *typed("lost")])
        await browser.close()
        await hands.send(typed("lost"))
        await hands.lift()


async def test_two_senders_at_once_do_not_mix(chromium: Browser) -> None:
    async with open_session(chromium) as tab:
        await tab.page.set_content("<textarea id='t' autofocus></textarea>")
        hands = InputForwarder(tab)
        await hands.send(click(*await middle(tab, "#t")))
        await asyncio.gather(
            hands.send(typed("aaaaa")), hands.send(typed("bbbbb")), hands.send(typed("ccccc"))
        )
        assert await tab.page.input_value("#t") == "aaaaabbbbbccccc"
