"""A site on the command line, with a browser: its start page and log-in are used, its host is learned."""

from __future__ import annotations

import pytest

from tests.e2e.test_graph_cli import recorded_login
from tests.support.program import Sitelore

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser")]


def test_a_named_site_is_explored_and_run_from_its_start_page_with_its_log_in(server, tmp_path):
    sitelore = Sitelore(tmp_path / "workspace", XDG_DATA_HOME=str(tmp_path / "data"))
    login = recorded_login(server, tmp_path / "login.json")
    sitelore(
        "sites", "add", "backstage", "--start", f"{server.admin_url}/admin", "--storage-state", str(login)
    )
    login.unlink()
    report = sitelore("explore", "--site", "backstage", "--depth", "1")
    assert report["states"] > 2, "without the log-in there is one page, the sign-in"
    run = sitelore("run", "Open the Reports page", "--site", "backstage", "--max-steps", "2", code=1)
    first = sitelore("runs", "show", run["run"])["steps"][0]
    assert first["url"].rstrip("/") == f"{server.admin_url}/admin"


def test_an_exploration_teaches_its_site_the_host(server, tmp_path):
    sitelore = Sitelore(tmp_path / "workspace")
    sitelore("explore", server.shop_url, "--site", "larkspur", "--depth", "0")
    rows = {row["name"]: row for row in sitelore("sites", "list")}
    host = server.shop_url.removeprefix("http://")
    assert rows["larkspur"]["hosts"] == rows["larkspur"]["learned"] == [host]
    assert rows["larkspur"]["home"].rstrip("/") == server.shop_url
