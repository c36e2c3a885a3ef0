"""The command table; menus, palette, shortcut sheet, tooltips and remapping are made from it.

A perspective connects its commands with ``CommandCenter.bind``; a command that is not bound stays disabled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QCoreApplication, QObject, Signal
from PySide6.QtGui import QAction, QKeySequence

from app.engine.core.verdicts import Label
from app.models.common.command import ACTIVE_PLACES, PERSPECTIVES, PLACE_TITLES, Command, commands
from app.models.common.keymap import Keymap, readable_key
from app.models.evaluate.commands import EVALUATE_COMMANDS, PAIR_COMMANDS
from app.models.graph.commands import MAP_COMMANDS
from app.models.knowledge.commands import MERGE_COMMANDS
from app.models.live.commands import LIVE_COMMANDS
from app.models.prompts.commands import prompt_commands
from app.models.review.commands import COMPARISON_COMMANDS, PAGE_COMMANDS, PANEL_COMMANDS

__all__ = ["ACTIVE_PLACES", "COMMANDS", "MENUS", "PLACE_TITLES", "Command", "CommandCenter"]

MENUS = ("File", "Edit", "Go", *(view.title for view in PERSPECTIVES), "View", "Help")
"""The menu bar, left to right."""

EVERYWHERE = (
    *commands(
        "everywhere", "File",
        ("app.open_workspace", "Open workspace…", "Ctrl+Shift+O", "folder-open-outline"),
        ("runs.import", "Import runs…", "Ctrl+O", "folder-plus-outline"),
        ("runs.import_files", "Import run files…", "", "file-plus-outline"),
        ("runs.detect", "Re-run the detectors", "", "radar"),
        ("runs.ask_model", "Ask a model about the riskiest runs", "", "account-question-outline"),
        ("runs.rebuild_index", "Rebuild the search index", "", "database-refresh-outline"),
        ("app.jobs", "Show jobs", "Ctrl+J", "progress-clock"),
        ("app.cancel_jobs", "Cancel all jobs", "", "cancel"),
    ),
    *commands("everywhere", "", ("app.save_session", "Save the session now", "", "content-save-outline")),
    *commands("everywhere", "File", ("app.quit", "Quit", "Ctrl+Q", "exit-to-app")),
    *commands(
        "everywhere", "Edit",
        ("app.undo", "Undo", "Ctrl+Z|U", "undo"),
        ("app.redo", "Redo", "Ctrl+Shift+Z|Shift+U|Ctrl+Y", "redo"),
        ("app.search", "Search everything", "Ctrl+F", "magnify"),
        ("app.palette", "Find a command", "Ctrl+K|Ctrl+Shift+P", "console-line"),
        ("app.settings", "Settings…", "Ctrl+,", "cog-outline"),
        ("app.model", "Set up a model…", "", "robot-outline"),
        ("app.sites", "Sites…", "Ctrl+Alt+S", "web"),
        ("app.prompts", "Prompts and actions…", "Ctrl+Alt+P", "text-box-edit-outline"),
        ("app.keys", "Customize shortcuts…", "", "keyboard-settings-outline"),
    ),
    *commands("everywhere", "Map", ("app.schedule", "Scheduled work…", "Ctrl+Alt+W", "calendar-clock")),
    *commands(
        "everywhere", "Go",
        *((f"go.{view.place}", f"Go to {view.title}", "|".join(view.keys), view.icon) for view in PERSPECTIVES),
        ("go.call", "Next alert", "Ctrl+.", "bell-ring-outline"),
    ),
    *commands(
        "everywhere", "View",
        ("view.fold.left", "Hide list", "[|Ctrl+B", "dock-left"),
        ("view.fold.middle", "Hide centre", "\\", "dock-window"),
        ("view.fold.right", "Hide right column", "]|Ctrl+Alt+B", "dock-right"),
        ("view.reset_layout", "Reset the layout", "", "view-column-outline"),
    ),
    *commands(
        "everywhere", "View/Text size",
        ("view.zoom.in", "Larger text", "Ctrl++|Ctrl+=", "magnify-plus-outline"),
        ("view.zoom.out", "Smaller text", "Ctrl+-", "magnify-minus-outline"),
        ("view.zoom.reset", "Normal text", "Ctrl+0", "format-size"),
    ),
    *commands(
        "everywhere", "View/Colours",
        ("view.theme.system", "Use system theme", "", "theme-light-dark"),
        ("view.theme.light", "Light colours", "", "white-balance-sunny"),
        ("view.theme.dark", "Dark colours", "", "weather-night"),
        ("view.theme.contrast", "High contrast", "", "contrast-circle"),
    ),
    *commands(
        "everywhere", "Help",
        ("app.guide", "User guide", "", "book-open-page-variant-outline"),
        ("app.cheat_sheet", "Keyboard shortcuts", "?|F1", "keyboard-outline"),
        ("app.doctor", "Diagnostics", "", "stethoscope"),
        ("app.crash", "Show the last crash", "", "alert-octagon-outline"),
        ("app.about", "About Sitelore", "", "information-outline"),
    ),
)  # fmt: skip

REVIEW = (
    *commands(
        "review", "Review",
        ("review.next", "Next run", "J", "arrow-down"),
        ("review.previous", "Previous run", "K", "arrow-up"),
        ("review.next_other", "Next failure of another kind", "N", "debug-step-over"),
        ("review.step.next", "Next step", "L", "chevron-right"),
        ("review.step.previous", "Previous step", "H", "chevron-left"),
        ("review.flag.next", "Next flag", "Shift+L", "flag-outline"),
        ("review.flag.previous", "Previous flag", "Shift+H", "flag-outline"),
        ("review.suspect", "Go to the suspect step", "S", "target"),
        ("review.preview", "Large preview", "Space", "magnify-expand"),
        ("review.lines", "Screenshot or page text", "V", "file-tree-outline"),
        ("review.rank", "Reload and re-rank", "F5", "sort-descending"),
        ("review.scorecard", "Detector scorecard", "D", "scoreboard-outline"),
        ("review.expected", "Expected outcome", "O", "check-decagram-outline"),
        ("review.filter", "Filter the queue", "/", "filter-variant"),
        ("review.clusters", "Clusters of failures, or runs", "C", "group"),
        ("review.teach", "Ask what teaches most", "Alt+T", "school-outline"),
    ),
    Command("review.back", "Back", ("Esc",), "review", "", "arrow-left", in_text=True),
    *commands(
        "review", "Review/Verdict",
        *(
            (f"review.verdict.{n}", f"Verdict: {label.value}", str(n) if n <= 9 else f"0, {n - 9}", "gavel")
            for n, label in enumerate(Label, start=1)
        ),
        ("review.note", "Note on the verdict", "M", "note-edit-outline"),
        ("review.withdraw", "Withdraw the verdict", "Backspace", "gavel"),
    ),
    *commands(
        "review", "Review",
        ("review.ask_model", "Ask a model about this run", "Q", "account-question-outline"),
    ),
    *commands(
        "review", "Review/Agent",
        ("review.memory", "Agent memory", "E", "brain"),
        ("run.new", "Start a run…", "Ctrl+N", "robot-outline"),
        ("run.again", "Run this task again…", "A", "repeat"),
        ("run.resume", "Resume run", "Shift+A", "play-outline"),
        ("run.stop", "Stop run", "X", "stop-circle-outline"),
    ),
    *commands(
        "review", "Review",
        ("review.copy_address", "Copy the page address", "Ctrl+Shift+C", "content-copy"),
        ("tip.compose", "Write a tip", "T", "pencil-outline"),
        ("review.tip.up", "The tip was useful", "P", "thumb-up-outline"),
        ("review.tip.down", "The tip was not useful", "Shift+P", "thumb-down-outline"),
    ),
)  # fmt: skip


def _step_commands(place: str, menu: str, prefix: str) -> tuple[Command, ...]:
    """Return the commands on a tip's steps, where they are edited."""
    return commands(
        place, menu,
        (f"{prefix}.step.add", "Add a step", "Alt+N", "playlist-plus"),
        (f"{prefix}.step.remove", "Remove the step", "Alt+Del", "playlist-remove"),
        (f"{prefix}.step.up", "Move the step up", "Alt+Up", "arrow-up"),
        (f"{prefix}.step.down", "Move the step down", "Alt+Down", "arrow-down"),
        (f"{prefix}.step.compile", "Read the steps from the text again", "Alt+C", "cog-refresh-outline"),
        (f"{prefix}.model.draft", "Draft the steps with the model", "Alt+D", "robot-outline"),
        (f"{prefix}.model.stop", "Stop asking the model", "", "stop-circle-outline"),
        (f"{prefix}.model.accept", "Accept the model's steps", "Alt+Y", "check"),
        (f"{prefix}.model.reject", "Reject the model's steps, or take them back", "Alt+X", "close"),
    )  # fmt: skip


