"""A tip counts as followed when the effect of its step was seen, and never by the name of what was pressed."""

from __future__ import annotations

import pytest

from app.engine.agent.scout.hinting import without_warnings
from app.engine.agent.step_record import tip_followed
from app.engine.core.action_result import ActionResult, Cause, Effect, refused
from app.engine.core.actions.types import Action, Click, Goto, ReportInfeasible, Stop, TakeNote, TypeText
from app.engine.core.observation import AgentDecision, RetrievedTip
from tests.unit.engine.test_agent_loop import Bench

SEEN = ActionResult(success=True, effect=Effect.CHANGED)


@pytest.mark.parametrize(
    ("what", "action", "result", "counts"),
    [
        ("the page changed", Click(0), SEEN, True),
        (
            "another page came",
            Goto("/x"),
            ActionResult(success=True, effect=Effect.NAVIGATED, status=200),
            True,
        ),
        ("a status nobody knows", Goto("/x"), ActionResult(success=True, effect=Effect.NAVIGATED), True),
        ("a field was filled", TypeText(0, "x"), SEEN, True),
        ("the run ended by it", Stop("42"), ActionResult(success=True, effect=Effect.NOTHING), True),
        (
            "the run was given up by it",
            ReportInfeasible("no"),
            ActionResult(success=True, effect=Effect.NOTHING),
            True,
        ),
        ("nothing happened", Click(0), ActionResult(success=True, effect=Effect.NOTHING), False),
        ("something else changed", Click(0), ActionResult(success=True, effect=Effect.UNRELATED), False),
        ("it was refused", Click(0), refused(Cause.COVERED, "covered"), False),
        ("it failed with a change", Click(0), ActionResult(success=False, effect=Effect.CHANGED), False),
        (
            "an address not found",
            Goto("/x"),
            ActionResult(success=True, effect=Effect.NAVIGATED, status=404),
            False,
        ),
        (
            "an address forbidden",
            Goto("/x"),
            ActionResult(success=True, effect=Effect.NAVIGATED, status=400),
            False,
        ),
        (
            "a broken server",
            Goto("/x"),
            ActionResult(success=True, effect=Effect.NAVIGATED, status=503),
            False,
        ),
        (
            "an error page without a status",
            Goto("/x"),
            ActionResult(success=False, effect=Effect.NAVIGATED, cause=Cause.ERROR_PAGE),
            False,
        ),
        ("a note about it", TakeNote("x"), ActionResult(success=True, effect=Effect.NOTHING), False),
        ("no action at all", None, ActionResult(success=True, effect=Effect.NOTHING), False),
    ],
)
def test_a_claim_counts_only_with_its_effect(
    what: str, action: Action | None, result: ActionResult, counts: bool
):
    assert tip_followed(True, action, result) is (True if counts else None), what
    assert tip_followed(False, action, result) is False
    assert tip_followed(None, action, result) is None


@pytest.mark.parametrize(
    ("result", "followed"),
    [
        (SEEN, True),
        (ActionResult(success=True, effect=Effect.NOTHING), None),
        (ActionResult(success=True, effect=Effect.NAVIGATED, status=404), None),
        (refused(Cause.MISSING, "gone"), None),
    ],
)
async def test_the_step_keeps_what_came_of_a_tip_and_not_what_the_policy_says(
    result: ActionResult, followed: bool | None
):
    tips = (RetrievedTip(tip="t1", text="Orders are under Orders"),)
    bench = Bench([AgentDecision(action=Click(0), followed={"t1": True}), Stop("")], tips=tips)

    kept = bench.hands.do

    async def do(action: Action, permit: object = None) -> ActionResult:
        return result if isinstance(action, Click) else await kept(action)

    bench.hands.do = do
    await bench.run()
    assert bench.kept.steps[0].exposures[0].followed is followed


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('Press "Filters".', True),
        ('Never press "Filters".', False),
        ('Choose "Day" instead of "Filters".', False),
        ('Don\'t use "Filters", use "Day".', False),
        ('Do not wait but press "Filters".', True),
    ],
)
def test_warnings_are_no_advice(text: str, said: bool):
    assert ("Filters" in without_warnings(text)) is said
    assert len(without_warnings(text)) == len(text)
