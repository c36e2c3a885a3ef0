"""Acting on a captured page with a real Chromium."""

from __future__ import annotations

import pytest

from app.demo.server import DemoServer
from app.engine.browser.capture.snapshot import capture
from app.engine.browser.scripted_actions import perform
from app.engine.browser.session import BrowserSession
from app.engine.core.actions.recorded import RecordedAction, parse_recorded
from app.engine.core.ax_tree import content_key, find_node, parse_tree
from app.engine.imports.notices import notices
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


async def act(tab: BrowserSession, call: str) -> str:
    return (await perform(tab, parse_recorded(call), timeout=0.3, settle=0.02)).error


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
    seen = await look(blank)
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
        'take_note("x")',
        'send_msg_to_user("done")',
    ):
        assert await act(blank, call) == "", call

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
    assert await act(blank, f'hover("{await bid_of(blank, "button", "Press me")}")') == ""
    assert await blank.page.content() == before
    left = "() => Object.getOwnPropertySymbols(window).filter(s => String(s).includes('sitelore')).length"
    assert await blank.page.evaluate(left) == 0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ('click("99999999")', "Could not find element"),
        ('click("a12")', "Could not find element"),
        ("tab_focus(5)", "no tab 5"),
        ('goto("http://127.0.0.1:1/")', "ERR_UNSAFE_PORT"),
    ],
)
async def test_what_cannot_be_done_comes_back_as_an_error(blank: BrowserSession, call: str, said: str):
    await show(blank)
    assert said in await act(blank, call)


async def test_an_unknown_action_is_refused_and_an_element_that_has_gone_is_not_found(blank: BrowserSession):
    await show(blank)
    assert "Invalid action type" in (await perform(blank, RecordedAction(kind="juggle"), settle=0)).error
    press = await bid_of(blank, "button", "Press me")
    await blank.page.evaluate("() => document.getElementById('b').remove()")
    assert "Could not find element" in await act(blank, f'click("{press}")')


async def test_a_disabled_button_times_out(blank: BrowserSession):
    await show(blank)
    assert (await act(blank, f'click("{await bid_of(blank, "button", "Off")}")')).startswith("TimeoutError: ")


async def test_a_new_tab_comes_to_the_front_and_its_closing_brings_back_the_first(
    blank: BrowserSession, server: DemoServer
):
    await show(blank, f"<a href='{server.maker_url}/' target='_blank'>out</a>")
    out = parse_recorded(f'click("{await bid_of(blank, "link", "out")}")')
    assert (await perform(blank, out)).error == ""
    seen = await look(blank, picture=False)
    assert (len(seen.tabs), seen.active_tab) == (2, 1)
    assert seen.page.title == "Makers"

    await act(blank, "tab_focus(0)")
    assert blank.active == 0
    await act(blank, "tab_focus(1)")
    await act(blank, "tab_close()")
    assert (await look(blank, picture=False)).active_tab == 0
