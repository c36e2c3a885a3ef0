"""The page of a report: what it says, what is coloured, and that it needs nothing else."""

import re
from dataclasses import replace
from itertools import product

import pytest

from app.engine.api.evaluation_api import (
    Comparison,
    ComparisonVerdict,
    DifferenceRow,
    GroupTable,
    RateRow,
    TipCreditRow,
)
from app.engine.core.evaluation.episode import Arm, EvaluationHead, EvaluationJournal
from app.engine.evaluation.report.cells import cell_text
from app.engine.evaluation.report.colors import BACKGROUNDS, REPORT_COLORS, TEXTS
from app.engine.evaluation.report.html_page import html_bytes
from app.engine.evaluation.report.interval_plots import forest_plot, rates_plot
from app.engine.evaluation.report.journal_tables import command_line
from app.engine.evaluation.report.learning_plot import learning_plot
from app.engine.evaluation.report.readings import arm_of, reading_of, verdict_sentences
from app.engine.evaluation.report.result_tables import credits_table, differences_table, group_tables
from tests.support.made_up_evaluation import (
    FOUR_ARMS,
    LEARNING_ARMS,
    NONE,
    made_up_comparison,
    made_up_journal,
)

HEAD = EvaluationHead(
    name="june",
    suite="shop",
    suite_sha256="ab" * 32,
    dialect="sitelore",
    policy="scout",
    arms=(NONE,),
    tasks=("1",),
)


def difference(group="all", low=0.01, high=0.05, templates=20, **values) -> DifferenceRow:
    row = DifferenceRow(
        arm="akb", against="none", group=group, tasks=30, templates=templates, difference=(low + high) / 2,
        low=low, high=high, p=0.01, mcnemar_p=0.001, won=5, lost=1, both=10, neither=14,
    )  # fmt: skip
    return replace(row, **values)


def rate(name, mean=0.5, **values) -> RateRow:
    row = RateRow(
        name=name, tasks=30, templates=20, mean=mean, low=mean - 0.1, high=mean + 0.1, wilson_low=mean - 0.05,
        wilson_high=mean + 0.05,
    )  # fmt: skip
    return replace(row, **values)


def answer(**values) -> ComparisonVerdict:
    verdict = ComparisonVerdict(
        arm="akb", against="none", answer="better", sentence="better by 4 points", always_valid=(-0.02, 0.1)
    )
    return replace(verdict, **values)


def page_of(comparison: Comparison, *journals: EvaluationJournal) -> str:
    return html_bytes(comparison, journals).decode("utf-8")


@pytest.fixture(scope="module")
def four():
    journal = made_up_journal(tasks=60, templates=48, repeats=2)
    comparison = made_up_comparison(journal, draws=50)
    return comparison, page_of(comparison, journal)


@pytest.mark.parametrize(
    ("low", "high", "templates", "early", "reading"),
    [
        (0.01, 0.05, 20, False, "better"),
        (0.0, 0.05, 20, False, "not clear"),
        (-0.01, 0.05, 20, False, "not clear"),
        (-0.05, 0.0, 20, False, "not clear"),
        (-0.05, -0.01, 20, False, "worse"),
        (0.01, 0.05, 7, False, "too few"),
        (0.01, 0.05, 8, False, "better"),
        (0.01, 0.05, 20, True, "too early"),
        (-0.05, -0.01, 7, True, "too early"),
        (float("nan"), float("nan"), 20, False, "not clear"),
    ],
)
def test_an_interval_has_one_reading(low, high, templates, early, reading):
    assert reading_of(low, high, templates, early=early) == reading


@pytest.mark.parametrize(
    ("row", "early", "shape"),
    [
        (difference(low=0.01, high=0.05), False, "better"),
        (difference(low=-0.05, high=-0.01), False, "worse"),
        (difference(low=-0.01, high=0.05), False, "unclear"),
        (difference(low=0.01, high=0.05, templates=7), False, "unclear"),
        (difference(low=0.01, high=0.05), True, "unclear"),
    ],
)
def test_a_point_has_a_colour_only_where_its_interval_leaves_out_zero(row, early, shape):
    plot = forest_plot([row], 0.02, early=early)
    others = {"better", "worse", "unclear"} - {shape}
    assert f'class="point {shape}"' in plot
    assert not any(f"point {other}" in plot for other in others)
    word = {"better": "▲ better", "worse": "▼ worse"}.get(shape, "○ ")
    assert word in plot  # a shape and a word stand beside the colour


