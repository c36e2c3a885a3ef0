"""Saved log-ins, one a site and one for each of its roles: secrets in the user's own data, never in a workspace.

They are readable by their owner alone.  A run that needs several, or none, begins with a file made for it here.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
import uuid
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import orjson

from app import settings
from app.engine.core.login_state import lacks_session
from app.engine.store.locks import FileLock
from app.engine.store.run_files import write_file
from app.errors import InputError, StoreError, UsageError

LOCK_SECONDS = 5.0
"""Longest wait for another process that writes the same log-in."""
NOBODY = "nobody"
"""The role of a task that begins without a log-in."""
_ROLE = re.compile(r"[A-Za-z0-9][\w.-]{0,62}", re.ASCII)


def login_path(site: str, role: str = "") -> Path:
    """Return the path of a site's saved log-in, or of one of its roles."""
    whole = f"{site}@{role}" if role else site
    return settings.logins_dir() / f"{_slug(whole)}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}.json"


def saved_login(site: str, role: str = "") -> str:
    """Return the path of a saved log-in, "" where there is none."""
    path = login_path(site, role)
    return str(path) if path.exists() else ""


def saved_roles(site: str) -> tuple[str, ...]:
    """Return the roles of a site that a log-in is saved for."""
    start = f"{_slug(site)}_"
    found = {
        path.stem[len(start) : -9]
        for path in settings.logins_dir().glob("*.json")
        if path.name.startswith(start)
    }
    return tuple(sorted(role for role in found if role and login_path(site, role).exists()))


def login_role(site: str, storage_state: str) -> str | None:
    """Return the role of a site whose saved log-in this file is, "" for the site's usual log-in or no file at all.

    ``None`` for any other file: one of the person's own, one of several sites together, nobody's.
    """
    path = Path(storage_state)
    if not storage_state or path == login_path(site):
        return ""
    start = f"{_slug(site)}_"
    role = path.stem[len(start) : -9] if path.name.startswith(start) else ""
    return role if role and login_path(site, role) == path else None


def login_name(site: str, storage_state: str) -> str:
    """Return a name for the log-in that a run asked for, the same for the same one; "" for the site's usual one."""
    role = login_role(site, storage_state)
    return role if role is not None else f"file {hashlib.sha256(storage_state.encode()).hexdigest()[:12]}"


def is_nobody(storage_state: str) -> bool:
    """Whether a run asked to begin without a log-in."""
    return bool(storage_state) and Path(storage_state) == _joint_path(NOBODY)


def keep_login_state(site: str, state: Mapping[str, Any], role: str = "", *, proven: bool = True) -> None:
    """Keep cookies and local storage as the site's log-in, or its role's; those saved of other hosts stay.

    Raises ``StoreError`` if it can't be written, or is not ``proven`` to work and has lost what the saved one has.
    """
    path = login_path(site, role)
    with _locked(path):
        _put(path, _joined(_read(path), state, proven=proven))


def _read(path: Path) -> dict[str, Any]:
    try:
        value: Any = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        value = None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _joined(old: dict[str, Any], state: Mapping[str, Any], *, proven: bool) -> bytes:
    if not proven and lacks_session({"cookies": _dicts(old.get("cookies"))}, state, time.time()):
        raise StoreError("the saved one has session cookies that this one lacks; forget it first")
    new_hosts = {str(cookie["domain"]).lstrip(".") for cookie in state["cookies"]}
    origins = {one["origin"] for one in state["origins"]}
    cookies = [
        cookie
        for cookie in _dicts(old.get("cookies"))
        if str(cookie.get("domain", "")).lstrip(".") not in new_hosts
    ]
    stored = [one for one in _dicts(old.get("origins")) if one.get("origin") not in origins]
    return orjson.dumps({"cookies": [*cookies, *state["cookies"]], "origins": [*stored, *state["origins"]]})


