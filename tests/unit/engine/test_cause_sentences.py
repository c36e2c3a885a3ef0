"""The likely cause of a failure: one row a rule, and the order of the rules."""

from __future__ import annotations

from typing import Any

import pytest

from app.engine.api.evaluation_api import ExpectedOutcome
from app.engine.api.review_api import AnswerPlace, AnswerTerm
from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.evaluation.suite import Dialect
from app.engine.core.evaluation.task_score import ScoreVerdict, SubCheck, TaskScore
from app.engine.core.list_pages import ListShare, list_share
from app.engine.core.trajectory import Outcome, Step
from app.engine.core.verdicts import Flag, Label, Severity
from app.engine.detectors.cause_endings import refusals
from app.engine.detectors.cause_material import CauseMaterial
from app.engine.detectors.cause_sentences import RULES, tell_cause
from tests.support.runs import make_run, make_step

ORDERS = "http://shop.test/orders"


def act(kind: str, role: str = "button", name: str = "Save", **args: Any) -> dict[str, Any]:
    target = ActionTarget(role=role, name=name) if role else None
    return {
        "action": RecordedAction(kind=kind, args=args),
        "target": target,
        "url": ORDERS,
        "title": "Orders / Shop",
    }


SAVE = act("click", bid="1")
OPEN = act("click", "link", "#187", bid="1")
FILL = act("fill", "textbox", "To", bid="1", value="ALDI")
ANSWER = act("send_msg_to_user", "", text="17")


def steps(*given: dict[str, Any]) -> list[Step]:
    return [make_step(at, **fields) for at, fields in enumerate(given)]


def flag(detector: str, step: int, message: str = "it went wrong", **evidence: int | str) -> Flag:
    return Flag(
        run="r", detector=detector, step=step, severity=Severity.WARNING, confidence=0.8, message=message,
        evidence=dict(evidence),
    )  # fmt: skip


def term(text: str, *places: int, kind: Any = "number", in_task: bool = False) -> AnswerTerm:
    found = tuple(AnswerPlace(step=at, line=4, url=ORDERS, title="Orders", text=text) for at in places)
    return AnswerTerm(text=text, kind=kind, places=found, in_task=in_task)


def wanted(*lines: str, hidden: bool = False, checks: tuple[SubCheck, ...] = ()) -> ExpectedOutcome:
    score = TaskScore(
        verdict=ScoreVerdict.FAIL, score=0.0, why="it is not right", dialect=Dialect.WEBARENA, checks=checks
    )
    return ExpectedOutcome(
        suite="s", task="1", hidden=hidden, expected=() if hidden else lines, score=None if hidden else score
    )


def case(*given: dict[str, Any], run: dict[str, Any] | None = None, **fields: Any) -> CauseMaterial:
    taken = steps(*given)
    head = make_run("r", step_count=len(taken), **{"intent": "Show the order", "answer": "17", **(run or {})})
    return CauseMaterial(run=head, steps=taken, **fields)


def ended(outcome: Outcome, error: str = "", answer: str | None = None, **more: Any) -> dict[str, Any]:
    return {"outcome": outcome, "error": error, "answer": answer, **more}


NO_CONFIG = "ValueError:\nCould not find any task config with task_id=None."
REFUSED = {"notices": ("Sorry. You cannot post more. Wait a while.",)}
MORE = ListShare(page=0, pages=0, text="More")
NINE, NINETEEN = "the answer has “9”", "the answer has “19”"
CRASH = "Exception uncaught by agent or environment in task webarena.1.\n"
SHARE = ListShare(page=1, pages=3, text="Items 1-20 of 57")
COUNT = {"intent": "How many orders are open?"}
URL_CHECK = SubCheck(evaluator="url_match", expected="x", found="http://shop.test/cart", score=0.0)

