"""Use of a model by a run in words: requests, tokens, seconds and cost, in all and by role."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.models.common.translate import tr

if TYPE_CHECKING:
    from app.engine.api.exchange_api import ExchangeRow


def money_words(money: float | None) -> str:
    """``$0.0123``, or that the cost is unknown."""
    return f"${money:,.4f}" if money is not None else tr("cost unknown")


def totals_words(rows: Sequence[ExchangeRow]) -> str:
    """Return a line with the sums of a run (``Run: 12 requests · 61,000 tokens in · …``), then one a role."""
    if not rows:
        return ""
    roles = list(dict.fromkeys(row.role for row in rows if row.role))
    whole = [tr("Run: {0} requests").format(len(rows)), *_sums(rows)]
    by_role = [f"{role}: {' · '.join(_sums([row for row in rows if row.role == role]))}" for role in roles]
    return "\n".join([" · ".join(whole), *by_role])


def usage_line(rows: Sequence[ExchangeRow]) -> str:
    """Return the sums of a run in one line, then each role in short; "" where no model was asked."""
    if not rows:
        return ""
    roles = list(dict.fromkeys(row.role for row in rows if row.role))
    parts = [" · ".join((_count(rows), *_sums(rows)))]
    for role in roles if len(roles) > 1 else ():
        own = [row for row in rows if row.role == role]
        tokens = sum(row.tokens_in + row.tokens_out for row in own)
        parts.append(
            tr("{0} {1} tokens, {2}, {3}").format(role, f"{tokens:,}", _seconds(own), money_words(_cost(own)))
        )
    return " | ".join(parts)


def _count(rows: Sequence[ExchangeRow]) -> str:
    return tr("1 request") if len(rows) == 1 else tr("{0} requests").format(len(rows))


def _sums(rows: Sequence[ExchangeRow]) -> tuple[str, str, str, str]:
    tokens = sum(row.tokens_in for row in rows)
    cached = sum(row.cached for row in rows)
    words = tr("{0} tokens in").format(f"{tokens:,}")
    return (
        tr("{0} ({1} cached)").format(words, f"{cached:,}") if cached else words,
        tr("{0} out").format(f"{sum(row.tokens_out for row in rows):,}"),
        _seconds(rows),
        money_words(_cost(rows)),
    )


def _seconds(rows: Sequence[ExchangeRow]) -> str:
    """Return the time that the run waited for the model."""
    return f"{sum(row.seconds for row in rows):.1f} s"


def _cost(rows: Sequence[ExchangeRow]) -> float | None:
    costs = [row.money for row in rows if not row.error]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if costs and len(known) == len(costs) else None
