"""Tests the model endpoint of the settings, or another, and keeps the report per endpoint and model."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from app import settings
from app.engine.agent.model.capabilities import EndpointCapabilities
from app.engine.agent.model.capability_store import CapabilityStore, capabilities_path
from app.engine.agent.model.endpoint_test import EndpointTest
from app.engine.agent.model.endpoint_url import DEFAULT_URL, display_url
from app.engine.agent.model.limits import parse_price
from app.engine.agent.model.role_choices import role_choices
from app.engine.api.model_test_api import ModelCheck, ModelReport, ModelTestRequest
from app.engine.core.model_api import AgentRole
from app.engine.jobs import Job
from app.engine.services.core import Core
from app.errors import UsageError
from app.model_keys import kept_key, model_key

VERSION = 1


class ModelTestService:
    """The test of a model as a job, and the report on the last one."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def test_model(self, request: ModelTestRequest) -> ModelReport:
        """Test an endpoint; each line of the report is the job's progress."""

        async def work(job: Job) -> ModelReport:
            def say(check: ModelCheck) -> None:
                job.advance(job.done + 1, None, f"{check.name}: {check.found}")

            return await report_on(request, say)

        _, task = self._core.registry.start("Test of the model", work, cooperative=False)
        return await task

    async def model_report(self, url: str, model: str = "") -> ModelReport | None:
        """Return the report on the last test of a model, of an address' latest without a model; else ``None``."""
        return await asyncio.to_thread(stored_report, url, model)


async def report_on(request: ModelTestRequest, say: Callable[[ModelCheck], None]) -> ModelReport:
    """Test an endpoint, with the settings' values for what the request leaves empty, and store the report.

    A key of the keyring is sent to the server that it was kept for, and the environment's to the settings' only.

    Raises:
        UsageError: there is no address and no key, no such effort, or a price can't be read.
    """
    if request.effort not in settings.EFFORTS:
        raise UsageError(
            f"there is no effort {request.effort[:40]!r}", remedy=f"use {', '.join(settings.EFFORTS[1:])}"
        )
    request = await asyncio.to_thread(_as_given if request.as_given else _completed, request)
    if not request.url and not request.key:
        raise UsageError("no model endpoint is set", remedy="give its address, or set one in the settings")
    parse_price(request.price)
    test = EndpointTest(request, say)
    report = await test.run()
    await asyncio.to_thread(_store, report)
    if report.is_usable:
        await asyncio.to_thread(_remember, request.url, report.model, test.learnt)
    return report


def _remember(url: str, model: str, learnt: EndpointCapabilities) -> None:
    """Let the next runs begin with what the test found; what was remembered before is forgotten."""
    store = CapabilityStore(capabilities_path())
    store.drop(url or DEFAULT_URL, model)
    store.save(url or DEFAULT_URL, model, learnt)


def _as_given(request: ModelTestRequest) -> ModelTestRequest:
    url = request.url or DEFAULT_URL
    return replace(request, url=url, key=request.key or model_key(url=url))


def _with_options(request: ModelTestRequest, chosen: settings.Settings) -> ModelTestRequest:
    """Add the settings' headers and API version where it is the settings' address; others must not see them."""
    if request.url.rstrip("/") != chosen.model_url.rstrip("/"):
        return request
    headers, version = (
        request.headers or chosen.model_headers,
        request.api_version or chosen.model_api_version,
    )
    return replace(request, headers=headers, api_version=version)


def _completed(request: ModelTestRequest) -> ModelTestRequest:
    """Return the request with the settings' values for what is empty."""
    chosen = settings.load()
    usual, effort, price = _choice(chosen, request.role)
    url = request.url or chosen.model_url
    own = not request.url or url.rstrip("/") == chosen.model_url.rstrip("/")
    model = request.model or (usual if own else "")
    same = own and model == usual
    completed = replace(
        request,
        url=url,
        model=model,
        key=request.key or (model_key(url=url) if own or not chosen.model_url else kept_key(url)),
        effort=request.effort or (effort if same else ""),
        price=request.price or (price if same else ""),
    )
    return _with_options(completed, chosen)


def _choice(chosen: settings.Settings, role: AgentRole | None) -> tuple[str, str, str]:
    """Return model, effort and price of a role, or of the main model, as the settings write them."""
    if role is None:
        return chosen.model_name, chosen.model_effort, chosen.model_price
    choice = role_choices(chosen)[role]
    price = f"{choice.price.tokens_in}/{choice.price.tokens_out}" if choice.price is not None else ""
    return choice.model, choice.effort, price


def _store(report: ModelReport) -> None:
    """Store the report in the user's data folder; one that can't be stored is still shown."""
    path = _path(report.url, report.model)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        settings.write_atomically(path, json.dumps({"version": VERSION, **asdict(report)}, indent=1) + "\n")
    except OSError:
        return


def stored_report(url: str, model: str = "") -> ModelReport | None:
    """Return the stored report on a model, without one the latest of the address; ``None`` if none can be read."""
    shown = display_url(url or DEFAULT_URL)
    if model:
        return _read(_path(shown, model))
    found = (_read(path) for path in settings.model_reports_dir().glob("*.json"))
    return max((one for one in found if one and one.url == shown), key=lambda one: one.at, default=None)


def _read(path: Path) -> ModelReport | None:
    from pydantic import TypeAdapter, ValidationError

    try:
        data = json.loads(path.read_text("utf-8"))
        if data.pop("version") != VERSION:
            return None
        return TypeAdapter(ModelReport).validate_python(data)
    except (OSError, ValueError, KeyError, AttributeError, TypeError, ValidationError):
        return None


def _path(url: str, model: str) -> Path:
    name = hashlib.sha256(f"{url}\n{model}".encode()).hexdigest()[:24]
    return settings.model_reports_dir() / f"{name}.json"
