"""Elements of the open run's page: their numbers on the picture, and the choice of another target for an action."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.engine.api.live_api import PointTarget
from app.engine.core.actions.fitting_calls import TEXT_SLOT
from app.engine.core.supervision import RunState
from app.models.common.translate import tr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.engine.core.supervision import LiveRow, PlannedAction
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

HELD_STATES = (RunState.PAUSED, RunState.WAITING)
"""States in which the page of a run can be pointed at."""
REFRESH_MS = 2_000
"""Boxes are read again this long after the page's picture changed."""

_NUMBER = re.compile(r"""\(\s*["']?(\d+)""")
_CALL_LABELS = {
    "click": "Click",
    "dblclick": "Double-click",
    "hover": "Hover",
    "fill": "Type",
    "clear": "Clear",
    "press": "Press Enter",
    "check": "Check",
    "uncheck": "Uncheck",
    "set_slider": "Set",
    "upload_file": "Upload",
}


class PointingModel(QObject):
    """``targets`` are the elements in reading order; ``chosen`` is the number of one, ``call`` what is done to it.

    While ``is_editing``, the typed line is a number, words of a name, or a call; with ``asks_text`` it is the text that
    ``call`` lacks.

    Signals:
        changed: targets, choice, call or mode.
        picked(int): an element was clicked.
        failed(text): the elements can't be shown, and why.
    """

    changed = Signal()
    picked = Signal(int)
    failed = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.run = ""
        self.targets: tuple[PointTarget, ...] = ()
        self.shows_numbers = self.is_editing = self.asks_text = False
        self.chosen: int | None = None
        self.hovered: int | None = None
        self.matches: frozenset[int] | None = None
        """Numbers that fit the typed words; ``None`` where no words are typed."""
        self.call = ""
        self.text = ""
        """The text for ``call``."""
        self.error = ""
        self._typed = ""
        self._row: LiveRow | None = None
        self._held_at: tuple[object, ...] = ()
        self._again = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._again.timeout.connect(self._load)

    # ------------------------------------------------------------ the run
    @property
    def is_held(self) -> bool:
        """Whether the page can be pointed at now."""
        return self._row is not None and self._row.state in HELD_STATES

    @property
    def is_active(self) -> bool:
        """Whether elements are shown or chosen."""
        return self.shows_numbers or self.is_editing

    def open(self, run: str, row: LiveRow | None) -> None:
        """Open another run, "" for none; numbers stay switched on."""
        self.run, self._row, self._held_at = run, row, ()
        self.is_editing = False
        self._forget()
        self.follow(row, None)

    def follow(self, row: LiveRow | None, planned: PlannedAction | None) -> None:
        """Follow the run and its next action: other numbers are in force once it moved on."""
        self._row = row
        held_at = (
            (row.step, planned.call if planned is not None else "", tuple(need.id for need in row.needs))
            if row is not None and self.is_held
            else ()
        )
        if held_at == self._held_at:
            return
        if not held_at or held_at[0] != (self._held_at or held_at)[0]:
            self._forget()
            self.changed.emit()
        self._held_at = held_at
        if held_at and self.is_active:
            self._load()

    def on_picture(self, run: str) -> None:
        """The page's picture changed: its elements may have moved."""
        if run == self.run and self.targets and self.is_active and not self._again.isActive():
            self._again.start()

    # ------------------------------------------------------------ modes
    def toggle_numbers(self) -> None:
        """Show the number of every element, or hide them."""
        self.shows_numbers = not self.shows_numbers
        self._begin()

    def begin(self, call: str) -> None:
        """Choose another target, beginning with the one that ``call`` names."""
        if self.is_editing:
            return
        self.is_editing, self.asks_text, self.error, self.text = True, False, "", ""
        self.type(call)
        self._begin()

    def leave(self) -> None:
        """Stop choosing."""
        if not self.is_editing:
            return
        self.is_editing = self.asks_text = False
        self.chosen = self.hovered = self.matches = None
        self.call = self.text = self.error = ""
        self._drop_unused()
        self.changed.emit()

    def back(self) -> bool:
        """Go back from the text to the choice; False where no text is asked for."""
        was, self.asks_text = self.asks_text, False
        if was:
            self.changed.emit()
        return was

    # ------------------------------------------------------------ choosing
    @property
    def target(self) -> PointTarget | None:
        """The chosen element."""
        return self.at(self.chosen)

    def at(self, number: int | None) -> PointTarget | None:
        """Return the element of a number."""
        return next((one for one in self.targets if one.number == number), None)

    def type(self, text: str) -> None:
        """Take what is typed: a number, words of a name, a call, or the text that the call lacks."""
        line = text.strip()
        self._typed, self.error = text, ""
        if self.asks_text:
            self.text = text
        elif "(" in line:
            found = _NUMBER.search(line)
            self.call, self.chosen, self.matches = line, int(found[1]) if found else None, None
        elif line.isdecimal():
            self._choose(int(line) if len(line) < 9 else None)
            self.matches = None
        else:
            fitting = self._named(line) if line else ()
            self.matches = frozenset(one.number for one in fitting) if line else None
            self._choose(fitting[0].number if fitting else None)
        self.changed.emit()

    def choose(self, number: int) -> None:
        """Choose an element; a field asks for its text at once."""
        self._choose(number)
        self.matches, self.error = None, ""
        self.asks_text = self.needs_text
        self.changed.emit()

    def walk(self, by: int) -> None:
        """Choose the next or previous element in reading order, or of those that fit the typed words."""
        stops = [one for one in self.targets if self.matches is None or one.number in self.matches]
        if not stops:
            return
        numbers = [one.number for one in stops]
        place = numbers.index(self.chosen) + by if self.chosen in numbers else (0 if by > 0 else -1)
        self._choose(numbers[place % len(numbers)])
        self.asks_text, self.error = False, ""
        self.changed.emit()

    def cycle(self, by: int) -> None:
        """Take the next or previous call that fits the element."""
        target = self.target
        if target is not None and target.calls:
            place = target.calls.index(self.call) if self.call in target.calls else -1
            self.take_call(target.calls[(place + by) % len(target.calls)])

    def take_call(self, call: str) -> None:
        """Do this to the element."""
        self.call, self.matches, self.error = call, None, ""
        self.asks_text = self.asks_text and self.needs_text
        self.changed.emit()

    @property
    def needs_text(self) -> bool:
        """Whether the call lacks its text."""
        return TEXT_SLOT in self.call

    @property
    def whole_call(self) -> str:
        """The call with the typed text."""
        return self.call.replace(f"'{TEXT_SLOT}'", repr(self.text)) if self.asks_text else self.call

    def enter(self, text: str) -> str:
        """Take Enter: return the call to be sent, or "" where it only chose the element, or asks for a text."""
        if text != self._typed:
            self.type(text)
        if not self.call:
            self.error = tr("No element fits. Type a number, a name, or a call.") if text.strip() else ""
        elif self.needs_text and not self.asks_text:
            self.asks_text = True
        elif self.asks_text or "(" in text:
            return self.whole_call
        else:
            self.matches = None
            self.changed.emit()
            return ""
        self.changed.emit()
        return ""

    # ------------------------------------------------------------ the pointer
    def hover(self, x: float, y: float) -> None:
        """Note the element under the pointer, in CSS pixels of the viewport."""
        found = self.under(x, y)
        number = found.number if found is not None else None
        if number != self.hovered:
            self.hovered = number
            self.changed.emit()

    def hover_none(self) -> None:
        if self.hovered is not None:
            self.hovered = None
            self.changed.emit()

    def pick_at(self, x: float, y: float) -> None:
        """Report a click on an element."""
        found = self.under(x, y)
        if found is not None and self.is_editing:
            self.picked.emit(found.number)

    def under(self, x: float, y: float) -> PointTarget | None:
        """Return the smallest element at a point."""
        there = [one for one in self.targets if _contains(one.box, x, y)]
        return min(there, key=lambda one: one.box[2] * one.box[3], default=None)

    # ------------------------------------------------------------ inside
    def _begin(self) -> None:
        if self.is_active and not self.targets:
            self._load()
        self._drop_unused()
        self.changed.emit()

    def _load(self) -> None:
        run = self.run
        if not run or not self.is_active or not self.is_held:
            return

        def came(found: list[PointTarget]) -> None:
            if run != self.run or not self.is_active or not self.is_held:
                return
            self.targets, self.error = reading_order(found), ""
            if self.is_editing and not self.asks_text and self.chosen is None:
                self.type(self._typed)  # before they came
            self.changed.emit()

        def not_come(error: Exception) -> None:
            if run != self.run or self.targets:
                return  # those known stay
            self.error = str(error)
            if not self.is_editing:
                self.shows_numbers = False
                self.failed.emit(self.error)
            self.changed.emit()

        self._tasks.start(self._client.api.point_targets(run), came, not_come, key="live-targets")

    def _forget(self) -> None:
        self.targets, self.hovered, self.matches = (), None, None
        self._again.stop()
        self._tasks.cancel("live-targets")

    def _drop_unused(self) -> None:
        if not self.is_active:
            self._forget()

    def _choose(self, number: int | None) -> None:
        target = self.at(number)
        if target is None:
            self.chosen, self.call = None, ""
        elif target.number != self.chosen or self.call not in target.calls:
            self.chosen, self.call = target.number, target.calls[0] if target.calls else ""

    def _named(self, words: str) -> list[PointTarget]:
        """Return the elements whose name has all words, those that begin with them first."""
        typed = words.casefold()
        parts = typed.split()
        found = [
            one for one in self.targets if all(part in f"{one.name} {one.role}".casefold() for part in parts)
        ]
        return sorted(found, key=lambda one: not one.name.casefold().startswith(typed))


