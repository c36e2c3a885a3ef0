"""The workspace as the frame shows it: name, diagnostics, undo, and actions on the whole of it."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QObject, Signal

from app.engine.api.engine_api import Check
from app.engine.api.import_notes import note_lines
from app.models.common.recent_workspaces import RecentWorkspaces
from app.models.common.tasks import ignore

if TYPE_CHECKING:
    from app.engine.api.engine_api import RunImportReport, UndoResult, WorkspaceInfo
    from app.engine.core.events import BrowserStarted, EncoderChanged, HistoryChanged, IndexDamaged
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks
    from app.models.live.delayed_actions import DelayedAction, DelayedActions
    from kb.tip import ImportReport


ASK_AGAIN = (5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 300.0)
"""Seconds between probes of a browser that did not start in time; the last interval repeats."""
TIP_FILES = {".txt": "txt", ".csv": "csv"}
"""Endings of files that hold tips and never runs, with their exchange format."""
KNOWLEDGE_FILE = ".akb"
"""Ending of a knowledge base."""
JUST_NOW = 1.0
"""Seconds after a change during which its message offers Undo."""


class WorkspaceModel(QObject):
    """Signals:

    info_changed: name and counts are known or changed.
    history_changed: undo or redo would do something else now.
    said: a sentence for the user, and its kind ("" plain, ``ok``, ``fail``).
    checks_changed: the diagnostics arrived.
    host_said: "" when the engine is connected, else the reason.
    import_detailed: of an import with problems or notes its sentence, that sentence's kind, and every one of them.
    index_damaged: the search index is damaged; carries a sentence that says so.
    knowledge_file_opened: a file with a knowledge base was dropped or double-clicked; carries its path.
    run_opened: a run was double-clicked and is imported; carries its id.
    """

    info_changed = Signal()
    history_changed = Signal()
    said = Signal(str, str)
    checks_changed = Signal()
    host_said = Signal(str)
    import_detailed = Signal(str, str, str)
    index_damaged = Signal(str)
    knowledge_file_opened = Signal(str)
    run_opened = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.recent = RecentWorkspaces(tasks, self)
        self.recent.said.connect(self.said)
        self.info: WorkspaceInfo | None = None
        self.checks: list[Check] = []
        self._asked_again = 0
        self._warned = False
        self._started: list[Check] = []
        self._undo_label = self.redo_label = ""
        self._held: DelayedActions | None = None
        self.encoder_words, self.encoder_ready = self.tr("encoder starting"), False
        self.host = ""
        self._deed_at = 0.0
        client.history_changed.connect(self._on_history)
        client.encoder_changed.connect(self._on_encoder)
        client.browser_started.connect(self._on_browser)
        client.host_changed.connect(self._on_host)
        client.index_damaged.connect(self._on_index_damaged)
        client.runs_changed.connect(self._refresh)
        client.knowledge_changed.connect(self._refresh)

    def start(self) -> None:
        """Load the workspace's facts, then the diagnostics."""
        self._tasks.start(self._client.api.info(), self._on_info)
        self.examine(delay=3.0)  # it starts a browser: not during the window's own start

    def reload(self, _words: str = "") -> None:
        """Load the facts and run the diagnostics again, after the settings were changed."""
        self._tasks.start(self._client.api.info(), self._on_info)
        self.examine()

    def examine(self, delay: float = 0.0) -> None:
        """Run the diagnostics again; a browser that is slow or missing is probed again from time to time."""
        self._asked_again = 0
        self._tasks.start(
            self._client.api.doctor(),
            self._on_checks,
            lambda _error: self._ask_for_browser_again(),
            key="frame-doctor",
            delay=delay,
        )

    def check(self, word: str) -> Check | None:
        return next((check for check in self.checks if word in check.name.lower()), None)

    def follow(self, held: DelayedActions) -> None:
        """Let undo also take back held-back actions: whichever came last."""
        self._held = held
        held.changed.connect(self.history_changed)

    @property
    def undo_label(self) -> str:
        """Description of the change that undo would revert, "" for nothing."""
        held = self._held_back
        return held.label if held is not None else self._undo_label

    @property
    def _held_back(self) -> DelayedAction | None:
        """The held-back action, unless something was done since."""
        newest = self._held.newest if self._held is not None else None
        return newest if newest is not None and newest.at >= self._deed_at else None

    @property
    def version(self) -> str:
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("sitelore")
        except PackageNotFoundError:
            return self.tr("(from a checkout)")

    @property
    def is_empty(self) -> bool:
        """Whether no run was ever imported (as far as is known)."""
        return self.info is not None and self.info.runs == 0

    @property
    def can_offer_undo(self) -> bool:
        """Whether something undoable was done just now."""
        return (
            bool(self._undo_label) and self._held_back is None and time.monotonic() - self._deed_at < JUST_NOW
        )

    # ------------------------------------------------------------ operations
    def import_paths(self, paths: Sequence[str], *, then_open: bool = False) -> None:
        """Import dropped files and folders: tables of tips as tips, everything else as runs.

        A knowledge base is shown, not imported.  ``then_open``: the first of the runs is to be opened.
        """
        bases = [path for path in paths if PurePath(path).suffix.lower() == KNOWLEDGE_FILE]
        if bases:
            self.knowledge_file_opened.emit(bases[-1])
        paths = [path for path in paths if path not in bases]
        tips = [path for path in paths if PurePath(path).suffix.lower() in TIP_FILES]
        for path in tips:
            form = TIP_FILES[PurePath(path).suffix.lower()]
            self._tasks.start(
                self._client.api.kb_import(path, form), partial(self._on_tips_imported, path), self._tell
            )
        self.import_runs([path for path in paths if path not in tips], then_open=then_open)

    def import_runs(self, paths: Sequence[str], *, then_open: bool = False) -> None:
        """Import files and folders; the job reports its progress."""
        if not paths:
            return
        self.said.emit(self.tr("Importing {0}").format(_named(paths)), "")
        done = self._on_opened if then_open else self._on_imported
        self._tasks.start(self._client.api.import_runs(list(paths)), done, self._tell)

    def detect(self) -> None:
        self._tasks.start(
            self._client.api.detect(),
            lambda flags: self.said.emit(self.tr("Detectors finished: {0} flags").format(len(flags)), "ok"),
            self._tell,
        )

    def ask_model(self) -> None:
        """Have a model judge the riskiest runs that it has not judged yet."""
        self._tasks.start(
            self._client.api.ask_model(),
            lambda flags: self.said.emit(self.tr("The model raised {0} flags").format(len(flags)), "ok"),
            self._tell,
        )

    def rebuild_index(self) -> None:
        self._tasks.start(
            self._client.api.rebuild_index(),
            lambda runs: self.said.emit(self.tr("Search index rebuilt: {0} runs").format(runs), "ok"),
            self._tell,
        )

    def undo(self) -> None:
        if self._held is not None and self._held_back is not None:
            self.said.emit(self.tr("Undone: {0}").format(self._held.take_back()), "ok")
            return
        if self._held is not None and self._held.too_late:
            self.said.emit(self.tr("Too late to undo: {0}").format(self._held.too_late), "")
            return
        self._tasks.start(
            self._client.api.undo(), lambda done: self._on_turned(done, undone=True), self._tell
        )

    def undo_held_back(self) -> None:
        """Take back the held-back action and nothing of the history, however late that is asked for."""
        if self._held is not None:
            label = self._held.take_back()
            late = self.tr("Too late to undo")
            self.said.emit(self.tr("Undone: {0}").format(label) if label else late, "ok" if label else "")

    def redo(self) -> None:
        self._tasks.start(
            self._client.api.redo(), lambda done: self._on_turned(done, undone=False), self._tell
        )

    # ------------------------------------------------------------ answers
    def _refresh(self, _event: object) -> None:
        self._tasks.start(self._client.api.info(), self._on_info, ignore, key="frame-info", delay=0.3)

    def _on_info(self, info: WorkspaceInfo) -> None:
        if self.info is None and info.notes:
            self.said.emit(" ".join(info.notes), "fail")  # stays until closed
        self.info = info
        if not self.encoder_ready:
            self.encoder_ready = info.encoder_ready
            if info.encoder_ready:
                self.encoder_words = self.tr("encoder ready")
        self.info_changed.emit()

    def _on_checks(self, checks: list[Check]) -> None:
        self.checks = list(checks)
        browser = self.check("browser")
        if self._started and (browser is None or not browser.ok):
            self._show_browser(self._started)  # this check began before a browser opened
        else:
            self.checks_changed.emit()
        self._ask_for_browser_again()

    def _ask_for_browser_again(self) -> None:
        """Probe the browser until one is found: it was slow, or is being installed."""
        browser = self.check("browser")
        if browser is not None and browser.ok:
            return
        delay = ASK_AGAIN[min(self._asked_again, len(ASK_AGAIN) - 1)]
        self._asked_again += 1
        self._tasks.start(
            self._client.api.doctor(browser_only=True),
            self._on_browser_checks,
            lambda _error: self._ask_for_browser_again(),
            key="frame-doctor",
            delay=delay,
        )

    def _on_browser_checks(self, found: list[Check]) -> None:
        works = any(check.name == "browser" and check.ok for check in found)
        self._show_browser(found if works or not self._started else self._started)
        self._ask_for_browser_again()

    def _on_browser(self, event: BrowserStarted) -> None:
        """An open browser works, whatever a check said; one without its sandbox is mentioned once."""
        self._started = [
            Check(name="browser", ok=True, found=event.found),
            Check(
                name="sandbox",
                ok=not event.unsandboxed,
                found=event.unsandboxed or self.tr("the browser uses it"),
                remedy=event.remedy,
                needed=False,
            ),
        ]
        self._show_browser(self._started)
        if event.unsandboxed and not self._warned:
            self._warned = True
            self.said.emit(self.tr("The browser runs without its sandbox: {0}").format(event.unsandboxed), "")

    def _show_browser(self, found: list[Check]) -> None:
        names = [check.name for check in self.checks]
        place = names.index("browser") if "browser" in names else len(names)
        others = [check for check in self.checks if check.name not in ("browser", "sandbox")]
        self.checks = [*others[:place], *found, *others[place:]]
        self.checks_changed.emit()

    def _on_history(self, event: HistoryChanged) -> None:
        if event.undo and event.undo != self._undo_label:
            self._deed_at = time.monotonic()
        self._undo_label, self.redo_label = event.undo, event.redo
        self.history_changed.emit()

    def _on_encoder(self, event: EncoderChanged) -> None:
        self.encoder_ready, self.encoder_words = event.ready, event.message
        self.info_changed.emit()

    def _on_host(self, message: str) -> None:
        if self.host and not message:
            self.said.emit(self.tr("The engine is running again"), "ok")
        if message:
            self._started = []  # its browsers ended with it
        self.host = message
        self.host_said.emit(message)

    def _on_index_damaged(self, _event: IndexDamaged) -> None:
        self.index_damaged.emit(
            self.tr("The search index is damaged. It can be rebuilt from the runs; no data is lost.")
        )

    def _on_turned(self, done: UndoResult, *, undone: bool) -> None:
        self._undo_label, self.redo_label, self._deed_at = done.undo, done.redo, 0.0
        self.said.emit(undo_message(done.did, undone=undone), "ok")
        self.history_changed.emit()

    def _on_tips_imported(self, path: str, report: ImportReport) -> None:
        name = PurePath(path).name
        if report.failed and not report.added:
            self.said.emit(self.tr("{0}: no tip could be read ({1})").format(name, report.failed[0]), "fail")
            return
        words = self.tr("{0}: {1} tips imported as drafts, {2} already present")
        self.said.emit(words.format(name, len(report.added), report.skipped), "ok")

    def _on_opened(self, report: RunImportReport) -> None:
        self._on_imported(report)
        if report.runs or report.first_present:
            self.run_opened.emit(report.runs[0] if report.runs else report.first_present)

    def _on_imported(self, report: RunImportReport) -> None:
        parts = [self.tr("{0} runs imported").format(report.imported)]
        if report.skipped:
            parts.append(self.tr("{0} already present").format(report.skipped))
        if report.failed:
            first = report.failed[0]
            parts.append(
                self.tr("{0} could not be read (first: {1}: {2})").format(
                    len(report.failed), first.path, first.error
                )
            )
        if lines := note_lines(report.notes):
            more = self.tr(" and {0} more notes").format(len(lines) - 1) if len(lines) > 1 else ""
            parts.append(self.tr("{0} with notes ({1}{2})").format(len(report.notes), lines[0], more))
        if report.unrecognised:
            parts.append(self.tr("{0} files recognised by no format").format(len(report.unrecognised)))
        if report.cancelled:
            parts.append(self.tr("cancelled before the end"))
        words, kind = ", ".join(parts), "fail" if report.failed else "ok"
        self.said.emit(words, kind)
        if report.failed or report.notes or report.unrecognised:
            self.import_detailed.emit(words, kind, import_details(report))

    def _tell(self, error: Exception) -> None:
        self.said.emit(str(error) or type(error).__name__, "fail")


