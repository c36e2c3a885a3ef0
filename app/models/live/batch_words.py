"""Words of a batch as the window shows them: its progress, its spending, and the reason for its state."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from app.engine.core.cost import amount
from app.models.common.translate import tr

if TYPE_CHECKING:
    from app.engine.core.batch import BatchRow
    from app.engine.core.cost import Cost

_REASONS = (
    "paused by {0}",
    "stopped by {0}",
    "the program that ran it ended; resume it to go on",
    "{0} of {1} tokens are used; raise the budget to go on",
    "{0} of {1} is used; raise the budget to go on",
    "the price of a model that was used is not known; set it, or take the budget of money away",
    "{0} of {1} tokens: too little is left for the next answer; raise the budget",
    "{0} of {1}: too little is left for the next answer; raise the budget",
    "{0} runs in a row could not begin; the last, of task {1}: {2}",
)
"""The engine's reasons for a state; a message of a run among them stays as it is."""


def progress_words(row: BatchRow) -> str:
    """Return ``37 of 812, 4 need you, 61 % answered, $12.40 of $50.00``."""
    parts = [tr("{0} of {1}").format(row.ended, row.total)]
    if row.needy:
        needy = tr("{0} needs you") if row.needy == 1 else tr("{0} need you")
        parts.append(needy.format(row.needy))
    if row.answered_share is not None:
        parts.append(tr("{0} % answered").format(f"{row.answered_share:.0%}".removesuffix("%")))
    return ", ".join([*parts, *_spent(row)])


def spent_words(row: BatchRow) -> str:
    """Return ``$12.40 of $50.00 · 12,400 tokens``; "" without either."""
    return " · ".join(_spent(row))


def reason_words(row: BatchRow) -> str:
    """Return the reason for a batch's state; "" where the state says it."""
    for reason in _REASONS:
        pattern = re.sub(r"\\{\d\\}", "(.+)", re.escape(reason))
        if (found := re.fullmatch(pattern, row.why, re.DOTALL)) is not None:
            return tr(reason).format(*found.groups())
    return row.why


def _spent(row: BatchRow) -> list[str]:
    return [part for part in (_money(row), _tokens(row)) if part]


def _money(row: BatchRow) -> str:
    spent = _cost(row.cost) if row.cost is not None else ""
    if not row.max_money:
        return spent
    return tr("{0} of {1}").format(spent or "$0.00", f"${amount(row.max_money)}")


def _tokens(row: BatchRow) -> str:
    if row.max_tokens:
        return tr("{0} of {1} tokens").format(f"{row.tokens:,}", f"{row.max_tokens:,}")
    return tr("{0} tokens").format(f"{row.tokens:,}") if row.tokens else ""


def _cost(cost: Cost) -> str:
    if not cost.unpriced:
        return cost.short
    return tr("at least {0}").format(f"${amount(cost.known)}") if cost.known else tr("cost unknown")
