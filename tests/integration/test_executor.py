"""The executor in a real Chromium: which actions reach their element, what they do, and why others are
refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from app.demo.server import HOST, DemoServer
from app.engine.browser.actions.click_cascade import Pointer
from app.engine.browser.executor import Executor
from app.engine.browser.session import open_session
from app.engine.core.action_result import Cause, Effect
from app.engine.core.actions.types import (
    AnswerDialog,
    Click,
    ClickAt,
    CloseTab,
    Drag,
    GoBack,
    GoForward,
    Goto,
    Hover,
    NewTab,
    Press,
    Scroll,
    SwitchTab,
    TakeNote,
    TypeText,
    Wait,
)
from tests.support.executor_bench import SWIFT, Bench
from tests.support.executor_pages import ExecutorSite


@pytest_asyncio.fixture(loop_scope="session")
async def bench(chromium: Browser, server: DemoServer) -> AsyncIterator[Bench]:
    async with open_session(chromium) as tab:
        yield await _bench(server, Executor(tab, options=SWIFT))


async def _bench(server: DemoServer, executor: Executor) -> Bench:
    site, other = ExecutorSite(), ExecutorSite()
    home = f"http://{HOST}:{await server.listen(site, 0)}"
    site.other = f"http://localhost:{await server.listen(other, 0)}"
    other.other = home
    return Bench(executor, home, site.other)


# reaching an element


@pytest.mark.smoke
async def test_a_click_reaches_its_element_by_the_pointer_and_its_effect_is_seen(bench: Bench):
    await bench.at("/covers")
    result = await bench.do(Click(bench.number("Free")))
    assert (result.success, result.effect, result.tried, result.cause) == (
        True,
        Effect.CHANGED,
        ("cdp",),
        Cause.NONE,
    )
    assert await bench.title() == "free"


async def test_what_lies_below_the_fold_is_scrolled_to_and_clicked(bench: Bench):
    await bench.at("/covers")
    assert (await bench.do(Click(bench.number("Far below")))).success
    assert await bench.title() == "far"


async def test_an_element_that_is_covered_in_its_middle_is_clicked_where_it_shows(bench: Bench):
    await bench.at("/covers")
    assert (await bench.do(Click(bench.number("Half")))).tried == ("cdp",)
    assert await bench.title() == "half"


async def test_a_link_that_wraps_around_a_line_is_clicked_within_one_of_its_parts(bench: Bench):
    await bench.at("/covers")
    assert (await bench.do(Click(bench.number("wraps around the line")))).success
    assert bench.tab.page.url.endswith("#wrapped")


async def test_a_box_that_is_drawn_by_its_label_is_ticked_through_it(bench: Bench):
    await bench.at("/covers")
    assert (await bench.do(Click(bench.number("Agree", "checkbox")))).success
    assert await bench.tab.page.locator("#agree").is_checked()


async def test_what_covers_an_element_is_named_with_the_numbers_that_close_it(bench: Bench):
    await bench.at("/covers")
    result = await bench.executor.do(Click(bench.number("Under the banner")))
    assert (result.effect, result.cause) == (Effect.REFUSED, Cause.COVERED)
    assert "We use cookies" in result.why or "Cookies" in result.why
    assert result.alternatives[0].startswith(f'click("{bench.number("Accept all")}")')
    assert await bench.title() == "Covers"
    await bench.do(Click(bench.number("Accept all")))
    await bench.do(Click(bench.number("Under the banner")))
    assert await bench.title() == "under"


@pytest.mark.parametrize("name", ["Off", "Off too", "Off in words", "Pointless"])
async def test_what_is_disabled_is_said_to_be(bench: Bench, name: str):
    await bench.at("/covers")
    result = await bench.do(Click(bench.number(name)))
    assert (result.effect, result.cause) == (Effect.REFUSED, Cause.DISABLED)
    assert await bench.title() == "Covers"


async def test_what_is_hidden_is_told_with_what_may_show_it(bench: Bench):
    page = await bench.at("/covers")
    await bench.tab.page.evaluate("m.hidden = false")
    page = await bench.look()
    inside = bench.number("Inside the menu")
    await bench.tab.page.evaluate("m.hidden = true")
    result = await bench.executor.do(Click(inside))
    assert result.cause is Cause.HIDDEN
    assert any("Menu" in one and "may show it" in one for one in result.alternatives)
    assert page.elements[inside].name == "Inside the menu"


async def test_what_has_gone_is_stale_and_what_never_was_is_missing(bench: Bench):
    page = await bench.at("/covers")
    goes = bench.number("Goes")
    await bench.tab.page.evaluate("document.querySelector('#late').remove()")
    assert (await bench.executor.do(Click(goes))).cause is Cause.STALE
    missing = await bench.executor.do(Click(len(page.elements) + 5, label="Free"))
    assert missing.cause is Cause.MISSING
    assert missing.alternatives[0].startswith(f'click("{bench.number("Free")}")')


async def test_an_element_that_is_taken_for_another_is_not_clicked(bench: Bench):
    await bench.at("/covers")
    result = await bench.executor.do(Click(bench.number("Free"), label="Far below"))
    assert (result.cause, result.effect) == (Cause.AMBIGUOUS, Effect.REFUSED)
    assert f'click("{bench.number("Far below")}")' in result.alternatives[0]


# frames and shadow roots


async def test_a_click_lost_after_scrolling_is_made_another_way(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    async def lose(*_place: object, **_how: object) -> None:
        """Chromium does so where a frame of another process has just been scrolled."""

    await bench.at("/frames")
    monkeypatch.setattr(Pointer, "click", lose)
    result = await bench.do(Click(bench.number("Deep press", frame=("far",))))
    assert (result.success, result.effect, result.tried) == (True, Effect.CHANGED, ("cdp", "playwright"))
    assert "deep" in bench.executor.page.text


@pytest.mark.parametrize("frame", ["near", "far"])
async def test_frames_of_this_and_of_another_site_are_scrolled_to_and_clicked_in(bench: Bench, frame: str):
    await bench.at("/frames")
    result = await bench.do(Click(bench.number("Press", frame=(frame,))))
    assert result.success
    # Chromium may lose a click into a frame of another process that was only just scrolled; the next way follows.
    assert result.tried == ("cdp",) or (frame == "far" and result.tried == ("cdp", "playwright"))
    assert "pressed" in bench.executor.page.text


async def test_a_frame_within_a_frame_is_clicked_in(bench: Bench):
    await bench.at("/frames")
    result = await bench.do(Click(bench.number("Press", frame=("near", "deeper"))))
    assert (result.success, result.tried) == (True, ("cdp",))


@pytest.mark.parametrize("frame", ["near", "far"])
async def test_shadow_roots_in_frames_are_clicked_in(bench: Bench, frame: str):
    await bench.at("/frames")
    assert (await bench.do(Click(bench.number("Deep press", frame=(frame,))))).success
    assert "deep" in bench.executor.page.text
    result = await bench.do(Click(bench.number("Deep box", frame=(frame,))))
    assert (result.success, result.effect) == (True, Effect.CHANGED)
    assert "checked" in bench.find("Deep box", frame=(frame,)).states


async def test_a_field_in_a_frame_of_another_site_is_filled(bench: Bench):
    await bench.at("/frames")
    assert (await bench.do(TypeText(bench.number("Word", frame=("far",)), "hello"))).success
    assert bench.find("Word", frame=("far",)).value == "hello"


async def test_a_covered_frame_says_what_covers_it(bench: Bench):
    await bench.at("/frames")
    result = await bench.executor.do(Click(bench.number("Press", frame=("hid",))))
    assert result.cause is Cause.COVERED
    assert f'click("{bench.number("Close")}")' in result.alternatives[0]


# what it did


@pytest.mark.smoke
async def test_a_click_without_any_effect_says_so_and_is_refused_the_second_time(bench: Bench):
    await bench.at("/effects")
    nothing = Click(bench.number("Does nothing"))
    first = await bench.do(nothing)
    assert (first.success, first.effect, first.cause) == (False, Effect.NOTHING, Cause.NO_EFFECT)
    assert f'press("{nothing.element}", "Enter")' in first.alternatives
    second = await bench.do(nothing)
    assert (second.effect, second.cause) == (Effect.REFUSED, Cause.DEAD_CLICK)
    assert second.alternatives


async def test_a_dead_click_is_another_one_after_the_page_has_changed(bench: Bench):
    await bench.at("/effects")
    await bench.do(Click(bench.number("Does nothing")))
    await bench.do(Click(bench.number("Count")))
    assert (await bench.do(Click(bench.number("Does nothing")))).cause is Cause.NO_EFFECT


async def test_a_toggle_whose_state_flipped_meanwhile_may_be_clicked_again(bench: Bench):
    await bench.at("/effects")
    toggle = Click(bench.number("Hidden filter"))
    assert (await bench.do(toggle)).effect is Effect.NOTHING
    await bench.tab.page.wait_for_function(
        "document.querySelector('#toggle').getAttribute('aria-pressed') === 'true'"
    )
    await bench.look()
    assert (await bench.do(toggle)).cause is not Cause.DEAD_CLICK


async def test_points_are_guarded_like_elements(bench: Bench):
    await bench.at("/plain")
    assert (await bench.do(ClickAt((400, 400)))).effect is Effect.NOTHING
    assert (await bench.do(ClickAt((401, 400)))).cause is Cause.DEAD_CLICK
    assert (await bench.do(ClickAt((5000, 400)))).cause is Cause.VALUE


async def test_what_changes_by_itself_is_no_effect(bench: Bench):
    await bench.at("/effects?tick")
    await asyncio.sleep(1.0)
    result = await bench.do(Click(bench.number("Does nothing")))
    assert (result.success, result.effect) == (False, Effect.UNRELATED)
    assert (await bench.do(Click(bench.number("Count")))).effect is Effect.CHANGED


async def test_what_comes_and_goes_again_is_no_effect(bench: Bench):
    await bench.at("/effects")
    assert (await bench.do(Click(bench.number("Ripples")))).effect is Effect.NOTHING


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("Colours itself", Effect.CHANGED),
        ("Paint", Effect.CHANGED),
        ("Jump", Effect.CHANGED),
        ("Push", Effect.NAVIGATED),
        ("Leave", Effect.NAVIGATED),
        ("Slow", Effect.CHANGED),
        ("Focus menu", Effect.CHANGED),
        ("Alert", Effect.CHANGED),
        ("Take the file", Effect.CHANGED),
    ],
)
async def test_effects_of_all_kinds_are_told(bench: Bench, name: str, effect: Effect):
    await bench.at("/effects")
    result = await bench.do(Click(bench.number(name)))
    assert (result.success, result.effect) == (True, effect)


async def test_a_menu_that_only_a_style_sheet_opens_is_seen(bench: Bench):
    await bench.at("/effects")
    result = await bench.executor.do(Hover(bench.number("Hover menu")))
    assert (result.success, result.effect) == (True, Effect.CHANGED)
    page = await bench.look()
    result = await bench.do(Click(bench.number("In the hover menu")))
    assert (result.effect, bench.executor.page.title) == (Effect.NAVIGATED, "Plain")
    assert page.title == "Effects"


async def test_the_look_after_an_action_is_not_taken_twice(bench: Bench):
    await bench.at("/effects")
    await bench.executor.do(Click(bench.number("Leave")))
    taken = bench.executor.page
    first = await bench.look()
    second = await bench.look()
    assert taken.title == "Effects"
    assert first.title == "Plain"
    assert second is not first


async def test_numbers_of_the_last_look_hold_through_the_actions_of_one_step(bench: Bench):
    await bench.at("/effects")
    count, nothing = bench.number("Count"), bench.number("Does nothing")
    assert (await bench.executor.do(Click(nothing))).effect is Effect.NOTHING  # looks for itself
    assert (await bench.executor.do(Click(count))).effect is Effect.CHANGED
    assert await bench.text("#p") == "+"
    assert (await bench.executor.do(Click(bench.number("Leave")))).effect is Effect.NAVIGATED
    assert (await bench.executor.do(Click(count))).cause is Cause.STALE


# dialogs, tabs, history


async def test_dialogs_are_dismissed_unless_an_answer_was_given(bench: Bench):
    await bench.at("/effects")
    await bench.do(Click(bench.number("Confirm")))
    assert await bench.text("#p") == "no"
    assert (await bench.do(AnswerDialog(accept=True))).success
    await bench.do(Click(bench.number("Confirm")))
    assert await bench.text("#p") == "yes"
    await bench.do(AnswerDialog(accept=True, text="Ada"))
    await bench.do(Click(bench.number("Prompt")))
    assert await bench.text("#p") == "Ada"
    await bench.do(Click(bench.number("Confirm")))
    assert await bench.text("#p") == "no"


async def test_what_came_up_unasked_is_told_with_the_next_look_and_once(bench: Bench):
    await bench.at("/effects")
    await bench.executor.do(Click(bench.number("Alert")))
    await bench.executor.do(Click(bench.number("Does nothing")))  # looks for itself
    await bench.executor.do(Click(bench.number("Take the file")))
    page = await bench.look()
    assert (page.alerts, page.downloads) == (("hello",), ("file.zip",))
    assert (await bench.look()).alerts == ()


async def test_dialogs_without_end_end_the_page_and_not_the_run(bench: Bench):
    await bench.at("/effects")
    result = await bench.executor.do(Click(bench.number("Alerts without end")))
    assert (result.success, result.cause) == (False, Cause.PAGE_LOST)
    assert "dialogs without end" in result.why
    page = await bench.look()
    assert any("dialogs without end" in note for note in page.notes)
    assert (await bench.do(Goto(bench.home + "/plain"))).success


async def test_a_page_that_crashes_is_opened_anew(bench: Bench):
    await bench.at("/plain")
    with pytest.raises(Exception, match="crash"):
        await bench.tab.page.goto("chrome://crash")
    assert (await bench.executor.do(Click(0))).cause is Cause.PAGE_LOST
    page = await bench.look()
    assert (page.title, page.notes[-1]) == ("Plain", "the page crashed; it was reopened")


async def test_a_window_that_opens_becomes_the_tab_in_front_and_tabs_are_switched_and_closed(bench: Bench):
    await bench.at("/effects")
    opened = await bench.do(Click(bench.number("New window")))
    assert (opened.effect, bench.executor.page.title) == (Effect.NAVIGATED, "Plain")
    tabs, active = await bench.executor.tabs()
    assert ([tab.title for tab in tabs], active) == (["Effects", "Plain"], 1)
    assert (await bench.do(SwitchTab(0))).success
    assert bench.executor.page.title == "Effects"
    assert (await bench.do(SwitchTab(7))).cause is Cause.MISSING
    assert (await bench.do(NewTab(bench.home + "/links"))).success
    assert bench.executor.page.title == "Links"
    assert (await bench.do(CloseTab())).success
    assert (await bench.do(CloseTab())).success
    assert (await bench.do(CloseTab())).cause is Cause.POLICY
    assert len((await bench.executor.tabs())[0]) == 1


async def test_a_tab_that_closes_itself_is_told(bench: Bench):
    await bench.at("/effects")
    await bench.do(Click(bench.number("New window")))
    await bench.do(Goto(bench.home + "/effects"))
    result = await bench.executor.do(Click(bench.number("Close")))
    page = await bench.look()
    assert page.title == "Effects"
    assert len((await bench.executor.tabs())[0]) in (1, 2)
    assert result.effect in (Effect.NAVIGATED, Effect.NOTHING)


async def test_back_and_forward_say_when_there_is_nowhere_to_go(bench: Bench):
    await bench.at("/links")
    await bench.do(Goto(bench.home + "/plain"))
    assert (await bench.do(GoForward())).cause is Cause.NO_EFFECT
    assert (await bench.do(GoBack())).success
    assert bench.executor.page.title == "Links"
    assert (await bench.do(GoForward())).success
    assert bench.executor.page.title == "Plain"
    await bench.do(GoBack())
    assert (await bench.do(GoBack())).cause is Cause.NO_EFFECT


# where it leads


async def test_a_link_to_a_log_in_wall_or_a_challenge_is_handed_to_a_person(bench: Bench):
    await bench.at("/links")
    result = await bench.do(Click(bench.number("Orders")))
    assert (result.success, result.effect, result.cause) == (False, Effect.NAVIGATED, Cause.LOGIN)
    assert result.alternatives[0].startswith("ask_human")
    await bench.at("/links")
    assert (await bench.do(Click(bench.number("Guarded")))).cause is Cause.CHALLENGE
    await bench.at("/links")
    meant = await bench.do(Click(bench.number("Log in", "link")))
    assert (meant.success, meant.cause) == (True, Cause.NONE)


async def test_a_challenge_is_not_asked_for_again(bench: Bench):
    await bench.at("/plain")
    first = await bench.do(Goto(bench.home + "/captcha"))
    assert (first.success, first.cause, first.effect) == (False, Cause.CHALLENGE, Effect.NAVIGATED)
    again = await bench.do(Goto(bench.home + "/captcha"))
    assert (again.cause, again.effect) == (Cause.CHALLENGE, Effect.REFUSED)


@pytest.mark.parametrize(("name", "status"), [("Missing", 404), ("Faulty", 500)])
async def test_error_pages_are_told_with_their_status(bench: Bench, name: str, status: int):
    await bench.at("/links")
    result = await bench.do(Click(bench.number(name)))
    assert (result.success, result.cause, result.status) == (False, Cause.ERROR_PAGE, status)
    gone = await bench.do(Goto(bench.home + "/nowhere"))
    assert (gone.cause, gone.status) == (Cause.ERROR_PAGE, 404)


async def test_an_address_that_nobody_answers_at_is_told_in_one_sentence(bench: Bench):
    await bench.at("/plain")
    result = await bench.executor.do(Goto("http://127.0.0.1:9/"))
    assert (result.cause, result.effect) == (Cause.NETWORK, Effect.REFUSED)
    assert "\n" not in result.why


async def test_a_link_to_where_nobody_answers_is_told_and_can_be_left(bench: Bench):
    await bench.at("/links")
    result = await bench.do(Click(bench.number("Nobody there")))
    assert (result.success, result.cause) == (False, Cause.NETWORK)
    assert (await bench.do(GoBack())).success
    assert bench.executor.page.title == "Links"


async def test_search_engines_scripts_and_files_are_no_addresses(bench: Bench):
    await bench.at("/plain")
    for url in (
        "https://www.google.com/search?q=x",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
    ):
        assert (await bench.executor.do(Goto(url))).cause is Cause.OFF_SITE
    assert (await bench.look()).title == "Plain"


async def test_going_in_circles_is_refused_after_a_while_and_said_before(bench: Bench):
    await bench.at("/links")
    results = [await bench.do(Goto(bench.home + "/plain")) for _ in range(4)]
    assert [result.success for result in results] == [True, True, True, False]
    assert "opened 1 times before" in results[1].notes[0]
    assert results[3].cause is Cause.REGRESSION


async def test_a_path_alone_is_completed_by_the_page(bench: Bench):
    await bench.at("/links")
    assert (await bench.do(Goto("/plain"))).success
    assert bench.executor.page.url == bench.home + "/plain"


@pytest.mark.parametrize("name", ["Elsewhere", "Sent away", "Script away", "Post away", "Window away"])
async def test_a_pinned_run_does_not_leave_its_sites_by_any_way(
    chromium: Browser, server: DemoServer, name: str
):
    async with open_session(chromium) as tab:
        bench = await _bench(server, Executor(tab, domains=frozenset({HOST}), options=SWIFT))
        await bench.at("/links")
        result = await bench.executor.do(Click(bench.number(name)))
        assert (result.success, result.cause) == (False, Cause.OFF_SITE)
        page = await bench.look()
        assert page.title == "Links"
        assert (await bench.do(Goto(bench.other + "/plain"))).cause is Cause.OFF_SITE
        assert (await bench.do(Goto(bench.home + "/plain"))).success


# pages that misbehave, and what is none of the hand's


async def test_a_page_that_hangs_is_told_and_left(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.engine.browser.executor.ACTION_TIMEOUT", 3.0)
    await bench.at("/stuck")
    result = await bench.executor.do(Click(bench.number("Hang")))
    assert (result.success, result.cause) == (False, Cause.TIMEOUT)
    monkeypatch.setattr("app.engine.browser.capture.snapshot.CAPTURE_TIMEOUT", 1.5)
    page = await bench.look()
    assert (page.url, "is busy" in page.notes[-1]) == ("about:blank", True)
    assert (await bench.do(Goto(bench.home + "/plain"))).success


async def test_a_page_that_hangs_can_be_left_by_an_address(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.engine.browser.executor.ACTION_TIMEOUT", 2.0)
    await bench.at("/stuck")
    await bench.executor.do(Click(bench.number("Hang")))
    monkeypatch.setattr("app.engine.browser.executor.ACTION_TIMEOUT", 30.0)
    monkeypatch.setattr("app.engine.browser.executor.ANSWER_TIMEOUT", 1.5)
    assert (await bench.executor.do(Goto(bench.home + "/plain"))).success
    assert (await bench.look()).title == "Plain"


async def test_windows_without_end_do_not_become_tabs_without_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("app.engine.browser.session.MAX_TABS", 3)
    await bench.at("/effects")
    await bench.executor.do(Click(bench.number("Many windows")))
    await bench.look()
    assert 2 <= len((await bench.executor.tabs())[0]) <= 4


async def test_what_is_no_action_on_a_page_is_refused(bench: Bench):
    assert (await bench.executor.do(TakeNote("x"))).cause is Cause.POLICY


async def test_waiting_is_done_and_no_longer_than_allowed(bench: Bench):
    await bench.at("/plain")
    result = await bench.do(Wait(0.05))
    assert (result.success, result.effect) == (True, Effect.NOTHING)
    assert result.seconds < 5


# the wheel, dragging, keys


async def test_the_wheel_scrolls_the_page_and_a_list_and_says_when_there_is_no_more(bench: Bench):
    await bench.at("/scrolls")
    assert (await bench.do(Scroll(500))).effect is Effect.CHANGED
    assert await bench.tab.page.evaluate("scrollY") > 0
    await bench.do(Press("Home"))
    await bench.tab.page.wait_for_function("scrollY === 0")  # the browser glides there
    listed = await bench.do(Scroll(200, element=bench.number("List")))
    assert listed.success
    await bench.tab.page.wait_for_function("document.querySelector('div').scrollTop > 0")
    await bench.do(Scroll(-2000))
    assert (await bench.do(Scroll(-200))).effect is Effect.NOTHING


async def test_things_are_dragged_by_the_browsers_own_way_and_by_the_pages(bench: Bench):
    await bench.at("/drags")
    assert (await bench.do(Drag(bench.number("Card"), bench.number("Basket")))).success
    assert await bench.text("#said") == "dropped card"
    stone = bench.find("Stone").rect
    assert stone is not None
    assert (await bench.do(Drag(bench.number("Stone"), (stone[0] + 240, stone[1] + 90)))).success
    moved = bench.find("Stone").rect
    assert moved is not None
    assert abs(moved[0] - stone[0] - 200) <= 2
    assert abs(moved[1] - stone[1] - 60) <= 2


async def test_keys_are_pressed_by_any_of_their_names(bench: Bench):
    await bench.at("/inner")
    word = bench.number("Word")
    await bench.do(TypeText(word, "abc"))
    assert (await bench.do(Press("ctrl+a", word))).success
    assert (await bench.do(Press("del", word))).success
    assert bench.find("Word").value == ""
    assert (await bench.do(Press("NoSuchKey"))).cause is Cause.VALUE


async def test_text_is_copied_and_pasted_with_keys(bench: Bench):
    await bench.at("/fields")
    await bench.do(TypeText(bench.number("Text"), "carried over"))
    await bench.do(Press("Control+a", bench.number("Text")))
    await bench.do(Press("Control+c"))
    await bench.do(Press("Control+v", bench.number("Find")))
    assert bench.find("Find").value == "carried over"
