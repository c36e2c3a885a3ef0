"""The workspace's table of sites: ``sites.json``, written as a whole and put in place at once.

The file is made by the first change; until then the bundled table (or, in an older workspace, the one of
``workspace.json``) is in force.  Two processes may change it: each change is made to the file as it is now.
"""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import orjson

from app.engine.core.site_rules import checked_row, lesson, merged, refuse_taken
from app.engine.core.sites import Site, SiteTable
from app.engine.store.database import translated_errors
from app.engine.store.locks import FileLock
from app.engine.store.run_files import type_adapter, write_file
from app.errors import Conflict, NotFound, SiteloreError, StoreError, UsageError

log = logging.getLogger(__name__)

SITES_FILE = "sites.json"
FORMAT, VERSION = "sitelore-sites", 1
_PATIENCE = 5.0
"""Seconds that a change waits for another process's."""

Rows = dict[str, Site]


class SiteStore:
    """Reads and changes the table; what another process wrote is seen at once."""

    def __init__(self, path: Path, seed: SiteTable) -> None:
        self.path = path
        self._seed = {site: Site(name=site, hosts=hosts) for site, hosts in seed.globs.items()}
        self._loaded: tuple[tuple[int, int, int], Rows, SiteTable] = ((0, 0, 0), self._seed, seed)
        state = _state_of(path)
        if state is not None:
            rows = _read(path)
            self._loaded = (state, rows, _table_of(rows))

    @property
    def rows(self) -> Rows:
        """The sites by name."""
        return self._current()[1]

    @property
    def table(self) -> SiteTable:
        """The sites of hosts."""
        return self._current()[2]

    def change(self, before: Site | None, after: Site | None) -> None:
        """Add (without ``before``), remove (without ``after``) or change a site.

        What another process changed since ``before`` was read is kept.

        Raises:
            Conflict: it exists already, or a host or base is another site's.  NotFound: it is gone.
            StoreError: the file can't be read or written.
        """

        def work(rows: Rows) -> None:
            name = (after or before or Site(name="")).name
            if before is None and name in rows:
                raise Conflict(f"there is a site '{name}' already; edit that one")
            if before is not None and name not in rows:
                raise NotFound(f"there is no site '{name}' any more")
            if after is None:
                del rows[name]
                return
            row = merged(rows[name], before, after) if before is not None else after
            refuse_taken(row, rows.values())
            rows[name] = row

        self._change(work)

    def learn(self, claims: Mapping[str, Sequence[str]]) -> list[str]:
        """Give hosts to the sites that claim them, and return one sentence for each; a host claimed twice stays free.

        Args:
            claims: sites by ``host:port``.
        """
        if not any(lesson(self.table, site, host)[1] for host, sites in claims.items() for site in sites):
            return []
        told = list[str]()

        def work(rows: Rows) -> None:
            for host, sites in claims.items():
                if len(set(sites)) > 1:
                    named = " and ".join(f"'{site}'" for site in sorted(set(sites)))
                    told.append(f"{host} is claimed by {named}, so neither got it")
                    continue
                good, words = lesson(_table_of(rows), sites[0], host)
                if words:
                    told.append(words)
                if good:
                    row = rows.get(sites[0]) or Site(name=sites[0])
                    rows[sites[0]] = replace(row, hosts=(*row.hosts, host), learned=(*row.learned, host))

        self._change(work)
        return told

    def _current(self) -> tuple[tuple[int, int, int], Rows, SiteTable]:
        state = _state_of(self.path)
        if state is not None and state != self._loaded[0]:
            try:
                rows = _read(self.path)
                self._loaded = (state, rows, _table_of(rows))
            except SiteloreError as error:
                log.warning("the table of sites stays as it was read last: %s", error)
                self._loaded = (state, *self._loaded[1:])
        return self._loaded

    def _change(self, work: Callable[[Rows], None]) -> None:
        with translated_errors(self.path), self._alone():
            rows = _read(self.path) if self.path.exists() else dict(_readable(self._seed))
            before = dict(rows)
            work(rows)
            if rows != before or not self.path.exists():
                _write(self.path, rows)
            self._loaded = (_state_of(self.path) or (0, 0, 0), rows, _table_of(rows))

    @contextmanager
    def _alone(self) -> Generator[None]:
        with FileLock(self.path.with_suffix(".lock")) as lock:
            if not lock.take_soon(_PATIENCE):
                raise Conflict("another process is changing the table of sites; try again in a moment")
            yield


def site_document(site: Site | None) -> dict[str, Any] | None:
    """Return a row as JSON, for the undo history."""
    return cast("dict[str, Any]", type_adapter(Site).dump_python(site)) if site is not None else None


def site_from(document: Any) -> Site | None:
    """Return a row from the undo history."""
    return cast("Site", type_adapter(Site).validate_python(document)) if document is not None else None


def _readable(seed: Rows) -> Iterator[tuple[str, Site]]:
    """Yield the rows of a seed that may stand in the file; an older table was never checked."""
    for name, row in seed.items():
        try:
            yield name, checked_row(row)
        except UsageError as error:
            log.warning("the site %r is left out of the table of sites: %s", name, error)


def _state_of(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _table_of(rows: Rows) -> SiteTable:
    return SiteTable({name: site.hosts for name, site in rows.items()})


def _read(path: Path) -> Rows:
    with translated_errors(path):
        data = path.read_bytes()
    try:
        document: Any = orjson.loads(data)
        if document["format"] != FORMAT:
            raise ValueError("it is another kind of file")
        version = document["version"]
        newer = not isinstance(version, int) or version > VERSION
    except (ValueError, KeyError, TypeError) as error:
        raise _broken(path, "it is damaged") from error
    if newer:
        raise StoreError(
            f"{path}: the table of sites is of version {version}, this program reads up to {VERSION};"
            " use a newer Sitelore"
        )
    rows = Rows()
    try:
        for name, fields in document["sites"].items():
            row = type_adapter(Site).validate_python({"name": name, **fields})
            rows[name] = checked_row(cast("Site", row))
            refuse_taken(rows[name], rows.values())
    except (UsageError, Conflict) as error:
        raise _broken(path, str(error)) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _broken(path, "an entry of it can't be read") from error
    return rows


def _broken(path: Path, why: str) -> StoreError:
    return StoreError(
        f"{path}: the table of sites can't be used: {why}"
        " (mend the file, or move it away to begin with the bundled table)"
    )


def _write(path: Path, rows: Rows) -> None:
    sites = {
        name: {key: value for key, value in (site_document(row) or {}).items() if key != "name" and value}
        for name, row in rows.items()
    }
    document = {"format": FORMAT, "version": VERSION, "sites": sites}
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        write_file(draft, orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
        os.replace(draft, path)  # noqa: PTH105 as one call
    finally:
        draft.unlink(missing_ok=True)
