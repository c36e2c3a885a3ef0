"""The command table; menus, palette, shortcut sheet, tooltips and remapping are made from it.

A perspective connects its commands with ``CommandCenter.bind``; a command that is not bound stays disabled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QCoreApplication, QObject, Signal
from PySide6.QtGui import QAction, QKeySequence

from app.engine.core.verdicts import Label
from app.models.common.command import ACTIVE_PLACES, PERSPECTIVES, PLACE_TITLES, Command
from app.models.common.keymap import Keymap, readable_key
from app.models.graph.commands import MAP_COMMANDS
from app.models.live.commands import LIVE_COMMANDS

__all__ = ["ACTIVE_PLACES", "COMMANDS", "MENUS", "PLACE_TITLES", "Command", "CommandCenter"]

MENUS = ("File", "Edit", "Go", *(view.title for view in PERSPECTIVES), "View", "Help")
"""The menu bar, left to right."""

EVERYWHERE = (
    Command("runs.import", "Import runs…", ("Ctrl+O",), menu="File", icon="folder-plus-outline"),
    Command("runs.import_files", "Import run files…", (), menu="File", icon="file-plus-outline"),
    Command("runs.detect", "Re-run the detectors", (), menu="File", icon="radar"),
    Command(
        "runs.ask_model",
        "Ask a model about the riskiest runs",
        (),
        menu="File",
        icon="account-question-outline",
    ),
    Command(
        "runs.rebuild_index", "Rebuild the search index", (), menu="File", icon="database-refresh-outline"
    ),
    Command("app.jobs", "Show jobs", ("Ctrl+J",), menu="File", icon="progress-clock"),
    Command("app.cancel_jobs", "Cancel all jobs", (), menu="File", icon="cancel"),
    Command("app.save_session", "Save the session now", (), menu="", icon="content-save-outline"),
    Command("app.quit", "Quit", ("Ctrl+Q",), menu="File", icon="exit-to-app"),
    Command("app.undo", "Undo", ("Ctrl+Z", "U"), menu="Edit", icon="undo"),
    Command("app.redo", "Redo", ("Ctrl+Shift+Z", "Shift+U", "Ctrl+Y"), menu="Edit", icon="redo"),
    Command("app.search", "Search everything", ("Ctrl+F",), menu="Edit", icon="magnify"),
    Command("app.palette", "Find a command", ("Ctrl+K", "Ctrl+Shift+P"), menu="Edit", icon="console-line"),
    Command("app.settings", "Settings…", ("Ctrl+,",), menu="Edit", icon="cog-outline"),
    Command("app.keys", "Customize shortcuts…", (), menu="Edit", icon="keyboard-settings-outline"),
    *(
        Command(f"go.{view.place}", f"Go to {view.title}", view.keys, menu="Go", icon=view.icon)
        for view in PERSPECTIVES
    ),
    Command("go.call", "Next alert", ("Ctrl+.",), menu="Go", icon="bell-ring-outline"),
    Command("view.fold.left", "Hide list", ("[", "Ctrl+B"), menu="View", icon="dock-left"),
    Command("view.fold.middle", "Hide centre", ("\\",), menu="View", icon="dock-window"),
    Command("view.fold.right", "Hide right column", ("]", "Ctrl+Alt+B"), menu="View", icon="dock-right"),
    Command("view.reset_layout", "Reset the layout", (), menu="View", icon="view-column-outline"),
    Command(
        "view.zoom.in",
        "Larger text",
        ("Ctrl++", "Ctrl+="),
        menu="View/Text size",
        icon="magnify-plus-outline",
    ),
    Command(
        "view.zoom.out", "Smaller text", ("Ctrl+-",), menu="View/Text size", icon="magnify-minus-outline"
    ),
    Command("view.zoom.reset", "Normal text", ("Ctrl+0",), menu="View/Text size", icon="format-size"),
    Command("view.theme.system", "Use system theme", (), menu="View/Colours", icon="theme-light-dark"),
    Command("view.theme.light", "Light colours", (), menu="View/Colours", icon="white-balance-sunny"),
    Command("view.theme.dark", "Dark colours", (), menu="View/Colours", icon="weather-night"),
    Command("view.theme.contrast", "High contrast", (), menu="View/Colours", icon="contrast-circle"),
    Command("app.guide", "User guide", (), menu="Help", icon="book-open-page-variant-outline"),
    Command("app.cheat_sheet", "Keyboard shortcuts", ("?", "F1"), menu="Help", icon="keyboard-outline"),
    Command("app.doctor", "Diagnostics", (), menu="Help", icon="stethoscope"),
    Command("app.crash", "Show the last crash", (), menu="Help", icon="alert-octagon-outline"),
    Command("app.about", "About Sitelore", (), menu="Help", icon="information-outline"),
)

# ---------------------------------------------------------------- review
REVIEW = (
    Command("review.next", "Next run", ("J",), "review", "Review", "arrow-down"),
    Command("review.previous", "Previous run", ("K",), "review", "Review", "arrow-up"),
    Command(
        "review.next_other", "Next failure of another kind", ("N",), "review", "Review", "debug-step-over"
    ),
    Command("review.step.next", "Next step", ("L",), "review", "Review", "chevron-right"),
    Command("review.step.previous", "Previous step", ("H",), "review", "Review", "chevron-left"),
    Command("review.flag.next", "Next flag", ("Shift+L",), "review", "Review", "flag-outline"),
    Command("review.flag.previous", "Previous flag", ("Shift+H",), "review", "Review", "flag-outline"),
    Command("review.suspect", "Go to the suspect step", ("S",), "review", "Review", "target"),
    Command("review.preview", "Large preview", ("Space",), "review", "Review", "magnify-expand"),
    Command("review.lines", "Screenshot or page text", ("V",), "review", "Review", "file-tree-outline"),
    Command("review.rank", "Reload and re-rank", ("F5",), "review", "Review", "sort-descending"),
    Command("review.scorecard", "Detector scorecard", ("D",), "review", "Review", "scoreboard-outline"),
    Command("review.filter", "Filter the queue", ("/",), "review", "Review", "filter-variant"),
    Command("review.back", "Back", ("Esc",), "review", "", "arrow-left", in_text=True),
    *(
        Command(
            f"review.verdict.{number}",
            f"Verdict: {label.value}",
            (str(number),) if number <= 9 else (f"0, {number - 9}",),
            "review",
            "Review/Verdict",
            "gavel",
        )
        for number, label in enumerate(Label, start=1)
    ),
    Command("review.note", "Note on the verdict", ("M",), "review", "Review/Verdict", "note-edit-outline"),
    Command("review.withdraw", "Withdraw the verdict", ("Backspace",), "review", "Review/Verdict", "gavel"),
    Command(
        "review.ask_model",
        "Ask a model about this run",
        ("Q",),
        "review",
        "Review",
        "account-question-outline",
    ),
    Command("review.memory", "Agent memory", ("E",), "review", "Review/Agent", "brain"),
    Command("run.new", "Start a run…", ("Ctrl+N",), "review", "Review/Agent", "robot-outline"),
    Command("run.again", "Run this task again…", ("A",), "review", "Review/Agent", "repeat"),
    Command("run.resume", "Resume run", ("Shift+A",), "review", "Review/Agent", "play-outline"),
    Command("run.stop", "Stop run", ("X",), "review", "Review/Agent", "stop-circle-outline"),
    Command("review.copy_address", "Copy the page address", ("Y",), "review", "Review", "content-copy"),
    Command("tip.compose", "Write a tip", ("T",), "review", "Review", "pencil-outline"),
)

# ---------------------------------------------------------------- composer
COMPOSER = (
    Command(
        "composer.save",
        "Save and open the next failure",
        ("Ctrl+Return", "Ctrl+Enter"),
        "composer",
        "Review/Tip",
        "check",
        in_text=True,
    ),
    Command(
        "composer.save_stay",
        "Save and stay",
        ("Ctrl+S",),
        "composer",
        "Review/Tip",
        "content-save-outline",
    ),
    Command(
        "composer.close",
        "Close and keep the draft",
        ("Esc",),
        "composer",
        "Review/Tip",
        "close",
        in_text=True,
    ),
    Command("composer.discard", "Discard draft", (), "composer", "Review/Tip", "delete-outline"),
)

# ---------------------------------------------------------------- knowledge
KNOWLEDGE = (
    Command("knowledge.next", "Next tip", ("J",), "knowledge", "Knowledge", "arrow-down"),
    Command("knowledge.previous", "Previous tip", ("K",), "knowledge", "Knowledge", "arrow-up"),
    Command(
        "knowledge.extend.next", "Select the next tip too", ("Shift+J",), "knowledge", "", "arrow-expand-down"
    ),
    Command(
        "knowledge.extend.previous",
        "Select the previous tip too",
        ("Shift+K",),
        "knowledge",
        "",
        "arrow-expand-up",
    ),
    Command("knowledge.filter", "Filter the tips", ("/",), "knowledge", "Knowledge", "filter-variant"),
    Command("knowledge.sort", "Sort by the next column", ("O",), "knowledge", "Knowledge", "sort"),
    Command(
        "knowledge.sort.turn",
        "Reverse the sort order",
        ("Shift+O",),
        "knowledge",
        "Knowledge",
        "sort-reverse-variant",
    ),
    Command("knowledge.back", "Back", ("Esc",), "knowledge", "", "arrow-left", in_text=True),
    Command("tip.edit", "Edit the tip", ("E",), "knowledge", "Knowledge/Tip", "pencil-outline"),
    Command(
        "tip.save",
        "Save the edit as a new revision",
        ("Ctrl+Return", "Ctrl+Enter", "Ctrl+S"),
        "knowledge",
        "Knowledge/Tip",
        "content-save-outline",
        in_text=True,
    ),
    Command("tip.discard", "Discard changes", (), "knowledge", "Knowledge/Tip", "delete-outline"),
    Command("tip.copy", "Copy the tip's text", ("Y",), "knowledge", "Knowledge/Tip", "content-copy"),
    Command("tip.history", "Revisions of the tip", ("H",), "knowledge", "Knowledge/Tip", "history"),
    Command(
        "tip.restore_revision",
        "Restore this revision",
        ("Shift+H",),
        "knowledge",
        "Knowledge/Tip",
        "backup-restore",
    ),
    Command("tip.review", "Mark as reviewed", ("R",), "knowledge", "Knowledge/Status", "check"),
    Command("tip.activate", "Activate", ("A",), "knowledge", "Knowledge/Status", "check-all"),
    Command("tip.suspect", "Mark as suspect", ("S",), "knowledge", "Knowledge/Status", "help-circle-outline"),
    Command("tip.retire", "Retire", ("X",), "knowledge", "Knowledge/Status", "archive-outline"),
    Command(
        "tip.restore",
        "Back to draft",
        ("Shift+X",),
        "knowledge",
        "Knowledge/Status",
        "archive-arrow-up-outline",
    ),
    Command("tip.evidence", "Open its step", ("V",), "knowledge", "Knowledge/Tip", "open-in-app"),
    Command(
        "knowledge.try",
        "Test retrieval for an address and a goal",
        ("T",),
        "knowledge",
        "Knowledge",
        "flask-outline",
    ),
    Command(
        "knowledge.try.evidence",
        "Test retrieval at the tip's step",
        ("Shift+T",),
        "knowledge",
        "Knowledge",
        "flask-outline",
    ),
    Command("kb.freeze", "Freeze…", ("F", "Ctrl+Shift+F"), "knowledge", "Knowledge", "snowflake"),
    Command(
        "kb.verify", "Verify a frozen file…", ("Shift+F",), "knowledge", "Knowledge", "shield-check-outline"
    ),
    Command("kb.choose", "Choose the file to freeze to…", (), "knowledge", "", "folder-outline"),
    Command("kb.copy_hash", "Copy the sha256", ("C",), "knowledge", "Knowledge", "content-copy"),
    Command("kb.import", "Import tips…", ("I",), "knowledge", "Knowledge", "import"),
    Command("kb.export", "Export tips…", ("Shift+I",), "knowledge", "Knowledge", "export"),
)

COMMANDS: tuple[Command, ...] = (*EVERYWHERE, *REVIEW, *COMPOSER, *MAP_COMMANDS, *LIVE_COMMANDS, *KNOWLEDGE)

REPEATING = (
    "review.next",
    "review.prev",
    "review.step",
    "knowledge.",
    "map.next",
    "map.prev",
    "map.zoom",
    "live.next",
    "live.prev",
    "live.replay",
)
"""Prefixes of commands that repeat while their key is held."""


class CommandCenter(QObject):
    """Owns a ``QAction`` for each command and enables those that work in the current place."""

    place_changed = Signal(str)
    place_wanted = Signal(str)
    """A command of another place was triggered; the frame goes there before it runs."""
    keys_changed = Signal()
    refreshed = Signal()

    def __init__(self, parent: QObject | None = None, commands: Iterable[Command] = COMMANDS) -> None:
        super().__init__(parent)
        self.commands = tuple(commands)
        self.keymap = Keymap(self.commands)
        self._by_id = {command.id: command for command in self.commands}
        self._actions: dict[str, QAction] = {}
        self._enabled: dict[str, Callable[[], bool]] = {}
        self._bound: set[str] = set()
        self._labels: dict[str, str] = {}
        self._place = "everywhere"
        for command in self.commands:
            self._actions[command.id] = self._make(command)
        self._apply_keys()

    @property
    def place(self) -> str:
        """The current place."""
        return self._place

    def command(self, command: str) -> Command:
        """The command of this id."""
        return self._by_id[command]

    def action(self, command: str) -> QAction:
        """The ``QAction`` of a command, for a menu or a button."""
        return self._actions[command]

    def actions(self) -> list[QAction]:
        """Every action; the window adds them so that their shortcuts work."""
        return list(self._actions.values())

    def bind(
        self, command: str, callback: Callable[[], object], enabled: Callable[[], bool] | None = None
    ) -> None:
        """Set what a command does and when it is enabled; binding again replaces the earlier callback."""
        action = self._actions[command]
        if command in self._bound:
            action.triggered.disconnect()
        action.triggered.connect(lambda _checked=False: callback())
        self._bound.add(command)
        if enabled is None:
            self._enabled.pop(command, None)
        else:
            self._enabled[command] = enabled
        self._refresh_one(self._by_id[command])

    def is_bound(self, command: str) -> bool:
        """Whether the command has a callback."""
        return command in self._bound

    def reaches(self, command: str) -> bool:
        """Whether the command works in the current place."""
        return self._by_id[command].place in ACTIVE_PLACES[self._place]

    def is_of_place(self, key: QKeySequence) -> bool:
        """Whether a key belongs to a command of the current place rather than of the whole window."""
        return any(
            key in action.shortcuts()
            for name, action in self._actions.items()
            if action.isEnabled() and self._by_id[name].place != "everywhere"
        )

    def trigger(self, command: str) -> bool:
        """Run a command, going to its place first; returns False while it is disabled."""
        if not self.reaches(command):
            self.place_wanted.emit(self._by_id[command].place)
        self.refresh()
        action = self._actions[command]
        if not action.isEnabled():
            return False
        action.trigger()
        return True

    def title(self, command: str) -> str:
        """The current title ("Undo: retire tip gitlab-013")."""
        return self._labels.get(command) or QCoreApplication.translate("commands", self._by_id[command].title)

    def plain_title(self, command: str) -> str:
        """The title of the command table, whatever the command would do now."""
        return QCoreApplication.translate("commands", self._by_id[command].title)

    def set_title(self, command: str, title: str) -> None:
        """Set the title to what the command would do now; "" restores the table's."""
        self._labels[command] = title
        self._dress(self._by_id[command])

    def keys(self, command: str) -> str:
        """The first shortcut in readable form, "" when there is none."""
        keys = self.keymap.keys(command)
        return readable_key(keys[0]) if keys else ""

    def set_place(self, place: str) -> None:
        """Change the current place."""
        if place == self._place:
            return
        self._place = place
        self._apply_keys()
        self.place_changed.emit(place)

    def refresh(self) -> None:
        """Enable or disable every command again."""
        for command in self.commands:
            self._refresh_one(command)
        self.refreshed.emit()

    def remap(self, command: str, keys: Iterable[str]) -> list[str]:
        """Give a command other shortcuts; returns the ids of conflicting commands, and then changes nothing."""
        found = self.keymap.remap(command, keys)
        if not found:
            self._apply_keys()
            self.keys_changed.emit()
        return found

    def reset_keys(self, command: str = "") -> None:
        """Restore the default shortcuts of one command, or of all."""
        self.keymap.reset(command)
        self._apply_keys()
        self.keys_changed.emit()

    def load_keys(self, changes: dict[str, object]) -> None:
        """Take the shortcuts of a saved session."""
        self.keymap.load(changes)
        self._apply_keys()
        self.keys_changed.emit()

    def _make(self, command: Command) -> QAction:
        action = QAction(self)
        action.setObjectName(command.id)
        action.setAutoRepeat(command.id.startswith(REPEATING))
        return action

    def _apply_keys(self) -> None:
        active = self.keymap.in_force(self._place)
        for command in self.commands:
            keys = active.get(command.id, self.keymap.keys(command.id))
            self._actions[command.id].setShortcuts([QKeySequence(key) for key in keys])
            self._dress(command)
        self.refresh()

    def _dress(self, command: Command) -> None:
        action, title, keys = self._actions[command.id], self.title(command.id), self.keys(command.id)
        action.setText(title)
        action.setToolTip(f"{title} ({keys})" if keys else title)

    def _refresh_one(self, command: Command) -> None:
        can = self._enabled.get(command.id)
        enabled = command.id in self._bound and self.reaches(command.id) and (can is None or can())
        self._actions[command.id].setEnabled(enabled)
