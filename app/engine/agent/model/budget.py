"""Budget of a run's model calls, and the usage of each role."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from app.engine.agent.model.prices import Price
from app.engine.core.model_api import AgentRole, ModelError, ModelErrorKind, ModelUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits of one run; 0 is none.

    Attributes:
        seconds: spent waiting for the model, retries and pauses included.
        tokens: in and out together.
        money: US dollars, by the model's price.
    """

    seconds: float = 0.0
    tokens: int = 0
    money: float = 0.0


class Meter:
    """Counts usage and refuses requests beyond the budget."""

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self._used: dict[AgentRole, ModelUsage] = {}
        self._tokens_aside, self._money_aside = 0, 0.0

    def used(self) -> dict[AgentRole, ModelUsage]:
        """Return the usage by role."""
        return dict(self._used)

    def total(self) -> ModelUsage:
        """Return the usage of all roles."""
        whole = ModelUsage()
        for usage in self._used.values():
            whole = _usage_sum(whole, usage)
        return whole

    def count(
        self,
        role: AgentRole,
        *,
        calls: int = 0,
        tokens: tuple[int, int] = (0, 0),
        cached: int = 0,
        seconds: float = 0.0,
        retries: int = 0,
        price: Price | None = None,
    ) -> None:
        """Add to a role's usage."""
        money = price.of(tokens[0], tokens[1], cached) if price is not None else 0.0
        more = ModelUsage(
            calls=calls, tokens_in=tokens[0], tokens_out=tokens[1], cached=cached, seconds=seconds, retries=retries,
            money=money,
        )  # fmt: skip
        self._used[role] = _usage_sum(self._used.get(role, ModelUsage()), more)

    def seconds_left(self) -> float:
        """Return the seconds left; infinite without a limit."""
        return self.budget.seconds - self.total().seconds if self.budget.seconds else float("inf")

    @contextmanager
    def reserve(self, wanted_in: int, most_out: int, price: Price | None) -> Generator[int]:
        """Yield the tokens that the answer to a request of about ``wanted_in`` tokens may have.

        That much is reserved while the block runs, so that concurrent requests keep the limits too; count the usage
        within it.

        Raises:
            ModelError: a limit is reached, or the request alone would exceed it.
        """
        allowed = self._allowed(wanted_in, most_out, price)
        tokens, money = wanted_in + allowed, price.of(wanted_in, allowed) if price is not None else 0.0
        self._tokens_aside += tokens
        self._money_aside += money
        try:
            yield allowed
        finally:
            self._tokens_aside -= tokens
            self._money_aside -= money

    def _allowed(self, wanted_in: int, most_out: int, price: Price | None) -> int:
        used, budget = self.total(), self.budget
        if self.seconds_left() <= 0:
            raise budget_exhausted(f"{used.seconds:.0f} of {budget.seconds:g} seconds")
        allowed = most_out
        if budget.tokens:
            tokens = used.tokens_in + used.tokens_out
            allowed = min(allowed, budget.tokens - tokens - self._tokens_aside - wanted_in)
            if allowed < 1:
                raise budget_exhausted(f"{tokens} of {budget.tokens} tokens")
        if budget.money:
            if price is None:
                raise budget_exhausted("a budget of money needs to know the model's price, which is not set")
            left = budget.money - used.money - self._money_aside - price.of(wanted_in, 0)
            allowed = min(allowed, int(left / price.tokens_out * 1e6)) if price.tokens_out else allowed
            if left <= 0 or allowed < 1:
                raise budget_exhausted(f"{used.money:.4f} of {budget.money:g} US dollars")
        return allowed


def budget_exhausted(what: str) -> ModelError:
    """Return the error of an exhausted budget."""
    return ModelError(
        f"the run's budget for its model does not reach any further: {what} used",
        ModelErrorKind.BUDGET,
        "raise it in the settings, or shorten the task",
    )


def _usage_sum(one: ModelUsage, other: ModelUsage) -> ModelUsage:
    return replace(
        one,
        calls=one.calls + other.calls,
        tokens_in=one.tokens_in + other.tokens_in,
        tokens_out=one.tokens_out + other.tokens_out,
        cached=one.cached + other.cached,
        seconds=one.seconds + other.seconds,
        retries=one.retries + other.retries,
        money=one.money + other.money,
    )
