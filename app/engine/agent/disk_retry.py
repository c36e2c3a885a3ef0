"""Writing that waits for a person while the disk is full or read-only.  Nothing is lost, nothing written twice."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from app.engine.agent.run_control import RunControl
from app.engine.core.supervision import DecisionKind, Stage
from app.errors import StoreError


async def retry_on_full_disk(
    control: RunControl, what: str, write: Callable[[], Awaitable[object]], *, held: bool = False
) -> None:
    """Write; on failure ask a person and retry until it works.

    Args:
        what: names what is written, for the person ("Step 3").
        write: leaves nothing behind where it fails.
        held: the writer is not the loop, which is held.

    Raises:
        StoreError: it can't be written, and there is no person, or the run is stopping.
    """
    async with AsyncExitStack() as stack:
        if not held:
            await stack.enter_async_context(control.in_stage(Stage.WRITING))
        while True:
            try:
                await write()
            except StoreError as error:
                attempt = _Attempt(write)
                asked = f"{what} can't be saved. Free some space, or make the disk writable; then try again."
                verb = await control.ask_about_trouble(asked, str(error), attempt)
                if attempt.done:
                    return
                if verb is not DecisionKind.RETRY:
                    raise
            else:
                return


class _Attempt:
    """One retry that reports whether it worked."""

    def __init__(self, write: Callable[[], Awaitable[object]]) -> None:
        self._write, self.done = write, False

    async def __call__(self) -> bool:
        try:
            await self._write()
        except StoreError:
            return False
        self.done = True
        return True
