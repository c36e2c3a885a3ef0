"""The gate between a tip and an agent: lint errors withhold a tip unless a person has waived them with a reason.

A tip becomes active only without lint errors, or with a waiver that names every rule it breaks.  A tip that was
active before the gate existed keeps its status, but retrieval skips it until it is corrected or waived: deactivating
people's tips silently would hide why, and a rule that a later version adds is covered as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from kb.lint import lint
from kb.record import to_json
from kb.tip import LintSeverity, Tip, TipDraft, Waiver

Judge = Callable[[TipDraft], tuple[str, ...]]
"""Returns the error rules a draft breaks."""


def error_rules(
    draft: TipDraft, intent: str = "", answers: Sequence[tuple[str, str]] = ()
) -> tuple[str, ...]:
    """The names of the error rules a draft breaks, each once.

    ``intent`` is that of the run it was learnt from; ``answers`` are reference answers that it must not hold, each with
    the name of its task.
    """
    found = lint(draft, intent=intent, answers=answers)
    return tuple(dict.fromkeys(one.rule for one in found if one.severity is LintSeverity.ERROR))


def not_waived(rules: Sequence[str], waiver: Waiver | None) -> tuple[str, ...]:
    """The rules that no waiver covers."""
    covered = waiver.rules if waiver is not None else ()
    return tuple(rule for rule in rules if rule not in covered)


def refusal(tip: Tip | str, rules: Sequence[str]) -> str:
    """Why a tip can't become active, and what to do about it."""
    name = tip if isinstance(tip, str) else tip.id
    return (
        f"{name} can't be active: lint error {', '.join(rules)}; correct the tip, or waive it with a reason"
    )


def held_back(rules: Sequence[str]) -> str:
    """Why retrieval skips a tip."""
    return f"lint error ({', '.join(rules)}): not given until the tip is corrected, or the error waived"


def waiver_to_json(waiver: Waiver | None) -> str:
    """Serialise a waiver for its column; "" for none."""
    if waiver is None:
        return ""
    fields = {"author": waiver.author, "at": waiver.at, "reason": waiver.reason, "rules": list(waiver.rules)}
    return to_json(fields)


def waiver_from_json(text: str) -> Waiver | None:
    """Read the output of ``waiver_to_json``; anything else is no waiver."""
    if not text:
        return None
    try:
        given = json.loads(text)
        rules = tuple(str(rule) for rule in given["rules"])
        return Waiver(
            rules=rules, reason=str(given["reason"]), author=str(given["author"]), at=float(given["at"])
        )
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