def test_a_plot_is_told_in_words_and_its_numbers_stand_in_a_table(four):
    _, page = four
    plots = re.findall(r"<svg[^>]*>", page)
    assert len(plots) == 4  # rates, and a forest for each of three pairs
    assert all('role="img"' in plot and "aria-label=" in plot for plot in plots)
    forest = forest_plot([difference(), difference("site gitlab", -0.2, -0.1)], 0.02)
    assert "All tasks, 20 templates: +3.0 (+1.0 to +5.0), better" in forest
    assert "gitlab, 20 templates: −15.0 (−20.0 to −10.0), worse" in forest
    for plot in plots:
        after = page[page.index(plot) :]
        assert after.index("<table") < after.index("</section>")


def test_a_forest_has_a_zero_line_a_margin_and_the_templates(four):
    plot = forest_plot(
        [difference(), difference("site map"), difference("type way"), difference("other")], 0.02
    )
    for part in (
        'class="zero"',
        'class="margin"',
        "By site",
        "By type of task",
        ">map<",
        ">way<",
        ">other<",
        ">20<",
    ):
        assert part in plot
    assert forest_plot([], 0.02) == ""


def test_figures_that_are_none_are_not_drawn():
    nan = float("nan")
    assert "no figure" in forest_plot([difference(low=nan, high=nan)], 0.02)
    assert rates_plot([rate("none", nan)]) == ""
    assert cell_text(nan, "share") == cell_text((nan, nan), "ranges") == "–"


@pytest.mark.parametrize(("scheme", "text", "ground"), list(product(REPORT_COLORS, TEXTS, BACKGROUNDS)))
def test_every_text_can_be_read_on_every_background(scheme, text, ground):
    colors = REPORT_COLORS[scheme]
    assert contrast(colors[text], colors[ground]) >= 4.5


@pytest.mark.parametrize(("scheme", "vision"), list(product(REPORT_COLORS, ("all", "protan", "deutan"))))
def test_better_and_worse_differ_for_every_colour_vision(scheme, vision):
    better, worse = (seen(REPORT_COLORS[scheme][role], vision) for role in ("better", "worse"))
    assert sum((one - other) ** 2 for one, other in zip(better, worse, strict=True)) ** 0.5 > 60


def channels(color: str) -> list[float]:
    return [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]


def linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def contrast(one: str, other: str) -> float:
    """Contrast ratio by WCAG 2.2."""
    weights = (0.2126, 0.7152, 0.0722)
    light = [
        sum(w * linear(c) for w, c in zip(weights, channels(color), strict=True)) for color in (one, other)
    ]
    return (max(light) + 0.05) / (min(light) + 0.05)


def seen(color: str, vision: str) -> list[float]:
    """Colour in 0 to 255 as people with a colour vision deficiency see it (Viénot, Brettel and Mollon 1999)."""
    red, green, blue = (linear(value) for value in channels(color))
    matrix = {
        "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        "protan": ((0.11238, 0.88762, 0), (0.11238, 0.88762, 0), (0.00401, -0.00401, 1)),
        "deutan": ((0.29275, 0.70725, 0), (0.29275, 0.70725, 0), (-0.02234, 0.02234, 1)),
    }[vision]
    out = [max(0.0, sum(w * c for w, c in zip(row, (red, green, blue), strict=True))) for row in matrix]
    return [255 * (12.92 * v if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055) for v in out]


def test_the_page_needs_nothing_else(four):
    _, page = four
    assert "default-src 'none'" in page
    assert not re.search(r"<script|<link|<img|<iframe|@import|url\(|https?://|//cdn", page)
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_the_answer_comes_first(four):
    comparison, page = four
    heading = re.search("<h1>(.*?)</h1>", page, re.S)
    assert heading
    first = comparison.verdicts[0]
    assert f"{first.arm} against {first.against}: {first.sentence}" in heading[1]
    assert page.index("<h1>") < page.index("What was compared") < page.index("How often each arm succeeds")


