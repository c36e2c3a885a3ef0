"""Names of annotators, checked alike wherever one comes in: assignment, files of verdicts, the command line."""

from __future__ import annotations

from app.errors import UsageError

ME = "me"
"""Stands for the author of this workspace."""
MAX_NAME = 80
"""Most characters of a person's name."""


def check_name(name: str) -> str:
    """Return a person's name without the space around it.

    Raises:
        UsageError: it is empty, too long, or has control characters.
    """
    bare = name.strip()
    if not bare or len(bare) > MAX_NAME or not bare.isprintable():
        raise UsageError(
            f"{bare[:40]!r} is no name of a person", remedy=f"use 1 to {MAX_NAME} printable characters"
        )
    return bare
