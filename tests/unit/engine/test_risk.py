"""The risk ranking: prior, fitting to verdicts, calibration, storage, suspect step and clusters."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.core.trajectory import Run
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.base import SINCE
from app.engine.detectors.risk import (
    FEATURES,
    JudgedRun,
    RiskModel,
    cluster_key,
    fit,
    page_template,
)
from app.engine.detectors.runner import ALL_DETECTORS, BY_NAME, flag_rank
from app.errors import InputError
from tests.support.detector_steps import step


def flag(
    detector: str, at: int = 0, *, since: int | None = None, message: str = "", confidence: float = 0.5
) -> Flag:
    severity = next((one.severity for one in ALL_DETECTORS if one.name == detector), Severity.HINT)
    return Flag(
        run="r",
        detector=detector,
        step=at,
        severity=severity,
        confidence=confidence,
        message=message or detector,
        evidence={} if since is None else {SINCE: since},
    )


def example(number: int, failed: bool, *detectors: str, steps: int = 5) -> JudgedRun:
    flags = tuple(flag(name) for name in detectors)
    return JudgedRun(run=f"run {number}", flags=flags, steps=steps, usual_steps=5, failed=failed)


def verdicts(count: int, seed: int = 1) -> list[JudgedRun]:
    """Made-up verdicts: here a covered element always fails and a step limit never does."""
    chance = random.Random(seed)
    made: list[JudgedRun] = []
    for number in range(count):
        covered = chance.random() < 0.5
        others = ("step-limit",) if not covered and chance.random() < 0.5 else ()
        made.append(example(number, covered, *(("covered-element",) if covered else others)))
    return made


detector_names = st.sampled_from([detector.name for detector in ALL_DETECTORS])
flag_lists = st.lists(st.builds(flag, detector_names, st.integers(0, 20)), max_size=12)
examples = st.lists(
    st.builds(
        JudgedRun,
        run=st.text("abcdef", min_size=1, max_size=3),
        flags=flag_lists.map(tuple),
        steps=st.integers(0, 60),
        usual_steps=st.one_of(st.none(), st.floats(0.5, 30)),
        failed=st.booleans(),
    ),
    max_size=40,
    unique_by=lambda example: example.run,
)


def test_every_detector_has_a_prior_of_its_own():
    assert all("prior" in vars(detector) for detector in ALL_DETECTORS)


def test_the_prior_orders_runs_as_the_counts_of_the_published_runs_do():
    model = RiskModel()
    clean, looped, cut = (
        model.value(flags, 5, 5) for flags in ((), [flag("repeated-action", 1)], [flag("step-limit", 4)])
    )

    assert 0.2 < clean < 0.3 < looped < cut
    assert cut > 0.85


def test_longer_than_usual_is_riskier_and_an_unknown_usual_changes_nothing():
    model = RiskModel()

    assert model.value((), 2, 5) < model.value((), 5, 5) < model.value((), 12, 5)
    assert model.value((), 50, None) == model.value((), 5, 5)


@settings(deadline=None)
@given(flag_lists, st.integers(0, 60), st.one_of(st.none(), st.floats(0, 1e9)))
def test_risk_lies_between_0_and_1_and_its_step_within_the_run(
    flags: list[Flag], steps: int, usual: float | None
):
    inside = [one for one in flags if one.step < steps]
    risk = RiskModel().assess("r", inside, steps, usual)

    assert 0 <= risk.value <= 1
    assert len(risk.reasons) <= 3


def test_without_verdicts_the_model_is_the_prior():
    assert fit([]) == RiskModel()


def test_verdicts_turn_the_order_round_when_they_speak_against_the_prior():
    model = fit(verdicts(60))

    assert model.fitted_on == 60
    assert model.value([flag("covered-element")], 5, 5) > 0.8
    assert model.value([flag("step-limit")], 5, 5) < model.value([flag("covered-element")], 5, 5)
    assert RiskModel().value([flag("step-limit")], 5, 5) > RiskModel().value([flag("covered-element")], 5, 5)


def test_a_few_verdicts_move_the_weights_little():
    before, after = RiskModel(), fit([example(1, False, "step-limit")])

    moved = [abs(after.weights[name] - before.weights[name]) for name in FEATURES]
    assert 0 < max(moved) < 1


def test_weights_of_detectors_that_never_fired_stay_at_the_prior():
    after = fit(verdicts(40))

    assert after.weights["login-wall"] == pytest.approx(BY_NAME["login-wall"].prior.fired)


@given(examples, st.randoms())
@settings(max_examples=25, deadline=None)
def test_the_same_verdicts_in_any_order_give_the_same_model(
    given_examples: list[JudgedRun], chance: random.Random
):
    shuffled = list(given_examples)
    chance.shuffle(shuffled)

    assert fit(shuffled) == fit(given_examples)


@given(examples)
@settings(max_examples=25, deadline=None)
def test_calibration_never_changes_the_order(given_examples: list[JudgedRun]):
    model = fit(given_examples)
    plain = RiskModel(weights=model.weights)

    assert model.slope > 0
    pairs = sorted(
        (plain.value(e.flags, e.steps, e.usual_steps), model.value(e.flags, e.steps, e.usual_steps))
        for e in given_examples
    )
    for (low, below), (high, above) in pairwise(pairs):
        assert above >= below or high - low < 1e-9


def test_values_are_calibrated_where_failures_are_common():
    """Nine of ten flagless runs failed here: the model says so after enough verdicts."""
    model = fit([example(number, number % 10 != 0) for number in range(200)])

    assert model.value((), 5, 5) == pytest.approx(0.9, abs=0.05)


def test_a_run_judged_twice_counts_once_by_its_last_verdict():
    assert fit([example(1, True, "crash"), example(1, False, "crash")]) == fit([example(1, False, "crash")])


@given(examples)
@settings(max_examples=25, deadline=None)
def test_a_stored_model_is_read_back_the_same(given_examples: list[JudgedRun]):
    model = fit(given_examples)

    assert RiskModel.from_json(model.to_json()) == model


def test_weights_of_a_detector_that_changed_fall_back_to_the_prior():
    document = json.loads(fit(verdicts(40)).to_json())
    document["detectors"]["covered-element"] = 99
    del document["weights"]["step-limit"]

    read = RiskModel.from_json(json.dumps(document))

    assert read.weights["covered-element"] == BY_NAME["covered-element"].prior.fired
    assert read.weights["step-limit"] == BY_NAME["step-limit"].prior.fired
    assert set(read.weights) == set(FEATURES)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"format": 99}, "format 99"),
        ({"format": "1"}, "no format number"),
        ({"slope": -1}, "slope"),
        ({"slope": True}, "slope"),
        ({"offset": None}, "offset"),
        ({"weights": []}, "lacks its weights"),
        ({"weights": {"crash": "high"}}, "'crash'"),
        ({"weights": {"crash": 1e300}}, "'crash'"),
        ({"fitted_on": -1}, "lacks its weights, detectors or count"),
    ],
)
def test_a_bad_model_is_refused_with_a_sentence(change: dict, told: str):
    document = {**json.loads(RiskModel().to_json()), **change}

    with pytest.raises(InputError, match=told):
        RiskModel.from_json(json.dumps(document))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 1, "slope": NaN}', "\x00"])
def test_a_text_that_is_no_model_is_refused(text: str):
    with pytest.raises(InputError):
        RiskModel.from_json(text)


def test_a_risk_carries_the_suspect_step_it_is_given():
    assert RiskModel().assess("r", [flag("no-effect", 2)], 20, 5, suspect=4).suspect_step == 4


def test_reasons_are_the_messages_of_the_most_significant_detectors():
    flags = [
        flag("no-effect", 1, message="nothing changed"),
        flag("repeated-action", 3, message="3 times", confidence=0.7),
        flag("repeated-action", 5, message="5 times", confidence=0.8),
        flag("step-limit", 9, message="all used"),
    ]

    assert RiskModel().assess("r", flags, 10, 5).reasons == ("all used", "5 times", "nothing changed")


def test_length_alone_is_a_reason_when_it_is_unusual():
    assert RiskModel().assess("r", [], 10, 5).reasons == ("Took 10 steps, 5 are usual here",)
    assert RiskModel().assess("r", [], 6, 5).reasons == ()


def test_flags_of_detectors_unknown_to_this_version_are_shown_but_not_counted():
    unknown = flag("a-detector-of-tomorrow", 3, message="new")

    assert RiskModel().value([unknown], 5, 5) == RiskModel().value([], 5, 5)


def test_the_kind_of_a_failure_is_site_detector_and_page_template():
    run = Run(id="r", source="s", site="gitlab", step_count=2)
    steps = [step(0, "/byteblaze/a11y/-/issues/12"), step(1, "/x")]
    flags = [flag("step-limit", 1), flag("repeated-action", 1, since=0)]

    assert cluster_key(run, flags, steps) == "gitlab · repeated-action · /{project}/-/issues/{n}"
    assert cluster_key(run, [], steps) == "gitlab · no flag · /x"
    assert cluster_key(Run(id="r", source="s"), [], []) == "unknown site · no flag · no page"


@pytest.mark.parametrize(
    ("url", "template"),
    [
        ("http://h:7780/admin/sales/order/view/order_id/299/", "/admin/sales/order/view/order_id/{n}"),
        ("http://other:7780/admin/sales/order/view/order_id/65", "/admin/sales/order/view/order_id/{n}"),
        ("http://h/admin/x/filter/cmVwb3J0X3R5cGU9Y3JlYXRlZF9hdA%3D%3D/", "/admin/x/filter/{id}"),
        ("http://h:7770/tony-bleu-john-boys-leather.html?a=1#top", "/{id}.html"),
        ("http://h/a11yproject/a11yproject.com/-/merge_requests/1270", "/{project}/-/merge_requests/{n}"),
        ("http://h/f/books/129-post", "/f/books/{id}"),
        ("http://h/1/2/3/4/5/6/7/8", "/{n}/{n}/{n}/{n}/{n}/{n}"),
        ("http://h", "/"),
        ("about:blank", "about:blank"),
    ],
)
def test_page_templates_leave_out_what_differs_between_runs(url: str, template: str):
    assert page_template(url) == template


def test_flag_rank_is_severity_then_confidence():
    flags = [
        flag("no-effect", confidence=0.9),
        flag("gave-up"),
        flag("gave-up", confidence=0.6),
        flag("crash"),
    ]

    assert [(f.detector, f.confidence) for f in sorted(flags, key=flag_rank)] == [
        ("crash", 0.5),
        ("gave-up", 0.6),
        ("gave-up", 0.5),
        ("no-effect", 0.9),
    ]