CASES: list[tuple[str, CauseMaterial, str, Label | None, int]] = [
    ("passed", case(SAVE, ANSWER, run={"score": 1.0}), "It passed after 2 steps with the answer '17'.", None, -1),
    ("passed", case(SAVE, run=ended(Outcome.RUNNING, score=None)), "The run is still going on.", None, -1),
    (
        "crashed", case(run=ended(Outcome.CRASHED, CRASH + NO_CONFIG)),
        "The harness stopped the run before its first step: no task config was found (ValueError: Could not find any"
        " task config with task_id=None.).", Label.HARNESS_FAULT, -1,
    ),
    (
        "crashed", case(run=ended(Outcome.CRASHED, CRASH + "Error:\nPage.goto: net::ERR_CONNECTION_REFUSED at http://a/")),
        "The site could not be reached before its first step: Error: Page.goto: net::ERR_CONNECTION_REFUSED at http://a/.",
        Label.ENVIRONMENT_FAULT, -1,
    ),
    (
        "crashed", case(SAVE, run=ended(Outcome.CRASHED, "RuntimeError: boom")),
        "The harness stopped the run after step 0, on 'Orders': RuntimeError: boom.", Label.HARNESS_FAULT, 0,
    ),
    (
        "left",
        case(OPEN, run=ended(Outcome.LEFT_ALLOWED_SITES, final=make_step(1, url="http://docs.test/a?b=1"))),
        "It left the allowed sites for docs.test/a: on 'Orders' it opened link '#187'.", Label.WRONG_PAGE, 0,
    ),
    (
        "left",
        case(OPEN, run=ended(Outcome.LEFT_ALLOWED_SITES, final=make_step(1, url="chrome-error://chromewebdata/"))),
        "The site could not be reached: on 'Orders' it opened link '#187', and the browser showed an error.",
        Label.ENVIRONMENT_FAULT, 0,
    ),
    (
        "stopped", case(SAVE, run=ended(Outcome.NEEDS_PERSON, "a captcha")),
        "It needed a person and nobody was there: a captcha.", Label.BLOCKED, 0,
    ),
    ("stopped", case(SAVE, run=ended(Outcome.OUT_OF_BUDGET)), "Its budget was used up after 1 step.", None, 0),
    ("stopped", case(SAVE, run=ended(Outcome.STOPPED)), "A person stopped it before it was done.", None, 0),
    (
        "went in circles",
        case(OPEN, *[SAVE] * 6, run=ended(Outcome.STEP_LIMIT), flags=[flag("no-effect", 6, times=6, since=1)]),
        "It pressed button 'Save' six times from step 1 on and nothing changed, until no steps were left.",
        Label.LOOP, 1,
    ),
    (
        "went in circles",
        case(*[SAVE] * 5, ANSWER, flags=[flag("repeated-action", 4, times=5, since=0)]),
        "It pressed button 'Save' five times from step 0 on, on 'Orders'.", Label.LOOP, 0,
    ),
    (
        "ran out", case(SAVE, OPEN, run=ended(Outcome.STEP_LIMIT)),
        "It used all 2 steps without an answer; the last page was 'Orders'.", Label.LOOP, 0,
    ),
    (
        "gave up", case(ANSWER, run=ended(Outcome.INFEASIBLE, answer="no such order"), expected=wanted(NINE)),
        "It gave the task up as infeasible, but 9 was expected: 'no such order'.", Label.GAVE_UP, 0,
    ),
    (
        "gave up", case(ANSWER, flags=[flag("gave-up", 0, "Answered that it could not: 'x'", said="could not")]),
        "Answered that it could not: 'x'.", Label.GAVE_UP, 0,
    ),
    (
        "refused",
        case(SAVE, ANSWER | REFUSED),
        "After it pressed button 'Save', the site said: 'You cannot post more. Wait a while.'", Label.BLOCKED, 1,
    ),
    (
        "refused", case(SAVE, ANSWER, last_lines=[(1, "Path has already been taken")]),
        "After it pressed button 'Save', the site said: 'Path has already been taken'.", Label.ENVIRONMENT_FAULT, 1,
    ),
    (
        "unsent", case(OPEN, FILL, ANSWER),
        "On 'Orders' it typed 'ALDI' into textbox 'To' and answered without sending that.", Label.PREMATURE_STOP, 2,
    ),
    (
        "only said", case(OPEN, ANSWER, run={"intent": "Post a review"}),
        "The task asks for a change, and it answered on 'Orders' without having filled in or sent anything.",
        Label.PREMATURE_STOP, 1,
    ),
    (
        "part of a list", case(OPEN, ANSWER, run=COUNT, shares=[None, SHARE]),
        "It answered after one of three pages of the list ('Items 1-20 of 57' on 'Orders').", Label.COUNTING, 1,
    ),
    (
        "part of a list", case(OPEN, ANSWER, run={"intent": "List all names"}, shares=[None, MORE]),
        "It answered from the part of the list that 'Orders' shows: 'More' leads to the rest.", Label.PREMATURE_STOP, 1,
    ),
    (
        "missed a constraint",
        case(OPEN, ANSWER, flags=[flag("untouched-constraint", 1, "'red' of the task was never typed or chosen")]),
        "'red' of the task was never typed or chosen.", Label.MISSED_CONSTRAINT, 1,
    ),
    (
        "not the answer",
        case(OPEN, ANSWER, run=COUNT, expected=wanted(NINETEEN), terms=[term("17")]),
        "The answer says 17 where 19 was expected; 17 stands on no page the agent visited.", Label.COUNTING, 1,
    ),
    (
        "not the answer",
        case(OPEN, ANSWER, run={"intent": "What is the total?"}, expected=wanted(NINETEEN), terms=[term("17")]),
        "The answer says 17 where 19 was expected; 17 stands on no page the agent visited.", Label.CALCULATION, 1,
    ),
    (
        "not the answer", case(OPEN, ANSWER, expected=wanted(NINETEEN), terms=[term("17", 0)]),
        "The answer says 17 where 19 was expected; it read '17' on step 0's page.", Label.WRONG_ANSWER, 1,
    ),
    (
        "not the answer",
        case(OPEN, ANSWER, run={"answer": "Ann"}, expected=wanted("the answer has each of: “Ann”, “Bob Ray”")),
        "The answer has one of two expected things and lacks 'Bob Ray'.", Label.WRONG_ANSWER, 1,
    ),
    (
        "elsewhere",
        case(SAVE, ANSWER, expected=wanted("the address at the end has “/orders/7”", checks=(URL_CHECK,))),
        "It ended on /cart, where '/orders/7' was expected.", Label.WRONG_PAGE, 1,
    ),
    (
        "elsewhere", case(SAVE, ANSWER, expected=wanted("the page X has “done”")),
        "It answered '17', and the check failed: the page X has “done”.", None, 1,
    ),
    (
        "unfounded", case(OPEN, ANSWER, terms=[term("17"), term("4", in_task=True)]),
        "17 of its answer stands on no page the agent visited.", Label.WRONG_ANSWER, 1,
    ),
    (
        "hindered", case(OPEN, ANSWER, flags=[flag("error-page", 0, "The page says: 404")]),
        "At step 0 on 'Orders': The page says: 404.", Label.BLOCKED, 0,
    ),
    (
        "wrong anyway", case(OPEN, ANSWER, expected=wanted("the answer is exactly “17.0”")),
        "The answer '17' names 17.0, but not in the form that the suite accepts.", None, 1,
    ),
    ("wrong anyway", case(OPEN, ANSWER), "It answered '17' on 'Orders', which scored 0.", Label.WRONG_ANSWER, 1),
    (
        "wrong anyway", case(OPEN, run=ended(Outcome.ENDED_BY_ENVIRONMENT)),
        "It ended on 'Orders' after 1 step, which scored 0.", None, 0,
    ),
    ("", case(OPEN, ANSWER, run={"score": None}), "", None, -1),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "material", "text", "label", "step"), CASES)
