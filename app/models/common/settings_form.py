"""The settings as a form: the file's values, the typed changes, and the variables that override them."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app import settings
from app.settings import Settings

if TYPE_CHECKING:
    from app.models.common.tasks import Tasks

SHOWN = (
    "author", "browser", "sandbox", "encoder", "picture_encoder", "model_url", "model_name", "model_effort",
    "model_price", "roles", "run_tokens", "run_money", "run_seconds", "theme", "token_budget",
    "learnings", "at_once", "notifications", "quiet_hours",
)  # fmt: skip
"""The settings of the form, in order."""
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

    @property
    def lines(self) -> list[SettingField]:
        specs = {spec.name: spec for spec in fields(Settings)}
        return [
            SettingField(
                name=name,
                label=specs[name].metadata["label"],
                help=specs[name].metadata["help"],
                overridden_by=next(
                    (one for one in specs[name].metadata["variables"] if os.environ.get(one)), ""
                ),
            )
            for name in SHOWN
        ]

    def load(self) -> None:
        """Read the file on a worker thread; unsaved changes are discarded."""
        self._tasks.start(asyncio.to_thread(settings.load_stored), self._loaded, self._failed, key="settings")

    def value(self, name: str) -> Any:
        value = self._values.get(name, getattr(self._stored or Settings(), name))
        return settings.roles_text(value) if name == "roles" and not isinstance(value, str) else value

    def set(self, name: str, value: Any) -> None:
        """Type a value; it is stored by ``save``."""
        value = value.strip() if isinstance(value, str) else value
        if name == "roles" and isinstance(value, str):
            value = _roles_of(value)
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


def _roles_of(text: str) -> Any:
    """Return the roles of a line of JSON; text that is not (yet) JSON stays text, and is refused when it is saved."""
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def _write(stored: Settings, values: dict[str, Any]) -> Settings:
    wanted = settings.changed(stored, **values)
    settings.save(wanted)
    return wanted
