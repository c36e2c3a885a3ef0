"""The credit of tips: pairs where a tip was shown, leaving one out, and the least evidence."""

from dataclasses import replace
from math import isclose

import pytest

from app.engine.api.evaluation_api import TipCreditRow
from app.engine.api.tip_api import best_credits, uplift_words
from app.engine.core.evaluation.episode import Arm
from app.engine.evaluation.credit import credit_rows, credit_verdict, observe
from tests.support.journals import AKB, NONE, journal_of, record, shown, templates


def credits_of(*journals, knowledge=None):
    known = knowledge or {}
    return {(row.tip, row.method): row for row in credit_rows(observe(journals, known), known)}


@pytest.mark.parametrize(
    ("clause", "low", "high", "count", "verdict"),
    [
        ("1 too few, though above 0", 0.2, 0.9, 7, "not enough data"),
        ("1 too few, though below 0", -0.9, -0.2, 7, "not enough data"),
        ("2 above 0", 0.01, 0.3, 8, "helps"),
        ("2 touching 0", 0.0, 0.3, 8, "no difference seen"),
        ("3 below 0", -0.3, -0.01, 8, "hurts"),
        ("3 touching 0", -0.3, 0.0, 8, "no difference seen"),
        ("4 around 0", -0.1, 0.1, 80, "no difference seen"),
    ],
)
def test_the_verdict_is_by_the_first_clause_that_holds(clause, low, high, count, verdict):
    assert credit_verdict(low, high, count) == verdict, clause


def test_a_tip_is_looked_at_only_where_it_was_shown():
    """Shown in nine templates that were won, not in ten that were lost."""
    journal = journal_of(templates(19, {"none": "-", "akb": "+"}, tasks=1))
    records = tuple(
        replace(one, **shown("t", followed=int(one.key.task == "0/0")))
        if one.key.arm == "akb" and int(one.key.task.partition("/")[0]) < 9
        else one
        for one in journal.records
    )
    row = credits_of(replace(journal, records=records))["t", "pairs"]
    assert (row.retrieved, row.followed, row.templates) == (9, 1, 9)
    assert (row.difference, row.verdict) == (1.0, "helps")


def test_following_a_tip_and_ignoring_it_are_told_apart():
    fields = {"akb": shown("t", followed=0)}
    ignored = journal_of({f"{n}/0": {"none": "+", "akb": "-"} for n in range(5)}, fields=fields)
    followed = journal_of(
        {f"{n}/0": {"none": "-", "akb": "+"} for n in range(5, 15)}, fields={"akb": shown("t")}
    )
    row = credits_of(ignored, followed)["t", "pairs"]
    assert (row.followed, row.followed_difference, row.ignored_difference) == (10, 1.0, -1.0)
    assert isclose(row.difference, 5 / 15)


def test_only_the_repeats_in_which_it_was_shown_count_with_it():
    journal = journal_of({"1/0": {"none": "+-", "akb": "+-"}})
    records = tuple(
        replace(one, **shown("t")) if one.key.arm == "akb" and one.key.repeat == 0 else one
        for one in journal.records
    )
    assert credits_of(replace(journal, records=records))["t", "pairs"].difference == 0.5


def test_a_tip_retrieved_but_never_shown_is_not_looked_at():
    journal = journal_of({"1/0": {"none": "-", "akb": "+"}}, fields={"akb": shown("t", steps=0)})
    assert credits_of(journal) == {}


@pytest.mark.parametrize(("none", "akb"), [("?", "+"), ("!", "+"), ("-", "?"), (" ", "+")])
def test_a_task_that_is_undecided_in_one_arm_is_not_looked_at(none, akb):
    assert credits_of(journal_of({"1/0": {"none": none, "akb": akb}}, fields={"akb": shown("t")})) == {}


def test_a_tainted_task_is_not_looked_at():
    outcomes = {"1/0": {"none": "-", "akb": "+"}, "2/0": {"none": "-", "akb": "+"}}
    journal = journal_of(outcomes, fields={"akb": shown("t")}, tainted=("1/0",))
    assert credits_of(journal)["t", "pairs"].retrieved == 1


