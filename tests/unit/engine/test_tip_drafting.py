"""The draft a composer opens with."""

from __future__ import annotations

import pytest

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.trajectory import Run, Step
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.runner import BY_NAME
from app.engine.services.tip_drafting import _OPENINGS, draft_tip, scope_of


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
