"""Scope of an edit (``ApprovalGate``): a person's other action is judged by its own class; one row a clause.

Numbers of a call are those of the capture that was decided on, whatever the page does meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from app.engine.core.action_result import ActionResult
from app.engine.core.actions.fitting_calls import fitting_calls
from app.engine.core.actions.types import Click, Stop, TypeText
from app.engine.core.element_identity import matching_elements, same_element
from app.engine.core.intervention_policy import InterventionPolicy, PolicyAnswer, RiskClass, RiskRule
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.supervision import ApprovalRequest, DecisionKind, OperatorDecision, RunState
from app.engine.core.trajectory import Outcome
from app.engine.services.supervision.pointing import targets_on
from app.errors import UsageError
from tests.support.fake_approvals import FakeApprovals
from tests.support.fake_executor import HOME, page_of
from tests.support.supervised_loop import PAGES, SupervisedLoop

NAMES = ("Orders", "Delete account", "Buy now", "Remove address", "box:Coupon", "Send message")
BUTTONS = {number: "button" for number, name in enumerate(NAMES) if not name.startswith(("Orders", "box:"))}


def shop(*names: str) -> PageCapture:
    page = page_of(HOME, *(names or NAMES), title="Shop")
    elements = tuple(
        replace(one, role="button", tag="button", href="", css=f"#e-{one.name.replace(' ', '-')}")
        if one.role == "link" and one.name != "Orders"
        else one
        for one in page.elements
    )
    return replace(page, elements=elements, tree="")


def policy(**answers: str) -> InterventionPolicy:
    named = {RiskClass(name): PolicyAnswer(answer) for name, answer in answers.items()}
    return InterventionPolicy(
        risks=tuple(RiskRule(risk=one, answer=named.get(one, PolicyAnswer.ASK)) for one in RiskClass)
    )


USUAL = policy(reads="allow", edits="allow", deletes="ask", buys="ask", sends="ask")
EDIT = "click('{}')"

CLASSES: tuple[tuple[str, int, str, InterventionPolicy, bool, bool], ...] = (
    # what was asked about, what a person chose instead, the policy, is it asked about again, is it done at once
    ("a lower class: what was approved says more", 1, EDIT.format(0), USUAL, False, True),
    ("the very class that was asked about", 1, EDIT.format(3), USUAL, False, True),
    ("another class as grave as the one asked about", 1, EDIT.format(2), USUAL, True, False),
    ("a graver class", 5, EDIT.format(2), USUAL, True, False),
    ("a lower class that the policy forbids", 1, EDIT.format(5), policy(reads="allow", sends="deny"), False, False),
    ("a graver class that the policy forbids", 5, EDIT.format(2), policy(reads="allow", buys="deny"), False, False),
)  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "call", "rules", "again", "done"), [row[1:] for row in CLASSES], ids=[row[0] for row in CLASSES]
)
async def test_an_edit_is_covered_by_its_question_only_where_that_said_as_much(
    asked: int, call: str, rules: InterventionPolicy, again: bool, done: bool
) -> None:
    answers: Iterator[OperatorDecision] = iter(
        [
            OperatorDecision(kind=DecisionKind.EDIT, call=call, author="ann"),
            OperatorDecision(kind=DecisionKind.DENY, text="not that"),
        ]
    )
    desk = FakeApprovals(lambda one: next(answers), rules)
    bench = SupervisedLoop([Click(asked), Stop("")], desk=desk)
    bench.hands.pages = {**PAGES, HOME: shop()}
    await bench.run()
    chosen = Click(int(call[7]))
    rows = list(desk.rows.values())
    assert rows[0].call == EDIT.format(asked)
    assert [row.call for row in rows[1:]] == ([call] if again else [])
    assert (chosen in bench.hands.done) is done
    assert Click(asked) not in bench.hands.done, "the agent's own action is not done"
    step = bench.kept.steps[0]
    assert "a person chose this instead of" in step.reason
    assert step.action is not None
    assert step.action.args["bid"] == str(chosen.element)
    if not done:
        assert step.cause == ("person" if again else "policy")


async def test_a_purchase_that_hides_in_an_edit_is_asked_about_with_its_own_class_and_words() -> None:
    seen: list[ApprovalRequest] = []

    def decide(one: ApprovalRequest) -> OperatorDecision:
        seen.append(one)
        edit = OperatorDecision(kind=DecisionKind.EDIT, call=EDIT.format(2), author="ann")
        return edit if len(seen) == 1 else OperatorDecision(kind=DecisionKind.APPROVE, author="ben")

    bench = SupervisedLoop([Click(5), Stop("")], desk=FakeApprovals(decide, USUAL))
    bench.hands.pages = {**PAGES, HOME: shop()}
    await bench.run()
    assert [(one.risk, one.words) for one in seen] == [
        ("sends", "click button 'Send message'"),
        ("buys", "click button 'Buy now'"),
    ]
    assert "it buys" in seen[1].why
    assert "instead of: click button 'Send message'" in seen[1].why
    assert Click(2) in bench.hands.done


ENDINGS = ("stop('42')", "report_infeasible('no such thing')", "send_msg_to_user('42')")


@pytest.mark.parametrize("call", ENDINGS)
async def test_an_edit_never_ends_the_run_as_if_the_agent_had_answered(call: str) -> None:
    desk = FakeApprovals(policy=USUAL)
    bench = SupervisedLoop([Click(1), Stop("mine")], desk=desk)
    bench.hands.pages = {**PAGES, HOME: shop()}

    async def edit() -> None:
        await bench.until(RunState.WAITING)
        (need,) = bench.control.needs
        with pytest.raises(UsageError, match="end it by hand"):
            bench.control.check_decision(need.id, OperatorDecision(kind=DecisionKind.EDIT, call=call))
        await desk.answer_request(OperatorDecision(kind=DecisionKind.DENY))

    run = await bench.run(edit)
    assert (run.outcome, run.answer) == (Outcome.ANSWERED, "mine")


# the planned action of a paused run


class Pausing(SupervisedLoop):
    """A run paused while its policy thinks about the first action."""

    def __init__(self, first: object, rules: InterventionPolicy) -> None:
        self.thought = [first, Stop("")]
        super().__init__(self.thought, desk=FakeApprovals(policy=rules))
        self.hands.pages = {**PAGES, HOME: shop()}
        deciding = self.policy.decide
        calm = iter([True])

        async def decide(sight):  # type: ignore[no-untyped-def]
            if next(calm, False):
                self.control.pause("let me see", author="ann")
            return await deciding(sight)

        self.policy.decide = decide  # type: ignore[method-assign]

    async def planned_first(self) -> None:
        await self.until(RunState.PAUSED)
        while self.control.replan is None:
            await self.settles()

    def choose(self, call: str) -> None:
        assert self.control.replan is not None
        self.control.replan(OperatorDecision(kind=DecisionKind.EDIT, call=call, author="ann"))


async def test_a_paused_run_does_what_a_person_chose_in_place_of_its_planned_action() -> None:
    bench = Pausing(Click(0), USUAL)

    async def edit() -> None:
        await bench.planned_first()
        bench.choose("fill('4', 'SAVE10')")
        assert bench.planned[-1].words == "type 'SAVE10' into textbox 'Coupon'", "shown at once"
        assert bench.control.state is RunState.PAUSED
        assert bench.kept.steps == []
        bench.control.resume()

    await bench.run(edit)
    assert TypeText(4, "SAVE10") in bench.hands.done
    assert Click(0) not in bench.hands.done
    assert "a person chose this instead of: click link 'Orders'" in bench.kept.steps[0].reason
    told: ActionResult = bench.policy.seen[1].history[0].result
    assert any("instead of" in note for note in told.notes), "the agent is told"


async def test_a_purchase_chosen_while_a_run_is_paused_is_asked_about_before_it_is_done() -> None:
    bench = Pausing(Click(0), USUAL)

    async def edit() -> None:
        await bench.planned_first()
        bench.choose(EDIT.format(2))
        bench.control.resume()
        await bench.until(RunState.WAITING)
        (need,) = bench.control.needs
        assert (need.risk, need.call) == ("buys", EDIT.format(2))
        assert Click(2) not in bench.hands.done
        await bench.desk.answer_request(OperatorDecision(kind=DecisionKind.DENY))

    await bench.run(edit)
    assert Click(2) not in bench.hands.done


@pytest.mark.parametrize("call", ["click('99')", "gibberish(", "click('0')\nclick('2')", "stop('42')", ""])
async def test_what_can_not_be_read_leaves_the_planned_action_as_it_is(call: str) -> None:
    bench = Pausing(Click(0), USUAL)

    async def edit() -> None:
        await bench.planned_first()
        with pytest.raises(UsageError):
            bench.choose(call)
        bench.control.resume()

    await bench.run(edit)
    assert Click(0) in bench.hands.done


async def test_once_it_goes_on_or_ends_its_action_can_not_be_replaced_any_more() -> None:
    bench = Pausing(Click(0), USUAL)

    async def leave() -> None:
        await bench.planned_first()
        bench.choose(EDIT.format(3))
        bench.control.stop()

    await bench.run(leave)
    assert bench.control.replan is None
    assert bench.control.decided_on is None
    assert Click(3) not in bench.hands.done


# the numbers


def test_targets_keep_the_numbers_that_were_decided_on_while_the_page_moves() -> None:
    """A banner comes, everything moves down by it, one control goes: an edit still names what it named."""
    held = shop()
    later = shop("Cookies?", *(name for name in NAMES if name != "Buy now"))
    targets = {one.number: one for one in targets_on(held, later)}
    assert {number: one.name for number, one in targets.items()} == {
        0: "Orders", 1: "Delete account", 3: "Remove address", 4: "Coupon", 5: "Send message",
    }  # fmt: skip
    assert targets[0].box[1] == 40.0, "where it is now"
    assert targets[5].box[1] == 160.0


def test_of_two_that_are_alike_now_none_is_a_target() -> None:
    held, later = shop("Orders"), shop("Orders", "Orders")
    assert targets_on(held, later) == []
    assert len(targets_on(later, later)) == 2


def test_what_has_no_place_on_the_page_is_no_target() -> None:
    page = shop()
    gone = {0: None, 1: (0.0, 0.0, 0.0, 20.0)}
    hidden = tuple(
        replace(one, rect=gone.get(one.index, one.rect), visible=one.index != 2) for one in page.elements
    )
    assert [one.number for one in targets_on(page, replace(page, elements=hidden))] == [3, 4, 5]


def test_matching_all_at_once_says_what_matching_each_says() -> None:
    held, later = shop(), shop("Help", *reversed(NAMES))
    found = matching_elements(held, later)
    for element in held.elements:
        one = found.get(element.index)
        assert (one.index if one is not None else None) == same_element(element, held, later)


FITTING = (
    ("a link is clicked", Element(index=3, role="link"), "click('3')"),
    ("a field is filled", Element(index=3, role="textbox", tag="input", type="text"), "fill('3', '{text}')"),
    ("a field that can't be changed is clicked",
     Element(index=3, role="textbox", tag="input", states=("readonly",)), "click('3')"),
    ("of a list an option is chosen",
     Element(index=3, role="combobox", tag="select", options=("One", "Two")), "select_option('3', 'One')"),
    ("a slider is set", Element(index=3, role="slider", tag="input", type="range"), "set_slider('3', '{text}')"),
    ("a box is clicked", Element(index=3, role="checkbox", tag="input", type="checkbox"), "click('3')"),
    ("a file field takes a file", Element(index=3, role="button", type="file"), "upload_file('3', '{text}')"),
)  # fmt: skip


@pytest.mark.parametrize(("element", "usual"), [row[1:] for row in FITTING], ids=[row[0] for row in FITTING])
def test_the_usual_call_of_an_element_comes_first(element: Element, usual: str) -> None:
    calls = fitting_calls(element)
    assert calls[0] == usual
    assert len(set(calls)) == len(calls)
    assert {"click('3')", "hover('3')"} <= set(calls)
