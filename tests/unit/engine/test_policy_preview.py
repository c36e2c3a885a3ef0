"""Preview of a policy on stored runs: what it would have marked, notified, paused and asked."""

from __future__ import annotations

import sys
from dataclasses import replace
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.core.intervention_policy import (
    DEFAULT_POLICY,
    UNATTENDED,
    FlagRule,
    InterventionPolicy,
    PolicyCount,
    PolicyPreview,
    Reaction,
)
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.policy_preview import PreviewRun, preview
from app.engine.detectors.runner import ALL_DETECTORS, detect_run
from tests.support.runs import COLLECTION, needs_collection, read_run


def flag(step: int, severity: Severity = Severity.ERROR, detector: str = "left-sites") -> Flag:
    return Flag(run="", detector=detector, step=step, severity=severity, confidence=0.9, message="m")


def policy(*rules: FlagRule) -> InterventionPolicy:
    return InterventionPolicy(flags=rules)


def on_errors(reaction: Reaction, **more: str) -> FlagRule:
    return FlagRule(severity=Severity.ERROR, reaction=reaction, **more)


def run(id: str, site: str = "shop", score: float | None = 0.0, steps: int = 10) -> PreviewRun:
    return PreviewRun(id=id, site=site, steps=steps, score=score)


def test_what_would_have_been_held_and_which_of_it_had_failed():
    flags = {"a": [flag(4), flag(2)], "b": [flag(7)], "c": [flag(1, Severity.HINT)], "e": [flag(3)]}
    runs = [run("a"), run("b", score=1.0), run("c", score=0.5), run("d"), run("e", score=None)]

    found = preview(policy(on_errors(Reaction.PAUSE)), flags, runs)

    assert found.whole == PolicyCount(
        site="", runs=5, judged=4, failed=3, marked=4, notified=3, paused=3, asked=0, failed_notified=1,
        failed_paused=1, failed_asked=0, first_step=3.0,
    )  # fmt: skip
    assert found.held == (("a", 2), ("b", 7), ("e", 3))


def test_each_site_has_its_count_and_its_rule():
    flags = {"a": [flag(4)], "b": [flag(5)]}
    strict = policy(on_errors(Reaction.NOTIFY), on_errors(Reaction.ASK, site="admin"))

    found = preview(strict, flags, [run("a"), run("b", "admin"), run("c", "")])

    assert [(one.site, one.runs, one.notified, one.asked) for one in found.sites] == [
        ("admin", 1, 1, 1),
        ("shop", 1, 1, 0),
    ]
    assert found.held == (("b", 5),)


def test_a_rule_for_one_detector_goes_before_that_of_its_severity():
    strict = policy(on_errors(Reaction.MARK), on_errors(Reaction.ASK, detector="left-sites"))
    flags = {"a": [flag(1)], "b": [flag(1, detector="error-page")]}
    assert preview(strict, flags, [run("a"), run("b")]).held == (("a", 1),)


@pytest.mark.parametrize(
    "late",
    [flag(9, detector="crash"), flag(9, detector="step-limit"), flag(10), flag(10, detector="run-outcome")],
)
def test_a_flag_at_the_end_notifies_and_pauses_nothing(late: Flag):
    assert late.detector in {detector.name for detector in ALL_DETECTORS}
    found = preview(policy(on_errors(Reaction.ASK)), {"a": [late]}, [run("a", steps=10)])
    assert (found.whole.notified, found.whole.paused, found.whole.asked, found.held) == (1, 0, 0, ())
    assert found.whole.first_step is None


def test_a_model_that_judges_a_run_live_holds_it_at_the_step_or_before_its_end():
    """Whichever step the outcome's flag names, its question is asked when the run claims to be done."""
    flags = {"a": [flag(3, detector="run-outcome")], "b": [flag(3, detector="step-consistency")]}
    found = preview(policy(on_errors(Reaction.ASK)), flags, [run("a", steps=10), run("b", steps=10)])
    assert found.held == (("a", 9), ("b", 3))


