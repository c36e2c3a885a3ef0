"""The scout on sites, without a browser: what a task is after, what a page lists, what tips name, what is done next."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.agent.procedures.follower import ProcedureFollower
from app.engine.agent.scout.aims import Goal, aims_of, goal_words, kind_of
from app.engine.agent.scout.following import ByProcedure
from app.engine.agent.scout.intent import read_intent
from app.engine.agent.scout.site_skills import Elsewhere, OnSite
from app.engine.agent.scout.skill import Memory, Proposal, View
from app.engine.agent.scout.tables import count_in, facts_of
from app.engine.agent.scout.wording import fits, names, says
from app.engine.core.actions.types import Click, Navigate, Select, Stop, TypeText
from app.engine.core.observation import NavigableSite, Observation, RetrievedTip
from app.engine.core.page_state import Element, PageCapture
from kb.compiler import compile_text

HOST = "http://shop.test"


def element(index: int, role: str, name: str = "", **more: object) -> Element:
    return Element(index=index, role=role, name=name, **more)  # type: ignore[arg-type]


MENU = tuple(
    element(n, "link", name, href=f"{HOST}/{path}", landmarks=("navigation",))
    for n, (name, path) in enumerate(
        [("Home", ""), ("Account", "account"), ("Lamps", "lamps"), ("Offers", "offers")]
    )
)
MENU_TREE = "\tnavigation ''\n" + "".join(f"\t\t[{one.index}] link '{one.name}'\n" for one in MENU)


def page(path: str, body: str, *elements: Element, title: str = "", text: str = "") -> PageCapture:
    tree = f"RootWebArea '{title}', focused\n{MENU_TREE}{body}"
    return PageCapture(url=f"{HOST}{path}", title=title, elements=(*MENU, *elements), tree=tree, text=text)


def proposals(
    intent: str,
    seen: PageCapture,
    memory: Memory | None = None,
    tips: tuple[RetrievedTip, ...] = (),
    domains: tuple[NavigableSite, ...] = (),
) -> list[Proposal]:
    sight = Observation(
        step=0, steps_left=20, intent=intent, start_url=f"{HOST}/", page=seen, tips=tips, domains=domains
    )
    made = OnSite().propose(View(sight, read_intent(intent), memory or Memory()))
    return sorted(made, key=lambda one: -one.score)


def first(intent: str, seen: PageCapture, **more: object) -> object:
    return proposals(intent, seen, **more)[0].command  # type: ignore[arg-type]


LAMP = page(
    "/lamps/aria",
    "\theading 'Aria Desk lamp'\n\tparagraph ''\n\t\tStaticText '$73.00'\n\theading 'Details'\n\ttable ''\n"
    "\t\trow ''\n\t\t\tcolumnheader 'Weight (g)'\n\t\t\tcell '410'\n"
    "\t\trow ''\n\t\t\tcolumnheader 'Availability'\n\t\t\tcell 'Unavailable'\n"
    "\t[4] button 'Add to cart'\n",
    element(4, "button", "Add to cart", form="post:/cart", submits=True),
    title="Aria Desk lamp | Shop",
)
ORDERS = page(
    "/account/orders",
    "\theading 'Orders'\n\ttable ''\n\t\trow ''\n\t\t\tcolumnheader 'Number'\n\t\t\tcolumnheader 'Total'\n"
    "\t\t\tcolumnheader 'Status'\n\t\t\tcolumnheader 'Date'\n"
    + "".join(
        f"\t\trow ''\n\t\t\tcell '{number}'\n\t\t\t\t[{4 + n}] link '{number}'\n\t\t\tcell '{total}'\n"
        f"\t\t\tcell '{state}'\n\t\t\tcell '{day}'\n"
        for n, (number, total, state, day) in enumerate(
            [
                ("1003", "$1,020.50", "Open", "May 4, 2026"),
                ("1002", "$19.50", "Cancelled", "March 1, 2026"),
                ("1001", "$60.00", "Open", "Dec. 2, 2025"),
            ]
        )
    ),
    *(
        element(4 + n, "link", name, href=f"{HOST}/orders/{name}")
        for n, name in enumerate(["1003", "1002", "1001"])
    ),
    title="Orders | Shop",
)


@pytest.mark.parametrize(
    ("intent", "goal", "subjects", "field"),
    [
        ("What is the price of the Aria Desk lamp?", Goal.VALUE, ("Aria Desk lamp",), "price"),
        ('How many pages does "The Low Road" have?', Goal.VALUE, ("The Low Road",), "pages"),
        ("How many orders are open?", Goal.COUNT, (), "orders"),
        ("Is the Aria Desk lamp in stock?", Goal.YES_NO, ("Aria Desk lamp",), "stock"),
        ("Which order has the highest total?", Goal.EXTREME, (), "total"),
        ("What is the average total of my orders?", Goal.AVERAGE, (), "total"),
    ],
)
def test_a_question_is_read(intent: str, goal: Goal, subjects: tuple[str, ...], field: str) -> None:
    (aim,) = aims_of(intent)
    assert (aim.goal, aim.subjects, aim.field) == (goal, subjects, field)


def test_a_change_is_read_with_its_parts_fields_and_values() -> None:
    one, two = aims_of('Put the Aria Desk lamp into my cart and use the voucher code "SPRING".')
    assert (one.goal, one.verb, one.subjects) == (Goal.CHANGE, "put", ("Aria Desk lamp",))
    assert two.pairs == (("voucher code", "SPRING"),)
    (aim,) = aims_of('Change the status of order 1002 to "Shipped".')
    assert aim.pairs == (("status", "Shipped"),)
    assert kind_of(aim, "1002") == "order"
    assert goal_words(aim) == {"status", "order"}


def test_whatever_is_asked_is_read_as_something() -> None:
    for text in (
        "",
        "?",
        '"',
        "Do",
        "What",
        "of of of",
        "\x02" * 5,
        "Add",
        'Set "" to ""',
        "How many?" * 300,
    ):
        assert aims_of(text)


def test_words_that_sites_use_for_one_another_fit() -> None:
    assert fits("zip code", "Post/Zip-code") > 0.9
    assert fits("number in stock", "Num in stock") > 0.8
    assert fits("times used", "Uses") > 0
    assert fits("state", "Status") == 0
    assert says("Requires moderation", "require moderation")
    assert not says("required", "moderation")
    assert names("Aria Desk lamp, size L", "aria desk lamp")
    assert not names("Ariadne", "aria")


def test_a_page_s_tables_labels_and_cards_are_read() -> None:
    told = {one.label: one.value for one in facts_of(LAMP.tree).labelled}
    assert told["Weight (g)"] == "410"
    (grid,) = facts_of(ORDERS.tree).grids
    assert grid.columns == ("number", "total", "status", "date")
    assert [row["status"] for row in grid.rows] == ["Open", "Cancelled", "Open"]
    cards = facts_of(
        "\theading 'Lamps'\n\tlist ''\n\t\tlistitem ''\n\t\t\theading 'Aria Desk …'\n"
        "\t\t\t\t[1] link 'Aria Desk lamp'\n\t\t\tStaticText '$73.00'\n\t\t\tStaticText 'Available'\n"
    ).grids[0]
    assert cards.cards
    assert [cards.rows[0][column] for column in ("name", "price")] == ["Aria Desk lamp", "$73.00"]
    assert count_in(("Found", "1,204 results")) == 1204


@pytest.mark.parametrize(
    ("intent", "seen", "answer"),
    [
        ("What is the price of the Aria Desk lamp?", LAMP, "73.00"),
        ("What is the weight of the Aria Desk lamp?", LAMP, "410"),
        ("Is the Aria Desk lamp in stock?", LAMP, "no"),
        ("What is the total of order 1002?", ORDERS, "19.50"),
        ("How many orders have the status Open?", ORDERS, "2"),
        ("How many orders did I place in 2026?", ORDERS, "2"),
        ("What is the sum of the totals of all my orders?", ORDERS, "1100.00"),
        ("What is the average total of my orders?", ORDERS, "366.67"),
        ("What is the number of my most expensive order?", ORDERS, "1003"),
        ("When did I place my latest order?", ORDERS, "2026-05-04"),
        ("How many orders have a total over 50?", ORDERS, "2"),
    ],
)
def test_an_answer_that_the_page_gives_is_given(intent: str, seen: PageCapture, answer: str) -> None:
    assert first(intent, seen) == Stop(answer=answer)


def test_nothing_is_answered_from_the_page_of_another_thing() -> None:
    made = proposals("What is the weight of the Basis Floor lamp?", LAMP)
    assert not [one for one in made if isinstance(one.command, Stop)]


def test_a_thing_is_followed_where_a_link_has_its_name_and_searched_for_where_none_has() -> None:
    search = element(4, "textbox", "Search", form="get:/search")
    here = page("/", "\t[4] textbox 'Search'\n", search)
    assert first("What is the price of the Aria Desk lamp?", here) == TypeText(
        4, "Aria Desk lamp", enter=True
    )
    link = element(5, "link", "Aria Desk lamp", href=f"{HOST}/lamps/aria")
    here = page("/", "\t[4] textbox 'Search'\n\t[5] link 'Aria Desk lamp'\n", search, link)
    assert first("What is the weight of the Aria Desk lamp?", here) == Click(5, label="Aria Desk lamp")


def test_the_part_of_the_site_that_the_task_names_is_opened() -> None:
    assert first("How many products are in the category Lamps?", page("/", "")) == Click(2, label="Lamps")


def test_the_next_step_of_the_tip_that_meets_the_task_is_done_ahead_of_other_ways() -> None:
    buttons = (
        element(4, "button", "Sales", states=("collapsed", "haspopup"), landmarks=("navigation",)),
        element(5, "button", "People", states=("collapsed", "haspopup"), landmarks=("navigation",)),
    )
    here = page("/admin", "\t[4] button 'Sales'\n\t[5] button 'People'\n", *buttons)
    tips = (
        _tip("a", "Staff is kept at People > Staff."),
        _tip("b", "Refunds are listed at Sales > Refunds, newest first.", "You look for refunds"),
    )
    intent = "How many refunds are there?"
    sight = Observation(step=0, steps_left=20, intent=intent, start_url=f"{HOST}/", page=here, tips=tips)
    sight = replace(sight, procedures=ProcedureFollower(intent).look(sight))
    (found,) = ByProcedure().propose(View(sight, read_intent(intent), Memory()))
    assert found.command == Click(4, label="Sales")
    assert dict(found.followed) == {"b": True}


def _tip(name: str, text: str, when: str = "") -> RetrievedTip:
    return RetrievedTip(tip=name, text=text, when=when, procedure=compile_text(text, when))


def test_the_graph_is_asked_where_there_is_one_and_only_once() -> None:
    domains = (NavigableSite(name="shop", states=9, home=f"{HOST}/"),)
    asked = "How many refunds are there?"
    command = first(asked, page("/", ""), domains=domains)
    assert command == Navigate(domain="shop", query="refunds")
    memory = Memory(done={"navigate:refunds": 1})
    assert not isinstance(first(asked, page("/", ""), domains=domains, memory=memory), Navigate)


def test_a_form_is_filled_in_by_label_then_sent_then_done() -> None:
    asked = 'Create a new topic named "Birds": language "German".'
    fields = (
        element(4, "textbox", "Name", tag="input", form="post:/topics"),
        element(5, "combobox", "Language", tag="select", form="post:/topics", options=("English", "German")),
        element(6, "button", "Cancel", form="post:/topics", submits=True),
        element(7, "button", "Save", form="post:/topics", submits=True),
    )
    tree = "\t[4] textbox 'Name'\n\t[5] combobox 'Language'\n\t[6] button 'Cancel'\n\t[7] button 'Save'\n"
    here, memory = page("/topics/new", tree, *fields), Memory()
    done: list[object] = []
    for _ in range(4):
        best = proposals(asked, here, memory=memory)[0]
        done.append(best.command)
        memory.marks.update(best.marks)
        memory.values.update(best.keeps)
    assert done == [TypeText(4, "Birds"), Select(5, ("German",)), Click(7, label="Save"), Stop("done")]


def test_rows_of_several_pages_are_summed() -> None:
    onward = element(7, "link", "next", href=f"{HOST}/account/orders?page=2")
    tree = ORDERS.tree.split(MENU_TREE)[1]
    one = page("/account/orders", f"{tree}\t[7] link 'next'\n", *ORDERS.elements[4:], onward, title="Orders")
    asked, memory = "What is the sum of the totals of all my orders?", Memory()
    best = proposals(asked, one, memory=memory)[0]
    assert best.command == Click(7, label="next")
    memory.values.update(best.keeps)
    two = page("/account/orders?page=2", tree, *ORDERS.elements[4:], title="Orders")
    assert first(asked, two, memory=memory) == Stop(answer="2200.00")


def test_on_a_page_that_stands_for_itself_nothing_is_proposed_and_others_count_in_full() -> None:
    class Always:
        name = "always"

        def propose(self, view: View) -> list[Proposal]:
            return [Proposal(command=Click(0), score=1.0, reason="always")]

    alone = PageCapture(
        url="file:///task.html",
        tree="RootWebArea ''\n\t[0] button 'Ok'\n",
        elements=(element(0, "button", "Ok"),),
    )
    sight = Observation(step=0, steps_left=9, intent="Click Ok", start_url=alone.url, page=alone)
    view = View(sight, read_intent("Click Ok"), Memory())
    assert not OnSite().propose(view)
    assert Elsewhere(Always()).propose(view)[0].score == 1.0
    site = View(
        Observation(step=0, steps_left=9, intent="Click Ok", start_url=HOST, page=LAMP),
        read_intent("Click Ok"),
        Memory(),
    )
    assert Elsewhere(Always()).propose(site)[0].score < 0.2


@pytest.mark.parametrize(
    "task",
    [
        'Search for "Kitewave". How many results are there?',
        "Search for 'Kitewave' and tell me how many results there are",
        "Search for ‘Kitewave’, then tell me how many results there are.",
    ],
)
def test_a_question_at_the_end_of_a_deed_is_one_in_whichever_quotes_its_names_stand(task: str):
    (aim,) = aims_of(task)
    assert (aim.goal, aim.things, aim.scope) == (Goal.COUNT, "results", ("search", "Kitewave"))


def test_an_apostrophe_is_no_quote():
    (aim,) = aims_of("What is the shop's phone number, and the boss's mail?")
    assert "shop's" in aim.field
