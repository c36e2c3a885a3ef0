"""MiniWoB++ as the acceptance test of eye and hand: every page is observed, and what is scripted gets its reward.

Scripts act through the executor's commands by what a look at the page tells; the page itself scores them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from playwright.async_api import Browser

from app.engine.agent.vision.set_of_marks import element_marks
from app.engine.browser.capture.snapshot import capture
from app.engine.browser.executor import Executor, ExecutorOptions
from app.engine.browser.session import BrowserSession, open_session
from app.engine.core.identity import keys_of
from tests.support import miniwob_choices, miniwob_drawings, miniwob_scripts
from tests.support.mark_checks import disagreements
from tests.support.miniwob import Episode, MiniWob, episode, miniwob
from tests.support.miniwob_play import SCRIPTS, Play

REGISTERED = (miniwob_choices, miniwob_drawings, miniwob_scripts)
"""Imported for the scripts they hold."""
SIZE = (500, 320)
SEED = 1
AT_ONCE = 3
QUICK = ExecutorOptions(quiet=0.06)
PLAY = 60.0
"""Seconds an episode may take on a busy machine."""
LEAST = 50

KINDS: dict[str, tuple[str, ...]] = {
    "buttons and links": (
        "click-test-2", "click-button", "click-button-sequence", "click-link", "click-widget", "unicode-test",
        "odd-or-even", "find-greatest",
    ),
    "text": (
        "enter-text", "enter-text-2", "enter-password", "login-user", "focus-text-2", "simple-algebra", "find-word",
        "read-table-2", "enter-date", "enter-time", "multi-orderings", "text-editor", "search-engine", "terminal",
    ),
    "check box": ("click-checkboxes", "click-checkboxes-transfer"),
    "radio": ("click-option", "form-sequence-2"),
    "select": ("choose-list", "click-scroll-list", "form-sequence-3"),
    "date picker": ("choose-date-easy", "choose-date-nodelay"),
    "slider": ("use-slider", "use-slider-2", "form-sequence", "use-spinner"),
    "drag": (
        "drag-box", "drag-circle", "drag-shapes", "drag-items", "drag-sort-numbers", "resize-textarea", "draw-line",
    ),
    "tree": ("navigate-tree", "click-menu"),
    "tabs": ("click-tab", "click-tab-2-medium", "click-collapsible-2-nodelay"),
    "dialog": ("click-dialog", "click-dialog-2", "login-user-popup"),
    "scroll": ("scroll-text", "scroll-text-2", "social-media-all"),
    "copy and paste": ("copy-paste", "copy-paste-2"),
    "autocomplete": ("use-autocomplete-nodelay",),
    "drawing": ("click-color", "click-shape", "count-shape", "identify-shape", "grid-coordinate", "circle-center"),
    "what only scripts make operable": ("tic-tac-toe", "email-inbox-delete", "phone-book"),
}  # fmt: skip


@pytest.fixture(scope="module")
def site() -> Iterator[MiniWob]:
    with miniwob() as found:
        if found is None:
            pytest.skip(
                "the MiniWoB++ pages are not installed, and there is no installer beside the checkout"
            )
        yield found


async def _observed(tab: BrowserSession, begun: Episode) -> str:
    """Return the problem of the capture of an episode's page; "" if there is none."""
    page = await capture(tab, thorough=True)
    plain = await capture(tab, picture=False)
    marks = element_marks(page)
    if not marks:
        return "nothing to act on is seen"
    if differing := disagreements(page, marks):
        return "; ".join(differing)
    if " ".join(begun.utterance.split()[:3]) not in page.text:
        return f"the task is not in the text: {page.text[:80]!r}"
    moved = begun.task in ("moving-items", "chase-circle", "stock-market")
    if not moved and keys_of(page, page.url).structure != keys_of(plain, plain.url).structure:
        return "it is another page to a plain look"
    return ""


async def _in_turn(browser: Browser, tasks: list[str], do) -> dict[str, str]:
    """Return the non-empty results of ``do`` by task, with a few tabs in parallel."""
    said: dict[str, str] = {}
    left = iter(tasks)

    async def work() -> None:
        async with open_session(browser, SIZE, keep_tabs=True) as tab:
            for task in left:
                if word := await do(tab, task):
                    said[task] = word

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(work())
    return said


async def test_all_130_pages_load_and_are_observed_with_something_to_act_on(chromium: Browser, site: MiniWob):
    assert len(site.tasks) == 130

    async def do(tab: BrowserSession, task: str) -> str:
        async with episode(tab, site, task, SEED) as begun:
            return await _observed(tab, begun)

    assert await _in_turn(chromium, list(site.tasks), do) == {}


async def _played(tab: BrowserSession, site: MiniWob, task: str) -> str:
    """Why a scripted task got no reward, "" if it did."""
    async with episode(tab, site, task, SEED) as begun:
        play = Play(Executor(tab, options=QUICK), begun)
        try:
            await play.look()
            async with asyncio.timeout(PLAY):
                await SCRIPTS[task](play)
        except (AssertionError, LookupError, TimeoutError) as error:
            return f"{begun.utterance}: {type(error).__name__} {error}"
        reward = await begun.reward()
        return "" if reward > 0 else f"{begun.utterance}: reward {reward} {await begun.why()} {play.results}"


async def test_scripted_commands_get_the_reward_of_tasks_with_every_kind_of_widget(
    chromium: Browser, site: MiniWob
):
    tasks = [task for kind in KINDS.values() for task in kind]
    assert len(set(tasks)) >= LEAST

    clipboard = asyncio.Lock()  # all tabs of a browser have the same

    async def do(tab: BrowserSession, task: str) -> str:
        if task in KINDS["copy and paste"]:
            async with clipboard:
                return await _played(tab, site, task)
        return await _played(tab, site, task)

    lost = await _in_turn(chromium, tasks, do)
    async with open_session(
        chromium, SIZE, keep_tabs=True
    ) as tab:  # pages that move lose a race on a busy machine: alone now
        again = {task: await do(tab, task) for task in lost}
    assert {task: why for task, why in again.items() if why} == {}


async def test_an_episode_keeps_its_reward_and_hides_what_is_no_part_of_it(
    blank: BrowserSession, site: MiniWob
):
    async with episode(blank, site, "click-test", SEED) as begun:
        page = await capture(blank, picture=False)
        assert "reward" not in page.text.lower()
        assert (await begun.done(), await begun.reward()) == (False, 0.0)
        await blank.page.click("#subbtn")
        assert (await begun.done(), await begun.reward()) == (True, 1.0)
        await blank.page.mouse.click(80, 120)
        assert (await begun.done(), await begun.reward()) == (True, 1.0), "no click begins another"


async def test_the_same_seed_makes_the_same_task(blank: BrowserSession, site: MiniWob):
    told: list[tuple[str, str]] = []
    for seed in (5, 5, 6):
        async with episode(blank, site, "click-checkboxes", seed) as begun:
            told.append((begun.utterance, (await capture(blank, picture=False)).tree))
    assert told[0] == told[1] != told[2]
