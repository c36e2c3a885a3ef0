"""Detectors of targets, claims and demands, each firing and keeping silent; and where a loop begins."""

from __future__ import annotations

import pytest

from app.engine.core.actions.recorded import ActionTarget
from app.engine.core.trajectory import Step
from app.engine.core.verdicts import Flag
from app.engine.detectors.base import SINCE, Detector, RunContext, RunEnding
from app.engine.detectors.page_texts import PageTexts
from app.engine.detectors.rules.claims import AnswerNotOnPages, UnprovenClaim, UntouchedConstraint
from app.engine.detectors.rules.loops import ActionCycle, RepeatedAction, StateActionLoop
from app.engine.detectors.rules.targets import OtherTarget, TargetNotOnPage
from app.engine.detectors.runner import RuleRunner
from app.errors import NotFound
from tests.support.detector_steps import action, click, flags_of, step

PAGES = {
    "t": b"RootWebArea 'Shop'\n\t[1] link 'More'\n\t[2] button 'Sort by: Hot'\n"
    b"\t[3] link 'Page 3'\n\t[4] link 'Page 4'",
    "answer": b"RootWebArea 'Cafes'\n\t[1] heading 'Open now'\n\t[2] link 'Thank you'",
}


def on_pages(
    detector: type[Detector], steps: list[Step], ending: RunEnding | None = None, **context: object
) -> list[Flag]:
    return flags_of(detector, steps, ending=ending, pages=PageTexts(PAGES.__getitem__), **context)


def pressed(bid: str, name: str, reason: str = "", **fields: object) -> dict[str, object]:
    return {**click(name, "link", bid), "reason": reason, **fields}


def test_an_action_in_vain_on_an_element_that_the_page_does_not_show_is_flagged():
    steps = [step(at, state="same", **pressed("9", "")) for at in range(3)]

    first, second = on_pages(TargetNotOnPage, steps)

    assert (first.step, second.step, second.evidence[SINCE]) == (0, 1, 0)
    assert first.message == "Acted in vain on element 9, which is not on the page that the agent was shown"
    assert (first.severity, second.severity) == ("hint", "warning")


@pytest.mark.parametrize(
    "steps",
    [
        [step(at, state="same", **pressed("1", "More")) for at in range(3)],
        [step(at, **pressed("9", "")) for at in range(3)],
        [step(at, state="same", tree="", **pressed("9", "")) for at in range(3)],
    ],
    ids=["it is on the page", "it changed the page", "the page was not recorded"],
)
def test_no_unseen_target(steps: list[Step]):
    assert not on_pages(TargetNotOnPage, steps)


def test_a_click_beside_the_control_that_the_reason_names_is_flagged():
    reason = 'The orders of 2023 are further back. I will click the "Page 3" link next.'

    [flag] = on_pages(OtherTarget, [step(0, **pressed("4", "Page 4", reason))])

    assert (flag.step, flag.evidence["named"], flag.evidence["wanted"]) == (0, "Page 3", "3")


@pytest.mark.parametrize(
    "reason",
    [
        'I will click the "Page 4" link.',
        'I will not click the "Page 3" link, which was in vain, but element [4].',
        'Then I click "Page 3" after the link Page 4.',
        'I will click the "Page 9" link.',
        'I click "More" and then click "Page 3".',
        "I will go on.",
    ],
    ids=[
        "the same",
        "gives the element's id",
        "names it too",
        "not on the page",
        "two in turn",
        "names none",
    ],
)
def test_no_other_target(reason: str):
    assert not on_pages(OtherTarget, [step(0, **pressed("4", "Page 4", reason))])


def answering(text: str) -> RunEnding:
    return RunEnding(answer=text)


def test_names_of_the_answer_that_stand_nowhere_are_flagged():
    steps = [step(0, tree="answer"), step(1, tree="t")]

    [flag] = on_pages(
        AnswerNotOnPages, steps, answering("The cafes are Nourish, Grano."), intent="Which cafes?"
    )

    assert (flag.step, flag.evidence["missing"]) == (1, 2)
    assert "'Nourish'" in flag.message


@pytest.mark.parametrize(
    ("answer", "intent", "tree"),
    [
        ("They are Nourish, Grano.", "Are Nourish, Grano cafes?", "answer"),
        ("Sort and More, or Page.", "Which?", "t"),
        ("12", "How many?", "answer"),
        ("The cafes are Nourish, Grano.", "Which cafes?", ""),
    ],
    ids=["in the task", "on the page", "no name", "no page was recorded"],
)
def test_no_answer_unseen(answer: str, intent: str, tree: str):
    assert not on_pages(AnswerNotOnPages, [step(0, tree=tree)], answering(answer), intent=intent)


REPLY = 'Open the newest request and reply "Many thanks" to its author.'


