"""WebArena's ``render_N.html``, written as its own ``RenderHelper`` writes them: nothing in them is escaped."""

from __future__ import annotations

import random

import pytest

from app.engine.core.trajectory import ErrorClass, Outcome
from app.engine.imports.webarena_html import MAX_STEPS
from tests.support.foreign_runs import PNG, SAMPLES, needs_samples, read_all, read_one

HEAD = (
    "<!DOCTYPE html>\n<head>\n<style>\npre {{ white-space: pre-wrap; }}\n</style>\n</head>\n<html>\n<body>\n"
)
TASK = """sites: ['shopping', 'map']
task_id: 7
require_login: False
start_url: http://shop.example:7770/ |AND| http://map.example:3000/
intent: Find the apron
 of linen
eval: {'eval_types': ['string_match']}
"""
TREE = "[1] RootWebArea 'Small Shop' focused: True\n\t[4] link 'Catalogue'\n\t[6] textbox 'Search' required: False"


def page(
    call: str,
    parsed: str = "",
    before: str = "None",
    tree: str = TREE,
    url: str = "http://shop.example:7770/",
):
    """One step as RenderHelper writes it."""
    raw = f"Let's think. In summary, the next action is ```{call}```" if call else "I give up thinking."
    answer = call.removeprefix("stop [").removesuffix("]") if call.startswith("stop") else ""
    return (
        f"<h2>New Page</h2>\n<h3 class='url'><a href={url}>URL: {url}</a></h3>\n"
        f"<div class='state_obv'><pre>{tree}</pre><div>\n"
        f"<img src='data:image/png;base64,{PNG}' style='width:50vw; height:auto;'/>\n"
        f"<div class='prev_action' style='background-color:pink'>{before}</div>\n"
        "<div class='predict_action'>"
        f"<div class='raw_parsed_prediction' style='background-color:grey'><pre>{raw}</pre></div>"
        "<div class='action_object' style='background-color:grey'>"
        f"<pre>{{'action_type': <ActionTypes.CLICK: 6>, 'answer': {answer!r}}}</pre></div>"
        f"<div class='parsed_action' style='background-color:yellow'><pre>{parsed or call}</pre></div></div>\n"
    )


def write(
    folder, *pages: str, task: str = TASK, name: str = "render_7.html", end: str = "</body>\n</html>\n"
):
    path = folder / name
    path.write_text(f"{HEAD}<pre>{task}</pre>\n{''.join(pages)}{end}")
    return path


CALLS = [
    ("click [4]", "click [4] where [4] is [4] link 'Catalogue'", "click", {"bid": "4"}),
    (
        "type [6] [linen] [1]",
        "type [6] [linen ] where [6] is x",
        "fill",
        {"bid": "6", "value": "linen", "enter": True},
    ),
    ("type [6] [li[n]en] [0]", "type [6] [li[n]en]", "fill", {"bid": "6", "value": "li[n]en"}),
    ("hover [4]", "hover [4] where [4] is x", "hover", {"bid": "4"}),
    ("press [ctrl+v]", "press [ctrl+v]", "keyboard_press", {"key": "ctrl+v"}),
    ("scroll [down]", "scroll [down]", "scroll", {"direction": "down"}),
    ("scroll [up]", "scroll [up]", "scroll", {"direction": "up"}),
    (
        "goto [http://map.example:3000]",
        "goto [http://map.example:3000]",
        "goto",
        {"url": "http://map.example:3000"},
    ),
    ("tab_focus [1]", "page_focus [1]", "tab_focus", {"index": 1}),
    ("new_tab", "new_tab", "new_tab", {}),
    ("close_tab", "close_tab", "tab_close", {}),
    ("go_back", "go_back", "go_back", {}),
    ("go_forward", "go_forward", "go_forward", {}),
    ("select [4] [Year]", "", "select", {"arg0": "4", "arg1": "Year"}),
]


@pytest.mark.parametrize(("call", "parsed", "kind", "args"), CALLS)
def test_each_call_becomes_its_equal(tmp_path, call, parsed, kind, args):
    (step,) = read_one(write(tmp_path, page(call, parsed))).steps
    assert step.action is not None
    assert (step.action.kind, step.action.args) == (kind, args)


def test_a_run_with_its_task_pages_and_answer(tmp_path):
    read = read_one(
        write(
            tmp_path,
            page("click [4]", "click [4] where [4] is [4] link 'Catalogue'"),
            page("stop [24.50 <b>EUR</b>]", before="click [4]"),
        )
    )
    run = read.run
    assert (run.task_id, run.intent, run.start_url) == (
        "7",
        "Find the apron\n of linen",
        "http://shop.example:7770/",
    )
    assert (run.site, run.sites, run.suite) == ("cross", ("shopping", "map"), "webarena")
    assert (run.answer, run.outcome, run.score) == ("24.50 <b>EUR</b>", Outcome.ANSWERED, None)
    click, said = read.steps
    assert (click.reason, click.title) == ("Let's think. In summary, the next action is", "Small Shop")
    assert click.target is not None
    assert (click.target.role, click.target.name) == ("link", "Catalogue")
    assert click.screenshot
    assert said.action is not None
    assert said.action.kind == "send_msg_to_user"
    assert read.blobs[click.tree].decode().splitlines() == [
        "[1] RootWebArea 'Small Shop', focused",
        "\t[4] link 'Catalogue'",
        "\t[6] textbox 'Search', required=False",
    ]


