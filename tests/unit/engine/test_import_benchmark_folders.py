"""Folders of Online-Mind2Web, SeeAct and OSWorld: every schema, where pictures belong, and how runs ended."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from app.engine.core.trajectory import ErrorClass, Outcome
from app.engine.imports.action_phrases import VERBS, read_phrase
from app.engine.imports.picture_files import by_number
from app.engine.imports.pyautogui_code import CALLS, TYPES, read_desktop_action
from tests.support.foreign_runs import PNG, SAMPLES, damages, needs_samples, read_all, read_one

U = "https://shop.example/"


def picture(number: int) -> bytes:
    return base64.b64decode(PNG) + b"%d" % number


def shown(read) -> list[int | None]:
    """The number of the picture of each step, and of the page after the last."""
    pages = [*read.steps, read.run.final]
    return [
        int(read.blobs[page.screenshot][len(base64.b64decode(PNG)) :]) if page and page.screenshot else None
        for page in pages
    ]


def folder(place: Path, files: dict[str, object]) -> Path:
    for name, content in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))
    return place


def v2(actions, **more) -> dict:
    return {
        "schema_version": "online-mind2web-v2",
        "task_id": "abc123",
        "task": "Buy it",
        "reference_length": 4,
        "agent_final_answer": "24.50",
        "action_history": [
            {
                "step": n,
                "action": action,
                "thought": f"thought {n}",
                "screenshot": f"{n:04d}.png",
                "url": f"{U}{n}",
            }
            for n, action in enumerate(actions)
        ],
        **more,
    }


def pictures(count: int, name: str = "trajectory/{:04d}.png", first: int = 0) -> dict[str, object]:
    return {name.format(n): picture(n) for n in range(first, first + count)}


V1 = {
    "task_id": "abc123",
    "task": "Buy it",
    "action_history": ["<button> Sign in -> CLICK", "<input id='q'> -> TYPE: apron"],
    "thoughts": ["one", "two"],
    "final_result_response": "24.50",
    "input_image_paths": ["input/a.png"],
}


def test_v2_pictures_are_before_the_actions_and_the_answer_stands_on_the_last(tmp_path):
    result = v2(
        ["<a href='/c'>Catalogue</a> -> CLICK | SUCCESS", "<button> Buy -> CLICK | FAILED", "TASK_COMPLETE"]
    )
    read = read_one(folder(tmp_path, {"result.json": result, **pictures(3)}))
    assert shown(read) == [0, 1, 2, 2]
    assert [step.url for step in read.steps] == [f"{U}0", f"{U}1", f"{U}2"]
    assert [step.words for step in read.steps] == [
        "click link 'Catalogue'",
        "click button 'Buy'",
        "answer '24.50'",
    ]
    assert read.steps[1].error_class is ErrorClass.HARD
    assert (read.run.task_id, read.run.intent, read.run.answer) == ("abc123", "Buy it", "24.50")
    assert (read.run.outcome, read.run.score, read.run.site) == (Outcome.ANSWERED, None, "shop.example")


def test_v2_pictures_are_after_the_actions_where_the_first_one_opens_the_site(tmp_path):
    result = v2([f"page -> NAVIGATE -> {U}", "<button> Buy -> CLICK", "TASK_COMPLETE -> ANSWER: 24.50"])
    read = read_one(folder(tmp_path, {"result.json": result, **pictures(3)}))
    assert shown(read) == [None, 0, 1, 2]
    assert read.steps[0].action.args == {"url": U}
    assert (
        "its pictures were taken after each action: the page before the first is not shown" in read.run.notes
    )


@pytest.mark.parametrize("name", ["trajectory/{}_screenshot.png", "trajectory/{}_full_screenshot.png",
                                  "trajectory/step_{:03d}.png"])  # fmt: skip
def test_v1_pictures_are_taken_by_their_numbers(tmp_path, name):
    read = read_one(folder(tmp_path, {"result.json": V1, **pictures(3, name)}))
    assert shown(read) == [0, 1, 2]
    assert [step.words for step in read.steps] == ["click button 'Sign in'", "type 'apron' into textbox 'q'"]
    assert [step.reason for step in read.steps] == ["one", "two"]
    assert read.run.answer == "24.50"
    assert "pictures of the task's text that are left out: 1" in read.run.notes


def test_what_a_judge_said_is_a_note_and_no_score(tmp_path):
    judged = "WebJudge_Online_Mind2Web_eval_o4-mini_score_threshold_3_auto_eval_results.json"
    rows = [
        '{"task_id": "other", "predicted_label": 0}',
        "damaged",
        '{"task_id": "abc123", "predicted_label": 1}',
    ]
    folder(tmp_path, {judged: "\n".join(rows), **{f"abc123/{k}": v for k, v in {"result.json": V1}.items()}})
    read = read_one(tmp_path)
    assert "WebJudge_Online_Mind2Web_eval (o4-mini), a model, says done" in read.run.notes
    assert read.run.score is None


def test_a_schema_of_the_future_is_refused_by_name(tmp_path):
    runs, problems = read_all(folder(tmp_path, {"result.json": v2([], schema_version="online-mind2web-v3")}))
    assert not runs
    assert "online-mind2web-v3" in problems[0].error


@pytest.mark.parametrize(
    ("names", "positions"),
    [
        (["0_screenshot.png", "1_screenshot.png"], {0: "0_screenshot.png", 1: "1_screenshot.png"}),
        (["1.png", "3.png"], {0: "1.png", 2: "3.png"}),
        (["10.png", "20.png", "7.png"], {0: "7.png", 1: "10.png", 2: "20.png"}),
        (["0_full_screenshot.png", "0_screenshot.png"], {0: "0_screenshot.png"}),
        (["none.png"], {}),
    ],
)
def test_rule_of_numbered_pictures(names, positions):
    assert by_number(names) == positions


PHRASES = [
    ("<button> Sign in -> CLICK", "click button 'Sign in'"),
    ("[link]  Catalogue -> CLICK", "click link 'Catalogue'"),
    ("[input with type text] Search -> TYPE: red -> blue", "type 'red -> blue' into textbox 'Search'"),
    ("<select#c aria-label='Sort'> -> SELECT: Price", "choose 'Price' in combobox 'Sort'"),
    ("<input type=\"password\" name='p'> -> TYPE: hunter22", "type 'hunter22' into textbox 'p (password)'"),
    ("TYPE <input name='q'> -> type 'apron' | SUCCESS", "type 'apron' into textbox 'q'"),
    ("CLICK coords(3, 4.5) -> the search box", "click at (3.0, 4.5)"),
    ("[button] Save -> PRESS ENTER", "press Enter in button 'Save'"),
    ("PRESS ENTER", "press Enter"),
    ("PRESS_KEY: Escape", "press Escape"),
    ("SCROLL DOWN", "scroll(direction='down')"),
    ("page -> SCROLL: up 300", "scroll(direction='up')"),
    (f"GOTO: {U}", f"go to {U}"),
    (f"page -> NAVIGATE -> {U} | SUCCESS", f"go to {U}"),
    ("GO BACK", "go back"),
    ("page -> GO_FORWARD", "go forward"),
    ("NEW TAB", "open a new tab"),
    ("CLOSE TAB", "close the tab"),
    ("SWITCH_TAB: 2", "switch to tab 2"),
    ("WAIT", "noop()"),
    ("NONE", "noop()"),
    ("SAY: it costs 24", "answer 'it costs 24'"),
    ("MEMORIZE: 24", "note '24'"),
    ("TERMINATE", "answer ''"),
    ("TASK_COMPLETE -> ANSWER: 24 | 25", "answer '24 | 25'"),
    ("<div> Menu -> HOVER", "hover generic 'Menu'"),
    ("<div> A -> DRAG: B", "drag_and_drop(to='B')"),
    ("I think I am done", "other(text='I think I am done')"),
]


@pytest.mark.parametrize(("phrase", "words"), PHRASES, ids=[one[0][:30] for one in PHRASES])
def test_rule_of_phrases(phrase, words):
    from app.engine.core.actions.recorded import describe_action

    read = read_phrase(phrase)
    assert describe_action(read.action, read.target).replace("hover div", "hover generic") == words


def test_every_verb_is_read_before_and_behind_its_element():
    for verb in VERBS:
        for phrase in (f"<button> Save -> {verb}", verb, verb.replace(" ", "_")):
            assert read_phrase(phrase).action.kind != "other", phrase


def test_a_failed_phrase_keeps_its_error():
    read = read_phrase("Failed to perform CLICK on [link] Buy with value 'None': Timeout 2000ms exceeded.")
    assert (read.failed, read.error, read.target.name) == (True, "Timeout 2000ms exceeded.", "Buy")


def test_hostile_phrases_are_read_in_linear_time():
    for phrase in (" " * 9000 + "->", "->" * 9000, "<a " * 4000, "[" * 9000, "| " * 9000, "Failed to perform A on "
                   + " with value '" * 900):  # fmt: skip
        read_phrase(phrase)


SEEACT = {
    "task": ["Find the shop", "Buy it"],
    "website": U,
    "num_step": 4,
    "action_history": [
        "[link]  Catalogue -> CLICK",
        "Changed task from Find the shop to: Buy it",
        "Failed to perform CLICK on Buy now with value 'None': Timeout",
        "SAY: it costs 24.50",
        "TERMINATE",
    ],
}
PREDICTIONS = [
    {
        "action_generation": f"I think {n}",
        "action_grounding": "ELEMENT: A",
        "element": {"description": "Catalogue", "box": [30, 10, 20, 20], "tag_with_role": "a"},
        "action": "CLICK",
        "value": None,
    }
    for n in range(4)
]


def test_seeact_pairs_actions_predictions_and_pictures(tmp_path):
    files = {
        "result.json": SEEACT,
        "all_predictions.json": PREDICTIONS,
        "config.toml": '[openai]\nmodel = "m-1"\n',
    }
    read = read_one(folder(tmp_path, {**files, **pictures(4, "screenshots/screen_{}.png")}))
    assert shown(read) == [0, 1, 2, 3, 3]
    assert [step.reason for step in read.steps] == ["I think 0", "I think 1", "I think 2", "I think 3"]
    assert [step.target_box for step in read.steps] == [(30, 10, 20, 20), None, None, None]
    assert (read.steps[1].error, read.steps[1].error_class) == ("Timeout", ErrorClass.HARD)
    assert (read.run.intent, read.run.site, read.run.answer) == ("Buy it", "shop.example", "it costs 24.50")
    assert (read.run.outcome, read.run.model) == (Outcome.ANSWERED, "m-1")
    assert "the task before was: Find the shop" in read.run.notes


@pytest.mark.parametrize(
    ("more", "outcome", "score"),
    [
        ({"exit_by": "the agent reached the step limit 10."}, Outcome.STEP_LIMIT, None),
        ({"exit_by": "The model determined a completion.", "success_or_not": "1"}, Outcome.ANSWERED, 1.0),
        ({"exit_by": "No elements", "success_or_not": "0"}, Outcome.CRASHED, 0.0),
        ({"success_or_not": ""}, Outcome.INTERRUPTED, None),
    ],
)
def test_rule_how_a_run_of_the_first_seeact_ended(tmp_path, more, outcome, score):
    result = {"confirmed_task": "Buy it", "website": U, "task_id": "t1", "num_step": 1,
              "action_history": ["[a] Buy -> CLICK"], **more}  # fmt: skip
    run = read_one(folder(tmp_path, {"result.json": result, "image_inputs/0_0_crop.jpg": picture(0)})).run
    assert (run.outcome, run.score, run.task_id) == (outcome, score, "t1")


def row(number: int, action, **more) -> str:
    return json.dumps({"step_num": number, "action_timestamp": "20261122@155120123456", "action": action,
                       "response": f"I think {number}", "reward": 0, "done": False, "info": {},
                       "screenshot_file": f"step_{number}_x.png", **more})  # fmt: skip


def osworld(tmp_path, rows, **files) -> Path:
    shots = pictures(len(rows), "step_{}_x.png", first=1)
    return folder(tmp_path / "chrome" / "t-1", {"traj.jsonl": "\n".join(rows) + "\n", **shots, **files})


def test_osworld_pictures_are_after_the_actions(tmp_path):
    place = osworld(tmp_path, [row(1, "pyautogui.click(100, 200)"), row(2, "DONE", done=True)],
                    **{"result.txt": "1.0\n", "runtime.log": "[Instruction]: Open the shop\n"})  # fmt: skip
    read = read_one(place)
    assert shown(read) == [None, 1, 2]
    assert (read.run.score, read.run.outcome, read.run.intent) == (1.0, Outcome.ANSWERED, "Open the shop")
    assert read.steps[0].started_at == 1795362680.123456


def test_osworld_shows_the_first_page_where_it_was_kept(tmp_path):
    place = osworld(tmp_path, [row(1, "WAIT"), row(2, "FAIL")], **{"step_0.png": picture(0)})
    read = read_one(place)
    assert shown(read) == [0, 1, 2]
    assert read.run.outcome is Outcome.INFEASIBLE


def test_osworld_pictures_that_say_so_are_before_the_actions(tmp_path):
    rows = [
        json.dumps({"step_num": n, "action": "WAIT", "screenshot_file_before_exec": f"step_{n}_x.png"})
        for n in (1, 2)
    ]
    assert shown(read_one(osworld(tmp_path, rows))) == [1, 2, None]


def test_osworld_task_and_limit_come_from_files_above_within_the_chosen_folder(tmp_path):
    place = osworld(tmp_path, [row(1, "WAIT")], **{"result.txt": "0.0"})
    folder(tmp_path, {"args.json": {"max_steps": 1, "model": "m-1"},
                      "evaluation_examples/examples/chrome/t-1.json": {"instruction": "Open it"}})  # fmt: skip
    run = read_one(tmp_path).run
    assert (run.intent, run.model, run.outcome, run.step_limit) == ("Open it", "m-1", Outcome.STEP_LIMIT, 1)
    assert read_one(place).run.intent == ""


def test_osworld_errors_and_damaged_lines_are_kept_apart(tmp_path):
    place = osworld(tmp_path, [row(1, "WAIT"), '{"Error": "Time limit exceeded"}', '{"step_num": 3, "act'])
    runs, problems = read_all(place)
    assert (runs[0].run.outcome, runs[0].run.error) == (Outcome.CRASHED, "Time limit exceeded")
    assert [problem.error.split(":")[0] for problem in problems] == ["line 3"]


DESKTOP = [
    ("pyautogui.click(100, 200)", "mouse_click", {"x": 100, "y": 200}),
    ("import pyautogui\nimport time\npyautogui.moveTo(5, 6)\ntime.sleep(1)\npyautogui.click()", "mouse_click",
     {"x": 5, "y": 6}),
    ("pyautogui.click(x=1, y=2, clicks=2)", "mouse_dblclick", {"x": 1, "y": 2}),
    ("pyautogui.leftClick(1, 2)", "mouse_click", {}),
    ("pyautogui.rightClick(1, 2)", "mouse_click", {"x": 1, "y": 2, "button": "right"}),
    ("pyautogui.middleClick(1, 2)", "mouse_click", {"x": 1, "y": 2, "button": "middle"}),
    ("pyautogui.doubleClick(1, 2)", "mouse_dblclick", {"x": 1, "y": 2}),
    ("pyautogui.tripleClick(1, 2)", "mouse_tripleclick", {"x": 1, "y": 2}),
    ("pyautogui.moveTo(1, 2)", "mouse_move", {"x": 1, "y": 2}),
    ("pyautogui.dragTo(1, 2, duration=1)", "mouse_drag", {"x": 1, "y": 2}),
    ("pyautogui.scroll(-5)", "scroll", {"direction": "down", "amount": 5}),
    ("pyautogui.vscroll(5)", "scroll", {"direction": "up", "amount": 5}),
    ("pyautogui.hscroll(5)", "scroll", {"direction": "right", "amount": 5}),
    ("pyautogui.typewrite('red\\n', interval=0.1)", "keyboard_type", {"text": "red\n"}),
    ("pyautogui.write('red')", "keyboard_type", {"text": "red"}),
    ("pyautogui.press('enter', presses=2)", "keyboard_press", {"key": "enter", "presses": 2}),
    ("pyautogui.press(['a', 'b'])", "keyboard_press", {"key": "a+b"}),
    ("pyautogui.hotkey('ctrl', 'c')", "keyboard_press", {"key": "ctrl+c"}),
    ("pyautogui.keyDown('shift')", "keyDown", {"key": "shift"}),
    ("time.sleep(2)", "noop", {"wait_ms": 2000}),
    ("pyautogui.click(1, 2); pyautogui.write('a')", "several",
     {"calls": ["mouse_click(x=1, y=2)", "keyboard_type(text='a')"]}),
    ("```python\npyautogui.click(1, 2)\n```", "mouse_click", {"x": 1, "y": 2}),
    ("DONE", "send_msg_to_user", {}),
    ("WAIT", "noop", {}),
    ("FAIL", "report_infeasible", {"reason": ""}),
    ("os.system('touch canary')", "code", {"code": "os.system('touch canary')"}),
    ("pyautogui.click(open('canary', 'w'), 2)", "click", {"code": "pyautogui.click(open('canary', 'w'), 2)"}),
    ("not python at all", "code", {"code": "not python at all"}),
    ({"action_type": "CLICK", "x": 1, "y": 2}, "mouse_click", {"x": 1, "y": 2}),
    ({"action_type": "CLICK", "parameters": {"x": 1, "y": 2, "num_clicks": 2}}, "mouse_dblclick", {"x": 1, "y": 2}),
    ({"action_type": "SCROLL", "dx": 0, "dy": -3}, "scroll", {"direction": "down", "amount": 3}),
    ({"action_type": "TYPING", "text": "red"}, "keyboard_type", {"text": "red"}),
    ({"action_type": "PRESS", "key": "enter"}, "keyboard_press", {"key": "enter"}),
    ({"action_type": "HOTKEY", "keys": ["ctrl", "c"]}, "keyboard_press", {"key": "ctrl+c"}),
    ({"action_type": "DONE"}, "send_msg_to_user", {}),
    ({"name": "computer", "input": {"action": "left_click", "coordinate": [1, 2]}, "action_type": "tool_use"},
     "mouse_click", {"x": 1, "y": 2}),
    ({"action_space": "pyautogui", "action": "pyautogui.click(1, 2)"}, "mouse_click", {"x": 1, "y": 2}),
    ({"type": "click", "x": 1, "y": 2}, "mouse_click", {"x": 1, "y": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("value", "kind", "args"), DESKTOP, ids=[str(one[0])[:40] for one in DESKTOP])
def test_rule_of_desktop_actions_which_are_parsed_and_never_run(value, kind, args, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    action = read_desktop_action(value)
    assert action.kind == kind
    assert {name: action.args[name] for name in args} == args
    assert list(tmp_path.iterdir()) == []


def test_every_call_and_type_of_the_rule_is_read():
    for name in CALLS:
        assert read_desktop_action(f"pyautogui.{name}()").kind != "code"
    for kind in TYPES:
        assert read_desktop_action({"action_type": kind}).kind != "other"


@pytest.mark.parametrize("value", [None, "", 7, [], {}, [None]])
def test_what_says_nothing_is_no_action(value):
    assert read_desktop_action(value) is None


def test_no_damage_of_a_field_stops_an_import(tmp_path):
    v2_result = v2([f"page -> NAVIGATE -> {U}", "<a> B -> CLICK | FAILED", "TASK_COMPLETE"])
    for result in (v2_result, V1, SEEACT):
        for damaged in damages(result):
            read_all(folder(tmp_path, {"result.json": damaged, "trajectory/0.png": picture(0)}))
    (tmp_path / "result.json").write_text(json.dumps(SEEACT))
    for damaged in damages(PREDICTIONS):
        read_all(folder(tmp_path, {"all_predictions.json": damaged}))
    one = json.loads(row(1, {"action_type": "CLICK", "x": 1, "y": 2}))
    for damaged in damages(one):
        read_all(folder(tmp_path / "os", {"traj.jsonl": row(1, "WAIT") + "\n" + json.dumps(damaged)}))
        read_all(folder(tmp_path / "os", {"traj.jsonl": json.dumps(damaged)}))


def test_cut_files_are_one_sentence_each(tmp_path):
    for result in (json.dumps(V1), json.dumps(v2(["TASK_COMPLETE"])), json.dumps(SEEACT)):
        for length in range(0, len(result), 41):
            runs, problems = read_all(folder(tmp_path, {"result.json": result[:length]}))
            assert not runs
            assert len(problems) <= 1


@needs_samples
def test_the_samples():
    mind2web = read_one(SAMPLES / "online-mind2web")
    assert (mind2web.run.answer, len(mind2web.steps), mind2web.run.task_id) == ("24.50 EUR", 3, "a1b2c3_v2")
    seeact = read_one(SAMPLES / "seeact")
    assert (len(seeact.steps), seeact.run.outcome, bool(seeact.steps[0].target_box)) == (
        3,
        Outcome.ANSWERED,
        True,
    )
    desktop = read_one(SAMPLES / "osworld")
    assert (desktop.run.score, [step.action.kind for step in desktop.steps]) == (
        1.0,
        ["mouse_click", "mouse_click", "send_msg_to_user"],
    )
