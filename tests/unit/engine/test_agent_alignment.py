"""Alignment: a model is asked how an action stands to the tips only where that is not known already."""

from __future__ import annotations

import json

import pytest

from app.engine.agent.llm.alignment import AlignmentCheck
from app.engine.agent.llm.prompting import Fence
from app.engine.agent.llm.usage_tracker import UsageTracker
from app.engine.core.actions.types import (
    Action,
    Calculate,
    Click,
    Goto,
    ReadNotes,
    Scroll,
    TakeNote,
    TypeText,
    Wait,
)
from app.engine.core.model_api import AgentRole
from app.engine.core.observation import Observation, ProcedureState, RetrievedTip
from app.engine.core.page_state import Element, PageCapture
from tests.support.scripted_model import ScriptedModel

ELEMENTS = (
    ("link", "Order 17"),
    ("link", "Order 18"),
    ("button", "Order 19"),
    ("textbox", "From"),
    ("textbox", "To"),
)
PAGE = PageCapture(
    url="http://shop.test/",
    elements=tuple(Element(index=at, role=role, name=name) for at, (role, name) in enumerate(ELEMENTS)),
)
TIPS = (RetrievedTip(tip="t1", text="Filter first."), RetrievedTip(tip="t2", text="Dates are day first."))
OTHER = (RetrievedTip(tip="t1", text="Filter by name first."),)
GUIDED = json.dumps({"tips": [{"tip": 1, "bearing": "deviates"}], "guidance": "Filter first."})


def sight(tips: tuple[RetrievedTip, ...] = TIPS, *procedures: ProcedureState) -> Observation:
    return Observation(
        step=1, steps_left=9, intent="Find", start_url=PAGE.url, page=PAGE, tips=tips, procedures=procedures
    )


def due(action: Action | None, *, applies: bool = True) -> Observation:
    """A page on which a tip's next step is this action."""
    return sight(TIPS, ProcedureState(tip="t2", applies=applies, action=action))


FIRST = sight()


@pytest.mark.parametrize(
    ("first", "second", "again"),
    [
        # rule 1: no page is touched
        (FIRST, (TakeNote("a"), FIRST), False), (FIRST, (Calculate("1"), FIRST), False),
        (FIRST, (ReadNotes(), FIRST), False), (FIRST, (Wait(1), FIRST), False), (FIRST, (Scroll(9), FIRST), True),
        # rule 2: a tip's next step
        (FIRST, (Click(2), due(Click(2))), False), (FIRST, (Click(2), due(Click(3))), True),
        (FIRST, (Click(2), due(None)), True), (FIRST, (Click(2), due(Click(2), applies=False)), True),
        (FIRST, (TypeText(3, "1 May"), due(TypeText(3, "2 May"))), True),
        # rule 3: the same kind under the same tips
        (FIRST, (Click(0), FIRST), False), (FIRST, (Click(1), FIRST), False), (FIRST, (Click(2), FIRST), True),
        (FIRST, (Click(3), FIRST), True), (FIRST, (TypeText(3, "x"), FIRST), True),
        (FIRST, (Click(0), sight(OTHER)), True), (FIRST, (Click(0), sight(TIPS[:1])), True),
        (FIRST, (Goto("http://shop.test/orders"), FIRST), True),
        # without tips there is nothing to ask
        (FIRST, (Click(2), sight(())), False),
    ],
)  # fmt: skip
async def test_a_model_is_asked_only_where_the_answer_is_not_known(
    first: Observation, second: tuple[Action, Observation], again: bool
):
    model, check = ScriptedModel(lambda question: "{}"), AlignmentCheck(Fence("f00d"))
    await check.check(UsageTracker(model), first, Click(0))
    action, seen = second
    await check.check(UsageTracker(model), seen, action)
    assert len(model.asked) == 1 + again
    assert {question.role for question in model.asked} == {AgentRole.ALIGNMENT}


async def test_what_is_typed_makes_no_other_kind_and_another_field_does():
    model, check = ScriptedModel(lambda question: "{}"), AlignmentCheck(Fence("f00d"))
    for action in (TypeText(3, "1 May"), TypeText(3, "2 May"), TypeText(4, "2 May")):
        await check.check(UsageTracker(model), FIRST, action)
    assert len(model.asked) == 2


async def test_a_tips_step_follows_it_and_an_earlier_answer_holds_without_its_guidance():
    model, check = ScriptedModel(lambda question: GUIDED), AlignmentCheck(Fence("f00d"))
    usage = UsageTracker(model)
    asked, again = await check.check(usage, FIRST, Click(0)), await check.check(usage, FIRST, Click(1))
    assert (asked.followed, asked.guidance) == ({"t1": False}, "Filter first.")
    assert (again.followed, again.guidance) == ({"t1": False}, "")
    assert (await check.check(usage, due(Click(2)), Click(2))).followed == {"t2": True}


async def test_an_answer_that_can_not_be_read_is_asked_for_again():
    model, check = ScriptedModel(["no JSON", GUIDED]), AlignmentCheck(Fence("f00d"))
    first, second = [await check.check(UsageTracker(model), FIRST, Click(0)) for _ in range(2)]
    assert (first.followed, second.followed) == ({}, {"t1": False})