def test_a_prediction_without_an_action_is_the_harnesss_fault_and_a_missing_element_an_error(tmp_path):
    read = read_one(
        write(
            tmp_path,
            page("", "none"),
            page(
                "click [99]",
                before="The previous prediction you issued was. However, the format was incorrect.",
            ),
            page(
                "go_back", before='Attempt to perfom "click" on element "[99]" but no matching element found.'
            ),
        )
    )
    assert [step.error_class for step in read.steps] == [ErrorClass.HARNESS, ErrorClass.HARD, ErrorClass.NONE]
    assert read.steps[1].error.startswith("Attempt to perfom")


@pytest.mark.parametrize(("result", "score"), [("PASS", 1.0), ("FAIL", 0.0), ("", None)])
@pytest.mark.parametrize("place", ["merge_log.txt", "log_files/log_1.log"])
def test_the_log_beside_it_gives_the_score(tmp_path, place, result, score):
    write(tmp_path, page("stop [1]"))
    log = tmp_path / place
    log.parent.mkdir(exist_ok=True)
    line = f"2023-10-01 INFO - [Result] ({result}) /tmp/configs/7.json\n" if result else ""
    log.write_text(f"INFO - [Result] (PASS) /tmp/configs/70.json\n{line}")
    assert read_one(tmp_path).run.score == score


def test_a_single_file_reads_nothing_beside_it(tmp_path):
    path = write(tmp_path, page("stop [1]"))
    (tmp_path / "merge_log.txt").write_text("INFO - [Result] (PASS) /tmp/configs/7.json\n")
    assert read_one(path).run.score is None


def test_a_cut_file_says_so(tmp_path):
    path = write(tmp_path, page("click [4]"), page("click [4]"), end="")
    path.write_text(path.read_text()[:-300])
    read = read_one(path)
    assert "the file is cut off: the last steps may be missing" in read.run.notes


def test_secrets_do_not_come_in(tmp_path):
    tree = TREE + "\n\t[9] textbox 'Password' required: True"
    read = read_one(
        write(tmp_path, page("type [9] [hunter2222] [1]", "type [9] [hunter2222] where [9] is x", tree=tree))
    )
    assert read.steps[0].action is not None
    assert read.steps[0].action.args["value"] == "REDACTED"
    assert "hunter2222" not in repr(read.steps)


def test_a_page_that_is_no_run_is_not_found(tmp_path):
    (tmp_path / "index.html").write_text("<html><body><h2>New Page</h2><pre>hello</pre></body></html>")
    assert read_all(tmp_path) == ([], [])


def test_a_result_of_webarena_verified_has_no_steps_and_says_so(tmp_path):
    for name in ("agent_response.json", "eval_result.json", "network.har"):
        (tmp_path / name).write_text("{}")
    runs, problems = read_all(tmp_path)
    assert (runs, len(problems)) == ([], 1)
    assert "without steps" in problems[0].error


def test_a_file_without_end_is_bounded(tmp_path):
    one = "<h2>New Page</h2><h3 class='url'>URL: http://a.example/</h3>"
    read = read_one(write(tmp_path, one * (MAX_STEPS + 50)))
    assert len(read.steps) <= MAX_STEPS + 1
    assert any("only the first" in note for note in read.run.notes)


@pytest.mark.parametrize("seed", range(60))
def test_any_damage_is_a_run_or_one_sentence(tmp_path, seed):
    chance = random.Random(seed)
    data = bytearray(write(tmp_path, page("click [4]"), page("stop [1]"), name="whole.html").read_bytes())
    for _ in range(chance.randrange(1, 30)):
        at = chance.randrange(len(data))
        if chance.random() < 0.3:
            del data[at : at + chance.randrange(200)]
        else:
            data[at : at + 1] = chance.choice(
                [b"<", b">", b"'", b"\0", b"\xff", b"[", b"]", b"</pre>", b"<div>"]
            )
    (tmp_path / "render_7.html").write_bytes(data)
    read_all(tmp_path / "render_7.html")


@needs_samples
def test_the_sample_is_the_run_it_records():
    read = read_one(SAMPLES / "webarena-html")
    assert (read.run.task_id, read.run.site, read.run.answer) == ("900001", "shopping", "24.50")
    assert [step.action.kind for step in read.steps if step.action] == ["click", "click", "send_msg_to_user"]
    assert [bool(step.screenshot) for step in read.steps] == [True, True, False]
