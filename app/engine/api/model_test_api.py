"""Test of a model endpoint: what it is asked, and the lines of its report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from app.engine.core.model_api import AgentRole


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTestRequest:
    """The endpoint and model to test; an empty field is the setting's, or that of ``role``.

    ``price`` is US dollars for a million tokens in/out.  ``key`` is used for this test and stored nowhere.
    ``as_given``: of the settings nothing is used but the key.
    """

    url: str = ""
    model: str = ""
    effort: str = ""
    price: str = ""
    role: AgentRole | None = None
    key: str = field(default="", repr=False)
    as_given: bool = False
    headers: str = field(default="", repr=False)
    api_version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCheck:
    """One line of the report: whether it works (``None``: not stated), what was found, what to do about it."""

    name: str
    ok: bool | None
    found: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReport:
    """The report on one model of an endpoint.

    Attributes:
        at: Unix seconds of the test.
        tokens: in and out, spent by the test.
        models: names that the endpoint lists, at most 500.
    """

    url: str
    model: str
    at: float
    checks: tuple[ModelCheck, ...] = ()
    tokens: tuple[int, int] = (0, 0)
    models: tuple[str, ...] = ()

    @property
    def is_usable(self) -> bool:
        """Whether it was reached and answered."""
        return any(check.name == "answer" and check.ok for check in self.checks)


class ModelTestApi(Protocol):
    """The test of a model. Part of ``EngineApi``."""

    async def test_model(self, request: ModelTestRequest) -> ModelReport: ...
    async def model_report(self, url: str, model: str = "") -> ModelReport | None: ...
