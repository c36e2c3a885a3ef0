"""Limits of a model's use: prices and budget of a run, timeouts and retries of a request, signs of life."""

from __future__ import annotations

import email.utils
import json
import random
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal

from app.assets import resource
from app.engine.core.model_api import AgentRole, ModelError, ModelErrorKind, ModelUsage
from app.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens: in, in from the endpoint's cache, out."""

    tokens_in: float
    tokens_out: float
    cached: float | None = None

    def of(self, tokens_in: int, tokens_out: int, cached: int = 0) -> float:
        """Return the cost of these tokens; ``cached`` of those in came from the cache."""
        cheap = self.tokens_in if self.cached is None else self.cached
        fresh = max(0, tokens_in - cached)
        return (fresh * self.tokens_in + min(cached, tokens_in) * cheap + tokens_out * self.tokens_out) / 1e6


def parse_price(text: str) -> Price | None:
    """Read a price from the settings: ``in/out`` or ``in/cached/out``; ``None`` for an empty text.

    Raises:
        UsageError: it is neither.
    """
    if not text.strip():
        return None
    try:
        numbers = [float(part) for part in text.split("/")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3) or any(not 0 <= number < 1e6 for number in numbers):
        raise UsageError(
            f"{text!r} is no price",
            remedy="give US dollars for a million tokens in and out, such as 2.50/10, or in/cached/out",
        )
    return Price(
        tokens_in=numbers[0], tokens_out=numbers[-1], cached=numbers[1] if len(numbers) == 3 else None
    )


def known_price(model: str) -> Price | None:
    """Return the listed price of a model by its longest listed prefix; ``None`` where none is."""
    name = model.rpartition("/")[2].lower()
    fitting = [key for key in _listed() if name == key or name.startswith(key + "-20")]
    return _listed()[max(fitting, key=len)] if fitting else None


