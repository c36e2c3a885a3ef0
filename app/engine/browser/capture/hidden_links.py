"""Links of a page that are not visible, such as those in closed menus. A capture omits them: nobody could click them.

An exploration opens them by their address, so that it finds what a closed menu hides as early as a link crawler does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from playwright.async_api import Error

from app.engine.browser.session import BrowserSession
from app.engine.core.page_state import Element, PageCapture

MAX_LINKS = 400
"""Maximum of hidden links taken from one page."""
_ATTRIBUTES = (
    "class",
    "id",
    "title",
    "aria-label",
    "rel",
    "download",
    "onclick",
    "data-method",
    "data-confirm",
    "data-action",
)
_WORLD = "sitelore-hidden-links"
_SCRIPT = """((most, told) => {
  const found = [];
  for (const link of document.querySelectorAll("a[href]")) {
    if (found.length >= most) break;
    if (!/^https?:/.test(link.href) || link.checkVisibility({visibilityProperty: true})) continue;
    const form = link.closest("form");
    const name = link.getAttribute("aria-label") || link.textContent || link.title;
    const method = form ? (form.getAttribute("method") || "get").toLowerCase() : "";
    found.push({
      href: link.href,
      name: name.replace(/\\s+/g, " ").trim().slice(0, 200),
      form: form ? method + ":" + new URL(form.getAttribute("action") || "", location).pathname : "",
      attributes: told.filter(key => link.hasAttribute(key)).map(key => [key, link.getAttribute(key).slice(0, 200)]),
    });
  }
  return found;
})"""


async def with_hidden_links(session: BrowserSession, page: PageCapture) -> PageCapture:
    """Append the invisible links to a capture; they have no position and can't be operated.

    If the page is replaced meanwhile, the capture is returned unchanged.
    """
    try:
        frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        world = await session.send("Page.createIsolatedWorld", frameId=frame, worldName=_WORLD)
        answer = await session.send(
            "Runtime.evaluate",
            expression=f"({_SCRIPT})({MAX_LINKS}, {list(_ATTRIBUTES)})",
            contextId=world["executionContextId"],
            returnByValue=True,
        )
    except Error:
        return page
    found = cast("list[dict[str, Any]]", answer["result"].get("value") or [])
    seen = {element.href for element in page.elements if element.visible and element.href}
    first = len(page.elements)
    hidden = [link for link in found if link["href"] not in seen]
    links = tuple(
        Element(
            index=first + number,
            role="link",
            name=str(link["name"]),
            tag="a",
            href=str(link["href"]),
            form=str(link["form"]),
            attributes=tuple((str(name), str(value)) for name, value in link["attributes"]),
            visible=False,
        )
        for number, link in enumerate(hidden)
    )
    return replace(page, elements=(*page.elements, *links))
