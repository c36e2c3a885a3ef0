"""An action that our executor refuses because something covers its element is flagged at once and counts as tried."""

from __future__ import annotations

from app.engine.detectors.rules.errors import CoveredElement
from app.engine.detectors.rules.loops import RepeatedAction, StateActionLoop
from tests.support.detector_steps import click, failed, flags_of, step

COVERED = failed(
    "button 'Save' is covered by <div> 'Please wait'", executed=False, effect="refused", cause="covered"
)


def test_a_covered_element_is_flagged_at_the_first_step():
    (flag,) = flags_of(CoveredElement, [step(0, **click("Save"), **COVERED)])
    assert flag.step == 0
    assert "<div> covers it" in flag.message


def test_an_action_refused_three_times_on_one_page_is_a_loop():
    steps = [step(number, state="same", **click("Save"), **COVERED) for number in range(3)]
    assert [flag.step for flag in flags_of(StateActionLoop, steps)] == [2]
    assert [flag.step for flag in flags_of(RepeatedAction, steps)] == [2]
