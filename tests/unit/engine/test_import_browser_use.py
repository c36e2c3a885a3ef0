"""browser-use's histories: several actions an answer, nulls, pictures of other machines, and every older field."""

from __future__ import annotations

import base64
import json
import random

import pytest

from app.engine.core.trajectory import ErrorClass, Outcome
from app.engine.imports.browser_use_actions import ACTIONS, read_action
from app.engine.imports.browser_use_pages import task_in, tree_in
from tests.support.foreign_runs import PNG, SAMPLES, damages, needs_samples, read_all, read_one

U = "https://shop.example/"
STATE = """<agent_state>
<user_request>
Sign in and read the price
</user_request>
</agent_state>
<browser_state>
<page_stats>2 links</page_stats>
Current tab: CD34
Available tabs:
Tab CD34: https://shop.example/ - Shop

<page_info>0.0 pages above</page_info>

Interactive elements:
[Start of page]
Welcome to the shop
[5]<input type=email placeholder=E-mail />
[6]<input type=password placeholder=Passwort value=hunter22 />
*[7]<button type=submit aria-label=Enter />
\tSign in
\tnow
|scroll element|<div role=list /> (0.0↑ 2.0↓)
\t|scroll element[9]<a />
\t\tOak Board
<div role=alert />
\tWrong password
[End of page]
</browser_state>
"""


def element(tag: str, name: str = "", left: float = 10, **attributes: str) -> dict:
    """An interacted element as 0.13 writes it."""
    return {
        "node_name": tag,
        "ax_name": name or None,
        "attributes": attributes,
        "bounds": {"x": left, "y": 20.0, "width": 100.0, "height": 18.0},
        "x_path": "html/body",
    }


def item(actions, results, elements=None, picture=None, message=None, **more) -> dict:
    output = {
        "thinking": "I think",
        "evaluation_previous_goal": "Ok",
        "memory": "I know",
        "next_goal": "I go",
    }
    return {
        "model_output": None if actions is None else {**output, "action": actions},
        "result": results,
        "state": {
            "url": U,
            "title": "Shop",
            "tabs": [
                {"url": U, "title": "Shop", "target_id": "AB12CD34"},
                {"url": "x:", "target_id": "FFFF9999"},
            ],
            "interacted_element": elements,
            "screenshot_path": picture,
        },
        "metadata": {"step_start_time": 1000.0, "step_end_time": 1004.0, "step_number": 1},
        "state_message": message,
        **more,
    }


def history() -> dict:
    """Four answers: a form of three fields with an action too many, a failure, an old one, and the end."""
    return {
        "history": [
            item(
                [
                    {"input": {"index": 5, "text": "ann@shop.example"}},
                    {"input": {"index": 6, "text": "hunter22"}},
                    {"click": {"index": 7}},
                    {"wait": {"seconds": 2}},
                ],
                [
                    {"extracted_content": "Typed"},
                    {"extracted_content": "Typed 'hunter22'"},
                    {"error": "Element index 7 not available"},
                ],
                [
                    element("INPUT", "E-mail", type="email"),
                    element("INPUT", "Passwort", type="password"),
                    element("BUTTON", "Sign in"),
                    None,
                ],
                "/home/someone/.config/browseruse/agents/1/screenshots/step_1.png",
                STATE,
            ),
            item(None, [{"error": "Could not parse response."}], [None], "C:\\runs\\step_2.png"),
            {
                "model_output": {
                    "current_state": {"evaluation_previous_goal": "Old", "memory": "m", "next_goal": "n"},
                    "action": [{"click_element": {"index": 3, "xpath": "x"}}],
                },
                "result": [{"extracted_content": "🖱️  Clicked button with index 3: Add to cart"}],
                "state": {
                    "url": U,
                    "title": "Shop",
                    "tabs": [{"url": U, "title": "Shop", "page_id": 0}],
                    "screenshot": PNG,
                    "interacted_element": [
                        {
                            "tag_name": "button",
                            "xpath": "x",
                            "attributes": {"title": "Cart"},
                            "viewport_coordinates": {
                                "top_left": {"x": 1, "y": 2},
                                "width": 30,
                                "height": 40,
                            },
                        }
                    ],
                },
                "metadata": {"step_start_time": 1, "step_end_time": 3, "input_tokens": 700, "step_number": 3},
            },
            item(
                [{"done": {"text": "I could not sign in", "success": False}}],
                [
                    {
                        "is_done": True,
                        "success": False,
                        "extracted_content": "I could not sign in",
                        "judgement": {
                            "verdict": False,
                            "failure_reason": "never in",
                            "reached_captcha": True,
                        },
                    }
                ],
            ),
        ]
    }