def test_a_detector_nobody_knows_any_more_may_have_held_the_run():
    assert preview(policy(on_errors(Reaction.PAUSE)), {"a": [flag(1, detector="gone")]}, [run("a")]).held


def test_without_runs_all_counts_are_zero():
    assert preview(DEFAULT_POLICY, {}, []) == PolicyPreview(
        whole=PolicyCount(
            site="", runs=0, judged=0, failed=0, marked=0, notified=0, paused=0, asked=0, failed_notified=0,
            failed_paused=0, failed_asked=0,
        )
    )  # fmt: skip


REACTIONS = st.sampled_from(list(Reaction))


@given(
    reactions=st.tuples(REACTIONS, REACTIONS, REACTIONS),
    flags=st.lists(
        st.lists(
            st.builds(flag, st.integers(0, 12), st.sampled_from(list(Severity)), st.sampled_from(
                [detector.name for detector in ALL_DETECTORS]
            )),
            max_size=4,
        ),
        max_size=6,
    ),
    scores=st.lists(st.sampled_from([None, 0.0, 0.5, 1.0]), min_size=6, max_size=6),
)  # fmt: skip
def test_a_stronger_reaction_contains_the_weaker_and_a_stricter_policy_holds_no_less(
    reactions, flags, scores
):
    runs = [run(str(at), ("shop", "admin")[at % 2], scores[at]) for at in range(len(flags))]
    rules = tuple(
        FlagRule(severity=one, reaction=reaction) for one, reaction in zip(Severity, reactions, strict=True)
    )
    by_run = {str(at): found for at, found in enumerate(flags)}
    found = preview(policy(*rules), by_run, runs)
    for one in (found.whole, *found.sites):
        assert one.runs >= one.marked >= one.notified >= one.paused >= one.asked >= 0
        assert one.failed >= one.failed_notified >= one.failed_paused >= one.failed_asked >= 0
        assert one.judged >= one.failed
        assert (one.first_step is None) == (one.paused == 0)
    assert sum(site.paused for site in found.sites) == found.whole.paused == len(found.held)
    stricter = tuple(replace(rule, reaction=Reaction.ASK) for rule in rules)
    assert {run for run, _ in preview(policy(*stricter), by_run, runs).held} >= {run for run, _ in found.held}


@needs_collection
@pytest.mark.shared_data
def test_on_the_published_runs_pausing_at_warnings_holds_mostly_what_failed(capsys):
    from app.engine.core.sites import load_sites
    from app.engine.imports.colorbrowseragent import find_runs

    read = [read_run(folder, COLLECTION, load_sites()) for folder in find_runs(COLLECTION)]
    lengths: dict[str, list[int]] = {}
    for one in read:
        lengths.setdefault(one.run.site, []).append(one.run.step_count)
    usual = {site: float(median(found)) for site, found in lengths.items()}
    flags = {one.run.id: detect_run(one.run, one.steps, usual[one.run.site]) for one in read}
    runs = [
        PreviewRun(id=one.run.id, site=one.run.site, steps=one.run.step_count, score=one.run.score)
        for one in read
    ]
    strict = replace(
        DEFAULT_POLICY,
        flags=tuple(
            replace(rule, reaction=Reaction.PAUSE) if rule.severity is Severity.WARNING else rule
            for rule in DEFAULT_POLICY.flags
        ),
    )
    whole, kept = preview(strict, flags, runs).whole, preview(DEFAULT_POLICY, flags, runs).whole
    with capsys.disabled():
        sys.stdout.write(
            f"\n  {kept.runs} runs, {kept.failed} failed; the usual policy tells of {kept.notified} and pauses"
            f" {kept.paused} ({kept.failed_paused} failed); pausing at warnings: {whole.paused}"
            f" ({whole.failed_paused} failed), first at step {whole.first_step}\n"
        )
    assert whole.runs == whole.judged == 59
    assert whole.paused >= kept.paused
    assert whole.failed_paused / whole.paused > whole.failed / whole.runs, "worse than pausing at random"
    assert preview(UNATTENDED, flags, runs).held == ()