def test_a_rule_tells_the_cause_in_one_sentence(rule, material, text, label, step):
    told = tell_cause(material)
    assert (told.rule, told.text, told.label, told.step) == (rule, text, label, step)


def test_every_rule_has_a_case():
    told = {tell_cause(material).rule for _, material, *_ in CASES}
    assert len(told - {""}) == len(RULES)


@pytest.mark.parametrize(
    ("material", "rule"),
    [
        # a field that Enter sent, or whose page was left, was sent
        (case(OPEN, act("fill", "textbox", "To", value="x", enter=True), ANSWER), "wrong anyway"),
        (case(OPEN, FILL, ANSWER | {"url": "http://shop.test/b"}), "wrong anyway"),
        # a draft is not to be sent, and adding to a list is done with one press
        (case(OPEN, FILL, ANSWER, run={"intent": "Fill the form, but don't submit it"}), "wrong anyway"),
        (
            case(
                act("click", "link", "Add to Wish List", bid="1"),
                ANSWER,
                run={"intent": "Add it to my wish list"},
            ),
            "wrong anyway",
        ),
        # a site that no longer refuses was overcome
        (
            case(SAVE | {"notices": ("Access denied",)}, OPEN, OPEN, ANSWER, last_lines=[]),
            "wrong anyway",
        ),
        # all pages of the list were seen
        (
            case(
                OPEN, OPEN, ANSWER, run=COUNT, shares=[ListShare(page=n, pages=3, text="") for n in (1, 2, 3)]
            ),
            "wrong anyway",
        ),
        # the first entry of a list is enough for a task that asks for one
        (case(OPEN, ANSWER, run={"intent": "Open the newest order"}, shares=[None, SHARE]), "wrong anyway"),
        # a loop that was overcome long before the answer
        (case(*[SAVE] * 9, ANSWER, flags=[flag("no-effect", 2, times=3, since=0)]), "wrong anyway"),
        # an offer at the end of an answer is no giving up
        (
            case(OPEN, ANSWER, flags=[flag("gave-up", 1, "Asked", said="Would you like me to go on?")]),
            "wrong anyway",
        ),
    ],
)
def test_a_rule_keeps_silent_where_it_does_not_hold(material, rule):
    assert tell_cause(material).rule == rule


