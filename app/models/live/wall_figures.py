"""Sums over live runs: states, money, tokens, and what ended in the last hour.  Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from app.engine.api.live_filter_words import STATE_GROUPS, state_group
from app.engine.core.cost import Cost, amount
from app.engine.core.supervision import LiveRow, RunState
from app.engine.core.trajectory import Outcome
from app.models.common.translate import tr

HOUR = 3600.0
NEAR_LIMIT = 0.8
"""Share of its budget from which a run is marked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WallFigures:
    """Sums over some runs.

    Attributes:
        states: number of runs by ``STATE_GROUPS``.
        cost: of all runs with a model, ``None`` where none has one.
        ended, answered: runs that ended within the last hour, and those of them with the outcome "answered".
    """

    runs: int = 0
    states: tuple[tuple[str, int], ...] = ()
    cost: Cost | None = None
    tokens: int = 0
    ended: int = 0
    answered: int = 0

    @property
    def spent_words(self) -> str:
        """``spent $4.20 · 1.2M tokens``; "" without a model."""
        money = tr("spent {0}").format(self.cost.short) if self.cost is not None else ""
        tokens = tr("{0} tokens").format(token_words(self.tokens)) if self.tokens else ""
        return " · ".join(part for part in (money, tokens) if part)

    @property
    def hour_words(self) -> str:
        """``last hour: 14 ended, 64 % answered``; "" if none ended."""
        if not self.ended:
            return ""
        share = round(100 * self.answered / self.ended)
        return tr("last hour: {0} ended, {1} % answered").format(self.ended, share)

    @property
    def explanation(self) -> str:
        """Sentences that say what each figure counts."""
        lines: list[str] = []
        if self.spent_words:
            lines.append(
                tr("{0}: by the {1} runs shown, ended ones too.").format(self.spent_words, self.runs)
            )
        if self.ended:
            lines.append(
                tr(
                    "Of the runs shown, {0} ended within the last 60 minutes, {1} of them with an answer. "
                    "Dismissed runs don't count."
                ).format(self.ended, self.answered)
            )
        return "\n".join(lines)


def wall_figures(rows: Iterable[LiveRow], now: float) -> WallFigures:
    """Return the sums over ``rows``; ``now`` is Unix seconds."""
    rows = tuple(rows)
    counts = Counter(map(state_group, rows))
    costs = [row.cost for row in rows if row.cost is not None]
    recent = [row for row in rows if row.state is RunState.ENDED and row.ended_at > now - HOUR]
    return WallFigures(
        runs=len(rows),
        states=tuple((state, counts[state]) for state in STATE_GROUPS if counts[state]),
        cost=sum(costs, Cost()) if costs else None,
        tokens=sum(row.tokens for row in rows),
        ended=len(recent),
        answered=sum(row.outcome == Outcome.ANSWERED and not row.ended_by for row in recent),
    )


def state_count_words(state: str, count: int) -> str:
    """Return ``4 need you``, ``12 running``, ``3 failed``."""
    if state == "needs":
        return tr("{0} needs you").format(count) if count == 1 else tr("{0} need you").format(count)
    words = {
        "running": tr("{0} running"),
        "paused": tr("{0} paused"),
        "queued": tr("{0} queued"),
        "interrupted": tr("{0} interrupted"),
        "failed": tr("{0} failed"),
        "stopped": tr("{0} stopped"),
        "done": tr("{0} done"),
    }
    return words[state].format(count)


def token_words(count: int) -> str:
    """``950``, ``12.3k``, ``1.2M``."""
    if count < 1_000:
        return str(count)
    if count < 999_950:
        return f"{count / 1_000:.1f}k"
    return f"{count / 1_000_000:.1f}M"


def budget_share(row: LiveRow) -> float:
    """Return the used share of a run's own budget of money or tokens, the larger one; 0 without a budget."""
    spent = row.cost.known if row.cost is not None else 0.0
    money = spent / row.max_money if row.max_money > 0 else 0.0
    return max(money, row.tokens / row.max_tokens if row.max_tokens > 0 else 0.0)


def is_near_limit(row: LiveRow) -> bool:
    """Whether a run has used most of its budget."""
    return budget_share(row) >= NEAR_LIMIT


def money_words(row: LiveRow) -> str:
    """``$0.12``, ``$0.12 of $0.50``; "" without a model."""
    if row.cost is None:
        return ""
    if row.max_money > 0:
        return tr("{0} of {1}").format(row.cost.short, f"${amount(row.max_money)}")
    return row.cost.short


def run_token_words(row: LiveRow) -> str:
    """``12.3k``, ``12.3k of 200.0k``; "" where none were used."""
    if row.max_tokens > 0 and (row.tokens or row.cost is not None):
        return tr("{0} of {1}").format(token_words(row.tokens), token_words(row.max_tokens))
    return token_words(row.tokens) if row.tokens else ""


def spent_words(row: LiveRow) -> str:
    """Return what is nearer to its limit for a tile, money or tokens: ``$0.12 of $0.50``; "" without a model."""
    money, tokens = money_words(row), run_token_words(row)
    tokens = tr("{0} tokens").format(tokens) if tokens else ""
    spent = row.cost
    if spent is None or (spent.unpriced and not spent.known):  # "cost unknown" on every tile says nothing
        return tokens or money
    by_money = spent.known / row.max_money if row.max_money > 0 else 0.0
    return tokens if tokens and budget_share(row) > by_money else money
