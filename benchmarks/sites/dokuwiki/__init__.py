"""DokuWiki as a site: the intranet wiki of a field studies centre, run by PHP's own web server.

The wiki keeps plain files.  ``view`` reads them into tables in memory: pages with their lines and table cells, links,
revisions, media, users and their groups, permissions, subscriptions and settings.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from benchmarks.sites.dokuwiki.seed import PASSWORDS, seed
from benchmarks.sites.site import Account, Site

if TYPE_CHECKING:
    from playwright.async_api import Page

PROGRAM = Path("/usr/share/dokuwiki")
CONFIGURATION = Path("/etc/dokuwiki")
SCHEMA = """
create table pages(id text primary key, namespace text, title text, text text, author text, created text,
    changed text, size integer, revisions integer);
create table lines(page text, number integer, section text, text text);
create table cells(page text, section text, sheet integer, row integer, name text, column text, value text);
create table links(page text, target text);
create table revisions(id text primary key, page text, date text, kind text, author text, summary text, change integer);
create table media(id text primary key, namespace text, size integer, digest text, author text, changed text);
create table users(login text primary key, hash text, name text, mail text, groups text);
create table members(login text, grp text);
create table acl(id text primary key, scope text, who text, level integer);
create table subscriptions(id text primary key, page text, login text, style text);
create table settings(id text primary key, value text);
"""


class DokuWiki(Site):
    """A wiki of about 140 pages in a dozen namespaces."""

    name = "dokuwiki"
    port = 8116
    accounts = {
        "member": Account("martin.holt", PASSWORDS["martin.holt"]),
        "admin": Account("ruth.penhallow", PASSWORDS["ruth.penhallow"]),
    }
    explored = (("/", "member"), ("/start?do=index", "member"), ("/start?do=admin", "admin"))
    packages = (
        "php8.2-cgi",
        "php8.2-cli",
        "php8.2-gd",
        "php8.2-mbstring",
        "php8.2-xml",
        "dokuwiki=0.0.20220731.a-2",
    )
    folders = (
        "conf",
        "data/attic",
        "data/index",
        "data/locks",
        "data/media",
        "data/media_attic",
        "data/media_meta",
        "data/meta",
        "data/pages",
    )
    content = {
        "pages": "select id, text from pages",
        "media": "select id, size, digest from media",
        "users": "select login, hash, name, mail, groups from users",
        "acl": "select id, level from acl",
        "subscriptions": "select id, style from subscriptions",
        "settings": "select id, value from settings",
    }

    def fill(self) -> None:
        """Copy the program, write configuration and data, and let the program make its search index."""
        program = self.home / "app"
        shutil.rmtree(program, ignore_errors=True)
        shutil.copytree(PROGRAM, program)
        shutil.copy2(self.data / "preload.php", program / "inc" / "preload.php")
        conf = self.pristine / "conf"
        shutil.copytree(
            CONFIGURATION, conf, ignore=shutil.ignore_patterns("*.dist", "*.example", "*.auth.php", "ap*")
        )
        seed(self.pristine)
        environment = {
            **os.environ,
            "WIKI_HOME": str(self.pristine),
            "HTTP_HOST": "127.0.0.1",
            "SERVER_PORT": "80",
        }
        subprocess.run(
            ["php", "-d", "date.timezone=UTC", str(program / "bin" / "indexer.php"), "-q"],
            check=True,
            env=environment,
        )
        self._forget_cache(self.pristine)

    def environment(self) -> dict[str, str]:
        """Where the program finds its files, and how many requests it takes at once."""
        return {
            **os.environ,
            "WIKI_HOME": str(self.live),
            "WIKI_PROGRAM": str(self.home / "app"),
            "PHP_CLI_SERVER_WORKERS": "3",
        }

    def command(self) -> Sequence[str]:
        """PHP's own server with a router for readable addresses."""
        sessions = self.live / "sessions"
        sessions.mkdir(parents=True, exist_ok=True)
        given = {
            "date.timezone": "UTC",
            "session.save_path": str(sessions),
            "session.gc_probability": "0",
            "sendmail_path": "/bin/true",
            "display_errors": "0",
            "upload_max_filesize": "8M",
        }
        options = [part for name, value in given.items() for part in ("-d", f"{name}={value}")]
        root = ["-t", str(self.home / "app"), str(self.data / "router.php")]
        return ["php", *options, "-S", f"127.0.0.1:{self.port}", *root]

    async def log_in(self, page: Page, account: Account) -> None:
        """Log in by the form, remembered by a cookie that outlives the session."""
        await page.goto(f"{self.url}/start?do=login")
        await page.fill("#dw__login input[name=u]", account.user)
        await page.fill("#dw__login input[name=p]", account.password)
        await page.check("#dw__login input[name=r]")
        await page.click("#dw__login button[type=submit]")
        await page.wait_for_selector("li.user")

    def view(self) -> sqlite3.Connection:
        """The files as tables in memory."""
        return read(self.live)

    def _copy(self, source: Path, target: Path) -> None:
        super()._copy(source, target)
        for name in self.folders:
            for path in (source / name).rglob("*"):
                other = target / name / path.relative_to(source / name)
                if path.is_file() and (path.stat().st_mtime_ns != other.stat().st_mtime_ns):
                    shutil.copystat(path, other)  # the wiki takes the time of a page's file for its revision
            for path in sorted((target / name).rglob("*"), reverse=True):
                if path.is_dir() and not (source / name / path.relative_to(target / name)).is_dir():
                    shutil.rmtree(path, ignore_errors=True)
        self._forget_cache(target)

    def _forget_cache(self, home: Path) -> None:
        """Rendered pages and drafts are kept by the time of their page's file, which a reset turns back."""
        cache = home / "data" / "cache"
        for path in list(cache.rglob("*")):
            if path.is_file():
                path.unlink(missing_ok=True)