def target_words(target: PointTarget) -> str:
    """Return ``link 'Stock'``."""
    return f"{target.role} '{target.name}'" if target.name else tr("{0} without a name").format(target.role)


def call_label(call: str) -> str:
    """Return a call in a word or two: ``Click``, ``Choose 'Large'``."""
    kind, _, rest = call.partition("(")
    if kind == "select_option":
        option = rest.partition(", ")[2].removesuffix(")").strip("'\"")
        return tr("Choose by name") if option == TEXT_SLOT else tr("Choose '{0}'").format(option)
    if kind == "fill" and rest.endswith("True)"):
        return tr("Type, then Enter")
    return tr(_CALL_LABELS.get(kind, kind))


def reading_order(targets: Iterable[PointTarget]) -> tuple[PointTarget, ...]:
    """Return elements line by line, from the left; one is in the line of another whose middle it covers."""
    found: list[PointTarget] = []
    line: list[PointTarget] = []
    for one in sorted(targets, key=lambda one: (one.box[1] + one.box[3] / 2, one.box[0])):
        if line and one.box[1] + one.box[3] / 2 > line[0].box[1] + max(line[0].box[3], 8.0):
            found += sorted(line, key=lambda other: other.box[0])
            line = []
        line.append(one)
    return (*found, *sorted(line, key=lambda other: other.box[0]))


def _contains(box: tuple[float, float, float, float], x: float, y: float) -> bool:
    return box[0] <= x <= box[0] + box[2] and box[1] <= y <= box[1] + box[3]
