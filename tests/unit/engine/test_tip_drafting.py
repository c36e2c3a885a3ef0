"""The draft a composer opens with."""

from __future__ import annotations

import pytest

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.trajectory import Outcome, Run, Step
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.runner import BY_NAME
from app.engine.services.tip_drafting import _OPENINGS, condition_of, draft_tip, scope_of


@pytest.mark.parametrize(
    ("url", "scope"),
    [
        ("http://10.0.0.1:8023/dashboard/merge_requests?scope=all&search=x", "/dashboard/merge_requests"),
        ("http://10.0.0.1:7780/admin/sales/order/view/order_id/299/", "/admin/sales/order/view/order_id/*/"),
        ("http://10.0.0.1:9999/f/books/81371/a-title", "/f/books/*/a-title"),
        ("http://10.0.0.1:7770/", "/"),
        ("http://10.0.0.1:8023/search?search=x", "/search?search"),
        ("about:blank", ""),
        ("chrome-error://chromewebdata/", ""),
    ],
)
def test_a_scope_keeps_the_shape_of_an_address_and_drops_what_names_one_thing(url, scope):
    assert str(scope_of(url)) == scope


def test_a_draft_names_the_control_and_leaves_the_end_to_the_person():
    step = Step(
        index=2,
        url="http://10.0.0.1:7770/shirt.html",
        title="Shirt",
        action=RecordedAction(kind="click", args={"bid": "7"}),
        target=ActionTarget(role="button", name="Add to Cart"),
    )
    flag = Flag(run="r", detector="no-effect", step=2, severity=Severity.WARNING, confidence=0.5, message="m")
    run = Run(id="r", source="x", suite="webarena", task_id="9", intent="Buy the shirt")
    draft = draft_tip(run, step, [flag], "shopping", "mina", "wrong element")
    assert draft.text == "The button “Add to Cart” does nothing by itself; before it, "
    assert draft.taint == ("webarena:9",)
    assert (draft.provenance.run, draft.provenance.step, draft.provenance.detector) == ("r", 2, "no-effect")
    assert (draft.provenance.author, draft.provenance.verdict) == ("mina", "wrong element")


def test_every_opening_belongs_to_a_detector_that_exists():
    assert set(_OPENINGS) <= set(BY_NAME)


def test_a_control_named_by_this_one_task_is_called_by_its_role_alone():
    for name in ("1009", "Linen Apron"):
        step = Step(index=0, url="http://h/orders", title="", target=ActionTarget(role="link", name=name))
        flag = Flag(
            run="r", detector="covered-element", step=0, severity=Severity.ERROR, confidence=1, message="m"
        )
        run = Run(id="r", source="x", intent="Put one Linen Apron into the basket")
        assert (
            draft_tip(run, step, [flag], "shop", "", "").text
            == "Such a link can be covered by a dialog; first "
        )


def test_a_site_without_a_name_gets_one_a_tip_can_have_and_its_host_in_the_scope():
    step = Step(index=0, url="http://127.0.0.1:8101/basket/", title="")
    run = Run(id="r", source="sitelore", site="127.0.0.1:8101", intent="Buy it")
    draft = draft_tip(run, step, [], "127.0.0.1:8101", "", "")
    assert draft.site == "127.0.0.1-8101"
    assert str(draft.scope) == "127.0.0.1:8101/basket/"
    named = draft_tip(run, step, [], "my-shop", "", "")
    assert (named.site, str(named.scope)) == ("my-shop", "/basket/")


@pytest.mark.parametrize(
    ("needs", "condition"),
    [
        ("", ""),
        (
            'found the invoice "F-12", no control for splitting it in view',
            "found the invoice …, no control for splitting it in view",
        ),
        ("found the invoice 'F-12'; the form says: no", "found the invoice …"),
        ("found no link that leads to “Ward 4”; 3 pages were looked at", "found no link that leads to …"),
        ('the page "a; b" has no table', "the page … has no table"),
        ("the user's list isn't sorted", "the user's list isn't sorted"),
    ],
)
def test_what_a_run_would_have_needed_is_a_condition_without_the_names_it_quotes(needs, condition):
    assert condition_of(needs) == condition


