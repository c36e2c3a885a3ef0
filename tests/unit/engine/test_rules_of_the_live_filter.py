"""The written rule of the filter line of live runs, one row a clause; its words and their completion."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.api.live_filter_words import (
    STATE_GROUPS,
    filter_values,
    live_vocabulary,
    parse_live_filter,
    state_group,
    toggled_state,
)
from app.engine.core.cost import Cost
from app.engine.core.supervision import ApprovalRequest, LiveRow, Need, RaisedFlag, RunState
from app.engine.core.trajectory import Outcome
from app.engine.core.verdicts import Severity

FLAG = RaisedFlag(
    detector="loop", step=3, severity=Severity.ERROR, message="The click on 'Save' changed nothing"
)
NEED = ApprovalRequest(id="q", run="r", need=Need.WALL, step=1, question="A captcha stands here")
ROW = LiveRow(
    run="run-7", intent="Buy one Gadget", state=RunState.RUNNING, site="shop", policy="llm", task_id="415",
    batch="b-1", flags=(FLAG,), cost=Cost(known=0.2), url="http://shop.example/cart",
)  # fmt: skip
NEEDY = replace(ROW, state=RunState.WAITING, needs=(NEED,))


def ended(outcome: str) -> LiveRow:
    return replace(ROW, state=RunState.ENDED, outcome=outcome)


@pytest.mark.parametrize(
    ("row", "group"),
    [
        (NEEDY, "needs"),
        (replace(ROW, needs=(NEED,)), "needs"),
        (replace(ROW, state=RunState.WAITING), "needs"),
        (replace(NEEDY, state=RunState.TAKEN_OVER), "running"),
        (ROW, "running"),
        (replace(ROW, risk=0.9), "running"),
        (replace(ROW, state=RunState.STARTING), "running"),
        (replace(ROW, state=RunState.RECOVERING), "running"),
        (replace(ROW, state=RunState.PAUSED), "paused"),
        (replace(ROW, state=RunState.QUEUED), "queued"),
        (replace(ROW, state=RunState.INTERRUPTED), "interrupted"),
        (ended("answered"), "done"),
        (ended("done_by_hand"), "done"),
        (ended("ended_by_environment"), "done"),
        (ended("stopped"), "stopped"),
        *(
            (ended(outcome), "failed")
            for outcome in ("infeasible", "crashed", "step_limit", "out_of_budget", "")
        ),
    ],
)
def test_a_run_is_in_one_group_of_states(row: LiveRow, group: str) -> None:
    assert state_group(row) == group


def test_every_outcome_has_a_group() -> None:
    assert {state_group(ended(outcome)) for outcome in Outcome} <= set(STATE_GROUPS)


CLAUSES = [
    ("an empty line shows every run", "", ROW, True),
    ("a state shows its runs", "running", ROW, True),
    ("a state hides all others", "failed", ROW, False),
    ("several states: any of them", "failed running", ROW, True),
    ("case does not matter", "Running SITE:Shop", ROW, True),
    ("a field is the whole value", "site:shop", ROW, True),
    ("a part of a value is not it", "site:sho", ROW, False),
    ("one field twice: any of its values", "site:map site:shop", ROW, True),
    ("different clauses must all hold", "running site:map", ROW, False),
    ("a task by its number", "task:415", ROW, True),
    ("a part of a task's number is not it", "task:41", ROW, False),
    ("a task by its text", 'task:"buy one gadget"', ROW, True),
    ("a batch by its name", 'batch:"Nightly shop"', ROW, True),
    ("a batch by its id", "batch:b-1", ROW, True),
    ("a run without a batch is in none", "batch:b-1", replace(ROW, batch=""), False),
    ("a policy", "policy:scout", ROW, False),
    ("a flag by its detector", "flag:loop", ROW, True),
    ("any of its flags", "flag:loop", replace(ROW, flags=(FLAG, replace(FLAG, detector="risk"))), True),
    ("a run without that flag", "flag:risk", ROW, False),
    ("costs more", "cost:>0.1", ROW, True),
    ("more is not as much", "cost:>0.2", ROW, False),
    ("as much or more", "cost:>=0.2", ROW, True),
    ("a bare amount is at least", "cost:0.2", ROW, True),
    ("costs less", "cost:<$0.1", ROW, False),
    ("between two costs", "cost:>0.1 cost:<0.15", ROW, False),
    ("a run without a model has no cost", "cost:<1", replace(ROW, cost=None), False),
    ("a cost that is no number hides nothing", "cost:much", ROW, True),
    ("a field without a value hides nothing", "site:", ROW, True),
    ("a word of the task", "gadget", ROW, True),
    ("every word must occur", "gadget teapot", ROW, False),
    ("words of the flag's message", '"changed nothing"', ROW, True),
    ("words of the question", "captcha", NEEDY, True),
    ("a word of the state's label", "answered", ended("answered"), True),
    ("an address is searched for", "http://shop.example/cart", ROW, True),
    ("a state in quotes with more is searched for", '"running late"', ROW, False),
    ("an open quote is no error", 'gadget "bu', ROW, True),
]


@pytest.mark.parametrize(("clause", "text", "row", "shown"), CLAUSES, ids=[one[0] for one in CLAUSES])
def test_the_filter_shows(clause: str, text: str, row: LiveRow, shown: bool) -> None:
    batch = "Nightly shop" if row.batch else ""
    assert parse_live_filter(text).fits(row, batch) is shown, clause


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sites:shop", 'unknown filter word "sites:"; did you mean site:?'),
        ("nonsense:1", 'unknown filter word "nonsense:"'),
        ("cost:much", 'unknown filter word "cost:much"; did you mean cost:>0.1?'),
        ("needs site:shop cost:>=0.1 cost:<$2 flag:loop http://shop.example/a 12:30", ""),
    ],
)
def test_a_wrong_word_is_named_with_the_nearest(text: str, said: str) -> None:
    assert "\n".join(map(str, live_vocabulary().unknown_words(text))) == said


def test_completion_knows_the_states_the_fields_and_the_values_of_these_runs() -> None:
    words = live_vocabulary(filter_values([ROW, NEEDY], {"b-1": "Nightly shop"}))
    assert words.completions("fa") == ("failed",)
    assert words.completions("running si") == ("site:",)
    assert words.completions("site:") == ("site:shop",)
    assert words.completions("batch:n") == ('batch:"Nightly shop"',)
    assert words.completions("flag:") == ("flag:loop",)
    assert words.completions("sho") == ("shop",)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "failed"),
        ("failed", ""),
        ("needs site:shop", "failed site:shop"),
        ("failed site:shop gadget", "site:shop gadget"),
        ("failed needs", "failed"),
    ],
)
def test_a_count_shows_its_state_alone_and_again_all(before: str, after: str) -> None:
    assert toggled_state(before, "failed") == after
