"""Ways that must not be gone."""

from __future__ import annotations

import pytest

from app.engine.api.graph_api import PathPlan
from app.engine.core.page_state import Source
from app.engine.core.transition import Locator, Transition
from app.engine.services.graph_navigation import refuse_risky_path
from app.errors import SiteloreError


def way(risk: float, found_by: Source) -> PathPlan:
    leg = Transition(
        id="t",
        source="a",
        target="b",
        locator=Locator(role="button", name="Place order"),
        risk=risk,
        found_by=found_by,
    )
    return PathPlan(nodes=("a", "b"), titles=("Check out", "Thank you"), transitions=(leg,), cost=1.0)


def test_what_a_run_did_and_no_rule_allows_is_not_done_again_to_get_somewhere():
    with pytest.raises(SiteloreError, match=r"Place order.*nothing was done"):
        refuse_risky_path(way(0.8, Source.RUN))


@pytest.mark.parametrize(("risk", "found_by"), [(0.0, Source.RUN), (0.1, Source.EXPLORED)])
def test_harmless_steps_and_those_a_persons_rule_allowed_are_repeated(risk, found_by):
    refuse_risky_path(way(risk, found_by))