def test_the_page_says_what_was_compared(four):
    comparison, page = four
    head = comparison.heads[0]
    for word in (
        head.suite_sha256, "webarena", "scout", head.prompts_sha256, "2 runs of each", "600.0", "141.0.7390.37",
        "7.6 GB", FOUR_ARMS[1].kb_sha256[:12], ">61<",
    ):  # fmt: skip
        assert word in page, word
    assert "never the figure to report" in page
    assert "p (McNemar, naive)" in page


def test_an_early_answer_is_coloured_only_by_the_interval_that_always_holds():
    unsure = page_of(Comparison(heads=(HEAD,), arms=(), verdicts=(answer(early=True),)))
    assert '<div class="answer ">' in unsure
    assert "The evaluation is not over: only the interval that holds whenever one looks counts" in unsure
    assert "−2.0 to +10.0 points" in unsure
    sure = page_of(
        Comparison(heads=(HEAD,), arms=(), verdicts=(answer(early=True, always_valid=(0.01, 0.1)),))
    )
    assert '<div class="answer better">' in sure
    assert '<div class="answer better">' in page_of(Comparison(heads=(HEAD,), arms=(), verdicts=(answer(),)))


@pytest.mark.parametrize(
    ("comparison", "sentence"),
    [
        (Comparison(heads=(HEAD,), arms=()), "There is no answer yet: no episode has been decided."),
        (
            Comparison(heads=(HEAD,), arms=(rate("none", 0.25),)),
            "One arm, and nothing to compare it with: none solves 25.0 % of 30 tasks (95 % interval 15.0 to 35.0 %,"
            " 20 templates).",
        ),
        (
            Comparison(heads=(HEAD,), arms=(rate("none"), rate("akb"))),
            "The arms were not compared: they share no task that is decided in both.",
        ),
        (Comparison(heads=(HEAD,), arms=(), verdicts=(answer(),)), "akb against none: better by 4 points"),
    ],
)
def test_there_is_always_an_answer(comparison, sentence):
    assert verdict_sentences(comparison)[0] == sentence
    assert sentence in page_of(comparison, EvaluationJournal(head=HEAD))


def test_tips_that_hurt_stand_first():
    def tip(name: str, verdict: str, difference: float) -> TipCreditRow:
        return TipCreditRow(
            tip=name, text="", retrieved=9, followed=4, templates=9, difference=difference, low=difference - 0.01,
            high=difference + 0.01, method="pairs", verdict=verdict,
        )  # fmt: skip

    given = (
        tip("a", "not enough data", 0.5),
        tip("b", "helps", 0.1),
        tip("c", "hurts", -0.1),
        tip("d", "no difference seen", 0.0),
        tip("e", "helps", 0.3),
        tip("f", "hurts", -0.4),
    )
    rows = credits_table(Comparison(heads=(), arms=(), credits=given)).rows
    assert [row[0] for row in rows] == ["f", "c", "e", "b", "d", "a"]


def test_a_curve_needs_three_sizes():
    two = [(rate("none"), NONE), (rate("akb"), FOUR_ARMS[1])]
    assert learning_plot(two) == ""
    journal = made_up_journal(tasks=40, templates=30, repeats=1, arms=LEARNING_ARMS)
    comparison = made_up_comparison(journal, draws=20)
    rated = [(row, arm) for row in comparison.arms if (arm := arm_of(comparison, row))]
    assert [arm.tips for _, arm in rated] == [0, 15, 30, 61]
    plot = learning_plot(rated)
    assert "without interaction graphs" in plot
    assert "■ with" not in plot
    page = page_of(comparison, journal)
    assert "A curve needs" not in page
    assert 'id="learning-curve"' in page


def test_arms_of_one_name_are_told_apart_by_their_hash():
    june = Arm(name="akb", kb="a.akb", kb_sha256="aaaaaaaabbbb", tips=3)
    july = replace(june, kb_sha256="ccccccccdddd", tips=9)
    heads = (replace(HEAD, arms=(NONE, june)), replace(HEAD, arms=(NONE, july)))
    comparison = Comparison(heads=heads, arms=())
    assert arm_of(comparison, rate("akb aaaaaaaa")) == june
    assert arm_of(comparison, rate("akb cccccccc")) == july
    assert arm_of(comparison, rate("none")) == NONE
    assert arm_of(comparison, rate("akb")) is None  # it may be either


