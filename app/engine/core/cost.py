"""Cost of a model's use in US dollars: the part that is known, and the models whose price is not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.engine.core.model_api import ModelUsage

UNNAMED = "the model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """US dollars as far as prices are known.

    Attributes:
        known: of all calls to models with a price.
        unpriced: models without one, each with the number of its calls.
    """

    known: float = 0.0
    unpriced: tuple[tuple[str, int], ...] = ()

    def __add__(self, other: Cost) -> Cost:
        return Cost(known=self.known + other.known, unpriced=_joined(self.unpriced, other.unpriced, 1))

    def __sub__(self, earlier: Cost) -> Cost:
        """Return the cost since an earlier reading of the same meter."""
        known = max(0.0, self.known - earlier.known)
        return Cost(known=round(known, 9), unpriced=_joined(self.unpriced, earlier.unpriced, -1))

    @property
    def total(self) -> float | None:
        """US dollars in all; ``None`` where a part is not known."""
        return None if self.unpriced else self.known

    @property
    def words(self) -> str:
        """The cost in words; a part that is not known is never shown as nothing."""
        if not self.unpriced:
            return f"{amount(self.known)} US dollars"
        names = ", ".join(name or UNNAMED for name, _ in self.unpriced)
        why = f"price of {names} unknown"
        return f"at least {amount(self.known)} US dollars, {why}" if self.known else f"cost unknown: {why}"

    @property
    def short(self) -> str:
        """The cost for a narrow place: ``$0.12``, ``at least $0.12``, ``cost unknown``."""
        if self.unpriced and not self.known:
            return "cost unknown"
        return f"{'at least ' if self.unpriced else ''}${amount(self.known)}".replace("$under ", "under $")


def amount(dollars: float | None) -> str:
    """Return US dollars with two digits, or four below ten cents; "unknown" for ``None``."""
    if dollars is None:
        return "unknown"
    if 0 < dollars < 0.0001:
        return "under 0.0001"
    return f"{dollars:.4f}" if 0 < dollars < 0.1 else f"{dollars:.2f}"


def cost_of(usages: Iterable[ModelUsage]) -> Cost:
    """Return the cost of all roles' use."""
    total = Cost()
    for used in usages:
        total += Cost(unpriced=((used.model, used.calls),)) if used.money is None else Cost(known=used.money)
    return total


def _joined(
    one: tuple[tuple[str, int], ...], other: tuple[tuple[str, int], ...], sign: int
) -> tuple[tuple[str, int], ...]:
    calls = dict(one)
    for name, count in other:
        calls[name] = calls.get(name, 0) + sign * count
    return tuple(sorted((name, count) for name, count in calls.items() if count > 0))
