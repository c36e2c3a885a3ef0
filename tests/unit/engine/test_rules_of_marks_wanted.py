"""When a step wants marks (``vision/marks_wanted``), one row a clause; and which labels a look is told to expect."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.agent.llm.llm_policy import ShownMarks
from app.engine.agent.vision.marks_wanted import expected_labels, marks_wanted
from app.engine.core.action_result import ActionResult, Cause, Effect
from app.engine.core.actions.types import Action, Calculate, Click, ClickMark, Look, Scroll, TypeMark
from app.engine.core.ledger import Ledger
from app.engine.core.observation import HistoryEntry, ProcedureState
from app.engine.core.page_state import Element, PageCapture
from tests.unit.engine.test_agent_llm import Seeing, at


def page(count: int, **more: object) -> PageCapture:
    elements = tuple(
        Element(index=one, role="link", name=f"Link {one}", rect=(10.0, 30.0 * one, 80, 20))
        for one in range(count)
    )
    return PageCapture(url="http://x/", elements=elements, viewport=(400, 300), **more)


def entry(action: Action, **result: object) -> HistoryEntry:
    told = ActionResult(**{"success": True, "effect": Effect.CHANGED, **result})
    return HistoryEntry(step=0, url="", title="", state="", action=action, result=told, words="")


FULL = page(3)
FAILED = {"success": False, "cause": Cause.COVERED}
ROWS = [
    ("nothing asks for them", FULL, entry(Click(0)), "auto", False),
    ("the first step", FULL, None, "auto", False),
    ("the run says always", FULL, entry(Click(0)), "always", True),
    ("a drawn page", replace(FULL, canvas_only=True), entry(Click(0)), "auto", True),
    ("hardly any element", page(2), None, "auto", True),
    ("enough elements in view", page(12), None, "auto", False),
    ("all of them are below", replace(FULL, elements=tuple(replace(one, rect=(0, 900, 9, 9)) for one in FULL.elements)),
     None, "auto", True),
    ("the agent asked", FULL, entry(Look(), effect=Effect.NOTHING), "auto", True),
    ("it points at a mark", FULL, entry(ClickMark(1)), "auto", True),
    ("it types into a mark", FULL, entry(TypeMark(1, "x")), "auto", True),
    ("a click by number failed", FULL, entry(Click(0), **FAILED), "auto", True),
    ("a failure without a number", FULL, entry(Scroll(100), **FAILED), "auto", False),
    ("memory", FULL, entry(Calculate("1"), effect=Effect.NOTHING), "auto", False),
]  # fmt: skip


@pytest.mark.parametrize(("what", "shown", "last", "mode", "wanted"), ROWS, ids=[row[0] for row in ROWS])
def test_marks_are_wanted_where_numbers_do_not_reach(what, shown, last, mode, wanted: bool):
    assert marks_wanted(shown, last, mode) is wanted


def test_labels_are_the_quoted_ones_and_the_names_in_the_subgoal():
    seen = at(
        shown=replace(page(0), elements=(Element(index=0, role="button", name="Sort by"),
                                         Element(index=1, role="link", name="Go"))),
        ledger=Ledger(subgoal="use sort by to order them"),
        procedures=(ProcedureState(tip="t", line='press "Apply filter"', applies=True),
                    ProcedureState(tip="u", line='press "Not here"')),
    )  # fmt: skip
    labels = expected_labels(seen, ['open the "Reports" page', "it doesn't matter what's 'Orders'"])
    assert labels == ("Reports", "Orders", "Apply filter", "Sort by")


async def test_the_same_marks_are_told_once_while_they_are_in_the_context():
    frame = await Seeing().frame_for_policy(page(3))
    marks = ShownMarks(turns=5)
    assert marks.words(frame, 0) == (frame.words, "")
    assert marks.words(frame, 4) == ("", "The marks listed at step 0 still hold.")
    assert marks.words(frame, 5) == (frame.words, "")
    assert marks.words(replace(frame, lag="[vision_lag]"), 6)[0]