def test_notes_tasks_and_what_is_left_are_told(four):
    comparison, page = four
    assert all(note in page for note in comparison.notes)
    assert "tainted tasks, whose template an author of a tip had seen" in page
    assert "no judge model is set" in page
    half = made_up_journal(tasks=20, templates=20, repeats=2, done=0.5)
    assert "80 of 160 episodes are not over yet" in page_of(made_up_comparison(half, draws=20), half)


def test_settings_that_differ_between_evaluations_stand_apart():
    one, other = made_up_journal(tasks=8, templates=8), made_up_journal(tasks=9, templates=8, name="july")
    page = page_of(made_up_comparison(one, other, draws=20), one, other)
    apart = page[page.index("Settings in which they differ") : page.index("Settings of all of them")]
    assert ">8<" in apart
    assert ">9<" in apart
    assert "Dialect" not in apart


def test_tables_of_one_title_have_names_of_their_own():
    table = GroupTable(title="By site (%)", heads=("site", "none"), rows=(("map", "12.5"), ("wiki", "–")))
    odd = replace(table, title="«»", rows=(("map", "many"),))
    found = group_tables(Comparison(heads=(), arms=(), tables=(table, table, odd)))
    assert [one.name for one in found] == ["table-by-site", "table-by-site-1", "table-untitled"]
    assert [one.columns[1].kind for one in found] == ["number", "number", "text"]


def test_a_difference_says_its_naive_test_by_name():
    table = differences_table(Comparison(heads=(), arms=(), differences=(difference(),)))
    assert "p_mcnemar_naive" in [column.key for column in table.columns]
    assert [of for of, _ in table.parts()] == [("akb", "none")]


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (0.4712, "share", "47.1"),
        (0.0411, "points", "+4.1"),
        (-0.0411, "points", "−4.1"),
        (0.0004, "points", "0.0"),
        (-0.0004, "points", "0.0"),
        ((-0.015, 0.067), "ranges", "−1.5 to +6.7"),
        ((0.415, 0.519), "shares", "41.5 to 51.9"),
        (0.0004, "p", "<0.001"),
        (0.0314, "p", "0.031"),
        (2436, "count", "2,436"),
        (-0.04, "number", "0.0"),
        (-2.25, "number", "−2.2"),
        (None, "money", "–"),
        (0.125, "money", "0.12"),
        ("ab" * 32, "hash", "abababababab"),
        ("", "text", ""),
        ("a\nb", "foreign", "a b"),
    ],
)
def test_cells_are_written_one_way(value, kind, text):
    assert cell_text(value, kind) == text


@pytest.mark.parametrize(
    ("changes", "command"),
    [
        ({}, "sitelore eval run shop --policy scout --kb none --against none --repeats 1 --dialect sitelore"
             " --max-steps 30 --seed 7 --name june"),
        ({"arms": FOUR_ARMS, "repeats": 3, "tainted": ("1",)},
         "sitelore eval run shop --policy scout --kb kb/june.akb --against none --maps both --repeats 3"
         " --dialect sitelore --max-steps 30 --tainted mark --seed 7 --name june"),
        ({"options": (("suite_file", "/my suites/shop.json"), ("max_seconds", "60.0"), ("max_tokens", "0"),
                      ("infeasible_is_na", "yes"), ("sites", "map, wiki"))},
         "sitelore eval run '/my suites/shop.json' --site map --site wiki --policy scout --kb none --against none"
         " --repeats 1 --dialect sitelore --max-steps 30 --max-seconds 60.0 --seed 7 --name june --infeasible-is-na"),
        ({"name": "$(rm -r x); y"},
         "sitelore eval run shop --policy scout --kb none --against none --repeats 1 --dialect sitelore"
         " --max-steps 30 --seed 7 --name '$(rm -r x); y'"),
    ],
)  # fmt: skip
def test_the_command_of_a_head_can_be_given_to_a_shell(changes, command):
    assert command_line(replace(HEAD, **changes)) == command
