"""Cells of an intervention policy: set for a site, or inherited from every site.  Pure functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from app.engine.core.intervention_policy import (
    FlagRule,
    InterventionPolicy,
    PolicyAnswer,
    Reaction,
    RiskClass,
    RiskRule,
)
from app.engine.core.verdicts import Severity

Value = Reaction | PolicyAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRow:
    """The subject of a table row: flags of a severity, flags of a detector, or actions of a risk class."""

    severity: Severity | None = None
    detector: str = ""
    risk: RiskClass | None = None

    @property
    def values(self) -> tuple[Value, ...]:
        """The possible values, the mildest first."""
        return tuple(PolicyAnswer) if self.risk is not None else tuple(Reaction)


def default_rows(detectors: Iterable[str] = ()) -> list[PolicyRow]:
    """Return rows for the severities, these detectors and the risk classes."""
    return [
        *(PolicyRow(severity=severity) for severity in Severity),
        *(PolicyRow(detector=name) for name in detectors),
        *(PolicyRow(risk=risk) for risk in RiskClass),
    ]


def detectors_of(policy: InterventionPolicy) -> list[str]:
    return sorted({rule.detector for rule in policy.flags if rule.detector})


def sites_of(policy: InterventionPolicy) -> list[str]:
    return sorted({rule.site for rule in (*policy.flags, *policy.risks) if rule.site})


def own_value(policy: InterventionPolicy, row: PolicyRow, site: str) -> Value | None:
    """Return the value set for this very cell; ``None`` where it inherits."""
    if row.risk is not None:
        return next(
            (rule.answer for rule in policy.risks if (rule.risk, rule.site) == (row.risk, site)), None
        )
    return next((rule.reaction for rule in policy.flags if rule.site == site and _is_about(rule, row)), None)


def value_in_force(policy: InterventionPolicy, row: PolicyRow, site: str) -> Value | None:
    """Return the effective value; ``None`` for a detector whose flags follow their severity."""
    if row.risk is not None:
        return policy.answer(site, row.risk)
    severities = (row.severity,) if row.severity is not None else tuple(Severity)
    found = {policy.reaction(site, severity, row.detector) for severity in severities}
    return found.pop() if len(found) == 1 else None


def with_value(
    policy: InterventionPolicy, row: PolicyRow, site: str, value: Value | None
) -> InterventionPolicy:
    """Return the policy with this cell set; ``None`` removes the cell's own rule."""
    if row.risk is not None:
        risks = [rule for rule in policy.risks if (rule.risk, rule.site) != (row.risk, site)]
        if isinstance(value, PolicyAnswer):
            risks.append(RiskRule(risk=row.risk, answer=value, site=site))
        return replace(policy, risks=tuple(sorted(risks, key=_risk_order)))
    flags = [rule for rule in policy.flags if rule.site != site or not _is_about(rule, row)]
    if isinstance(value, Reaction):
        severity = row.severity or Severity.WARNING  # ignored in rules that name a detector
        flags.append(FlagRule(severity=severity, reaction=value, site=site, detector=row.detector))
    return replace(policy, flags=tuple(sorted(flags, key=_flag_order)))


def without_detector(policy: InterventionPolicy, detector: str) -> InterventionPolicy:
    return replace(policy, flags=tuple(rule for rule in policy.flags if rule.detector != detector))


def normalized(policy: InterventionPolicy) -> InterventionPolicy:
    """Return the same rules in one order, so that policies can be compared."""
    return InterventionPolicy(
        flags=tuple(sorted(policy.flags, key=_flag_order)), risks=tuple(sorted(policy.risks, key=_risk_order))
    )


def _is_about(rule: FlagRule, row: PolicyRow) -> bool:
    if row.detector:
        return rule.detector == row.detector
    return not rule.detector and rule.severity is row.severity


def _flag_order(rule: FlagRule) -> tuple[str, str, int]:
    return rule.site, rule.detector, list(Severity).index(rule.severity)


def _risk_order(rule: RiskRule) -> tuple[str, int]:
    return rule.site, list(RiskClass).index(rule.risk)
