"""The scout with its hands: through the executor, on pages of our own and on MiniWoB++ where that is installed."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser

from app.engine.agent.scout.policy import ScoutPolicy
from app.engine.browser.executor import Executor
from app.engine.browser.session import BrowserSession, open_session
from app.engine.core.actions.types import ReportInfeasible, Stop
from app.engine.core.observation import HistoryEntry, Observation
from tests.support.miniwob import episode, miniwob

FORM = """<!doctype html><html lang="en"><title>Order</title><form onsubmit="sent.textContent = [...new FormData(this)]
.map(([name, value]) => name + '=' + value).join('; '); return false">
<label>Name <input name="name"></label>
<label>Size <select name="size"><option>S</option><option>Large</option></select></label>
<fieldset><label><input type="checkbox" name="wrap" value="yes"> Gift wrap</label>
<label><input type="checkbox" name="news" value="yes"> Newsletter</label></fieldset><button>Order now</button></form>
<p id="sent"></p>"""
TABS = """<!doctype html><html lang="en"><title>Tabs</title><div role="tablist">
<button role="tab" aria-selected="true" onclick="show(0)">One</button>
<button role="tab" onclick="show(1)">Two</button></div>
<section><a href="#" onclick="done('wrong')">alpha</a></section>
<section hidden><a href="#" onclick="done('right')">beta</a>
</section><p id="sent"></p><script>
const show = (n) => document.querySelectorAll("section").forEach((part, place) => { part.hidden = place !== n;
  document.querySelectorAll("[role=tab]")[place].ariaSelected = place === n; });
const done = (said) => { document.getElementById("sent").textContent = said; };</script>"""


async def _play(tab: BrowserSession, said: str, most: int = 12) -> list[HistoryEntry]:
    hand, policy, turns = Executor(tab), ScoutPolicy(), list[HistoryEntry]()
    for step in range(most):
        page = await hand.look(picture=False)
        sight = Observation(
            step=step,
            steps_left=most - step,
            intent=said,
            start_url=page.url,
            page=page,
            history=tuple(turns),
        )
        command = (await policy.decide(sight)).action
        assert command is not None
        if isinstance(command, Stop | ReportInfeasible):
            break
        result = await hand.do(command)
        turns.append(
            HistoryEntry(step=step, url=page.url, title="", state="", action=command, result=result, words="")
        )
    return turns


@pytest.mark.smoke
async def test_a_form_is_filled_in_and_sent(chromium: Browser) -> None:
    async with open_session(chromium) as tab:
        await tab.page.set_content(FORM)
        await _play(
            tab,
            'Enter "Ann" into the text field, choose Large from the dropdown, select Gift wrap, then press Order now.',
        )

        assert await tab.page.inner_text("#sent") == "name=Ann; size=Large; wrap=yes"


async def test_the_target_is_found_behind_a_tab(chromium: Browser) -> None:
    async with open_session(chromium) as tab:
        await tab.page.set_content(TABS)
        await _play(tab, 'Switch between the tabs to find and click on the link "beta".')

        assert await tab.page.inner_text("#sent") == "right"


async def test_widgets_of_others_are_operated(chromium: Browser) -> None:
    tasks = (
        "choose-date-easy",
        "use-slider",
        "drag-items",
        "use-autocomplete-nodelay",
        "email-inbox-reply",
        "click-menu",
    )
    with miniwob() as site:
        if site is None:
            pytest.skip("MiniWoB++ is not installed")
        async with open_session(chromium, (500, 400)) as tab:
            for task in tasks:
                async with episode(tab, site, task, 0) as at:
                    await _play(tab, at.utterance)
                    assert await at.reward() > 0, task
