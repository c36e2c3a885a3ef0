"""The rule that says when a model is asked about a step of a run in progress; one row a clause."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.agent.judging.when_to_ask import (
    AskedSoFar,
    AskReason,
    JudgeLimits,
    is_within,
    question_key,
    when_to_ask,
)
from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.trajectory import BY_PERSON, ErrorClass, Step
from app.engine.core.verdicts import Flag, Severity

CLICK = Step(
    index=3,
    url="http://shop.test/",
    title="Shop",
    state="s1",
    action=RecordedAction(kind="click", args={"bid": "7"}),
    target=ActionTarget(role="button", name="Save", bid="7"),
    reason="Save the name.",
    summary="the name is saved",
    effect="changed",
)
STOP = replace(CLICK, action=RecordedAction(kind="send_msg_to_user", args={"text": "done"}), target=None)
GIVE_UP = replace(STOP, action=RecordedAction(kind="report_infeasible", args={"reason": "no"}))
FRESH = AskedSoFar(calls=0, last=2, acted=2)
LIMITS = JudgeLimits(calls=12, every=5)


def act(kind: str, **args: str) -> Step:
    return replace(CLICK, action=RecordedAction(kind=kind, args=dict(args)))


def flag(severity: Severity) -> Flag:
    return Flag(run="r", detector="loop", step=3, severity=severity, confidence=0.9, message="m")


def asked(**more: object) -> AskedSoFar:
    return replace(FRESH, **more)


@pytest.mark.parametrize(
    ("step", "flags", "so_far", "limits", "reason"),
    [
        # 1: the questions are used up, whatever there is
        (CLICK, (), asked(calls=12), LIMITS, None),
        (STOP, (), asked(calls=12), LIMITS, None),
        (STOP, (), FRESH, JudgeLimits(calls=0), None),
        # 2: a person did the step
        (replace(CLICK, by=BY_PERSON), (), FRESH, LIMITS, None),
        (replace(CLICK, by=BY_PERSON, effect="nothing"), (), asked(last=-1), LIMITS, None),
        # 3: a claim to be done, or that it can't be
        (STOP, (), FRESH, LIMITS, AskReason.CLAIM),
        (GIVE_UP, (), FRESH, LIMITS, AskReason.CLAIM),
        (STOP, (flag(Severity.ERROR),), FRESH, LIMITS, AskReason.CLAIM),
        (STOP, (), asked(calls=11), LIMITS, AskReason.CLAIM),
        (STOP, (), asked(keys=frozenset({"claim after 2"})), LIMITS, None),
        (STOP, (), asked(keys=frozenset({"claim after 1"})), LIMITS, AskReason.CLAIM),
        # 4: not done, or not on a page
        (replace(CLICK, executed=False, error_class=ErrorClass.HARD), (), FRESH, LIMITS, None),
        (replace(CLICK, action=None, error_class=ErrorClass.HARNESS), (), FRESH, LIMITS, None),
        (act("take_note", text="a"), (), asked(last=-9), LIMITS, None),
        (act("calculate", expression="1+1"), (), asked(last=-9), LIMITS, None),
        (act("branch", parent="p", intent="i"), (), asked(last=-9), LIMITS, None),
        (act("ask_human", question="?"), (), asked(last=-9), LIMITS, None),
        (act("noop"), (), asked(last=-9), LIMITS, None),
        # 5: the rules have spoken
        (CLICK, (flag(Severity.WARNING),), FRESH, LIMITS, None),
        (CLICK, (flag(Severity.ERROR),), asked(last=-9), LIMITS, None),
        (CLICK, (flag(Severity.HINT),), FRESH, LIMITS, AskReason.EFFECT),
        # 6: the same action on the same page
        (CLICK, (), asked(keys=frozenset({question_key(CLICK)})), LIMITS, None),
        (replace(CLICK, state="s2"), (), asked(keys=frozenset({question_key(CLICK)})), LIMITS, AskReason.EFFECT),
        (CLICK, (), asked(keys=frozenset({question_key(act("click", bid="8"))})), LIMITS, AskReason.EFFECT),
        # 7: an effect is expected and none was seen
        (replace(CLICK, effect="nothing"), (), FRESH, LIMITS, AskReason.UNSEEN),
        (replace(CLICK, effect="unrelated"), (), FRESH, LIMITS, AskReason.UNSEEN),
        (replace(CLICK, effect="nothing"), (), asked(calls=10), LIMITS, AskReason.UNSEEN),
        (replace(CLICK, effect="nothing"), (), asked(calls=11), LIMITS, None),
        # 8: long without a question
        (replace(CLICK, summary="", reason="", index=7), (), FRESH, LIMITS, AskReason.INTERVAL),
        (replace(CLICK, summary="", reason="", index=6), (), FRESH, LIMITS, None),
        (replace(act("scroll"), index=7), (), FRESH, LIMITS, AskReason.INTERVAL),
        (replace(CLICK, summary="", reason="", index=90), (), FRESH, JudgeLimits(every=0), None),
        (replace(CLICK, index=7), (), asked(calls=10), LIMITS, AskReason.INTERVAL),
        (replace(CLICK, index=7), (), asked(calls=11), LIMITS, None),
        # 9: an effect is expected
        (CLICK, (), FRESH, LIMITS, AskReason.EFFECT),
        (replace(CLICK, effect=""), (), FRESH, LIMITS, AskReason.EFFECT),
        (replace(CLICK, summary=""), (), FRESH, LIMITS, AskReason.EFFECT),
        (act("goto", url="http://shop.test/b"), (), FRESH, LIMITS, AskReason.EFFECT),
        (act("fill", value="Ann"), (), FRESH, LIMITS, AskReason.EFFECT),
        (replace(CLICK, summary="", reason=" "), (), FRESH, LIMITS, None),
        (replace(CLICK, summary="nothing changes"), (), FRESH, LIMITS, None),
        (act("hover"), (), FRESH, LIMITS, None),
        (act("scroll"), (), FRESH, LIMITS, None),
        (CLICK, (), asked(calls=5), LIMITS, AskReason.EFFECT),
        (CLICK, (), asked(calls=6), LIMITS, None),
        (CLICK, (), FRESH, JudgeLimits(calls=1), None),
        (STOP, (), FRESH, JudgeLimits(calls=1), AskReason.CLAIM),
    ],
)  # fmt: skip
def test_each_clause_of_the_rule(step, flags, so_far, limits, reason):
    assert when_to_ask(step, flags, so_far, limits) is reason


@given(st.integers(0, 40), st.integers(0, 40))
def test_a_question_is_always_left_for_the_claim_and_none_goes_beyond_the_limit(calls, most):
    limits = JudgeLimits(calls=most)
    allowed = [reason for reason in AskReason if is_within(reason, calls, limits)]
    assert (AskReason.CLAIM in allowed) == (calls < most)
    if allowed:
        assert AskReason.CLAIM in allowed
    if calls == most - 1:
        assert allowed == [AskReason.CLAIM]
    assert (AskReason.EFFECT not in allowed) or AskReason.UNSEEN in allowed
