"""A clock that a test moves by hand."""

from __future__ import annotations


class ManualClock:
    """Seconds that advance only by ``forward``."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds

    def forward(self, seconds: float = 1.0) -> None:
        """Advance the clock."""
        self.seconds += seconds
