"""A real application that runs on this machine alone: install, start, reset, stop, and its data as tables.

Each module beside this one that defines ``SITE`` is one application.  All that is installed or changed lies under
``SITES_HOME`` (by default ``agent-sites`` in the user's cache folder); nothing asks for an address but 127.0.0.1 once
it runs.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Page

HERE = Path(__file__).parent
STARTING = 60.0
"""Seconds a server may take to answer."""
STOPPING = 10.0
"""Seconds a server may take to end."""


@dataclass(frozen=True, slots=True)
class Account:
    """A log-in of a site."""

    user: str
    password: str


class Site(ABC):
    """One application.

    Attributes:
        name: of the module and its folder of data.
        port: where it listens by default.
        accounts: log-ins by role; "" (nobody) needs none.
        explored: the pages from which the site's map is explored, as (path, role).
        requirements: pinned packages of the environment the site runs in; the ones they need are installed with them.
        databases: SQLite files of the site's state, relative to its live folder; ``reset`` restores them in place.
        folders: folders of the site's state; ``reset`` restores their files.
        content: name of a table of ``tables`` -> the query that lists its rows, the key first.  Log-ins, visit counts
            and caches are left out, because looking changes them.
    """

    name: str
    port: int
    accounts: Mapping[str, Account]
    explored: Sequence[tuple[str, str]] = (("/", ""),)
    requirements: Sequence[str] = ()
    packages: Sequence[str] = ()
    """Debian packages."""
    databases: Sequence[str] = ()
    folders: Sequence[str] = ()
    content: Mapping[str, str]

    def __init__(self, port: int = 0) -> None:
        self.port = port or self.port
        self.home = Path(os.environ.get("SITES_HOME") or Path.home() / ".cache" / "agent-sites") / self.name
        self.pristine = self.home / "pristine"
        self.live = self.home / f"live-{self.port}"
        self.kept = self.home / f"kept-{self.port}"
        self._server: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Address of the site, without a slash at its end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def python(self) -> Path:
        """The Python of the site's own environment."""
        return self.home / "venv" / "bin" / "python"

    @property
    def data(self) -> Path:
        """The folder with the site's seed, tasks and tips."""
        return HERE / self.name

    @abstractmethod
    def fill(self) -> None:
        """Make the initial state in ``pristine``, from a fixed seed."""

    @abstractmethod
    def command(self) -> Sequence[str]:
        """The server's command; it works in ``live`` and listens on 127.0.0.1 at ``port``."""

    @abstractmethod
    async def log_in(self, page: Page, account: Account) -> None:
        """Log in by the site's own form."""

    def environment(self) -> dict[str, str]:
        """Environment variables of the server."""
        return dict(os.environ)

    def view(self) -> sqlite3.Connection:
        """The site's data for the oracles, read-only; a site that keeps files returns them as tables in memory."""
        return sqlite3.connect(f"{(self.live / self.databases[0]).as_uri()}?mode=ro", uri=True)

    def rows(self) -> dict[str, dict[object, tuple[object, ...]]]:
        """Rows of ``content`` by table and key."""
        with closing(self.view()) as view:
            return {
                name: {row[0]: tuple(row) for row in view.execute(query)}
                for name, query in self.content.items()
            }

    def install(self) -> None:
        """Install the program and make its initial state; once."""
        done = self.home / "installed"
        if done.is_file():
            return
        self.home.mkdir(parents=True, exist_ok=True)
        if self.packages:
            environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            subprocess.run(["apt-get", "update", "-qq"], check=True, env=environment)
            subprocess.run(
                ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *self.packages],
                check=True,
                env=environment,
                stdout=subprocess.DEVNULL,
            )
        if self.requirements:
            subprocess.run([sys.executable, "-m", "venv", str(self.home / "venv")], check=True)
            subprocess.run([str(self.python), "-m", "pip", "install", "-q", *self.requirements], check=True)
        for folder in (self.pristine, self.live, self.kept):
            shutil.rmtree(folder, ignore_errors=True)
        self.pristine.mkdir()
        self.fill()
        done.write_text("", encoding="utf-8")

    def start(self) -> None:
        """Start the server, if it does not run; installs first, if need be.

        Raises:
            RuntimeError: another program listens at the port, or the server does not start.
        """
        if self.is_ready():
            return
        if not self.is_running() and self._is_port_taken():
            raise RuntimeError(
                f"port {self.port} is taken by another program, not by {self.name}; give a free one with --port"
            )
        self.install()
        if not self.live.is_dir():
            shutil.copytree(self.pristine, self.live, symlinks=True)
        with (self.home / f"log-{self.port}").open("ab") as log:
            process = subprocess.Popen(
                list(self.command()),
                cwd=self.live,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._server = process
        (self.home / f"pid-{self.port}").write_text(str(process.pid), encoding="utf-8")
        until = time.monotonic() + STARTING
        while not self.is_ready():
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{self.name} does not start; see its log in {self.home.name}")
            time.sleep(0.2)

    def stop(self) -> None:
        """End the server and its workers."""
        number = self._process_group()
        if number is None:
            return
        (self.home / f"pid-{self.port}").unlink()
        with suppress(ProcessLookupError, ChildProcessError):
            os.killpg(number, signal.SIGTERM)
        until = time.monotonic() + STOPPING
        while self._is_port_taken() and time.monotonic() < until:
            time.sleep(0.1)
        with suppress(ProcessLookupError):
            os.killpg(number, signal.SIGKILL)
        if self._server is not None:
            self._server.wait()
            self._server = None

    def is_running(self) -> bool:
        """Whether the server that was started here is alive."""
        number = self._process_group()
        if number is None:
            return False
        try:
            os.killpg(number, 0)
        except OSError:
            return False
        return True

    def is_ready(self) -> bool:
        """Whether the server answers; another program at its port does not count."""
        if not self.is_running():
            return False
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{self.url}/", timeout=5) as answer:
                answer.read(1)
        except urllib.error.HTTPError as error:
            return error.code < 500
        except OSError:
            return False
        return True

    def _process_group(self) -> int | None:
        """Number of the server's process group as it was noted at its start; ``None`` if it was not started."""
        noted = self.home / f"pid-{self.port}"
        return int(noted.read_text(encoding="utf-8")) if noted.is_file() else None

    def _is_port_taken(self) -> bool:
        with closing(socket.socket()) as probe:
            probe.settimeout(1)
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def keep(self) -> None:
        """Make the current state the one that ``reset`` restores, log-in sessions included."""
        shutil.rmtree(self.kept, ignore_errors=True)
        self._copy(self.live, self.kept)

    def reset(self) -> None:
        """Restore the state of the last ``keep``, else the initial one; the server keeps running."""
        self._copy(self.kept if self.kept.is_dir() else self.pristine, self.live)

    def _copy(self, source: Path, target: Path) -> None:
        for name in self.databases:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            with (
                closing(sqlite3.connect(source / name, timeout=30)) as one,
                closing(sqlite3.connect(target / name, timeout=30)) as other,
            ):
                one.backup(other)
        for name in self.folders:
            (target / name).mkdir(parents=True, exist_ok=True)
            wanted = {
                path.relative_to(source / name) for path in (source / name).rglob("*") if path.is_file()
            }
            for path in list((target / name).rglob("*")):
                if path.is_file() and path.relative_to(target / name) not in wanted:
                    path.unlink()
            for path in wanted:
                one, other = source / name / path, target / name / path
                if not other.is_file() or one.read_bytes() != other.read_bytes():
                    other.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(one, other)
