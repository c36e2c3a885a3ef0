"""The written rule of retrieval (head of ``kb/retrieval/cascade.py``), one row a clause."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kb.retrieval import RetrievalSettings, Retriever, estimate_tokens
from kb.retrieval import calibration as constants
from kb.retrieval.anchors import AnchorIndex, PageControls
from kb.retrieval.answers import asks_for_an_answer, is_beside, tells_how_to_answer, topics
from kb.retrieval.calibration import points_table
from kb.retrieval.cascade import (
    PartScores,
    points_of,
    probability_of,
    ranks,
    record_points,
    sums,
    take,
    with_place,
)
from kb.retrieval.conditions import GoalConditions, conditions
from kb.retrieval.destinations import Destinations, PageNames
from kb.retrieval.terms import query_terms
from kb.retrieval.url import parse_address
from kb.tip import Anchor, Query, Status, StoredStep, Tip, TipDraft, TipRecord
from tests.support.encoder import HashingEncoder
from tests.support.tips import HOSTS, tip

SETTINGS = RetrievalSettings()
NEVER = RetrievalSettings(threshold=0.0001)
PARTS = ("url", "words", "condition", "answer", "meaning", "page_words", "page_meaning", "anchor")
AGAINST = ("beside", "reached")
MEANING = 0.3
"""A meaning that is known and common."""


def parts(**scores: float) -> PartScores:
    record = int(scores.pop("record", 0))
    arrays = {name: np.array([scores.get(name, 0.0)]) for name in PARTS}
    against = {name: np.array([bool(scores.get(name, 0.0))]) for name in AGAINST}
    return PartScores(**arrays, **against, record=np.array([record]))


def points(**scores: float) -> int:
    return int(sums(parts(**scores)).total[0])


def rank(scores: dict[str, float], settings: RetrievalSettings = SETTINGS) -> int:
    return int(ranks(sums(parts(**scores)).total, settings)[0])


BEFORE: tuple[tuple[str, dict[str, float], dict[str, float]], ...] = (
    ("a more specific scope goes first", {"url": 0.6}, {"url": 0.5}),
    ("more words go first", {"words": 0.6}, {"words": 0.5}),
    ("a nearer meaning goes first", {"meaning": 0.6}, {"meaning": 0.5}),
    ("more of the condition goes first", {"condition": 0.8}, {"condition": 0.6}),
    ("more of the region goes first", {"anchor": 0.9}, {"anchor": 0.75}),
    (
        "words and meaning together outweigh either",
        {"words": 0.6, "meaning": 0.4},
        {"words": 0.7, "meaning": 0.3},
    ),
    (
        "a page's own scope outweighs words",
        {"url": 0.5, "meaning": MEANING},
        {"words": 0.9, "meaning": MEANING},
    ),
    (
        "words and condition outweigh a page's scope",
        {"words": 0.9, "condition": 1.0, "meaning": 0.6},
        {"url": 0.5, "meaning": 0.1},
    ),
    ("a site-wide scope decides between likes", {"url": 0.1, "words": 0.5}, {"words": 0.5}),
    ("a site-wide scope is less than a word", {"words": 0.4}, {"url": 0.1, "words": 0.3}),
    ("the page's words decide between likes", {"words": 0.5, "page_words": 0.4}, {"words": 0.5}),
    ("the page's meaning decides between likes", {"words": 0.5, "page_meaning": 0.4}, {"words": 0.5}),
    ("the task's words go before the page's", {"words": 0.5}, {"words": 0.4, "page_words": 0.9}),
    ("beside the topic it sinks", {"words": 0.5}, {"words": 0.5, "beside": 1.0}),
    ("arrived it sinks", {"words": 0.5}, {"words": 0.5, "reached": 1.0}),
    ("one that worked rises", {"words": 0.5, "record": 300}, {"words": 0.5}),
    ("one that broke sinks", {"words": 0.5}, {"words": 0.5, "record": -300}),
    ("a step of 0.01 decides", {"words": 0.51}, {"words": 0.5}),
)


@pytest.mark.parametrize(("first", "second"), [row[1:] for row in BEFORE], ids=[row[0] for row in BEFORE])
def test_of_two_tips_the_rule_says_which_comes_first(
    first: dict[str, float], second: dict[str, float]
) -> None:
    # The smaller id is given to the one that is to come second: an id never outweighs a score.
    before = with_place(np.array([rank(first, NEVER)]), np.array([1]))
    behind = with_place(np.array([rank(second, NEVER)]), np.array([0]))
    assert before[0] > behind[0]


ALL_AGAINST = {"meaning": 0.0001, "reached": 1.0, "beside": 1.0}
GIVEN: tuple[tuple[str, dict[str, float], bool], ...] = (
    ("a scope for the page itself suffices", {"url": 0.15}, True),
    ("it suffices where the meaning is far", {"url": 0.15, "meaning": 0.0001}, True),
    ("a region found on the page suffices", {"anchor": 0.75}, True),
    ("a region without its surroundings does not", {"anchor": 0.65}, False),
    ("a site-wide scope does not", {"url": 0.1}, False),
    ("a site-wide scope with the best record does not", {"url": 0.1, "record": 800}, False),
    ("one informative word does not", {"words": 0.4}, False),
    ("two informative words do", {"words": 0.57}, True),
    ("the whole condition does", {"condition": 1.0}, True),
    ("half a condition does not", {"condition": 0.5}, False),
    ("the meaning alone does", {"meaning": 0.45}, True),
    ("a common meaning alone does not", {"meaning": MEANING}, False),
    ("a common meaning with some words does", {"meaning": MEANING, "words": 0.4}, True),
    ("all of the page's words do not", {"page_words": 1.0, "page_meaning": 1.0}, False),
    ("words of a tip that broke do not", {"words": 0.57, "record": -857}, False),
    ("how to answer does where an answer is asked for", {"answer": 1.0, "meaning": 0.0001}, True),
    ("two informative words beside the topic do not", {"words": 0.57, "beside": 1.0}, False),
    ("two informative words of a way that ends here do not", {"words": 0.57, "reached": 1.0}, False),
    ("a scope for the page itself does whatever speaks against it", {"url": 0.15, **ALL_AGAINST}, True),
    ("a region found does whatever speaks against it", {"anchor": 0.75, **ALL_AGAINST}, True),
    ("nothing does not", {}, False),
)  # fmt: skip


@pytest.mark.parametrize(("scores", "given"), [row[1:] for row in GIVEN], ids=[row[0] for row in GIVEN])
def test_what_reaches_the_threshold(scores: dict[str, float], given: bool) -> None:
    assert (rank(scores) >= 0) is given


def test_a_sum_at_the_threshold_is_given_and_one_below_is_not() -> None:
    lacking = points_of(SETTINGS.threshold) - points()
    assert rank({"record": lacking}) >= 0
    assert rank({"record": lacking - 1}) == -1


def test_every_part_is_monotone_in_its_score() -> None:
    for name in (
        "WORDS",
        "WORDS_WITHOUT_MEANING",
        "CONDITION",
        "ANSWER",
        "MEANING",
        "URL",
        "ANCHOR",
        "PAGE_WORDS",
        "PAGE_MEANING",
    ):
        table = points_table(getattr(constants, name))
        assert len(table) == 10_001
        assert table[0] == 0
        assert (np.diff(table) >= 0).all(), name


def test_sums_and_probabilities_are_the_same_thing() -> None:
    assert probability_of(points_of(SETTINGS.threshold)) == SETTINGS.threshold
    assert probability_of(0) == 0.5
    assert points(url=0.15) == constants.BIAS_WITHOUT_MEANING + 3_000
    assert points(meaning=0.5, words=0.5) == constants.BIAS + 2_200 + 950


def test_with_all_scores_equal_the_smaller_id_comes_first_whatever_came_in_first() -> None:
    both = np.array([rank({"url": 0.5})] * 2)
    assert with_place(both, np.array([0, 1]))[0] > with_place(both, np.array([0, 1]))[1]
    assert with_place(both, np.array([1, 0]))[1] > with_place(both, np.array([1, 0]))[0]
    assert with_place(np.array([rank({})]), np.array([0])).tolist() == [-1]


RECORDS: tuple[tuple[str, TipRecord, int], ...] = (
    ("no record says nothing", TipRecord(), 0),
    ("one that merely applied says nothing", TipRecord(applied=9, done=5), 0),
    ("an effect seen lifts", TipRecord(effect=1), 160),
    ("a vote for it lifts alike", TipRecord(up=1), 160),
    ("a test that held lifts alike", TipRecord(tests=1), 160),
    ("however good, at most 800", TipRecord(effect=10**9, up=5), 799),
    ("a vote against it lowers", TipRecord(down=1), -400),
    ("a step that could not be done lowers alike", TipRecord(failed=1), -400),
    ("a test that broke counts three", TipRecord(tests=1, broke=1), -858),
    ("however bad, at most 2,000", TipRecord(down=10**9), -2_000),
    ("good and bad cancel", TipRecord(up=2, down=2), 0),
    ("a test that broke outweighs two that held", TipRecord(tests=3, broke=1), -223),
)


@pytest.mark.parametrize(("record", "points"), [row[1:] for row in RECORDS], ids=[row[0] for row in RECORDS])
def test_what_a_record_is_worth(record: TipRecord, points: int) -> None:
    assert record_points(record) == points


def test_a_tips_record_moves_it_and_no_other() -> None:
    tips = [tip(name, "milestone label sorting") for name in "abc"]
    worked, broke = TipRecord(effect=3), TipRecord(tests=2, broke=2)
    query = Query(text="milestone label sorting")
    plain = Retriever(tips, HOSTS).retrieve(query)
    moved = Retriever(
        [replace(tips[0], record=broke), tips[1], replace(tips[2], record=worked)], HOSTS
    ).retrieve(query)

    assert [one.tip.id for one in plain.results] == ["a", "b", "c"]
    assert [one.tip.id for one in moved.results] == ["c", "b"]
    assert moved.results[1] == plain.results[1]
    assert "effect seen 3×" in moved.results[0].why


CUTS: tuple[tuple[str, list[int], int | None, int, list[int], int], ...] = (
    ("all that fit are taken", [3, 3], 5, 10, [0, 1], 6),
    ("one that fits exactly is taken", [4, 6], 5, 10, [0, 1], 10),
    ("one alone that fits exactly is taken", [10], 5, 10, [0], 10),
    ("one token too many is left out", [4, 7], 5, 10, [0], 4),
    ("a shorter one behind it may still be taken", [4, 7, 6], 5, 10, [0, 2], 10),
    ("one passed over costs nothing", [11, 10], 5, 10, [1], 10),
    ("k are taken and no more", [1, 1, 1], 2, 10, [0, 1], 2),
    ("one passed over does not count for k", [11, 1, 1, 1], 2, 10, [1, 2], 2),
    ("without k the budget alone decides", [1] * 12, None, 10, list(range(10)), 10),
    ("nothing fits no budget", [1], 5, 0, [], 0),
    ("no tip is none", [], 5, 10, [], 0),
)


@pytest.mark.parametrize(
    ("tokens", "k", "budget", "taken", "used"), [row[1:] for row in CUTS], ids=[row[0] for row in CUTS]
)
def test_the_cut(tokens: list[int], k: int | None, budget: int, taken: list[int], used: int) -> None:
    assert take(tokens, k, budget) == (taken, used)


def test_a_tip_that_fills_the_budget_to_the_last_token_is_delivered() -> None:
    tips = [tip("a", "Milestones close themselves", scope="/p"), tip("b", "Hover the menus", scope="/p")]
    whole = sum(estimate_tokens(one.text) for one in tips)
    query = Query(url="http://h:8023/p")
    for budget, delivered in ((whole, ["a", "b"]), (whole - 1, ["a"])):
        found = Retriever(tips, HOSTS, settings=RetrievalSettings(token_budget=budget)).retrieve(query)
        assert [one.tip.id for one in found.results] == delivered


LIST = Query(
    url="http://h:8023/orders/12",
    title="Order 12",
    headings=("Items of the order",),
    controls=("button Print", "combobox Sort by", "link Newest first", "button Apply filter", "link Home"),
)
SORTING = Anchor(
    words="Sort by", role="combobox", neighbours=("Newest first", "Apply filter"), page="/customers/{n}"
)


@pytest.mark.parametrize(
    ("clause", "words", "score"),
    [
        ("all of the region is there", "Sort prices", 1.0),
        ("half of it is there", "Sort products", 0.75),
        ("less than half is no region, whatever is around it", "Sort products newest", 0.0),
    ],
)
def test_a_region_needs_half_of_its_words(clause: str, words: str, score: float) -> None:
    index = AnchorIndex()
    index.add(0, Anchor(words=words, role="button", neighbours=("Price",), page="/lamps"))
    seen = PageControls.of(Query(controls=("button Sort prices", "link Price")))
    assert index.scores(seen, parse_address("http://shop.test/lamps"), 1)[0] == score, clause


@pytest.mark.parametrize(
    ("clause", "words", "controls", "score"),
    [
        ("a name is one control's, not two controls' together", "View Order", ("My Order", "View all"), 0.75),
        ("half a control's words are enough", "Sort", ("Sort prices",), 1.0),
        ("less than half are not", "Sort", ("Sort all prices",), 0.0),
        ("the better of two controls counts", "View Order", ("Order", "View Order"), 1.0),
        ("of several names each is looked for", "Sort · Filters", ("Sort", "Filters"), 1.0),
        ("half of the names are enough", "Sort · Filters", ("Sort",), 0.75),
        ("a third of them is not", "Sort · Filters · Columns", ("Sort",), 0.0),
        ("a count is another on each page", "2,800 Commits", ("Commits 17",), 1.0),
        ("a name of numbers alone has no other words", "12", ("12",), 1.0),
    ],
)
def test_a_regions_names_are_found_in_single_controls(
    clause: str, words: str, controls: tuple[str, ...], score: float
) -> None:
    index = AnchorIndex()
    index.add(0, Anchor(words=words, role="button", page="/lamps"))
    seen = PageControls.of(Query(controls=tuple(f"button {name}" for name in controls)))
    assert index.scores(seen, parse_address("http://shop.test/lamps"), 1)[0] == score, clause


@pytest.mark.parametrize(
    ("clause", "look", "score"),
    [
        ("no more like it than other places of its own page", 0.0, 0.0),
        ("less like it than those", -0.4, 0.0),
        ("half way to the very same", 0.5, 0.7),
        ("the very same", 1.0, 0.9),
        ("rounding above it", 1.0001, 0.9),
    ],
)
def test_a_likeness_of_pictures_is_a_score_of_its_own(clause: str, look: float, score: float) -> None:
    index = AnchorIndex()
    index.add(0, Anchor(words="Sort prices", role="button", page="/lamps"))
    nothing = PageControls.of(Query())
    assert index.scores(nothing, None, 1, {0: look})[0] == score, clause
    seen = PageControls.of(Query(controls=("button Sort prices",)))
    assert index.scores(seen, parse_address("http://shop.test/lamps"), 1, {0: look})[0] == 1.0, clause


@pytest.mark.parametrize(("look", "found"), [(0.9, True), (0.6, True), (0.4, False)])
def test_a_picture_finds_a_tip_whose_words_are_not_on_the_page(look: float, found: bool) -> None:
    tips = [tip("a", "It opens on the second click", anchor=Anchor(words="Chart", screenshot="f" * 64))]
    query = replace(LIST, looks=(("a", look), ("gone", 1.0)))
    results = Retriever(tips, HOSTS).retrieve(query).results

    assert [one.tip.id for one in results] == (["a"] if found else [])
    assert all('looks like: "Chart"' in one.why for one in results)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, True),
        ({"url": "http://h:8023/customers/7"}, True),
        ({"controls": ("combobox Sort by", "link Newest first")}, True),
        ({"controls": ("combobox Sort by",)}, False),
        ({"controls": ("link Newest first", "button Apply filter")}, False),
        ({"controls": ()}, False),
        ({"url": "http://h:9999/orders/12"}, False),
    ],
    ids=[
        "another page",
        "its own page",
        "half its neighbours",
        "alone",
        "without the region",
        "nothing",
        "another site",
    ],
)
def test_a_tip_with_an_anchor_is_found_on_pages_that_look_alike(
    change: dict[str, object], found: bool
) -> None:
    tips = [
        tip("a", "It opens on the second click", anchor=SORTING),
        tip("b", "It opens on the second click"),
    ]
    query = replace(LIST, **change)  # type: ignore[arg-type]
    results = Retriever(tips, HOSTS).retrieve(query).results

    assert [one.tip.id for one in results] == (["a"] if found else [])
    assert all('looks like: "Sort by" combobox beside "Newest first"' in one.why for one in results)


def test_an_icon_without_words_is_known_by_its_neighbours() -> None:
    icon = Anchor(role="button", neighbours=("Sort by", "Newest first"))
    tips = [tip("a", "It opens on the second click", anchor=icon)]

    assert Retriever(tips, HOSTS).retrieve(LIST).results
    assert (
        not Retriever(tips, HOSTS).retrieve(replace(LIST, controls=("combobox Sort", "button Print"))).results
    )


CONDITIONS: tuple[tuple[str, str, float], ...] = (
    ("the whole condition", "add new members to a project", 1.0),
    ("most of it", "add members please", 0.6154),
    ("less than half says nothing", "a project", 0.0),
    ("nothing of it", "sort the orders", 0.0),
)


@pytest.mark.parametrize(
    ("goal", "score"), [row[1:] for row in CONDITIONS], ids=[row[0] for row in CONDITIONS]
)
def test_how_much_of_a_condition_a_task_says(goal: str, score: float) -> None:
    one = tip("a", "Hover. To add new members to the project, open its information")
    retriever = Retriever([one], HOSTS)
    _, parts = retriever.part_scores(Query(text=goal))
    steps = [StoredStep(run="r", step=1, url="", site="", text=goal)]

    assert parts.condition.tolist() == [score]
    assert GoalConditions([query_terms(step.text) for step in steps]).scores(one).tolist() == [score]


@pytest.mark.parametrize(
    ("draft", "found"),
    [
        (TipDraft(site="s", text="Press Save", when="a new address is typed"), ["a new address is typed"]),
        (TipDraft(site="s", text="If it hangs: reload. Then wait"), ["it hangs"]),
        (TipDraft(site="s", text="Press Save when done"), []),
        (TipDraft(site="s", text="For now"), []),
        (
            TipDraft(site="s", text="For sums such as adding amounts, or taking averages, use a calculator"),
            ["sums such as adding amounts", "adding amounts", "taking averages"],
        ),
    ],
)
def test_where_a_tip_says_when_it_applies(draft: TipDraft, found: list[str]) -> None:
    expected = [set(query_terms(text).weights) for text in found]
    assert [set(one) for one in conditions(draft)] == expected


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("Keep your responses as short as possible", True),
        ("The list is long. Please give the answer in metres", True),
        ("Respond in lower case", True),
        ("When asked for a distance, give the answer in metres", False),
        ("You should not return an answer with a request for another map", False),
        ("Answer is a button of the form", False),
        ("Answer in metres. If the place is far away, take the car", False),
        ("Press Reply", False),
    ],
)
def test_which_tips_tell_how_to_answer(text: str, tells: bool) -> None:
    assert tells_how_to_answer(TipDraft(site="s", text=text)) is tells


@pytest.mark.parametrize(
    ("goal", "asks"),
    [
        ("How far is the station", True),
        ("Tell me the way to the station", True),
        ("Go to the station. Is it open?", True),
        ("Open the list and output the ids", True),
        ("Change the title of the page", False),
        ("Show me the station", False),
        ("", False),
    ],
)
def test_which_tasks_ask_for_an_answer(goal: str, asks: bool) -> None:
    assert asks_for_an_answer(goal) is asks


@pytest.mark.parametrize(
    ("text", "goal", "beside"),
    [
        ("When asked about product names, keep the symbols", "List the full product names of lamps", False),
        ("When asked about product names, keep the symbols", "How many products have no name?", True),
        ("When asked about product names, keep the symbols", "Rename the lamp", True),
        ("When asked about product names, keep the symbols", "", False),
        ("When asked about product names, keep the symbols", "Tell me the product of the year", True),
        ("When the task asks to return customers, give full names", "Which customers paid twice?", False),
        (
            "When the task asks to return customers, give full names",
            "Tell me the reasons that customers give",
            True,
        ),
        ("When the task asks you to draft a letter, do not send it", "How many letters are there?", False),
        ("Keep the symbols of product names", "How many orders?", False),
    ],
)
def test_a_tip_for_what_is_asked_about_is_beside_another_topic(text: str, goal: str, beside: bool) -> None:
    one = tip("a", text)
    _, scores = Retriever([one], HOSTS).part_scores(Query(text=goal))

    assert is_beside(topics(one), goal) is beside
    assert scores.beside.tolist() == [beside]


REVIEWS = Query(
    url="http://h:8023/admin/reviews?p=2", title="Reviews / User content / Admin", headings=("Reviews",)
)
REACHED: tuple[tuple[str, str, dict[str, object], bool], ...] = (
    ("the end of a menu path", "Press Marketing > All Reviews", {}, True),
    ("the heading alone", "Press Marketing > All Reviews", {"title": "Admin"}, True),
    ("the middle of a way", 'Press "Reviews", then press "Approve"', {}, False),
    ("an end before another condition", 'Press "Reviews". If it is empty, press "Orders"', {}, True),
    ("half of the page's name", 'Press "Reviews"', {"title": "Reviews report", "headings": ()}, False),
    ("most of the page's name", 'Press "Order count"', {"title": "Order Count Report"}, True),
    ("more than the page's name", 'Press "Reviews by product"', {}, False),
    ("an address", "Open /admin/reviews", {}, True),
    ("another address", "Open /admin/orders", {}, False),
    ("a page without a name", "Open /admin/reviews", {"title": "", "headings": ()}, False),
    ("a field", 'Fill "Reviews" with 3', {}, False),
    ("no steps", "Reviews are slow to load", {}, False),
)


@pytest.mark.parametrize(
    ("text", "change", "reached"), [row[1:] for row in REACHED], ids=[row[0] for row in REACHED]
)
def test_where_a_way_ends(text: str, change: dict[str, object], reached: bool) -> None:
    query = replace(REVIEWS, **change)  # type: ignore[arg-type]
    page = PageNames.of(query, parse_address(query.url))

    assert page.is_reached(Destinations.of(tip("a", text))) is reached


def test_a_tip_whose_way_ends_at_the_page_is_given_elsewhere_only() -> None:
    one = tip("a", "Press Marketing > All Reviews")
    query = replace(REVIEWS, text="reviews of lamps")
    retriever = Retriever([one], HOSTS)

    assert retriever.retrieve(replace(query, title="Dashboard", headings=())).results
    assert not retriever.retrieve(query).results


ASKED: tuple[tuple[str, Query], ...] = (
    ("the task", Query(text="sort the milestone labels")),
    ("the subgoal", Query(text="xyzzy", subgoal="sort the milestone labels")),
    ("the element about to be used", Query(text="xyzzy", element="combobox Sorting of milestone labels")),
    ("the last failure", Query(text="xyzzy", failure="sorting by milestone label did not work")),
)


@pytest.mark.parametrize("query", [row[1] for row in ASKED], ids=[row[0] for row in ASKED])
def test_every_part_of_the_query_finds_a_tip_by_its_words(query: Query) -> None:
    tips = [tip("a", "Milestone labels are sorted by name"), tip("b", "Hover the menus")]

    assert [one.tip.id for one in Retriever(tips, HOSTS).retrieve(query).results] == ["a"]


def test_the_subgoal_finds_a_tip_by_its_meaning() -> None:
    tips = [tip("a", "the of and so in with under")]
    query = Query(text="zzz", subgoal="under with in so and of the")

    assert Retriever(tips, HOSTS, HashingEncoder()).retrieve(query).results
    assert not Retriever(tips, HOSTS, HashingEncoder()).retrieve(replace(query, subgoal="")).results


SITES: tuple[tuple[str, str, tuple[str, ...], list[str]], ...] = (
    ("a page's own site", "http://h:8023/x", (), ["cross", "gitlab"]),
    ("a task across sites", "http://h:8023/x", ("gitlab", "reddit"), ["cross", "gitlab", "reddit"]),
    ("no address", "", ("reddit",), ["cross", "reddit"]),
)


@pytest.mark.parametrize(("url", "sites", "found"), [row[1:] for row in SITES], ids=[row[0] for row in SITES])
def test_whose_tips_are_considered(url: str, sites: tuple[str, ...], found: list[str]) -> None:
    tips = [tip(site, "milestone label sorting", site=site) for site in ("gitlab", "reddit", "map", "cross")]
    query = Query(url=url, text="milestone label sorting", sites=sites)

    assert sorted(one.tip.id for one in Retriever(tips, HOSTS).retrieve(query).results) == found


def test_adding_a_tip_changes_no_others_score() -> None:
    base = [tip("a", "milestone label", anchor=SORTING), tip("b", "When sorting milestone labels, hover")]
    more = [tip(f"n{n}", f"milestone {n} label", scope="/orders/*", anchor=SORTING) for n in range(40)]
    query = replace(LIST, text="sort milestone labels")
    few = {one.tip.id: one for one in Retriever(base, HOSTS, HashingEncoder()).retrieve(query).results}
    many = {
        one.tip.id: one for one in Retriever(base + more, HOSTS, HashingEncoder()).retrieve(query).results
    }

    assert few
    assert all(many[name] == one for name, one in few.items())


def test_a_frozen_tip_scores_as_the_live_one_with_its_record_and_anchor() -> None:
    live = tip("a", "milestone label", anchor=SORTING, record=TipRecord(effect=4, down=1))
    drafts: list[Tip] = [tip("d", "milestone label", status=Status.DRAFT)]
    query = replace(LIST, text="milestone label")

    assert (
        Retriever([live, *drafts], HOSTS).retrieve(query).results
        == Retriever([live], HOSTS).retrieve(query).results
    )
