"""Saved log-ins, one a site: secrets in the user's own data, never in a workspace, readable by their owner alone."""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from pathlib import Path

from app import settings
from app.engine.store.run_files import write_file
from app.errors import InputError, StoreError


def login_path(site: str) -> Path:
    """Return the path of a site's saved log-in."""
    name = re.sub(r"[^\w.-]", "_", site)[:80]
    return settings.logins_dir() / f"{name}-{hashlib.sha256(site.encode()).hexdigest()[:8]}.json"


def saved_login(site: str) -> str:
    """Return the path of a site's saved log-in, "" where there is none."""
    path = login_path(site)
    return str(path) if path.exists() else ""


def keep_login(site: str, file: str) -> None:
    """Keep a copy of a recorded log-in as the site's, readable by its owner alone.

    Raises:
        InputError: the file can't be read or is no recorded log-in.  StoreError: the copy can't be written.
    """
    from app.engine.browser.live_browser import checked_login

    if not file:
        raise InputError("no file with a log-in was given", remedy="choose a storage state of Playwright")
    source, path = Path(file).expanduser(), login_path(site)
    checked_login(str(source))
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        write_file(draft, source.read_bytes())
        os.replace(draft, path)  # noqa: PTH105 as one call
    except OSError as error:
        raise StoreError(f"the log-in can't be saved in {path}: {error.strerror or error}") from error
    finally:
        draft.unlink(missing_ok=True)


def forget_login(site: str) -> bool:
    """Delete a site's saved log-in; return whether there was one."""
    path = login_path(site)
    there = path.exists()
    path.unlink(missing_ok=True)
    return there