def _region_commands(place: str, menu: str, prefix: str) -> tuple[Command, ...]:
    """Return the commands on the region of the page that a tip is about."""
    return commands(
        place, menu,
        (f"{prefix}.region", "Choose the region…", "Alt+R", "selection-drag"),
        (f"{prefix}.region.clear", "Clear the region", "Alt+Shift+R", "selection-remove"),
        (f"{prefix}.region.undo", "Undo the change of the region", "Alt+Z", "undo"),
    )  # fmt: skip


COMPOSER = (
    Command("composer.save", "Save and open the next failure", ("Ctrl+Return", "Ctrl+Enter"), "composer",
            "Review/Tip", "check", in_text=True),
    *commands("composer", "Review/Tip", ("composer.save_stay", "Save and stay", "Ctrl+S", "content-save-outline")),
    Command("composer.close", "Close and keep the draft", ("Esc",), "composer", "Review/Tip", "close", in_text=True),
    *commands("composer", "Review/Tip", ("composer.discard", "Discard draft", "", "delete-outline"),
              ("composer.parts", "Show when, do, before, why and words", "Alt+M", "form-textbox")),
    *_step_commands("composer", "Review/Tip", "composer"),
    *_region_commands("composer", "Review/Tip", "composer"),
)  # fmt: skip