def import_details(report: RunImportReport) -> str:
    """Return every file that could not be read or is no run, and the notes on the new runs, equal ones as one line."""
    failed = [f"{one.path}: {one.error}" for one in report.failed]
    heads = (
        (QCoreApplication.translate("WorkspaceModel", "Could not be read"), failed),
        (QCoreApplication.translate("WorkspaceModel", "Notes on the new runs"), note_lines(report.notes)),
        (QCoreApplication.translate("WorkspaceModel", "Recognised by no format"), report.unrecognised),
    )
    return "\n\n".join("\n".join((head, *(f"  {line}" for line in lines))) for head, lines in heads if lines)


def _named(paths: Sequence[str]) -> str:
    name = paths[0].rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1] or paths[0]
    return f"'{name}'" if len(paths) == 1 else f"'{name}' and {len(paths) - 1} more"


_WORDS = (
    (
        r"add (\S+)",
        QT_TRANSLATE_NOOP("undo", "Tip {0} removed (undo)"),
        QT_TRANSLATE_NOOP("undo", "Tip {0} restored (redo)"),
    ),
    (
        r"merge ('.+)",
        QT_TRANSLATE_NOOP("undo", "{0} are separate states again (undo)"),
        QT_TRANSLATE_NOOP("undo", "{0} are one state again (redo)"),
    ),
    (
        r"split ('.+)",
        QT_TRANSLATE_NOOP("undo", "{0} is one state again (undo)"),
        QT_TRANSLATE_NOOP("undo", "{0} is split again (redo)"),
    ),
    (
        r"(?:import|merge) (.+)",
        QT_TRANSLATE_NOOP("undo", "Tips from {0} removed (undo)"),
        QT_TRANSLATE_NOOP("undo", "Tips from {0} restored (redo)"),
    ),
    (
        r"edit (\S+)",
        QT_TRANSLATE_NOOP("undo", "{0}: edit undone"),
        QT_TRANSLATE_NOOP("undo", "{0}: edit redone"),
    ),
    (
        r"(?:activate|review|suspect|send back|restore|waive|retire) (\S+|\d+ tips)",
        QT_TRANSLATE_NOOP("undo", "{0}: status restored (undo)"),
        QT_TRANSLATE_NOOP("undo", "{0}: status changed (redo)"),
    ),
)
"""Actions of the knowledge base's journal, and their messages when undone and redone."""


def undo_message(deed: str, *, undone: bool) -> str:
    """Return the message for a change that was undone or redone."""
    for pattern, back, again in _WORDS:
        match = re.fullmatch(pattern, deed)
        if match is not None:
            return QCoreApplication.translate("undo", str(back if undone else again)).format(match[1])
    pattern = "Undone: {0}" if undone else "Redone: {0}"
    return QCoreApplication.translate("undo", pattern).format(deed)
