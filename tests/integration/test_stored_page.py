"""Locators of suites are evaluated in stored pages: offline, without the page's scripts, within a time limit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from app.engine.browser.stored_page import (
    NOT_STORED,
    TOO_LONG,
    LocatedText,
    StoredLocator,
    StoredPages,
    needs_field_values,
)

FIELDS = "<input name='i' value='x'><select><option selected>a</option></select>"

PAGE = """<!doctype html><html><head><title>T</title>
<meta http-equiv="refresh" content="0;url=http://elsewhere.invalid/">
<script>document.title = "changed by a script"</script></head>
<body onload="document.title = 'changed at load'">
<p id="a">5 &lt; 6 &amp;amp; more</p><ul><li>x</li><li>y</li></ul>
<img src="http://elsewhere.invalid/picture" onerror="document.title = 'changed by a picture'">
<iframe src="http://elsewhere.invalid/frame"></iframe></body></html>"""

pytestmark = pytest.mark.browser


def read(
    *locators: StoredLocator, html: str = PAGE, url: str = "http://h:7770/p?q=1"
) -> dict[str, LocatedText]:
    async def reading() -> dict[str, LocatedText]:
        async with StoredPages() as pages:
            return await pages.read(html, url, locators)

    return asyncio.run(reading())


def scripts(*texts: str) -> Sequence[StoredLocator]:
    return [StoredLocator(id=str(number), script=text) for number, text in enumerate(texts)]


@pytest.mark.smoke
def test_a_locator_gives_its_text_in_pythons_spelling() -> None:
    found = read(
        *scripts(
            "document.querySelector('#a').outerText",
            "document.title",
            "document.location.href",
            "document.querySelectorAll('li').length",
            "[...document.querySelectorAll('li')].map(one => one.outerText)",
            "document.querySelector('#a').getAttribute('nothing')",
            "document.nothing",
            "document.hidden",
            "document.querySelector('#gone').outerText",
            "document.querySelector('",
        )
    )
    values = [found[str(number)].value for number in range(len(found))]
    assert values == [
        "5 < 6 & more",
        "T",
        "http://h:7770/p?q=1",
        "2",
        "['x', 'y']",
        "None",
        "None",
        "False",
        "",
        "",
    ]
    assert [found[str(number)].missing for number in range(len(found))] == [False] * 8 + [True, True]


def test_nothing_gets_out_and_an_endless_locator_ends() -> None:
    async def reading() -> tuple[dict[str, LocatedText], dict[str, LocatedText]]:
        async with StoredPages() as pages:
            stuck = await pages.read(
                PAGE,
                "about:blank",
                [
                    StoredLocator(
                        id="fetch", script="fetch('http://elsewhere.invalid/').then(String, () => 'no')"
                    ),
                    StoredLocator(id="endless", script="document.title + (() => { for (;;) {} })()"),
                ],
            )
            return stuck, await pages.read(PAGE, "", scripts("document.title"))

    stuck, after = asyncio.run(reading())
    assert stuck["endless"] == LocatedText(why=TOO_LONG)
    assert stuck["fetch"].value == "no"
    assert after["0"].value == "T"


def test_two_pages_of_one_address_do_not_mix() -> None:
    async def reading() -> list[str | None]:
        async with StoredPages() as pages:
            found: list[str | None] = []
            for script in ("document.title", "document.title + document.location.hash"):
                for name in ("A", "B"):
                    read = await pages.read(f"<title>{name}</title>", "http://h/p#part", scripts(script))
                    found.append(read["0"].value)
            return found

    assert asyncio.run(reading()) == ["A", "B", "A#part", "B#part"]


def test_a_page_shown_in_place_of_another_runs_no_script() -> None:
    async def reading() -> list[str | None]:
        async with StoredPages() as pages:
            locators = scripts(
                "document.title", "document.querySelector('#a').outerText", "document.images.length"
            )
            await pages.read("<p>before</p>", "", locators)
            found = await pages.read(PAGE, "", locators)
            return [found[one.id].value for one in locators]

    assert asyncio.run(reading()) == ["T", "5 < 6 & more", "1"]


def test_preparations_come_first_and_their_errors_stop_the_rest() -> None:
    title = "document.title"
    found = read(
        StoredLocator(id="done", script=title, prepare=("document.title = 'A'",)),
        StoredLocator(id="stopped", script=title, prepare=("nothing.at.all", "document.title = 'B'")),
    )
    assert (found["done"].value, found["stopped"].value) == ("A", "A")


@pytest.mark.parametrize(
    "script",
    [
        "document.querySelector('input').value",
        "document.querySelector('select').selectedIndex",
        "document.querySelector('select').selectedOptions[0].outerText",
        "document.querySelector('input').checked",
        "document.querySelector('input:checked').outerText",
        "document.querySelector('input')['value']",
        "document.forms[0].elements[0]",
    ],
)
def test_what_was_typed_is_not_in_a_stored_page(script: str) -> None:
    assert needs_field_values(script)
    assert read(*scripts(script), html=FIELDS)["0"] == LocatedText(why=NOT_STORED)


@pytest.mark.parametrize(
    ("script", "known"),
    [
        ("document.querySelector('textarea').value", True),
        ("document.getElementById('x').checked", True),
        ("document.querySelector('select.other').selectedIndex", True),
        ("[...document.querySelectorAll('textarea')].map(one => one.value)", False),
        ("document.querySelector('textarea').value + document.title", False),
    ],
)
def test_that_a_field_is_not_there_is_in_a_stored_page(script: str, known: bool) -> None:
    found = read(*scripts(script), html=FIELDS)["0"]
    assert found == (LocatedText(value="", missing=True) if known else LocatedText(why=NOT_STORED))


@pytest.mark.parametrize(
    "script",
    [
        "document.querySelector('[name=value]').outerText",
        "document.querySelector('input').getAttribute('value')",
    ],
)
def test_attributes_are_in_a_stored_page(script: str) -> None:
    assert not needs_field_values(script)
