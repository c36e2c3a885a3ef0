"""Arms over the tasks they share: repeats averaged, undecided left out and counted, early looks by the wide bound."""

from dataclasses import replace
from math import isclose

import pytest

from app.engine.core.evaluation.episode import Arm, EpisodeKey
from app.engine.core.evaluation.suite import SuiteTask
from app.engine.evaluation.comparing import compare
from app.errors import UsageError
from tests.support.journals import AKB, NONE, journal_of, record, shown, templates

BETTER = {"none": "-", "akb": "+"}


def all_of(found, arm="akb"):
    return next(row for row in found.differences if row.group == "all" and row.arm == arm)


def row_of(found, group):
    return next(row for row in found.differences if row.group == group)


def test_repeats_are_averaged_first_and_never_the_best_is_taken():
    found = compare(
        [journal_of({"1/0": {"none": "+--", "akb": "++-"}, "2/0": {"none": "---", "akb": "+--"}})], {}
    )
    none, akb = found.arms
    assert (none.name, akb.name) == ("none", "akb")
    assert isclose(none.mean, 1 / 6)
    assert isclose(akb.mean, 1 / 2)
    assert (none.all_of, none.best_of) == (0.0, 0.5)
    assert (akb.all_of, akb.best_of) == (0.0, 1.0)
    assert isclose(all_of(found).difference, 1 / 3)


@pytest.mark.parametrize(
    ("none", "akb", "result"),
    [
        ("---", "+++", "won"),
        ("+++", "---", "lost"),
        ("+++", "+++", "both"),
        ("---", "---", "neither"),
        ("+--", "++-", "won"),  # right in at least half of its repeats
        ("+-", "--", "lost"),
        ("+--", "---", "neither"),
        ("???", "+++", "undecided"),
        ("+++", "!!!", "undecided"),
        ("?-?", "+??", "won"),  # the decided repeats count
    ],
)
def test_a_pair_ends_by_its_means(none, akb, result):
    found = compare([journal_of({"1/0": {"none": none, "akb": akb}})], {})
    assert [pair.result for pair in found.pairs] == [result]
    row = all_of(found)
    counted = {"won": row.won, "lost": row.lost, "both": row.both, "neither": row.neither}
    assert {**counted, "undecided": row.undecided} == {
        **dict.fromkeys(counted, 0), "undecided": 0, result: 1,
    }  # fmt: skip
    assert row.tasks == (0 if result == "undecided" else 1)


def test_undecided_tasks_are_left_out_and_a_note_bounds_what_they_could_change():
    outcomes = {
        **templates(8, BETTER, tasks=1),
        "9/0": {"none": "?", "akb": "+"},
        "10/0": {"none": "-", "akb": "?"},
    }
    found = compare([journal_of(outcomes)], {})
    row = all_of(found)
    assert (row.tasks, row.undecided, row.difference) == (8, 2, 1.0)
    assert [rate.undecided for rate in found.arms] == [1, 1]
    bounds = next(note for note in found.notes if "passed with none" in note)
    assert "would be 80 points" in bounds  # (8 + 0 + 0) / 10
    assert "the other way round, 100" in bounds


def test_an_episode_with_an_error_is_no_failure_of_its_arm():
    outcomes = {**templates(8, {"none": "-", "akb": "-"}, tasks=1), "9/0": {"none": "+", "akb": "!"}}
    found = compare([journal_of(outcomes)], {})
    assert next(rate for rate in found.arms if rate.name == "akb").tasks == 8
    assert any("1 episode of the arm akb could not be run" in n and "resume" in n for n in found.notes)
    assert not any("arm akb are undecided" in note for note in found.notes)


def test_a_verdict_beside_an_error_does_not_count():
    broken = replace(record("1/0", "akb", "-"), error="the site was down")
    journal = journal_of({"1/0": {"none": "+"}})
    found = compare([replace(journal, records=(*journal.records, broken))], {})
    assert found.pairs[0].result == "undecided"


def test_a_clear_difference_over_enough_templates_is_better_with_its_cost():
    fields = {"none": {"steps": 10}, "akb": {"steps": 8}}
    found = compare([journal_of(templates(30, BETTER), fields=fields)], {})
    verdict = found.verdicts[0]
    assert (verdict.answer, verdict.more_templates, verdict.early) == ("better", 0, False)
    assert verdict.sentence.startswith("better by 100 points")
    assert verdict.sentence.endswith("30 templates; takes 20 % fewer steps")
    assert all_of(found).steps == -2.0


