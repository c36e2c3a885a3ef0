"""The intervention policy: when a run is marked, reported, paused or held for a decision.  Pure data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.engine.core.risk_class import RiskClass
from app.engine.core.verdicts import Severity


class Reaction(StrEnum):
    """Reactions to a flag; each includes the one before."""

    MARK = "mark"
    NOTIFY = "notify"
    PAUSE = "pause"
    ASK = "ask"

    @property
    def level(self) -> int:
        """0 to 3."""
        return list(Reaction).index(self)


class PolicyAnswer(StrEnum):
    """Answers to an action of a risk class, or to a request."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagRule:
    """Reaction to flags of a severity (and of one detector, where it is named); ``site`` "" is every site."""

    severity: Severity
    reaction: Reaction
    site: str = ""
    detector: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskRule:
    """Answer to actions of a risk class; ``site`` "" is every site."""

    risk: RiskClass
    answer: PolicyAnswer
    site: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionPolicy:
    """When a run is marked, reported, paused or held for a decision (DESIGN part 1, operator)."""

    flags: tuple[FlagRule, ...] = ()
    risks: tuple[RiskRule, ...] = ()

    def reaction(self, site: str, severity: Severity, detector: str) -> Reaction:
        """Return the reaction of the most specific rule: the site before all sites, then the detector before its
        severity.
        """
        fitting = [
            rule
            for rule in self.flags
            if rule.site in ("", site)
            and rule.detector in ("", detector)
            and (rule.detector or rule.severity is severity)
        ]
        return max(fitting, key=_specificity, default=_MARK_ONLY).reaction

    def answer(self, site: str, risk: RiskClass) -> PolicyAnswer:
        """Return whether an action of this class is done, asked about or refused on a site."""
        fitting = [rule for rule in self.risks if rule.site in ("", site) and rule.risk is risk]
        return max(
            fitting, key=lambda rule: bool(rule.site), default=RiskRule(risk=risk, answer=PolicyAnswer.ALLOW)
        ).answer


def _specificity(rule: FlagRule) -> tuple[bool, bool]:
    return bool(rule.site), bool(rule.detector)


_MARK_ONLY = FlagRule(severity=Severity.HINT, reaction=Reaction.MARK)

DEFAULT_POLICY = InterventionPolicy(
    flags=(
        FlagRule(severity=Severity.HINT, reaction=Reaction.MARK),
        FlagRule(severity=Severity.WARNING, reaction=Reaction.NOTIFY),
        FlagRule(severity=Severity.ERROR, reaction=Reaction.PAUSE),
    ),
    risks=tuple(
        RiskRule(risk=risk, answer=PolicyAnswer.ASK if risk.level >= 3 else PolicyAnswer.ALLOW)
        for risk in RiskClass
    ),
)
"""Default policy of a workspace."""

UNATTENDED = InterventionPolicy(
    flags=tuple(FlagRule(severity=severity, reaction=Reaction.MARK) for severity in Severity),
    risks=tuple(RiskRule(risk=risk, answer=PolicyAnswer.ALLOW) for risk in RiskClass),
)
"""Of runs that nobody watches (``sitelore run`` without ``--supervised``): flags only mark, nothing is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCount:
    """Effect a policy would have had on the stored runs of a site ("" for all): counts of runs.

    ``failed_*`` are those of them that were scored below 1; ``judged`` is how many were scored at all.
    """

    site: str
    runs: int
    judged: int
    failed: int
    marked: int
    notified: int
    paused: int
    asked: int
    failed_notified: int
    failed_paused: int
    failed_asked: int
    first_step: float | None = None
    """Median step of the first pause or question, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyPreview:
    """Effect of a policy on the stored runs: over all, then by site; and runs it would have held, with the step."""

    whole: PolicyCount
    sites: tuple[PolicyCount, ...] = ()
    held: tuple[tuple[str, int], ...] = ()
