"""The exchanges of a run with its models: lists by step, and one in full."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

from app.engine.api.exchange_api import Exchange, ExchangeRow
from app.engine.core.chat_messages import PartKind
from app.engine.services.core import Core, on_store
from app.engine.store.exchange_file import read_exchange
from app.errors import NotFound, StoreError

_REMEMBERED = 4096
"""Rows kept by digest: the records behind them never change."""


class ExchangeService:
    """Reads the exchanges that steps, runs and judgements name."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._rows: OrderedDict[str, ExchangeRow] = OrderedDict()

    @on_store
    def exchanges(self, run: str, step: int | None = None) -> tuple[ExchangeRow, ...]:
        """Return the exchanges of a step in order of time, of the whole run without one.

        A record that is missing, damaged or of a newer version is a row with the reason as its ``error``.

        Raises:
            NotFound: there is no such run, or no such step.
        """
        named = self._named(run)
        if step is not None:
            loaded = self._core.workspace.runs.load(run)[1]
            if not 0 <= step <= len(loaded):
                raise NotFound(f"run {run} has no step {step}; it has {len(loaded)}")
            named = {digest: at for digest, at in named.items() if at == step}
        rows = [replace(self._row(digest), step=at) for digest, at in named.items()]
        places = {digest: place for place, digest in enumerate(named)}
        return tuple(
            sorted(rows, key=lambda row: (row.step is None, row.step or 0, row.at, places[row.digest]))
        )

    @on_store
    def exchange(self, run: str, digest: str) -> Exchange:
        """Return one exchange of a run in full.

        Raises:
            NotFound: the run names no such exchange, or its record is missing.
            StoreError: it is damaged or of a newer version.
        """
        return self.load(run, digest)

    def load(self, run: str, digest: str) -> Exchange:
        """Return one exchange of a run; store thread only.  Raises as ``exchange``."""
        named = self._named(run)
        if digest not in named:
            raise NotFound(f"run {run} has no exchange {digest[:12]!r}")
        runs = self._core.workspace.runs
        found = read_exchange(runs.read_blob(digest), digest, named[digest])
        pictures = {part.digest for message in found.messages for part in message.parts if part.digest}
        missing = runs.blobs.missing(pictures)
        messages = tuple(
            replace(
                message,
                parts=tuple(
                    replace(part, stored=bool(part.digest) and part.digest not in missing)
                    if part.kind == PartKind.IMAGE.value
                    else part
                    for part in message.parts
                ),
            )
            for message in found.messages
        )
        return replace(found, messages=messages, previous=self._previous(found.row, named))

    def _previous(self, row: ExchangeRow, named: dict[str, int | None]) -> str:
        """Return the same role's last request before this one."""
        rows = (self._row(digest) for digest in named)
        earlier = [one for one in rows if one.role == row.role and one.at < row.at]
        return max(earlier, key=lambda one: one.at).digest if earlier else ""

    def _named(self, run: str) -> dict[str, int | None]:
        """Return the exchanges of a run with their steps; one that two steps name belongs to the later."""
        workspace = self._core.workspace
        head, steps = workspace.runs.load(run)
        opinion = workspace.review.opinions(run).get(run)
        named: dict[str, int | None] = dict.fromkeys((*head.calls, *(opinion.calls if opinion else ())))
        for step in steps:
            for digest in step.calls:
                named.pop(digest, None)
                named[digest] = step.index
        return named

    def _row(self, digest: str) -> ExchangeRow:
        if (known := self._rows.get(digest)) is not None:
            self._rows.move_to_end(digest)
            return known
        try:
            row = read_exchange(self._core.workspace.runs.read_blob(digest), digest).row
        except (NotFound, StoreError) as error:
            row = ExchangeRow(digest=digest, step=None, error=str(error))
        self._rows[digest] = row
        if len(self._rows) > _REMEMBERED:
            self._rows.popitem(last=False)
        return row
