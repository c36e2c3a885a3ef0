"""Intervention policy, as the operator edits it: when a run is marked, reported, paused or held for a decision.
Pure data.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from app.engine.core.verdicts import Severity


class RiskClass(StrEnum):
    """Risk classes of actions, the harmless first."""

    READS = "reads"
    EDITS = "edits"  # fills in a form that is not sent yet
    SIGNS_IN = "signs in"
    SIGNS_OUT = "signs out"
    SENDS = "sends"  # changes something on the site, or writes to somebody
    UPLOADS = "uploads"
    BUYS = "buys"
    PAYS = "pays"
    DELETES = "deletes"

    @property
    def level(self) -> int:
        """Level from 0 for what only reads to 3 for what can't be undone."""
        return _LEVELS[self]

    @property
    def changes(self) -> bool:
        """Whether it leaves something behind on the site."""
        return self.level >= 2


RISK_CLASS_ALIASES = {
    "buy": RiskClass.BUYS,
    "order": RiskClass.BUYS,
    "pay": RiskClass.PAYS,
    "delete": RiskClass.DELETES,
    "send": RiskClass.SENDS,
    "publish": RiskClass.SENDS,
    "publishes": RiskClass.SENDS,
    "change": RiskClass.SENDS,
    "changes": RiskClass.SENDS,
    "upload": RiskClass.UPLOADS,
    "sign-in": RiskClass.SIGNS_IN,
    "sign-out": RiskClass.SIGNS_OUT,
}
"""Aliases of classes that leave something behind, as a person types them (``--allow buy,publish``)."""


def risk_classes(names: Iterable[str]) -> frozenset[RiskClass]:
    """Return the risk classes that a person names.

    Raises ``ValueError`` with the first unknown name.
    """
    known = {risk.value.replace(" ", "-"): risk for risk in RiskClass} | RISK_CLASS_ALIASES
    found: set[RiskClass] = set()
    for name in names:
        key = name.strip().casefold().replace(" ", "-").replace("_", "-")
        if key not in known:
            raise ValueError(name.strip())
        found.add(known[key])
    return frozenset(found)


_LEVELS = {
    RiskClass.READS: 0,
    RiskClass.EDITS: 1,
    RiskClass.SIGNS_IN: 1,
    RiskClass.SIGNS_OUT: 1,
    RiskClass.SENDS: 2,
    RiskClass.UPLOADS: 2,
    RiskClass.BUYS: 3,
    RiskClass.PAYS: 3,
    RiskClass.DELETES: 3,
}


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
