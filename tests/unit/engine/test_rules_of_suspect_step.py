"""The rule of the step a run opens at, one row for each of its clauses."""

from __future__ import annotations

import pytest

from app.engine.core.trajectory import Outcome, Run, Step
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.base import SINCE
from app.engine.detectors.runner import BY_NAME
from app.engine.detectors.suspect import answer_step, find_suspect
from tests.support.detector_steps import action, click, step

SAYS = {"action": action("send_msg_to_user", text="12")}
SENDS = click("Create issue")


def walk(count: int, outcome: Outcome, sends: int = -1) -> tuple[Run, list[Step]]:
    """Return a run of so many steps: it reads, sends something at one of them, and answers if it ended so."""
    ends = outcome in (Outcome.ANSWERED, Outcome.INFEASIBLE)
    steps = [
        step(at, f"/{at}", **(SAYS if ends and at == count - 1 else SENDS if at == sends else click("Look")))
        for at in range(count)
    ]
    return Run(id="r", source="s", outcome=outcome, step_count=count), steps


def found(
    detector: str, at: int, since: int | None = None, severity: Severity | None = None, **more: int
) -> Flag:
    rule = BY_NAME[detector]
    evidence = {**({} if since is None else {SINCE: since}), **more}
    return Flag(
        run="r",
        detector=detector,
        step=at,
        severity=severity or rule.severity,
        confidence=0.7,
        message=f"{detector} at {at}",
        evidence=evidence,  # type: ignore[arg-type]
        version=rule.version,
    )


LOOP, ERROR_PAGE, HINT = "repeated-action", "error-page", "url-revisits"
ANSWERED, LIMIT = Outcome.ANSWERED, Outcome.STEP_LIMIT
WARNING = Severity.WARNING
UNKNOWN = Flag(run="r", detector="of tomorrow", step=2, severity=WARNING, confidence=1, message="x")


@pytest.mark.parametrize(
    ("clause", "run", "flags", "step_", "names"),
    [
        (
            "left the sites, whatever else",
            walk(9, Outcome.LEFT_ALLOWED_SITES),
            [found("left-sites", 5), found(LOOP, 8, 1)],
            5,
            ("left-sites", 5),
        ),
        (
            "a loop, at its first step in vain",
            walk(20, LIMIT),
            [found(LOOP, 12, 4), found("step-limit", 19)],
            4,
            (LOOP, 12),
        ),
        (
            "the longest loop",
            walk(30, LIMIT),
            [found(LOOP, 5, 3), found("back-and-forth", 25, 12)],
            12,
            ("back-and-forth", 25),
        ),
        (
            "of two as long, the later",
            walk(30, LIMIT),
            [found(LOOP, 5, 3), found(LOOP, 25, 23)],
            23,
            (LOOP, 25),
        ),
        (
            "loops that overlap are one",
            walk(30, LIMIT),
            [found(LOOP, 9, 2), found(LOOP, 16, 8), found(LOOP, 29, 20)],
            2,
            (LOOP, 9),
        ),
        (
            "pages unchanged again and again",
            walk(9, LIMIT),
            [found("no-effect", 6, 2, WARNING)],
            2,
            ("no-effect", 6),
        ),
        ("a loop shortly before the answer", walk(9, ANSWERED), [found(LOOP, 5, 2)], 2, (LOOP, 5)),
        ("a loop that was overcome", walk(10, ANSWERED), [found(LOOP, 5, 2)], 9, ("", -1)),
        (
            "a loop before another hindrance",
            walk(9, LIMIT),
            [found(ERROR_PAGE, 8), found(LOOP, 6, 3)],
            3,
            (LOOP, 6),
        ),
        ("another hindrance near the end", walk(9, LIMIT), [found(ERROR_PAGE, 7)], 7, (ERROR_PAGE, 7)),
        (
            "another hindrance that lasted",
            walk(30, LIMIT),
            [found("covered-element", 8, 5)],
            5,
            ("covered-element", 8),
        ),
        (
            "another hindrance that passed",
            walk(30, LIMIT),
            [found("covered-element", 5), found("step-limit", 29)],
            5,
            ("covered-element", 5),
        ),
        (
            "a hindrance that passed, before an answer",
            walk(30, ANSWERED),
            [found("covered-element", 5)],
            29,
            ("", -1),
        ),
        (
            "a model's opinion, before what was sent",
            walk(9, ANSWERED, sends=5),
            [found("run-outcome", 3), found("gave-up", 8)],
            3,
            ("run-outcome", 3),
        ),
        ("what was sent, before an answer", walk(9, ANSWERED, sends=5), [], 5, ("", -1)),
        (
            "what was sent, before a polite question",
            walk(9, ANSWERED, sends=5),
            [found("gave-up", 8, asked=1)],
            5,
            ("", -1),
        ),
        ("an answer that it could not", walk(9, ANSWERED, sends=5), [found("gave-up", 8)], 8, ("gave-up", 8)),
        ("giving up", walk(9, Outcome.INFEASIBLE), [found("gave-up", 8)], 8, ("gave-up", 8)),
        (
            "an answer with hints alone",
            walk(9, ANSWERED),
            [found(HINT, 8, 2), found("no-effect", 0)],
            8,
            ("", -1),
        ),
        ("an answer without a flag", walk(9, ANSWERED), [], 8, ("", -1)),
        (
            "hints alone, without an answer",
            walk(9, LIMIT),
            [found(HINT, 7, 4), found("step-limit", 8)],
            4,
            (HINT, 7),
        ),
        ("nothing but the ending", walk(9, LIMIT), [found("step-limit", 8)], 8, ("step-limit", 8)),
        ("nothing at all", walk(9, Outcome.INTERRUPTED), [], 8, ("", -1)),
        ("a run without steps", walk(0, Outcome.CRASHED), [found("crash", 0)], 0, ("crash", 0)),
        ("a detector of another version of the program", walk(9, ANSWERED), [UNKNOWN], 8, ("", -1)),
    ],
)
def test_a_run_opens_where_the_evidence_begins(
    clause: str, run: tuple[Run, list[Step]], flags: list[Flag], step_: int, names: tuple[str, int]
):
    suspect = find_suspect(*run, flags)

    assert (suspect.step, (suspect.detector, suspect.flag_step)) == (step_, names), clause
    assert suspect.because, clause


def test_a_begin_that_lies_after_its_flag_is_not_believed():
    assert find_suspect(*walk(9, LIMIT), [found(LOOP, 3, 30)]).step == 3


def test_the_reason_says_how_far_the_evidence_reaches():
    assert find_suspect(*walk(20, LIMIT), [found(LOOP, 12, 4)]).because == (
        "From here to step 12: repeated-action at 12"
    )


def test_the_step_that_answers_is_the_last_that_ends_a_run():
    run, steps = walk(5, ANSWERED)
    assert answer_step(run, steps) == 4
    assert answer_step(*walk(5, LIMIT)) is None
