"""The file of the table of sites: made by the first change, changed by two, broken, too new."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace

import pytest

from app.engine.api.run_rows import RunFilter
from app.engine.core.sites import Site, load_sites
from app.engine.store.site_store import SiteStore
from app.engine.store.workspace import Workspace
from app.errors import Conflict, NotFound, StoreError
from tests.support.runs import make_run, make_step

SHOP = Site(name="shop", hosts=("shop.example",), bases={"__SHOP__": "http://shop.example/"}, reset="make x")


@pytest.fixture
def store(tmp_path):
    return SiteStore(tmp_path / "sites.json", load_sites())


def test_the_bundled_table_holds_until_the_first_change(store):
    assert store.table.site_of("http://h:8023/") == "gitlab"
    assert not store.path.exists()
    store.change(None, SHOP)
    document = json.loads(store.path.read_text())
    assert document["format"], document["version"] == ("sitelore-sites", 1)
    assert document["sites"]["gitlab"] == {"hosts": ["*:8023"]}
    assert document["sites"]["shop"] == {
        "hosts": ["shop.example"], "bases": {"__SHOP__": "http://shop.example/"}, "reset": "make x",
    }  # fmt: skip
    if os.name == "posix":
        assert store.path.stat().st_mode & 0o077 == 0


def test_another_process_sees_a_change_at_once_and_loses_none(store):
    other = SiteStore(store.path, load_sites())
    store.change(None, SHOP)
    assert other.table.site_of("https://shop.example/") == "shop"
    other.change(SHOP, replace(SHOP, starts=("http://shop.example/start",)))
    store.change(SHOP, replace(SHOP, hosts=("shop.example", "b.example")))
    assert other.rows["shop"] == replace(
        SHOP, hosts=("shop.example", "b.example"), starts=("http://shop.example/start",)
    )
    assert list(store.path.parent.glob(".sites*")) == []


def test_many_changes_at_once_are_all_there(store):
    def adding(number: int) -> None:
        SiteStore(store.path, load_sites()).change(
            None, Site(name=f"s{number}", hosts=(f"h{number}.example",))
        )

    threads = [threading.Thread(target=adding, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {f"s{number}" for number in range(8)} <= set(store.rows)


def test_what_cannot_be_changed_is_said(store):
    store.change(None, SHOP)
    with pytest.raises(Conflict, match="there is a site 'shop' already"):
        store.change(None, SHOP)
    with pytest.raises(Conflict, match="belongs to the site 'shop'"):
        store.change(None, Site(name="copy", hosts=("shop.example",)))
    with pytest.raises(NotFound, match="no site 'gone' any more"):
        store.change(Site(name="gone"), None)


def test_a_host_is_learned_once_and_never_taken_from_a_site(store):
    assert store.learn({"a.example": ["shop", "shop"]}) == ["the site 'shop' now has the host a.example"]
    assert store.rows["shop"] == Site(name="shop", hosts=("a.example",), learned=("a.example",))
    assert store.learn({"a.example": ["shop"]}) == []
    assert store.learn({"a.example": ["other"]}) == [
        "a.example is a host of the site 'shop' and stays with it; 'other' did not get it"
    ]
    assert store.learn({"b.example": ["shop", "other"]}) == [
        "b.example is claimed by 'other' and 'shop', so neither got it"
    ]
    assert store.table.site_of_host("b.example") == ""


BROKEN = (
    (b"", "it is damaged"),
    (b"[1]", "it is damaged"),
    (b'{"format": "x", "version": 1}', "it is damaged"),
    (b'{"format": "sitelore-sites", "version": 2, "sites": {}}', "version 2.*use a newer Sitelore"),
    (b'{"format": "sitelore-sites", "version": 1, "sites": []}', "an entry of it can't be read"),
    (b'{"format": "sitelore-sites", "version": 1, "sites": {"a": 1}}', "an entry of it can't be read"),
    (b'{"format": "sitelore-sites", "version": 1, "sites": {"a": {"hosts": "x"}}}', "an entry of it can't be read"),
    (b'{"format": "sitelore-sites", "version": 1, "sites": {"a/b": {}}}', "can't be a site's name"),
    (b'{"format": "sitelore-sites", "version": 1, "sites": {"a": {"hosts": ["*"]}}}', "'\\*' is not a host"),
    (b'{"format": "sitelore-sites", "version": 1, "sites": {"a": {"hosts": ["h.x"]}, "b": {"hosts": ["h.x"]}}}',
     "h.x belongs to the site 'a'"),
)  # fmt: skip


@pytest.mark.parametrize(("content", "why"), BROKEN)
def test_a_broken_or_newer_table_is_refused_and_left_alone(tmp_path, content, why):
    Workspace.open(tmp_path / "w").close()
    file = tmp_path / "w" / "sites.json"
    file.write_bytes(content)
    with pytest.raises(StoreError, match=why):
        Workspace.open(tmp_path / "w")
    assert file.read_bytes() == content


def test_a_table_that_breaks_under_an_open_workspace_stays_as_it_was_read_and_is_not_overwritten(store):
    store.change(None, SHOP)
    store.path.write_bytes(b"half a fi")
    assert store.table.site_of("http://shop.example/") == "shop"
    with pytest.raises(StoreError, match="can't be used"):
        store.change(None, Site(name="other"))
    assert store.path.read_bytes() == b"half a fi"


def test_pages_and_runs_get_their_sites_name_when_it_gets_a_host_and_lose_it_by_undo(tmp_path):
    with Workspace.open(tmp_path / "w") as workspace:
        run = make_run("r", site="10.1.1.1:99", step_count=1)
        workspace.runs.add(run, [make_step(0, url="http://10.1.1.1:99/x")], {})
        workspace.rebuild_index()
        new = Site(name="shop", hosts=("10.1.1.1:99",))

        def named():
            [step] = workspace.index.stored_steps()
            return step.site, workspace.index.row("r").site

        assert named() == ("10.1.1.1:99", "10.1.1.1:99")
        workspace.change_site(None, new, "mina")
        assert named() == ("shop", "shop")
        workspace.rebuild_index()
        assert named() == ("shop", "shop")
        assert workspace.undo().label == "add site 'shop'"
        assert named() == ("10.1.1.1:99", "10.1.1.1:99")
        workspace.redo()
        assert named() == ("shop", "shop")
        assert [row.id for row in workspace.index.rows(RunFilter(site="shop"))] == ["r"]


def test_an_older_workspaces_own_table_is_the_beginning(tmp_path):
    Workspace.open(tmp_path / "w").close()
    file = tmp_path / "w" / "workspace.json"
    old = {**json.loads(file.read_text()), "sites": {"intranet": ["*.corp.example"], "all": ["*"]}}
    file.write_text(json.dumps(old))
    with Workspace.open(tmp_path / "w") as workspace:
        assert workspace.site_of("https://wiki.corp.example/a") == "intranet"
        workspace.learn_hosts({"new.example": ["intranet"]})
    with Workspace.open(tmp_path / "w") as workspace:
        assert workspace.sites == {"intranet": ("*.corp.example", "new.example")}
