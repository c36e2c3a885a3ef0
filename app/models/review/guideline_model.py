"""The guideline of the labels: its text, its versions, and the edit under way."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.api.review_api import Guideline
from app.models.common.translate import tr
from app.models.knowledge.tip_table import ago
from kb.tip_changes import DiffPart, diff_words

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

MAX_DIFFED = 20_000
"""Characters of a version that are compared word by word."""


class GuidelineModel(QObject):
    """The versions, the newest first; ``shown`` is the one being read.

    Signals:
        changed: versions, the one shown, the mode or the error changed.
        notice: a sentence for a passing message.
    """

    changed = Signal()
    notice = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.versions: tuple[Guideline, ...] = ()
        self.place = 0
        self.is_loaded = self.is_editing = self.is_saving = self.shows_changes = False
        self.draft: str | None = None
        """Text of an edit that was left without saving."""
        self.error = ""

    @property
    def shown(self) -> Guideline | None:
        return self.versions[self.place] if self.place < len(self.versions) else None

    @property
    def in_force(self) -> Guideline | None:
        """The newest version."""
        return self.versions[0] if self.versions else None

    @property
    def before(self) -> Guideline | None:
        """The version before the one shown."""
        return self.versions[self.place + 1] if self.place + 1 < len(self.versions) else None

    @property
    def changes(self) -> tuple[DiffPart, ...]:
        """The changes since the version before, word by word."""
        shown, before = self.shown, self.before
        if shown is None or before is None:
            return ()
        return diff_words(before.text[:MAX_DIFFED], shown.text[:MAX_DIFFED])

    def load(self) -> None:
        def came(found: list[Guideline]) -> None:
            self.versions, self.is_loaded, self.error = newest_first(found), True, ""
            self.place = min(self.place, max(len(found) - 1, 0))
            self.changed.emit()

        def failed(error: Exception) -> None:
            self.is_loaded, self.error = True, str(error)
            self.changed.emit()

        self._tasks.start(self._client.api.guidelines(), came, failed, key="review-guideline")

    def show_version(self, place: int) -> None:
        """Read another version; 0 is the newest."""
        if 0 <= place < len(self.versions) and place != self.place:
            self.place = place
            self.changed.emit()

    def show_changes(self, shown: bool) -> None:
        """Mark the changes since the version before, or show the plain text."""
        if shown != self.shows_changes:
            self.shows_changes = shown
            self.changed.emit()

    def edit(self) -> None:
        """Begin a new version from the newest one, or from the draft."""
        self.place, self.shows_changes, self.is_editing = 0, False, True
        self.changed.emit()

    def leave(self, text: str) -> None:
        """End editing without saving; the text is kept as a draft."""
        newest = self.in_force.text if self.in_force is not None else ""
        self.draft = text if text != newest else None
        self.is_editing = False
        self.changed.emit()

    def discard(self) -> None:
        """End editing and forget the draft."""
        self.draft, self.is_editing = None, False
        self.changed.emit()

    def save(self, text: str) -> None:
        """Save the text as a new version, which new verdicts name."""
        if self.is_saving:
            return
        newest = self.in_force
        if newest is not None and text.strip() == newest.text.strip():
            self.discard()
            self.notice.emit(tr("Nothing was changed."))
            return
        self.draft, self.is_saving = text, True

        def saved(version: Guideline) -> None:
            self.draft, self.is_saving, self.is_editing, self.place = None, False, False, 0
            self.notice.emit(
                tr("Guideline saved as version {0}; new verdicts name it").format(version.version)
            )
            self.load()

        def failed(error: Exception) -> None:
            self.is_saving, self.error = False, str(error)
            self.changed.emit()

        self._tasks.start(self._client.api.save_guideline(text), saved, failed)


def newest_first(versions: list[Guideline]) -> tuple[Guideline, ...]:
    """Return the versions by number, the newest first."""
    return tuple(
        sorted(versions, key=lambda one: (int(one.version) if one.version.isdecimal() else 0, one.at))
    )[::-1]


_EMPHASIS = re.compile(r"(?<!\*)\*(?![\s*])([^*\n]+)\*(?!\*)")


def reading_parts(text: str) -> list[tuple[str, bool]]:
    """Return a text for reading: stretches, and whether each is bold.

    Lines broken by hand are joined into paragraphs; headings (``#``) and words between ``**`` are bold, words between
    ``*`` are plain.
    """
    parts: list[tuple[str, bool]] = []
    for number, block in enumerate(_blocks(text)):
        parts.append(("\n" if number else "", False))
        if block.startswith("#"):
            parts.append((block.lstrip("# "), True))
            continue
        block = _EMPHASIS.sub(r"\1", block)
        pieces = block.split("**")
        whole = len(pieces) % 2 == 1  # an odd number of marks means nothing
        stretches = pieces if whole else [block]
        parts += [(piece, place % 2 == 1) for place, piece in enumerate(stretches)]
    return [part for part in parts if part[0]]


def _blocks(text: str) -> list[str]:
    """Join the lines of each paragraph; headings, list items and empty lines stand alone."""
    found: list[str] = []
    joins = False
    for line in text.splitlines():
        begins = (
            line.lstrip().startswith(("#", "- ", "* ", "+ ", "|")) or line.lstrip()[:2].rstrip(".").isdigit()
        )
        if line.strip() and joins and not begins:
            found[-1] = f"{found[-1].rstrip()} {line.strip()}"
        else:
            found.append(line.rstrip())
        joins = bool(line.strip()) and not line.startswith("#")
    return found


def version_words(version: Guideline, *, in_force: bool) -> str:
    """``version 3 · ana · 2 d ago · in force``."""
    parts = [tr("version {0}").format(version.version), version.author, ago(version.at) if version.at else ""]
    if in_force:
        parts.append(tr("in force"))
    return " · ".join(part for part in parts if part)
