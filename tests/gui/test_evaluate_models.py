"""The models of Evaluate: figures, filters, the form and its plan, rescoring, results that change while one looks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.api.evaluation_api import (
    ComparisonVerdict,
    DifferenceRow,
    EvaluationPlan,
    PairRow,
    RescoredRun,
    SuiteRow,
)
from app.engine.core.evaluation.suite import TaskFilter
from app.errors import SiteloreError
from app.models.evaluate.evaluate_model import EvaluateModel, EvaluatePage
from app.models.evaluate.evaluation_form import VALUES
from app.models.evaluate.evaluation_list import ProgressRate
from app.models.evaluate.evaluation_result import ResultState
from app.models.evaluate.figures import (
    chance,
    group_title,
    hours_words,
    interval,
    is_decided,
    money_text,
    p_words,
    points,
)
from app.models.evaluate.rescoring_model import agreement_of
from app.models.evaluate.result_tables import RESULTS, PairFilter, PairTableModel, parse_pair_filter
from app.models.evaluate.suites_model import suite_problems
from app.views.evaluate.plan_pane import power_sentence
from tests.support.fake_evaluation import JUNE, NIGHT, TORN
from tests.support.qt_loop import until


def difference(group: str = "all", **given: float) -> DifferenceRow:
    values = {"difference": 0.05, "low": 0.01, "high": 0.09, "p": 0.01, "p_holm": 0.01, **given}
    return DifferenceRow(
        arm="akb", against="none", group=group, tasks=90, templates=30, mcnemar_p=0.01,
        won=9, lost=4, both=30, neither=47, **values,
    )  # fmt: skip


@pytest.fixture
def model(client, tasks):
    made = EvaluateModel(client, tasks)
    made.start()
    until(lambda: made.is_loaded and made.suites.is_loaded and made.result.state is ResultState.READY)
    return made


# ---------------------------------------------------------------- figures


@pytest.mark.parametrize(
    ("share", "words"), [(0.091, "+9.1"), (-0.004, "−0.4"), (0.0, "0.0"), (0.0004, "0.0"), (-0.0004, "0.0")]
)
def test_a_difference_is_in_points_with_its_sign(share, words):
    assert points(share) == words


def test_an_interval_names_both_ends():
    assert interval(-0.063, 0.154) == "−6.3 to +15.4"


@pytest.mark.parametrize(
    ("hours", "words"),
    [(0.01, "36 s"), (0.2, "12 min"), (3.34, "3 h 20 min"), (1.0, "1 h 00 min"), (52.0, "2 d 4 h")],
)
def test_hours_are_in_words(hours, words):
    assert hours_words(hours) == words


@pytest.mark.parametrize(
    ("money", "words"), [(None, "cost unknown"), (0.0, "$0.00"), (4.269, "$4.27"), (0.0042, "$0.0042")]
)
def test_a_missing_price_is_never_zero(money, words):
    assert money_text(money) == words


@pytest.mark.parametrize(("share", "words"), [(0.999, "over 99 %"), (0.51, "51 %"), (0.001, "under 1 %")])
def test_no_chance_is_certain(share, words):
    assert chance(share) == words


@pytest.mark.parametrize(
    ("group", "title"),
    [("all", "All tasks"), ("site gitlab", "gitlab"), ("type change", "change"),
     ("without tainted tasks", "without tainted tasks"), ("odd", "odd")],
)  # fmt: skip
def test_a_group_is_named_without_the_word_for_its_kind(group, title):
    assert group_title(group) == title


def test_a_p_value_is_never_zero():
    assert (p_words(0.0001), p_words(0.0312)) == ("<0.001", "0.031")


@pytest.mark.parametrize(
    ("row", "early", "decided"),
    [
        (difference(), False, True),
        (difference(low=-0.09, high=-0.01), False, True),
        (difference(low=-0.01), False, False),  # its interval holds 0
        (difference(), True, False),  # somebody looks before the end
        (difference("site map", p_holm=0.2), False, False),  # one of many groups
        (difference("site map", p_holm=0.04), False, True),
    ],
)
def test_a_difference_is_coloured_only_when_its_interval_says_so(row, early, decided):
    assert is_decided(row, early=early) is decided


# ---------------------------------------------------------------- pairs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", PairFilter()),
        ("site:gitlab,Map", PairFilter(sites=("gitlab", "map"))),
        ("type:change kind:way", PairFilter(kinds=("change", "way"))),
        ("tainted milestone", PairFilter(words=("milestone",), tainted=True)),
        ("http://x", PairFilter(words=("http://x",))),
    ],
)
def test_a_filter_line_of_pairs_is_read(text, expected):
    assert parse_pair_filter(text) == expected


def pair(number: int, **given: object) -> PairRow:
    values = {"site": "gitlab", "kind": "way", "result": RESULTS[number % len(RESULTS)], **given}
    return PairRow(
        task=str(number), cluster="gitlab:1", intent=f"Open the milestone {number}", arm="akb", against="none",
        score=1.0, score_against=0.0, **values,
    )  # fmt: skip


def test_the_counts_of_the_results_follow_the_filter_line_and_not_each_other(qapp):
    table = PairTableModel()
    table.load_pairs(tuple(pair(n, site="map" if n < 5 else "gitlab") for n in range(20)))
    assert table.counts == {"": 20, **dict.fromkeys(RESULTS, 4)}
    table.set_result("won")
    assert table.rowCount() == 4
    assert table.counts["lost"] == 4
    table.set_filter("site:map")
    assert (table.rowCount(), table.counts[""], table.counts["lost"]) == (1, 5, 1)
    table.set_filter("site:map nothing")
    assert table.rowCount() == 0
    table.clear_filters()
    assert table.rowCount() == 20


def test_the_columns_of_scores_have_the_names_of_the_arms(qapp):
    table = PairTableModel()
    table.name_arms("akb", "none")
    titles = {column.key: column.title for column in table.columns}
    assert (titles["score"], titles["against"]) == ("akb", "none")


def test_an_undecided_score_is_no_zero(qapp):
    table = PairTableModel()
    table.load_pairs((pair(1, result="undecided"), replace(pair(2), score=None)))
    cells = [table.index(row, table.column_of("score")).data() for row in range(2)]
    assert cells == ["1", "?"]


def test_an_intent_of_any_length_is_one_short_line(qapp):
    table = PairTableModel()
    table.load_pairs((replace(pair(1), intent="a\n" * 100_000),))
    text = table.index(0, table.column_of("intent")).data()
    assert "\n" not in text
    assert len(text) < 700


# ---------------------------------------------------------------- the result


def test_the_newest_evaluation_opens_with_its_verdict(model):
    assert model.current == JUNE
    assert model.result.verdict is not None
    assert model.result.pairs.total == 90
    assert model.result.differences.rows[0].group == "all"


def test_a_verdict_that_holds_zero_has_no_colour(model):
    result = model.result
    comparison = result.comparison
    assert comparison is not None
    verdict = comparison.verdicts[0]
    worse = replace(verdict, answer="better", early=True, always_valid=(-0.01, 0.2))
    result.comparison = replace(comparison, verdicts=(worse,))
    result._fill()
    assert result.standing == ""
    assert "always-valid" in result.remark
    sure = replace(worse, always_valid=(0.01, 0.2))
    result.comparison = replace(comparison, verdicts=(sure,))
    result._fill()
    assert result.standing == "better"


def test_other_arms_are_a_choice_that_is_kept(model):
    result, comparison = model.result, model.result.comparison
    assert comparison is not None
    other = ComparisonVerdict(arm="none+map", against="none", answer="same", sentence="The same.")
    rows = tuple(replace(row, arm="none+map") for row in comparison.pairs[:7])
    result.comparison = replace(
        comparison, verdicts=(*comparison.verdicts, other), pairs=(*comparison.pairs, *rows)
    )
    result._fill()
    result.next_arms()
    assert result.verdict == other
    assert result.pairs.total == 7
    result.next_arms()
    assert result.pairs.total == 90


def test_a_journal_that_cant_be_read_says_so_and_the_rest_goes_on(model):
    model.open_evaluation(TORN)
    until(lambda: model.result.state is ResultState.ERROR)
    assert "line 14 is no record" in model.result.error
    model.open_evaluation(JUNE)
    until(lambda: model.result.state is ResultState.READY)


def test_a_missing_extra_is_told_in_the_words_of_the_engine(model, fake_engine):
    fake_engine.evaluation_error = SiteloreError('scipy is not installed: pip install "sitelore[evaluate]"')
    model.open_evaluation(NIGHT)
    until(lambda: model.result.state is ResultState.ERROR)
    assert 'pip install "sitelore[evaluate]"' in model.result.error


def test_an_evaluation_without_a_pair_waits(model, fake_engine):
    del fake_engine.comparisons[NIGHT]
    model.open_evaluation(NIGHT)
    until(lambda: model.result.state is ResultState.NO_PAIRS)


def test_the_runs_of_a_pair_are_shown_side_by_side_then_in_turn(model):
    shown, pairs, said = [], [], []
    model.run_requested.connect(shown.append)
    model.pair_requested.connect(lambda *both: pairs.append(both))
    model.notice.connect(said.append)
    row = model.result.pairs.values["3"]
    model.result.open_pair("3", "Shift+Y")
    for _ in range(4):
        model.result.other("Shift+Y")
    assert pairs == [(row.runs[0], row.runs_against[0])]
    assert shown == [row.runs_against[0], row.runs[1], row.runs_against[1], row.runs[0]]
    assert said[0] == "Task 3: akb at the left, none at the right, repeat 1 of 2. Shift+Y opens that of none"
    assert said[3] == "Task 3: run of none, repeat 2 of 2. Shift+Y opens that of akb"


def test_a_pair_without_runs_says_so(model):
    said = []
    model.notice.connect(said.append)
    model.result.pairs.put([replace(model.result.pairs.values["3"], runs=(), runs_against=())])
    model.result.open_pair("3")
    assert said == ["Task 3 has no stored run in either arm"]
    assert not model.result.has_other


# ---------------------------------------------------------------- progress


def test_the_time_left_comes_from_the_episodes_that_ended_here():
    rate = ProgressRate()
    rate.note("a", 40, running=True, now=0.0)
    assert rate.hours_left("a", 100) is None
    rate.note("a", 40, running=True, now=30.0)
    rate.note("a", 50, running=True, now=100.0)
    assert rate.hours_left("a", 100) == pytest.approx(500 / 3600)
    rate.note("a", 50, running=False, now=900.0)  # stopped: the pause does not count
    rate.note("a", 51, running=True, now=910.0)
    assert rate.hours_left("a", 100) == pytest.approx(490 / 3600)


def test_progress_changes_one_row_in_place(model, fake_engine):
    resets, changed = [], []
    model.list.modelReset.connect(lambda: resets.append(1))
    model.list.dataChanged.connect(lambda first, *_rest: changed.append(first.row()))
    fake_engine.advance(NIGHT, 150, words="task 12 in akb: pass")
    assert model.list.at(1).done == 150
    assert changed == [1]
    assert not resets
    model.open_evaluation(NIGHT)
    assert model.last_words == "task 12 in akb: pass"


def test_many_episodes_in_a_second_make_one_load_of_the_list(model, fake_engine):
    for done in range(145, 160):
        fake_engine.advance(NIGHT, done)
    assert model._timer.isActive()


def test_pairs_that_come_while_it_runs_leave_the_others_in_place(model, fake_engine):
    model.open_evaluation(NIGHT)
    until(lambda: model.result.state is ResultState.READY and model.result.pairs.total)
    before = [row.task for row in model.result.pairs.rows]
    resets = []
    model.result.pairs.modelReset.connect(lambda: resets.append(1))
    comparison = fake_engine.comparisons[NIGHT]
    more = replace(comparison.pairs[0], task="700")
    fake_engine.comparisons[NIGHT] = replace(comparison, pairs=(*comparison.pairs, more))
    model.result.select_pair(before[5])
    fake_engine.advance(NIGHT, 360, "done")
    until(lambda: "700" in model.result.pairs.values)
    assert [row.task for row in model.result.pairs.rows] == [*before, "700"]
    assert model.result.task == before[5]
    assert not resets


# ---------------------------------------------------------------- suites


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, ()),
        ({"without_oracle": 2}, ("2 tasks have no reference answer; they are undecided",)),
        ({"unknown": ("x", "y")}, ("Unknown evaluators: x, y",)),
        ({"unbound": ("__MAP__",)}, ("No address in the table of sites: __MAP__",)),
        ({"notes": ("line 3 is odd",)}, ("line 3 is odd",)),
    ],
)
def test_problems_of_a_suite_are_sentences(given, words):
    row = SuiteRow(name="a", title="", form="", dialect="", sha256="", tasks=1, templates=1, **given)
    assert suite_problems(row) == words


def test_a_file_that_is_no_suite_leaves_the_others(model, fake_engine, tasks):
    errors, said = [], []
    tasks.error.connect(errors.append)
    model.notice.connect(said.append)
    model.suites.add(["/x/bad.jsonl", "/x/good.json"])
    until(lambda: "good" in fake_engine.suite_rows and said)
    assert errors == ["/x/bad.jsonl: it holds no tasks (add a suite in one of the known forms)"]
    assert said == ["Suite 'good' added: 812 tasks"]


def test_an_open_suite_that_is_removed_closes(model, fake_engine):
    model.open_suite("shop-tasks")
    until(lambda: model.suites.tasks.total)
    assert model.removable == "Remove the suite 'shop-tasks'"
    model.remove()
    until(lambda: "shop-tasks" not in fake_engine.suite_rows and model.page is EvaluatePage.RESULT)
    assert fake_engine.done[-1] == "remove suite 'shop-tasks'"


def test_a_running_evaluation_stays_on_the_list(model, fake_engine):
    model.open_evaluation(NIGHT)
    assert model.removable == ""
    model.open_evaluation(JUNE)
    model.remove()
    until(lambda: model.current == NIGHT)
    assert ("forget_evaluation", (JUNE,)) in fake_engine.calls


# ---------------------------------------------------------------- the form


def open_form(model):
    model.new_evaluation()
    until(lambda: model.form.plan is not None)
    return model.form


def test_the_plan_follows_what_is_typed(model):
    form = open_form(model)
    assert form.plan.episodes == 1624
    form.set("repeats", "3")
    assert form.is_stale, "the older plan is marked until the new one is there"
    until(lambda: form.plan.episodes == 4872)
    form.turn("sites", "gitlab", on=True)
    until(lambda: form.plan.episodes == 1080)
    form.choose("maps", "both")
    until(lambda: form.plan.episodes == 2160)


def test_typing_asks_for_one_plan(model, fake_engine):
    form = open_form(model)
    fake_engine.calls.clear()
    for text in ("1", "12", "120"):
        form.set("max_steps", text)
    until(lambda: not form.is_planning)
    assert [name for name, _ in fake_engine.calls] == ["plan_evaluation"]


@pytest.mark.parametrize(
    ("name", "text"),
    [("repeats", "0"), ("repeats", "x"), ("workers", ""), ("max_steps", "1001"), ("max_seconds", "-1"),
     ("max_money", "a lot"), ("max_tokens", "1.5"), ("seed", "-3")],
)  # fmt: skip
def test_a_number_that_is_none_is_a_problem_of_its_field(model, name, text):
    form = open_form(model)
    form.set(name, text)
    assert [problem.field for problem in form.problems] == [name]
    assert not form.start()


def test_every_value_reaches_the_request(model):
    form = open_form(model)
    for name, value in {
        "ids": "12, 40-59 3", "kb": "/x/a.akb", "against": "/x/b.akb", "repeats": "3", "workers": "2",
        "max_steps": "20", "max_seconds": "600", "max_tokens": "90000", "max_money": "0,5", "address": "auto",
        "name": "june", "seed": "11",
    }.items():  # fmt: skip
        form.set(name, value)
    for name, value in {"subset": "a", "policy": "llm", "maps": "both", "tainted": "mark", "dialect": "strict",
                        "engine": "ray"}.items():  # fmt: skip
        form.choose(name, value)
    for group, value in (("sites", "gitlab"), ("kinds", "change"), ("rules", "infeasible_is_na")):
        form.turn(group, value, on=True)
    request = form.request()
    assert request.tasks == TaskFilter(
        ids=("12", "40-59", "3"), sites=("gitlab",), kinds=("change",), subset="a"
    )
    assert (request.kb, request.against, request.repeats, request.workers) == ("/x/a.akb", "/x/b.akb", 3, 2)
    assert (request.max_steps, request.max_seconds, request.max_tokens) == (20, 600.0, 90_000)
    assert (request.max_money, request.engine, request.address, request.seed) == (0.5, "ray", "auto", 11)
    assert (request.policy, request.maps, request.tainted, request.dialect) == (
        "llm",
        "both",
        "mark",
        "strict",
    )
    assert (request.infeasible_is_na, request.off_site_is_zero, request.name) == (True, False, "june")
    assert set(VALUES) == set(form.values)


def test_a_plan_with_problems_does_not_begin(model, fake_engine):
    fake_engine.plan_problems = ("the site 'gitlab' has no reset command",)
    form = open_form(model)
    assert not form.start()
    assert form.error == "the site 'gitlab' has no reset command"
    assert "run_evaluation" not in [name for name, _ in fake_engine.calls]


def test_a_refused_start_keeps_the_form_with_its_reason(model, fake_engine):
    form = open_form(model)
    fake_engine.evaluation_error = SiteloreError("another evaluation holds the site 'gitlab'")
    assert form.start()
    until(lambda: not form.is_sending)
    assert form.error == "another evaluation holds the site 'gitlab'"
    assert model.page is EvaluatePage.FORM


def test_a_started_evaluation_is_open_and_in_the_list(model, fake_engine):
    form = open_form(model)
    form.set("name", "july")
    assert form.start()
    until(lambda: model.row is not None and model.row.name == "july")
    assert model.page is EvaluatePage.RESULT
    assert model.row.state == "running"
    fake_engine.advance("evaluations/july", 3)
    assert model.row.done == 3


def test_an_evaluation_that_goes_on_in_its_own_folder_is_opened_too(model, fake_engine):
    fake_engine.advance(NIGHT, 144, "stopped")
    form = open_form(model)
    form.is_sending = True
    fake_engine.advance(NIGHT, 145)
    assert not form.is_sending
    until(lambda: model.current == NIGHT and model.page is EvaluatePage.RESULT)


def test_a_group_without_a_number_is_left_out(model):
    result, comparison = model.result, model.result.comparison
    assert comparison is not None
    odd = replace(difference("site map"), low=float("nan"), high=float("nan"))
    result.comparison = replace(comparison, differences=(difference(), odd))
    result._fill()
    assert [row.group for row in result.differences.rows] == ["all"]
    assert (points(float("nan")), interval(0.1, float("nan"))) == ("—", "+10.0 to —")


def test_a_plan_that_fails_says_why_and_the_next_one_heals(model, fake_engine):
    form = open_form(model)
    fake_engine.evaluation_error = SiteloreError("there is no file /x/a.akb")
    form.set("kb", "/x/a.akb")
    until(lambda: form.plan_error)
    assert form.plan_error == "there is no file /x/a.akb"
    form.set("kb", "none")
    until(lambda: form.plan is not None)
    assert form.plan_error == ""


def test_the_last_frozen_file_is_offered(model):
    form = open_form(model)
    form.offer("/x/last.akb")
    form.take_freeze()
    assert form.request().kb == "/x/last.akb"


@pytest.mark.parametrize(
    ("power", "begins"),
    [
        (((0.05, 0.3), (0.1, 0.85)), "An effect of 10 points"),
        (((0.05, 0.1),), "Even an effect of 5 points"),
        ((), ""),
    ],
)
def test_power_is_told_in_words(model, power, begins):
    plan: EvaluationPlan = replace(open_form(model).plan, power=power)
    assert power_sentence(plan).startswith(begins)
    assert bool(power_sentence(plan)) == bool(begins)


# ---------------------------------------------------------------- rescoring


@pytest.mark.parametrize(
    ("recorded", "score", "agreement"),
    [
        (1.0, 1.0, "agrees"),
        (0.0, 0.0, "agrees"),
        (0.0, 0.5, "agrees"),  # only 1 passes
        (0.0, 1.0, "false pass"),
        (1.0, 0.5, "false fail"),
        (1.0, None, "undecided"),
        (None, 1.0, "not recorded"),
        (None, None, "not recorded"),
    ],
)
def test_a_verdict_agrees_with_the_recorded_score_or_not(recorded, score, agreement):
    run = RescoredRun(run="r", task="1", recorded=recorded, score=score, verdict="", why="")
    assert agreement_of(run) == agreement


def test_rescoring_counts_and_shows_what_does_not_agree_first(model, fake_engine):
    rescoring = model.rescoring
    rescoring.choose("suite", "webarena")
    rescoring.choose("dialect", "webchorearena")
    rescoring.start()
    until(lambda: rescoring.is_done)
    assert fake_engine.calls[-1] == ("rescore", ((), "webarena", "webchorearena", False))
    assert agreement_of(rescoring.table.rows[0]) == "false pass"
    assert rescoring.table.counts["false pass"] == 1
    assert "false passes: 1" in rescoring.summary
    assert rescoring.checks.rowCount() == 1
    rescoring.show_only("undecided")
    assert rescoring.table.rowCount() == rescoring.table.counts["undecided"]


def test_a_folder_is_rescored_without_importing_it(model, fake_engine):
    model.rescoring.choose("folder", "/x/runs")
    model.rescoring.start()
    until(lambda: model.rescoring.is_done)
    assert fake_engine.calls[-1] == ("rescore_folder", ("/x/runs", "webarena", "", False))


def test_rescoring_that_fails_says_why(model, fake_engine):
    fake_engine.evaluation_error = SiteloreError("the strict dialect is not installed")
    model.rescoring.start()
    until(lambda: model.rescoring.error)
    assert model.rescoring.error == "the strict dialect is not installed"
    assert not model.rescoring.is_busy
