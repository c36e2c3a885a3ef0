"""Which tips fit a task: the words count that few of the tips say."""

from __future__ import annotations

import pytest

from app.engine.agent.scout.task import read_task
from app.engine.agent.scout.tip_fit import fitting_tips
from app.engine.core.observation import RetrievedTip


def tip(name: str, when: str, do: str, kind: str = "navigation") -> RetrievedTip:
    return RetrievedTip(tip=name, text=do, when=when, do=do, kind=kind)


TIPS = (
    tip("late", "a loan is overdue or reminded", 'Open "Loans", choose "Overdue" in "State"'),
    tip("renew", "a loan shall be renewed", 'Open the loan, press "Renew"', "operation"),
    tip("person", "a loan of a person is wanted", 'Open "People", then the person and "Loans"'),
    tip("code", "the code of a loan is known", 'Type {code} into "Go to"'),
)


@pytest.mark.parametrize(
    ("task", "best"),
    [
        ("How many loans are overdue?", "late"),
        ("Renew the loan of 'The Weather Glass'.", "renew"),
        ("Show me the loans of Mary Quill.", "person"),
        ("Open the loan KX-2041.", "code"),
    ],
)
def test_the_tip_whose_own_words_the_task_says_is_the_best(task: str, best: str):
    assert fitting_tips(TIPS, read_task(task).parts[-1])[0].tip == best


def test_a_task_of_other_words_and_a_person_s_hint_have_no_fitting_tip():
    part = read_task("Which pictures show a harbour?").parts[-1]
    assert fitting_tips((*TIPS, tip("hint", "pictures show a harbour", "look", "person")), part) == ()


def test_a_word_that_all_tips_say_makes_none_of_them_fit_better():
    part = read_task("How many loans are overdue?").parts[-1]
    assert [one.tip for one in fitting_tips(TIPS, part)] == ["late"]


def test_a_tip_for_making_a_thing_is_for_no_question():
    tips = (*TIPS, tip("new", "a new loan is to be entered", 'Press "Enter loan"', "operation"))
    best = [
        fitting_tips(tips, read_task(task).parts[-1])
        for task in ("When was a loan entered?", "Enter a new loan.")
    ]
    assert [[one.tip for one in found][:1] == ["new"] for found in best] == [False, True]
