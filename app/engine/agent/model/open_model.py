"""Open the model that the settings describe."""

from __future__ import annotations

from collections.abc import Callable

from app.engine.agent.model.budget import Budget
from app.engine.agent.model.client import EndpointModel
from app.engine.agent.model.heartbeat import Heartbeat
from app.engine.agent.model.prices import known_price, parse_price
from app.engine.agent.model.recording_model import RecordingModel
from app.engine.core.model_api import AgentRole, LanguageModel, ModelError, ModelErrorKind
from app.errors import UsageError
from app.settings import KEY_VARIABLE, Settings


def open_model(
    chosen: Settings,
    key: str,
    *,
    sink: Callable[[bytes], str] | None = None,
    mask: Callable[[str], str] | None = None,
    pulse: Heartbeat | None = None,
) -> LanguageModel:
    """Return the endpoint of the settings, recorded where a sink is given. Nothing is sent yet.

    ``pulse`` is notified of every sign of life of the endpoint.

    Raises:
        ModelError: no endpoint is set.
        UsageError: the price can't be read, or a budget of money is set and no price known.
    """
    if not chosen.model_url and not key:
        raise ModelError(
            "no language model is set",
            ModelErrorKind.NO_MODEL,
            f"export SITELORE_MODEL_URL=... SITELORE_MODEL_NAME=... {KEY_VARIABLE}=...;"
            " the scout policy and the rules need none",
        )
    price = parse_price(chosen.model_price)
    if chosen.run_money > 0 and price is None and known_price(chosen.model_name) is None:
        raise UsageError(
            f"a budget of money needs the price of {chosen.model_name or 'the model'}, which is not known",
            remedy="set SITELORE_MODEL_PRICE to US dollars for a million tokens in and out, such as 2.50/10",
        )
    looking = chosen.vision_model
    model = EndpointModel(
        chosen.model_url,
        chosen.model_name,
        key=key,
        models={AgentRole.VISION: looking, AgentRole.JUDGE: looking} if looking else None,
        budget=Budget(
            seconds=max(0.0, chosen.run_seconds),
            tokens=max(0, chosen.run_tokens),
            money=max(0.0, chosen.run_money),
        ),
        price=price,
        pulse=pulse,
    )
    return RecordingModel(model, sink, mask) if sink is not None else model
