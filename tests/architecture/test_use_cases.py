"""The engine offers what ``EngineApi`` declares: the same parameters, defaults and types; more only with a default."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from app.engine import channel
from app.engine.api.engine_api import EngineApi
from app.engine.engine import Engine


@pytest.fixture
async def engine(tmp_path: Path):
    opened = await Engine.open(tmp_path / "workspace", "ana")
    yield opened
    await opened.aclose()


def _described(method: object) -> list[tuple[str, str, object, str]]:
    """Return name, kind, default and annotation of each parameter, and the annotation of the result."""
    signature = inspect.signature(method)  # type: ignore[arg-type]
    parameters = [
        (one.name, one.kind.name, one.default, str(one.annotation))
        for one in signature.parameters.values()
        if one.name != "self"
    ]
    return [*parameters, ("return", "", None, str(signature.return_annotation))]


async def test_each_use_case_has_the_signature_that_the_interface_declares(engine: Engine) -> None:
    names = channel.use_cases()
    assert len(names) > 100
    differing = {}
    for name in names:
        declared, offered = _described(getattr(EngineApi, name)), _described(getattr(engine, name))
        more = [one for one in offered if one not in declared]
        if [one for one in offered if one in declared] != declared or any(
            one[2] is inspect.Parameter.empty for one in more
        ):
            differing[name] = (declared, offered)
    assert differing == {}


FORWARDED = {"decide", "preflight", "send_hint"}
"""Use cases that a second service has by the same name: the first one adds to it and is offered."""


async def test_a_use_case_has_one_service_or_is_known_to_be_forwarded(engine: Engine) -> None:
    owners = {type(getattr(engine, name).__self__) for name in channel.use_cases()} - {Engine}
    several = {name for name in channel.use_cases() if sum(hasattr(owner, name) for owner in owners) > 1}
    assert several - set(vars(Engine)) == FORWARDED
