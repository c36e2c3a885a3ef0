"""Workspaces opened lately, and the start of a window on another one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QObject, QProcess, Signal

from app import settings
from app.installation import own_command
from app.models.common.object_list import ObjectList

if TYPE_CHECKING:
    from app.models.common.tasks import Tasks

KEEP = 12
"""Workspaces remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentWorkspace:
    """A folder opened before; ``found`` says whether it is still there, ``is_open`` whether it is this window's."""

    path: str
    found: bool = True
    is_open: bool = False

    @property
    def name(self) -> str:
        """The folder's own name."""
        return Path(self.path).name or self.path


def recent_path() -> Path:
    """``recent-workspaces.json`` beside the settings."""
    return settings.settings_path().with_name("recent-workspaces.json")


def read_recent(file: Path) -> list[str]:
    """Return the stored folders, newest first; a missing or damaged file is an empty list."""
    try:
        stored: Any = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return []
    paths = cast("list[Any]", stored) if isinstance(stored, list) else []
    return [path for path in paths if isinstance(path, str)][:KEEP]


def add_recent(file: Path, folder: str) -> None:
    """Put a folder first in the file."""
    rest = [path for path in read_recent(file) if path != folder]
    file.parent.mkdir(parents=True, exist_ok=True)
    settings.write_atomically(file, json.dumps([folder, *rest][:KEEP], indent=1, ensure_ascii=False) + "\n")


def start_window(folder: str) -> bool:
    """Start another window on a workspace; one that is open already comes to the front instead."""
    process = QProcess()
    program, *arguments = own_command("--workspace", folder)
    process.setProgram(program)
    process.setArguments(arguments)
    return bool(process.startDetached())


class RecentWorkspaces(ObjectList[RecentWorkspace]):
    """The list of the panel "Open workspace", newest first; read again each time the panel opens.

    Signals:
        said: a sentence for the user, and its kind ("" plain, ``fail``).
    """

    said = Signal(str, str)

    def __init__(
        self,
        tasks: Tasks,
        parent: QObject | None = None,
        *,
        file: Path | None = None,
        start: Callable[[str], bool] = start_window,
    ) -> None:
        super().__init__(lambda row: row.path, parent)
        self._tasks, self._file, self._start = tasks, file, start
        self.current = ""

    def words(self, value: RecentWorkspace) -> str:
        """``shop, /home/ana/shop, open in this window``."""
        state = (
            self.tr("open in this window") if value.is_open else "" if value.found else self.tr("not found")
        )
        return ", ".join(part for part in (value.name, value.path, state) if part)

    def opened(self, folder: str) -> None:
        """Remember the workspace of this window."""
        if folder == self.current:
            return
        self.current = folder
        self._tasks.start(asyncio.to_thread(add_recent, self._where, folder), failed=self._not_saved)

    def load(self) -> None:
        """Read the list again."""

        def reading() -> list[RecentWorkspace]:
            return [
                RecentWorkspace(path=path, found=Path(path).is_dir(), is_open=path == self.current)
                for path in read_recent(self._where)
            ]

        self._tasks.start(asyncio.to_thread(reading), self.replace, key="recent-workspaces")

    def open(self, folder: str) -> None:
        """Open a workspace in a window of its own."""
        name = Path(folder).name or folder
        if folder == self.current:
            self.said.emit(self.tr("{0} is open in this window").format(name), "")
        elif self._start(folder):
            self.said.emit(self.tr("Opening {0} in its own window").format(name), "")
        else:
            self.said.emit(self.tr("No window could be started for {0}").format(folder), "fail")

    @property
    def _where(self) -> Path:
        return self._file or recent_path()

    def _not_saved(self, error: BaseException) -> None:
        self.said.emit(self.tr("The list of recent workspaces can't be saved: {0}").format(error), "fail")