def test_a_quote_that_was_to_be_written_and_never_typed_is_flagged():
    [flag] = on_pages(UntouchedConstraint, [step(0)], answering("Done."), intent=REPLY)

    assert flag.message == "'Many thanks' of the task was never typed or chosen"


def test_a_quote_that_nothing_touched_is_flagged():
    [flag] = on_pages(
        UntouchedConstraint, [step(0)], intent='Open the list "Old orders".', ending=answering("Done.")
    )

    assert flag.message == "'Old orders' of the task was never typed, chosen, opened or seen"


TYPED = step(
    1, action=action("fill", bid="3", value="Many thanks!"), target=ActionTarget(role="textbox", name="Reply")
)


@pytest.mark.parametrize(
    ("intent", "steps"),
    [
        (REPLY, [step(0), TYPED]),
        ('Open the list "Thank you".', [step(0, tree="answer")]),
        ('Answer in the format "month, amount".', [step(0)]),
        (REPLY, [step(0, tree="")]),
        (REPLY + "x" * 800, [step(0)]),
    ],
    ids=["typed", "seen", "an example of the output", "no page was recorded", "a long task quotes examples"],
)
def test_no_untouched_constraint(intent: str, steps: list[Step]):
    assert not on_pages(UntouchedConstraint, steps, answering("Done."), intent=intent)


def test_a_change_claimed_without_any_action_that_could_make_it_is_flagged():
    steps = [step(0, **click("Orders", "link")), step(1, **click("Search"))]

    [flag] = flags_of(
        UnprovenClaim, steps, ending=answering("I have created the issue."), intent="Create an issue"
    )

    assert (flag.step, flag.severity) == (1, "warning")


@pytest.mark.parametrize(
    ("intent", "did", "answer"),
    [
        ("Create an issue", click("Create issue"), "I have created the issue."),
        ("Create an issue", {"action": action("fill", bid="1", value="x")}, "I have created the issue."),
        ("Add it to my list", click("Add to Wish List", "link"), "Done."),
        ("Create an issue", click("Search"), "It has not been created, for it exists already."),
        ("Who created the issue?", click("Search"), "It was created by Ann."),
        ("Create an issue", click("Search"), ""),
    ],
    ids=["sent", "typed", "a link that adds", "no claim", "a question", "no answer"],
)
def test_no_unproven_claim(intent: str, did: dict, answer: str):
    assert not flags_of(UnprovenClaim, [step(0, **did)], ending=answering(answer), intent=intent)


def test_a_page_that_can_not_be_read_leaves_detectors_silent():
    def lost(digest: str) -> bytes:
        raise NotFound(f"no content {digest}")

    steps = [step(at, state="same", **pressed("9", "")) for at in range(3)]

    assert not flags_of(TargetNotOnPage, steps, pages=PageTexts(lost))


def test_each_page_is_read_once():
    read: list[str] = []

    def load(digest: str) -> bytes:
        read.append(digest)
        return PAGES[digest]

    pages = PageTexts(load)

    assert pages.text("t") == pages.text("t")
    assert read == ["t"]


def test_a_live_step_brings_its_page_along():
    watch = RuleRunner(RunContext(run="r"), [TargetNotOnPage])
    steps = [step(at, state="same", **pressed("9", "")) for at in range(2)]

    assert [flag.step for one in steps for flag in watch.see(one, PAGES)] == [0]


def test_paging_is_no_repetition():
    for name in ("Next", "More", "Page 2", "Load more", "»"):
        steps = [step(at, f"?page={at}", **click(name, "link")) for at in range(8)]

        assert not flags_of(RepeatedAction, steps), name


def test_paging_that_turns_nothing_is_repetition_from_its_first_press_in_vain():
    steps = [
        *(step(at, f"?page={at}", **click("More", "link")) for at in range(4)),
        *(step(at, "?page=4", "last", **click("More", "link")) for at in range(4, 9)),
    ]

    flags = flags_of(RepeatedAction, steps)

    assert [(flag.step, flag.evidence[SINCE]) for flag in flags] == [(6, 4)]


def test_an_earlier_use_of_the_same_control_is_not_where_a_loop_begins():
    useful = [step(at, f"/{at}", **click("Go")) for at in range(2)]
    vain = [step(at, "/2", "same", **click("Go")) for at in range(2, 8)]

    assert {flag.evidence[SINCE] for flag in flags_of(RepeatedAction, [*useful, *vain])} == {2}
    assert {flag.evidence[SINCE] for flag in flags_of(StateActionLoop, [*useful, *vain])} == {2}


def test_turning_pages_in_turn_with_another_action_is_no_cycle():
    names = ["Next", "Read"] * 3
    steps = [step(at, f"/{at}", **click(name, "link")) for at, name in enumerate(names)]

    assert not flags_of(ActionCycle, steps)
