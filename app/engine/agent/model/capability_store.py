"""Capabilities that were learnt, on disk: one file for all endpoints and models of a user.

Learning them costs rejected requests and answers cut empty, so it is done once and not at each start. The file holds
addresses without credentials, never a key or a header. An entry ages out, since endpoints change.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, cast

from app.engine.agent.model.capabilities import EffortSupport, EndpointCapabilities, SchemaSupport
from app.engine.agent.model.endpoint_url import display_url
from app.engine.store.locks import FileLock
from app.settings import APP, write_atomically

log = logging.getLogger(__name__)

FORMAT = 1
"""Format number of the file; a newer one is neither used nor overwritten."""
MAX_AGE = 30 * 86_400.0
"""Seconds after which an entry is forgotten."""
LOCK_SECONDS = 5.0
"""Longest wait for another process that writes."""

_Entry = dict[str, Any]


def capabilities_path() -> Path:
    """Return ``endpoints.json`` in the user-data folder."""
    import platformdirs

    return platformdirs.user_data_path(APP, appauthor=False) / "endpoints.json"


class CapabilityStore:
    """Reads and writes the file; any trouble with it is logged once, and nothing is remembered then.

    Args:
        path: of the file.
        clock: seconds since the epoch.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock
        self._warned = False

    def load(self, url: str, model: str) -> EndpointCapabilities:
        """Return what is known of a model at an address; the defaults where nothing is, or it is too old."""
        return _read_capabilities(self._entry(self._read(), url, model).get("capabilities"))

    def save(self, url: str, model: str, learnt: EndpointCapabilities) -> None:
        """Merge into what is stored: another process may have learnt something else meanwhile."""

        def change(entry: _Entry) -> None:
            stored = entry.get("capabilities")
            merged = learnt.merged(_read_capabilities(stored)) if stored is not None else learnt
            entry["capabilities"] = asdict(merged)

        self._change(url, model, change)

    def drop(self, url: str, model: str) -> None:
        """Forget a model at an address, so that all is tried again."""
        self._change(url, model, dict[str, Any].clear)

    def _entry(self, document: _Entry | None, url: str, model: str) -> _Entry:
        models = _mapping(_mapping((document or {}).get("endpoints")).get(display_url(url)))
        entry = _mapping(models.get(model))
        at: Any = entry.get("at")
        is_fresh = isinstance(at, int | float) and 0 <= self._clock() - at < MAX_AGE
        return entry if is_fresh else {}

    def _change(self, url: str, model: str, change: Callable[[_Entry], None]) -> None:
        try:
            with self._locked():
                document = self._read()
                if document is None:
                    return
                # The age is that of the entry and not of its last change, or else it would never be tried again.
                entry = dict(self._entry(document, url, model) or {"at": self._clock()})
                change(entry)
                endpoints = dict(_mapping(document.get("endpoints")))
                models = dict(_mapping(endpoints.get(display_url(url))))
                models.pop(model, None)
                endpoints[display_url(url)] = {**models, model: entry} if entry else models
                whole = {**document, "format": FORMAT, "endpoints": endpoints}
                write_atomically(self._path, json.dumps(whole, indent=1, sort_keys=True))
        except (OSError, ValueError) as error:
            self._warn(f"{self._path} can't be written: {error}")

    def _read(self) -> _Entry | None:
        """Return the document, empty where there is none; ``None`` where a newer version wrote it."""
        try:
            document = _mapping(json.loads(self._path.read_text("utf-8")))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            self._warn(f"{self._path} can't be read and is begun anew: {error}")
            return {}
        version = document.get("format")
        if not isinstance(version, int):
            return {}
        if version > FORMAT:
            self._warn(f"{self._path} was written by a newer version of sitelore; it is not used")
            return None
        return document

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Hold the lock of the file.

        Raises:
            TimeoutError: another process holds it for too long.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self._path.with_suffix(".lock")) as lock:
            if not lock.take_soon(LOCK_SECONDS):
                raise TimeoutError("another process is writing it")
            yield

    def _warn(self, message: str) -> None:
        if not self._warned:
            self._warned = True
            log.warning(message)


def _read_capabilities(stored: object) -> EndpointCapabilities:
    """Return stored capabilities; a field of a wrong kind has its default."""
    given = _mapping(stored)
    default = EndpointCapabilities()
    kept = {
        one.name: given[one.name]
        for one in fields(default)
        if one.name in given and _fits(one.name, given[one.name], getattr(default, one.name))
    }
    for name, kind in (("schema", SchemaSupport), ("effort", EffortSupport)):
        if name in kept:
            kept[name] = kind(kept[name])
    if "refused_efforts" in kept:
        kept["refused_efforts"] = tuple(kept["refused_efforts"])
    return EndpointCapabilities(**kept)


def _fits(name: str, value: object, default: object) -> bool:
    if name == "refused_efforts":
        return isinstance(value, list) and all(isinstance(one, str) for one in cast("list[object]", value))
    if isinstance(default, bool):
        return isinstance(value, bool)
    if isinstance(value, bool) or not isinstance(value, int):
        return value is None and default is None
    return value in (0, 1, 2) if name in ("schema", "effort") else 0 <= value < 10**8


def _mapping(value: object) -> _Entry:
    return cast("_Entry", value) if isinstance(value, dict) else {}