KNOWLEDGE = (
    *commands(
        "knowledge", "Knowledge",
        ("knowledge.next", "Next tip", "J", "arrow-down"),
        ("knowledge.previous", "Previous tip", "K", "arrow-up"),
    ),
    *commands(
        "knowledge", "",
        ("knowledge.extend.next", "Select the next tip too", "Shift+J", "arrow-expand-down"),
        ("knowledge.extend.previous", "Select the previous tip too", "Shift+K", "arrow-expand-up"),
    ),
    *commands(
        "knowledge", "Knowledge",
        ("knowledge.filter", "Filter the tips", "/", "filter-variant"),
        ("knowledge.sort", "Sort by the next column", "O", "sort"),
        ("knowledge.sort.turn", "Reverse the sort order", "Shift+O", "sort-reverse-variant"),
        ("knowledge.columns", "Choose the columns…", "", "view-column-outline"),
    ),
    Command("knowledge.back", "Back", ("Esc",), "knowledge", "", "arrow-left", in_text=True),
    *commands("knowledge", "Knowledge/Tip", ("tip.edit", "Edit the tip", "E", "pencil-outline")),
    Command("tip.save", "Save the edit as a new revision", ("Ctrl+Return", "Ctrl+Enter", "Ctrl+S"), "knowledge",
            "Knowledge/Tip", "content-save-outline", in_text=True),
    *commands(
        "knowledge", "Knowledge/Tip",
        ("tip.discard", "Discard changes", "", "delete-outline"),
        ("tip.copy", "Copy the tip's text", "Y", "content-copy"),
        ("tip.history", "Revisions of the tip", "H", "history"),
        ("tip.restore_revision", "Restore this revision", "Shift+H", "backup-restore"),
    ),
    *_step_commands("knowledge", "Knowledge/Tip", "tip"),
    *_region_commands("knowledge", "Knowledge/Tip", "tip"),
    *commands(
        "knowledge", "Knowledge/Tip",
        ("tip.test", "Test the tip in a browser", "B", "test-tube"),
        ("tip.test.stop", "Stop the test", "Shift+B", "stop-circle-outline"),
        ("tip.vote.up", "Useful", "P", "thumb-up-outline"),
        ("tip.vote.down", "Not useful", "Shift+P", "thumb-down-outline"),
    ),
    *commands(
        "knowledge", "Knowledge/Status",
        ("tip.review", "Mark as reviewed", "R", "check"),
        ("tip.activate", "Activate", "A", "check-all"),
        ("tip.suspect", "Mark as suspect", "S", "help-circle-outline"),
        ("tip.retire", "Retire", "X", "archive-outline"),
        ("tip.restore", "Back to draft", "Shift+X", "archive-arrow-up-outline"),
    ),
    *commands("knowledge", "Knowledge/Tip", ("tip.evidence", "Open its step", "V", "open-in-app")),
    *commands(
        "knowledge", "Knowledge",
        ("knowledge.try", "Test retrieval for an address and a goal", "T", "flask-outline"),
        ("knowledge.try.evidence", "Test retrieval at the tip's step", "Shift+T", "flask-outline"),
        ("knowledge.test_site", "Test all tips of this site", "Ctrl+Shift+B", "test-tube"),
        ("knowledge.schedule", "Test tips on a schedule…", "", "calendar-clock"),
        ("kb.freeze", "Freeze…", "F|Ctrl+Shift+F", "snowflake"),
        ("kb.verify", "Verify a frozen file…", "Shift+F", "shield-check-outline"),
        ("kb.release", "Release page…", "Ctrl+Shift+L", "file-document-outline"),
    ),
    *commands("knowledge", "", ("kb.choose", "Choose the file to freeze to…", "", "folder-outline")),
    *commands(
        "knowledge", "Knowledge",
        ("kb.copy_hash", "Copy the sha256", "C", "content-copy"),
        ("kb.merge", "Merge a knowledge base…", "M", "call-merge"),
        ("kb.import", "Import tips…", "I", "import"),
        ("kb.export", "Export tips…", "Shift+I", "export"),
    ),
)  # fmt: skip

