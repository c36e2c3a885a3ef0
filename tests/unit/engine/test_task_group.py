"""Work done at once: an expected error comes out as itself, an unexpected one as it is."""

from __future__ import annotations

import asyncio

import pytest

from app.engine.graph.task_group import run_all
from app.errors import SiteloreError


async def fails(error: Exception) -> None:
    await asyncio.sleep(0)
    raise error


async def test_the_first_expected_error_is_raised_and_the_others_are_ended():
    ended = []

    async def waits() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    with pytest.raises(SiteloreError, match="gone"):
        await run_all([waits(), fails(SiteloreError("gone"))])
    assert ended == [True]


async def test_an_unexpected_error_is_raised_as_a_group():
    with pytest.raises(ExceptionGroup):
        await run_all([fails(ValueError("a bug")), fails(SiteloreError("gone"))])
