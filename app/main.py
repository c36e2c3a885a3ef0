"""The window's composition root: the order of start and stop.

Start: an empty window first, then icons and views while the engine host starts in a process of its own; data last.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSettings, QSocketNotifier
from PySide6.QtWidgets import QApplication

from app import log, settings
from app.errors import SiteloreError
from app.models.common.commands import CommandCenter
from app.views.frame.main_window import MainWindow
from app.views.frame.theme import Theme

if TYPE_CHECKING:
    from app.models.common.single_instance import SingleInstance
    from app.workbench import Workbench


WindowTask = Callable[[MainWindow], Awaitable[object]]
"""An action on the filled window before it is closed again."""

FIRST_PAINT_SECONDS = 3.0
"""A window that is not painted by then (minimised, covered) is filled anyway."""

SETTLED_SECONDS = 2.0
"""After this time the queue, the first run and the tips are in memory."""


def run_workbench(
    workspace: Path | None,
    *,
    safe: bool = False,
    demo: bool = False,
    paths: Sequence[str] = (),
    show: str = "",
) -> int:
    """Open the window on ``workspace`` and run until it is closed; returns the exit code.

    ``safe`` restores nothing of the last session, ``show`` names the perspective to begin with.  ``paths`` are opened;
    if the workspace is open already they go to its window, and this process ends with 0.
    """
    _need_a_display()
    folder = _folder(workspace)
    app = _application()
    from app.models.common.single_instance import SingleInstance

    instance = SingleInstance(folder, settings.runtime_dir())
    if not instance.claim(paths, show):
        sys.stderr.write(f"sitelore: {folder} is already open; its window comes to the front\n")
        return 0
    look = None if safe else _look()
    try:
        return _in_loop(
            app,
            lambda: _Session(app, folder, look, instance).work(safe=safe, demo=demo, paths=paths, place=show),
        )
    finally:
        instance.release()


def run_screenshots(workspace: Path, out: Path) -> int:
    """Open the real window offscreen on ``workspace``, save screenshots of every view in ``out``, and close."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = _application()
    out.mkdir(parents=True, exist_ok=True)

    async def both() -> int:
        from app.views.frame.screenshots import take_empty_screenshots, take_screenshots

        code = await _Session(app, workspace.resolve(), None, None).work(
            safe=True, show=lambda window: take_screenshots(window, out, asyncio.sleep)
        )
        with tempfile.TemporaryDirectory() as empty:
            nothing = Path(empty) / "empty"
            return code or await _Session(app, nothing, None, None).work(
                safe=True, show=lambda window: take_empty_screenshots(window, out, asyncio.sleep)
            )

    return _in_loop(app, both)


class _Session:
    """One window from its first paint to the end of the process."""

    def __init__(
        self, app: QApplication, folder: Path, look: QSettings | None, instance: SingleInstance | None
    ) -> None:
        self._folder, self._look, self._instance = folder, look, instance
        self.center, self.theme = CommandCenter(), Theme()
        chosen = settings.load().theme
        self.theme.set_mode(chosen)
        self.theme.apply(app)
        self.window = MainWindow(self.center, self.theme)
        self.window.resize(1280, 800)
        if look is not None:
            self.window.restore_appearance(look)
        self.window.top.show_workspace(folder.name, str(folder))
        self.window.show()

    async def work(
        self,
        *,
        safe: bool,
        demo: bool = False,
        paths: Sequence[str] = (),
        place: str = "",
        show: WindowTask | None = None,
    ) -> int:
        """Fill the window, run until it is closed, stop everything in order."""
        leave = asyncio.Event()
        self.window.quit_requested.connect(leave.set)
        _end_on_signals(leave.set)
        await self._first_painted()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, _read_client)
        from app.models.common.engine_client import EngineClient

        client = EngineClient()
        spawning = loop.create_task(client.spawn(self._folder))
        await loop.run_in_executor(None, _read_views)
        self.theme.load_icons()
        await asyncio.sleep(0)  # keys and clicks between the longest stretches of the start
        from app.workbench import Workbench

        bench = Workbench(self.window, client)
        await bench.build()
        code, connected = 0, False
        try:
            if await _ended_first(spawning, leave):
                connected = True
                code = await self._fill(bench, spawning, safe=safe, paths=paths, place=place)
                loop.call_later(SETTLED_SECONDS, freeze_gc)
                if demo and code == 0:
                    self._greet()
                if show is not None:
                    await (show(self.window) if code == 0 else asyncio.sleep(0))
                elif not leave.is_set():
                    await leave.wait()
        finally:
            await self._stop(bench, save=connected and code == 0 and not safe)
        return code

    async def _fill(
        self, bench: Workbench, spawning: Awaitable[None], *, safe: bool, paths: Sequence[str], place: str
    ) -> int:
        try:
            await spawning
            await bench.start(restore=not safe)
        except Exception as error:  # noqa: BLE001 the boundary: the person gets the reason
            log.log.exception("the workspace could not be opened")
            self.window.welcome.fail(
                self.window.tr("This workspace can't be opened"), str(error) or type(error).__name__
            )
            return 1
        if self._instance is not None:
            self._instance.listen(bench.called)
            bench.workspace.recent.opened(str(self._folder))
        if crash := _last_crash():
            self.window.commands.offer_crash_report(crash)
        bench.open_paths(list(paths), place)
        return 0

    def _greet(self) -> None:
        keys = self.center.keys("app.cheat_sheet")
        self.window.say(
            self.window.tr(
                "This is the demo: recorded runs on a small shop. Press {0} for keyboard shortcuts."
            ).format(keys)
        )

    async def _first_painted(self) -> None:
        painted = asyncio.get_running_loop().create_future()
        self.window.first_painted.connect(lambda: painted.done() or painted.set_result(None))
        await asyncio.wait([painted], timeout=FIRST_PAINT_SECONDS)

    async def _stop(self, bench: Workbench, *, save: bool) -> None:
        """Stop the session first, while the engine is there; then the tasks, the engine, the window.

        ``save`` only with an engine: the session would wait for one that never comes.
        """
        if self._look is not None:
            self.window.save_appearance(self._look)
            self._look.sync()
        self.window.hide()
        await bench.stop(save=save)
        self.window.finish_closing()


