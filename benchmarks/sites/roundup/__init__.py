"""Roundup, the issue tracker: the tracker of a walkers' charity."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from benchmarks.sites.site import Account, Site

if TYPE_CHECKING:
    from playwright.async_api import Page

PEOPLE_PASSWORD = "heather-moor-7"
"""Password of every person of the seed."""


class Roundup(Site):
    """Roundup 2.6 with the classic template, served by its WSGI handler."""

    name = "roundup"
    port = 8111
    accounts = {
        "member": Account("nsharma", PEOPLE_PASSWORD),
        "admin": Account("admin", "warden-of-keys"),
    }
    explored = (("/", "member"), ("/", "admin"))
    requirements = ("roundup==2.6.0", "waitress==3.0.2")
    databases = ("db/db",)
    folders = ("db/files",)
    content = {
        "issue": "SELECT id, _title, _priority, _status, _assignedto, __retired__ FROM _issue",
        "issue_keyword": "SELECT nodeid || '-' || linkid FROM issue_keyword",
        "issue_nosy": "SELECT nodeid || '-' || linkid FROM issue_nosy",
        "issue_message": "SELECT nodeid || '-' || linkid FROM issue_messages",
        "issue_file": "SELECT nodeid || '-' || linkid FROM issue_files",
        "issue_superseder": "SELECT nodeid || '-' || linkid FROM issue_superseder",
        "message": "SELECT m.id, m._author, m.__retired__, t.content FROM _msg m JOIN message_text t USING (id)",
        "message_file": "SELECT nodeid || '-' || linkid FROM msg_files",
        "file": "SELECT f.id, f._name, f._type, f.__retired__, t.content FROM _file f JOIN file_text t USING (id)",
        "keyword": "SELECT id, _name, __retired__ FROM _keyword",
        "priority": "SELECT id, _name, _order, __retired__ FROM _priority",
        "status": "SELECT id, _name, _order, __retired__ FROM _status",
        "query": "SELECT id, _name, _klass, _url, _private_for, __retired__ FROM _query",
        "user": "SELECT id, _username, _password, _realname, _organisation, _phone, _address, _alternate_addresses, "
        "_roles, _timezone, __retired__ FROM _user",
        "user_query": "SELECT nodeid || '-' || linkid FROM user_queries",
    }

    def fill(self) -> None:
        """Make the tracker by ``seed.py``."""
        seed = [str(self.python), str(self.data / "seed.py"), str(self.pristine), f"{self.url}/"]
        subprocess.run(seed, check=True, cwd=self.home, env={**os.environ, "PYTHONHASHSEED": "0"})

    def start(self) -> None:
        """Start the server; the tracker must know the address it is served at."""
        if self.is_ready():
            return
        self.install()
        if not self.live.is_dir():
            shutil.copytree(self.pristine, self.live, symlinks=True)
        settings = self.live / "config.ini"
        text = settings.read_text(encoding="utf-8")
        settings.write_text(re.sub(r"(?m)^web = .*$", f"web = {self.url}/", text), encoding="utf-8")
        super().start()

    def command(self) -> Sequence[str]:
        """Waitress with Roundup's WSGI handler, because Roundup's own server refuses to run as root."""
        return (str(self.python), str(self.data / "serve.py"), str(self.live), str(self.port))

    async def log_in(self, page: Page, account: Account) -> None:
        """Log in by the form in the menu."""
        await page.goto(f"{self.url}/")
        await page.fill('input[name="__login_name"]', account.user)
        await page.fill('input[name="__login_password"]', account.password)
        await page.click('input[type="submit"][value="Login"]')
        await page.get_by_text("Hello, ").wait_for()

    def view(self) -> sqlite3.Connection:
        """The database in memory, with the texts of messages and files, which Roundup keeps in files."""
        memory = sqlite3.connect(":memory:")
        with closing(super().view()) as stored:
            stored.backup(memory)
        for name, kind in (("message_text", "msg"), ("file_text", "file")):
            memory.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, content TEXT)")
            texts = [
                (int(path.name.removeprefix(kind)), path.read_text(encoding="utf-8", errors="replace"))
                for path in (self.live / "db" / "files" / kind).rglob(f"{kind}*")
                if path.is_file() and path.name.removeprefix(kind).isdigit()
            ]
            memory.executemany(f"INSERT INTO {name} VALUES (?, ?)", texts)
        return memory


SITE = Roundup
