"""Choice of model, effort and price for each role, from the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.engine.agent.model.limits import Price, known_price, parse_price
from app.engine.core.model_api import AgentRole
from app.errors import UsageError
from app.settings import RoleSettings, Settings

FALLBACKS: Mapping[AgentRole, AgentRole] = {
    AgentRole.ALIGNMENT: AgentRole.SUMMARIZER,
    AgentRole.JUDGE: AgentRole.VISION,
}
"""Roles that use another role's choice where they have none; all others use the main model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleChoice:
    """A role's model ("" for the endpoint's only one), effort ("" for the model's own) and price, if it is known."""

    model: str = ""
    effort: str = ""
    price: Price | None = None


def role_choices(chosen: Settings) -> dict[AgentRole, RoleChoice]:
    """Return the choice of every role.

    A role without a model of its own has that of the role it falls back to, else the main model, with its effort
    unless it has one of its own. A role with a model of its own takes no effort from elsewhere: another model may not
    know it. A price belongs to a model: the role's, else one that the settings state for the same model, else the
    listed one.

    Raises:
        UsageError: a price can't be read.
    """
    stated = _stated_prices(chosen)
    return {role: _choice(chosen, role, stated) for role in AgentRole}


def with_main_model(chosen: Settings, name: str) -> Settings:
    """Return the settings with another main model; "" leaves them as they are.

    Roles with a model of their own keep it, with its price.  Effort and price of the main model, and of roles that
    use it, go: another model may not know the one and does not cost the other.
    """
    if not name or name == chosen.model_name:
        return chosen
    roles = {role: _without_main(chosen, role, own) for role, own in chosen.roles.items()}
    return replace(chosen, model_name=name, model_effort="", model_price="", roles=roles)


def _without_main(chosen: Settings, role: str, own: RoleSettings) -> RoleSettings:
    if own.model:
        is_main = own.model == chosen.model_name
        return replace(own, price=own.price or (chosen.model_price if is_main else ""))
    known = AgentRole(role) if role in set(AgentRole) else None
    while known is not None and not chosen.roles.get(known, RoleSettings()).model:
        known = FALLBACKS.get(known)
    return own if known is not None else RoleSettings()


def refuse_unpriced(choices: Mapping[AgentRole, RoleChoice]) -> None:
    """Check that every role has a price, for a budget of money.

    Raises:
        UsageError: the price of a model is not known; names the roles that use it.
    """
    lacking: dict[str, list[str]] = {}
    for role, choice in choices.items():
        if choice.price is None:
            lacking.setdefault(choice.model, []).append(role.value)
    if not lacking:
        return
    names = " and ".join(
        f"{name or 'the model'} ({', '.join(roles)})" if len(roles) < len(choices) else name or "the model"
        for name, roles in lacking.items()
    )
    raise UsageError(
        f"a budget of money needs the price of {names}, which is not known",
        remedy="set it in the settings, or SITELORE_MODEL_PRICE for the main model: US dollars for a million tokens in"
        " and out, such as 2.50/10, or 0/0 for a model that costs nothing",
    )


def _stated_prices(chosen: Settings) -> dict[str, Price]:
    stated = {
        one.model: price
        for one in chosen.roles.values()
        if one.model and (price := parse_price(one.price)) is not None
    }
    main = parse_price(chosen.model_price)
    return stated | ({chosen.model_name: main} if main is not None else {})


def _choice(chosen: Settings, role: AgentRole, stated: Mapping[str, Price]) -> RoleChoice:
    own = chosen.roles.get(role, RoleSettings())
    if own.model:
        base = RoleChoice(model=own.model, price=stated.get(own.model) or known_price(own.model))
    elif role in FALLBACKS:
        base = _choice(chosen, FALLBACKS[role], stated)
    else:
        name = chosen.model_name
        base = RoleChoice(model=name, effort=chosen.model_effort, price=stated.get(name) or known_price(name))
    return RoleChoice(
        model=base.model, effort=own.effort or base.effort, price=parse_price(own.price) or base.price
    )
