"""Features of the ranking, and what must never be one: published runs reveal their outcome by their date alone."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace

import pytest

from app.engine.core.trajectory import Run, Step
from app.engine.detectors import risk
from app.engine.detectors.risk import features
from app.engine.detectors.runner import ALL_DETECTORS, context_of, detect_run
from tests.support.runs import make_run, make_step, needs_collection, read


def _features(run: Run, steps: tuple[Step, ...]) -> dict[str, float]:
    return features(detect_run(run, steps, 5.0), run.step_count, 5.0)


def _at_another_host(step: Step) -> Step:
    def moved(url: str) -> str:
        return re.sub(r"//[^/:]+", "//another.host", url)

    tabs = tuple(replace(tab, url=moved(tab.url)) for tab in step.tabs)
    return replace(step, url=moved(step.url), tabs=tabs)


CHANGES = {
    "dates": lambda step: replace(step, started_at=step.started_at + 40 * 86_400.0 + step.index),
    "latencies": lambda step: replace(
        step,
        agent_seconds=step.agent_seconds * 9 + 30,
        env_seconds=step.env_seconds * 9 + 30,
        model_seconds=99.0,
    ),
    "hosts": _at_another_host,
    "lengths of reasons": lambda step: replace(step, reason="because " * 400 if step.index % 2 else ""),
    "lengths of raw outputs": lambda step: replace(step, raw_output=step.raw_output + " word" * 300),
    "tokens": lambda step: replace(step, tokens=(12_345, 678)),
}


def _changed(what: str, run: Run, steps: tuple[Step, ...]) -> tuple[Run, tuple[Step, ...]]:
    change = CHANGES[what]
    final = change(run.final) if run.final is not None else None
    start = re.sub(r"//[^/:]+", "//another.host", run.start_url) if what == "hosts" else run.start_url
    moved = replace(run, final=final, start_url=start)
    if what == "dates":
        moved = replace(moved, started_at=run.started_at + 40 * 86_400.0, imported_at=9e8)
    return moved, tuple(change(step) for step in steps)


@needs_collection
@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize(
    "task",
    [
        "webarena/33",
        "webarena/415",
        "webarena/701",
        "webarena/45",
        "webchorearena/30051",
        "webchorearena/20024",
    ],
)
def test_of_a_real_run_none_of_these_is_a_feature(task: str, what: str):
    got = read(task)
    before = _features(got.run, got.steps)
    assert len(before) > 1
    assert _features(*_changed(what, got.run, got.steps)) == before


@pytest.mark.parametrize("what", CHANGES)
def test_of_a_made_up_loop_none_of_these_is_a_feature(what: str):
    steps = tuple(make_step(at, url="http://shop.example:7770/page/1", state="s") for at in range(9))
    run = make_run(step_count=9)
    before = _features(run, steps)
    assert "repeated-action" in before
    assert _features(*_changed(what, run, steps)) == before


def test_the_builder_of_features_is_given_nothing_else():
    assert list(inspect.signature(features).parameters) == ["flags", "steps", "usual_steps", "decided"]
    allowed = {risk.INTERCEPT, risk.LENGTH, risk.GOAL_MET}
    for known in ALL_DETECTORS:
        allowed |= {known.name, known.name + risk.OFTEN, known.name + risk.AT_END}
    assert risk.FEATURES.keys() == allowed


def test_the_run_context_holds_no_date_and_no_score():
    told = context_of(make_run(), 5.0)
    assert not {"score", "outcome", "started_at", "imported_at", "source_path"} & set(type(told).__slots__)


@pytest.mark.parametrize(
    ("detector", "weight"), [("gave-up", 0.2), ("covered-element", 0.1), ("no-effect", 0.6)]
)
def test_weights_that_were_counted_with_the_answers_of_state_tasks_masked(detector: str, weight: float):
    assert risk.BY_NAME[detector].prior.fired == weight
