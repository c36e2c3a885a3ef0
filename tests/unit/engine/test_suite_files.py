"""Suites read from files: each format by content, the published files to the number, hostile ones in one sentence."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from app.engine.core.evaluation.suite import Dialect, Suite
from app.engine.evaluation.suites import suite_file
from app.engine.evaluation.suites.read_tasks import unknown_evaluators
from app.engine.evaluation.suites.registry import parse_suite, read_suite
from app.errors import InputError
from tests.support.suite_files import (
    MIND2WEB,
    WEBARENA,
    WEBCHOREARENA,
    WEBNAVIGATOR,
    needs_suites,
    own_suite,
    webarena_task,
    write_json,
)

published = [pytest.mark.shared_data, needs_suites]


def parsed(value: Any, name: str = "tasks.json") -> Suite:
    return parse_suite(orjson.dumps(value), name)


PUBLISHED = (
    (WEBARENA, "webarena", Dialect.WEBARENA, 812, 190, {"question": 335, "way": 66, "change": 411}, 411),
    (WEBNAVIGATOR, "webarena", Dialect.WEBCHOREARENA, 812, 190, {"question": 335, "way": 66, "change": 411}, 411),
    (WEBCHOREARENA, "webchorearena", Dialect.WEBCHOREARENA, 532, 117,
     {"long-term": 222, "massive_memory": 168, "calc": 100, "others": 42}, 99),
    (MIND2WEB, "online-mind2web", Dialect.WEBARENA, 300, 300, {"": 300}, 0),
)  # fmt: skip
"""File, form, dialect, tasks, templates, kinds, tasks that write; counted in the files by hand."""


class TestPublishedFiles:
    pytestmark = published

    @pytest.mark.parametrize(
        ("file", "form", "dialect", "tasks", "templates", "kinds", "writing"), PUBLISHED,
        ids=["webarena", "webnavigator", "webchorearena", "mind2web"],
    )  # fmt: skip
    def test_each_is_read_whole(self, file, form, dialect, tasks, templates, kinds, writing):
        suite = read_suite(file)
        assert (suite.name, suite.form, suite.dialect) == (form, form, dialect)
        assert (len(suite.tasks), len({task.cluster for task in suite.tasks})) == (tasks, templates)
        assert Counter(task.kind for task in suite.tasks) == kinds
        assert sum(task.writes for task in suite.tasks) == writing
        assert unknown_evaluators(suite.tasks) == ()

    def test_what_is_odd_in_webarena_is_noted_and_each_kind_of_answer_is_read(self):
        suite = read_suite(WEBARENA)
        assert suite.notes == (
            "several start pages, of which a run takes the first: 5 tasks (431, 432, 433, 434, 435)",
            "a string_note outside of eval, which is not used: 1 task (723)",
        )
        oracles = [task.oracle for task in suite.tasks]
        assert sum(oracle.unachievable for oracle in oracles) == 36
        assert sum(bool(oracle.fuzzy_match) for oracle in oracles) == 82
        assert sum(bool(oracle.must_include) for oracle in oracles) == 176
        assert sum(oracle.exact_match is not None for oracle in oracles) == 45
        assert sum(len(oracle.html) for oracle in oracles) == 651
        both = suite.task("34").oracle
        assert (both.must_include, both.fuzzy_match) == (
            ("Hyatt Regency Pittsburgh International Airport",), ("Time: 3h 30min",),
        )  # fmt: skip

    def test_a_task_begins_on_its_first_site(self):
        suite = read_suite(WEBARENA)
        starts = [(task.site, task.start_url) for task in suite.tasks]
        assert all(start.startswith(f"__{site.upper()}__") for site, start in starts)
        assert ("map", "wikipedia") in {task.sites for task in suite.tasks}

    def test_a_variant_has_further_right_addresses(self):
        suite = read_suite(WEBNAVIGATOR)
        assert suite.task("261").oracle.url_alternatives == ("__SHOPPING__/electronics.html?cat=60",)
        assert sum(bool(task.oracle.url_alternatives) for task in suite.tasks) == 9

    def test_webchorearena_has_types_and_its_small_set(self):
        suite = read_suite(WEBCHOREARENA)
        small = dict(suite.subsets)["small"]
        assert len(small) == 102
        assert Counter(suite.task(id).required_obs for id in small).keys() <= {"any", "text", "image"}
        first = suite.task("10000")
        assert (first.kind, first.subtype, first.required_obs) == ("others", "calc", "any")
        assert first.template.startswith("for products whose {{filter_key}} is")
        assert suite.task("20160").oracle.raw_answer.endswith("(534.0 + 13.99)")
        assert suite.task("20200").oracle.evaluators == ("url_match",)
        assert suite.task("20021").oracle.fuzzy_match[0].startswith("REL Acoustics")

    def test_mind2web_has_no_oracle_although_its_filler_looks_like_one(self):
        suite = read_suite(MIND2WEB)
        assert suite.notes == ("the eval of all 300 tasks is the same filler: they have no oracle",)
        assert {task.oracle.evaluators for task in suite.tasks} == {()}
        assert "Quest" not in repr(suite)
        assert Counter(task.level for task in suite.tasks) == {"easy": 80, "medium": 143, "hard": 77}
        assert {task.login for task in suite.tasks} == {"nobody"}


KINDS = (
    ("an answer alone is a question", ["string_match"], {}, ("question", False)),
    ("an address alone is a way", ["url_match"], {}, ("way", False)),
    ("contents of a page are a change", ["program_html"], {}, ("change", True)),
    ("with an address, too", ["url_match", "program_html"], {}, ("change", True)),
    ("an answer with an address is a question", ["string_match", "url_match"], {}, ("question", False)),
    ("a site to be put back was changed", ["string_match"], {"require_reset": True}, ("change", True)),
    ("so was one that is said to be affected", ["url_match"], {"affects_environment": True}, ("change", True)),
    ("one that is said not to be was not", ["string_match"], {"affects_environment": False}, ("question", False)),
    ("what nothing judges has no kind", [], {}, ("", False)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("types", "more", "found"), [row[1:] for row in KINDS], ids=[row[0] for row in KINDS]
)
def test_the_kind_of_a_task_follows_from_what_it_is_judged_by(types, more, found):
    task = parsed([webarena_task(eval={"eval_types": types}, **more)]).tasks[0]
    assert (task.kind, task.writes) == found


TEMPLATES = (
    ("the number of the template", {}, "12"),
    ("else its text in one spelling", {"intent_template_id": None}, "who wrote {{what}}?"),
    ("spaces and case do not make another one",
     {"intent_template_id": None, "intent_template": " WHO  wrote\n{{what}}? "}, "who wrote {{what}}?"),
    ("without either it stands for itself", {"intent_template_id": None, "intent_template": ""}, ""),
)  # fmt: skip


@pytest.mark.parametrize(
    ("more", "template"), [row[1:] for row in TEMPLATES], ids=[row[0] for row in TEMPLATES]
)
def test_tasks_share_a_template(more, template):
    assert parsed([webarena_task(**more)]).tasks[0].template == template


FORMS = (
    ("webarena", [webarena_task()], "webarena"),
    ("webchorearena", [webarena_task(type_main="calc")], "webchorearena"),
    ("online mind2web", [webarena_task(original_task_id="x", reference_length=3)], "online-mind2web"),
    ("our own", own_suite(), "sitelore"),
    ("a plain list", [{"intent": "x"}], "plain"),
    ("one plain task", {"intent": "x"}, "plain"),
)


@pytest.mark.parametrize(("value", "form"), [row[1:] for row in FORMS], ids=[row[0] for row in FORMS])
def test_a_format_is_found_by_content(value, form):
    assert parsed(value, "anything.json").form == form


def test_lines_of_objects_are_a_list_whatever_the_file_is_called():
    lines = b"\n\n".join(orjson.dumps(webarena_task(id)) for id in (1, 2))
    assert [task.id for task in parse_suite(lines, "x.jsonl").tasks] == ["1", "2"]
    assert [task.id for task in parse_suite(lines, "x.json").tasks] == ["1", "2"]
    assert [task.intent for task in parse_suite(b"Buy socks\n\n Count \n", "x.TXT").tasks] == [
        "Buy socks",
        "Count",
    ]


def test_a_byte_order_mark_is_no_content():
    assert parse_suite(b"\xef\xbb\xbf" + orjson.dumps([webarena_task()]), "x.json").form == "webarena"
    assert parse_suite(b"\xef\xbb\xbfBuy socks", "x.txt").tasks[0].intent == "Buy socks"


def test_what_the_program_can_not_judge_by_stays_named():
    html = {"url": "last", "locator": "", "required_contents": {"must_exclude": ["x"]}}
    suite = parsed([
        webarena_task(1, eval={"eval_types": ["page_image_query"]}),
        webarena_task(2, eval={"reference_answers": {"one_of": ["x"], "exact_match": "y"}}),
        webarena_task(3, eval={"eval_types": ["program_html"], "program_html": [html]}),
    ])  # fmt: skip
    assert unknown_evaluators(suite.tasks) == (
        "page_image_query", "program_html:must_exclude", "string_match:one_of",
    )  # fmt: skip
    assert suite.task("2").oracle.evaluators == ("string_match", "string_match:one_of")


def test_a_target_has_alternatives():
    other = {"url": "__SHOPPING__/b", "locator": "", "required_contents": {"exact_match": "b"}}
    target = {"url": "last", "locator": "", "required_contents": {"must_include": ["a", 4]}, "or": [other]}
    suite = parsed([webarena_task(eval={"eval_types": ["program_html"], "program_html": [target]})])
    [read] = suite.tasks[0].oracle.html
    assert (read.must_include, read.exact_match) == (("a", "4"), None)
    assert [(one.url, one.exact_match) for one in read.alternatives] == [("__SHOPPING__/b", "b")]
    assert suite.dialect is Dialect.WEBCHOREARENA


SITES = (
    (
        "the one that the start address names is first",
        ["wikipedia", "map"],
        "__MAP__/x",
        ("map", "wikipedia"),
    ),
    (
        "all that are named elsewhere follow",
        ["gitlab"],
        "__GITLAB__ |AND| __REDDIT__/f",
        ("gitlab", "reddit"),
    ),
    ("an address names none", ["www.fish.example"], "https://www.fish.example/", ("www.fish.example",)),
    ("a start address alone names one", [], "__SHOP_2__", ("shop_2",)),
    ("nothing named", [], "", ()),
)


@pytest.mark.parametrize(
    ("given", "start", "sites"), [row[1:] for row in SITES], ids=[row[0] for row in SITES]
)
def test_the_sites_of_a_task_stand_in_the_order_in_which_it_needs_them(given, start, sites):
    assert parsed([webarena_task(sites=given, start_url=start)]).tasks[0].sites == sites


def test_an_eval_that_is_the_same_in_all_tasks_of_mind2web_is_no_oracle():
    suite = parsed([webarena_task(id, original_task_id="x", reference_length=2) for id in (1, 2)])
    assert [task.oracle.evaluators for task in suite.tasks] == [(), ()]
    assert suite.notes == ("the eval of all 2 tasks is the same filler: they have no oracle",)


def test_a_mind2web_file_with_oracles_of_its_own_keeps_them():
    tasks = [
        webarena_task(
            id,
            original_task_id="x",
            reference_length=2,
            eval={"reference_answers": {"exact_match": f"a{id}"}},
        )
        for id in (1, 2)
    ]
    assert [task.oracle.exact_match for task in parsed(tasks).tasks] == ["a1", "a2"]


OWN_TASK = {
    "id": "count-7",
    "intent": "How many orders are open?",
    "sites": ["shop", "mail"],
    "start_url": "__SHOP__/orders",
    "template": "count",
    "kind": "question",
    "subtype": "sum",
    "required_obs": "text",
    "level": "easy",
    "login": "admin",
    "writes": False,
    "setup": "miniwob:7",
    "max_steps": 12,
    "values": {"state": ["open", "new"], "n": 4},
    "oracle": {"evaluators": ["answer"], "answer_kind": "number", "accepted": [4, "four"], "note": "n"},
}


def test_our_own_form_has_all_fields_of_a_task():
    suite = parsed(own_suite(OWN_TASK, subsets={"quick": ["count-7", "gone"]}))
    task = suite.tasks[0]
    assert (suite.title, suite.dialect, suite.form) == ("Shop", Dialect.SITELORE, "sitelore")
    assert (task.id, task.sites, task.start_url, task.template) == (
        "count-7", ("shop", "mail"), "__SHOP__/orders", "count",
    )  # fmt: skip
    assert (task.kind, task.subtype, task.required_obs, task.level) == ("question", "sum", "text", "easy")
    assert (task.login, task.writes, task.setup, task.max_steps) == ("admin", False, "miniwob:7", 12)
    assert task.values == (("state", "open"), ("state", "new"), ("n", "4"))
    assert (task.oracle.answer_kind, task.oracle.accepted) == ("number", ("4", "four"))
    assert dict(suite.subsets) == {"quick": ("count-7",)}
    assert suite.notes == ("the subset quick names tasks that are not in the file: 1 task (gone)",)


DERIVED = (
    ("a right answer", {"accepted": ["x"]}, ("answer",), "question", False),
    ("a kind of answer, which the site knows", {"answer_kind": "date"}, ("answer",), "question", False),
    ("a page", {"page": "/orders/\\d+"}, ("page",), "way", False),
    ("a state", {"evaluators": ["state"]}, ("state",), "change", True),
    ("an address of WebArena's", {"url": "__SHOP__/x"}, ("url_match",), "way", False),
    ("contents of WebArena's", {"html": [{"must_include": ["x"]}]}, ("program_html",), "change", True),
    ("nothing", {}, (), "", False),
)


@pytest.mark.parametrize(
    ("oracle", "evaluators", "kind", "writes"), [row[1:] for row in DERIVED], ids=[row[0] for row in DERIVED]
)
def test_in_our_own_form_the_rest_follows_from_the_oracle(oracle, evaluators, kind, writes):
    task = parsed(own_suite({"id": 1, "intent": "x", "oracle": oracle})).tasks[0]
    assert (task.id, task.oracle.evaluators, task.kind, task.writes) == ("1", evaluators, kind, writes)


def test_of_a_task_with_a_set_up_the_page_says_the_instruction():
    suite = parsed(
        own_suite({"id": "a", "setup": "miniwob:3"}, {"id": "b", "intent": "x", "setup": "magic:1"})
    )
    assert suite.tasks[0].intent == ""
    assert suite.notes == ("a set-up of the first page that this program lacks: 1 task (b)",)


HOSTILE = (
    ("no JSON", b"{", "the file is not valid JSON"),
    ("an empty list", b"[]", "there is no task in this file"),
    ("a number", b"7", "task 1: it is not an object"),
    ("a task that is none", [webarena_task(), 4], "task 2: it is not an object"),
    ("no intent", [webarena_task(intent=" ")], "task 1: it has no intent"),
    ("no id", [webarena_task(None)], "task 1: it has no task_id"),
    ("an id that is a list", [webarena_task([1])], "task 1: its task_id is not a text"),
    ("an id of two lines", [webarena_task("a\nb")], r"task 1: its id 'a\\nb' can't be an id"),
    ("an id of 301 characters", [webarena_task("x" * 301)], "task 1: its id 'xxx.*can't be an id"),
    ("two tasks of one id", [webarena_task(1), webarena_task("1")], "task 2: its id '1' is that of task 1, too"),
    ("an eval that is a text", [{**webarena_task(), "eval": "x"}], "task 1: its eval is not an object"),
    ("answers in a list of lists", [webarena_task(eval={"reference_answers": {"must_include": [[1]]}})],
     "its eval.reference_answers.must_include are not texts"),
    ("targets that are none", [webarena_task(eval={"program_html": {"url": "x"}})],
     "its eval.program_html is not a list"),
    ("a target without an object", [webarena_task(eval={"program_html": [{"required_contents": 3}]})],
     "its eval.program_html.0.required_contents is not an object"),
    ("alternatives inside alternatives", [webarena_task(eval={"program_html": [{"or": [{"or": [{}]}]}]})],
     "or is inside another one"),
    ("far too many items", [webarena_task(eval={"eval_types": ["x"] * 1001})], "more than 1,000 items"),
    ("deep nesting", b"[" * 5000 + b"]" * 5000, "not valid JSON"),
    ("a newer version of ours", own_suite(version=2), "of version 2, this program reads up to 1.*use a newer"),
    ("no version", own_suite(version=None), "does not say its version"),
    ("a version that is true", own_suite(version=True), "does not say its version"),
    ("no list of tasks", {"format": "sitelore-suite", "version": 1}, "has no list of tasks"),
    ("a dialect that is none", own_suite(dialect="strict"), "'strict' is no dialect of a suite"),
    ("an expression that is none", own_suite({"id": "a", "intent": "x", "oracle": {"page": "("}}),
     "task 1: its page is no regular expression"),
    ("a kind of answer that is none", own_suite({"id": "a", "intent": "x", "oracle": {"answer_kind": "poem"}}),
     "answer_kind 'poem' is none"),
    ("a subset named as a half", own_suite(subsets={"a": []}), "'a' can't name a subset"),
    ("steps below one", own_suite({"id": "a", "intent": "x", "max_steps": 0}), "max_steps is not a positive whole"),
    ("another program's object", {"format": "other", "tasks": [{"x": 1}]}, "this is no suite of tasks"),
)  # fmt: skip


PICTURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xed"
BINARY = (
    ("picture.png", PICTURE),
    ("tasks.json", PICTURE),
    ("tasks.jsonl", PICTURE),
    ("tasks.txt", PICTURE),
    ("tasks.json", b'[{"intent": "\xed\xa0\x80"}]'),
    ("tasks.json", '[{"intent": "Größe"}]'.encode("latin-1")),
    ("tasks.txt", "Count".encode("utf-16")),
)


@pytest.mark.parametrize(("name", "data"), BINARY)
def test_a_file_that_is_no_text_is_no_suite(name, data):
    with pytest.raises(InputError, match="this is no suite of tasks") as raised:
        parse_suite(data, name)
    assert "[{…}, …]" in raised.value.remedy
    assert raised.value.exit_code == 3


def test_lines_of_text_may_have_an_older_encoding():
    assert (
        parse_suite("Count the Größen".encode("latin-1"), "tasks.txt").tasks[0].intent
        == "Count the Gr\ufffd\ufffden"
    )


@pytest.mark.parametrize(("content", "words"), [row[1:] for row in HOSTILE], ids=[row[0] for row in HOSTILE])
def test_a_bad_file_is_refused_in_one_sentence(content, words):
    data = content if isinstance(content, bytes) else orjson.dumps(content)
    with pytest.raises(InputError, match=words) as raised:
        parse_suite(data, "bad.json")
    assert str(raised.value).startswith("bad.json: ")
    assert raised.value.remedy
    assert "\n" not in str(raised.value)


ODD_IDS = ("../../etc/passwd", "a/b", "CON", "x" * 300, "ü 7", "%00", "a:b", "-1", "1e9", "")


def test_ids_that_are_no_file_names_are_ids():
    ids = [id for id in ODD_IDS if id]
    assert [task.id for task in parsed([webarena_task(id) for id in ids]).tasks] == ids


def test_a_file_is_read_up_to_a_limit(tmp_path: Path, monkeypatch):
    file = write_json(tmp_path / "tasks.json", [webarena_task(id) for id in range(20)])
    monkeypatch.setattr(suite_file, "MAX_TASKS", 19)
    with pytest.raises(InputError, match="20 tasks are more than 19"):
        read_suite(file)
    monkeypatch.setattr(suite_file, "MAX_BYTES", 1000)
    with pytest.raises(InputError, match="too large for a list of tasks"):
        read_suite(file)
    with pytest.raises(InputError, match="No such file"):
        read_suite(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("file", "name"),
    [("My Tasks.json", "my-tasks"), ("§§.json", "suite"), ("test.raw.json", "test.raw"), (".x.json", "x")],
)
def test_a_suite_is_named_after_its_file(file: str, name: str):
    assert parse_suite(orjson.dumps(own_suite()), file).name == name


def test_a_small_set_that_names_what_is_not_there_is_noted(tmp_path: Path):
    (tmp_path / "small_set_ids.txt").write_text("2, 9\n")
    file = write_json(tmp_path / "t.json", [webarena_task(id, type_main="calc") for id in (1, 2)])
    suite = read_suite(file)
    assert suite.subsets == (("small", ("2",)),)
    assert "small_set_ids.txt names tasks that are not in the file: 1 task (9)" in suite.notes