def write(tmp_path, document, name="my_run.json"):
    (tmp_path / name).write_text(json.dumps(document))
    return tmp_path


@pytest.fixture
def run(tmp_path):
    (tmp_path / "screenshots").mkdir()
    for number in (1, 2):
        (tmp_path / "screenshots" / f"step_{number}.png").write_bytes(base64.b64decode(PNG) + b"%d" % number)
    return read_one(write(tmp_path, history()))


def test_each_action_with_a_result_is_a_step_on_the_page_of_its_answer(run):
    words = [step.words for step in run.steps]
    assert words == [
        "type 'ann@shop.example' into textbox 'E-mail'",
        "type 'REDACTED' into textbox 'Passwort (password)'",
        "click button 'Sign in'",
        "unreadable output",
        "click button 'Add to cart'",
        "give up: 'I could not sign in'",
    ]
    assert len({(step.url, step.screenshot, step.tree) for step in run.steps[:3]}) == 1
    assert run.steps[0].screenshot
    assert run.steps[3].screenshot
    assert [step.reason for step in run.steps[:3]] == ["I think\nOk\nI go", "", ""]
    assert (
        "several actions in one answer (1 times): all are shown on the page before the first" in run.run.notes
    )
    assert "actions that were never done, as one before them failed or changed the page: 1" in run.run.notes


def test_results_errors_boxes_times_and_tokens_go_to_their_action(run):
    steps = run.steps
    assert [step.error_class for step in steps[:4]] == [
        ErrorClass.NONE,
        ErrorClass.NONE,
        ErrorClass.HARD,
        ErrorClass.HARNESS,
    ]
    assert steps[2].error == "Element index 7 not available"
    assert steps[3].error == "Could not parse response."
    assert not steps[3].executed
    assert steps[2].target_box == (10, 20, 100, 18)
    assert steps[4].target_box == (1, 2, 30, 40)
    assert (steps[0].agent_seconds, steps[1].agent_seconds, steps[0].started_at) == (4.0, 0.0, 1000.0)
    assert steps[4].tokens == (700, 0) == run.run.tokens
    assert steps[4].screenshot
    assert steps[4].reason == "Old\nn"


def test_the_task_the_end_and_the_judges_opinion_are_in_the_run_and_no_score(run):
    assert run.run.intent == "Sign in and read the price"
    assert (run.run.outcome, run.run.answer, run.run.score) == (
        Outcome.INFEASIBLE,
        "I could not sign in",
        None,
    )
    assert "browser-use's judge, a model, says not done: never in; it saw a captcha" in run.run.notes
    assert run.run.final is not None
    assert run.run.final.url == U


def test_a_typed_password_is_nowhere_not_even_where_it_was_said_before(run):
    kept = repr(run.run) + repr(run.steps) + "".join(map(repr, run.blobs.values()))
    assert "hunter22" not in kept


def test_a_picture_of_another_place_is_never_read(tmp_path):
    secret = tmp_path / "secret.png"
    secret.write_bytes(base64.b64decode(PNG))
    inside = tmp_path / "runs"
    inside.mkdir()
    (inside / "linked.png").symlink_to(secret)
    for path in (str(secret), "../secret.png", "a/../../secret.png", "..\\secret.png", "linked.png"):
        document = {"history": [item([{"go_back": {}}], [{}], [None], path)]}
        runs, _ = read_all(write(inside, document))
        assert runs[0].steps[0].screenshot == "", path