def test_few_templates_are_never_enough_however_many_tasks_they_have():
    found = compare([journal_of(templates(7, BETTER, tasks=40))], {})
    assert found.verdicts[0].answer == "not enough data"
    assert found.verdicts[0].more_templates >= 1


def test_equal_arms_are_the_same_only_over_many_templates():
    alike = {"none": "+", "akb": "+"}
    few, many = (compare([journal_of(templates(n, alike, tasks=1))], {}) for n in (60, 200))
    assert few.verdicts[0].answer == "not enough data"
    assert many.verdicts[0].answer == "same"
    assert many.verdicts[0].sentence.startswith("the same within 2 points")
    assert compare([journal_of(templates(60, alike, tasks=1))], {}, margin=0.1).verdicts[0].answer == "same"


def test_tasks_of_few_templates_fool_the_naive_test_alone():
    """Four of five templates are won as a whole: McNemar sees 40 tasks, the flips see templates."""
    outcomes = {**templates(6, BETTER, tasks=10)}
    row = all_of(compare([journal_of(outcomes)], {}))
    assert row.mcnemar_p < 1e-10
    assert isclose(row.p, 2 / 2**6)


def test_sites_and_types_are_families_of_their_own():
    outcomes = {f"{site}:{n}/0": dict(BETTER) for site in ("gitlab", "reddit") for n in range(6)}
    outcomes |= {f"map:{n}/0": {"none": "+", "akb": "+"} for n in range(6)}
    found = compare([journal_of(outcomes)], {})
    groups = [row.group for row in found.differences]
    assert groups == ["all", "site gitlab", "site map", "site reddit", "type question"]
    assert isclose(row_of(found, "site gitlab").p, 2 / 64)
    assert isclose(row_of(found, "site gitlab").p_holm, 3 * 2 / 64)
    assert row_of(found, "type question").p_holm == row_of(found, "type question").p


def test_a_task_on_several_sites_is_a_group_of_its_own():
    journal = journal_of({"1/0": BETTER})
    records = tuple(replace(one, sites=("gitlab", "reddit")) for one in journal.records)
    found = compare([replace(journal, records=records)], {})
    assert found.pairs[0].site == "several sites"


def test_while_it_is_not_over_only_the_always_valid_interval_counts():
    outcomes = {f"{n}/0": dict(BETTER) if n % 2 else {"none": "+", "akb": "+"} for n in range(12)}
    over = compare([journal_of(outcomes)], {})
    early = compare([journal_of(outcomes, more_tasks=[f"{n}/0" for n in range(12, 40)])], {})
    assert over.verdicts[0].answer == "better"
    assert early.verdicts[0].early
    assert early.verdicts[0].answer == "not enough data"
    low, high = early.verdicts[0].always_valid
    assert low < 0 < high
    assert early.verdicts[0].sentence.startswith("not enough data yet")
    assert any("56 episodes are missing" in note for note in early.notes)


def test_an_early_look_can_be_enough():
    outcomes = templates(80, BETTER, tasks=1)
    found = compare([journal_of(outcomes, more_tasks=["99/0"])], {})
    assert found.verdicts[0].early
    assert found.verdicts[0].answer == "better"
    assert "so far, always-valid" in found.verdicts[0].sentence


def test_an_early_look_waits_for_whole_templates_and_takes_their_first_repeats():
    """Template 1 lacks a task, which the suite knows; later repeats change nothing of what was bet on."""
    outcomes = {"1/0": {"none": "- ", "akb": "+ "}, "2/0": {"none": "-+", "akb": "+-"}}
    suite = {id: SuiteTask(id=id, intent="", sites=("shop",), template=id[0]) for id in ("1/0", "1/1", "2/0")}
    found = compare([journal_of(outcomes, more_tasks=["1/1"])], suite)
    assert "1 of 2 templates" in found.verdicts[0].sentence
    alone = compare([journal_of({"2/0": {"none": "- ", "akb": "+ "}})], suite)
    assert found.verdicts[0].always_valid == alone.verdicts[0].always_valid


def test_evaluations_added_one_after_another_are_told_to_be_several_looks():
    one, two = journal_of(templates(9, BETTER)), journal_of({"20/0": BETTER})
    assert any("only the always-valid interval counts" in note for note in compare([one, two], {}).notes)
    assert not any("always-valid" in note for note in compare([one, one], {}).notes)


