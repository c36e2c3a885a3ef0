"""A tip's region, drawn on the screenshot of a real page, is found on another page of the same look."""

from __future__ import annotations

import pytest

from app.demo.server import DemoServer
from app.engine.agent.secrets import Secrets
from app.engine.agent.step_record import observed_step
from app.engine.agent.tip_query import step_query
from app.engine.browser.capture.snapshot import capture
from app.engine.browser.session import BrowserSession
from app.engine.core.addresses import url_template
from app.engine.core.ledger import Ledger
from app.engine.core.page_state import PageCapture
from app.engine.core.regions import drawn_anchor, read_boxes, region_elements
from kb.retrieval import Retriever
from kb.tip import Anchor, Status, Tip


async def look(tab: BrowserSession, url: str) -> PageCapture:
    await tab.page.goto(url)
    return await capture(tab)


def drawn_around(page: PageCapture, name: str) -> Anchor:
    """Return the anchor of a box drawn a little wider than a control, on the page as a run stores it."""
    step, blobs = observed_step(0, page, (), 0, Secrets(), 1.0)
    elements = region_elements(blobs[step.tree].decode(), read_boxes(blobs[step.boxes]))
    left, top, width, height = next(one.box for one in elements if one.name == name and one.box is not None)
    box = (left - 4, top - 4, width + 8, height + 8)
    return drawn_anchor(elements, box, step.screenshot, url_template(step.url))


@pytest.mark.parametrize(
    ("drawn", "control", "there", "elsewhere"),
    [
        ("/", "Sort by", ("/department/Garden", "/department/Kitchen"), ("/basket", "/product/oak-tray")),
        ("/product/enamel-mug", "Add to basket", ("/product/oak-tray",), ("/", "/basket")),
    ],
)
async def test_a_drawn_region_is_found_where_pages_look_alike_and_nowhere_else(
    blank: BrowserSession,
    server: DemoServer,
    drawn: str,
    control: str,
    there: tuple[str, ...],
    elsewhere: tuple[str, ...],
) -> None:
    home = server.shop_url
    anchor = drawn_around(await look(blank, home + drawn), control)
    tip = Tip(id="a", site="shop", text="It opens on the second try.", anchor=anchor, status=Status.ACTIVE)
    tips = Retriever([tip], {"shop": ("127.0.0.1:*",)})
    found = {}
    for path in (*there, *elsewhere):
        query = step_query(await look(blank, home + path), "sum up", Ledger(), ())
        found[path] = [one.why for one in tips.retrieve(query).results]

    assert all(f'looks like: "{control}' in why for path in there for why in found[path])
    assert [path for path in found if found[path]] == list(there)
