"""The document of a page as the server sent it: of the page in front, or fetched without opening it."""

from __future__ import annotations

from playwright.async_api import Error

from app.engine.browser.capture.page_idle import LOAD_TIMEOUT
from app.engine.browser.driver import FetchedDocument
from app.engine.browser.page_loading import load_failure
from app.engine.browser.session import BrowserSession
from app.engine.core.page_state import PageCapture
from app.engine.core.static_page import read_static_page, static_key

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


async def served_key_of(session: BrowserSession, page: PageCapture) -> str:
    """Return the key of the document behind a captured page; "" if unknown or if it says nothing about the
    page.
    """
    document = session.network.document
    if document is None:
        return ""
    try:
        text = await document.text()
    except (Error, UnicodeDecodeError):  # the browser no longer has it
        return ""
    return static_key(text, document.url, document.url, page.elements)


async def fetch_document(session: BrowserSession, url: str) -> FetchedDocument:
    """Request an address with the session's cookies, following redirects and rendering nothing."""
    try:
        agent = str(await session.page.evaluate("() => navigator.userAgent"))
        answer = await session.context.request.get(
            url, headers={"User-Agent": agent, "Accept": ACCEPT}, timeout=LOAD_TIMEOUT * 1000
        )
    except Error as error:
        return FetchedDocument(why=load_failure(url, error.message))
    try:
        html = "html" in answer.headers.get("content-type", "")
        text = await answer.text() if html else ""
    except (Error, UnicodeDecodeError):
        text = ""
    finally:
        await answer.dispose()
    read = read_static_page(text, answer.url, answer.url)
    return FetchedDocument(url=answer.url, status=answer.status, served=read.key, scripts=read.scripts)
