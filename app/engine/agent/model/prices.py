"""Prices of tokens: as set by the user, else as ``resources/model_prices.json`` lists them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from app.assets import resource
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
