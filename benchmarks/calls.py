"""Time from a blocked run to the desktop notification: over a private bus, against the same notification sent alone.

The wait that folds a burst into one notification is reported separately.  The second part is a burst: fifty runs,
each changing twenty times at once, and the number of notifications.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

ROUNDS = 30
RUNS, TURNS = 50, 20


def main() -> None:
    if shutil.which("dbus-daemon") is None:
        print("dbus-daemon is not installed: nothing is measured")
        return
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication  # before qasync, which takes the binding that is loaded

    import qasync  # isort: skip

    from tests.support.notification_service import NotificationService, private_bus

    app = QApplication.instance() or QApplication([])
    with tempfile.TemporaryDirectory() as folder, private_bus(Path(folder)) as address:
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = address
        with (
            NotificationService(address).running() as service,
            asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(app)) as runner,
        ):
            runner.run(_measure(service))


async def _measure(service: Any) -> None:
    from app.engine.core.supervision import ApprovalRequest, LiveRow, Need, RunState
    from app.models.common.desktop_notifications import DesktopNotification, DesktopNotifications
    from app.models.common.engine_client import LocalClient
    from app.models.common.notifications import DEBOUNCE_SECONDS, Notification, NotificationModel
    from app.models.common.tasks import Tasks
    from tests.support.fake_engine import FakeEngine

    engine, tasks = FakeEngine(), Tasks()
    engine.rows.clear()
    client = LocalClient(cast("Any", engine), engine.bus)
    calls, notes = NotificationModel(client, tasks), DesktopNotifications(tasks)

    def show(call: Notification) -> None:
        title, body = calls.words_of(call)
        notes.show(DesktopNotification(key=call.run, title=title, body=body))

    calls.called.connect(show)
    calls.start()

    async def shown(count: int) -> float:
        while len(service.shown) < count:
            await asyncio.sleep(0.001)
        return time.perf_counter()

    row = LiveRow(run="a", intent="Task", state=RunState.RUNNING, site="shop", step=1)
    need = ApprovalRequest(id="0", run="a", need=Need.WALL, step=1, question="A captcha.")
    alone: list[float] = []
    for number in range(ROUNDS):
        began = time.perf_counter()
        notes.show(DesktopNotification(key=f"alone {number}", title="Needs you", body="A captcha."))
        alone.append(await shown(len(service.shown) + 1) - began)
    whole: list[float] = []
    for number in range(ROUNDS):
        engine.put(row)
        began = time.perf_counter()
        engine.put(replace(row, state=RunState.WAITING, needs=(replace(need, id=str(number)),)))
        whole.append(await shown(len(service.shown) + 1) - began)
    floor, took = statistics.median(alone), statistics.median(whole)
    print(f"blocked to note: median {took * 1000:.0f} ms, longest of {ROUNDS} {max(whole) * 1000:.0f} ms")
    print(f"  of that the wait that folds bursts: {DEBOUNCE_SECONDS * 1000:.0f} ms")
    floor_words = f"a note sent alone: median {floor * 1000:.1f} ms"
    print(f"{floor_words}; the whole is {took / (DEBOUNCE_SECONDS + floor):.2f} times wait and note")
    before, began = len(service.shown), time.perf_counter()
    for turn in range(TURNS):
        for number in range(RUNS):
            run = replace(row, run=f"r{number}")
            asked = replace(need, id=f"{number}-{turn}", run=run.run)
            engine.put(replace(run, state=RunState.WAITING, needs=(asked,)) if turn % 2 else run)
    spent = time.perf_counter() - began
    await asyncio.sleep(DEBOUNCE_SECONDS * 3)
    print(
        f"{RUNS} runs, {TURNS} changes each: {len(service.shown) - before} notes,"
        f" {spent / RUNS / TURNS * 1e6:.0f} us a change on the window's loop"
    )
    await tasks.aclose()


if __name__ == "__main__":
    main()