def test_a_condition_is_short_and_on_one_line():
    assert len(condition_of("no\n way " * 400)) == 160
    assert "\n" not in condition_of("no\n way")


SPLIT = "no control to split it"


@pytest.mark.parametrize(
    ("source", "policy", "outcome", "ended_by", "when"),
    [
        ("sitelore", "scout", Outcome.INFEASIBLE, "", SPLIT),
        ("sitelore", "scout", Outcome.ANSWERED, "", ""),
        ("sitelore", "scout", Outcome.INFEASIBLE, "mina", ""),
        ("sitelore", "llm", Outcome.INFEASIBLE, "", ""),
        ("browser-use", "browser-use", Outcome.INFEASIBLE, "", ""),
        ("atif", "scout", Outcome.INFEASIBLE, "", ""),
    ],
    ids=[
        "the scout",
        "it answered",
        "an operator",
        "a model",
        "another program",
        "a name another program gave",
    ],
)
def test_a_condition_begins_with_what_the_scout_missed_and_never_with_the_words_of_another_agent(
    source, policy, outcome, ended_by, when
):
    step = Step(index=0, url="http://h/orders", title="")
    run = Run(
        id="r",
        source=source,
        policy=policy,
        intent="Split it",
        outcome=outcome,
        ended_by=ended_by,
        answer=SPLIT,
    )
    assert draft_tip(run, step, [], "shop", "", "").when == when


NAMED, NAMELESS = ActionTarget(role="button", name="Go"), ActionTarget(role="span", name="")
GO = "click button 'Go'"


@pytest.mark.parametrize(
    ("flags", "target", "text"),
    [
        (
            [("repeated-action", 8, {"since": 2, "action": GO})],
            NAMED,
            "Repeating the button “Go” leads nowhere new; instead, ",
        ),
        (
            [("repeated-action", 8, {"since": 2, "action": GO}), ("no-effect", 2, {})],
            NAMED,
            "Repeating the button “Go” changes nothing; instead, ",
        ),
        ([("repeated-action", 8, {"since": 2, "action": "click link 'More'"})], NAMED, ""),
        ([("repeated-action", 8, {"since": 2, "action": "click span without a name"})], NAMELESS, ""),
        ([("repeated-action", 8, {"since": 1, "action": GO})], NAMED, ""),
        ([("no-effect", 3, {"since": 2})], NAMED, ""),
        ([("url-revisits", 2, {})], NAMED, ""),
        ([("gave-up", 2, {"asked": 1})], NAMED, ""),
        ([("gave-up", 2, {})], NAMED, "This can be done: "),
        ([("error-page", 2, {})], NAMED, "The button “Go” leads to an error page; instead, "),
        ([], NAMED, ""),
    ],
    ids=[
        "a loop that begins here",
        "and changed nothing here",
        "another action was repeated",
        "nobody can find it",
        "the loop began before",
        "another step changed nothing",
        "a return proves nothing",
        "a polite question",
        "it gave up",
        "an error page",
        "no flag",
    ],
)
def test_an_opening_is_offered_only_where_the_evidence_holds(flags, target, text):
    step = Step(
        index=2,
        url="http://h/",
        title="",
        action=RecordedAction(kind="click", args={"bid": "7"}),
        target=target,
    )
    found = [
        Flag(
            run="r",
            detector=name,
            step=at,
            severity=Severity.WARNING,
            confidence=0.7,
            message="m",
            evidence=evidence,
        )
        for name, at, evidence in flags
    ]
    assert draft_tip(Run(id="r", source="x", intent="Find it"), step, found, "shop", "", "").text == text
