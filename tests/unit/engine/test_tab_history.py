"""Back and forward of a browser under manual control, where the browser answers late or not."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Error

from app.engine.browser.manual_input.address_bar import go_through_history

FIRST = {"currentIndex": 1, "entries": [{"url": "about:blank"}, {"url": "http://shop.test/"}]}


class LostConnection:
    """A session whose first answers are lost, as when another page replaces the process that was asked."""

    def __init__(self, lost: int) -> None:
        self.lost, self.page, self.waited = lost, self, 0

    async def wait_for_load_state(self, state: str, timeout: float) -> None:
        assert state == "domcontentloaded"
        assert timeout > 0
        self.waited += 1

    async def send(self, method: str) -> dict[str, Any]:
        assert method == "Page.getNavigationHistory"
        self.lost -= 1
        if self.lost >= 0:
            raise Error("Inspected target navigated or closed")
        return FIRST


async def test_a_history_lost_to_an_arriving_page_is_asked_for_again():
    tab = LostConnection(1)
    assert await go_through_history(tab, -1) == "there is no page before this one"  # type: ignore[arg-type]
    assert tab.waited == 1


async def test_a_tab_that_never_answers_cannot_be_left():
    assert await go_through_history(LostConnection(2), -1) == "the page can't be left now"  # type: ignore[arg-type]
