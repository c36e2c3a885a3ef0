"""A person's words to a running scout steer it: what they name is done next, once, and nothing that they warn of."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.agent.scout.hinting import named_in
from app.engine.agent.scout.policy import ScoutPolicy
from app.engine.core.action_result import ActionResult, Effect
from app.engine.core.actions.types import Action, Click, Goto, Stop, TypeText
from app.engine.core.observation import HistoryEntry, Observation, RetrievedTip
from app.engine.core.page_state import Element, PageCapture
from tests.support.laws import examples

HOST = "http://shop.test"
NAMES = ("Home", "Reports", "Lamps", "Offers of the week", "Account")
LINKS = tuple(
    Element(
        index=n,
        role="link",
        name=name,
        href=f"{HOST}/{name.split()[0].lower()}",
        rect=(0.0, 20.0 * n, 90.0, 18.0),
    )
    for n, name in enumerate(NAMES)
)
SEARCH = Element(
    index=5, role="searchbox", name="Search the shop", form="get:/search", rect=(0.0, 200.0, 90.0, 18.0)
)
NICK = Element(index=6, role="textbox", name="Nickname", rect=(0.0, 230.0, 90.0, 18.0))
ELEMENTS = (*LINKS, SEARCH, NICK)
PAGE = PageCapture(
    url=f"{HOST}/",
    title="Shop",
    elements=ELEMENTS,
    tree="RootWebArea 'Shop'\n" + "".join(f"\t[{one.index}] {one.role} '{one.name}'\n" for one in ELEMENTS),
    viewport=(1280, 800),
)


def hint(text: str, name: str = "h1") -> RetrievedTip:
    return RetrievedTip(tip=f"hint:{name}", text=text, kind="person", routes=("person",), score=1.0)


def sight(
    *hints: RetrievedTip,
    history: tuple[HistoryEntry, ...] = (),
    page: PageCapture = PAGE,
    step: int | None = None,
) -> Observation:
    return Observation(
        step=len(history) if step is None else step,
        steps_left=20,
        intent="How much is the Aria Desk lamp?",
        start_url=f"{HOST}/",
        page=page,
        tips=hints,
        history=history,
    )


def turn(
    step: int, action: Action, result: ActionResult | None = None, page: PageCapture = PAGE
) -> HistoryEntry:
    came = result or ActionResult(success=True, effect=Effect.NAVIGATED)
    return HistoryEntry(
        step=step, url=page.url, title=page.title, state="s", action=action, result=came, words="w"
    )


@pytest.mark.parametrize(
    ("words", "action"),
    [
        ('Open "Reports".', Click(1, label="Reports")),
        ("it is under offers of the week, I think", Click(3, label="Offers of the week")),
        ('Press "Offers"', Click(3, label="Offers of the week")),
        ("Go to /lamps/aria now", Goto(f"{HOST}/lamps/aria")),
        (f"see {HOST}/lamps/aria?size=2.", Goto(f"{HOST}/lamps/aria?size=2")),
        ("Use Reports > Orders of today.", Click(1, label="Reports")),
        ('search for "Aria Desk lamp"', TypeText(5, "Aria Desk lamp", enter=True)),
        ('type "Ann" into the "Nickname"', TypeText(6, "Ann")),
        ('The answer is "42".', Stop("42")),
    ],
)
async def test_what_a_hint_names_is_done_next(words: str, action: Action):
    decision = await ScoutPolicy().decide(sight(hint(words)))
    assert decision.action == action
    assert decision.followed == {"hint:h1": True}
    assert "the person who supervises says" in decision.reason


async def test_a_hint_is_followed_once_and_then_the_scout_goes_its_own_way():
    policy = ScoutPolicy()
    first = await policy.decide(sight(hint('Open "Reports"')))
    assert first.action == Click(1, label="Reports")
    second = await policy.decide(sight(hint('Open "Reports"'), history=(turn(0, first.action),)))
    assert "supervises" not in second.reason


async def test_the_newest_hint_counts_most_and_parts_wait_for_their_page():
    policy = ScoutPolicy()
    old, new = hint('Open "Reports"', "old"), hint('Open "Lamps", then press "Aria"', "new")
    first = await policy.decide(sight(old, new))
    assert first.action == Click(2, label="Lamps")
    aria = replace(
        PAGE, url=f"{HOST}/lamps", elements=(*ELEMENTS, Element(index=7, role="link", name="Aria"))
    )
    second = await policy.decide(sight(old, new, history=(turn(0, first.action),), page=aria))
    assert second.action == Click(7, label="Aria")


async def test_a_hint_that_names_nothing_on_the_page_changes_nothing():
    alone = (await ScoutPolicy().decide(sight())).action
    assert (await ScoutPolicy().decide(sight(hint("hurry up please")))).action == alone


@pytest.mark.parametrize(
    "words",
    [
        'Don\'t open "Reports"',
        "do not use reports",
        "it isn’t in 'Reports'",
        "never go to /lamps/aria",
        'you need not search for "Aria"',
        'I don\'t think the answer is "42"',
    ],
)
async def test_what_a_hint_says_not_to_do_is_not_done(words: str):
    decision = await ScoutPolicy().decide(sight(hint(words)))
    assert "supervises" not in decision.reason


async def test_a_person_may_say_what_the_task_does_not_ask_for():
    gone = Element(index=7, role="button", name="Delete account", form="post:/delete", submits=True)
    page = replace(PAGE, elements=(*ELEMENTS, gone))
    assert (await ScoutPolicy().decide(sight(page=page))).action != Click(7, label="Delete account")
    told = await ScoutPolicy().decide(sight(hint('press "Delete account"'), page=page))
    assert told.action == Click(7, label="Delete account")


async def test_what_is_to_be_done_instead_is_done():
    for words in ('Don\'t open "Reports", use "Lamps"', "use 'Lamps' instead of 'Reports'"):
        assert (await ScoutPolicy().decide(sight(hint(words)))).action == Click(2, label="Lamps")


async def test_a_run_that_is_gone_on_with_is_not_sent_to_an_old_address_again():
    been = turn(0, Goto(f"{HOST}/lamps/aria"))
    decision = await ScoutPolicy().decide(sight(hint("go to /lamps/aria"), history=(been,)))
    assert decision.action != Goto(f"{HOST}/lamps/aria")


async def test_an_address_that_cannot_be_read_is_left_to_the_browser():
    assert (await ScoutPolicy().decide(sight(hint("see http://[x now")))).action == Goto("http://[x")


@settings(max_examples=examples(150), deadline=None)
@given(st.text(max_size=300))
def test_any_words_can_be_said(words: str):
    assert all(one.what for one in named_in(words))


@pytest.mark.parametrize(
    "words",
    [
        "a > " * 1000,
        "/" * 4000,
        '"' * 4000,
        "type " * 800,
        "A" * 4000,
        "x/" * 2000,
        "not " * 1000,
        "don't" * 800,
    ],
)
def test_long_words_are_read_in_a_moment(words: str):
    began = time.perf_counter()
    named_in(words)
    assert time.perf_counter() - began < 5
