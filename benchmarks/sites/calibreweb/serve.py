"""Runs the packaged program: ``serve.py OPTIONS``, in the folder of its state, at ``SITE_PORT``.

The program is as its package has it, but for three things: the port is given here and not in its settings, the folder
of the books may be relative, and when the file ``reset`` is touched, it drops what it remembers of its database.
"""

from __future__ import annotations

import os
from pathlib import Path

from cps import app, config, main, server, ub  # type: ignore[import-not-found]
from cps.config_sql import ConfigSQL  # type: ignore[import-not-found]

MARK = Path.cwd() / "reset"
PORT = int(os.environ["SITE_PORT"])


class State:
    """When the state was last reset."""

    seen = 0


def mark() -> int:
    """When the file ``reset`` was last touched."""
    return MARK.stat().st_mtime_ns if MARK.is_file() else 0


def forget() -> None:
    """After a reset, read settings and users anew."""
    if (now := mark()) != State.seen:
        State.seen = now
        ub.session.rollback()
        ub.session.expire_all()
        config._settings = None
        config.load()


def listen(self: server.WebServer, application: object, settings: object) -> None:
    """Take the port that was given."""
    START(self, application, settings)
    self.listen_port = PORT


def book_path(self: ConfigSQL) -> str:
    """The folder of the books as a full path."""
    return str(Path(BOOKS(self)).absolute())


START, BOOKS = server.WebServer.init_app, ConfigSQL.get_book_path
server.WebServer.init_app = listen
ConfigSQL.get_book_path = book_path

if __name__ == "__main__":
    State.seen = mark()
    app.before_request(forget)
    main.main()
