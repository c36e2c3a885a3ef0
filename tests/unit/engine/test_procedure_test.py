"""A tip's steps are tried in order; each rule of the test has a row, and nothing that would write is ever done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from app.engine.agent.procedures.procedure_test import ProcedureTest, ProcedureTestResult, filled_values
from app.engine.agent.procedures.samples import sample_values
from app.engine.core.action_result import ActionResult, Cause, Effect, refused
from app.engine.core.actions.types import Action, Click, Goto, Press, Select, TypeText
from app.engine.core.page_state import PageCapture
from app.errors import SiteloreError
from kb.compiler import compile_text
from kb.evidence import TestOutcome
from kb.procedure import Choice, Procedure, ProcedureStep, StepKind
from tests.support.scout_pages import el, page

HOST = "http://place.test"
HOME = page(
    el("link", "Reports", href=f"{HOST}/r"),
    el("button", "Delete all"),
    el("button", "Save", submits=True, form="post:/save"),
    el("button", "Find", submits=True, form="get:/find"),
    el("button", "Redisplay", submits=True, form="get:/list"),
    el("button", "Show issue:", submits=True, form="get:/issue"),
    el("button", "", submits=True, form="get:/quick"),
    el("button", "Keep it", submits=True, form="get:/keep"),
    el("button", "Continue", submits=True, form="get:/next"),
    el("button", "Add to list", submits=True, form="get:/list"),
    el("textbox", "Name"),
    el("combobox", "Status", options=("All", "open", "parked"), value="All"),
    el("link", "Edit Oak Tray", href=f"{HOST}/edit/7"),
    el("link", "Sign out", href=f"{HOST}/logout"),
    url=f"{HOST}/",
)
REPORTS = page(el("link", "Orders", href=f"{HOST}/o"), url=f"{HOST}/r")
ORDERS = page(el("heading", "Orders by month"), url=f"{HOST}/o")
SITE = {one.url: one for one in (HOME, REPORTS, ORDERS)}
DONE = ActionResult(success=True, effect=Effect.CHANGED)


class FakeExecutor:
    """A site of a few pages: links lead on, fields take what is typed, and every action is kept."""

    def __init__(self, answers: dict[type, ActionResult] | None = None, start: ActionResult | None = None):
        self.page = page(url="about:blank")
        self.done: list[Action] = []
        self.answers, self.start = answers or {}, start

    async def look(self, *, picture: bool = True) -> PageCapture:
        return self.page

    async def do(self, action: Action) -> ActionResult:
        first = self.page.url == "about:blank"
        if first and self.start is not None:
            self.page = SITE.get(action.url, HOME) if isinstance(action, Goto) else self.page
            return self.start
        if not first:
            self.done.append(action)
            if type(action) in self.answers:
                return self.answers[type(action)]
        match action:
            case Goto(url):
                self.page = SITE.get(url, HOME)
                return replace(DONE, effect=Effect.NAVIGATED)
            case Click(element) if self.page.elements[element].href:
                self.page = SITE.get(self.page.elements[element].href, HOME)
                return replace(DONE, effect=Effect.NAVIGATED)
            case TypeText(element, text):
                self._hold(element, text)
            case Select(element, options):
                self._hold(element, options[0])
            case _:
                pass
        return DONE

    def _hold(self, number: int, value: str) -> None:
        elements = [replace(one, value=value) if one.index == number else one for one in self.page.elements]
        self.page = replace(self.page, elements=tuple(elements))


def step(kind: StepKind, target: str = "", **more: str) -> ProcedureStep:
    return ProcedureStep(kind=kind, target=target, **more)


def press(target: str, **more: str) -> ProcedureStep:
    return step(StepKind.PRESS, target, **more)


async def tried(
    *entries: ProcedureStep | Choice,
    executor: FakeExecutor | None = None,
    sure: bool = True,
    values: dict[str, str] | None = None,
    start: str = f"{HOST}/",
) -> ProcedureTestResult:
    test = ProcedureTest(
        executor or FakeExecutor(), Procedure(entries=entries), values=values or {}, sure=sure
    )
    result = await test.run(start)
    assert result is not None
    return result


WAY = (press("Reports"), press("Orders"), step(StepKind.READ, "Orders by month"))
HOLDS, BROKE, STOPPED, LOST = (
    TestOutcome.HOLDS, TestOutcome.BROKE, TestOutcome.STOPPED, TestOutcome.NOT_REACHED,
)  # fmt: skip


async def test_steps_are_done_in_order_and_each_is_told():
    executor = FakeExecutor()
    told: list[tuple[int, int, str]] = []
    test = ProcedureTest(executor, Procedure(entries=WAY), tell=lambda *one: told.append(one))
    result = await test.run(f"{HOST}/")
    assert result is not None
    assert (result.outcome, result.step) == (HOLDS, 3)
    assert executor.done == [Click(0, label="Reports"), Click(0, label="Orders")]
    assert [one.outcome for one in result.steps] == ["done"] * 3, "what is to be read is there"
    assert told == [(0, 3, 'press "Reports"'), (1, 3, 'press "Orders"')]


@pytest.mark.parametrize(
    ("what", "entry", "write"),
    [
        ("a form sent by POST", press("Save"), True),
        ("a verb of deleting", press("Delete all"), True),
        ("a link that signs out", press("Sign out"), True),
        ("an address that deletes", step(StepKind.OPEN, "/items/7/delete"), True),
        ("a form sent by GET that finds", press("Find"), False),
        ("a form sent by GET that shows again", press("Redisplay"), False),
        ("a form sent by GET that shows a thing", press("Show issue:"), False),
        ("a form sent by GET that keeps", press("Keep it"), True),
        ("a form sent by GET that does not say it reads", press("Continue"), True),
        ("a form sent by GET that says a change", press("Add to list"), True),
        ("a link", press("Reports"), False),
        ("a field", step(StepKind.FILL, "Name", value="Ada"), False),
        ("a choice", step(StepKind.CHOOSE, "Status", value="parked"), False),
    ],
)
async def test_a_step_that_would_write_is_not_done(what: str, entry: ProcedureStep, write: bool):
    executor = FakeExecutor()
    result = await tried(entry, executor=executor)
    assert (result.outcome, result.step) == ((STOPPED, 1) if write else (HOLDS, 1)), what
    assert (executor.done == []) is write, what


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        (replace(DONE, blocked_writes=("POST /x",)), STOPPED),
        (refused(Cause.POLICY, "the page tried to send POST /x"), BROKE),
        (replace(refused(Cause.POLICY, "held back"), blocked_writes=("POST /x",)), STOPPED),
        (replace(DONE, effect=Effect.NAVIGATED, blocked_writes=("POST /count",)), HOLDS),
    ],
)
async def test_a_write_that_was_held_back_stops_the_test_unless_a_link_led_on(
    result: ActionResult, outcome: TestOutcome
):
    assert (await tried(press("Reports"), executor=FakeExecutor({Click: result}))).outcome is outcome


@pytest.mark.parametrize(
    ("what", "entries", "answer", "number", "why"),
    [
        ("a missing control", (press("Sales"), press("Orders")), None, 1, 'no control "Sales"'),
        ("no effect", WAY, ActionResult(success=False, effect=Effect.NOTHING, why="nothing changed"), 1, "nothing"),
        ("a change of its own", WAY, ActionResult(success=True, effect=Effect.UNRELATED), 1, "no visible effect"),
        ("an error page", WAY, ActionResult(success=False, effect=Effect.NAVIGATED, status=404,
                                            cause=Cause.ERROR_PAGE, why="an error"), 1, "an error"),
        ("a text that is gone", (press("Reports"), step(StepKind.READ, "Totals")), None, 2, "Totals"),
        ("a text that never comes", (press("Reports"), step(StepKind.WAIT, "Totals")), None, 2, "did not appear"),
        ("an option that is gone", (step(StepKind.CHOOSE, "Status", value="settled"),), None, 1, "Status"),
    ],
)  # fmt: skip
async def test_it_breaks_at_the_step_that_can_not_be_done_or_has_no_effect(
    what: str, entries: tuple[ProcedureStep, ...], answer: ActionResult | None, number: int, why: str
):
    result = await tried(*entries, executor=FakeExecutor({Click: answer} if answer is not None else {}))
    assert (result.outcome, result.step) == (BROKE, number), what
    assert why in result.message


async def test_a_page_that_can_not_be_looked_at_any_more_is_not_reached():
    class Crashing(FakeExecutor):
        async def look(self, *, picture: bool = True) -> PageCapture:
            if self.done:
                raise SiteloreError("the page crashed")
            return await super().look(picture=picture)

    result = await tried(*WAY, executor=Crashing())
    assert (result.outcome, "the page crashed" in result.message) == (LOST, True)


async def test_a_field_that_holds_something_else_breaks_the_tip():
    class Stubborn(FakeExecutor):
        def _hold(self, number: int, value: str) -> None:
            super()._hold(number, "something else")

    result = await tried(step(StepKind.FILL, "Name", value="Ada"), executor=Stubborn())
    assert (result.outcome, '"something else"' in result.message) == (BROKE, True)


@pytest.mark.parametrize(
    "cause", [Cause.NETWORK, Cause.TIMEOUT, Cause.PAGE_LOST, Cause.CHALLENGE, Cause.LOGIN]
)
async def test_a_host_that_is_down_or_a_wall_is_not_reached_at_any_step(cause: Cause):
    lost = ActionResult(success=False, effect=Effect.NAVIGATED, cause=cause, why="it is away")
    assert (await tried(*WAY, executor=FakeExecutor({Click: lost}))).outcome is LOST
    later = await tried(press("Reports"), step(StepKind.OPEN, "/o"), executor=FakeExecutor({Goto: lost}))
    assert (later.outcome, later.step) == (LOST, 2)
    at_the_start = await tried(press("Nowhere"), executor=FakeExecutor(start=lost))
    assert (at_the_start.outcome, at_the_start.step <= 1) == (LOST, True)


@pytest.mark.parametrize(
    ("sure", "cause", "outcome"),
    [
        (True, Cause.NONE, BROKE),
        (False, Cause.NONE, LOST),
        (True, Cause.LOGIN, LOST),
        (True, Cause.ERROR_PAGE, LOST),
    ],
)
async def test_a_first_step_that_is_missing_is_the_tips_fault_only_on_its_own_page(
    sure: bool, cause: Cause, outcome: TestOutcome
):
    start = ActionResult(
        success=cause is Cause.NONE, effect=Effect.NAVIGATED, cause=cause, why="it is walled"
    )
    assert (
        await tried(press("Sales"), press("Orders"), executor=FakeExecutor(start=start), sure=sure)
    ).outcome is outcome


async def test_after_the_first_step_a_guessed_start_is_no_excuse():
    result = await tried(press("Reports"), press("Sales"), sure=False)
    assert (result.outcome, result.step) == (BROKE, 2)


async def test_the_tips_own_address_that_answers_with_an_error_breaks_it():
    gone = ActionResult(success=False, effect=Effect.NAVIGATED, cause=Cause.ERROR_PAGE, why="status 404")
    result = await tried(step(StepKind.OPEN, "/r"), executor=FakeExecutor(start=gone), start=f"{HOST}/r")
    assert (result.outcome, result.step) == (BROKE, 1)


async def test_of_a_choice_the_first_way_that_can_be_begun_is_taken():
    either = Choice(ways=((press("Sales"), press("Orders")), (press("Reports"),)))
    result = await tried(either, press("Orders"))
    assert (result.outcome, [one.number for one in result.steps]) == (HOLDS, [3, 4])


async def test_a_step_without_a_value_is_left_out_and_nothing_after_it_is_held_against_the_tip():
    executor = FakeExecutor()
    fill = step(StepKind.FILL, "Name", value="{name}")
    left = await tried(fill, press("Reports"), executor=executor)
    assert (left.outcome, [one.outcome for one in left.steps]) == (HOLDS, ["left out", "done"])
    assert not any(isinstance(one, TypeText) for one in executor.done)
    assert (await tried(fill, press("Sales"))).outcome is LOST
    assert (await tried(fill, press("Reports"), press("Sales"))).outcome is LOST
    assert (await tried(fill)).outcome is LOST
    assert (await tried(fill, values={"name": "Ada"})).outcome is HOLDS


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        (step(StepKind.CHOOSE, "Status", value="{status}"), {"status": "open"}),
        (step(StepKind.CHOOSE, "Status", value="the {status} ones"), {}),
        (press("Edit {product}"), {"product": "Oak Tray"}),
        (press("{product}"), {}),
        (step(StepKind.OPEN, "/edit/{number}"), {"number": "7"}),
        (step(StepKind.OPEN, "/orders/{number}"), {}),
        (step(StepKind.FILL, "Name", value="{name}"), {}),
        (press("Edit", near="{product}", where="in"), {}),
    ],
)
def test_samples_are_only_what_the_page_shows_plainly(entry: ProcedureStep, found: dict[str, str]):
    assert sample_values(entry, HOME, {}) == found


async def test_a_person_can_stop_it_between_two_steps():
    executor = FakeExecutor()
    stop: Callable[[], bool] = lambda: len(executor.done) >= 1  # noqa: E731
    assert await ProcedureTest(executor, Procedure(entries=WAY), stop=stop).run(f"{HOST}/") is None
    assert len(executor.done) == 1


def test_values_are_named_as_placeholders_are():
    assert filled_values({"{Order Number} ": " 7 ", "empty": " "}) == {"order_number": "7"}


async def test_a_compiled_tip_is_tried_like_any_other():
    result = await tried(*compile_text('Press "Reports", then "Orders".').entries)
    assert result.outcome is HOLDS


class CoveredSite(FakeExecutor):
    """A site whose controls lie below something until ``closings`` attempts to close it were made."""

    def __init__(self, notice: PageCapture, closings: int) -> None:
        super().__init__()
        self.notice, self.closings = notice, closings

    async def do(self, action: Action) -> ActionResult:
        if isinstance(action, Goto):
            self.page = self.notice
            return replace(DONE, effect=Effect.NAVIGATED)
        self.done.append(action)
        if self.closings and (isinstance(action, Press) or getattr(action, "label", "") == "Got it"):
            self.closings -= 1
            return DONE
        return refused(Cause.COVERED, "a notice lies over it") if self.closings else DONE


@pytest.mark.parametrize(
    ("controls", "closings", "outcome", "done"),
    [
        pytest.param((el("button", "Got it"),), 1, HOLDS, [Click(1, label="Got it")], id="by its own control"),
        pytest.param((), 1, HOLDS, [Press("Escape")], id="by Escape without one"),
        pytest.param((), 2, HOLDS, [Press("Escape")] * 2, id="twice"),
        pytest.param((), 3, BROKE, [Press("Escape")] * 2, id="never a third time"),
        pytest.param((el("button", "Got it", submits=True, form="post:/agree"),), 1, BROKE, [],
                     id="not by a control that writes"),
    ],
)  # fmt: skip
async def test_what_lies_over_a_control_is_closed_first(controls, closings, outcome, done):
    site = CoveredSite(page(el("button", "Reports"), *controls, url=f"{HOST}/"), closings)
    result = await tried(press("Reports"), executor=site)
    assert result.outcome == outcome, result.message
    assert [one for one in site.done if one != Click(0, label="Reports")] == done
