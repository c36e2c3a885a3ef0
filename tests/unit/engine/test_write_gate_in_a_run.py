"""The write gate within a run: who is asked, what is refused, and what nobody there means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest

from app.engine.core.actions.types import Action, Click, ClickMark, Goto, Stop
from app.engine.core.intervention_policy import InterventionPolicy, PolicyAnswer, RiskRule
from app.engine.core.page_state import PageCapture
from app.engine.core.risk_class import RiskClass, risk_classes
from app.engine.core.supervision import DecisionKind, OperatorDecision
from app.engine.services.supervision.approvals import ApprovalService
from tests.support.fake_approvals import FakeApprovals, approve
from tests.support.fake_executor import HOME
from tests.support.supervised_loop import ASKING, TASK, SupervisedLoop

DELETE = Click(2)
"""On the home page: a link "Delete account"."""
ALLOWING = InterventionPolicy(
    risks=tuple(RiskRule(risk=risk, answer=PolicyAnswer.ALLOW) for risk in RiskClass)
)
ASKED_FOR = replace(TASK, intent="Delete the account")


async def test_with_nobody_there_a_write_that_the_task_does_not_ask_for_is_refused_and_the_run_goes_on():
    bench = SupervisedLoop([DELETE, DELETE, Stop("42")], supervised=False)
    run = await bench.run()
    assert DELETE not in bench.hands.done
    assert [step.cause for step in bench.kept.steps[:2]] == ["policy", "policy"]
    assert "the task asks for no change" in (bench.kept.steps[0].error or "")
    assert run.answer == "42"


async def test_with_nobody_there_a_write_that_the_task_asks_for_is_done():
    bench = SupervisedLoop([DELETE, Stop("done")], supervised=False, task=ASKED_FOR)
    await bench.run()
    assert DELETE in bench.hands.done


@pytest.mark.parametrize(("verb", "done"), [(DecisionKind.APPROVE, True), (DecisionKind.DENY, False)])
async def test_where_a_person_supervises_they_are_asked_about_what_the_task_does_not_ask_for(
    verb: DecisionKind, done: bool
):
    """The policy allows the class; beyond the task it is asked about all the same."""
    desk = FakeApprovals(lambda _: OperatorDecision(kind=verb, author="ann"), policy=ALLOWING)
    bench = SupervisedLoop([DELETE, Stop("42")], desk=desk)
    await bench.run()
    (asked,) = desk.rows.values()
    assert "the task does not ask for it" in asked.why
    assert (DELETE in bench.hands.done) is done


async def test_what_a_person_allowed_for_the_run_or_its_site_is_not_asked_about_again():
    desk = FakeApprovals(policy=ALLOWING)
    desk.wide = frozenset({RiskClass.DELETES})
    bench = SupervisedLoop([DELETE, Stop("42")], desk=desk)
    await bench.run()
    assert desk.rows == {}
    assert DELETE in bench.hands.done


async def test_a_policy_that_asks_also_asks_about_what_the_task_wants():
    desk = FakeApprovals(approve, policy=ASKING)
    bench = SupervisedLoop([DELETE, Stop("done")], desk=desk, task=ASKED_FOR)
    await bench.run()
    (asked,) = desk.rows.values()
    assert "the task does not ask for it" not in asked.why
    assert DELETE in bench.hands.done


class MarksThatAre:
    """Marks that all stand for one element."""

    def __init__(self, action: Action) -> None:
        self._command = action

    async def resolve(self, action: Action, page: PageCapture) -> tuple[Action, None]:
        return self._command, None


async def test_a_mark_with_a_harmless_label_on_a_dangerous_element_is_refused_when_it_is_resolved():
    bench = SupervisedLoop([ClickMark(1, "Details"), Stop("42")], supervised=False)
    bench.loop._parts.dispatcher.marks = MarksThatAre(DELETE)  # type: ignore[assignment]  # pyright: ignore[reportPrivateUsage]
    await bench.run()
    assert DELETE not in bench.hands.done
    assert bench.kept.steps[0].cause == "policy"


@pytest.mark.parametrize(
    ("given", "classes"),
    [
        (("buys", "deletes"), {RiskClass.BUYS, RiskClass.DELETES}),
        (("pay", "Publish"), {RiskClass.PAYS, RiskClass.SENDS}),
        (("signs-out", "signs_in"), {RiskClass.SIGNS_OUT, RiskClass.SIGNS_IN}),
        ((), set[RiskClass]()),
    ],
)
def test_classes_are_named_as_a_person_types_them(given: tuple[str, ...], classes: set[RiskClass]):
    assert risk_classes(given) == classes


def test_a_class_that_is_none_is_named():
    with pytest.raises(ValueError, match=r"^everything$"):
        risk_classes(("deletes", "everything"))


async def test_what_a_run_has_written_is_not_written_again():
    """Deleted, back on the home page, and the same link is there once more."""
    bench = SupervisedLoop([DELETE, Goto(HOME), DELETE, Stop("done")], supervised=False, task=ASKED_FOR)
    await bench.run()
    assert bench.hands.done.count(DELETE) == 1
    assert "as often as the task says" in (bench.kept.steps[2].error or "")


WIDENED: tuple[tuple[str, tuple[RiskRule, ...], PolicyAnswer | None, bool], ...] = (
    ("nothing was said", (), None, False),
    ("this site allows", (RiskRule(risk=RiskClass.SENDS, answer=PolicyAnswer.ALLOW, site="shop"),), None, True),
    ("a rule for all sites does not", (RiskRule(risk=RiskClass.SENDS, answer=PolicyAnswer.ALLOW),), None, False),
    ("nor one of another site", (RiskRule(risk=RiskClass.SENDS, answer=PolicyAnswer.ALLOW, site="wiki"),), None, False),
    ("nor one of another class", (RiskRule(risk=RiskClass.PAYS, answer=PolicyAnswer.ALLOW, site="shop"),), None, False),
    ("nor one that asks", (RiskRule(risk=RiskClass.SENDS, answer=PolicyAnswer.ASK, site="shop"),), None, False),
    ("an approval for the run", (), PolicyAnswer.ALLOW, True),
    ("a denial for the run", (), PolicyAnswer.DENY, False),
    (
        "a denial for the run goes before the site's rule",
        (RiskRule(risk=RiskClass.SENDS, answer=PolicyAnswer.ALLOW, site="shop"),),
        PolicyAnswer.DENY,
        False,
    ),
)  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "standing", "widened"), [row[1:] for row in WIDENED], ids=[row[0] for row in WIDENED]
)
async def test_what_a_person_allowed_outright(
    rules: tuple[RiskRule, ...], standing: PolicyAnswer | None, widened: bool
) -> None:
    async def on_store(work: Callable[[str], object], run: str) -> object:
        return work(run)

    async def policy() -> InterventionPolicy:
        return InterventionPolicy(risks=rules)

    said = [(RiskClass.SENDS, standing)] if standing is not None else []
    desk = SimpleNamespace(
        _core=SimpleNamespace(on_store=on_store),
        _rows=SimpleNamespace(standing=lambda run: said),
        intervention_policy=policy,
    )
    assert await ApprovalService.is_class_allowed(desk, "r1", "shop", RiskClass.SENDS) is widened  # type: ignore[arg-type]
