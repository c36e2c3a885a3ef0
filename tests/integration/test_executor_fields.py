"""Filling in fields with the executor: every kind of field gets what it accepts; the rest is refused
with a reason.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from app.demo.server import HOST, DemoServer
from app.engine.browser.executor import Executor
from app.engine.browser.session import open_session
from app.engine.core.action_result import Cause, Effect
from app.engine.core.actions.types import (
    Click,
    Press,
    Select,
    SelectText,
    SetChecked,
    SetSlider,
    TypeKeys,
    TypeText,
    Upload,
)
from tests.support.executor_bench import SWIFT, Bench
from tests.support.executor_pages import ExecutorSite


@pytest_asyncio.fixture(loop_scope="session")
async def bench(chromium: Browser, server: DemoServer, tmp_path: Path) -> AsyncIterator[Bench]:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "paper.txt").write_text("words")
    (tmp_path / "secret.txt").write_text("not for the page")
    (tmp_path / "files" / "way-out").symlink_to(tmp_path / "secret.txt")
    async with open_session(chromium) as tab:
        home = f"http://{HOST}:{await server.listen(ExecutorSite(), 0)}"
        yield Bench(Executor(tab, files=tmp_path / "files", options=SWIFT), home, "")


TAKEN = [
    ("Day", "day", "May 3, 2026", "2026-05-03"),
    ("Day", "day", "04.05.2026", "2026-05-04"),
    ("Clock", "clock", "3:30 pm", "15:30"),
    ("Month", "month", "March 2026", "2026-03"),
    ("Week", "week", "week 7, 2026", "2026-W07"),
    ("Moment", "moment", "May 3, 2026 3:30 PM", "2026-05-03T15:30"),
    ("Amount", "amount", "€ 1.234,50", "1234.50"),
    ("Amount", "amount", "$1,234.75", "1234.75"),
    ("Pieces", "pieces", "3.0", "3"),
    ("Colour", "colour", "orange", "#ffa500"),
    ("Phone", "phone", "(555) 123 4567", "555-123-4567"),
    ("Zip", "zip", "1 2 3 4 5", "12345"),
    ("American day", "american", "2026-05-03", "05/03/2026"),
    ("Price", "price", "£ 12.50", "12.50"),
    ("Masked", "masked", "12345678", "1234 5678"),
    ("Text", "text", "new\nwords", "new\nwords"),
    ("Text", "text", "a" * 300, "a" * 300),
    ("Site", "site", "example.com/x", "https://example.com/x"),
]
NOT_TAKEN = [
    ("Day", "soon", Cause.VALUE),
    ("Day", "2025-01-01", Cause.VALUE),
    ("Amount", "a lot", Cause.VALUE),
    ("Amount", "9999", Cause.VALUE),
    ("Zip", "much too long", Cause.VALUE),
    ("Stubborn", "yours", Cause.VALUE),
    ("Fixed", "y", Cause.WRONG_KIND),
    ("Send", "y", Cause.WRONG_KIND),
    ("Paper", "y", Cause.WRONG_KIND),
]


@pytest.mark.smoke
async def test_a_text_is_brought_into_the_form_its_field_takes(bench: Bench):
    await bench.at("/fields")
    for label, name, typed, held in TAKEN:
        result = await bench.do(TypeText(bench.number(label), typed))
        assert (label, result.success, result.effect) == (label, True, Effect.CHANGED)
        assert await bench.value(f"[name={name}]") == held


async def test_what_a_field_does_not_take_is_refused_with_why(bench: Bench):
    await bench.at("/fields")
    for label, typed, cause in NOT_TAKEN:
        result = await bench.executor.do(TypeText(bench.number(label), typed))
        assert (label, result.success, result.cause, result.effect) == (label, False, cause, Effect.REFUSED)
        assert label in result.why


async def test_a_secret_is_in_no_word_of_the_result(bench: Bench):
    await bench.at("/fields")
    for label in ("Password", "Fixed", "Stubborn", "Zip", "Day", "Send"):
        result = await bench.do(TypeText(bench.number(label), "hunter2 long"))
        assert "hunter2" not in repr(result)
    assert await bench.tab.page.get_by_label("Password").input_value() == "hunter2 long"
    assert "hunter2" not in repr(await bench.do(Press("hunter2")))
    assert "hunter2" not in repr(await bench.do(Select(bench.number("Size"), ("hunter2",))))


async def test_a_text_that_stands_there_already_is_no_change_and_a_success(bench: Bench):
    await bench.at("/fields")
    await bench.do(TypeText(bench.number("Price"), "3"))
    again = await bench.do(TypeText(bench.number("Price"), "3"))
    assert (again.success, again.effect) == (True, Effect.NOTHING)


async def test_what_was_in_a_field_is_replaced_and_emptied(bench: Bench):
    await bench.at("/fields")
    await bench.do(TypeText(bench.number("Note"), "new note"))
    assert await bench.text("[contenteditable]") == "new note"
    await bench.do(TypeText(bench.number("Text"), ""))
    assert bench.find("Text").value == ""


async def test_keys_are_heard_and_enter_sends_the_form(bench: Bench):
    await bench.at("/fields")
    await bench.do(TypeText(bench.number("Find"), "abc"))
    assert int(await bench.text("#keys")) == 3
    assert (await bench.do(TypeText(bench.number("Find"), "abcd", enter=True))).success
    assert "find=abcd" in await bench.text("#out")


async def test_typing_goes_where_the_cursor_stands_or_says_that_nothing_came_of_it(bench: Bench):
    await bench.at("/fields")
    await bench.do(Click(bench.number("Find")))
    assert (await bench.do(TypeKeys("hi"))).success
    assert bench.find("Find").value == "hi"
    await bench.at("/fields")
    assert (await bench.do(TypeKeys("hi"))).cause is Cause.NO_EFFECT


async def test_fields_in_shadow_roots_are_filled(bench: Bench):
    await bench.at("/fields")
    assert (await bench.do(TypeText(bench.number("Shadow day"), "3 May 2026"))).success
    assert bench.find("Shadow day").value == "2026-05-03"


# choosing


async def test_an_option_is_found_by_its_label_or_what_names_it_alone(bench: Bench):
    await bench.at("/fields")
    for option in ("Medium (38-40)", "medium  (38-40)", "Medium", "m"):
        assert (await bench.do(Select(bench.number("Size"), (option,)))).effect is Effect.CHANGED
        assert await bench.value("[name=size]") == "m"
        await bench.tab.page.evaluate("document.querySelector('[name=size]').value = 's'")


async def test_a_list_says_what_it_offers_and_what_it_does_not(bench: Bench):
    await bench.at("/fields")
    missing = await bench.do(Select(bench.number("Size"), ("Tiny",)))
    assert missing.cause is Cause.NO_OPTION
    assert "'Small'" in missing.alternatives[0]
    assert (await bench.do(Select(bench.number("Size"), ("Large",)))).cause is Cause.DISABLED
    assert (await bench.do(Select(bench.number("Size"), ("Small", "Medium")))).cause is Cause.VALUE
    assert (await bench.do(Click(bench.number("Size")))).cause is Cause.WRONG_KIND


async def test_a_text_for_a_list_chooses_from_it(bench: Bench):
    await bench.at("/fields")
    assert (await bench.do(TypeText(bench.number("Size"), "Extra large"))).success
    assert await bench.value("[name=size]") == "xl"


async def test_several_options_are_chosen_where_several_may_be(bench: Bench):
    await bench.at("/fields")
    assert (await bench.do(Select(bench.number("Toppings"), ("Ham", "Olives")))).success
    chosen = "[...document.querySelector('[name=toppings]').selectedOptions].map(o => o.text).join()"
    assert await bench.tab.page.evaluate(chosen) == "Olives,Ham"


async def test_a_list_that_a_page_made_is_opened_and_chosen_from(bench: Bench):
    await bench.at("/fields")
    result = await bench.do(Select(bench.number("Country"), ("france",)))
    assert result.success
    assert await bench.text("#country") == "France"
    missing = await bench.do(Select(bench.number("Country"), ("Peru",)))
    assert missing.cause is Cause.NO_OPTION
    assert "Ghana" in missing.alternatives[0]


async def test_a_list_with_a_search_field_is_searched(bench: Bench):
    await bench.at("/fields")
    assert (await bench.do(Select(bench.number("City"), ("Lisbon",)))).success
    assert await bench.text("#city") == "Lisbon"


async def test_boxes_buttons_and_switches_are_set_once_and_checked(bench: Bench):
    await bench.at("/fields")
    for name in ("News", "By sea", "Dark"):
        first = await bench.do(SetChecked(bench.number(name)))
        assert (first.success, first.effect) == (True, Effect.CHANGED)
        again = await bench.do(SetChecked(bench.number(name)))
        assert (again.success, again.effect) == (True, Effect.NOTHING)
    assert (await bench.do(SetChecked(bench.number("News"), on=False))).success
    assert not await bench.tab.page.locator("[name=news]").is_checked()
    assert (await bench.do(SetChecked(bench.number("By sea"), on=False))).cause is Cause.WRONG_KIND
    assert (await bench.do(SetChecked(bench.number("Send")))).cause is Cause.WRONG_KIND


# files


async def test_a_file_of_the_runs_folder_is_given_and_nothing_outside_of_it(bench: Bench, tmp_path: Path):
    await bench.at("/fields")
    assert (await bench.do(Upload(bench.number("Paper"), "paper.txt"))).success
    assert await bench.tab.page.evaluate("document.querySelector('[name=file]').files[0].name") == "paper.txt"
    for name in ("../secret.txt", str(tmp_path / "secret.txt"), "way-out", "", ".", "none.txt", "a\0b"):
        result = await bench.do(Upload(bench.number("Paper"), name))
        assert (result.success, result.cause) == (False, Cause.FILE)
    assert (await bench.do(Upload(bench.number("Choose a file"), "paper.txt"))).success
    assert await bench.text("#out") == "paper.txt"
    assert (await bench.do(Upload(bench.number("Send"), "paper.txt"))).cause is Cause.WRONG_KIND


# sliders


async def test_the_browsers_own_slider_is_set_and_the_page_hears_of_it(bench: Bench):
    await bench.at("/sliders")
    assert (await bench.do(SetSlider(bench.number("Plain"), 25))).success
    assert await bench.text("#heard") == "heard 25"
    assert (await bench.do(SetSlider(bench.number("Plain"), 90))).cause is Cause.VALUE
    assert (await bench.do(SetSlider(bench.number("Plain"), 25))).effect is Effect.NOTHING


async def test_a_slider_that_says_where_it_is_is_brought_there_with_keys(bench: Bench):
    await bench.at("/sliders")
    assert (await bench.do(SetSlider(bench.number("Volume"), 44))).success
    assert await bench.tab.page.locator("#aria").get_attribute("aria-valuenow") == "44"
    assert (await bench.do(SetSlider(bench.number("Volume"), 4))).success
    assert (await bench.do(SetSlider(bench.number("Volume"), 45))).cause is Cause.VALUE


async def test_a_slider_that_only_a_number_on_the_page_tells_of_is_brought_there(bench: Bench):
    page = await bench.at("/sliders")
    handle = next(
        one for one in page.elements if ("id", "keyed") in one.attributes or one.css.endswith("#keyed")
    )
    assert (await bench.do(SetSlider(handle.index, -12))).success
    assert await bench.text("#told") == "-12"


@pytest.mark.smoke
async def test_a_slider_that_hears_no_keys_is_dragged(bench: Bench):
    page = await bench.at("/sliders")
    handle = next(one for one in page.elements if one.css.endswith("#dragged"))
    result = await bench.do(SetSlider(handle.index, 60))
    assert (result.success, result.tried) == (True, ("keys", "cdp"))
    assert await bench.text("#pulled") == "60"


async def test_a_slider_in_a_shadow_root_is_set(bench: Bench):
    await bench.at("/sliders")
    assert (await bench.do(SetSlider(bench.number("Deep"), 150))).success
    assert bench.find("Deep").value == "150"


# marking


@pytest.mark.smoke
async def test_a_part_of_a_text_is_marked(bench: Bench):
    await bench.at("/fields")
    await bench.do(TypeText(bench.number("Text"), "The quick brown fox"))
    assert (await bench.do(SelectText(bench.number("Text"), 4, 9))).success
    marked = "(e => e.value.slice(e.selectionStart, e.selectionEnd))(document.querySelector('textarea'))"
    assert await bench.tab.page.evaluate(marked) == "quick"
    await bench.do(SelectText(bench.number("Note"), 4))
    assert await bench.tab.page.evaluate("String(getSelection())") == "note"
    assert (await bench.do(SelectText(bench.number("Note"), 90, 95))).cause is Cause.VALUE
