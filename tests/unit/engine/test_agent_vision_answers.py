"""Answers of a vision model, and how they are read."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.agent.vision.answers import (
    MAX_BOXES,
    PageType,
    SceneRole,
    UnreadableAnswer,
    VisionAnswer,
    read_answer,
)


def boxes(*made: object) -> str:
    return json.dumps({"page_type": "form", "summary": "s", "boxes": list(made)})


@pytest.mark.parametrize(
    "told",
    [
        [100, 200, 300, 400],
        [300, 400, 100, 200],
        ["100", "200", "300", "400"],
        "100, 200, 300, 400",
        "[100 200 300 400]",
        [0.1, 0.2, 0.3, 0.4],
        [[100, 200], [300, 400]],
        {"ymin": 100, "xmin": 200, "ymax": 300, "xmax": 400},
        {"top": 100, "left": 200, "bottom": 300, "right": 400},
    ],
)
def test_a_box_is_read_however_its_four_sides_are_written(told: object):
    assert read_answer(boxes({"label": "Save", "box_2d": told})).boxes[0].box == (100, 200, 300, 400)


def test_sides_beyond_the_picture_end_at_its_edge():
    assert read_answer(boxes({"box_2d": [-50, 0, 1200, 400]})).boxes[0].box == (0, 0, 1000, 400)


@pytest.mark.parametrize(
    "bad",
    [
        {"label": "no box"},
        {"box_2d": [1, 2, 3]},
        {"box_2d": [10, 10, 10, 10]},
        {"box_2d": None},
        {"box_2d": ["a", "b", "c", "d"]},
        {"box_2d": [1e400, 0, 10, 10]},
        "words",
        None,
        [],
    ],
)
def test_a_box_that_cannot_be_read_is_left_out_and_the_others_stay(bad: object):
    answer = read_answer(boxes(bad, {"label": "Save", "box_2d": [1, 2, 30, 40]}))
    assert [box.label for box in answer.boxes] == ["Save"]
    assert answer.dropped == 1


def test_fields_of_the_wrong_kind_become_the_plainest_thing():
    told = {
        "label": 7, "box_2d": [1, 2, 30, 40], "clickable": "yes", "confidence": "95%", "relevant": "no",
        "scene": "Blocker", "role": "Radio Button", "extra": {},
    }  # fmt: skip
    box = read_answer(boxes(told)).boxes[0]
    assert (box.label, box.clickable, box.confidence, box.relevant) == ("7", True, 0.95, False)
    assert (box.scene, box.role) == (SceneRole.BLOCKER, "radio_button")
    odd = read_answer(boxes({"box_2d": [1, 2, 30, 40], "scene": 5, "confidence": None, "label": ["x"]}))
    assert (odd.boxes[0].scene, odd.boxes[0].confidence, odd.boxes[0].label) == (
        SceneRole.UNKNOWN,
        0.5,
        "",
    )


def test_names_other_models_use_are_understood():
    told = {"text": "Save", "bbox": [1, 2, 30, 40], "type": "button", "intent_relevant": True}
    box = read_answer(boxes(told)).boxes[0]
    assert (box.label, box.role, box.relevant) == ("Save", "button", True)


def test_an_unknown_page_type_is_another():
    text = json.dumps({"page_type": "Search Results", "boxes": []})
    assert read_answer(text).page_type is PageType.SEARCH_RESULTS
    assert read_answer('{"page_type": "moon", "boxes": []}').page_type is PageType.OTHER


@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "Here it is: {} I hope it helps."])
def test_json_is_found_among_words_and_fences(around: str):
    text = around.replace("{}", boxes({"label": "Save", "box_2d": [1, 2, 30, 40]}))
    assert read_answer(text).boxes[0].label == "Save"


def test_a_bare_list_of_boxes_is_an_answer():
    assert len(read_answer('[{"label": "a", "box_2d": [1, 2, 30, 40]}]').boxes) == 1


def test_an_answer_cut_off_keeps_its_whole_boxes():
    whole = boxes(
        {"label": "One", "box_2d": [1, 2, 30, 40]},
        {"label": "Two", "box_2d": [1, 2, 30, 40]},
        {"label": "Three", "box_2d": [1, 2, 30, 40]},
    )
    cut = read_answer(whole[: whole.index("Three")])
    assert [box.label for box in cut.boxes] == ["One", "Two"]
    assert (cut.cut, cut.page_type, cut.summary) == (True, PageType.FORM, "s")


@pytest.mark.parametrize(
    "text",
    ["", "I see a form.", "{", '{"boxes": 5}', '{"answer": []}', '{"boxes": [{"label": "a', "[" * 200_000,
     '{"boxes": [' + "9" * 10_000 + "]"],
)  # fmt: skip
def test_what_holds_no_boxes_is_unreadable(text: str):
    with pytest.raises(UnreadableAnswer):
        read_answer(text)


def test_a_huge_answer_is_read_fast_and_in_part():
    many = boxes(*({"label": str(n), "box_2d": [1, 2, 30, 40]} for n in range(150_000)))
    assert len(many) > 5_000_000
    began = time.perf_counter()
    answer = read_answer(many)
    assert time.perf_counter() - began < 20
    assert len(answer.boxes) == MAX_BOXES
    assert answer.cut


@given(st.text(max_size=200) | st.binary(max_size=60).map(lambda b: '{"boxes": [' + b.decode("latin-1")))
def test_any_text_is_read_or_refused(text: str):
    try:
        answer = read_answer(text)
    except UnreadableAnswer:
        return
    assert isinstance(answer, VisionAnswer)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_any_json_in_place_of_a_box_is_read_or_left_out(value: object):
    answer = read_answer(
        "", {"boxes": [value, {"box_2d": value}, {"label": value, "box_2d": [1, 2, 30, 40]}]}
    )
    assert len(answer.boxes) + answer.dropped == 3
    for box in answer.boxes:
        top, left, bottom, right = box.box
        assert 0 <= top < bottom <= 1000
        assert 0 <= left < right <= 1000