def read(home: Path) -> sqlite3.Connection:
    """The files of a wiki as tables in memory."""
    view = sqlite3.connect(":memory:")
    view.executescript(SCHEMA)
    data = home / "data"
    revisions: dict[str, list[tuple[str, ...]]] = {}
    for path in sorted((data / "meta").rglob("*.changes")):
        if path.name.startswith("_"):
            continue
        page = _id(path, data / "meta", ".changes")
        revisions[page] = list(_changes(path))
        view.executemany(
            "insert or ignore into revisions values(?,?,?,?,?,?,?)",
            [
                (f"{page}@{r[0]}", page, _time(r[0]), r[2], r[4], r[5], int(r[7] or 0))
                for r in revisions[page]
            ],
        )
    for path in sorted((data / "pages").rglob("*.txt")):
        page = _id(path, data / "pages", ".txt")
        text = path.read_text(encoding="utf-8").strip()
        _add_page(view, page, text, revisions.get(page, []), path.stat().st_size)
    for path in sorted((data / "media").rglob("*")):
        if path.is_file():
            media = _id(path, data / "media", "")
            log = data / "media_meta" / f"{path.relative_to(data / 'media').as_posix()}.changes"
            last = list(_changes(log))[-1:] if log.is_file() else []
            author, changed = (last[0][4], _time(last[0][0])) if last else ("", "")
            content = path.read_bytes()
            row = (
                media,
                media.rpartition(":")[0],
                len(content),
                sha256(content).hexdigest()[:16],
                author,
                changed,
            )
            view.execute("insert into media values(?,?,?,?,?,?)", row)
    for path in sorted((data / "meta").rglob("*.mlist")):
        page = _id(path, data / "meta", ".mlist")
        page = page.removesuffix(":") + ":" if path.name == ".mlist" else page
        for line in path.read_text(encoding="utf-8").splitlines():
            login, style = [*unquote(line).split(), "", ""][:2]
            view.execute(
                "insert or replace into subscriptions values(?,?,?,?)",
                (f"{page} {login}", page, login, style),
            )
    _add_accounts(view, home / "conf")
    view.commit()
    return view


