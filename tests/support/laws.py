"""How many examples a law is tried with."""

from __future__ import annotations

from hypothesis import settings


def examples(deep: int) -> int:
    """Return ``deep`` under the deep profile, else at most what the fast profile allows."""
    return deep if settings.get_current_profile_name() == "deep" else min(deep, settings.default.max_examples)
