"""Steps are written and read as JSON; hostile JSON is one sentence."""

from typing import Any

import pytest

from kb.errors import BadTip
from kb.procedure import (
    NEVER_LIMIT,
    STEP_LIMIT,
    VALUE_LIMIT,
    Choice,
    Procedure,
    ProcedureOrigin,
    ProcedureStep,
    StepKind,
    procedure_from_json,
    procedure_to_json,
)
from kb.record import anchor_from_json, anchor_to_json
from kb.tip import Anchor

STEP = {"kind": "press", "target": "Save"}
PROCEDURE = Procedure(
    entries=(
        ProcedureStep(kind=StepKind.OPEN, target="/f/{forum}"),
        Choice(
            ways=(
                (
                    ProcedureStep(
                        kind=StepKind.PRESS, target="Save", role="button", near="{title}", where="in"
                    ),
                ),
                (
                    ProcedureStep(
                        kind=StepKind.CHOOSE, target="Show", value="50", when="there are more", locator="x"
                    ),
                ),
            )
        ),
    ),
    never=("Delete",),
    unread=("do the rest",),
    origin=ProcedureOrigin.TAKEOVER,
    compiler=3,
)


def test_a_procedure_is_read_back():
    assert procedure_from_json(procedure_to_json(PROCEDURE)) == PROCEDURE
    assert procedure_from_json(procedure_to_json(PROCEDURE) | {"later": 1}) == PROCEDURE
    assert procedure_from_json({}) == Procedure()


def test_placeholders_are_named_once_and_filled():
    assert PROCEDURE.placeholders == ("forum", "title")
    assert PROCEDURE.steps[1].filled({"title": "A"}).near == "A"
    assert PROCEDURE.steps[0].filled({"title": "A"}).target == "/f/{forum}"


HOSTILE: list[tuple[Any, str]] = [
    (None, "must be a JSON object"),
    ([], "must be a JSON object"),
    ("x", "must be a JSON object"),
    ({"steps": 1}, "'steps' must be a list"),
    ({"steps": {"kind": "press"}}, "'steps' must be a list"),
    ({"steps": ["press"]}, "a step must be a JSON object"),
    ({"steps": [{}]}, "is no kind of step"),
    ({"steps": [{"kind": "shout", "target": "x"}]}, "'shout' is no kind of step"),
    ({"steps": [{"kind": ["press"], "target": "x"}]}, "is no kind of step"),
    ({"steps": [{"kind": {}, "target": "x"}]}, "is no kind of step"),
    ({"steps": [{"kind": "press"}]}, "the step 'press' has no target"),
    ({"steps": [{"kind": "press", "target": 4}]}, "'target' of a step must be a text"),
    ({"steps": [{"kind": "press", "target": "x" * (VALUE_LIMIT + 1)}]}, "2,001 characters long"),
    ({"steps": [STEP] * (STEP_LIMIT + 1)}, "61 steps are too many"),
    ({"steps": [{"any": [[STEP] * STEP_LIMIT, [STEP]]}]}, "61 steps are too many"),
    ({"steps": [{"any": []}]}, "a choice needs ways"),
    ({"steps": [{"any": [[]]}]}, "a choice needs ways"),
    ({"steps": [{"any": [STEP]}]}, "a way must be a list"),
    ({"steps": [{"any": [[{"any": [[STEP]]}]]}]}, "is no kind of step"),
    ({"never": "Save"}, "'never' must be a list"),
    ({"never": [1]}, "must be a text"),
    ({"never": ["x"] * (NEVER_LIMIT + 1)}, "61 entries of 'never' are too many"),
    ({"unread": ["x"] * (NEVER_LIMIT + 1)}, "61 entries of 'unread' are too many"),
]


@pytest.mark.parametrize(("given", "message"), HOSTILE)
def test_hostile_json_is_one_sentence(given: Any, message: str):
    with pytest.raises(BadTip) as caught:
        procedure_from_json(given)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("origin", ["robot", 4, None, [], {}])
def test_steps_of_an_unknown_origin_count_as_a_persons(origin: Any):
    """They are never compiled again: whoever made them, it was not this compiler."""
    assert procedure_from_json({"steps": [STEP], "origin": origin}).origin is ProcedureOrigin.PERSON


@pytest.mark.parametrize("number", [-1, True, "3", 1.5, None, []])
def test_an_odd_version_of_the_compiler_is_the_oldest(number: Any):
    assert procedure_from_json({"steps": [STEP], "compiler": number}).compiler == 0


def test_an_anchor_is_read_back():
    anchor = Anchor(
        screenshot="ab", box=(0, 2, 30, 4), words="Sort by", role="button", neighbours=("a", "b"), page="/f/*"
    )
    assert anchor_from_json(anchor_to_json(anchor)) == anchor
    assert anchor_from_json({}) == Anchor()


@pytest.mark.parametrize(
    "given",
    [
        None,
        [],
        {"box": 1},
        {"box": [1, 2, 3]},
        {"box": [1, 2, 3, -4]},
        {"box": [1, 2, 3, 10**6]},
        {"box": [1, 2, 3, "4"]},
        {"neighbours": "a"},
        {"neighbours": [1]},
    ],
)
def test_a_hostile_anchor_is_one_sentence(given: Any):
    with pytest.raises(BadTip, match="anchor"):
        anchor_from_json(given)