def test_a_history_without_its_task_is_named_after_its_file(tmp_path):
    read = read_one(write(tmp_path, {"history": [item([{"go_back": {}}], [{}])]}, "buy_an-apron.json"))
    assert read.run.intent == "buy an apron"
    assert "the task is not in the file: the file's name stands for it" in read.run.notes


@pytest.mark.parametrize(
    ("last", "outcome"),
    [
        ({"is_done": True, "success": True, "extracted_content": "24"}, Outcome.ANSWERED),
        ({"is_done": True, "extracted_content": "24"}, Outcome.ANSWERED),
        ({"is_done": True, "success": False, "extracted_content": "24"}, Outcome.INFEASIBLE),
        ({"error": "Failed to complete task in maximum steps"}, Outcome.STEP_LIMIT),
        ({}, Outcome.INTERRUPTED),
    ],
)
def test_rule_how_a_history_ended(tmp_path, last, outcome):
    document = {"history": [item([{"go_back": {}}], [last], task="x")]}
    assert read_one(write(tmp_path, document)).run.outcome is outcome


ROWS = [
    ({"navigate": {"url": U, "new_tab": False}}, "goto", {"url": U}),
    ({"go_to_url": {"url": U}}, "goto", {"url": U}),
    ({"navigate": {"url": U, "new_tab": True}}, "new_tab", {"url": U}),
    ({"open_tab": {"url": U}}, "new_tab", {"url": U}),
    ({"go_back": {}}, "go_back", {}),
    ({"go_back": {"description": "x"}}, "go_back", {}),
    ({"wait": {"seconds": 2}}, "noop", {"wait_ms": 2000}),
    ({"click": {"index": 12}}, "click", {"bid": "12"}),
    ({"click_element": {"index": 12, "xpath": "x"}}, "click", {"bid": "12"}),
    ({"click_element_by_index": {"index": 12}}, "click", {"bid": "12"}),
    ({"click": {"coordinate_x": 3, "coordinate_y": 4}}, "mouse_click", {"x": 3, "y": 4}),
    ({"input": {"index": 5, "text": "a", "clear": True}}, "fill", {"bid": "5", "value": "a"}),
    ({"input_text": {"index": 5, "text": "a"}}, "fill", {"bid": "5", "value": "a"}),
    (
        {"input": {"index": 5, "text": "a", "clear": False}},
        "fill",
        {"bid": "5", "value": "a", "clear": False},
    ),
    ({"send_keys": {"keys": "Enter"}}, "keyboard_press", {"key": "Enter"}),
    ({"scroll": {"down": True, "pages": 0.5}}, "scroll", {"direction": "down", "pages": 0.5}),
    (
        {"scroll": {"down": False, "num_pages": 1, "index": 3}},
        "scroll",
        {"direction": "up", "pages": 1, "bid": "3"},
    ),
    ({"scroll_down": {"amount": 300}}, "scroll", {"delta_x": 0, "delta_y": 300}),
    ({"scroll_up": {}}, "scroll", {"direction": "up", "pages": 1.0}),
    ({"switch": {"tab_id": "9999"}}, "tab_focus", {"index": 1}),
    ({"switch_tab": {"page_id": 2}}, "tab_focus", {"index": 2}),
    ({"switch": {"tab_id": "0000"}}, "switch_tab", {"tab_id": "0000"}),
    ({"close": {"tab_id": "9999"}}, "tab_close", {"tab_id": "9999"}),
    ({"close_tab": {"page_id": 1}}, "tab_close", {"page_id": 1}),
    ({"upload_file": {"index": 4, "path": "a.png"}}, "upload_file", {"bid": "4", "file": "a.png"}),
    ({"select_dropdown": {"index": 4, "text": "Red"}}, "select_option", {"bid": "4", "options": "Red"}),
    (
        {"select_dropdown_option": {"index": 4, "text": "Red"}},
        "select_option",
        {"bid": "4", "options": "Red"},
    ),
    ({"dropdown_options": {"index": 4}}, "dropdown_options", {"bid": "4"}),
    ({"get_dropdown_options": {"index": 4}}, "dropdown_options", {"bid": "4"}),
    (
        {"drag_drop": {"coord_source_x": 1, "coord_source_y": 2, "coord_target_x": 3, "coord_target_y": 4}},
        "drag_and_drop",
        {"from_x": 1, "from_y": 2, "to_x": 3, "to_y": 4},
    ),
    ({"done": {"text": "24", "success": True}}, "send_msg_to_user", {"text": "24"}),
    ({"done": {"success": True, "data": {"price": 24}}}, "send_msg_to_user", {"text": '{"price":24}'}),
    ({"done": {"text": "no", "success": False}}, "report_infeasible", {"reason": "no"}),
    ({"search_google": {"query": "apron"}}, "search", {"query": "apron"}),
    ({"extract_structured_data": {"query": "price"}}, "extract", {"query": "price"}),
    ({"scroll_to_text": {"text": "Price"}}, "find_text", {"text": "Price"}),
    ({"evaluate": {"code": "1"}}, "evaluate", {"code": "1"}),
    ({"fly": {"to": {"moon": 1}}}, "fly", {"to": '{"moon":1}'}),
    ({"click": {}}, "click", {}),
    ({"click": None, "go_back": {}}, "go_back", {}),
]


