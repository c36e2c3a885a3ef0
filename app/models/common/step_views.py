"""Pages of steps, fetched ahead so that the next step shows as soon as its key is pressed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.api.engine_api import StepView
from app.models.common.page import folded

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

KEEP = 24
"""Steps kept; a step of a heavy page is about 1 MB."""

IN_FLIGHT = 2
"""Concurrent requests ahead, so that the step a user asks for never waits behind a long queue."""


class StepViews(QObject):
    """A cache of ``StepView`` by run and step; each answer names its step, so none can be mistaken."""

    arrived = Signal(str, int)
    failed = Signal(str, int, str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self._views: OrderedDict[tuple[str, int], StepView] = OrderedDict()
        self._flying: set[tuple[str, int]] = set()
        self._ahead: list[tuple[str, int]] = []

    @property
    def held(self) -> list[StepView]:
        """The cached steps, the least recently used first."""
        return list(self._views.values())

    def get(self, run: str, index: int) -> StepView | None:
        view = self._views.get((run, index))
        if view is not None:
            self._views.move_to_end((run, index))
        return view

    def fetch(self, run: str, index: int) -> None:
        """Request a step now, before anything that is only fetched ahead."""
        if (run, index) not in self._views and (run, index) not in self._flying:
            self._ask((run, index))

    def fetch_ahead(self, wanted: Iterable[tuple[str, int]]) -> None:
        """Fetch these next, in this order; earlier wishes that are not among them are dropped."""
        self._ahead = [key for key in wanted if key not in self._views and key not in self._flying]
        self._go_on()

    def forget(self, run: str) -> None:
        """Drop the cached steps of a run that changed."""
        for key in [key for key in self._views if key[0] == run]:
            del self._views[key]

    def _go_on(self) -> None:
        while self._ahead and len(self._flying) < IN_FLIGHT:
            key = self._ahead.pop(0)
            if key not in self._views and key not in self._flying:
                self._ask(key)

    def _ask(self, key: tuple[str, int]) -> None:
        self._flying.add(key)

        def came(view: StepView) -> None:
            self._flying.discard(key)
            self._views[key] = view
            for page in (view.before, view.after):
                folded(page.lines)  # before it is looked at
            while len(self._views) > KEEP:
                self._views.popitem(last=False)
            self.arrived.emit(*key)
            self._go_on()

        def missed(error: BaseException) -> None:
            self._flying.discard(key)
            self.failed.emit(*key, str(error))
            self._go_on()

        self._tasks.start(self._client.api.view_step(*key), came, missed)