def _in_loop(app: QApplication, work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run ``work`` on a loop driven by Qt; its threads are ordinary ones, so that tools can inspect them."""
    import qasync  # after PySide6: it takes the binding that is loaded

    async def main() -> int:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(4, thread_name_prefix="window"))
        log.watch_loop(loop)
        return await work()

    with _woken_by_signals(), asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(app)) as runner:
        return runner.run(main())


def _read_client() -> None:
    """Import the engine client on a worker thread, so that the empty window answers meanwhile."""
    for name in ("app.engine.channel", "app.models.common.engine_client"):
        importlib.import_module(name)


def _read_views() -> None:
    """Import models, views and icons on a worker thread: 0.4 s when the disk is cold."""
    for name in ("qtawesome", "app.workbench"):
        importlib.import_module(name)


async def _ended_first(work: asyncio.Task[None], leave: asyncio.Event) -> bool:
    """Wait for ``work`` or for the request to close; True when the work ended (well or not)."""
    wish = asyncio.get_running_loop().create_task(leave.wait())
    await asyncio.wait([work, wish], return_when=asyncio.FIRST_COMPLETED)
    wish.cancel()
    if not work.done():
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        return False
    return True


def _end_on_signals(leave: Callable[[], None]) -> None:
    for name in (signal.SIGINT, signal.SIGTERM):
        try:
            asyncio.get_running_loop().add_signal_handler(name, leave)
        except (NotImplementedError, ValueError):  # Qt's loop, or not the main thread
            signal.signal(name, lambda _number, _frame: leave())


@contextmanager
def _woken_by_signals() -> Generator[None]:
    """Wake the loop at a signal: while Qt waits for events no Python runs, and so no handler of a signal."""
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setblocking(False)
    before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    notifier = QSocketNotifier(ours.fileno(), QSocketNotifier.Type.Read)

    def take() -> None:
        with suppress(BlockingIOError):
            ours.recv(64)

    notifier.activated.connect(take)
    try:
        yield
    finally:
        notifier.setEnabled(False)
        signal.set_wakeup_fd(before)
        ours.close()
        theirs.close()


def _application() -> QApplication:
    pause_gc()
    QApplication.setApplicationName("sitelore")
    QApplication.setApplicationDisplayName("Sitelore")
    QApplication.setDesktopFileName("sitelore")
    app = QApplication([QApplication.applicationName()])  # its first argument is the window's class on X11
    app.setQuitOnLastWindowClosed(False)
    log.install_hooks()
    from PySide6.QtCore import qInstallMessageHandler

    log.hook_qt(qInstallMessageHandler)
    return app


def _folder(workspace: Path | None) -> Path:
    if workspace is None:
        chosen = settings.load().workspace
        workspace = Path(chosen) if chosen else settings.default_workspace()
    return workspace.expanduser().resolve()


def _look() -> QSettings:
    path = settings.settings_path().with_name("window.ini")
    return QSettings(str(path), QSettings.Format.IniFormat)


def _need_a_display() -> None:
    named = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in named):
        raise SiteloreError(
            "no display found, so the window can't open; 'sitelore demo --headless' runs the whole loop without one,"
            " 'sitelore --help' lists the other commands"
        )


def _last_crash() -> str:
    """Return the trace of the last crash once: the file is emptied after reading."""
    path = log.log_dir() / "sitelore.crash.log"
    try:
        text = path.read_text("utf-8", errors="replace").strip()
        if text:
            path.write_text("", encoding="utf-8")
    except OSError:
        return ""
    return text[-8000:]


THRESHOLDS = (20_000, 20, 20)
"""New objects before the youngest generation is collected, and rounds before the older; Python's own are 700,
10, 10.
"""


def pause_gc() -> None:
    """Turn collection off while the window is being built."""
    gc.disable()


def freeze_gc() -> None:
    """Freeze the objects made so far, and collect new ones less often."""
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()
