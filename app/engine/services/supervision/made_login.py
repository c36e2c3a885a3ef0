"""A log-in that a person made in a run: whose it is, who waits for it, and what is saved of it."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from typing import Any

import orjson

from app import settings
from app.engine.core.login_state import is_of_hosts, login_of_hosts
from app.engine.core.request_groups import is_login_wall, request_key
from app.engine.core.supervision import ApprovalRequest, RequestState
from app.engine.services.site_logins import login_path, read_login
from app.errors import SiteloreError


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeLogin:
    """A log-in that a person made in a run.

    Attributes:
        run_site, login: the site of the run, and the log-in that it asked for.  wall: where it waited, ``None`` where
            it did not.
        site: whose log-in it is.  hosts: those it is for, globs included.
        state: cookies and local storage: secrets, never printed or stored elsewhere.
        role: the role of the site that it is kept as, "" for none; ``None`` where it is not to be kept.
        kept: for later runs.  problem: why not, "" where it was not to be.
        mark: fingerprint of what is saved of its hosts.  expires: when no later run is given it, monotonic seconds.
        wished: a person said that it is one.
    """

    run: str
    run_site: str
    login: str
    site: str
    hosts: tuple[str, ...]
    wall: ApprovalRequest | None = None
    state: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]], repr=False)
    role: str | None = ""
    kept: bool = False
    problem: str = ""
    mark: str = ""
    expires: float = math.inf
    wished: bool = False

    def is_waited_for(self, request: ApprovalRequest) -> bool:
        """Whether a request waits for this log-in."""
        if not is_login_wall(request) or request.state is not RequestState.OPEN or request.run == self.run:
            return False
        if self.wall is not None:
            return request_key(request) == request_key(self.wall)
        same = (request.site, request.login) == (self.run_site, self.login)
        return same and is_of_hosts(request.url, self.hosts)


def saved_part(made: MadeLogin) -> dict[str, list[Any]]:
    """Return what is saved now of a log-in's hosts.  Raises ``InputError``."""
    return login_of_hosts(read_login(str(login_path(made.site, made.role or ""))), made.hosts)


def login_mark(state: dict[str, list[Any]]) -> str:
    return hashlib.sha256(orjson.dumps(state, option=orjson.OPT_SORT_KEYS)).hexdigest()


def state_to_give(made: MadeLogin) -> dict[str, list[Any]] | None:
    """Return a kept log-in for a run that came later; ``None`` where it was forgotten or changed, or none is kept."""
    try:
        if settings.load().keep_logins == "off":
            return None
        state = saved_part(made)
    except SiteloreError:
        return None
    return state if login_mark(state) == made.mark else None


def shared_words(made: MadeLogin, runs: int, left: int) -> str:
    kept = (
        "the log-in is kept for later runs"
        if made.kept
        else f"the log-in could not be kept ({made.problem})"
        if made.problem
        else ""
    )
    went_on = f"{runs} run{' goes' if runs == 1 else 's go'} on" if runs else ""
    parts = ", and ".join(filter(None, (went_on, kept))) or "no run waits for it, and it is not kept"
    still = f" {left} run{' still waits' if left == 1 else 's still wait'}." if left else ""
    return f"Logged in to {made.site}: {parts}.{still}"
