"""Tests the model endpoint of the settings, or another, and keeps the report per endpoint and model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from app import settings
from app.engine.agent.model.endpoint_test import EndpointTest
from app.engine.agent.model.limits import parse_price
from app.engine.agent.model.role_choices import role_choices
from app.engine.api.model_test_api import ModelCheck, ModelReport, ModelTestRequest
from app.engine.core.model_api import AgentRole
from app.errors import UsageError

VERSION = 1


async def report_on(request: ModelTestRequest, say: Callable[[ModelCheck], None]) -> ModelReport:
    """Test an endpoint, with the settings' values for what the request leaves empty, and store the report.

    The key of the settings is sent to the address of the settings only.

    Raises:
        UsageError: there is no address and no key, no such effort, or a price can't be read.
    """
    if request.effort not in settings.EFFORTS:
        raise UsageError(
            f"there is no effort {request.effort[:40]!r}", remedy=f"use {', '.join(settings.EFFORTS[1:])}"
        )
    chosen = settings.load()
    usual, effort, price = _choice(chosen, request.role)
    own = not request.url or request.url.rstrip("/") == chosen.model_url.rstrip("/")
    model = request.model or (usual if own else "")
    same = own and model == usual
    request = replace(
        request,
        url=request.url or chosen.model_url,
        model=model,
        key=request.key or (settings.model_key() if own or not chosen.model_url else ""),
        effort=request.effort or (effort if same else ""),
        price=request.price or (price if same else ""),
    )
    if not request.url and not request.key:
        raise UsageError("no model endpoint is set", remedy="give its address, or set one in the settings")
    parse_price(request.price)
    report = await EndpointTest(request, say).run()
    _store(report)
    return report


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


def _path(url: str, model: str) -> Path:
    name = hashlib.sha256(f"{url}\n{model}".encode()).hexdigest()[:24]
    return settings.model_reports_dir() / f"{name}.json"
