"""A run's page in a person's hands: taken over, worked, handed back."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from app.engine.cases.desk import Desk
from app.engine.cases.fleet import Fleet
from app.engine.errors import SiteloreError
from app.engine.page_input import PageInput
from app.engine.supervision import Deed, TakeoverAccount

log = logging.getLogger(__name__)


class Handing:
    """Use cases of a person at the page of a run on the wall."""

    def __init__(self, desk: Desk, fleet: Fleet) -> None:
        self._desk, self._fleet = desk, fleet

    async def take_over(self, run: str) -> None:
        """Put the page into the person's hands."""
        found = self._fleet.going(run)
        held = found.control.state.held
        await found.page.take_over(found)
        await self._fleet.did(found, Deed.TOOK_OVER, reacting=held)

    async def send_input(self, run: str, inputs: Sequence[PageInput]) -> None:
        """A person's mouse and keyboard on the page."""
        await self._fleet.known(run).page.input(inputs)

    async def release(self, run: str) -> TakeoverAccount:
        """Hand the page back to the agent."""
        found = self._fleet.known(run)
        account = await found.page.release(found)
        await self._desk.note(run, account.first_step + account.steps, Deed.RELEASED, account.words)
        return account

    async def abandoned(self) -> None:
        """Nobody watches any more: pages are handed back and their runs held."""
        for found in self._fleet.all:
            await found.page.watch(0, 0, 0.0)
            if found.page.taken_over:
                try:
                    await self.release(found.run)
                    found.control.pause("the window was closed during a takeover", author="watchdog")
                except SiteloreError as error:
                    log.warning("run %s could not be handed back: %s", found.run, error)
