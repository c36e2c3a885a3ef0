"""The sets of actions: the list, the set in the form, and the tokens it costs."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.engine.api.prompt_api import ActionRow, ActionSetRow, ActionSets
from app.engine.core.actions.action_sets import make_set
from app.errors import UsageError
from app.models.common.object_list import ObjectList
from app.models.common.translate import tr

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineClient, LocalClient
    from app.models.common.tasks import Tasks

Index = QModelIndex | QPersistentModelIndex
NEW = ""
"""The name of the set that is not stored yet."""


class ActionSetList(ObjectList[ActionSetRow]):
    """The sets by name."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.name, parent)

    def words(self, value: ActionSetRow) -> str:
        """Return a row in one line."""
        kind = tr("own set") if value.own else tr("built in")
        return tr("{0}, {1}, {2} actions, about {3} tokens").format(
            value.name, kind, len(value.calls), value.tokens
        )


class ActionCheckList(ObjectList[ActionRow]):
    """All actions with a check mark each."""

    toggled = Signal(str, bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.name, parent)
        self.chosen: frozenset[str] = frozenset()
        self.is_fixed = True

    def words(self, value: ActionRow) -> str:
        """Return an action with its help and its tokens."""
        return tr("{0}: {1} ({2} tokens)").format(value.name, value.help, value.tokens)

    def tip(self, value: ActionRow) -> str:
        """Return the call as the model is told it."""
        return f"{value.usage}\n{value.help}"

    def choose(self, chosen: frozenset[str], *, is_fixed: bool) -> None:
        """Show which actions are chosen; a fixed list can't be changed."""
        if (chosen, is_fixed) == (self.chosen, self.is_fixed):
            return
        self.chosen, self.is_fixed = chosen, is_fixed
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, 0))

    def flags(self, index: Index) -> Qt.ItemFlag:
        base = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled
        return base if self.is_fixed else base | Qt.ItemFlag.ItemIsUserCheckable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The check mark, or as any list."""
        row = self.at(index.row())
        if role == Qt.ItemDataRole.CheckStateRole and row is not None:
            return Qt.CheckState.Checked if row.name in self.chosen else Qt.CheckState.Unchecked
        return super().data(index, role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Take a check mark."""
        row = self.at(index.row())
        if role != Qt.ItemDataRole.CheckStateRole or row is None or self.is_fixed:
            return False
        self.toggled.emit(row.name, Qt.CheckState(value) == Qt.CheckState.Checked)
        return True


class ActionSetsModel(QObject):
    """Signals:

    changed: other rows, or another set in the form.  notice: a sentence about what was done.
    """

    changed = Signal()
    notice = Signal(str)

    def __init__(
        self, client: EngineClient | LocalClient, tasks: Tasks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.list, self.actions = ActionSetList(self), ActionCheckList(self)
        self.shown, self.name, self.error = "standard", "standard", ""
        self.chosen: frozenset[str] = frozenset()
        self.is_loaded = self.is_saving = False
        self.actions.toggled.connect(self.toggle)
        client.prompts_changed.connect(self._on_changed)

    @property
    def row(self) -> ActionSetRow | None:
        """The stored set in the form."""
        return self.list.at(self.list.row_of(self.shown))

    @property
    def is_fixed(self) -> bool:
        """Whether the set in the form is built in."""
        row = self.row
        return row is not None and not row.own

    @property
    def is_changed(self) -> bool:
        """Whether something was chosen or typed that is not saved."""
        row = self.row
        if row is None:
            return bool(self.name.strip() or self.chosen)
        return self.chosen != frozenset(row.calls)

    @property
    def tokens(self) -> int:
        """Estimated tokens of the operator's system prompt with the chosen actions."""
        row = next(iter(self.list.rows), None)
        if row is None:
            return 0
        costs = {one.name: one.tokens for one in self.actions.rows}
        return row.tokens + sum(costs.get(name, 0) for name in self.chosen) - sum(
            costs.get(name, 0) for name in row.calls
        )  # fmt: skip

    @property
    def problem(self) -> str:
        """Why the set can't be saved; "" where it can."""
        if self.is_fixed:
            return ""
        if not self.name.strip():
            return tr("Give the set a name")
        try:
            made = make_set(self.name, self.chosen, own=True)
        except UsageError as error:
            return str(error)
        if self.row is None and self.list.row_of(made.name) >= 0:
            return tr("There is a set of this name already; choose it on the left")
        return ""

    @property
    def words(self) -> str:
        """The state of the set in a sentence."""
        if self.error or (self.problem and self.is_changed):
            return self.error or self.problem
        row = self.row
        told = tr("{0} actions; the operator's prompt has about {1} tokens.").format(
            len(self.chosen), self.tokens
        )
        return f"{row.why} {told}" if row is not None and row.why else told

    @property
    def can_save(self) -> bool:
        return self.is_changed and not self.problem and not self.is_saving and not self.is_fixed

    def load(self) -> None:
        """Read the sets; what was chosen stays."""
        self._tasks.start(self._client.api.action_sets(), self._take, self._failed, key="action-sets")

    def show(self, name: str) -> None:
        """Show a set, dropping what was chosen for another."""
        self.shown, self.error = name, ""
        row = self.row
        self.name = row.name if row is not None else ""
        self._choose(frozenset(row.calls) if row is not None else frozenset())

    def copy(self) -> None:
        """Begin a new set with the actions of the shown one."""
        chosen = self.chosen
        self.shown, self.name, self.error = NEW, "", ""
        self._choose(chosen)

    def set_name(self, text: str) -> None:
        if self.row is None and text != self.name:
            self.name, self.error = text, ""
            self.changed.emit()

    def toggle(self, name: str, on: bool) -> None:
        """Choose an action or leave it out."""
        if not self.is_fixed:
            self.error = ""
            self._choose(self.chosen | {name} if on else self.chosen - {name})

    def save(self) -> bool:
        """Store the set; return whether it could be sent."""
        if not self.can_save:
            return False
        name = self.name.strip()
        calls = [one.name for one in self.actions.rows if one.name in self.chosen]
        words = tr("The set '{0}' is saved; choose it in the run form's model options").format(name)
        self._send(self._client.api.save_action_set(name, calls), name, words)
        return True

    def remove(self) -> None:
        """Remove the set in the form; undo brings it back."""
        row = self.row
        if row is not None and row.own:
            words = tr("The set '{0}' is removed; runs keep the actions they had").format(row.name)
            self._send(self._client.api.remove_action_set(row.name), "standard", words)

    def _send(self, work: Coroutine[Any, Any, ActionSets], shown: str, words: str) -> None:
        def saved(found: ActionSets) -> None:
            self.is_saving = False
            self._take(found)
            self.show(shown)
            self.notice.emit(words)

        self.is_saving = True
        self._tasks.start(work, saved, self._failed)
        self.changed.emit()

    def _take(self, found: ActionSets) -> None:
        was_changed = self.is_loaded and self.is_changed
        self.is_loaded = True
        self.list.merge(list(found.sets))
        self.actions.merge(list(found.actions))
        if not was_changed:
            self.show(self.shown if self.row is not None else "standard")
        else:
            self.changed.emit()

    def _choose(self, chosen: frozenset[str]) -> None:
        self.chosen = chosen
        self.actions.choose(chosen, is_fixed=self.is_fixed)
        self.changed.emit()

    def _failed(self, error: Exception) -> None:
        self.is_saving, self.error = False, str(error)
        self.changed.emit()

    def _on_changed(self, _event: object) -> None:
        if self.is_loaded:
            self.load()
