"""Tips in a scout's run: their due steps in order, a begun tip first, none for another task, a failure told."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from app.engine.agent.scout.memory import Memory
from app.engine.agent.scout.page_context import PageContext
from app.engine.agent.scout.part_view import PartView
from app.engine.agent.scout.task import read_task
from app.engine.agent.scout.tip_following import failed_tips, tip_step
from app.engine.core.actions.types import Click, Goto, ReportInfeasible, Stop
from app.engine.core.observation import Observation, ProcedureState, RetrievedTip
from kb.compiler import compile_text
from tests.support.html_page import html_page
from tests.support.scout_walk import HOST, document, walk

ROTA = "Open the rota of the night shift"
WHEN = "the rota of a shift is asked for"
PAGE = html_page(document("Home", '<a href="/shifts">Shifts</a><a href="/help">Help</a>'), url=f"{HOST}/")


def tip(name: str, do: str = 'Press "Shifts"', when: str = WHEN) -> RetrievedTip:
    return RetrievedTip(tip=name, text=do, when=when, do=do, procedure=compile_text(do, when))


def view(tips: Sequence[RetrievedTip], memory: Memory | None = None, intent: str = ROTA) -> PartView:
    seen = Observation(step=0, steps_left=9, intent=intent, start_url=PAGE.url, page=PAGE, tips=tuple(tips))
    return PartView(seen, read_task(intent).parts[0], PageContext(PAGE), memory or Memory())


def test_the_due_step_of_a_tip_for_the_task_is_taken_and_told() -> None:
    step = tip_step(view([tip("t1", 'Press "Wards", then press "Shifts"')]))
    assert step is not None
    assert (step.action, step.tip) == (Click(0, label="Shifts"), "t1")
    assert step.reason == 'step 2 of 2 of a tip: press "Shifts"'


@pytest.mark.parametrize(
    ("told", "marks", "why"),
    [
        (tip("t1", 'Press "Wards"'), (), "its control is not here"),
        (tip("t1", when="a parcel is sent back to its shop"), (), "its condition does not fit"),
        (tip("t1"), ("tip:t1:1",), "it is over"),
    ],
)
def test_a_step_that_is_not_due_is_left(told: RetrievedTip, marks: tuple[str, ...], why: str) -> None:
    assert tip_step(view([told], Memory(marks=set(marks)))) is None, why


def test_a_tip_that_was_begun_is_gone_on_with_before_one_that_fits_better_or_alone() -> None:
    near = tip("near")
    far = tip("far", 'Press "Wards", then press "Help"', "a parcel is sent back to its shop")
    fresh = tip_step(view([near, far]))
    begun = tip_step(view([near, far], Memory(marks={"tip:far:1"})))
    assert fresh is not None
    assert begun is not None
    assert (fresh.tip, begun.tip) == ("near", "far")


def test_a_step_is_tried_once_and_then_the_next_tip_is_asked() -> None:
    memory = Memory(tried={"tip:t1:1:": 1})
    assert tip_step(view([tip("t1")], memory)) is None
    step = tip_step(view([tip("t1"), tip("t2")], memory))
    assert step is not None
    assert step.tip == "t2"


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
    made = walk(ROTA, PAGES, tips=[tip("t1", 'Press "Shifts", then press "N".')])
    assert made.paths == ["/", "/shifts", "/shifts/n"]
    assert made.end == Stop("done")
    assert [one.followed for one in made.decisions] == [{"t1": True}, {"t1": True}, {}]


def test_a_persons_hint_goes_before_a_tip() -> None:
    hint = RetrievedTip(tip="hint:h1", text="go to /rota/day", kind="person", routes=("person",))
    made = walk(ROTA, PAGES, tips=[hint, tip("t1")], most=1)
    assert made.actions == [Goto(f"{HOST}/rota/day")]
