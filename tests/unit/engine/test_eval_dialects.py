"""Each dialect decides by its published rules, and nothing passes on missing evidence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.core.evaluation.judge_question import JudgeAsks
from app.engine.core.evaluation.run_evidence import EvidenceSource, RunEvidence, SiteState, TargetEvidence
from app.engine.core.evaluation.suite import Dialect, HtmlTarget, Oracle, SuiteTask
from app.engine.core.evaluation.task_score import JudgeReply, ScoreVerdict
from app.engine.core.trajectory import Tab
from app.engine.evaluation.evaluate import EvaluatorOptions, evaluate, questions

WA, WCA, OWN = Dialect.WEBARENA, Dialect.WEBCHOREARENA, Dialect.SITELORE


def task(**oracle: object) -> SuiteTask:
    return SuiteTask(id="1", intent="how many are there", oracle=Oracle(**oracle))  # type: ignore[arg-type]


def answered(text: str | None, **more: object) -> RunEvidence:
    return RunEvidence(answer=text, **more)  # type: ignore[arg-type]


def at(url: str) -> RunEvidence:
    return RunEvidence(tabs=(Tab(url="http://other/", title=""), Tab(url=url, title="")), active=1)


def score_of(
    given: SuiteTask, evidence: RunEvidence, dialect: Dialect = WA, **options: object
) -> float | None:
    return evaluate(given, evidence, EvaluatorOptions(dialect=dialect, **options)).score  # type: ignore[arg-type]


# string_match

STRING = [
    ({"must_include": ("a", "b", "c")}, "a and c", 0, 2 / 3),
    ({"must_include": ("a", "b")}, "a b", 1, 1),
    ({"must_include": ("5 |OR| 6",)}, "5", 0, 1),
    ({"must_include": ("65 |OR| 3",)}, "none", 0, 1),
    ({"must_include": ("0",)}, "10", 0, 0),
    ({"must_include": ("0", "items")}, "10 items", 1, 1),
    ({"exact_match": "Yes"}, "yes", 1, 1),
    ({"exact_match": "Yes"}, "yes, it is", 0, 0),
    ({"exact_match": "''Yes''"}, "''Yes''", 0, 0),  # the answer is cleaned twice, the reference once
    ({"exact_match": "a", "must_include": ("a", "b")}, "a", 0, 0.5),
    ({"exact_match": "b", "must_include": ("a",)}, "a", 0, 0),
]


@pytest.mark.parametrize(("oracle", "answer", "webarena", "webchorearena"), STRING)
def test_required_texts_are_multiplied_or_averaged(
    oracle: dict[str, object], answer: str, webarena: float, webchorearena: float
) -> None:
    given = task(evaluators=("string_match",), **oracle)
    assert score_of(given, answered(answer)) == webarena
    assert score_of(given, answered(answer), WCA) == pytest.approx(webchorearena)


def test_partial_credit_never_passes() -> None:
    given = task(evaluators=("string_match",), must_include=("a", "b"))
    assert evaluate(given, answered("a"), EvaluatorOptions(dialect=WCA)).verdict is ScoreVerdict.FAIL


def test_a_run_that_said_nothing_fails_without_a_judge() -> None:
    for oracle in (
        {"fuzzy_match": ("a",)},
        {"unachievable": True, "note": "no such thing"},
        {"exact_match": "a"},
    ):
        score = evaluate(
            task(evaluators=("string_match",), **oracle), answered(None), EvaluatorOptions(dialect=WA)
        )
        assert (score.score, score.verdict) == (0, ScoreVerdict.FAIL)


@pytest.mark.parametrize(
    ("infeasible", "option", "score"), [(True, True, 1), (True, False, None), (False, True, None)]
)
def test_reporting_infeasible_answers_na_only_as_an_option(
    infeasible: bool, option: bool, score: float | None
) -> None:
    given = task(evaluators=("string_match",), unachievable=True, note="it does not exist")
    evidence = answered("there is none", infeasible=infeasible)
    assert score_of(given, evidence, infeasible_is_na=option) == score


@pytest.mark.parametrize(("left", "option", "score"), [(True, True, 0), (True, False, 1), (False, True, 1)])
def test_a_tab_off_the_sites_is_zero_only_as_an_option(left: bool, option: bool, score: float) -> None:
    given = task(evaluators=("string_match",), exact_match="a")
    assert score_of(given, answered("a", left_sites=left), off_site_is_zero=option) == score


# judge

MEANING = task(evaluators=("string_match",), fuzzy_match=("one", "two"))
IMPOSSIBLE = task(evaluators=("string_match",), exact_match="x", unachievable=True, note="no such shop")


def replied(given: SuiteTask, evidence: RunEvidence, dialect: Dialect, *decided: bool | None) -> float | None:
    options = EvaluatorOptions(dialect=dialect)
    asked = questions(given, evidence, options)
    assert len(asked) == len(decided)
    replies = {
        question.id: JudgeReply(model="m", prompt_sha256="p", reply="raw", decided=verdict)
        for question, verdict in zip(asked, decided, strict=True)
    }
    score = evaluate(given, evidence, options, replies)
    assert len(score.judge) == len(set(replies.values()))
    return score.score


@pytest.mark.parametrize(
    ("dialect", "decided", "score"),
    [
        (WA, (True, True), 1),
        (WA, (True, False), 0),
        (WA, (False, None), 0),
        (WA, (True, None), None),
        (WCA, (True,), 1),
        (WCA, (False,), 0),
        (WCA, (None,), None),
    ],
)
def test_fuzzy_lists_are_several_questions_or_one(
    dialect: Dialect, decided: tuple[bool | None, ...], score: float | None
) -> None:
    assert replied(MEANING, answered("two, one"), dialect, *decided) == score


def test_a_joined_list_is_asked_with_semicolons_and_the_cleaned_answer() -> None:
    (asked,) = questions(MEANING, answered(" 'Two' "), EvaluatorOptions(dialect=WCA))
    assert (asked.asks, asked.reference, asked.answer) == (JudgeAsks.SAME_MEANING, "one; two", "two")


def test_the_reason_takes_the_place_of_all_other_comparisons() -> None:
    assert replied(IMPOSSIBLE, answered("the shop is not there"), WA, True) == 1
    assert replied(IMPOSSIBLE, answered("the shop is not there"), WA, False) == 0


def test_na_needs_no_judge_and_is_asked_about_where_another_comparison_failed() -> None:
    only = replace(IMPOSSIBLE, oracle=replace(IMPOSSIBLE.oracle, exact_match=None))
    assert not questions(only, answered("N/A"), EvaluatorOptions(dialect=WA))
    assert score_of(only, answered("N/A")) == 1
    assert replied(IMPOSSIBLE, answered("N/A"), WA, False) == 0


def test_nothing_is_asked_where_the_score_is_zero_anyway() -> None:
    given = task(evaluators=("string_match",), must_include=("z",), fuzzy_match=("one",))
    assert not questions(given, answered("two"), EvaluatorOptions(dialect=WA))
    assert score_of(given, answered("two")) == 0


def test_without_a_judge_the_verdict_is_undecided_with_its_reason() -> None:
    options = EvaluatorOptions(dialect=WA, no_judge="no judge model is set up")
    score = evaluate(MEANING, answered("one"), options)
    assert (score.verdict, score.score) == (ScoreVerdict.UNDECIDED, None)
    assert "no judge model is set up" in score.why


# url_match

BASES = (("__SHOP__", "http://h:7770/"),)


@pytest.mark.parametrize(
    ("oracle", "url", "webarena", "webchorearena"),
    [
        ({"url": "__SHOP__/a"}, "http://h:7770/a?x=1", 1, 1),
        ({"url": "__SHOP__/A"}, "http://h:7770/a", 0, 1),
        ({"url": "__SHOP__/a", "url_alternatives": ("__SHOP__/b",)}, "http://h:7770/b", 0, 1),
        ({"url": "__SHOP__/a", "url_note": "GOLD in PRED"}, "http://h:7770/a", 1, 1),
        ({"url": "__SHOP__/a", "url_note": "EXACT"}, "http://h:7770/a", None, None),
        ({"url": "__OTHER__/a"}, "http://h:7770/a", None, None),
        ({"url": ""}, "http://h:7770/a", None, None),
    ],
)
def test_the_page_in_front_is_compared(
    oracle: dict[str, object], url: str, webarena: float | None, webchorearena: float | None
) -> None:
    given = task(evaluators=("url_match",), **oracle)
    assert score_of(given, at(url), bases=BASES) == webarena
    assert score_of(given, at(url), WCA, bases=BASES) == webchorearena


def test_without_a_page_in_front_an_address_is_undecided() -> None:
    assert score_of(task(evaluators=("url_match",), url="http://h"), RunEvidence()) is None


# program_html


def page(*values: tuple[str, str | None], source: EvidenceSource = EvidenceSource.LIVE) -> RunEvidence:
    found = tuple(TargetEvidence(target=target, value=value, why="no such page") for target, value in values)
    return RunEvidence(source=source, targets=found)


def html(*targets: HtmlTarget) -> SuiteTask:
    return task(evaluators=("program_html",), html=targets)


JS = "document.title"


@pytest.mark.parametrize(
    ("target", "value", "webarena", "webchorearena"),
    [
        (HtmlTarget(locator=JS, exact_match="A & B"), "a & b", 1, 1),
        (HtmlTarget(locator=JS, exact_match="A"), "ab", 0, 0),
        (HtmlTarget(locator=JS, must_include=("a", "b")), "a", 0, 0.5),
        (HtmlTarget(locator=JS, must_include=("a |OR| b",)), "b", 1, 1),
        (HtmlTarget(locator=JS, must_include=("a |or| b",)), "b", 0, 1),
        (HtmlTarget(locator=JS, must_include=("0",)), "10", 1, 1),
        (HtmlTarget(locator=JS, must_include=("a",)), None, None, None),
        (HtmlTarget(locator=JS), "a", None, None),
        (HtmlTarget(locator="", must_include=("a",)), "<p>A</p>", 1, 1),
        (HtmlTarget(locator=JS, exact_match="none"), "None", 1, 1),
    ],
)
def test_contents_of_a_page_are_compared(
    target: HtmlTarget, value: str | None, webarena: float | None, webchorearena: float | None
) -> None:
    assert score_of(html(target), page(("0", value))) == webarena
    assert score_of(html(target), page(("0", value)), WCA) == webchorearena


@pytest.mark.parametrize(
    ("values", "webarena", "webchorearena"),
    [
        ((("0", "x"), ("0.0", "a")), 0, 1),
        ((("0", "x"), ("0.0", "x")), 0, 0),
        ((("0", "x"), ("0.0", None)), 0, None),
        ((("0", "a"), ("0.0", None)), 1, 1),
    ],
)
def test_one_alternative_is_enough_in_webchorearena(
    values: tuple[tuple[str, str | None], ...], webarena: float, webchorearena: float | None
) -> None:
    target = HtmlTarget(
        locator=JS, must_include=("a",), alternatives=(HtmlTarget(locator="y", must_include=("a",)),)
    )
    assert score_of(html(target), page(*values)) == webarena
    assert score_of(html(target), page(*values), WCA) == webchorearena


@pytest.mark.parametrize(("content", "score"), [("all of it: a", 1), ("all of it", None)])
def test_missing_in_a_page_of_which_only_a_part_was_stored_says_nothing(
    content: str, score: float | None
) -> None:
    given = html(HtmlTarget(must_include=("a:",) if score is None else ("a",)))
    evidence = page(("0", content), source=EvidenceSource.STORED_PAGE)
    assert score_of(given, evidence) == score
    assert score_of(given, page(("0", content))) == (score or 0)


@pytest.mark.parametrize(("content", "score"), [("", None), ("a", 0)])
def test_an_empty_place_in_a_stored_page_never_passes(content: str, score: float | None) -> None:
    given = html(HtmlTarget(locator=JS, exact_match=""))
    assert score_of(given, page(("0", content), source=EvidenceSource.STORED_PAGE)) == score
    assert score_of(given, page(("0", ""))) == 1


@pytest.mark.parametrize(
    ("place", "score"), [("", 1), (f"last {JS}", 1), ("last document.body", None), (f"http://h {JS}", None)]
)
def test_what_was_captured_for_another_target_decides_nothing(place: str, score: float | None) -> None:
    found = RunEvidence(targets=(TargetEvidence(target="0", value="a", place=place),))
    assert score_of(html(HtmlTarget(locator=JS, exact_match="a")), found) == score


def test_names_of_sites_in_required_texts_stand_for_their_addresses() -> None:
    given = html(HtmlTarget(locator=JS, must_include=("__SHOP__/a",)))
    assert score_of(given, page(("0", "see http://h:7770/a")), bases=BASES) == 1
    assert score_of(given, page(("0", "see http://h:7770/b")), bases=BASES) == 0
    assert score_of(given, page(("0", "see http://h:7770/a")), bases=(("__SHOP__", "http://*:7770"),)) is None


# combinations

BOTH = task(
    evaluators=("string_match", "program_html"),
    exact_match="a",
    html=(HtmlTarget(locator=JS, exact_match="b"),),
)


@pytest.mark.parametrize(
    ("answer", "content", "score", "verdict"),
    [
        ("a", "b", 1, ScoreVerdict.PASS),
        ("a", "c", 0, ScoreVerdict.FAIL),
        ("a", None, None, ScoreVerdict.UNDECIDED),
        ("z", None, 0, ScoreVerdict.FAIL),
        ("z", "b", 0, ScoreVerdict.FAIL),
    ],
)
def test_all_evaluators_hold_and_a_definite_zero_needs_no_more_evidence(
    answer: str, content: str | None, score: float | None, verdict: ScoreVerdict
) -> None:
    evidence = replace(page(("0", content)), answer=answer)
    found = evaluate(BOTH, evidence, EvaluatorOptions(dialect=WA))
    assert (found.score, found.verdict) == (score, verdict)
    assert found.why
    assert all(check.why for check in found.checks if check.score != 1)


@pytest.mark.parametrize(
    ("evaluators", "dialect"),
    [(("visual_match",), WA), (("state",), WCA), (("string_match",), OWN), ((), WA), (("string_match",), WA)],
)
def test_what_is_unknown_or_has_no_reference_is_undecided(
    evaluators: tuple[str, ...], dialect: Dialect
) -> None:
    found = evaluate(task(evaluators=evaluators), answered("a"), EvaluatorOptions(dialect=dialect))
    assert (found.verdict, found.score) == (ScoreVerdict.UNDECIDED, None)
    assert found.why


def test_the_strict_dialect_is_not_evaluated_here() -> None:
    found = evaluate(BOTH, answered("a"), EvaluatorOptions(dialect=Dialect.STRICT))
    assert found.verdict is ScoreVerdict.UNDECIDED


# sitelore

ANSWERS = [
    ("number", "there are 1,234 of them", ["1234"], 1),
    ("number", "12 of 34", ["12"], 0),
    ("number", "-3.50 EUR", ["-3.5"], 1),
    ("number", "12 and 12", ["12"], 1),
    ("number", "none", ["0"], 0),
    ("number", "7", ["6", "7"], 1),
    ("text", "It is Ada Lovelace.", ["ada lovelace"], 1),
    ("text", "Adam", ["Ada"], 0),
    ("text", "Ada " + "word " * 12, ["Ada"], 1),
    ("text", "Ada " + "word " * 13, ["Ada"], 0),
    ("list", "b; a\nc", ["a", "b", "c"], 1),
    ("list", "a, b, c, d", ["a", "b", "c"], 0),
    ("list", "a, a", ["a"], 0),
    ("date", "on 2026-05-01 at noon", ["2026-05-01"], 1),
    ("date", "on May 12", ["May 1"], 0),
    ("date", "on 1 May 2026", ["May 1 2026", "1 May 2026"], 1),
]


@pytest.mark.parametrize(("kind", "said", "accepted", "score"), ANSWERS)
def test_answers_are_compared_by_kind(kind: str, said: str, accepted: list[str], score: float) -> None:
    in_suite = task(evaluators=("answer",), answer_kind=kind, accepted=tuple(accepted))
    assert score_of(in_suite, answered(said), OWN) == score
    by_command = task(evaluators=("answer",), answer_kind=kind)
    before = (SiteState(site="s", output={"answer": accepted}),)
    assert score_of(by_command, answered(said, before=before), OWN) == score


@pytest.mark.parametrize(
    ("evidence", "score"),
    [
        (RunEvidence(answer="a"), None),
        (RunEvidence(answer="a", before=(SiteState(site="s", why="the command failed"),)), None),
        (RunEvidence(answer=None, before=(SiteState(site="s", output={"answer": "a"}),)), 0),
        (RunEvidence(answer="a", infeasible=True, before=(SiteState(site="s", output={"answer": "a"}),)), 0),
        (RunEvidence(answer="a", before=(SiteState(site="s", output={"answer": "a"}),)), 1),
        (RunEvidence(answer="5", before=(SiteState(site="s", output={"answer": 5}),)), 1),
        (RunEvidence(answer="true", before=(SiteState(site="s", output={"answer": True}),)), None),
    ],
)
def test_an_answer_is_right_only_where_one_is_known(evidence: RunEvidence, score: float | None) -> None:
    assert score_of(task(evaluators=("answer",), answer_kind="text"), evidence, OWN) == score


@pytest.mark.parametrize(
    ("pattern", "url", "score"),
    [
        (r"/a/(\?.*)?", "http://h/a/?x=1", 1),
        (r"/a", "http://h/a/", 0),
        (r"/a b", "http://h/a%20b#part", 1),
        (r"(a+)+b", "http://h/aaaa", None),
        (r"/(", "http://h/a", None),
        ("", "http://h/a", None),
    ],
)
def test_path_and_query_match_as_a_whole(pattern: str, url: str, score: float | None) -> None:
    assert score_of(task(evaluators=("page",), page=pattern), at(url), OWN) == score
    before = (SiteState(site="s", output={"page": pattern} if pattern else {}),)
    assert score_of(task(evaluators=("page",)), replace(at(url), before=before), OWN) == score


def checks(*found: object, why: str = "") -> RunEvidence:
    return RunEvidence(after=(SiteState(site="s", output={"checks": list(found)}, why=why),))


HOLDS, BROKEN = {"name": "n", "expected": [["a"]], "found": [["a"]]}, {"name": "m", "expected": 1, "found": 2}


@pytest.mark.parametrize(
    ("evidence", "score"),
    [
        (checks(HOLDS), 1),
        (checks(HOLDS, BROKEN), 0),
        (checks(), None),
        (checks(HOLDS, why="the command failed"), None),
        (checks(HOLDS, {"name": "x"}), None),
        (checks(BROKEN, {"name": "x"}), 0),
        (checks({"name": "x", "expected": 1, "found": True}), 0),
        (RunEvidence(), None),
        (RunEvidence(after=(SiteState(site="s"),)), None),
        (RunEvidence(before=(SiteState(site="s", output={"checks": [HOLDS]}),)), None),
    ],
)
def test_every_check_of_the_state_after_the_run_holds(evidence: RunEvidence, score: float | None) -> None:
    assert score_of(task(evaluators=("state",)), evidence, OWN) == score
