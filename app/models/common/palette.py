"""The command palette's list, the best match first."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.models.common.commands import PLACE_TITLES, CommandCenter
from app.models.common.object_list import ObjectList

RECENT = 6


class PaletteModel(ObjectList[str]):
    """Ids of the commands that match the typed words; without words, the recent ones and then those of this place."""

    def __init__(self, center: CommandCenter, parent: QObject | None = None) -> None:
        super().__init__(lambda command: command, parent)
        self._center = center
        self._recent: list[str] = []
        self.ask("")

    def words(self, value: str) -> str:
        return f"{self._center.title(value)}, {self._center.keys(value) or self.tr('no shortcut')}"

    def ask(self, text: str) -> None:
        found: list[tuple[float, int, str]] = []
        for number, command in enumerate(self._center.commands):
            haystack = f"{self._center.title(command.id)} {PLACE_TITLES[command.place]} {command.menu}"
            score = match_score(text, self._center.title(command.id), haystack)
            if score is not None:
                found.append((-score - self._nearness(command.id, bool(text)), number, command.id))
        self.replace([command for _score, _number, command in sorted(found)])

    def used(self, command: str) -> None:
        self._recent = [command, *(other for other in self._recent if other != command)][:RECENT]

    def command(self, row: int) -> str:
        """The command's id in a row, "" outside."""
        return self.at(row) or ""

    def _nearness(self, command: str, asked: bool) -> float:
        """Rank recent, local and enabled commands higher; less so once words were typed."""
        near = 0.5 if self._center.reaches(command) else 0.0
        near += 0.5 if self._center.action(command).isEnabled() else 0.0
        if command in self._recent:
            near += 1.0 - self._recent.index(command) / (2 * RECENT)
        if self._center.command(command).place != "everywhere" and self._center.reaches(command):
            near += 0.2
        return near * (0.4 if asked else 1.0)


def match_score(text: str, title: str, haystack: str) -> float | None:
    """Return how well the typed words match, higher is better; ``None`` when one of them is found nowhere.

    Each word counts by its best match: the beginning of a word of the title, inside it, in the haystack around it,
    or its letters in order from the first one on ("wrt" finds "Write a tip").
    """
    score, low, wide = 0.0, title.lower(), haystack.lower()
    starts = low.replace("(", " ").replace(":", " ").split()
    for word in text.lower().split():
        if any(start.startswith(word) for start in starts):
            score += 4 + len(word) / 10
        elif word in low:
            score += 3
        elif word in wide:
            score += 2
        elif low.startswith(word[0]) and _in_order(word, low):
            score += 1
        else:
            return None
    return score


def _in_order(letters: str, text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in letters)
