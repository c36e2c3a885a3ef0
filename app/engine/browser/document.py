"""The document of a page as the server sent it: of the page in front, or fetched without opening it."""

from __future__ import annotations

from playwright.async_api import Error

from app.engine.browser.driver import Answer
from app.engine.browser.hand import failure
from app.engine.browser.session import Visit
from app.engine.browser.settle import LOAD, Traffic
from app.engine.page_state import PageCapture
from app.engine.served import read_document, served_key

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


async def served(visit: Visit, page: PageCapture) -> str:
    """Return the key of the document behind a captured page; "" if unknown or if it says nothing about the
    page.
    """
    document = Traffic.of(visit.page).document
    if document is None:
        return ""
    try:
        text = await document.text()
    except (Error, UnicodeDecodeError):  # the browser no longer has it
        return ""
    return served_key(text, document.url, document.url, page.elements)


async def ask(visit: Visit, url: str) -> Answer:
    """Request an address with the session's cookies, following redirects and rendering nothing."""
    try:
        agent = str(await visit.page.evaluate("() => navigator.userAgent"))
        answer = await visit.context.request.get(
            url, headers={"User-Agent": agent, "Accept": ACCEPT}, timeout=LOAD * 1000
        )
    except Error as error:
        return Answer(why=failure(url, error.message))
    try:
        html = "html" in answer.headers.get("content-type", "")
        text = await answer.text() if html else ""
    except (Error, UnicodeDecodeError):
        text = ""
    finally:
        await answer.dispose()
    read = read_document(text, answer.url, answer.url)
    return Answer(url=answer.url, status=answer.status, served=read.key, scripts=read.scripts)