def test_an_early_look_stops_at_the_first_template_that_is_not_complete():
    outcomes = templates(30, BETTER, tasks=1)
    outcomes["12/0"] = {"akb": "+", "none": " "}
    found = compare([journal_of(outcomes)], {}).verdicts[0]
    first = compare([journal_of(templates(12, BETTER, tasks=1))], {}).verdicts[0]
    assert found.early
    assert found.always_valid == first.always_valid
    assert "12 of 30 templates" in found.sentence


def test_an_early_look_bets_on_first_repeats_alone():
    """The first repeats are all won, the second ones all lost; one episode is missing at the end."""
    outcomes = templates(40, {"none": "-+", "akb": "+-"}, tasks=1)
    found = compare([journal_of({**outcomes, "99/0": {"none": "- ", "akb": "+ "}})], {})
    assert found.verdicts[0].early
    assert found.verdicts[0].always_valid[0] > 0
    assert found.verdicts[0].answer == "better"


def test_evaluations_of_one_suite_are_more_repeats_of_the_same_arms():
    found = compare(
        [journal_of({"1/0": {"none": "-", "akb": "+"}}), journal_of({"1/0": {"none": "+", "akb": "+"}})], {}
    )
    assert [rate.mean for rate in found.arms] == [0.5, 1.0]
    assert found.pairs[0].runs == ("run-1/0-akb-0", "run-1/0-akb-0")