def test_maps_are_no_part_of_a_tips_credit():
    arms = (replace(NONE, name="none+map", maps=True), AKB)
    journal = journal_of({"1/0": {"none+map": "-", "akb": "+"}}, arms, fields={"akb": shown("t")})
    assert credits_of(journal) == {}


LESS = Arm(name="less", kb="less.akb", kb_sha256="b" * 64, tips=2)


@pytest.mark.parametrize(
    ("clause", "less", "tips"),
    [
        ("exactly one tip less", {"u": "", "v": ""}, {"t"}),
        ("two tips less", {"u": ""}, set()),
        ("one less and another one", {"u": "", "v": "", "w": ""}, set()),
        ("the same tips", {"t": "", "u": "", "v": ""}, set()),
        ("a file that is not there", None, set()),
    ],
)
def test_leaving_a_tip_out_is_seen_where_bases_differ_by_it_alone(clause, less, tips):
    knowledge = {AKB.kb_sha256: {"t": "Sort.", "u": "", "v": ""}}
    if less is not None:
        knowledge[LESS.kb_sha256] = less
    both = {"tips": (*shown("t")["tips"], *shown("u")["tips"])}
    journal = journal_of(templates(9, {"less": "-", "akb": "+"}), (LESS, AKB), fields={"akb": both})
    found = credits_of(journal, knowledge=knowledge)
    assert {tip for tip, method in found if method == "left out"} == tips, clause
    assert all(row.verdict == "helps" for row in found.values())


def test_a_task_of_two_evaluations_counts_once_with_its_mean():
    one, other = (
        journal_of({"1/0": {"none": "-", "akb": sign}}, fields={"akb": shown("t")}) for sign in "+-"
    )
    row = credits_of(one, other)["t", "pairs"]
    assert (row.retrieved, row.difference) == (1, 0.5)
    elsewhere = replace(other, head=replace(other.head, suite_sha256="9" * 64))
    assert credits_of(one, elsewhere)["t", "pairs"].retrieved == 2


def test_tips_are_listed_best_first():
    fields = {"akb": {"tips": (*shown("b")["tips"],)}}
    good = journal_of({"1/0": {"none": "-", "akb": "+"}}, fields={"akb": shown("good")})
    bad = journal_of({"2/0": {"none": "+", "akb": "-"}}, fields={"akb": shown("bad")})
    none = journal_of({"3/0": {"none": "-", "akb": "-"}}, fields=fields)
    rows = credit_rows(observe([none, bad, good], {}), {})
    assert [row.tip for row in rows] == ["good", "b", "bad"]


def row(**changes):
    given = {
        "tip": "t", "text": "", "retrieved": 20, "followed": 3, "templates": 9, "difference": 0.12,
        "low": -0.02, "high": 0.25, "method": "pairs", "verdict": "no difference seen",
    }  # fmt: skip
    return TipCreditRow(**(given | changes))


def test_uplift_is_told_with_its_interval_or_with_what_is_missing():
    assert uplift_words(None) == ""
    assert uplift_words(row()) == "+0.12 (-0.02 to 0.25)"
    assert uplift_words(row(difference=-0.3, low=-0.5, high=-0.1)) == "-0.30 (-0.50 to -0.10)"
    assert uplift_words(row(templates=3)) == "3 of 8 templates"


@pytest.mark.parametrize(
    ("clause", "rows", "best"),
    [
        ("leaving out says more than pairs", [row(), row(method="left out")], 1),
        ("but not without enough data", [row(), row(method="left out", templates=3)], 0),
        ("of two without enough, leaving out", [row(templates=5), row(method="left out", templates=3)], 1),
        ("of one method, more templates", [row(templates=9), row(templates=12)], 1),
    ],
)
def test_one_row_says_most_of_a_tip(clause, rows, best):
    assert best_credits(rows) == {"t": rows[best]}, clause
    assert best_credits(rows[::-1]) == {"t": rows[best]}, clause


def test_a_record_without_an_arm_in_the_head_is_nothing():
    journal = journal_of({"1/0": {"none": "-", "akb": "+"}}, (NONE,))
    assert (
        credits_of(replace(journal, records=(*journal.records, record("1/0", "x", "+", **shown("t"))))) == {}
    )
