"""A command that runs while another does; what it says is kept for afterwards."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path


class Beside:
    """Started when it is made; ``end`` waits for it."""

    def __init__(
        self, name: str, command: list[str], *, folder: Path, environment: Mapping[str, str]
    ) -> None:
        self.name, self._began = name, time.monotonic()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 it is closed by end
        self._process = subprocess.Popen(
            command, cwd=folder, env=dict(environment), stdout=self._said, stderr=subprocess.STDOUT
        )

    def end(self) -> tuple[int, float, str]:
        """Its exit code, its seconds, and what it said."""
        code = self._process.wait()
        seconds = time.monotonic() - self._began
        self._said.seek(0)
        text = self._said.read().decode("utf-8", "replace")
        self._said.close()
        return code, seconds, text
