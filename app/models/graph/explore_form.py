"""The form that starts an exploration: typed as text, validated, returned as options."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from PySide6.QtCore import QObject

from app.engine.api.graph_api import ExploreOptions
from app.engine.core.addresses import host_of
from app.engine.core.page_state import Mode
from app.models.common.form import FormModel, Problem, complete_url
from app.models.common.translate import tr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.engine.api.graph_api import HostMap

__all__ = ["FIELDS", "FILES", "SWITCHES", "ExploreFormModel", "Mode", "complete_url"]

INTEGER_RANGES = {"depth": (0, 50), "max_states": (1, 1_000_000), "workers": (1, 16)}
"""Bounds of whole numbers."""
FLOAT_RANGES = {"max_seconds": (1.0, 7 * 86400.0), "rate": (0.0, 1000.0)}
"""Bounds of decimal numbers."""
FILES = ("block_list", "storage_state")
FIELDS = ("url", "site", "depth", "max_states", "max_seconds", "workers", "rate", *FILES)
"""All typed fields, besides mode and switches."""
SWITCHES = ("obey_robots", "headed", "pictures")


class ExploreFormModel(FormModel):
    """Target and limits of an exploration."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(dict.fromkeys(FIELDS, ""), parent)
        usual = ExploreOptions()
        self._usual = usual
        self.values.update({name: str(getattr(usual, name)) for name in INTEGER_RANGES})
        self.values.update({name: f"{getattr(usual, name):g}" for name in FLOAT_RANGES})
        self.mode = usual.mode
        self.switches = {name: bool(getattr(usual, name)) for name in SWITCHES}
        self.missing: dict[str, str] = {}
        """Files that are not there, as found when an exploration was about to start."""
        self._known = ("", "")
        """Host and name of the site the form was filled with."""
        self._is_named = False

    def _on_set(self, name: str) -> None:
        """An address of another host is another site, so the site name filled in is cleared."""
        self.missing.pop(name, None)
        if name == "site":
            self._is_named = bool(self.values["site"].strip())
        elif name == "url" and not self._is_named:
            self.values["site"] = self._known[1] if host_of(self.address) == self._known[0] else ""

    def set_mode(self, mode: Mode) -> None:
        """Set whether every instance of a template is kept, or one stands for all."""
        if mode is not self.mode:
            self.mode = mode
            self.changed.emit()

    def set_switch(self, name: str, on: bool) -> None:
        if self.switches[name] != on:
            self.switches[name] = on
            self.changed.emit()

    def fill(self, values: Mapping[str, str], mode: Mode | None = None) -> None:
        self.values.update({name: text for name, text in values.items() if name in self.values})
        self._known, self._is_named = (host_of(self.address), self.values["site"]), False
        if mode is not None:
            self.mode = mode
        self.missing.clear()
        self.changed.emit()

    # ------------------------------------------------------------ checking
    @property
    def address(self) -> str:
        """The complete address of the home page."""
        return complete_url(self.values["url"])

    @property
    def target(self) -> tuple[str, str]:
        """The address and the site's name, "" for none."""
        return self.address, self.values["site"].strip()

    def other_map(self, maps: Sequence[HostMap]) -> HostMap | None:
        """Return the host's map beside which the form's name would begin a second one, ``None`` if it would not."""
        (address, site), names = self.target, [one.site for one in maps]
        new = site not in names if site else len(maps) > 1 and host_of(address) not in names
        return maps[0] if maps and new else None

    @property
    def problems(self) -> list[Problem]:
        found = [
            self._address_problem(),
            *(self._number_problem(name) for name in (*INTEGER_RANGES, *FLOAT_RANGES)),
        ]
        found += [Problem(name, message) for name, message in self.missing.items()]
        return [one for one in found if one is not None]

    @property
    def is_ready(self) -> bool:
        return not self.problems

    def options(self) -> ExploreOptions:
        """Return the form as options; call it only without problems."""
        return replace(
            self._usual,
            **{name: int(self.values[name]) for name in INTEGER_RANGES},
            **{name: _number(self.values[name]) for name in FLOAT_RANGES},
            **{name: self.values[name].strip() for name in FILES},
            **self.switches,
            mode=self.mode,
        )

    def missing_files(self) -> dict[str, str]:
        """Return the named files that do not exist; touches the disk, so call it on a worker thread."""
        missing: dict[str, str] = {}
        for name in FILES:
            text = self.values[name].strip()
            if text and not Path(text).expanduser().is_file():
                missing[name] = tr("{0} is not a file; choose another, or leave this empty").format(text)
        return missing

    def _address_problem(self) -> Problem | None:
        text = self.address
        if not text:
            return Problem("url", tr("Enter the address of the site's home page"))
        try:
            parts = urlsplit(text)
            host, _ = parts.hostname, parts.port
        except ValueError:
            return Problem("url", tr("Not a valid address: {0}").format(text))
        if parts.scheme not in ("http", "https"):
            return Problem("url", tr("Only http and https are supported, not {0}").format(parts.scheme))
        if not host or " " in host:
            return Problem("url", tr("The address has no host: {0}").format(text))
        return None

    def _number_problem(self, name: str) -> Problem | None:
        text = self.values[name].strip()
        least, most = INTEGER_RANGES.get(name) or FLOAT_RANGES[name]
        try:
            value = int(text) if name in INTEGER_RANGES else _number(text)
        except ValueError:
            kind = tr("a whole number") if name in INTEGER_RANGES else tr("a number")
            return Problem(name, tr("Enter {0} from {1:g} to {2:g}").format(kind, least, most))
        if not least <= value <= most:
            return Problem(name, tr("Must be between {0:g} and {1:g}").format(least, most))
        return None


def _number(text: str) -> float:
    value = float(text.strip().replace(",", "."))
    if value != value:
        raise ValueError(text)
    return value