@cache
def _listed() -> dict[str, Price]:
    document: dict[str, Any] = json.loads(resource("model_prices.json").read_text("utf-8"))
    return {
        name: Price(tokens_in=cost[0], cached=cost[1], tokens_out=cost[2])
        for name, cost in document["prices"].items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits of one run; 0 is none.

    Attributes:
        seconds: spent waiting for the model, retries and pauses included.
        tokens: in and out together.
        money: US dollars, by the models' prices.
    """

    seconds: float = 0.0
    tokens: int = 0
    money: float = 0.0


Limit = Literal["tokens", "money", "seconds"]
LEAST_ANSWER = 256
"""Tokens that an answer has room for where a shared budget nears its end."""
SMALLEST_BUDGET = 1e-9
"""US dollars that a budget has at least: 0 is none."""


class Meter:
    """Counts usage and refuses requests beyond the budget."""

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self._used: dict[AgentRole, ModelUsage] = {}
        self._reserved_tokens, self._reserved_money = 0, 0.0
        self._least = 1
        self.refused_by: Limit | Literal[""] = ""
        """The limit that refused the last request, "" where none did."""

    def used(self) -> dict[AgentRole, ModelUsage]:
        """Return the usage by role."""
        return dict(self._used)

    def leave(self, tokens: int | None, money: float | None) -> None:
        """Change the budget so that this much is left from now on; ``None`` for no limit.

        A request whose answer would be cut to a useless length is refused from now on, too.
        """
        used, self._least = self.total(), LEAST_ANSWER
        self.budget = Budget(
            seconds=self.budget.seconds,
            tokens=0 if tokens is None else max(1, used.tokens_in + used.tokens_out + tokens),
            money=0.0 if money is None else max(SMALLEST_BUDGET, (used.money or 0.0) + money),
        )

    def total(self) -> ModelUsage:
        """Return the usage of all roles."""
        return _usage_sum(*self._used.values())

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
        model: str = "",
    ) -> None:
        """Add to a role's usage; tokens without a price make its cost unknown."""
        unknown = price is None and any(tokens)
        money = price.of(tokens[0], tokens[1], cached) if price is not None else None if unknown else 0.0
        more = ModelUsage(
            calls=calls, tokens_in=tokens[0], tokens_out=tokens[1], cached=cached, seconds=seconds, retries=retries,
            money=money, model=model,
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
        self._reserved_tokens += tokens
        self._reserved_money += money
        try:
            yield allowed
        finally:
            self._reserved_tokens -= tokens
            self._reserved_money -= money

    def _allowed(self, wanted_in: int, most_out: int, price: Price | None) -> int:
        used, budget, self.refused_by = self.total(), self.budget, ""
        least = min(self._least, most_out)
        if self.seconds_left() <= 0:
            raise self._refusal("seconds", f"{used.seconds:.0f} of {budget.seconds:g} seconds")
        allowed = most_out
        if budget.tokens:
            tokens = used.tokens_in + used.tokens_out
            allowed = min(allowed, budget.tokens - tokens - self._reserved_tokens - wanted_in)
            if allowed < least:
                raise self._refusal("tokens", f"{tokens} of {budget.tokens} tokens")
        if budget.money:
            if price is None or used.money is None:
                raise self._refusal("money", "a budget of money needs the model's price, which is not set")
            left = budget.money - used.money - self._reserved_money - price.of(wanted_in, 0)
            allowed = min(allowed, int(left / price.tokens_out * 1e6)) if price.tokens_out else allowed
            if left <= 0 or allowed < least:
                raise self._refusal("money", f"{used.money:.4f} of {budget.money:g} US dollars")
        return allowed

    def _refusal(self, limit: Limit, what: str) -> ModelError:
        self.refused_by = limit
        return budget_exhausted(what)


def budget_exhausted(what: str) -> ModelError:
    """Return the error of an exhausted budget."""
    return ModelError(
        f"the run's model budget is used up: {what}",
        ModelErrorKind.BUDGET,
        "raise it in the settings, or shorten the task",
    )


def _usage_sum(*usages: ModelUsage) -> ModelUsage:
    counted = [part.name for part in fields(ModelUsage) if part.name not in ("money", "model")]
    costs = [one.money for one in usages]
    return ModelUsage(
        **{name: sum(getattr(one, name) for one in usages) for name in counted},
        money=None if None in costs else sum(cost or 0.0 for cost in costs),
        model=next((one.model for one in reversed(usages) if one.model), ""),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Timeouts in seconds, and the pauses before retries.

    Attributes:
        first: until the first byte of an answer: long prompts take their time.
        idle: between two bytes of it.
        whole: for one attempt in all.
        attempts: how often one request is sent at most.
        pause: before the second attempt; doubled for each more up to ``longest``, and shortened at random.
        wait: longest "retry after" of the endpoint that is obeyed.
    """

    first: float = 90.0
    idle: float = 30.0
    whole: float = 300.0
    attempts: int = 5
    pause: float = 0.5
    longest: float = 20.0
    wait: float = 90.0

    def delay(self, attempt: int, asked: float | None, rng: random.Random) -> float:
        """Return the seconds to wait before this attempt (1 is the second), never less than the endpoint asked for.

        Half of the pause is random, so that workers that failed together don't retry together.
        """
        pause = min(self.longest, self.pause * 2 ** (attempt - 1)) * rng.uniform(0.5, 1.0)
        return pause if asked is None else asked + pause * 0.1


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the seconds of ``Retry-After``, a number or a date; ``None`` without one that can be read."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) * unit
        except ValueError:
            continue
        return seconds if 0 <= seconds < 1e6 else None
    stated = headers.get("retry-after", "")
    try:
        moment = email.utils.parsedate_to_datetime(stated).timestamp()
    except (ValueError, TypeError, IndexError):
        return None
    return max(0.0, moment - (time.time() if now is None else now))


class Heartbeat:
    """Signs of life of an endpoint over all requests in progress: tells slow from hung.

    Every piece of an answer is a sign of life, and so is sending a request; a pause that the endpoint asked for is no
    silence.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asking = 0
        self._last = self._until = 0.0
        self.answering = False
        """The answer has begun to arrive."""

    @contextmanager
    def asking(self) -> Generator[None]:
        """Mark a request with all its attempts."""
        self.sent()
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1

    def sent(self) -> None:
        """Note that an attempt begins."""
        self._last, self._until, self.answering = self._clock(), 0.0, False

    def received(self) -> None:
        """Note that a piece of an answer came."""
        self._last, self.answering = self._clock(), True

    def pauses(self, seconds: float) -> None:
        """Note that nothing is sent for so many seconds, on purpose."""
        self._until = self._clock() + seconds

    @property
    def silence(self) -> float | None:
        """Seconds since the last sign of life; ``None`` while no request is in progress."""
        return max(0.0, self._clock() - max(self._last, self._until)) if self._asking else None