@pytest.mark.parametrize(("entry", "kind", "args"), ROWS, ids=[next(iter(row[0])) for row in ROWS])
def test_rule_of_actions(entry, kind, args):
    action = read_action(entry, [{"target_id": "AB12CD34"}, {"target_id": "FFFF9999"}])
    assert (action.kind, action.args) == (kind, args)


def test_every_name_in_the_rule_of_actions_has_a_row():
    assert set(ACTIONS) <= {name for entry, _, _ in ROWS for name in entry}


def test_the_page_that_the_model_was_shown_is_its_tree():
    assert tree_in(STATE).split("\n") == [
        "StaticText 'Welcome to the shop'",
        "[5] textbox 'E-mail'",
        "[6] textbox 'Passwort (password)', value='hunter22'",
        "[7] button 'Sign in'",
        "\tStaticText 'now'",
        "list ''",
        "\t[9] link 'Oak Board'",
        "alert ''",
        "\tStaticText 'Wrong password'",
    ]
    assert task_in(STATE) == "Sign in and read the price"


@pytest.mark.parametrize(
    ("line", "node"),
    [
        ("[33]<a aria-label='Shop now'>Open />", "[33] link 'Open'"),
        ("*[4]<input type=checkbox checked=true />", "[4] checkbox '', checked='true'"),
        ("|SHADOW(open)|[8]<div role=button id=x />", "[8] button 'x'"),
        ("price < 30 and > 20", "StaticText 'price < 30 and > 20'"),
        ("|IFRAME|<iframe title=Ads />", "Iframe 'Ads'"),
    ],
)
def test_lines_of_a_page(line, node):
    assert tree_in(f"<browser_state>\nInteractive elements:\n{line}\n</browser_state>") == node


def test_lines_of_hostile_pages_are_read_in_linear_time():
    for line in ("[1]<a " + "x=" * 4000, "<" * 9000, "[1]<a " + " =" * 4000 + "/>", "|" * 9000 + "<a />"):
        tree_in(f"<browser_state>\n{line}\n</browser_state>")


def test_no_damage_of_a_field_stops_an_import(tmp_path):
    whole = history()
    for number, damaged in enumerate(damages(whole)):
        if number % 4 == random.Random(number).randrange(4):
            read_all(write(tmp_path, damaged), "browser-use")


def test_a_cut_file_is_one_sentence(tmp_path):
    data = json.dumps(history())
    for length in range(30, len(data), 301):
        (tmp_path / "cut.json").write_text(data[:length])
        runs, problems = read_all(tmp_path)
        assert not runs
        assert len(problems) <= 1


@needs_samples
def test_the_sample_of_browser_use_0_13():
    read = read_one(SAMPLES / "browser-use")
    assert (read.run.outcome, read.run.answer) == (Outcome.ANSWERED, "The Linen Apron costs 24.50 EUR.")
    assert [step.action.kind for step in read.steps] == ["goto", "click", "click", "send_msg_to_user"]
    assert [bool(step.screenshot) for step in read.steps] == [True, True, True, False]
    assert read.steps[2].error_class is ErrorClass.HARD
