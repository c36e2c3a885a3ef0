"""Pictures of a real page: the same as long as it looks the same, another once something is typed or opened."""

from __future__ import annotations

import pytest

from app.engine.agent.llm.page_pictures import PagePictures
from app.engine.agent.vision.marks_wanted import marks_wanted
from app.engine.browser.capture.snapshot import capture
from app.engine.browser.session import BrowserSession

PAGE = """<title>Form</title><p>It is <span id=clock>12:30:01</span></p>
<label>City <input id=city></label><button onclick="more.hidden = false">More</button>
<p id=more hidden>Here is more of it</p>"""


@pytest.mark.smoke
async def test_a_page_is_sent_again_only_once_it_looks_different(blank: BrowserSession):
    pictures = PagePictures("auto", 640)
    page = blank.page
    await page.set_content(PAGE)

    async def new(step: int) -> bool:
        await pictures.take(await capture(blank), step)
        assert pictures.now is not None
        assert max(pictures.now.size) == 640
        return pictures.now.new

    assert await new(0)
    assert not await new(1)
    await page.evaluate("() => clock.textContent = '12:30:02'")
    assert not await new(2)
    await page.fill("#city", "Oslo")
    assert await new(3)
    await page.click("text=More")
    assert await new(4)
    assert not await new(5)


@pytest.mark.smoke
async def test_a_page_with_little_to_name_wants_marks(blank: BrowserSession):
    await blank.page.set_content(PAGE)
    assert marks_wanted(await capture(blank), None)  # one field and one button
    await blank.page.set_content(PAGE + "<a href=#a>One</a> <a href=#b>Two</a>")
    assert not marks_wanted(await capture(blank), None)