COMMANDS: tuple[Command, ...] = (
    *EVERYWHERE,
    *PAIR_COMMANDS,
    *REVIEW,
    *PAGE_COMMANDS,
    *COMPARISON_COMMANDS,
    *PANEL_COMMANDS,
    *prompt_commands("review", "Review/Prompts"),
    Command(
        "review.prompts.ask",
        "Ask this again…",
        ("Alt+A",),
        "review",
        "Review/Prompts",
        "account-question-outline",
    ),
    *COMPOSER,
    *MAP_COMMANDS,
    *LIVE_COMMANDS,
    *prompt_commands("live", "Live/Prompts"),
    *KNOWLEDGE,
    *MERGE_COMMANDS,
    *EVALUATE_COMMANDS,
)

REPEATING = (
    "review.next",
    "review.prev",
    "review.step",
    "compare.next",
    "compare.prev",
    "knowledge.",
    "merge.next",
    "merge.previous",
    "map.next",
    "map.prev",
    "map.zoom",
    "live.next",
    "live.prev",
    "live.replay",
    "evaluate.next",
    "evaluate.prev",
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
        self.place = "everywhere"
        for command in self.commands:
            self._actions[command.id] = self._make(command)
        self._apply_keys()

    def command(self, command: str) -> Command:
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
        return command in self._bound

    def reaches(self, command: str) -> bool:
        """Whether the command works in the current place."""
        return self._by_id[command].place in ACTIVE_PLACES[self.place]

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
        if place == self.place:
            return
        self.place = place
        self._apply_keys()
        self.place_changed.emit(place)

    def refresh(self) -> None:
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
        self.keymap.load(changes)
        self._apply_keys()
        self.keys_changed.emit()

    def _make(self, command: Command) -> QAction:
        action = QAction(self)
        action.setObjectName(command.id)
        action.setAutoRepeat(command.id.startswith(REPEATING))
        return action

    def _apply_keys(self) -> None:
        active = self.keymap.in_force(self.place)
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
