"""A choice among a suite's tasks, its halves by template, taint by template, and what is expected in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.core.evaluation.suite import Dialect, HtmlTarget, Oracle, Suite, SuiteTask, TaskFilter
from app.engine.evaluation.suites.choose import chosen_tasks, halves
from app.engine.evaluation.suites.expected import expected_lines
from app.engine.evaluation.suites.reference_answers import reference_answers
from app.engine.evaluation.suites.registry import read_suite
from app.engine.evaluation.taint import tainted_tasks
from app.errors import NotFound, UsageError
from tests.support.suite_files import WEBARENA, WEBCHOREARENA, needs_suites


def make_suite(*tasks: SuiteTask, name: str = "mine", form: str = "sitelore", **more) -> Suite:
    return Suite(name=name, form=form, dialect=Dialect.SITELORE, sha256="0", tasks=tasks, **more)


def make_task(id: str, template: str = "", site: str = "shop", kind: str = "question", **more) -> SuiteTask:
    return SuiteTask(id=id, intent=f"do {id}", template=template, sites=(site,), kind=kind, **more)


SUITE = make_suite(
    make_task("1", "count"),
    make_task("2", "count"),
    make_task("10", "edit", kind="change"),
    make_task("11-12", "edit", kind="change"),
    make_task("20", "look", site="mail", required_obs="text"),
    replace(make_task("x-a"), sites=("shop", "mail")),
    subsets=(("small", ("2", "20")),),
)

FILTERS = (
    ("nothing asked", TaskFilter(), "1 2 10 11-12 20 x-a"),
    ("single ids in the order of the suite", TaskFilter(ids=("10", "1")), "1 10"),
    ("a range of numbers", TaskFilter(ids=("2-15",)), "2 10"),
    ("an id that looks like a range", TaskFilter(ids=("11-12",)), "11-12"),
    ("a site, also where it is the second", TaskFilter(sites=("mail",)), "20 x-a"),
    ("several sites", TaskFilter(sites=("mail", "shop")), "1 2 10 11-12 20 x-a"),
    ("a type", TaskFilter(kinds=("change",)), "10 11-12"),
    ("a template", TaskFilter(templates=("look", "count")), "1 2 20"),
    ("an observation", TaskFilter(required_obs="text"), "20"),
    ("a subset", TaskFilter(subset="small"), "2 20"),
    ("all that are given", TaskFilter(subset="small", sites=("shop",)), "2"),
    ("none at all", TaskFilter(kinds=("change",), sites=("mail",)), ""),
)


@pytest.mark.parametrize(("wanted", "left"), [row[1:] for row in FILTERS], ids=[row[0] for row in FILTERS])
def test_a_filter_leaves_tasks(wanted: TaskFilter, left: str):
    assert [task.id for task in chosen_tasks(SUITE, wanted)] == left.split()


REFUSED = (
    ("an unknown id", TaskFilter(ids=("3",)), NotFound, "has no task '3'"),
    ("an empty range", TaskFilter(ids=("30-40",)), NotFound, "has no task '30-40'"),
    ("a range upside down", TaskFilter(ids=("9-2",)), UsageError, "put the smaller one first"),
    ("an unknown site", TaskFilter(sites=("map",)), NotFound, "has no site 'map'"),
    ("an unknown type", TaskFilter(kinds=("calc",)), NotFound, "has no type 'calc'"),
    ("an unknown template", TaskFilter(templates=("t",)), NotFound, "has no template 't'"),
    ("an unknown subset", TaskFilter(subset="hard"), NotFound, "no subset 'hard'; there are small, a, b"),
)


@pytest.mark.parametrize(
    ("wanted", "error", "words"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_what_a_suite_has_not_is_said(wanted: TaskFilter, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        chosen_tasks(SUITE, wanted)


def test_the_halves_by_another_seed_are_subsets_too():
    seed = next(seed for seed in range(20) if halves(SUITE, seed) != halves(SUITE))
    a, b = (chosen_tasks(SUITE, TaskFilter(subset=f"{half}@{seed}")) for half in "ab")
    assert (tuple(t.id for t in a), tuple(t.id for t in b)) == halves(SUITE, seed)
    for name in ("a@", "c@9", "a@x"):
        with pytest.raises(NotFound, match="has no subset"):
            chosen_tasks(SUITE, TaskFilter(subset=name))


def test_the_halves_are_subsets():
    a, b = halves(SUITE)
    assert [task.id for task in chosen_tasks(SUITE, TaskFilter(subset="a"))] == list(a)
    assert [task.id for task in chosen_tasks(SUITE, TaskFilter(subset="b"))] == list(b)


tasks_drawn = st.lists(
    st.tuples(
        st.sampled_from(["", "p", "q", "r", "s", "t"]),
        st.sampled_from(["shop", "mail"]),
        st.sampled_from(["question", "change"]),
    ),
    max_size=30,
)


@given(tasks_drawn, st.integers(0, 99))
def test_a_split_keeps_templates_together_and_loses_nothing(drawn: list[tuple[str, str, str]], seed: int):
    suite = make_suite(*(make_task(str(id), *parts) for id, parts in enumerate(drawn)))
    a, b = halves(suite, seed)
    assert sorted([*a, *b]) == sorted(task.id for task in suite.tasks)
    assert not {suite.task(id).template for id in a if suite.task(id).template} & {
        suite.task(id).template for id in b
    }
    assert halves(suite, seed) == (a, b)
    turned = halves(replace(suite, tasks=suite.tasks[::-1]), seed)
    assert [set(half) for half in turned] == [set(a), set(b)]


@pytest.mark.shared_data
@needs_suites
@pytest.mark.parametrize("file", [WEBARENA, WEBCHOREARENA])
def test_halves_of_the_published_suites_have_the_same_mixture(file):
    suite = read_suite(file)
    a, b = (Counter((suite.task(id).site, suite.task(id).kind) for id in half) for half in halves(suite))
    largest = max(Counter(task.cluster for task in suite.tasks).values())
    assert all(abs(a[group] - b[group]) <= largest for group in a | b)
    assert abs(a.total() - b.total()) <= largest
    assert len({halves(suite, seed) for seed in range(5)}) == 5


WEB = make_suite(
    make_task("7", "12"), make_task("8", "12", site="mail"), make_task("9", "13"), make_task("70"),
    name="wa-copy", form="webarena",
)  # fmt: skip

TAINTS = (
    ("nothing", WEB, (), ""),
    ("all tasks of the template, on every site", WEB, ("wa-copy:7",), "7 8"),
    ("the benchmark's name counts for every copy of it", WEB, ("webarena:9",), "9"),
    ("so does BrowserGym's spelling", WEB, ("webarena.9",), "9"),
    ("a task without template stands for itself", WEB, ("webarena:70",), "70"),
    ("another suite's task does not count", WEB, ("webchorearena:7", "other:9"), ""),
    ("nor a task that is not there", WEB, ("webarena:71", "webarena:"), ""),
    ("nor a bare id", WEB, ("7",), ""),
    ("several", WEB, ("webarena:8", "wa-copy:70", "x"), "7 8 70"),
    ("our own form is no benchmark", make_suite(make_task("1", "t")), ("sitelore:1",), ""),
    (
        "a suite of ours goes by its name",
        make_suite(make_task("1", "t"), make_task("2", "t")),
        ("mine:1",),
        "1 2",
    ),
)


def test_runs_made_before_the_file_was_added_under_another_name_taint_the_suite():
    suite = make_suite(make_task("1", "t"), name="orders", file_name="shop")
    assert tainted_tasks(suite, ("shop:1",)) == {"1"}
    assert tainted_tasks(suite, ("other:1",)) == set()


@pytest.mark.parametrize(
    ("suite", "taints", "found"), [row[1:] for row in TAINTS], ids=[row[0] for row in TAINTS]
)
def test_taint_is_of_templates(suite: Suite, taints: tuple[str, ...], found: str):
    assert tainted_tasks(suite, taints) == set(found.split())


STRING = Oracle(evaluators=("string_match",))
WCA, WA, OWN = Dialect.WEBCHOREARENA, Dialect.WEBARENA, Dialect.SITELORE
EXPECTED = (
    ("exactly", WA, replace(STRING, exact_match="Zora"), ["the answer is exactly “Zora”"]),
    ("one part", WA, replace(STRING, must_include=("a",)), ["the answer has “a”"]),
    ("several parts", WA, replace(STRING, must_include=("a", "b")), ["the answer has each of: “a”, “b”"]),
    ("several parts by their share", WCA, replace(STRING, must_include=("a", "b")),
     ["the answer has each of, each counts its share: “a”, “b”"]),
    ("a judge", WA, replace(STRING, fuzzy_match=("3 h",)), ["a judge finds that the answer means “3 h”"]),
    ("what can't be done", WA, replace(STRING, unachievable=True, note="no such shop"),
     ["the answer says that it can't be done, because no such shop"]),
    ("no answer given", WA, STRING, ["the answer, but the suite has no reference answer"]),
    ("an address", WA, Oracle(evaluators=("url_match",), url="__S__/a"), ["the address at the end has “__S__/a”"]),
    ("alternatives of the first dialect", WA, Oracle(evaluators=("url_match",), url="a |OR| b"),
     ["the address at the end has one of “a” or “b”"]),
    ("alternatives of the second", WCA, Oracle(evaluators=("url_match",), url="a", url_alternatives=("c",)),
     ["the address at the end has one of “a” or “c”"]),
    ("which the first does not read", WA, Oracle(evaluators=("url_match",), url="a", url_alternatives=("c",)),
     ["the address at the end has “a”"]),
    ("a page in front", WA,
     Oracle(evaluators=("program_html",), html=(HtmlTarget(locator="document.title", exact_match="x"),)),
     ["the page in front at the end at document.title is exactly “x”"]),
    ("another page", WA, Oracle(evaluators=("program_html",), html=(HtmlTarget(url="__S__/w", must_include=("x",)),)),
     ["the page __S__/w has “x”"]),
    ("an answer of our own", OWN, Oracle(evaluators=("answer",), answer_kind="number", accepted=("4", "5")),
     ["the answer (number) is one of “4”, “5”"]),
    ("a list", OWN, Oracle(evaluators=("answer",), answer_kind="list", accepted=("a", "b")),
     ["the answer lists “a”, “b” and nothing else"]),
    ("what the site says", OWN, Oracle(evaluators=("answer", "page", "state"), answer_kind="date"),
     ["the answer (date) is the one that the site's state command says",
      "the page in front at the end is the one that the site's state command says",
      "the site is in the state that its state command asks for, and nothing else changed"]),
    ("a page of our own", OWN, Oracle(evaluators=("page",), page="/x"), ["the page in front at the end matches “/x”"]),
    ("what nobody can judge by", OWN, Oracle(evaluators=("magic",)), ["magic: this program can't judge by it"]),
    ("the annotator's words", WA, replace(STRING, exact_match="a", raw_answer="A (1 + 1)"),
     ["the answer is exactly “a”", "in its annotator's words: A (1 + 1)"]),
    ("nothing", WA, Oracle(), []),
)  # fmt: skip


@pytest.mark.parametrize(
    ("dialect", "oracle", "lines"), [row[1:] for row in EXPECTED], ids=[row[0] for row in EXPECTED]
)
def test_what_is_expected_is_said_by_rule(dialect: Dialect, oracle: Oracle, lines: list[str]):
    assert list(expected_lines(SuiteTask(id="1", intent="x", oracle=oracle), dialect)) == lines


def test_an_endless_answer_is_shortened_in_words():
    [line] = expected_lines(
        SuiteTask(id="1", intent="x", oracle=replace(STRING, exact_match="y " * 5000)), WA
    )
    assert len(line) < 400


def test_reference_answers_are_those_of_the_site_and_no_addresses():
    suite = make_suite(
        make_task("1", oracle=replace(STRING, exact_match="Zora |OR| Quill", must_include=("part",))),
        make_task("2", oracle=Oracle(evaluators=("url_match",), url="__S__/secret")),
        make_task("3", site="mail", oracle=Oracle(evaluators=("answer",), accepted=("four",))),
        make_task("4", oracle=replace(STRING, evaluators=("program_html",), exact_match="unused")),
    )
    assert list(reference_answers(suite, "shop")) == [
        ("Zora", "mine:1"), ("Quill", "mine:1"), ("part", "mine:1"),
    ]  # fmt: skip
    assert ("four", "mine:3") in list(reference_answers(suite))
