"""Plain tasks on a site, without a browser: what is named is pressed once, a size is chosen before the basket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.engine.agent.scout.aims import Goal, aims_of
from app.engine.agent.scout.policy import ScoutPolicy
from app.engine.core.action_result import ActionResult, Effect
from app.engine.core.actions.types import Action, Click, ReportInfeasible, Select, SetChecked, Stop
from app.engine.core.observation import AgentDecision, HistoryEntry, Observation, RetrievedTip
from app.engine.core.page_state import Element, PageCapture

HOST = "http://shop.test"
NAMES = {"Northgate": "", "Lamps": "lamps", "Rugs": "rugs", "Help": "help", "Basket (0)": "basket"}


def menu(basket: str = "Basket (0)") -> tuple[Element, ...]:
    return tuple(
        Element(
            index=n,
            role="link",
            name=basket if name.startswith("Basket") else name,
            href=f"{HOST}/{path}",
            landmarks=("navigation",),
        )
        for n, (name, path) in enumerate(NAMES.items())
    )


def page(
    path: str, title: str, *elements: Element, body: str = "", basket: str = "Basket (0)"
) -> PageCapture:
    links = menu(basket)
    tree = f"RootWebArea '{title}', focused\n\tnavigation ''\n"
    tree += "".join(f"\t\t[{one.index}] link '{one.name}'\n" for one in links)
    tree += f"\theading '{title}'\n{body}"
    tree += "".join(f"\t[{one.index}] {one.role} '{one.name}'\n" for one in elements)
    return PageCapture(url=f"{HOST}{path}", title=title, elements=(*links, *elements), tree=tree, text=body)


def size(index: int, name: str, *states: str) -> Element:
    attributes = (("name", "size"), ("type", "radio"))
    return Element(
        index=index, role="radio", name=name, form="post:/add", states=states, attributes=attributes
    )


def add(index: int) -> Element:
    return Element(index=index, role="button", name="Add to basket", form="post:/add", submits=True)


async def played(
    intent: str, pages: Sequence[PageCapture], tips: tuple[RetrievedTip, ...] = ()
) -> tuple[list[Action | None], list[AgentDecision]]:
    """Run the scout; each page follows the action before, and every action has an effect."""
    policy, turns, made = ScoutPolicy(), list[HistoryEntry](), list[AgentDecision]()
    for step, seen in enumerate(pages):
        sight = Observation(
            step=step,
            steps_left=20,
            intent=intent,
            start_url=f"{HOST}/",
            page=seen,
            tips=tips,
            history=tuple(turns),
        )
        decision = await policy.decide(sight)
        made.append(decision)
        assert decision.action is not None
        result = ActionResult(success=True, effect=Effect.CHANGED)
        turns.append(
            HistoryEntry(
                step=step,
                url=seen.url,
                title=seen.title,
                state="",
                action=decision.action,
                result=result,
                words="",
            )
        )
    return [one.action for one in made], made


@pytest.mark.parametrize(
    ("intent", "pressed"),
    [
        ('Click on "Lamps"', Click(1, label="Lamps")),
        ("Open the Lamps department", Click(1, label="Lamps")),
        ("Go to the basket", Click(4, label="Basket (0)")),
        ("Visit the Help page.", Click(3, label="Help")),
    ],
)
async def test_what_the_task_names_is_pressed_once_and_then_it_stops(intent: str, pressed: Click) -> None:
    commands, _ = await played(intent, [page("/", "Home"), page("/next", "Next")])
    assert commands == [pressed, Stop("done")]


async def test_named_places_are_gone_to_in_order() -> None:
    pages = [page("/", "Home"), page("/lamps", "Lamps"), page("/help", "Help")]
    commands, _ = await played("Go to the Lamps department and then open the Help page", pages)
    assert commands == [Click(1, label="Lamps"), Click(3, label="Help"), Stop("done")]


async def test_where_it_is_already_nothing_is_opened() -> None:
    commands, _ = await played("Open the Lamps department", [page("/lamps", "Lamps")])
    assert commands == [Stop("done")]


@pytest.mark.parametrize(
    "intent", ["How many things are in the Lamps department?", "How many things are in Lamps?"]
)
async def test_the_place_a_question_names_is_gone_to_before_anything_is_counted(intent: str) -> None:
    def shelf(path: str, title: str, many: int) -> PageCapture:
        cards = "".join(
            f"\t\tlistitem ''\n\t\t\t[{5 + n}] link 'Thing {n}'\n\t\t\tStaticText '$3.00'\n"
            for n in range(many)
        )
        seen = page(path, title, body=f"\tlist ''\n{cards}")
        links = (
            Element(index=5 + n, role="link", name=f"Thing {n}", href=f"{HOST}/t{n}") for n in range(many)
        )
        return replace(seen, elements=(*seen.elements, *links))

    pages = [shelf("/", "All things", 4), shelf("/lamps", "Lamps", 3)]
    commands, _ = await played(intent, pages)
    assert commands == [Click(1, label="Lamps"), Stop(answer="3")]


async def test_what_a_page_says_is_read_from_that_page_or_told_to_be_missing() -> None:
    asked = "What does the Aria Stool page say about care?"
    aim = aims_of(asked)[0]
    assert (aim.goal, aim.field, aim.subject) == (Goal.TOLD, "care", "Aria Stool")
    link = Element(index=5, role="link", name="Aria Stool", href=f"{HOST}/aria")
    home = page("/", "Home", link, body="\tStaticText 'We take care of your parcels.'\n")
    told = page("/aria", "Aria Stool", body="A stool of ash. Care: wipe it dry.")
    silent = page("/aria", "Aria Stool", body="A stool of ash.")
    commands, _ = await played(asked, [home, told])
    assert commands == [Click(5, label="Aria Stool"), Stop(answer="Care: wipe it dry.")]
    commands, _ = await played(asked, [home, silent])
    assert isinstance(commands[1], ReportInfeasible)


async def test_the_size_is_chosen_the_button_pressed_and_the_basket_looked_at_and_the_tip_counts() -> None:
    tips = (RetrievedTip(tip="t", text="On a product page choose a size before pressing Add to basket."),)
    body = "\tStaticText '$30.00'\n"
    pages = [
        page("/aria", "Aria Coat", size(5, "S"), size(6, "M"), add(7), body=body),
        page("/aria", "Aria Coat", size(5, "S"), size(6, "M", "checked"), add(7), body=body),
        page("/aria", "Aria Coat", size(5, "S"), size(6, "M"), add(7), body=body, basket="Basket (1)"),
    ]
    commands, made = await played("Put one Aria Coat in size M into the basket", pages, tips)
    assert commands == [SetChecked(6), Click(7, label="Add to basket"), Stop("done")]
    assert [one.followed.get("t") for one in made[:2]] == [True, True]


async def test_a_list_of_sizes_and_several_pieces() -> None:
    def coat(value: str, basket: str) -> PageCapture:
        options = ("Choose a size", "Small", "Large")
        chooser = Element(
            index=5, role="combobox", name="Size", value=value, options=options, form="post:/add"
        )
        return page("/aria", "Aria Coat", chooser, add(6), basket=basket)

    pages = [coat("Choose a size", "Basket (0)"), coat("Large", "Basket (0)")]
    pages += [coat("Choose a size", "Basket (1)"), coat("Large", "Basket (1)"), coat("Large", "Basket (2)")]
    commands, _ = await played('Add two "Aria Coat" in size Large to my basket', pages)
    press = Click(6, label="Add to basket")
    assert commands == [Select(5, ("Large",)), press, Select(5, ("Large",)), press, Stop("done")]


async def test_an_only_size_is_taken_and_an_open_choice_ends_with_what_there_is() -> None:
    only = page("/aria", "Aria Coat", size(5, "One size"), add(6))
    commands, _ = await played("Add the Aria Coat to the basket", [only])
    assert commands == [SetChecked(5)]
    several = page("/aria", "Aria Coat", size(5, "S"), size(6, "L"), add(7))
    for asked in ("Add the Aria Coat to the basket", "Put one Aria Coat in size M into the basket"):
        commands, _ = await played(asked, [several])
        assert isinstance(commands[0], ReportInfeasible)
        assert "S, L" in commands[0].reason


async def test_a_basket_that_does_not_show_the_thing_is_told() -> None:
    coat = page("/aria", "Aria Coat", add(5))
    empty = page("/basket", "Your basket", body="\tStaticText 'There is nothing in it yet.'\n")
    commands, _ = await played("Add the Aria Coat to the basket", [coat, coat, empty])
    assert commands[1] == Click(4, label="Basket (0)")
    assert isinstance(commands[2], ReportInfeasible)


async def test_a_page_with_few_links_belongs_to_the_site_the_run_came_from() -> None:
    bare = PageCapture(
        url=f"{HOST}/aria",
        title="Aria Coat",
        elements=(),
        tree="RootWebArea 'Aria Coat', focused\n\theading 'Aria Coat'\n\tStaticText '$30.00'\n",
        text="Aria Coat\n$30.00",
    )
    link = Element(index=5, role="link", name="Aria Coat", href=f"{HOST}/aria")
    commands, _ = await played("What is the price of the Aria Coat?", [page("/", "Home", link), bare])
    assert commands == [Click(5, label="Aria Coat"), Stop(answer="30.00")]
