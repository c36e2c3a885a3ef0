"""Tips in a scout's run: their due steps in order, a begun tip first, none for another task, a failure told."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from app.engine.agent.scout.memory import Memory
from app.engine.agent.scout.page_context import PageContext
from app.engine.agent.scout.part_view import PartView
from app.engine.agent.scout.task import read_task
from app.engine.agent.scout.tip_following import failed_tips, likeness, tip_step
from app.engine.core.actions.types import Action, Click, Goto, ReportInfeasible, Stop
from app.engine.core.observation import Observation, ProcedureState, RetrievedTip
from app.engine.core.page_state import PageCapture
from tests.support.html_page import html_page
from tests.support.scout_walk import HOST, document, walk

SHIFTS = Click(0, label="Shifts")
ROTA = "Open the rota of the night shift"
PAGE = html_page(document("Home", '<a href="/shifts">Shifts</a><a href="/help">Help</a>'), url=f"{HOST}/")


def tip(name: str, when: str = "the rota of a shift is asked for", text: str = "Open Shifts") -> RetrievedTip:
    return RetrievedTip(tip=name, text=text, when=when)


def due(name: str, action: Action | None = SHIFTS, number: int = 1, **more: object) -> ProcedureState:
    return ProcedureState(
        tip=name, steps=3, number=number, line='press "Shifts"', applies=True, action=action, **more
    )  # type: ignore[arg-type]


def view(
    tips: Sequence[RetrievedTip],
    states: Sequence[ProcedureState],
    memory: Memory | None = None,
    intent: str = ROTA,
) -> PartView:
    seen = Observation(
        step=0,
        steps_left=9,
        intent=intent,
        start_url=PAGE.url,
        page=PAGE,
        tips=tuple(tips),
        procedures=tuple(states),
    )
    return PartView(seen, read_task(intent).parts[0], PageContext(PAGE), memory or Memory())


def test_the_due_step_of_a_tip_for_the_task_is_taken_and_told() -> None:
    step = tip_step(view([tip("t1")], [due("t1", number=2)]))
    assert step is not None
    assert (step.action, step.tip) == (Click(0, label="Shifts"), "t1")
    assert step.reason == 'step 2 of 3 of a tip: press "Shifts"'


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (due("t1", None), "it cannot be done here"),
        (
            ProcedureState(tip="t1", steps=3, number=1, action=Click(0), applies=False),
            "its condition does not hold",
        ),
        (ProcedureState(tip="t1", steps=3, number=3, over=True, applies=True), "it is over"),
    ],
)
def test_a_step_that_is_not_due_is_left(state: ProcedureState, why: str) -> None:
    assert tip_step(view([tip("t1")], [state])) is None, why


def test_a_tip_for_another_task_is_not_begun() -> None:
    other = tip("t1", when="a parcel is sent back to its shop")
    assert tip_step(view([other], [due("t1")])) is None
    assert tip_step(view([], [due("t1")])) is None


def test_a_tip_that_was_begun_is_gone_on_with_before_one_that_is_more_like_the_task() -> None:
    near, far = tip("near"), tip("far", when="a list of shifts, wards or parcels is asked for by somebody")
    states = [due("near", Click(0)), due("far", Click(1))]
    fresh = tip_step(view([near, far], states))
    begun = tip_step(view([near, far], states, Memory(marks={"tip:far"})))
    assert fresh is not None
    assert begun is not None
    assert (fresh.tip, begun.tip) == ("near", "far")


def test_a_begun_tip_is_gone_on_with_although_its_condition_is_unlike_the_task() -> None:
    other = tip("t1", when="a parcel is sent back to its shop")
    step = tip_step(view([other], [due("t1")], Memory(marks={"tip:t1"})))
    assert step is not None


def test_a_step_is_tried_twice_at_most_and_then_the_next_tip_is_asked() -> None:
    memory = Memory(tried={"tip:t1:1": 2})
    assert tip_step(view([tip("t1")], [due("t1")], memory)) is None
    step = tip_step(view([tip("t1"), tip("t2")], [due("t1"), due("t2")], memory))
    assert step is not None
    assert step.tip == "t2"


@pytest.mark.parametrize(
    ("when", "intent", "begins"),
    [
        ("the rota of a shift is asked for", ROTA, True),
        ("rota", ROTA, True),
        ("", ROTA, True),
        ("a parcel is sent back to its shop", ROTA, False),
        ("a member is banned from the list by an owner", "Open the members", False),
    ],
)
def test_a_condition_is_like_a_task_by_the_share_of_its_words_that_the_task_speaks_of(
    when: str, intent: str, begins: bool
) -> None:
    told = tip("t1", when=when, text="The rota is under Shifts")
    assert (likeness(told, read_task(intent).parts[0]) >= 0.3) is begins


def test_a_tip_without_words_is_like_nothing() -> None:
    part = read_task(ROTA).parts[0]
    assert likeness(None, part) == 0.0
    assert likeness(tip("t1", when="the of a", text=""), part) == 0.0


def test_a_failed_step_is_told_in_the_reason_of_a_run_that_gives_up() -> None:
    failed = ProcedureState(tip="t1", steps=2, number=1, why='step 1 failed: no control "Shifts" here')
    waiting = ProcedureState(tip="t2", steps=2, number=1, why="its page is not in front")
    seen = Observation(
        step=0, steps_left=9, intent=ROTA, start_url=PAGE.url, page=PAGE, procedures=(failed, waiting)
    )
    assert list(failed_tips(seen)) == ['a tip\'s step 1 failed: no control "Shifts" here']
    made = walk(
        "Open the page of Mo", {"/": document("Home", "<p>Hi.</p>")}, procedures=lambda _page: (failed,)
    )
    assert isinstance(made.end, ReportInfeasible)
    assert 'no control "Shifts" here' in made.end.reason


PAGES = {
    "/": document("Home", '<a href="/shifts">Shifts</a><a href="/rota/day">Rota of the day</a>'),
    "/shifts": document("Shifts", '<a href="/shifts/n">N</a><a href="/shifts/d">D</a>'),
    "/shifts/n": document("Rota of the night shift", "<p>Ada</p>"),
    "/shifts/d": document("Day", "<p>Ben</p>"),
    "/rota/day": document("Rota of the day", "<p>Ben</p>"),
}


def test_compiled_steps_are_followed_in_their_order_and_the_scout_goes_on_by_itself() -> None:
    told = tip("t1", text='Press "Shifts", then press "N".')

    def states(page: PageCapture) -> tuple[ProcedureState, ...]:
        number = {"/": 1, "/shifts": 2}.get(page.url.removeprefix(HOST), 0)
        name = {1: "Shifts", 2: "N"}.get(number)
        if name is None:
            return (ProcedureState(tip="t1", steps=2, number=2, applies=True, over=True),)
        at = next(one.index for one in page.elements if one.name == name)
        return (
            ProcedureState(
                tip="t1", steps=2, number=number, line=name, applies=True, action=Click(at, label=name)
            ),
        )

    made = walk(ROTA, PAGES, tips=[told], procedures=states)
    assert made.paths == ["/", "/shifts", "/shifts/n"]
    assert made.end == Stop("done")
    assert [one.followed for one in made.decisions] == [{"t1": True}, {"t1": True}, {}]


def test_a_persons_hint_goes_before_a_tip() -> None:
    hint = RetrievedTip(tip="hint:h1", text="go to /rota/day", kind="person", routes=("person",))
    made = walk(ROTA, PAGES, tips=[hint, tip("t1")], procedures=lambda _page: (due("t1"),), most=1)
    assert made.actions == [Goto(f"{HOST}/rota/day")]
