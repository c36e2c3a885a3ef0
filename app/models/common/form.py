"""Form models: values as typed text, with problems that say how to fix them."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.models.common.translate import tr


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with a field, and how to fix it."""

    field: str
    message: str


class FormModel(QObject):
    """``values`` as text; ``changed`` when a value, a problem or ``error`` changed."""

    changed = Signal()

    def __init__(self, values: dict[str, str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.values = values
        self.error = ""

    def set(self, name: str, text: str) -> None:
        if self.values[name] != text:
            self.values[name], self.error = text, ""
            self._on_set(name)
            self.changed.emit()

    def _on_set(self, name: str) -> None:
        """Follow a changed field."""

    @property
    def problems(self) -> list[Problem]:
        """All problems, in the order of the form."""
        raise NotImplementedError

    def fail(self, error: BaseException) -> None:
        self.error = str(error)
        self.changed.emit()

    def _integer_problem(self, name: str, least: int, most: int) -> list[Problem]:
        text = self.values[name].strip()
        if text.isdecimal() and least <= int(text) <= most:
            return []
        message = tr("Enter a whole number from {0} to {1}")
        return [Problem(name, message.format(least, most))]


def complete_url(text: str) -> str:
    """Add ``http://`` (on this machine) or ``https://`` to an address typed without a scheme."""
    text = text.strip()
    if not text or "://" in text:
        return text
    host = text.partition("/")[0].rpartition("@")[2].partition(":")[0].lower()
    near = host == "localhost" or host.endswith((".localhost", ".local")) or host.replace(".", "").isdigit()
    return f"{'http' if near else 'https'}://{text}"