def read_login(path: str) -> dict[str, Any]:
    """Return a saved log-in.  Raises ``InputError`` where it can't be read."""
    from app.engine.browser.live_browser import checked_login

    try:
        return orjson.loads(Path(checked_login(path)).read_bytes())
    except OSError as error:
        raise InputError("this log-in can't be read", path=path, remedy="log in anew") from error


def checked_role(role: str) -> str:
    """Return a role's name.  Raises ``UsageError`` if it can't be one."""
    name = role.strip()
    if name and (not _ROLE.fullmatch(name) or name == NOBODY):
        raise UsageError(
            f"{role[:60]!r} can't be a role",
            remedy=f"use letters, digits, '-', '_' and '.'; '{NOBODY}' is who is not logged in",
        )
    return name


def keep_login(site: str, file: str, role: str = "") -> None:
    """Keep a copy of a recorded log-in as the site's, or its role's, readable by its owner alone.

    Raises:
        InputError: the file can't be read or is no recorded log-in.  StoreError: the copy can't be written.
    """
    from app.engine.browser.live_browser import checked_login

    if not file:
        raise InputError("no file with a log-in was given", remedy="choose a storage state of Playwright")
    source = Path(file).expanduser()
    checked_login(str(source))
    path, data = login_path(site, role), source.read_bytes()
    with _locked(path):
        _put(path, data)


def forget_login(site: str, role: str = "") -> bool:
    """Delete a saved log-in; return whether there was one.  Raises ``StoreError`` while another process writes it."""
    path = login_path(site, role)
    with _locked(path):
        there = path.exists()
        path.unlink(missing_ok=True)
    for joint in path.parent.glob(f"{_JOINT}*.json"):  # it may be in them
        joint.unlink(missing_ok=True)
    return there


def no_login() -> str:
    """Return the path of a recorded log-in of nobody, for a run that may not begin with the site's usual one."""
    return _joint(NOBODY, {"cookies": [], "origins": []})


def joint_login(files: Sequence[str]) -> str:
    """Return the path of one log-in with the contents of all these, "" for none.

    Raises:
        InputError: one of them is no recorded log-in.
    """
    if len(files) < 2:
        return files[0] if files else ""
    whole: dict[str, Any] = {"cookies": [], "origins": []}
    for file in files:
        try:
            value: Any = orjson.loads(Path(file).read_bytes())
        except (OSError, ValueError) as error:
            raise InputError("this is not a recorded log-in", path=file, remedy="log in anew") from error
        state = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        for part in whole:
            given = state.get(part)
            whole[part] += cast("list[Any]", given) if isinstance(given, list) else []
    return _joint("\0".join(files), whole)


_JOINT = "joint-"


def _joint(name: str, state: dict[str, Any]) -> str:
    path = _joint_path(name)
    _put(path, orjson.dumps(state))
    return str(path)


def _joint_path(name: str) -> Path:
    return settings.logins_dir() / f"{_JOINT}{hashlib.sha256(name.encode()).hexdigest()[:12]}.json"


def _dicts(value: object) -> list[dict[str, Any]]:
    found = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", one) for one in found if isinstance(one, dict)]


@contextmanager
def _locked(path: Path) -> Generator[None]:
    """Hold the lock of a log-in's file.  Raises ``StoreError`` where another process holds it for too long."""
    with FileLock(path.with_name(f".{path.name}.lock")) as lock:
        try:
            is_ours = lock.take_soon(LOCK_SECONDS)
        except OSError as error:
            raise StoreError(f"the log-in can't be saved in {path}: {error.strerror or error}") from error
        if not is_ours:
            raise StoreError(f"another process is writing the log-in in {path}; try again")
        try:
            yield
        finally:
            lock.delete()


def _put(path: Path, data: bytes) -> None:
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        write_file(draft, data)
        os.replace(draft, path)  # noqa: PTH105 as one call
    except OSError as error:
        raise StoreError(f"the log-in can't be saved in {path}: {error.strerror or error}") from error
    finally:
        draft.unlink(missing_ok=True)


def _slug(text: str) -> str:
    return re.sub(r"[^\w.-]", "_", text)[:80]
