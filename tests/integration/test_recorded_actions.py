"""Captures and recorded actions with a real Chromium."""

from __future__ import annotations

import pytest

from app.demo.server import DemoServer
from app.engine.browser.capture.snapshot import capture
from app.engine.browser.graph_operations import graph_executor
from app.engine.browser.session import BrowserSession
from app.engine.core.action_result import Cause, Effect
from app.engine.core.actions.recorded import from_recorded
from app.engine.core.actions.types import Click
from app.engine.core.ax_tree import content_key, find_node, parse_tree
from app.engine.imports.notices import notices
from app.engine.imports.step_records import read_call
from tests.support.browser_walker import Walker
from tools.run_recorder import look

PAGE = """<!doctype html><title>Try</title><body style="margin:0">
<p>It is <b>bold</b>.</p>
<style>#b { position: absolute; left: 20px; top: 100px; width: 80px; height: 30px }</style>
<button id="b" onclick="document.title='pressed'">Press me</button>
<label>Name <input id="n"></label> <label><input type="checkbox" id="c"> Agree</label>
<select aria-label="Colour"><option>red</option><option>dark green</option></select>
<div style="display:none"><a href="/x">Hidden</a></div>
<a id="below" href="#there" style="position:absolute;top:3000px">Far below</a>
<button disabled>Off</button>
<button id="strange">it's "so"\tnamed</button>
</body>"""


async def show(tab: BrowserSession, html: str = PAGE) -> None:
    await tab.page.set_content(html)


async def act(tab: BrowserSession, call: str) -> Cause:
    """Do an action in the form that steps store; the cause if it was refused."""
    executor = graph_executor(tab)
    await executor.capture(picture=False)
    recorded = read_call(call)
    action = from_recorded(recorded) if recorded is not None else None
    assert action is not None
    result = await executor.do(action)
    return result.cause if result.effect is Effect.REFUSED else Cause.NONE


async def bid_of(tab: BrowserSession, role: str, name: str) -> str:
    tree = (await capture(tab, picture=False)).tree
    return next(node.bid for node in parse_tree(tree) if (node.role, node.name) == (role, name))


async def test_a_snapshot_names_what_a_person_sees_and_leaves_out_what_is_hidden(blank: BrowserSession):
    await show(blank)
    tree = (await capture(blank, picture=False)).tree
    found = {(node.role, node.name) for node in parse_tree(tree)}
    assert {
        ("RootWebArea", "Try"),
        ("button", "Press me"),
        ("textbox", "Name"),
        ("checkbox", "Agree"),
        ("combobox", "Colour"),
        ("option", "dark green"),
    } <= found
    assert "Hidden" not in tree
    assert {node.role for node in parse_tree(tree)}.isdisjoint({"generic", "none", "InlineTextBox"})
    assert "button 'Off', disabled=True" in tree


async def test_every_line_of_a_tree_is_read_back_with_its_name(blank: BrowserSession):
    await show(blank)
    tree = (await capture(blank, picture=False)).tree
    nodes = parse_tree(tree)
    assert len(nodes) == tree.count("\n") + 1
    assert any(node.name.startswith('it\'s "so"') and node.name.endswith("named") for node in nodes)


async def test_the_same_page_looked_at_twice_has_the_same_content_key(admin: Walker, server: DemoServer):
    first = await admin.look()
    await admin.go(server.admin_url + "/admin/help")
    await admin.go(server.admin_url + "/admin")
    second = await admin.look()
    assert content_key(first.tree) == content_key(second.tree)


async def test_a_dialog_over_the_page_is_seen_with_what_it_covers_and_is_announced(admin: Walker):
    await admin.do("click", "link", "Orders")
    tree = (await admin.look()).tree
    assert "dialog 'New in this release'" in tree
    assert "link '1009'" in tree
    assert notices(tree)[0].startswith("New in this release")


async def test_boxes_lie_in_the_picture(blank: BrowserSession):
    await show(blank)
    seen = await look(graph_executor(blank))
    bids = {node.name: node.bid for node in parse_tree(seen.page.tree)}
    assert seen.page.picture.startswith(b"\xff\xd8\xff")
    assert seen.box_of(bids["Press me"]) == (20, 100, 80, 30)
    assert seen.box_of(bids["Far below"]) is None
    assert seen.box_of("nonsense") is None


@pytest.mark.smoke
async def test_actions_do_what_they_say(blank: BrowserSession):
    await show(blank)
    name, agree = await bid_of(blank, "textbox", "Name"), await bid_of(blank, "checkbox", "Agree")
    colour, press = await bid_of(blank, "combobox", "Colour"), await bid_of(blank, "button", "Press me")

    for call in (
        f'fill("{name}", "Iris")',
        f'press("{name}", "End")',
        'keyboard_type(" Kemp")',
        f'check("{agree}")',
        f'select_option("{colour}", "dark green")',
        f'click("{press}")',
        "scroll(0, 200)",
    ):
        assert await act(blank, call) is Cause.NONE, call

    page = blank.page
    assert await page.input_value("#n") == "Iris Kemp"
    assert await page.is_checked("#c")
    assert await page.evaluate("() => document.querySelector('select').value") == "dark green"
    assert await page.title() == "pressed"
    await page.wait_for_function("() => scrollY === 200")
    assert (
        "value='Iris Kemp'" in (find_node((await capture(blank)).tree, name) or parse_tree("x")[0]).properties
    )


async def test_an_action_leaves_no_mark_on_the_page(blank: BrowserSession):
    await show(blank)
    before = await blank.page.content()
    assert await act(blank, f'hover("{await bid_of(blank, "button", "Press me")}")') is Cause.NONE
    assert await blank.page.content() == before
    left = "() => Object.getOwnPropertySymbols(window).filter(s => String(s).includes('sitelore')).length"
    assert await blank.page.evaluate(left) == 0


@pytest.mark.parametrize(
    ("call", "cause"),
    [
        ('click("99999999")', Cause.MISSING),
        ("tab_focus(5)", Cause.MISSING),
        ('goto("http://127.0.0.1:1/")', Cause.NETWORK),
    ],
)
async def test_a_refused_action_names_its_cause(blank: BrowserSession, call: str, cause: Cause):
    await show(blank)
    assert await act(blank, call) is cause


async def test_a_disabled_button_and_one_that_left_the_page_are_refused(blank: BrowserSession):
    await show(blank)
    assert await act(blank, f'click("{await bid_of(blank, "button", "Off")}")') is Cause.DISABLED
    executor = graph_executor(blank)
    page = await executor.capture(picture=False)
    await blank.page.evaluate("() => document.getElementById('b').remove()")
    press = next(element.index for element in page.elements if element.name == "Press me")
    assert (await executor.do(Click(press))).cause is Cause.STALE
