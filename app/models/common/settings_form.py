"""The settings as a form: the file's values, the typed changes, and the variables that override them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QObject, Signal

from app import settings
from app.engine.agent.model.role_choices import role_choices
from app.engine.core.model_api import AgentRole
from app.errors import UsageError
from app.model_keys import bind_older_key, server_of
from app.models.common.form import complete_url
from app.settings import RoleSettings, Settings

if TYPE_CHECKING:
    from app.models.common.tasks import Tasks

MODEL = ("model_url", "model_name", "model_effort", "model_price")
ADVANCED = ("model_api", "model_tools", "model_cache_marks", "model_headers", "model_api_version")
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Browser and retrieval": ("browser", "sandbox", "encoder", "picture_encoder", "token_budget"),
    "Runs": (
        "run_tokens",
        "run_money",
        "run_seconds",
        "learnings",
        "keep_logins",
        "at_once",
        "picture_words",
    ),
    "Window": ("theme", "notifications", "quiet_hours"),
}
"""The settings below the model's, by the title of their group."""
SHOWN = ("author", *MODEL, "roles", *ADVANCED, *chain(*GROUPS.values()))
"""The settings of the form, in order."""
ROLES = tuple(role.value for role in AgentRole)
CHOICES = settings.CHOICES
NUMBERS = {
    "token_budget": (50, 100_000),
    "run_tokens": (0, 1_000_000_000),
    "at_once": (1, settings.MOST_AT_ONCE),
}
"""Minimum and maximum of the whole-number settings."""
AMOUNTS = {"run_money": (0.0, 1_000_000.0, 4), "run_seconds": (0.0, 1_000_000.0, 1)}
"""Minimum, maximum and decimals of the settings that are amounts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingField:
    """One line of the form; ``overridden_by`` names the environment variable that overrides it, if one is set."""

    name: str
    label: str
    help: str
    overridden_by: str


class SettingsForm(QObject):
    """Signals:

    changed: other values, or another state of saving.
    saved: the file is written; carries the settings by name.
    """

    changed = Signal()
    saved = Signal(dict)

    def __init__(self, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._stored: Settings | None = None
        self._values: dict[str, Any] = {}
        self.error = ""
        self.is_saving = False

    def line(self, name: str) -> SettingField:
        """Return a setting's line of the form."""
        spec = next(spec for spec in fields(Settings) if spec.name == name).metadata
        held = next((one for one in spec["variables"] if os.environ.get(one)), "")
        return SettingField(name=name, label=spec["label"], help=spec["help"], overridden_by=held)

    def load(self) -> None:
        """Read the file on a worker thread; unsaved changes are discarded."""
        self._tasks.start(asyncio.to_thread(settings.load_stored), self._loaded, self._failed, key="settings")

    def value(self, name: str) -> Any:
        return self._values.get(name, getattr(self._stored or Settings(), name))

    @property
    def is_other_server(self) -> bool:
        """Whether the typed address is of another server than the saved one."""
        saved = self._stored.model_url if self._stored is not None else ""
        return bool(saved) and server_of(complete_url(self.value("model_url"))) != server_of(saved)

    def role_value(self, role: str, name: str) -> str:
        """Return the model, effort or price of a role; "" where it falls back."""
        return self._roles.get(role, {}).get(name, "")

    def set_role(self, role: str, name: str, text: str) -> None:
        """Type a role's model, effort or price; "" falls back."""
        roles = self._roles
        own = {**asdict(RoleSettings()), **roles.pop(role, {}), name: text.strip()}
        if any(own.values()):
            roles[role] = own
        self.set("roles", roles)

    def fallback(self, role: str) -> tuple[str, str]:
        """Return the model and the price, in words, that a role has where its own are empty."""
        values = {name: self.value(name) for name in MODEL}
        roles = {name: RoleSettings(**cast("dict[str, Any]", own)) for name, own in self._roles.items()}
        if role in roles:
            roles[role] = replace(roles[role], price="")
        try:
            chosen = role_choices(replace(Settings(), **values, roles=roles))[AgentRole(role)]
        except UsageError:  # a price that can't be read (yet)
            return "", ""
        price = chosen.price
        return chosen.model, f"{price.tokens_in:g}/{price.tokens_out:g}" if price is not None else ""

    @property
    def _roles(self) -> dict[str, dict[str, str]]:
        stored: dict[str, Any] = self.value("roles")
        return {
            role: asdict(own) if isinstance(own, RoleSettings) else dict(own) for role, own in stored.items()
        }

    def set(self, name: str, value: Any) -> None:
        """Type a value; it is stored by ``save``."""
        value = value.strip() if isinstance(value, str) else value
        if value != self.value(name):
            self._values[name] = value
            self.changed.emit()

    @property
    def is_ready(self) -> bool:
        """Whether the file was read: before that nothing may be written over it."""
        return self._stored is not None

    @property
    def is_changed(self) -> bool:
        """Whether a typed value differs from the file."""
        stored = asdict(self._stored) if self._stored is not None else {}
        return any(value != stored.get(name) for name, value in self._values.items())

    def save(self) -> None:
        """Check the values and write the file on a worker thread, whole or not at all."""
        if self._stored is None or self.is_saving or not self.is_changed:
            return
        self.is_saving, self.error = True, ""
        self.changed.emit()
        self._tasks.start(
            asyncio.to_thread(_write, self._stored, dict(self._values)), self._written, self._failed
        )

    def _loaded(self, stored: Settings) -> None:
        self._stored, self._values, self.error = stored, {}, ""
        self.changed.emit()

    def _written(self, stored: Settings) -> None:
        self.is_saving = False
        self._loaded(stored)
        self.saved.emit(asdict(stored))

    def _failed(self, error: Exception) -> None:
        self.is_saving, self.error = False, str(error) or type(error).__name__
        self.changed.emit()


def _write(stored: Settings, values: dict[str, Any]) -> Settings:
    wanted = settings.changed(stored, **values)
    if server_of(wanted.model_url) != server_of(stored.model_url):
        bind_older_key(stored.model_url)
    settings.save(wanted)
    return wanted
