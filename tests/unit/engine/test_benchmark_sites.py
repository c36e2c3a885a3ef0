"""Starting a site of the benchmarks: at a port of its own, with its accounts told."""

from __future__ import annotations

import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from playwright.async_api import Page

from benchmarks.sites.__main__ import OPEN, described, site_of
from benchmarks.sites.site import Account, Site


class StaticSite(Site):
    """Python's own file server."""

    name = "static"
    accounts = {"reader": Account("ada", "made-up-1")}
    content = {}

    def fill(self) -> None:
        (self.pristine / "index.html").write_text("hello", encoding="utf-8")

    def command(self) -> Sequence[str]:
        return (sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(self.port))

    async def log_in(self, page: Page, account: Account) -> None:
        raise NotImplementedError

    def view(self) -> sqlite3.Connection:
        return sqlite3.connect(":memory:")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StaticSite]:
    monkeypatch.setenv("SITES_HOME", str(tmp_path))
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    made = StaticSite(port)
    yield made
    made.stop()


def test_a_site_is_ready_from_its_start_to_its_stop(site: StaticSite):
    assert not site.is_ready()
    site.start()
    assert site.is_ready()
    site.start()  # it runs already
    site.stop()
    assert not site.is_ready()


def test_another_program_at_the_port_is_not_the_site(site: StaticSite):
    with closing(socket.socket()) as other:
        other.bind(("127.0.0.1", site.port))
        other.listen()
        assert not site.is_ready()
        with pytest.raises(
            RuntimeError, match=f"port {site.port} is taken by another program, not by static"
        ):
            site.start()
    assert not site.home.exists(), "nothing was installed"


def test_the_number_of_a_server_that_ended_is_not_the_site(site: StaticSite):
    site.home.mkdir(parents=True)
    ended = subprocess.Popen([sys.executable, "-c", ""], start_new_session=True)
    ended.wait()
    (site.home / f"pid-{site.port}").write_text(str(ended.pid), encoding="utf-8")
    assert not site.is_running()


def test_what_was_started_is_told_with_its_accounts(site: StaticSite):
    assert described(site) == [site.url, "  reader: ada / made-up-1"]


@pytest.mark.parametrize("name", OPEN)
def test_the_readme_of_a_site_says_how_its_log_ins_are_told(name: str):
    readme = (site_of(name).data / "README.md").read_text("utf-8")
    assert f"`python -m benchmarks.sites start {name}` prints the address" in " ".join(readme.split())
