"""Pictures of the page for planner and operator: when one is sent, what it shows, where its points are."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from PIL import Image, ImageDraw

from app.engine.agent.llm.page_pictures import PagePictures
from app.engine.agent.vision.page_look import look_changed, look_of
from app.engine.core.actions.types import Click, ClickAt, Drag
from app.engine.core.chat_messages import PartKind
from app.engine.core.model_api import AgentRole, ModelReply
from app.engine.core.page_state import Element, PageCapture
from tests.support.scripted_model import Question
from tests.unit.engine.test_agent_llm import (
    OPERATOR,
    PLANNER,
    act,
    asked,
    at,
    brained,
    planned,
    policy,
    run_of,
)

SIZE = (640, 400)


def drawn(*boxes: tuple[int, int, int, int]) -> bytes:
    image = Image.new("RGB", SIZE, "white")
    for box in boxes:
        ImageDraw.Draw(image).rectangle(box, fill="black")
    out = io.BytesIO()
    image.save(out, "JPEG", quality=80)
    return out.getvalue()


LINK = Element(index=0, role="link", name="Orders", rect=(100, 100, 80, 30), met=True)
PAGE = PageCapture(
    url="http://shop.test/", title="Shop", elements=(LINK,), tree="[0] link 'Orders'", text="It is 12:30:01",
    viewport=SIZE, picture=drawn(),
)  # fmt: skip

ROWS = [
    ("the same page", {}, False),
    ("a clock ticks", {"text": "It is 12:30:02"}, False),
    ("a caret of 2 by 16 pixels", {"picture": drawn((300, 200, 301, 215))}, False),
    ("a drawn point on a page that is no canvas", {"picture": drawn((300, 200, 309, 209))}, False),
    ("other words", {"text": "It is late"}, True),
    ("a value was typed", {"elements": (replace(LINK, role="textbox", value="Oslo"),)}, True),
    ("a box was ticked", {"elements": (replace(LINK, states=("checked",)),)}, True),
    ("it scrolled", {"elements": (replace(LINK, rect=(100, 60, 80, 30)),)}, True),
    ("another address", {"url": "http://shop.test/orders"}, True),
    ("a picture appeared", {"picture": drawn((300, 200, 360, 260))}, True),
    ("the screenshot is missing", {"picture": b""}, True),
]


@pytest.mark.parametrize(("what", "change", "changed"), ROWS, ids=[row[0] for row in ROWS])
def test_a_picture_is_sent_again_when_the_page_looks_different(what: str, change: dict, changed: bool):
    assert look_changed(look_of(replace(PAGE, **change)), look_of(PAGE)) is changed


def test_on_a_canvas_every_drawing_makes_another_look():
    canvas = replace(PAGE, canvas_only=True)
    assert look_changed(look_of(replace(canvas, picture=drawn((300, 200, 309, 209)))), look_of(canvas))


def images(question: Question) -> list[str]:
    return [part.digest for one in question.messages for part in one.parts if part.kind is PartKind.IMAGE]


async def test_an_unchanged_page_is_sent_once_and_a_line_says_that_it_holds():
    model = brained(operator=lambda question: act('click("0")'))
    await run_of(policy(model, pictures="changed"), 4, at(shown=PAGE))

    questions = asked(model, OPERATOR)
    assert [images(question) for question in questions] == [images(questions[0])] * 4
    assert questions[3].text.count("The picture of step 0 still shows the page.") == 3
    assert all(set(images(question)) == set(question.pictures) for question in questions)


async def test_with_always_each_step_has_its_own_and_two_at_most_are_sent():
    model = brained(operator=lambda question: act('click("0")'))
    await run_of(policy(model, pictures="always", fold=99), 12, at(shown=PAGE))

    assert [len(images(question)) for question in asked(model, OPERATOR)] == [1, *[2] * 11]
    assert {len(images(question)) for question in asked(model, PLANNER)} == {1}


async def test_without_pictures_no_prompt_speaks_of_them():
    model = brained(operator=lambda question: act('click("0")'))
    await run_of(policy(model, pictures="off"), 5, at(shown=PAGE))

    for question in model.asked:
        assert "picture" not in question.text.casefold()
        assert "mouse_click" not in question.text
        assert not question.pictures


@pytest.mark.parametrize("blind", [{PLANNER, OPERATOR}, {OPERATOR}])
async def test_a_model_that_takes_no_pictures_is_asked_once_and_the_run_goes_on_and_says_so_once(blind):
    def reply(role: AgentRole, text: str):
        def answer(question: Question) -> ModelReply | str:
            if role in blind and question.pictures:
                data = {"done": False, "plan": []} if role is PLANNER else None
                return ModelReply(text=text, data=data, pictures_dropped=True)
            return text

        return answer

    model = brained(operator=reply(OPERATOR, act('click("0")')), planner=reply(PLANNER, planned()))
    decisions = await run_of(policy(model, pictures="auto"), 6, at(shown=PAGE))

    assert len([one for one in asked(model, OPERATOR) if one.pictures]) == 1
    assert len([one for one in asked(model, PLANNER) if one.pictures]) == (1 if PLANNER in blind else 2)
    assert "picture" not in asked(model, OPERATOR)[-1].text
    assert [note for one in decisions for note in one.notes] == [
        "the model takes no pictures; the run goes on without them"
    ]


async def test_a_smaller_picture_keeps_its_shape_and_its_points_are_the_pages():
    pictures = PagePictures("changed", 320, "low")
    await pictures.take(PAGE, 3)
    assert pictures.now is not None
    assert pictures.now.size == (320, 200)
    assert pictures.now.part.text == "Picture of the page at step 3, 320 x 200 points:"
    assert pictures.now.part.detail == "low"
    assert pictures.now.on_page(ClickAt((60, 50))) == ClickAt((120, 100))
    assert pictures.now.on_page(Drag(0, (10, 10))) == Drag(0, (20, 20))
    assert pictures.now.on_page(Click(0)) == Click(0)
    with pytest.raises(ValueError, match="320 x 200 points"):
        pictures.now.on_page(ClickAt((400, 10)))


async def test_a_point_outside_of_the_picture_is_sent_back_to_the_model():
    answers = iter([act("mouse_click(1200, 10)"), act("mouse_click(120, 110)")])
    model = brained(operator=lambda question: next(answers))
    decision = await policy(model, pictures="changed").decide(at(shown=PAGE))

    assert decision.action == ClickAt((120, 110))
    assert "lies outside of the picture" in asked(model, OPERATOR)[1].text


async def test_a_damaged_screenshot_costs_the_picture_and_not_the_run():
    model = brained(operator=lambda question: act('click("0")'))
    decision = await policy(model, pictures="changed").decide(at(shown=replace(PAGE, picture=b"no picture")))
    assert decision.action == Click(0)
    assert not asked(model, OPERATOR)[0].pictures
