"""Actions on addresses, history, tabs and dialogs, and waiting."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from urllib.parse import urljoin, urlsplit

from playwright.async_api import Error

from app.engine.browser.actions.execution_context import (
    ActionOutcome,
    ActionRefused,
    ExecutionContext,
    refuse,
)
from app.engine.browser.capture.page_idle import LOAD_TIMEOUT
from app.engine.browser.page_loading import open_page
from app.engine.core.action_result import Cause, Effect, refused
from app.engine.core.actions.types import (
    AnswerDialog,
    CloseTab,
    GoBack,
    GoForward,
    Goto,
    NewTab,
    SwitchTab,
    Wait,
)

MAX_WAIT = 10.0


async def goto(context: ExecutionContext, action: Goto) -> ActionOutcome:
    """Open an address that the navigation policy allows."""
    url = _allowed_url(context, action.url)
    note = context.policy.opened(url)
    done = await open_page(context.session, url, most=context.most)
    if done.error and not done.status:
        raise refuse(Cause.NETWORK, done.error, "go_back()")
    return ActionOutcome(
        effect=Effect.NAVIGATED,
        status=done.status,
        settled=True,
        notes=(*done.notes, *([note] if note else [])),
    )


def _allowed_url(context: ExecutionContext, url: str) -> str:
    """Complete an address that begins with ``/`` or has no scheme by the page's own.

    Raises:
        ActionRefused: the run may not go there.
    """
    here = urlsplit(context.page.url)
    whole = url.strip()
    if whole.startswith("/"):
        whole = urljoin(context.page.url, whole)
    elif re.match(r"[\w-]+(\.[\w-]+)*(:\d+)?(/|$)", whole) and "://" not in whole:
        whole = f"{here.scheme if here.scheme in ('http', 'https') else 'https'}://{whole}"
    why = context.policy.outside(whole) or context.policy.again(whole)
    if why is None and urlsplit(whole).scheme not in ("http", "https") and whole != "about:blank":
        why = refused(Cause.OFF_SITE, "an address begins with http:// or https://")
    if why is not None:
        raise ActionRefused(why)
    return whole


async def go_back(context: ExecutionContext, _: GoBack) -> ActionOutcome:
    """Go to the previous page."""
    return await _through_history(context, -1)


async def go_forward(context: ExecutionContext, _: GoForward) -> ActionOutcome:
    """Go to the next page."""
    return await _through_history(context, 1)


async def _through_history(context: ExecutionContext, step: int) -> ActionOutcome:
    history = await context.session.send("Page.getNavigationHistory")
    at = int(history["currentIndex"]) + step
    entries = history["entries"]
    where = "before" if step < 0 else "after"
    if not 0 <= at < len(entries) or (step < 0 and entries[at]["url"] == "about:blank"):
        raise refuse(Cause.NO_EFFECT, f"there is no page {where} this one")
    why = context.policy.outside(str(entries[at]["url"]))
    if why is not None:
        raise ActionRefused(why)
    page = context.session.page
    with suppress(Error):  # a slow page is waited for afterwards
        await (page.go_back if step < 0 else page.go_forward)(
            wait_until="commit", timeout=LOAD_TIMEOUT * 1000
        )
    return ActionOutcome(effect=Effect.NAVIGATED)


async def new_tab(context: ExecutionContext, action: NewTab) -> ActionOutcome:
    """Open another tab in front."""
    if action.url:
        _allowed_url(context, action.url)
    await context.session.open_tab()
    if action.url:
        return await goto(context, Goto(action.url))
    return ActionOutcome(effect=Effect.NAVIGATED, settled=True)


async def switch_tab(context: ExecutionContext, action: SwitchTab) -> ActionOutcome:
    """Bring a tab to the front."""
    pages = context.session.pages
    if not 0 <= action.tab < len(pages):
        raise refuse(Cause.MISSING, f"there is no tab {action.tab}; {len(pages)} are open, from 0")
    already = context.session.page is pages[action.tab]
    context.session.active = action.tab
    await context.session.page.bring_to_front()
    return ActionOutcome(effect=Effect.NOTHING if already else Effect.NAVIGATED, calm=True)


async def close_tab(context: ExecutionContext, _: CloseTab) -> ActionOutcome:
    """Close the tab in front; the one opened before it comes to the front."""
    pages = context.session.pages
    if len(pages) == 1:
        raise refuse(Cause.POLICY, "this is the only tab; it stays open", "go_back()")
    at = pages.index(context.session.page)
    await context.session.page.close()
    context.session.active = max(0, at - 1)
    await context.session.page.bring_to_front()
    return ActionOutcome(effect=Effect.NAVIGATED)


async def answer_dialog(context: ExecutionContext, action: AnswerDialog) -> ActionOutcome:
    """Set the answer to the next dialog."""
    context.session.answer = (action.accept, action.text)
    return ActionOutcome(effect=Effect.NOTHING, calm=True, settled=True)


async def wait(context: ExecutionContext, action: Wait) -> ActionOutcome:
    """Wait, unless the page dies meanwhile."""
    with suppress(TimeoutError):
        await asyncio.wait_for(context.session.dead.wait(), min(max(action.seconds, 0.0), MAX_WAIT))
    return ActionOutcome(calm=True)
