"""Calls the program like a user's script."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


class Sitelore:
    """``sitelore`` on one workspace; every call ends with ``--json``."""

    def __init__(self, workspace: Path, **environment: str) -> None:
        self.workspace = workspace
        self.environment = environment

    def __call__(self, *arguments: str, code: int = 0):
        command = [sys.executable, "-m", "app", "--workspace", str(self.workspace), *arguments, "--json"]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            cwd=CHECKOUT,
            env={**os.environ, **self.environment},
        )
        assert done.returncode == code, done.stderr + done.stdout
        return json.loads(done.stdout)
