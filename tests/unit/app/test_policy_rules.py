"""A policy's cells: what is set is in force, what is let go is taken from wider rules, the rest stays."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.engine.core.intervention_policy import (
    DEFAULT_POLICY,
    FlagRule,
    InterventionPolicy,
    PolicyAnswer,
    Reaction,
    RiskClass,
    RiskRule,
)
from app.engine.core.verdicts import Severity
from app.models.live.policy_rules import (
    PolicyRow,
    default_rows,
    detectors_of,
    normalized,
    own_value,
    sites_of,
    value_in_force,
    with_value,
    without_detector,
)

sites = st.sampled_from(["", "shop", "wiki"])
detectors = st.sampled_from(["", "loop", "slow"])
flags = st.builds(
    FlagRule,
    severity=st.sampled_from(Severity),
    reaction=st.sampled_from(Reaction),
    site=sites,
    detector=detectors,
)
risks = st.builds(RiskRule, risk=st.sampled_from(RiskClass), answer=st.sampled_from(PolicyAnswer), site=sites)
policies = st.builds(
    InterventionPolicy,
    flags=st.lists(flags, unique_by=lambda rule: (rule.site, rule.detector or rule.severity)).map(tuple),
    risks=st.lists(risks, unique_by=lambda rule: (rule.site, rule.risk)).map(tuple),
)
rows = st.sampled_from(default_rows(["loop", "slow"]))


@given(policies, rows, sites, st.data())
def test_what_is_set_is_in_force_there_and_nothing_else_changes(policy, row, site, data):
    value = data.draw(st.sampled_from(row.values))
    made = with_value(policy, row, site, value)
    assert own_value(made, row, site) == value
    for other in default_rows(["loop", "slow"]):
        for place in ("", "shop", "wiki"):
            if (other, place) != (row, site):
                assert own_value(made, other, place) == own_value(policy, other, place)
    if row.severity is not None or row.risk is not None or site:
        assert value_in_force(made, row, site) == value


@given(policies, rows, sites, st.data())
def test_a_cell_let_go_is_as_if_it_had_never_been_set(policy, row, site, data):
    without = with_value(policy, row, site, None)
    value = data.draw(st.sampled_from(row.values))
    assert own_value(without, row, site) is None
    assert normalized(with_value(with_value(without, row, site, value), row, site, None)) == normalized(
        without
    )


@given(policies)
def test_no_rule_of_a_detector_is_left_when_its_line_goes(policy):
    made = without_detector(policy, "loop")
    assert "loop" not in detectors_of(made)
    assert made.risks == policy.risks


def test_a_site_takes_what_holds_everywhere_until_it_has_its_own():
    error = PolicyRow(severity=Severity.ERROR)
    assert value_in_force(DEFAULT_POLICY, error, "shop") is Reaction.PAUSE
    made = with_value(DEFAULT_POLICY, error, "shop", Reaction.MARK)
    assert value_in_force(made, error, "shop") is Reaction.MARK
    assert value_in_force(made, error, "wiki") is Reaction.PAUSE
    assert sites_of(made) == ["shop"]


def test_flags_of_a_detector_go_by_their_weight_until_it_has_a_rule():
    line = PolicyRow(detector="loop")
    assert value_in_force(DEFAULT_POLICY, line, "") is None
    made = with_value(DEFAULT_POLICY, line, "", Reaction.ASK)
    assert value_in_force(made, line, "") is Reaction.ASK
    assert {made.reaction("shop", severity, "loop") for severity in Severity} == {Reaction.ASK}
    assert made.reaction("shop", Severity.HINT, "slow") is Reaction.MARK