def test_arms_that_only_share_a_name_are_told_apart():
    other = replace(AKB, kb_sha256="b" * 64, tips=9)
    found = compare(
        [journal_of({"1/0": BETTER}), journal_of({"1/0": {"none": "-", "akb": "-"}}, (NONE, other))], {}
    )
    assert [rate.name for rate in found.arms] == ["none", "akb aaaaaaaa", "akb bbbbbbbb"]
    assert [rate.mean for rate in found.arms] == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("suite_sha256", "6" * 64, "suites"),
        ("dialect", "strict", "dialects"),
        ("policy", "llm", "policies"),
        ("model", "large", "models"),
        ("max_steps", 5, "limits of steps"),
        ("options", (("infeasible_is_na", "yes"),), "rules of scoring"),
    ],
)
def test_what_can_not_be_mixed_is_refused_in_one_sentence(field, value, words):
    one = journal_of({"1/0": BETTER})
    with pytest.raises(UsageError, match=f"have other {words}"):
        compare([one, replace(one, head=replace(one.head, **{field: value}))], {})


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"arm": "akc"}, "there is no arm 'akc'.*none, akb"),
        ({"against": "akc"}, "there is no arm"),
        ({"arm": "akb", "against": "akb"}, "compared with itself"),
        ({"margin": -0.1}, "margin"),
        ({"margin": 2.0}, "margin"),
        ({"margin": float("nan")}, "margin"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(asked, message):
    with pytest.raises(UsageError, match=message):
        compare([journal_of({"1/0": BETTER})], {}, **asked)
    with pytest.raises(UsageError, match="no evaluation"):
        compare([], {})


def test_each_other_arm_is_compared_with_the_one_without_knowledge_and_maps():
    arms = (AKB, Arm(name="none+map", maps=True), NONE)
    signs = {"akb": "+", "none+map": "-", "none": "-"}
    found = compare([journal_of({"1/0": signs}, arms)], {})
    assert [(one.arm, one.against) for one in found.verdicts] == [("akb", "none"), ("none+map", "none")]
    chosen = compare([journal_of({"1/0": signs}, arms)], {}, arm="akb", against="none+map")
    assert [(one.arm, one.against) for one in chosen.verdicts] == [("akb", "none+map")]


def test_one_arm_alone_has_rates_and_no_verdict():
    found = compare([journal_of({"1/0": {"none": "+"}}, (NONE,))], {})
    assert found.verdicts == ()
    assert found.arms[0].mean == 1.0
    assert any("one arm only" in note for note in found.notes)


def test_nothing_run_yet_says_so_and_does_not_fail():
    found = compare([journal_of({}, more_tasks=["1/0", "2/0"])], {})
    assert found.verdicts[0].answer == "not enough data"
    assert "no template is complete" in found.verdicts[0].sentence
    assert all_of(found).tasks == 0


def test_tainted_tasks_are_marked_and_a_row_leaves_them_out():
    outcomes = {**templates(10, BETTER, tasks=1), "20/0": {"none": "-", "akb": "+"}}
    found = compare([journal_of(outcomes, tainted=("20/0",))], {})
    assert [pair.task for pair in found.pairs if pair.tainted] == ["20/0"]
    assert row_of(found, "without tainted tasks").tasks == 10
    assert "includes 1 tainted task" in found.verdicts[0].sentence
    assert any(note.startswith("1 task is tainted") for note in found.notes)


def test_records_that_the_head_does_not_name_are_left_out_with_a_note():
    journal = journal_of({"1/0": BETTER})
    strange = (record("77/0", "akb", "+"), record("1/0", "other", "+"), record("1/0", "akb", "-", repeat=5))
    found = compare([replace(journal, records=(*journal.records, *strange))], {})
    assert len(found.pairs) == 1
    assert any(note.startswith("3 records") for note in found.notes)


def test_of_two_records_of_one_episode_the_last_counts():
    journal = journal_of({"1/0": {"none": "-", "akb": "-"}})
    found = compare([replace(journal, records=(*journal.records, record("1/0", "akb", "+")))], {})
    assert found.pairs[0].result == "won"
    assert journal.records[1].key == EpisodeKey(task="1/0", repeat=0, arm="akb")


def test_a_price_that_is_not_known_makes_no_sum():
    fields = {"akb": {"money": None}, "none": {"money": 0.2}}
    found = compare([journal_of(templates(2, BETTER), fields=fields)], {})
    assert [rate.money for rate in found.arms] == [pytest.approx(0.2), None]
    assert all_of(found).money is None


def test_tables_group_by_site_type_observation_action_and_reason():
    fields = {
        "akb": {"actions": ("click", "note", "click"), "required_obs": "image"},
        "none": {"actions": ("click",), "required_obs": "image"},
    }
    outcomes = {"gitlab:1/0": {"none": "-", "akb": "+"}, "2/0": {"none": "-", "akb": "-"}}
    labels = {"run-2/0-akb-0": ("wrong page",)}
    found = compare([journal_of(outcomes, fields=fields)], {}, labels=labels)
    tables = {table.title.partition(" (")[0].partition(",")[0]: table for table in found.tables}
    assert tables["Success by site"].rows == (("gitlab", "1", "0.0", "100.0"), ("shop", "1", "0.0", "0.0"))
    assert tables["Success by type of task"].rows == (("question", "2", "0.0", "50.0"),)
    assert tables["Success by required observation"].rows == (("image", "2", "0.0", "50.0"),)
    used = tables["Share of runs that used an action"]
    assert used.heads == ("action", "none", "akb")
    assert set(used.rows) == {
        ("click", "100 (right: 0)", "100 (right: 50)"),
        ("note", "0", "100 (right: 50)"),
    }
    assert tables["Reasons of failed runs"].rows == (("wrong page", "0", "1"), ("no verdict yet", "2", "0"))
    assert "Learning curve: success over the number of tips" not in tables


def test_three_numbers_of_tips_make_a_learning_curve():
    arms = (NONE, replace(AKB, name="a", tips=5, kb_sha256="1" * 64), replace(AKB, name="b", tips=20))
    outcomes = templates(8, {"none": "-", "a": "-", "b": "+"}, tasks=1)
    found = compare([journal_of(outcomes, arms)], {})
    curve = next(table for table in found.tables if table.title.startswith("Learning curve"))
    assert [row[:3] for row in curve.rows] == [("0", "none", "0.0"), ("5", "a", "0.0"), ("20", "b", "100.0")]


def test_intents_and_reasons_stand_beside_the_pairs():
    tasks = {"1/0": SuiteTask(id="1/0", intent="Find the cheapest lamp", sites=("shop",), template="1")}
    fields = {"none": {"why": "no answer was given"}}
    found = compare([journal_of({"1/0": BETTER}, fields=fields)], tasks)
    pair = found.pairs[0]
    assert (pair.intent, pair.why, pair.why_against) == ("Find the cheapest lamp", "", "no answer was given")


def test_claims_that_were_false_and_changes_nobody_asked_for_are_counted():
    fields = {"akb": {"claimed": True, "unasked": 2}}
    outcomes = {"1/0": {"none": "-", "akb": "-"}, "2/0": {"none": "+", "akb": "+"}}
    akb = next(rate for rate in compare([journal_of(outcomes, fields=fields)], {}).arms if rate.name == "akb")
    assert (akb.false_done, akb.unasked) == (1, 4)


def test_credit_of_tips_comes_with_the_comparison():
    fields = {"akb": shown("shop-1")}
    found = compare(
        [journal_of(templates(9, BETTER), fields=fields)], {}, knowledge={"x": {"shop-1": "Sort first."}}
    )
    assert [(row.tip, row.verdict, row.text) for row in found.credits] == [("shop-1", "helps", "Sort first.")]
