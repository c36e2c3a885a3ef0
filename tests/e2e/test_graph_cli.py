"""The map on the command line: explore the demo site, search a state, navigate to it, verify and update the map."""

from __future__ import annotations

import http.cookiejar
import json
import urllib.parse
import urllib.request
from pathlib import Path

import networkx
import pytest

from tests.support.program import Sitelore

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser")]


@pytest.fixture(scope="module")
def explored(server, tmp_path_factory):
    """A workspace with a map of the demo shop, and the report of its exploration."""
    sitelore = Sitelore(tmp_path_factory.mktemp("map") / "workspace")
    report = sitelore("explore", server.shop_url, "--site", "demo-shop", "--depth", "3")
    return sitelore, report


def recorded_login(server, path: Path) -> Path:
    """Log in to the demo's admin area like a person, and store the cookie like Playwright."""
    form = urllib.parse.urlencode({"user": "demo", "password": "larkspur"}).encode()
    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    with opener.open(f"{server.admin_url}/admin/sign-in", form, timeout=10) as answer:
        assert answer.url.endswith("/admin")
    cookies = [
        {"name": c.name, "value": c.value, "domain": "127.0.0.1", "path": "/", "expires": -1, "httpOnly": False,
         "secure": False, "sameSite": "Lax"}
        for c in jar
    ]  # fmt: skip
    path.write_text(json.dumps({"cookies": cookies, "origins": []}))
    return path


def test_behind_a_log_in_states_without_an_address_are_found_and_nothing_is_changed(server, tmp_path):
    sitelore = Sitelore(tmp_path / "workspace")
    login = recorded_login(server, tmp_path / "login.json")
    before = repr(server.state)
    report = sitelore(
        "explore",
        f"{server.admin_url}/admin",
        "--site",
        "demo-admin",
        "--depth",
        "2",
        "--storage-state",
        str(login),
    )
    assert report["ended"] == "done"
    assert report["interaction_only"] >= 1, "the Reports menu was not opened"
    assert repr(server.state) == before
    hits = sitelore("graph", "search", "demo-admin", "orders by month", "--method", "keyword")
    assert any(hit["url"].endswith("/admin/reports/orders") for hit in hits)
    stored = b"".join(path.read_bytes() for path in (tmp_path / "workspace").rglob("*") if path.is_file())
    assert json.loads(login.read_text())["cookies"][0]["value"].encode() not in stored
    assert str(login).encode() not in stored


def test_an_exploration_finds_the_pages_at_no_tokens_and_orders_nothing(explored, server):
    sitelore, report = explored
    assert report["ended"] == "done"
    assert report["tokens"] == 0
    assert report["states"] > 5
    assert [row["depth"] for row in report["depths"]][:2] == [0, 1]
    listed = sitelore("graph", "list")
    assert [(row["site"], row["states"]) for row in listed] == [("demo-shop", report["states"])]
    stats = sitelore("graph", "stats", "demo-shop")
    assert stats["row"]["transitions"] == report["transitions"]
    assert sum(stats["skipped"].values()) > 0
    assert server.state.orders == type(server.state).seeded().orders, "an exploration ordered something"


def test_words_lead_to_a_state_and_the_live_browser_is_taken_there_step_by_step(explored, server):
    sitelore, _ = explored
    hits = sitelore("graph", "search", "demo-shop", "what is in my basket", "--method", "keyword")
    basket = next(hit for hit in hits if "basket" in hit["url"])
    plan = sitelore("graph", "path", "demo-shop", basket["node"])
    assert plan["nodes"][-1] == basket["node"]
    journey = sitelore("graph", "navigate", "demo-shop", basket["node"])
    assert journey["arrived"]
    assert {arrival["kind"] for arrival in journey["arrivals"]} <= {"exact", "same template"}
    assert "/basket" in journey["url"]


def test_a_second_exploration_finds_the_same_states_and_the_diff_is_empty(explored, server, tmp_path):
    sitelore, report = explored
    other = Sitelore(tmp_path / "other")
    again = other("explore", server.shop_url, "--site", "demo-shop", "--depth", "3", "--workers", "1")
    assert again["states"] == report["states"]
    file = tmp_path / "first.json"
    assert sitelore("graph", "export", "demo-shop", str(file))["states"] == report["states"]
    difference = other("graph", "diff", "demo-shop", str(file))
    assert difference["added"] == []
    assert difference["removed"] == []
    assert difference["same"] == report["states"]


def test_every_format_is_read_back_by_networkx_with_all_states(explored, tmp_path):
    sitelore, report = explored
    readers = {
        "graphml": lambda path: networkx.read_graphml(path, force_multigraph=True),
        "gexf": networkx.read_gexf,
        "json": lambda path: networkx.node_link_graph(json.loads(path.read_text()), edges="edges"),
    }
    for form, read in readers.items():
        path = tmp_path / f"map.{form}"
        sitelore("graph", "export", "demo-shop", str(path), "--format", form)
        graph = read(path)
        assert graph.number_of_nodes() == report["states"], form
        assert graph.number_of_edges() == report["transitions"], form


def test_an_unchanged_site_is_verified_without_a_loss(explored):
    sitelore, _ = explored
    report = sitelore("graph", "verify", "demo-shop")
    assert report["gone_states"] == []
    assert report["gone_transitions"] == []
    assert report["states"] > 5


def test_a_merge_is_undone_by_the_one_undo(explored):
    sitelore, report = explored
    hits = sitelore("graph", "search", "demo-shop", "product", "--method", "keyword")
    chosen = [hit["node"] for hit in hits[:2]]
    sitelore("graph", "merge", "demo-shop", *chosen)
    assert sitelore("graph", "list")[0]["states"] == report["states"] - 1
    sitelore("review", "undo")
    assert sitelore("graph", "list")[0]["states"] == report["states"]


def test_bad_questions_get_one_sentence_and_the_right_code(explored, tmp_path):
    sitelore, _ = explored
    assert "no graph of 'nowhere'" in sitelore("graph", "stats", "nowhere", code=1)["error"]
    assert "not the address of a page" in sitelore("explore", "file:///etc/passwd", code=2)["error"]
    rules = tmp_path / "rules.json"
    rules.write_text("{")
    wrong = sitelore("explore", "http://127.0.0.1:9/", "--block-list", str(rules), code=3)["error"]
    assert "rules.json" in wrong
    silent = sitelore("explore", "http://127.0.0.1:9/", "--site", "silent", code=1)
    assert "127.0.0.1:9" in json.dumps(silent)
