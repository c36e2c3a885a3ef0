"""A keyring in a file, for tests: ``PYTHON_KEYRING_BACKEND=tests.support.fake_keyring.FileKeyring``."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

from keyring import core
from keyring.backend import KeyringBackend
from keyring.compat import properties
from keyring.errors import PasswordDeleteError

FILE_VARIABLE = "SITELORE_TEST_KEYRING"
"""Names the file; processes of one test share it."""


class FileKeyring(KeyringBackend):
    """Keeps passwords as JSON, by service and name."""

    @properties.classproperty
    def priority(cls) -> float:  # noqa: N805
        """Refused without a file: keyring takes any class that it knows and that is not."""
        if FILE_VARIABLE not in os.environ:
            raise RuntimeError(f"{FILE_VARIABLE} names no file")
        return 1.0

    def get_password(self, service: str, username: str) -> str | None:
        return self.entries().get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._write({**self.entries(), f"{service}/{username}": password})

    def delete_password(self, service: str, username: str) -> None:
        held = self.entries()
        if held.pop(f"{service}/{username}", None) is None:
            raise PasswordDeleteError(username)
        self._write(held)

    @property
    def _path(self) -> Path:
        return Path(os.environ[FILE_VARIABLE])

    def entries(self) -> dict[str, str]:
        """All passwords."""
        return json.loads(self._path.read_text("utf-8")) if self._path.exists() else {}

    def _write(self, held: dict[str, str]) -> None:
        """Write whole or not at all: another thread may be reading."""
        written = self._path.with_suffix(f".{threading.get_ident()}")
        written.write_text(json.dumps(held), encoding="utf-8")
        written.replace(self._path)


def use_fake_keyring(monkeypatch, folder: Path) -> FileKeyring:
    """Use a keyring in ``folder`` in this process and its children; no key is in the environment."""
    monkeypatch.setenv(FILE_VARIABLE, str(folder / "keyring.json"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "tests.support.fake_keyring.FileKeyring")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    made = FileKeyring()
    monkeypatch.setattr(core, "_keyring_backend", made)
    return made