def _add_page(
    view: sqlite3.Connection, page: str, text: str, changes: list[tuple[str, ...]], size: int
) -> None:
    title = re.search(r"^=+ *(.+?) *=+ *$", text, re.M)
    first, last = (changes[0], changes[-1]) if changes else (("0",) * 8, ("0",) * 8)
    row = (
        page,
        page.rpartition(":")[0],
        title[1] if title else page,
        text,
        last[4],
        _time(first[0]),
        _time(last[0]),
    )
    view.execute("insert into pages values(?,?,?,?,?,?,?,?,?)", (*row, size, len(changes)))
    section, sheet, number, header = "", 0, 0, list[str]()
    for count, line in enumerate((one.strip() for one in text.splitlines()), 1):
        heading = re.fullmatch(r"={2,6} *(.+?) *={2,6}", line)
        section = heading[1] if heading else section
        if line:
            view.execute("insert into lines values(?,?,?,?)", (page, count, section, line))
        if not line.startswith(("^", "|")):
            header = []
            continue
        parts = [part.strip() for part in re.split(r"[|^](?![^\[]*\]\])", line)[1:-1]]
        if not header:
            sheet, number, header = sheet + 1, 0, parts
            continue
        number += 1
        for column, value in zip(header, parts, strict=False):
            cell = (page, section, sheet, number, plain(parts[0]), column, plain(value))
            view.execute("insert into cells values(?,?,?,?,?,?,?)", cell)
    for target in re.findall(r"\[\[([^\]|#]+)", text):
        view.execute("insert into links values(?,?)", (page, target.strip().lstrip(":").lower()))


def _add_accounts(view: sqlite3.Connection, conf: Path) -> None:
    for line in _entries(conf / "users.auth.php"):
        login, digest, name, mail, groups = [*re.split(r"(?<!\\):", line), "", "", "", ""][:5]
        groups = ",".join(sorted(group.strip() for group in groups.split(",") if group.strip()))
        view.execute(
            "insert into users values(?,?,?,?,?)", (login, digest, name.replace("\\:", ":"), mail, groups)
        )
        view.executemany("insert into members values(?,?)", [(login, group) for group in groups.split(",")])
    for line in _entries(conf / "acl.auth.php"):
        scope, who, level = line.split()
        who = unquote(who)
        view.execute("insert or replace into acl values(?,?,?,?)", (f"{scope} {who}", scope, who, int(level)))
    for name in ("local.php", "plugins.local.php", "interwiki.local.conf", "entities.local.conf"):
        if (conf / name).is_file():
            text = (conf / name).read_text(encoding="utf-8")
            for key, value in re.findall(r"^(\$(?:conf|plugins)\S+)\s*=\s*(.*?);\s*$", text, re.M):
                view.execute(
                    "insert or replace into settings values(?,?)", (f"{name} {key}", value.strip("'"))
                )


def _entries(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        line = re.sub(r"(?<!\\)#.*", "", line).strip()
        if line:
            yield line


def _changes(path: Path) -> Iterator[tuple[str, ...]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield tuple([*line.split("\t"), *[""] * 8][:8])


def _id(path: Path, root: Path, suffix: str) -> str:
    return unquote(path.relative_to(root).as_posix().removesuffix(suffix)).replace("/", ":")


def _time(stamp: str) -> str:
    return datetime.fromtimestamp(int(stamp), UTC).strftime("%Y/%m/%d %H:%M")


def plain(cell: str) -> str:
    """Text that a table's cell shows: links and marks as their words."""
    cell = re.sub(r"\[\[(?:[^\]|]*\|)?([^\]]*)\]\]", r"\1", cell)
    return re.sub(r"\*\*|//|''|__", "", cell).replace("\\\\", " ").strip()


SITE = DokuWiki
