"""Constraints of a task: kept by the planner in five classes, and answered by every verdict on a claim."""

from __future__ import annotations

import json

import pytest

from app.engine.agent.llm.llm_policy import LlmPolicy
from app.engine.agent.llm.planner import PlannerResult, unanswered
from app.engine.agent.llm.prompting import Fence
from app.engine.agent.memory import entries
from app.engine.agent.memory.ledger_store import LedgerStore
from app.engine.agent.memory.rendering import WORKER_CAPS, planner_view, render_ledger, worker_view
from app.engine.core.actions.types import Stop, Wait
from app.engine.core.ledger import Constraint, ConstraintClass, Ledger, Met
from app.engine.core.model_api import AgentRole
from app.engine.core.observation import Observation
from app.engine.core.page_state import PageCapture
from tests.support.answers_by_role import by_role, last
from tests.support.scripted_model import ScriptedModel

MONTH = Constraint(kind=ConstraintClass.TIME, text="last month")
CHEAPEST = Constraint(kind=ConstraintClass.QUANTITY, text="the cheapest")
PAGE = PageCapture(url="http://shop.test/", tree="[0] link 'x'")


def told(met: str, *texts: str) -> list[dict[str, str]]:
    return [{"class": "time", "text": text, "met": met} for text in texts]


def plan(constraints: object, done: bool = True, answer: str = "42") -> str:
    return json.dumps(
        {"constraints": constraints, "plan": [], "next_steps": [], "done": done, "final_answer": answer}
    )


def changed(book: LedgerStore, *found: Constraint) -> tuple[Constraint, ...]:
    book.write(entries.constraints(found))
    return book.ledger.constraints


def test_a_list_replaces_the_one_before_and_a_shorter_one_loses_nothing():
    book = LedgerStore()
    met = Constraint(kind=MONTH.kind, text=MONTH.text, met=Met.YES)
    assert changed(book, MONTH, CHEAPEST) == (MONTH, CHEAPEST)
    assert changed(book, met) == (met, CHEAPEST)
    reworded = Constraint(kind=CHEAPEST.kind, text="lowest price")
    assert changed(book, met, reworded) == (met, reworded)


def test_the_operator_sees_the_open_ones_and_the_planner_all():
    met = Constraint(kind=MONTH.kind, text=MONTH.text, met=Met.YES)
    ledger = Ledger(constraints=(met, CHEAPEST))
    operator = render_ledger(worker_view(ledger, url=""), WORKER_CAPS)
    assert operator == "Constraints of the task:\n- quantity: the cheapest (met: unknown)"
    assert "time: last month (met: yes)" in render_ledger(planner_view(ledger))


@pytest.mark.parametrize(
    ("read", "left"),
    [
        (PlannerResult(done=True, constraints=(MONTH, CHEAPEST)), ()),
        (PlannerResult(done=True, constraints=(MONTH,)), ("the cheapest",)),
        (PlannerResult(done=True), ("last month", "the cheapest")),
        (PlannerResult(done=False), ()),
        (PlannerResult(done=True, impossible=True), ()),
    ],
)
def test_a_verdict_answers_every_constraint(read: PlannerResult, left: tuple[str, ...]):
    assert unanswered(read, (MONTH, CHEAPEST)) == left


@pytest.mark.parametrize(
    ("answers", "steps_left", "ends", "missing"),
    [
        ([plan(told("yes", "last month", "the cheapest"))], 9, True, ""),
        ([plan(told("unknown", "last month", "the cheapest"))], 9, True, ""),
        ([plan(told("no", "last month", "the cheapest"))] * 3, 9, False, "not met: last month; the cheapest"),
        ([plan([]), plan(told("yes", "last month", "the cheapest"))], 9, True, ""),
        ([plan([])] * 6, 9, False, "it is not known whether these hold: last month; the cheapest"),
        ([plan(told("no", "last month"))], 1, True, ""),
        ([plan("nonsense")] * 6, 9, False, "it is not known"),
    ],
    ids=["all met", "none unmet", "unmet", "asked again", "left out", "last step", "of another shape"],
)  # fmt: skip
async def test_a_claim_is_held_to_the_constraints(
    answers: list[str], steps_left: int, ends: bool, missing: str
):
    waiting = iter([plan(told("unknown", "last month", "the cheapest"), done=False, answer=""), *answers])
    model = ScriptedModel(
        by_role(
            {
                AgentRole.PLANNER: lambda _: next(waiting),
                AgentRole.OPERATOR: lambda _: '<action>stop("42")</action>',
            }
        )
    )
    seen = Observation(step=0, steps_left=steps_left, intent="Find", start_url=PAGE.url, page=PAGE,
                       ledger=Ledger(constraints=(MONTH, CHEAPEST)))  # fmt: skip
    decision = await LlmPolicy(model, fence=Fence("f00d")).decide(seen)
    assert isinstance(decision.action, Stop if ends else Wait)
    if not ends:
        assert missing in decision.reason
        operator = [question for question in model.asked if question.role is AgentRole.OPERATOR]
        assert missing in last(operator[1])
    assert {one.text for one in decision.constraints} <= {"last month", "the cheapest"}
