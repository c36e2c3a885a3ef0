"""The workspace's prompts: the list, the text in the editor with its check, its changes and its history."""

from __future__ import annotations

import difflib
import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.engine.api.prompt_api import PromptDetail, PromptRow, PromptSaved
from app.engine.core.prompt_rules import PromptCheck, check_prompt
from app.engine.core.prompt_set import CONDITION, PLACEHOLDER, text_tokens
from app.models.common.object_list import ObjectList
from app.models.common.translate import tr

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineClient, LocalClient
    from app.models.common.tasks import Tasks

__all__ = ["CONDITION", "PLACEHOLDER", "PromptSetList", "PromptSetModel", "SavedList"]


class PromptSetList(ObjectList[PromptRow]):
    """The prompts by name."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.name, parent)

    def words(self, value: PromptRow) -> str:
        """Return a row in one line."""
        state = tr("changed in this workspace") if value.own else tr("bundled")
        return tr("{0}, {1}, about {2} tokens: {3}").format(value.title, state, value.tokens, value.about)


class SavedList(ObjectList[PromptSaved]):
    """The saved versions of a prompt, latest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: (row.at, row.digest), parent)

    def words(self, value: PromptSaved) -> str:
        """Return a row in one line."""
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(value.at))
        version = value.digest[:8] or tr("the bundled prompt")
        return tr("{0}  {1}  {2}").format(when, version, value.author)


class PromptSetModel(QObject):
    """Signals:

    changed: other rows, another text or another check.  shown_changed: another text is to be shown.
    notice: a sentence about what was done.
    """

    changed = Signal()
    shown_changed = Signal()
    notice = Signal(str)

    def __init__(
        self, client: EngineClient | LocalClient, tasks: Tasks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.list, self.history = PromptSetList(self), SavedList(self)
        self.shown, self.text, self.error = "", "", ""
        self.detail: PromptDetail | None = None
        self.is_loaded = self.is_saving = False
        self._typed: dict[str, str] = {}
        client.prompts_changed.connect(self._on_changed)

    def load(self) -> None:
        """Read the list; what was typed stays."""

        def read(rows: list[PromptRow]) -> None:
            self.is_loaded = True
            self.list.merge(rows)
            if rows and not self.shown:
                self.shown = rows[0].name
            self._read()
            self.changed.emit()

        self._tasks.start(self._client.api.list_prompts(), read, self._failed, key="prompts")

    def show(self, name: str) -> None:
        """Show a prompt; what was typed for the other one is there when it is shown again."""
        if name == self.shown:
            return
        if self.is_changed:
            self._typed[self.shown] = self.text
        self.shown, self.detail, self.text, self.error = name, None, "", ""
        self.history.replace([])
        self.changed.emit()
        self.shown_changed.emit()
        self._read()

    def set_text(self, text: str) -> None:
        if text != self.text:
            self.text, self.error = text, ""
            self.changed.emit()

    @property
    def is_changed(self) -> bool:
        """Whether something was typed that is not saved."""
        return self.detail is not None and self.text.strip() != self.detail.text.strip()

    @property
    def check(self) -> PromptCheck:
        """The faults of the typed text."""
        if self.detail is None:
            return PromptCheck()
        return check_prompt(self.shown, self.text, self.detail.bundled)

    @property
    def words(self) -> str:
        """The state of the text in a sentence: its faults, else its placeholders and tokens."""
        if self.error:
            return self.error
        if self.detail is None:
            return ""
        check = self.check
        if check.errors:
            return tr("It can't be saved: {0}").format("; ".join(check.errors))
        if check.missing:
            names = ", ".join(f"{{{{{name}}}}}" for name in check.missing)
            return tr("Without {0}, the model is not told what stands there.").format(names)
        names = ", ".join(f"{{{{{name}}}}}" for name in self.detail.row.placeholders) or tr("none")
        return tr("Placeholders: {0}. About {1} tokens.").format(names, text_tokens(self.text))

    @property
    def can_save(self) -> bool:
        return self.is_changed and not self.is_saving and not self.check.errors

    @property
    def can_reset(self) -> bool:
        return self.detail is not None and self.detail.row.own and not self.is_saving

    def save(self) -> bool:
        """Save the text; placeholders that the words warn of are dropped.  Return whether it could be sent."""
        if not self.can_save:
            return False
        name = self.shown
        words = tr("The prompt '{0}' is saved; runs that begin from now on are given it").format(name)
        self._send(self._client.api.save_prompt(name, self.text, self.check.missing), words)
        return True

    def reset(self) -> None:
        """Put the bundled prompt back; undo takes that back."""
        if self.can_reset:
            self._send(
                self._client.api.reset_prompt(self.shown),
                tr("The bundled prompt '{0}' is in force again").format(self.shown),
            )

    def discard(self) -> None:
        """Show the prompt as it is saved."""
        self._typed.pop(self.shown, None)
        if self.detail is not None:
            self._show_text(self.detail.text)

    def show_version(self, digest: str) -> None:
        """Put a saved version into the editor, to be looked at or saved again."""
        name = self.shown
        if self.detail is None:
            return
        if not digest:
            self._show_text(self.detail.bundled)
            return

        def read(detail: PromptDetail) -> None:
            if self.shown == name:
                self._show_text(detail.text)

        self._tasks.start(
            self._client.api.open_prompt(name, digest), read, self._failed, key="prompt-version"
        )

    @property
    def changes(self) -> str:
        """The typed text as a diff from the bundled prompt; "" for no difference."""
        if self.detail is None:
            return ""
        bundled, text = self.detail.bundled.split("\n"), self.text.strip().split("\n")
        lines = difflib.unified_diff(bundled, text, lineterm="", n=1)
        return "\n".join(line for line in lines if not line.startswith(("---", "+++")))

    def _read(self) -> None:
        name = self.shown

        def read(detail: PromptDetail) -> None:
            if name != self.shown:
                return
            typed = self._typed.pop(name, self.text if self.is_changed else detail.text)
            self.detail = detail
            self.history.merge(list(detail.history))
            self._show_text(typed)

        if name:
            self._tasks.start(self._client.api.open_prompt(name), read, self._failed, key="prompt")

    def _send(self, work: Coroutine[Any, Any, PromptDetail], words: str) -> None:
        def saved(detail: PromptDetail) -> None:
            self.is_saving = False
            if detail.row.name == self.shown:
                self.detail = detail
                self.history.merge(list(detail.history))
                self._show_text(detail.text)
            self.notice.emit(words)
            self.load()

        self.is_saving = True
        self._tasks.start(work, saved, self._failed)
        self.changed.emit()

    def _show_text(self, text: str) -> None:
        self.text, self.error = text, ""
        self.changed.emit()
        self.shown_changed.emit()

    def _failed(self, error: Exception) -> None:
        self.is_saving, self.error = False, str(error)
        self.changed.emit()

    def _on_changed(self, _event: object) -> None:
        if self.is_loaded:
            self.load()
