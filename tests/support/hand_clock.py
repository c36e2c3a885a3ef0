"""A clock for a person's hands: it stands still but for what a test lets go by."""

from __future__ import annotations


class HandClock:
    """Seconds that go up when a test says so."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds

    def forward(self, seconds: float = 1.0) -> None:
        """Let time go by."""
        self.seconds += seconds
