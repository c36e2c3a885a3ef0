"""The rule of the answer, one row a clause, and its sentences."""

from dataclasses import replace

import pytest

from app.engine.evaluation.answering import (
    AnswerFacts,
    answer_of,
    points,
    sentence_of,
    templates_for_same,
)

D = 0.02


@pytest.mark.parametrize(
    ("clause", "low", "high", "templates", "answer"),
    [
        ("1 too few, though far above 0", 0.30, 0.60, 7, "not enough data"),
        ("1 too few, though far below 0", -0.60, -0.30, 7, "not enough data"),
        ("1 too few, though exactly 0", 0.0, 0.0, 7, "not enough data"),
        ("1 none at all", -1.0, 1.0, 0, "not enough data"),
        ("2 above 0 with the fewest", 0.001, 0.60, 8, "better"),
        ("2 above 0 comes before same", 0.001, 0.015, 500, "better"),
        ("2 touching 0 is not above it", 0.0, 0.10, 500, "not enough data"),
        ("3 below 0", -0.60, -0.001, 8, "worse"),
        ("3 below 0 comes before same", -0.015, -0.001, 500, "worse"),
        ("3 touching 0 is not below it", -0.10, 0.0, 500, "not enough data"),
        ("4 within the margin, its ends included", -0.02, 0.02, 149, "same"),
        ("4 one template too few for that", -0.02, 0.02, 148, "not enough data"),
        ("4 over the upper end", -0.01, 0.021, 500, "not enough data"),
        ("4 over the lower end", -0.021, 0.01, 500, "not enough data"),
        ("5 wide", -0.10, 0.20, 500, "not enough data"),
    ],
)
def test_the_first_clause_that_holds_decides(clause, low, high, templates, answer):
    assert answer_of(low, high, templates=templates, margin=D) == answer, clause


@pytest.mark.parametrize(("margin", "templates"), [(0.02, 149), (0.05, 59), (0.10, 29), (0.5, 5)])
def test_what_a_share_of_the_templates_has_is_missed_one_time_in_twenty(margin, templates):
    assert templates_for_same(margin) == templates
    assert (1 - margin) ** templates <= 0.05 < (1 - margin) ** (templates - 1)


def test_without_a_margin_nothing_is_the_same():
    assert answer_of(0.0, 0.0, templates=100_000, margin=0.0) == "not enough data"


FACTS = AnswerFacts(
    answer="better",
    difference=0.09,
    low=0.03,
    high=0.15,
    templates=190,
    planned=190,
    margin=0.02,
    more=0,
    effect=0.0,
    steps=0.04,
    early=False,
)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "better by 9 points, 95 % interval 3 to 15, 190 templates; costs 4 % more steps"),
        (
            {"answer": "worse", "difference": -0.01, "low": -0.017, "high": -0.003, "steps": -0.12},
            "worse by 1 point, 95 % interval -2 to -0.3, 190 templates; takes 12 % fewer steps",
        ),
        (
            {"answer": "same", "difference": 0.001, "low": -0.012, "high": 0.014, "steps": 0.001},
            "the same within 2 points, 95 % interval -1 to 1, 190 templates; costs as many steps",
        ),
        (
            {
                "answer": "not enough data",
                "low": -0.02,
                "high": 0.08,
                "templates": 60,
                "more": 60,
                "effect": 0.05,
            },
            "not enough data: 60 more templates for an effect of 5 points; 95 % interval -2 to 8, 60 templates",
        ),
        (
            {"answer": "not enough data", "low": -1, "high": 1, "templates": 1, "more": 1, "effect": 0.2},
            "not enough data: 1 more template for an effect of 20 points; 95 % interval -100 to 100, 1 template",
        ),
        (
            {"early": True, "templates": 70},
            "better by 9 points so far, always-valid 95 % interval 3 to 15, 70 of 190 templates;"
            " costs 4 % more steps",
        ),
        (
            {"answer": "not enough data", "early": True, "templates": 0, "more": 356, "effect": 0.05},
            "not enough data yet: 356 more templates for an effect of 5 points; no template is complete",
        ),
        (
            {"tainted": 14, "steps": None},
            "better by 9 points, 95 % interval 3 to 15, 190 templates; includes 14 tainted tasks",
        ),
        (
            {"tainted": 1, "steps": None, "low": 0.0004},
            "better by 9 points, 95 % interval 0.04 to 15, 190 templates; includes 1 tainted task",
        ),
    ],
)
def test_the_answer_is_told_in_one_sentence(changes, sentence):
    assert sentence_of(replace(FACTS, **changes)) == sentence


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0"),
        (0.1249, "12"),
        (-0.05, "-5"),
        (0.0095, "1"),
        (0.0049, "0.5"),
        (0.0003, "0.03"),
        (-0.00001, "-0.001"),
    ],
)
def test_points_are_whole_and_never_a_false_zero(share, text):
    assert points(share) == text