def test_a_blind_suite_leaks_nothing():
    material = case(OPEN, ANSWER, run=COUNT, expected=wanted(NINETEEN, hidden=True), terms=[term("17")])
    told = tell_cause(material)
    assert told.text == "17 of its answer stands on no page the agent visited."
    assert "19" not in repr(told)


def test_findings_besides_the_cause_are_its_evidence():
    material = case(
        OPEN, ANSWER, expected=wanted(NINETEEN), terms=[term("17")],
        flags=[flag("error-page", 0, "The page says: 404"), flag("no-effect", 1, "Nothing changed", times=2, since=0)],
    )  # fmt: skip
    assert tell_cause(material).evidence == (
        "Step 0: The page says: 404.",
        "Steps 0 to 1: Nothing changed.",
    )


@pytest.mark.parametrize(
    ("tree", "share"),
    [
        ("cell 'Items 1-12 of 57'", (1, 5, "Items 1-12 of 57")),
        ("cell 'Items 49 to 57 of 57 total'", (5, 5, "Items 49 to 57 of 57")),
        ("cell '1-57 of 57'", None),
        ("cell '12.5 of 100 %'", None),
        ("heading 'Page 2 of 9'", (2, 9, "page 2 of 9")),
        ("[1] textbox 'Current Page', value='2'\n\tStaticText 'of 3'", (2, 3, "page 2 of 3")),
        ("[1] textbox 'Current Page', value='1'\n\tStaticText 'of 1'", None),
        ("[1] link 'Next »'", (0, 0, "Next")),
        ("[1] link 'Next', disabled=True", None),
        ("[1] button 'Read more'", None),
        ("[1] button 'Next'", None),
        ("[1] button 'Load more'", (0, 0, "Load more")),
        ("", None),
    ],
)
def test_a_page_says_how_much_of_a_list_it_shows(tree, share):
    found = list_share(f"RootWebArea 'x'\n\t{tree}")
    if share is not None and share[:2] == (5, 5):  # the size of a page is only known from one that is full
        share = (2, 2, share[2])
    assert (found and (found.page, found.pages, found.text)) == share


def test_the_words_of_a_refusing_site_are_found():
    tree = "RootWebArea 'x'\n\t[3] alert 'Error: Name has already been taken'\n\tStaticText 'Rate this'"
    assert refusals(tree) == ["Error: Name has already been taken"]
