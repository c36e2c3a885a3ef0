"""Screenshots of every view of the real window with real data, for visual checks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from app.views.graph.view import MapView
from app.views.live.view import LiveView

if TYPE_CHECKING:
    from app.views.frame.main_window import MainWindow

USUAL, LARGE = QSize(1280, 800), QSize(2560, 1440)
MAX_WAIT_SECONDS = 8.0
"""Longest wait in seconds for a view to be filled before its screenshot."""

SAMPLE_TIP = "When a note covers the list, press Got it first; until then nothing under it can be clicked."
"""The text in the composer on its screenshot."""

Pause = Callable[[float], Awaitable[None]]


async def take_screenshots(window: MainWindow, out: Path, pause: Pause) -> list[Path]:
    """Walk through the window and save screenshots; ``pause(seconds)`` lets the loop run."""
    camera = _Camera(window, out, pause)
    await camera.until_filled()
    for mode in ("light", "dark"):
        window.theme.set_mode(mode)
        window.resize(USUAL)
        await camera.walk_perspectives(mode)
    window.theme.set_mode("light")
    await camera.walk_overlays()
    window.resize(LARGE)
    window.go("review")
    await camera.shoot("review-2560x1440")
    window.resize(USUAL)
    window.theme.set_zoom(1.5)
    await camera.shoot("review-text-150")
    window.theme.set_zoom(1.0)
    window.theme.set_mode("contrast")
    await camera.shoot("review-contrast")
    window.theme.set_mode("light")
    return camera.taken


async def take_empty_screenshots(window: MainWindow, out: Path, pause: Pause) -> list[Path]:
    """Save screenshots of the empty states, on a workspace without runs or tips."""
    camera = _Camera(window, out, pause)
    await camera.until_filled()
    window.resize(USUAL)
    for place in window.places:
        window.go(place)
        await camera.shoot(f"empty-{place}", 0.5)
    return camera.taken


class _Camera:
    def __init__(self, window: MainWindow, out: Path, pause: Pause) -> None:
        self._window, self._out, self._pause = window, out, pause
        self.taken: list[Path] = []

    async def shoot(self, name: str, wait: float = 0.25) -> None:
        """Let the view settle, then save it."""
        await self._pause(wait)
        path = self._out / f"{name}.png"
        if not self._window.grab().save(str(path)):
            raise OSError(f"{path} can't be written; choose another folder with --out")
        self.taken.append(path)

    async def until_filled(self) -> None:
        """Wait until the workspace is known and its first run is open."""
        waited = 0.0
        while waited < MAX_WAIT_SECONDS and not self._ready():
            await self._pause(0.1)
            waited += 0.1
        await self._pause(0.8)

    async def walk_perspectives(self, mode: str) -> None:
        """Every perspective; in Review the composer too, with a tip begun in it."""
        window = self._window
        for place in window.places:
            window.go(place)
            if place == "map":
                await self.walk_map(mode)
                continue
            if place == "live":
                await self.walk_live(mode)
                continue
            await self.shoot(f"{place}-{mode}", 1.5)  # Knowledge asks for lint, places and history of its tip
        window.go("review")
        if window.center.trigger("tip.compose"):
            await self._pause(0.5)
            self._write(SAMPLE_TIP)
            await self.shoot(f"composer-{mode}", 1.5)
            self._write("")
            window.center.trigger("composer.discard")
            window.center.trigger("composer.close")
            await self._pause(0.3)

    async def walk_map(self, mode: str) -> None:
        """The whole map; in light colours also zoomed in, its table, a path, the laboratory, velocity, the form."""
        window, trigger = self._window, self._window.center.trigger
        view = window.perspective("map")
        if not isinstance(view, MapView):
            return
        await self._pause(0.5)
        explored = [row.site for row in view.model.sites if row.state]
        if explored and view.model.site not in explored:
            view.model.choose_site(explored[-1])
            await self._pause(1.5)
        rows = view.model.table.rows
        if not rows:
            await self.shoot(f"map-{mode}", 0.5)
            return
        far = max(rows, key=lambda row: (row.depth, row.incoming, row.id)).id
        view.model.select(far)
        trigger("map.fit")
        await self.shoot(f"map-{mode}", 1.5)
        trigger("map.path.home")
        await self.shoot(f"map-path-{mode}", 1.5)
        trigger("map.center")
        await self.shoot(f"map-near-{mode}", 2.0)
        if mode == "light":
            trigger("map.table")
            await self.shoot("map-table", 1.0)
            trigger("map.table")
            for command, name in (("map.lab", "map-lab"), ("map.velocity", "map-velocity")):
                trigger(command)
                await self.shoot(name, 1.5)
                trigger("map.back")
            trigger("map.explore")
            await self.shoot("map-explore", 0.5)
            trigger("map.back")
        view.model.path.clear()
        view.model.select("")

    async def walk_live(self, mode: str) -> None:
        """The overview, the run that most needs an operator, in light colours also the forms."""
        window, trigger = self._window, self._window.center.trigger
        view = window.perspective("live")
        if not isinstance(view, LiveView):
            return
        await self.shoot(f"live-{mode}", 2.5)  # a tile has a picture a second
        if view.model.list.rows:
            view.model.open(view.model.list.rows[0].run)
            await self.shoot(f"live-large-{mode}", 2.0)
            view.model.close()
        if mode == "light":
            for command in ("live.new", "live.tasks", "live.policy"):
                trigger(command)
                await self.shoot(command.replace(".", "-"), 1.0)
                view.close_form()

    def _write(self, text: str) -> None:
        field = self._window.focusWidget()
        if isinstance(field, (QPlainTextEdit, QTextEdit)):
            field.setPlainText(text)

    async def walk_overlays(self) -> None:
        """Palette, shortcut sheet and editor, search, jobs, diagnostics, settings, sites, prompts, the freeze pane."""
        window, commands = self._window, self._window.commands
        window.go("review")
        commands.palette.present()
        await self.shoot("palette")
        commands.palette.line.setText("tip")
        await self.shoot("palette-words")
        commands.palette.dismiss()
        commands.sheet.present()
        await self.shoot("keys")
        commands.editor.present()
        await self.shoot("change-keys")
        commands.editor.dismiss()
        window.center.trigger("runs.detect")
        window.center.trigger("app.jobs")
        await self.shoot("jobs", 0.15)
        window.toast.hide()
        window.center.trigger("app.jobs")
        window.activateWindow()
        window.center.trigger("app.search")
        window.top.search.insert("order")
        window.top.search.textEdited.emit("order")
        await self.shoot("search", 0.8)
        window.top.search.clear()
        commands.search_popup.leave()
        commands.doctor.present()
        await self._until_checked()
        await self.shoot("doctor")
        commands.doctor.dismiss()
        window.center.trigger("app.settings")
        await self.shoot("settings", 0.5)
        commands.settings.dismiss()
        window.center.trigger("app.sites")
        await self.shoot("sites", 0.5)
        window.close_overlays()
        window.center.trigger("app.prompts")
        await self.shoot("prompts", 0.5)
        window.close_overlays()
        if "knowledge" in window.places:
            window.go("knowledge")
            window.center.trigger("kb.freeze")
            await self.shoot("freeze", 1.0)
            window.center.trigger("knowledge.back")
            window.go("review")

    async def _until_checked(self) -> None:
        model, waited = self._window.workspace, 0.0
        while model is not None and not model.checks and waited < MAX_WAIT_SECONDS:
            await self._pause(0.1)
            waited += 0.1

    def _ready(self) -> bool:
        model = self._window.workspace
        return model is not None and model.info is not None
