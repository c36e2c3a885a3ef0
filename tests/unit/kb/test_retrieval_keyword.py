from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kb.retrieval.keyword import GoalIndex, KeywordIndex, Vocabulary, keyword_scores, shared_words
from kb.retrieval.terms import query_terms, stems_of, tip_terms
from kb.tip import Tip
from tests.support.tips import bases, laws, texts, tip


def scores(goal: str, *tips: Tip) -> list[float]:
    index = KeywordIndex()
    for row, one in enumerate(tips):
        index.add(row, tip_terms(one))
    return keyword_scores(index.raw_scores(query_terms(goal), len(tips))).tolist()


def test_words_are_stemmed_as_sqlite_does_it():
    assert stems_of("Milestones, REPORTING and cafés") == ["mileston", "report", "and", "cafe"]


def test_the_tip_that_shares_more_telling_words_scores_higher():
    both, one, none = scores(
        "find the merge requests assigned to me",
        tip("a", "Merge requests are listed in the top bar"),
        tip("b", "Requests need a reason"),
        tip("c", "Hover the menu to see categories"),
    )

    assert both > one > none == 0


def test_words_of_every_page_count_little():
    telling, common = scores("click the bestseller page", tip("a", "bestseller"), tip("b", "click"))

    assert telling > 2 * common


def test_a_slip_of_the_pen_still_finds_the_word():
    right, slip, other = scores(
        "the bestsellr list", tip("a", "bestsellr"), tip("b", "bestseller"), tip("c", "bachelor")
    )

    assert right > slip > 0
    assert other == 0


def test_a_label_in_quotes_found_in_the_goal_adds_to_the_score():
    plain, label = scores(
        "press show report for the year",
        tip("a", "Press Show Report to go on"),
        tip("b", 'Press "Show Report" to go on'),
    )

    assert label > plain


def test_a_quoted_phrase_of_the_goal_may_miss_the_label_by_a_letter():
    (score,) = scores("open 'invite membres'", tip("a", 'Click the blue "invite members" button'))

    assert score > scores("open", tip("a", 'Click the blue "invite members" button'))[0]
    assert score >= 0.4


def test_why_lists_shared_words_near_misses_and_labels():
    terms = tip_terms(tip("a", 'Sort purchases of customers; then "Show Report" of orders'))
    index = KeywordIndex()
    index.add(0, terms)
    query = query_terms("Sort the orderss by purchase date and Show Report")

    words, near, labels = shared_words(query, terms, index.vocabulary)

    assert words[:2] == ["sort", "purchase"]
    assert near == ["orderss ~ orders"]
    assert labels == ["show report"]


def test_nothing_in_a_goal_is_read_as_a_search_expression():
    assert scores('" OR 1=1 -- NEAR( * ^ {a b}: report', tip("a", "report")) == scores(
        "1 report", tip("a", "report")
    )


@laws
@given(
    st.lists(st.sampled_from(["order", "orders", "border", "ordre", "milestone", "milestones"]), max_size=6)
)
def test_being_a_near_miss_is_mutual(words: list[str]):
    vocabulary = Vocabulary()
    for word in words:
        vocabulary.add(word, f"stem of {word}")

    near = {word: vocabulary.near(word, f"stem of {word}") for word in words}
    assert all(word in near[other] for word in words for other in near[word])


def test_another_tips_spelling_does_not_count_as_a_near_miss_of_this_one():
    alone = scores("milesto", tip("a", "milestone"))
    assert scores("milesto", tip("a", "milestone"), tip("b", "mileston"))[:1] == alone == [0.0]


@laws
@given(bases(), texts, bases())
def test_unrelated_tips_do_not_move_a_score(base: list[Tip], goal: str, others: list[Tip]):
    assert scores(goal, *base) == scores(goal, *base, *others)[: len(base)]


@laws
@given(bases(), st.lists(texts, max_size=6))
def test_goals_seen_from_the_tip_score_as_tips_seen_from_the_goal(base: list[Tip], goals: list[str]):
    index = GoalIndex([query_terms(goal) for goal in goals])
    by_goal = [keyword_scores(index.raw_scores(tip_terms(one))).tolist() for one in base]

    assert [list(column) for column in zip(*by_goal, strict=True)] == (
        [scores(goal, *base) for goal in goals] if base else []
    )
