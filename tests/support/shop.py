"""A real shop for tests and benchmarks: an installed django-oscar that somebody has started, and its database.

Where it is, is told by ``SITELORE_SHOP`` (its address) and ``SITELORE_SHOP_DATABASE`` (its SQLite file); without them
it is installed and started where its installer lies beside the checkout.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser

ADMIN = ("admin@shop.example", "admin-pass-1")
SHOPPER = ("emma.lopez@shop.example", "shopper-pass-1")

VISITS = frozenset(
    {
        "django_session",
        "analytics_productrecord",
        "analytics_userproductview",
        "analytics_userrecord",
        "analytics_usersearch",
        "sqlite_sequence",
    }
)
"""Tables of log-in sessions and visit statistics, which every visitor changes by looking."""
CACHES = frozenset({"thumbnail_kvstore"})
"""Tables of what the shop computes when a page is first looked at: smaller copies of pictures."""

Rows = dict[str, Counter[tuple[object, ...]]]


@dataclass(frozen=True)
class Shop:
    """Where the shop is; ``database`` is its file."""

    url: str
    database: Path

    def rows(self) -> Rows:
        """Every row of every table but those of visits and caches."""
        return rows_of(self.database)


def shop() -> Shop | None:
    """The shop that was started for the tests, if there is one."""
    url, database = os.environ.get("SITELORE_SHOP", ""), os.environ.get("SITELORE_SHOP_DATABASE", "")
    return Shop(url, Path(database)) if url and database else None


SITES = Path(os.environ.get("SITELORE_SHARED", Path(__file__).parents[3] / "shared")) / "sites"
PORT = "8171"
INSTALLING = 600
"""Seconds the shop may take to install itself and start."""


@contextmanager
def started_shop() -> Iterator[Shop | None]:
    """The shop of the environment, else one of our own where its installer lies beside the checkout; else ``None``."""
    found, script = shop(), SITES / "oscar.sh"
    if found is not None or not script.is_file():
        yield found
        return
    home = Path(os.environ.get("SITES_HOME") or Path.home() / ".cache" / "agent-sites")
    environment = {**os.environ, "PORT": PORT, "SITES_HOME": str(home)}

    def call(what: str) -> None:
        subprocess.run(
            ["bash", str(script), what], env=environment, timeout=INSTALLING, check=True, capture_output=True
        )

    try:
        call("start")
        call("reset")
    except (OSError, subprocess.SubprocessError):
        yield None
        return
    try:
        yield Shop(f"http://127.0.0.1:{PORT}/", home / "oscar" / f"live-{PORT}" / "db.sqlite3")
    finally:
        call("stop")


def rows_of(database: Path) -> Rows:
    """Rows by table, each counted."""
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name: Counter(connection.execute(f'SELECT * FROM "{name}"').fetchall())
            for name in names
            if name not in VISITS | CACHES
        }


def difference(before: Rows, after: Rows) -> list[str]:
    """Rows that went or came, in words; empty if nothing did."""
    found: list[str] = []
    for table in sorted(before.keys() | after.keys()):
        old, new = before.get(table, Counter()), after.get(table, Counter())
        found.extend(f"{table} without {row}" for row in (old - new).elements())
        found.extend(f"{table} with {row}" for row in (new - old).elements())
    return found


async def record_login(browser: Browser, url: str, account: tuple[str, str], path: Path) -> Path:
    """Log in by the shop's form and keep the storage state in a file.

    The shop gives whoever looks at it for the first time an empty basket; that is done here, too.
    """
    context = await browser.new_context()
    try:
        page = await context.new_page()
        await page.goto(f"{url.rstrip('/')}/accounts/login/")
        await page.fill("input[name=login-username]", account[0])
        await page.fill("input[name=login-password]", account[1])
        await page.click("button[name=login_submit]")
        await page.wait_for_load_state("load")
        assert "/login" not in page.url, f"the log-in of {account[0]} was refused"
        await page.goto(f"{url.rstrip('/')}/basket/")
        await context.storage_state(path=path)
    finally:
        await context.close()
    return path
