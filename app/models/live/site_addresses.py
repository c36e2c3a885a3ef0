"""Names of sites in a task file (``__SHOPPING__``) that the table of sites lacks: their addresses, filled in once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from PySide6.QtCore import QObject, Signal

from app.engine.core.sites import Site
from app.models.common.form import complete_url
from app.models.common.translate import tr

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks


class SiteAddresses(QObject):
    """Signals:

    changed: other names, or an address was typed.
    saved: addresses were put into the table of sites.
    """

    changed = Signal()
    saved = Signal()

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.names: tuple[str, ...] = ()
        self.typed: dict[str, str] = {}
        self.error = ""
        self.is_saving = False

    def show(self, names: Iterable[str]) -> None:
        """Ask for the addresses of these names; what was typed for one of them stays."""
        self.names, self.error = tuple(names), ""
        self.typed = {name: self.typed.get(name, "") for name in self.names}
        self.changed.emit()

    def set(self, name: str, text: str) -> None:
        self.typed[name], self.error = text, ""
        self.changed.emit()

    @property
    def ready(self) -> dict[str, str]:
        """Addresses that can be saved, by name."""
        addresses = {name: complete_url(text) for name, text in self.typed.items() if text.strip()}
        return {name: address for name, address in addresses.items() if _is_address(address)}

    def problem(self, name: str) -> str:
        """Return what is wrong with a typed address, "" for nothing."""
        if not self.typed.get(name, "").strip() or name in self.ready:
            return ""
        return tr("Enter an address such as http://localhost:7770/")

    def save(self) -> bool:
        """Put the typed addresses into the table of sites; False while there is nothing to save."""
        ready = self.ready
        if not ready or self.is_saving:
            return False
        self.is_saving = True
        self._tasks.start(self._saving(ready), self._on_saved, self._failed)
        self.changed.emit()
        return True

    async def _saving(self, addresses: dict[str, str]) -> None:
        rows = {row.site.name: row.site for row in await self._client.api.sites()}
        for name, address in addresses.items():
            site = name.strip("_").lower()
            before = rows.get(site)
            after = before or Site(name=site)
            await self._client.api.save_site(replace(after, bases={**after.bases, name: address}), before)

    def _on_saved(self, _none: None) -> None:
        self.is_saving = False
        self.changed.emit()
        self.saved.emit()

    def _failed(self, error: Exception) -> None:
        self.is_saving, self.error = False, str(error)
        self.changed.emit()


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and " " not in parts.netloc
    except ValueError:
        return False
