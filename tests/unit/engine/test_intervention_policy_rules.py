"""The written rules of interventions (ARCHITECTURE, "A supervised run"; ``InterventionPolicy``), one row a clause."""

from __future__ import annotations

import pytest

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

HINT, WARNING, ERROR = Severity.HINT, Severity.WARNING, Severity.ERROR
MARK, NOTIFY, PAUSE, ASK = Reaction.MARK, Reaction.NOTIFY, Reaction.PAUSE, Reaction.ASK


def flag(reaction: Reaction, severity: Severity = ERROR, site: str = "", detector: str = "") -> FlagRule:
    return FlagRule(severity=severity, reaction=reaction, site=site, detector=detector)


FLAGS: tuple[tuple[str, tuple[FlagRule, ...], Reaction], ...] = (
    ("no rule: a flag only marks", (), MARK),
    ("a rule of its severity holds", (flag(PAUSE),), PAUSE),
    ("one of another severity does not", (flag(PAUSE, WARNING),), MARK),
    ("a rule of its detector holds", (flag(ASK, detector="loop"),), ASK),
    ("whatever severity that rule has", (flag(ASK, HINT, detector="loop"),), ASK),
    ("one of another detector does not", (flag(ASK, detector="slow"),), MARK),
    ("a rule of its site holds", (flag(NOTIFY, site="shop"),), NOTIFY),
    ("one of another site does not", (flag(PAUSE, site="wiki"),), MARK),
    ("one of another site's detector does not", (flag(PAUSE, site="wiki", detector="loop"),), MARK),
    ("the site before all sites", (flag(NOTIFY, site="shop"), flag(PAUSE)), NOTIFY),
    ("the detector before its severity", (flag(NOTIFY, detector="loop"), flag(PAUSE)), NOTIFY),
    ("the site before the detector", (flag(NOTIFY, site="shop"), flag(PAUSE, detector="loop")), NOTIFY),
    (
        "the site's detector before the site",
        (flag(NOTIFY, site="shop", detector="loop"), flag(PAUSE, site="shop")),
        NOTIFY,
    ),
    (
        "the site's detector before the detector",
        (flag(NOTIFY, site="shop", detector="loop"), flag(PAUSE, detector="loop")),
        NOTIFY,
    ),
    ("a rule that asks less counts as well", (flag(MARK, site="shop"), flag(ASK), flag(ASK, detector="loop")), MARK),
)  # fmt: skip


@pytest.mark.parametrize(("rules", "reaction"), [row[1:] for row in FLAGS], ids=[row[0] for row in FLAGS])
@pytest.mark.parametrize("turned", [False, True], ids=["as written", "the other way round"])
def test_the_most_particular_rule_counts(
    rules: tuple[FlagRule, ...], reaction: Reaction, turned: bool
) -> None:
    policy = InterventionPolicy(flags=rules[::-1] if turned else rules)
    assert policy.reaction("shop", ERROR, "loop") is reaction


BUYS, DELETES = RiskClass.BUYS, RiskClass.DELETES


def risk(answer: PolicyAnswer, site: str = "", of: RiskClass = BUYS) -> RiskRule:
    return RiskRule(risk=of, answer=answer, site=site)


RISKS: tuple[tuple[str, tuple[RiskRule, ...], PolicyAnswer], ...] = (
    ("no rule: it is allowed", (), PolicyAnswer.ALLOW),
    ("a rule of its class holds", (risk(PolicyAnswer.ASK),), PolicyAnswer.ASK),
    ("one of another class does not", (risk(PolicyAnswer.DENY, of=DELETES),), PolicyAnswer.ALLOW),
    ("a rule of its site holds", (risk(PolicyAnswer.DENY, "shop"),), PolicyAnswer.DENY),
    ("one of another site does not", (risk(PolicyAnswer.DENY, "wiki"),), PolicyAnswer.ALLOW),
    ("the site before all sites: stricter", (risk(PolicyAnswer.DENY, "shop"), risk(PolicyAnswer.ALLOW)),
     PolicyAnswer.DENY),
    ("the site before all sites: milder", (risk(PolicyAnswer.ALLOW, "shop"), risk(PolicyAnswer.DENY)),
     PolicyAnswer.ALLOW),
    ("another site's does not outweigh all sites", (risk(PolicyAnswer.ALLOW, "wiki"), risk(PolicyAnswer.DENY)),
     PolicyAnswer.DENY),
)  # fmt: skip


@pytest.mark.parametrize(("rules", "answer"), [row[1:] for row in RISKS], ids=[row[0] for row in RISKS])
@pytest.mark.parametrize("turned", [False, True], ids=["as written", "the other way round"])
def test_what_is_done_about_a_class_of_actions(
    rules: tuple[RiskRule, ...], answer: PolicyAnswer, turned: bool
) -> None:
    policy = InterventionPolicy(risks=rules[::-1] if turned else rules)
    assert policy.answer("shop", BUYS) is answer


def test_each_reaction_does_what_the_one_before_does_too() -> None:
    assert sorted(Reaction, key=lambda one: one.level) == [MARK, NOTIFY, PAUSE, ASK]


USUALLY = (
    (RiskClass.READS, PolicyAnswer.ALLOW),
    (RiskClass.EDITS, PolicyAnswer.ALLOW),
    (RiskClass.SIGNS_IN, PolicyAnswer.ALLOW),
    (RiskClass.SIGNS_OUT, PolicyAnswer.ALLOW),
    (RiskClass.SENDS, PolicyAnswer.ALLOW),
    (RiskClass.UPLOADS, PolicyAnswer.ALLOW),
    (RiskClass.BUYS, PolicyAnswer.ASK),
    (RiskClass.PAYS, PolicyAnswer.ASK),
    (RiskClass.DELETES, PolicyAnswer.ASK),
)


@pytest.mark.parametrize(("deed", "answer"), USUALLY, ids=[deed.value for deed, _ in USUALLY])
def test_the_usual_policy_asks_before_what_can_not_be_taken_back(
    deed: RiskClass, answer: PolicyAnswer
) -> None:
    assert DEFAULT_POLICY.answer("any site", deed) is answer


@pytest.mark.parametrize(("severity", "reaction"), [(HINT, MARK), (WARNING, NOTIFY), (ERROR, PAUSE)])
def test_the_usual_policy_by_severity(severity: Severity, reaction: Reaction) -> None:
    assert DEFAULT_POLICY.reaction("any site", severity, "any detector") is reaction
