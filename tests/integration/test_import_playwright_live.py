"""A trace recorded by the installed Playwright itself: a form in a group, a frame, two pages, a click that fails."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from playwright.async_api import Browser, Error, Route, expect

from tests.support.foreign_runs import read_one

HOME = "http://shop.test/"
PAGES = {
    "/": """<title>Shop</title><form action="/in"><label>User <input name=user></label>
        <label>Password <input type=password name=pw></label>
        <select name=c aria-label=Country><option>Norway<option>Peru</select><button>Sign in</button></form>
        <iframe src=/ad title=Ad></iframe><div id=h></div><script>
        document.getElementById("h").attachShadow({mode: "open"}).innerHTML = "<button>Shadow</button>"</script>""",
    "/ad": "<title>Ad</title><button>In frame</button>",
    "/in": """<title>Inside</title><a href=/ target=_blank>New</a><p id=m>No items</p>
        <script>console.error("boom happened"); fetch("/missing")</script>""",
}


async def serve(route: Route) -> None:
    path = "/" + route.request.url.removeprefix(HOME).partition("?")[0]
    body = PAGES.get(path)
    await route.fulfill(status=200 if body else 500, content_type="text/html", body=body or "no")


async def record(browser: Browser, path: Path) -> None:
    context = await browser.new_context(viewport={"width": 1280, "height": 720})
    await context.route("**/*", serve)
    await context.tracing.start(screenshots=True, snapshots=True, title="test_shop.py::test_sign_in")
    page = await context.new_page()
    await page.goto(HOME)
    await context.tracing.group("Log in")
    await page.get_by_label("User").fill("ann")
    await page.get_by_label("Password").fill("s3same!pw")
    await page.get_by_label("Country").select_option("Peru")
    await page.frame_locator("iframe").get_by_role("button").click()
    await page.get_by_role("button", name="Shadow").click()
    await page.get_by_role("button", name="Sign in").click()
    await context.tracing.group_end()
    await expect(page.locator("#m")).to_have_text("No items")
    async with page.expect_popup() as opened:
        await page.get_by_text("New").click()
    popup = await opened.value
    await popup.wait_for_load_state()
    await popup.close()
    with suppress(Error):
        await page.get_by_role("button", name="Checkout").click(timeout=300)
    with suppress(AssertionError):
        await expect(page.locator("#m")).to_have_text("Two items", timeout=300)
    await context.tracing.stop(path=path)
    await context.close()


async def test_a_trace_of_the_installed_playwright_becomes_a_run(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "trace.zip"
    await record(chromium, path)
    read = read_one(path, "playwright")
    run, steps = read.run, read.steps
    assert [step.words for step in steps] == [
        f"go to {HOME}",
        "type 'ann' into textbox 'User'",
        "type 'REDACTED' into textbox 'Password'",
        "choose 'Peru' in combobox 'Country'",
        "click button 'In frame'",
        "click button 'Shadow'",
        "click button 'Sign in'",
        "expect paragraph 'No items' to have text 'No items'",
        "click link 'New'",
        "close the tab",
        "click button 'Checkout'",
        "expect paragraph 'No items' to have text 'Two items'",
    ]
    assert [step.reason for step in steps[1:7]] == ["Log in"] * 6
    assert [(step.active_tab, len(step.tabs)) for step in steps[8:11]] == [(0, 1), (1, 2), (0, 1)]
    for step in steps[1:7]:  # the element's box is in the picture, and its id in the tree
        assert step.target_box is not None
        assert step.action is not None
        assert f"[{step.action.bid}] " in read.blobs[step.tree].decode()
    assert steps[10].cause == "missing"
    assert steps[11].error.startswith(
        "AssertionError: expected to have text 'Two items'; it was \"No items\""
    )
    assert run.final is not None
    assert run.final.title == "Inside"
    assert "console error: boom happened" in steps[7].notices + steps[8].notices
    kept = repr((run, steps)).encode() + b"".join(read.blobs.values())
    assert b"s3same" not in kept
