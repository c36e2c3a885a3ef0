"""The base of every use case: the stores and the one thread that may touch them, workers, bus, jobs.

Every SQL statement of a process runs on the store thread, in order; encoding and other long computations run on
workers.  Their failures are raised as ``SiteloreError`` with a sentence a person can act on.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import sqlite3  # noqa: TID251 only its error types: every statement is made in kb/ and app/engine/store/
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import CoroutineType
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from app.engine.core.events import EventBus, IndexDamaged
from app.engine.jobs import JobRegistry
from app.engine.store.workspace import Workspace
from app.errors import Conflict, DamagedIndex, InputError, NotFound, SiteloreError, StoreError
from kb.errors import BadFile, Frozen, KbError, Locked, NoSuchTip
from kb.store import KnowledgeBase

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

_KB_ERRORS = (
    (NoSuchTip, NotFound),
    (Locked, Conflict),
    (Frozen, Conflict),
    (BadFile, InputError),
)
_DISK = "the disk is full or can't be written; free some space and do it again, nothing was lost"


def as_sitelore_error(error: Exception) -> SiteloreError:
    """Translate an expected failure of a library or of the knowledge base."""
    match error:
        case SiteloreError():
            return error
        case KbError():
            kind = next((kind for known, kind in _KB_ERRORS if isinstance(error, known)), SiteloreError)
            return kind(str(error))
        case sqlite3.DatabaseError() if "locked" in str(error):
            return Conflict("another process is writing to this workspace; try again in a moment")
        case sqlite3.DatabaseError() if (
            "full" in str(error) or "readonly" in str(error) or "I/O" in str(error)
        ):
            return StoreError(_DISK)
        case sqlite3.DatabaseError():
            return StoreError(f"the workspace's database can't be used: {error}")
        case OSError() if error.errno in (28, 30, 122):  # ENOSPC, EROFS, EDQUOT
            return StoreError(_DISK)
        case OSError():
            where = str(error.filename) if error.filename is not None else ""
            return InputError(error.strerror or str(error), path=where)
        case _:
            raise error


class Core:
    """The stores of one open workspace."""

    def __init__(
        self, workspace: Workspace, kb: KnowledgeBase, author: str, store: ThreadPoolExecutor
    ) -> None:
        self.workspace, self.kb, self.author = workspace, kb, author
        self.bus = EventBus()
        self.registry = JobRegistry(self.bus)
        self._store = store
        self._closed = False
        self._work = ThreadPoolExecutor(2, thread_name_prefix="work")

    @classmethod
    async def open(cls, path: Path, author: str) -> Core:
        """Open or make the workspace and its knowledge base, on the store thread."""
        store = ThreadPoolExecutor(1, thread_name_prefix="store")

        def opening() -> Core:
            workspace = Workspace.open(path)
            workspace.read_as(author)
            kb = KnowledgeBase.open(workspace.knowledge_path, author=author)
            core = cls(workspace, kb, author, store)
            core.share_hosts({})
            return core

        try:
            return await asyncio.get_running_loop().run_in_executor(store, opening)
        except Exception as error:
            store.shutdown(wait=False)
            raise as_sitelore_error(error) from error

    def sign_as(self, author: str) -> None:
        """Sign what is done from now on with another name, and show the workspace as that person may see it.

        Store thread only.
        """
        if author != self.author:
            self.author = self.kb.author = author
            self.workspace.read_as(author)

    def share_hosts(self, before: Mapping[str, Sequence[str]]) -> None:
        """Give the knowledge base the hosts of the table of sites, so that they are frozen with the tips.

        Hosts that ``before`` had and the table has no more go.  Store thread only.
        """
        known, rows = self.kb.hosts(), self.workspace.site_store.rows
        for site in {**rows, **before}:
            kept = [host for host in known.get(site, ()) if host not in before.get(site, ())]
            shared = rows[site].shared_hosts if site in rows else ()
            self.kb.set_hosts(site, (*kept, *shared))

    async def do_in_kb(self, action: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a user's action on the knowledge base; the redo list of the review state is dropped."""

        def doing() -> T:
            result = action(*args, **kwargs)
            self.workspace.review.journal.drop_redo()
            return result

        return await self.on_store(doing)

    async def do_in_review(self, action: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a user's action on runs or verdicts; the redo list of the knowledge base is dropped."""

        def doing() -> T:
            result = action(*args, **kwargs)
            self.kb.journal.drop_redo()
            return result

        return await self.on_store(doing)

    async def on_store(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``call`` on the store thread."""
        return await self._on(self._store, call, *args, **kwargs)

    async def on_worker(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``call`` on a worker thread; it must not touch the stores."""
        return await self._on(self._work, call, *args, **kwargs)

    async def aclose(self) -> None:
        """End the jobs, then close the stores; closing twice does nothing more."""
        if self._closed:
            return
        self._closed = True
        await self.registry.aclose()
        await self.on_store(self._close)
        # Cancellable work was awaited with its job; a model that is loading can't be cancelled.
        self._work.shutdown(wait=False, cancel_futures=True)
        self._store.shutdown(wait=True)

    def _close(self) -> None:
        self.kb.close()
        self.workspace.close()

    async def _on(self, where: ThreadPoolExecutor, call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        bound = functools.partial(call, *args, **kwargs)
        try:
            return await asyncio.get_running_loop().run_in_executor(where, bound)
        except Exception as error:
            known = as_sitelore_error(error)
            if isinstance(known, DamagedIndex):
                self.bus.publish(IndexDamaged(message=str(known)))
            raise known from error


class _Service(Protocol):
    _core: Core


ServiceT = TypeVar("ServiceT", bound=_Service)


def on_store(
    method: Callable[Concatenate[ServiceT, P], T],
) -> Callable[Concatenate[ServiceT, P], CoroutineType[Any, Any, T]]:
    """Make a service's method run on the store thread as a whole; its caller awaits the result."""

    @functools.wraps(method)
    async def awaited(service: ServiceT, *args: P.args, **kwargs: P.kwargs) -> T:
        return await service._core.on_store(method, service, *args, **kwargs)  # pyright: ignore[reportPrivateUsage]

    return awaited
