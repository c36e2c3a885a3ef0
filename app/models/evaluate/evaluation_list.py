"""Evaluations as a list, and the progress of those that are running."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject

from app.engine.api.evaluation_api import EvaluationRow
from app.models.common.object_list import ObjectList
from app.models.common.translate import tr
from app.models.evaluate.figures import count_words

RUNNING, UNREADABLE = "running", "unreadable"


class EvaluationListModel(ObjectList[EvaluationRow]):
    """Evaluations by folder, in the order in which they came; a new one is inserted at its place."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.folder, parent)

    def words(self, value: EvaluationRow) -> str:
        text = f"{value.name}, {tr(value.state)}, {progress_words(value)}"
        return text + (f", {error_count(value.errors)}" if value.errors else "")

    def tip(self, value: EvaluationRow) -> str:
        return "\n".join(part for part in (self.words(value), value.folder, value.note) if part)


def progress_words(row: EvaluationRow) -> str:
    """``144 of 360``."""
    return tr("{0} of {1}").format(count_words(row.done), count_words(row.episodes))


def error_count(errors: int) -> str:
    return tr("1 error") if errors == 1 else tr("{0} errors").format(count_words(errors))


class ProgressRate:
    """The time that running evaluations still need, by the episodes that ended while this window looked."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[float, int]] = {}
        self._now: dict[str, tuple[float, int]] = {}

    def note(self, folder: str, done: int, *, running: bool, now: float | None = None) -> None:
        """Note how far an evaluation is; one that pauses or goes back is measured from there."""
        at = time.monotonic() if now is None else now
        before = self._now.get(folder)
        if not running or before is None or done < before[1]:
            self._since[folder] = (at, done)
            self._now[folder] = (at, done)
        elif done > before[1]:
            self._now[folder] = (at, done)

    def hours_left(self, folder: str, episodes: int) -> float | None:
        """Return the hours left, ``None`` until at least one episode has ended here."""
        if folder not in self._now:
            return None
        (begun, first), (at, done) = self._since[folder], self._now[folder]
        if done <= first:
            return None
        return max(episodes - done, 0) * (at - begun) / (done - first) / 3600
